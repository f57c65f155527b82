/**
 * The options of a run, a row each: how callers write it, how it is read and kept in a report, and what
 * is taken where the caller says nothing. Every other list of options is worked out from this one.
 */
import * as Duration from "effect/Duration";
import { memoize } from "effect/Function";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { Abi } from "abitype";
import { type AbiIndex, indexAbis, isBareAbi } from "../abi/abiIndex.js";
import { isPlain, isRecord, type GivenRows } from "../primitives/record.js";
import { asKnownAbi } from "../abi/encode.js";
import { KeptAccount, KeptBlock, Uint256, type accountRows, type blockRows } from "../eth/parameters.js";
import { Address, Hash, isAddress } from "../primitives/hex.js";
import type { optionNames } from "../primitives/names.js";
import {
  address as checkedAddress,
  bounded,
  type Checked,
  each,
  listOf,
  no,
  onlyHas,
  type Read,
} from "../primitives/problem.js";

/** A block as callers name it. */
export const BlockName = Schema.Union([
  Schema.Literals(["latest", "pending", "safe", "finalized", "earliest"]),
  Uint256,
  Hash,
]);

/** One option: `Given` by callers, kept as `schema` says. */
const row =
  <Given>() =>
  <S extends Schema.Constraint>(
    schema: S,
    absent: NoInfer<S["Type"]>,
    check: (value: unknown, field: string) => Checked<NoInfer<S["Type"]>>,
  ): {
    /** Never there: it carries the type. */
    readonly given?: Given;
    /** How it is kept in a report. */
    readonly schema: S;
    /** The value that is kept where the caller says nothing. */
    readonly absent: S["Type"];
    /** Reads what the caller wrote, or says what is wrong with it. */
    readonly check: (
      value: unknown,
      field: string,
    ) => Result.Result<S["Type"], { readonly field: string; readonly problem: string }>;
  } => ({ schema, absent, check });
/** One that callers write as it is kept. */
const plain =
  <Given>() =>
  <S extends Schema.ConstraintDecoder<unknown>>(
    schema: S,
    absent: NoInfer<S["Type"]>,
    problem: (text: string) => string,
  ) =>
    row<Given>()(schema, absent, decoded(schema, problem));
/** The same, null where the caller says nothing. */
const open =
  <Given>() =>
  <S extends Schema.ConstraintDecoder<unknown>>(schema: S, problem: string) =>
    row<Given>()(
      Schema.NullOr(schema),
      null,
      decoded(schema, () => problem),
    );

/** Reads what decodes by `schema`, or says `problem`. */
const decoded = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, problem: (text: string) => string) => {
  const decode = Schema.decodeUnknownResult(schema);
  return (value: unknown, field: string): Checked<S["Type"]> =>
    Result.mapError(decode(value), (error) => ({ field, problem: problem(error.message) }));
};

/** Units as people write them behind a number, as Effect's Duration has them. */
const unitNames: Readonly<Record<string, string>> = {
  ...{ ms: "millis", msec: "millis", s: "seconds", sec: "seconds", secs: "seconds" },
  ...{ m: "minutes", min: "minutes", mins: "minutes", h: "hours", hr: "hours", d: "days" },
};

/** `; say "5 seconds"` of `5s`, or nothing. */
const durationHint = (value: unknown): string => {
  // why: a text alone; what has no text of its own throws when it is made one
  const text = typeof value === "string" ? value : "";
  const [, amount = "", unit = ""] = /^\s*(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]{1,4})\s*$/i.exec(text) ?? [];
  const name = Object.hasOwn(unitNames, unit.toLowerCase()) ? unitNames[unit.toLowerCase()] : undefined;
  return name !== undefined ? `; say "${amount} ${name}"` : "";
};

/** Milliseconds, or a Duration, in units of `unit` ms. */
const time =
  (unit: number) =>
  (value: unknown, field: string): Checked<number> =>
    Option.match(Duration.fromInput(value as Duration.Input), {
      onNone: () => no(field, `must be milliseconds or an Effect Duration${durationHint(value)}`),
      onSome: (duration) => {
        const ms = Duration.toMillis(duration);
        return Number.isFinite(ms) && ms > 0 ? Result.succeed(ms / unit) : no(field, "must be above 0 and finite");
      },
    });

const isJson = Schema.is(Schema.Json);

const listedAddress = (value: unknown, field: string): Checked<Address> =>
  isAddress(value) ? Result.succeed(value.toLowerCase() as Address) : no(field, "must be 20 bytes of hex with 0x");

const nameOf = decoded(Schema.String.check(Schema.isMaxLength(100)), () => "must be a name of at most 100 characters");

