/**
 * The cost of a warm preflight of a token transfer, by counts, which no other load on the machine changes: requests, fibers, and
 * calls of functions, over answers that were recorded. `npm run bench:previous` has the CPU.
 */
import { Session } from "node:inspector/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPreflight } from "../../src/promise.js";
import { Token } from "../contracts/artifacts.js";
import { furnish } from "./furnished.js";
import { calldata, other, owner, startAnvilScene, type Scene } from "./scene.js";

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

// why: another Node or Effect counts otherwise
it.runIf(process.version.startsWith("v20."))("takes so many requests, fibers and calls at most", async () => {
  const { fetch, clear, play } = recorder();
  const client = createPreflight({ url: scene.url, fetch });
  const transfer = { from: owner.address, to: token, data: calldata(Token, "transfer", [other.address, 5n]) };
  for (let call = 0; call < 3; call++) {
    clear();
    await client.preflight(transfer);
  }
  play();
  const warm = async () => {
    play();
    return client.preflight(transfer);
  };
  for (let call = 0; call < 10; call++) expect((await warm()).verdict).toBe("ready");
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  const calls = 10;
  let requests = 0;
  for (let call = 0; call < calls; call++) requests += (await warm()).ledger.requests.length;
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
  await client.dispose();
  const counts = { own: 0, effect: 0, fibers: 0 };
  for (const { url, functions } of result)
    for (const { functionName, ranges } of functions) {
      const count = (ranges[0]?.count ?? 0) / calls;
      if (url.includes("/src/") && !url.includes("/node_modules/")) counts.own += count;
      if (url.includes("/node_modules/effect/")) counts.effect += count;
      if (url.includes("/node_modules/effect/") && functionName === "FiberImpl") counts.fibers += count;
    }
  expect(requests / calls).toBeLessThanOrEqual(13);
  expect(counts.fibers).toBeLessThanOrEqual(20);
  expect(counts.effect).toBeLessThanOrEqual(6_600);
  // why: the sources in place of the built files, whose imports are functions here
  expect(counts.own).toBeLessThanOrEqual(14_500);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(1);
});
