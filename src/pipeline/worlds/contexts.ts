/**
 * The worlds of a proof. `next` is the block that comes next, on the sealed head, as faithful as can be said before
 * it is there; `exact` is the last one that a clearance allows, as any real block is, on the state that was asked for.
 * One of those between, or `exact` where there are none, is contrary in every value that the chain lets vary. Where
 * others are simulated, two more are as the next one in every value that a later block may share with it.
 */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Order from "effect/Order";
import type { Chain } from "../../Chains.js";
import type * as Eth from "../../eth/index.js";
import { roll } from "../../primitives/effects.js";
import type { Hex } from "../../primitives/hex.js";
import type { RunName, WorldName } from "../../primitives/names.js";
import { minesOnDemand } from "../../report/freshness.js";
import type { Draft, Observed, Report } from "../../report/schema.js";
import type { Spacing } from "../../steps/simulate.js";
import { baseFeesBehind, nextBaseFee, parametersOf } from "../../chains/baseFee.js";
import { signers, type Bundle } from "../../steps/reading/bundle.js";

import { frugalLimit } from "../../steps/estimate.js";
import type { Limits, Signed } from "../choose.js";
import { complement, contraryBlock, leastCap, ordinaryBlock, type DrawnBlock } from "./values.js";
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

/** One simulated block of a proof, and how the requests run in it: a row, of which one run is made. */
export interface World {
  readonly key: WorldName;
  /** Why it is asked: with every attempt that has the reason, or by a rule. */
  readonly why:
    | ("always" | "nearer" | "nonceAhead" | "notScanned" | "notMeasured" | "otherSenders" | "manyBlocks")
    | ("worldsDiffer" | "doubtfulLimit");
  /**
   * How the requests run, and what is read beside them. `whole`: everything. `effects`: all but slots. `ample`: at no
   * price and with ample gas. `reader`: no request. `limits`: by signers who could pay for any gas limit.
   */
  readonly form: "whole" | "effects" | "ample" | "reader" | "limits";
  /** The requests, in their order. */
  readonly bundle: Bundle<Signed>;
  /** Gas limits in place of the requests' own. */
  readonly limits?: Limits;
  /** Block whose state it has. */
  readonly block: Eth.BlockParameter;
  /** That state for a reader: a sealed head by its number. */
  readonly state: Observed["blockTag"];
  /** How many steps it stands behind the next block. */
  readonly steps: number;
  /** The empty blocks in front of theirs, where they run in a later one than the next; none = it is the next. */
  readonly ahead: ReadonlyArray<Eth.BlockOverrides>;
  /** How far apart the transactions are mined, for nothing holds them together; null = all are in one block. */
  readonly apart: Spacing | null;
  /** How far apart they are where one block refuses their limits; null = it holds them. */
  readonly spread: Spacing | null;
  readonly context: Eth.BlockOverrides;
  /** Overrides that give the block's producer something, for who has nothing is known by that. */
  readonly producer: Eth.StateOverrides;
  /** True if it is there for what tells blocks by one of their values: a run that is late may have been made so. */
  readonly isTelltale: boolean;
}

/** The run that a world's row asks for, by name. */
export const nameOf = ({ key }: World): RunName => key.split(" ")[0] as RunName;

/** The worlds of one proof. */
export interface Worlds {
  /** The ends of the bracket, and every further world that may be asked; those between stand nearest first. */
  readonly rows: readonly [exact: World, next: World, ...further: ReadonlyArray<World>];
  /** How many steps `exact` stands behind `next`. */
  readonly reach: number;
  /** Values left to chance in `exact` and `next`. */
  readonly draw: { readonly prevRandao: Hex; readonly chance: Hex };
}

/** The blocks behind the next one, but for the last world, the nearest first. */
export const nearerIn = ({ rows }: Worlds): ReadonlyArray<World> =>
  rows.filter(({ why }) => why === "nearer").sort((a, b) => a.steps - b.steps);

/** The worlds that are held against `next` beside `exact`: those between first, then any other that is always asked. */
export const comparedIn = (worlds: Worlds): ReadonlyArray<World> => {
  const [, , ...further] = worlds.rows;
  return [...nearerIn(worlds), ...further.filter(({ why }) => why === "always")];
};

/** Input that the worlds of a report are made from. */
interface WorldInput {
  readonly report: Draft;
  readonly signed: Bundle<Signed>;
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
  /** Time of the last block that takes the signatures, epoch seconds; null = there are none. */
  readonly lastUse: bigint | null;
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
export const tagOf = ({ options, observed }: Draft): Observed["blockTag"] => options.block ?? observed.blockTag;

/** Returns what `pending` is taken for. */
export const pendingOf = ({ options }: Draft, chain: Chain): Chain["pending"] => options.pending ?? chain.pending;

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
  /** Those of later blocks that are as the next one; absent = there are none. */
  readonly twins?: ReadonlyArray<Pick<World, "steps"> & Eth.BlockOverrides>;
}

