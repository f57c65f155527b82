/** The shapes of what a chain holds, as nodes report it: logs, transactions, receipts, blocks; and the fee history. */
import {
  Account,
  Bytes,
  Decimal,
  Finite,
  Flag,
  Index,
  list,
  orElse,
  orNull,
  Parity,
  Quantity,
  Scalar,
  Status,
  struct,
  TypeByte,
  Word,
  writtenBy,
} from "./shape.js";
import { isRecord } from "../primitives/record.js";

/** An event that a contract emitted. */
export const Log = struct({
  /** The contract that emitted it. */
  address: Account,
  /** 0 to 4 words; topic 0 is typically the hash of the event's signature. */
  topics: list(Word, 4),
  /** The values that are not indexed, ABI-encoded. */
  data: Bytes,
  /** null while pending on some nodes. */
  blockNumber: orNull(Quantity),
  /** Unix seconds; an extension that not every node has. */
  blockTimestamp: orNull(Quantity),
  /** Unix milliseconds, where blocks are shorter than a second (Flashblocks). */
  blockTimestampMs: orNull(Quantity),
  /** The hash of the transaction that emitted it; null while that is pending. */
  transactionHash: orNull(Word),
  /** The transaction's place in its block, from 0. */
  transactionIndex: orNull(Index),
  /** The block's hash; null while it is pending. */
  blockHash: orNull(Word),
  /** Position in the block; on pre-confirmed state some nodes count anew per transaction. */
  logIndex: orNull(Index),
  /** Taken back by a chain reorganisation. */
  removed: orElse(Flag, false),
});
export type Log = typeof Log.Type;

/** EIP-2930 entries. */
export const AccessList = list(struct({ address: Account, storageKeys: list(Word) }));

const signedPart = { address: Account, chainId: Quantity, nonce: Quantity };
const SignedAuthorization = struct({ ...signedPart, r: Scalar, s: Scalar, yParity: Parity }, { v: "yParity" });
const UnsignedAuthorization = struct({ ...signedPart, authority: Account });

/** EIP-7702 authorisations; nodes name no authority. */
export const AuthorizationList = list(
  writtenBy((entry, ...where) => {
    const isUnsigned = isRecord(entry) && "authority" in entry && !("r" in entry);
    return (isUnsigned ? UnsignedAuthorization : SignedAuthorization).write(entry, ...where);
  }, SignedAuthorization),
);

/** A transaction in full: mined, pending, or simulated where `returnFullTransactions` asked for it. */
export const FullTransaction = struct({
  /** The transaction's own, 32 bytes. */
  hash: Word,
  /** The sender. */
  from: Account,
  /** The nonce. */
  nonce: Quantity,
  /** Gas limit, in gas. */
  gas: Quantity,
  /** Wei. */
  value: Quantity,
  /** null = deployment. */
  to: orNull(Account),
  /** The chain it is for. */
  chainId: orNull(Quantity),
  /** Wei per gas, as the two below. */
  maxFeePerGas: orNull(Quantity),
  /** The tip, wei per gas. */
  maxPriorityFeePerGas: orNull(Quantity),
  /** The price that is paid, wei per gas. */
  gasPrice: orNull(Quantity),
  /** Versioned hashes of its blobs (EIP-4844). */
  blobVersionedHashes: orNull(list(Word)),
  /** Wei per blob gas. */
  maxFeePerBlobGas: orNull(Quantity),
  /** Calldata or initcode. */
  input: Bytes,
  /** EIP-2718 type. */
  type: orNull(TypeByte),
  /** EIP-2930 entries. */
  accessList: orNull(AccessList),
  /** EIP-7702 authorisations. */
  authorizationList: orNull(AuthorizationList),
  /** The signature's v; this and the three below are zeros where it is simulated. */
  v: orNull(Quantity),
  /** The signature's r. */
  r: orNull(Quantity),
  /** The signature's s. */
  s: orNull(Quantity),
  /** The signature's parity, 0 or 1. */
  yParity: orNull(Quantity),
  /** The hash of its block; null while it is pending. */
  blockHash: orNull(Word),
  /** The number of its block; null while it is pending. */
  blockNumber: orNull(Quantity),
  /** Unix seconds. */
  blockTimestamp: orNull(Quantity),
  /** Unix milliseconds, where blocks are shorter than a second (Flashblocks). */
  blockTimestampMs: orNull(Quantity),
  /** Its place in the block, from 0. */
  transactionIndex: orNull(Index),
});
export type FullTransaction = typeof FullTransaction.Type;

