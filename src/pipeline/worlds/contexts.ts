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

/** A block in which the requests run. */
export interface World {
  readonly name: RunName;
  /** Block whose state it has. */
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
  /** Overrides that give the block's producer something, for who has nothing is known by that. */
  readonly producer: Eth.StateOverrides;
  /** True if it has values that no real block has, for what tells blocks by one of them. */
  readonly isContrary?: boolean;
}

/** The worlds of one proof. */
export interface Worlds {
  readonly exact: World;
  readonly next: World;
  /** The state of `next` in the block of `exact`: which of the two made a difference. */
  readonly exactOnLatest: World;
  /** As `exact`, at the base fee of `next`: whether the price made it. */
  readonly atNextFee: World;
  /** A bundle in blocks of its own, one after the other: on the sealed head, from which a node makes them. */
  readonly oneBlockEach: World;
  /** Ordinary blocks between `next` and `exact`, on the state of `next`, the nearest first; none where nothing looks at its block. */
  readonly between: ReadonlyArray<World & { readonly steps: number }>;
  /** How many steps `exact` stands behind `next`. */
  readonly reach: number;
  /** Values left to chance in `exact` and `next`. */
  readonly draw: { readonly prevRandao: Hex; readonly chance: Hex };
}

/** Input that the worlds of a report are made from. */
interface WorldInput {
  readonly report: Report;
  readonly signed: ReadonlyArray<{ readonly request: Request }>;
  readonly chain: Chain;
  /** The latest block; null = not known. */
  readonly head: Eth.Block | null;
  /** True if the node simulates on a block by its hash. */
  readonly takesHashes: boolean;
  /** True if it simulates several blocks at once. */
  readonly takesEntries: boolean;
  /** When the next fork activates, epoch seconds; null = none is known of. */
  readonly nextFork: bigint | null;
  /** True if the code that is called reads the base fee of blobs; it is varied for nobody else. */
  readonly isBlobFeeRead: boolean;
  /** True if this very call made the report; of any other its words may be anybody's. */
  readonly isOwn: boolean;
  /** How many steps `exact` stands behind the next block. */
  readonly reach: number;
  /** Draw of an earlier `exact`, which this one is to differ from by its number and time alone; null = it is drawn. */
  readonly draw: Worlds["draw"] | null;
  /** How many ordinary blocks between are simulated; null = as many as fit the bracket. */
  readonly further: number | null;
}

/** In what steps the blocks of a report's chain come, and whether at a pace that is known. */
export const gridOn = ({ chainId }: Pick<Report, "chainId">, chain: Chain): Grid =>
  gridOf(chain, chain.known && !minesOnDemand(chainId));

/** The tag that was asked for. */
export const tagOf = ({ options, observed }: Report): Observed["blockTag"] => options.block ?? observed.blockTag;

/** Returns what `pending` is taken for. */
export const pendingOf = ({ options }: Report, chain: Chain): Chain["pending"] => options.pending ?? chain.pending;

/** True if the report was made on a pending block that is itself the next one, whose time is the node's own clock. */
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

/**
 * The ground of the worlds, as far as nothing is left to chance: which state each sees, the block that comes, what its
 * chain fixes, and which places of the bracket are looked at.
 */
export interface WorldGround {
  /** The tag that was asked for. */
  readonly tag: Observed["blockTag"];
  /** The state that `next` sees: the sealed head where the node takes it by its hash, else the tag. */
  readonly sealed: Pick<World, "block" | "state">;
  /** The state that `exact` sees. */
  readonly far: Pick<World, "block" | "state">;
  /** The state that `oneBlockEach` sees, and the number of the first block on it; null = not known. */
  readonly head: Pick<World, "block" | "state"> & { readonly number: bigint | null };
  /**
   * The block that comes: its number (null = the caller pretends a place, or none is known), its time (epoch seconds) and
   * its base fee (wei per gas); null = not known.
   */
  readonly next: { readonly number: bigint | null; readonly time: bigint | null; readonly baseFee: bigint | null };
  readonly grid: Grid;
  /** True if the chain itself fixes who gets the fees and the gas limit. */
  readonly isFixed: boolean;
  /** True if the caller pretends when or where the requests are mined: that is the same in every world. */
  readonly isPlaced: boolean;
  /** True if the node names its own base fee of the block that comes. */
  readonly isFeeNamed: boolean;
  /** True if it stands on a pending block that is the next one: no empty block is in front of the first further one. */
  readonly isPastNext: boolean;
  /** True if `exact` is an ordinary block at the end of a bracket, with others between. */
  readonly isBracketed: boolean;
  /** Places in the bracket where ordinary blocks are simulated, the nearest first. */
  readonly steps: ReadonlyArray<number>;
  /** How far behind the next block `exact` stands, in blocks; null = the node is asked for no later one. */
  readonly distance: number | null;
  /** True if a bundle may be simulated in several blocks. */
  readonly isApart: boolean;
  /** How far apart the transactions are where one block refuses their limits; null = it holds them. */
  readonly spread: Spacing | null;
  readonly wide: Spacing;
}

