/**
 * The names that tokens give themselves, and the standards they answer to. Lives on the witness.
 *
 * The text is the token's own and may lie; it is bounded here and escaped wherever it is shown.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { effectsIn } from "../../effects/effects.js";
import type { Address, Hex } from "../../primitives/hex.js";
import { address, count, quote } from "../../primitives/statement.js";
import { code } from "../../report/finding.js";
import { readBool, readString, readUint8 } from "../../witness/answers.js";
import type { View } from "../../witness/view.js";
import { decimals, name, supportsInterface, symbol, type Query } from "../../witness/queries.js";
import { tellingIn } from "./addressPositions.js";
import { ownAccounts, type Case } from "./bundle.js";
import type { Standards } from "../../effects/movements.js";
import type { TokenInfo, Transfer } from "../../report/parts.js";

/**
 * Every token that somebody asked for, that moves or is granted, each once, at most `limit`: what leaves the senders
 * comes before what they grant, then what reaches them. `cut` says how many were left out.
 */
export const tokens = (
  senders: ReadonlyArray<Address>,
  requests: ReadonlyArray<{ readonly token: Address | null }>,
  transfers: ReadonlyArray<Pick<Transfer, "token" | "from" | "to">>,
  granted: ReadonlyArray<{ readonly token: Address; readonly owner: Address }>,
  limit: number,
) => {
  const mine = new Set(senders);
  const mentions = [
    ...requests,
    ...transfers.filter(({ from }) => mine.has(from)),
    ...granted.filter(({ owner }) => mine.has(owner)),
    ...transfers.filter(({ to }) => mine.has(to)),
    ...transfers,
    ...granted,
  ];
  const all = [...new Set(mentions.flatMap(({ token }) => token ?? []))];
  const kept = all.slice(0, limit);
  return { kept, cut: all.length - kept.length };
};

/** ERC-165 ids: ERC-721, the draft of ERC-721 that CryptoKitties has, ERC-1155. */
const erc721 = "0x80ac58cd";
const erc721Draft = "0x9a20483d";
const erc1155 = "0xd9b67a26";

/** Queries that tell a token's standard; `decimals` is asked with the metadata. */
export const standardQueries = (tokens: ReadonlyArray<Address>): ReadonlyArray<Query> =>
  tokens.flatMap((token) => [
    decimals(token),
    supportsInterface(token, erc721),
    supportsInterface(token, erc1155),
    supportsInterface(token, erc721Draft),
  ]);

/** Queries by which the tokens' metadata is read. */
export const queries = (tokens: ReadonlyArray<Address>): ReadonlyArray<Query> =>
  tokens.flatMap((token) => [decimals(token), symbol(token), name(token)]);

/** Names are read of no more tokens than this before it is known what moves. */
const mostCalled = 8;

/** The tokens that the bundle itself calls, by the functions of theirs that are known. */
export const called = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> => [
  ...new Set(
    effectsIn(bundle, "call").flatMap(({ call, row }) =>
      (row.answers === "approve" && row.grant?.standard === "erc20") || row.move?.amount !== undefined ? call.to : [],
    ),
  ),
];

/** Beside them those that may be tokens which a call of a router names: of no more is it asked. */
const mostMentioned = 4;

/** The tokens that the bundle calls, and what may be tokens in the calldata for others: where that fails, no event names them. */
export const mentioned = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> => {
  const direct = called(bundle).slice(0, mostCalled);
  const known = new Set([...ownAccounts(bundle), ...direct]);
  const others = bundle.filter(({ input: { to } }) => to !== null && !known.has(to)).flatMap(tellingIn);
  return [...direct, ...[...new Set(others)].filter((account) => !known.has(account)).slice(0, mostMentioned)];
};

/** Which standard each token answers to: by ERC-165, else whoever has decimals is an ERC-20. */
export const standards = (tokens: ReadonlyArray<Address>, view: View): Standards => {
  const supports = (token: Address, id: Hex): boolean => readBool(view.call(supportsInterface(token, id))) === true;
  const found = new Map<Address, "erc20" | "erc721" | "erc1155">();
  for (const token of tokens) {
    if (supports(token, erc1155)) found.set(token, "erc1155");
    else if (supports(token, erc721) || supports(token, erc721Draft)) found.set(token, "erc721");
    else if (readUint8(view.call(decimals(token))) !== null) found.set(token, "erc20");
  }
  return found;
};

