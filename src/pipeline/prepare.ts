/** The options of a run: what callers write, checked, and the form that the report keeps. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidTransaction } from "../errors/input.js";
import { copyOf } from "../primitives/copy.js";
import { optionNames } from "../primitives/names.js";
import { no, onlyHas, type Checked } from "../primitives/problem.js";
import { safely, type GivenRows } from "../primitives/record.js";
import { text } from "../primitives/statement.js";
import { abisOf, named, times } from "../report/options.js";
import { itemOfCall } from "../abi/decodeCall.js";
import { code } from "../report/finding.js";
import type { Policy } from "../report/policy.js";
import type { Report, ReportOptions } from "../report/schema.js";
import { bundleOf, type Bundle } from "../steps/reading/bundle.js";
import { hasUnsigned } from "../transaction/request.js";
import { recoverAuthorities } from "../transaction/authorities.js";
import * as Transaction from "../Transaction.js";
import { chainsInUse } from "../eth/chains.js";
import type { BlockParameter } from "../eth/parameters.js";
import type { Rpc } from "../rpc/index.js";
import { getterOf, pretendedIn } from "../steps/reading/pretended.js";
import type { Query } from "../witness/queries.js";
import { mixedIn } from "../signing/marks.js";
import { rare } from "./later.js";
import type { Assumable, Signed } from "./signings.js";
import { sourceNames, sourcesIn, sourcesOf, type SourceOptions } from "./sources.js";

/** Options of every run. All optional. */
export interface Options extends GivenRows<typeof named & typeof times>, SourceOptions {
  /** Policies that the outcome must satisfy. */
  readonly policies?: ReadonlyArray<Policy>;
}

const rows = Object.entries<{
  readonly absent: unknown;
  readonly kept?: string;
  readonly check: (typeof named)[keyof typeof named]["check"];
}>({ ...named, ...times });

/** Defaults of options that the caller leaves out. */
const defaults: Readonly<Record<string, unknown>> = Object.fromEntries(
  rows.map(([name, { kept = name, absent }]) => [kept, absent]),
);

/** Options checked and completed; `base` fills what is missing (an earlier report's, or the defaults). */
const complete = (options: Options, base?: Readonly<Record<string, unknown>>) =>
  Result.mapError(
    safely(() => read(options, base), no("options", "cannot be read")),
    (problem) => new InvalidTransaction(problem),
  );

const read = (options: Options, base = defaults): Checked<ReportOptions> =>
  Result.gen(function* () {
    if (typeof options !== "object" || options === null || Array.isArray(options))
      return yield* no("options", "must be an object");
    // why: the doors take the signal beside the options and read it themselves
    yield* onlyHas(options, [...optionNames, ...sourceNames, "signal"], "an option", "options.");
    if (options.names != null || options.descriptors != null) yield* sourcesIn(options);
    const completed: Record<string, unknown> = {};
    // why: all runs share the defaults, so each gets a copy; a report's values belong to its caller
    for (const [name, { kept = name, absent, check }] of rows) {
      const value: unknown = options[name as keyof Options];
      // null is a value only of options whose default is null
      const isGiven = value !== undefined && (value !== null || absent === null);
      completed[kept] = isGiven
        ? yield* check(value, `options.${name}`)
        : base === defaults
          ? copyOf(base[kept])
          : base[kept];
    }
    if (options.maxAge != null || base["isMaxAgeGiven"] === true) completed["isMaxAgeGiven"] = true;
    // each value was read by its own row, and the rows are those of ReportOptions
    return completed as ReportOptions;
  });

/** A transaction, with the function of its bare calldata where the caller's ABIs have exactly one. */
const explained = (transaction: Transaction.Transaction, abis: ReportOptions["abis"]): Transaction.Transaction => {
  const { item, to, data } = transaction;
  if (item !== null || to === null || abis.length === 0) return transaction;
  const found = itemOfCall(data, abisOf({ abis }), to);
  return found === null ? transaction : { ...transaction, item: found };
};

