/**
 * User operations (ERC-4337) of a run: the facts of the chain that they hang on, and what became of them, as the EntryPoint's
 * own events and errors tell it. The outer status says nothing of an operation.
 */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { dataAt, digitsAt, nobody, wordAt, wordsFrom } from "../abi/words.js";
import { abisOf } from "../report/options.js";
import { decodeRevert } from "../abi/table.js";
import { describeLayer, describeRevert } from "../abi/print.js";
import type { Revert } from "../abi/revert.js";
import { framesOf } from "../effects/frames.js";
import { isRecord } from "../primitives/record.js";
import { ChainIdMismatch } from "../errors/verdicts.js";
import { callOf } from "../eth/call.js";
import * as Questions from "../eth/questions.js";
import { asked, one, sent, together, when } from "../eth/round.js";
import { isAddress, isBytes, isHash, lower, type Address, type Hash, type Hex } from "../primitives/hex.js";
import { address, gas as gasFigure, hash, text, wei } from "../primitives/statement.js";
import { isNotAssumed } from "../report/byCode.js";
import { code, fromError, type Finding } from "../report/finding.js";
import type { Outcome, OutcomeLog } from "../report/parts.js";
import type { ReportOptions } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import * as Operations from "../signing/index.js";
import type { GasField, OpenSigning, OperationInput, PlacedSigning } from "../signing/index.js";
import { TransferMismatch } from "../steps/assets.js";
import { successOf } from "../steps/reading/askResult.js";
import { rulesBroken } from "./bundlerRules.js";
import { isLacking, learnUntraced, method } from "./extras/stateTraces.js";
import { senderCreatorOf } from "./plainRuns.js";
import type { Judgement, LimitTold, Seen } from "./signings.js";
import { inRound } from "./rounds.js";
import { quantity } from "./wire.js";

/**
 * The operation would not be taken, or its calls fail although the transaction that carries it succeeds.
 * @figures text("by", "the paymaster"), text("because", "AA31 paymaster deposit too low")
 * @unavailable where it was not seen to run, or its gas limits are more than one transaction may have
 */
export const OperationFails = code("simulate", ["blocker", "unavailable"], "OperationFails", [
  "the user operation fails",
  "correct the part that it names, and ask again",
]);

/**
 * Before it runs, the EntryPoint holds back the most that it can cost.
 * @figures address("payer", alice), wei("held back", 3_000_000_000_000_000n), wei("deposit", 0n), wei("balance", 1_000_000_000_000n)
 */
export const OperationPrefund = code("simulate", ["blocker"], "OperationPrefund", [
  "the payer of the user operation has less than is held back for it",
  "send it as much, or lower the gas limits or the fee",
]);

/**
 * Reputation, mempool and tips hang on a bundler's own books, and no node tells them. What validation may do (ERC-7562: opcodes,
 * code, storage) is seen where the node has `erc7562Tracer`.
 * @figures text("not seen", "reputation, mempool, tips")
 */
export const BundlerRulesUnseen = code("simulate", ["info"], "BundlerRulesUnseen", [
  "whether a bundler takes the user operation by its own rules is not known",
]);

/**
 * The account, its factory or its paymaster does what no bundler of the shared mempool lets validation do (ERC-7562).
 * @figures text("by", "the paymaster"), address("entity", alice), text("rule", "OP-011"), text("does", "TIMESTAMP"),
 *   address("at", alice)
 */
export const BundlerRuleBroken = code("simulate", ["warning"], "BundlerRuleBroken", [
  "bundlers refuse the user operation, for its validation breaks a rule of theirs",
  "change what is named, or send it by a bundler that allows it",
]);

const measured = { evidence: "measured" } as const;
const unavailable = { evidence: "unavailable" } as const;

