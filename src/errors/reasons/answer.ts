/** What every reason of a failed request keeps, says and advises. */
import type * as Cause from "effect/Cause";
import * as Schema from "effect/Schema";
import { nullable } from "../../primitives/hex.js";
import { count, quote, say, type Figure } from "../../primitives/statement.js";
import { derived, type Stated } from "../stated.js";

/** What every reason keeps: the bounded text of the answer, its HTTP status and its raw JSON. */
export const answer = {
  /** The node's words, escaped and bounded; empty when it said nothing. */
  detail: Schema.String,
  /** HTTP status of the answer, when there was one. */
  httpStatus: nullable(Schema.Int),
  /** JSON-RPC error code, when there was one. */
  code: nullable(Schema.Int),
  /** The JSON-RPC error as it came, untouched. Never show it unescaped. */
  raw: nullable(Schema.Json),
};

/** Whether, where and when asking again can help. */
export interface RetryAdvice {
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  /** `same` endpoint, only an`other` one, or `never`. */
  readonly retryOn: "same" | "other" | "never";
  /** How many more tries of an identical request are sensible. */
  readonly retryTimes: number;
  /** Milliseconds the node asked to wait, else null (the policy's own backoff applies). */
  readonly retryAfterMs: number | null;
}

const advice = (retryOn: RetryAdvice["retryOn"], retryTimes: number): RetryAdvice => ({
  isRetryable: retryTimes > 0,
  retryOn,
  retryTimes,
  retryAfterMs: null,
});
export const patient = advice("same", 3);
export const once = advice("same", 1);
export const elsewhere = advice("other", 0);
export const hopeless = advice("never", 0);

/** What every reason has beside its fields. */
export interface Advising extends Stated {
  /** Whether and when to ask again. */
  readonly advice: RetryAdvice;
}

type Answer = { readonly [K in keyof typeof answer]: (typeof answer)[K]["Type"] };

/** The node's own words, and the codes that came with them. */
export const words = ({ httpStatus, code, detail }: Answer): ReadonlyArray<Figure | null> => [
  count("HTTP", httpStatus),
  count("code", code),
  quote("", detail),
];

/** A reason that keeps nothing but the {@link answer}. */
export const reason =
  <Self>() =>
  <const Tag extends string>(
    tag: Tag,
    advised: RetryAdvice,
    sentence: string,
    remedy: string,
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, typeof answer>, Cause.YieldableError & Advising> =>
    derived<Self, Advising>()<Tag, typeof answer>(tag, answer, {
      advice: () => advised,
      statement: (error) => say(sentence, words(error), remedy),
    });
