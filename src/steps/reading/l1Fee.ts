/**
 * The charges of a chain beyond gas × price, by its fee model. Lives on the witness; pure.
 *
 * `detect` decides by code at OP-stack's oracle predeploys. An oracle that fails is an error, never
 * zero; so is a model of the caller's own that throws or names impossible amounts.
 */
import type { Facts } from "./answers.js";
import {
  gasOnly,
  noExtraFees,
  operatorVault,
  opStack,
  predeploys,
  type FeeModel,
  type FeeSubject,
} from "../../chains/feeModel.js";
import type { Chain } from "../../Chains.js";
import { BlockGasLimitExceeded } from "../../errors/verdicts.js";
import { address, figures, gas as gasFigure, text, wei } from "../../primitives/statement.js";
import { fromError, code } from "../../report/finding.js";
import type { Address } from "../../primitives/hex.js";
import type { Query } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";
import type { Filled } from "./bundle.js";
import type { Sights } from "./runCode.js";
import { safely } from "../../primitives/record.js";

const modelOf = (chain: Chain): FeeModel => {
  if (typeof chain.feeModel === "object") return chain.feeModel;
  return chain.feeModel === "opstack" || chain.feeModel === "detect"
    ? opStack(chain.gasPriceOracle)
    : gasOnly(chain.feeModel);
};

/** True if the chain's fees depend on the transactions' bytes; false where no oracle was found at `noFeeOracle`. */
export const needsBytes = ({ feeModel, gasPriceOracle }: Chain, noFeeOracle: Address | null): boolean =>
  feeModel === "detect" ? gasPriceOracle !== noFeeOracle : feeModel !== "ethereum" && feeModel !== "arbitrum";

/**
 * Queries of the witness for these transactions; none on chains without such fees. `null` = their bytes are not
 * needed: the only question is then if an oracle lives there.
 */
export const queries = (chain: Chain, subjects: ReadonlyArray<FeeSubject> | null): ReadonlyArray<Query> =>
  subjects === null && chain.feeModel === "detect"
    ? predeploys(chain.gasPriceOracle).map((predeploy) => ({ kind: "account", address: predeploy }))
    : safely(() => [...modelOf(chain).queries(subjects ?? [])], []);

/** Queries on both sides of the calls, where the chain's fees depend on their bytes: what the operator earns. */
export const earnings = (hasBytes: boolean): ReadonlyArray<Query> =>
  hasBytes ? [{ kind: "account", address: operatorVault }] : [];

/** The operator fees of a run, those of the witness too, as the node credited them; 0 where nobody saw. Wei. */
const earned = ({ before, after }: Sights): bigint => {
  const [had, has] = [before.account(operatorVault), after.account(operatorVault)];
  return had !== null && has !== null && has.balance > had.balance ? has.balance - had.balance : 0n;
};

/** True if an OP stack's predeploys have code, its oracle at `oracle`; null = nobody looked. */
export const livesAt = (oracle: Address, { account }: View): boolean | null => {
  const sizes = predeploys(oracle).map((predeploy) => account(predeploy)?.codeSize ?? null);
  return sizes.includes(null) ? null : sizes.every((size) => size !== null && size > 0n);
};

/** True if the chain charges by its model; null = nobody could see. */
const isCharged = ({ chain, oracles }: Pick<Facts, "chain" | "oracles">): boolean | null =>
  chain.feeModel === "detect" ? livesAt(chain.gasPriceOracle, oracles) : true;

const isAmount = (value: unknown): boolean => typeof value === "bigint" && value >= 0n && value < 1n << 200n;

/** A decision of a model, whoever wrote it: nothing impossible passes. */
const sane = (decision: ReturnType<FeeModel["decide"]>): typeof decision => {
  if (!("fees" in decision)) return decision;
  const { l1Fee, l1FeeAtMost, operatorFee, operatorFeeAtMost } = decision.fees;
  const possible =
    [l1Fee, l1FeeAtMost, operatorFee, operatorFeeAtMost].every(isAmount) &&
    l1FeeAtMost >= l1Fee &&
    operatorFeeAtMost >= operatorFee;
  return possible ? decision : { unreadable: "the chain's fee model named impossible amounts" };
};

