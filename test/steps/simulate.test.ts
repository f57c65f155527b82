/** Reading simulated calls: what nodes say in different ways means the same. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { bareCall } from "../../src/transaction/call.js";
import { describe, expect, it } from "vitest";
import { indexAbis } from "../../src/abi/decodeRevert.js";
import { classify } from "../../src/errors/classify.js";
import { Hex } from "../../src/primitives/hex.js";
import type * as Eth from "../../src/Eth.js";
import * as Simulate from "../../src/steps/simulate.js";
import { layerScripted, rpcError } from "../../src/testing.js";
import { alice, bob, transaction } from "./parts.js";

const abis = indexAbis([]);
const reason = `0x08c379a0${"20".padStart(64, "0")}${"2".padStart(64, "0")}${"6e6f".padEnd(64, "0")}`;
const call = (error: unknown, returnData = "0x", gasUsed = 30_000n): Eth.CallResult => ({
  ...{ status: "failure", gasUsed, maxUsedGas: null, returnData: Hex.make(returnData as `0x${string}`), logs: [] },
  error: null,
  failure: classify({ method: "eth_simulateV1", scope: "call", returnData, ...(error === null ? {} : { error }) }),
});
const read = (result: Eth.CallResult, gas = 100_000n) =>
  Simulate.readCall(result, gas, transaction(), abis, "measured").outcome;

describe("a failed call", () => {
  it.each([
    ["geth", call({ code: 3, message: "execution reverted: no", data: reason })],
    ["reth 1", call({ code: -32000, message: "execution reverted" }, reason)],
    ["anvil", call({ code: -3200, message: "execution failed" }, reason)],
    ["besu", call({ code: 3, message: "execution reverted", data: reason }, reason)],
    ["a string", call("execution reverted", reason)],
  ])("reverts with its reason, as %s tells it", (_, result) => {
    const outcome = read(result);
    expect([outcome.status, outcome.failure?._tag, outcome.returnData]).toEqual([
      "reverted",
      "ExecutionReverted",
      reason,
    ]);
    expect(outcome.failure?.message).toContain("no");
  });

  it("halts when it takes all gas without a word, and reverts when it gives some back", () => {
    expect(read(call({ code: -3200, message: "execution failed" }, "0x", 100_000n)).status).toBe("halted");
    expect(read(call({ code: -3200, message: "execution failed" }, "0x", 99_999n)).status).toBe("reverted");
    expect(read(call({ code: -32015, message: "out of gas" }, "0x", 100_000n)).status).toBe("halted");
    expect(read(call(null, "0x", 100_000n)).status).toBe("halted");
  });

  it("leaves no logs, whatever the node lists", () => {
    const log = { address: bob, topics: [], data: Hex.make("0x") };
    const result = { ...call({ code: 3, message: "execution reverted" }), logs: [log as never] };
    const reading = Simulate.readCall(result, 1n, transaction(), abis, "measured");
    expect([reading.outcome.logs, reading.traced]).toEqual([[], []]);
  });
});

describe("a simulation", () => {
  const plan: Simulate.Plan = {
    ...{ calls: [bareCall(transaction(), 21_000n)], before: [{ kind: "environment" }], after: [] },
    ...{ block: "latest", stateOverrides: null, blockOverrides: null },
  };
  const asked = async (answer: Parameters<typeof layerScripted>[0][string]) => {
    const params: Array<ReadonlyArray<unknown>> = [];
    const layer = layerScripted({
      eth_simulateV1: (given) => {
        params.push(given);
        return typeof answer === "function" ? answer(given, 0) : (answer ?? null);
      },
    });
    return { params, result: await Effect.runPromise(Effect.result(Simulate.ask(plan)).pipe(Effect.provide(layer))) };
  };

  it("puts the witness at another place every time, and asks for validation and transfers", async () => {
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

  it("fails, typed, on whatever is no answer to it", async () => {
    for (const answer of [null, [], {}, "0x", 1, [{}], [{ calls: [] }], [{ calls: null }]])
      expect(Result.isFailure((await asked(answer as never)).result)).toBe(true);
  });
});
