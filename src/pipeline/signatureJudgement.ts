/** The judgement of a signature: its own facts on the chain, and the result of the calls that use it. Pure. */
import { dataAt, wordAt } from "../abi/words.js";
import { ChainIdMismatch } from "../errors/verdicts.js";
import type { Address } from "../primitives/hex.js";
import { address, count, text } from "../primitives/statement.js";
import { code, fromError, type Finding } from "../report/finding.js";
import { carriersOf, signInProblem, type Mode, type PlacedSigning, type Signing, type Use } from "../signing/index.js";
import { DelegationIneffective } from "../steps/reading/control.js";
import { staticCall, type CallQuery, type Query } from "../witness/queries.js";
import type { View } from "../witness/view.js";
import type { Judgement, Seen } from "./signings.js";
import { listed, recordIn } from "./wire.js";

/** Seconds beyond which a right is long-lived. */
const long = 31n * 86_400n;

/** `DOMAIN_SEPARATOR()`. */
const separatorOf = (contract: Address) => staticCall(contract, "0x3644e515");

/**
 * The signature's type is not known here, its use cannot be simulated, or its contract contradicts its facts.
 * @figures text("because", "its type is none that is known here")
 */
export const SignatureUnknown = code("approvals", ["unavailable"], "SignatureUnknown", [
  "what the signature allows is not known",
  "sign it only if you know the contract that takes it",
]);

/**
 * The digest may be that of a transaction, or of anything else.
 * @figures text("because", "nobody can see what the bytes are the hash of")
 */
export const HashBlind = code("approvals", ["unavailable"], "HashBlind", [
  "nobody can see what 32 bytes are the hash of",
  "ask for what they are the hash of, and preflight that",
]);

/**
 * The simulation may differ from the signature's use: it ran the account's own call instead, code rejected the assumed
 * signature, or a fact that the use depends on is unknown or different.
 * @figures text("because", "the account's own equal call was simulated")
 * @unavailable where no call of the account does the same, code did not take the signature, or its use may differ otherwise
 */
export const SignatureNotAssumed = code("approvals", ["warning", "unavailable"], "SignatureNotAssumed", [
  "the signature itself could not be simulated",
  "use a node that lets `movePrecompileToAddress` replace ECRECOVER, such as geth",
]);

/** It was used before, or the nonce that its contract expects is already higher. */
export const SignatureUsed = code("approvals", ["blocker"], "SignatureUsed", [
  "the signature's nonce is used already",
  "ask for a message with the next nonce",
]);

/**
 * It cannot be used yet. Its effect at that time is not known now.
 * @figures count("usable from", 1_800_000_000n)
 */
export const SignatureNotYet = code("approvals", ["unavailable"], "SignatureNotYet", [
  "the signature cannot be used yet",
  "run it again when it can be used",
]);

/**
 * The contract verifies signatures for another domain, so this signature is useless there.
 * @unavailable where the account's own equal call was simulated and the contract does not tell its domain
 */
export const DomainDisagrees = code("approvals", ["blocker", "unavailable"], "DomainDisagrees", [
  "the domain of the signature is not that of its contract",
  "ask for the contract's own name, version and chain",
]);

/** The signature is bound to no chain: its holder can use it on every chain where it fits. */
export const SignatureUnbound = code("approvals", ["warning"], "SignatureUnbound", [
  "the signature is valid on every chain",
  "sign it only if it is meant for every chain",
]);

/**
 * The last second in which it can be used has passed.
 * @figures count("usable until", 1_700_000_000n)
 */
export const SignatureExpired = code("approvals", ["blocker"], "SignatureExpired", [
  "the signature has expired",
  "ask for a message with a later deadline",
]);

/**
 * It or the right that it gives stays usable for more than 31 days.
 * @figures count("usable until", 1_900_000_000n)
 */
export const SignatureLongLived = code("approvals", ["warning"], "SignatureLongLived", [
  "the signature stays usable for more than 31 days",
  "ask for an earlier deadline",
]);

/** It has no deadline, or one beyond 2^63 seconds. */
export const SignatureNeverExpires = code("approvals", ["warning"], "SignatureNeverExpires", [
  "the signature never expires",
  "ask for a deadline",
]);

/**
 * The key that signs is not the account that the message names, and that account has no code to accept it; or the key is not
 * an owner of the Safe.
 * @figures address("account", alice)
 */
export const SignerIsNotOwner = code("approvals", ["blocker"], "SignerIsNotOwner", [
  "the signer is not the account that the message is about",
  "sign with the account's own key",
]);

