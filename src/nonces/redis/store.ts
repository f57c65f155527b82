/** The store over effect's Redis service. */
import * as Effect from "effect/Effect";
import * as Redis from "effect/persistence/Redis";
import type { Hash } from "../../primitives/hex.js";
import type { AdoptAnswer } from "../adopt.js";
import { violations } from "../check.js";
import { makeCommitsSeen, newerFormat, refuse } from "../distrust.js";
import { guarded } from "../guard.js";
import type { LaneId } from "../lane.js";
import { unmoved, type Attempt, type Counts, type Keep } from "../laneRules.js";
import type { CommitAnswer, ReconcileAnswer, ReplaceAnswer, ReserveAnswer } from "../operations.js";
import type { Moved, Reconciled, Store } from "../store.js";
import { warnOfSettings } from "./durability.js";
import { storeError, wordsOf } from "./failure.js";
import { laneFormat } from "./lane.js";
import { lua } from "./lua.js";
import { laneFromFields, snapshotOf, textOf, textsOf } from "./rows.js";
import { waitedFor } from "./wait.js";

/** How lanes are kept in Redis; every field has a default. */
export interface Options {
  /** Before every key; default `evm-preflight`. */
  readonly prefix?: string;
  /**
   * Replicas that must have a commit before it counts (`WAIT`); default 0. With fewer, the commit fails
   * as unknown, and no process is handed its bytes to send them again.
   */
  readonly replicas?: number;
  /** How long to wait for them, ms; default 1,000. */
  readonly replicaTimeoutMs?: number;
}

const script = Redis.script((key: string, ...args: ReadonlyArray<string>) => [key, ...args], {
  lua,
  numberOfKeys: 1,
}).withReturnType<unknown>();

type Sender = Pick<Redis.Redis["Service"], "send" | "eval">;

/** `EVALSHA`, the script loaded again where it is gone; in a cluster, where loading goes to another node, `EVAL`. */
const run = (redis: Sender, key: string, args: ReadonlyArray<string>) =>
  redis
    .eval(script)(key, ...args)
    .pipe(
      Effect.catchIf(
        (error) => wordsOf(error.cause).includes("NOSCRIPT"),
        () => redis.send("EVAL", lua, "1", key, ...args),
      ),
    );

const keepArgs = ({ latest, pending }: Counts, { settledMs, foreignMs, doubtMs }: Keep): ReadonlyArray<string> =>
  [latest, pending, settledMs, foreignMs, doubtMs].map(String);

/** A pending count that a number cannot hold exactly is not believed anyway. */
const bounded = (counts: Counts): Counts =>
  counts.pending < BigInt(Number.MAX_SAFE_INTEGER) ? counts : { ...counts, pending: BigInt(Number.MAX_SAFE_INTEGER) };

const none = { settled: 0, recycled: 0 };

const isYes = (answer: unknown): boolean => textOf(answer) === "1";

/** Whether a reconciliation names bytes that are to be sent: they may be of a commit that no replica has yet. */
const handsOut = (answer: unknown): boolean => Array.isArray(answer) && (textsOf(answer[2]) ?? []).length > 0;

const movedOf = (texts: ReadonlyArray<string>) => ({
  settled: Number(texts.at(-2) ?? 0),
  recycled: Number(texts.at(-1) ?? 0),
});

const reserveAnswer = (texts: ReadonlyArray<string>): ReserveAnswer | null => {
  const [tag, first = "", second = "", third = ""] = texts;
  switch (tag) {
    case "granted":
      return { _tag: "Granted", nonce: BigInt(first), leaseMs: Number(second) };
    case "busy":
      return {
        _tag: "Busy",
        inFlight: Number(first),
        cap: Number(second),
        retryInMs: third === "" ? null : Number(third),
      };
    case "nogap":
      return { _tag: "NoGap" };
    case "spent":
      return { _tag: "Spent", nonce: BigInt(first) };
    case "implausible":
    case "forgotten":
      return unmoved({ next: BigInt(first), tail: BigInt(first) }, tag);
    default:
      return null;
  }
};

