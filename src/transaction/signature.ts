/** A signature that is to be given and is no transaction's, as schema: what a report asks for, and a clearance hands out. */
import * as Schema from "effect/Schema";
import { Address, Hash, Hex } from "../primitives/hex.js";

/** The schema of one kind of signature. */
const signature = <const Kind extends string, Fields extends Schema.Struct.Fields>(kind: Kind, fields: Fields) =>
  Schema.Struct({ kind: Schema.Literal(kind), signer: Address, digest: Hash, ...fields });

/** A signature to be given that is no transaction's: `signer` signs the 32 bytes of `digest`. */
export const SignatureRequest = Schema.Union([
  /** EIP-712; `typedData` as `eth_signTypedData_v4` takes it. */
  signature("typedData", { typedData: Schema.JsonObject }),
  /** EIP-7702: the account runs the code at `address` from then on; `chainId` 0 = on every chain. */
  signature("authorization", { chainId: Schema.Int, address: Address, nonce: Schema.Int }),
  /** EIP-191, as `personal_sign` signs it; `message`: its bytes. */
  signature("message", { message: Hex }),
  /** Bare 32 bytes, which may be anything. */
  signature("hash", {}),
  /**
   * ERC-4337; `digest`: the operation's hash in its EntryPoint, which the account's owner signs in the account's own way;
   * `operation` as `eth_sendUserOperation` takes it, with the signature that was given.
   */
  signature("userOperation", {
    operation: Schema.JsonObject,
    entryPoint: Address,
    version: Schema.Literals(["0.6", "0.7", "0.8", "0.9"]),
    chainId: Schema.Int,
    /** The code that the account delegates to (EIP-7702), where the hash names it and the operation does not. */
    delegate: Schema.optionalKey(Address),
    /** The typed data that was asked for, whose digest is the same; absent = the operation itself was given. */
    typedData: Schema.optionalKey(Schema.JsonObject),
  }),
]);
export type SignatureRequest = typeof SignatureRequest.Type;