const nothingCharged: Filled["charged"] = { extra: noExtraFees, findings: [] };

/** @figures wei("oracle", 3n * 10n ** 12n), wei("formula", 28n * 10n ** 11n) */
export const L1FeeDisagrees = code("funds", ["info"], "L1FeeDisagrees", [
  "the chain's fee oracle and its formula give different L1 fees; the larger one is used",
]);

/**
 * Rollups charge an L1 fee or an operator fee, and its oracle did not answer.
 * @figures text("because", "the oracle reverts"), address("oracle", "0x420000000000000000000000000000000000000f")
 */
export const L1FeeUnknown = code("funds", ["unavailable"], "L1FeeUnknown", [
  "the fee that the chain charges in addition to gas is not known",
  "use a node that simulates, or give the chain's fee model with the `Chains` service",
]);

/** A blocker where the data alone is more than a block takes. */
const checkFootprint = (gas: bigint | undefined, limit: bigint | null, where: Parameters<typeof fromError>[2]) =>
  gas === undefined || limit === null || gas <= limit
    ? []
    : [
        fromError(new BlockGasLimitExceeded({ gas, limit }), "blocker", where, {
          sentence: "the transaction's data takes more of a block than there is (data footprint)",
          numbers: figures(gasFigure("footprint", gas), gasFigure("block", limit)),
          remedy: "split the data over several transactions",
        }),
      ];

/**
 * The fees of one transaction: what will be signed may use the whole limit, the expected part is by what
 * the simulation took. Blocker: `BlockGasLimitExceeded` where the data alone is more than a block takes
 * (Jovian's data footprint).
 */
export const read = (
  entry: Pick<Filled, "index" | "gas" | "outcome">,
  answers: Pick<Facts, "chain" | "oracles" | "before" | "after" | "subjectOf" | "blockGasLimit" | "horizonSeconds">,
): Filled["charged"] => {
  const { chain, oracles, blockGasLimit, horizonSeconds } = answers;
  const where = { step: "funds", transaction: entry.index, evidence: "measured" } as const;
  const oracle = address("oracle", chain.gasPriceOracle);
  const failed = (why: string): Filled["charged"] => ({
    extra: null,
    findings: [L1FeeUnknown.unavailable({ ...where, evidence: "unavailable" }, oracle, text("because", why))],
  });
  const charges = isCharged(answers);
  if (charges === false || chain.feeModel === "ethereum" || chain.feeModel === "arbitrum") return nothingCharged;
  if (charges === null) return failed("whether the chain charges L1 fees could not be checked");
  const limit = entry.gas.value;
  if (limit === null) return { extra: null, findings: [] };
  const subject = answers.subjectOf(entry);
  // why: an oracle that came to live where none was known has not been asked
  if (subject === null)
    return chain.feeModel === "detect"
      ? failed("the chain's oracle was not asked about this transaction")
      : { extra: null, findings: [] };
  const used = entry.outcome.gasUsed;
  const decision = sane(
    safely(() => modelOf(chain).decide(subject, { used, limit }, oracles, horizonSeconds), {
      unreadable: "the chain's fee model failed",
    }),
  );
  if (!("fees" in decision)) return failed(decision.unreadable);
  const { disagrees, dataGas } = decision;
  // why: predeploys that missed an upgrade know nothing of what the node charges
  const untold = typeof chain.feeModel === "object" || decision.fees.operatorFeeAtMost > 0n ? 0n : earned(answers);
  const most = (untold * limit) / (used || 1n) + 1n;
  const isUntold = untold > 0n;
  return {
    extra: isUntold ? { ...decision.fees, operatorFee: untold, operatorFeeAtMost: most } : decision.fees,
    findings: [
      ...(isUntold ? failed("the node charges an operator fee unknown to the oracle").findings : []),
      ...(disagrees === undefined
        ? []
        : [L1FeeDisagrees.info(where, wei("oracle", disagrees.chain), wei("formula", disagrees.own))]),
      ...checkFootprint(dataGas, blockGasLimit, where),
    ],
  };
};
