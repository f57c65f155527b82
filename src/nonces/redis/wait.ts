/**
 * `WAIT`, for what was written just before. It answers for its own connection alone, and since Redis 7.2 at once where
 * that wrote nothing. Clients connect again by themselves, and some (ioredis, by default) send there what had no answer,
 * `WAIT` as well. So its answer counts only where the connection and the server are the same before the write and after it.
 */
import * as Effect from "effect/Effect";
import type * as Redis from "effect/persistence/Redis";
import { NonceStoreError } from "../../errors/nonces.js";
import { refuse } from "../distrust.js";
import { storeError } from "./failure.js";
import { textOf } from "./rows.js";

type Connection = Pick<Redis.Redis["Service"], "send">;

/** How many replicas must have a write, and how long they have for it, ms. */
interface Awaited {
  readonly replicas: number;
  readonly replicaTimeoutMs: number;
}

/**
 * Who answers: the connection, the server's process, and the history that its replicas follow, which is a new one after
 * each change of roles; null where that is not told.
 */
const whoAnswers = Effect.fnUntraced(function* ({ send }: Connection) {
  const [id, server, replication] = yield* Effect.all(
    [send("CLIENT", "ID"), send("INFO", "server"), send("INFO", "replication")],
    { concurrency: "unbounded" },
  );
  const field = (answer: unknown, name: string) => new RegExp(`^${name}:(\\S+)`, "m").exec(textOf(answer) ?? "")?.[1];
  const [connection, run, history] = [textOf(id), field(server, "run_id"), field(replication, "master_replid")];
  const isCluster = field(server, "redis_mode") === "cluster" || field(server, "server_mode") === "cluster";
  const isTold = connection !== null && run !== undefined && history !== undefined;
  return { isCluster, name: isTold ? `${connection} ${run} ${history}` : null };
});

/**
 * What `write` answers, when as many replicas have it as must; at once where its answer permits nothing. Fails as a store of
 * which nobody knows what it kept. Redis: `CLIENT ID`, `INFO`, before and after; `WAIT`.
 */
export const waitedFor = Effect.fnUntraced(function* <A extends { readonly answer: unknown }>(
  operation: string,
  connection: Connection,
  { replicas, replicaTimeoutMs }: Awaited,
  write: Effect.Effect<A, NonceStoreError>,
  permits: (answer: unknown) => boolean,
) {
  const asked = <B>(ask: Effect.Effect<B, Redis.RedisError>) =>
    Effect.mapError(ask, ({ cause }) => storeError(operation, cause));
  const before = yield* asked(whoAnswers(connection));
  // A client of a cluster sends what names no key to any node
  if (before.isCluster) return yield* refuse(operation, "in a cluster nobody can wait for replicas: WAIT names no key");
  if (before.name === null)
    return yield* refuse(operation, "to wait for replicas, CLIENT ID and INFO must be answered");
  const written = yield* write;
  if (!permits(written.answer)) return written;
  const reached = textOf(yield* asked(connection.send("WAIT", String(replicas), String(replicaTimeoutMs))));
  const after = yield* asked(whoAnswers(connection));
  const detail =
    after.name !== before.name
      ? "the connection broke before the replicas answered for what it wrote"
      : `${reached} of ${replicas} replicas have it`;
  if (after.name === before.name && Number(reached) >= replicas) return written;
  return yield* new NonceStoreError({ operation, detail, isRetryable: true });
});