/** Permit2 lets the spender choose the receiver: a receiver that the message names binds only the spender's code. */
export const WitnessUnread = code("approvals", ["warning"], "WitnessUnread", [
  "the spender decides who gets the tokens: what the message says of that binds nobody but its code",
  "sign it only for a spender whose code you trust",
]);

/**
 * With the code that the authorisation sets, a call by an unknown account took wei out of the account.
 * @figures address("account", alice)
 */
export const DelegateOpen = code("approvals", ["warning"], "DelegateOpen", [
  "with this code anybody can spend what the account has",
  "sign it only for code that asks who calls it",
]);

/** The order pays nothing to the account that gives the tokens. */
export const OrderUnderpaid = code("approvals", ["warning"], "OrderUnderpaid", [
  "the account gets nothing for what it gives",
  "sign it only if it is a gift",
]);

/**
 * The text signs an account in, but not as it should.
 * @figures text("because", "it is for example.org")
 * @warning where the caller names no origin to hold it against
 */
export const SignInDisagrees = code("approvals", ["blocker", "warning"], "SignInDisagrees", [
  "the sign-in is not what its origin may ask",
  "sign in only at the site that you are at",
]);

const notYet: string = SignatureNotYet.code;
const ineffective: string = DelegationIneffective.code;
const measured = { evidence: "measured" } as const;
const assumedBy = { evidence: "assumed" } as const;
const unavailable = { evidence: "unavailable" } as const;

/** The word of an answer; null where there was none. */
const wordIn = (before: View, { query, by }: Use["used"][number]): bigint | null => {
  const answer = before.call(query);
  return answer === null || !answer.success
    ? null
    : wordAt(answer.data, (dataAt + 64 * (by.kind === "equal" ? by.at : 0)) as never);
};

/** The state of each of its nonces: `used` (also if passed), `next` or `later`; null = it could not be read. */
const usedIn = (before: View, { used, kind }: Use) =>
  used.map((one) => {
    const now = wordIn(before, one);
    if (now === null) return null;
    if (one.by.kind === "bit") return ((now >> one.by.bit) & 1n) === 1n ? "used" : "next";
    if (now === one.value) return "next";
    // why: an unordered nonce has no later one, and the order of Seaport's counters means nothing
    const isMark = kind === "erc3009Transfer" || kind === "erc3009Receive" || kind === "seaport";
    return isMark || now > one.value ? "used" : "later";
  });

/** Kinds where the spender chooses who gets the tokens. */
const takes: ReadonlySet<Use["kind"]> = new Set([
  ...(["permit2Transfer", "permit2BatchTransfer", "permit2Witness", "permit2BatchWitness"] as const),
]);

/** True if an order gives its offerer nothing. */
const isUnpaid = (message: NonNullable<PlacedSigning["typed"]>["message"], account: Address): boolean =>
  !listed(message["consideration"]).some((item) => {
    const { recipient, startAmount, endAmount } = recordIn(item);
    return recipient === account && (startAmount !== 0n || endAmount !== 0n);
  });

/** Kinds whose use changes a number that the contract shows. */
const marked: ReadonlySet<Use["kind"]> = new Set([
  ...(["erc2612", "dai", "erc3009Transfer", "erc3009Receive", "permit2Single", "permit2Batch"] as const),
  ...(["permit2Transfer", "permit2BatchTransfer", "permit2Witness", "permit2BatchWitness"] as const),
]);

/**
 * True if a successful call visibly used its signature, or if its kind shows no use. A contract without the function may
 * accept any call.
 */
const isUsedUp = (use: Use, before: View, after: View): boolean =>
  use.leaves !== undefined
    ? wordOfAnswer(after, use.leaves.query) === use.leaves.value
    : !marked.has(use.kind) ||
      (use.used.length > 0 &&
        use.used.every((one) => {
          const [first, then] = [wordIn(before, one), wordIn(after, one)];
          return first !== null && then !== null && first !== then;
        }));

const wordOfAnswer = (view: View, query: CallQuery): bigint | null => {
  const answer = view.call(query);
  return answer?.success === true ? wordAt(answer.data, dataAt) : null;
};

