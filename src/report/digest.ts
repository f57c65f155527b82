/** What a report promises to be signed: its requests, and the digest over them. Pure. */
import { concatHex, keccak256, numberToHex } from "viem";
import { type Request, type Signable, signingHash } from "../transaction/request.js";
import { type Report, reportVersion } from "./schema.js";
import { safely } from "../primitives/record.js";
import type { Address, Hash } from "../primitives/hex.js";

/** The requests of the report in order; null while one of them has a hole. */
export const requestsOf = ({
  transactions,
}: Pick<Report, "transactions">): readonly [Request, ...Array<Request>] | null => {
  const [first, ...others] = transactions.flatMap(({ request }) => (request === null ? [] : [request]));
  return first !== undefined && others.length === transactions.length - 1 ? [first, ...others] : null;
};

/**
 * keccak256 over version, chain id, and per transaction in order its sender and signing hash; null
 * when one cannot be serialised. It finds mistakes, not forgery.
 */
export const digestOf = (version: number, chainId: number, signables: ReadonlyArray<Signable>): Hash | null =>
  safely(() => {
    const parts: Array<`0x${string}`> = [numberToHex(version, { size: 32 }), numberToHex(chainId, { size: 32 })];
    for (const { from, request } of signables) {
      const hash = signingHash(request);
      if (hash === null) return null;
      parts.push(from.toLowerCase() as Address, hash);
    }
    return keccak256(concatHex(parts));
  }, null);

/** The digest that the report's chain, senders and requests make; null while a request has a hole. */
export const digestOfReport = ({ chainId, transactions }: Pick<Report, "chainId" | "transactions">): Hash | null => {
  const signables = transactions.flatMap(({ input, request }) =>
    request === null ? [] : [{ from: input.from, request }],
  );
  return chainId === null || signables.length !== transactions.length
    ? null
    : digestOf(reportVersion, chainId, signables);
};
