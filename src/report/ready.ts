/** Requests that a report promises to be signed, and whether it clears them for signing. */
import { concat, keccak256, numberToHex } from "../primitives/bytes.js";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Struct from "effect/Struct";
import { FreshnessUnknown } from "./freshness.js";
import { type Finding, inOrder, type Severity } from "./finding.js";
import type { BundleClearance, BundleReport, Clearance, Report } from "./schema.js";
import { reportVersion, simulatedIn } from "./schema.js";
import { ReportVersion } from "../errors/input.js";
import type { RpcError } from "../errors/rpc.js";
import { gap, NotProven, type Gap, type Verdict } from "../errors/verdicts.js";
import { copyOf } from "../primitives/copy.js";
import { lazyImport } from "../primitives/effects.js";
import { isAddress, isHash, type Address, type Hash, type Hex } from "../primitives/hex.js";
import { withJson } from "../primitives/json.js";
import type { BuiltInStep, OwnName } from "../primitives/names.js";
import { safely } from "../primitives/record.js";
import { statementText } from "../primitives/statement.js";
import {
  authorizationHash,
  isRequestOf,
  isUnbound,
  type Request,
  type Signable,
  signingHash,
  unsignedIn,
} from "../transaction/request.js";
import { recoverAuthorities } from "../transaction/authorities.js";
import { currencyOf } from "./chain.js";
import { waitsOf } from "./waits.js";

/** The severity that makes each verdict; none makes `ready`. */
export const decidingSeverity: Readonly<Record<Report["verdict"], Severity | null>> = {
  blocked: "blocker",
  unknown: "unavailable",
  caution: "warning",
  ready: null,
};

/** `blocked` > `unknown` > `caution` > `ready`: the first that applies. */
export const verdictOf = (findings: ReadonlyArray<Finding>): Report["verdict"] => {
  const found = new Set<Severity | null>(findings.map(({ severity }) => severity));
  return Struct.keys(decidingSeverity).find((verdict) => found.has(decidingSeverity[verdict])) ?? "ready";
};

/** The one reason for the verdict: the sentence of the first finding that decides it, in pipeline order. */
export const becauseOf = (
  findings: ReadonlyArray<Finding>,
  stage: Report["stage"],
  what: ReturnType<typeof subjectOf> = "this request",
): string => {
  const deciding = decidingSeverity[verdictOf(findings)];
  const [first] = inOrder(findings.filter(({ severity }) => severity === deciding));
  if (first !== undefined) return first.sentence;
  if (stage !== "proven") return "nothing found against it yet; not proven";
  return findings.some(({ code }) => code === FreshnessUnknown.code)
    ? `exactly ${what} was proven; the age of the state could not be checked`
    : `every check passed, and exactly ${what} was proven`;
};

/** The subject of a proof in words: a request, or a signature where nothing is sent. */
export const subjectOf = ({ transactions, signings }: Pick<Report, "transactions" | "signings">) =>
  signings.length > 0 && transactions.every(({ input }) => input.origin?.signing !== undefined)
    ? "this signature"
    : "this request";

/** The report with one finding more, and the verdict and reason that follow. */
export const withFinding = <R extends Report>(report: R, finding: Finding): R => {
  const findings = inOrder([...report.findings, finding]);
  return withJson({
    ...{
      ...report,
      findings,
      verdict: verdictOf(findings),
      because: becauseOf(findings, report.stage, subjectOf(report)),
    },
  });
};

/** The requests of the report in order; null while one of them has a hole. */
export const requestsOf = ({
  transactions,
}: Pick<Report, "transactions">): readonly [Request, ...Array<Request>] | null => {
  const [first, ...others] = transactions.flatMap(({ request }) => (request === null ? [] : [request]));
  return first !== undefined && others.length === transactions.length - 1 ? [first, ...others] : null;
};

const kinds: ReadonlyArray<Clearance["signs"][number]["kind"]> = [
  "typedData",
  "authorization",
  "message",
  "hash",
  "userOperation",
];

/**
 * keccak256 over version, chain id, the number of signatures, of each in order its kind, signer and digest, and of each
 * transaction in order its sender and signing hash; null when one cannot be serialised. It finds mistakes, not forgery.
 */