/** The part that failed, by the first digits of the EntryPoint's code. */
const parts: ReadonlyArray<readonly [prefix: string, part: string]> = [
  ["AA1", "the factory"],
  ["AA2", "the account"],
  ["AA3", "the paymaster"],
  ["AA4", "the account"],
  ["AA50", "the paymaster"],
  ["AA51", "the gas limits"],
  ["AA93", "the operation's fields"],
  ["AA94", "the operation's fields"],
  ["AA95", "the bundler"],
  ["AA98", "the paymaster"],
  ["AA99", "the operation's fields"],
  ["AA9", "the EntryPoint"],
];
const partOf = (reason: string): string => parts.find(([prefix]) => reason.startsWith(prefix))?.[1] ?? "the EntryPoint";

const topics = {
  /** `UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)` */
  done: "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f",
  /** `UserOperationRevertReason(bytes32,address,uint256,bytes)` */
  reverted: "0x1c4fada7374c0a9ee8841fc38afe82932dc0f8e69012e927f061a8bae611a201",
  /** `PostOpRevertReason(bytes32,address,uint256,bytes)` */
  postOp: "0xf62676f440ff169a3a9afdbf812e89e7f95975ee8e5c31214ffdef631c5f4792",
  /** `UserOperationPrefundTooLow(bytes32,address,uint256)` */
  tooLow: "0x67b4fa9642f42120bf031f3051d1824b0fe25627945b27b8a6a65d5761d5482e",
} as const;

/** The logs of an EntryPoint with this event of this operation. */
const logsOf = (
  { logs }: Pick<Outcome, "logs">,
  entryPoint: Address,
  topic: Hash,
  hash: Hash,
): ReadonlyArray<OutcomeLog> =>
  logs.filter(
    (log) =>
      lower(log.address) === entryPoint &&
      log.topics[0] === topic &&
      log.topics[1]?.toLowerCase() === hash.toLowerCase(),
  );

/** The bytes at the end of an event that has them behind a nonce. */
const reasonIn = (log: OutcomeLog | undefined): Hex | null => {
  const data = log?.data ?? "0x";
  const length = wordAt(data, dataAt + 128);
  const bytes = length === null ? null : `0x${data.slice(dataAt + 192, dataAt + 192 + Number(length) * 2)}`;
  return isBytes(bytes) ? bytes : null;
};

/** An EntryPoint's word on one operation. */
interface Told {
  readonly success: boolean;
  readonly cost: bigint;
  readonly gas: bigint;
  readonly inner: Hex | null;
  readonly by: string;
}

/** The operation's own event in an outcome; null = there is none. */
const toldIn = (outcome: Pick<Outcome, "logs">, entryPoint: Address, hash: Hash): Told | null => {
  const done = Operations.executedIn({ operation: { entryPoint, hash } }, outcome.logs);
  if (done === null || done.cost === null || done.gas === null) return null;
  const [postOp] = logsOf(outcome, entryPoint, topics.postOp, hash);
  const [low] = logsOf(outcome, entryPoint, topics.tooLow, hash);
  const [reverted] = logsOf(outcome, entryPoint, topics.reverted, hash);
  const by = postOp !== undefined ? "the paymaster" : low !== undefined ? "the gas limits" : "the account's call";
  return { success: done.success, cost: done.cost, gas: done.gas, inner: reasonIn(postOp ?? reverted), by };
};

/** The reason that an EntryPoint gives for a revert, and what was inside; null where it gave none. */
const refusalIn = (revert: Revert | null): { readonly reason: string; readonly inner: Hex | null } | null => {
  const layer = revert?.layers[0].layer;
  if (layer?._tag === "Reason" && layer.reason.startsWith("AA")) return { reason: layer.reason, inner: null };
  if (layer?._tag !== "Custom") return null;
  const [, reason, inner] = layer.args;
  if (layer.name === "FailedOp" || layer.name === "FailedOpWithRevert")
    return typeof reason === "string" ? { reason, inner: isBytes(inner) ? inner : null } : null;
  return { reason: describeLayer(layer), inner: null };
};

/** Words of errors by which code refuses a signature. */
const ofSignature = ["signature", "ecdsa", "signer", "invalid sig", "unauthorized", "validator"];