const infoOf = (token: Address, view: View, named: ReadonlyArray<TokenInfo>): TokenInfo => {
  const tokenInfo = named.find((info) => info.token === token);
  return {
    token,
    name: tokenInfo?.name ?? readString(view.call(name(token))),
    symbol: tokenInfo?.symbol ?? readString(view.call(symbol(token))),
    decimals: readUint8(view.call(decimals(token))),
  };
};

/**
 * The answers of each token; null where it did not answer or answered nonsense, left out where nothing
 * is known at all. `named`: what is remembered of some, decimals apart.
 */
export const read = (tokens: ReadonlyArray<Address>, view: View, named: ReadonlyArray<TokenInfo> = []) =>
  tokens
    .map((token) => infoOf(token, view, named))
    .filter((info) => info.name !== null || info.symbol !== null || info.decimals !== null);

/** The same of those that were asked, whatever they answered. */
export const answered = (tokens: ReadonlyArray<Address>, view: View, named: ReadonlyArray<TokenInfo>) =>
  tokens.filter((token) => view.call(decimals(token)) !== null).map((token) => infoOf(token, view, named));

/**
 * Amounts cannot be shown in whole tokens.
 * @figures address("token", usdc), count("decimals", 6), count("decimals elsewhere", 18)
 */
export const TokenChanges = code("assets", ["warning"], "TokenChanges", [
  "a token's decimals or symbol differ between simulated blocks",
  "check amounts in smallest units",
]);

/**
 * Token infos by one world; what differs in another is reported, and then not known, so that amounts
 * are shown in smallest units.
 */
export const settleInfos = (here: ReadonlyArray<TokenInfo>, there: ReadonlyArray<TokenInfo>) => {
  const differing = here.flatMap((info) => {
    const other = there.find(({ token }) => token === info.token);
    // why: what one world has told is not told of the next
    const isTold = info.symbol === null && info.decimals === null;
    return other !== undefined && !isTold && (other.decimals !== info.decimals || other.symbol !== info.symbol)
      ? [{ info, other }]
      : [];
  });
  const isSame = (info: TokenInfo) => !differing.some((its) => its.info.token === info.token);
  return {
    tokens: here.map((info) => (isSame(info) ? info : { ...info, symbol: null, decimals: null })),
    findings: differing.map(({ info, other }) =>
      TokenChanges.warning(
        { evidence: "measured" },
        ...[address("token", info.token), quote("symbol", info.symbol), count("decimals", info.decimals)],
        ...[quote("symbol elsewhere", other.symbol), count("decimals elsewhere", other.decimals)],
      ),
    ),
  };
};

/**
 * The cache of a run; remembers nothing unless {@link layerTokenCache} or another one is provided. Names and symbols by
 * chain and address; of a chain that is not known, nothing is remembered. Decimals are read anew in every proof: amounts
 * hang on them.
 */
export const TokenCache: Context.Reference<{
  /** Returns what is known of these tokens; those that are not known are left out. */
  readonly recall: (chainId: number | null, tokens: ReadonlyArray<Address>) => Effect.Effect<ReadonlyArray<TokenInfo>>;
  /** Keeps what was measured. */
  readonly keep: (chainId: number | null, infos: ReadonlyArray<TokenInfo>) => Effect.Effect<void>;
}> = Context.Reference("evm-preflight/TokenCache", {
  defaultValue: (): typeof TokenCache.Service => ({ recall: () => Effect.succeed([]), keep: () => Effect.void }),
});

/**
 * Remembers names and symbols in memory for `timeToLive` (ms or an Effect Duration), of at most `capacity`
 * tokens; the oldest go first. Endpoints of one chain share them: each is shown what another has told.
 */
export const layerTokenCache = (options: {
  readonly timeToLive: Duration.Input;
  readonly capacity?: number;
}): Layer.Layer<never> =>
  Layer.effect(
    TokenCache,
    Effect.sync((): typeof TokenCache.Service => {
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
