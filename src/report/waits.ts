/**
 * Waits for what must be mined before a transaction is sent, because a pool would refuse it until then, or because
 * it may do something else when it is mined first. Pure, from the report alone: a clearance works it out again.
 */
import type { Address } from "../primitives/hex.js";
import { recoveredAuthority } from "../transaction/authorities.js";
import { feeTerms, type Funds } from "./parts.js";
import type { Report, TransactionReport, Wait } from "./schema.js";

/** A wait, and why: one transaction at a time, another order of the senders, income that is not there yet, what pools keep. */
export interface Waiting extends Wait {
  readonly because: "oneInFlight" | "order" | "income" | "queued";
}

/** True if a transaction may run code. */
export const runsCode = ({ code: { to } }: Pick<TransactionReport, "code">): boolean =>
  to === null || (to.kind !== "nobody" && to.kind !== "precompile");

/** True if a transaction may do otherwise before an earlier one of another sender, or that one after it: code runs. */
export const mayDepend = ({ transactions }: Pick<Report, "transactions">, index: number): boolean =>
  transactions.some((earlier, at) => {
    const other = transactions[index];
    return (
      other !== undefined &&
      at < index &&
      earlier.input.from !== other.input.from &&
      (runsCode(earlier) || runsCode(other))
    );
  });

/** Returns what a payer gives at most up to and with a transaction, wei: pools count nothing that is still to come. */
export const costUpTo = ({ terms }: Pick<Funds, "terms">, index: number): bigint =>
  terms
    .filter(({ name, transaction }) => transaction <= index && (name === "value" || feeTerms.has(name)))
    .reduce((sum, { amount }) => sum + amount, 0n);

/** Facts of a report that tell of waits. */
export type WaitFacts = Pick<Report, "transactions" | "funds" | "stage"> & {
  readonly observed: Pick<Report["observed"], "worlds">;
};

/** By transaction: those whose income it needs, because the payer's own balance does not carry it. */
const incomeFor = ({ transactions, funds }: WaitFacts, index: number): ReadonlyArray<number> => {
  const payer = funds.find(({ account }) => account === transactions[index]?.input.from);
  if (payer === undefined || payer.balance === null || costUpTo(payer, index) <= payer.balance) return [];
  return payer.terms.flatMap(({ name, transaction }) =>
    name === "received" && transaction < index ? transaction : [],
  );
};

/** True if a pool, which keeps what is in flight at its fee caps, has too little for a payer up to a transaction. */
export const isHeldBack = (
  { queued, sealed, terms }: Pick<Funds, "queued" | "sealed" | "terms">,
  index: number,
): boolean => queued !== null && queued > 0n && sealed !== null && queued + costUpTo({ terms }, index) > sealed;

/** The account that signed each authorisation of a transaction, with the nonce that it must have. */
const authoritiesOf = ({ input }: TransactionReport): ReadonlyArray<{ account: Address; nonce: number }> =>
  (input.authorizationList ?? []).flatMap((entry) => {
    const account = recoveredAuthority(entry);
    return account === null ? [] : [{ account, nonce: entry.nonce }];
  });

/** Every wait, in the order of the bundle; nothing of a transaction whose nonce is not known. */
export const waitsOf = (facts: WaitFacts): ReadonlyArray<Waiting> => {
  const { transactions, funds, stage, observed } = facts;
  // why: only a proof runs the other order
  const isOrderOpen =
    stage === "proven" && !observed.worlds.some(({ run, agrees }) => run === "reordered" && agrees === true);
  const latestOf = (account: Address) => transactions.find(({ input }) => input.from === account)?.nonce.latest ?? null;
  const endOf = (index: number) => {
    const last = transactions[index];
    return last?.request == null ? [] : [{ account: last.input.from, nonce: last.request.nonce + 1 }];
  };
  const limited = new Set<Address>();
  return transactions.flatMap((entry, transaction): ReadonlyArray<Waiting> => {
    const { from } = entry.input;
    if (entry.request === null) return [];
    const authorities = authoritiesOf(entry);
    if (entry.code.from.kind === "delegated") limited.add(from);
    for (const { account } of authorities) limited.add(account);
    const payer = funds.find(({ account }) => account === from);
    const own = transactions.find(({ input }) => input.from === from)?.request ?? entry.request;
    const first = { account: from, nonce: own.nonce };
    const alone = [
      ...(limited.has(from) ? [{ account: from, nonce: entry.request.nonce }] : []),
      ...authorities.filter(({ account }) => account !== from),
    ].filter(({ account, nonce }) => nonce > (latestOf(account) ?? nonce));
    const others = [...new Set(transactions.slice(0, transaction).map(({ input }) => input.from))]
      .filter((account) => account !== from)
      .flatMap((account) =>
        endOf(transactions.findLastIndex(({ input }, at) => at < transaction && input.from === account)),
      );
    const why = (because: Waiting["because"]) => (wait: { account: Address; nonce: number }) => ({
      ...{ transaction, because },
      ...wait,
    });
    return [
      ...alone.map(why("oneInFlight")),
      ...(isOrderOpen && mayDepend(facts, transaction) ? others : []).map(why("order")),
      ...incomeFor(facts, transaction).flatMap(endOf).map(why("income")),
      ...(payer !== undefined && isHeldBack(payer, transaction) && first.nonce > (latestOf(from) ?? first.nonce)
        ? [first]
        : []
      ).map(why("queued")),
    ];
  });
};
