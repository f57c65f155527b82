/**
 * The worlds of a proof. `next` is the block that comes next, on the sealed head, as faithful as can be said before
 * it is there; `exact` is contrary to it in every value that the chain lets vary, on the state that was asked for.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { Chain } from "../../Chains.js";
import type * as Eth from "../../eth/index.js";
import { roll } from "../../primitives/effects.js";
import type { Address, Hash, Hex } from "../../primitives/hex.js";
import type { RunName } from "../../primitives/names.js";
import { minesOnDemand } from "../../report/freshness.js";
import type { Observed, Report } from "../../report/schema.js";
import { nextBaseFee, parametersOf } from "../../chains/baseFee.js";
import { blockGap } from "../../steps/simulate.js";
import type { Request } from "../../transaction/request.js";

/** The fields that are known. */
const without = <A>(pairs: Readonly<Record<string, A | null>>): Record<string, A> =>
  Object.fromEntries(Object.entries(pairs).filter((pair): pair is [string, A] => pair[1] !== null));

/** Every bit another: no test of any single one can tell both runs the same. */
const complement = (hash: Hex): Hash => `0x${BigInt.asUintN(256, ~BigInt(hash)).toString(16).padStart(64, "0")}`;

/** Whoever else may produce: nobody's address, whose first and last byte have no bit of the usual producer's. */
const otherProducer = (usual: Address | null, chance: Hex): Address => {
  const contrary = complement(usual ?? "0x0").slice(-40);
  return `0x${contrary.slice(0, 2)}${chance.slice(4, 40)}${contrary.slice(38)}`;
};

/** A base fee a sixteenth off, by an odd number: above where the requests can pay it, else below; null = neither. */
const otherBaseFee = (base: bigint, signed: ReadonlyArray<{ readonly request: Request }>): bigint | null => {
  const caps = signed.map(({ request: { gasPrice, maxFeePerGas } }) => gasPrice ?? maxFeePerGas ?? 0n);
  const least = caps.reduce((a, b) => (a < b ? a : b));
  const step = (base / 16n) | 1n;
  if (base + step <= least) return base + step;
  return base > 16n ? base - step : base <= least ? base : null;
};

/**
 * The gas limit of another builder's block: off by up to a 1,024th, as the protocol lets it move from one block to
 * the next, and by an odd number. Null where it is not known, or would leave no room for the calls.
 */
const otherGasLimit = (limit: bigint | null, taken: bigint, chance: bigint): bigint | null => {
  if (limit === null || limit < 2_048n) return null;
  const step = 1n + 2n * ((chance / 2n) % (limit / 2_048n));
  return chance % 2n === 0n && limit - step > 2n * taken ? limit - step : limit + step;
};

/** Where the requests run. */
export interface World {
  readonly name: RunName;
  /** Whose state. */
  readonly block: Eth.BlockParameter;
  /** That state for a reader: a sealed head by its number. */
  readonly state: Observed["blockTag"];
  /** The empty block in front of theirs, where they run in the one after the next; null = none. */
  readonly ahead: Eth.BlockOverrides | null;
  /** Whether the transactions are mined one block after the other: nothing holds them together. */
  readonly isApart: boolean;
  readonly context: Eth.BlockOverrides;
  /** What the block's producer is given, for who has nothing is known by that. */
  readonly producer: Eth.StateOverrides;
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
}

/** What the worlds of a report are made from. */
export interface WorldInput {
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
}

/** Seconds by which the worlds differ, and an odd number of them: not even their parity is the same. */
const apart = 13n;
/** Seconds by which a node simulates after its own pending block, where that is itself the next, and the pace is not known (geth). */
const afterPending = 12n;

const seconds = (ms: number): bigint => BigInt(Math.max(1, Math.ceil(ms / 1000)));

/** Whether a fork parts the blocks of `count` transactions, the first of which is at `from`. */
export const isParted = (count: number, from: bigint, nextFork: bigint | null): boolean =>
  nextFork !== null && nextFork > from && nextFork <= from + blockGap * BigInt(count - 1);

/** When the block of `exact` is: an odd number of seconds after the next, and behind a fork that would part a bundle. */
export const contraryTime = (time: bigint, count: number, nextFork: bigint | null): bigint => {
  const from = time + apart;
  if (nextFork === null || !isParted(count, from, nextFork)) return from;
  return (nextFork - time) % 2n === 0n ? nextFork + 1n : nextFork;
};

/** The tag that was asked for. */
export const tagOf = ({ options, observed }: Report): Observed["blockTag"] => options.block ?? observed.blockTag;

/** What `pending` is taken for. */
export const pendingOf = ({ options }: Report, chain: Chain): Chain["pending"] => options.pending ?? chain.pending;