export const digestOf = (
  version: number,
  chainId: number,
  signables: ReadonlyArray<Signable>,
  signs: ReadonlyArray<Pick<Clearance["signs"][number], "kind" | "signer" | "digest">> = [],
): Hash | null =>
  safely(() => {
    // why: without their number and kind a signature and a request of one account would be the same bytes
    const parts = [version, chainId, signs.length].map((number) => numberToHex(number, { size: 32 }));
    for (const { kind, signer, digest } of signs) {
      if (!isAddress(signer) || !isHash(digest)) return null;
      parts.push(numberToHex(kinds.indexOf(kind), { size: 1 }), signer.toLowerCase() as Address, digest);
    }
    for (const { from, request } of signables) {
      const hash = signingHash(request);
      if (hash === null) return null;
      parts.push(from.toLowerCase() as Address, hash);
    }
    return keccak256(concat(...parts));
  }, null);

/** Signatures that a report is about: those that were asked about, and what transactions carry and is not signed yet, in order. */
const aboutOf = ({ transactions, signings }: Pick<Report, "transactions" | "signings">): Clearance["signs"] => [
  ...signings.map(({ sign }) => sign),
  ...carriedBy(transactions),
];

/** The same as they are to be given: a Safe's transaction by each of its owners who has to sign it. */
const signsOf = ({ transactions, signings }: Pick<Report, "transactions" | "signings">): Clearance["signs"] => [
  ...signings.flatMap(({ sign, safe }) =>
    safe === undefined ? [sign] : safe.missing.map((signer) => ({ ...sign, signer })),
  ),
  ...carriedBy(transactions),
];

/** Authorisations that the transactions carry and nobody has signed yet. */
const carriedBy = (transactions: Report["transactions"]): Clearance["signs"] =>
  transactions.flatMap(({ input }) =>
    unsignedIn(input).flatMap((entry) => {
      const { authority: signer, address, chainId, nonce } = entry;
      const digest = authorizationHash(entry);
      return digest === null ? [] : [{ kind: "authorization", signer, digest, chainId, address, nonce } as const];
    }),
  );

/** The digest that the report's chain, signatures, senders and requests make; null while a request has a hole, or there is none. */
export const digestOfReport = (report: Pick<Report, "chainId" | "transactions" | "signings">): Hash | null => {
  const { chainId, transactions, signings } = report;
  const signables = transactions.flatMap(({ input, request }) =>
    request === null ? [] : [{ from: input.from, request }],
  );
  const signs = aboutOf({ transactions, signings });
  return chainId === null || signables.length + signs.length === 0 || signables.length !== transactions.length
    ? null
    : digestOf(reportVersion, chainId, signables, signs);
};

/** Why there is no clearance: the first blocker as its own error, what is missing, or a version that is not ours. */
export type Blocker = Verdict | RpcError | ReportVersion;

/** Returns the reason of the gap that a finding without an error of its own is to a clearance. */
export const gapReason = ({ severity }: Finding): Gap["reason"] =>
  severity === "blocker" ? "Blocked" : "CheckUnavailable";

/** A check that a finding says could not be made, or that has no error to fail with. */
export const gapOf =
  (report: Report) =>
  (finding: Finding): Gap =>
    gap(
      gapReason(finding),
      statementText({ ...finding, remedy: "" }, currencyOf(report)),
      finding.code,
      finding.remedy,
    );

/** True if the report itself contradicts its requests, by its digest, its chain or its inputs: somebody changed it. */
const altered = (report: Report): boolean =>
  report.digest === null ||
  report.transactions.some(({ input, request }) => request !== null && !isRequestOf(input, request)) ||
  digestOfReport(report) !== report.digest ||
  report.transactions.some(({ input, request }) => !isUnbound(input) && request?.chainId !== report.chainId);

/** Returns the gaps of a report: those that are there. */
const gapsOf = (...checks: ReadonlyArray<readonly [isThere: boolean, reason: Gap["reason"], sentence: string]>) =>
  checks.flatMap(([isThere, reason, sentence]) => (isThere ? [gap(reason, sentence)] : []));