/** Which state each world sees. */
const statesOf = (input: WorldInput) => {
  const { report, chain, head, takesHashes, reach } = input;
  const tag = tagOf(report);
  const isNewest = tag === "pending" || tag === "latest";
  const isSealed = tag === "pending" && pendingOf(report, chain) === "guess";
  // why: what stands on a block that another branch has replaced is no answer
  const pinned =
    isNewest && takesHashes && head?.hash != null ? { blockHash: head.hash, requireCanonical: true } : null;
  const isBeyond = tag === "pending" && isOnNext(input);
  const isPinned = (isSealed || tag === "latest") && pinned !== null;
  // why: where both worlds stand on a pending block that is the next one, they come after it
  const isPastNext = isBeyond && isPinned;
  const asked: Pick<World, "block" | "state"> = { block: tag, state: tag };
  const sealed = isPinned && head !== null ? { block: pinned, state: head.number } : asked;
  return {
    ...{ tag, sealed, isBeyond, isPastNext },
    /** The latest block where it is the one that comes before; null = the caller asks for another. */
    base: isNewest ? head : null,
    isShifted: isBeyond && !isPinned,
    // why: where a pending state is a guess, it is looked at beside the sealed one; where there is none, nothing else is
    // why: behind a pending block that is the next one no other can be that
    far: tag === "pending" && !(isPastNext && reach === 0) ? asked : sealed,
    head:
      tag === "pending" ? { block: pinned ?? ("latest" as const), state: head?.number ?? ("latest" as const) } : sealed,
    /** The number of the first block on `head`; null = not known. */
    onHead: pinned === null || head === null ? null : head.number + 1n,
    // why: what is ordered before us may be laid over every block anew
    isOnSealed: isSealed || tag !== "pending",
  };
};

/** The block that comes, as its header is known before it is there; null = not known. */
const nextOf = (input: WorldInput, now: number, { base, isShifted }: ReturnType<typeof statesOf>) => {
  const { report, chain } = input;
  const { timestamp, simulatedNumber, baseFeePerGas } = report.observed;
  if (base === null) return { number: simulatedNumber, time: timestamp, baseFee: baseFeePerGas };
  const shift = isShifted ? 1n : 0n;
  return {
    number: base.number + shift + 1n,
    time: nextTime(input, base, now) + shift * gridOn(report, chain).slot,
    baseFee: nextBaseFee(base, parametersOf(chain, base)) ?? baseFeePerGas,
  };
};

/** Places in the bracket where ordinary blocks are simulated, the nearest first; null = there is no bracket. */
const placesOf = ({ reach, further, takesEntries }: WorldInput, isKnown: boolean): ReadonlyArray<number> | null => {
  if (!isKnown || !takesEntries || further === 0) return null;
  const steps = stepsBetween(reach, further);
  // why: in what is left of a bracket one that is contrary stands beside the last
  return steps.length === 0 ? [reach] : steps;
};

/**
 * The ground of the worlds, as far as nothing is left to chance: which state each sees, the block that comes, what its
 * chain fixes, and which places of the bracket are looked at; `now` in epoch ms. Pure.
 */
