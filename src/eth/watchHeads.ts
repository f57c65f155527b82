/** The heads of the chain as they come: told by the node over a socket, else asked for. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import * as Stream from "effect/Stream";
import { Chains } from "../Chains.js";
import { MalformedResponse, RpcError } from "../errors/rpc.js";
import type { Hash } from "../primitives/hex.js";
import { Rpc } from "../Rpc.js";
import type { Failure } from "./ask.js";
import type { Block } from "./block.js";
import { decoder } from "./decode.js";
import { Header, merged, namesOf, placeOf, withHead, type Head, type Told } from "./heads.js";

/** How heads are followed; every field has a default. */
export interface HeadOptions {
  /** Ms between two questions where there is no socket; default half a block time, 100 to 4,000. */
  readonly pollMs?: number | undefined;
  /** Ms without a head after which a socket is doubted and the node asked; default three block times, at least 3,000. */
  readonly silentMs?: number | undefined;
  /** Ms without any answer after which the stream fails with the last failure; default 60,000. */
  readonly giveUpMs?: number | undefined;
  /** Most blocks that are asked for to fill one gap; what is wider is `skipped`. Default 32. */
  readonly fill?: number | undefined;
}

/** {@link HeadOptions} with nothing left out. */
export interface Pace {
  readonly pollMs: number;
  readonly silentMs: number;
  readonly giveUpMs: number;
  readonly fill: number;
}

/** How a block is asked for. */
export type AskBlock = (block: "latest" | bigint | Hash) => Effect.Effect<Block, Failure, Rpc>;

const within = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

const given = (value: number | undefined, otherwise: number): number =>
  value !== undefined && Number.isFinite(value) && value >= 0 ? value : otherwise;

/** The pace of an endpoint's chain. */
export const paceOf = (options: HeadOptions): Effect.Effect<Pace, never, Rpc> =>
  Effect.gen(function* () {
    const chains = yield* Effect.service(Chains);
    const { memory } = yield* Rpc;
    const { blockTimeMs } = chains(memory.recall("chainId"));
    return {
      pollMs: given(options.pollMs, within(blockTimeMs / 2, 100, 4_000)),
      silentMs: given(options.silentMs, Math.max(3 * blockTimeMs, 3_000)),
      giveUpMs: given(options.giveUpMs, 60_000),
      fill: Math.floor(given(options.fill, 32)),
    };
  });

const readHeader = decoder("eth_subscribe", Header, "params.result");

/** A block that the node says is sealed. */
const sealed = ({ hash, ...block }: Block): Result.Result<Header, RpcError> =>
  hash === null
    ? Result.fail(
        new RpcError({
          method: "eth_getBlockByNumber",
          reason: new MalformedResponse({ path: "result.hash", detail: "" }),
        }),
      )
    : Result.succeed({ ...block, hash });

const finalReasons = new Set([
  "Unauthorized",
  "MethodNotPermitted",
  "MethodNotSupported",
  "InvalidParams",
  "MalformedResponse",
]);

/** Whether nothing that comes later can make up for a failure. */
export const isFinal = (failure: Failure): boolean =>
  failure._tag !== "RpcError" || finalReasons.has(failure.reason._tag);

/** What nodes say to a subscription that they do not serve. */
const refusals = new Set(["MethodNotPermitted", "MethodNotSupported", "InvalidParams", "InternalError"]);

/** Whether the node takes no such subscription, so that it has to be asked. */
export const isNoSubscription = (failure: Failure): boolean =>
  failure._tag === "RpcError" && failure.method === "eth_subscribe" && refusals.has(failure.reason._tag);

/** What follows the chain: what was told, and where heads go. */
interface Following {
  readonly pace: Pace;
  readonly askBlock: AskBlock;
  /** `lowSince`: since when all that is heard is below the last block told; null = it is not. */
  readonly told: { blocks: Told; heardAt: number; lowSince: number | null };
  readonly heads: Queue.Queue<Head, Failure>;
}

