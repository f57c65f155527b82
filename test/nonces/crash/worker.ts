/** One replica of a bot: sends with the shared key for as long as it lives. Bundled and run as a process of its own. */
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { createClient } from "redis";
import type { NonceStoreError } from "../../../src/errors/nonces.js";
import { outcomeOf } from "../../../src/errors/sendOutcome.js";
import * as Eth from "../../../src/Eth.js";
import type { NonceStore } from "../../../src/NonceStore.js";
import * as Nonces from "../../../src/Nonces.js";
import { layer as layerPostgres } from "../../../src/postgres.js";
import { layerNodeRedis } from "../../../src/redis.js";
import * as Rpc from "../../../src/Rpc.js";
import { lane, sign } from "../chain.js";
import { crashSettings, type WorkerOptions } from "./options.js";

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
const say = (line: object): Effect.Effect<void> =>
  Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`));

const redisStore: Layer.Layer<NonceStore> = Layer.unwrap(
  Effect.promise(async () => {
    const socket = { path: options.socket, tls: false as const, reconnectStrategy: () => 10 };
    return layerNodeRedis(
      await createClient({ socket })
        .on("error", () => undefined)
        .connect(),
    );
  }),
);
const postgresStore: Layer.Layer<NonceStore> = layerPostgres.pipe(
  Layer.provide(
    PgClient.layer({
      path: options.socket,
      username: "postgres",
      database: "postgres",
      maxConnections: 3,
      connectTimeout: 1_000,
    }),
  ),
  Layer.orDie,
);

/** Every transaction is another one, so that a second for the same nonce is seen. */
const signOne = (nonce: bigint) => {
  const value = BigInt(Math.floor(Math.random() * 2 ** 48));
  // Now and then signing takes longer than the lease
  const thinking = Math.random() < options.slow ? crashSettings.ttlMs * 1.5 : Math.random() * 3;
  return Effect.andThen(Effect.sleep(thinking), sign(nonce, value));
};

/** What the control does: it has a lease, and does not ask whether it still has it. */
const careless = Effect.scoped(
  Effect.gen(function* () {
    const lease = yield* Nonces.reserve(lane);
    const raw = yield* signOne(lease.nonce);
    yield* Effect.ignore(Nonces.commit(lease, { raw }));
    const sent = yield* Effect.result(Eth.sendRawTransaction({ serializedTransaction: raw }));
    const outcome = outcomeOf(sent._tag === "Success" ? sent.success : sent.failure);
    return { nonce: lease.nonce, hash: outcome.hash ?? "", outcome };
  }),
);

const careful = Effect.map(Nonces.withNonce(lane, signOne), ({ nonce, hash, outcome }) => ({ nonce, hash, outcome }));
const once = Effect.suspend((): typeof careless | typeof careful => (options.ignoreFence ? careless : careful));

const bot: Effect.Effect<never, never, NonceStore | Rpc.Rpc> = Effect.forever(
  once.pipe(
    Effect.flatMap(({ nonce, hash, outcome }) => say({ type: "sent", nonce: Number(nonce), hash, kind: outcome.kind })),
    Effect.catch((error) =>
      Effect.andThen(
        say({ type: "failed", tag: error._tag, detail: (error as Partial<NonceStoreError>).detail ?? "" }),
        Effect.sleep(error._tag === "NonceBusy" ? 5 : 20),
      ),
    ),
  ),
);

const keeping: Effect.Effect<never, never, NonceStore | Rpc.Rpc> = Nonces.keep(lane, { everyMs: 100 });
const program = Effect.all([bot, bot, bot, bot, keeping], { concurrency: "unbounded", discard: true }).pipe(
  Effect.provide(
    Layer.mergeAll(Rpc.layerHttp(options.chainUrl), options.kind === "redis" ? redisStore : postgresStore),
  ),
  Effect.provideService(Nonces.Settings, crashSettings),
);

/** The first connection may be cut as any other: then it is tried again, a few times. */
const main = (tries: number): Promise<unknown> =>
  Effect.runPromise(program).catch((error: unknown) => {
    if (tries > 1) return main(tries - 1);
    process.stderr.write(`${String(error)}\n`);
    return process.exit(1);
  });

void main(10);
