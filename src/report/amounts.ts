/** Amounts and tokens in a sentence for people: rounded against their favour, never in smallest units where that can be helped. */
import { formatUnits, roundUnits } from "../primitives/units.js";
import { decimalsOf, idText, symbolOf, type Names, type Unit } from "./tokens.js";

/** Which way an amount is rounded: `up` for what leaves or is granted, `down` for what comes or is there. */
export type Rounding = "up" | "down";

/** From here on, native amounts are shown in whole units; below, in wei. */
const readable = 10n ** 9n;

const shown = (amount: bigint, decimals: number, rounding: Rounding, isExact: boolean): string => {
  if (isExact) return formatUnits(amount, decimals);
  const { text, isExact: isSame } = roundUnits(amount, decimals, rounding === "up");
  return isSame ? text : `≈${text}`;
};

/** Wei for people: `1.5 ETH`, `≈0.000143497 ETH`, `12 wei`; `atMost` leaves the sign of rounding out, for it is said. */
export const nativeForPeople = (wei: bigint, rounding: Rounding, { native, exact }: Names, atMost = false): string => {
  const size = wei < 0n ? -wei : wei;
  if (size !== 0n && size < readable) return `${wei} wei`;
  const text = `${shown(wei, 18, rounding, exact)} ${native}`;
  return atMost ? text.replace("≈", "") : text;
};

/** A token by its own symbol and the short form of its address, which a false symbol cannot hide. */
export const tokenForPeople = (names: Names, token: string): string => {
  const symbol = symbolOf(names, token);
  return symbol === null ? `token ${names.short(token)}` : `${symbol} (${names.short(token)})`;
};

/** How much, and of what: two cells of a table, or in one `1,250.5 USDC (0xA0b8…eB48)`. */
export interface Amount {
  readonly amount: string;
  readonly unit: string;
}

/** An amount of anything that moves; where a token's decimals are not known, it says that it counts smallest units. */
export const amountForPeople = (names: Names, unit: Unit, amount: bigint, rounding: Rounding): Amount => {
  const { token, tokenId } = unit;
  if (token === null) {
    const text = nativeForPeople(amount, rounding, names);
    const at = text.lastIndexOf(" ");
    return { amount: text.slice(0, at), unit: text.slice(at + 1) };
  }
  const name = tokenForPeople(names, token);
  if (tokenId !== null) return { amount: shown(amount, 0, rounding, names.exact), unit: `${name} ${idText(tokenId)}` };
  const decimals = decimalsOf(names, token);
  if (decimals === null)
    return { amount: shown(amount, 0, rounding, names.exact), unit: `smallest units of ${name} (decimals not known)` };
  return { amount: shown(amount, decimals, rounding, names.exact), unit: name };
};

/** {@link amountForPeople} in one string; of a single NFT its name alone. */
export const amountInSentence = (names: Names, unit: Unit, amount: bigint, rounding: Rounding): string => {
  const { amount: text, unit: of } = amountForPeople(names, unit, amount, rounding);
  if (unit.tokenId === null) return `${text} ${of}`;
  return amount === 1n ? of : `${text} × ${of}`;
};
