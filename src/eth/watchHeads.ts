/** The heads of the chain as they come: from a socket, else asked for. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import type { RpcError } from "../errors/rpc.js";
import { copyOf } from "../primitives/copy.js";
import type { Hash } from "../primitives/hex.js";
import { chainsInUse } from "./chains.js";
import { Rpc } from "../rpc/index.js";
import { malformed } from "../rpc/judging.js";
import { fields, within } from "./write.js";
import { encoded, type Failure } from "./ask.js";
import { Header, type Block, type Head } from "./block.js";
import { nextHead, placeOf, emptyChain, withHeads, type ChainState } from "./heads.js";
import { decoder, Flag } from "./shape.js";

/** How heads are followed; every field has a default. */
export interface HeadOptions {
  /** Ms between two questions where there is no socket; default half a block time, 100 to 4,000. */
  readonly pollMs?: number | undefined;
  /** Ms without a head after which a socket that does not answer is given up; the node is asked at half of them. Default three block times, at least 3,000. */
  readonly silentMs?: number | undefined;
  /** Ms without any answer after which the stream fails with the last failure; default 60,000. */
  readonly giveUpMs?: number | undefined;
  /** Most blocks that are asked for to fill one gap; what is wider is `skipped`. Default 32. */
  readonly fill?: number | undefined;
}

/** How a block is asked for. */
export type AskBlock = (block: "latest" | bigint | Hash) => Effect.Effect<Block, Failure, Rpc>;

/** Longer than any timer waits. */
const mostMs = 2 ** 31 - 1;
const ms = within("a number of ms", mostMs);
const written = fields<HeadOptions & { readonly pending?: boolean | undefined }>(
  {
    ...{ pollMs: ms, silentMs: ms, giveUpMs: ms, pending: Flag.write },
    fill: within("a whole number", 10_000, Number.isSafeInteger),
  },
  // why: the doors take it beside these, and read it themselves
  { beside: ["signal"] },
);

export type Pace = Effect.Success<ReturnType<typeof paceOf>>;

/** The options with nothing left out, by the pace of an endpoint's chain; `InvalidParams` with the path of what cannot be. */
export const paceOf = Effect.fnUntraced(function* (options: HeadOptions) {
  yield* Effect.fromResult(encoded("eth_subscribe", (faults) => written(options, "options", faults)));
  const chains = yield* chainsInUse;
  const { memory } = yield* Rpc;
  const { blockTimeMs } = chains(memory.recall("chainId"));
  return {
    pollMs: options.pollMs ?? Math.min(Math.max(blockTimeMs / 2, 100), 4_000),
    silentMs: options.silentMs ?? Math.max(3 * blockTimeMs, 3_000),
    giveUpMs: options.giveUpMs ?? 60_000,
    fill: options.fill ?? 32,
  };
});

const readHeader = decoder("eth_subscribe", Header, "params.result");

/** A block that the node says is sealed. */
const sealed = ({ hash, ...block }: Block): Result.Result<Header, RpcError> =>
  hash === null ? Result.fail(malformed("eth_getBlockByNumber", "result.hash")) : Result.succeed({ ...block, hash });

const finalReasons = new Set([
  "Unauthorized",
  "MethodNotPermitted",
  "MethodNotSupported",
  "InvalidParams",
  "MalformedResponse",
  "PendingUnavailable",
]);

/** True if nothing that comes later can make up for a failure. */
export const isFinal = (failure: Failure): boolean =>
  failure._tag !== "RpcError" || finalReasons.has(failure.reason._tag);

/** The reasons by which nodes refuse a subscription that they do not serve. */
const refusals = new Set(["MethodNotPermitted", "MethodNotSupported", "InvalidParams", "InternalError"]);

/** True if the node takes no such subscription, so that it has to be asked. */
export const isNoSubscription = (failure: Failure): boolean =>
  failure._tag === "RpcError" && failure.method === "eth_subscribe" && refusals.has(failure.reason._tag);

/** The settings and the state of a watch that follows the chain. */
interface Following {
  readonly pace: Pace;
  readonly askBlock: AskBlock;
  /** Heads that wait for a slow taker. */
  readonly room: number;
  /** `lowSince`: since when all that is heard is below the last block seen; null = it is not. */
  readonly state: { chain: ChainState; heardAt: number; lowSince: number | null };
  /** Rings when there is something to tell. */
  readonly bell: Queue.Queue<true, Failure>;
}