/** True if the signature, which is yet to be given, may be why code reverted. */
const mayBeOfSignature = (reason: string, inner: string | null): boolean => {
  const told = `${reason} ${inner ?? ""}`.toLowerCase();
  const isSilent = inner === null && (reason.endsWith("reverted") || reason.endsWith("(or OOG)"));
  return isSilent || ofSignature.some((word) => told.includes(word));
};

/** An operation and its run. */
interface Ran {
  readonly input: OperationInput;
  readonly signing: PlacedSigning;
  readonly hash: Hash;
}

/** Codes that what typed data leaves out may be the reason of. */
const untold = ["AA1", "AA20", "AA23", "AA26", "AA4"];

const because = (reason: string) => text("because", reason.slice(0, 200));

const tooMuch = [
  OperationFails.unavailable(unavailable, because("its gas limits are more than one transaction may have")),
];

/** The findings of what became of the operation's own call; null = nothing was seen. */
const checkOutcome = ({ input, hash }: Ran, outcome: Outcome, { options, say }: Pick<Seen, "options" | "say">) => {
  const abis = abisOf(options);
  const inWords = (bytes: Hex | null): string | null =>
    bytes === null || bytes === "0x" ? null : describeRevert(decodeRevert(bytes, abis), { sources: false });
  const fails = (by: string, reason: string, inner: string | null = null): Finding =>
    OperationFails.blocker(measured, text("by", by), because(reason), text("reason", inner));
  if (outcome.status === "success") {
    const told = toldIn(outcome, input.entryPoint, hash);
    if (told === null) return [OperationFails.unavailable(unavailable, because("the EntryPoint told nothing of it"))];
    if (told.success) return [];
    const inner = inWords(told.inner);
    const reason =
      told.by === "the gas limits"
        ? "it cost more than was held back for it"
        : `${told.by === "the paymaster" ? "its work afterwards" : "it"} reverted${inner === null ? " without data" : ""}`;
    return [fails(told.by, reason, inner)];
  }
  if (outcome.status === "unknown") return null;
  const refusal = refusalIn(outcome.revert);
  if (refusal === null) {
    const told = outcome.revert === null ? null : describeRevert(outcome.revert, { sources: false });
    return Operations.isGasCut(input)
      ? tooMuch
      : [fails("the EntryPoint", outcome.status === "halted" ? "it ran out of gas" : "it reverted", told)];
  }
  const { reason } = refusal;
  const inner = inWords(refusal.inner);
  const name = reason.slice(0, 4);
  if (name === "AA24" || name === "AA34" || reason.startsWith("SignatureValidationFailed"))
    return [say.notAssumed(`${partOf(reason)} did not take it: ${reason}`)];
  if (name === "AA95" && Operations.isGasCut(input)) return tooMuch;
  // guard: what typed data does not tell, which is the form of the account's signature, and an authorisation
  if (input.typedData !== null && untold.some((prefix) => name.startsWith(prefix)))
    return [say.notAssumed(`typed data does not tell the whole operation, and ${partOf(reason)} failed: ${reason}`)];
  if ((name === "AA23" || name === "AA33") && mayBeOfSignature(reason, inner)) {
    const told = inner === null ? reason : `${reason}: ${inner}`;
    return [say.notAssumed(`${partOf(reason)} reverted, maybe for it: ${told}`)];
  }
  return [fails(partOf(reason), reason, inner)];
};

