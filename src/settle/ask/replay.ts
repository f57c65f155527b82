/** A mined transaction once more: on the parent of its block and on the block that its report stood on. */
import * as BigInts from "effect/BigInt";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import type { FullBlock, FullTransaction, Receipt } from "../../eth/index.js";
import type { BlockOverrides, BlockParameter, Simulation, StateOverrides } from "../../eth/index.js";
import * as Eth from "../../eth/index.js";
import type { Hex } from "../../primitives/index.js";
import { inRound } from "../../pipeline/index.js";
import type { Report } from "../../report/index.js";
import type { Rpc } from "../../rpc/index.js";
import { exactCall } from "../../transaction/index.js";
import { callOf } from "../mined.js";
import { happenedOf } from "../compare.js";
import { isSameRun } from "../settle.js";
import type { MinedOutcome } from "../settlement.js";

/** The transaction that is run again, and its surroundings. */
interface ReplayInput {
  readonly report: Report;
  /** Its place in the report. */
  readonly transaction: number;
  readonly mined: FullTransaction;
  readonly receipt: Receipt;
  readonly block: FullBlock;
  /** Hashes of the report's own transactions, in lower case. */
  readonly own: ReadonlySet<string>;
}

/** More blocks between a report and its transaction than are put in front one by one. */
const mostBetween = 64n;
/** Transactions before it in its block that are run with it. */
const mostBefore = 2_048;

const complement = (hex: Hex): Hex =>
  `0x${BigInt.asUintN(4 * (hex.length - 2), ~BigInt(hex))
    .toString(16)
    .padStart(hex.length - 2, "0")}`;

/** The values that the block had. */
const contextOf = ({ number, timestamp, baseFeePerGas, miner, mixHash, gasLimit }: FullBlock): BlockOverrides => ({
  ...{ number, time: timestamp, baseFeePerGas, feeRecipient: miner, prevRandao: mixHash, gasLimit },
});

/** The calls of the last block, as what happened. */
const askAll = (blocks: Simulation["blocks"], block: BlockParameter) =>
  Effect.match(Eth.simulateV1({ blocks, block }), {
    onFailure: () => [],
    onSuccess: (simulated) => simulated.at(-1)?.calls ?? [],
  });

/** The last of them. */
const ask = (...question: Parameters<typeof askAll>): Effect.Effect<MinedOutcome | null, never, Rpc> =>
  Effect.map(askAll(...question), (calls) => calls.at(-1) ?? null);

/**
 * The last call of a block that was simulated again. Null where it differs from its receipt and the calls before it used
 * another amount of gas than on the chain: then the node did not run the same block, because of its gas cap, or because
 * it does not know deposits.
 */
export const ranBehind = (calls: ReadonlyArray<MinedOutcome>, receipt: Receipt): MinedOutcome | null => {
  const last = calls.at(-1) ?? null;
  const happened = happenedOf(receipt);
  const { cumulativeGasUsed, gasUsed } = receipt;
  if (last === null || happened === null || isSameRun(last, happened) || cumulativeGasUsed === null) return last;
  const before = calls.slice(0, -1).reduce((sum, call) => sum + call.gasUsed, 0n);
  return before + gasUsed === cumulativeGasUsed ? last : null;
};

/** Empty blocks up to the one before `context`'s, each with its own number and time: no node is relied on to fill a gap. */
const fillers = (
  base: bigint,
  baseTime: bigint,
  { number, time, baseFeePerGas }: BlockOverrides,
  own: BlockOverrides,
): Simulation["blocks"] | null => {
  const [last, end] = [BigInt(number ?? 0), BigInt(time ?? 0)];
  const gap = last - base - 1n;
  if (gap < 0n || gap > mostBetween || end < baseTime) return null;
  // why: some chains have several blocks in a second
  const timeOf = (passed: bigint) => BigInts.min(baseTime + passed, end);
  return Array.from({ length: Number(gap) }, (_, index) => ({
    calls: [],
    blockOverrides: { number: base + BigInt(index + 1), time: timeOf(BigInt(index + 1)), baseFeePerGas, ...own },
  }));
};

