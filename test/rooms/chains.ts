/** What tests take from `src/chains`: a file that moves inside it is followed here, and in no test. */
export {
  blocksWithin,
  effectiveGasPrice,
  growBaseFee,
  nextBaseFee,
  parametersOf,
  type BaseFeeParameters,
} from "../../src/chains/baseFee.js";
export { noExtraFees, type ExtraFees, type FeeSubject } from "../../src/chains/feeModel.js";
export {
  atMostWithin,
  compressedLength,
  dataFootprint,
  estimatedSize,
  fjordL1Fee,
  oracleLength,
  type L1Parameters,
} from "../../src/chains/opStack.js";
export { forkOf, isOfLaterFork, mostGas, ruled, type Header } from "../../src/chains/rules.js";
