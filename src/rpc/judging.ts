/**
 * Failures of requests: what nodes refuse is judged by the dialects, which are loaded with the first error, for most pages
 * never meet one; and an answer that is not what its method promises.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { classify, ClassifyInput } from "../errors/classify.js";
import { InternalError, MalformedResponse, RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { lazyOr } from "../primitives/effects.js";
import { isRecord } from "../primitives/record.js";
import { escapeText } from "../primitives/text.js";

export type Classify = typeof classify;

/** A failure, or what is known of one that the dialects are to judge. */
export type Unjudged = RpcError | Verdict | ClassifyInput;

/** The node's own words, where nobody came to judge them. */
const unread: Classify = ({ method, httpStatus = null, error, bodyText }) => {
  const words = isRecord(error) ? error["message"] : (error ?? bodyText);
  const detail = typeof words === "string" ? escapeText(words, 512) : "";
  return new RpcError({ method, reason: new InternalError({ detail, httpStatus }) });
};

const dialects = /* @__PURE__ */ lazyOr(
  () => import("../errors/classify.js").then((module): Classify => module.classify),
  unread,
);

/** Gives `callback` the result with its failure judged: at once where the dialects are here or not needed. */
export const judged = <A>(
  result: Result.Result<A, Unjudged>,
  callback: (result: Result.Result<A, RpcError | Verdict>) => void,
): void => {
  if (result._tag === "Success") return callback(Result.succeed(result.success));
  const { failure } = result;
  if ("_tag" in failure) return callback(Result.fail(failure));
  const judge = (classify: Classify) => callback(Result.fail(classify(failure)));
  const loaded = dialects.now();
  if (loaded === null) void dialects.wait().then(judge);
  else judge(loaded);
};

/** Returns what `read` makes of an answer: at once where the dialects are here, or nothing in it is to be judged. */
export const judging = <A>(read: (classify: Classify) => A): Effect.Effect<A> => {
  const loaded = dialects.now();
  let isWanted = false;
  const known = read((input) => {
    isWanted = true;
    return (loaded ?? unread)(input);
  });
  return loaded === null && isWanted ? Effect.map(Effect.promise(dialects.wait), read) : Effect.succeed(known);
};

/** How a request fails. */
export type Failure = RpcError | Verdict;

export const malformed = (method: string, path: string, detail = "", httpStatus: number | null = null): RpcError =>
  new RpcError({ method, reason: new MalformedResponse({ path, detail, httpStatus }) });
