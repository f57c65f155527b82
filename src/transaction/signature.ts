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
]);
export type SignatureRequest = typeof SignatureRequest.Type;
