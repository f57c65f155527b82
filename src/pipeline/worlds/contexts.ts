/**
 * The worlds of a proof. `next` is the block that comes next, on the sealed head, as faithful as can be said before
 * it is there; `exact` is the last one that a clearance allows, as any real block is, on the state that was asked for.
 * One of those between, or `exact` where there are none, is contrary in every value that the chain lets vary.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { Chain } from "../../Chains.js";
import type * as Eth from "../../eth/index.js";
import { roll } from "../../primitives/effects.js";
import type { Hex } from "../../primitives/hex.js";
import type { RunName } from "../../primitives/names.js";
import { minesOnDemand } from "../../report/freshness.js";
import type { Observed, Report } from "../../report/schema.js";
import type { Spacing } from "../../steps/simulate.js";
import { nextBaseFee, parametersOf } from "../../chains/baseFee.js";
import type { Request } from "../../transaction/request.js";
import { complement, contraryBlock, ordinaryBlock, type DrawnBlock } from "./values.js";
import {
  afterPending,
  blocksOf,
  contraryTime,
  closeSpacing,
  emptyBlocks,
  gapOf,
  gridOf,
  inSeconds as seconds,
  isParted,
  leastReach,
  offsetOf,
  stepsBetween,
  wideSpacing,
  type Grid,
} from "./bracket.js";

/** The fields that are known. */
const without = <A>(pairs: Readonly<Record<string, A | null>>): Record<string, A> =>
  Object.fromEntries(Object.entries(pairs).filter((pair): pair is [string, A] => pair[1] !== null));

/** Where the requests run. */
export interface World {
  readonly name: RunName;
  /** Whose state. */
  readonly block: Eth.BlockParameter;
  /** That state for a reader: a sealed head by its number. */
  readonly state: Observed["blockTag"];
  /** The empty blocks in front of theirs, where they run in a later one than the next; none = it is the next. */
  readonly ahead: ReadonlyArray<Eth.BlockOverrides>;
  /** How far apart the transactions are mined, for nothing holds them together; null = all are in one block. */
  readonly apart: Spacing | null;
  /** How far apart they are where one block refuses their limits; null or absent = it holds them. */
  readonly spread?: Spacing | null;
  readonly context: Eth.BlockOverrides;
  /** What the block's producer is given, for who has nothing is known by that. */
  readonly producer: Eth.StateOverrides;
  /** Whether it has values that no real block has, for what tells blocks by one of them. */
  readonly isContrary?: boolean;
}

/** The worlds of one proof. */
export interface Worlds {
  readonly exact: World;
  readonly next: World;
  /** The state of `next` in the block of `exact`: which of the two made a difference. */
  readonly swap: World;
  /** As `exact`, at the base fee of `next`: whether the price made it. */
  readonly priced: World;
  /** A bundle in blocks of its own, one after the other: on the sealed head, from which a node makes them. */
  readonly apart: World;
  /** Ordinary blocks between `next` and `exact`, on the state of `next`, the nearest first; none where nothing looks at its block. */
  readonly between: ReadonlyArray<World & { readonly steps: number }>;
  /** How many steps `exact` stands behind `next`. */
  readonly reach: number;
  /** What is left to chance in `exact` and `next`. */
  readonly draw: { readonly prevRandao: Hex; readonly chance: Hex };
}

/** What the worlds of a report are made from. */
interface WorldInput {
  readonly report: Report;
  readonly signed: ReadonlyArray<{ readonly request: Request }>;
  readonly chain: Chain;
  /** The latest block; null = not known. */
  readonly head: Eth.Block | null;
  /** Whether the node simulates on a block by its hash. */
  readonly takesHashes: boolean;
  /** Whether it simulates several blocks at once. */
  readonly takesEntries: boolean;
  /** When the next fork activates, epoch seconds; null = none is known of. */
  readonly nextFork: bigint | null;
  /** Whether this very call made the report; of any other its words may be anybody's. */
  readonly isOwn: boolean;
  /** How many steps `exact` stands behind the next block. */
  readonly reach: number;
  /** What was drawn for an earlier `exact`, which this one is to differ from by its number and time alone; null = it is drawn. */
  readonly draw: Worlds["draw"] | null;
  /** How many ordinary blocks between are simulated; null = as many as fit the bracket. */
  readonly further: number | null;
}

/** In what steps the blocks of a report's chain come, and whether at a pace that is known. */
export const gridOn = ({ chainId }: Pick<Report, "chainId">, chain: Chain): Grid =>
  gridOf(chain, chain.known && !minesOnDemand(chainId));

/** The tag that was asked for. */
export const tagOf = ({ options, observed }: Report): Observed["blockTag"] => options.block ?? observed.blockTag;

/** What `pending` is taken for. */
export const pendingOf = ({ options }: Report, chain: Chain): Chain["pending"] => options.pending ?? chain.pending;

