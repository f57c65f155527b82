/** Changes of control out of logs: who gains, who loses, and no exception over any shape. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toldIn } from "../../rooms/effects.js";
import { log, word } from "../parts.js";
import { anyLogs, at, kind, topics } from "./arbitrary.js";

const [alice, bob, contract] = [at("a"), at("b"), at("1")];

describe("an event of control", () => {
  it("names who gains and who loses, and the role where there is one", () => {
    const transferred = log(contract, [topics.ownership, word(alice), word(bob)]);
    const granted = log(contract, [topics.roleGranted, word(9n), word(bob), word(alice)]);
    expect(toldIn([transferred, granted], 2).controls).toMatchObject([
      { kind: "owner", contract, loses: alice, gains: bob, role: null, transaction: 2 },
      { kind: "role", contract, loses: null, gains: bob, role: `0x${word(9n)}`, transaction: 2 },
    ]);
  });
  it("is read from accounts with modules, from diamonds and from access managers", () => {
    const events = [
      log(contract, [kind("ModuleInstalled(uint256,address)")], [word(1n), word(bob)]),
      log(contract, [kind("ModuleUninstalled(uint256,address)")], [word(1n), word(bob)]),
      log(contract, [kind("RoleGranted(uint64,address,uint32,uint48,bool)"), word(9n), word(bob)], [word(0n)]),
      log(contract, [kind("RoleRevoked(uint64,address)"), word(9n), word(bob)]),
      log(contract, [kind("DefaultAdminTransferScheduled(address,uint48)"), word(bob)], [word(5n)]),
      log(contract, [kind("DiamondCut((address,uint8,bytes4[])[],address,bytes)")], [word(96n), word(0n), word(9n)]),
    ];
    expect(toldIn(events, 0).controls).toMatchObject([
      { kind: "control", gains: bob, loses: null },
      { kind: "control", gains: null, loses: bob },
      { kind: "role", gains: bob, role: `0x${word(9n)}` },
      { kind: "role", loses: bob, role: `0x${word(9n)}` },
      { kind: "owner", gains: bob },
      { kind: "control", gains: null, loses: null },
    ]);
  });
  it("to the zero address has nobody who gains", () => {
    const renounced = log(contract, [topics.ownership, word(alice), word(0n)]);
    expect(toldIn([renounced], 0).controls).toMatchObject([{ loses: alice, gains: null }]);
  });
  it("of any shape is read without an exception", () =>
    fc.assert(
      fc.property(anyLogs(contract), (logs) => {
        expect(toldIn(logs, 0).controls.length).toBeLessThanOrEqual(logs.length);
      }),
      { numRuns: 500 },
    ));
});
