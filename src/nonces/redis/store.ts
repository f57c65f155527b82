/** The store over effect's Redis service. */
import * as Effect from "effect/Effect";
import * as Redis from "effect/persistence/Redis";
import type { Hash } from "../../primitives/index.js";
import { violations } from "../check.js";
import { guarded, makeCommitCounts, newerFormat, refuse } from "../guard.js";
import type { LaneId } from "../lane.js";
import type { Counts, Keep, Unmoved } from "../laneRules.js";
import type { ReserveAnswer, Result, Store } from "../store.js";
import { waitedFor, warnOfSettings } from "./durability.js";
import { laneFormat } from "./lane.js";
import { lua } from "./lua.js";
import { laneFromFields, snapshotOf, storeError, textOf, textsOf, wordsOf } from "./rows.js";

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

/** `EVALSHA`, the script loaded again where it is gone; in a cluster, where loading goes to another node, `EVAL`. */
const run = (redis: Pick<Redis.Redis["Service"], "send" | "eval">, key: string, args: ReadonlyArray<string>) =>
  redis
    .eval(script)(key, ...args)
    .pipe(
      Effect.catchIf(
        (error) => wordsOf(error.cause).includes("NOSCRIPT"),
        () => redis.send("EVAL", lua, "1", key, ...args),
      ),
    );

/** A pending count that a number cannot hold exactly is not believed anyway. */
const mostPending = BigInt(Number.MAX_SAFE_INTEGER);

/** Arguments of the script, as text. */
type Args = ReadonlyArray<string | number | bigint>;

const keepArgs = ({ latest, pending }: Counts, { settledMs, foreignMs, doubtMs }: Keep): Args => [
  ...[latest, pending < mostPending ? pending : mostPending, settledMs, foreignMs, doubtMs],
];

/** True if an answer permits something that cannot be taken back. */
type Permits = (answer: unknown) => boolean;

const always: Permits = () => true;
const isYes: Permits = (answer) => textOf(answer) === "1";

/** True if a reconciliation names bytes that are to be sent: they may be of a commit that no replica has yet. */
const handsOut: Permits = (answer) => Array.isArray(answer) && (textsOf(answer[2]) ?? []).length > 0;

const unreadable = (operation: string) => refuse(operation, "the answer cannot be read");

const movedOf = (texts: ReadonlyArray<string>) => ({
  settled: Number(texts.at(-2) ?? 0),
  recycled: Number(texts.at(-1) ?? 0),
});
const cold = { answer: { _tag: "Cold" }, moved: { settled: 0, recycled: 0 } } as const;

const unmovedOf = ([tag, bound = "0"]: ReadonlyArray<string>): Unmoved | null => {
  if (tag === "implausible") return { _tag: "Implausible", next: BigInt(bound) };
  return tag === "forgotten" ? { _tag: "Forgotten", tail: BigInt(bound) } : null;
};

const reserveAnswer = (texts: ReadonlyArray<string>): ReserveAnswer | null => {
  const [tag, first = "", second = "", third = "", nonce = "", hash = "", outcome = "", age = ""] = texts;
  if (tag === "granted") return { _tag: "Granted", nonce: BigInt(first), leaseMs: Number(second) };
  if (tag === "nogap") return { _tag: "NoGap" };
  if (tag === "spent") return { _tag: "Spent", nonce: BigInt(first) };
  if (tag !== "busy") return unmovedOf(texts);
  const retryInMs = third === "" ? null : Number(third);
  const last = hash === "" ? null : (hash as Hash);
  const head = nonce === "" ? null : { nonce: BigInt(nonce), hash: last, outcome, ageMs: Number(age) };
  return { _tag: "Busy", inFlight: Number(first), cap: Number(second), retryInMs, head };
};

const replaceAnswer = ([tag, last = ""]: ReadonlyArray<string>) => {
  if (tag === "replaced") return { _tag: "Replaced" } as const;
  return tag === "conflict" ? ({ _tag: "Conflict", last: last === "" ? null : (last as Hash) } as const) : null;
};

const adoptAnswer = ([tag, first = "", second = ""]: ReadonlyArray<string>) => {
  if (tag === "forgotten") return { _tag: "Forgotten", tail: BigInt(first) } as const;
  return tag === "adopted" ? ({ _tag: "Adopted", floor: BigInt(first), next: BigInt(second) } as const) : null;
};