/** Addresses, in lower case, and the caller's name of each; empty where it has none. */
const addressBook: Read<Readonly<Record<string, string>>> = (value, field) => {
  const isList = Array.isArray(value);
  if (!isList && !isPlain(value)) return no(field, "must be addresses, or an object of addresses and names");
  return Result.gen(function* () {
    const accounts = yield* listOf(checkedAddress)(isList ? value : Object.keys(value), field);
    const names = yield* listOf(nameOf)(isList ? accounts.map(() => "") : Object.values(value), field);
    return Object.fromEntries(accounts.map((account, index) => [account, names[index] ?? ""]));
  });
};

const KeptAbi = Schema.Struct({ address: Schema.NullOr(Address), abi: Schema.Array(Schema.Json) });

const knownAbi = bounded(asKnownAbi);
const abiSource = (source: unknown, field: string): Checked<typeof KeptAbi.Type> => {
  if (Array.isArray(source)) return Result.map(knownAbi(source, field), (abi) => ({ address: null, abi }));
  if (!isRecord(source) || !("abi" in source) || !("address" in source))
    return no(field, "must be an ABI or { address, abi }");
  const { address, abi } = source;
  return Result.gen(function* () {
    const whose = yield* listedAddress(address, `${field}.address`);
    return { address: whose, abi: yield* knownAbi(abi, field) };
  });
};

/** A list of ABIs, or one, as viem's functions take it: its items, or its signatures. */
const abiSources = (value: unknown, field: string) =>
  listOf(abiSource)(
    isBareAbi(value) || (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string"))
      ? [value]
      : value,
    field,
  );

/** A policy as callers may hand it in: with a name, a function, and data that JSON can hold. */
const policyData = (input: unknown, field: string): Checked<Schema.Json> => {
  // why: a policy that takes options is a function, too
  const policy: unknown = typeof input === "function" ? { ...input, name: input.name } : input;
  return isRecord(policy) &&
    typeof policy["name"] === "string" &&
    typeof policy["evaluate"] === "function" &&
    isJson(policy["data"])
    ? Result.succeed(policy["data"])
    : no(field, "must be a policy, as Policy's constructors make them");
};

/**
 * Reads what is pretended, by its fields, all of them where `isWhole`. Any other is refused: the report would tell of a
 * world that nobody ran.
 */
const pretended = <S extends { readonly fields: object; readonly Type: object }>(
  { fields }: S,
  isWhole = false,
): Read<S["Type"]> => {
  const own = Object.entries(fields as Readonly<Record<string, Schema.ConstraintDecoder<unknown>>>);
  const checks = new Map(own.map(([name, schema]) => [name, decoded(schema, (text) => text)]));
  return (value, field) => {
    if (!isPlain(value)) return no(field, "must be an object");
    const given = [...checks].filter(([name]) => isWhole || (Object.hasOwn(value, name) && value[name] !== undefined));
    const kept = Result.andThen(onlyHas(value, [...checks.keys()], "a field here", `${field}.`), () =>
      each(given, ([name, check]) =>
        Result.map(check(value[name], `${field}.${name}`), (read) => [name, read] as const),
      ),
    );
    return Result.map(kept, Object.fromEntries);
  };
};

const blockOverrides = pretended(KeptBlock);
const account = pretended(KeptAccount);

const StateOverrides = Schema.NullOr(Schema.Record(Schema.String, KeptAccount));

/** Addresses in lower case, nonces as bigints. */
const stateOverrides: Read<typeof StateOverrides.Type> = (value, field) => {
  if (value === null) return Result.succeed(null);
  if (!isPlain(value)) return no(field, "must be an object");
  const kept = each(Object.entries(value), ([address, given]) => {
    if (!isAddress(address)) return no(field, `${address.slice(0, 80)} is not an address`);
    const written =
      isPlain(given) && Number.isSafeInteger(given["nonce"])
        ? { ...given, nonce: BigInt(given["nonce"] as number) }
        : given;
    return Result.map(account(written, `${field}[${address}]`), (read) => [address.toLowerCase(), read] as const);
  });
  return Result.map(kept, Object.fromEntries);
};

const balanceRow = Schema.Struct({ token: Address, owner: Address, amount: Uint256 });
const allowanceRow = Schema.Struct({ ...balanceRow.fields, spender: Address });
const TokenOverrides = Schema.NullOr(
  Schema.Struct({ balances: Schema.Array(balanceRow), allowances: Schema.Array(allowanceRow) }),
);

/** More amounts than anybody pretends at once. */
const mostPretended = 32;
const amounts = <A extends typeof balanceRow.Type>(read: Read<A>, value: unknown, field: string) =>
  Array.isArray(value) && value.length > mostPretended
    ? no(field, `has more than ${mostPretended} entries`)
    : listOf(read)(value ?? [], field);

const [balance, allowance] = [pretended(balanceRow, true), pretended(allowanceRow, true)];

/** Balances and allowances by token. */
const tokenOverrides: Read<typeof TokenOverrides.Type> = (value, field) => {
  if (value === null) return Result.succeed(null);
  if (!isPlain(value)) return no(field, "must be an object");
  const { balances, allowances } = value;
  return Result.gen(function* () {
    yield* onlyHas(value, ["balances", "allowances"], "a field here", `${field}.`);
    return {
      balances: yield* amounts(balance, balances, `${field}.balances`),
      allowances: yield* amounts(allowance, allowances, `${field}.allowances`),
    };
  });
};

const share = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThan(1));

