/**
 * The kinds of senders and receivers: contract, delegated account (EIP-7702), precompile, or nobody.
 * `reading/control` tells of the authorisations that transactions carry.
 *
 * Asks `eth_getCode`, one request per account; the witness reads the same inside the simulation,
 * before and after, because `eth_getCode` may lag behind the state that is simulated on and cannot
 * see what the bundle itself deploys.
 */
import type { Facts } from "./reading/answers.js";
import * as Arr from "effect/Array";
import * as Result from "effect/Result";
import { fromCreate } from "ox/ContractAddress";
import { InitCodeTooLarge, NoCode, SenderNotEoa } from "../errors/verdicts.js";
import type * as Eth from "../eth/index.js";
import * as Questions from "../eth/questions.js";
import { known, one } from "../eth/round.js";
import { lower, type Address, type Hex } from "../primitives/hex.js";
import { address, wei } from "../primitives/statement.js";
import { isBurning } from "../abi/words.js";
import { fromError, code, type Finding } from "../report/finding.js";
import type { AccountCode, Parties } from "../report/parts.js";
import { isUnsigned } from "../transaction/fields.js";
import type { Transaction } from "../Transaction.js";
import type { WitnessAnswer } from "../witness/answers.js";
import type { Query } from "../witness/queries.js";
import { madeUpIn, type Case, type Filled, type Numbered } from "./reading/bundle.js";
import { delegatesToNothing } from "./reading/control.js";
import { isNote } from "./reading/nobodyCalled.js";
import { burned } from "./reading/outcome.js";
import { askEach, failureOf, successOf, type AskResult } from "./reading/askResult.js";

/** Every account whose code matters, each once. */
export const accounts = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> => [
  ...new Set(bundle.flatMap(({ input: { from, to } }) => (to === null ? [from] : [from, to]))),
];

/** The code of an account that is made up. */
const noCode = known(Result.succeed<Hex>("0x"));

/** `eth_getCode` for every account at once, but for those that are made up; never fails, each answer stands for itself. */
export const ask = (bundle: ReadonlyArray<Case>, block: Eth.BlockParameter) =>
  askEach("code", accounts(bundle), (address) =>
    // why: a bundle that begins with a transaction is not searched for them
    bundle[0]?.input.origin?.signing !== undefined && madeUpIn(bundle).has(address)
      ? noCode
      : one(Questions.code({ address, block })),
  );

/** The address at which a deployment with this nonce puts its contract; null for calls. */
const createdBy = ({ to, from }: Transaction, nonce: number | null): Address | null =>
  to === null && nonce !== null ? lower(fromCreate({ from, nonce: BigInt(nonce) })) : null;

const authorizes = ({ authorizations }: Case, account: Address): boolean =>
  authorizations.some(({ authority }) => authority === account);

/** Reads the account that a transaction calls right in front of it, for any earlier one may have put code there. */
export const queriesBetween = (bundle: ReadonlyArray<Case>, place: number): ReadonlyArray<Query> => {
  const to = bundle[place]?.input.to ?? null;
  return to === null || place === 0 ? [] : [{ kind: "account", address: to }];
};

/**
 * Tells if code that an account has only after the bundle was there when `entry` called it. A call to an
 * empty address runs nothing, so it cannot have put the code there itself; its own authorisations take
 * effect before it runs.
 */
export const appearanceOf = (account: Address, entry: Case, bundle: ReadonlyArray<Numbered>) => {
  if (authorizes(entry, account)) return "before";
  const maker = bundle.find((one) => createdBy(one.input, one.nonce.value) === account || authorizes(one, account));
  if (maker !== undefined) return maker.index < entry.index ? "before" : "after";
  // why: who signs has no code but a delegation
  if (bundle.some(({ signer }) => signer === account)) return "after";
  // why: a payment, too, runs what the receiver is
  if (!bundle.some((other) => other.index < entry.index)) return "after";
  return bundle.some((other) => other.index > entry.index) ? "unclear" : "before";
};

/** EIP-7702: `0xef0100` and the delegate's 20 bytes. */
export const delegateOf = (code: string): Address | null =>
  /^0xef0100[0-9a-fA-F]{40}$/.test(code) ? (`0x${code.slice(8).toLowerCase()}` as Address) : null;

/** 0x01 to 0x11 (Prague's BLS12-381 included) and P256VERIFY at 0x100 (EIP-7951, RIP-7212). */
const isPrecompile = (account: Address): boolean => {
  const number = BigInt(account);
  return (number >= 1n && number <= 0x11n) || number === 0x100n;
};

/**
 * True if nobody has the key: an address that a convention names, such as a precompile's. Of so few different bytes, or
 * so many zeros, no key is found before 2^90 are tried.
 */
