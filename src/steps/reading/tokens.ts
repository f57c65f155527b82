/**
 * What tokens call themselves, and which standard they answer to. Lives on the witness.
 *
 * The text is the token's own and may lie; it is bounded here and escaped wherever it is shown.
 */
import type { Address, Hex } from "../../primitives/hex.js";
import { readBool, readString, readUint8 } from "../../witness/answers.js";
import type { View } from "../../witness/view.js";
import { decimals, name, supportsInterface, symbol, type Query } from "../../witness/queries.js";
import type { Standards } from "./transferLogs.js";
import type { TokenInfo, Transfer } from "../../report/parts.js";

/**
 * Every token that somebody asked for, that moves or is granted, each once, at most `limit`: what leaves the senders
 * comes before what they grant, then what reaches them. `cut` says how many were left out.
 */
export const tokens = (
  senders: ReadonlyArray<Address>,
  wanted: ReadonlyArray<{ readonly token: Address | null }>,
  moved: ReadonlyArray<Pick<Transfer, "token" | "from" | "to">>,
  granted: ReadonlyArray<{ readonly token: Address; readonly owner: Address }>,
  limit: number,
): { readonly kept: ReadonlyArray<Address>; readonly cut: number } => {
  const mine = new Set(senders);
  const told = [
    ...wanted,
    ...moved.filter(({ from }) => mine.has(from)),
    ...granted.filter(({ owner }) => mine.has(owner)),
    ...moved.filter(({ to }) => mine.has(to)),
    ...moved,
    ...granted,
  ];
  const all = [...new Set(told.flatMap(({ token }) => token ?? []))];
  const kept = all.slice(0, limit);
  return { kept, cut: all.length - kept.length };
};

/** ERC-165 ids: ERC-721, the draft of ERC-721 that CryptoKitties has, ERC-1155. */
const erc721 = "0x80ac58cd";
const erc721Draft = "0x9a20483d";
const erc1155 = "0xd9b67a26";

/** What tells a token's standard; `decimals` is asked with the metadata. */
export const standardQueries = (asked: ReadonlyArray<Address>): ReadonlyArray<Query> =>
  asked.flatMap((token) => [
    decimals(token),
    supportsInterface(token, erc721),
    supportsInterface(token, erc1155),
    supportsInterface(token, erc721Draft),
  ]);

/** What the tokens' metadata is read by. */
export const queries = (asked: ReadonlyArray<Address>): ReadonlyArray<Query> =>
  asked.flatMap((token) => [decimals(token), symbol(token), name(token)]);

/** Which standard each token answers to: by ERC-165, else whoever has decimals is an ERC-20. */
export const standards = (asked: ReadonlyArray<Address>, view: View): Standards => {
  const supports = (token: Address, id: Hex): boolean => readBool(view.call(supportsInterface(token, id))) === true;
  const found = new Map<Address, "erc20" | "erc721" | "erc1155">();
  for (const token of asked) {
    if (supports(token, erc1155)) found.set(token, "erc1155");
    else if (supports(token, erc721) || supports(token, erc721Draft)) found.set(token, "erc721");
    else if (readUint8(view.call(decimals(token))) !== null) found.set(token, "erc20");
  }
  return found;
};

/**
 * What each token answered; null where it did not answer or answered nonsense, left out where nothing
 * is known at all. `named`: what is remembered of some, decimals apart.
 */
export const read = (
  asked: ReadonlyArray<Address>,
  view: View,
  named: ReadonlyArray<TokenInfo> = [],
): ReadonlyArray<TokenInfo> =>
  asked.flatMap((token): ReadonlyArray<TokenInfo> => {
    const known = named.find((info) => info.token === token);
    const info = {
      token,
      name: known?.name ?? readString(view.call(name(token))),
      symbol: known?.symbol ?? readString(view.call(symbol(token))),
      decimals: readUint8(view.call(decimals(token))),
    };
    return info.name === null && info.symbol === null && info.decimals === null ? [] : [info];
  });
