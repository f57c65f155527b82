/**
 * Checks that every payer can pay, in bundle order. Pure: balances come from the witness.
 *
 * required = value + gas limit × max fee + blob gas × max blob fee + L1 fee × margin + operator fee
 * (gas limit), per transaction and payer; what earlier transactions of the bundle bring in counts,
 * what they take out is missing. A node's `validation` is never accepted as proof: OP-stack nodes
 * charge no L1 fee in a simulation, and op-geth gives back an operator fee that it never took.
 */
import type { Facts } from "./reading/answers.js";
import * as BigInts from "effect/BigInt";
import { effectiveGasPrice } from "../chains/baseFee.js";
import { noExtraFees } from "../chains/feeModel.js";
import { InsufficientFunds } from "../errors/verdicts.js";
import type { Address } from "../primitives/hex.js";
import { address, figures, text, wei, type Statement } from "../primitives/statement.js";
import { fromError, code } from "../report/finding.js";
import type { Funds } from "../report/parts.js";
import { blobGasOf, signers, type Filled } from "./reading/bundle.js";
import { queuedCost } from "./reading/pool.js";

/** The known terms of a transaction's cost; `isWhole` if that is all of it. */
const termsOf = ({ index, input, gas, fee, charged: { extra } }: Filled) => {
  const price = fee.value.gasPrice ?? fee.value.maxFeePerGas;
  const { l1FeeAtMost, operatorFeeAtMost } = extra ?? noExtraFees;
  const term = (name: Funds["terms"][number]["name"], amount: bigint): Funds["terms"][number] => ({
    transaction: index,
    name,
    amount,
  });
  const blobGas = blobGasOf(input);
  const terms = [
    term("value", input.value),
    ...(gas.value === null || price === null ? [] : [term("gas", gas.value * price)]),
    ...(blobGas > 0n ? [term("blobGas", blobGas * (input.maxFeePerBlobGas ?? 0n))] : []),
    ...(l1FeeAtMost > 0n ? [term("l1Fee", l1FeeAtMost)] : []),
    ...(operatorFeeAtMost > 0n ? [term("operatorFee", operatorFeeAtMost)] : []),
  ];
  return { terms, isWhole: gas.value !== null && price !== null && extra !== null };
};

const expectedOf = ({ input, gas, fee, outcome, charged: { extra } }: Filled, baseFeePerGas: bigint | null) => {
  const used = outcome.gasUsed ?? gas.estimate;
  if (used === null || baseFeePerGas === null || extra === null) return null;
  const value = outcome.status === "reverted" || outcome.status === "halted" ? 0n : input.value;
  return value + used * effectiveGasPrice(fee.value, baseFeePerGas) + extra.l1Fee + extra.operatorFee;
};

/**
 * The change of `account`'s balance by native movements of one transaction beyond the value it attached itself:
 * positive = received, negative = taken by other calls (e.g. a delegated account's own code). Where the
 * node traced no movements, nothing came in.
 */
const flowOf = (account: Address, { input, transfers }: Filled): bigint => {
  const native = transfers.filter(({ standard }) => standard === "native");
  const sumOf = (end: "from" | "to") =>
    BigInts.sumAll(native.flatMap((transfer) => (transfer[end] === account ? transfer.amount : [])));
  const attached = input.from === account ? input.value : 0n;
  return sumOf("to") - BigInts.max(sumOf("from") - attached, 0n);
};

/**
 * The account's way through the bundle: at each of its transactions it must be able to pay, with what came in before.
 * `needed` = what it must have held before the first transaction to pay up to and with this one, wei; at least that where
 * the cost `isWhole` not. It `isSure` where everything that earlier transactions bring in was measured.
 */
const walk = (account: Address, bundle: ReadonlyArray<Filled>) => {
  const last = bundle.findLastIndex(({ signer }) => signer === account);
  const steps: Array<{ entry: Filled; needed: bigint; isSure: boolean }> = [];
  const terms: Array<Funds["terms"][number]> = [];
  let needed = 0n;
  let [isWhole, isMeasured] = [true, true];
  for (const entry of bundle) {
    if (entry.signer === account) {
      const cost = termsOf(entry);
      terms.push(...cost.terms);
      needed += cost.terms.reduce((sum, { amount }) => sum + amount, 0n);
      isWhole &&= cost.isWhole;
      steps.push({ entry, needed, isSure: isMeasured });
    }
    isMeasured &&= entry.outcome.evidence === "measured";
    const flow = entry.outcome.status === "success" ? flowOf(account, entry) : 0n;
    if (flow !== 0n && entry.index < last) {
      terms.push({ transaction: entry.index, name: flow > 0n ? "received" : "spent", amount: -flow });
      needed -= flow;
    }
  }
  return { steps, terms, isWhole };
};