const isKeyless = (account: Address): boolean => {
  const bytes = Arr.makeBy(20, (place) => account.slice(2 + 2 * place, 4 + 2 * place).toLowerCase());
  const zeros = bytes.filter((byte) => byte === "00").length;
  return isBurning(account) || new Set(bytes).size <= 4 || zeros >= 15;
};

const codeIn = (account: WitnessAnswer<"account"> | null): string | null =>
  account === null ? null : account.codeSize > 23n ? `${account.codePrefix}..` : account.codePrefix;

const isCode = (code: string | null): code is string => code !== null && code.length > 2;

/** The code of an account by whoever saw it best; null = nobody saw any, `unclear` = nobody can say what it was. */
const seenCode = (asked: Hex | null, had: string | null, has: string | null, appears: Sightings["appears"]) => {
  // an authorisation of the bundle may change a delegation: the later word counts
  if (isCode(had)) return { code: isCode(has) && delegateOf(had) !== null ? has : had, evidence: "measured" } as const;
  if (isCode(has)) return appears === "unclear" ? appears : ({ code: has, evidence: "measured" } as const);
  if (!isCode(asked)) return null;
  return had === null ? ({ code: asked, evidence: "estimated" } as const) : "unclear";
};

/** Everything that the sources saw of one account. */
export interface Sightings {
  readonly asked: AskResult<Hex> | undefined;
  readonly before: WitnessAnswer<"account"> | null;
  readonly after: WitnessAnswer<"account"> | null;
  /** When code came to it: before a transaction ran, only after it, or nobody can tell. */
  readonly appears: "before" | "after" | "unclear";
}

/**
 * The kind of one account from everything that saw it. What the witness read in the very state that was
 * simulated decides; where `eth_getCode` claims code that was not there, the call ran nothing and nobody
 * can say what it would do: `unknown`.
 */
export const decideAccount = (account: Address, { asked: answer, before, after, appears }: Sightings): AccountCode => {
  const asked = successOf(answer);
  const [had, has] = [codeIn(before), appears === "after" ? null : codeIn(after)];
  const none = { account, delegate: null, delegateHasCode: null } as const;
  const unclear = { ...none, kind: "unknown", evidence: "unavailable" } as const;
  const seen = seenCode(asked, had, has, appears);
  // why: what nobody saw afterwards, an earlier transaction may have put there
  if (seen === "unclear" || (seen === null && after === null && appears !== "after")) return unclear;
  const delegate = seen === null ? null : delegateOf(seen.code);
  if (seen !== null)
    return { ...none, kind: delegate === null ? "contract" : "delegated", delegate, evidence: seen.evidence };
  const evidence = (had ?? has) !== null ? "measured" : asked !== null ? "estimated" : null;
  if (isPrecompile(account)) return { ...none, kind: "precompile", evidence: evidence ?? "assumed" };
  return evidence === null ? unclear : { ...none, kind: "nobody", evidence };
};

const lookAt = (
  account: Address,
  entry: Case,
  { codes, before, after, met }: Pick<Facts, "codes" | "before" | "after" | "met">,
  bundle: ReadonlyArray<Numbered>,
): AccountCode => {
  const [had, has] = [before.account(account), after.account(account)];
  // why: before it is signed, what an authorisation makes of an account is pretended in the runs alone
  const isPretended = bundle[0]?.authorizations.some((one) => one.authority === account && isUnsigned(one.entry));
  const answer = isPretended === true ? undefined : codes.get(account);
  // why: its own authorisations take effect before it runs, and behind what the witness saw
  const here = entry.index === 0 || authorizes(entry, account) ? null : (met[entry.index]?.account(account) ?? null);
  const isDisputed = isCode(successOf(answer)) && had !== null && !isCode(codeIn(had));
  const found = decideAccount(
    account,
    here === null
      ? {
          ...{ asked: answer, before: had, after: has },
          // why: who put it there is dear to find out, and asked only where something changed
          appears: has !== null && codeIn(had) === codeIn(has) ? "before" : appearanceOf(account, entry, bundle),
        }
      : { asked: isDisputed ? answer : undefined, before: here, after: here, appears: "before" },
  );
  const delegate = found.delegate === null ? null : after.account(found.delegate);
  const delegateHasCode = delegate === null ? found.delegateHasCode : delegate.codeSize > 0n;
  const isAssumed = isPretended === true && found.evidence === "measured";
  return { ...found, delegateHasCode, ...(isAssumed ? { evidence: "assumed" } : {}) };
};

/** Reads the sender and the receiver of one transaction. */
export const read = (
  entry: Numbered,
  answers: Pick<Facts, "codes" | "before" | "after" | "met">,
  bundle: ReadonlyArray<Numbered>,
): typeof Parties.Type => ({
  from: lookAt(entry.input.from, entry, answers, bundle),
  to: entry.input.to === null ? null : lookAt(entry.input.to, entry, answers, bundle),
  creates: createdBy(entry.input, entry.nonce.value),
});