/** The receipt of a mined transaction. Amounts in wei, prices in wei per gas; null where the node does not say. */
export const Receipt = struct({
  /** The transaction's hash. */
  transactionHash: Word,
  /** The number of its block. */
  blockNumber: Quantity,
  /** Gas that it used, refunds taken off. */
  gasUsed: Quantity,
  /** null = the node does not say; the interface promises the three above, `status` and `type`. */
  logs: orNull(list(Log)),
  /** null before Byzantium, where there is `root` instead. */
  status: orNull(Status),
  /** The state's root after the transaction, before Byzantium. */
  root: orNull(Word),
  /** EIP-2718 type, e.g. `0x2`; `0x7e` is a deposit of the OP stack. */
  type: orNull(TypeByte),
  /** The transaction's place in its block, from 0. */
  transactionIndex: orNull(Index),
  /** The block's hash. */
  blockHash: orNull(Word),
  /** Unix milliseconds of the block, where blocks are shorter than a second (Flashblocks). */
  blockTimestampMs: orNull(Quantity),
  /** The sender. */
  from: orNull(Account),
  /** null = deployment. */
  to: orNull(Account),
  /** The contract that it created; null when none. */
  contractAddress: orNull(Account),
  /** Gas that the block's transactions used up to this one. */
  cumulativeGasUsed: orNull(Quantity),
  /** Wei per gas. */
  effectiveGasPrice: orNull(Quantity),
  /** Bloom filter of the logs, 256 bytes. */
  logsBloom: orNull(Bytes),
  /** Blob gas that it used (EIP-4844). */
  blobGasUsed: orNull(Quantity),
  /** Wei per blob gas. */
  blobGasPrice: orNull(Quantity),
  /** Wei. */
  l1Fee: orNull(Quantity),
  /** Wei per gas of layer 1. */
  l1GasPrice: orNull(Quantity),
  /** OP-stack: gas that its data counts for on L1. */
  l1GasUsed: orNull(Quantity),
  /** A decimal fraction, before Ecotone. */
  l1FeeScalar: orNull(Decimal),
  /** OP-stack: scalar of the L1 base fee. */
  l1BaseFeeScalar: orNull(Quantity),
  /** Wei per blob gas of layer 1. */
  l1BlobBaseFee: orNull(Quantity),
  /** OP-stack: scalar of the L1 blob base fee. */
  l1BlobBaseFeeScalar: orNull(Quantity),
  /** OP-stack: scalar of the operator fee. */
  operatorFeeScalar: orNull(Quantity),
  /** OP-stack: the constant part of the operator fee, wei. */
  operatorFeeConstant: orNull(Quantity),
  /** OP-stack (Jovian): scalar of the footprint that the data has in the block, gas. */
  daFootprintGasScalar: orNull(Quantity),
  /** OP-stack: the nonce of a deposit. */
  depositNonce: orNull(Quantity),
  /** OP-stack: the version of a deposit's receipt. */
  depositReceiptVersion: orNull(Quantity),
});
export type Receipt = typeof Receipt.Type;

export const Withdrawal = struct({
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
  /** Unix milliseconds, where blocks are shorter than a second (Flashblocks). */
  timestampMs: orNull(Quantity),
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
  /** The blob gas that the blob base fee is worked out from (EIP-4844). */
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

/** A sealed block's header, as `eth_subscribe` sends it. */
export const Header = struct({
  ...headerFields,
  /** The hash, 32 bytes. */
  hash: Word,
});
export type Header = typeof Header.Type;

/** The chain has a new head. */
export interface Head {
  /** The block's header. */
  readonly header: Header;
  /** Blocks reported before that are not on this head's chain, newest first; empty = no reorganisation. */
  readonly replaced: ReadonlyArray<Pick<Header, "number" | "hash">>;
  /** Number of blocks right before this one, on its chain, that were not reported. */
  readonly skipped: bigint;
}

/** A block without its transactions' bodies. `hash` is null on pending state of most nodes. */
export const Block = struct({
  ...headerFields,
  /** The block's hash; null of a block that is not sealed. */
  hash: orNull(Word),
  /** Hashes of its transactions. */
  transactions: orNull(list(Word)),
});
export type Block = typeof Block.Type;

/** A mined block with its transactions in full. */
export const FullBlock = /* @__PURE__ */ struct({
  ...headerFields,
  /** The hash, 32 bytes. */
  hash: Word,
  /** Its transactions: hashes, or whole where they were asked for. */
  transactions: /* @__PURE__ */ list(FullTransaction),
});
export type FullBlock = typeof FullBlock.Type;

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
