/**
 * Whether every payer can pay, in bundle order. Pure: balances come from the witness.
 *
 * required = value + gas limit × max fee + blob gas × max blob fee + L1 fee × margin + operator fee
 * (gas limit), per transaction and payer; what earlier transactions of the bundle bring in counts,
 * what they take out is missing. A node's `validation` is never accepted as proof: OP-stack nodes
 * charge no L1 fee in a simulation, and op-geth gives back an operator fee that it never took.
 */
import type { Facts } from "./reading/answers.js";
import { effectiveGasPrice } from "../chains/baseFee.js";
import { InsufficientFunds } from "../errors/verdicts.js";
import type { Address } from "../primitives/hex.js";
import { address, text } from "../primitives/statement.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Funds } from "../report/parts.js";
import { blobGasOf, signers, type Filled } from "./reading/bundle.js";
import { queuedCost } from "./reading/pool.js";

const termsOf = ({ index, input, gas, fee, charged: { extra } }: Filled): Funds["terms"] | null => {
  const price = fee.value.gasPrice ?? fee.value.maxFeePerGas;
  if (gas.value === null || price === null || extra === null) return null;
  const term = (name: Funds["terms"][number]["name"], amount: bigint): Funds["terms"][number] => ({
    transaction: index,
    name,
    amount,
  });
  const blobGas = blobGasOf(input);
  return [
    term("value", input.value),
    term("gas", gas.value * price),
    ...(blobGas > 0n ? [term("blobGas", blobGas * (input.maxFeePerBlobGas ?? 0n))] : []),
    ...(extra.l1FeeAtMost > 0n ? [term("l1Fee", extra.l1FeeAtMost)] : []),
    ...(extra.operatorFeeAtMost > 0n ? [term("operatorFee", extra.operatorFeeAtMost)] : []),
  ];
};

const expectedOf = (
  { input, gas, fee, outcome, charged: { extra } }: Filled,
  baseFeePerGas: bigint | null,
): bigint | null => {
  const used = outcome.gasUsed ?? gas.estimate;
  if (used === null || baseFeePerGas === null || extra === null) return null;
  const value = outcome.status === "reverted" || outcome.status === "halted" ? 0n : input.value;
  return value + used * effectiveGasPrice(fee.value, baseFeePerGas) + extra.l1Fee + extra.operatorFee;
};

/**
 * What the native movements of one transaction do to `account` beyond the value it attached itself:
 * positive = received, negative = taken by other calls (e.g. a delegated account's own code). Where the
 * node traced no movements, nothing came in.
 */
const flowOf = (account: Address, { input, transfers }: Filled): bigint => {
  let received = 0n;
  let outgoing = 0n;
  for (const transfer of transfers) {
    if (transfer.standard !== "native") continue;
    if (transfer.to === account) received += transfer.amount;
    if (transfer.from === account) outgoing += transfer.amount;
  }
  const attached = input.from === account ? input.value : 0n;
  return received - (outgoing > attached ? outgoing - attached : 0n);
};

/**
 * The account's way through the bundle: at each of its transactions it must be able to pay, with what came in before.
 * `parts` = null where they are not known; `needed` = what it must have held before the first transaction to pay up to
 * and with this one, wei.
 */
const walk = (account: Address, bundle: ReadonlyArray<Filled>) => {
  const last = bundle.findLastIndex(({ signer }) => signer === account);
  const steps: Array<{ entry: Filled; parts: Funds["terms"] | null; needed: bigint }> = [];
  const terms: Array<Funds["terms"][number]> = [];
  let needed = 0n;
  for (const entry of bundle) {
    if (entry.signer === account) {
      const parts = termsOf(entry);
      for (const part of parts ?? []) {
        terms.push(part);
        needed += part.amount;
      }
      steps.push({ entry, parts, needed });
    }
    const flow = entry.outcome.status === "success" ? flowOf(account, entry) : 0n;
    if (flow !== 0n && entry.index < last) {
      terms.push({ transaction: entry.index, name: flow > 0n ? "received" : "spent", amount: -flow });
      needed -= flow;
    }
  }
  return { steps, terms };
};

/**
 * By how much the price of the gas that we chose ourselves must fall for the balance to carry everything,
 * in wei per gas, per payer; payers that can pay, or that no lower price would help, are absent.
 */
export const reductions = (
  bundle: ReadonlyArray<Filled>,
  answers: Pick<Facts, "balanceOf">,
): ReadonlyMap<Address, bigint> => {
  const found = new Map<Address, bigint>();
  for (const account of signers(bundle)) {
    const balance = answers.balanceOf(account);
    const { steps } = walk(account, bundle);
    if (balance === null || steps.some(({ parts }) => parts === null)) continue;
    let reduction: bigint | null = 0n;
    let gas = 0n;
    for (const { entry, needed } of steps) {
      if (entry.fee.by === "us") gas += entry.gas.value ?? 0n;
      if (needed <= balance || reduction === null) continue;
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
  const { steps, terms } = walk(account, bundle);
  const complete = steps.every(({ parts }) => parts !== null);
  const required = steps.reduce((largest, { needed }) => (needed > largest ? needed : largest), 0n);
  const expected = steps.reduce<bigint | null>((sum, { entry }) => {
    const likely = expectedOf(entry, answers.quote.baseFeePerGas);
    return sum === null || likely === null ? null : sum + likely;
  }, 0n);
  const balance = answers.balanceOf(account);
  const nonces = new Set(steps.flatMap(({ entry }) => entry.nonce.value ?? []));
  return {
    account,
    balance,
    required: complete ? required : null,
    expected,
    shortfall: balance === null || !complete ? null : required > balance ? required - balance : 0n,
    queued: queuedCost(answers.pools.get(account), answers.flying(account), nonces),
    sealed: answers.pools.get(account)?.balance ?? null,
    terms,
    evidence: balance === null ? "unavailable" : "measured",
  };
};

/** One entry per payer, in order of first appearance. */
export const read = (bundle: ReadonlyArray<Filled>, answers: Parameters<typeof fundsOf>[2]): ReadonlyArray<Funds> =>
  signers(bundle).map((account) => fundsOf(account, bundle, answers));

/** `InsufficientFunds` with the exact shortfall, or what is not known. */
export const check = (
  { account, balance, required, shortfall, evidence }: Funds,
  bundle: ReadonlyArray<Filled>,
): ReadonlyArray<Finding> => {
  const transaction = bundle.find(({ signer }) => signer === account)?.index ?? null;
  if (shortfall === null) {
    const missing = text("not known", balance === null ? "its balance" : "its cost");
    return [
      note(
        "FundsUnknown",
        "unavailable",
        { transaction, evidence: "unavailable" },
        address("account", account),
        missing,
      ),
    ];
  }
  const where = { step: "funds", transaction, evidence } as const;
  return shortfall === 0n
    ? []
    : [fromError(new InsufficientFunds({ account, have: balance, want: required, shortfall }), "blocker", where)];
};
