/** The likely causes of a revert without a reason, by tables. */
import { describe, expect, it } from "vitest";
import * as Result from "effect/Result";
import { encodeFunctionData, erc20Abi } from "viem";
import { decodeRevert } from "../../rooms/abi.js";
import { ExecutionReverted } from "../../rooms/errors.js";
import type { Hex } from "../../rooms/primitives.js";
import { likelyCause } from "../../rooms/steps.js";
import { allowance, unseen, type View } from "../../rooms/witness.js";
import type { Transaction } from "../../../src/Transaction.js";
import { alice, answered, bob, bundle, hexOf, log, outcome, seeing, token, unanswered, word } from "../parts.js";
import { topics } from "./arbitrary.js";

const failed = (data = "0x") => {
  const failure = new ExecutionReverted({ data: hexOf(data), revert: decodeRevert(data as Hex) });
  return outcome({ status: "reverted", failure });
};

interface Given {
  readonly input: Partial<Transaction>;
  readonly code?: string | null;
  readonly before?: View;
  readonly revert?: string;
}

const causeOf = ({ input, code = null, before = unseen, revert = "0x" }: Given) => {
  const [entry] = bundle({ to: token, ...input });
  const ran = { ...entry, outcome: failed(revert), transfers: [] };
  const codes = new Map(code === null ? [] : [[token, Result.succeed(hexOf(code))] as const]);
  return likelyCause(ran, [ran], { before, codes });
};

const approve = (amount: bigint) =>
  hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, amount] }));
const transfer = hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 5n] }));
const allowing = (amount: bigint) => seeing([allowance(token, alice, bob), answered(amount)]);
const item = (stateMutability: string) => ({
  type: "function",
  name: "note",
  inputs: [],
  outputs: [],
  stateMutability,
});
/** PUSH4 of a selector, EQ, STOP. */
const codeFor = (selector: string) => `0x63${selector.slice(2)}1400`;
const unknown = hexOf("0x12345678");

describe("the likely cause of a revert without a reason", () => {
  it.each<[because: RegExp, given: Given]>([
    [/by its ABI the function is not payable/, { input: { value: 1n, data: unknown, item: item("nonpayable") } }],
    [/by its ABI the function is not payable/, { input: { value: 1n, data: unknown, item: item("view") } }],
    [/probably because the function is not payable/, { input: { value: 1n, data: transfer } }],
    [/probably because the function is not payable/, { input: { value: 1n, data: approve(5n) } }],
    [/probably because an argument is missing/, { input: { data: hexOf(transfer.slice(0, 74)) } }],
    [/probably because an argument is missing/, { input: { data: hexOf(transfer.slice(0, 10)) } }],
    [/takes no plain payments/, { input: { value: 1n }, code: codeFor(unknown) }],
    [/no function with this selector/, { input: { data: unknown }, code: codeFor("0x99999999") }],
    [/changes an allowance only from 0/, { input: { data: approve(5n) }, before: allowing(3n) }],
  ])("is named as probable: %s", (because, given) => {
    const cause = causeOf(given);
    expect(cause?.sentence).toMatch(because);
    expect(cause?.remedy).not.toBe("");
  });

  it.each<[because: string, given: Given]>([
    ["of which nothing is known", { input: { data: unknown } }],
    ["a payable function", { input: { value: 1n, data: unknown, item: item("payable") } }],
    ["a known function that gets no value", { input: { data: transfer } }],
    ["whose selector stands in the code", { input: { data: unknown }, code: codeFor(unknown) }],
    ["of code that runs other code in its place", { input: { data: unknown }, code: "0xf400" }],
    ["of an account that has a delegate", { input: { data: unknown }, code: `0xef0100${"11".repeat(20)}` }],
    ["of an account without code", { input: { value: 1n }, code: "0x" }],
    ["an approval of nothing", { input: { data: approve(0n) }, before: allowing(3n) }],
    ["an approval where none was given", { input: { data: approve(5n) }, before: allowing(0n) }],
    ["an approval where the allowance was not read", { input: { data: approve(5n) } }],
    ["that has a reason", { input: { data: approve(5n) }, before: allowing(3n), revert: `0x4e487b71${word(1n)}` }],
  ])("is not named: one %s", (_, given) => {
    expect(causeOf(given)).toBeNull();
  });

  it("includes the allowance that an earlier transaction of the bundle gave", () => {
    const cases = bundle({ to: token, data: approve(9n) }, { to: token, data: approve(5n) });
    const given = outcome({ logs: [log(token, [topics.approval, word(alice), word(bob)], [word(9n)])] });
    const all = cases.map((one) => ({ ...one, outcome: one.index === 0 ? given : failed(), transfers: [] }));
    const [, second] = all;
    if (second === undefined) throw new Error("two are there");
    const codes = new Map([[token, Result.fail(unanswered("eth_getCode"))]]);
    expect(likelyCause(second, all, { before: allowing(0n), codes })?.sentence).toMatch(/only from 0/);
  });
});
