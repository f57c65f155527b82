/** Whether what endpoints answered is one answer: each beside the first. Pure. */
import * as Result from "effect/Result";
import type { RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";
import { escapeText } from "../../primitives/text.js";
import type { Testimony } from "../run.js";
import { differenceOf, isDoubtOnly, partsOf, type Look, type Parts } from "./normal.js";
import type { State } from "./question.js";

export type Answer = Result.Result<unknown, RpcError | Verdict>;

/** What another endpoint is found to say beside the first. */
export type Finding =
  | { readonly kind: "agreed" }
  | {
      readonly kind: "disagreed" | "pending" | "unconfirmed";
      readonly path: string;
      readonly values: readonly [string, string];
    };

const agreed: Finding = { kind: "agreed" };

export const unconfirmed = (why: string): Finding => ({ kind: "unconfirmed", path: "", values: ["answered", why] });

/** What an answer says; a verdict on the transaction is an answer, a failure to answer is none. */
const saidBy = (method: string, params: ReadonlyArray<unknown>, answer: Answer, look: Look): Parts | RpcError => {
  if (Result.isSuccess(answer)) return partsOf(method, params, answer.success, look);
  const { failure } = answer;
  return failure._tag === "RpcError" ? failure : new Map([["refused", failure._tag]]);
};

/** The kind that a difference is of, by what it is about. */
const kindOf = (state: State): Exclude<Finding["kind"], "agreed"> =>
  state === "sealed" ? "disagreed" : state === "pending" ? "pending" : "unconfirmed";

/** One answer beside the first, about a state. The first is an answer. */
export const compareAnswers = (
  asked: { readonly method: string; readonly params: ReadonlyArray<unknown>; readonly state: State },
  first: Answer,
  other: Answer,
  isMoved = false,
): Finding => {
  const { method, params, state } = asked;
  const look = { isOpen: state !== "sealed", isMoved };
  const [mine, theirs] = [saidBy(method, params, first, look), saidBy(method, params, other, look)];
  if ("_tag" in theirs) return unconfirmed(`${theirs.reason._tag} ${theirs.reason.detail}`.trim());
  if ("_tag" in mine) return unconfirmed("no answer to compare with");
  const different = differenceOf(mine, theirs);
  if (different === null) return agreed;
  const [path, one, two] = different;
  const kind = kindOf(state);
  return { kind: kind === "disagreed" && isDoubtOnly(path) ? "unconfirmed" : kind, path, values: [one, two] };
};

/**
 * Two heads. Each may be ahead; of the same block all must say the same; two blocks of one number are two branches, of
 * which one will not stay.
 */
export const compareHeads = (first: Answer, other: Answer): Finding => {
  const asked = { method: "eth_getBlockByNumber", params: [], state: "sealed" } as const;
  const seen = compareAnswers(asked, first, other);
  if (seen.kind !== "disagreed") return seen;
  if (seen.path === "number") return agreed;
  return seen.path === "hash" ? { ...seen, kind: "unconfirmed" } : seen;
};

const most = 240;

/** A finding in words, by the names of both. */
export const testimonyOf = (
  { method, run, isSealed }: Pick<Testimony, "method" | "run" | "isSealed">,
  finding: Exclude<Finding, { readonly kind: "agreed" }>,
  names: readonly [string, string],
): Testimony => {
  const about = [run === null ? method : `${method} (${run})`, finding.path].filter((part) => part !== "").join(", ");
  return {
    ...{ kind: finding.kind, isSealed, method, run },
    lines: names.map((name, index) => escapeText(`${name}: ${about}: ${finding.values[index]}`, most)),
  };
};
