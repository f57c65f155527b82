/**
 * Whether every payer can pay, in bundle order. Pure: balances come from the witness.
 *
 * required = value + gas limit × max fee + blob gas × max blob fee + L1 fee × margin + operator fee
 * (gas limit), per transaction and payer; what earlier transactions of the bundle bring in counts,
 * what they take out is missing. A node's `validation` is never accepted as proof: OP-stack nodes
 * charge neither L1 nor operator fee in a simulation.
 */
import { effectiveGasPrice } from "../chains/baseFee.js";
import type { ExtraFees } from "../chains/feeModel.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import { InsufficientFunds } from "../errors/verdicts.js";
import type { Transaction } from "../Transaction.js";
import type { Fee, Funds, Gas, Outcome, Transfer } from "../report/parts.js";

/** EIP-4844: 2^17 per blob. */
const gasPerBlob = 131_072n;

/** What one transaction costs its payer, as far as known. */
export interface Cost {
  readonly transaction: Transaction;
  readonly gas: Gas;
  readonly fee: Fee;
  readonly outcome: Outcome;
  /** null = the chain charges more, but it could not be read. */
  readonly extra: ExtraFees | null;
}

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
  const used = outcome.gasUsed ?? gas.used ?? gas.estimate;
  if (used === null || fee.baseFeePerGas === null || extra === null) return null;
  const value = outcome.status === "reverted" || outcome.status === "halted" ? 0n : transaction.value;
  return value + used * effectiveGasPrice(fee, fee.baseFeePerGas) + extra.l1Fee + extra.operatorFee;
};

/**
 * What the native movements of one transaction do to `account` beyond the value it attached itself:
 * positive = received, negative = taken by other calls (e.g. a delegated account's own code). Where the
 * node traced no movements, nothing came in.
 */
const flowOf = (account: Address, { transaction }: Cost, index: number, transfers: ReadonlyArray<Transfer>): bigint => {
  let received = 0n;
  let given = 0n;
  for (const transfer of transfers) {
    if (transfer.transaction !== index || transfer.standard !== "native") continue;
    if (transfer.to === account) received += transfer.amount;
    if (transfer.from === account) given += transfer.amount;
  }
  const attached = transaction.from === account ? transaction.value : 0n;
  return received - (given > attached ? given - attached : 0n);
};

/** The payers in order of first appearance. */
const payersOf = (costs: ReadonlyArray<Cost>): ReadonlyArray<Address> => [
  ...new Set(costs.map(({ transaction }) => transaction.from)),
];

interface Step {
  readonly cost: Cost;
  readonly index: number;
  /** null = not known. */
  readonly parts: ReadonlyArray<Funds["terms"][number]> | null;
  /** What the account must have held before the first transaction to pay up to and with this one, wei. */
  readonly needed: bigint;
}

interface Walk {
  /** The account's own transactions, in order. */
  readonly steps: ReadonlyArray<Step>;
  readonly terms: ReadonlyArray<Funds["terms"][number]>;
}

/** The account's way through the bundle: at each of its transactions it must be able to pay, with what came in before. */
const walk = (account: Address, costs: ReadonlyArray<Cost>, transfers: ReadonlyArray<Transfer>): Walk => {
  const last = costs.findLastIndex(({ transaction }) => transaction.from === account);
  const steps: Array<Step> = [];
  const terms: Array<Funds["terms"][number]> = [];
  let needed = 0n;
  costs.forEach((cost, index) => {
    if (cost.transaction.from === account) {
      const parts = termsOf(cost, index);
      for (const part of parts ?? []) {
        terms.push(part);
        needed += part.amount;
      }
      steps.push({ cost, index, parts, needed });
    }
    const flow = cost.outcome.status === "success" ? flowOf(account, cost, index, transfers) : 0n;
    if (flow !== 0n && index < last) {
      terms.push({ transaction: index, name: flow > 0n ? "received" : "spent", amount: -flow });
      needed -= flow;
    }
  });
  return { steps, terms };
};

/**
 * By how much the price of the gas that we chose ourselves must fall for `balance` to carry everything,
 * in wei per gas, per payer; payers that can pay, or that no lower price would help, are absent.
 * `automatic` says of which transactions the price is ours to choose.
 */
export const reductions = (
  costs: ReadonlyArray<Cost>,
  automatic: ReadonlyArray<boolean>,
  balances: ReadonlyMap<Address, bigint>,
  transfers: ReadonlyArray<Transfer>,
): ReadonlyMap<Address, bigint> => {
  const found = new Map<Address, bigint>();
  for (const account of payersOf(costs)) {
    const balance = balances.get(account);
    const { steps } = walk(account, costs, transfers);
    if (balance === undefined || steps.some(({ parts }) => parts === null)) continue;
    let reduction: bigint | null = 0n;
    let gas = 0n;
    for (const { cost, index, needed } of steps) {
      if (automatic[index] === true) gas += cost.gas.limit ?? 0n;
      if (needed <= balance || reduction === null) continue;
      const fall: bigint | null = gas === 0n ? null : (needed - balance + gas - 1n) / gas;
      reduction = fall === null || fall > reduction ? fall : reduction;
    }
    if (reduction !== null && reduction > 0n) found.set(account, reduction);
  }
  return found;
};

/** One entry per payer, in order of first appearance, and `InsufficientFunds` with the exact shortfall. */
export const decide = (
  costs: ReadonlyArray<Cost>,
  balances: ReadonlyMap<Address, bigint>,
  transfers: ReadonlyArray<Transfer>,
): { readonly outputs: ReadonlyArray<Funds>; readonly findings: ReadonlyArray<Finding> } => {
  const findings: Array<Finding> = [];
  const outputs = payersOf(costs).map((account): Funds => {
    const { steps, terms } = walk(account, costs, transfers);
    const complete = steps.every(({ parts }) => parts !== null);
    const required = steps.reduce((most, { needed }) => (needed > most ? needed : most), 0n);
    const expected = steps.reduce<bigint | null>((sum, { cost }) => {
      const likely = expectedOf(cost);
      return sum === null || likely === null ? null : sum + likely;
    }, 0n);
    const balance = balances.get(account) ?? null;
    const shortfall = balance === null || !complete ? null : required > balance ? required - balance : 0n;
    const where = { step: "funds", transaction: steps[0]?.index ?? 0 } as const;
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
