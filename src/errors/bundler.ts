/** Refusals by bundlers (ERC-4337), by the codes of ERC-7769. Pure, and the only reader of a bundler's words. */
import * as Schema from "effect/Schema";
import { nullable } from "../primitives/hex.js";
import { safely } from "../primitives/record.js";
import { flatten } from "./flatten.js";

/** Each code with what refuses, and whether the same operation may be taken later. */
const kinds = {
  [-32500]: ["account", false],
  [-32501]: ["paymaster", false],
  [-32502]: ["opcode", false],
  [-32503]: ["outOfTimeRange", false],
  [-32504]: ["throttled", true],
  [-32505]: ["stakeTooLow", false],
  [-32506]: ["aggregator", false],
  [-32507]: ["signature", false],
  [-32508]: ["paymasterBalance", true],
  [-32521]: ["reverted", false],
} as const;

/** A refusal of `eth_sendUserOperation` or `eth_estimateUserOperationGas` by a bundler. */
export class BundlerError extends Schema.Class<BundlerError>("BundlerError")({
  /**
   * - `account`, `paymaster`: the EntryPoint refuses it for that part (AA1x and AA2x, AA3x).
   * - `opcode`: its validation uses an opcode or a slot that bundlers forbid (ERC-7562).
   * - `outOfTimeRange`: it is expired, or not due yet.
   * - `throttled`: the bundler takes less or nothing of an account, factory or paymaster for now.
   * - `stakeTooLow`: the factory or paymaster has too little stake, or may withdraw it too soon.
   * - `aggregator`: the account names an aggregator that the bundler does not have.
   * - `signature`: the account or the paymaster does not take its signature.
   * - `paymasterBalance`: the paymaster's deposit does not pay for all that waits.
   * - `reverted`: its calls revert.
   */
  kind: Schema.Literals(Object.values(kinds).map(([kind]) => kind)),
  /** The code of ERC-7769. */
  code: Schema.Int,
  /** The EntryPoint's own code, e.g. `AA21`; null where the bundler names none. */
  entryPointCode: nullable(Schema.String),
  /** The bundler's words, at most 4,096 characters. Escape before showing. */
  detail: Schema.String,
  /** True if the same operation may be taken later. */
  isRetryable: Schema.Boolean,
}) {}

const isKnown = (code: number): code is keyof typeof kinds => Object.hasOwn(kinds, code);

/** The EntryPoint's code in a text. */
const entryPointCodeIn = (text: string): string | null => {
  const at = text.search(/\bAA\d\d\b/);
  return at < 0 ? null : text.slice(at, at + 4);
};

/**
 * A bundler's refusal in what it answered or a library threw, viem's errors among them; null where it is none. For any input
 * it answers in bounded time and never throws.
 */
export const bundlerErrorOf = (error: unknown): BundlerError | null =>
  safely(() => {
    const { codes, texts } = flatten(error);
    const code = codes.find(isKnown);
    if (code === undefined) return null;
    const [kind, isRetryable] = kinds[code];
    const detail = texts[0] ?? "";
    const entryPointCode = texts.map(entryPointCodeIn).find((found) => found !== null) ?? null;
    return new BundlerError({ kind, code, entryPointCode, detail, isRetryable });
  }, null);
