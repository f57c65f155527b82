/** The flags that describe a transaction and its run, by the field or option that they fill, and what they say. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Layer from "effect/Layer";
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import * as Struct from "effect/Struct";
import * as Argument from "effect/cli/Argument";
import type * as Command from "effect/cli/Command";
import * as Flag from "effect/cli/Flag";
import { Chains, lookup } from "../Chains.js";
import { type Problem, escapeText, isHex, isRecord } from "../primitives/index.js";
import * as Policy from "../Policy.js";
import type { Options } from "../Preflight.js";
import { named, type times } from "../report/index.js";
import { isSigning } from "../signing/index.js";
import type { LooseCall } from "../Transaction.js";
import { orWrong, orWrongField, wrong, type WrongUsage } from "./exit.js";
import { abiOf, abiOfText, callOf, inputOf, inputOfText, isSignature } from "./input.js";
import { block, duration, integer, list } from "./quantity.js";
import { parseJson, readJson, readText } from "./terminal.js";

/** A flag that takes a text and may be left out. */
export const text = (name: string, help: string): Flag.Flag<Option.Option<string>> =>
  Flag.String(name).pipe(Flag.withDescription(help), Flag.optional);

/** A flag that is there or not. */
export const toggle = (name: string, help: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withDescription(help), Flag.withDefault(false));

/** Name and help of each flag that fills a field of a transaction. */
export const ofTransaction = {
  from: ["from", "the sender"],
  to: ["to", "the recipient; leave it out to deploy a contract"],
  data: ["data", "calldata or initcode, 0x…"],
  value: ["value", "amount to send, with its unit: 0.1ether, 2gwei, 5wei"],
  chainId: ["chain-id", "chain the transaction is for; another one at the node is a blocker"],
  gas: ["gas", "gas limit; chosen when absent"],
  nonce: ["nonce", "nonce; read from the node when absent"],
  maxFeePerGas: ["max-fee", "maxFeePerGas with its unit, e.g. 2gwei"],
  maxPriorityFeePerGas: ["tip", "maxPriorityFeePerGas with its unit, e.g. 0.1gwei"],
  gasPrice: ["gas-price", "gasPrice of a legacy transaction, with its unit"],
  abi: [
    "abi",
    'ABI file (JSON, artifact, signatures), or a signature: "transfer(address to, uint256 amount)"; beside --data or a file only for decoding',
  ],
  functionName: ["function", "function of the ABI to call: its name or signature"],
  args: ["args", `arguments as a JSON array, large numbers as strings: '["0x…", "1000000"]'`],
} as const satisfies { readonly [K in keyof LooseCall]?: readonly [name: string, help: string] };

/** Name and help of each flag that fills a field of a signature. */
const ofSigning = {
  typedData: [
    "typed-data",
    "in place of a transaction: JSON file with typed data that is to be signed (EIP-712), - for stdin",
  ],
  message: ["message", "a text that is to be signed, as personal_sign does"],
  authorization: [
    "authorization",
    "JSON file with an authorisation that is to be signed (EIP-7702): chainId, address, nonce; - for stdin",
  ],
  signer: ["signer", "whose key signs, beside one of these three"],
  origin: ["origin", "origin that asks for the message, such as https://example.org: a sign-in is held against it"],
} as const satisfies Readonly<Record<string, readonly [name: string, help: string]>>;

/** Name and help of each flag that describes what a smart account does. */
const ofAccount = {
  userOperation: [
    "user-operation",
    "in place of a transaction: JSON file with a user operation (ERC-4337), alone or as { entryPoint, operation }; --signer: whose key signs",
  ],
  entryPoint: ["entry-point", "version or address of its EntryPoint, beside --user-operation"],
  safe: [
    "safe",
    "in place of a transaction: JSON file with a transaction of a Safe, as its transaction service, SDK or builder has it, or as { safe, transaction }",
  ],
  executor: ["executor", "who sends it, beside --safe; by default an owner"],
} as const satisfies Readonly<Record<string, readonly [name: string, help: string]>>;

