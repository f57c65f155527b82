/** ANSI colours, where they are wanted. */
import type { Tone } from "./document.js";

const codes: Readonly<Record<Tone | "strong", string>> = {
  plain: "",
  good: "32",
  warn: "33",
  bad: "31",
  dim: "2",
  strong: "1",
};

/** Colours a text, or leaves it as it is. */
export type Paint = (text: string, ...tones: ReadonlyArray<Tone | "strong">) => string;

/** A {@link Paint} that colours only when `color` is true. */
export const painter =
  (color: boolean): Paint =>
  (text, ...tones) => {
    const wanted = tones.map((tone) => codes[tone]).filter((code) => code !== "");
    return color && wanted.length > 0 && text !== "" ? `\u001b[${wanted.join(";")}m${text}\u001b[0m` : text;
  };
