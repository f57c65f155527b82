/** Block headers and the fee history. */
import { list, orNull, struct } from "./shape.js";
import { FullTransaction } from "./transaction.js";
import { Account, Bytes, Finite, Quantity, Word } from "./wire.js";

const Withdrawal = struct({
  index: Quantity,
  validatorIndex: Quantity,
  address: Account,
  /** Gwei. */
  amount: Quantity,
});

/** The header fields that every block has on the wire, mined or simulated. */
export const headerFields = {
  /** The block's number. */
  number: Quantity,
  /** The parent's hash, 32 bytes. */
  parentHash: Word,
  /** Unix seconds. */
  timestamp: Quantity,
  /** The most gas the block may use. */
  gasLimit: Quantity,
  /** Gas that its transactions used. */
  gasUsed: Quantity,
  /** Wei per gas; null before London. */
  baseFeePerGas: orNull(Quantity),
  /** EIP-7928, since Amsterdam. */
  blockAccessListHash: orNull(Word),
  /** The fee recipient. */
  miner: orNull(Account),
  /** Root of the state after the block. */
  stateRoot: orNull(Word),
  /** Blob gas that its transactions used (EIP-4844); null before Cancun. */
  blobGasUsed: orNull(Quantity),
  /** Proof-of-work difficulty; 0 since the merge. */
  difficulty: orNull(Quantity),
  /** What the blob base fee is worked out from (EIP-4844), blob gas. */
  excessBlobGas: orNull(Quantity),
  /** Bytes that the producer chose. */
  extraData: orNull(Bytes),
  /** Bloom filter of the logs, 256 bytes. */
  logsBloom: orNull(Bytes),
  /** `prevRandao` after the merge. */
  mixHash: orNull(Word),
  /** Proof-of-work nonce, 8 bytes; zero since the merge. */
  nonce: orNull(Bytes),
  /** Root of the parent beacon block (EIP-4788). */
  parentBeaconBlockRoot: orNull(Word),
  /** Root of the receipts. */
  receiptsRoot: orNull(Word),
  /** Commitment to the execution layer's requests (EIP-7685). */
  requestsHash: orNull(Word),
  /** Hash of the list of uncles. */
  sha3Uncles: orNull(Word),
  /** EIP-7843, since Amsterdam. */
  slotNumber: orNull(Quantity),
  /** Bytes. */
  size: orNull(Quantity),
  /** Root of the transactions. */
  transactionsRoot: orNull(Word),
  /** Hashes of the uncles; none since the merge. */
  uncles: orNull(list(Word)),
  /** Withdrawals from the beacon chain (EIP-4895). */
  withdrawals: orNull(list(Withdrawal)),
  /** Root of the withdrawals. */
  withdrawalsRoot: orNull(Word),
};

/** A block without its transactions' bodies. `hash` is null on pending state of most nodes. */
export const Block = struct({
  ...headerFields,
  /** The block's hash; null of a block that is not sealed. */
  hash: orNull(Word),
  /** Hashes of its transactions. */
  transactions: orNull(list(Word)),
});
export type Block = typeof Block.schema.Type;

/** A mined block with its transactions in full. */
export const FullBlock = /* @__PURE__ */ struct({
  ...headerFields,
  /** The hash, 32 bytes. */
  hash: Word,
  /** Its transactions: hashes, or whole where they were asked for. */
  transactions: /* @__PURE__ */ list(FullTransaction),
});
export type FullBlock = typeof FullBlock.schema.Type;

/** `eth_feeHistory`; the last base fee is that of the next block. Wei per gas. */
export const FeeHistory = struct({
  /** The number of the first block of the lists. */
  oldestBlock: Quantity,
  /** Base fees from the oldest block to the one after the newest, wei per gas. */
  baseFeePerGas: list(Quantity),
  /** 0 to 1 per block. */
  gasUsedRatio: list(Finite),
  /** Tips per block, in the order of the percentiles asked for. */
  reward: orNull(list(list(Quantity))),
  /** Blob base fees of the same blocks, wei per blob gas. */
  baseFeePerBlobGas: orNull(list(Quantity)),
  /** Blob gas used over the most allowed, from 0 to 1, by block. */
  blobGasUsedRatio: orNull(list(Finite)),
});
export type FeeHistory = typeof FeeHistory.schema.Type;
