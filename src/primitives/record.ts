/** Reading what somebody else made, which may throw. */
import * as Result from "effect/Result";

/** Whether a value is an object with fields: no list, and not null. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What `read` gives, or `otherwise` where it throws. */
export const safely = <A, B>(read: () => A, otherwise: B): A | B => Result.getOrElse(Result.try(read), () => otherwise);