/** The amount of each token that can be taken: the least of the permitted amount, the balance and the allowance. */
const mostIn = (before: View, { taken = [] }: Use): ReadonlyArray<bigint> => {
  // why: the list may have one token several times
  const gone = new Map<Address, bigint>();
  return taken.map(({ token, amount, there }) => {
    const earlier = gone.get(token) ?? 0n;
    const most = there.reduce((least, query) => {
      const held = wordOfAnswer(before, query);
      return held !== null && held - earlier < least ? held - earlier : least;
    }, amount);
    gone.set(token, earlier + most);
    return most;
  });
};

/** True if both have the same numbers. */
const isEach = (one: ReadonlyArray<bigint>, other: ReadonlyArray<bigint>): boolean =>
  one.every((amount, at) => amount === other[at]);

/** Queries about a signature: its nonces, balances and allowances, its contract's domain, and its account. */
export const signatureQueries = ({ use, typed, safe }: PlacedSigning): ReadonlyArray<Query> => [
  ...use.used.map(({ query }) => query),
  ...(use.leaves === undefined ? [] : [use.leaves.query]),
  ...(use.taken ?? []).flatMap(({ there }) => there),
  ...(use.looks ?? []),
  ...(use.contract === null || typed === null || use.unread !== null || safe !== undefined
    ? []
    : [separatorOf(use.contract)]),
  { kind: "account", address: use.account },
];

/** Findings that the judgements of user operations and Safes share. */
export const say: Seen["say"] = {
  unknown: (why) => SignatureUnknown.unavailable(unavailable, text("because", why)),
  notAssumed: (why) => SignatureNotAssumed.unavailable(unavailable, text("because", why.slice(0, 300))),
  assumedAlone: (why) => SignatureNotAssumed.warning(assumedBy, text("because", why)),
  used: SignatureUsed.blocker(measured),
  notYet: SignatureNotYet.unavailable(measured, text("because", "an earlier nonce comes first")),
  notOwner: SignerIsNotOwner.blocker(measured),
};

/** A signature, and the state of the chain before the calls that use it. */
interface Facts extends PlacedSigning {
  readonly before: View;
  readonly chainId: number | null;
  /** Ms since 1970. */
  readonly now: number;
}

/** The finding about the chain that typed data or an authorisation is bound to; `checkSignIn` reads that of a sign-in. */
const checkBound = ({ sign, typed, chainId }: Facts): ReadonlyArray<Finding> => {
  if (sign.kind !== "typedData" && sign.kind !== "authorization") return [];
  const bound = sign.kind === "authorization" ? BigInt(sign.chainId) : typed?.domain["chainId"];
  if (typeof bound !== "bigint" || (bound === 0n && sign.kind === "authorization"))
    return [SignatureUnbound.warning(measured)];
  if (chainId === null || bound === BigInt(chainId)) return [];
  const where = { step: "chain", transaction: null, evidence: "measured" } as const;
  return [fromError(new ChainIdMismatch({ expected: bound, actual: BigInt(chainId) }), "blocker", where)];
};

const checkSignIn = ({ sign, text: message, origin, chainId, now }: Facts): ReadonlyArray<Finding> => {
  if (origin === null)
    return [SignInDisagrees.warning(unavailable, text("because", "no origin was given to hold it against"))];
  const problem = signInProblem(message ?? "", { origin, address: sign.signer, chainId: chainId ?? 0, now });
  return problem === null ? [] : [SignInDisagrees.blocker(measured, text("because", problem))];
};

const checkDomain = ({ use: { contract, kind, unread }, typed, before }: Facts): ReadonlyArray<Finding> => {
  if (contract === null || typed === null || kind === "seaport" || unread !== null) return [];
  const answer = before.call(separatorOf(contract));
  const own = answer?.success === true && answer.size === 32n ? answer.data.toLowerCase() : null;
  return own === null || own === typed.domainSeparator ? [] : [DomainDisagrees.blocker(measured)];
};

const checkNumbers = ({ before, use }: Facts): ReadonlyArray<Finding> => {
  const numbers = usedIn(before, use);
  return numbers.includes("used") ? [say.used] : numbers.includes("later") ? [say.notYet] : [];
};

/** Findings about the times of its use, and about how long it or its right lasts. */
const checkTimes = ({ use: { from, until, ends, consume }, before, now }: Facts): ReadonlyArray<Finding> => {
  const seconds = before.environment?.timestamp ?? BigInt(Math.floor(now / 1000));
  const last = [until, ends].reduce<bigint | null>((a, b) => (b !== null && (a === null || b > a) ? b : a), null);
  const isLong = last !== null && last > seconds + long;
  return [
    ...(until !== null && until < seconds ? [SignatureExpired.blocker(measured, count("usable until", until))] : []),
    ...(from !== null && from > seconds ? [SignatureNotYet.unavailable(measured, count("usable from", from))] : []),
    ...(isLong ? [SignatureLongLived.warning(measured, count("usable until", last))] : []),
    ...(consume !== null && until === null ? [SignatureNeverExpires.warning(measured)] : []),
  ];
};

