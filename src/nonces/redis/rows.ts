/** Reads the answers of Redis and the script in it: a store is outside, so nothing is taken on trust. */
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { Hash, Hex } from "../../primitives/index.js";
import { NonceStoreError } from "../../errors/index.js";
import { refuse } from "../guard.js";
import type { Slot } from "../laneRules.js";
import { boundFields, slotFields } from "../rows.js";
import type { Snapshot } from "../store.js";

/** A client's failure, in words. */
export const wordsOf = (cause: unknown): string => {
  const inner = typeof cause === "object" && cause !== null && "cause" in cause ? cause.cause : null;
  const text = cause instanceof Error ? cause.message : String(cause);
  return (inner instanceof Error ? `${text} ${inner.message}` : text).slice(0, 512);
};

/** Words after which nothing gets better by itself. */
const hopeless = /\b(?:WRONGTYPE|NOAUTH|NOPERM|WRONGPASS|CROSSSLOT|unknown command|ERR (?!max number))/;
export const isHopeless = (cause: unknown): boolean => hopeless.test(wordsOf(cause));

export const storeError =
  (operation: string) =>
  ({ cause }: { readonly cause: unknown }): NonceStoreError =>
    new NonceStoreError({ operation, detail: wordsOf(cause), isRetryable: !isHopeless(cause) });

/** Redis answers integers as numbers and text as strings or, with some clients, buffers. */
export const textOf = (value: unknown): string | null =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "bigint"
      ? String(value)
      : value instanceof Uint8Array
        ? new TextDecoder().decode(value)
        : null;

export const textsOf = (value: unknown): ReadonlyArray<string> | null => {
  if (!Array.isArray(value)) return null;
  const texts = value.map(textOf);
  return texts.every((text) => text !== null) ? texts : null;
};

const states: Readonly<Record<string, Slot["state"]>> = { f: "free", r: "reserved", c: "committed", s: "settled" };
/** A free slot is written as its state alone. */
const free = "f||1|0|0|0|0||";
const readBounds = Schema.decodeUnknownOption(Schema.Struct(boundFields));
const readSlot = Schema.decodeUnknownOption(Schema.Struct(slotFields));

/** One slot, without its bytes; null when it is damaged. */
const slotOf = (nonce: string, text: string): Snapshot["slots"][number] | null => {
  const parts = (text === "f" ? free : text).split("|");
  const [letter = "", token, width, until, since, offeredAt, shared, outcome, hashes = ""] = parts;
  const state = Object.hasOwn(states, letter) ? states[letter] : null;
  const slot = Option.getOrNull(readSlot({ nonce, state, token, width, until, since, offeredAt, outcome }));
  const list = hashes === "" ? [] : hashes.split(",");
  if (slot === null || parts.length !== 9 || !list.every((hash) => /^0x[0-9a-f]{64}$/.test(hash))) return null;
  return { ...slot, shared: shared === "1", attempts: list.map((hash) => ({ hash: hash as Hash, raw: null })) };
};

const rawOf = (text = ""): Hex | null => (/^0x(?:[0-9a-f]{2})+$/.test(text) ? (text as Hex) : null);

/** The answer of `read`: `now, floor, next, tail`, then per nonce its slot and one entry per transaction. */
export const snapshotOf = (operation: string, value: unknown): Result.Result<Snapshot, NonceStoreError> => {
  const texts = textsOf(value);
  const fail = (what: string) => Result.fail(refuse(operation, what));
  if (texts === null) return fail("the answer is no list");
  const [now, floor, next, tail] = texts;
  const bounds = Option.getOrNull(readBounds({ now, floor, next, tail }));
  if (bounds === null) return fail("the lane's bounds are no numbers");
  const slots: Array<Snapshot["slots"][number]> = [];
  for (let at = 4; at < texts.length;) {
    const slot = slotOf(texts[at] ?? "", texts[at + 1] ?? "");
    if (slot === null) return fail(`nonce ${texts[at]?.slice(0, 24)} is damaged`);
    const first = at + 2;
    const attempts = slot.attempts.map(({ hash }, index) => ({ hash, raw: rawOf(texts[first + index]) }));
    slots.push({ ...slot, attempts });
    at = first + attempts.length;
  }
  return Result.succeed({ ...bounds, slots });
};

const boundNames = new Set(["floor", "next", "tail", "doubt", "doubtAt", "commits", "format"]);

/** A whole lane from its fields, and what of it cannot be read. */
export const laneFromFields = (now: string | null, fields: ReadonlyArray<string>) => {
  const values = new Map<string, string>();
  for (let at = 0; at + 1 < fields.length; at += 2) values.set(fields[at] ?? "", fields[at + 1] ?? "");
  const [floor, next, tail] = ["floor", "next", "tail"].map((name) => values.get(name));
  const bounds = Option.getOrNull(readBounds({ now, floor, next, tail }));
  if (bounds === null) return { snapshot: null, unreadable: ["the lane has no bounds"] };
  const unreadable: Array<string> = [];
  const slots: Array<Snapshot["slots"][number]> = [];
  const raws = new Set<string>();
  for (const [name, text] of values) {
    if (boundNames.has(name)) continue;
    if (/^r\d+\.\d+$/.test(name)) {
      raws.add(name);
      continue;
    }
    const slot = slotOf(name, text);
    if (slot === null) unreadable.push(`field ${name.slice(0, 24)} is damaged`);
    else slots.push(slot);
  }
  slots.sort((a, b) => (a.nonce < b.nonce ? -1 : 1));
  for (const { nonce, attempts } of slots) attempts.forEach((_, index) => raws.delete(`r${nonce}.${index + 1}`));
  for (const stray of raws) unreadable.push(`field ${stray.slice(0, 24)} belongs to no transaction`);
  return { snapshot: { ...bounds, slots }, unreadable };
};