/** Name and help of each flag that describes a batch of calls. */
const ofBatch = {
  calls: [
    "calls",
    "in place of a transaction: JSON file with an array of calls from one account, beside --from, or a batch (EIP-5792); - for stdin",
  ],
  delegate: ["delegate", "code to which the account is to be delegated (EIP-7702), beside --calls"],
} as const satisfies Readonly<Record<string, readonly [name: string, help: string]>>;

const rowsOfFields: Readonly<Record<string, readonly [name: string, help: string]>> = {
  ...ofTransaction,
  ...ofSigning,
  ...ofAccount,
  ...ofBatch,
};

/** The flag that a field comes from; the field itself where it has none. */
const flagOf = (field: string): string =>
  Object.hasOwn(rowsOfFields, field) ? `--${rowsOfFields[field]?.[0] ?? field}` : field;

/** How each kind of policy is written. */
export const policyForms = [
  '{"policy":"maxSpent","token":"native","amount":"1000000000000000000"}',
  'there, token is "native" or an address, and "account" may be added',
  "minReceived with the same fields",
  '{"policy":"maxExposure","token":"0x…","amount":"0"} (what contracts could take in addition)',
  '{"policy":"maxFee","wei":"1000000000000000"}',
  '{"policy":"maxGas","gas":"500000"}',
  '{"policy":"onlyTouches","addresses":["0x…"]}',
  '{"policy":"noNewApprovals"}, noUnlimitedApprovals and denyDelegated without fields',
  '{"policy":"noInnerFailures","allow":[{"to":"0x…","selector":"0xd505accf"}]}, without allow for none',
  '{"policy":"all","policies":[…]} and any',
];

/** The native currency of the chain, where the table of chains does not name it. */
export const currencyFlags = {
  symbol: text("symbol", "symbol of the chain's native currency, where it is not known: CELO"),
  decimals: text("decimals", "its decimals, beside --symbol (default 18)"),
};

/** The chains in use, whichever one the node is of: its currency as these flags name it. */
export const readChains = Effect.fnUntraced(function* (flags: Command.Command.Config.Infer<typeof currencyFlags>) {
  const decimals = yield* readFlag("--decimals", flags.decimals, (value) =>
    Result.flatMap(integer(value), (places) =>
      places <= 36 ? Result.succeed(places) : Result.fail("must be at most 36"),
    ),
  );
  if (Option.isNone(flags.symbol))
    return decimals === undefined ? Layer.empty : yield* wrong("--decimals", "needs --symbol beside it");
  const symbol = flags.symbol.value.trim();
  if (!/^[^\s\p{Cc}]{1,16}$/u.test(symbol))
    return yield* wrong("--symbol", "must be 1 to 16 characters without spaces");
  return Layer.succeed(Chains, (id) => ({ ...lookup(id), symbol, decimals: decimals ?? 18 }));
});

/** A flag for each option that has one. */
export const optionFlags = {
  block: text("block", "latest, pending, …, a number or a hash (default: the chain's own policy)"),
  policies: text(
    "policies",
    `JSON file with an array of policies that the outcome must satisfy, such as ${policyForms[0]} or {"policy":"noUnlimitedApprovals"}; docs/cli.md and docs/policies.md have the others`,
  ),
  tokens: text("tokens", "token addresses, separated by commas: also check whether a contract could take them"),
  delegateTargets: text(
    "delegate-targets",
    "addresses, separated by commas, whose code a Safe or another account may run in its own place (DELEGATECALL)",
  ),
  accounts: text("account", "addresses, separated by commas, that are yours beside the sender, such as a Safe"),
  knownAddresses: text(
    "known-addresses",
    "JSON file with addresses that you know: an array, or an object of addresses and names; one that only looks like them is a warning",
  ),
  deadline: text("deadline", "time for the whole run, with its unit: 500ms, 10s, 1m (default 10s)"),
  feeLevel: Flag.Literals("fee-level", named.feeLevel.schema.literals).pipe(
    Flag.withDescription("how much tip to propose (default normal)"),
    Flag.optional,
  ),
} satisfies { readonly [K in keyof typeof named | keyof typeof times]?: Flag.Flag<unknown> };

