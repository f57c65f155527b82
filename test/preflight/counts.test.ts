/**
 * The cost of a warm preflight, by counts, which no other load on the machine changes: requests, fibers, and calls of
 * functions, over answers that were recorded. `npm run bench:previous` has the CPU.
 */
import { Session } from "node:inspector/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPreflight } from "../../src/promise.js";
import { Token } from "../contracts/artifacts.js";
import { furnish } from "./furnished.js";
import { calldata, other, owner, startAnvilScene, type AnyInput, type Scene } from "./scene.js";

let scene: Scene;
let token: `0x${string}`;
beforeAll(async () => {
  ({ scene, token } = await furnish(startAnvilScene));
});
afterAll(() => scene?.stop());

/** Asks the node, and then answers by method what it said in turn. */
const recorder = () => {
  const tape = new Map<string, Array<string>>();
  const played = new Map<string, number>();
  let isPlaying = false;
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { id, method } = JSON.parse(String(init.body)) as { readonly id: number; readonly method: string };
    const answers = tape.get(method) ?? [];
    if (isPlaying) {
      const turn = played.get(method) ?? 0;
      played.set(method, turn + 1);
      return new Response(`{"jsonrpc":"2.0","id":${id},"result":${answers[turn % answers.length]}}`);
    }
    const place = answers.push("null") - 1;
    tape.set(method, answers);
    const answer = (await (await globalThis.fetch(url, init)).json()) as { readonly result: unknown };
    answers[place] = JSON.stringify(answer.result);
    return new Response(JSON.stringify({ ...answer, id }));
  };
  return {
    fetch,
    clear: () => tape.clear(),
    play: () => {
      isPlaying = true;
      played.clear();
    },
  };
};

/** What a warm preflight takes, on average of ten. */
const countsOf = async (input: AnyInput) => {
  const { fetch, clear, play } = recorder();
  const client = createPreflight({ url: scene.url, fetch });
  for (let call = 0; call < 3; call++) {
    clear();
    await client.preflight(input as never);
  }
  const warm = async () => {
    play();
    return client.preflight(input as never);
  };
  for (let call = 0; call < 10; call++) expect(["ready", "caution"]).toContain((await warm()).verdict);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  const calls = 10;
  const counts = { requests: 0, simulated: 0, own: 0, effect: 0, fibers: 0 };
  for (let call = 0; call < calls; call++) {
    const { ledger, transactions } = await warm();
    counts.requests += ledger.requests.length;
    counts.simulated += ledger.requests.filter(({ run }) => run !== null).length * transactions.length;
  }
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
  await client.dispose();
  for (const { url, functions } of result)
    for (const { functionName, ranges } of functions) {
      const count = (ranges[0]?.count ?? 0) / calls;
      if (url.includes("/src/") && !url.includes("/node_modules/")) counts.own += count;
      if (url.includes("/node_modules/effect/")) counts.effect += count;
      if (url.includes("/node_modules/effect/") && functionName === "FiberImpl") counts.fibers += count;
    }
  return { ...counts, requests: counts.requests / calls, simulated: counts.simulated / calls };
};

// why: another Node or Effect counts otherwise
const counted = it.runIf(process.version.startsWith("v20."));

const transfer = () => ({ from: owner.address, to: token, data: calldata(Token, "transfer", [other.address, 5n]) });

counted("takes so many requests, fibers and calls at most", async () => {
  const { requests, fibers, effect, own } = await countsOf(transfer());
  expect(requests).toBe(13);
  expect(fibers).toBeLessThanOrEqual(8);
  expect(effect).toBeLessThanOrEqual(6_600);
  // why: the sources in place of the built files, whose imports are functions here
  expect(own).toBeLessThanOrEqual(13_800);
  for (const count of [fibers, effect, own]) expect(count).toBeGreaterThan(1);
});

/**
 * The calls for each request and each transaction in a run: these two cost about the same. A path for a token's transfer
 * alone would make it cheap by this measure, and all else dear.
 */
const costOf = async (input: AnyInput): Promise<number> => {
  const { requests, simulated, effect, own } = await countsOf(input);
  return (effect + own) / (requests + simulated);
};

counted("takes for others no more than their share of that", async () => {
  const approve = { from: owner.address, to: token, data: calldata(Token, "approve", [other.address, 5n]) };
  const ether = { from: owner.address, to: other.address, value: 5n };
  const usual = await costOf(transfer());
  const [approving, paying, bundled] = [
    (await costOf(approve)) / usual,
    (await costOf(ether)) / usual,
    (await costOf([approve, transfer(), ether])) / usual,
  ];
  for (const share of [approving, paying, bundled]) expect(share).toBeLessThan(1.2);
  // why: a transfer of ether has no token to be measured and described
  for (const share of [approving, bundled]) expect(share).toBeGreaterThan(0.8);
});
