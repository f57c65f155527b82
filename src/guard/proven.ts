/** Proves a signature before a key gives it; the key signs only the digest that was proven. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { hashMessage, hashTypedData } from "viem";
import { hashAuthorization } from "viem/utils";
import { InvalidTransaction } from "../errors/index.js";
import { copyOf, isHex, isRecord, safely } from "../primitives/index.js";
import { attempt } from "../promise/facade.js";
import type { Clearance, Report } from "../report/index.js";
import { signingIn, textOf, type GivenSigning } from "../signing/index.js";
import { recoverSigner } from "../transaction/index.js";
import { GuardRefused, refused } from "./failures.js";
import type { ProveRule } from "./provable.js";
import {
  chainOf,
  clear,
  originIn,
  proveIn,
  renewed,
  type Guarding,
  type Pass,
  type SignaturePayload,
} from "./rules.js";

/** A signature that was cleared. */
export type Sign = (typeof Clearance.Type)["signs"][number];

/** The request as an input of the pipeline; null for a kind that cannot be proven. */
const inputOf = ({ kind, address, content }: SignaturePayload, origin: string | null) => {
  if (address === null) return null;
  if (kind === "typedData") return { typedData: content, signer: address };
  if (kind === "authorization") return { authorization: content, signer: address };
  const message = kind === "message" ? textOf(content) : null;
  return message === null ? null : { message, signer: address, ...(origin === null ? {} : { origin }) };
};

/** The digest by viem: an implementation that is independent of the one that proved it. */
const digestOf = (sign: Sign): string | null =>
  safely(() => {
    if (sign.kind === "message") return hashMessage({ raw: sign.message });
    if (sign.kind === "typedData") return hashTypedData(sign.typedData as never);
    return sign.kind === "authorization" ? hashAuthorization(sign) : null;
  }, null);

/** A cleared signature as the signer gets it; typed data comes from its proven JSON, also for a user operation. */
const handedOut = (sign: Sign): Sign => {
  const typedData = sign.kind === "typedData" || sign.kind === "userOperation" ? sign.typedData : undefined;
  const { signer, digest } = sign;
  return typedData === undefined
    ? copyOf(sign)
    : { kind: "typedData", signer, digest, typedData: JSON.parse(JSON.stringify(typedData)) };
};

/** The parts of an answer: 65 bytes, or a signed authorisation; null where it is none. */
const partsOf = (answer: unknown, { kind }: Sign) => {
  if (kind === "authorization")
    return isRecord(answer) ? { r: String(answer["r"]), s: String(answer["s"]), v: Number(answer["yParity"]) } : null;
  if (!isHex(answer) || answer.length !== 132) return null;
  const v = Number(`0x${answer.slice(130)}`);
  return { r: answer.slice(0, 66), s: answer.slice(66, 130), v: v < 27 ? v : v - 27 };
};

/** True if an answer is the signer's signature over the digest that was handed out. */
const isSigned = (answer: unknown, sign: Sign): boolean => {
  const parts = partsOf(answer, sign);
  if (parts === null || (parts.v !== 0 && parts.v !== 1)) return false;
  return recoverSigner(sign.digest, { ...parts, yParity: parts.v }) === sign.signer;
};

/** The accounts that gain by a signature: they may use it, get a right, or are paid. `anyone`: whoever submits it. */
export const beneficiariesOf = ({ signings, approvals, payees }: Report): ReadonlyArray<string> => {
  // why: a transfer by Permit2 lowers the allowance to Permit2, and gives nobody a right
  const granted = approvals.filter(({ before, after }) => before === null || after === null || after > before);
  // why: the account pays the EntryPoint the missing prefund; a larger payment comes from the operation's own calls
  const isHeldBack = (address: string, token: string | null, amount: bigint) =>
    signings.some(({ account, operation }) => {
      if (operation?.entryPoint !== address || token !== null || operation.payer !== account) return false;
      return operation.deposit !== null && amount <= operation.prefund - operation.deposit;
    });
  const paid = payees.filter(
    ({ address, receives, rights }) =>
      receives.some(({ token, amount }) => !isHeldBack(address, token, amount)) ||
      rights.some(({ kind }) => kind === "delegation" || kind === "control"),
  );
  const taking = [...granted.map(({ spender }) => spender), ...paid.map(({ address }) => address)];
  return signings.flatMap(({ sign, account, usableBy, stand }) => {
    const message = sign.kind === "typedData" ? sign.typedData["message"] : null;
    const spender = isRecord(message) && isHex(message["spender"]) ? message["spender"] : null;
    // why: a signature that anyone may use, such as a permit, gives nothing to the account that submits it
    const all = [usableBy === "anyone" ? null : usableBy, spender, ...taking];
    const own: ReadonlyArray<string | null> = [null, account, sign.signer, stand.taker];
    return all.flatMap((one) => (one === null || own.includes(one) ? [] : one === stand.stranger ? "anyone" : one));
  });
};

