/** A user operation's result by the EntryPoint's events and errors: its calls may fail while `handleOps` succeeds. Pure. */
import { dataAt, wordAt } from "../abi/words.js";
import { describeLayer, describeRevert } from "../abi/print.js";
import type { Revert } from "../abi/revert.js";
import { decodeRevert } from "../abi/table.js";
import { isBytes, lower, type Address, type Hash, type Hex } from "../primitives/hex.js";
import { gas as gasFigure, text } from "../primitives/statement.js";
import { isNotAssumed } from "../report/byCode.js";
import { code, type Finding } from "../report/finding.js";
import { abisOf } from "../report/options.js";
import type { Outcome, OutcomeLog } from "../report/parts.js";
import * as Operations from "../signing/index.js";
import type { GasField, OperationInput, PlacedSigning } from "../signing/index.js";
import type { Seen } from "./signings.js";

/**
 * The EntryPoint would reject the operation, or its calls fail although the bundler's transaction succeeds.
 * @figures text("by", "the paymaster"), text("because", "AA31 paymaster deposit too low")
 * @unavailable where it was not seen to run, or its gas limits are more than one transaction may have
 */
export const OperationFails = code("simulate", ["blocker", "unavailable"], "OperationFails", [
  "the user operation fails",
  "correct the part that it names, and ask again",
]);

const measured = { evidence: "measured" } as const;
const unavailable = { evidence: "unavailable" } as const;

/** The part that failed, by the prefix of the EntryPoint's error code. */
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

/** Topics of an EntryPoint's events. */
export const topics = {
  /** `UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)` */
  done: "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f",
  /** `UserOperationRevertReason(bytes32,address,uint256,bytes)` */
  reverted: "0x1c4fada7374c0a9ee8841fc38afe82932dc0f8e69012e927f061a8bae611a201",
  /** `PostOpRevertReason(bytes32,address,uint256,bytes)` */
  postOp: "0xf62676f440ff169a3a9afdbf812e89e7f95975ee8e5c31214ffdef631c5f4792",
  /** `UserOperationPrefundTooLow(bytes32,address,uint256)` */
  tooLow: "0x67b4fa9642f42120bf031f3051d1824b0fe25627945b27b8a6a65d5761d5482e",
} as const;

/** The EntryPoint's logs that have this event about this operation. */
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

/** The bytes after the nonce in an event's data. */
const reasonIn = (log: OutcomeLog | undefined): Hex | null => {
  const data = log?.data ?? "0x";
  const length = wordAt(data, dataAt + 128);
  const bytes = length === null ? null : `0x${data.slice(dataAt + 192, dataAt + 192 + Number(length) * 2)}`;
  return isBytes(bytes) ? bytes : null;
};

/** One operation's result by the EntryPoint's events: `cost` in wei, `inner` = revert data, `by` = the part that failed. */
export interface Told {
  readonly success: boolean;
  readonly cost: bigint;
  readonly gas: bigint;
  readonly inner: Hex | null;
  readonly by: string;
}

/** The operation's result by its events in an outcome; null = there is no `UserOperationEvent` about it. */
export const resultIn = (outcome: Pick<Outcome, "logs">, entryPoint: Address, hash: Hash): Told | null => {
  const done = Operations.executedIn({ operation: { entryPoint, hash } }, outcome.logs);
  if (done === null || done.cost === null || done.gas === null) return null;
  const [postOp] = logsOf(outcome, entryPoint, topics.postOp, hash);
  const [low] = logsOf(outcome, entryPoint, topics.tooLow, hash);
  const [reverted] = logsOf(outcome, entryPoint, topics.reverted, hash);
  const by = postOp !== undefined ? "the paymaster" : low !== undefined ? "the gas limits" : "the account's call";
  return { success: done.success, cost: done.cost, gas: done.gas, inner: reasonIn(postOp ?? reverted), by };
};

/** The reason that an EntryPoint gives for a revert, and the inner revert data; null where it gave none. */
const refusalIn = (revert: Revert | null): { readonly reason: string; readonly inner: Hex | null } | null => {
  const layer = revert?.layers[0].layer;
  if (layer?._tag === "Reason" && layer.reason.startsWith("AA")) return { reason: layer.reason, inner: null };
  if (layer?._tag !== "Custom") return null;
  const [, reason, inner] = layer.args;
  if (layer.name === "FailedOp" || layer.name === "FailedOpWithRevert")
    return typeof reason === "string" ? { reason, inner: isBytes(inner) ? inner : null } : null;
  return { reason: describeLayer(layer), inner: null };
};

