/**
 * The fields of a transaction, a row each: how callers write it, how it is read and kept, its unit, and how
 * nodes read it. Every other list of fields is worked out from this one, and so is the checked transaction,
 * the one shape that every floor above works with.
 */
import type * as Arr from "effect/Array";
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { Address, Hash, Hex, nullable, Uint } from "../primitives/hex.js";
import { no } from "../primitives/problem.js";
import * as Read from "../primitives/problem.js";

/** One entry of an EIP-2930 access list. */
export const AccessListEntry = Schema.Struct({
  address: Address,
  /** Slots of its storage, 32 bytes each. */
  storageKeys: Schema.Array(Hash),
});

/** A signed EIP-7702 authorisation, as viem's `signAuthorization` returns it. */
export const Authorization = Schema.Struct({
  /** The delegate; the zero address clears the delegation. */
  address: Address,
  /** 0 = every chain. */
  chainId: Schema.Int,
  /** The authority's nonce. */
  nonce: Schema.Int,
  /** The signature's r, 32 bytes. */
  r: Hash,
  /** The signature's s, 32 bytes. */
  s: Hash,
  /** 0 or 1. */
  yParity: Schema.Int,
});
export type Authorization = typeof Authorization.Type;

/** An EIP-7702 authorisation that is yet to be signed, by whom it is named. */
export const UnsignedAuthorization = Schema.Struct({
  /** The account that is to sign it, and whose code it sets. */
  authority: Address,
  ...Struct.pick(Authorization.fields, ["address", "chainId", "nonce"]),
});
export type UnsignedAuthorization = typeof UnsignedAuthorization.Type;

/** True of an authorisation that is yet to be signed. */
export const isUnsigned = (entry: Authorization | UnsignedAuthorization): entry is UnsignedAuthorization =>
  "authority" in entry;

const accessListEntry: Read.Read<typeof AccessListEntry.Type> = (value, field) =>
  Result.gen(function* () {
    const entry = yield* Read.record(value, field);
    yield* Read.onlyHas(entry, ["address", "storageKeys"], "a field of an access list", `${field}.`);
    return {
      address: yield* Read.address(entry["address"], `${field}.address`),
      storageKeys: yield* Read.listOf(Read.hash)(entry["storageKeys"] ?? [], `${field}.storageKeys`),
    };
  });

/** Fields of an authorisation that its signature has. */
const signatures = ["r", "s", "yParity", "v"];

/** Reads an authorisation; with an `authority` it is one that is yet to be signed. */
export const authorization: Read.Read<Authorization | UnsignedAuthorization> = (value, field) =>
  Result.gen(function* () {
    const entry = yield* Read.record(value, field);
    const { address: own, contractAddress: other, v } = entry;
    if (Read.given(own) && Read.given(other) && String(own).toLowerCase() !== String(other).toLowerCase())
      return yield* no(`${field}.contractAddress`, "differs from address");
    const signed = {
      address: yield* Read.address(own ?? other, `${field}.address`),
      chainId: yield* Read.integer()(entry["chainId"], `${field}.chainId`),
      nonce: yield* Read.nonce(entry["nonce"], `${field}.nonce`),
    };
    // why: who signed is told by a signature, where there is one
    if (Read.given(entry["authority"]) && !signatures.some((name) => Read.given(entry[name])))
      return { authority: yield* Read.address(entry["authority"], `${field}.authority`), ...signed };
    const told = typeof v === "bigint" ? Number(v >= 27n ? v - 27n : v) : undefined;
    const parity = entry["yParity"] ?? told;
    if (told !== undefined && parity !== told) return yield* no(`${field}.v`, "differs from yParity");
    return {
      ...signed,
      r: yield* Read.hash(entry["r"], `${field}.r`),
      s: yield* Read.hash(entry["s"], `${field}.s`),
      yParity: yield* Read.integer(1)(parity, `${field}.yParity`),
    };
  });

/** The unit of a number; null where it is none. */
export type Unit = "wei" | "gas" | "wei per gas" | "wei per blob gas" | "count";