/** Whether blocks come at a pace that is known. */
const isPaced = ({ report: { chainId }, chain }: WorldInput): boolean => chain.known && !minesOnDemand(chainId);

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
  const isClock = isOnNext(ground) || !isPaced(ground) || slot >= afterPending;
  if (observed.timestamp === null || !isClock) return earliest;
  const elapsed = isOwn ? 0n : BigInt(Math.max(0, Math.ceil((now - observed.at) / 1000)));
  // why: what a proof ran in is a time of ours
  const proven = observed.worlds.find(({ run }) => run === "next")?.timestamp ?? null;
  const said = (proven ?? observed.timestamp - (isOnNext(ground) ? afterPending : 0n)) + elapsed;
  // why: no block comes from the future, whatever a posted report says of its clock
  const most = BigInt(Math.ceil(now / 1000)) + slot;
  const told = isOwn || said < most ? said : most;
  if (told <= earliest) return earliest;
  return chain.known ? head.timestamp + ((told - head.timestamp + slot - 1n) / slot) * slot : told;
};

/** Fresh worlds. */
export const worldsOf = Effect.fnUntraced(function* (ground: WorldInput): Effect.fn.Return<Worlds> {
  const { report, signed, chain, head, takesHashes, takesEntries } = ground;
  const { observed, options } = report;
  const now = yield* Clock.currentTimeMillis;
  const prevRandao = yield* roll(32);
  const chance = yield* roll(40);
  const usual = head?.miner ?? observed.feeRecipient;
  const builder = otherProducer(usual, chance);
  const [dice, wealth] = [BigInt(`0x${chance.slice(42, 62)}`), BigInt(`0x${chance.slice(62)}`)];
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
  const slot = isPaced(ground) ? seconds(chain.blockTimeMs) : afterPending;
  const time = comes === null || !isShifted || head === null ? comes : comes + slot;
  const known = base === null || !isShifted ? base : base + 1n;
  const number = known ?? (observed.simulatedNumber === null ? null : observed.simulatedNumber - 1n);
  const coming = number === null || isPlaced ? null : number + 1n;
  const computed = head === null || !isNewest ? null : nextBaseFee(head, parametersOf(chain, head));
  const real = computed ?? observed.baseFeePerGas;
  // why: where the chain itself fixes them, another value would be a block that cannot be
  const isFixed = chain.feeModel === "opstack";
  const taken = signed.reduce((sum, { request }) => sum + request.gas, 0n);
  const gasLimit = head?.gasLimit ?? observed.gasLimit;
  const faithful = {
    // why: the node's own base fee, where the empty block in front does not tell it
    ...without({ number: coming, time: isPlaced ? null : time, baseFeePerGas: isBeyond ? null : real }),
    ...(isFixed ? {} : without({ feeRecipient: usual })),
    prevRandao,
  };
  // why: a node of one block at a time, and whose own next one it is, can be asked for no later one
  const isCramped = !takesEntries && !isPastNext;
  const contrary = {
    ...without({
      number: coming === null || isCramped ? null : coming + 1n,
      time: isPlaced || time === null ? null : contraryTime(time, signed.length, ground.nextFork),
      gasLimit: isFixed ? null : otherGasLimit(gasLimit, taken, dice),
    }),
    ...(isFixed ? {} : { feeRecipient: builder }),
    prevRandao: complement(prevRandao),
  };
  // why: an account with nothing, or that never sent, is known for nobody who produces blocks; code that takes
  // payments is what some producers have, and most have not
  const producer: Eth.StateOverrides =
    isFixed || place?.feeRecipient !== undefined
      ? {}
      : {
          [builder]: {
            ...{ balance: 10n ** 17n + (wealth % 10n ** 19n), nonce: 1n + (dice % 1_000n) },
            code: `0x00${chance.slice(2)}`,
          },
        };
  // why: no node is relied on to fill the gap; where its own pending block is the next one, there is none
  const ahead = coming === null || time === null ? null : without({ number: coming, time });
  const dear = without({ baseFeePerGas: real === null ? null : otherBaseFee(real, signed) });
  const state = isPinned ? pinned : block;
  const sealed = isPinned && head !== null ? head.number : block;
  const exact: World = {
    name: "exact",
    producer,
    // why: where a pending state is a guess, it is looked at beside the sealed one; where there is none, nothing else is
    ...(block === "pending" ? { block, state: block } : { block: state, state: sealed }),
    ahead: isPastNext || isCramped ? null : ahead,
    // why: what is ordered before us may be laid over every block anew, and without a base fee each works out its own
    isApart:
      // guard: a bundle in several blocks
      signed.length > 1 &&
      takesEntries &&
      (isSealed || block !== "pending") &&
      coming !== null &&
      time !== null &&
      dear["baseFeePerGas"] !== undefined,
    context: { ...contrary, ...dear, ...place },
  };
  const { number: _, ...contextOfApart } = exact.context;
  const onHead = pinned === null || head === null ? null : head.number + 1n;
  return {
    exact,
    next: {
      name: "next",
      block: state,
      state: sealed,
      ahead: null,
      isApart: false,
      context: { ...faithful, ...place },
      producer: {},
    },
    swap: { ...exact, name: "swap", block: state, state: sealed, ahead: isCramped ? null : ahead },
    priced: { ...exact, name: "priced", context: { ...exact.context, ...without({ baseFeePerGas: real }), ...place } },
    apart: {
      ...{ ...exact, name: "apart", ahead: null },
      ...(block === "pending" ? { block: pinned ?? "latest", state: head?.number ?? "latest" } : {}),
      // why: without a hash the number may be taken by then
      context: place?.number !== undefined ? exact.context : { ...contextOfApart, ...without({ number: onHead }) },
    },
  };
});