export const groundOf = (input: WorldInput, now: number) => {
  const { report, signed, chain, head, takesEntries, reach } = input;
  const { observed, options } = report;
  const { isOnSealed, isBeyond, ...states } = statesOf(input);
  const { number, time, baseFee } = nextOf(input, now, { isOnSealed, isBeyond, ...states });
  const grid = gridOn(report, chain);
  const taken = signed.reduce((sum, { request }) => sum + request.gas, 0n);
  const gasLimit = head?.gasLimit ?? observed.gasLimit;
  // why: one block refuses them where they use as much
  const isOver = gasLimit !== null && taken > gasLimit && baseFee !== null;
  const isPlaced = options.blockOverrides?.number !== undefined || options.blockOverrides?.time !== undefined;
  const isKnown = !isPlaced && number !== null && time !== null;
  const places = placesOf(input, isKnown);
  // why: without a base fee each block works out its own
  // guard: a bundle in several blocks
  const isApart = signed.length > 1 && takesEntries && isOnSealed && isKnown && baseFee !== null;
  return {
    ...{ ...states, grid, isApart },
    /** True if the caller pretends when or where the requests are mined: that is the same in every world. */
    isPlaced,
    /** The block that comes: its number (null = the caller pretends a place, too), time (epoch seconds), base fee (wei per gas). */
    next: { number: isPlaced ? null : number, time, baseFee },
    /** The facts from which the values of a simulated block are drawn. */
    facts: { usual: head?.miner ?? observed.feeRecipient, gasLimit, baseFee, taken, signed },
    /** True if `exact` is an ordinary block at the end of a bracket, with others between. */
    isBracketed: places !== null,
    steps: places ?? [],
    // why: where the chain itself fixes who gets the fees and the gas limit, another value would be a block that cannot be
    isFixed: chain.feeModel === "opstack",
    // why: the node's own base fee, where the empty block in front does not tell it
    isFeeNamed: isBeyond && !isOver,
    // why: a node of one block at a time, and whose own next one it is, can be asked for no later one
    distance: !takesEntries && !states.isPastNext ? null : takesEntries ? blocksOf(reach) : leastReach,
    /** How far apart the transactions are where one block refuses their limits; null = it holds them. */
    spread: isApart && isOver ? closeSpacing(grid) : null,
    wide: wideSpacing(grid, reach, signed.length, places?.at(-1) ?? reach),
  };
};
export type WorldGround = ReturnType<typeof groundOf>;