/** A kind of value: `Given` by callers, kept as `schema` says, written to JSON-RPC as `wire` says. */
const kind =
  <Given>() =>
  <
    S extends Schema.Constraint,
    W extends "address" | "bytes" | "quantity" | "hashes" | "accessList" | "authorizationList",
    U extends Unit | null,
  >(
    schema: S,
    wire: W,
    unit: U,
    check: Read.Read<S["Type"]>,
  ): {
    /** Never there: it carries the type. */
    readonly given?: Given;
    readonly schema: S;
    readonly check: (
      value: unknown,
      field: string,
    ) => Result.Result<S["Type"], { readonly field: string; readonly problem: string }>;
    readonly wire: W;
    readonly unit: U;
  } => ({ schema, wire, unit, check });

const uint = <const U extends Unit>(unit: U, check: Read.Read<bigint> = Read.uint(unit)) =>
  kind<bigint>()(Uint, "quantity", unit, check);

/** Gas is a signed 64-bit number in every client's gas pool. */
const maxGas = 2n ** 63n - 1n;
const gasLimit = Read.uint("gas", maxGas);

const address = kind<Address>()(Address, "address", null, Read.address);
const bytes = kind<Hex>()(Hex, "bytes", null, Read.bytes);
const wei = uint("wei");
const price = uint("wei per gas");
const blobPrice = uint("wei per blob gas");
const gas = uint("gas", (value, field) => (value === 0n ? no(field, "must be above 0") : gasLimit(value, field)));
const chain = kind<number>()(Schema.Int.check(Schema.isGreaterThan(0)), "quantity", "count", (value, field) =>
  value === 0 ? no(field, "must be above 0 (EIP-155)") : Read.integer()(value, field),
);
const nonce = kind<number | bigint>()(
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  "quantity",
  "count",
  Read.nonce,
);
/** The only version that blob hashes have (EIP-4844): a commitment by KZG. */
const blobHash: Read.Read<Hash> = (value, field) =>
  Result.flatMap(Read.hash(value, field), (hash) =>
    hash.startsWith("0x01") ? Result.succeed(hash) : no(field, "must begin with 0x01, the version of blobs (EIP-4844)"),
  );
const hashes = kind<ReadonlyArray<Hash>>()(Schema.Array(Hash), "hashes", null, Read.listOf(blobHash, 1));
const accessList = kind<ReadonlyArray<typeof AccessListEntry.Type>>()(
  Schema.Array(AccessListEntry),
  "accessList",
  null,
  Read.listOf(accessListEntry),
);
/** As callers write them: the parity by itself or in `v`; not signed yet by their authority. */
const authorizations = kind<
  ReadonlyArray<
    | (Omit<Authorization, "yParity"> & {
        /** 0 or 1. */
        readonly yParity?: number | undefined;
        /** 27 or 28. */
        readonly v?: bigint | undefined;
      })
    | UnsignedAuthorization
  >
>()(
  Schema.Array(Schema.Union([Authorization, UnsignedAuthorization])),
  "authorizationList",
  null,
  Read.listOf(authorization, 1),
);

/** Null while the caller leaves it open. */
const open = { absent: null, filled: false } as const;
/** The same, until the pipeline finds it out. */
const found = { absent: null, filled: true } as const;

/**
 * Every field. `absent` stands where the caller says nothing (undefined: it must be given), `filled` are
 * those that the pipeline finds out when the caller leaves them open.
 *
 * The order is that in which they are checked, so that the first wrong one is named.
 */
export const fields = {
  /** The sender. */
  from: { ...address, absent: undefined, filled: false },
  /** The recipient; without one it is a deployment. */
  to: { ...kind<Address | null>()(Address, "address", null, Read.address), ...open },
  /** Calldata or initcode; `0x` when there is none. */
  data: { ...bytes, absent: "0x", filled: false },
  /** Wei that are sent along. */
  value: { ...wei, absent: 0n, filled: false },
  /** EIP-155 chain id. */
  chainId: { ...chain, ...found },
  /** Gas limit, in gas. */
  gas: { ...gas, ...found },
  /** How many transactions the sender sent before. */
  nonce: { ...nonce, ...found },
  /** Wei per gas: the most in all, EIP-1559. */
  maxFeePerGas: { ...price, ...found },
  /** Wei per gas: the most for the block's producer, EIP-1559. */
  maxPriorityFeePerGas: { ...price, ...found },
  /** Wei per gas; makes a legacy transaction (EIP-2930 with an access list). */
  gasPrice: { ...price, ...found },
  /** EIP-2930: accounts and storage that are paid for ahead. */
  accessList: { ...accessList, ...open },
  /**
   * EIP-7702 authorisations, at most 2,000 in a bundle: signed, or `{ authority, address, chainId, nonce }` before they are,
   * in the first transaction alone. An effect without a signature is assumed.
   */
  authorizationList: { ...authorizations, ...open },
  /** EIP-4844: versioned hashes of the blobs, 32 bytes each. */
  blobVersionedHashes: { ...hashes, ...open },
  /** Wei per blob gas. */
  maxFeePerBlobGas: { ...blobPrice, ...open },
} as const;

