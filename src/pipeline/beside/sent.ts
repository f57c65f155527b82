/** Whether what fails was sent before: the same call, in flight from the same sender. One round, asked only then. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { asking } from "../../eth/ask.js";
import { Account, Bytes, decoder, list, orNull, Quantity, struct, Word } from "../../eth/shape.js";
import { hash } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Ledger, Report } from "../../report/schema.js";
import { Rpc } from "../../rpc/index.js";
import { inRound, ledgerOf, type Recorder } from "../ledger.js";
import { judged } from "../report.js";

const PendingCalls = struct({
  transactions: list(struct({ hash: Word, from: Account, to: orNull(Account), input: Bytes, value: Quantity })),
});
type Sent = typeof PendingCalls.Type.transactions;

const read = decoder("eth_getBlockByNumber", PendingCalls);

const isSame = (one: string | null, other: string | null): boolean => one?.toLowerCase() === other?.toLowerCase();

/** Where target, calldata and value are those of a transaction in flight. */
const alreadySent = ({ transactions }: Report, sent: Sent): ReadonlyArray<Finding> =>
  transactions.flatMap(({ input }, transaction) => {
    const same = sent.filter(
      ({ from, to, input: data, value }) =>
        isSame(from, input.from) && isSame(to, input.to) && isSame(data, input.data) && value === input.value,
    );
    const hashes = same.map((one) => hash("in flight", one.hash));
    return same.length === 0 ? [] : [note("AlreadySent", "warning", { transaction, evidence: "measured" }, ...hashes)];
  });

/**
 * The report of a call that fails while others of its sender are in flight, with `AlreadySent` where it is in the node's
 * pending block already. A node without one adds nothing. JSON-RPC: `eth_getBlockByNumber` on `pending` with its
 * transactions.
 */
export const withSent = Effect.fnUntraced(function* (
  report: Report,
  recorder: Recorder,
  earlier: Ledger | null,
): Effect.fn.Return<Report, never, Rpc> {
  const { request } = yield* Rpc;
  const ask = asking({ step: "simulate" }, request("eth_getBlockByNumber", ["pending", true]));
  const answer = yield* Effect.result(inRound("alreadySent", ask));
  const { transactions } = Result.getOrElse(Result.flatMap(answer, read), () => ({ transactions: [] }));
  const now = yield* Clock.currentTimeMillis;
  const told = alreadySent(report, transactions);
  return judged({ ...report, ledger: ledgerOf(recorder, now, earlier) }, [...report.findings, ...told]);
});