/** Values rolled for the worlds. */
export interface Chance {
  readonly draw: Worlds["draw"];
  /** Roots of the beacon block, of `next` and of `exact`; null = they are left to the node. */
  readonly roots: { readonly next: Hex; readonly exact: Hex } | null;
  readonly between: ReadonlyArray<{
    readonly steps: number;
    readonly chance: Hex;
    readonly prevRandao: Hex;
    readonly beaconRoot: Hex;
  }>;
}

/** Which state each world sees. */
const statesOf = (input: WorldInput) => {
  const { report, chain, head, takesHashes } = input;
  const tag = tagOf(report);
  const isNewest = tag === "pending" || tag === "latest";
  const isSealed = tag === "pending" && pendingOf(report, chain) === "guess";
  // why: what stands on a block that another branch has replaced is no answer
  const pinned =
    isNewest && takesHashes && head?.hash != null ? { blockHash: head.hash, requireCanonical: true } : null;
  const isBeyond = tag === "pending" && isOnNext(input);
  const isPinned = (isSealed || tag === "latest") && pinned !== null;
  const sealed: WorldGround["sealed"] =
    isPinned && head !== null ? { block: pinned, state: head.number } : { block: tag, state: tag };
  return {
    ...{ tag, isNewest, isSealed, sealed, isBeyond },
    // why: where both worlds stand on a pending block that is the next one, they come after it
    isPastNext: isBeyond && isPinned,
    isShifted: isBeyond && !isPinned,
    head: {
      ...(tag === "pending" ? { block: pinned ?? "latest", state: head?.number ?? "latest" } : sealed),
      number: pinned === null || head === null ? null : head.number + 1n,
    } satisfies WorldGround["head"],
  };
};

/** The block that comes, as its header is known before it is there. */
const nextOf = (
  input: WorldInput,
  now: number,
  states: Pick<ReturnType<typeof statesOf>, "isNewest" | "isShifted">,
) => {
  const { report, chain, head } = input;
  const { observed } = report;
  const base = states.isNewest ? head : null;
  const comes = base === null ? observed.timestamp : nextTime(input, base, now);
  const simulated = observed.simulatedNumber === null ? null : observed.simulatedNumber - 1n;
  const shift = states.isShifted ? 1n : 0n;
  const parent = base === null ? simulated : base.number + shift;
  return {
    number: parent === null ? null : parent + 1n,
    time: comes === null || base === null ? comes : comes + shift * gridOn(report, chain).slot,
    baseFee: (base === null ? null : nextBaseFee(base, parametersOf(chain, base))) ?? observed.baseFeePerGas,
  };
};

