/** What tests take from `src/chains`: a file that moves inside it is followed here, and in no test. */
export {
  baseFeesBehind,
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
  type FeeSubject,
} from "../../src/chains/feeModel.js";
export { knownTokensOf, unknownChain } from "../../src/chains/table.js";
export { eip7825Cap, forkOf, isOfLaterFork, mostGas, ruled, type Signs } from "../../src/chains/rules.js";
