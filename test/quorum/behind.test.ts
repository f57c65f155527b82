/** Of pending state each endpoint has its own: one that is a little behind tells which of two others is believed. */
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
  ["the second, which one block behind is confirmed", [ran("aa"), behind(1, "bb"), ran("bb")], "0xbb", []],
  ["the first, wherever the others stand", [ran("aa"), ran("bb"), behind(8, "aa")], "0xaa", []],
  ["nobody, by one that is long behind", [ran("aa"), behind(9, "bb"), ran("bb")], "0xaa", ["pending", "unconfirmed"]],
  ["nobody, by one that is ahead", [ran("aa"), behind(-1, "bb"), ran("bb")], "0xaa", ["pending", "unconfirmed"]],
  [
    "the only one, against whom a block of another's is no testimony",
    [ran("aa"), down, behind(1, "bb")],
    "0xaa",
    ["unconfirmed", "unconfirmed"],
  ],
])("believes %s", async (_, says, word, told) => {
  const [answer, testimonies] = await among(true, says);
  expect([answer, [...(testimonies as ReadonlyArray<string>)].sort()]).toEqual([word, told]);
});

it("hands on an answer outside a run, too, where the first has none", async () => {
  expect(await among(false, [behind(20, "cc"), ran("aa"), ran("bb")])).toEqual(["0xaa", []]);
});