/** The newest head waits, one at most: who is slow is told that there were others. */
const tell = ({ told, heads }: Following, head: Head): Effect.Effect<void> =>
  Effect.gen(function* () {
    told.blocks = withHead(told.blocks, head);
    const waiting = Option.getOrNull(yield* Queue.poll(heads));
    yield* Queue.offer(heads, waiting === null ? head : merged(waiting, head));
  });

/**
 * The blocks between what was told and `header`, ascending; null where they are too many, or cannot be had. Where the branch
 * begins below all that was told they begin at the height of the lowest.
 */
const missing = (
  { told, pace, askBlock }: Following,
  header: Header,
): Effect.Effect<ReadonlyArray<Header> | null, never, Rpc> =>
  Effect.gen(function* () {
    const found: Array<Header> = [];
    const lowest = told.blocks[0]?.number ?? header.number;
    let first = header;
    while (placeOf(told.blocks, first).is === "apart" && first.number > lowest) {
      if (found.length >= pace.fill) return null;
      const asked = yield* Effect.result(askBlock(first.parentHash));
      const parent = Result.flatMap(asked, sealed);
      if (Result.isFailure(parent) || parent.success.hash !== first.parentHash) return null;
      first = parent.success;
      found.unshift(first);
    }
    return found;
  });

/** What the node has now at the height of the last block told: that one, another, or nothing that it tells of. */
const atLast = ({ told, askBlock }: Following): Effect.Effect<"it" | "another" | "nothing", never, Rpc> =>
  Effect.gen(function* () {
    const last = told.blocks.at(-1);
    if (last === undefined) return "nothing";
    const now = yield* Effect.result(askBlock(last.number));
    return Result.isFailure(now) ? "nothing" : now.success.hash === last.hash ? "it" : "another";
  });

/**
 * Whether a block below the last one told is the chain's head. A backend that lags has not the last one either: so long as
 * that may be, nobody is told.
 */
const isHead = (following: Following, place: "below" | "apart", now: number): Effect.Effect<boolean, never, Rpc> =>
  Effect.gen(function* () {
    const { told, pace } = following;
    told.lowSince ??= now;
    const isLong = now - told.lowSince >= pace.silentMs;
    // why: a block that was told comes again in the words of many nodes, and is not worth a question
    if (place === "below" && !isLong) return false;
    const there = yield* atLast(following);
    return there === "another" || (there === "nothing" && isLong);
  });

/** Tells a header, with the blocks before it that were not told yet. */
const follow = (following: Following, header: Header): Effect.Effect<void, never, Rpc> =>
  Effect.gen(function* () {
    const { told } = following;
    const now = yield* Clock.currentTimeMillis;
    told.heardAt = now;
    const place = placeOf(told.blocks, header);
    const last = told.blocks.at(-1);
    const isLow = place.is === "below" || (place.is === "apart" && last !== undefined && header.number < last.number);
    if (isLow && !(yield* isHead(following, place.is, now))) return;
    told.lowSince = null;
    if (place.is === "known") return;
    if (place.is === "below") return yield* tell(following, { header, replaced: namesOf(place.above), skipped: 0n });
    const isBeside = place.is === "apart" && header.number === last?.number;
    if (isBeside && (yield* atLast(following)) === "it") return;
    const between = yield* missing(following, header);
    if (between === null) {
      const before = last?.number ?? header.number;
      // why: what cannot be shown to be there still is told as gone, so that nobody relies on it
      const replaced = (yield* atLast(following)) === "it" ? [] : namesOf(told.blocks);
      const skipped = header.number > before + 1n ? header.number - before - 1n : 0n;
      return yield* tell(following, { header, replaced, skipped });
    }
    for (const one of [...between, header]) {
      const place = placeOf(told.blocks, one);
      if (place.is !== "next" && place.is !== "apart") continue;
      const above = place.is === "next" ? place.above : told.blocks;
      yield* tell(following, { header: one, replaced: namesOf(above), skipped: 0n });
    }
  });

