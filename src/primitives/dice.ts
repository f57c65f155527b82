/** Random bytes that nobody can foresee, replaceable so that a recorded run can be repeated. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { bytesToHex } from "viem";
import type { Hex } from "./hex.js";

/** Draws so many random bytes. */
export type Dice = (bytes: number) => Hex;

export const Dice: Context.Reference<Dice> = Context.Reference<Dice>("evm-preflight/Dice", {
  defaultValue: () => (bytes) => bytesToHex(globalThis.crypto.getRandomValues(new Uint8Array(bytes))),
});

/** So many random bytes. */
export const roll = (bytes: number): Effect.Effect<Hex> => Effect.map(Effect.service(Dice), (dice) => dice(bytes));