const reconcileAnswer = Effect.fnUntraced(function* (answer: unknown) {
  if (answer === null) return { ...cold, snapshot: null };
  const [head, body, due] = Array.isArray(answer) ? answer : [];
  const texts = textsOf(head);
  if (texts === null) return yield* unreadable("reconcile");
  const snapshot = yield* Effect.fromResult(snapshotOf("reconcile", body));
  const from = BigInt(texts[1] ?? "0");
  const reconciled = { _tag: "Reconciled", from, due: (textsOf(due) ?? []).map(BigInt) } as const;
  return { answer: unmovedOf(texts) ?? reconciled, moved: movedOf(texts), snapshot };
});

/** The violations of a lane by all that is kept of it. */
const violationsIn = (answer: unknown): ReadonlyArray<string> => {
  if (answer === null) return [];
  const [now, fields] = Array.isArray(answer) ? answer : [];
  const { snapshot, unreadable: damaged } = laneFromFields(textOf(now), textsOf(fields) ?? []);
  return [...damaged, ...(snapshot === null ? [] : violations(snapshot))];
};

/** The members of a set, in order. */
const namesIn = (answer: unknown): ReadonlyArray<string> =>
  [...(answer instanceof Set ? answer : Array.isArray(answer) ? answer : [])]
    .flatMap((each) => textOf(each) ?? [])
    .sort();

