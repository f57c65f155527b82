/** Calls that hand over what a sender has or earns. */
import { encodeFunctionData, parseAbi, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { checkPayouts, controlsIn } from "../../rooms/steps.js";
import { alice, bob, bundle, codes, filled, log, outcome, token, word } from "../parts.js";
import { kind } from "./arbitrary.js";

const call = (signature: string, args: ReadonlyArray<unknown>): Hex => {
  const abi = parseAbi([`function ${signature}`] as never);
  return encodeFunctionData({ abi, args } as never);
};
const check = (data: Hex, status: "success" | "reverted" = "success") =>
  checkPayouts(bundle({ to: token, data }).map((each) => filled(each, { outcome: outcome({ status }) })));
const payouts: ReadonlyArray<readonly [signature: string, args: (receiver: Hex) => ReadonlyArray<unknown>]> = [
  ["withdrawTo(address,uint256)", (to) => [to, 5n]],
  ["withdrawFor(address,uint256)", (to) => [to, 5n]],
  ["withdraw(uint256,address,address)", (to) => [5n, to, alice]],
  ["redeem(uint256,address,address)", (to) => [5n, to, alice]],
  ["withdraw(address,uint256,address)", (to) => [token, 5n, to]],
  ["withdrawFrom(address,address,address,uint256)", (to) => [alice, to, token, 5n]],
  ["set_rewards_receiver(address)", (to) => [to]],
  ["setRewardReceiver(address)", (to) => [to]],
  ["claimRewards(address[],uint256,address,address)", (to) => [[token], 5n, to, token]],
  ["approve(uint256,address,uint256)", (to) => [7n, to, 5n]],
  ["transferFrom(uint256,address,uint256)", (to) => [7n, to, 5n]],
];

describe("what a sender has or earns", () => {
  it.each(payouts)("by %s is a warning where another gets it, and nothing where the sender does", (signature, args) => {
    expect(codes(check(call(signature, args(bob))))).toEqual(["PaidToOther/warning"]);
    expect(check(call(signature, args(alice)))).toEqual([]);
    expect(check(call(signature, args(token)))).toEqual([]);
    expect(check(call(signature, args(bob)), "reverted")).toEqual([]);
  });
  it("is read inside batches", () => {
    const inner = call("withdrawTo(address,uint256)", [bob, 5n]);
    const found = check(call("multicall(bytes[])", [[inner, inner]]));
    expect(codes(found)).toEqual(["PaidToOther/warning", "PaidToOther/warning"]);
  });
  it("is no news where a deposit is told to be paid out to just that account", () => {
    const event = (account: Hex, to: Hex) =>
      log(token, [kind("Withdrawn(address,address,uint256)"), word(account)], [word(to), word(5n)]);
    const data = call("withdrawTo(address,uint256)", [bob, 5n]);
    const found = (told: ReturnType<typeof log>) =>
      codes(
        checkPayouts(bundle({ to: token, data }).map((each) => filled(each, { outcome: outcome({ logs: [told] }) }))),
      );
    expect(found(event(alice, bob))).toEqual([]);
    expect(found(event(bob, alice))).toEqual(["PaidToOther/warning"]);
    expect(found({ ...event(alice, bob), address: bob })).toEqual(["PaidToOther/warning"]);
  });
  it("may be an order that a Safe signs on chain", () => {
    expect(controlsIn([log(token, [kind("SignMsg(bytes32)"), word(9n)])], 0)).toMatchObject([
      { code: "ContractControlChanged", contract: token, gains: null },
    ]);
  });
});
