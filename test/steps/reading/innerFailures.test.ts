/** What events and answers tell of calls inside, by tables: each kind of event, and every shape of answer. */
import {
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  multicall3Abi,
  parseAbi,
  parseAbiParameters,
  toFunctionSelector,
} from "viem";
import { describe, expect, it } from "vitest";
import { batchForms, families, indexAbis, wellKnown } from "../../rooms/abi.js";
import { askedBy, eventIn } from "../../rooms/effects.js";
import type { Approval, OutcomeLog } from "../../rooms/report.js";
import { innerOf, isGranted, knownCode, mayTell, readInner, type SucceededCall } from "../../rooms/steps.js";
import { tracedInner } from "../../rooms/pipeline.js";
import { alice, bob, log as logOf, token, word } from "../parts.js";
import { kind } from "./arbitrary.js";

type Hex = `0x${string}`;
const none = indexAbis([]);
const log = (address: Hex, event: string, topics: ReadonlyArray<string> = [], data = "") =>
  logOf(address, [kind(event), ...topics], [data]);
const subject = (changed: Partial<SucceededCall>): SucceededCall => ({
  ...{ to: bob, data: "0x", returnData: "0x", logs: [], isMulticall: () => false, evidence: "measured" },
  ...changed,
});
const failedIn = (logs: ReadonlyArray<OutcomeLog>, data: Hex = "0x12345678") =>
  readInner(subject({ logs, data }), none)?.failed.length ?? 0;
const [zero, one] = [word(0n), word(1n)];

