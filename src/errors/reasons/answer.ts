/** What every reason of a failed request keeps, and what it advises. */
import * as Schema from "effect/Schema";
import { nullable } from "../../primitives/hex.js";
import { count, quote, type Figure } from "../../primitives/statement.js";

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
  readonly isRetryable: boolean;
  /** `same` endpoint, only an`other` one, or `never`. */
  readonly retryOn: "same" | "other" | "never";
  /** How many more tries of an identical request are sensible. */
  readonly retryTimes: number;
  /** Milliseconds the node asked to wait, else null (the policy's own backoff applies). */
  readonly retryAfterMs: number | null;
}

export const patient = { isRetryable: true, retryOn: "same", retryTimes: 3 } as const;
export const once = { isRetryable: true, retryOn: "same", retryTimes: 1 } as const;
export const elsewhere = { isRetryable: false, retryOn: "other", retryTimes: 0 } as const;
export const hopeless = { isRetryable: false, retryOn: "never", retryTimes: 0 } as const;
export const advise = (advice: Omit<RetryAdvice, "retryAfterMs">, afterMs: number | null = null): RetryAdvice => ({
  ...advice,
  retryAfterMs: afterMs,
});

export const words = (reason: {
  readonly detail: string;
  readonly httpStatus: number | null;
  readonly code: number | null;
}): ReadonlyArray<Figure | null> => [
  count("HTTP", reason.httpStatus),
  count("code", reason.code),
  quote("", reason.detail),
];
