/**
 * The typed parameters of requests. Quantities are bigint or number; `null` means absent. What one may pretend has a row
 * each, of an account and of a block: options and reports take theirs from here as well.
 */
import * as Rows from "effect/Record";
import * as Schema from "effect/Schema";
import { Address, Hash, Hex } from "../primitives/hex.js";
import type { GivenRows } from "../primitives/record.js";
import type { fields } from "../transaction/fields.js";

/** How a value is written to JSON-RPC. */
type Wire = "address" | "bytes" | "word" | "quantity" | "slots";

/** One override: `Given` by callers, kept as `schema` says. */
export interface OverrideRow<Given, S extends Schema.Constraint, W extends string> {
  /** Never there: it carries the type. */
  readonly given?: Given;
  /** How it is kept in a report. */
  readonly schema: S;
  /** How it is written to JSON-RPC. */
  readonly wire: W;
}
const row =
  <Given>() =>
  <S extends Schema.Constraint, W extends Wire>(schema: S, wire: W): OverrideRow<Given, S, W> => ({ schema, wire });

const quantity = row<bigint>()(Schema.BigInt, "quantity");
const address = row<Address>()(Address, "address");
const slots = row<Readonly<Record<Hash, Hash>>>()(Schema.Record(Schema.String, Hash), "slots");

/** The rows of an account. */
export const accountRows = {
  /** Wei. */
  balance: quantity,
  /** How many transactions it has sent; of a contract, how many it created. */
  nonce: row<bigint | number>()(Schema.BigInt, "quantity"),
  /** The bytes that run when it is called. */
  code: row<Hex>()(Hex, "bytes"),
  /** Replaces the whole storage: 32-byte slots and values. */
  state: slots,
  /** Replaces the named slots: 32-byte slots and values. */
  stateDiff: slots,
  /** Where the precompile that is at this address can be called instead. */
  movePrecompileToAddress: address,
};

/** The rows of a block. */
export const blockRows = {
  /** Its height: NUMBER. */
  number: quantity,
  /** Epoch seconds. */
  time: quantity,
  /** Gas of all transactions together. */
  gasLimit: quantity,
  /** Who gets the tips: COINBASE. */
  feeRecipient: address,
  /** 32 bytes: PREVRANDAO. */
  prevRandao: row<Hash>()(Hash, "word"),
  /** Wei per gas. */
  baseFeePerGas: quantity,
  /** Wei per blob gas. */
  blobBaseFee: quantity,
};

/** Rows as the parameters of a request: numbers of either kind, and null means absent. */
export type AskedRows<Rows extends Readonly<Record<keyof Rows, { readonly given?: unknown }>>> = {
  readonly [K in keyof Rows]?:
    | (bigint extends GivenRows<Rows>[K] ? number : never)
    | GivenRows<Rows>[K]
    | null
    | undefined;
};

// why: named, or compilers write them out, without the documentation, and TypeScript 6 fails to
/** Schemas of an account's overrides. */
export type AccountOverrideFields = {
  readonly [K in keyof typeof accountRows]: Schema.optionalKey<(typeof accountRows)[K]["schema"]>;
};
/** Schemas of the block's overrides. */
export type BlockOverridesFields = {
  readonly [K in keyof typeof blockRows]: Schema.optionalKey<(typeof blockRows)[K]["schema"]>;
};

/** What is pretended about one account, as a report keeps it. */
export const KeptAccount: Schema.Struct<AccountOverrideFields> = Schema.Struct(
  Rows.map(accountRows, ({ schema }) => Schema.optionalKey<Schema.Constraint>(schema)) as AccountOverrideFields,
);
/** What is pretended about the block, as a report keeps it. */
export const KeptBlock: Schema.Struct<BlockOverridesFields> = Schema.Struct(
  Rows.map(blockRows, ({ schema }) => Schema.optionalKey<Schema.Constraint>(schema)) as BlockOverridesFields,
);

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

/** One entry of an EIP-2930 access list. */
export interface AccessListEntry {
  /** The account that is paid for ahead. */
  readonly address: Address;
  /** Slots of its storage, 32 bytes each. */
  readonly storageKeys: ReadonlyArray<Hash>;
}

