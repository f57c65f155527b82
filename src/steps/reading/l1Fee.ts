/**
 * What a chain charges beyond gas × price, by its fee model. Lives on the witness; pure.
 *
 * `detect` decides by code at OP-stack's oracle predeploys. An oracle that fails is an error, never
 * zero; so is a model of the caller's own that throws or names impossible amounts.
 */
import * as Result from "effect/Result";
import {
  gasOnly,
  noExtraFees,
  type ExtraFees,
  type FeeDecision,
  type FeeLookup,
  type FeeModel,
  type FeeSubject,
} from "../../chains/feeModel.js";
import { opStack, predeploys } from "../../chains/opStack.js";
import type { Chain } from "../../Chains.js";
import { Finding, fromError, note } from "../../report/finding.js";
import { formatGas, formatWei } from "../../primitives/units.js";
import { sentence } from "../../primitives/sentence.js";
import { BlockGasLimitExceeded } from "../../errors/verdicts.js";
import type { Query } from "../../witness/queries.js";

export type { FeeSubject as L1Subject } from "../../chains/feeModel.js";

const modelOf = (chain: Chain): FeeModel => {
  if (typeof chain.feeModel === "object") return chain.feeModel;
  return chain.feeModel === "opstack" || chain.feeModel === "detect"
    ? opStack(chain.gasPriceOracle)
    : gasOnly(chain.feeModel);
};

/** What the witness reads for these transactions; nothing on chains without such fees. */
export const queries = (chain: Chain, subjects: ReadonlyArray<FeeSubject>): ReadonlyArray<Query> =>
  Result.getOrElse(
    Result.try(() => [...modelOf(chain).queries(subjects)]),
    () => [],
  );

/** Whether the chain charges by its model: for `detect`, whether the oracle predeploys have code; null = nobody looked. */
export const isCharged = (chain: Chain, lookup: FeeLookup): boolean | null => {
  if (chain.feeModel !== "detect") return true;
  const answers = predeploys(chain.gasPriceOracle).map(lookup);
  if (answers.some((answer) => answer?.kind !== "account")) return null;
  return answers.every((answer) => answer?.kind === "account" && answer.codeSize > 0n);
};

/** What is known beside. */
export interface Context {
  /** Gas of a whole block; null = not known. */
  readonly blockGasLimit: bigint | null;
  /** Seconds for which the fees shall hold. */
  readonly horizonSeconds: number;
}

const isAmount = (value: unknown): boolean => typeof value === "bigint" && value >= 0n && value < 1n << 200n;

/** A decision of a model, whoever wrote it: nothing impossible passes. */
const sane = (decision: FeeDecision): FeeDecision => {
  if (!("fees" in decision)) return decision;
  const { l1Fee, l1FeeAtMost, operatorFee, operatorFeeAtMost } = decision.fees;
  const possible =
    [l1Fee, l1FeeAtMost, operatorFee, operatorFeeAtMost].every(isAmount) &&
    l1FeeAtMost >= l1Fee &&
    operatorFeeAtMost >= operatorFee;
  return possible ? decision : { unreadable: "the chain's fee model named impossible amounts" };
};

/**
 * Decides the fees of one transaction; null with an `unavailable` finding where the chain charges but
 * did not say. `gas.limit` is what will be signed, `gas.used` what the simulation took. Blocker:
 * `BlockGasLimitExceeded` where the data alone is more than a block takes (Jovian's data footprint).
 */
export const decide = (
  chain: Chain,
  subject: FeeSubject | null,
  gas: { readonly used: bigint | null; readonly limit: bigint | null },
  index: number,
  lookup: FeeLookup,
  { blockGasLimit, horizonSeconds }: Context,
): { readonly output: ExtraFees | null; readonly findings: ReadonlyArray<Finding> } => {
  const where = { step: "funds", transaction: index } as const;
  const failed = (verdict: string, remedy: string) => ({
    output: null,
    findings: [note("EvidenceReduced", "unavailable", { verdict, evidence: chain.gasPriceOracle, remedy }, where)],
  });
  const charges = isCharged(chain, lookup);
  if (charges === false) return { output: noExtraFees, findings: [] };
  if (charges === null)
    return failed(
      "whether the chain charges L1 fees is not known",
      "use a node that simulates, or name the chain's fee model through the Chains service",
    );
  const model = modelOf(chain);
  const { limit } = gas;
  if (subject === null || limit === null)
    return {
      output: chain.feeModel === "ethereum" || chain.feeModel === "arbitrum" ? noExtraFees : null,
      findings: [],
    };
  const decision = Result.getOrElse(
    Result.map(
      Result.try(() => model.decide(subject, { used: gas.used, limit }, lookup, horizonSeconds)),
      sane,
    ),
    (): FeeDecision => ({ unreadable: "the chain's fee model failed" }),
  );
  if (!("fees" in decision)) return failed(decision.unreadable, "try another node");
  const findings: Array<Finding> = [];
  if (decision.disagrees !== undefined) {
    const { chain: said, own } = decision.disagrees;
    findings.push(
      note(
        "L1FeeDisagrees",
        "info",
        {
          verdict: "the chain's oracle and the chain's formula name two L1 fees; the larger one is used",
          evidence: `oracle ${formatWei(said, chain.symbol)}, formula ${formatWei(own, chain.symbol)}`,
        },
        where,
      ),
    );
  }
  if (decision.dataGas !== undefined && blockGasLimit !== null && decision.dataGas > blockGasLimit) {
    const exceeded = new BlockGasLimitExceeded({ gas: decision.dataGas, limit: blockGasLimit });
    const message = sentence({
      verdict: "the transaction's data takes more of a block than there is (data footprint)",
      evidence: `footprint ${formatGas(decision.dataGas)}, block ${formatGas(blockGasLimit)}`,
      remedy: "split the data over several transactions",
    });
    findings.push(new Finding({ ...fromError(exceeded, "blocker", where), message }));
  }
  return { output: decision.fees, findings };
};
