/** What tokens call themselves, remembered between runs for a time that the caller sets. By default nothing is. */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { Address } from "../../primitives/hex.js";
import type { TokenInfo } from "../../report/parts.js";

/** Names and symbols by chain and address; of a chain that is not known, nothing is remembered. Decimals are read anew in every proof: amounts hang on them. */
export interface TokenNames {
  /** What is known of these tokens; those that are not known are left out. */
  readonly recall: (chainId: number | null, tokens: ReadonlyArray<Address>) => Effect.Effect<ReadonlyArray<TokenInfo>>;
  /** Keeps what was measured. */
  readonly keep: (chainId: number | null, infos: ReadonlyArray<TokenInfo>) => Effect.Effect<void>;
}

/** The cache of a run; remembers nothing unless {@link layerTokenCache} or another one is provided. */
export const TokenCache: Context.Reference<TokenNames> = Context.Reference("evm-preflight/TokenCache", {
  defaultValue: (): TokenNames => ({ recall: () => Effect.succeed([]), keep: () => Effect.void }),
});

/**
 * Remembers names and symbols in memory for `timeToLive` (ms or an Effect Duration), of at most `capacity`
 * tokens; the oldest go first.
 */
export const layerTokenCache = (options: {
  readonly timeToLive: Duration.Input;
  readonly capacity?: number;
}): Layer.Layer<never> =>
  Layer.effect(
    TokenCache,
    Effect.sync((): TokenNames => {
      /** With the epoch ms until which each is remembered. */
      const entries = new Map<string, { readonly info: TokenInfo; readonly until: number }>();
      const life = Duration.toMillis(Duration.fromInputUnsafe(options.timeToLive));
      const capacity = options.capacity ?? 10_000;
      const keyOf = (chainId: number, token: Address) => `${chainId}/${token.toLowerCase()}`;
      return {
        recall: (chainId, tokens) =>
          Effect.map(Clock.currentTimeMillis, (now) =>
            chainId === null
              ? []
              : tokens.flatMap((token) => {
                  const entry = entries.get(keyOf(chainId, token));
                  return entry === undefined || entry.until <= now ? [] : [entry.info];
                }),
          ),
        keep: (chainId, infos) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            if (chainId === null) return;
            for (const info of infos) {
              const key = keyOf(chainId, info.token);
              entries.delete(key);
              entries.set(key, { info, until: now + life });
            }
            for (const key of entries.keys()) {
              if (entries.size <= capacity) break;
              entries.delete(key);
            }
          }),
      };
    }),
  );
