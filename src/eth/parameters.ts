/** The typed parameters of requests. Quantities are bigint or number; `null` means absent. */
import type { Address, Hash, Hex } from "../primitives/hex.js";

type HexText = Hex | `0x${string}`;
type AddressText = Address | `0x${string}`;
type HashText = Hash | `0x${string}`;
/** A field that may be absent. */
type Maybe<A> = A | null | undefined;
type Integer = bigint | number;

/** `pending` is the pre-confirmed state. */
export type BlockTag = "latest" | "pending" | "safe" | "finalized" | "earliest";

/** A block: its number, a tag, or its hash (as it is, or as EIP-1898 wants it). */
export type BlockParameter =
  | Integer
  | BlockTag
  | HashText
  | { readonly blockHash: HashText; readonly requireCanonical?: boolean | undefined }
  | { readonly blockNumber: Integer };

export interface AccessListEntry {
  readonly address: AddressText;
  readonly storageKeys: ReadonlyArray<HashText>;
}

/** A signed EIP-7702 authorisation. */
export interface AuthorizationEntry {
  readonly address: AddressText;
  readonly chainId: Integer;
  readonly nonce: Integer;
  readonly r: HashText;
  readonly s: HashText;
  readonly yParity?: Maybe<Integer>;
}

/** A message call: the parameter of `eth_call`, `eth_estimateGas` and each call of `eth_simulateV1`. */
export interface CallRequest {
  /** Default: the zero address. */
  readonly from?: Maybe<AddressText>;
  /** Absent = deployment. */
  readonly to?: Maybe<AddressText>;
  /** Default: a high limit of the node's. */
  readonly gas?: Maybe<Integer>;
  /** Wei per gas, legacy. */
  readonly gasPrice?: Maybe<Integer>;
  /** Wei per gas. */
  readonly maxFeePerGas?: Maybe<Integer>;
  /** Wei per gas. */
  readonly maxPriorityFeePerGas?: Maybe<Integer>;
  /** Wei per blob gas. */
  readonly maxFeePerBlobGas?: Maybe<Integer>;
  /** Wei. */
  readonly value?: Maybe<Integer>;
  readonly data?: Maybe<HexText>;
  readonly nonce?: Maybe<Integer>;
  readonly accessList?: Maybe<ReadonlyArray<AccessListEntry>>;
  readonly authorizationList?: Maybe<ReadonlyArray<AuthorizationEntry>>;
  readonly blobVersionedHashes?: Maybe<ReadonlyArray<HashText>>;
  readonly chainId?: Maybe<Integer>;
  /** EIP-2718 type; nodes derive it from the other fields. */
  readonly type?: Maybe<Integer>;
}

/** What to pretend about one account. */
export interface AccountOverride {
  /** Wei. */
  readonly balance?: Maybe<Integer>;
  readonly nonce?: Maybe<Integer>;
  readonly code?: Maybe<HexText>;
  /** Replaces the whole storage. */
  readonly state?: Maybe<Readonly<Record<string, HashText>>>;
  /** Replaces the named slots. */
  readonly stateDiff?: Maybe<Readonly<Record<string, HashText>>>;
  readonly movePrecompileToAddress?: Maybe<AddressText>;
}

/** Overrides by address. */
export type StateOverrides = Readonly<Record<string, AccountOverride>>;

export interface Withdrawal {
  readonly index: Integer;
  readonly validatorIndex: Integer;
  readonly address: AddressText;
  /** Gwei. */
  readonly amount: Integer;
}

/** What to pretend about the block. */
export interface BlockOverrides {
  readonly number?: Maybe<Integer>;
  /** Unix seconds. */
  readonly time?: Maybe<Integer>;
  readonly gasLimit?: Maybe<Integer>;
  readonly feeRecipient?: Maybe<AddressText>;
  readonly prevRandao?: Maybe<HashText>;
  /** Wei per gas. */
  readonly baseFeePerGas?: Maybe<Integer>;
  /** Wei per blob gas. */
  readonly blobBaseFee?: Maybe<Integer>;
  readonly difficulty?: Maybe<Integer>;
  readonly beaconRoot?: Maybe<HashText>;
  readonly withdrawals?: Maybe<ReadonlyArray<Withdrawal>>;
}

/** One simulated block. */
export interface BlockStateCall {
  readonly calls?: Maybe<ReadonlyArray<CallRequest>>;
  readonly stateOverrides?: Maybe<StateOverrides>;
  readonly blockOverrides?: Maybe<BlockOverrides>;
}

/** One position of a topic filter: any, exactly this one, or one of these. */
export type TopicFilter = HashText | ReadonlyArray<HashText> | null;

/** What `eth_getLogs` asks for. */
export interface LogFilter {
  /** Default `latest`. */
  readonly fromBlock?: Maybe<Integer | BlockTag>;
  /** Default `latest`. */
  readonly toBlock?: Maybe<Integer | BlockTag>;
  readonly address?: Maybe<AddressText | ReadonlyArray<AddressText>>;
  readonly topics?: Maybe<ReadonlyArray<TopicFilter>>;
  /** Wins over the range, which is not sent then. */
  readonly blockHash?: Maybe<HashText>;
}