/** The findings about its owner, and about those who gain by it. */
const checkParties = ({ sign, use: { account, consume, kind }, typed, before }: Facts): ReadonlyArray<Finding> => {
  const isForeign = account !== sign.signer && before.account(account)?.codeSize === 0n && consume !== null;
  const isGift = kind === "seaport" && typed !== null && isUnpaid(typed.message, account);
  return [
    ...(isForeign ? [say.notOwner] : []),
    ...(takes.has(kind) ? [WitnessUnread.warning(measured)] : []),
    ...(isGift ? [OrderUnderpaid.warning(measured)] : []),
  ];
};

/** Findings about a signature that need no run of its calls: its chain, domain, nonce, time and owner. */
const checkFacts = (facts: Facts): ReadonlyArray<Finding> =>
  facts.use.kind === "signIn"
    ? [...checkBound(facts), ...checkSignIn(facts)]
    : [
        ...checkBound(facts),
        ...checkDomain(facts),
        ...checkNumbers(facts),
        ...checkTimes(facts),
        ...checkParties(facts),
      ];

/** A signature and its run, with the facts that the checks of its outcome need. */
interface Ran {
  readonly signing: PlacedSigning;
  readonly seen: Seen;
  /** The way in which it was simulated; null = in none. */
  readonly assumed: Mode | "code" | null;
  readonly facts: ReadonlyArray<Finding>;
  /** The simulation's blockers about its calls. */
  readonly failed: ReadonlyArray<Finding>;
  /** The amount of each token that can be taken now. */
  readonly most: ReadonlyArray<bigint>;
  /** True if amounts other than `most` were simulated, and that run failed or had reduced amounts. */
  readonly isOther: boolean;
  /** True if it cannot be used yet. */
  readonly isLate: boolean;
  /** True if the account has code. */
  readonly isContract: boolean;
}

const ranOf = (signing: PlacedSigning, seen: Seen): Ran => {
  const { sign, use, stand } = signing;
  const { before, chainId, carriers, mode, now } = seen;
  const isCarried = carriers.length > 0 && carriersOf(signing, mode) !== null;
  const facts = checkFacts({ ...signing, before, chainId, now });
  const places = new Set(carriers.map(({ index: at }) => at));
  const failed = seen.found.filter(
    ({ severity, transaction, step }) =>
      severity === "blocker" && step === "simulate" && transaction !== null && places.has(transaction),
  );
  const most = mostIn(before, use);
  const all = stand.taken ?? (use.taken ?? []).map(({ amount }) => amount);
  const isTried = stand.taken !== undefined || (failed.length > 0 && most.some((amount) => amount > 0n));
  return {
    ...{ signing, seen, facts, failed, most, isOther: !isEach(most, all) && isTried },
    assumed: !isCarried ? null : sign.kind === "authorization" ? "code" : mode,
    isLate: facts.some(({ code: name }) => name === notYet),
    isContract: (before.account(use.account)?.codeSize ?? 0n) > 0n,
  };
};

/**
 * True if the signature may be good although its call failed: the account's code may hash the digest again, the call may come
 * too early, or it may succeed with another amount or, for an NFT, in another form.
 */
const isTellable = ({ signing: { use }, assumed, failed, most, isLate, isContract }: Ran): boolean =>
  failed.length > 0 &&
  assumed === "shim" &&
  (isContract || isLate || most.some((amount) => amount > 0n) || use.kind === "erc4494");

/** True if its calls succeeded and did not visibly use it. */
const isUnseen = ({ signing: { use }, seen: { before, after }, assumed, failed }: Ran): boolean =>
  assumed === "shim" && failed.length === 0 && !isUsedUp(use, before, after);

/** The findings about its facts; `SignatureUnknown` replaces a blocker that the contract's acceptance contradicts. */
const checkTaken = (ran: Ran): ReadonlyArray<Finding> => {
  const { signing, assumed, facts, failed } = ran;
  const isTaken = assumed === "shim" && failed.length === 0 && !isUnseen(ran) && signing.use.kind !== "seaport";
  const against = isTaken ? facts.filter(({ severity }) => severity === "blocker") : [];
  return [
    ...facts.filter((finding) => !against.includes(finding)),
    ...against.map(({ sentence }) =>
      SignatureUnknown.unavailable(measured, text("because", `its contract takes it, although ${sentence}`)),
    ),
  ];
};

