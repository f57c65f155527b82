/** From answers to a report: every case read and checked, the whole judged. The same for a scan and for a proof. Pure. */
import * as Arr from "effect/Array";
import * as Result from "effect/Result";
import { ChainIdMismatch, PolicyViolation } from "../errors/verdicts.js";
import { count, figures, text } from "../primitives/statement.js";
import { digestOfReport } from "../report/digest.js";
import { fromError, inOrder, note, type Finding } from "../report/finding.js";
import { freshnessOf } from "../report/freshness.js";
import type { Policy } from "../report/policy.js";
import {
  reportVersion,
  type Ledger,
  type Observed,
  type Report,
  type ReportOptions,
  type TransactionReport,
} from "../report/schema.js";
import { becauseOf, verdictOf } from "../report/verdict.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Funds from "../steps/funds.js";
import * as Nonce from "../steps/nonce.js";
import type { Bundle, Filled } from "../steps/reading/bundle.js";
import * as TokenShortfall from "../steps/reading/tokenShortfall.js";
import type { Answers } from "./answers.js";
import type { Measure } from "./limits.js";
import { movementsOf } from "./movements.js";
import { checkOutcomes } from "./outcomes.js";

/** What a report says beside its cases and answers. */
export interface About {
  readonly options: ReportOptions;
  readonly policies: ReadonlyArray<Policy>;
  readonly stage: Report["stage"];
  readonly measure: Measure;
  readonly worlds: Observed["worlds"];
  readonly ledger: Ledger;
  /** Epoch ms. */
  readonly now: number;
  /** What was found by comparing runs. */
  readonly findings: ReadonlyArray<Finding>;
  /** What an earlier report could not learn, for this one to tell unless it tells the same itself. */
  readonly earlier: ReadonlyArray<Finding>;
}

/** The state that the report speaks of. */
const observe = (answers: Answers, { options, now, worlds }: About): Observed => {
  const { before, header, block, chain, chainId, run, called } = answers;
  const simulatedNumber = before.environment?.number ?? null;
  const base = simulatedNumber === null ? null : simulatedNumber - 1n;
  const timestamp = before.environment?.timestamp ?? null;
  const latest = header?.number ?? null;
  const isCurrent = (block === "pending" || block === "latest") && options.blockOverrides === null;
  return {
    blockTag: block as Observed["blockTag"],
    baseNumber: base,
    simulatedNumber,
    parentHash: before.environment?.parentHash ?? null,
    timestamp,
    baseFeePerGas: answers.simulatedBaseFee,
    gasLimit: answers.blockGasLimit,
    latestNumber: latest,
    feeRecipient: header?.miner ?? null,
    at: now,
    freshness: isCurrent ? freshnessOf({ base, latest, timestamp, now, chain, chainId }) : "unknown",
    tier: run !== null ? "simulate" : called !== null ? "call" : "none",
    namedChainId: namedIn(answers),
    worlds,
  };
};

const namedIn = ({ namedChainId }: Answers): number | null =>
  namedChainId !== null && Result.isSuccess(namedChainId) ? namedChainId.success : null;

/** Whether it is the chain that was meant, and one chain. */
const checkChain = (bundle: Bundle<Filled>, answers: Answers): ReadonlyArray<Finding> => {
  const { chainId, namedChainId } = answers;
  const where = { step: "chain", evidence: "measured" } as const;
  const named = namedIn(answers);
  const unnamed = namedChainId !== null && Result.isFailure(namedChainId) ? namedChainId.failure : null;
  return [
    ...(unnamed === null
      ? []
      : [fromError(unnamed, chainId === null ? "unavailable" : "info", { step: "chain", evidence: "unavailable" })]),
    ...(named === null || chainId === null || named === chainId
      ? []
      : [
          note(
            "ChainIdDisagrees",
            "unavailable",
            {
              sentence: "the node names two chain ids",
              numbers: figures(count("eth_chainId", named), count("CHAINID", chainId)),
              remedy: "use another endpoint",
            },
            where,
          ),
        ]),
    ...bundle.flatMap(({ input, request, index }) => {
      // why: a proof may run on another node than the scan, and its requests name the scan's chain
      const meant = input.chainId ?? request?.chainId ?? null;
      return meant === null || chainId === null || meant === chainId
        ? []
        : [
            fromError(new ChainIdMismatch({ expected: BigInt(meant), actual: BigInt(chainId) }), "blocker", {
              ...where,
              transaction: index,
            }),
          ];
    }),
  ];
};

/** What the state itself gives reason to say: that it is old, or pretended. */
const checkState = (observed: Observed, options: ReportOptions): ReadonlyArray<Finding> => {
  const { freshness, blockTag, baseNumber, latestNumber, timestamp } = observed;
  const pretended = { step: "chain", evidence: "assumed" } as const;
  return [
    ...(freshness !== "stale"
      ? []
      : [
          note(
            "PendingStale",
            "unavailable",
            {
              sentence: "the state asked is not the newest",
              numbers: figures(
                count("base block", baseNumber),
                count("latest block", latestNumber),
                count("timestamp", timestamp),
              ),
              remedy: "ask again, with another block tag, or use another endpoint",
            },
            { step: "chain", evidence: "measured" },
          ),
        ]),
    ...(blockTag === "pending" || blockTag === "latest"
      ? []
      : [
          note(
            "BlockNotNewest",
            "warning",
            {
              sentence: "the report speaks of another block than the newest",
              numbers: figures(text("block", String(blockTag))),
              remedy: "leave `block` out before signing",
            },
            pretended,
          ),
        ]),
    ...(options.stateOverrides === null && options.blockOverrides === null
      ? []
      : [
          note(
            "StatePretended",
            "warning",
            {
              sentence: "the report describes a pretended state",
              remedy: "leave the overrides out before signing; no clearance is given with them",
            },
            pretended,
          ),
        ]),
  ];
};

