/** Values to sign: nonce, gas limit and price of every case, chosen once out of a scan's answers, then kept. Pure. */
import * as Arr from "effect/Array";
import { digestOfReport, requestsOf } from "../report/ready.js";
import { withJson } from "../primitives/json.js";
import type { BundleReport, Draft, Report, TransactionReport } from "../report/schema.js";
import * as Fee from "../steps/fee.js";
import { bundleOf, type Bundle, type Case, type Filled } from "../steps/reading/bundle.js";
import { buildRequest, filledOf, type Request } from "../transaction/request.js";
import type { Answers } from "./answers.js";
import { walked } from "./steps.js";

/** Every case with what it did and with what will be signed of it. */
export const choose = (bundle: Bundle, answers: Answers): Bundle<Filled> =>
  Arr.map(walked(bundle, answers, true), (entry) => ({
    ...entry,
    request: buildRequest(entry.input, {
      chainId: answers.chainId,
      nonce: entry.nonce.value,
      gas: entry.gas.value,
      ...entry.fee.value,
    }),
  }));

/**
 * Returns what was chosen for a transaction, by its request alone: that is what will be signed, whatever a report that
 * came from outside says beside it.
 */
const chosenIn = (
  { input, nonce, gas, fee }: TransactionReport,
  request: Request,
): Pick<Filled, "nonce" | "gas" | "fee"> => {
  const { nonce: number, gas: limit, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = filledOf(request);
  const { tipSource, tipNamed, horizonSeconds, shortenedFrom, evidence } = fee;
  return {
    nonce: {
      value: number,
      by: input.nonce !== null ? "caller" : nonce.by === "reserved" ? "reserved" : "us",
      evidence: number === nonce.value ? nonce.evidence : "assumed",
    },
    gas: {
      value: limit,
      by: input.gas !== null ? "caller" : "us",
      evidence: limit === gas.limit ? gas.evidence : "assumed",
      estimate: gas.estimate,
      refusal: gas.refusal,
    },
    fee: {
      value: { gasPrice, maxFeePerGas, maxPriorityFeePerGas },
      by: Fee.chooserOf(input),
      ...{ tipSource, tipNamed, horizonSeconds, shortenedFrom, evidence },
    },
  };
};

/** The cases with these gas limits, where they are ours to choose, and their requests made anew. */
export const withGas = (bundle: Bundle<Filled>, limits: Limits): Bundle<Filled> =>
  Arr.zipWith(bundle, limits, (entry, limit) => {
    if (entry.gas.by === "caller" || entry.request === null) return entry;
    const filled = { ...filledOf(entry.request), gas: limit };
    return { ...entry, gas: { ...entry.gas, value: limit }, request: buildRequest(entry.input, filled) };
  });

/** A case of a report as it would be signed, with what was chosen for it and what was said of it. */
export interface Signed extends Case, Pick<Filled, "nonce" | "gas" | "fee"> {
  readonly request: Request;
  readonly said: TransactionReport;
}

/** The cases of a report, as its inputs have them. */
export const inputsOf = ({ transactions, options }: Pick<BundleReport, "transactions" | "options">): Bundle => {
  const inputs = Arr.map(transactions, ({ input }) => input);
  return bundleOf(inputs, options.accounts);
};

/** The cases of a report as they would be signed; null while a request has a hole. */
export const signedOf = (report: Draft<BundleReport>): Bundle<Signed> | null => {
  const requests = requestsOf(report);
  if (requests === null) return null;
  return Arr.zipWith(Arr.zip(inputsOf(report), report.transactions), requests, ([entry, said], request) => ({
    ...entry,
    ...chosenIn(said, request),
    request,
    said,
  }));
};

/** A report's own choices beside what a new round shows of them: nothing is chosen again. */
export const keep = (signed: Bundle<Signed>, answers: Answers): Bundle<Filled> => walked(signed, answers, false);

/** The report with other choices in its transactions, requests and digest made anew. */
const changed = <R extends Report>(report: R, changes: R["transactions"]): R => {
  const transactions = changes.map((transaction) => {
    const { input, nonce, gas, fee } = transaction;
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = fee;
    const filled = { chainId: report.chainId, nonce: nonce.value, gas: gas.limit };
    const request = buildRequest(input, { ...filled, gasPrice, maxFeePerGas, maxPriorityFeePerGas });
    return { ...transaction, request };
  });
  const digest = digestOfReport({ ...report, transactions });
  // why: what was proven is not what would be signed now
  return { ...report, transactions, digest, stage: digest === report.digest ? report.stage : "scanned" };
};

/**
 * The report with `nonces[i]` as the nonce of transaction `i`, reserved from outside the pipeline. Where
 * the entry is null, or the caller fixed the nonce, everything stays.
 */
export const assignNonces = <R extends Report>(report: R, nonces: ReadonlyArray<bigint | null>): R => {
  const reserved = report.transactions.map((transaction, index): TransactionReport => {
    const { nonce } = transaction;
    const given = nonces.at(index) ?? null;
    // why: no account comes near 2^53, and a request holds its nonce as a number
    return given === null || given > BigInt(Number.MAX_SAFE_INTEGER) || nonce.by === "caller"
      ? transaction
      : { ...transaction, nonce: { ...nonce, value: Number(given), by: "reserved", evidence: "assumed" } };
  });
  return withJson(changed(report, reserved));
};

/** Gas limits, one per transaction in the order of the bundle. */
export type Limits = Arr.NonEmptyReadonlyArray<bigint>;

/** The report with these gas limits, chosen anew where they are ours to choose. */
export const withLimits = (report: BundleReport, limits: Limits): BundleReport =>
  changed(
    report,
    Arr.zipWith(report.transactions, limits, (transaction, limit) => {
      const { gas } = transaction;
      return gas.by === "caller" ? transaction : { ...transaction, gas: { ...gas, limit } };
    }),
  );
