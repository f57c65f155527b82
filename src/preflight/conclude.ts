/** The last part of a report: which state it speaks of, what its policies say, its verdict and its digest. Pure. */
import * as Result from "effect/Result";
import type { Chain } from "../Chains.js";
import { fromError, inOrder, note, type Finding } from "../report/finding.js";
import { PolicyViolation } from "../errors/verdicts.js";
import { Report, reportVersion, type Observed, type ReportOptions, type TransactionReport } from "../report/schema.js";
import { verdictOf } from "../report/verdict.js";
import type { Approval, BalanceChange, Funds, TokenInfo, Transfer } from "../report/parts.js";
import { digestOf } from "../transaction/request.js";
import type { Material } from "./material.js";
import type { World } from "./facts.js";

/** Heads may move while the answers are under way; one block back is no lag. */
const behind = 1n;
/** Pending state may be this far ahead of the latest block. */
const ahead = 3n;
/** A state older than this many block times (and a minute) is stale. */
const mostBlockTimes = 10;

/** The ids of geth's and of anvil's and hardhat's development chains. */
const developmentChains = [1337, 31337];

const freshnessOf = (
  base: bigint | null,
  latest: bigint | null,
  timestamp: bigint | null,
  now: number,
  chain: Chain,
  isDevelopment: boolean,
): Observed["freshness"] => {
  // why: an hour without a block is an outage anywhere but on a development chain, which mines when it is asked to
  const most = chain.known
    ? Math.max(60_000, mostBlockTimes * chain.blockTimeMs)
    : isDevelopment
      ? Infinity
      : 3_600_000;
  if (timestamp !== null && now - Number(timestamp) * 1000 > most) return "stale";
  if (base === null || latest === null) return "unknown";
  // blocks that pass while the answers travel count for chains faster than the network
  const drift = BigInt(Math.ceil(1000 / chain.blockTimeMs)) + behind;
  return base + drift < latest || base > latest + ahead ? "stale" : "fresh";
};

/** The state that the report speaks of. */
export const observe = ({ facts, options, now }: Material, world: World, chain: Chain): Observed => {
  const simulatedNumber = world.environment?.number ?? null;
  const baseNumber = simulatedNumber === null ? null : simulatedNumber - 1n;
  const timestamp = world.environment?.timestamp ?? null;
  const latestNumber = world.header?.number ?? null;
  const current = facts.block === "pending" || facts.block === "latest";
  return {
    blockTag: facts.block as Observed["blockTag"],
    baseNumber,
    simulatedNumber,
    parentHash: world.environment?.parentHash ?? null,
    timestamp,
    baseFeePerGas: world.baseFeePerGas,
    gasLimit: world.blockGasLimit,
    latestNumber,
    feeRecipient: world.header?.miner ?? null,
    at: now,
    freshness:
      current && options.blockOverrides === null
        ? freshnessOf(baseNumber, latestNumber, timestamp, now, chain, developmentChains.includes(world.chainId ?? 0))
        : "unknown",
    tier: world.main !== null ? "simulate" : facts.called !== null ? "call" : "none",
  };
};

/** What the state itself gives reason to say: that it is old, or pretended. */
export const aboutState = (observed: Observed, options: ReportOptions): ReadonlyArray<Finding> => {
  const where = { step: "chain" } as const;
  const findings: Array<Finding> = [];
  if (observed.freshness === "stale") {
    findings.push(
      note(
        "PendingStale",
        "unavailable",
        {
          verdict: "the state asked is not the newest",
          evidence: `base block ${observed.baseNumber}, latest block ${observed.latestNumber}, timestamp ${observed.timestamp}`,
          remedy: "ask again, with another block tag, or use another endpoint",
        },
        where,
      ),
    );
  }
  if (observed.blockTag !== "pending" && observed.blockTag !== "latest") {
    findings.push(
      note(
        "ConditionsAssumed",
        "warning",
        {
          verdict: "the report speaks of another block than the newest",
          evidence: `block ${observed.blockTag}`,
          remedy: "leave `block` out before signing",
        },
        { ...where, evidence: "assumed" },
      ),
    );
  }
  if (options.stateOverrides !== null || options.blockOverrides !== null) {
    findings.push(
      note(
        "ConditionsAssumed",
        "warning",
        {
          verdict: "the report describes a pretended state",
          remedy: "leave the overrides out before signing; no clearance is given with them",
        },
        { ...where, evidence: "assumed" },
      ),
    );
  }
  return findings;
};