/**
 * What a blocker makes moot is skipped: the sum of a payer whose transaction fails anyway, and the node's
 * refusal of a whole request where our own rule says the same with its evidence.
 */
const withoutMoot = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
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

/** A request with a hole says so, where nothing else did: nothing can be proven of it. */
const checkHoles = (bundle: Bundle<Filled>, findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  findings.some(({ severity }) => severity === "blocker" || severity === "unavailable")
    ? []
    : bundle.flatMap(({ request, index }) =>
        request !== null
          ? []
          : [
              note(
                "RequestIncomplete",
                "unavailable",
                {
                  sentence: "a field of the request is not known",
                  remedy: "give nonce, gas, fees and chain id, or use another node",
                },
                { step: "proof", transaction: index, evidence: "unavailable" },
              ),
            ],
      );

/** What the policies say of a report. */
const checkPolicies = (report: Report, policies: ReadonlyArray<Policy>): ReadonlyArray<Finding> => {
  const judged = policies.flatMap((policy): ReadonlyArray<Finding> => {
    const result = policy.evaluate(report);
    if (result._tag === "Pass") return [];
    return result._tag === "Fail"
      ? [
          fromError(new PolicyViolation({ policy: policy.name, detail: result.detail }), "blocker", {
            step: "policy",
            evidence: "measured",
          }),
        ]
      : [
          note(
            "PolicyUnknown",
            "unavailable",
            {
              sentence: `whether the policy ${policy.name} holds is not known`,
              numbers: figures(text("", result.reason)),
            },
            { step: "policy", evidence: "unavailable" },
          ),
        ];
  });
  // why: one that is written down in the report but was not rebuilt is unknown, never passed
  const lost = report.options.policies.length - policies.length;
  return lost <= 0
    ? judged
    : [
        ...judged,
        note(
          "PolicyLost",
          "unavailable",
          {
            sentence: "a policy of the report could not be evaluated again",
            numbers: figures(count("lost", lost), count("of", report.options.policies.length)),
            remedy: "give the policies again as an option",
          },
          { step: "policy", evidence: "unavailable" },
        ),
      ];
};

/** `earlier`, as far as the new round does not tell the same itself. */
const untold = (earlier: ReadonlyArray<Finding>, found: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const keyOf = ({ code, step, transaction }: Finding) => `${code}/${step}/${transaction}`;
  const told = new Set(found.map(keyOf));
  return earlier.filter((finding) => {
    const isNew = !told.has(keyOf(finding));
    told.add(keyOf(finding));
    return isNew;
  });
};

const judged = (report: Report, findings: ReadonlyArray<Finding>): Report => {
  const ordered = inOrder(findings);
  return { ...report, findings: ordered, verdict: verdictOf(ordered), because: becauseOf(ordered, report.stage) };
};

/** The report on `bundle`, every choice of it made, out of one round's answers. */
export const reportOf = (bundle: Bundle<Filled>, answers: Answers, about: About): Report => {
  const { options, measure } = about;
  const round = { ...answers, bundle };
  const transactions = Arr.map(bundle, (one): TransactionReport => ({
    input: one.input,
    request: one.request,
    code: one.code,
    outcome: one.outcome,
    gas: Estimate.read(one, answers),
    nonce: Nonce.read(one, round),
    fee: Fee.read(one, answers),
  }));
  const { findings: moved, ...movements } = movementsOf(bundle, answers.run, measure, answers.chainId);
  const paying = { ...answers, baseFeePerGas: answers.quote.baseFeePerGas, transfers: movements.transfers };
  const funds = Funds.read(bundle, paying);
  const observed = observe(answers, about);
  const now = withoutMoot([
    ...answers.findings,
    ...checkChain(bundle, answers),
    ...bundle.flatMap((one) => Code.check(one, round)),
    ...checkOutcomes(bundle, answers),
    ...bundle.flatMap((one) => Estimate.check(one, answers)),
    ...bundle.flatMap((one) => Nonce.check(one, round)),
    ...Fee.checkSources(answers),
    ...bundle.flatMap((one) => Fee.check(one, answers)),
    ...bundle.flatMap((one) => one.charged.findings),
    ...funds.flatMap((payer) => Funds.check(payer, bundle)),
    ...bundle.flatMap((one) => TokenShortfall.check(one, answers)),
    ...moved,
    ...checkState(observed, options),
    ...about.findings,
  ]);
  const found = [...untold(about.earlier, now), ...now];
  const draft = judged(
    {
      version: reportVersion,
      verdict: "unknown",
      because: "",
      stage: about.stage,
      chainId: answers.chainId,
      options,
      observed,
      transactions,
      funds,
      ...movements,
      findings: [],
      digest: digestOfReport({ chainId: answers.chainId, transactions }),
      ledger: about.ledger,
    },
    [...found, ...checkHoles(bundle, found)],
  );
  const policies = checkPolicies(draft, about.policies);
  return policies.length === 0 ? draft : judged(draft, [...draft.findings, ...policies]);
};
