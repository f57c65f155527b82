/**
 * The typed parameters of requests. Quantities are bigint or number; `null` means absent. What one may pretend has a row
 * each, of an account and of a block: options and reports take theirs from here as well.
 */
import * as Rows from "effect/Record";
import * as Schema from "effect/Schema";
import { Address, Hash, Hex } from "../primitives/hex.js";
import type { GivenRows } from "../primitives/record.js";
import type { fields } from "../transaction/fields.js";

/** One value: as callers write it, as a report keeps it, and how it is written to JSON-RPC. */
const row =
  <Given>() =>
  <S extends Schema.Constraint, W extends "address" | "bytes" | "word" | "quantity" | "slots">(
    schema: S,
    wire: W,
  ): { readonly given?: Given; readonly schema: S; readonly wire: W } => ({ schema, wire });

/** A quantity of JSON-RPC: 0 to 2^256 - 1. */
export const Uint256 = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 256n - 1n }));

const quantity = row<bigint>()(Uint256, "quantity");
const address = row<Address>()(Address, "address");
const slots = row<Readonly<Record<Hash, Hash>>>()(Schema.Record(Schema.String, Hash), "slots");

/** The rows of an account. */
export const accountRows = {
  /** Wei. */
  balance: quantity,
  /** How many transactions it has sent; of a contract, how many it created. */
  nonce: row<bigint | number>()(Uint256, "quantity"),
  /** The bytes that run when it is called. */
  code: row<Hex>()(Hex, "bytes"),
  /** Replaces the whole storage: 32-byte slots and values. */
  state: slots,
  /** Replaces the named slots: 32-byte slots and values. */
  stateDiff: slots,
  /** The address where the precompile that is at this address can be called instead. */
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
  /** The account that gets the tips: COINBASE. */
  feeRecipient: address,
  /** 32 bytes: PREVRANDAO. */
  prevRandao: row<Hash>()(Hash, "word"),
  /** Wei per gas. */
  baseFeePerGas: quantity,
  /** Wei per blob gas. */
  blobBaseFee: quantity,
};

// why: named, or compilers write them out, without the documentation, and TypeScript 6 fails to
/** Schemas of overrides, each of which may be left out. */
export type OverrideFields<Table extends Readonly<Record<keyof Table, { readonly schema: Schema.Constraint }>>> = {
  readonly [K in keyof Table]: Schema.optionalKey<Table[K]["schema"]>;
};

/** Rows as the fields of a schema, each of which may be left out. */
const fieldsOf = <Table extends Readonly<Record<string, { readonly schema: Schema.Constraint }>>>(rows: Table) =>
  Rows.map(rows, ({ schema }) => Schema.optionalKey<Schema.Constraint>(schema)) as OverrideFields<Table>;

/** The overrides of one account, as a report keeps them. */
export const KeptAccount: Schema.Struct<OverrideFields<typeof accountRows>> = Schema.Struct(fieldsOf(accountRows));
/** The overrides of the block, as a report keeps them. */
export const KeptBlock: Schema.Struct<OverrideFields<typeof blockRows>> = Schema.Struct(fieldsOf(blockRows));

/** A block: its number, a tag (`pending` is the pre-confirmed state), or its hash (as it is, or as EIP-1898 wants it). */
export type BlockParameter =
  | bigint
  | number
  | ("latest" | "pending" | "safe" | "finalized" | "earliest")
  | Hash
  | { readonly blockHash: Hash; readonly requireCanonical?: boolean | undefined }
  | { readonly blockNumber: bigint | number };

/**
 * A message call: the parameter of `eth_call`, `eth_estimateGas` and each call of `eth_simulateV1`. The
 * sender is the zero address where it is left out, the gas a high limit of the node's.
 */
export interface CallRequest extends GivenRows<typeof fields, number | null> {
  /** EIP-2718 type; nodes derive it from the other fields. */
  readonly type?: bigint | number | null | undefined;
  /** Another name of `data`. */
  readonly input?: Hex | null | undefined;
}

/** Overrides by address. */
export type StateOverrides = Readonly<Record<string, GivenRows<typeof accountRows, number | null>>>;

/** Block overrides. */
export interface BlockOverrides extends GivenRows<typeof blockRows, number | null> {
  /** Another name of `time`. */
  readonly timestamp?: bigint | number | null | undefined;
  /** Before the merge only. */
  readonly difficulty?: bigint | number | null | undefined;
  /** EIP-4788: root of the parent's beacon block, 32 bytes. */
  readonly beaconRoot?: Hash | null | undefined;
  /** Withdrawals of the simulated block, from the beacon chain (EIP-4895); `amount` in gwei. */
  readonly withdrawals?:
    | ReadonlyArray<{
        readonly index: bigint | number;
        readonly validatorIndex: bigint | number;
        readonly address: Address;
        readonly amount: bigint | number;
      }>
    | null
    | undefined;
}

/** Parameters of `eth_simulateV1`. */
export interface Simulation {
  /** The blocks to simulate, each on top of the one before. */
  readonly blocks: ReadonlyArray<{
    /** The transactions of the block, in order. */
    readonly calls?: ReadonlyArray<CallRequest> | null | undefined;
    /** State overrides, by account. */
    readonly stateOverrides?: StateOverrides | null | undefined;
    /** Block overrides. */
    readonly blockOverrides?: BlockOverrides | null | undefined;
  }>;
  /** Lists ETH transfers as logs; default false. */
  readonly traceTransfers?: boolean | null | undefined;
  /** Checks nonces, balances and fees as for a real block; default false. */
  readonly validation?: boolean | null | undefined;
  /** Gives each block's transactions in full, else their hashes; default false. */
  readonly returnFullTransactions?: boolean | null | undefined;
  /** Also lists the blocks with which nodes fill a gap between two numbers; default false. Not sent. */
  readonly fillers?: boolean | null | undefined;
  /** The block whose state is asked. */
  readonly block: BlockParameter;
}

/** The filter of `eth_getLogs`. */
export interface LogFilter {
  /** Default `latest`. */
  readonly fromBlock?: Exclude<BlockParameter, Hash | object> | null | undefined;
  /** Default `latest`. */
  readonly toBlock?: Exclude<BlockParameter, Hash | object> | null | undefined;
  /** The contract or contracts that emitted the logs; any when left out. */
  readonly address?: Address | ReadonlyArray<Address> | null | undefined;
  /** The topics that match, by place: exactly this one, or one of these; null or left out = anything. */
  readonly topics?: ReadonlyArray<Hash | ReadonlyArray<Hash> | null> | null | undefined;
  /** Wins over the range, which is not sent then. */
  readonly blockHash?: Hash | null | undefined;
}
