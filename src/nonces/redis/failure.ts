/** A client's failure, in words. */
import { NonceStoreError } from "../../errors/nonces.js";

export const wordsOf = (cause: unknown): string => {
  const inner = typeof cause === "object" && cause !== null && "cause" in cause ? cause.cause : null;
  const text = cause instanceof Error ? cause.message : String(cause);
  return (inner instanceof Error ? `${text} ${inner.message}` : text).slice(0, 512);
};

/** Words after which nothing gets better by itself. */
const hopeless = /\b(?:WRONGTYPE|NOAUTH|NOPERM|WRONGPASS|DAMAGED|CROSSSLOT|unknown command|ERR (?!max number))/;
export const isHopeless = (cause: unknown): boolean => hopeless.test(wordsOf(cause));

export const storeError = (operation: string, cause: unknown): NonceStoreError =>
  new NonceStoreError({ operation, detail: wordsOf(cause), isRetryable: !isHopeless(cause) });
