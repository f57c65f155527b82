/**
 * The input: what callers may give, and the one form that everything else works with.
 *
 * A fault that the input alone shows is `InvalidTransaction`, before anything is sent. One that only the chain shows
 * is a finding of the report.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { InvalidTransaction } from "./errors/input.js";
import { lazyImport } from "./primitives/effects.js";
import type { CheckedInput, InputDefaults } from "./transaction/fields.js";
import { validate } from "./transaction/validate.js";

export type { GivenRows } from "./primitives/record.js";
export type { Authorization } from "./transaction/fields.js";
export type * from "./transaction/input.js";
export { Transaction, type CheckedInput, type InputDefaults, type TransactionFields } from "./transaction/fields.js";

const signing = lazyImport(() => import("./transaction/signer.js"));

/**
 * Checks an input of any form, and encodes ABI calls.
 *
 * Fails with `InvalidTransaction`; its `field` is the path of the first wrong field (`to`, `args[1]`; in a list
 * `[2].to`). A checked input is returned unchanged, so it can be passed on. `defaults` are chain and sender where a
 * transaction names none; a transaction that names others is refused.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Transaction } from "evm-preflight";
 *
 * const wrong = Transaction.check({ from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x12" });
 * const error = await Effect.runPromise(Effect.flip(wrong));
 * console.log(error.field, error.problem); // to must be 20 bytes of hex with 0x
 * ```
 */
export const check = (input: unknown, defaults?: InputDefaults): Effect.Effect<CheckedInput, InvalidTransaction> =>
  Effect.suspend(() => {
    let isOfBytes = false;
    const checked = validate(input, defaults, (held) => {
      isOfBytes = true;
      return Result.succeed(held);
    });
    // why: signers are recovered by the curve, which is large, and which only bytes need
    return isOfBytes
      ? Effect.flatMap(signing, ({ readBytes }) => Effect.fromResult(validate(input, defaults, readBytes)))
      : Effect.fromResult(checked);
  });