/** The limit that may be why it fails, by the code and by what failed; null = gas is not why. */
const suspectOf = (input: OperationInput, outcome: Outcome, hash: Hash): GasField | null => {
  const told = outcome.status === "success" ? toldIn(outcome, input.entryPoint, hash) : null;
  const isEmpty = (bytes: Hex | null | undefined) => bytes == null || bytes === "0x";
  if (told !== null)
    return told.success || !isEmpty(told.inner)
      ? null
      : told.by === "the paymaster"
        ? "paymasterPostOpGasLimit"
        : "callGasLimit";
  const refusal = refusalIn(outcome.revert);
  const name = refusal?.reason.slice(0, 4) ?? "";
  // why: 0.6 verifies both with one limit
  const ofPaymaster = input.version === "0.6" ? "verificationGasLimit" : "paymasterVerificationGasLimit";
  if (name === "AA36" || (name === "AA33" && isEmpty(refusal?.inner))) return ofPaymaster;
  const isVerifying = ["AA13", "AA26", "AA40", "AA41"].includes(name) || (name === "AA23" && isEmpty(refusal?.inner));
  return isVerifying || (refusal === null && outcome.status === "reverted" && isEmpty(outcome.returnData))
    ? "verificationGasLimit"
    : null;
};

/** Shares of a limit, in percent, that are tried beside each other. */
const shares = [110n, 125n, 150n, 200n, 300n, 400n, 600n, 800n, 1_200n, 2_000n, 4_000n, 10_000n];
/** A limit of one part that is larger is refused by bundlers anyway. */
const mostLimit = 10_000_000n;

/** True if an operation with a larger limit gets past what failed. */
const getsPast = (answer: unknown, { input }: Pick<Ran, "input">, hash: Hash, field: GasField): boolean => {
  const [block] = Array.isArray(answer) ? answer.slice(-1) : [];
  const calls: unknown = isRecord(block) ? block["calls"] : null;
  const call: unknown = Array.isArray(calls) ? calls[0] : null;
  const logs: unknown = isRecord(call) ? call["logs"] : null;
  const read = (Array.isArray(logs) ? logs : []).flatMap((log: unknown) => {
    const { address: of, topics: words, data } = isRecord(log) ? log : {};
    return isAddress(of) && isBytes(data) && Array.isArray(words) && words.every(isHash)
      ? [{ address: of, topics: words, data, decoded: null }]
      : [];
  });
  const told = toldIn({ logs: read }, input.entryPoint, hash);
  return (
    told !== null && (told.success || field === "verificationGasLimit" || field === "paymasterVerificationGasLimit")
  );
};

/**
 * Asks what a limit would have to be, by the operation with larger ones beside each other, each with its own hash; where nothing
 * runs in front of it, also as it is. JSON-RPC, in a round of its own: `eth_simulateV1`, a dozen.
 */
export const askLimit = Effect.fnUntraced(function* (
  signing: PlacedSigning,
  outcome: Outcome,
  options: ReportOptions,
  rpc: Rpc["Service"],
  isFirst: boolean,
): Effect.fn.Return<LimitTold | null> {
  const { sign, stand, use } = signing;
  if (use.operation === undefined || sign.kind !== "userOperation" || use.operation.operation.authorization !== null)
    return null;
  const input = use.operation;
  const field = suspectOf(input, outcome, sign.digest);
  if (field === null) return null;
  const given = input.operation[field];
  const larger = shares.map((share) => (given * share) / 100n + 1_000n).filter((limit) => limit <= mostLimit);
  // why: the code in place of ECRECOVER takes more gas where it asks the true one, and the limit may be enough without it
  const limits = isFirst ? [given, ...larger] : larger;
  const state = options.stateOverrides ?? {};
  const trials = limits.map((limit) => {
    const other = { ...input, operation: { ...input.operation, [field]: limit } };
    const facts = { chainId: sign.chainId, signer: sign.signer, delegate: sign.delegate ?? null };
    const { sign: its, use: itsUse } = Operations.operationSigning(other, facts, stand.paymaster);
    const [call] = itsUse.consume?.(stand) ?? [];
    const moved = `0xa5${stand.taker.slice(4)}` as const;
    const stateOverrides = {
      ...state,
      ...(limit === given
        ? {}
        : { [input.operation.sender]: { ...state[input.operation.sender], balance: quantity(2n ** 96n) } }),
      [Operations.ecrecover]: {
        movePrecompileToAddress: moved,
        code: Operations.shimCode(itsUse.assumes ?? [], moved),
      },
    };
    const { from, to, data = "0x", gas = 0n } = call ?? {};
    // why: of an account that is warm, the true one costs hardly more than in its own place
    const accessList = [{ address: moved, storageKeys: [] }];
    const blockStateCalls = [{ stateOverrides, calls: [{ from, to, input: data, gas: quantity(gas), accessList }] }];
    return Effect.match(rpc.request("eth_simulateV1", [{ blockStateCalls }, options.block ?? "latest"]), {
      onFailure: () => false,
      onSuccess: (answer) => getsPast(answer, { input }, its.digest, field),
    });
  });
  const passed = yield* inRound("doubtfulLimit", Effect.all(trials, { concurrency: "unbounded" }));
  const enough = limits[passed.indexOf(true)];
  return enough === undefined ? null : { field, given, enough };
});

