/** What the transactions cost and whether that can be paid: prices, fees beyond gas, the sum per payer. Pure. */
import type { Chain } from "../Chains.js";
import { note, type Finding } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import { formatGasPrice } from "../primitives/units.js";
import * as Fee from "../steps/fee.js";
import * as Funds from "../steps/funds.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { senders } from "../steps/nonce.js";
import * as TokenFunds from "../steps/reading/tokenShortfall.js";
import type * as Outputs from "../report/parts.js";
import type { Transaction } from "../transaction/schema.js";
import type { World } from "./facts.js";
import type { Material } from "./material.js";

/** What is decided before anything is priced, by transaction. */
export interface Unpriced {
  /** The input, with what the requests fixed. */
  readonly transactions: ReadonlyArray<Transaction>;
  readonly gases: ReadonlyArray<Outputs.Gas>;
  readonly outcomes: ReadonlyArray<Outputs.Outcome>;
  readonly transfers: ReadonlyArray<Outputs.Transfer>;
}

/** Prices and sums. */
export interface Paid {
  readonly fees: ReadonlyArray<Outputs.Fee>;
  readonly funds: ReadonlyArray<Outputs.Funds>;
  /** In pipeline order: of the price, then of the funds. */
  readonly findings: ReadonlyArray<Finding>;
}

interface Priced {
  readonly fee: Outputs.Fee;
  readonly findings: ReadonlyArray<Finding>;
}

/** A full horizon that the balance cannot carry gives way to a shorter one, where we chose the price. */
const shortened = (
  priced: ReadonlyArray<Priced>,
  { transactions }: Unpriced,
  quoted: Fee.Quote,
  reductions: ReadonlyMap<Address, bigint>,
): ReadonlyArray<Priced> =>
  priced.map(({ fee, findings }, index) => {
    const transaction = transactions[index];
    const reduction = transaction === undefined ? undefined : reductions.get(transaction.from);
    if (transaction === undefined || reduction === undefined || !Fee.isAutomatic(transaction)) return { fee, findings };
    const shorter = Fee.shorten(fee, reduction, quoted);
    if (shorter === null || shorter.maxFeePerGas === null || fee.maxFeePerGas === null) return { fee, findings };
    const finding = note(
      "FeeHorizonShort",
      "warning",
      {
        verdict: "the balance does not carry a fee cap for the whole horizon; a lower one is handed out",
        evidence: `holds through ${shorter.horizonSeconds} s of full blocks instead of ${fee.horizonSeconds} s, at most ${formatGasPrice(shorter.maxFeePerGas)} instead of ${formatGasPrice(fee.maxFeePerGas)}`,
        remedy: "send it at once, or fund the account",
      },
      { step: "fee", transaction: index },
    );
    return { fee: shorter, findings: [...findings, finding] };
  });

/** A price that cannot be lowered for every transaction of a payer is lowered for none. */
const workable = (
  priced: ReadonlyArray<Priced>,
  { transactions }: Unpriced,
  quoted: Fee.Quote,
  reductions: ReadonlyMap<Address, bigint>,
): ReadonlyMap<Address, bigint> =>
  new Map(
    [...reductions].filter(([account, reduction]) =>
      priced.every(({ fee }, index) => {
        const transaction = transactions[index];
        return (
          transaction === undefined ||
          transaction.from !== account ||
          !Fee.isAutomatic(transaction) ||
          Fee.shorten(fee, reduction, quoted) !== null
        );
      }),
    ),
  );

/** Prices every transaction and sums up what its payer must hold. */
export const pay = ({ facts, options, proof }: Material, world: World, chain: Chain, unpriced: Unpriced): Paid => {
  const { transactions, gases, outcomes, transfers } = unpriced;
  const quoted = Fee.quote(facts.fees, {
    chain,
    level: options.feeLevel,
    horizonSeconds: options.feeHorizonSeconds,
    simulatedBaseFee: world.baseFeePerGas,
    parentHash: world.environment?.parentHash ?? null,
  });
  const full = transactions.map((transaction, index): Priced => {
    const { output, findings } = Fee.decide(transaction, index, quoted);
    const earlier = proof?.previous.transactions[index]?.fee ?? null;
    return {
      fee:
        earlier === null ? output : { ...output, tipSource: earlier.tipSource, horizonSeconds: earlier.horizonSeconds },
      findings,
    };
  });
  const extras = transactions.map((_, index) =>
    L1Fee.decide(
      chain,
      facts.l1Subjects[index] ?? null,
      { used: outcomes[index]?.gasUsed ?? null, limit: gases[index]?.limit ?? null },
      index,
      world.fees,
      { blockGasLimit: world.blockGasLimit, horizonSeconds: options.feeHorizonSeconds },
    ),
  );
  const costsAt = (priced: ReadonlyArray<Priced>): ReadonlyArray<Funds.Cost> =>
    transactions.flatMap((transaction, index) => {
      const [gas, fee, outcome] = [gases[index], priced[index]?.fee, outcomes[index]];
      return gas === undefined || fee === undefined || outcome === undefined
        ? []
        : [{ transaction, gas, fee, outcome, extra: extras[index]?.output ?? null }];
    });
  const balances = world.balances(senders(transactions));
  const reductions = workable(
    full,
    unpriced,
    quoted,
    Funds.reductions(costsAt(full), transactions.map(Fee.isAutomatic), balances, transfers),
  );
  const priced = shortened(full, unpriced, quoted, reductions);
  const funds = Funds.decide(costsAt(priced), balances, transfers);
  return {
    fees: priced.map(({ fee }) => fee),
    funds: funds.outputs,
    findings: [
      ...quoted.findings,
      ...priced.flatMap(({ findings }) => findings),
      ...extras.flatMap(({ findings }) => findings),
      ...funds.findings,
      ...transactions.flatMap((transaction, index) => {
        const outcome = outcomes[index];
        return outcome === undefined ? [] : TokenFunds.decide(transaction, index, outcome, world.before);
      }),
    ],
  };
};
