/** From answers to a report: pure. The steps decide in pipeline order; each gets what it needs as arguments. */
import * as Result from "effect/Result";
import type { Chain } from "../Chains.js";
import { indexAbis } from "../abi/decodeRevert.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import { ChainIdMismatch } from "../errors/verdicts.js";
import type { Report, TransactionReport } from "../report/schema.js";
import * as Assets from "../steps/assets.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Nonce from "../steps/nonce.js";
import * as Rights from "../steps/reading/rights.js";
import type { BalanceChange, Outcome } from "../report/parts.js";
import * as Simulate from "../steps/simulate.js";
import { buildRequest, filledOf, type Request } from "../transaction/request.js";
import type { Transaction } from "../transaction/schema.js";
import { readWorld, type World } from "./facts.js";
import { aboutState, conclude, observe } from "./conclude.js";
import { sourcesOf } from "./options.js";
import type { Material, Proof } from "./material.js";
import { measureOf } from "./measure.js";
import { gasPaid, movementsOf } from "./movements.js";
import { readOutcomes } from "./outcomes.js";
import { pay } from "./pay.js";

/** What was measured in a state that was partly pretended. */
const asAssumed = (change: BalanceChange): BalanceChange =>
  change.evidence === "measured" ? { ...change, evidence: "assumed" } : change;

const chainOf = (material: Material, world: World): Chain =>
  material.chains(world.chainId ?? material.transactions[0]?.chainId ?? null);

const chainFindings = ({ transactions, facts }: Material, world: World): ReadonlyArray<Finding> => {
  const where = { step: "chain" } as const;
  const said = Result.isSuccess(facts.chainId) ? facts.chainId.success : null;
  const findings: Array<Finding> = [];
  if (world.chainId === null && Result.isFailure(facts.chainId))
    findings.push(fromError(facts.chainId.failure, "unavailable", where));
  else if (Result.isFailure(facts.chainId)) findings.push(fromError(facts.chainId.failure, "info", where));
  if (said !== null && world.chainId !== null && said !== world.chainId) {
    findings.push(
      note(
        "NodeDisagrees",
        "unavailable",
        {
          verdict: "the node names two chain ids",
          evidence: `eth_chainId ${said}, CHAINID ${world.chainId}`,
          remedy: "use another endpoint",
        },
        where,
      ),
    );
  }
  transactions.forEach((transaction, index) => {
    if (transaction.chainId !== null && world.chainId !== null && transaction.chainId !== world.chainId) {
      findings.push(
        fromError(
          new ChainIdMismatch({ expected: BigInt(transaction.chainId), actual: BigInt(world.chainId) }),
          "blocker",
          { ...where, transaction: index },
        ),
      );
    }
  });
  return findings;
};

/** The input with what the requests fixed, so that the same rules judge both rounds. */
const settled = (transaction: Transaction, request: Request | undefined): Transaction =>
  request === undefined ? transaction : { ...transaction, ...filledOf(request), chainId: transaction.chainId };

/** Nonces that were assigned from outside the input, by index. */
const assignedIn = (proof: Proof | null): ReadonlyArray<number | null> =>
  (proof?.previous.transactions ?? []).map(({ nonce }) =>
    !nonce.fixed && nonce.evidence === "assumed" ? nonce.value : null,
  );

const decideNonces = ({ transactions, facts, proof }: Material, effective: ReadonlyArray<Transaction>) => {
  const assigned = assignedIn(proof);
  const decided = Nonce.decide(
    effective.map((transaction, index) =>
      assigned[index] === null || assigned[index] === undefined ? transaction : { ...transaction, nonce: null },
    ),
    facts.counts,
    assigned,
    // why: in a proof every nonce is fixed, but one that we chose must not replace somebody's transaction
    transactions.map(({ nonce }) => proof !== null && nonce === null),
  );
  return {
    findings: decided.findings,
    outputs: decided.outputs.map((output, index) =>
      proof === null
        ? output
        : {
            ...output,
            fixed: transactions[index]?.nonce !== null,
            evidence: proof.previous.transactions[index]?.nonce.evidence ?? output.evidence,
          },
    ),
  };
};

/**
 * What a blocker makes moot is skipped: the sum of a payer whose transaction fails anyway, and the node's
 * refusal of a whole request where our own rule says the same with its evidence.
 */
const settleDoubles = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const blockers = findings.filter(({ severity }) => severity === "blocker");
  const fails = blockers.some(({ step }) => step === "simulate");
  return findings.filter(({ code, step, severity }) => {
    if (fails && step === "funds" && severity === "unavailable") return false;
    return !(
      step === "simulate" &&
      severity === "blocker" &&
      blockers.some((other) => other.code === code && other.step !== step)
    );
  });
};

