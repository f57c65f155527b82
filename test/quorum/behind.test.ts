/** Pending state is each endpoint's own guess: the first one's stands, and is certain only where another shares it. */
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import { layerScripted, rpcError, type Answer } from "../../src/testing.js";
import { quorumOf } from "../harness/pairs.js";
import { CurrentRun, type HeadSighting } from "../rooms/rpc.js";

const head = 2_000;
const hex = (value: number): string => `0x${value.toString(16)}`;
const simulation = { blockStateCalls: [{ blockOverrides: { number: hex(head + 1) }, calls: [{}] }] };
const ran = (word: string, number = head + 1): Answer => [
  { number: hex(number), calls: [{ status: "0x1", gasUsed: "0x1", logs: [], returnData: `0x${word}` }] },
];
const refused = rpcError({ code: -38020, message: "block numbers must be in order" });
const isNumbered = ([asked]: ReadonlyArray<unknown>): boolean => JSON.stringify(asked).includes("number");
const down = rpcError({ code: -32603, message: "upstream unavailable" });

/** Refuses what is beyond its head, so many blocks behind, and says this after it. */
const behind =
  (blocks: number, word: string) =>
  (params: ReadonlyArray<unknown>): Answer =>
    isNumbered(params) ? refused : ran(word, head + 1 - blocks);

type Says = Answer | ((params: ReadonlyArray<unknown>) => Answer);

/** What is handed on, and what is told of it. */
const among = (isRun: boolean, says: ReadonlyArray<Says>) =>
  Effect.gen(function* () {
    const sighted: HeadSighting = { block: null, aheadMs: null, testimonies: [] };
    const asked = Rpc.Rpc.use(({ request }) => request("eth_simulateV1", [simulation, "pending"]));
    const run = { round: 1, deadline: null, record: () => undefined, signal: null, ...(isRun ? { sighted } : {}) };
    const answer = (yield* Effect.provideService(asked, CurrentRun, run)) as ReadonlyArray<{
      readonly calls: ReadonlyArray<{ readonly returnData: string }>;
    }>;
    return [answer[0]?.calls[0]?.returnData, sighted.testimonies.map(({ kind }) => kind)];
  }).pipe(Effect.provide(quorumOf(says.map((say) => layerScripted({ eth_simulateV1: say })))), Effect.runPromise);

it.each<[string, ReadonlyArray<Says>, string, ReadonlyArray<string>]>([
  ["confirmed by the third", [ran("aa"), ran("bb"), ran("aa")], "0xaa", []],
  ["in doubt where both others ran it otherwise", [ran("aa"), ran("bb"), ran("bb")], "0xaa", ["pending", "pending"]],
  [
    "in doubt where others are down or behind",
    [ran("aa"), down, behind(1, "aa")],
    "0xaa",
    ["unconfirmed", "unconfirmed"],
  ],
])("the first endpoint's pending state is %s", async (_, says, word, told) => {
  const [answer, testimonies] = await among(true, says);
  expect([answer, [...(testimonies as ReadonlyArray<string>)].sort()]).toEqual([word, told]);
});

it("the first endpoint's failure is passed on outside a run", () =>
  expect(among(false, [down, ran("aa"), ran("aa")])).rejects.toMatchObject({
    reason: { _tag: "UpstreamUnavailable" },
  }));

it.each<[string, ReadonlyArray<number>, bigint]>([
  ["by whom it is shown, where nobody is outvoted", [head, head + 1], BigInt(head + 1)],
  ["by two of three", [head, head + 1, head + 1], BigInt(head + 1)],
  ["not by one of three", [head, head, head + 1], BigInt(head)],
])("a quorum recognises which block is mined: %s", async (_, heads, sealed) => {
  const header = (number: number) => ({ number: hex(number), hash: `0x${number.toString(16).padStart(64, "0")}` });
  const shows = (own: number) =>
    layerScripted({
      eth_getBlockByNumber: ([tag]) => header(tag === "latest" ? own : Number(tag)),
      eth_getBlockByHash: ([hash]) => header(Number(hash)),
    });
  const sighted: HeadSighting = { block: null, aheadMs: null, testimonies: [] };
  const run = { round: 1, deadline: null, record: () => undefined, signal: null, sighted };
  await Rpc.Rpc.use(({ request }) => request("eth_getBlockByNumber", ["latest", false])).pipe(
    Effect.provideService(CurrentRun, run),
    Effect.provide(quorumOf(heads.map(shows))),
    Effect.runPromise,
  );
  expect(sighted.sealed).toBe(sealed);
});

it("a report is confirmed beside a liar by an endpoint one block behind, on the block that both have", async () => {
  const at = (number: number): Answer => ({ number: hex(number), hash: `0x${String(number).padStart(64, "0")}` });
  const sighted: HeadSighting = { block: null, aheadMs: null, testimonies: [] };
  const run = { round: 1, deadline: null, record: () => undefined, signal: null, sighted };
  const says = (own: number, word: string) =>
    layerScripted({
      eth_getBlockByNumber: at(own),
      eth_simulateV1: (params) => (params[1] === "pending" && own < head ? refused : ran(word, own + 1)),
    });
  const ask = (lagging: string) =>
    Rpc.Rpc.use(({ request }) => request("eth_simulateV1", [simulation, "pending"])).pipe(
      Effect.provideService(CurrentRun, run),
      Effect.provide(quorumOf([says(head, "aa"), says(head, "bb"), says(head - 1, lagging)])),
      Effect.runPromise,
    );
  expect(await ask("aa")).toEqual(ran("aa"));
  expect(sighted.testimonies).toEqual([]);
  await ask("cc");
  expect(sighted.testimonies.map(({ kind }) => kind)).toEqual(["pending", "pending"]);
});
