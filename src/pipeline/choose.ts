/** What to sign: nonce, gas limit and price of every case, chosen once out of a scan's answers, then kept. Pure. */
import * as Arr from "effect/Array";
import type { Address } from "../primitives/hex.js";
import { digestOfReport, requestsOf } from "../report/digest.js";
import type { Report, TransactionReport } from "../report/schema.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Funds from "../steps/funds.js";
import * as Nonce from "../steps/nonce.js";
import type { Parties } from "../report/parts.js";
import { bundleOf, type Bundle, type Case, type Filled, type Numbered } from "../steps/reading/bundle.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { buildRequest, filledOf, type Request } from "../transaction/request.js";
import { outcomeOf, type Answers } from "./answers.js";

type Unrequested = Omit<Filled, "request">;

/** A price that cannot be lowered for every transaction of a payer is lowered for none. */
const shortened = (bundle: Bundle<Unrequested>, answers: Answers): Bundle<Unrequested> => {
  const { quote } = answers;
  const wanted = Funds.reductions(bundle, answers);
  const lower = ({ signer, fee }: Unrequested) => {
    const reduction = wanted.get(signer);
    return reduction === undefined ? fee : Fee.shorten(fee, reduction, quote);
  };
  const stuck = new Set<Address>(bundle.filter((one) => lower(one) === null).map(({ signer }) => signer));
  return Arr.map(bundle, (one) => {
    const fee = stuck.has(one.signer) ? null : lower(one);
    return fee === null ? one : { ...one, fee };
  });
};

const partiesOf = (one: Numbered, bundle: Bundle<Numbered>, answers: Answers): Parties =>
  answers.steps.has("code") ? Code.read(one, { ...answers, bundle }) : Code.unlooked(one);

/** Every case with what it did and with what will be signed of it; nothing is chosen for a step that was left out. */
export const choose = (bundle: Bundle, answers: Answers): Bundle<Filled> => {
  const { steps } = answers;
  const ran = Arr.map(bundle, (one) => outcomeOf(one, bundle, answers));
  const numbered = Arr.map(ran, (one) => ({ ...one, nonce: Nonce.choose(one, { ...answers, bundle }) }));
  const priced = Arr.map(numbered, (one) => {
    const placed = { ...one, code: partiesOf(one, numbered, answers) };
    const limited = {
      ...placed,
      gas: steps.has("estimate") ? Estimate.choose(placed, answers) : Estimate.unestimated(one),
    };
    return {
      ...limited,
      fee: steps.has("fee") ? Fee.choose(limited, { quote: Fee.quoteFor(limited, answers) }) : Fee.unquoted(one),
      charged: L1Fee.read(limited, answers),
    };
  });
  return Arr.map(steps.has("funds") ? shortened(priced, answers) : priced, (one) => ({
    ...one,
    request: buildRequest(one.input, {
      chainId: answers.chainId,
      nonce: one.nonce.value,
      gas: one.gas.value,
      ...one.fee.value,
    }),
  }));
};

/**
 * What was chosen for a transaction, by its request alone: that is what will be signed, whatever a report that
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
  Arr.zipWith(bundle, limits, (one, limit) => {
    if (one.gas.by === "caller" || one.request === null) return one;
    const filled = { ...filledOf(one.request), gas: limit };
    return { ...one, gas: { ...one.gas, value: limit }, request: buildRequest(one.input, filled) };
  });

/** A case of a report as it would be signed, with what was chosen for it and what was said of it. */
export interface Signed extends Case, Pick<Filled, "nonce" | "gas" | "fee"> {
  readonly request: Request;
  readonly said: TransactionReport;
}

/** The cases of a report as they would be signed; null while a request has a hole. */
export const signedOf = (report: Report): Bundle<Signed> | null => {
  const requests = requestsOf(report);
  if (requests === null) return null;
  const cases = bundleOf(Arr.map(report.transactions, ({ input }) => input));
  return Arr.zipWith(Arr.zip(cases, report.transactions), requests, ([one, said], request) => ({
    ...one,
    ...chosenIn(said, request),
    request,
    said,
  }));
};

/** A report's own choices beside what a new round shows of them: nothing is chosen again. */
export const keep = (signed: Bundle<Signed>, answers: Answers): Bundle<Filled> =>
  Arr.map(signed, (one) => {
    const placed = {
      ...outcomeOf(one, signed, answers),
      code: partiesOf(one, signed, answers),
    };
    return { ...placed, charged: L1Fee.read(placed, answers) };
  });

/** The report with other choices in its transactions, requests and digest made anew. */
const changed = (report: Report, changes: Report["transactions"]): Report => {
  const transactions = Arr.map(changes, (transaction) => {
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
export const assignNonces = (report: Report, nonces: ReadonlyArray<bigint | null>): Report => {
  const reserved = Arr.map(report.transactions, (transaction, index): TransactionReport => {
    const { nonce } = transaction;
    const given = nonces.at(index) ?? null;
    // why: no account comes near 2^53, and a request holds its nonce as a number
    return given === null || given > BigInt(Number.MAX_SAFE_INTEGER) || nonce.by === "caller"
      ? transaction
      : { ...transaction, nonce: { ...nonce, value: Number(given), by: "reserved", evidence: "assumed" } };
  });
  return changed(report, reserved);
};

/** Gas limits, one per transaction in the order of the bundle. */
export type Limits = Arr.NonEmptyReadonlyArray<bigint>;

/** The report with these gas limits, chosen anew where they are ours to choose. */
export const withLimits = (report: Report, limits: Limits): Report =>
  changed(
    report,
    Arr.zipWith(report.transactions, limits, (transaction, limit) => {
      const { gas } = transaction;
      return gas.by === "caller" ? transaction : { ...transaction, gas: { ...gas, limit } };
    }),
  );