/** Findings about an authorisation and the code that it sets. */
const checkAuthorization = ({ signing: { sign, use }, seen: { found } }: Ran, isOpened: boolean) => [
  ...(isOpened ? [DelegateOpen.warning(measured, address("account", use.account))] : []),
  // why: with a later nonce it waits, and the report does not show what its code does then
  ...(sign.kind === "authorization" && found.some(({ code: name }) => name === ineffective)
    ? [SignatureNotYet.unavailable(unavailable, text("because", "its nonce is not the account's next one"))]
    : []),
];

/** Reasons why the signature may do something else than the simulation. */
const checkAssumed = (ran: Ran): ReadonlyArray<Finding> => {
  const { signing, seen, isOther, isLate, isContract } = ran;
  const { sign, use } = signing;
  const { notAssumed } = seen.say;
  const refuser = isContract ? "the account's own code" : "the contract";
  return [
    ...(isTellable(ran) && !isLate ? [notAssumed(`${refuser} did not take it`)] : []),
    // guard: an earlier report's amount that is no longer the most
    ...(isOther ? [notAssumed("as much as was there is not there now")] : []),
    // guard: a message that fits the signer's own account as well
    ...(use.kind.startsWith("permit2") && use.account !== sign.signer
      ? [notAssumed("it fits the signer's own account, too")]
      : []),
    ...(isUnseen(ran) ? [notAssumed("the contract was not seen to use it up")] : []),
  ];
};

/** The finding about a signature for which no call was simulated; a sign-in has none. */
const checkUnsimulated = ({ signing: { sign, use }, seen: { say: all }, assumed }: Ran): ReadonlyArray<Finding> => {
  if (assumed !== null || use.kind === "signIn") return [];
  const why = use.unread ?? "no call of the account does the same on this node";
  if (sign.kind === "hash") return [HashBlind.unavailable(unavailable, text("because", why))];
  return [use.unread === null ? all.notAssumed(why) : all.unknown(why)];
};

/** Findings about a signature in whose place the account's own equal call was simulated. */
const checkEqualCall = ({ signing: { use }, seen: { before, say: all }, assumed }: Ran): ReadonlyArray<Finding> => {
  if (assumed !== "equalCall") return [];
  const told = use.contract === null ? undefined : before.call(separatorOf(use.contract));
  return [
    all.assumedAlone("the account's own equal call was simulated"),
    ...(told === null ? [all.notAssumed("its contract's domain could not be read")] : []),
    ...(told !== null && told?.success !== true ? [DomainDisagrees.unavailable(unavailable)] : []),
    // guard: a nonce that nobody could read, where the signature itself was not run
    ...(usedIn(before, use).includes(null) ? [all.notAssumed("its nonce could not be read")] : []),
  ];
};

const signingOf = ({ signing: { sign, use, place, stand, origin }, seen, assumed }: Ran): Signing => {
  const numbers = usedIn(seen.before, use);
  const used = numbers.includes("used") ? true : numbers.length === 0 || numbers.includes(null) ? null : false;
  return {
    ...{ sign, kind: use.kind, account: use.account, usableBy: use.usableBy, contract: use.contract },
    ...{ from: use.from, until: use.until, ends: use.ends, repeats: use.repeats, origin, assumed, place, stand },
    nonce: use.nonce === null ? null : { value: use.nonce, used },
    evidence: assumed === null ? "unavailable" : "assumed",
  };
};

/**
 * The judgement of a signature that is neither a user operation nor a Safe's transaction. `isOpened`: an unknown account
 * spent with the code that it sets. `most`: the amounts that can be taken, if the run has to be repeated with them; else null.
 */
export const judgedSignature = (
  signing: PlacedSigning,
  seen: Seen,
  isOpened: boolean,
): Judgement & { readonly most: ReadonlyArray<bigint> | null } => {
  const ran = ranOf(signing, seen);
  return {
    findings: [
      ...[...checkTaken(ran), ...checkAuthorization(ran, isOpened), ...checkAssumed(ran)],
      ...[...checkUnsimulated(ran), ...checkEqualCall(ran)],
    ],
    replaced: isTellable(ran) ? ran.failed : [],
    signing: signingOf(ran),
    most: ran.isOther && signing.stand.taken === undefined ? ran.most : null,
  };
};
