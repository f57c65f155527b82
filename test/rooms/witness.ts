/** What tests take from `src/witness`: a file that moves inside it is followed here, and in no test. */
export {
  decodeAnswers,
  readAddress,
  readBool,
  readPermit2Allowance,
  readString,
  readUint256,
  readUint8,
  type WitnessAnswer,
} from "../../src/witness/answers.js";
export { witnessBytecode } from "../../src/witness/bytecode.js";
export { place, slotQueries, slots, slotsOf, type Placement } from "../../src/witness/placement.js";
export {
  allowance,
  balanceOf,
  balanceOf1155,
  decimals,
  decodeQueries,
  encodeQueries,
  gasFor,
  getApproved,
  getL1Fee,
  getOperatorFee,
  isApprovedForAll,
  isIsthmus,
  metadataGas,
  name,
  ownerOf,
  permit2Allowance,
  staticCall,
  stringCap,
  supportsInterface,
  symbol,
  totalSupply,
  type CallQuery,
  type Query,
} from "../../src/witness/queries.js";
export * as queries from "../../src/witness/queries.js";
export { either, knows, unseen, viewOf, type View } from "../../src/witness/view.js";
