/** Reading simulated calls: what nodes say in different ways means the same. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { parseAbi, toEventHash } from "viem";
import { describe, expect, it } from "vitest";
import { sent } from "../rooms/eth.js";
import { indexAbis } from "../rooms/abi.js";
import { classify } from "../rooms/errors.js";
import type * as Eth from "../../src/Eth.js";
import { Address } from "../rooms/primitives.js";
import { readCall, Simulate } from "../rooms/steps.js";
import { layerScripted, rpcError } from "../../src/testing.js";
import { bareCall } from "../rooms/transaction.js";
import { unseen } from "../rooms/witness.js";
import { alice, bob, bundle, caseOf, codes, hexOf, log, outcome, token, transaction, word } from "./parts.js";
import { topics } from "./reading/arbitrary.js";

const abis = indexAbis([]);
const reason = `0x08c379a0${"20".padStart(64, "0")}${"2".padStart(64, "0")}${"6e6f".padEnd(64, "0")}`;
const failing = (error: unknown, returnData = "0x", gasUsed = 30_000n): Eth.CallResult => ({
  ...{ status: "failure", gasUsed, maxUsedGas: null, returnData: hexOf(returnData), logs: [], error: null },
  failure: classify({ method: "eth_simulateV1", scope: "call", returnData, ...(error === null ? {} : { error }) }),
});
const callOf = (gas: bigint, input = transaction()): Simulate.Plan["calls"][number] => ({
  input,
  request: bareCall(input, gas),
  gas,
});
const where = { transaction: 0, abis, evidence: "measured" } as const;
const read = (result: Eth.CallResult, gas = 100_000n) => readCall(result, callOf(gas), where).outcome;

describe("a failed call", () => {
  it.each([
    ["geth", failing({ code: 3, message: "execution reverted: no", data: reason })],
    ["reth 1", failing({ code: -32000, message: "execution reverted" }, reason)],
    ["anvil", failing({ code: -3200, message: "execution failed" }, reason)],
    ["besu", failing({ code: 3, message: "execution reverted", data: reason }, reason)],
    ["a string", failing("execution reverted", reason)],
  ])("reverts with its reason: %s", (_, result) => {
    const found = read(result);
    expect([found.status, found.failure?._tag, found.returnData]).toEqual(["reverted", "ExecutionReverted", reason]);
    expect(found.failure?.message).toContain("no");
  });

  it("halts when it takes all gas without a word, and reverts when it gives some back", () => {
    expect(read(failing({ code: -3200, message: "execution failed" }, "0x", 100_000n)).status).toBe("halted");
    expect(read(failing({ code: -3200, message: "execution failed" }, "0x", 99_999n)).status).toBe("reverted");
    expect(read(failing({ code: -32015, message: "out of gas" }, "0x", 100_000n)).status).toBe("halted");
    expect(read(failing(null, "0x", 100_000n)).status).toBe("halted");
  });

  it("has no logs, whatever the node lists", () => {
    const result = { ...failing({ code: 3, message: "execution reverted" }), logs: [log(bob, []) as never] };
    const reading = readCall(result, callOf(1n), where);
    expect([reading.outcome.logs, reading.transfers]).toEqual([[], []]);
  });
});

it("the traced movements of a call stand among its contracts' logs, in the node's order", () => {
  const tracer = Address.make(`0x${"ee".repeat(20)}`);
  const movement = (by: Address, amount: bigint) => log(by, [topics.transfer, word(alice), word(bob)], [word(amount)]);
  const logs = [movement(tracer, 1n), movement(token, 2n), movement(tracer, 3n)];
  const success: Eth.CallResult = {
    ...{ status: "success", gasUsed: 21_000n, maxUsedGas: 21_000n, returnData: hexOf("0x"), error: null },
    ...{ failure: null, logs: logs as never },
  };
  const reading = readCall(success, callOf(100_000n), { transaction: 2, abis, evidence: "assumed" });
  expect(reading.transfers.map((one) => [one.token, one.amount, one.transaction, one.evidence])).toEqual([
    [null, 1n, 2, "assumed"],
    [token, 2n, 2, "assumed"],
    [null, 3n, 2, "assumed"],
  ]);
  expect(reading.outcome.logs.map(({ address }) => address)).toEqual([token]);
  expect(reading.outcome.evidence).toBe("assumed");
});

it("the text of each run is read by the ABIs of that run, whatever the run before it said", () => {
  const item = {
    type: "function",
    name: "f",
    stateMutability: "nonpayable",
    inputs: [],
    outputs: [{ type: "uint256" }],
  };
  const input = transaction({ item });
  const event = parseAbi(["event Kept(uint256 amount)"]);
  const result = (returned: bigint, amount: bigint): Eth.CallResult => ({
    ...{ status: "success", gasUsed: 1n, maxUsedGas: 1n, returnData: hexOf(`0x${word(returned)}`), error: null },
    ...{ failure: null, logs: [log(token, [toEventHash(event[0]).slice(2)], [word(amount)])] as never },
  });
  const said = (known: typeof abis, ...values: Parameters<typeof result>) => {
    const { outcome: its } = readCall(result(...values), callOf(100_000n, input), { ...where, abis: known });
    return [its.returnData, its.result?.data, its.logs[0]?.data, its.logs[0]?.decoded?.name ?? null];
  };
  const words = (returned: bigint, amount: bigint, name: string | null) => {
    const returnData = `0x${word(returned)}`;
    return [returnData, returnData, `0x${word(amount)}`, name];
  };
  const named = indexAbis([event]);
  expect(said(abis, 1n, 1n)).toEqual(words(1n, 1n, null));
  expect(said(named, 1n, 1n)).toEqual(words(1n, 1n, "Kept"));
  expect(said(named, 2n, 1n)).toEqual(words(2n, 1n, "Kept"));
  expect(said(named, 2n, 2n)).toEqual(words(2n, 2n, "Kept"));
  expect(said(abis, 2n, 2n)).toEqual(words(2n, 2n, null));
});

describe("the findings of an outcome", () => {
  const found = (changed: Parameters<typeof outcome>[0]) =>
    Simulate.check({ ...caseOf(), index: 2, outcome: outcome(changed), transfers: [] });
  it("are the failure, as a blocker of that transaction", () => {
    const { failure } = read(failing({ code: 3, message: "execution reverted" }));
    const findings = found({ status: "reverted", failure });
    expect(codes(findings)).toEqual(["ExecutionReverted/blocker"]);
    expect(findings[0]).toMatchObject({ step: "simulate", transaction: 2, error: failure });
  });
  it("say that it is unknown, where nobody simulated it, and none where it succeeded", () => {
    expect(codes(found({ status: "unknown", evidence: "unavailable" }))).toEqual(["OutcomeUnknown/unavailable"]);
    expect(found({})).toEqual([]);
  });
  it("are those of an unknown outcome for a case that no run shows", () => {
    const ran = Simulate.ranIn(null, caseOf());
    expect([ran.outcome.status, ran.transfers]).toEqual(["unknown", []]);
    expect(codes(Simulate.check(ran))).toEqual(["OutcomeUnknown/unavailable"]);
  });
});

describe("an eth_simulateV1 request and its answer", () => {
  const plan: Simulate.Plan = {
    ...{ name: "ample", calls: [callOf(21_000n)], before: [{ kind: "environment" }], after: [] },
    ...{ block: "latest", stateOverrides: null, blockOverrides: null, pretended: false },
  };
  const asked = async (answer: Parameters<typeof layerScripted>[0][string], what: Simulate.Plan = plan) => {
    const params: Array<ReadonlyArray<unknown>> = [];
    const layer = layerScripted({
      eth_simulateV1: (given) => {
        params.push(given);
        return typeof answer === "function" ? answer(given, 0) : (answer ?? null);
      },
    });
    const result = await Effect.runPromise(sent(Simulate.ask(what, abis)).pipe(Effect.provide(layer)));
    return { params, result };
  };

  it("has the witness at another place every time, and asks for validation and transfers", async () => {
    const failure = rpcError({ code: -38014, message: "insufficient funds" });
    const [one, other] = [await asked(failure), await asked(failure)];
    const wire = (params: ReadonlyArray<unknown> | undefined) =>
      params?.[0] as {
        validation: boolean;
        traceTransfers: boolean;
        blockStateCalls: [
          { calls: [{ to: string; from: string; gas: string }, { from: string }]; stateOverrides: object },
        ];
      };
    const [a, b] = [wire(one.params[0]), wire(other.params[0])];
    expect([a.validation, a.traceTransfers]).toEqual([true, true]);
    const [witness, user] = a.blockStateCalls[0].calls;
    expect(user.from).toBe(alice);
    expect(Object.keys(a.blockStateCalls[0].stateOverrides).sort()).toEqual([witness.to, witness.from].sort());
    const again = b.blockStateCalls[0].calls[0];
    expect(new Set([witness.to, witness.from, again.to, again.from]).size).toBe(4);
    expect(Result.isFailure(one.result) && one.result.failure._tag).toBe("InsufficientFunds");
  });

  it("fails with a typed error on any malformed answer", async () => {
    for (const answer of [null, [], {}, "0x", 1, [{}], [{ calls: [] }], [{ calls: null }]])
      expect(Result.isFailure((await asked(answer as never)).result)).toBe(true);
  });

  const wireCall = (returnData: string) => ({ status: "0x1", gasUsed: "0x5208", returnData, logs: [] });
  const blockOf = (...calls: ReadonlyArray<ReturnType<typeof wireCall>>) => [
    {
      ...{ number: "0x65", hash: `0x${"11".repeat(32)}`, parentHash: `0x${"ab".repeat(32)}`, timestamp: "0x1" },
      ...{ gasLimit: "0x1c9c380", gasUsed: "0x0", miner: `0x${"00".repeat(20)}`, baseFeePerGas: "0x0", calls },
    },
  ];
  it("has the user's calls read in their order, between the witness's own", async () => {
    const cases = bundle({}, {}, {});
    const what: Simulate.Plan = {
      ...plan,
      calls: cases.map(({ input }) => callOf(21_000n, input)),
      after: [{ kind: "environment" }],
    };
    const answer = blockOf(...["0x", "0x01", "0x02", "0x03", "0x"].map(wireCall)) as never;
    const { result } = await asked(answer, what);
    if (Result.isFailure(result)) throw result.failure;
    const run = result.success;
    expect(cases.map((one) => Simulate.ranIn(run, one).outcome.returnData)).toEqual(["0x01", "0x02", "0x03"]);
    // the witness answered in neither place: nothing is known, and it is said
    expect([run.witnessed, run.before.environment, run.after.environment]).toEqual([false, null, null]);
  });
  it("counts as witnessed without queries, and shows nothing", async () => {
    const { result } = await asked(blockOf(wireCall("0x")) as never, { ...plan, before: [] });
    if (Result.isFailure(result)) throw result.failure;
    expect([result.success.witnessed, result.success.before, result.success.after]).toEqual([true, unseen, unseen]);
  });
});
