/** The typed parameters of requests. Quantities are bigint or number; `null` means absent. */
import type { Address, Hash, Hex } from "../primitives/hex.js";
import type { fields } from "../transaction/fields.js";
import type { accountRows, AskedRows, blockRows } from "./overrides.js";

/** A field that may be absent. */
export type Maybe<A> = A | null | undefined;
/** A whole number, of either kind. */
export type Integer = bigint | number;

/** `pending` is the pre-confirmed state. */
export type BlockTag = "latest" | "pending" | "safe" | "finalized" | "earliest";

/** A block: its number, a tag, or its hash (as it is, or as EIP-1898 wants it). */
export type BlockParameter =
  | Integer
  | BlockTag
  | Hash
  | { readonly blockHash: Hash; readonly requireCanonical?: boolean | undefined }
  | { readonly blockNumber: Integer };

export interface AccessListEntry {
  readonly address: Address;
  readonly storageKeys: ReadonlyArray<Hash>;
}

/** A signed EIP-7702 authorisation. */
export interface AuthorizationEntry {
  readonly address: Address;
  readonly chainId: Integer;
  readonly nonce: Integer;
  readonly r: Hash;
  readonly s: Hash;
  /** 0 or 1. */
  readonly yParity?: Maybe<Integer>;
  /** The same as 27 or 28, as libraries write it beside. */
  readonly v?: Maybe<Integer>;
}

/** What a request takes, by how it is written. */
export interface Written {
  readonly address: Address;
  readonly bytes: Hex;
  readonly quantity: Integer;
  readonly hashes: ReadonlyArray<Hash>;
  readonly accessList: ReadonlyArray<AccessListEntry>;
  readonly authorizationList: ReadonlyArray<AuthorizationEntry>;
}
/** The fields of a transaction, each as its row says that it is written. */
export type CallFields = { readonly [K in keyof typeof fields]?: Maybe<Written[(typeof fields)[K]["wire"]]> };

/**
 * A message call: the parameter of `eth_call`, `eth_estimateGas` and each call of `eth_simulateV1`. The
 * sender is the zero address where it is left out, the gas a high limit of the node's.
 */
export interface CallRequest extends CallFields {
  /** EIP-2718 type; nodes derive it from the other fields. */
  readonly type?: Maybe<Integer>;
  /** Another name of `data`. */
  readonly input?: Maybe<Hex>;
}

/** What to pretend about one account. */
export interface AccountOverride extends AskedRows<typeof accountRows> {}

/** Overrides by address. */
export type StateOverrides = Readonly<Record<string, AccountOverride>>;

export interface Withdrawal {
  readonly index: Integer;
  readonly validatorIndex: Integer;
  readonly address: Address;
  /** Gwei. */
  readonly amount: Integer;
}

/** What to pretend about the block. */
export interface BlockOverrides extends AskedRows<typeof blockRows> {
  /** Another name of `time`. */
  readonly timestamp?: Maybe<Integer>;
  /** Before the merge only. */
  readonly difficulty?: Maybe<Integer>;
  /** EIP-4788: root of the parent's beacon block, 32 bytes. */
  readonly beaconRoot?: Maybe<Hash>;
  readonly withdrawals?: Maybe<ReadonlyArray<Withdrawal>>;
}

/** One simulated block. */
export interface BlockStateCall {
  readonly calls?: Maybe<ReadonlyArray<CallRequest>>;
  readonly stateOverrides?: Maybe<StateOverrides>;
  readonly blockOverrides?: Maybe<BlockOverrides>;
}

/** A message call, and what to pretend for it. */
export interface Pretending extends CallRequest {
  readonly stateOverrides?: Maybe<StateOverrides>;
  readonly blockOverrides?: Maybe<BlockOverrides>;
}

/** What `eth_simulateV1` simulates, on which block, and what it tells of it. */
export interface Simulation {
  readonly blocks: ReadonlyArray<BlockStateCall>;
  /** Lists ETH transfers as logs; default false. */
  readonly traceTransfers?: Maybe<boolean>;
  /** Checks nonces, balances and fees as for a real block; default false. */
  readonly validation?: Maybe<boolean>;
  /** Gives each block's transactions in full, else their hashes; default false. */
  readonly returnFullTransactions?: Maybe<boolean>;
  /** Also lists the blocks with which nodes fill a gap between two numbers; default false. Not sent. */
  readonly fillers?: Maybe<boolean>;
  readonly block: BlockParameter;
}

/** An account at a block. */
export interface AtAccount {
  readonly address: string;
  readonly block: BlockParameter;
}

/** Which blocks `eth_feeHistory` tells of. */
export interface FeeRange {
  readonly blockCount: number;
  readonly newestBlock: Integer | BlockTag;
  /** 0 to 100, ascending. */
  readonly rewardPercentiles: ReadonlyArray<number>;
}

/** One position of a topic filter: any, exactly this one, or one of these. */
export type TopicFilter = Hash | ReadonlyArray<Hash> | null;

/** What `eth_getLogs` asks for. */
export interface LogFilter {
  /** Default `latest`. */
  readonly fromBlock?: Maybe<Integer | BlockTag>;
  /** Default `latest`. */
  readonly toBlock?: Maybe<Integer | BlockTag>;
  readonly address?: Maybe<Address | ReadonlyArray<Address>>;
  readonly topics?: Maybe<ReadonlyArray<TopicFilter>>;
  /** Wins over the range, which is not sent then. */
  readonly blockHash?: Maybe<Hash>;
}