const mostBump = 10_000;
const bump = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: mostBump }));

const further = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 }));

const pending = Schema.NullOr(Schema.Literals(["guess", "preconfirmed"]));
const level = Schema.Literals(["slow", "normal", "fast"]);

/** Every option that is kept under its own name. */
export const named = {
  /**
   * Calls `debug_traceCall` once if the first transaction reverts, to name the contract and the inner call that failed
   * (`outcome.trace`, `RevertedInside`), and the allowance that it lacks (`TokenShortfall`, by one `eth_call`); default
   * false. The verdict does not depend on it. Where inner calls of a successful transaction
   * may have failed, and nothing else shows whether or why, it is called in any case (`InnerCallFailed`). Later
   * transactions of a bundle are not traced:
   * a trace has no state of those before them.
   */
  traceReverts: plain<boolean>()(Schema.Boolean, false, () => "must be a boolean"),
  /**
   * Asks the latest block once more behind the simulations of a proof, one network round more; default false. Where it is
   * another one by then, everything begins anew on it, and if that goes on the report is `unknown`. Without it the latest
   * block is asked in the round of the simulations, so that one which comes at the end of that round may be missed.
   */
  confirmHead: plain<boolean>()(Schema.Boolean, false, () => "must be a boolean"),
  /**
   * Sends the requests of the proof beside those of the scan, as the last `preflight` of the same call on this connection
   * would prove it now; default false. Their answers are used where the scan wants the very same requests proven, and the
   * latest block is the one that they were made for: then the report takes one network round. Else the proof asks its own,
   * and the ledger shows the others with `because` "speculated". Fees of ours stay as they were while they still hold for
   * half of `feeHorizon`, and the cap is at most half more than what is proposed now. Not with steps of one's own, several endpoints or `reserving`,
   * nor on chains whose pace is not known.
   */
  speculate: plain<boolean>()(Schema.Boolean, false, () => "must be a boolean"),
  /**
   * Contracts whose code a Safe or another account may run in its own place (DELEGATECALL), though it is not known by its
   * hash: `UnknownDelegateCall` is then the info `DelegateCall`; default none.
   */
  delegateTargets: row<ReadonlyArray<Address>>()(Schema.Array(Address), [], listOf(listedAddress)),
  /**
   * Addresses that you know, as an array, or as an object of addresses and their names, such as `labels`; default none.
   * An account that gets value, tokens or a right, or is called, and looks like one of them or like a sender, and is not,
   * is a warning (`LookalikeAddress`). A report keeps them; no node is asked about them.
   */
  knownAddresses: row<ReadonlyArray<Address> | Readonly<Record<Address, string>>>()(
    Schema.Record(Schema.String, Schema.String),
    {},
    addressBook,
  ),
  /**
   * Further tokens that contracts could take, in addition to those that the bundle moves or approves and the chain's
   * best known ones. Every proof reads them for `report.exposure`; default none.
   */
  tokens: row<ReadonlyArray<Address>>()(Schema.Array(Address), [], listOf(listedAddress)),
  /**
   * Accounts that are "you" in addition to the senders, such as a Safe that they sign for. What these accounts give,
   * get and grant is measured, shown and judged by policies as if they were senders; default none.
   */
  accounts: row<ReadonlyArray<Address>>()(Schema.Array(Address), [], listOf(listedAddress)),
  /**
   * In how many ordinary blocks between the next one and the last that a clearance allows a contract call is simulated
   * as well, 0 to 8, each one more request; default: 2 where that is at most four blocks, else 1. Two more requests simulate
   * later blocks that are as the next one, unless it is 0. None of either for a plain transfer, one of the chain's best known tokens, and code that reads nothing of its block and calls nobody.
   */
  worlds: open<number>()(further, "must be a whole number from 0 to 8"),
  /**
   * ABIs, or one, to decode errors, events and results with: any contract's, or one address's, which is tried first.
   * JSON, or human-readable signatures; in a report `address` null = any contract's.
   */
  abis: row<
    | ReadonlyArray<Abi | readonly unknown[] | { readonly address: Address; readonly abi: Abi | readonly unknown[] }>
    | Abi
  >()(Schema.Array(KeptAbi), [], abiSources),
  /** Block to ask about; default: the chain's policy, else `pending`. */
  block: plain<typeof BlockName.Type>()(
    Schema.NullOr(BlockName),
    null,
    () => "must be a tag, a block number (a bigint of 0 to 256 bits) or a 32-byte hash",
  ),
  /** The meaning of `pending` on this endpoint; default: the chain's policy. See `Chain.pending`. */
  pending: plain<"guess" | "preconfirmed">()(pending, null, () => 'must be "guess" or "preconfirmed"'),
  /** Pretended state, by address: the report then describes an imaginary world, is at most `caution` and gives no clearance. */
  stateOverrides: row<Readonly<Record<Address, GivenRows<typeof accountRows>>>>()(StateOverrides, null, stateOverrides),
  /**
   * Pretended balances and allowances of ERC-20 tokens, by token and amount in raw units, with the same consequence. One
   * request more (`eth_simulateV1`) finds the storage slot of each, in the usual layouts of Solidity, Vyper, Solady and
   * OpenZeppelin; a report keeps it in `stateOverrides`, in place of a word that you gave for the same slot. Where a token does not tell the amount then, such as one that
   * works balances out, `TokenNotPretended` makes the report `unknown`. The total supply stays as it is.
   */
  tokenOverrides: row<{
    readonly balances?: ReadonlyArray<typeof balanceRow.Type> | undefined;
    readonly allowances?: ReadonlyArray<typeof allowanceRow.Type> | undefined;
  }>()(TokenOverrides, null, tokenOverrides),
  /** Pretended block fields, with the same consequence. */
  blockOverrides: row<GivenRows<typeof blockRows>>()(Schema.NullOr(KeptBlock), null, (value, field) =>
    value === null ? Result.succeed(null) : blockOverrides(value, field),
  ),
  /**
   * Policies that the outcome must satisfy. A report keeps them as data: one made by a function by its
   * name only, so that it counts as unknown in the next `prove` unless it is given again.
   */
  policies: row<ReadonlyArray<{ readonly name: string; readonly data: Schema.Json }>>()(
    Schema.Array(Schema.Json),
    [],
    listOf(policyData),
  ),
  /** Share by which amounts may differ between runs before it is called a change; default 0.005. */
  tolerance: plain<number>()(share, 0.005, () => "must be a share from 0 to below 1"),
  /**
   * Percent by which a pool wants both fees of a replacement to rise; 0 where it goes to a relay without a pool. Default:
   * the chain's, see `Chain.priceBump`.
   */
  priceBump: open<number>()(bump, `must be a whole number from 0 to ${mostBump}`),
  /** Which percentile of recent tips to propose (20, 50, 80); default `normal`. */
  feeLevel: plain<"slow" | "normal" | "fast">()(level, "normal", () => "must be slow, normal or fast"),
} satisfies Record<Exclude<(typeof optionNames)[number], "deadline" | "maxAge" | "feeHorizon">, unknown>;