/** Whether the report was made on a pending block that is itself the next one, whose time is the node's own clock. */
const isOnNext = ({ report: { observed }, head }: WorldInput): boolean => {
  const latest = observed.latestNumber ?? head?.number ?? null;
  return observed.baseNumber !== null && latest !== null && observed.baseNumber > latest;
};

/**
 * When the next block comes, epoch seconds: a slot after its parent. A node's own clock makes it later, and nothing
 * else does: what a node gives a block that it simulates on a sealed one is no clock where the chain has a pace. Of our
 * own clock nothing enters, but where somebody else's report is so much older.
 */
const nextTime = (ground: WorldInput, head: Eth.Block, now: number): bigint => {
  const { report, chain, isOwn } = ground;
  const { observed } = report;
  // why: a chain that nobody described may be as fast as any
  const slot = chain.known ? seconds(chain.blockTimeMs) : 1n;
  const earliest = head.timestamp + slot;
  // why: where a slot is that long, what is later is a slot that was missed
  const isClock = isOnNext(ground) || !gridOn(report, chain).isPaced || slot >= afterPending;
  if (observed.timestamp === null || !isClock) return earliest;
  const elapsed = isOwn ? 0n : BigInt(Math.max(0, Math.ceil((now - observed.at) / 1000)));
  // why: what a proof ran in is a time of ours
  const proven = observed.worlds.find(({ run }) => run === "next")?.timestamp ?? null;
  const nodeTime = (proven ?? observed.timestamp - (isOnNext(ground) ? afterPending : 0n)) + elapsed;
  // why: no block comes from the future, whatever a posted report says of its clock
  const most = BigInt(Math.ceil(now / 1000)) + slot;
  const time = isOwn || nodeTime < most ? nodeTime : most;
  if (time <= earliest) return earliest;
  return chain.known ? head.timestamp + ((time - head.timestamp + slot - 1n) / slot) * slot : time;
};

