/** What is signed and is no transaction: what of it a rule is asked, and whether it may be. */
import * as Effect from "effect/Effect";
import { paramsOf, type Asked } from "./asked.js";
import { GuardRefused } from "./failures.js";
import { allows, type Guarding, type SignaturePayload } from "./rules.js";

/** Fails unless the rules let this be signed. */
export const allowSignature = (guard: Guarding, method: string, payload: SignaturePayload) =>
  Effect.flatMap(allows(guard.rules.signatures, payload), (isAllowed) =>
    // guard: a signature of what is no transaction
    isAllowed
      ? Effect.void
      : Effect.fail(
          new GuardRefused(
            method,
            "signs something that no simulation shows; allow it with `signatures` if you mean to",
          ),
        ),
  );

const isAddress = (value: unknown): value is string => typeof value === "string" && /^0x[\da-f]{40}$/i.test(value);

const kinds: ReadonlyArray<readonly [RegExp, SignaturePayload["kind"]]> = [
  [/^(personal_sign|wallet_connect)$/, "message"],
  [/^\w+_signTypedData\w*$/, "typedData"],
  [/^eth_sign$/, "hash"],
  [/^(eth|wallet)_signAuthorization$/, "authorization"],
];

const kindOf = (method: string): SignaturePayload["kind"] =>
  kinds.find(([pattern]) => pattern.test(method))?.[1] ?? "method";

/** Messages, typed data, bare hashes, authorisations, and connecting with what a wallet signs for it. */
export const isSignature = ({ method }: Asked): boolean => kindOf(method) !== "method";

/** The account first, or last: `personal_sign` has the message in front, and wallets take both in any order. */
export const payloadOf = (asked: Asked): SignaturePayload => {
  const [first, second] = paramsOf(asked);
  const kind = kindOf(asked.method);
  if (kind === "method") return { kind, address: null, content: asked };
  const [one, another] = asked.method === "personal_sign" ? [second, first] : [first, second];
  const [address, content] = !isAddress(one) && isAddress(another) ? [another, one] : [one, another];
  return isAddress(address) ? { kind, address, content } : { kind, address: null, content: asked.params };
};
