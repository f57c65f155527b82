import { encodeErrorResult, encodeFunctionData, erc20Abi, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { decodeRevert } from "../../src/abi/decodeRevert.js";
import { Hex } from "../../src/primitives/hex.js";
import type { Outcome } from "../../src/report/parts.js";
import * as TokenFunds from "../../src/steps/reading/tokenShortfall.js";
import type { Answer } from "../../src/witness/answers.js";
import { allowance, balanceOf, encodeQueries, type Query } from "../../src/witness/queries.js";
import { alice, bob, outcome, token, transaction } from "./parts.js";

const errors = parseAbi([
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error Error(string)",
]);
const reverted = (data: `0x${string}`): Outcome =>
  outcome({ status: "reverted", revert: decodeRevert(data), returnData: Hex.make(data) });
const transfer = transaction({
  to: token,
  data: Hex.make(encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 100n] })),
});
const pull = transaction({
  to: token,
  data: Hex.make(encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [bob, alice, 100n] })),
});
const word = (value: bigint): Answer => ({
  kind: "call",
  success: true,
  size: 32n,
  data: Hex.make(`0x${value.toString(16).padStart(64, "0")}`),
});
const table = (...rows: ReadonlyArray<readonly [Query, Answer]>) => {
  const answers = new Map(rows.map(([query, answer]) => [encodeQueries([query]), answer]));
  return (query: Query) => answers.get(encodeQueries([query]));
};
const silent = () => undefined;
const empty = reverted("0x");

describe("a token shortfall", () => {
  it("is read from the errors of ERC-6093, with the amounts", () => {
    const balance = encodeErrorResult({ abi: errors, errorName: "ERC20InsufficientBalance", args: [alice, 5n, 100n] });
    const [finding] = TokenFunds.decide(transfer, 0, reverted(balance), silent);
    expect(finding).toMatchObject({ code: "TokenShortfall", severity: "warning", step: "funds" });
    expect(finding?.message).toContain("has 5, needs 100, short by 95");
    const allowed = encodeErrorResult({ abi: errors, errorName: "ERC20InsufficientAllowance", args: [bob, 0n, 7n] });
    expect(TokenFunds.decide(transfer, 3, reverted(allowed), silent)[0]?.message).toContain("allowance");
  });
  it.each([
    ["ERC20: transfer amount exceeds balance", "balance"],
    ["ERC20: insufficient allowance", "allowance"],
    ["Dai/insufficient-balance", "balance"],
    ["ERC20: transfer amount exceeds allowance", "allowance"],
  ])("is read from words: %s", (reason, what) => {
    const data = encodeErrorResult({ abi: errors, errorName: "Error", args: [reason] });
    const [finding] = TokenFunds.decide(transaction({ to: bob }), 0, reverted(data), silent);
    expect(finding?.message).toContain(`token ${what} is too low`);
  });
  it("is measured where the token gives no reason, or returns false", () => {
    const poor = table([balanceOf(token, alice), word(30n)]);
    expect(TokenFunds.decide(transfer, 0, empty, poor)[0]?.message).toContain("short by 70");
    const lying = outcome({ returnData: Hex.make(`0x${"0".repeat(64)}`) });
    expect(TokenFunds.decide(transfer, 0, lying, poor)).toHaveLength(1);
    expect(TokenFunds.queries([transfer])).toEqual([balanceOf(token, alice)]);
  });
  it("of an allowance is measured for transferFrom, and not for an NFT", () => {
    const rich = [balanceOf(token, bob), word(1_000n)] as const;
    const lacking = table(rich, [allowance(token, bob, alice), word(99n)]);
    expect(TokenFunds.decide(pull, 0, empty, lacking)[0]?.message).toContain("allowance");
    expect(TokenFunds.decide(pull, 0, empty, table([balanceOf(token, bob), word(1n)]))).toEqual([]);
  });
  it("is not claimed without a failure, without evidence, or of a state that another transaction left", () => {
    const poor = table([balanceOf(token, alice), word(30n)]);
    expect(TokenFunds.decide(transfer, 0, outcome(), poor)).toEqual([]);
    expect(TokenFunds.decide(transfer, 0, empty, table([balanceOf(token, alice), word(100n)]))).toEqual([]);
    expect(TokenFunds.decide(transfer, 1, empty, poor)).toEqual([]);
    expect(TokenFunds.queries([transaction({ data: Hex.make("0xa9059cbb") })])).toEqual([]);
    const enough = encodeErrorResult({ abi: errors, errorName: "ERC20InsufficientBalance", args: [alice, 9n, 3n] });
    expect(TokenFunds.decide(transaction(), 0, reverted(enough), silent)).toEqual([]);
  });
});