/** Fresh worlds. */
export const worldsOf = Effect.fnUntraced(function* (ground: WorldInput): Effect.fn.Return<Worlds> {
  const { report, signed, chain, head, takesHashes, takesEntries, reach } = ground;
  const { observed, options } = report;
  const now = yield* Clock.currentTimeMillis;
  const draw = ground.draw ?? { prevRandao: yield* roll(32), chance: yield* roll(40) };
  const { prevRandao, chance } = draw;
  const usual = head?.miner ?? observed.feeRecipient;
  const block = tagOf(report);
  const isNewest = block === "pending" || block === "latest";
  const isSealed = block === "pending" && pendingOf(report, chain) === "guess";
  // why: what stands on a block that another branch has replaced is no answer
  const pinned =
    isNewest && takesHashes && head?.hash != null ? { blockHash: head.hash, requireCanonical: true } : null;
  const place = options.blockOverrides;
  // why: a place that the caller pretends is the same in every world
  const isPlaced = place?.number !== undefined || place?.time !== undefined;
  const base = isNewest ? (head?.number ?? null) : null;
  const isBeyond = block === "pending" && isOnNext(ground);
  const isPinned = (isSealed || block === "latest") && pinned !== null;
  // why: where both worlds stand on a pending block that is the next one, they come after it
  const isPastNext = isBeyond && isPinned;
  const isShifted = isBeyond && !isPinned;
  const comes = head === null || !isNewest ? observed.timestamp : nextTime(ground, head, now);
  const grid = gridOn(report, chain);
  const time = comes === null || !isShifted || head === null ? comes : comes + grid.slot;
  const known = base === null || !isShifted ? base : base + 1n;
  const number = known ?? (observed.simulatedNumber === null ? null : observed.simulatedNumber - 1n);
  const coming = number === null || isPlaced ? null : number + 1n;
  const computed = head === null || !isNewest ? null : nextBaseFee(head, parametersOf(chain, head));
  const real = computed ?? observed.baseFeePerGas;
  // why: where the chain itself fixes them, another value would be a block that cannot be
  const isFixed = chain.feeModel === "opstack";
  const gas = signed.reduce((sum, { request }) => sum + request.gas, 0n);
  const gasLimit = head?.gasLimit ?? observed.gasLimit;
  // why: one block refuses them where they use as much
  const isOver = gasLimit !== null && gas > gasLimit && real !== null;
  const faithful = {
    // why: the node's own base fee, where the empty block in front does not tell it
    ...without({ number: coming, time: isPlaced ? null : time, baseFeePerGas: isBeyond && !isOver ? null : real }),
    ...(isFixed ? {} : without({ feeRecipient: usual })),
    prevRandao,
  };
  // why: a node of one block at a time, and whose own next one it is, can be asked for no later one
  const isCramped = !takesEntries && !isPastNext;
  const isBracketed = coming !== null && time !== null && takesEntries && !isPlaced && ground.further !== 0;
  const room = isBracketed ? stepsBetween(reach, ground.further) : [];
  // why: in what is left of a bracket one that is contrary stands beside the last
  const steps = isBracketed && room.length === 0 ? [reach] : room;
  const root = isBracketed ? yield* roll(32) : null;
  const ofBlock = { usual, gasLimit, baseFee: real, taken: gas, signed };
  // why: the last block of the bracket has one world alone, and must be told from no real one; where nothing stands
  // between, what looks at one value of its block is found by that one
  const far = (isBracketed ? ordinaryBlock : contraryBlock)(
    { ...ofBlock, blocks: blocksOf(reach) + 1, isLast: true },
    chance,
  );
  const valuesOf = ({ values: { feeRecipient, gasLimit, baseFeePerGas } }: DrawnBlock) => ({
    ...without({ baseFeePerGas, gasLimit: isFixed ? null : gasLimit }),
    ...(isFixed ? {} : { feeRecipient }),
  });
  const producerOf = ({ state }: DrawnBlock) => (isFixed || place?.feeRecipient !== undefined ? {} : state);
  const distant = {
    ...without({
      number: coming === null || isCramped ? null : coming + BigInt(takesEntries ? blocksOf(reach) : leastReach),
      time: isPlaced || time === null ? null : contraryTime(time, grid, reach, signed.length, ground.nextFork),
    }),
    ...valuesOf(far),
    prevRandao: complement(prevRandao),
    ...(isBracketed ? { beaconRoot: yield* roll(32) } : {}),
  };
  const aheadOf = (steps: number, skipped: number) =>
    coming === null || time === null || !takesEntries
      ? []
      : emptyBlocks(grid, { number: coming, time, skipped, baseFee: real, root }, steps);
  const state = isPinned ? pinned : block;
  const sealed = isPinned && head !== null ? head.number : block;
  // why: what is ordered before us may be laid over every block anew, and without a base fee each works out its own
  const isApart =
    // guard: a bundle in several blocks
    signed.length > 1 &&
    takesEntries &&
    (isSealed || block !== "pending") &&
    coming !== null &&
    time !== null &&
    far.values.baseFeePerGas !== null;
  const spread = isApart && isOver ? closeSpacing(grid) : null;
  const wide = wideSpacing(grid, reach, signed.length, steps.at(-1) ?? reach);
  const exact: World = {
    name: "exact",
    producer: producerOf(far),
    // why: where a pending state is a guess, it is looked at beside the sealed one; where there is none, nothing else is
    // why: behind a pending block that is the next one no other can be that
    ...(block === "pending" && !(isPastNext && reach === 0)
      ? { block, state: block }
      : { block: state, state: sealed }),
    // why: where its own pending block is the next one, that is there
    ahead: aheadOf(reach, isPastNext ? 1 : 0),
    apart: isApart ? closeSpacing(grid) : null,
    context: { ...distant, ...place },
  };
  const { number: _, ...contextOfApart } = exact.context;
  const onHead = pinned === null || head === null ? null : head.number + 1n;
  // why: which of them is contrary, nobody can know who waits for it
  const contrary = Number(`0x${chance.slice(-4)}`) % Math.max(1, steps.length);
  const between = yield* Effect.forEach(
    steps,
    Effect.fnUntraced(function* (step, index) {
      const valued = index === contrary ? contraryBlock : ordinaryBlock;
      const values = valued({ ...ofBlock, blocks: blocksOf(step) + 1, isLast: false }, yield* roll(40));
      const at = time === null ? null : time + offsetOf(grid, step);
      // why: what is mined together, and what a fork parts, is in the others
      const isWide = isApart && index === steps.length - 1 && at !== null && gapOf(wide) > grid.slot;
      const world: Worlds["between"][number] = {
        ...{ name: "between", steps: step, block: state, state: sealed, ahead: aheadOf(step, 0) },
        isContrary: index === contrary,
        apart: isWide && !isParted(signed.length, at, ground.nextFork, gapOf(wide)) ? wide : null,
        spread,
        context: {
          ...faithful,
          ...without({ number: coming === null ? null : coming + BigInt(blocksOf(step)), time: at }),
          ...valuesOf(values),
          ...{ prevRandao: yield* roll(32), beaconRoot: yield* roll(32) },
          ...place,
        },
        producer: producerOf(values),
      };
      return world;
    }),
  );
  return {
    exact,
    next: {
      name: "next",
      block: state,
      state: sealed,
      ahead: [],
      apart: null,
      spread,
      context: { ...faithful, ...(root === null ? {} : { beaconRoot: root }), ...place },
      producer: {},
    },
    swap: { ...exact, name: "swap", block: state, state: sealed, ahead: aheadOf(reach, 0) },
    priced: { ...exact, name: "priced", context: { ...exact.context, ...without({ baseFeePerGas: real }), ...place } },
    apart: {
      ...{ ...exact, name: "apart", ahead: [], apart: wide },
      ...(block === "pending" ? { block: pinned ?? "latest", state: head?.number ?? "latest" } : {}),
      // why: without a hash the number may be taken by then
      context: place?.number !== undefined ? exact.context : { ...contextOfApart, ...without({ number: onHead }) },
    },
    between,
    reach,
    draw,
  };
});