/** Epoch ms until which a clearance of it may hold. */
export const expiryOf = ({ observed, options }: Pick<Report, "observed" | "options">): number =>
  Math.min(observed.at + options.maxAgeMs, observed.until ?? Number.POSITIVE_INFINITY);

/** Returns what the report itself lacks for a clearance, beside the checks that its findings say are missing. */
const gapsIn = (report: Report, now: number): ReadonlyArray<Gap> => {
  const { observed, options, stage, transactions, funds } = report;
  const requests = requestsOf(report);
  const simulated = simulatedIn(report);
  const isPretended = options.stateOverrides !== null || options.blockOverrides !== null;
  const isOpen = transactions.some(({ request }) => request === null);
  const isOld = now > observed.at + options.maxAgeMs;
  const age = isOld
    ? `the report is older than ${options.maxAgeMs} ms`
    : "the time in which the transactions were seen to succeed is over";
  const isFailed = simulated.some(({ outcome: { status } }) => status === "reverted" || status === "halted");
  const outcome = isFailed ? "a transaction does not succeed" : "whether the transactions succeed is not known";
  const isSuccess = simulated.every(({ outcome: { status } }) => status === "success");
  const isEachPaid = transactions.every(({ input }) => funds.some(({ account }) => account === input.from));
  const isNewest = observed.blockTag === "pending" || observed.blockTag === "latest";
  return gapsOf(
    [stage !== "proven", "NotProven", "the report is only scanned, not proven"],
    [transactions.length + report.signings.length === 0, "RequestIncomplete", "the report has nothing to sign"],
    [isOpen, "RequestIncomplete", "the nonce, gas, fee or chain of a request is not known"],
    [
      (requests !== null || report.signings.length > 0) && altered(report),
      "Altered",
      "the requests are not those of the report's digest",
    ],
    [isPretended, "StatePretended", "the report was made with state or block overrides"],
    [observed.tier !== "simulate", "NotSimulated", "the outcome was not simulated"],
    [now > expiryOf(report), "Expired", age],
    [observed.at > now + 60_000, "DatedInTheFuture", "the report is dated in the future"],
    // why: whatever the findings say of these facts, they may have been cut
    [!isSuccess, "NotSuccessful", outcome],
    [!funds.every(({ shortfall }) => shortfall === 0n), "FundsUnknown", "a payer's funds are not known to suffice"],
    [!isEachPaid, "FundsUnknown", "a payer's funds are missing"],
    [observed.freshness === "stale", "Stale", "the state that was used is not the newest"],
    [!isNewest, "BlockNotNewest", "the report is about a block other than the newest"],
    [report.verdict !== verdictOf(report.findings), "Altered", "the verdict is not that of the findings"],
  );
};

const signing = lazyImport(() => import("../transaction/signer.js"));
const signatures = lazyImport(() => import("../signing/index.js"));

/** The bytes of transactions that came signed, null in the place of others; null where there are none. */
const rawOf = ({ transactions }: Report): ReadonlyArray<Hex | null> | null =>
  transactions.every(({ input }) => input.origin?.raw === undefined)
    ? null
    : transactions.map(({ input: { origin } }) => origin?.raw ?? null);

/** True if signed bytes are not those of their request and sender: a report is in the hands of its caller. */
const isRawAltered = Effect.fnUntraced(function* ({ transactions }: Report, raw: ReadonlyArray<Hex | null>) {
  const { readSigned } = yield* signing;
  return transactions.some(({ input, request }, at) => {
    const bytes = raw[at] ?? null;
    const signed = bytes === null ? null : readSigned(bytes);
    const isSame =
      signed?.from === input.from && request !== null && signingHash(signed.request) === signingHash(request);
    return bytes !== null && !isSame;
  });
});

