/** What nodes refuse, judged by the dialects, which are loaded with the first error: most pages never meet one. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { classify, ClassifyInput } from "../errors/classify.js";
import { InternalError, RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
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

let loaded: Classify | null = null;
let loading: Promise<Classify> | null = null;

/** Once, and for two seconds at most; whatever comes later serves the next error. */
const load = (): Promise<Classify> =>
  (loading ??= Effect.promise(() =>
    import("../errors/classify.js").then(
      ({ classify }) => {
        loaded = classify;
      },
      () => {
        loading = null;
      },
    ),
  ).pipe(
    Effect.timeout("2 seconds"),
    Effect.ignore,
    Effect.map(() => loaded ?? unread),
    // why: not in the fiber that asks first, for others wait for it as well
    Effect.runPromise,
  ));

/** Gives `done` the result with its failure judged: at once where the dialects are here or not needed. */
export const judged = <A>(
  result: Result.Result<A, Unjudged>,
  done: (result: Result.Result<A, RpcError | Verdict>) => void,
): void => {
  const judge = (classify: Classify) =>
    done(Result.mapError(result, (failure) => ("_tag" in failure ? failure : classify(failure))));
  if (loaded === null && Result.isFailure(result) && !("_tag" in result.failure)) void load().then(judge);
  else judge(loaded ?? unread);
};

/** What `read` makes of an answer: at once where the dialects are here, or nothing in it is to be judged. */
export const judging = <A>(read: (classify: Classify) => A): Effect.Effect<A> => {
  let isWanted = false;
  const known = read((input) => {
    isWanted = true;
    return (loaded ?? unread)(input);
  });
  return loaded === null && isWanted ? Effect.map(Effect.promise(load), read) : Effect.succeed(known);
};