/** Everything that describes what is checked; `input` is the file. */
export const checkFlags = {
  input: Argument.String("input").pipe(
    Argument.withDescription(
      'a function\'s signature and its arguments, beside --from and --to: "transfer(address,uint256)" 0x… 5; or, in place of the flags, a JSON file (path or file://) with a transaction or an array of them, in any form; its bytes, 0x…; - for stdin',
    ),
    Argument.variadic({ min: 0 }),
  ),
  ...Rows.map(ofTransaction, ([name, help]) => text(name, help)),
  ...Rows.map(ofSigning, ([name, help]) => text(name, help)),
  ...Rows.map(ofAccount, ([name, help]) => text(name, help)),
  ...Rows.map(ofBatch, ([name, help]) => text(name, help)),
  ...optionFlags,
};

/** The values of the flags. */
export type CheckFlags = Command.Command.Config.Infer<typeof checkFlags>;

/** An ABI from `--abi`: a signature, or a file of JSON or signatures. */
export const readAbi = Effect.fnUntraced(function* (value: string) {
  return yield* orWrongField(
    isSignature(value) ? abiOf(value, "--abi") : abiOfText(yield* readText(value, "--abi"), "--abi"),
  );
});

/** Complaints about the input, with the flag in place of the field when it came from flags. */
export const complaint = ({ input }: CheckFlags, { field, problem }: Problem): WrongUsage =>
  wrong(
    // why: of a signature the arguments have no flag
    input.length > 0 && (!isCalled(input) || /^(?:args|signature)\b/.test(field))
      ? field
      : field.replace(field.split("[", 1).join(""), flagOf),
    problem,
  );

/** True of a signature with its arguments, in place of a file. */
const isCalled = ([first]: CheckFlags["input"]): boolean => first !== undefined && isSignature(first);

/** True if `--abi` only decodes: the call is there already, as data or in a file. */
const isForDecoding = (flags: CheckFlags): boolean =>
  flags.input.length > 0 ||
  (Option.isSome(flags.data) && Option.isNone(flags.functionName) && Option.isNone(flags.args));

/** The signature that is asked about, as the pipeline takes it; null where the flags describe none. */
const readSigning = Effect.fnUntraced(function* (flags: CheckFlags) {
  const { signer, origin, ...signed }: Record<string, string> = Rows.getSomes(
    Struct.pick(flags, Struct.keys(ofSigning)),
  );
  const [kind, second] = Object.keys(signed);
  if (kind === undefined) {
    const stray = signer === undefined ? origin && "origin" : "signer";
    return stray === undefined
      ? null
      : yield* wrong(flagOf(stray), "stands beside --typed-data, --message or --authorization");
  }
  const besides = Struct.pick(flags, [...Struct.keys(ofTransaction), ...Struct.keys(ofBatch)]);
  const other = second ?? Object.keys(Rows.getSomes(besides))[0];
  if (other !== undefined) return yield* wrong(flagOf(other), `cannot be combined with ${flagOf(kind)}`);
  if (flags.input.length > 0) return yield* wrong("input", `cannot be combined with ${flagOf(kind)}`);
  const given = signed[kind] ?? "";
  const what = kind === "message" ? given : yield* readJson(given, flagOf(kind));
  if (signer !== undefined) return { [kind]: what, signer, ...(origin === undefined ? {} : { origin }) };
  // why: a wallet's request names the signer itself
  return isSigning(what) && origin === undefined
    ? what
    : yield* wrong("--signer", "is missing: the address whose key signs");
});

/** The flags that name what is asked about, and those that stand beside each. */
const accountFlags = { userOperation: ["entryPoint", "signer", "chainId"], safe: ["executor", "chainId"] } as const;

/** The Safe that a file is about, as the service, the builder or typed data names it. */
const safeOf = (json: Readonly<Record<string, unknown>>): unknown => {
  const { safe, meta, domain } = json;
  if (safe != null) return safe;
  const named = isRecord(meta) ? meta["createdFromSafeAddress"] : null;
  return named ?? (isRecord(domain) ? domain["verifyingContract"] : null);
};

