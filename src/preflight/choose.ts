/** What to sign: nonce, gas limit and price of every case, chosen once out of a scan's answers, then kept. Pure. */
import * as Arr from "effect/Array";
import type { AbiIndex } from "../abi/abiIndex.js";
import type { Address } from "../primitives/hex.js";
import { digestOfReport } from "../report/digest.js";
import type { Report, TransactionReport } from "../report/schema.js";
import * as Assets from "../steps/assets.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Funds from "../steps/funds.js";
import * as Nonce from "../steps/nonce.js";
import { bundleOf, type Bundle, type Case, type Filled } from "../steps/reading/bundle.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { buildRequest, type Request } from "../transaction/request.js";
import type { Answers } from "./answers.js";
import { outcomeOf } from "./outcomes.js";

type Unrequested = Omit<Filled, "request">;

/** A price that cannot be lowered for every transaction of a payer is lowered for none. */
const shortened = (bundle: Bundle<Unrequested>, answers: Answers): Bundle<Unrequested> => {
  const { quote, balanceOf } = answers;
  const transfers = Assets.transfers(bundle);
  const wanted = Funds.reductions(bundle, { balanceOf, baseFeePerGas: quote.baseFeePerGas, transfers });
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

/** Every case with what it did and with what will be signed of it. */
export const choose = (bundle: Bundle, answers: Answers, abis: AbiIndex): Bundle<Filled> => {
  const ran = Arr.map(bundle, (one) => outcomeOf(one, bundle, answers, abis));
  const numbered = Arr.map(ran, (one) => ({ ...one, nonce: Nonce.choose(one, { ...answers, bundle }) }));
  const priced = Arr.map(numbered, (one) => {
    const placed = { ...one, code: Code.read(one, { ...answers, bundle: numbered }) };
    const limited = { ...placed, gas: Estimate.choose(placed, answers) };
    return { ...limited, fee: Fee.choose(limited, answers), charged: L1Fee.read(limited, answers) };
  });
  return Arr.map(shortened(priced, answers), (one) => ({
    ...one,
    request: buildRequest(one.input, {
      chainId: answers.chainId,
      nonce: one.nonce.value,
      gas: one.gas.value,
      ...one.fee.value,
    }),
  }));
};

/** The choices of one transaction of a report. */
const chosenIn = ({
  nonce,
  gas,
  fee,
  request,
}: TransactionReport): Pick<Filled, "nonce" | "gas" | "fee" | "request"> => {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, tipSource, tipNamed, horizonSeconds, shortenedFrom } = fee;
  return {
    nonce: { value: nonce.value, by: nonce.by, evidence: nonce.evidence },
    gas: { value: gas.limit, by: gas.by, evidence: gas.evidence, estimate: gas.estimate, refusal: gas.refusal },
    fee: {
      value: { gasPrice, maxFeePerGas, maxPriorityFeePerGas },
      by: fee.by,
      evidence: fee.evidence,
      tipSource,
      tipNamed,
      horizonSeconds,
      shortenedFrom,
    },
    request,
  };
};

/** A case of a report, with what was chosen for it and what was said of it. */
export interface Chosen extends Case, Pick<Filled, "nonce" | "gas" | "fee" | "request"> {
  readonly said: TransactionReport;
}

/** A report's own choices, as they stand in it. */
export const chosenOf = (report: Report): Bundle<Chosen> =>
  Arr.zipWith(bundleOf(Arr.map(report.transactions, ({ input }) => input)), report.transactions, (one, said) => ({
    ...one,
    ...chosenIn(said),
    said,
  }));

/** A report's own choices beside what a new round shows of them: nothing is chosen again. */
export const keep = (chosen: Bundle<Chosen>, answers: Answers, abis: AbiIndex): Bundle<Filled> =>
  Arr.map(chosen, (one) => {
    const placed = {
      ...outcomeOf(one, chosen, answers, abis),
      code: Code.read(one, { ...answers, bundle: chosen }),
    };
    return { ...placed, charged: L1Fee.read(placed, answers) };
  });

/** A case whose request has no hole. */
export interface Signed extends Chosen {
  readonly request: Request;
}

const isSigned = (one: Chosen): one is Signed => one.request !== null;

/** The cases of a report as they would be signed; null while a request has a hole. */
export const signedOf = (report: Report): Bundle<Signed> | null => {
  const chosen = chosenOf(report);
  return chosen.every(isSigned) ? (chosen as Bundle<Signed>) : null;
};

/** The report with other choices in its transactions, requests and digest made anew. */
const changed = (
  report: Report,
  change: (transaction: TransactionReport, index: number) => TransactionReport,
): Report => {
  const transactions = Arr.map(report.transactions, (transaction, index) => {
    const { input, nonce, gas, fee } = change(transaction, index);
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = fee;
    const filled = { chainId: report.chainId, nonce: nonce.value, gas: gas.limit };
    const request = buildRequest(input, { ...filled, gasPrice, maxFeePerGas, maxPriorityFeePerGas });
    return { ...transaction, nonce, gas, fee, request };
  });
  return { ...report, transactions, digest: digestOfReport({ ...report, transactions }) };
};

/**
 * The report with `nonces[i]` as the nonce of transaction `i`, reserved from outside the pipeline. Where
 * the entry is null, or the caller fixed the nonce, everything stays.
 */
export const assignNonces = (report: Report, nonces: ReadonlyArray<bigint | null>): Report =>
  changed(report, (transaction, index) => {
    const given = nonces[index] ?? null;
    // why: no account comes near 2^53, and a request holds its nonce as a number
    if (given === null || given > BigInt(Number.MAX_SAFE_INTEGER) || transaction.nonce.by === "caller")
      return transaction;
    return {
      ...transaction,
      nonce: { ...transaction.nonce, value: Number(given), by: "reserved", evidence: "assumed" },
    };
  });

/** The report with these gas limits, chosen anew where they are ours to choose. */
export const withLimits = (report: Report, limits: ReadonlyArray<bigint>): Report =>
  changed(report, (transaction, index) => ({
    ...transaction,
    gas:
      transaction.gas.by === "caller"
        ? transaction.gas
        : { ...transaction.gas, limit: limits[index] ?? transaction.gas.limit },
  }));