/** Input and options, checked. */
export const prepare = Effect.fnUntraced(function* (
  input: unknown,
  given: Options,
  defaults?: Transaction.InputDefaults,
): Effect.fn.Return<
  {
    readonly bundle: Bundle;
    readonly options: ReportOptions;
    readonly policies: ReadonlyArray<Policy>;
    readonly sources: SourceOptions;
    readonly signed: Signed | null;
  },
  InvalidTransaction
> {
  const mixed = mixedIn(input);
  const signed = mixed === null ? null : yield* (yield* rare).readMixed(mixed, defaults);
  const { transactions, abis } = signed ?? (yield* Transaction.check(input, defaults));
  const own = yield* Effect.fromResult(complete(given));
  yield* recoverAuthorities(transactions);
  // why: ABIs of the input come before ABIs of the options
  const options = { ...own, abis: [...abis, ...own.abis] };
  const inputs = transactions.map((transaction) => explained(transaction, options.abis));
  const [first, ...others] = signed === null ? inputs : signed.carried(inputs);
  if (first === undefined)
    return yield* new InvalidTransaction({ field: "transactions", problem: "the bundle is empty" });
  const bundle = bundleOf([first, ...others], options.accounts);
  return {
    ...{ bundle, options, policies: given.policies ?? [], sources: sourcesOf(given) },
    signed: signed && { transactions: inputs, signings: signed.signings, mode: null },
  };
});

/** The options, with the storage slots of pretended balances and allowances. Sends no request where none are pretended. */
export const withTokens = (options: ReportOptions, block: BlockParameter): Effect.Effect<ReportOptions, never, Rpc> =>
  pretendedIn(options).length === 0
    ? Effect.succeed(options)
    : Effect.flatMap(rare, ({ withTokenSlots }) => withTokenSlots(options, block));

/** Runs `ask` on a connection that simulates unsigned authorisations; runs it directly where there are none. */
const assumingAuthorizations = <P extends Assumable, A, E, R>(
  prepared: P,
  ask: (prepared: P) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R | Rpc> => {
  const { input } = prepared.bundle[0];
  const { block } = prepared.options;
  // why: only the first transaction can carry one
  return hasUnsigned(input)
    ? Effect.flatMap(Effect.zip(rare, chainsInUse), ([{ withAssumed }, chains]) =>
        withAssumed(
          input,
          block ?? chains(input.chainId).blockTag,
          Effect.suspend(() => ask(prepared)),
        ),
      )
    : ask(prepared);
};

/** Runs `ask` with the calls that use unsigned signatures in its bundle, on a connection that assumes these signatures. */
export const assuming = <P extends Assumable, A, E, R>(
  prepared: P,
  ask: (prepared: P) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R | Rpc> => {
  const { signed } = prepared;
  return signed == null
    ? assumingAuthorizations(prepared, ask)
    : Effect.flatMap(rare, ({ withSignings }) =>
        withSignings(prepared, signed, (inMode) => assumingAuthorizations(inMode, ask)),
      );
};

/** `looks`, and the token getters that show whether pretended balances and allowances took effect. */
export const withPretended = (looks: ReadonlyArray<Query>, options: ReportOptions): ReadonlyArray<Query> => {
  const rows = pretendedIn(options);
  return rows.length === 0 ? looks : [...looks, ...rows.map(getterOf)];
};

/**
 * The proof was made with the report's own options.
 * @figures text("", "maxAge: not a duration")
 */
export const OptionsRefused = code("proof", ["unavailable"], "OptionsRefused", [
  "the options of `prove` are invalid and were not used",
  "correct them, then run `prove` again",
]);

/**
 * The report under new options. If these are wrong, the report keeps its own, and a finding says so: `prove` never
 * fails.
 */
export const revise = <R extends Report>(report: R, options: Options) =>
  Result.match(complete(options, report.options), {
    onSuccess: (revised) => ({ report: { ...report, options: revised }, refused: null }),
    onFailure: (error) => ({
      report,
      refused: OptionsRefused.unavailable({ evidence: "unavailable" }, text("", error.message)),
    }),
  });
