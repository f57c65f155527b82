/** Who broadcasts: the node, or a relay. */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { Hex } from "../primitives/hex.js";

/**
 * Broadcasts signed bytes, and answers as `eth_sendRawTransaction` does: with the hash, or with a whole
 * JSON-RPC answer. It may fail with anything; what it answers otherwise counts as `unknown`.
 */
export type Send = (raw: Hex) => Effect.Effect<unknown, unknown>;

/**
 * Who broadcasts where a call names nobody: first sends, replacements, and what `keep` sends again.
 * For private relays; null = `eth_sendRawTransaction` of the `Rpc`.
 */
export const Sender: Context.Reference<Send | null> = Context.Reference("evm-preflight/Nonces/Sender", {
  defaultValue: (): Send | null => null,
});
