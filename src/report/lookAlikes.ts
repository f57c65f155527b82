/** Tokens that look like a known one, or like the chain's currency, and are not: told in a sentence. Pure. */
import { knownSymbols, knownTokens } from "../chains/table.js";
import { chainText, checksummed, shortAddress } from "../primitives/text.js";
import { tokenForPeople, type Names } from "./amounts.js";
import { chainOf } from "./chain.js";
import type { Report } from "./schema.js";

/** Characters that read as the first one of their group. */
const groups = "aаαɑ bвβь cсϲ dԁ eеε gɡ hнһη kкκ lӏ mм nпո oоοσо0օ pрρ rгᴦ sѕ5$ꜱ tтτ uυսц vνѵ wѡωш xхχ yуγү zᴢ iіι";
const letters: ReadonlyMap<string, string> = new Map(
  groups.split(" ").flatMap(([letter = "", ...others]) => others.map((other) => [other, letter] as const)),
);
/** Strokes that read as one another, before case is dropped. */
const strokes: ReadonlySet<string> = new Set("Il|1Іӏӏı");

const latin = (text: string): string =>
  [...text.toLowerCase()]
    .map((character) => letters.get(character) ?? character)
    .filter((character) => (character >= "a" && character <= "z") || (character >= "1" && character <= "9"))
    .join("");

/** A name as the eye takes it: by its letters, and by its strokes. */
const shapesOf = (text: string): ReadonlyArray<string> => {
  // why: what is invisible in a symbol is kept escaped
  const [start = "", ...rest] = text.normalize("NFKD").split("\\u{");
  const seen = [start, ...rest.map((part) => part.slice(part.indexOf("}") + 1))].join("");
  return [latin(seen), latin([...seen].map((one) => (strokes.has(one) ? "1" : one)).join(""))];
};

const isAscii = (text: string): boolean => !text.includes("\\u{") && [...text].every((one) => one < "\u0080");

const likeOf = (text: string, all: ReadonlyArray<string>): string | undefined => {
  const shapes = shapesOf(text);
  return all.find((other) => shapesOf(other).some((shape, at) => shape !== "" && shape === shapes[at]));
};

/** Names of the most copied tokens, and their symbols. */
const titles: ReadonlyMap<string, string> = new Map([
  ...([
    ["USD Coin", "USDC"],
    ["Tether USD", "USDT"],
    ["Wrapped Ether", "WETH"],
    ["Dai Stablecoin", "DAI"],
  ] as const),
]);

/** More of a name than is compared. */
const mostName = 64;

/** Says of each token that looks like a known one of the chain, or like its currency, that it is not. */
export const lookAlikes = (report: Report, names: Names): ReadonlyArray<string> => {
  const known = report.chainId === null ? [] : knownTokens(report.chainId);
  const where = chainText(chainOf(report).name) ?? "this chain";
  const native = names.native.symbol;
  const labels = names.given.labels.map(({ address, label }) => ({ token: address, symbol: label, name: label }));
  return [...report.tokens, ...labels].flatMap(({ token, symbol, name }) => {
    if (known.some(({ address }) => address === token.toLowerCase())) return [];
    // why: Tether writes its own symbol so
    const said = (symbol ?? "").slice(0, mostName).replaceAll("₮", "T");
    const title = (name ?? "").slice(0, mostName);
    const who = names.token(token) === null ? names.party(token) : tokenForPeople(names, token);
    const same = known.find((one) => one.symbol === said || one.symbol === titles.get(title));
    if (same !== undefined)
      return [
        `${who} is not the ${same.symbol} that is known on ${where} (${shortAddress(checksummed(same.address))}).`,
      ];
    const symbols = isAscii(said) ? known.map((one) => one.symbol) : [...knownSymbols];
    const byTitle = isAscii(title) ? undefined : titles.get(likeOf(title, [...titles.keys()]) ?? "");
    const like = likeOf(said, [...symbols, native]) ?? byTitle;
    return like === undefined || said === native ? [] : [`${who} looks like ${like}, and is not.`];
  });
};
