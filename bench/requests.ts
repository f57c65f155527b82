/** How many requests a question takes, counted by a proxy in front of the node. */
import { createPreflight, type PreflightClient } from "evm-preflight/promise";
import { startProxy } from "../test/harness/proxy.js";
import { atMost, type Goal } from "./goals.js";
import type { Call } from "./scene.js";

const questions = [
  { name: "`scan`", limits: { first: 11, warm: 8 }, ask: (client: PreflightClient, call: Call) => client.scan(call) },
  {
    name: "`preflight`",
    limits: { first: 17, warm: 13 },
    ask: (client: PreflightClient, call: Call) => client.run(call),
  },
] as const;

type Ask = (typeof questions)[number]["ask"];

/** Requests, and POSTs, of a client's first and second call. */
const count = async (target: string, call: Call, ask: Ask, batch: boolean) => {
  const proxy = await startProxy({ target });
  const client = createPreflight({ url: proxy.url, batch });
  const countOnce = async () => {
    proxy.reset();
    await ask(client, call);
    return { requests: proxy.seen.length, posts: proxy.posts() };
  };
  const first = await countOnce();
  const warm = await countOnce();
  await client.dispose();
  await proxy.stop();
  return { first, warm };
};

/** The goals for requests, on a node that has them all. */
export const requestGoals = async (
  url: string,
  calls: ReadonlyArray<readonly [name: string, call: Call]>,
): Promise<ReadonlyArray<Goal>> => {
  const goals: Array<Goal> = [];
  for (const [callName, call] of calls) {
    for (const { name, limits, ask } of questions) {
      const single = await count(url, call, ask, false);
      const batched = await count(url, call, ask, true);
      for (const when of ["warm", "first"] as const) {
        const { requests } = single[when];
        const title = `requests of ${name}, ${callName}, ${when === "warm" ? "warm" : "first call"}`;
        goals.push(atMost(title, limits[when], "", requests, `${requests} (POSTs in batches: ${batched[when].posts})`));
      }
    }
  }
  return goals;
};
