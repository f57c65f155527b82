/** The options of a run: what callers write, checked, and the form that the report keeps. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { Abi } from "abitype";
import type { accountRows, blockRows, GivenRows } from "../eth/overrides.js";
import { Address } from "../primitives/hex.js";
import { InvalidTransaction } from "../errors/input.js";
import type * as Decode from "../abi/decodeRevert.js";
import { asAbi } from "../abi/given.js";
import { note } from "../report/finding.js";
import { BlockName, Report, ReportOptions } from "../report/schema.js";
import type { CheckedInput } from "../Transaction.js";
import type { Policy } from "../report/policy.js";

/** ABIs for decoding: any contract's, or one address's, which is tried first. */
export type AbiSource =
  | Abi
  | readonly unknown[]
  | { readonly address: `0x${string}`; readonly abi: Abi | readonly unknown[] };

/** State of one account to pretend. */
export interface AccountOverride extends GivenRows<typeof accountRows> {}

/** Block fields to pretend. */
export interface BlockOverrides extends GivenRows<typeof blockRows> {}

/** What every run takes. All optional. */
export interface Options {
  /** ABIs to decode errors, events and results with. */
  readonly abis?: ReadonlyArray<AbiSource>;
  /** Block to ask about; default: the chain's policy, else `pending`. */
  readonly block?: "latest" | "pending" | "safe" | "finalized" | "earliest" | bigint | `0x${string}`;
  /** Pretended state: the report then describes an imaginary world, is at most `caution` and gives no clearance. */
  readonly stateOverrides?: Readonly<Record<`0x${string}`, AccountOverride>>;
  /** Pretended block fields, with the same consequence. */
  readonly blockOverrides?: BlockOverrides;
  /** Policies that the outcome must satisfy. */
  readonly policies?: ReadonlyArray<Policy>;
  /** Share by which amounts may differ between runs before it is called a change; default 0.005. */
  readonly tolerance?: number;
  /** Time for the whole run: ms, or an Effect Duration; default 10 s. */
  readonly deadline?: Duration.Input;
  /** How long a clearance holds: ms, or an Effect Duration; default 30 s. */
  readonly maxAge?: Duration.Input;
  /** How long the fee cap must outlive full blocks: ms, or an Effect Duration; default 60 s. */
  readonly feeHorizon?: Duration.Input;
  /** Which percentile of recent tips to propose (20, 50, 80); default `normal`. */
  readonly feeLevel?: "slow" | "normal" | "fast";
}

type Checked<A> = Result.Result<A, InvalidTransaction>;

const no = (field: string, problem: string) =>
  Result.fail(new InvalidTransaction({ field: `options.${field}`, problem }));

/** What is taken where the caller says nothing. */
export const defaults: ReportOptions = {
  abis: [],
  block: null,
  stateOverrides: null,
  blockOverrides: null,
  policies: [],
  tolerance: 0.005,
  deadlineMs: 10_000,
  maxAgeMs: 30_000,
  feeHorizonSeconds: 60,
  feeLevel: "normal",
};

const milliseconds = (value: Duration.Input | undefined, field: string, fallback: number): Checked<number> => {
  if (value === undefined) return Result.succeed(fallback);
  return Option.match(Duration.fromInput(value), {
    onNone: () => no(field, "must be milliseconds or an Effect Duration"),
    onSome: (duration) => {
      const ms = Duration.toMillis(duration);
      return Number.isFinite(ms) && ms > 0 ? Result.succeed(ms) : no(field, "must be above 0 and finite");
    },
  });
};

const isAddress = Schema.is(Address);

const abiSource = (source: unknown, index: number): Checked<ReportOptions["abis"][number]> => {
  const field = `abis[${index}]`;
  const items = (abi: unknown) =>
    Result.mapError(asAbi(abi, `options.${field}`), (problem) => new InvalidTransaction(problem));
  if (Array.isArray(source)) return Result.map(items(source), (abi) => ({ address: null, abi }));
  if (typeof source !== "object" || source === null || !("abi" in source) || !("address" in source))
    return no(field, "must be an ABI or { address, abi }");
  const { address, abi } = source;
  if (!isAddress(address)) return no(`${field}.address`, "must be 20 bytes of hex with 0x");
  return Result.map(items(abi), (checked) => ({
    address: address.toLowerCase() as Address,
    abi: checked,
  }));
};

const decodeOverrides = Schema.decodeUnknownResult(
  Schema.Struct({
    stateOverrides: ReportOptions.fields.stateOverrides,
    blockOverrides: ReportOptions.fields.blockOverrides,
  }),
);
const decodeBlock = Schema.decodeUnknownResult(Schema.NullOr(BlockName));

/** A policy as callers may hand it in: with a name, a function, and data that JSON can hold. */
const isPolicy = (policy: unknown): policy is Policy =>
  typeof policy === "object" &&
  policy !== null &&
  "name" in policy &&
  typeof policy.name === "string" &&
  "evaluate" in policy &&
  typeof policy.evaluate === "function" &&
  "data" in policy &&
  isJson(policy.data);
const isJson = Schema.is(Schema.Json);