describe("the families of events that may tell of a failure", () => {
  const functions: Readonly<Record<string, RegExp>> = {
    safe: /^execTransaction\(/,
    module: /^execTransaction(FromModule|WithRole)/,
    operation: /^handle(Aggregated)?Ops\(/,
    request: /^execute(Batch)?\(\(address,address,uint256,uint256,uint48/,
    try: /^execute(FromExecutor)?\(bytes32,bytes\)/,
  };

  it("have exactly the functions that they are for", () => {
    const named = Object.keys(batchForms).flatMap((selector) => {
      const signatures = wellKnown.functions(selector as `0x${string}`).map(({ signature }) => signature);
      return Object.entries(functions).flatMap(([family, fits]) =>
        signatures.some((signature) => fits.test(signature)) ? [[selector, family]] : [],
      );
    });
    expect(Object.fromEntries(named)).toEqual(families);
  });
});

describe("failures read from events", () => {
  it.each([
    ["ExecutionFailure(bytes32,uint256)", [one], zero, [one], zero],
    ["ExecutionFailed(bytes32)", [], one, null, ""],
    ["ExecutionFromModuleFailure(address)", [word(alice)], "", null, ""],
    ["ExecutionFailure(uint256)", [one], "", null, ""],
    [
      "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)",
      [one, word(alice), zero],
      zero + zero + one + one,
      [one, word(alice), zero],
      zero + one + one + one,
    ],
    ["TryExecuteUnsuccessful(uint256,bytes)", [], one + word(64n) + zero, null, ""],
    ["TryDelegateCallUnsuccessful(uint256,bytes)", [], one + word(64n) + zero, null, ""],
    ["ERC7579TryExecuteFail(uint256,bytes)", [], one + word(64n) + zero, null, ""],
    ["TryExecuteUnsuccessful(bytes,bytes)", [], word(64n) + word(96n) + zero + zero, null, ""],
    ["TryExecutionFailed(address,uint256)", [], word(bob) + zero, null, ""],
    ["ExecutedForwardRequest(address,uint256,bool)", [word(alice)], zero + zero, [word(alice)], zero + one],
    [
      "TransactionExecuted(address,bool,bytes,bytes32)",
      [word(alice), zero],
      word(64n) + one + zero,
      [word(alice), one],
      word(64n) + one + zero,
    ],
    ["TxFailed(bytes32,bytes)", [], one + word(64n) + zero, null, ""],
    ["TxFailed(bytes32,uint256,bytes)", [], one + zero + word(96n) + zero, null, ""],
    ["CallFailed(bytes32,uint256,bytes)", [], one + zero + word(96n) + zero, null, ""],
    ["LogErr(address,uint256,bytes,bytes)", [word(alice)], zero + word(96n) + word(128n) + zero + zero, null, ""],
    ["ExecutionFailure(address,uint256,bytes,uint8,uint256)", [word(alice)], zero, null, ""],
    ["IntentExecuted(address,uint256,bool,bytes4)", [word(alice), one], one + one, [word(alice), one], one + zero],
    ["TransactionResult(uint8,bytes)", [], one + word(64n) + zero, [], zero + word(64n) + zero],
    ["UpkeepPerformed(uint256,bool,uint96,uint256,uint256,bytes)", [one, zero], one, [one, one], one],
    ["UpkeepPerformed(uint256,bool,address,uint96,bytes)", [one, zero, word(alice)], one, [one, one, word(alice)], one],
    [
      "ExecutionStateChanged(uint64,bytes32,uint8,bytes)",
      [one, one],
      word(3n) + word(64n) + zero,
      [one, one],
      word(2n) + word(64n) + zero,
    ],
    ["MessageFailed(uint16,bytes,uint64,bytes,bytes)", [], one, null, ""],
    ["WithdrawalFinalized(bytes32,bool)", [one], zero, [one], one],
    ["FailedRelayedMessage(bytes32)", [one], "", null, ""],
    [
      "RelayedMessage(address,address,bytes32,bool)",
      [word(alice), word(alice), one],
      zero,
      [word(alice), word(alice), one],
      one,
    ],
    [
      "AffirmationCompleted(address,address,bytes32,bool)",
      [word(alice), word(alice), one],
      zero,
      [word(alice), word(alice), one],
      one,
    ],
    ["CastFailed(address,address,string,bytes)", [word(alice), word(alice)], one, null, ""],
    ["ExecuteFailed(address,address,address,bytes,string)", [word(alice), word(alice), word(alice)], one, null, ""],
  ] as const)("include %s", (event, topics, data, fineTopics, fineData) => {
    expect(mayTell(undefined, [log(bob, event, topics, data)])).toBe(true);
    expect(failedIn([log(bob, event, topics, data)])).toBe(1);
    // by an account that nobody called
    if (event !== "TryExecutionFailed(address,uint256)") expect(failedIn([log(token, event, topics, data)])).toBe(0);
    const isAlways = fineTopics === null || event === "ExecutionFailure(bytes32,uint256)";
    if (!isAlways) expect(failedIn([log(bob, event, fineTopics, fineData)])).toBe(0);
  });

  it("include those that name the called module, and an EntryPoint's own anywhere", () => {
    expect(failedIn([log(token, "ExecutionFromModuleFailure(address)", [word(bob)])])).toBe(1);
    const entryPoint = "0x0000000071727de22e5e9d8baf0edac6f37da032";
    const event = "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)";
    expect(failedIn([log(entryPoint, event, [one, word(alice), zero], zero + zero + one + one)])).toBe(1);
    expect(eventIn(log(bob, "Transfer(address,address,uint256)")).row.inner).toBeUndefined();
  });

  it("have the account of an operation, beside which a factory is called", () => {
    const abi = parseAbi([
      "function handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[] ops, address beneficiary)",
    ]);
    const operation = (account: Hex, making: Hex) =>
      [account, 0n, making, "0x11223344", `0x${zero}`, 0n, `0x${zero}`, "0x", "0x"] as const;
    const data = encodeFunctionData({
      abi,
      args: [[operation(alice, "0x"), operation(token, `${bob}aabbccdd`)], alice],
    });
    const event = (account: Hex, success: string) =>
      log(
        bob,
        "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)",
        [one, word(account), zero],
        zero + success + one + one,
      );
    const inner = readInner(subject({ data, logs: [event(alice, one), event(token, zero)] }), none);
    expect(inner).toMatchObject({ failed: [{ by: bob, index: 1, to: token, data: "0x11223344" }], unseen: 0 });
    expect(innerOf(data, bob, none).map(({ to, call }) => [to, call.data])).toEqual([
      [alice, "0x11223344"],
      [token, "0x11223344"],
      [bob, "0xaabbccdd"],
    ]);
  });

  it("are not read from broken data, and neither is a reason", () => {
    const event = "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)";
    expect(failedIn([log(bob, event, [one, word(alice), zero], zero)])).toBe(0);
    const far = readInner(subject({ logs: [log(bob, "TxFailed(bytes32,bytes)", [], one + "f".repeat(64))] }), none);
    expect(far?.failed.map(({ revert }) => revert)).toEqual([null]);
  });

  it("are 64 at most", () => {
    expect(failedIn(Array.from({ length: 500 }, () => log(bob, "ExecutionFailure(uint256)", [one])))).toBe(64);
    // the last is told for all the others, so that nothing which excuses one of them excuses all
    const logs = Array.from({ length: 500 }, () => log(bob, "ExecutionFailure(uint256)", [one]));
    expect(readInner(subject({ logs, data: "0x12345678" }), none)?.failed.at(-1)).toMatchObject({
      ...{ to: null, data: null, call: "437 calls, not shown" },
    });
  });
});

describe("failures read from answers", () => {
  const abi = [...multicall3Abi];
  const calls = [
    { target: alice, allowFailure: true, callData: "0x" },
    { target: token, allowFailure: true, callData: "0x12345678" },
  ] as const;
  const data = encodeFunctionData({ abi, functionName: "aggregate3", args: [calls] });
  const answer = (...success: ReadonlyArray<boolean>) =>
    encodeAbiParameters(parseAbiParameters("(bool,bytes)[]"), [success.map((fine) => [fine, "0x"] as const)]);
  const isMulticall = (account: string) => account === bob;

  it("are believed of known contracts alone", () => {
    const returnData = answer(true, false);
    expect(readInner(subject({ data, returnData, isMulticall }), none)).toMatchObject({
      failed: [{ by: bob, index: 1, to: token, evidence: "measured" }],
      unseen: 0,
    });
    expect(readInner(subject({ data, returnData }), none)).toEqual({ failed: [], unseen: 2 });
    expect(readInner(subject({ data, returnData: answer(true, true), isMulticall }), none)).toBeNull();
    expect(readInner(subject({ data, returnData: "0x1234", isMulticall }), none)).toEqual({ failed: [], unseen: 2 });
  });

  it("are believed of Multicall3 by its code", () => {
    const hash = "0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891";
    expect(knownCode(hash, bob)?.kind).toBe("multicall3");
    expect(knownCode(keccak256("0x"), bob)).toBeNull();
  });

  it("are read where an encoder would not have put the arguments, and unseen ones are marked", () => {
    // four bytes behind the arguments of the first call, where an encoder puts none
    const odd: Hex = `0x82ad56cb${word(64n)}${"ff".repeat(32)}${data.slice(2 + 8 + 64)}`;
    expect(readInner(subject({ data: odd, returnData: answer(true, false), isMulticall }), none)).toMatchObject({
      failed: [{ by: bob, index: 1, to: null }],
      unseen: 0,
    });
    expect(readInner(subject({ data: odd }), none)).toEqual({ failed: [], unseen: 1 });
  });

  it("have the reason of a paymaster's call after the operation", () => {
    const event = "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)";
    const reason = encodeAbiParameters(parseAbiParameters("uint256,bytes"), [0n, "0x08c379a0"]).slice(2);
    const logs = [
      log(bob, "PostOpRevertReason(bytes32,address,uint256,bytes)", [one, word(alice)], reason),
      log(bob, event, [one, word(alice), zero], zero + zero + one + one),
    ];
    expect(readInner(subject({ logs, data: "0x765e827f" }), none)?.failed).toMatchObject([
      { revert: { data: "0x08c379a0" } },
    ]);
  });

  it("are none of strict batches", () => {
    const strict = encodeFunctionData({
      abi,
      functionName: "aggregate3",
      args: [calls.map((call) => ({ ...call, allowFailure: false }))],
    });
    expect(readInner(subject({ data: strict }), none)).toBeNull();
  });
});

describe("failures read from traces", () => {
  const abi = parseAbi(["function aggregate3((address target, bool allowFailure, bytes callData)[] calls)"]);
  const data = encodeFunctionData({
    abi,
    functionName: "aggregate3",
    args: [[{ target: token, allowFailure: true, callData: "0x12345678" }]],
  });
  const calls = innerOf(data, bob, none);
  const inner = { failed: [], unseen: 1 };
  const frame = (changed: object) => ({ from: alice, to: bob, input: data, output: "0x", calls: [], ...changed });
  const call = (changed: object) => ({
    from: bob,
    to: token,
    input: "0x12345678",
    output: "0x",
    calls: [],
    ...changed,
  });

  it("are named, and so is their absence", () => {
    const failed = tracedInner(inner, calls, frame({ calls: [call({ error: "execution reverted" })] }), none);
    expect(failed).toMatchObject({ failed: [{ to: token, index: 0, evidence: "estimated" }], unseen: 0 });
    expect(tracedInner(inner, calls, frame({ calls: [call({})] }), none)).toEqual({ failed: [], unseen: 0 });
  });

  it("are found behind a call that only looks like the failed one", () => {
    const frames = [call({}), call({ error: "execution reverted" })];
    expect(tracedInner(inner, calls, frame({ calls: frames }), none)).toMatchObject({
      ...{ failed: [{ to: token, index: 0 }], unseen: 0 },
    });
  });

  it("stay unseen where no frame shows them, however many calls were known before", () => {
    const [seen, missing] = ["0x12345678", "0x87654321"] as const;
    const two = encodeFunctionData({
      abi,
      functionName: "aggregate3",
      args: [[seen, missing].map((callData) => ({ target: token, allowFailure: true, callData }))],
    });
    const trace = frame({ input: two, calls: [call({})] });
    expect(tracedInner(inner, innerOf(two, bob, none), trace, none)).toEqual({ failed: [], unseen: 1 });
    expect(tracedInner(inner, [], frame({}), none)).toEqual(inner);
  });

  it("are not read from a trace of something else", () => {
    const failing = { calls: [call({ error: "execution reverted" })] };
    for (const trace of [
      null,
      "nonsense",
      frame({ ...failing, error: "execution reverted" }),
      frame({ calls: [call({ from: alice, error: "execution reverted" })] }),
      frame({ calls: [call({ input: "0x87654321", error: "execution reverted" })] }),
    ])
      expect(tracedInner(inner, calls, trace, none)).toEqual(inner);
  });
});

describe("an inner permit that failed", () => {
  const keeper: Hex = "0x000000000022d473030f116ddee9f6b43ac78ba3";
  const permit = (value: bigint) =>
    encodeFunctionData({
      abi: parseAbi(["function permit(address,address,uint256,uint256,uint8,bytes32,bytes32)"]),
      args: [alice, bob, value, 9n, 27, `0x${one}`, `0x${one}`],
    });
  const failure = (value: bigint) =>
    ({ by: bob, index: 0, to: token, data: permit(value), call: null, revert: null, evidence: "measured" }) as const;
  const approval = (before: bigint | null, after: bigint | null) =>
    ({
      ...{ standard: "erc20", token, owner: alice, spender: bob, tokenId: null, before, after, expiration: null },
      ...{ extended: false, unlimited: false, spenderKind: "contract", transaction: 0, evidence: "measured" },
    }) as Approval;
  it.each([
    ["whose allowance is there", 7n, null, 7n, true],
    ["whose allowance was there, and is spent", 7n, 7n, 0n, true],
    ["whose allowance is less", 7n, 6n, 6n, false],
    ["that was to take an allowance back, which is still there", 0n, 7n, 7n, false],
    ["that was to take an allowance back, which is spent", 0n, 7n, 0n, true],
    ["that was to take an allowance back, of which nobody knows", 0n, 0n, null, false],
  ] as const)("is made up for ($4) %s", (_, said, before, after, expected) => {
    expect(isGranted(failure(said), [approval(before, after)])).toBe(expected);
  });
  it.each([
    ["as long as it asks", "permit2", 50n, true],
    ["no more", "permit2", 49n, false],
    ["only at the token itself", "erc20", null, false],
  ] as const)(
    "is made up for ($3) at Permit2, where the allowance is there %s",
    (_, standard, expiration, expected) => {
      const data = encodeFunctionData({
        abi: parseAbi(["function permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)"]),
        args: [alice, [[token, 7n, 50, 0], bob, 9n], "0x"],
      });
      const failed = { ...failure(7n), to: keeper, data };
      expect(isGranted(failed, [{ ...approval(7n, 7n), standard, expiration }])).toBe(expected);
    },
  );
});

it("innerFailures lists the selectors that its readers read", () => {
  for (const signature of [
    "function aggregate3((address,bool,bytes)[])",
    "function execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
    "function handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)",
    "function executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)",
    "function execute(bytes32,bytes)",
    "function execute(bytes,bytes[],uint256)",
  ])
    expect(mayTell(askedBy({ from: alice, to: bob, data: toFunctionSelector(signature) }, 0), [])).toBe(true);
  expect(mayTell(askedBy({ from: alice, to: bob, data: "0xa9059cbb" }, 0), [])).toBe(false);
});