/** The reason why a cleared signature is refused; null = it is not. */
const wrongIn =
  ({ spenders }: ProveRule, sign: Sign) =>
  ({ signs }: typeof Clearance.Type, report: Report): GuardRefused | null => {
    const known = spenders?.map((spender) => spender.toLowerCase());
    const taker = beneficiariesOf(report).find((one) => known?.includes(one) === false);
    // guard: somebody gains by a signature and is not named
    if (taker !== undefined) return new GuardRefused("signatures.prove.spenders", `${taker} is not among them`);
    const isOne = signs.length === 1 && report.signings.length === 1;
    // why: a report's own fields are not trusted
    return isOne && signs.every(({ digest, signer }) => digest === sign.digest && signer === sign.signer)
      ? null
      : new GuardRefused("digest", "what was proven is not what is to be signed");
  };

/**
 * Returns a signature whose use is proven, cleared and within the rule. `hand` gets the proven content to sign, not the
 * caller's own; its answer has to be the signer's signature over exactly that.
 */
export const proven = Effect.fnUntraced(function* (
  guard: Guarding,
  pass: Pass,
  method: string,
  payload: SignaturePayload,
  hand: (sign: Sign) => Promise<unknown>,
) {
  const { rules, options, on } = guard;
  const rule = proveIn(rules) ?? {};
  const input = inputOf(payload, originIn(rules));
  // guard: a signature that nobody can prove
  if (input === null) return yield* refused(method, "signs something that no simulation shows");
  const { sign, use } = yield* Effect.fromResult(
    Result.mapError(signingIn(input), (problem) => new InvalidTransaction(problem)),
  );
  // guard: a kind that is not named
  if (rule.kinds?.some((kind) => kind === use.kind) === false)
    return yield* refused("signatures.prove.kinds", `${use.kind} is not among them`);
  const chainId = yield* chainOf(guard, pass);
  const proving = { policies: [...(options.policies ?? []), ...(rule.policies ?? [])] };
  // its fields are judged by the pipeline once more
  const report = yield* attempt(() => on.signature(input as GivenSigning, proving));
  // guard: a proof on another chain than the wallet's
  if (report.chainId !== null && report.chainId !== chainId)
    return yield* refused("chainId", `the wallet is on chain ${chainId}, and the proof is of chain ${report.chainId}`);
  const clearance = yield* clear(guard, report);
  const wrong = wrongIn(rule, sign);
  const first = wrong(clearance, report);
  if (first !== null) return yield* Effect.fail(first);
  const fresh = yield* renewed(guard, report, clearance.expiresAt, wrong, proving);
  const [cleared = sign] = clearance.signs;
  const handed = handedOut(cleared);
  // why: the signer hashes by its own library, and must get the digest that was proven
  if (digestOf(handed) !== sign.digest)
    return yield* refused("digest", "what is to be signed is not what was proven, as viem hashes it");
  const answer = yield* attempt(() => hand(handed));
  // guard: a signature over something else, or by somebody else
  if (!isSigned(answer, sign))
    return yield* refused("signature", `what the wallet answered is not that of ${sign.signer} over what was proven`);
  yield* renewed(guard, fresh.report, fresh.expiresAt, wrong, proving);
  return answer;
});
