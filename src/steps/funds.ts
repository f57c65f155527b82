/**
 * Whether every payer can pay, in bundle order. Pure: balances come from the witness.
 *
 * required = value + gas limit × max fee + blob gas × max blob fee + L1 fee × margin + operator fee
 * (gas limit), per transaction and payer; what earlier transactions of the bundle bring in counts,
 * what they take out is missing. A node's `validation` is never accepted as proof: OP-stack nodes
 * charge neither L1 nor operator fee in a simulation.
 */
import { effectiveGasPrice } from "../chains/baseFee.js";
import { fromError, note, type Finding } from "../errors/finding.js";
import type { Address } from "../errors/hex.js";
import { InsufficientFunds } from "../errors/verdicts.js";
import type { Transaction } from "../Transaction.js";
import type { Fee, Funds, Gas, Outcome, Transfer } from "./outputs.js";

/** EIP-4844: 2^17 per blob. */
const gasPerBlob = 131_072n;

/** Fees that a chain charges beyond gas × price, per transaction, wei. */
export interface ExtraFees {
  readonly l1Fee: bigint;
  /** What to keep for the L1 fee: it may rise until inclusion. */
  readonly l1FeeAtMost: bigint;
  readonly operatorFee: bigint;
  readonly operatorFeeAtMost: bigint;
}

/** What one transaction costs its payer, as far as known. */
export interface Cost {
  readonly transaction: Transaction;
  readonly gas: Gas;
  readonly fee: Fee;
  readonly outcome: Outcome;
  /** null = the chain charges more, but it could not be read. */
  readonly extra: ExtraFees | null;
}

/** No fees beyond gas × price. */
export const noExtraFees: ExtraFees = { l1Fee: 0n, l1FeeAtMost: 0n, operatorFee: 0n, operatorFeeAtMost: 0n };

const termsOf = (
  { transaction, gas, fee, extra }: Cost,
  index: number,
): ReadonlyArray<Funds["terms"][number]> | null => {
  const price = fee.gasPrice ?? fee.maxFeePerGas;
  if (gas.limit === null || price === null || extra === null) return null;
  const terms: Array<Funds["terms"][number]> = [
    { transaction: index, name: "value", amount: transaction.value },
    { transaction: index, name: "gas", amount: gas.limit * price },
  ];
  const blobs = BigInt(transaction.blobVersionedHashes?.length ?? 0);
  if (blobs > 0n)
    terms.push({
      transaction: index,
      name: "blobGas",
      amount: blobs * gasPerBlob * (transaction.maxFeePerBlobGas ?? 0n),
    });
  if (extra.l1FeeAtMost > 0n) terms.push({ transaction: index, name: "l1Fee", amount: extra.l1FeeAtMost });
  if (extra.operatorFeeAtMost > 0n)
    terms.push({ transaction: index, name: "operatorFee", amount: extra.operatorFeeAtMost });
  return terms;
};

const expectedOf = ({ transaction, gas, fee, outcome, extra }: Cost): bigint | null => {
  const used = outcome.gasUsed ?? gas.used;
  if (used === null || fee.baseFeePerGas === null || extra === null) return null;
  const value = outcome.status === "success" ? transaction.value : 0n;
  return value + used * effectiveGasPrice(fee, fee.baseFeePerGas) + extra.l1Fee + extra.operatorFee;
};

/**
 * What the native movements of one transaction do to `account` beyond the value it attached itself:
 * positive = received, negative = taken by other calls (e.g. a delegated account's own code).
 */
const flowOf = (account: Address, { transaction }: Cost, index: number, transfers: ReadonlyArray<Transfer>): bigint => {
  let flow = transaction.from === account ? transaction.value : 0n;
  for (const transfer of transfers) {
    if (transfer.transaction !== index || transfer.standard !== "native") continue;
    if (transfer.to === account) flow += transfer.amount;
    if (transfer.from === account) flow -= transfer.amount;
  }
  return flow;
};

/** One entry per payer, in order of first appearance, and `InsufficientFunds` with the exact shortfall. */
export const decide = (
  costs: ReadonlyArray<Cost>,
  balances: ReadonlyMap<Address, bigint>,
  transfers: ReadonlyArray<Transfer>,
): { readonly outputs: ReadonlyArray<Funds>; readonly findings: ReadonlyArray<Finding> } => {
  const findings: Array<Finding> = [];
  const payers = [...new Set(costs.map(({ transaction }) => transaction.from))];
  const outputs = payers.map((account): Funds => {
    const own = costs.flatMap((cost, index) => (cost.transaction.from === account ? [index] : []));
    const first = own[0] ?? 0;
    const last = own[own.length - 1] ?? 0;
    const terms: Array<Funds["terms"][number]> = [];
    let complete = true;
    let held = 0n;
    let required = 0n;
    let expected: bigint | null = 0n;
    costs.forEach((cost, index) => {
      if (cost.transaction.from === account) {
        const parts = termsOf(cost, index);
        const likely = expectedOf(cost);
        expected = expected === null || likely === null ? null : expected + likely;
        if (parts === null) complete = false;
        for (const part of parts ?? []) {
          terms.push(part);
          held -= part.amount;
        }
        // the account must be able to pay at this very point, with what came in before
        if (-held > required) required = -held;
      }
      const flow = cost.outcome.status === "success" ? flowOf(account, cost, index, transfers) : 0n;
      if (flow !== 0n && index < last) {
        terms.push({ transaction: index, name: flow > 0n ? "received" : "spent", amount: -flow });
        held += flow;
      }
    });
    const balance = balances.get(account) ?? null;
    const shortfall = balance === null || !complete ? null : required > balance ? required - balance : 0n;
    const where = { step: "funds", transaction: first } as const;
    if (shortfall !== null && shortfall > 0n) {
      findings.push(
        fromError(new InsufficientFunds({ account, have: balance, want: required, shortfall }), "blocker", where),
      );
    } else if (shortfall === null) {
      findings.push(
        note(
          "EvidenceReduced",
          "unavailable",
          {
            verdict: "whether the account can pay is not known",
            evidence: balance === null ? `balance of ${account} unknown` : `cost of ${account} unknown`,
          },
          where,
        ),
      );
    }
    return {
      account,
      balance,
      required: complete ? required : null,
      expected,
      shortfall,
      terms,
      evidence: balance === null ? "unavailable" : "measured",
    };
  });
  return { outputs, findings };
};