/** The ground of the worlds; `now` in epoch ms. Pure. */
export const groundOf = (input: WorldInput, now: number): WorldGround => {
  const { report, signed, chain, head, takesEntries, reach } = input;
  const place = report.options.blockOverrides;
  const states = statesOf(input);
  const { tag, isSealed, sealed, isBeyond, isPastNext } = states;
  const isPlaced = place?.number !== undefined || place?.time !== undefined;
  const { number, time, baseFee } = nextOf(input, now, states);
  const next = { number: isPlaced ? null : number, time, baseFee };
  const grid = gridOn(report, chain);
  const gas = signed.reduce((sum, { request }) => sum + request.gas, 0n);
  const gasLimit = head?.gasLimit ?? report.observed.gasLimit;
  // why: one block refuses them where they use as much
  const isOver = gasLimit !== null && gas > gasLimit && baseFee !== null;
  const isKnown = next.number !== null && time !== null;
  const isBracketed = isKnown && takesEntries && input.further !== 0;
  const room = isBracketed ? stepsBetween(reach, input.further) : [];
  // why: in what is left of a bracket one that is contrary stands beside the last
  const steps = isBracketed && room.length === 0 ? [reach] : room;
  // why: what is ordered before us may be laid over every block anew, and without a base fee each works out its own
  // guard: a bundle in several blocks
  const isApart = signed.length > 1 && takesEntries && (isSealed || tag !== "pending") && isKnown && baseFee !== null;
  const later = takesEntries ? blocksOf(reach) : leastReach;
  return {
    ...{ tag, sealed, head: states.head, next, grid, isPlaced, isPastNext, isBracketed, steps, isApart },
    // why: where a pending state is a guess, it is looked at beside the sealed one; where there is none, nothing else is
    // why: behind a pending block that is the next one no other can be that
    far: tag === "pending" && !(isPastNext && reach === 0) ? { block: tag, state: tag } : sealed,
    // why: where the chain itself fixes them, another value would be a block that cannot be
    isFixed: chain.feeModel === "opstack",
    // why: the node's own base fee, where the empty block in front does not tell it
    isFeeNamed: isBeyond && !isOver,
    // why: a node of one block at a time, and whose own next one it is, can be asked for no later one
    distance: !takesEntries && !isPastNext ? null : later,
    spread: isApart && isOver ? closeSpacing(grid) : null,
    wide: wideSpacing(grid, reach, signed.length, steps.at(-1) ?? reach),
  };
};

/** Returns a drawn block's own values, but for what its chain fixes; `isPaid` = the caller names who gets the fees. */
const drawnOn = ({ isFixed }: WorldGround, { values, state }: DrawnBlock, isPaid: boolean) => {
  const { feeRecipient, gasLimit, baseFeePerGas } = values;
  return {
    values: {
      ...without({ baseFeePerGas, gasLimit: isFixed ? null : gasLimit }),
      ...(isFixed ? {} : { feeRecipient }),
    },
    producer: isFixed || isPaid ? {} : state,
  };
};

/** A base fee of blobs by chance, wei per blob gas; of what carries blobs it is the price, which is not varied. */
const blobFeeOf = ({ isBlobFeeRead, signed }: WorldInput, chance: Hex): Pick<Eth.BlockOverrides, "blobBaseFee"> =>
  isBlobFeeRead && signed.every(({ request }) => request.maxFeePerBlobGas === undefined)
    ? { blobBaseFee: 1n + (BigInt(chance) % 2n ** 36n) }
    : {};

