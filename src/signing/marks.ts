/** Marks of an input that asks for a signature and is no transaction. A caller that only sends loads no more of this room. */
import { given } from "../primitives/problem.js";
import { isRecord, safely } from "../primitives/record.js";

/** The one thing that is signed, beside `signer`. */
export const marks = ["typedData", "authorization", "message", "hash"] as const;
const methods = ["eth_signTypedData_v4", "eth_signTypedData", "eth_signTypedData_v3", "personal_sign", "eth_sign"];

/** The entries of an input of which one asks for a signature, as they are now; null = none does, or it cannot be read. */
export const mixedIn = (input: unknown): ReadonlyArray<unknown> | null =>
  safely(() => {
    const all: ReadonlyArray<unknown> = Array.isArray(input) ? [...input] : [input];
    return all.some(asksIn) ? all : null;
  }, null);

/** True of what asks for a signature that is no transaction's; false of what cannot be read. */
export const isSigning = (input: unknown): boolean => safely(() => asksIn(input), false);

/** The form in which an account's own input comes; null = it is none. */
export const accountFormOf = (input: Readonly<Record<string, unknown>>): "userOperation" | "safe" | null =>
  ("entryPoint" in input && given(input["operation"])) || input["method"] === "eth_sendUserOperation"
    ? "userOperation"
    : "safe" in input && given(input["transaction"])
      ? "safe"
      : null;

const asksIn = (input: unknown): boolean =>
  isRecord(input) &&
  // why: it is asked of every input, and most have none of these
  (accountFormOf(input) !== null ||
    ("signer" in input && given(input["signer"]) && marks.some((mark) => given(input[mark]))) ||
    ("primaryType" in input && given(input["primaryType"]) && given(input["types"])) ||
    ("method" in input && methods.includes(String(input["method"]))));
