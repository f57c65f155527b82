/** What tests take from `src/chains`: a file that moves inside it is followed here, and in no test. */
export {
  blocksWithin,
  effectiveGasPrice,
  growBaseFee,
  nextBaseFee,
  parametersOf,
  type BaseFeeParameters,
} from "../../src/chains/baseFee.js";
export {
  atMostWithin,
  compressedLength,
  dataFootprint,
  estimatedSize,
  fjordL1Fee,
  noExtraFees,
  oracleLength,
  type ExtraFees,
  type FeeSubject,
  type L1Parameters,
} from "../../src/chains/feeModel.js";
export { forkOf, isOfLaterFork, mostGas, ruled, type Header } from "../../src/chains/rules.js";
