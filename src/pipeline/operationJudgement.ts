/** The judgement of a user operation: the facts of the chain before it, and the result of its run. Pure. */
import { dataAt, wordAt, wordsFrom } from "../abi/words.js";
import { framesOf } from "../effects/frames.js";
import { ChainIdMismatch } from "../errors/verdicts.js";
import { lower, type Address } from "../primitives/hex.js";
import { address, hash, text, wei } from "../primitives/statement.js";
import { code, fromError, type Finding } from "../report/finding.js";
import type { Outcome, OutcomeLog } from "../report/parts.js";
import * as Operations from "../signing/index.js";
import type { OperationInput, PlacedSigning, Signing } from "../signing/index.js";
import { TransferMismatch } from "../steps/assets.js";
import { rulesBroken } from "./bundlerRules.js";
import { checkRun, resultIn, topics } from "./operationOutcome.js";
import type { Ran, Told } from "./operationOutcome.js";
import { senderCreatorOf } from "./plainRuns.js";
import type { Judgement, Seen } from "./signings.js";

/**
 * Before an operation runs, the EntryPoint holds back the most that the operation can cost.
 * @figures address("payer", alice), wei("held back", 3_000_000_000_000_000n), wei("deposit", 0n), wei("balance", 1_000_000_000_000n)
 */
export const OperationPrefund = code("simulate", ["blocker"], "OperationPrefund", [
  "the payer of the user operation has less than is held back for it",
  "send it as much, or lower the gas limits or the fee",
]);

/**
 * Reputation, mempool and tips depend on a bundler's own records, which no node has. The rules for validation (ERC-7562:
 * opcodes, code, storage) are checked if the node has `erc7562Tracer`.
 * @figures text("not seen", "reputation, mempool, tips")
 */
export const BundlerRulesUnseen = code("simulate", ["info"], "BundlerRulesUnseen", [
  "whether a bundler takes the user operation by its own rules is not known",
]);

/**
 * The validation by the account, its factory or its paymaster breaks a rule (ERC-7562) of the shared mempool.
 * @figures text("by", "the paymaster"), address("entity", alice), text("rule", "OP-011"), text("does", "TIMESTAMP"),
 *   address("at", alice)
 */
export const BundlerRuleBroken = code("simulate", ["warning"], "BundlerRuleBroken", [
  "bundlers refuse the user operation, for its validation breaks a rule of theirs",
  "change what is named, or send it by a bundler that allows it",
]);

const measured = { evidence: "measured" } as const;
const unavailable = { evidence: "unavailable" } as const;

/** Counts the earlier operations of the same sender with the same nonce key. */
const queuedBefore = ({ input: { operation, entryPoint } }: Ran, { transactions }: Seen, place: number): bigint => {
  const sender = operation.sender.slice(2).padStart(64, "0");
  const isOwn = ({ address: at, topics: told, data }: OutcomeLog) =>
    lower(at) === entryPoint &&
    told[0] === topics.done &&
    told[2]?.slice(2).toLowerCase() === sender &&
    (wordAt(data, dataAt) ?? 0n) >> 64n === operation.nonce >> 64n;
  return BigInt(transactions.slice(0, place).reduce((sum, { outcome }) => sum + outcome.logs.filter(isOwn).length, 0));
};

/** Wei that the operations of a run are charged by an EntryPoint. */
const chargedIn = ({ transactions }: Seen, entryPoint: Address): bigint =>
  transactions
    .flatMap(({ outcome }) => outcome.logs)
    .filter(({ address: at, topics: [topic] }) => lower(at) === entryPoint && topic === topics.done)
    .reduce((sum, { data }) => sum + (wordAt(data, dataAt + 128) ?? 0n), 0n);

/** The times that a word of validation data sets; null = none. `isBlocks`: they are block numbers (EntryPoint 0.9). */
const timesIn = (word: bigint, version: string) => {
  const [until, after] = [(word >> 160n) & mostTime, (word >> 208n) & mostTime];
  const isBlocks = version === "0.9" && until > blockFlag && after > blockFlag;
  const [last, first] = isBlocks ? [until - blockFlag, after - blockFlag] : [until, after];
  return { isBlocks, until: last === 0n ? null : last, after: first === 0n ? null : first };
};
const mostTime = 2n ** 48n - 1n;
const blockFlag = 2n ** 47n;

