/** Questions about hex that any text may claim to be, in one pass and without surprises of size. */
import type { Hex } from "./hex.js";

const hexDigits = /^0x[0-9a-fA-F]*$/;

/** The most bytes read from one answer; more is as good as hostile. */
export const maxBytes = 4 * 1024 * 1024;

/** Even-length hex with `0x` of at most {@link maxBytes} bytes. */
export const isBytes = (value: unknown): value is Hex =>
  typeof value === "string" && value.length % 2 === 0 && value.length <= 2 + maxBytes * 2 && hexDigits.test(value);
