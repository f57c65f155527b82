/** The block contexts of a proof: one that looks like the next block, and one that differs in all a contract could know its watchers by. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { bytesToHex } from "viem";
import type { Chain } from "../Chains.js";
import type * as Eth from "../Eth.js";
import type { Hash } from "../primitives/hex.js";
import type { Report } from "../report/schema.js";
import type { Request } from "../transaction/request.js";

const randomHash: Effect.Effect<Hash> = Effect.sync(() =>
  bytesToHex(globalThis.crypto.getRandomValues(new Uint8Array(32))),
);

/** The fields that are known. */
const without = <A>(pairs: Readonly<Record<string, A | null>>): Record<string, A> =>
  Object.fromEntries(Object.entries(pairs).filter((pair): pair is [string, A] => pair[1] !== null));

/** Seconds by which the second context is later, at least. */
const laterBy = 12n;

/** Every bit another: no test of any single one can tell both runs the same. */
const complement = (hash: Hash): Hash => `0x${BigInt.asUintN(256, ~BigInt(hash)).toString(16).padStart(64, "0")}`;

const secondBaseFee = (report: Report, signed: ReadonlyArray<{ readonly request: Request }>): bigint | null => {
  const base = report.observed.baseFeePerGas;
  if (base === null) return null;
  const caps = signed.map(({ request: { gasPrice, maxFeePerGas } }) => gasPrice ?? maxFeePerGas ?? 0n);
  const least = caps.reduce((a, b) => (a < b ? a : b));
  const raised = base + base / 16n + 1n;
  if (raised <= least) return raised;
  // why: no room above for a fee cap this tight; the base fee may as well fall
  return base > 16n ? base - base / 16n - 1n : base <= least ? base : null;
};

/**
 * The gas limit of another builder's block: off by up to a 1,024th, as the protocol lets it move from one block to
 * the next. Null where it is not known, or would leave no room for the calls.
 */
const secondGasLimit = (limit: bigint | null, taken: bigint, random: bigint): bigint | null => {
  if (limit === null || limit < 2_048n) return null;
  const step = 1n + (random % (limit / 1_024n - 1n));
  return random % 2n === 0n && limit - step > 2n * taken ? limit - step : limit + step;
};

/** The block fields of the runs of a proof. */
export interface Contexts {
  /** Looks like the next block: the latest fee recipient, the node's own time and base fee. */
  readonly exact: Eth.BlockOverrides;
  /** Differs in everything that a contract could know its watchers by. */
  readonly next: Eth.BlockOverrides;
  /** As `next`, at the base fee of `exact`. */
  readonly swap: Eth.BlockOverrides;
}

/** Fresh contexts for the requests of a report. */
export const contextsOf = Effect.fnUntraced(function* (
  report: Report,
  signed: ReadonlyArray<{ readonly request: Request }>,
  chain: Chain,
) {
  const now = yield* Clock.currentTimeMillis;
  const { feeRecipient, timestamp, at } = report.observed;
  const elapsed = BigInt(Math.max(0, Math.ceil((now - at) / 1000)));
  const pretended = report.options.blockOverrides;
  const prevRandao = yield* randomHash;
  // why: an odd distance, or a look at whether the time is even would find both runs alike
  const later = laterBy + elapsed + ((laterBy + elapsed) % 2n === 0n ? 1n : 0n);
  const random = yield* randomHash;
  const builder = `0x${random.slice(2, 42)}` as const;
  const chance = BigInt(`0x${random.slice(42)}`);
  const taken = signed.reduce((sum, { request }) => sum + request.gas, 0n);
  // why: where the chain itself fixes them, another value would be a block that cannot be
  const isFixed = chain.feeModel === "opstack";
  const gasLimit = isFixed ? null : secondGasLimit(report.observed.gasLimit, taken, chance);
  const stranger = {
    ...(isFixed ? {} : { feeRecipient: builder }),
    ...without({ gasLimit }),
    prevRandao: complement(prevRandao),
    ...without({ time: timestamp === null ? null : timestamp + later }),
  };
  const contexts: Contexts = {
    exact: { ...without({ feeRecipient }), prevRandao, ...pretended },
    next: { ...stranger, ...without({ baseFeePerGas: secondBaseFee(report, signed) }), ...pretended },
    swap: { ...stranger, ...pretended },
  };
  return contexts;
});