const askLatest = (following: Following): Effect.Effect<void, Failure, Rpc> =>
  Effect.gen(function* () {
    const block = yield* following.askBlock("latest");
    yield* follow(following, yield* Effect.fromResult(sealed(block)));
  });

/** Notifications that wait while a gap is filled; one that is dropped is a gap of its own. */
const mostWaiting = 64;

/** Follows one socket until it fails, or is silent about what happens. */
const listen = (
  following: Following,
  subscribe: NonNullable<Rpc["Service"]["subscribe"]>,
): Effect.Effect<void, Failure, Rpc | Scope.Scope> =>
  Effect.gen(function* () {
    const { pace, told } = following;
    const heard = yield* Queue.sliding<unknown>(mostWaiting);
    const { lost, abandon } = yield* subscribe(["newHeads"], (result) => void Queue.offerUnsafe(heard, result));
    yield* askLatest(following);
    for (;;) {
      const next = yield* Effect.raceFirst(Effect.timeoutOption(Queue.take(heard), pace.silentMs), lost);
      if (Option.isSome(next)) {
        yield* follow(following, yield* Effect.fromResult(readHeader(next.value)));
        continue;
      }
      const before = told.blocks.at(-1)?.hash;
      const asked = yield* Effect.result(Effect.timeoutOption(askLatest(following), pace.silentMs));
      const isAnswered = Result.isSuccess(asked) && Option.isSome(asked.success);
      // why: nothing comes through any more, or the chain moved and the socket did not say so
      if (!isAnswered || told.blocks.at(-1)?.hash !== before) return yield* abandon;
    }
  });

const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** Ms that a socket held to be opened again at once. */
const steadyMs = 1_000;

/** Follows the chain, for good: whatever ends is begun again, after a pause that grows while nothing is heard. */
const followAlways = (following: Following): Effect.Effect<never, Failure, Rpc> =>
  Effect.gen(function* () {
    const { pace, told } = following;
    let { subscribe } = yield* Rpc;
    let pause = firstPauseMs;
    for (;;) {
      const before = told.heardAt;
      const begunAt = yield* Clock.currentTimeMillis;
      const once = subscribe === undefined ? askLatest(following) : Effect.scoped(listen(following, subscribe));
      const ended = yield* Effect.result(once);
      const now = yield* Clock.currentTimeMillis;
      if (Result.isFailure(ended)) {
        const { failure } = ended;
        if (isNoSubscription(failure)) subscribe = undefined;
        else if (isFinal(failure) || now - told.heardAt > pace.giveUpMs) return yield* Effect.fail(failure);
      }
      const wasHeard = told.heardAt > before;
      pause = wasHeard ? firstPauseMs : Math.min(pause * 2, longestPauseMs);
      if (subscribe === undefined) yield* Effect.sleep(Result.isSuccess(ended) ? pace.pollMs : pause);
      else if (!wasHeard || now - begunAt < steadyMs) yield* Effect.sleep(pause);
    }
  });

/** The heads of the chain from the present one on; `askBlock` asks for a block. */
export const headsBy = (askBlock: AskBlock, options: HeadOptions): Stream.Stream<Head, Failure, Rpc> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const heads = yield* Queue.bounded<Head, Failure>(1);
      const told = { blocks: [], heardAt: yield* Clock.currentTimeMillis, lowSince: null };
      const following = { pace: yield* paceOf(options), askBlock, told, heads };
      yield* Effect.forkScoped(
        Effect.onExit(followAlways(following), (exit) =>
          Exit.isFailure(exit) ? Queue.failCause(heads, exit.cause) : Effect.void,
        ),
      );
      return Stream.fromQueue(heads);
    }),
  );
