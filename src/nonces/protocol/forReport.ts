/** Nonces for the transactions of a scanned report, all in one scope. */
import * as Effect from "effect/Effect";
import { authorityOf } from "../../transaction/signer.js";
import type { Transaction } from "../../transaction/fields.js";
import type { Report } from "../../report/schema.js";
import type { Counts } from "../laneRules.js";
import { reserve, type Lease, type ReserveOptions } from "./lease.js";

/** Whether the transaction delegates its own sender, which takes a second nonce. */
const isSelfAuthorising = ({ from, authorizationList }: Transaction): boolean =>
  authorizationList?.some((entry) => authorityOf(entry)?.toLowerCase() === from.toLowerCase()) === true;

const countsOf = ({ latest, next }: Report["transactions"][number]["nonce"]): Counts | null =>
  latest === null || next === null ? null : { latest: BigInt(latest), pending: BigInt(next) };

/**
 * One lease per transaction whose nonce the caller left open, in order; null for the others, and for
 * all while the chain is not known. Taken on the counts that the report has already read. What is not
 * committed when the scope closes is free again. With `waitMs` each may wait that long.
 *
 * Give the nonces to `Preflight.assignNonces` and prove that report: the proof then speaks of them.
 */
export const reserveAll = Effect.fn("Nonces.reserveAll")(function* (
  report: Report,
  options: Pick<ReserveOptions, "ttl" | "waitMs"> = {},
) {
  const { chainId } = report;
  return yield* Effect.forEach(report.transactions, ({ input, nonce, code }) => {
    if (chainId === null || input.nonce !== null) return Effect.succeed<Lease | null>(null);
    const counts = countsOf(nonce);
    return reserve(
      { chainId, address: input.from },
      {
        ...options,
        width: isSelfAuthorising(input) ? 2 : 1,
        ...(counts === null ? {} : { counts, delegated: code.from.kind === "delegated" }),
      },
    );
  });
});
