/** Reading what the script answers: a store is outside, so nothing is taken on trust. */
import * as Result from "effect/Result";
import type { Hash, Hex } from "../../primitives/hex.js";
import type { NonceStoreError } from "../../errors/nonces.js";
import type { Snapshot, SlotAt } from "../check.js";
import { refuse } from "../distrust.js";
import { freeSlot, type SlotState } from "../laneRules.js";

const states: Readonly<Record<string, SlotState>> = { f: "free", r: "reserved", c: "committed", s: "settled" };
const whole = /^(?:0|[1-9]\d{0,15})$/;

const widthOf = (text: string | undefined): 0 | 1 | 2 | null =>
  text === "0" ? 0 : text === "1" ? 1 : text === "2" ? 2 : null;

/** One slot, without its bytes; null when it is damaged. */
export const slotOf = (nonce: string, text: string): SlotAt | null => {
  if (!whole.test(nonce)) return null;
  if (text === "f") return { nonce: BigInt(nonce), ...freeSlot };
  const parts = text.split("|");
  const [letter = "", token = "", width, until = "", since = "", offeredAt = "", shared, outcome = "", hashes = ""] =
    parts;
  const state = Object.hasOwn(states, letter) ? states[letter] : undefined;
  const wide = widthOf(width);
  if (parts.length !== 9 || state === undefined || wide === null) return null;
  if (![until, since, offeredAt].every((time) => whole.test(time))) return null;
  const list = hashes === "" ? [] : hashes.split(",");
  if (!list.every((hash) => /^0x[0-9a-f]{64}$/.test(hash))) return null;
  return {
    nonce: BigInt(nonce),
    state,
    token,
    width: wide,
    until: Number(until),
    since: Number(since),
    offeredAt: Number(offeredAt),
    shared: shared === "1",
    outcome,
    attempts: list.map((hash) => ({ hash: hash as Hash, raw: null })),
  };
};

const withRaw = (slot: SlotAt, raws: ReadonlyArray<string>): SlotAt => ({
  ...slot,
  attempts: slot.attempts.map(({ hash }, index) => {
    const raw = raws[index] ?? "";
    return { hash, raw: /^0x(?:[0-9a-f]{2})+$/.test(raw) ? (raw as Hex) : null };
  }),
});

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

/** The answer of `read`: `now, floor, next, tail`, then per nonce its slot and one entry per transaction. */
export const snapshotOf = (operation: string, value: unknown): Result.Result<Snapshot, NonceStoreError> => {
  const texts = textsOf(value);
  const fail = (what: string) => Result.fail(refuse(operation, what));
  if (texts === null) return fail("the answer is no list");
  const [now = "", floor = "", next = "", tail = ""] = texts;
  if (![now, floor, next, tail].every((each) => whole.test(each))) return fail("the lane's bounds are no numbers");
  const slots: Array<SlotAt> = [];
  for (let at = 4; at < texts.length;) {
    const slot = slotOf(texts[at] ?? "", texts[at + 1] ?? "");
    if (slot === null) return fail(`nonce ${texts[at]?.slice(0, 24)} is damaged`);
    const end = at + 2 + slot.attempts.length;
    slots.push(withRaw(slot, texts.slice(at + 2, end)));
    at = end;
  }
  return Result.succeed({ now: Number(now), floor: BigInt(floor), next: BigInt(next), tail: BigInt(tail), slots });
};

const boundNames = new Set(["floor", "next", "tail", "doubt", "doubtAt", "commits", "format"]);

/** A whole lane from its fields, and what of it cannot be read. */
export const laneFromFields = (
  now: string,
  fields: ReadonlyArray<string>,
): { readonly snapshot: Snapshot | null; readonly unreadable: ReadonlyArray<string> } => {
  const values = new Map<string, string>();
  for (let at = 0; at + 1 < fields.length; at += 2) values.set(fields[at] ?? "", fields[at + 1] ?? "");
  const bound = (name: string): bigint | null => {
    const text = values.get(name) ?? "";
    return whole.test(text) ? BigInt(text) : null;
  };
  const [floor, next, tail] = [bound("floor"), bound("next"), bound("tail")];
  if (floor === null || next === null || tail === null)
    return { snapshot: null, unreadable: ["the lane has no bounds"] };
  const unreadable: Array<string> = [];
  const slots: Array<SlotAt> = [];
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
  return { snapshot: { now: Number(now), floor, next, tail, slots }, unreadable };
};