/** Counts what the same sender runs with the same key in front of it. */
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

/** The times that a word of validation data sets; null = none. `isBlocks`: they count blocks, as of EntryPoint 0.9. */
const timesIn = (word: bigint, version: string) => {
  const [until, after] = [(word >> 160n) & mostTime, (word >> 208n) & mostTime];
  const isBlocks = version === "0.9" && until > blockFlag && after > blockFlag;
  const [last, first] = isBlocks ? [until - blockFlag, after - blockFlag] : [until, after];
  return { isBlocks, until: last === 0n ? null : last, after: first === 0n ? null : first };
};
const mostTime = 2n ** 48n - 1n;
const blockFlag = 2n ** 47n;

/** When account and paymaster take it, by their own answers in a trace; null where no trace showed them. */
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
  // why: a bound in blocks and one in seconds are not told in one
  if (bounded.some((one) => one.isBlocks !== isBlocks)) return null;
  const [lasts, firsts] = [bounded.flatMap(({ until }) => until ?? []), bounded.flatMap(({ after }) => after ?? [])];
  const least = (all: ReadonlyArray<bigint>) =>
    all.reduce<bigint | null>((a, b) => (a === null || b < a ? b : a), null);
  const most = (all: ReadonlyArray<bigint>) => all.reduce<bigint | null>((a, b) => (a === null || b > a ? b : a), null);
  return { validAfter: most(firsts), validUntil: least(lasts), validIn: isBlocks ? "blocks" : "seconds" } as const;
};

/** The word that a query was answered with. */
const wordOfQuery = ({ before }: Seen, query: Parameters<Seen["before"]["call"]>[0]): bigint | null => {
  const answer = before.call(query);
  return answer?.success === true ? wordAt(answer.data, dataAt) : null;
};

/** The tracer that shows what validation does, remembered apart: a node may have others. */
const ruling = `${method} erc7562Tracer`;

/** Ms that the first answer of a tracer may take longer than that of another. */
const mostBehind = 400;

/**
 * The calls within a bundler's call, by the tracer that shows the rules of bundlers beside them, or by `callTracer`, which was
 * asked for, where the node has no answer. JSON-RPC: `debug_traceCall` with `erc7562Tracer`; as long as nobody knows whether the
 * node has it, what was asked for beside it.
 */
export const askRuled = (
  rpc: Rpc["Service"],
  params: ReadonlyArray<unknown>,
): ReturnType<Rpc["Service"]["request"]> => {
  const { memory } = rpc;
  const plainly = rpc.request(method, params);
  if (memory.refused(ruling) !== null) return plainly;
  const [call, block, config] = params;
  const ruled = rpc.request(method, [call, block, { ...(isRecord(config) ? config : {}), tracer: "erc7562Tracer" }]);
  // why: a node that takes too long does so the next time, too
  const heard = Effect.match(
    Effect.onInterrupt(ruled, () => Effect.sync(() => learnUntraced(memory, ruling))),
    {
      onFailure: (failure) => {
        if (isLacking(failure)) learnUntraced(memory, ruling);
        return null;
      },
      onSuccess: (trace) => {
        memory.heard(ruling, Result.succeed(null));
        memory.learn("rules", true);
        return trace;
      },
    },
  );
  if (memory.recall("rules") === true)
    return Effect.flatMap(heard, (trace) => (trace === null ? plainly : Effect.succeed(trace)));
  return Effect.gen(function* () {
    const fiber = yield* Effect.forkScoped(heard);
    const trace = yield* plainly;
    const told = yield* Effect.timeoutOption(Fiber.join(fiber), mostBehind);
    return Option.getOrNull(told) ?? trace;
  }).pipe(Effect.scoped);
};

