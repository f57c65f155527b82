/** Who is outvoted changes nothing that is answered, and is counted for those who run the endpoints. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import { expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import { layerScripted, type Answer } from "../../src/testing.js";
import { quorumOf } from "../harness/pairs.js";

const word = `0x${"ab".repeat(32)}`;
const place = { blockHash: word, transactionHash: word, blockNumber: "0x5", transactionIndex: "0x0", logIndex: "0x0" };
const log = { address: `0x${"22".repeat(20)}`, topics: [], data: "0x", ...place };
const honest = [log];

/** The answer of three, and how often each was outvoted. */
const among = (params: object, answers: ReadonlyArray<Answer>) =>
  Effect.gen(function* () {
    const logs = yield* Rpc.Rpc.use(({ request }) => request("eth_getLogs", [params]));
    const found = yield* Metric.snapshot;
    const counted = found.filter(({ id }) => id === "evm_preflight_outvoted_total");
    return [logs, counted.map(({ attributes, state }) => [attributes, (state as { readonly count: number }).count])];
  }).pipe(
    Effect.provide(quorumOf(answers.map((answer) => layerScripted({ eth_getLogs: answer })))),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.runPromise,
  );

const counted = (provider: string) => [[{ "preflight.provider": provider, "rpc.method": "eth_getLogs" }, 1]];

it.each<[string, ReadonlyArray<Answer>, ReadonlyArray<unknown>]>([
  ["nobody", [honest, honest, honest], []],
  ["the second, by the same words", [honest, [], honest], counted("provider 2")],
  // why: of other spelling, so that the answers have to be compared
  ["the third, by other words", [honest, [{ ...log, more: 1 }], []], counted("provider 3")],
])("a search for logs of one block outvotes %s", async (_, answers, expected) => {
  const [logs, outvoted] = await among({ blockHash: word }, answers);
  expect([(logs as ReadonlyArray<object>).length, outvoted]).toEqual([1, expected]);
});

it("a search for logs of one block outvotes nobody, where the first is contradicted: the request fails", () =>
  expect(among({ blockHash: word }, [[], honest, honest])).rejects.toMatchObject({ _tag: "WitnessesDisagree" }));

it("a search for logs of a range outvotes nobody, because each endpoint has its own head", async () => {
  const [, outvoted] = await among({ fromBlock: "0x1", toBlock: "latest" }, [honest, [], honest]);
  expect(outvoted).toEqual([]);
});
