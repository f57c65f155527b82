/** What to sign: nonce, gas limit and price of every case, chosen once, out of a scan's answers. Pure. */
import * as Arr from "effect/Array";
import type { AbiIndex } from "../abi/abiIndex.js";
import type { Address } from "../primitives/hex.js";
import type { Report, TransactionReport } from "../report/schema.js";
import * as Assets from "../steps/assets.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Funds from "../steps/funds.js";
import * as Nonce from "../steps/nonce.js";
import { bundleOf, type Bundle, type Case, type Filled } from "../steps/reading/bundle.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { buildRequest } from "../transaction/request.js";
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