/**
 * Permission to sign exactly the report's requests, on `ready` and `caution`; of a bundle's report there is at least one.
 * While an authorisation (EIP-7702) in it is not signed, `signs` has that, and `requests` is empty: no transaction can be signed
 * before it. `Report.withAuthorizations` puts the signature into the report, to be proven again.
 *
 * Verdict, digest and age are worked out again, nothing is taken on trust from the report's own words.
 *
 * Fails with `ReportVersion` where an older version made the report, then with the first blocker as its own tagged error, else with `NotProven { missing }`: every check
 * that could not be made, by the code of its finding, and whatever the report itself lacks: not proven,
 * overrides, older than `maxAge`, altered.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Report, Rpc } from "evm-preflight";
 *
 * const clearance = await Preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * }).pipe(
 *   Effect.flatMap(Report.ready),
 *   Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")),
 *   Effect.runPromise,
 * );
 * console.log(clearance.requests[0].chainId, clearance.requests[0].gas); // 31337 21000n
 * ```
 */
export const ready = <R extends Report>(
  report: R,
): Effect.Effect<R extends BundleReport ? BundleClearance : Clearance, Blocker> => readyWith(report, [], []);

/** {@link ready}, of a report that was made with all of these steps, users' and built-in ones. */
export const readyWith = Effect.fn("Report.ready")(function* (
  report: Report,
  own: ReadonlyArray<OwnName>,
  builtIn: ReadonlyArray<BuiltInStep>,
): Effect.fn.Return<BundleClearance, Blocker> {
  const { version, chainId } = report;
  // guard: a report of an older version
  if (version !== reportVersion) return yield* new ReportVersion({ found: version, supported: reportVersion });
  const blocker = report.findings.find(({ severity }) => severity === "blocker");
  if (blocker !== undefined) return yield* blocker.error ?? new NotProven({ missing: [gapOf(report)(blocker)] });
  const now = yield* Clock.currentTimeMillis;
  const unavailable = report.findings.filter(({ severity }) => severity === "unavailable");
  // guard: a step of the pipeline that the report lacks
  const lacking = [
    ...own.filter((step) => !report.steps.with.includes(step)),
    ...builtIn.filter((step) => report.steps.without.includes(step)),
  ];
  const missing = [
    ...unavailable.map(gapOf(report)),
    ...gapsIn(report, now),
    ...lacking.map((step) => gap("StepMissing", `the report was made without the step ${step}`)),
  ];
  const raw = rawOf(report);
  // guard: signed bytes that are not what was proven
  if (raw !== null && (yield* isRawAltered(report, raw)))
    missing.push(gap("Altered", "the signed bytes are not those of the report's requests"));
  const requests = requestsOf(report);
  // guard: a signature that is not what its carriers used
  if (report.signings.length > 0 && !(yield* signatures).isTrue(report))
    missing.push(gap("Altered", "what was simulated is not what is to be signed"));
  const isBare = requests === null && (report.transactions.length > 0 || report.signings.length === 0);
  if (missing.length > 0 || isBare || chainId === null || report.digest === null)
    return yield* new NotProven({ missing });
  yield* recoverAuthorities(report.transactions.map(({ input }) => input));
  const signs = signsOf(report);
  // why: a transaction with a signature that is yet to be given is another one
  if (requests === null || carriedBy(report.transactions).length > 0) {
    // why: of signatures alone that is the report's own
    const digest = digestOf(version, chainId, [], aboutOf(report));
    if (digest === null) return yield* new NotProven({ missing: [gap("Altered", "a signature cannot be asked for")] });
    const first = {
      signs: copyOf(signs),
      requests: [],
      senders: [],
      waits: [],
      chainId,
      digest,
      expiresAt: expiryOf(report),
    };
    // its type cannot tell whether an authorisation of a report is signed: whoever leaves one unsigned reads `signs`
    return withJson<typeof Clearance.Type>(first) as BundleClearance;
  }
  return withJson({
    signs: copyOf(signs),
    // why: whoever is handed the report or the clearance changes nothing of the other
    requests: copyOf(requests),
    senders: report.transactions.map(({ input }) => input.from),
    chainId,
    digest: report.digest,
    expiresAt: expiryOf(report),
    waits: waitsOf(report).map(({ transaction, account, nonce }) => ({ transaction, account, nonce })),
    ...(raw === null ? {} : { raw }),
  });
});