/** Returns a drawn block's own values, but for what its chain fixes, and for who gets the fees where the caller names that. */
const drawnOn = ({ report }: WorldInput, { isFixed }: WorldGround, { values, state }: DrawnBlock) => {
  const { feeRecipient, gasLimit, baseFeePerGas } = values;
  const isPaid = report.options.blockOverrides?.feeRecipient !== undefined;
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

/** A simulated block, before it is said what runs in it. */
type BlockOf = Omit<World, "key" | "why" | "form" | "bundle">;

/** The number of a block so many behind the next; null = not known. */
const numberIn = ({ next: { number } }: WorldGround, blocks: number | null): bigint | null =>
  number === null || blocks === null ? null : number + BigInt(blocks);

/** The empty blocks in front of one so many steps behind the next; `skipped` of them are there already. */
const aheadOf = ({ takesEntries }: WorldInput, ground: WorldGround, { roots }: Chance, steps: number, skipped = 0) => {
  const { number, time } = ground.next;
  const root = roots?.next ?? null;
  return number === null || time === null || !takesEntries
    ? []
    : emptyBlocks(ground.grid, { ...ground.next, number, time, skipped, root }, steps);
};

/**
 * The difficulty that blocks of the chain have: a simulated one may have none (BNB Smart Chain's node), and opcode 0x44 gives
 * that.
 */
const difficultyOf = ({ head }: WorldInput): Eth.BlockOverrides =>
  head?.difficulty == null || head.difficulty === 0n ? {} : { difficulty: head.difficulty };

/** The values of the block that comes, as far as they are known before it is there. */
const faithfulOn = (ground: WorldGround, { draw }: Chance): Eth.BlockOverrides => ({
  ...without({
    number: ground.next.number,
    time: ground.isPlaced ? null : ground.next.time,
    baseFeePerGas: ground.isFeeNamed ? null : ground.next.baseFee,
  }),
  ...(ground.isFixed ? {} : without({ feeRecipient: ground.facts.usual })),
  prevRandao: draw.prevRandao,
});

/** The block that comes next. */
const nextOn = (input: WorldInput, ground: WorldGround, chance: Chance): BlockOf => ({
  ...{ ...ground.sealed, steps: 0, ahead: [], apart: null, spread: ground.spread, producer: {}, isTelltale: false },
  context: {
    ...{ ...faithfulOn(ground, chance), ...difficultyOf(input) },
    ...(chance.roots === null ? {} : { beaconRoot: chance.roots.next }),
    ...input.report.options.blockOverrides,
  },
});

/** Seconds behind the next block at most, at which the use of a signature is simulated. */
const mostAhead = 30n * 86_400n;
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The last block that a clearance allows, or in which a signature can be used. */
const exactOn = (input: WorldInput, ground: WorldGround, chance: Chance): BlockOf => {
  const { draw, roots } = chance;
  const { report, signed, reach, nextFork, lastUse } = input;
  const { grid, next, isPlaced } = ground;
  // why: the last block of the bracket has one world alone, and must be told from no real one; where nothing stands
  // between, what looks at one value of its block is found by that one
  const drawn = (ground.isBracketed ? ordinaryBlock : contraryBlock)(
    { ...ground.facts, blocks: blocksOf(reach) + 1, isLast: true },
    draw.chance,
  );
  const { values, producer } = drawnOn(input, ground, drawn);
  const prevRandao = complement(draw.prevRandao);
  const time = isPlaced || next.time === null ? null : contraryTime(next.time, grid, reach, signed.length, nextFork);
  const last =
    lastUse === null || time === null
      ? time
      : least(lastUse - gapOf(closeSpacing(grid)) * BigInt(signed.length - 1), time + mostAhead);
  // why: behind a fork other rules hold
  const isLater = last !== null && time !== null && last > time && (nextFork === null || nextFork > last);
  return {
    ...{ ...ground.far, steps: reach, producer, spread: null, isTelltale: false },
    // why: where its own pending block is the next one, that is there
    ahead: aheadOf(input, ground, chance, reach, ground.isPastNext ? 1 : 0),
    apart: ground.isApart ? closeSpacing(grid) : null,
    context: {
      ...without({
        number: numberIn(ground, ground.distance),
        // why: who holds a signature says when it is used
        time: isLater ? last : time,
      }),
      ...{ ...values, prevRandao, ...difficultyOf(input), ...blobFeeOf(input, prevRandao) },
      ...(roots === null ? {} : { beaconRoot: roots.exact }),
      ...report.options.blockOverrides,
    },
  };
};

/** A block so many steps behind the next one, on its state: as that one but for number, time and these values. */
const laterOn = (input: WorldInput, ground: WorldGround, chance: Chance, steps: number, values: Eth.BlockOverrides) => {
  const { next, grid, sealed, spread } = ground;
  const at = next.time === null ? null : next.time + offsetOf(grid, steps);
  return {
    ...{ ...sealed, steps, apart: null, spread, producer: {}, isTelltale: true },
    ahead: aheadOf(input, ground, chance, steps),
    context: {
      ...{ ...faithfulOn(ground, chance), ...difficultyOf(input) },
      ...without({ number: numberIn(ground, blocksOf(steps)), time: at }),
      ...values,
      ...input.report.options.blockOverrides,
    },
  };
};

/** Ordinary blocks between the two, one of them contrary. */
const betweenOn = (input: WorldInput, ground: WorldGround, chance: Chance): ReadonlyArray<BlockOf> => {
  const { signed, nextFork } = input;
  const { steps: places, grid, next, wide } = ground;
  // why: which of them is contrary, nobody can know who waits for it
  const contrary = Number(`0x${chance.draw.chance.slice(-4)}`) % Math.max(1, places.length);
  return chance.between.map(({ steps, chance: own, ...rolled }, index) => {
    const isContrary = index === contrary;
    const facts = { ...ground.facts, blocks: blocksOf(steps) + 1, isLast: false };
    const { values, producer } = drawnOn(input, ground, (isContrary ? contraryBlock : ordinaryBlock)(facts, own));
    const at = next.time === null ? null : next.time + offsetOf(grid, steps);
    // why: what is mined together, and what a fork parts, is in the others
    const isWide = ground.isApart && index === places.length - 1 && at !== null && gapOf(wide) > grid.slot;
    const drawn = { ...values, ...blobFeeOf(input, rolled.prevRandao), ...rolled };
    return {
      ...{ ...laterOn(input, ground, chance, steps, drawn), producer, isTelltale: isContrary },
      apart: isWide && !isParted(signed.length, at, nextFork, gapOf(wide)) ? wide : null,
    };
  });
};

/** The values that name the block in which nothing but the witness runs. */
const readerContext = ({ block }: BlockOf, { context }: BlockOf): Eth.BlockOverrides => {
  const { number, time, baseFeePerGas } = context;
  // why: of a block by its hash some nodes run that block itself, unless the next one is named
  return typeof block === "object" && number != null
    ? without({ number, time: time ?? null, baseFeePerGas: baseFeePerGas ?? null })
    : {};
};

/** The cases by their senders, the last sender first; one sender's own stay in their order. */
const turned = (bundle: Bundle<Signed>): Bundle<Signed> => {
  const places = signers(bundle);
  return Arr.sortWith(bundle, ({ signer }) => -places.indexOf(signer), Order.Number);
};

/** The worlds on their ground. Pure. */
export const worldsOn = (input: WorldInput, ground: WorldGround, chance: Chance): Worlds => {
  const { signed: bundle, reach, takesEntries } = input;
  const [exact, next] = [exactOn(input, ground, chance), nextOn(input, ground, chance)];
  const place = input.report.options.blockOverrides;
  const { number: _, ...unnumbered } = exact.context;
  // why: without a hash the number may be taken by then
  const onHead = place?.number !== undefined ? exact.context : { ...unnumbered, ...without({ number: ground.onHead }) };
  const atNextFee = { ...exact.context, ...without({ baseFeePerGas: ground.next.baseFee }), ...place };
  const row = (key: WorldName, why: World["why"], form: World["form"], block: BlockOf): World => ({
    ...{ key, why, form, bundle, ...block },
  });
  const frugal = bundle.map(({ said }) => frugalLimit(said.gas, input.report.observed.rules.fork));
  const trials = [1n, 2n].map((by) => Arr.map(bundle, ({ request: { gas } }, at) => (frugal[at] ?? by * gas) / by));
  return {
    ...{ reach, draw: chance.draw },
    rows: [
      row("exact", "always", "whole", exact),
      row("next", "always", "whole", next),
      row("reserved", "nonceAhead", "whole", exact),
      row("readerOnly", "notMeasured", "reader", {
        ...{ ...exact, ahead: [], apart: null, context: { ...readerContext(exact, next), ...place } },
      }),
      row("ample", "notScanned", "ample", { ...exact, apart: null }),
      ...betweenOn(input, ground, chance).map((block, place) => row(`between ${place}`, "nearer", "whole", block)),
      ...(chance.twins ?? []).map(({ steps, ...values }, place) =>
        row(`twin ${place}`, "nearer", "whole", laterOn(input, ground, chance, steps, values)),
      ),
      {
        ...row("reordered", "otherSenders", "limits", { ...exact, state: ground.tag, apart: null }),
        bundle: turned(bundle),
      },
      ...(takesEntries
        ? [
            row("oneBlockEach", "manyBlocks", "limits", {
              ...{ ...exact, ...ground.head, ahead: [], apart: ground.wide, context: onHead },
            }),
          ]
        : []),
      row("exactOnLatest", "worldsDiffer", "effects", {
        ...{ ...exact, ...ground.sealed, ahead: aheadOf(input, ground, chance, reach) },
      }),
      row("atNextFee", "worldsDiffer", "effects", { ...exact, context: atNextFee }),
      // why: a rule that searches for a limit has fewer
      ...(frugal.every((limit) => limit === null) ? [] : gasRows(row("next", "always", "limits", next), trials, 64)),
    ],
  };
};

/** The exact requests at other limits, in the block of a world; `first` = how many are held already. */
export const gasRows = (world: World, limits: ReadonlyArray<Limits>, first: number): ReadonlyArray<World> =>
  limits.map((own, place) => ({
    ...{ ...world, key: `gas ${first + place}`, why: "doubtfulLimit", form: "limits", apart: null, limits: own },
  }));

/** Most blocks that a base fee is taken from: behind more of them it is another price, and honest amounts differ. */
const mostEmpty = 4;

/**
 * The blocks that are as the next one: the last that a clearance allows, and the nearest that is simulated, at another base
 * fee. That is behind empty blocks, for those of all further worlds are higher, and behind full ones where it can fall no
 * further and the requests can pay it.
 */
const twinsIn = (input: WorldInput, { next, base, isShifted, steps: [nearest] }: WorldGround) => {
  const { report, signed, chain, reach } = input;
  if (nearest === undefined || reach === 0) return [];
  const baseFeePerGas = isShifted ? report.observed.baseFeePerGas : next.baseFee;
  const others =
    baseFeePerGas === null
      ? []
      : baseFeesBehind(baseFeePerGas, Math.min(nearest, mostEmpty), parametersOf(chain, base));
  const other = others.find((fee) => fee !== baseFeePerGas && fee <= leastCap(signed)) ?? baseFeePerGas;
  return [
    { steps: reach, baseFeePerGas },
    { steps: nearest, baseFeePerGas: other },
  ];
};

/** Fresh worlds. */
export const worldsOf = Effect.fnUntraced(function* (input: WorldInput): Effect.fn.Return<Worlds> {
  const ground = groundOf(input, yield* Clock.currentTimeMillis);
  const draw = input.draw ?? { prevRandao: yield* roll(32), chance: yield* roll(40) };
  const roots = ground.isBracketed ? { next: yield* roll(32), exact: yield* roll(32) } : null;
  const between = yield* Effect.forEach(ground.steps, (steps) =>
    Effect.all({ steps: Effect.succeed(steps), chance: roll(40), prevRandao: roll(32), beaconRoot: roll(32) }),
  );
  const twins = yield* Effect.forEach(twinsIn(input, ground), (twin) =>
    Effect.map(Effect.all({ prevRandao: roll(32), beaconRoot: roll(32) }), (rolled) => ({ ...twin, ...rolled })),
  );
  return worldsOn(input, ground, { draw, roots, between, twins });
});