/** Puts blocks on top of the chain in place of those that are gone. */
const tell = ({ state, pace, room, bell }: Following, blocks: ReadonlyArray<Header>, replaced: ReadonlyArray<Header>) =>
  Effect.gen(function* () {
    state.chain = withHeads(state.chain, blocks, replaced, { heads: room, fill: pace.fill });
    yield* Queue.offer(bell, true);
    // why: a taker that waits is not slow
    yield* Effect.yieldNow;
  });

/**
 * The blocks between what was seen and `header`, ascending; null where they are too many, or cannot be had. Where the branch
 * begins below all that was seen they begin at the height of the lowest.
 */
const missing = Effect.fnUntraced(function* ({ state, pace, askBlock }: Following, header: Header) {
  const { seen } = state.chain;
  const found: Array<Header> = [];
  const lowest = seen[0]?.number ?? header.number;
  const last = seen.at(-1)?.number ?? header.number;
  // why: some would be asked for, and none told
  if (header.number - last > BigInt(pace.fill) + 1n) return null;
  let first = header;
  while (placeOf(seen, first).is === "apart" && first.number > lowest) {
    if (found.length >= pace.fill) return null;
    const parent = Result.flatMap(yield* Effect.result(askBlock(first.parentHash)), sealed);
    if (Result.isFailure(parent) || parent.success.hash !== first.parentHash) return null;
    first = parent.success;
    found.unshift(first);
  }
  return found;
});

/** Reads what the node has now at the height of the last block seen: that one, another, or nothing that it tells of. */
const atLast = Effect.fnUntraced(function* ({ state, askBlock }: Following) {
  const last = state.chain.seen.at(-1);
  if (last === undefined) return "nothing";
  const now = yield* Effect.result(askBlock(last.number));
  return Result.isFailure(now) ? "nothing" : now.success.hash === last.hash ? "it" : "another";
});

/**
 * True if a block below the last one seen is the chain's head. A backend that lags has not the last one either: so long
 * as that may be, nobody is told.
 */
const isHead = Effect.fnUntraced(function* (following: Following, place: "below" | "apart", now: number) {
  const { state, pace } = following;
  state.lowSince ??= now;
  const isLong = now - state.lowSince >= pace.silentMs;
  // why: a block that was told comes again in the words of many nodes, and is not worth a question
  if (place === "below" && !isLong) return false;
  const there = yield* atLast(following);
  return there === "another" || (there === "nothing" && isLong);
});

/** Tells a header whose parent was not told, with the blocks between; where these cannot be had, all before may be gone. */
const tellApart = Effect.fnUntraced(function* (following: Following, header: Header) {
  const { seen } = following.state.chain;
  const between = yield* missing(following, header);
  const branch = placeOf(seen, between?.[0] ?? header);
  // why: what cannot be shown to be there still is told as gone, so that nobody relies on it
  const isThere = between === null && (yield* atLast(following)) === "it";
  const replaced = "above" in branch ? branch.above : isThere ? [] : seen;
  yield* tell(following, [...(between ?? []), header], replaced);
});

/** Tells a header, with the blocks before it that were not told yet. */
const follow = Effect.fnUntraced(function* (following: Following, header: Header) {
  const { state } = following;
  const now = yield* Clock.currentTimeMillis;
  state.heardAt = now;
  const { seen } = state.chain;
  const place = placeOf(seen, header);
  const last = seen.at(-1);
  const isLow = place.is === "below" || (place.is === "apart" && last !== undefined && header.number < last.number);
  if (isLow && !(yield* isHead(following, place.is, now))) return;
  state.lowSince = null;
  if (place.is === "known") return;
  if (place.is !== "apart") return yield* tell(following, [header], place.above);
  if (header.number === last?.number && (yield* atLast(following)) === "it") return;
  yield* tellApart(following, header);
});

const askLatest = Effect.fnUntraced(function* (following: Following) {
  yield* follow(following, yield* Effect.fromResult(sealed(yield* following.askBlock("latest"))));
});

/** Notifications that wait while a gap is filled; one that is dropped is a gap of its own. */
const mostWaiting = 64;