/** The times at which account and paymaster accept it, by their answers in a trace; null = not seen, or in two units. */
const validityIn = ({ input: { operation, version, entryPoint } }: Ran, { traces }: Seen, place: number) => {
  const answers = framesOf(traces[place]?.trace).flatMap(({ from, to, data, answer, hasFailed }) => {
    const selector = data.slice(0, 10);
    if (from !== entryPoint || hasFailed) return [];
    const isAccount = to === operation.sender && (selector === "0x19822f7c" || selector === "0x3a871cdd");
    const isPaymaster = to === operation.paymaster && (selector === "0x52b7512c" || selector === "0xf465c77e");
    const word = isAccount ? wordAt(answer, dataAt) : isPaymaster ? wordAt(answer, dataAt + 64) : null;
    return word === null ? [] : [timesIn(word, version)];
  });
  if (answers.length !== (operation.paymaster === null ? 1 : 2)) return null;
  const bounded = answers.filter(({ until, after }) => until !== null || after !== null);
  const isBlocks = bounded.some((one) => one.isBlocks);
  // why: one range cannot hold a bound in blocks and one in seconds
  if (bounded.some((one) => one.isBlocks !== isBlocks)) return null;
  const [lasts, firsts] = [bounded.flatMap(({ until }) => until ?? []), bounded.flatMap(({ after }) => after ?? [])];
  const least = (all: ReadonlyArray<bigint>) =>
    all.reduce<bigint | null>((a, b) => (a === null || b < a ? b : a), null);
  const most = (all: ReadonlyArray<bigint>) => all.reduce<bigint | null>((a, b) => (a === null || b > a ? b : a), null);
  return { validAfter: most(firsts), validUntil: least(lasts), validIn: isBlocks ? "blocks" : "seconds" } as const;
};

/** The first word of the answer to a query; null = there is none. */
const wordOfQuery = ({ before }: Seen, query: Parameters<Seen["before"]["call"]>[0]): bigint | null => {
  const answer = before.call(query);
  return answer?.success === true ? wordAt(answer.data, dataAt) : null;
};

/** Seconds for which a stake has to stay locked, as bundlers demand it. */
const leastDelay = 86_400n;

/** Findings about bundlers' rules: each rule that a trace shows broken, and the rules that no trace shows. */
const checkRules = ({ input: { operation, entryPoint } }: Ran, seen: Seen, trace: unknown): ReadonlyArray<Finding> => {
  const entities = Operations.entitiesOf(operation);
  const isStaked = (entity: keyof typeof entities): boolean => {
    const account = entities[entity];
    const told = account === null ? null : seen.before.call(Operations.depositQuery(entryPoint, account));
    if (told?.success !== true) return false;
    const [, staked, , delay] = wordsFrom(told.data, dataAt, 4);
    return staked === 1n && delay !== undefined && delay >= leastDelay;
  };
  const { broken, isWhole } = rulesBroken(trace, {
    ...{ entryPoint, entities, creator: senderCreatorOf(entryPoint) },
    staked: new Set((["factory", "account", "paymaster"] as const).filter(isStaked)),
  });
  const books = "reputation, mempool, tips";
  return [
    BundlerRulesUnseen.info(unavailable, text("not seen", isWhole ? books : `opcodes, code, storage, ${books}`)),
    ...broken.map(({ entity, rule, what, at, slot, stakes }) =>
      BundlerRuleBroken.warning(
        measured,
        text("by", `the ${entity}`),
        address("entity", entities[entity]),
        text("rule", rule),
        text("does", what),
        address("at", at),
        slot === null ? null : hash("slot", slot),
        text("allowed with a stake of", stakes.map((one) => `the ${one}`).join(" or ") || null),
      ),
    ),
  ];
};

/** True if the signing key is known: the signer is not the sender, or the sender's own key delegates (EIP-7702). */
const isKey = ({ input: { operation }, signing }: Ran, { before }: Seen): boolean =>
  signing.sign.signer !== operation.sender ||
  operation.authorization !== null ||
  before.account(operation.sender)?.codePrefix.startsWith("0xef0100") === true;

/** An operation, with the facts that its checks need. */
interface Judged extends Ran {
  readonly seen: Seen;
  /** The place of its call among those of the run; -1 = it has none. */
  readonly at: number;
  /** The result of its call; null = the simulation ran none with its signature assumed. */
  readonly outcome: Outcome | null;
  /** The EntryPoint's event about it; null = there is none. */
  readonly told: Told | null;
  /** The chain of its hash; 0 = unknown. */
  readonly chain: number;
  readonly isOfKey: boolean;
  /** Its nonce compared with the expected one; `used`: null = the expected one is unknown. */
  readonly nonce: { readonly used: boolean | null; readonly isLater: boolean };
  readonly prefund: bigint;
  /** Wei that its payer has in the EntryPoint; null = unknown. */
  readonly deposit: bigint | null;
}