/** Another block's values: those that the report's own world had, where its block could still be one; no bit of its randomness, or of who made it. */
const otherContext = ({ report, block }: ReplayInput, base: bigint, baseTime: bigint): BlockOverrides => {
  const { timestamp, mixHash, gasLimit, baseFeePerGas, miner } = block;
  const world = report.observed.worlds.find(({ run }) => run === "next");
  const named = world?.number ?? block.number;
  // why: another number, so that it and the hash of the block before are others too
  const number = named > base && named !== block.number ? named : block.number + 1n;
  const first = baseTime + number - base;
  const later = world?.timestamp ?? report.observed.timestamp ?? timestamp + 13n;
  const isTaken = later < first || later === timestamp;
  return {
    number,
    time: isTaken ? BigInts.max(timestamp, first) + 13n : later,
    // why: a lower one is within every price that was within the block's own
    baseFeePerGas: baseFeePerGas === null ? null : (baseFeePerGas * 15n) / 16n,
    prevRandao: mixHash === null ? null : complement(mixHash),
    feeRecipient: miner === null ? null : complement(miner),
    gasLimit: gasLimit + 2n * (gasLimit / 2_048n) + 1n,
  };
};

/** The sender's nonce before the first of the report's own transactions, for those that a created address hangs on. */
const nonceOf = ({ report, mined, transaction }: ReplayInput): StateOverrides => {
  const first = report.transactions
    .slice(0, transaction + 1)
    .find(({ input }) => input.from === mined.from.toLowerCase());
  const nonce = first?.request?.nonce ?? Number(mined.nonce);
  return { [mined.from]: { nonce } };
};

/** The same before the first that is in its block: the others have used theirs. */
const nonceIn = (ours: ReadonlyArray<FullTransaction>, mined: FullTransaction): StateOverrides => {
  const first = ours.find(({ from }) => from.toLowerCase() === mined.from.toLowerCase()) ?? mined;
  return { [mined.from]: { nonce: Number(first.nonce) } };
};

/** The sealed block that the report stood on; null = not known. */
const stoodOn = ({ observed: { worlds, latestNumber } }: Report): bigint | null => {
  const state = worlds.find(({ run }) => run === "next")?.state;
  return typeof state === "bigint" ? state : latestNumber;
};

/** Those of the report before it, as they were proven. */
const ownBefore = ({ report, transaction }: ReplayInput) =>
  report.transactions
    .slice(0, transaction)
    .flatMap(({ request, input }) => (request === null ? [] : [exactCall(request, input.from)]));

/**
 * The transaction replayed four or five times, each as its own `eth_simulateV1`, all at once; what the node refuses is null.
 * JSON-RPC: `eth_simulateV1`, `eth_getBlockByNumber`.
 */
export const askReplay = Effect.fnUntraced(function* (again: ReplayInput) {
  const { report, mined, block, own } = again;
  const place = block.transactions.findIndex(({ hash }) => hash === mined.hash);
  const before = block.transactions.slice(0, Math.max(0, place));
  const ours = before.filter(({ hash }) => own.has(hash.toLowerCase()));
  const call = callOf(mined);
  const context = contextOf(block);
  const parent = block.number - 1n;
  const origin = stoodOn(report);
  const base = origin === null || origin > parent ? parent : origin;
  const header = yield* Effect.option(Eth.getBlock({ block: base }));
  const baseTime = Option.isSome(header) ? header.value.timestamp : null;
  const on = (calls: Simulation["blocks"][number]["calls"], at: BlockOverrides, state: StateOverrides | null) => ({
    calls,
    blockOverrides: at,
    ...(state === null ? {} : { stateOverrides: state }),
  });
  const pretended = nonceOf(again);
  const asEarlier = (at: BlockOverrides, between: BlockOverrides = {}) => {
    const gap = baseTime === null ? null : fillers(base, baseTime, at, between);
    return gap === null ? Effect.succeed(null) : ask([...gap, on([...ownBefore(again), call], at, pretended)], base);
  };
  const replays = Effect.all(
    {
      behind:
        place > mostBefore
          ? Effect.succeed(null)
          : Effect.map(askAll([on([...before.map(callOf), call], context, null)], block.parentHash), (calls) =>
              ranBehind(calls, again.receipt),
            ),
      alone: ask([on([...ours.map(callOf), call], context, nonceIn(ours, mined))], block.parentHash),
      earlier: asEarlier(context),
      rehashed: base === parent ? Effect.succeed(null) : asEarlier(context, { prevRandao: block.hash }),
      elsewhere: baseTime === null ? Effect.succeed(null) : asEarlier(otherContext(again, base, baseTime)),
    },
    { concurrency: "unbounded" },
  );
  return yield* inRound("settlement", replays);
});