/** Follows one socket until it fails, or is silent about what happens. */
const listen = Effect.fnUntraced(function* (following: Following, subscribe: NonNullable<Rpc["Service"]["subscribe"]>) {
  const { pace, state } = following;
  const lastSeen = () => state.chain.seen.at(-1)?.hash;
  // why: as long as the socket may be silent, for the question and its answer
  const halfMs = pace.silentMs / 2;
  const notifications = yield* Queue.sliding<unknown>(mostWaiting);
  const { lost, abandon } = yield* subscribe(["newHeads"], (result) => void Queue.offerUnsafe(notifications, result));
  yield* askLatest(following);
  for (;;) {
    const next = yield* Effect.raceFirst(Effect.timeoutOption(Queue.take(notifications), halfMs), lost);
    if (Option.isSome(next)) {
      yield* follow(following, yield* Effect.fromResult(readHeader(next.value)));
      continue;
    }
    const before = lastSeen();
    const result = yield* Effect.result(Effect.timeoutOption(following.askBlock("latest"), halfMs));
    const block = Option.getOrNull(Option.flatten(Result.getSuccess(result)));
    if (block !== null) yield* follow(following, yield* Effect.fromResult(sealed(block)));
    // why: nothing comes through any more, or the chain moved and the socket did not say so
    if (block === null || lastSeen() !== before) return yield* abandon;
  }
});

const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** Ms that a socket held to be opened again at once. */
const steadyMs = 1_000;

/** Follows the chain, for good: whatever ends is begun again, after a pause that grows while nothing is heard. */
const followAlways = Effect.fnUntraced(function* (following: Following) {
  const { pace, state } = following;
  let { subscribe } = yield* Rpc;
  let pause = firstPauseMs;
  for (;;) {
    const before = state.heardAt;
    const begunAt = yield* Clock.currentTimeMillis;
    const once = subscribe === undefined ? askLatest(following) : Effect.scoped(listen(following, subscribe));
    const ended = yield* Effect.result(once);
    const now = yield* Clock.currentTimeMillis;
    if (Result.isFailure(ended)) {
      const { failure } = ended;
      if (isNoSubscription(failure)) subscribe = undefined;
      else if (isFinal(failure) || now - state.heardAt > pace.giveUpMs) return yield* Effect.fail(failure);
    }
    const wasHeard = state.heardAt > before;
    pause = wasHeard ? firstPauseMs : Math.min(pause * 2, longestPauseMs);
    if (subscribe === undefined) yield* Effect.sleep(Result.isSuccess(ended) ? pace.pollMs : pause);
    else if (!wasHeard || now - begunAt < steadyMs) yield* Effect.sleep(pause);
  }
});

/**
 * Follows the chain until the scope ends; `room` heads wait for a slow taker, `askBlock` asks for a block. `next` is the
 * next head, null where there is none yet; `wait` waits for another, and fails once no more will come.
 */
export const following = Effect.fnUntraced(function* (askBlock: AskBlock, pace: Pace, room: number) {
  const bell = yield* Queue.sliding<true, Failure>(1);
  const state = { chain: emptyChain, heardAt: yield* Clock.currentTimeMillis, lowSince: null };
  const all: Following = { pace, askBlock, room, state, bell };
  yield* Effect.forkScoped(Effect.onError(followAlways(all), (cause) => Queue.failCause(bell, cause)));
  const next = (): Head | null => {
    for (let step = nextHead(all.state.chain); step !== null; step = nextHead(all.state.chain)) {
      all.state.chain = step.followed;
      if (step.head !== null) return step.head;
    }
    return null;
  };
  return { next, wait: Queue.take(bell) };
});

/** The heads of the chain from the present one on. */
export const headsBy = (askBlock: AskBlock, options: HeadOptions): Stream.Stream<Head, Failure, Rpc> =>
  Effect.gen(function* () {
    const { next, wait } = yield* following(askBlock, yield* paceOf(options), 1);
    const pull: Effect.Effect<readonly [Head], Failure> = Effect.suspend(() => {
      const head = next();
      return head === null ? Effect.andThen(wait, pull) : Effect.succeed([copyOf(head)] as const);
    });
    return Stream.fromPull(Effect.succeed(pull));
  }).pipe(Stream.unwrap);