const judgedOf = (signing: PlacedSigning, input: OperationInput, seen: Seen): Judged => {
  const { sign } = signing;
  const { operation, version, entryPoint } = input;
  const ran: Ran = { input, signing, hash: sign.digest };
  const at = seen.carriers[0]?.index ?? -1;
  const outcome = seen.mode === "shim" ? (seen.transactions[at]?.outcome ?? null) : null;
  const next = wordOfQuery(seen, Operations.nonceQuery(entryPoint, operation));
  const due = next === null ? null : next + queuedBefore(ran, seen, at);
  return {
    ...{ ...ran, seen, at, outcome, isOfKey: isKey(ran, seen) },
    told: outcome === null ? null : resultIn(outcome, entryPoint, sign.digest),
    chain: sign.kind === "userOperation" ? sign.chainId : 0,
    nonce: { used: due === null ? null : operation.nonce < due, isLater: due !== null && operation.nonce > due },
    prefund: Operations.prefundOf(operation, version),
    deposit: wordOfQuery(seen, Operations.depositQuery(entryPoint, Operations.payerOf(operation))),
  };
};

const isElsewhere = ({ chain, seen: { chainId } }: Judged): boolean => chainId !== null && chain !== chainId;

/** Findings about the operation itself: its chain, its signing key and its nonce. */
const checkSaid = (judged: Judged): ReadonlyArray<Finding> => {
  const { chain, isOfKey, nonce, signing } = judged;
  const { chainId, say } = judged.seen;
  const elsewhere = () =>
    fromError(new ChainIdMismatch({ expected: BigInt(chain), actual: BigInt(chainId ?? 0) }), "blocker", {
      ...{ step: "chain", transaction: null, evidence: "measured" },
    });
  return [
    ...(chain === 0
      ? [say.notAssumed(signing.use.unread ?? "the chain could not be read, which it is bound to")]
      : isElsewhere(judged)
        ? [elsewhere()]
        : []),
    ...(isOfKey ? [] : [say.notAssumed("nobody knows whose key signs: name the signer")]),
    ...(nonce.used === true ? [say.used] : []),
    ...(nonce.isLater ? [say.notYet] : []),
  ];
};

/** Findings about a paymaster whose signature is assumed, too. */
const checkPaymaster = ({ input, signing: { stand }, outcome, seen }: Judged): ReadonlyArray<Finding> => {
  const { before, say } = seen;
  if (outcome === null || stand.paymaster === undefined) return [];
  const query = Operations.paymasterHashQuery(input);
  const answer = query === null ? null : before.call(query);
  // why: the simulation assumes the paymaster's signature over the hash that `getHash` returned earlier
  const isOther = answer?.success !== true || Operations.messageHash(answer.data) !== stand.paymaster.digest;
  // why: without a separate `paymasterSignature`, the account's signature also covers that of the paymaster
  const isFirst = input.operation.paymasterSignature === null;
  return [
    ...(isOther ? [say.notAssumed("the paymaster hashes something else")] : []),
    ...(isFirst ? [say.notAssumed("the paymaster has to sign first, for what it signs is signed too")] : []),
  ];
};

/** Compares its calls with a run without assumed signatures: code that detects the assumption does something else there. */
const checkPlain = ({ input: { operation }, told, seen: { isPlain, say } }: Judged): ReadonlyArray<Finding> => {
  if (told?.success !== true) return [];
  if (isPlain === false) return [say.notAssumed("its calls do something else where no signature is assumed")];
  return isPlain === null && operation.callData !== "0x"
    ? [say.assumedAlone("its calls could not be run without the assumption beside it")]
    : [];
};

/** The findings of its own call; null = it was not seen. */
const checkCall = (judged: Judged): ReadonlyArray<Finding> | null => {
  const { chain, isOfKey, outcome, seen } = judged;
  return outcome === null ? null : checkRun(judged, outcome, seen, chain === 0 || isElsewhere(judged) || !isOfKey);
};

/**
 * The findings of its call that the report shows. None if the call fails only for its nonce, or if the code that the hash may
 * name is unknown; an unknown chain alone removes none.
 */
