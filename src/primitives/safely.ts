/** Reading what somebody else made, which may throw. */
import * as Result from "effect/Result";

/** What `read` gives, or `otherwise` where it throws. */
export const safely = <A, B>(read: () => A, otherwise: B): A | B => Result.getOrElse(Result.try(read), () => otherwise);