/** Everything decided, before the whole is judged. */
export interface Parts {
  readonly chainId: number | null;
  readonly reports: ReadonlyArray<TransactionReport>;
  readonly observed: Observed;
  readonly findings: ReadonlyArray<Finding>;
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
  readonly tokens: ReadonlyArray<TokenInfo>;
  readonly funds: ReadonlyArray<Funds>;
}

const policyFindings = ({ policies, options }: Material, report: Report): ReadonlyArray<Finding> => {
  const where = { step: "policy" } as const;
  const judged = policies.flatMap((policy): ReadonlyArray<Finding> => {
    const result = policy.evaluate(report);
    if (result._tag === "Pass") return [];
    return result._tag === "Fail"
      ? [fromError(new PolicyViolation({ policy: policy.name, detail: result.detail }), "blocker", where)]
      : [
          note(
            "PolicyUnknown",
            "unavailable",
            { verdict: `whether the policy ${policy.name} holds is not known`, evidence: result.reason },
            where,
          ),
        ];
  });
  // one that is written down in the report but was not rebuilt is unknown, never passed
  const lost = options.policies.length - policies.length;
  return lost > 0
    ? [
        ...judged,
        note(
          "PolicyUnknown",
          "unavailable",
          {
            verdict: "a policy of the report could not be evaluated again",
            evidence: `${lost} of ${options.policies.length}`,
            remedy: "give the policies again as an option",
          },
          where,
        ),
      ]
    : judged;
};

const digestIn = (chainId: number | null, reports: ReadonlyArray<TransactionReport>): Report["digest"] => {
  const signables = reports.flatMap(({ input, request }) => (request === null ? [] : [{ from: input.from, request }]));
  return chainId === null || signables.length !== reports.length ? null : digestOf(reportVersion, chainId, signables);
};

/** A request with a hole says so, where nothing else did: nothing can be proven of it. */
const holes = ({ reports, findings }: Parts): ReadonlyArray<Finding> => {
  const explained = findings.some(({ severity }) => severity === "blocker" || severity === "unavailable");
  return reports.flatMap(({ request }, transaction) =>
    request !== null || explained
      ? []
      : [
          note(
            "EvidenceReduced",
            "unavailable",
            {
              verdict: "a field of the request is not known",
              remedy: "give nonce, gas, fees and chain id, or use another node",
            },
            { step: "proof", transaction },
          ),
        ],
  );
};

/** The finished report. */
export const conclude = (material: Material, parts: Parts): Report => {
  const { proof, options, ledger } = material;
  const [first, ...others] = parts.reports;
  if (first === undefined) throw new RangeError("a report has at least one transaction");
  const found = inOrder([...parts.findings, ...holes(parts)]);
  const draft = new Report({
    version: reportVersion,
    verdict: verdictOf(found),
    // why: a proof whose run got no answer has proven nothing
    stage: proof !== null && Result.isSuccess(material.facts.main) ? "proven" : "scanned",
    chainId: parts.chainId,
    options,
    observed: parts.observed,
    transactions: [first, ...others],
    funds: parts.funds,
    transfers: parts.transfers,
    balanceChanges: parts.balanceChanges,
    approvals: parts.approvals,
    tokens: parts.tokens,
    findings: found,
    digest: digestIn(parts.chainId, parts.reports),
    ledger,
  });
  const judged = policyFindings(material, draft);
  if (judged.length === 0) return draft;
  const findings = inOrder([...found, ...judged]);
  return new Report({ ...draft, findings, verdict: verdictOf(findings) });
};