/** The worlds on their ground. Pure. */
export const worldsOn = (input: WorldInput, ground: WorldGround, chance: Chance): Worlds => {
  const { report, signed, head, takesEntries, reach, nextFork } = input;
  const { sealed, next: comes, grid, isFixed, isPlaced, isApart, spread, wide, steps } = ground;
  const { observed, options } = report;
  const { prevRandao, chance: drawn } = chance.draw;
  const place = options.blockOverrides;
  const usual = head?.miner ?? observed.feeRecipient;
  const gas = signed.reduce((sum, { request }) => sum + request.gas, 0n);
  const gasLimit = head?.gasLimit ?? observed.gasLimit;
  const ofBlock = { usual, gasLimit, baseFee: comes.baseFee, taken: gas, signed };
  const faithful = {
    ...without({
      number: comes.number,
      time: isPlaced ? null : comes.time,
      baseFeePerGas: ground.isFeeNamed ? null : comes.baseFee,
    }),
    ...(isFixed ? {} : without({ feeRecipient: usual })),
    prevRandao,
  };
  const root = chance.roots?.next ?? null;
  // why: the last block of the bracket has one world alone, and must be told from no real one; where nothing stands
  // between, what looks at one value of its block is found by that one
  const far = (ground.isBracketed ? ordinaryBlock : contraryBlock)(
    { ...ofBlock, blocks: blocksOf(reach) + 1, isLast: true },
    drawn,
  );
  const isPaid = place?.feeRecipient !== undefined;
  const last = drawnOn(ground, far, isPaid);
  const numberIn = (blocks: number | null) =>
    comes.number === null || blocks === null ? null : comes.number + BigInt(blocks);
  const aheadOf = (steps: number, skipped: number) =>
    comes.number === null || comes.time === null || !takesEntries
      ? []
      : emptyBlocks(grid, { ...comes, number: comes.number, time: comes.time, skipped, root }, steps);
  const exact: World = {
    ...{ name: "exact", ...ground.far, producer: last.producer },
    // why: where its own pending block is the next one, that is there
    ahead: aheadOf(reach, ground.isPastNext ? 1 : 0),
    apart: isApart ? closeSpacing(grid) : null,
    context: {
      ...without({
        number: numberIn(ground.distance),
        time: isPlaced || comes.time === null ? null : contraryTime(comes.time, grid, reach, signed.length, nextFork),
      }),
      ...last.values,
      prevRandao: complement(prevRandao),
      ...blobFeeOf(input, complement(prevRandao)),
      ...(chance.roots === null ? {} : { beaconRoot: chance.roots.exact }),
      ...place,
    },
  };
  // why: which of them is contrary, nobody can know who waits for it
  const contrary = Number(`0x${drawn.slice(-4)}`) % Math.max(1, steps.length);
  const between = chance.between.map(({ steps: step, chance: own, ...rolled }, index): Worlds["between"][number] => {
    const valued = index === contrary ? contraryBlock : ordinaryBlock;
    const block = valued({ ...ofBlock, blocks: blocksOf(step) + 1, isLast: false }, own);
    const { values, producer } = drawnOn(ground, block, isPaid);
    const at = comes.time === null ? null : comes.time + offsetOf(grid, step);
    // why: what is mined together, and what a fork parts, is in the others
    const isWide = isApart && index === steps.length - 1 && at !== null && gapOf(wide) > grid.slot;
    return {
      ...{ name: "between", steps: step, ...sealed, ahead: aheadOf(step, 0), spread },
      isContrary: index === contrary,
      apart: isWide && !isParted(signed.length, at, nextFork, gapOf(wide)) ? wide : null,
      context: {
        ...faithful,
        ...without({ number: numberIn(blocksOf(step)), time: at }),
        ...values,
        ...blobFeeOf(input, rolled.prevRandao),
        ...rolled,
        ...place,
      },
      producer,
    };
  });
  const next: World = {
    ...{ name: "next", ...sealed, ahead: [], apart: null, spread, producer: {} },
    context: { ...faithful, ...(root === null ? {} : { beaconRoot: root }), ...place },
  };
  const { number: _, ...unnumbered } = exact.context;
  const { number: onHead, ...onlyHead } = ground.head;
  const price = without({ baseFeePerGas: comes.baseFee });
  return {
    ...{ exact, next, between, reach, draw: chance.draw },
    exactOnLatest: { ...exact, name: "exactOnLatest", ...sealed, ahead: aheadOf(reach, 0) },
    atNextFee: { ...exact, name: "atNextFee", context: { ...exact.context, ...price, ...place } },
    oneBlockEach: {
      ...{ ...exact, name: "oneBlockEach", ahead: [], apart: wide, ...onlyHead },
      // why: without a hash the number may be taken by then
      context: place?.number !== undefined ? exact.context : { ...unnumbered, ...without({ number: onHead }) },
    },
  };
};

/** Fresh worlds. */
export const worldsOf = Effect.fnUntraced(function* (input: WorldInput): Effect.fn.Return<Worlds> {
  const ground = groundOf(input, yield* Clock.currentTimeMillis);
  const draw = input.draw ?? { prevRandao: yield* roll(32), chance: yield* roll(40) };
  const roots = ground.isBracketed ? { next: yield* roll(32), exact: yield* roll(32) } : null;
  const between = yield* Effect.forEach(ground.steps, (steps) =>
    Effect.all({ steps: Effect.succeed(steps), chance: roll(40), prevRandao: roll(32), beaconRoot: roll(32) }),
  );
  return worldsOn(input, ground, { draw, roots, between });
});
