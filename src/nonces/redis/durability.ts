/** Finds what a Redis keeps of what it acknowledged: by its own settings, and by its replicas. */
import * as Effect from "effect/Effect";
import type * as Redis from "effect/persistence/Redis";
import { NonceStoreError } from "../../errors/index.js";
import { isRecord } from "../../primitives/index.js";
import { refuse } from "../guard.js";
import { isHopeless, storeError, textOf } from "./rows.js";

/** Reads the answer of `CONFIG GET`: names and values in turn, or a map where the client speaks RESP3. */
const pairsIn = (answer: unknown): ReadonlyArray<readonly [unknown, unknown]> => {
  if (Array.isArray(answer))
    return answer.flatMap((name, at) => (at % 2 === 0 ? [[name, answer[at + 1]] as const] : []));
  if (answer instanceof Map) return [...answer];
  return isRecord(answer) ? Object.entries(answer) : [];
};

/**
 * By which settings commits may be forgotten that were acknowledged, in words; empty where none is known of. With
 * `replicas` a commit is waited for elsewhere, and a log is not all that keeps it. Pure.
 */
export const forgetfulBy = (answers: ReadonlyArray<unknown>, replicas: number): ReadonlyArray<string> => {
  const pairs = answers.flatMap(pairsIn).map(([name, value]) => [textOf(name), textOf(value)] as const);
  const settings = new Map(pairs);
  const [logged, synced, evicted] = ["appendonly", "appendfsync", "maxmemory-policy"].map((name) => settings.get(name));
  const isLogged = logged == null || logged === "yes";
  const found: ReadonlyArray<readonly [boolean, string]> = [
    [
      !isLogged && replicas === 0,
      "appendonly is not yes: a restart forgets what was committed since its last snapshot",
    ],
    [
      isLogged && synced != null && synced !== "always" && replicas === 0,
      "appendfsync is not always: a power cut forgets the latest commits",
    ],
    [evicted != null && evicted !== "noeviction", "maxmemory-policy is not noeviction: whole lanes may be forgotten"],
  ];
  return found.flatMap(([isFound, words]) => (isFound ? [words] : []));
};

/** How long the settings are waited for, ms: an operation waits behind them. */
const settingsMs = 1_000;

/**
 * Reads the settings where that is allowed, and logs at Warning what they let the server forget. False where it did not
 * answer, so that it can be asked again. Redis: `CONFIG GET`.
 */
export const warnOfSettings = (send: Redis.Redis["Service"]["send"], replicas: number): Effect.Effect<boolean> =>
  Effect.forEach(["append*", "maxmemory-policy"], (names) => send<unknown>("CONFIG", "GET", names), {
    concurrency: "unbounded",
  }).pipe(
    Effect.flatMap((answers) =>
      Effect.forEach(
        forgetfulBy(answers, replicas),
        (words) => Effect.logWarning(`nonces in Redis: ${words}, and hands their nonces out again`),
        { discard: true },
      ),
    ),
    Effect.as(true),
    Effect.timeoutOrElse({ duration: settingsMs, orElse: () => Effect.succeed(false) }),
    Effect.catch(({ cause }) => Effect.succeed(isHopeless(cause))),
  );

/**
 * Reads who answers: the connection, the server's process, and the history that its replicas follow, which is a new one
 * after each change of roles; null where that is not told.
 */
const whoAnswers = Effect.fnUntraced(function* ({ send }: Pick<Redis.Redis["Service"], "send">) {
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
 * Answers as `write`, when as many replicas have it as must; at once where its answer permits nothing. Fails as a store
 * of which nobody knows what it kept. Redis: `CLIENT ID`, `INFO`, before and after; `WAIT`.
 *
 * `WAIT` answers for its own connection alone, and since Redis 7.2 at once where that wrote nothing. Clients connect again by
 * themselves, and some (ioredis, by default) send there what had no answer, `WAIT` as well. So its answer counts only where
 * the connection and the server are the same before the write and after it.
 */
export const waitedFor = Effect.fnUntraced(function* <A extends { readonly answer: unknown }>(
  operation: string,
  connection: Parameters<typeof whoAnswers>[0],
  { replicas, replicaTimeoutMs }: { readonly replicas: number; readonly replicaTimeoutMs: number },
  write: Effect.Effect<A, NonceStoreError>,
  permits: (answer: unknown) => boolean,
) {
  const who = Effect.mapError(whoAnswers(connection), storeError(operation));
  const before = yield* who;
  // A client of a cluster sends what names no key to any node
  if (before.isCluster) return yield* refuse(operation, "in a cluster nobody can wait for replicas: WAIT names no key");
  if (before.name === null)
    return yield* refuse(operation, "to wait for replicas, CLIENT ID and INFO must be answered");
  const reply = yield* write;
  if (!permits(reply.answer)) return reply;
  const wait = connection.send("WAIT", String(replicas), String(replicaTimeoutMs));
  const reached = textOf(yield* Effect.mapError(wait, storeError(operation)));
  const after = yield* who;
  const isSame = after.name === before.name;
  if (isSame && Number(reached) >= replicas) return reply;
  const detail = isSame
    ? `${reached} of ${replicas} replicas have it`
    : "the connection broke before the replicas answered for what it wrote";
  return yield* new NonceStoreError({ operation, detail, isRetryable: true });
});