/** Seconds for which a stake has to stay locked, as bundlers demand it. */
const leastDelay = 86_400n;

/** What is said of the rules of bundlers: those that a trace shows to be broken, and that others are not seen. */
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

/** True of an account that is a key, whose own signature is the account's: it delegates, or is about to. */
const isKey = ({ input: { operation }, signing }: Ran, { before }: Seen): boolean =>
  signing.sign.signer !== operation.sender ||
  operation.authorization !== null ||
  before.account(operation.sender)?.codePrefix.startsWith("0xef0100") === true;

/** The findings of its own call: a limit that is too low is named, and what is not there. */
const checkAll = (ran: Ran, outcome: Outcome, seen: Seen, isUnsure: boolean) => {
  const { before, limitOf } = seen;
  const { sender, factory } = ran.input.operation;
  const isMissing = factory === null && before.account(sender)?.codeSize === 0n && outcome.revert?.data === "0x";
  // why: EntryPoints before 0.8 call it without looking, and revert without a word
  if (isMissing && ran.input.operation.authorization === null)
    return [OperationFails.blocker(measured, text("by", "the account"), because("AA20 account not deployed"))];
  const found = checkOutcome(ran, outcome, seen);
  const low = limitOf(ran.signing);
  if (low !== null && low.enough === low.given)
    return [seen.say.notAssumed(`the simulation itself takes up to 3000 gas more, and ${low.field} is that near`)];
  if (low !== null && found !== null) {
    const { reason = "it reverted without data" } = refusalIn(outcome.revert) ?? {};
    const [first] = found;
    const told = first?.code === OperationFails.code ? first.numbers : [text("by", partOf(reason)), because(reason)];
    const more = [text("too low", low.field), gasFigure("given", low.given), gasFigure("enough", low.enough)];
    return [OperationFails.blocker(measured, ...told, ...more)];
  }
  return isUnsure ? (found ?? []).filter((finding) => !isNotAssumed(finding)) : found;
};

