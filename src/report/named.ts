/** A report as renderings read it: with the names of the caller's own sources, where neither caller nor chain gives one. Pure. */
import type { DecodedCall, DecodedFunction } from "../abi/calls.js";
import { collectionsIn, rolesOf, type GivenNames } from "./amounts.js";
import { isTokenChange } from "./byCode.js";
import type { TokenInfo } from "./parts.js";
import type { Report } from "./schema.js";

/** Returns the call, and those inside it, with the functions that a source names. */
const withFunctions = (
  call: DecodedCall,
  place: string,
  byPlace: ReadonlyMap<string, ReadonlyArray<DecodedFunction>>,
): DecodedCall => {
  const [first, ...others] = call.function === null ? (byPlace.get(place) ?? []) : [];
  const calls = call.calls.map((inner, index) => withFunctions(inner, `${place}.${index + 1}`, byPlace));
  return { ...call, ...(first !== undefined && { ...first, others }), calls };
};

/** Returns the report with these names in the places that are empty, and those that were put there or are labels. */
export const named = (report: Report): { readonly report: Report; readonly given: GivenNames } => {
  const { names } = report;
  if (names === undefined) return { report, given: { labels: [], tokens: new Set() } };
  const collections = collectionsIn(report);
  const roles = rolesOf(report);
  const rows = new Map(names.tokens.map((row) => [row.token.toLowerCase(), row]));
  const listed = new Set(report.tokens.map(({ token }) => token.toLowerCase()));
  // why: of one that says one thing and then another nobody's word counts
  const fickle = new Set(
    report.findings.filter(isTokenChange).flatMap(({ numbers }) => numbers.map(({ value }) => value)),
  );
  const filled = (info: TokenInfo): TokenInfo => {
    const token = info.token.toLowerCase();
    const row = fickle.has(token) ? undefined : rows.get(token);
    // why: amounts of NFTs are counted
    const decimals = info.decimals ?? (collections.has(token) ? null : (row?.decimals ?? null));
    const symbol = info.symbol ?? (info.name === null ? (row?.symbol ?? null) : null);
    return symbol === info.symbol && decimals === info.decimals ? info : { ...info, symbol, decimals };
  };
  const silent = names.tokens.flatMap(({ token }): ReadonlyArray<TokenInfo> =>
    listed.has(token.toLowerCase()) || roles.get(token.toLowerCase())?.has("token") !== true
      ? []
      : [{ token, name: null, symbol: null, decimals: null }],
  );
  const plain = [...report.tokens, ...silent];
  const tokens = plain.map(filled);
  const telling = new Set(
    tokens.flatMap((info) => ((info.symbol ?? info.name) === null ? [] : [info.token.toLowerCase()])),
  );
  const byPlace = new Map(
    names.calls.map(({ place, functions }) => [
      place,
      functions.map((each) => ({ ...each, by: "names" as const, sources: [] })),
    ]),
  );
  const transactions = report.transactions.map((transaction, index) => {
    const { call } = transaction;
    return call === null ? transaction : { ...transaction, call: withFunctions(call, `${index + 1}`, byPlace) };
  });
  return {
    report: { ...report, tokens, transactions },
    given: {
      labels: names.labels.filter(({ address }) => !telling.has(address.toLowerCase())),
      tokens: new Set(tokens.flatMap((info, at) => (info === plain[at] ? [] : [info.token.toLowerCase()]))),
    },
  };
};