/** The input of a smart account, as the pipeline takes it; null where the flags describe nothing of it. */
const readAccount = Effect.fnUntraced(function* (flags: CheckFlags) {
  const rows = { ...ofTransaction, ...ofSigning, ...ofAccount, ...ofBatch };
  const values: Record<string, string> = Rows.getSomes(Struct.pick(flags, Struct.keys(rows)));
  const kind = Struct.keys(accountFlags).find((name) => values[name] !== undefined);
  if (kind === undefined) {
    const stray = Struct.keys(ofAccount).find((name) => values[name] !== undefined);
    return stray === undefined
      ? null
      : yield* wrong(flagOf(stray), `stands beside ${stray === "executor" ? "--safe" : "--user-operation"}`);
  }
  const beside: ReadonlyArray<string> = [kind, ...accountFlags[kind]];
  const [other = flags.input.length > 0 ? "input" : undefined] = Object.keys(values).filter(
    (name) => !beside.includes(name),
  );
  if (other !== undefined) return yield* wrong(flagOf(other), `cannot be combined with ${flagOf(kind)}`);
  const json = yield* readJson(values[kind] ?? "", flagOf(kind));
  if (!isRecord(json)) return yield* wrong(flagOf(kind), "must hold an object");
  const chainId = yield* readFlag(flagOf("chainId"), flags.chainId, integer);
  const { entryPoint, signer, executor } = values;
  const own = Rows.filter({ entryPoint, signer, executor, chainId }, (value) => value !== undefined);
  const isWhole = kind === "safe" ? json["transaction"] != null : json["operation"] != null || json["method"] != null;
  const inner = kind === "safe" ? { safe: safeOf(json), transaction: json } : { operation: json };
  const all: Readonly<Record<string, unknown>> = isWhole ? json : inner;
  const twice = Object.keys(own).find((name) => all[name] != null);
  if (twice !== undefined) return yield* wrong(flagOf(twice), "stands in the file, too");
  const input = { ...all, ...own };
  if (kind === "safe" && input["safe"] == null)
    return yield* wrong("--safe", "names no Safe: write { safe, transaction }");
  return isSigning(input)
    ? input
    : yield* wrong("--entry-point", "is missing: the version or address of the EntryPoint");
});

/** The batch of calls, as the pipeline takes it; null where the flags describe none. */
const readBatch = Effect.fnUntraced(function* (flags: CheckFlags) {
  const { calls: path, delegate }: Record<string, string> = Rows.getSomes(Struct.pick(flags, Struct.keys(ofBatch)));
  if (path === undefined)
    return delegate === undefined ? null : yield* wrong(flagOf("delegate"), "stands beside --calls");
  const {
    from,
    chainId: _,
    ...others
  }: Record<string, string> = Rows.getSomes(Struct.pick(flags, Struct.keys(ofTransaction)));
  const [other = flags.input.length > 0 ? "input" : undefined] = Object.keys(others);
  if (other !== undefined) return yield* wrong(flagOf(other), "cannot be combined with --calls");
  const json = yield* readJson(path, flagOf("calls"));
  const batch = Array.isArray(json) ? { calls: json } : json;
  if (!isRecord(batch) || !Array.isArray(batch["calls"]))
    return yield* wrong(flagOf("calls"), "must hold an array of calls, or a batch with calls");
  const chainId = yield* readFlag(flagOf("chainId"), flags.chainId, integer);
  const own = Rows.filter({ from, chainId, delegate }, (value) => value !== undefined);
  const twice = Object.keys(own).find((name) => batch[name] != null);
  return twice === undefined ? { ...batch, ...own } : yield* wrong(flagOf(twice), "stands in the file, too");
});

