/** Whose balances are deposits, by what the contracts say in their own name. */
import { describe, expect, it } from "vitest";
import type { Address } from "../../rooms/primitives.js";
import type { OutcomeLog } from "../../rooms/report.js";
import { depositsIn } from "../../rooms/steps.js";
import { alice, bob, caseOf, log as logOf, outcome, token, word } from "../parts.js";
import { kind } from "./arbitrary.js";

const log = (address: Address, event: string, topics: ReadonlyArray<string> = [], data = "") =>
  logOf(address, [kind(event), ...topics], [data]);
const of = (...logs: ReadonlyArray<OutcomeLog>) => [
  ...depositsIn([{ ...caseOf(), outcome: outcome({ logs }), transfers: [] }]),
];

describe("deposits", () => {
  it.each([
    "Deposited(address,uint256)",
    "Deposited(address,address,uint256)",
    "BeforeExecution()",
    "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)",
    "StakeLocked(address,uint256,uint256)",
    "StakeUnlocked(address,uint256)",
    "StakeWithdrawn(address,address,uint256)",
  ])("are balances of the contract where that answers %s", (event) =>
    expect(of(log(token, event, [word(alice)]))).toEqual([token]),
  );

  it("are no token's, whatever else the contract says", () => {
    expect(of(log(token, "Transfer(address,address,uint256)", [word(alice), word(bob)], word(1n)))).toEqual([]);
    expect(
      of(
        log(token, "Deposited(address,uint256)", [word(alice)], word(1n)),
        log(token, "Transfer(address,address,uint256)", [word(alice), word(bob)], word(1n)),
      ),
    ).toEqual([]);
    // what another contract says changes nothing
    expect(
      of(
        log(token, "Deposited(address,uint256)", [word(alice)], word(1n)),
        log(bob, "Transfer(address,address,uint256)", [word(alice), word(bob)], word(1n)),
      ),
    ).toEqual([token]);
  });

  it("are looked at where a sender's goes to somebody else, indexed or not", () => {
    const event = "Withdrawn(address,address,uint256)";
    expect(of(log(token, event, [word(alice)], word(alice) + word(1n)))).toEqual([token]);
    expect(of(log(token, event, [word(alice)], word(bob) + word(1n)))).toEqual([]);
    expect(of(log(token, event, [word(alice), word(bob)], word(1n)))).toEqual([]);
    expect(of(log(token, event, [word(bob)], word(bob) + word(1n)))).toEqual([token]);
  });
});
