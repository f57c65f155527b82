/** A checked transaction as a schema: the one shape every floor above works with. */
import * as Schema from "effect/Schema";
import { Address, Hash, Hex, nullable } from "../primitives/hex.js";

/** One entry of an EIP-2930 access list. */
export const AccessListEntry = Schema.Struct({ address: Address, storageKeys: Schema.Array(Hash) });

/** A signed EIP-7702 authorisation, as viem's `signAuthorization` returns it. */
export const Authorization = Schema.Struct({
  /** The delegate; the zero address clears the delegation. */
  address: Address,
  chainId: Schema.Int,
  nonce: Schema.Int,
  r: Hash,
  s: Hash,
  yParity: Schema.Int,
});
export type Authorization = typeof Authorization.Type;

/** A checked transaction: every field present, `null` where the caller left it open. */
export const Transaction = Schema.Struct({
  from: Address,
  /** null = deployment. */
  to: nullable(Address),
  /** Calldata or initcode; `0x` when there is none. */
  data: Hex,
  /** Wei. */
  value: Schema.BigInt,
  chainId: nullable(Schema.Int),
  /** Gas limit the caller fixed. */
  gas: nullable(Schema.BigInt),
  nonce: nullable(Schema.Int),
  /** Wei per gas. */
  maxFeePerGas: nullable(Schema.BigInt),
  /** Wei per gas. */
  maxPriorityFeePerGas: nullable(Schema.BigInt),
  /** Wei per gas; makes a legacy transaction (EIP-2930 with an access list). */
  gasPrice: nullable(Schema.BigInt),
  accessList: nullable(Schema.Array(AccessListEntry)),
  authorizationList: nullable(Schema.Array(Authorization)),
  blobVersionedHashes: nullable(Schema.Array(Hash)),
  /** Wei per blob gas. */
  maxFeePerBlobGas: nullable(Schema.BigInt),
  /** The JSON ABI item of the called function, when the caller gave an ABI call. */
  item: nullable(Schema.Json),
});
export type Transaction = typeof Transaction.Type;

/** A checked input: the transactions in order, and the ABIs that came with them. */
export interface CheckedInput {
  readonly transactions: ReadonlyArray<Transaction>;
  readonly abis: ReadonlyArray<{ readonly address: Address | null; readonly abi: ReadonlyArray<Schema.Json> }>;
}
