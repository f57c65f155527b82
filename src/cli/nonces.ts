/** `evm-preflight nonces`: where the lanes of a shared sender stand, for people and health probes. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Command from "effect/cli/Command";
import type { NonceStore } from "../NonceStore.js";
import * as Nonces from "../Nonces.js";
import { layerNodeRedis, type NodeRedisClient } from "../nonces/redis/clients.js";
import * as Rpc from "../Rpc.js";
import { endpoint, rpcUrl } from "./check.js";
import { Exited, exitCodes, wrong, type WrongUsage } from "./exit.js";
import { text, toggle } from "./flags.js";
import { print } from "./terminal.js";

interface Client extends NodeRedisClient {
  connect(): Promise<unknown>;
  destroy(): void;
}

/** The caller's own `redis` package: the bin carries none. */
const createClient = (url: string): Effect.Effect<Client, WrongUsage> =>
  Effect.tryPromise({
    try: () =>
      import("redis").then((redis): Client => {
        const reconnectStrategy = false;
        return url.startsWith("unix://")
          ? redis.createClient({ socket: { path: url.slice("unix://".length), reconnectStrategy } })
          : redis.createClient({ url, socket: { reconnectStrategy } });
      }),
    catch: () => wrong("--redis-url", "needs the redis package beside this one: npm install redis"),
  });

const storeOf = (url: string): Layer.Layer<NonceStore, WrongUsage> =>
  Layer.unwrap(
    Effect.acquireRelease(
      Effect.tap(createClient(url), (client) =>
        Effect.tryPromise({
          try: () => client.connect(),
          catch: () => wrong("--redis-url", "the store cannot be reached"),
        }),
      ),
      (client) => Effect.ignore(Effect.try({ try: () => client.destroy(), catch: () => null })),
    ).pipe(Effect.map((client) => layerNodeRedis(client))),
  );

const laneIn = (id: string) => {
  const [chainId = "", address = "", key = "0"] = id.split(":");
  return { chainId: Number(chainId), address: address as `0x${string}`, key: /^\d+$/.test(key) ? BigInt(key) : 0n };
};

const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, field: unknown) => (typeof field === "bigint" ? field.toString() : field), 2);

/** Prints the lanes and fails with the exit code: 0 sound, 1 damaged, 2 gaps, 3 a lane that cannot be read. */
const show = Effect.fnUntraced(function* (asked: ReadonlyArray<string>, json: boolean) {
  const ids = asked.length > 0 ? asked : yield* Nonces.lanes;
  const read = yield* Effect.forEach(ids, (id) => Effect.result(Nonces.status(laneIn(id))));
  const statuses = read.flatMap((one) => (one._tag === "Success" ? [one.success] : []));
  const failures = read.flatMap((one, index) =>
    one._tag === "Failure" ? [{ lane: ids[index] ?? "", problem: one.failure.message }] : [],
  );
  yield* print(
    json
      ? jsonOf({ lanes: statuses, failures })
      : [...statuses.map(Nonces.toText), ...failures.map(({ lane, problem }) => `lane ${lane}\n  ${problem}`)].join(
          "\n\n",
        ) || "no lanes",
  );
  const code = statuses.some(({ violations }) => violations.length > 0)
    ? exitCodes.blocked
    : failures.length > 0
      ? exitCodes.unknown
      : statuses.some(({ gaps }) => gaps.length > 0)
        ? exitCodes.caution
        : exitCodes.ready;
  return yield* new Exited({ code });
});

export const nonces = Command.make(
  "nonces",
  {
    rpcUrl,
    redisUrl: text("redis-url", "the store: redis://…, or unix:///path of its socket"),
    lane: text("lane", "one lane, chainId:address[:key]; all lanes when absent"),
    json: toggle("json", "print it as JSON"),
  },
  Effect.fnUntraced(function* (given) {
    if (Option.isNone(given.redisUrl)) return yield* wrong("--redis-url", "is missing");
    const lane = Option.getOrNull(given.lane);
    if (lane !== null && !/^\d+:0x[0-9a-fA-F]{40}(:\d+)?$/.test(lane)) {
      return yield* wrong("--lane", "must be chainId:address or chainId:address:key");
    }
    const url = yield* endpoint(given.rpcUrl, "--rpc-url");
    return yield* show(lane === null ? [] : [lane], given.json).pipe(
      Effect.provide(Layer.merge(storeOf(given.redisUrl.value), Rpc.layerHttp(url))),
      Effect.catchTag("NonceStoreError", (error) => Effect.fail(wrong("--redis-url", error.message))),
    );
  }),
).pipe(
  Command.withDescription("Where the nonces of shared senders stand: reserved, committed, gaps, damage"),
  Command.withExamples([
    {
      command: "evm-preflight nonces --redis-url redis://127.0.0.1:6379 --rpc-url https://your.node",
      description: "All lanes of a store",
    },
  ]),
);
