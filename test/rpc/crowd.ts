/** A crowd of requests of one run through a viem transport, in a process of its own: `crowd.test.ts` reads its warnings. */
import * as Effect from "effect/Effect";
import { http } from "viem";
import * as Rpc from "../../src/Rpc.js";
import { CurrentRun } from "../rooms/rpc.js";

const [url = "", count = "0", batch = ""] = process.argv.slice(2);
const { signal } = new AbortController();
const crowd = Effect.flatMap(Rpc.Rpc, (rpc) =>
  rpc.admit(
    Effect.forEach(Array.from({ length: Number(count) }), () => rpc.request("eth_chainId", []), {
      concurrency: "unbounded",
    }),
  ),
).pipe(
  Effect.provide(Rpc.layerTransport(http(url, { batch: batch === "batch", timeout: 120_000 }))),
  Effect.provideService(CurrentRun, { round: 1, deadline: null, record: () => undefined, signal }),
);
console.log(`${(await Effect.runPromise(crowd)).length} answers`);