/**
 * By how much the price of the gas that we chose ourselves must fall for the balance to carry everything,
 * in wei per gas, per payer; payers that can pay, or that no lower price would help, are absent.
 */
export const reductions = (bundle: ReadonlyArray<Filled>, answers: Pick<Facts, "balanceOf">) => {
  const found = new Map<Address, bigint>();
  for (const account of signers(bundle)) {
    const balance = answers.balanceOf(account);
    const { steps, isWhole } = walk(account, bundle);
    if (balance === null) continue;
    let reduction: bigint | null = 0n;
    let gas = 0n;
    for (const { entry, needed, isSure } of steps) {
      if (entry.fee.by === "us") gas += entry.gas.value ?? 0n;
      if (needed <= balance || reduction === null || !(isWhole || isSure)) continue;
      const fall: bigint | null = gas === 0n ? null : (needed - balance + gas - 1n) / gas;
      reduction = fall === null || fall > reduction ? fall : reduction;
    }
    if (reduction !== null && reduction > 0n) found.set(account, reduction);
  }
  return found;
};

/** By what is known of the payers; of the quote the base fee of the next block. */
const fundsOf = (
  account: Address,
  bundle: ReadonlyArray<Filled>,
  answers: Pick<Facts, "balanceOf" | "pools" | "flying"> & { readonly quote: Pick<Facts["quote"], "baseFeePerGas"> },
): Funds => {
  const { steps, terms, isWhole } = walk(account, bundle);
  const due = steps.flatMap(({ needed, isSure }) => (isWhole || isSure ? needed : []));
  const required = due.reduce((most, needed) => BigInts.max(most, needed), 0n);
  const expected = steps.reduce<bigint | null>((sum, { entry }) => {
    const likely = expectedOf(entry, answers.quote.baseFeePerGas);
    return sum === null || likely === null ? null : sum + likely;
  }, 0n);
  const balance = answers.balanceOf(account);
  const isShort = balance !== null && required > balance;
  const nonces = new Set(steps.flatMap(({ entry }) => entry.nonce.value ?? []));
  return {
    account,
    balance,
    required: isWhole ? required : null,
    expected,
    shortfall: isShort ? required - balance : balance !== null && isWhole ? 0n : null,
    queued: queuedCost(answers.pools.get(account), answers.flying(account), nonces),
    sealed: answers.pools.get(account)?.balance ?? null,
    terms,
    evidence: balance === null ? "unavailable" : "measured",
  };
};

/** One entry per payer, in order of first appearance. */
export const read = (bundle: ReadonlyArray<Filled>, answers: Parameters<typeof fundsOf>[2]): ReadonlyArray<Funds> =>
  signers(bundle).map((account) => fundsOf(account, bundle, answers));

/**
 * The balance of a payer, or a part of the cost, is missing.
 * @figures address("account", alice), text("not known", "its cost")
 */
export const FundsUnknown = code("funds", ["unavailable"], "FundsUnknown", [
  "whether the account can pay is not known",
  "ask again, or use another node",
]);

/** `InsufficientFunds` with the shortfall, by what is known where the cost is not known whole; or what is not known. */
export const check = ({ account, balance, required, shortfall, evidence }: Funds, bundle: ReadonlyArray<Filled>) => {
  const transaction = bundle.find(({ signer }) => signer === account)?.index ?? null;
  if (shortfall === null) {
    const missing = text("not known", balance === null ? "its balance" : "its cost");
    return [FundsUnknown.unavailable({ transaction, evidence: "unavailable" }, address("account", account), missing)];
  }
  const where = { step: "funds", transaction, evidence } as const;
  if (shortfall === 0n) return [];
  const isLeast = required === null;
  const want = required ?? shortfall + (balance ?? 0n);
  const short = new InsufficientFunds({ account, have: balance, want, shortfall });
  return [fromError(short, "blocker", where, isLeast ? atLeast(short) : short.statement)];
};

/** The statement of a shortfall where more may be needed. */
const atLeast = ({ statement, have, want, shortfall, account }: InsufficientFunds): Statement => {
  const short = [wei("short by at least", shortfall), address("account", account)];
  return { ...statement, numbers: figures(...short, wei("has", have), wei("needs at least", want)) };
};