/** The ends of one transaction, where nobody looks at them. */
export const unlooked = ({ input: { from, to } }: Case): typeof Parties.Type => {
  const unknown = (account: Address): AccountCode => ({
    ...{ account, kind: "unknown", delegate: null, delegateHasCode: null, evidence: "unavailable" },
  });
  return { from: unknown(from), to: to === null ? null : unknown(to), creates: null };
};

/**
 * A call to an account without code silently does nothing.
 * @figures address("", pool)
 */
export const AccountUnknown = code("code", ["unavailable"], "AccountUnknown", [
  "whether the account has code is not known: the sources disagree or do not say",
  "ask again, or use another node",
]);

/** An account whose code nobody could see, or whose code could not be asked for though another source saw it. */
const unseenCode = ({ account, kind }: AccountCode, result: AskResult<Hex> | undefined, transaction: number) => {
  const where = { step: "code", transaction, evidence: "unavailable" } as const;
  const failure = failureOf(result);
  if (failure !== null) return [fromError(failure, kind === "unknown" ? "unavailable" : "info", where)];
  return kind === "unknown" ? [AccountUnknown.unavailable(where, address("", account))] : [];
};

/**
 * The sender is an EIP-7702 account: calls to it run its delegate's code.
 * @figures address("delegate", pool)
 */
export const AccountDelegated = code("code", ["info"], "AccountDelegated", [
  "the sender delegates to a contract (EIP-7702)",
]);

/**
 * It is the zero address, another address that people burn by, or a precompile's. A simulation can send from it;
 * nobody can sign for it.
 * @figures address("", "0x000000000000000000000000000000000000dEaD")
 */
export const SenderWithoutKey = code("code", ["warning"], "SenderWithoutKey", [
  "nobody has the key of the sender",
  "give the account that will sign as `from`",
]);

/** @figures address("", "0x0000000000000000000000000000000000000002") */
export const ValueToPrecompile = code("code", ["warning"], "ValueToPrecompile", [
  "value is sent to a precompile and cannot be recovered",
  "check the receiver",
]);

const checkSender = ({ account, kind, delegate, evidence }: AccountCode, at: Case): ReadonlyArray<Finding> => {
  const where = { step: "code", transaction: at.index, evidence } as const;
  return [
    ...(kind === "contract" ? [fromError(new SenderNotEoa({ account }), "blocker", where)] : []),
    ...(isKeyless(account) ? [SenderWithoutKey.warning({ ...where, evidence: "assumed" }, address("", account))] : []),
    ...(kind === "delegated" ? [AccountDelegated.info(where, address("delegate", delegate))] : []),
  ];
};

const checkReceiver = (
  { account, kind, delegate, delegateHasCode, evidence }: AccountCode,
  { index: transaction, input: { data, value } }: Case,
): ReadonlyArray<Finding> => {
  const where = { step: "code", transaction, evidence } as const;
  const [hasData, hasValue] = [data.length > 2, value > 0n];
  const isIdle = kind === "delegated" && delegateHasCode === false;
  return [
    ...(kind === "nobody" && hasData && !isNote(data) ? [fromError(new NoCode({ account }), "blocker", where)] : []),
    ...(isIdle && hasData ? [delegatesToNothing(where, delegate)] : []),
    ...(kind === "precompile" && hasValue ? [ValueToPrecompile.warning(where, address("", account))] : []),
    ...(isBurning(account) && hasValue ? [burned(where, account, wei("value", value))] : []),
  ];
};

const checkDeployment = (
  { index: transaction, input: { data } }: Case,
  { maxInitCodeSize: limit, known }: Facts["chain"],
): ReadonlyArray<Finding> => {
  const size = (data.length - 2) / 2;
  if (size <= limit) return [];
  const exceeded = new InitCodeTooLarge({ size: BigInt(size), limit: BigInt(limit) });
  // why: chains that nobody described may allow more; there the node's own simulation decides
  const [severity, evidence] = known ? (["blocker", "estimated"] as const) : (["warning", "assumed"] as const);
  return [fromError(exceeded, severity, { step: "code", transaction, evidence })];
};

/**
 * Reports problems of the sender and the receiver. Blockers: `SenderNotEoa`, `NoCode`, `InitCodeTooLarge`. Code that
 * nobody could see is `unavailable`, with the error of `eth_getCode`.
 */
export const check = (entry: Case & Pick<Filled, "code">, { codes, chain }: Pick<Facts, "codes" | "chain">) => {
  const { from, to } = entry.code;
  const ends = to === null || to.account === from.account ? [from] : [from, to];
  return [
    ...ends.flatMap((account) => unseenCode(account, codes.get(account.account), entry.index)),
    ...checkSender(from, entry),
    ...(to === null ? checkDeployment(entry, chain) : checkReceiver(to, entry)),
  ];
};
