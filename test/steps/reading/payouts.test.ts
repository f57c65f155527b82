/** Calls that hand over what a sender has or earns. */
import { encodeFunctionData, parseAbi, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { toldIn } from "../../rooms/effects.js";
import { checkPayouts } from "../../rooms/steps.js";
import { alice, bob, bundle, codes, filled, hexOf, log, outcome, token, word } from "../parts.js";
import { kind } from "./arbitrary.js";

const call = (signature: string, args: ReadonlyArray<unknown>): Hex => {
  const abi = parseAbi([`function ${signature}`] as never);
  return encodeFunctionData({ abi, args } as never);
};
const check = (data: Hex, status: "success" | "reverted" = "success") =>
  checkPayouts(bundle({ to: token, data }).map((each) => filled(each, { outcome: outcome({ status }) })));
const market = "(address,address,address,address,uint256)";
const marketArgs = [token, token, token, token, 5n];
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
  [`borrow(${market},uint256,uint256,address,address)`, (to) => [marketArgs, 5n, 0n, alice, to]],
  [`withdraw(${market},uint256,uint256,address,address)`, (to) => [marketArgs, 5n, 0n, alice, to]],
  [`withdrawCollateral(${market},uint256,address,address)`, (to) => [marketArgs, 5n, alice, to]],
  ["borrow(uint256,address)", (to) => [5n, to]],
  ["borrow(uint256,address,address)", (to) => [5n, to, alice]],
  ["withdrawETH(address,uint256,address)", (to) => [token, 5n, to]],
  ["collect((uint256,address,uint128,uint128))", (to) => [[1n, to, 5n, 5n]]],
  ["collect(address,int24,int24,uint128,uint128)", (to) => [to, 1, 2, 5n, 5n]],
  ...["withdraw", "withdrawAndHarvest"].map(
    (name) => [`${name}(uint256,uint256,address)`, (to: Hex) => [1n, 5n, to]] as const,
  ),
  ...["harvest", "emergencyWithdraw", "unwrapWETH9"].map(
    (name) => [`${name}(uint256,address)`, (to: Hex) => [1n, to]] as const,
  ),
  ["sweepToken(address,uint256,address)", (to) => [token, 0n, to]],
  ["withdraw(uint256,address,uint256)", (to) => [5n, to, 1n]],
  ["claimWithdrawalsTo(uint256[],uint256[],address)", (to) => [[1n], [1n], to]],
];

describe("an asset or income of a sender that another gets", () => {
  it.each(payouts)("by %s is a warning, and no finding where the sender gets it", (signature, args) => {
    expect(codes(check(call(signature, args(bob))))).toEqual(["PaidToOther/warning"]);
    expect(check(call(signature, args(alice)))).toEqual([]);
    expect(check(call(signature, args(token)))).toEqual([]);
    expect(check(call(signature, args(bob)), "reverted")).toEqual([]);
  });
  it("may be a stake that goes to another validator (EIP-7251), and not a validator that only changes its kind", () => {
    const [mine, theirs] = ["aa".repeat(48), "bb".repeat(48)];
    const merging = (data: string, to: Hex = "0x0000BBdDc7CE488642fb579F8B00f3a590007251") =>
      codes(checkPayouts(bundle({ to, data: hexOf(`0x${data}`) }).map((each) => filled(each, { outcome: outcome() }))));
    expect(merging(mine + theirs)).toEqual(["PaidToOther/warning"]);
    for (const data of [mine + mine, mine, mine + theirs + mine]) expect(merging(data)).toEqual([]);
    expect(merging(mine + theirs, token)).toEqual([]);
  });
  it("is found inside batches", () => {
    const inner = call("withdrawTo(address,uint256)", [bob, 5n]);
    const found = check(call("multicall(bytes[])", [[inner, inner]]));
    expect(codes(found)).toEqual(["PaidToOther/warning", "PaidToOther/warning"]);
    // a position's manager collects for itself, and pays out behind it
    const nobody = `0x${"0".repeat(40)}`;
    const behind = [
      call("collect((uint256,address,uint128,uint128))", [[1n, nobody, 5n, 5n]]),
      call("unwrapWETH9(uint256,address)", [0n, bob]),
    ];
    expect(codes(check(call("multicall(bytes[])", [behind])))).toEqual(["PaidToOther/warning"]);
  });
  it("is no finding where a deposit names just that account for its payout", () => {
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
    expect(toldIn([log(token, [kind("SignMsg(bytes32)"), word(9n)])], 0).controls).toMatchObject([
      { kind: "control", contract: token, gains: null },
    ]);
  });
});
