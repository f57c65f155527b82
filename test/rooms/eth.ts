/** What tests take from `src/eth`: a file that moves inside it is followed here, and in no test. */
export { Block, FeeHistory, FullBlock } from "../../src/eth/block.js";
export { contradicts, hasWholeBlooms, mayHold } from "../../src/eth/bloom.js";
export { decoder } from "../../src/eth/shape.js";
export { explain } from "../../src/eth/explain.js";
export {
  nextHead,
  placeOf,
  unfollowed,
  withHeads,
  type Followed,
  type Header,
  type Room,
  type Told,
} from "../../src/eth/heads.js";
export { Log } from "../../src/eth/block.js";
export type { PoolTransaction } from "../../src/eth/transactions.js";
export { Receipt } from "../../src/eth/block.js";
export { list, nullOr, type Shape } from "../../src/eth/shape.js";
export { SimulatedBlocks } from "../../src/eth/simulation.js";
export { tellRead, toldUpTo, type ToldLogs } from "../../src/eth/watchLogs.js";
export * as WatchLogs from "../../src/eth/watchLogs.js";
export {
  Account,
  Anything,
  Bytes,
  Decimal,
  Finite,
  Flag,
  Index,
  Quantity,
  Status,
  Text,
  TypeByte,
  Word,
} from "../../src/eth/shape.js";
