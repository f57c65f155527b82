/** Token balances and allowances below what a failed call tried to move. */
import { encodeErrorResult, encodeFunctionData, getAddress, erc20Abi, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { decodeRevert } from "../../rooms/abi.js";
import { messageOf, type Finding, type Outcome } from "../../rooms/report.js";
import { TokenShortfall } from "../../rooms/steps.js";
import type { Transaction } from "../../../src/Transaction.js";
import { allowance, balanceOf, unseen, type View } from "../../rooms/witness.js";
import { alice, answered, bob, bundle, hexOf, outcome, seeing, token, word } from "../parts.js";

const errors = parseAbi([
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error Error(string)",
]);
const reverted = (data: `0x${string}`): Outcome =>
  outcome({ status: "reverted", revert: decodeRevert(data), returnData: hexOf(data) });
const calling = (functionName: "transfer" | "transferFrom", args: ReadonlyArray<unknown>): Partial<Transaction> => ({
  to: token,
  data: hexOf(encodeFunctionData({ abi: erc20Abi, functionName, args } as Parameters<typeof encodeFunctionData>[0])),
});
const transfer = calling("transfer", [bob, 100n]);
const pull = calling("transferFrom", [bob, alice, 100n]);
const empty = reverted("0x");

const check = (input: Partial<Transaction>, seen: Outcome, before: View = unseen, index = 0): ReadonlyArray<Finding> =>
  TokenShortfall.check({ ...bundle(input)[0], index, outcome: seen }, { before, after: unseen }, []);
const saidOf = (findings: ReadonlyArray<Finding>) => findings.map((finding) => messageOf(finding)).join();
const poor = seeing([balanceOf(token, alice), answered(30n)]);

describe("a token shortfall", () => {
  it("is read from the errors of ERC-6093, with the amounts", () => {
    const balance = encodeErrorResult({ abi: errors, errorName: "ERC20InsufficientBalance", args: [alice, 5n, 100n] });
    const found = check(transfer, reverted(balance));
    expect(found[0]).toMatchObject({ code: "TokenShortfall", severity: "warning", step: "funds" });
    expect(found[0]?.numbers).toEqual([
      { name: "too low", unit: "text", value: "balance" },
      { name: "token", unit: "address", value: token },
      { name: "account", unit: "address", value: getAddress(alice) },
      { name: "has", unit: "units", value: 5n },
      { name: "needs", unit: "units", value: 100n },
      { name: "short by", unit: "units", value: 95n },
    ]);
    expect(saidOf(found)).toMatch(/has 5 smallest units, needs 100 smallest units, short by 95 smallest units/);
    const allowed = encodeErrorResult({ abi: errors, errorName: "ERC20InsufficientAllowance", args: [bob, 0n, 7n] });
    const [short] = check(transfer, reverted(allowed), unseen, 3);
    expect([short?.numbers[0]?.value, short?.numbers[2]?.name, short?.transaction]).toEqual([
      "allowance",
      "spender",
      3,
    ]);
    // what passed it on does not say whose it is
    expect(check({ to: bob }, reverted(balance))[0]?.numbers.map(({ name }) => name)).not.toContain("token");
  });
  it.each([
    ["ERC20: transfer amount exceeds balance", "balance"],
    ["ERC20: insufficient allowance", "allowance"],
    ["Dai/insufficient-balance", "balance"],
    ["ERC20: transfer amount exceeds allowance", "allowance"],
  ])("is read from the text: %s", (reason, what) => {
    const data = encodeErrorResult({ abi: errors, errorName: "Error", args: [reason] });
    const [finding] = check({ to: bob }, reverted(data));
    expect(finding?.numbers).toEqual([
      { name: "too low", unit: "text", value: what },
      { name: "the contract says", unit: "quote", value: reason },
    ]);
  });
  it("is measured where the token gives no reason, or returns false", () => {
    expect(saidOf(check(transfer, empty, poor))).toContain("short by 70");
    const lying = outcome({ returnData: hexOf(`0x${word(0n)}`) });
    expect(check(transfer, lying, poor)).toHaveLength(1);
  });
  it("of an allowance is measured for transferFrom, and not for an NFT", () => {
    const rich = [balanceOf(token, bob), answered(1_000n)] as const;
    const lacking = seeing(rich, [allowance(token, bob, alice), answered(99n)]);
    expect(saidOf(check(pull, empty, lacking))).toContain("allowance");
    expect(check(pull, empty, seeing([balanceOf(token, bob), answered(1n)]))).toEqual([]);
  });
  it("is not reported without a failure or evidence, or of a state that another transaction left", () => {
    expect(check(transfer, outcome(), poor)).toEqual([]);
    expect(check(transfer, empty, seeing([balanceOf(token, alice), answered(100n)]))).toEqual([]);
    expect(check(transfer, empty, poor, 1)).toEqual([]);
    const enough = encodeErrorResult({ abi: errors, errorName: "ERC20InsufficientBalance", args: [alice, 9n, 3n] });
    expect(check({}, reverted(enough))).toEqual([]);
  });
  describe("behind a contract that pulls from its caller", () => {
    const shop = hexOf(`0x${"ab".repeat(20)}`) as typeof token;
    const buying = (...words: ReadonlyArray<bigint | string>): Partial<Transaction> => ({
      to: shop,
      data: hexOf(`0x11111111${words.map(word).join("")}`),
    });
    const panic = reverted(`0x4e487b71${word(0x11n)}`);
    const said = (data: string) => reverted(encodeErrorResult({ abi: errors, errorName: "Error", args: [data] }));
    const seen = (allowed: bigint, balance = 10_000n) =>
      seeing([allowance(token, alice, shop), answered(allowed)], [balanceOf(token, alice), answered(balance)]);
    const first = (input: Partial<Transaction>, outcome: Outcome, before: View) =>
      check(input, outcome, before).map(({ numbers, evidence }) => [
        evidence,
        ...numbers.slice(1).map(({ value }) => value),
      ]);

    it.each([
      ["an underflow", panic],
      ["nothing", empty],
      ["words of allowances", said("Not enough allowance")],
      ["words of a transferFrom", said("TransferHelper: TRANSFER_FROM_FAILED")],
    ])("is named by the calldata's token, with the missing amount, behind %s", (_, failure) => {
      const numbers = check(buying(token, 700n), failure, seen(450n))[0]?.numbers.map(({ value }) => value);
      expect(numbers?.slice(3)).toEqual([450n, 700n, 250n]);
    });
    it("has no amount where the calldata has several", () => {
      expect(first(buying(token, 700n, 800n), empty, seen(0n))).toEqual([["estimated", token, shop, 0n]]);
      expect(first(buying(token, 700n, 800n), empty, seen(5n))).toEqual([]);
    });
    it("is not reported where the allowance suffices or was not read, or with another reason", () => {
      expect(first(buying(token, 700n), empty, seen(700n))).toEqual([]);
      expect(first(buying(token, 700n), empty, unseen)).toEqual([]);
      expect(first(buying(token, 700n), said("too late"), seen(0n))).toEqual([]);
    });
    it("rests on the state that the transactions before it left", () => {
      const approval = bundle(
        { to: token, data: hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [shop, 450n] })) },
        buying(700n),
      );
      const [approved, bought] = approval.map((one, index) => ({ ...one, outcome: index === 0 ? outcome() : panic }));
      if (approved === undefined || bought === undefined) throw new Error("two are there");
      const found = (all: ReadonlyArray<typeof bought>) =>
        TokenShortfall.check(bought, { before: seen(0n), after: seen(450n) }, all)[0]?.numbers.at(-1)?.value;
      expect(found([approved, bought])).toBe(250n);
      // what comes behind it may have changed it
      expect(found([approved, bought, { ...approved, index: 2 }])).toBeUndefined();
    });
    it("has the token of an error that a contract in between passes on", () => {
      const passed = encodeErrorResult({ abi: errors, errorName: "ERC20InsufficientAllowance", args: [shop, 0n, 7n] });
      expect(first(buying(token, 7n), reverted(passed), seen(0n))).toEqual([
        ["measured", token, getAddress(shop), 0n, 7n, 7n],
      ]);
      const [untold] = check(buying(token, 7n), reverted(passed), seen(1n));
      expect(untold === undefined ? "" : messageOf(untold)).not.toContain("smallest units");
    });
  });
});