const positive = Schema.Finite.check(Schema.isGreaterThan(0));

/** The times, which are kept with their unit in the name. */
export const times = {
  /** Time for the whole run: ms, or an Effect Duration; default 10 s. */
  deadline: { ...row<Duration.Input>()(positive, 10_000, time(1)), kept: "deadlineMs" },
  /** How long a clearance holds: ms, or an Effect Duration; default 30 s. */
  maxAge: { ...row<Duration.Input>()(positive, 30_000, time(1)), kept: "maxAgeMs" },
  /** How long the fee cap must outlive full blocks: ms, or an Effect Duration; default 60 s. */
  feeHorizon: { ...row<Duration.Input>()(positive, 60, time(1_000)), kept: "feeHorizonSeconds" },
} as const satisfies Partial<Record<(typeof optionNames)[number], unknown>>;

const indexed = memoize((abis: ReadonlyArray<typeof KeptAbi.Type>) =>
  // why: kept as JSON in the report; the decoders leave out items that are not well-formed
  indexAbis(abis.map(({ address, abi }) => (address === null ? (abi as Abi) : { address, abi: abi as Abi }))),
);

/** The ABIs of a report's options, arranged. */
export const abisOf = ({ abis }: { readonly abis: ReadonlyArray<typeof KeptAbi.Type> }): AbiIndex => indexed(abis);
