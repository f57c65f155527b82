/** One replica of a bot: sends with the shared keys for as long as it lives. Bundled and run as a process of its own. */
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { Redis as Ioredis } from "ioredis";
import { createClient } from "redis";
import { outcomeOf } from "../../rooms/errors.js";
import * as Eth from "../../../src/Eth.js";
import type { NonceStore } from "../../../src/NonceStore.js";
import * as Nonces from "../../../src/Nonces.js";
import { layer as layerPostgres } from "../../../src/postgres.js";
import { layerIoredis, layerNodeRedis } from "../../../src/redis.js";
import { Listener } from "../../rooms/primitives.js";
import * as Rpc from "../../../src/Rpc.js";
import { crashSettings, newPayment, shared, type WorkerOptions } from "./options.js";

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
type Shared = ReturnType<typeof shared>[number];
type Endless = Effect.Effect<never, never, NonceStore | Rpc.Rpc>;

const say = (line: object): Effect.Effect<void> =>
  Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`));

const redisOptions = { replicas: options.replicas, replicaTimeoutMs: 200 };
/** As ioredis makes it, but for the time between two connections. */
const ioredisStore = (): Layer.Layer<NonceStore> =>
  layerIoredis(
    new Ioredis({ path: options.socket, retryStrategy: () => 10 }).on("error", () => undefined),
    redisOptions,
  );
const nodeRedisStore: Layer.Layer<NonceStore> = Layer.unwrap(
  Effect.promise(async () => {
    const socket = { path: options.socket, tls: false as const, reconnectStrategy: () => 10 };
    const client = createClient({ socket }).on("error", () => undefined);
    return layerNodeRedis(await client.connect(), redisOptions);
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

const fee = 2_000_000_000n;

const signOne =
  ({ sign }: Shared, payment: bigint) =>
  (nonce: bigint) => {
    // Now and then signing takes longer than the lease
    const thinking = Math.random() < options.slow ? crashSettings.ttlMs * 1.5 : Math.random() * 3;
    const signing =
      Math.random() < 0.02
        ? Effect.fail({ _tag: "SigningFailed", mayBeSent: false } as const)
        : sign(nonce, payment, fee);
    return Effect.andThen(Effect.sleep(thinking), signing);
  };

/** What the control does: it has a lease, and does not ask whether it still has it. */
const careless = (one: Shared, payment: bigint) =>
  Effect.scoped(
    Effect.gen(function* () {
      const lease = yield* Nonces.reserve(one.lane);
      const raw = yield* signOne(one, payment)(lease.nonce);
      yield* Effect.ignore(Nonces.commit(lease, { raw }));
      const sent = yield* Effect.result(Eth.sendRawTransaction({ serializedTransaction: raw }));
      const outcome = outcomeOf(sent._tag === "Success" ? sent.success : sent.failure);
      return { nonce: lease.nonce, hash: outcome.hash };
    }),
  );

/** Now and then the same payment is sent again at once, dearer. */
const careful = Effect.fnUntraced(function* (one: Shared, payment: bigint) {
  const { nonce, hash } = yield* Nonces.withNonce(one.lane, signOne(one, payment));
  if (Math.random() < 0.03) {
    const raw = yield* one.sign(nonce, payment, fee * 2n);
    const replaced = yield* Effect.result(Nonces.sendReplacement(one.lane, nonce, hash, raw));
    yield* say({ type: "replaced", tag: replaced._tag === "Success" ? undefined : replaced.failure._tag });
  }
  return { nonce, hash };
});

const once = (one: Shared, payment: bigint) => {
  const sending: Effect.Effect<
    Effect.Success<ReturnType<typeof careful>> | Effect.Success<ReturnType<typeof careless>>,
    Effect.Error<ReturnType<typeof careful>> | Effect.Error<ReturnType<typeof careless>>,
    NonceStore | Rpc.Rpc
  > = options.ignoreFence ? careless(one, payment) : careful(one, payment);
  // Now and then nobody waits any more; what was committed is sent by who reconciles
  return Math.random() < 0.04
    ? Effect.timeoutOrElse(sending, {
        duration: Math.random() * 30,
        orElse: () => Effect.fail({ _tag: "Aborted", mayBeSent: true } as const),
      })
    : sending;
};

/** Pays again under another nonce exactly when it is told that nothing was or will be sent. */
const bot = (one: Shared): Endless =>
  Effect.gen(function* () {
    let payment = newPayment();
    while (true) {
      const began = performance.now();
      const sent = yield* Effect.result(once(one, payment));
      if (sent._tag === "Success") {
        yield* say({ type: "sent", payment: String(payment), ms: Math.round(performance.now() - began) });
        payment = newPayment();
        continue;
      }
      const { failure } = sent;
      const detail = "detail" in failure ? failure.detail : "";
      if (failure._tag !== "NonceBusy") yield* say({ type: "failed", tag: failure._tag, detail });
      if (!("mayBeSent" in failure) || failure.mayBeSent) payment = newPayment();
      yield* Effect.sleep(failure._tag === "NonceBusy" ? 20 + Math.random() * 40 : 20);
    }
  });

/** The gaps that failed and aborted ones leave are filled by whoever looks. */
const filling = (one: Shared): Endless =>
  Effect.forever(
    Effect.andThen(
      Effect.sleep(1_000 + Math.random() * 1_000),
      Effect.suspend(() =>
        options.ignoreFence ? Effect.void : Effect.ignore(Nonces.fillGap(one.lane, signOne(one, newPayment()))),
      ),
    ),
  );

const keeping = ({ lane }: Shared): Endless =>
  Effect.provideService(Effect.orDie(Nonces.keep(lane, { everyMs: 800 })), Listener, (event) => {
    if ("reason" in event && event.reason === "burned") Effect.runSync(say({ type: "burned" }));
  });

const program = Effect.forEach(
  shared(options.lanes).flatMap((one) => [bot(one), keeping(one), filling(one)]),
  (each) => each,
  { concurrency: "unbounded", discard: true },
).pipe(
  Effect.provide(
    Layer.mergeAll(
      Rpc.layerHttp(options.chainUrl, { batch: true }),
      options.kind === "postgres" ? postgresStore : options.client === "ioredis" ? ioredisStore() : nodeRedisStore,
    ),
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
