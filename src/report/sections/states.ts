/** What changes in the storage, answers and delegations that say who acts for accounts. */
import { checksummed } from "../../primitives/text.js";
import { dim, joined, known, left, section, table, type Section } from "../document.js";
import type { Report } from "../schema.js";
import type { StateChange } from "../stateChange.js";

/** A slot by its number, or by the beginning of a hash. */
const slotText = (slot: string): string =>
  BigInt(slot) < 256n ? `slot ${BigInt(slot)}` : `slot ${slot.slice(0, 10)}…`;

const heldText = ({ holds, slot, seen }: StateChange): string =>
  joined(seen === "unseen" ? "not looked at" : holds, known(slot, slotText));

/** An address, where a word may be one, else its number. */
const wordText = (word: string | null): string => {
  if (word === null) return "not known";
  const value = BigInt(word);
  if (value >> 160n !== 0n) return word;
  return value >> 96n === 0n ? String(value) : checksummed(`0x${word.slice(26)}`);
};

/** One row for each change, and for each account that was not looked at. */
export const statesSection = ({ stateChanges }: Report): ReadonlyArray<Section> =>
  section(
    "Storage that says who acts",
    table<StateChange>(stateChanges, [
      [left("account"), ({ account }) => ({ text: checksummed(account), isAddress: true })],
      [left("what"), heldText],
      [left("before"), ({ before }) => wordText(before)],
      [left("after"), ({ after }) => wordText(after)],
      [left("seen by"), ({ seen }) => dim(seen)],
    ]),
  );
