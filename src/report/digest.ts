/** What a report promises to be signed: its requests, and the digest over them. Pure. */
import type { Hash } from "../primitives/hex.js";
import { digestOf, type Request, type Signable } from "../transaction/request.js";
import { reportVersion, type Report } from "./schema.js";

/** The parts of a report that its digest is over. */
export type Promised = Pick<Report, "chainId" | "transactions">;

/** The requests of the report in order; null while one of them has a hole. */
export const requestsOf = ({
  transactions,
}: Pick<Report, "transactions">): readonly [Request, ...Array<Request>] | null => {
  const [first, ...others] = transactions.flatMap(({ request }) => (request === null ? [] : [request]));
  return first !== undefined && others.length === transactions.length - 1 ? [first, ...others] : null;
};

/** The digest over these requests and their senders, by this version of the report. */
export const digestOfSignables = (chainId: number, signables: ReadonlyArray<Signable>): Hash | null =>
  digestOf(reportVersion, chainId, signables);

/** The digest that the report's chain, senders and requests make; null while a request has a hole. */
export const digestOfReport = ({ chainId, transactions }: Promised): Hash | null => {
  const signables = transactions.flatMap(({ input, request }) =>
    request === null ? [] : [{ from: input.from, request }],
  );
  return chainId === null || signables.length !== transactions.length ? null : digestOfSignables(chainId, signables);
};