/** The most transactions that a bundle may have. */
export const maxTransactions = 64;

/** The most authorisations that a bundle may have: each takes 25,000 gas, so that a block of 50 million holds no more. */
export const maxAuthorizations = 2_000;

/** The most that may be yet to be signed. */
export const maxUnsigned = 16;

/** Facts that the form of an input tells beside its fields; a key is absent where it says nothing. */
const OriginStruct = Schema.Struct({
  /** The signed bytes, without the blobs that travel beside them: exactly these are proven. */
  raw: Schema.optionalKey(Hex),
  /** True of an object that says in which block it was mined. */
  isMined: Schema.optionalKey(Schema.Literal(true)),
  /** True of a call of a batch that succeeds or fails as one. */
  isAtomic: Schema.optionalKey(Schema.Literal(true)),
  /**
   * The state of a batch of calls (EIP-5792). `open`: nobody has found yet how its account sends it. `made`: this one transaction makes all
   * of its calls. Otherwise why no such transaction could be made. `plain`: the account has no code that takes calls. `unknown`: its
   * code takes them in no form that is known. `unread`: the node did not tell. `fields`: a call has no receiver, or fields of a
   * transaction. `ineffective`: the authorisation is for another nonce or chain.
   */
  batch: Schema.optionalKey(Schema.Literals(["open", "made", "plain", "unknown", "unread", "fields", "ineffective"])),
  /** The code to which the account is to be delegated for its batch (EIP-7702). */
  delegate: Schema.optionalKey(Address),
  /** True of a batch for which a wallet may let somebody else pay. */
  isSponsored: Schema.optionalKey(Schema.Literal(true)),
  /** The place of the signature, among those of its report, that it is simulated for: nobody signs or sends it. */
  signing: Schema.optionalKey(Schema.Int),
});
export interface Origin extends Schema.Schema.Type<typeof OriginStruct> {}

/** The schemas of a checked transaction. Named, so that declarations refer to it and keep the documentation. */
export type TransactionFields = {
  readonly [K in keyof typeof fields]: (typeof fields)[K]["absent"] extends null
    ? ReturnType<typeof nullable<(typeof fields)[K]["schema"]>>
    : (typeof fields)[K]["schema"];
} & {
  /** The JSON ABI item of the called function, when the caller gave an ABI call. */
  readonly item: ReturnType<typeof nullable<typeof Schema.Json>>;
  /** Facts that the form of the input tells beside its fields; absent of plain fields. */
  readonly origin: Schema.optionalKey<typeof OriginStruct>;
};

/** A checked transaction: every field present, `null` where the caller left it open. */
export const Transaction: Schema.Struct<TransactionFields> = Schema.Struct({
  // each schema is that of its own row
  ...Rows.map(fields, ({ schema, absent }): Schema.Constraint => (absent === null ? nullable(schema) : schema)),
  item: nullable(Schema.Json),
  origin: Schema.optionalKey(OriginStruct),
} as TransactionFields);
export interface Transaction extends Schema.Schema.Type<typeof Transaction> {}

/** A connection's defaults: the fields of transactions that name none; null where it does not say. */
export interface InputDefaults {
  /** The chain that transactions are for; null = whichever the node serves. */
  readonly chainId: number | null;
  /** The sender; null = each transaction names its sender. */
  readonly from: Address | null;
}

/** A checked input: the transactions in order, and the ABIs that came with them. Only `check` makes one. */
export class CheckedInput {
  /** The transactions, in order; there is always one. */
  readonly transactions: Arr.NonEmptyReadonlyArray<Transaction>;
  /** `address` null = of the contract that is deployed. */
  readonly abis: ReadonlyArray<{ readonly address: Address | null; readonly abi: ReadonlyArray<Schema.Json> }>;
  constructor(transactions: CheckedInput["transactions"], abis: CheckedInput["abis"]) {
    this.transactions = transactions;
    this.abis = abis;
  }
}