/** The judgement of a user operation. */
export const judgedOperation = (signing: PlacedSigning, input: OperationInput, seen: Seen): Judgement => {
  const { sign, use, place, stand, origin } = signing;
  const { before, carriers, chainId, transactions, found, say } = seen;
  const ran: Ran = { input, signing, hash: sign.digest };
  const { operation, version, entryPoint } = input;
  const at = carriers[0]?.index ?? -1;
  const outcome = transactions[at]?.outcome ?? null;
  const isCarried = outcome !== null && seen.mode === "shim";
  const findings: Array<Finding> = [...checkRules(ran, seen, isCarried ? seen.traces[at]?.trace : null)];
  const own = sign.kind === "userOperation" ? sign.chainId : 0;
  if (own === 0) findings.push(say.notAssumed("the chain could not be read, which it is bound to"));
  else if (chainId !== null && own !== chainId)
    findings.push(
      fromError(new ChainIdMismatch({ expected: BigInt(own), actual: BigInt(chainId) }), "blocker", {
        ...{ step: "chain", transaction: null, evidence: "measured" },
      }),
    );
  if (!isKey(ran, seen)) findings.push(say.notAssumed("nobody knows whose key signs: name the signer"));
  const deposit = wordOfQuery(seen, Operations.depositQuery(entryPoint, Operations.payerOf(operation)));
  const next = wordOfQuery(seen, Operations.nonceQuery(entryPoint, operation));
  const due = next === null ? null : next + queuedBefore(ran, seen, at);
  const [isUsed, isLater] = due === null ? [null, false] : [operation.nonce < due, operation.nonce > due];
  if (isUsed === true) findings.push(say.used);
  if (isLater) findings.push(say.notYet);
  if (isCarried && stand.paymaster !== undefined) {
    const query = Operations.paymasterHashQuery(input);
    const answer = query === null ? null : before.call(query);
    // why: what is assumed is what it asks for
    if (answer?.success !== true || Operations.messageHash(answer.data) !== stand.paymaster.digest)
      findings.push(say.notAssumed("the paymaster hashes something else"));
    // why: what the paymaster signs is then a part of what the account signs
    if (operation.paymasterSignature === null)
      findings.push(say.notAssumed("the paymaster has to sign first, for what it signs is signed too"));
  }
  const told = isCarried ? toldIn(outcome, entryPoint, sign.digest) : null;
  // why: code that does something else where it sees that signatures are assumed is found out by that
  if (told?.success === true && seen.isPlain === false)
    findings.push(say.notAssumed("its calls do something else where no signature is assumed"));
  if (told?.success === true && seen.isPlain === null && operation.callData !== "0x")
    findings.push(say.assumedAlone("its calls could not be run without the assumption beside it"));
  const isUnsure = own === 0 || (chainId !== null && own !== chainId) || !isKey(ran, seen);
  const seenIn = isCarried ? checkAll(ran, outcome, seen, isUnsure) : null;
  const valid = isCarried ? validityIn(ran, seen, at) : null;
  const isTimed = valid?.validIn === "seconds";
  const isBlind = seenIn === null;
  if (!isCarried) findings.push(say.notAssumed("no call of the account does the same on this node"));
  // why: an operation that waits fails now, and nobody knows what it does then
  const isNonce = (seenIn ?? []).some(({ numbers }) => numbers.some(({ value }) => String(value).startsWith("AA25")));
  findings.push(...(isLater && isNonce ? [] : (seenIn ?? [])));
  const prefund = Operations.prefundOf(operation, version);
  const balance = operation.paymaster === null ? (before.account(operation.sender)?.balance ?? null) : 0n;
  const isShort = deposit !== null && balance !== null && deposit + balance < prefund;
  if (isShort && (isBlind ? place === 0 : told === null))
    findings.push(
      OperationPrefund.blocker(
        measured,
        address("payer", Operations.payerOf(operation)),
        wei("held back", prefund),
        wei("deposit", deposit),
        operation.paymaster === null ? wei("balance", balance) : null,
      ),
    );
  const isTold = isCarried && seenIn !== null && (outcome.status !== "success" || seenIn.length > 0);
  const isOfCall = ({ severity, transaction, step }: Finding) =>
    severity === "blocker" && step === "simulate" && transaction === at;
  const charged = chargedIn(seen, entryPoint);
  // why: the books of an EntryPoint change by what its operations are charged, which is told by itself
  const isOfBooks = ({ code: name, numbers }: Finding) => {
    const valueOf = (of: string) => numbers.find((figure) => figure.name === of)?.value;
    const [said, had] = [valueOf("events say"), valueOf("measured")];
    const isParty = [valueOf("token"), valueOf("of")].some((one) => one === entryPoint || one === stand.taker);
    const off = typeof said === "bigint" && typeof had === "bigint" ? said - had : null;
    return name === TransferMismatch.code && isParty && off !== null && off <= charged && -off <= charged;
  };
  const kept = found.filter((one) => (isTold && isOfCall(one)) || isOfBooks(one));
  return {
    findings,
    kept,
    signing: {
      ...{ sign, kind: use.kind, account: use.account, usableBy: use.usableBy, contract: use.contract },
      from: isTimed && valid.validAfter !== null ? valid.validAfter + 1n : null,
      until: isTimed ? valid.validUntil : null,
      ...{ ends: use.ends, repeats: use.repeats, origin, place, stand },
      nonce: { value: operation.nonce, used: isUsed },
      assumed: isCarried ? "shim" : null,
      evidence: isCarried ? "assumed" : "unavailable",
      operation: {
        ...{ entryPoint, version, hash: sign.digest, prefund, deposit, payer: Operations.payerOf(operation) },
        nonce: { key: operation.nonce >> 64n, sequence: operation.nonce & (2n ** 64n - 1n) },
        ...{ success: told?.success ?? null, actualGasUsed: told?.gas ?? null, actualGasCost: told?.cost ?? null },
        ...(valid ?? { validAfter: null, validUntil: null, validIn: null }),
      },
    },
  };
};