/** The transaction or bundle, what an account does, the batch of calls, or the signature. */
export const readInput = Effect.fnUntraced(function* (flags: CheckFlags) {
  const other = (yield* readAccount(flags)) ?? (yield* readSigning(flags)) ?? (yield* readBatch(flags));
  if (other !== null) return other;
  const { abi, ...values }: Record<string, string> = Rows.getSomes(Struct.pick(flags, Struct.keys(ofTransaction)));
  const inputFrom = (read: ReturnType<typeof inputOf>) =>
    Effect.mapError(Effect.fromResult(read), (error) => complaint(flags, error));
  // why: without its quotes it falls into pieces, and one of them passes for the file
  if (values["args"] !== undefined)
    yield* Effect.mapError(Effect.fromResult(parseJson(values["args"])), (problem) =>
      wrong("--args", `must be one JSON array in quotes, such as '["0x…", "1000000"]'; it ${problem}`),
    );
  const [first, ...args] = flags.input;
  if (first !== undefined && !isCalled(flags.input)) {
    // why: a word may be part of a header that lost its quotes
    if (args.length > 0)
      return yield* wrong("input", "there are more arguments than it takes; put a value with spaces into quotes");
    const [stray] = Object.keys(values);
    if (stray !== undefined)
      return yield* wrong(
        flagOf(stray),
        `cannot be combined with the input file ${escapeText(first, 60)}; write it into the file`,
      );
    return yield* inputFrom(inputOfText(isHex(first) ? first : yield* readText(first, "input")));
  }
  if (values["from"] === undefined)
    return yield* wrong("--from", "is missing; or give a JSON file with the transaction, or - for stdin");
  if (first !== undefined) {
    const stray = ["data", "functionName", "args"].find((name) => values[name] !== undefined);
    if (stray !== undefined)
      return yield* wrong(flagOf(stray), "cannot be combined with a signature and its arguments");
    return yield* inputFrom(Result.flatMap(callOf(first, args), (call) => inputOf({ ...values, ...call }, true)));
  }
  const isEncoded = abi !== undefined && !isForDecoding(flags);
  return yield* inputFrom(inputOf(isEncoded ? { ...values, abi: yield* readAbi(abi) } : values, true));
});

/** Reads what a flag says; undefined where it is absent. */
export const readFlag = <A>(
  name: string,
  flag: Option.Option<string>,
  read: (text: string) => Result.Result<A, string>,
): Effect.Effect<A | undefined, WrongUsage> =>
  Option.isNone(flag) ? Effect.succeed(undefined) : orWrong(name, read(flag.value));

const readPolicies = Effect.fnUntraced(function* (path: string) {
  const data = yield* readJson(path, "--policies");
  return yield* Effect.mapError(Policy.fromJson(data), ({ field, problem }) => wrong(`--${field}`, problem));
});

const readBook = Effect.fnUntraced(function* (path: string) {
  const book = named.knownAddresses.check(yield* readJson(path, "--known-addresses"), "--known-addresses");
  return yield* Effect.mapError(Effect.fromResult(book), ({ field, problem }) => wrong(field, problem));
});

/** Addresses, separated by commas. */
const addresses = (text: string) =>
  Result.mapError(named.delegateTargets.check(list(text), ""), ({ field, problem }) => `${field} ${problem}`);

/** The options that flags of their own hold. */
export const readRunOptions = Effect.fnUntraced(function* (flags: Command.Command.Config.Infer<typeof optionFlags>) {
  const tag = yield* readFlag("--block", flags.block, block);
  const deadline = yield* readFlag("--deadline", flags.deadline, duration);
  const accounts = yield* readFlag("--account", flags.accounts, addresses);
  const delegateTargets = yield* readFlag("--delegate-targets", flags.delegateTargets, addresses);
  const tokens = yield* readFlag("--tokens", flags.tokens, addresses);
  const feeLevel = Option.getOrUndefined(flags.feeLevel);
  const options: Options = {
    ...{ traceReverts: true, accounts, delegateTargets, tokens, block: tag, deadline, feeLevel },
    ...(Option.isNone(flags.policies) ? {} : { policies: yield* readPolicies(flags.policies.value) }),
    ...(Option.isNone(flags.knownAddresses) ? {} : { knownAddresses: yield* readBook(flags.knownAddresses.value) }),
  };
  return options;
});

/** The options of the run. */
export const readOptions = Effect.fnUntraced(function* (flags: CheckFlags) {
  const options = yield* readRunOptions(flags);
  return Option.isSome(flags.abi) && isForDecoding(flags)
    ? { ...options, abis: [yield* readAbi(flags.abi.value)] }
    : options;
});