/** Words in the errors with which code rejects a signature. */
const ofSignature = ["signature", "ecdsa", "signer", "invalid sig", "unauthorized", "validator"];

/** True if code may have reverted because the signature is made up. */
const mayBeOfSignature = (reason: string, inner: string | null): boolean => {
  const told = `${reason} ${inner ?? ""}`.toLowerCase();
  const isSilent = inner === null && (reason.endsWith("reverted") || reason.endsWith("(or OOG)"));
  return isSilent || ofSignature.some((word) => told.includes(word));
};

/** An operation, its signature and its hash. */
export interface Ran {
  readonly input: OperationInput;
  readonly signing: PlacedSigning;
  readonly hash: Hash;
}

/** Codes that may come from a field that typed data leaves out. */
const untold = ["AA1", "AA20", "AA23", "AA26", "AA4"];

const because = (reason: string) => text("because", reason.slice(0, 200));

const tooMuch = [
  OperationFails.unavailable(unavailable, because("its gas limits are more than one transaction may have")),
];

/** The findings about the operation's own call; null = it was not seen. */
const checkOutcome = ({ input, hash }: Ran, outcome: Outcome, { options, say }: Pick<Seen, "options" | "say">) => {
  const abis = abisOf(options);
  const inWords = (bytes: Hex | null): string | null =>
    bytes === null || bytes === "0x" ? null : describeRevert(decodeRevert(bytes, abis), { sources: false });
  const fails = (by: string, reason: string, inner: string | null = null): Finding =>
    OperationFails.blocker(measured, text("by", by), because(reason), text("reason", inner));
  if (outcome.status === "success") {
    const told = resultIn(outcome, input.entryPoint, hash);
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
  // guard: typed data leaves out the form of the account's signature, and an authorisation
  if (input.typedData !== null && untold.some((prefix) => name.startsWith(prefix)))
    return [say.notAssumed(`typed data does not tell the whole operation, and ${partOf(reason)} failed: ${reason}`)];
  if ((name === "AA23" || name === "AA33") && mayBeOfSignature(reason, inner)) {
    const told = inner === null ? reason : `${reason}: ${inner}`;
    return [say.notAssumed(`${partOf(reason)} reverted, maybe for it: ${told}`)];
  }
  return [fails(partOf(reason), reason, inner)];
};

/**
 * The findings about an operation's call; they also name a gas limit that is too low, or an account without code. null = the
 * call was not seen. `isUnsure`: other findings say why the signature is not assumed, so the call's `SignatureNotAssumed` is
 * left out, and a call that was not seen has an empty list.
 */
export const checkRun = (ran: Ran, outcome: Outcome, seen: Seen, isUnsure: boolean) => {
  const { before, limitOf } = seen;
  const { sender, factory } = ran.input.operation;
  const isMissing = factory === null && before.account(sender)?.codeSize === 0n && outcome.revert?.data === "0x";
  // why: EntryPoints before 0.8 call it without a check, and revert without data
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

/** The limit that may cause the failure, by the EntryPoint's error code and the failed part; null = gas is not the cause. */
export const suspectedLimitOf = (input: OperationInput, outcome: Outcome, hash: Hash): GasField | null => {
  const told = outcome.status === "success" ? resultIn(outcome, input.entryPoint, hash) : null;
  const isEmpty = (bytes: Hex | null | undefined) => bytes == null || bytes === "0x";
  if (told !== null)
    return told.success || !isEmpty(told.inner)
      ? null
      : told.by === "the paymaster"
        ? "paymasterPostOpGasLimit"
        : "callGasLimit";
  const refusal = refusalIn(outcome.revert);
  const name = refusal?.reason.slice(0, 4) ?? "";
  // why: EntryPoint 0.6 verifies account and paymaster with one limit
  const ofPaymaster = input.version === "0.6" ? "verificationGasLimit" : "paymasterVerificationGasLimit";
  if (name === "AA36" || (name === "AA33" && isEmpty(refusal?.inner))) return ofPaymaster;
  const isVerifying = ["AA13", "AA26", "AA40", "AA41"].includes(name) || (name === "AA23" && isEmpty(refusal?.inner));
  return isVerifying || (refusal === null && outcome.status === "reverted" && isEmpty(outcome.returnData))
    ? "verificationGasLimit"
    : null;
};
