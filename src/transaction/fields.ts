/**
 * The fields of a transaction, a row each: how callers write it, how it is read and kept, its unit, and how
 * nodes read it. Every other list of fields is worked out from this one.
 */
import * as Schema from "effect/Schema";
import type { Abi } from "abitype";
import { Address, Hash, Hex } from "../primitives/hex.js";
import { no } from "../primitives/problem.js";
import type { Gives } from "../primitives/rows.js";
import { AccessListEntry, accessListEntry, Authorization, authorization, type GivenAuthorization } from "./entries.js";
import * as Read from "./read.js";

/** What a number counts; null where it is none. */
export type Unit = "wei" | "gas" | "wei per gas" | "wei per blob gas" | "count";

/** How a value is written to JSON-RPC. */
export type Wire = "address" | "bytes" | "quantity" | "hashes" | "accessList" | "authorizationList";

/** A kind of value: `Given` by callers, kept as `schema` says. */
interface Kind<Given, S extends Schema.Constraint, W extends Wire, U extends Unit | null> extends Gives<Given> {
  readonly schema: S;
  readonly check: Read.Read<S["Type"]>;
  readonly wire: W;
  readonly unit: U;
}

const kind =
  <Given>() =>
  <S extends Schema.Constraint, W extends Wire, U extends Unit | null>(
    schema: S,
    wire: W,
    unit: U,
    check: Read.Read<S["Type"]>,
  ): Kind<Given, S, W, U> => ({ schema, wire, unit, check });

const uint = <const U extends Unit>(unit: U, check: Read.Read<bigint> = Read.uint(unit)) =>
  kind<bigint>()(Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n)), "quantity", unit, check);

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
const hashes = kind<ReadonlyArray<Hash>>()(Schema.Array(Hash), "hashes", null, Read.listOf(Read.hash, 1));
const accessList = kind<ReadonlyArray<typeof AccessListEntry.Type>>()(
  Schema.Array(AccessListEntry),
  "accessList",
  null,
  Read.listOf(accessListEntry),
);
const authorizations = kind<ReadonlyArray<GivenAuthorization>>()(
  Schema.Array(Authorization),
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
  to: { ...address, ...open },
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
  /** Signed EIP-7702 authorisations. */
  authorizationList: { ...authorizations, ...open },
  /** EIP-4844: versioned hashes of the blobs, 32 bytes each. */
  blobVersionedHashes: { ...hashes, ...open },
  /** Wei per blob gas. */
  maxFeePerBlobGas: { ...blobPrice, ...open },
} as const;

/** The fields of a call through an ABI, which becomes `data`. */
export interface AbiFields {
  /** The contract's ABI: JSON, or human-readable signatures. */
  readonly abi?: Abi | readonly unknown[] | undefined;
  /** The function to call: its name, signature or selector. */
  readonly functionName?: string | undefined;
  /** The arguments, in order. */
  readonly args?: ReadonlyArray<unknown> | undefined;
  /** Initcode without the constructor's arguments: makes a deployment. */
  readonly bytecode?: Hex | undefined;
}
const abiFields: ReadonlyArray<string> = ["abi", "functionName", "args", "bytecode"] satisfies Array<keyof AbiFields>;

/** Every field that a transaction may have. */
export const fieldNames: ReadonlyArray<string> = [...Object.keys(fields), ...abiFields];

/** Whether a transaction has a field of this name. */
export const isField = (name: string): boolean => fieldNames.includes(name);