/** The report of a scan or of a proof. */
export const assemble = (material: Material): Report => {
  const { transactions, options, facts, proof } = material;
  const world = readWorld(facts, proof !== null);
  const chain = chainOf(material, world);
  const abis = indexAbis(sourcesOf(options.abis));
  const effective = transactions.map((transaction, index) => settled(transaction, proof?.requests[index]));
  const { readings, findings: outcomeFindings } = readOutcomes(transactions, facts, world, abis);
  const outcomes = readings.map(({ outcome }) => outcome);
  const outcomeOf = (index: number): Outcome => outcomes[index] ?? Simulate.unknownOutcome(null);

  const nonces = decideNonces(material, effective);
  const makers = Code.makersOf(
    transactions,
    nonces.outputs.map(({ value }) => value),
  );
  const codes = transactions.map((transaction, index) => {
    const see = (account: Address): Code.Seen => ({
      before: world.before({ kind: "account", address: account }),
      after: world.after({ kind: "account", address: account }),
      appears: Code.appearanceOf(account, index, makers),
    });
    return Code.decide(transaction, index, facts.codes, see, {
      nonce: nonces.outputs[index]?.value ?? null,
      chain,
      delegateHasCode: proof?.delegateHasCode ?? (() => null),
    });
  });
  const gases = effective.map((transaction, index) => {
    const earlier = proof?.previous.transactions[index]?.gas ?? null;
    const estimated =
      earlier === null
        ? index === 0
          ? facts.estimate
          : null
        : earlier.estimate === null
          ? null
          : Result.succeed(earlier.estimate);
    const decided = Estimate.decide(transaction, index, estimated, outcomeOf(index), {
      chain,
      blockGasLimit: world.blockGasLimit,
      receiverHasCode: codes[index]?.output.to?.kind !== "nobody",
    });
    return earlier === null
      ? decided
      : {
          ...decided,
          output: {
            ...decided.output,
            fixed: earlier.fixed,
            evidence: outcomeOf(index).status === "success" ? ("measured" as const) : earlier.evidence,
          },
        };
  });
  // why: a scan runs without fees, so nothing was paid in it
  const baseFee = proof === null ? null : (world.main?.block.baseFeePerGas ?? world.baseFeePerGas ?? 0n);
  const moved = movementsOf({
    transactions,
    readings,
    sight: world,
    asked:
      proof?.measure ??
      measureOf(transactions, { outcomes, transfers: Assets.transfers(readings) }, material.policies, material.limits),
    paid: baseFee === null ? new Map() : gasPaid(effective, outcomes, baseFee, world),
  });
  const { transfers } = moved;
  const paid = pay(material, world, chain, {
    transactions: effective,
    gases: gases.map(({ output }) => output),
    outcomes: transactions.map((_, index) => outcomeOf(index)),
    transfers,
  });

  const all = transactions.flatMap((input, index): ReadonlyArray<TransactionReport> => {
    const [gas, nonce, fee, code] = [gases[index], nonces.outputs[index], paid.fees[index], codes[index]];
    const filled = {
      chainId: world.chainId,
      nonce: nonce?.value ?? null,
      gas: gas?.output.limit ?? null,
      gasPrice: fee?.gasPrice ?? null,
      maxFeePerGas: fee?.maxFeePerGas ?? null,
      maxPriorityFeePerGas: fee?.maxPriorityFeePerGas ?? null,
    };
    const request = proof?.requests[index] ?? buildRequest(input, filled);
    return gas === undefined || nonce === undefined || fee === undefined || code === undefined
      ? []
      : [{ input, request, code: code.output, outcome: outcomeOf(index), gas: gas.output, nonce, fee }];
  });

  const see = (account: Address) => ({
    before: world.before({ kind: "account", address: account }),
    after: world.after({ kind: "account", address: account }),
  });
  const observed = observe(material, world, chain);
  const findings = settleDoubles([
    ...facts.findings,
    ...chainFindings(material, world),
    ...codes.flatMap((decision) => decision.findings),
    ...outcomeFindings,
    ...gases.flatMap((decision) => decision.findings),
    ...nonces.findings,
    ...paid.findings,
    ...moved.findings,
    ...Rights.decide(transactions, outcomes, see, world.chainId),
    ...aboutState(observed, options),
    ...(proof?.findings ?? []),
  ]);
  return conclude(material, {
    chainId: world.chainId,
    reports: all,
    observed,
    findings,
    transfers,
    balanceChanges: facts.pretended ? moved.balanceChanges.map(asAssumed) : moved.balanceChanges,
    approvals: moved.approvals,
    tokens: moved.tokens,
    funds: paid.funds,
  });
};
