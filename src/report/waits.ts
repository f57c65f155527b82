/**
 * Waits for what must be mined before a transaction is sent, because a pool would refuse it until then, or because
 * it may do something else when it is mined first. Pure, from the report alone: a clearance works it out again.
 */
import * as Struct from "effect/Struct";
import type { Address } from "../primitives/hex.js";
import { recoveredAuthority } from "../transaction/authorities.js";
import { feeTerms, type Funds } from "./parts.js";
import type { Report, TransactionReport, Wait } from "./schema.js";

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

/** The count that an account must have reached. */
type Count = Pick<Wait, "account" | "nonce">;

/** By transaction: those whose income it needs, because the payer's own balance does not carry it. */
const incomeFor = ({ transactions, funds }: WaitFacts, index: number): ReadonlyArray<number> => {
  const payer = funds.find(({ account }) => account === transactions[index]?.input.from);
  if (payer === undefined || payer.balance === null || costUpTo(payer, index) <= payer.balance) return [];
  return payer.terms.flatMap(({ name, transaction }) =>
    name === "received" && transaction < index ? transaction : [],
  );
};

/** True if a pool, which keeps what is in flight at its fee caps, has too little for a payer up to a transaction. */
export const isHeldBack = ({ queued, sealed, terms }: Pick<Funds, "queued" | "sealed" | "terms">, index: number) =>
  queued !== null && queued > 0n && sealed !== null && queued + costUpTo({ terms }, index) > sealed;

/** The account that signed each authorisation of a transaction, with the nonce that it must have. */
const authoritiesOf = ({ input }: TransactionReport): ReadonlyArray<{ account: Address; nonce: number }> =>
  (input.authorizationList ?? []).flatMap((entry) => {
    const account = recoveredAuthority(entry);
    return account === null ? [] : [{ account, nonce: entry.nonce }];
  });

/** The count of an account once the transaction at `index` is mined; none where its nonce is not known. */
const countAfter = ({ transactions }: WaitFacts, index: number): ReadonlyArray<Count> => {
  const entry = transactions[index];
  return entry?.request == null ? [] : [{ account: entry.input.from, nonce: entry.request.nonce + 1 }];
};

/** True if an account's transactions before `nonce` are not mined yet. */
const isAhead =
  ({ transactions }: WaitFacts) =>
  ({ account, nonce }: Count): boolean =>
    nonce > (transactions.find(({ input }) => input.from === account)?.nonce.latest ?? nonce);

/** Accounts of which pools keep one transaction at a time, up to the transaction at `index`: those that delegate. */
const limitedUpTo = ({ transactions }: WaitFacts, index: number): ReadonlySet<Address> => {
  const made = transactions.slice(0, index + 1).filter(({ request }) => request !== null);
  const delegated = made.filter(({ code }) => code.from.kind === "delegated").map(({ input }) => input.from);
  return new Set([...delegated, ...made.flatMap(authoritiesOf).map(({ account }) => account)]);
};

/** The counts that a transaction with this nonce waits for, by the reason. */
const rules: Readonly<
  Record<
    "oneInFlight" | "order" | "income" | "queued",
    (facts: WaitFacts, index: number, own: Count, entry: TransactionReport) => ReadonlyArray<Count>
  >
> = {
  oneInFlight: (facts, index, own, entry) => [
    ...[own].filter(({ account }) => limitedUpTo(facts, index).has(account)).filter(isAhead(facts)),
    ...authoritiesOf(entry).filter((count) => count.account !== own.account && isAhead(facts)(count)),
  ],
  order: (facts, index, { account }) => {
    const { transactions, stage, observed } = facts;
    // why: only a proof runs the other order
    const isProven = observed.worlds.some(({ run, agrees }) => run === "reordered" && agrees === true);
    if (stage !== "proven" || isProven || !mayDepend(facts, index)) return [];
    const senders = transactions.slice(0, index).map(({ input }) => input.from);
    const others = [...new Set(senders)].filter((sender) => sender !== account);
    return others.flatMap((sender) => countAfter(facts, senders.lastIndexOf(sender)));
  },
  income: (facts, index) => incomeFor(facts, index).flatMap((at) => countAfter(facts, at)),
  queued: (facts, index, own) => {
    const payer = facts.funds.find(({ account }) => account === own.account);
    const first = facts.transactions.find(({ input }) => input.from === own.account)?.request ?? own;
    const count = { account: own.account, nonce: first.nonce };
    return payer !== undefined && isHeldBack(payer, index) && isAhead(facts)(count) ? [count] : [];
  },
};

/** Every wait with its reason, in the order of the bundle; nothing of a transaction whose nonce is not known. */
export const waitsOf = (facts: WaitFacts) =>
  facts.transactions.flatMap((entry, transaction) =>
    Struct.keys(rules).flatMap((because) => {
      if (entry.request === null) return [];
      const own = { account: entry.input.from, nonce: entry.request.nonce };
      return rules[because](facts, transaction, own, entry).map((count) => ({ transaction, because, ...count }));
    }),
  );
