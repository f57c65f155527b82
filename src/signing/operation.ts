/** A user operation (ERC-4337), as callers give it. Pure. */
import { no, type Checked } from "../primitives/problem.js";

/** A user operation that was read; its hash hangs on the chain, and the calls that use it on its account. */
export interface OperationInput {
  readonly form: "userOperation";
}

/** Reads `{ entryPoint, operation, signer?, paymasterSigner?, chainId? }`; `at`: the path in front of the names of its fields. */
export const operationIn = (_: Readonly<Record<string, unknown>>, at = ""): Checked<OperationInput> =>
  no(`${at}operation`, "cannot be read");
