/**
 * What an OP-stack chain charges beyond gas: the L1 data fee and the operator fee. Lives on the witness.
 *
 * The L1 fee is `GasPriceOracle.getL1Fee` over the exact unsigned bytes of the real transaction type;
 * the operator fee is read at gas 0 and at the limit, for it is linear in gas, whatever the fork. An
 * oracle that fails is an error, never zero. Source: OP-stack specs, Fjord, Isthmus and Jovian.
 */
import type { Chain } from "../Chains.js";
import { note, type Finding } from "../errors/finding.js";
import type { Address, Hex } from "../errors/hex.js";
import { readBool, readUint256, type Answer } from "../witness/answers.js";
import { getL1Fee, getOperatorFee, isIsthmus, type Query } from "../witness/queries.js";

type Lookup = (query: Query) => Answer | undefined;

/** What one transaction is asked about. */
export interface L1Subject {
  /** Unsigned EIP-2718 bytes. */
  readonly unsigned: Hex;
  readonly gasLimit: bigint;
}

/** The L1 attributes predeploy: present on every OP-stack chain beside the oracle. */
const l1Block = "0x4200000000000000000000000000000000000015" as Address;

/**
 * Head room for the L1 fee until inclusion, in percent: the L1 base fee may rise by an eighth per L1
 * block and the blob base fee beside it; two L1 blocks.
 */
export const l1MarginPercent = 25n;

const presence = (chain: Chain): ReadonlyArray<Query> => [
  { kind: "account", address: chain.gasPriceOracle },
  { kind: "account", address: l1Block },
];

const asks = (chain: Chain): boolean => chain.feeModel === "opstack" || chain.feeModel === "detect";

/** What the witness reads for these transactions; nothing on chains without such fees. */
export const queries = (chain: Chain, subjects: ReadonlyArray<L1Subject>): ReadonlyArray<Query> =>
  asks(chain)
    ? [
        ...presence(chain),
        isIsthmus(chain.gasPriceOracle),
        getOperatorFee(0n, chain.gasPriceOracle),
        ...subjects.flatMap(({ unsigned, gasLimit }) => [
          getL1Fee(unsigned, chain.gasPriceOracle),
          getOperatorFee(gasLimit, chain.gasPriceOracle),
        ]),
      ]
    : [];

/** The fees of one transaction in wei; structurally what the funds step takes. */
export interface L1Fees {
  readonly l1Fee: bigint;
  readonly l1FeeAtMost: bigint;
  readonly operatorFee: bigint;
  readonly operatorFeeAtMost: bigint;
}

const free: L1Fees = { l1Fee: 0n, l1FeeAtMost: 0n, operatorFee: 0n, operatorFeeAtMost: 0n };

/** Whether the oracle predeploys have code; null = nobody looked. */
export const isOpStack = (chain: Chain, lookup: Lookup): boolean | null => {
  if (!asks(chain)) return false;
  if (chain.feeModel === "opstack") return true;
  const answers = presence(chain).map(lookup);
  if (answers.some((answer) => answer?.kind !== "account")) return null;
  return answers.every((answer) => answer?.kind === "account" && answer.codeSize > 0n);
};

/**
 * Decides the fees of one transaction; null with an `unavailable` finding where the chain charges but
 * did not say. `gas.limit` is what will be signed, `gas.used` what the simulation took.
 */
export const decide = (
  chain: Chain,
  subject: L1Subject | null,
  gas: { readonly used: bigint | null; readonly limit: bigint | null },
  index: number,
  lookup: Lookup,
): { readonly output: L1Fees | null; readonly findings: ReadonlyArray<Finding> } => {
  const where = { step: "funds", transaction: index } as const;
  const failed = (verdict: string, remedy: string) => ({
    output: null,
    findings: [note("EvidenceReduced", "unavailable", { verdict, evidence: chain.gasPriceOracle, remedy }, where)],
  });
  const charges = isOpStack(chain, lookup);
  if (charges === false) return { output: free, findings: [] };
  if (charges === null)
    return failed(
      "whether the chain charges L1 fees is not known",
      "use a node that simulates, or name the chain's fee model through the Chains service",
    );
  if (subject === null || gas.limit === null) return { output: null, findings: [] };
  const l1Fee = readUint256(lookup(getL1Fee(subject.unsigned, chain.gasPriceOracle)));
  if (l1Fee === null) return failed("the chain's L1 fee could not be read from its oracle", "try another node");
  const atLimit = readUint256(lookup(getOperatorFee(subject.gasLimit, chain.gasPriceOracle)));
  const atZero = readUint256(lookup(getOperatorFee(0n, chain.gasPriceOracle)));
  const l1 = { l1Fee, l1FeeAtMost: (l1Fee * (100n + l1MarginPercent) + 99n) / 100n };
  if (atLimit === null || atZero === null || atLimit < atZero) {
    const isthmus = lookup(isIsthmus(chain.gasPriceOracle));
    // before Isthmus there is no operator fee, and no function to ask for it
    const before = isthmus?.kind === "call" && readBool(isthmus) !== true && (atLimit === null || atZero === null);
    return before
      ? { output: { ...l1, operatorFee: 0n, operatorFeeAtMost: 0n }, findings: [] }
      : failed("the chain's operator fee could not be read from its oracle", "try another node");
  }
  const at = (amount: bigint): bigint =>
    subject.gasLimit === 0n
      ? atLimit
      : atZero + ((atLimit - atZero) * amount + subject.gasLimit - 1n) / subject.gasLimit;
  return { output: { ...l1, operatorFee: at(gas.used ?? gas.limit), operatorFeeAtMost: at(gas.limit) }, findings: [] };
};
