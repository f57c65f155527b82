/** Findings that are told of every kind of signature. */
import { code } from "../report/finding.js";

/**
 * The signature was not taken for given: the account's own call was simulated in its place, or an account with code did not
 * take it.
 * @figures text("because", "the account's own equal call was simulated")
 * @unavailable where no call of the account does the same, or the account's code did not take the signature
 */
export const SignatureNotAssumed = code("approvals", ["warning", "unavailable"], "SignatureNotAssumed", [
  "the signature itself could not be simulated",
  "use a node that lets `movePrecompileToAddress` replace ECRECOVER, such as geth",
]);

/** It was used before, or its number was passed. */
export const SignatureUsed = code("approvals", ["blocker"], "SignatureUsed", [
  "the signature's nonce is used already",
  "ask for a message with the next nonce",
]);

/**
 * It cannot be used yet. What it does then is not known now.
 * @figures count("usable from", 1_800_000_000n)
 */
export const SignatureNotYet = code("approvals", ["unavailable"], "SignatureNotYet", [
  "the signature cannot be used yet",
  "run it again when it can be used",
]);