const lowered = (overrides: Options["stateOverrides"] | null) =>
  overrides === undefined || overrides === null
    ? null
    : Object.fromEntries(
        Object.entries(overrides).map(([address, account]) => [
          address.toLowerCase(),
          account?.nonce === undefined
            ? account
            : {
                ...account,
                nonce:
                  typeof account.nonce === "number" && Number.isSafeInteger(account.nonce)
                    ? BigInt(account.nonce)
                    : account.nonce,
              },
        ]),
      );

const known = [
  "abis",
  "block",
  "stateOverrides",
  "blockOverrides",
  "policies",
  "tolerance",
  "deadline",
  "maxAge",
  "feeHorizon",
  "feeLevel",
  "signal",
];

/** Options checked and completed; `base` fills what is missing (an earlier report's, or the defaults). */
export const complete = (options: Options, base: ReportOptions = defaults): Checked<ReportOptions> =>
  Result.gen(function* () {
    if (typeof options !== "object" || options === null || Array.isArray(options))
      return yield* Result.fail(new InvalidTransaction({ field: "options", problem: "must be an object" }));
    const stray = Object.keys(options).find((key) => !known.includes(key));
    if (stray !== undefined) return yield* no(stray, "is not an option");
    const abis: Array<ReportOptions["abis"][number]> = [];
    if (options.abis !== undefined && !Array.isArray(options.abis)) return yield* no("abis", "must be an array");
    for (const [index, source] of (options.abis ?? []).entries()) abis.push(yield* abiSource(source, index));
    const block = yield* Result.mapError(
      decodeBlock(options.block ?? base.block),
      () =>
        new InvalidTransaction({
          field: "options.block",
          problem: "must be a tag, a block number (bigint) or a 32-byte hash",
        }),
    );
    const stateOverrides = options.stateOverrides === undefined ? base.stateOverrides : lowered(options.stateOverrides);
    const stranger = Object.keys(stateOverrides ?? {}).find((address) => !isAddress(address));
    if (stranger !== undefined) return yield* no("stateOverrides", `${stranger.slice(0, 80)} is not an address`);
    const overrides = yield* Result.mapError(
      decodeOverrides({ stateOverrides, blockOverrides: options.blockOverrides ?? base.blockOverrides }),
      (error) => new InvalidTransaction({ field: "options.stateOverrides", problem: error.message }),
    );
    const tolerance = options.tolerance ?? base.tolerance;
    if (!(typeof tolerance === "number" && tolerance >= 0 && tolerance < 1))
      return yield* no("tolerance", "must be a share from 0 to below 1");
    const feeLevel = options.feeLevel ?? base.feeLevel;
    if (!["slow", "normal", "fast"].includes(feeLevel)) return yield* no("feeLevel", "must be slow, normal or fast");
    if (options.policies !== undefined && !Array.isArray(options.policies))
      return yield* no("policies", "must be an array");
    const odd = (options.policies ?? []).findIndex((policy) => !isPolicy(policy));
    if (odd !== -1) return yield* no(`policies[${odd}]`, "must be a policy, as Policy's constructors make them");
    return {
      abis: options.abis === undefined ? base.abis : abis,
      block,
      ...overrides,
      policies: options.policies === undefined ? base.policies : options.policies.map((policy) => policy.data),
      tolerance,
      deadlineMs: yield* milliseconds(options.deadline, "deadline", base.deadlineMs),
      maxAgeMs: yield* milliseconds(options.maxAge, "maxAge", base.maxAgeMs),
      feeHorizonSeconds: (yield* milliseconds(options.feeHorizon, "feeHorizon", base.feeHorizonSeconds * 1000)) / 1000,
      feeLevel,
    };
  });

/** The options with the ABIs that came with the input in front: they are the nearest. */
export const withInputAbis = (options: ReportOptions, input: CheckedInput): ReportOptions => ({
  ...options,
  abis: [...input.abis, ...options.abis],
});

/** {@link complete} as an Effect. */
export const check = (options: Options, base?: ReportOptions): Effect.Effect<ReportOptions, InvalidTransaction> =>
  Effect.suspend(() => Effect.fromResult(complete(options, base)));

/** The ABIs of a report's options, as the decoders take them. */
export const sourcesOf = (abis: ReportOptions["abis"]): ReadonlyArray<Decode.AbiSource> =>
  // why: kept as JSON in the report; the decoders leave out items that are not well-formed
  abis.map(({ address, abi }) => (address === null ? (abi as Abi) : { address, abi: abi as Abi }));

/**
 * A report under other options. Options that are wrong are not taken: the report's own stay, and a
 * finding says so (`prove` never fails).
 */
export const revise = (report: Report, options: Options): Report =>
  Result.match(complete(options, report.options), {
    onSuccess: (revised) =>
      new Report({
        ...report,
        options: revised,
        findings: report.findings.filter(({ code }) => code !== "OptionsRefused"),
      }),
    onFailure: (error) =>
      new Report({
        ...report,
        findings: [
          ...report.findings,
          note(
            "OptionsRefused",
            "unavailable",
            { verdict: "the options of the proof are wrong and were not used", evidence: error.message },
            { step: "proof" },
          ),
        ],
      }),
  });
