/** What tests take from `src/eth`: a file that moves inside it is followed here, and in no test. */
export { Block, FeeHistory, FullBlock, Log, Receipt } from "../../src/eth/block.js";
export { checkBlooms, hasWholeBlooms, mayHold } from "../../src/eth/bloom.js";
export { answerTo } from "../../src/eth/ask.js";
export { accessListOf, explain } from "../../src/eth/call.js";
export { nextHead, placeOf, emptyChain, withHeads, type ChainState } from "../../src/eth/heads.js";
export type { Header } from "../../src/eth/block.js";
export {
  Account,
  Anything,
  Bytes,
  Decimal,
  decoder,
  Finite,
  Flag,
  Index,
  list,
  nullOr,
  Quantity,
  Status,
  Text,
  TypeByte,
  Word,
  type Shape,
} from "../../src/eth/shape.js";
export { SimulatedBlocks } from "../../src/eth/simulation.js";
export type { PoolTransaction } from "../../src/eth/transactions.js";
export { emitRead, emittedUpTo } from "../../src/eth/watchLogs.js";
export * as WatchLogs from "../../src/eth/watchLogs.js";
export { chainsInUse } from "../../src/eth/chains.js";
export { readTransaction } from "../../src/eth/transactions.js";
export { question } from "../../src/eth/ask.js";
export { asked, beginning, each, goingOn, known, mapped, one, sent, together } from "../../src/eth/round.js";
