/** The transactions that an account sends for its batch, by what is known of it; and the form that a trial shows. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Struct from "effect/Struct";
import fc from "fast-check";
import { decodeAbiParameters, decodeFunctionData, parseAbi, parseAbiParameters, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { check } from "../../../src/Transaction.js";
import { runs } from "../../harness/parts.js";
import { recoverAuthorities } from "../../rooms/transaction.js";
import { delegateFor, formSeen, sentFor, type Facts } from "../../rooms/pipeline.js";

const from = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const [delegate, other] = [
  "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
  "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
] as const;
const codeOf = (account: string): Hex => `0xef0100${account.slice(2)}`;
const calls = [
  { to: other, value: 1n },
  { to: delegate, data: "0x1234" },
];
const inputsOf = async (more: object = {}) => {
  const { transactions } = await Effect.runPromise(check({ from, calls, ...more }));
  return Arr.map(transactions, (transaction) => transaction);
};
const facts: Facts = { chainId: 5, code: codeOf(delegate), count: 7n, form: "erc7821" };
const plain: Facts = { ...facts, code: "0x" };

describe("the form of an account's batch", () => {
  const right = { address: delegate, chainId: 5, nonce: 8 };
  const signed = { r: `0x${"11".repeat(32)}`, s: `0x${"11".repeat(32)}`, yParity: 0 };
  /** What is asked, what is known, how it comes out, and the authorisation that goes with it. */
  const rows: ReadonlyArray<
    readonly [name: string, more: object, known: Partial<Facts>, batch: string | undefined, delegates?: object]
  > = [
    ["one transaction, where it is delegated", {}, {}, "made"],
    ["one, of which all have to succeed", { atomicRequired: true }, {}, "made"],
    ["one, in the form of ERC-4337's accounts", {}, { form: "executeBatch" }, "made"],
    ["a bundle, where it has no code", {}, plain, undefined],
    ["no one transaction, where it has no code", { atomicRequired: true }, plain, "plain"],
    ["a bundle, where its form is not known", {}, { form: null }, undefined],
    ["no one transaction, where its form is not known", { atomicRequired: true }, { form: null }, "unknown"],
    ["no one transaction, where nothing could be tried", { atomicRequired: true }, { form: undefined }, "unread"],
    ["no one transaction, where its code is not known", { atomicRequired: true }, { code: null }, "unread"],
    ["no one transaction of a contract", { atomicRequired: true }, { code: "0x6001" }, "plain"],
    ["an authorisation with the nonce behind its own", { delegate }, plain, "made", { ...right, authority: from }],
    ["none where it has that code already", { delegate }, {}, "made"],
    ["one where it has another", { delegate: other }, {}, "made", { ...right, authority: from, address: other }],
    ["no one transaction, where it would lose its code", { delegate: `0x${"0".repeat(40)}` }, {}, "plain"],
    ["no authorisation without a nonce", { delegate }, { ...plain, count: null }, "unread"],
    ["no authorisation without a chain", { delegate }, { ...plain, chainId: null }, "unread"],
    ["the authorisation that is given", { authorization: right }, plain, "made", { ...right, authority: from }],
    ["one for every chain", { authorization: { ...right, chainId: 0 } }, plain, "made", { chainId: 0 }],
    ["none of an earlier nonce", { authorization: { ...right, nonce: 7 } }, plain, "ineffective"],
    ["none of a later nonce", { authorization: { ...right, nonce: 9 } }, plain, "ineffective"],
    ["none of another chain", { authorization: { ...right, chainId: 6 } }, plain, "ineffective"],
    ["no call with gas of its own", { calls: [{ ...calls[0], gas: 1n }, calls[1]], delegate }, plain, "fields"],
    ["no call without a receiver", { calls: [calls[0], { data: "0x00" }], atomicRequired: true }, {}, "fields"],
  ];
  it.each(rows.map((row) => ({ name: row[0], row })))("$name", async ({ row: [, more, known, batch, delegates] }) => {
    const inputs = await inputsOf(more);
    const sends = sentFor(inputs, { ...facts, ...known });
    expect(sends.map(({ origin }) => origin?.batch)).toEqual(batch === "made" ? [batch] : inputs.map(() => batch));
    expect(sends.every(({ origin }) => origin?.batch !== "made" || origin.isAtomic === undefined)).toBe(true);
    if (batch !== "made") {
      const without = (all: ReadonlyArray<(typeof inputs)[number]>) => all.map((each) => Struct.omit(each, ["origin"]));
      expect(without(sends)).toEqual(without(inputs).map((each) => ({ ...each, authorizationList: null })));
      return;
    }
    expect(sends[0]).toMatchObject({ from, to: from, value: 0n });
    const [own] = sends[0].authorizationList ?? [];
    if (delegates === undefined) expect(own).toBeUndefined();
    else expect(own).toMatchObject(delegates);
  });

  it("has no authorisation of another account", async () => {
    const inputs = await inputsOf({ authorization: { ...right, ...signed } });
    await Effect.runPromise(recoverAuthorities(inputs));
    expect(delegateFor(inputs[0])).toBeNull();
    for (const code of ["0x", codeOf(delegate)] as const)
      expect(sentFor(inputs, { ...facts, code }).map(({ origin }) => origin?.batch)).toEqual([
        "ineffective",
        "ineffective",
      ]);
  });

  it("contains the calls unchanged, whatever they are", async () => {
    const hex = (size: number) =>
      fc
        .uint8Array({ minLength: size, maxLength: size })
        .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
    const call = fc.record({
      to: hex(20),
      value: fc.bigInt(0n, 2n ** 256n - 1n),
      data: fc.integer({ min: 0, max: 100 }).chain(hex),
    });
    const execute = parseAbi(["function execute(bytes32 mode, bytes data)"]);
    const executeBatch = parseAbi(["function executeBatch((address to, uint256 value, bytes data)[] calls)"]);
    const list = parseAbiParameters("(address to, uint256 value, bytes data)[]");
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 64 }), async (all) => {
        const inputs = await inputsOf({ calls: all });
        const [modal] = sentFor(inputs, facts);
        const [mode, bytes] = decodeFunctionData({ abi: execute, data: modal.data }).args;
        expect(mode).toBe(`0x01${"0".repeat(62)}`);
        const [batch] = sentFor(inputs, { ...facts, form: "executeBatch" });
        const written = [
          decodeAbiParameters(list, bytes)[0],
          decodeFunctionData({ abi: executeBatch, data: batch.data }).args[0],
        ];
        for (const each of written)
          expect(each.map(({ to, ...rest }) => ({ ...rest, to: to.toLowerCase() }))).toEqual(all);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("the trial of a batch's form", () => {
  const word: Hex = `0x${"ab".repeat(32)}`;
  type Result = Parameters<typeof formSeen>[0][number];
  const success = (returnData: Hex = "0x"): Result =>
    ({ status: "success", returnData, error: null, failure: null }) as unknown as Result;
  const failure = (returnData: Hex, data: Hex | null = null): Result =>
    ({ status: "failure", returnData, error: { code: 3, message: "", data }, failure: null }) as unknown as Result;
  const yes = success(`0x${"1".padStart(64, "0")}`);
  const wrapped: Hex = `0x5a154675${"00".repeat(31)}01${word.slice(2)}`;
  it.each([
    ["ERC-7821", [yes, failure(word), failure("0x")], "erc7821"],
    ["ERC-7821, whose data stands in the error", [yes, failure("0x", word), success()], "erc7821"],
    ["both", [yes, failure(word), failure(wrapped)], "erc7821"],
    ["executeBatch", [failure("0x"), failure("0x"), failure(wrapped)], "executeBatch"],
    ["executeBatch of code that supports another mode", [yes, success(), failure(wrapped)], "executeBatch"],
    ["none, where nothing is supported", [success(`0x${"0".repeat(64)}`), failure(word), failure("0x")], null],
    ["none, where a fallback takes everything", [success(), success(), success()], null],
    ["none, where a failure is passed over", [yes, success(word), success(word)], null],
    ["none, where everything fails", [failure("0x"), failure("0x"), failure("0x")], null],
    ["none, where nothing is answered", [], null],
  ] as const)("shows %s", (_, results, form) => {
    expect(formSeen(results, word)).toBe(form);
  });
});