const toldOfCall = ({ nonce, outcome, signing, seen: { say } }: Judged, call: ReadonlyArray<Finding> | null) => {
  if (signing.use.unread !== null) return [];
  const isOfNonce = ({ numbers }: Finding) => numbers.some(({ value }) => String(value).startsWith("AA25"));
  return [
    ...(outcome === null ? [say.notAssumed("no call of the account does the same on this node")] : []),
    ...(nonce.isLater && call?.some(isOfNonce) === true ? [] : (call ?? [])),
  ];
};

const checkPrefund = (judged: Judged, isBlind: boolean): ReadonlyArray<Finding> => {
  const { input, signing, told, prefund, deposit, seen } = judged;
  const { sender, paymaster } = input.operation;
  const balance = paymaster === null ? (seen.before.account(sender)?.balance ?? null) : 0n;
  const isShort = deposit !== null && balance !== null && deposit + balance < prefund;
  if (!isShort || !(isBlind ? signing.place === 0 : told === null)) return [];
  return [
    OperationPrefund.blocker(
      measured,
      address("payer", Operations.payerOf(input.operation)),
      wei("held back", prefund),
      wei("deposit", deposit),
      paymaster === null ? wei("balance", balance) : null,
    ),
  ];
};

/** Findings of the run that the operation's findings replace: about its call, and about the balances of its EntryPoint. */
const replacedOf = (judged: Judged, call: ReadonlyArray<Finding> | null): ReadonlyArray<Finding> => {
  const { input, signing, outcome, at, seen } = judged;
  const { entryPoint } = input;
  const isTold = outcome !== null && call !== null && (outcome.status !== "success" || call.length > 0);
  const isOfCall = ({ severity, transaction, step }: Finding) =>
    severity === "blocker" && step === "simulate" && transaction === at;
  const charged = chargedIn(seen, entryPoint);
  // why: an EntryPoint's balances change by its operations' cost, which the report shows by itself
  const isOfBooks = ({ code: name, numbers }: Finding) => {
    const valueOf = (of: string) => numbers.find((figure) => figure.name === of)?.value;
    const [said, had] = [valueOf("events say"), valueOf("measured")];
    const isParty = [valueOf("token"), valueOf("of")].some((one) => one === entryPoint || one === signing.stand.taker);
    const off = typeof said === "bigint" && typeof had === "bigint" ? said - had : null;
    return name === TransferMismatch.code && isParty && off !== null && off <= charged && -off <= charged;
  };
  return seen.found.filter((one) => (isTold && isOfCall(one)) || isOfBooks(one));
};

/** The record of the operation in the report. */
const signingOf = (judged: Judged): Signing => {
  const { input, signing, seen, at, outcome, told, nonce, prefund, deposit } = judged;
  const { sign, use, place, stand, origin } = signing;
  const { operation, version, entryPoint } = input;
  const valid = outcome === null ? null : validityIn(judged, seen, at);
  const isTimed = valid?.validIn === "seconds";
  return {
    ...{ sign, kind: use.kind, account: use.account, usableBy: use.usableBy, contract: use.contract },
    from: isTimed && valid.validAfter !== null ? valid.validAfter + 1n : null,
    until: isTimed ? valid.validUntil : null,
    ...{ ends: use.ends, repeats: use.repeats, origin, place, stand },
    nonce: { value: operation.nonce, used: nonce.used },
    assumed: outcome === null ? null : "shim",
    evidence: outcome === null ? "unavailable" : "assumed",
    operation: {
      ...{ entryPoint, version, hash: sign.digest, prefund, deposit, payer: Operations.payerOf(operation) },
      nonce: { key: operation.nonce >> 64n, sequence: operation.nonce & (2n ** 64n - 1n) },
      ...{ success: told?.success ?? null, actualGasUsed: told?.gas ?? null, actualGasCost: told?.cost ?? null },
      ...(valid ?? { validAfter: null, validUntil: null, validIn: null }),
    },
  };
};

/** The judgement of a user operation. */
export const judgedOperation = (signing: PlacedSigning, input: OperationInput, seen: Seen): Judgement => {
  const judged = judgedOf(signing, input, seen);
  const call = checkCall(judged);
  return {
    findings: [
      ...checkRules(judged, seen, judged.outcome === null ? null : seen.traces[judged.at]?.trace),
      ...[...checkSaid(judged), ...checkPaymaster(judged), ...checkPlain(judged)],
      ...[...toldOfCall(judged, call), ...checkPrefund(judged, call === null)],
    ],
    replaced: replacedOf(judged, call),
    signing: signingOf(judged),
  };
};