/** The last 20 bytes of an answer of one word; null where it is none, or names nobody. */
const addressIn = (answer: Hex | null): Address | null => {
  const digits = answer === null ? null : digitsAt(answer, dataAt);
  const found = digits?.startsWith("0".repeat(24)) === true ? (`0x${digits.slice(24)}` as Address) : null;
  return found === nobody ? null : found;
};

/**
 * An operation with the facts that it hangs on. JSON-RPC, in a round in front, each where the input does not tell it:
 * `eth_chainId`; `eth_getCode` of the sender and `eth_call` of its `owner()`; `eth_call` of the paymaster's `getHash`.
 */
export const resolvedOperation = Effect.fnUntraced(function* (
  { place, stand }: OpenSigning,
  input: OperationInput,
  options: ReportOptions,
): Effect.fn.Return<PlacedSigning, never, Rpc> {
  const rpc = yield* Rpc;
  const { operation } = input;
  const { sender } = operation;
  const block = options.block ?? "latest";
  const known = input.chainId ?? rpc.memory.recall("chainId");
  const named = Operations.delegateOf(operation);
  const isNaming = Operations.namesDelegate(input);
  const isSignerAsked = input.signer === null && operation.authorization === null;
  // why: in what is hashed a code that its sender delegates to stands in the place of a factory
  const isFactoryAsked = input.typedData !== null && operation.factory !== null;
  const paymaster = input.paymasterSigner === null ? null : Operations.paymasterHashQuery(input);
  const isCodeAsked = isSignerAsked || isFactoryAsked || (isNaming && named === null);
  const isAsked = known === null || isCodeAsked || paymaster !== null;
  const ask = together({
    chainId: when(known === null, one(Questions.chainId), null),
    code: when(isCodeAsked, one(Questions.code({ address: sender, block })), null),
    owner: when(isSignerAsked, one(callOf({ to: sender, data: "0x8da5cb5b", block }, false)), null),
    paymaster: when(
      paymaster !== null,
      one(callOf({ to: paymaster?.to ?? sender, data: paymaster?.data ?? "0x", block }, false)),
      null,
    ),
  });
  const facts = isAsked ? yield* inRound("unsigned", sent(asked({ step: "chain" }, ask))) : null;
  const codeOf = successOf(facts?.code ?? null)?.toLowerCase() ?? "0x";
  const delegate = codeOf.startsWith("0xef0100") ? (`0x${codeOf.slice(8)}` as Address) : null;
  const owner = delegate === null ? addressIn(successOf(facts?.owner ?? null)) : null;
  const digest = successOf(facts?.paymaster ?? null);
  const assumed =
    input.paymasterSigner === null || digest?.length !== 66
      ? undefined
      : { digest: Operations.messageHash(digest), signer: input.paymasterSigner };
  const isDelegated = isFactoryAsked && operation.factory === delegate;
  return {
    ...Operations.operationSigning(
      isDelegated ? { ...input, operation: { ...operation, factory: Operations.delegated } } : input,
      {
        chainId: known ?? successOf(facts?.chainId ?? null) ?? 0,
        signer: input.signer ?? owner ?? sender,
        delegate: isNaming || isDelegated ? (named ?? delegate) : null,
      },
      assumed,
    ),
    place,
    stand: { ...stand, ...(assumed === undefined ? {} : { paymaster: assumed }) },
  };
});