/** Asks the script, and waits for the replicas where the answer `permits` something. */
const scripted = (
  redis: Redis.Redis["Service"],
  keyOf: (lane: LaneId) => string,
  awaited: Required<Pick<Options, "replicas" | "replicaTimeoutMs">>,
  commitCounts: ReturnType<typeof makeCommitCounts>,
) => {
  const { replicas } = awaited;
  const own = globalThis.crypto.randomUUID();
  let questions = 0;
  /**
   * Asks for the script's answer, and the lane's commits, on the shared connection or on one of its own. An answer must
   * be that of its own question: one connection carries those of all lanes, and whoever mixes them up, a client or a
   * proxy, must not make a commit out of another's.
   */
  const askOn = (sender: Parameters<typeof run>[0], operation: string, lane: LaneId, args: Args) => {
    const question = `${own}:${(questions += 1)}`;
    const another = storeError(operation)({ cause: new Error("the connection gave the answer to another question") });
    return run(sender, keyOf(lane), [operation, ...args, commitCounts.of(lane), question].map(String)).pipe(
      Effect.mapError(storeError(operation)),
      Effect.flatMap((reply) => {
        const [commits, answer, answered, code] = Array.isArray(reply) ? reply : [];
        if (textOf(answered) !== question) return Effect.fail(another);
        const counted = Number(textOf(commits) ?? "x");
        if (!Number.isSafeInteger(counted)) return Effect.fail(unreadable(operation));
        if (textOf(code) === "newer") return Effect.fail(newerFormat(operation, counted, laneFormat));
        if (textOf(code) === "damaged") return Effect.fail(refuse(operation, "the lane has lost its bounds"));
        if (textOf(code) === "back")
          return Effect.andThen(commitCounts.check(operation, lane, counted), Effect.fail(unreadable(operation)));
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
  /** A write and the `WAIT` for it, on a connection of their own: `WAIT` blocks all that share one. */
  const replicated = Effect.fnUntraced(function* (operation: string, lane: LaneId, args: Args, permits: Permits) {
    const connection = yield* Effect.mapError(redis.reserve, storeError(operation));
    const write = askOn(connection, operation, lane, args);
    const { answer, commits } = yield* waitedFor(operation, connection, awaited, write, permits);
    if (permits(answer)) commitCounts.remember(lane, commits);
    return answer;
  }, Effect.scoped);
  const shared = (operation: string, lane: LaneId, args: Args) =>
    Effect.map(askOn(redis, operation, lane, args), ({ commits, answer }) => {
      // A failover may rightly forget what was not waited for
      if (replicas === 0) commitCounts.remember(lane, commits);
      return answer;
    });
  return (operation: string, lane: LaneId, args: Args, permits?: Permits) => {
    const isAwaited = permits !== undefined && replicas > 0;
    const request = isAwaited ? replicated(operation, lane, args, permits) : shared(operation, lane, args);
    return Effect.andThen(warnOnce, request);
  };
};

/** A store on `redis`. */
export const makeRedis = (redis: Redis.Redis["Service"], options: Options = {}): Store => {
  const { prefix = "evm-preflight", replicas = 0, replicaTimeoutMs = 1_000 } = options;
  // One hash tag per lane: all that the script touches is in one slot of a cluster
  const keyOf = (lane: LaneId) => `${prefix}:nonces:{${lane.id}}`;
  const markOf = (lane: LaneId) => `${keyOf(lane)}:mark`;
  const lanesKey = `${prefix}:nonces:lanes`;
  const send = (operation: string, command: string, ...words: ReadonlyArray<string>) =>
    Effect.mapError(redis.send<unknown>(command, ...words), storeError(operation));
  const commitCounts = makeCommitCounts();
  const ask = scripted(redis, keyOf, { replicas, replicaTimeoutMs }, commitCounts);
  const whether = (operation: string, lane: LaneId, args: Args, permits?: Permits) =>
    Effect.map(ask(operation, lane, args, permits), isYes);
  /** The answer by `read`; where there is no lane `unknown`. */
  const reading = <A>(
    operation: string,
    [lane, args, permits]: readonly [lane: LaneId, args: Args, permits?: Permits],
    unknown: NoInfer<A>,
    read: (texts: ReadonlyArray<string>) => NoInfer<A> | null,
  ): Result<A> =>
    Effect.flatMap(ask(operation, lane, args, permits), (answer) => {
      const texts = textsOf(Array.isArray(answer) ? answer : [answer]);
      const found = answer === null ? unknown : texts === null ? null : read(texts);
      return found === null ? Effect.fail(unreadable(operation)) : Effect.succeed(found);
    });

  return guarded({
    kind: "redis",
    persistent: true,
    bootstrap: (lane, counts, keep) =>
      Effect.andThen(
        send("bootstrap", "SADD", lanesKey, lane.id),
        whether("bootstrap", lane, keepArgs(counts, keep), always),
      ),
    reserve: (lane, { counts, keep, token, ttlMs, width, cap, gapOnly }) => {
      const args = [...keepArgs(counts, keep), token, ttlMs, width, cap, gapOnly ? 1 : 0];
      return reading("reserve", [lane, args], cold, (texts) => {
        const answer = reserveAnswer(texts);
        return answer && { answer, moved: movedOf(texts) };
      });
    },
    commit: (lane, { nonce, token }, { hash, raw }) =>
      reading("commit", [lane, [nonce, token, hash, raw ?? ""], always], "cold", ([tag]) =>
        tag === "committed" || tag === "lost" ? tag : null,
      ),
    release: (lane, { nonce, token }) => whether("release", lane, [nonce ?? "", token]),
    recycle: (lane, { nonce, token }, hash) => whether("recycle", lane, [nonce, token, hash], isYes),
    replace: (lane, nonce, replaces, { hash, raw }) =>
      reading("replace", [lane, [nonce, replaces, hash, raw ?? ""], always], { _tag: "Cold" }, replaceAnswer),
    report: (lane, nonce, hash, outcome) => whether("report", lane, [nonce, hash, outcome]),
    reconcile: (lane, { counts, keep, resendAfterMs }) =>
      Effect.flatMap(
        ask("reconcile", lane, [...keepArgs(counts, keep), Math.trunc(resendAfterMs)], handsOut),
        reconcileAnswer,
      ),
    adopt: (lane, counts, keep) =>
      reading("adopt", [lane, keepArgs(counts, keep), always], { _tag: "Cold" }, adoptAnswer),
    forget: Effect.fnUntraced(function* (lane) {
      const count = yield* send("forget", "DEL", keyOf(lane));
      yield* send("forget", "DEL", markOf(lane));
      yield* send("forget", "SREM", lanesKey, lane.id);
      commitCounts.forget(lane);
      return isYes(count);
    }),
    mark: (lane) => Effect.map(send("mark", "GET", markOf(lane)), (mark) => commitCounts.markOf(lane)(textOf(mark))),
    setMark: (lane, mark) => Effect.asVoid(send("setMark", "SET", markOf(lane), mark)),
    read: (lane) =>
      Effect.flatMap(ask("read", lane, []), (answer) =>
        answer === null ? Effect.succeed(null) : Effect.fromResult(snapshotOf("read", answer)),
      ),
    check: (lane) => Effect.map(ask("all", lane, []), violationsIn),
    lanes: Effect.map(send("lanes", "SMEMBERS", lanesKey), namesIn),
  });
};