/** A store on `redis`. */
export const makeRedis = (redis: Redis.Redis["Service"], options: Options = {}): Store => {
  const { prefix = "evm-preflight", replicas = 0, replicaTimeoutMs = 1_000 } = options;
  // One hash tag per lane: all that the script touches is in one slot of a cluster
  const keyOf = (lane: LaneId) => `${prefix}:nonces:{${lane.id}}`;
  const markOf = (lane: LaneId) => `${keyOf(lane)}:mark`;
  const lanesKey = `${prefix}:nonces:lanes`;
  const failing = (operation: string) => (error: Redis.RedisError) => storeError(operation, error.cause);
  const seen = makeCommitsSeen();
  const own = globalThis.crypto.randomUUID();
  let asked = 0;

  /**
   * What the script answers, and the lane's commits, on the shared connection or on one of its own. An answer must be that
   * of its own question: one connection carries those of all lanes, and whoever mixes them up, a client or a proxy, must
   * not make a commit out of another's.
   */
  const askOn = (sender: Sender, operation: string, lane: LaneId, args: ReadonlyArray<string>) => {
    const question = `${own}:${(asked += 1)}`;
    const another = storeError(operation, new Error("the connection gave the answer to another question"));
    return run(sender, keyOf(lane), [operation, ...args, String(seen.of(lane)), question]).pipe(
      Effect.catch(({ cause }) => {
        const [, word, count, answered] = /\b(NEWER|BACK) (\d+) (\S+)/.exec(wordsOf(cause)) ?? [];
        if (word !== undefined && answered !== question) return Effect.fail(another);
        return word === "NEWER"
          ? Effect.fail(newerFormat(operation, Number(count), laneFormat))
          : word === "BACK"
            ? seen.check(operation, lane, Number(count))
            : Effect.fail(storeError(operation, cause));
      }),
      Effect.flatMap((reply) => {
        const [commits, answer, answered] = Array.isArray(reply) ? reply : [];
        if (textOf(answered) !== question) return Effect.fail(another);
        const counted = Number(textOf(commits) ?? "x");
        if (!Number.isSafeInteger(counted)) return Effect.fail(refuse(operation, "the answer cannot be read"));
        return Effect.succeed({ commits: counted, answer: answer as unknown });
      }),
    );
  };
  let isWarned = false;
  /** Once for each process that uses the store, whoever started its lanes. */
  const warnOnce = Effect.suspend(() => {
    if (isWarned) return Effect.void;
    isWarned = true;
    return Effect.map(warnOfSettings(redis.send, replicas), (isAnswered) => {
      isWarned = isAnswered;
    });
  });
  const ask = (operation: string, lane: LaneId, ...args: ReadonlyArray<string>) =>
    Effect.map(Effect.andThen(warnOnce, askOn(redis, operation, lane, args)), ({ commits, answer }) => {
      // A failover may rightly forget what was not waited for
      if (replicas === 0) seen.remember(lane, commits);
      return answer;
    });
  const whether = (operation: string, lane: LaneId, ...args: ReadonlyArray<string>) =>
    Effect.map(ask(operation, lane, ...args), isYes);

  /** A write and the `WAIT` for it, on a connection of their own: `WAIT` blocks all that share one. */
  const replicated = (
    operation: string,
    lane: LaneId,
    args: ReadonlyArray<string>,
    permits: (answer: unknown) => boolean,
  ) =>
    Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* Effect.mapError(redis.reserve, failing(operation));
        const write = askOn(connection, operation, lane, args);
        const { answer, commits } = yield* waitedFor(
          operation,
          connection,
          { replicas, replicaTimeoutMs },
          write,
          permits,
        );
        if (permits(answer)) seen.remember(lane, commits);
        return answer;
      }),
    );
  /** Waits for the replicas where the answer `permits` something that cannot be taken back. */
  const durablyWhere = (
    permits: (answer: unknown) => boolean,
    operation: string,
    lane: LaneId,
    ...args: ReadonlyArray<string>
  ) =>
    replicas > 0 ? Effect.andThen(warnOnce, replicated(operation, lane, args, permits)) : ask(operation, lane, ...args);
  const durably = (operation: string, lane: LaneId, ...args: ReadonlyArray<string>) =>
    durablyWhere(() => true, operation, lane, ...args);

  const hashAndRaw = ({ hash, raw }: Attempt) => [hash, raw ?? ""];

  return guarded({
    kind: "redis",
    persistent: true,
    bootstrap: (lane, counts, keep) =>
      redis
        .send("SADD", lanesKey, lane.id)
        .pipe(
          Effect.mapError(failing("bootstrap")),
          Effect.andThen(durably("bootstrap", lane, ...keepArgs(bounded(counts), keep))),
          Effect.map(isYes),
        ),
    reserve: Effect.fnUntraced(function* (lane, request) {
      const counts = bounded(request.counts);
      const { ttlMs, width, cap, gapOnly } = request;
      const rest = [request.token, String(ttlMs), String(width), String(cap), gapOnly ? "1" : "0"];
      const answer = yield* ask("reserve", lane, ...keepArgs(counts, request.keep), ...rest);
      if (answer === null) return { answer: { _tag: "Cold" }, moved: none };
      const texts = textsOf(answer);
      const read = texts === null ? null : reserveAnswer(texts);
      if (texts === null || read === null) return yield* refuse("reserve", "the answer cannot be read");
      return { answer: read, moved: movedOf(texts) } satisfies Moved<ReserveAnswer>;
    }),
    commit: Effect.fnUntraced(function* (lane, claim, attempt) {
      const answer = yield* durably("commit", lane, String(claim.nonce), claim.token, ...hashAndRaw(attempt));
      const text = answer === null ? "cold" : textOf(answer);
      if (text === "committed" || text === "lost" || text === "cold") return text satisfies CommitAnswer;
      return yield* refuse("commit", "the answer cannot be read");
    }),
    release: (lane, { nonce, token }) => whether("release", lane, String(nonce ?? ""), token),
    recycle: (lane, claim, hash) =>
      Effect.map(durablyWhere(isYes, "recycle", lane, String(claim.nonce), claim.token, hash), isYes),
    replace: Effect.fnUntraced(function* (lane, nonce, replaces, attempt) {
      const answer = yield* durably("replace", lane, String(nonce), replaces, ...hashAndRaw(attempt));
      if (answer === null) return { _tag: "Cold" } satisfies ReplaceAnswer;
      const [tag, last = ""] = textsOf(answer) ?? [];
      if (tag === "replaced") return { _tag: "Replaced" } satisfies ReplaceAnswer;
      if (tag !== "conflict") return yield* refuse("replace", "the answer cannot be read");
      return { _tag: "Conflict", last: last === "" ? null : (last as Hash) } satisfies ReplaceAnswer;
    }),
    report: (lane, nonce, hash, outcome) => whether("report", lane, String(nonce), hash, outcome),
    reconcile: Effect.fnUntraced(function* (lane, request) {
      const after = String(Math.trunc(request.resendAfterMs));
      const args = [...keepArgs(bounded(request.counts), request.keep), after];
      const answer = yield* durablyWhere(handsOut, "reconcile", lane, ...args);
      if (answer === null) return { answer: { _tag: "Cold" }, moved: none, snapshot: null } satisfies Reconciled;
      const [head, body, due] = Array.isArray(answer) ? answer : [];
      const texts = textsOf(head);
      if (texts === null) return yield* refuse("reconcile", "the answer cannot be read");
      const snapshot = yield* Effect.fromResult(snapshotOf("reconcile", body));
      const bound = BigInt(texts[1] ?? "0");
      const read: ReconcileAnswer =
        texts[0] === "implausible" || texts[0] === "forgotten"
          ? unmoved({ next: bound, tail: bound }, texts[0])
          : { _tag: "Reconciled", from: bound, due: (textsOf(due) ?? []).map(BigInt) };
      return { answer: read, moved: movedOf(texts), snapshot } satisfies Reconciled;
    }),
    adopt: Effect.fnUntraced(function* (lane, counts, keep) {
      const answer = yield* durably("adopt", lane, ...keepArgs(bounded(counts), keep));
      if (answer === null) return { _tag: "Cold" } satisfies AdoptAnswer;
      const [tag, first = "", second = ""] = textsOf(answer) ?? [];
      if (tag === "forgotten") return { _tag: "Forgotten", tail: BigInt(first) } satisfies AdoptAnswer;
      if (tag !== "adopted") return yield* refuse("adopt", "the answer cannot be read");
      return { _tag: "Adopted", floor: BigInt(first), next: BigInt(second) } satisfies AdoptAnswer;
    }),
    forget: (lane) =>
      redis.send("DEL", keyOf(lane)).pipe(
        Effect.tap(() => redis.send("DEL", markOf(lane))),
        Effect.tap(() => redis.send("SREM", lanesKey, lane.id)),
        Effect.tap(() => Effect.sync(() => seen.forget(lane))),
        Effect.mapBoth({ onFailure: failing("forget"), onSuccess: (gone) => textOf(gone) === "1" }),
      ),
    mark: (lane) =>
      redis
        .send("GET", markOf(lane))
        .pipe(Effect.mapBoth({ onFailure: failing("mark"), onSuccess: (kept) => seen.markOf(lane)(textOf(kept)) })),
    setMark: (lane, mark) => Effect.asVoid(Effect.mapError(redis.send("SET", markOf(lane), mark), failing("setMark"))),
    read: Effect.fnUntraced(function* (lane) {
      const answer = yield* ask("read", lane);
      return answer === null ? null : yield* Effect.fromResult(snapshotOf("read", answer));
    }),
    check: Effect.fnUntraced(function* (lane) {
      const answer = yield* ask("all", lane);
      if (answer === null) return [];
      const [now, fields] = Array.isArray(answer) ? answer : [];
      const { snapshot, unreadable } = laneFromFields(textOf(now) ?? "", textsOf(fields) ?? []);
      return [...unreadable, ...(snapshot === null ? [] : violations(snapshot))];
    }),
    lanes: Effect.map(Effect.mapError(redis.send("SMEMBERS", lanesKey), failing("lanes")), (answer) =>
      [...(answer instanceof Set ? answer : Array.isArray(answer) ? answer : [])]
        .flatMap((each) => textOf(each) ?? [])
        .sort(),
    ),
  });
};
