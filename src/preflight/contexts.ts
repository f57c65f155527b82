/** The two block contexts in which a proof runs the same requests. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { Address, Hash } from "../primitives/hex.js";
import type * as Eth from "../Eth.js";
import type { Report } from "../report/schema.js";
import type { Request } from "../transaction/request.js";

const randomHash: Effect.Effect<Hash> = Effect.sync(() => {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}` as Hash;
});

/** The fields that are known. */
export const without = <A>(pairs: Readonly<Record<string, A | null>>): Record<string, A> =>
  Object.fromEntries(Object.entries(pairs).filter((pair): pair is [string, A] => pair[1] !== null));

/** Seconds by which the second context is later, at least. */
const laterBy = 12n;

/** Every bit another: no test of any single one can tell both runs the same. */
const complement = (hash: Hash): Hash =>
  `0x${BigInt.asUintN(256, ~BigInt(hash)).toString(16).padStart(64, "0")}` as Hash;

const secondBaseFee = (report: Report, requests: ReadonlyArray<Request>): bigint | null => {
  const base = report.observed.baseFeePerGas;
  if (base === null) return null;
  const caps = requests.map(({ gasPrice, maxFeePerGas }) => gasPrice ?? maxFeePerGas ?? 0n);
  const least = caps.reduce((a, b) => (a < b ? a : b));
  const raised = base + base / 16n + 1n;
  if (raised <= least) return raised;
  // why: no room above for a fee cap this tight; the base fee may as well fall
  return base > 16n ? base - base / 16n - 1n : base <= least ? base : null;
};

/**
 * The block fields of both runs. The first looks like the next block: the latest fee recipient, the node's
 * own time and base fee. The second differs in everything a contract could know its watchers by; with
 * `steady`, in everything but the base fee.
 */
export const contexts = Effect.fnUntraced(function* (
  report: Report,
  requests: ReadonlyArray<Request>,
  steady: boolean,
) {
  const now = yield* Clock.currentTimeMillis;
  const elapsed = BigInt(Math.max(0, Math.ceil((now - report.observed.at) / 1000)));
  const pretended = report.options.blockOverrides;
  const prevRandao = yield* randomHash;
  const first: Eth.BlockOverrides = {
    ...without({ feeRecipient: report.observed.feeRecipient }),
    prevRandao,
    ...pretended,
  };
  // why: an odd distance, or a look at whether the time is even would find both runs alike
  const later = laterBy + elapsed + ((laterBy + elapsed) % 2n === 0n ? 1n : 0n);
  const time = report.observed.timestamp === null ? null : report.observed.timestamp + later;
  const second: Eth.BlockOverrides = {
    feeRecipient: `0x${(yield* randomHash).slice(2, 42)}` as Address,
    prevRandao: complement(prevRandao),
    ...without({ time, baseFeePerGas: steady ? null : secondBaseFee(report, requests) }),
    ...pretended,
  };
  return { first, second };
});
