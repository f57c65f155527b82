/**
 * The caller's own sources of names and descriptors, as options: read and copied. Whatever they do, nothing of it reaches a
 * finding but what descriptors say of amounts and payees.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Abi } from "abitype";
import type { DecodedCall } from "../abi/calls.js";
import type { Address, Hex } from "../primitives/hex.js";
import { each, no, onlyHas, type Checked } from "../primitives/problem.js";
import { isPlain, isRecord, safely } from "../primitives/record.js";
import type { DescribedParts } from "../report/descriptors.js";
import type { Finding } from "../report/finding.js";
import type { Report } from "../report/schema.js";
import type { Transaction } from "../transaction/fields.js";

/** An answer, or a promise of it. */
export type SourceAnswer<A> = A | null | undefined | PromiseLike<A | null | undefined>;

/** The run that a source is asked in. */
export interface NameContext {
  /** The chain; null where it is not known yet. */
  readonly chainId: number | null;
  /** Aborts when the run is over, from when on no answer counts. */
  readonly signal: AbortSignal;
}

/**
 * Your own sources of names, each asked once for an address or a selector in a run, for at most 64 of them. null or undefined
 * = it does not know; what throws, rejects, comes late or is something else is left out. Addresses are in lower case.
 */
export interface NameSources {
  /** The ABI of a contract whose function nothing else names, as Sourcify has it: JSON, or human-readable signatures. */
  readonly abi?: ((address: Address, context: NameContext) => SourceAnswer<Abi | readonly unknown[]>) | undefined;
  /** Signatures of a selector, such as `transfer(address,uint256)`. Those are shown that the calldata fits to its last byte. */
  readonly function?: ((selector: Hex, context: NameContext) => SourceAnswer<string | readonly string[]>) | undefined;
  /** Symbol and decimals of a token that does not tell them itself. */
  readonly token?:
    | ((
        address: Address,
        context: NameContext,
      ) => SourceAnswer<{ readonly symbol?: string | null; readonly decimals?: number | null }>)
    | undefined;
  /** The label of an account, such as its ENS name. */
  readonly label?: ((address: Address, context: NameContext) => SourceAnswer<string>) | undefined;
}

/** A call whose descriptor (ERC-7730) is wanted. */
export interface DescribedCall extends Pick<NameContext, "chainId"> {
  /** The sender. */
  readonly from: Address;
  /** The called contract. */
  readonly to: Address;
  /** The calldata. */
  readonly data: Hex;
  /** In wei. */
  readonly value: bigint;
}

/**
 * Puts a call into the words of its ERC-7730 descriptor; null or undefined = there is none. What micro-eth-signer's
 * `decodeData(to, data, value)` has as `clearSig` is such an answer.
 */
export type DescriptorRenderer = (call: DescribedCall) => SourceAnswer<{
  readonly intent: string;
  /** The intent with the values in it, where the descriptor has one. */
  readonly interpolatedIntent?: string | undefined;
  /** By label: the value for people, the ERC-7730 format that made it, and the decoded value. */
  readonly fields: Readonly<
    Record<string, { readonly value: string; readonly format: string; readonly rawValue: unknown }>
  >;
}>;

/** Options that are functions, of which a report keeps answers alone. */
export interface SourceOptions {
  /**
   * Your own sources of names, for what neither `labels` nor the chain names: an object of functions, each of which may be
   * left out. Their answers stand in renderings, marked as yours, and in `report.names`; verdict, findings and digest are
   * the same without them. They are asked beside the requests to the node, and never waited for.
   */
  readonly names?: NameSources | undefined;
  /**
   * Your renderer of ERC-7730 descriptors. Its words stand in renderings; where it names an amount or a receiver that is not
   * as it was measured, that is the warning `DescriptorDisagrees`.
   */
  readonly descriptors?: DescriptorRenderer | undefined;
}

/** The kinds of sources of names. */
export const sourceKinds = ["abi", "function", "token", "label"] as const;
/** One of them. */
export type SourceKind = (typeof sourceKinds)[number];

/** The names of these options, which no report keeps. */
export const sourceNames = ["names", "descriptors"] as const;

/** Reads the options that are functions, as they are now. */
export const sourcesIn = ({ names, descriptors }: SourceOptions): Checked<SourceOptions> => {
  if (descriptors != null && typeof descriptors !== "function") return no("options.descriptors", "must be a function");
  if (names == null) return Result.succeed({ descriptors });
  if (!isRecord(names)) return no("options.names", "must be an object");
  // why: an instance of a class has fields of its own
  const known = isPlain(names) ? onlyHas(names, sourceKinds, "a source of names", "options.names.") : Result.void;
  const sources = each(sourceKinds, (kind): Checked<readonly [SourceKind, unknown]> => {
    const source: unknown = names[kind];
    if (source == null) return Result.succeed([kind, undefined]);
    if (typeof source !== "function") return no(`options.names.${kind}`, "must be a function");
    return Result.succeed([kind, (...about: ReadonlyArray<unknown>): unknown => Reflect.apply(source, names, about)]);
  });
  return Result.andThen(known, () =>
    Result.map(sources, (all) => ({ names: Object.fromEntries(all) as NameSources, descriptors })),
  );
};

/** The same of options that were judged before; none of those that cannot be read. */
export const sourcesOf = (options: SourceOptions): SourceOptions =>
  options.names == null && options.descriptors == null
    ? {}
    : safely(() => Result.getOrElse(sourcesIn(options), () => ({})), {});

/** The parts of a report, or of what is to become one, in which there is something to name. */
export type NamedParts = Pick<Report, "transfers" | "approvals" | "tokens" | "exposure" | "balanceChanges"> & {
  readonly transactions: ReadonlyArray<{ readonly input: Transaction; readonly call: DecodedCall | null }>;
};

/** The sources of the run that is under way. */
export interface Sources {
  /** Begins to ask what is new here. */
  readonly ask: (seen: NamedParts) => void;
  /** The check of what was measured by the words of descriptors so far. */
  readonly intents: () => (measured: DescribedParts) => ReadonlyArray<Finding>;
  /** A turn of the event loop, in which answers that are here are read; others are not waited for. */
  readonly heard: Effect.Effect<void>;
}

/** Those of the run; null where the caller gave none. */
export const CurrentSources: Context.Reference<Sources | null> = Context.Reference("evm-preflight/CurrentSources", {
  defaultValue: (): Sources | null => null,
});
