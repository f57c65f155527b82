/** What to say of a name that an ABI does not have. */
import { distance } from "../primitives/nearest.js";
import { escapeText } from "../primitives/text.js";

/** More names than a sentence bears; longer ones are nobody's slips. */
const most = { listed: 12, characters: 64 } as const;

/** The names that are nearest to a mistyped one: at most two slips away, letters' case apart. */
const nearest = (name: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (name.length > most.characters) return [];
  const near = names
    .filter((known) => known.length <= most.characters)
    .map((known) => ({ known, slips: distance(name.toLowerCase(), known.toLowerCase()) }))
    .filter(({ known, slips }) => slips <= Math.min(2, known.length - 1));
  const least = Math.min(...near.map(({ slips }) => slips));
  return near.filter(({ slips }) => slips === least).map(({ known }) => known);
};

const listed = (names: ReadonlyArray<string>): string => {
  const shown = names.slice(0, most.listed).map((name) => escapeText(name, most.characters));
  return names.length > shown.length ? `${shown.join(", ")} and ${names.length - shown.length} more` : shown.join(", ");
};

/** `the ABI has transfer, approve`, each name once. */
export const functionsText = (names: ReadonlyArray<string>): string =>
  names.length === 0 ? "the ABI has no functions" : `the ABI has ${listed([...new Set(names)])}`;

/** Why a function is not found, with the names that may have been meant. */
export const noFunction = (name: string, names: ReadonlyArray<string>): string => {
  const near = [...new Set(nearest(name, names))];
  return `the ABI has no function ${escapeText(name, 80)}; ${near.length > 0 ? `did you mean ${listed(near)}?` : functionsText(names)}`;
};