/** A signed EIP-7702 authorisation. */
export interface AuthorizationEntry {
  /** The delegate; the zero address clears the delegation. */
  readonly address: Address;
  /** The chain it is for; 0 = every chain. */
  readonly chainId: Integer;
  /** The authority's nonce. */
  readonly nonce: Integer;
  /** The signature's r, 32 bytes. */
  readonly r: Hash;
  /** The signature's s, 32 bytes. */
  readonly s: Hash;
  /** 0 or 1. */
  readonly yParity?: Maybe<Integer>;
  /** The same as 27 or 28, as libraries write it beside. */
  readonly v?: Maybe<Integer>;
}

/** What a request takes, by how it is written. */
export interface Written {
  /** 20 bytes of hex. */
  readonly address: Address;
  /** Bytes of hex, of any length. */
  readonly bytes: Hex;
  /** A whole number from 0. */
  readonly quantity: Integer;
  /** Hashes, 32 bytes each. */
  readonly hashes: ReadonlyArray<Hash>;
  /** EIP-2930 entries. */
  readonly accessList: ReadonlyArray<AccessListEntry>;
  /** Signed EIP-7702 authorisations. */
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

/** State overrides of one account. */
export interface AccountOverride extends AskedRows<typeof accountRows> {}

/** Overrides by address. */
export type StateOverrides = Readonly<Record<string, AccountOverride>>;

/** A withdrawal from the beacon chain (EIP-4895). */
export interface Withdrawal {
  /** Its number among all withdrawals. */
  readonly index: Integer;
  /** The validator it is from. */
  readonly validatorIndex: Integer;
  /** Who receives it. */
  readonly address: Address;
  /** Gwei. */
  readonly amount: Integer;
}

/** Block overrides. */
export interface BlockOverrides extends AskedRows<typeof blockRows> {
  /** Another name of `time`. */
  readonly timestamp?: Maybe<Integer>;
  /** Before the merge only. */
  readonly difficulty?: Maybe<Integer>;
  /** EIP-4788: root of the parent's beacon block, 32 bytes. */
  readonly beaconRoot?: Maybe<Hash>;
  /** Withdrawals of the simulated block. */
  readonly withdrawals?: Maybe<ReadonlyArray<Withdrawal>>;
}

/** One simulated block. */
export interface BlockStateCall {
  /** The transactions of the block, in order. */
  readonly calls?: Maybe<ReadonlyArray<CallRequest>>;
  /** State overrides, by account. */
  readonly stateOverrides?: Maybe<StateOverrides>;
  /** Block overrides. */
  readonly blockOverrides?: Maybe<BlockOverrides>;
}

/** A message call with its overrides. */
export interface Pretending extends CallRequest {
  /** State overrides, by account. */
  readonly stateOverrides?: Maybe<StateOverrides>;
  /** Block overrides. */
  readonly blockOverrides?: Maybe<BlockOverrides>;
}

/** Parameters of `eth_simulateV1`. */
export interface Simulation {
  /** The blocks to simulate, each on top of the one before. */
  readonly blocks: ReadonlyArray<BlockStateCall>;
  /** Lists ETH transfers as logs; default false. */
  readonly traceTransfers?: Maybe<boolean>;
  /** Checks nonces, balances and fees as for a real block; default false. */
  readonly validation?: Maybe<boolean>;
  /** Gives each block's transactions in full, else their hashes; default false. */
  readonly returnFullTransactions?: Maybe<boolean>;
  /** Also lists the blocks with which nodes fill a gap between two numbers; default false. Not sent. */
  readonly fillers?: Maybe<boolean>;
  /** The block whose state is asked. */
  readonly block: BlockParameter;
}

/** An account at a block. */
export interface AtAccount {
  /** The account that is asked about. */
  readonly address: string;
  /** The block whose state is asked. */
  readonly block: BlockParameter;
}

/** Blocks of an `eth_feeHistory` request. */
export interface FeeRange {
  /** Number of blocks. */
  readonly blockCount: number;
  /** The last of them. */
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
  /** The contract or contracts that emitted the logs; any when left out. */
  readonly address?: Maybe<Address | ReadonlyArray<Address>>;
  /** What the topics must be, by place; null or left out = anything. */
  readonly topics?: Maybe<ReadonlyArray<TopicFilter>>;
  /** Wins over the range, which is not sent then. */
  readonly blockHash?: Maybe<Hash>;
}
