/** Rows of the two tables, as the model has them. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { NonceStoreError } from "../../errors/nonces.js";
import { Hash, Hex } from "../../primitives/hex.js";
import type { Head } from "../backend.js";
import type { SlotAt } from "../check.js";
import { refuse } from "../distrust.js";

const Whole = Schema.String.check(Schema.isPattern(/^(?:0|[1-9]\d{0,18})$/));

const ClockRow = Schema.Struct({ now: Whole });

/** A lane with the server's clock. Numbers come as text, whatever the driver makes of an int8. */
const LaneRow = Schema.Struct({
  now: Whole,
  floor: Whole,
  next: Whole,
  tail: Whole,
  doubt: Whole,
  doubt_at: Whole,
  commits: Whole,
  format: Whole,
  version: Schema.String.check(Schema.isMinLength(1)),
});

const SlotRow = Schema.Struct({
  nonce: Whole,
  state: Schema.Literals(["free", "reserved", "committed", "settled"]),
  token: Schema.String,
  width: Schema.Literals(["0", "1", "2"]),
  until: Whole,
  since: Whole,
  offered_at: Whole,
  shared: Schema.Literals(["true", "false"]),
  outcome: Schema.String,
  attempts: Schema.String,
});

const Attempts = Schema.fromJsonString(Schema.Array(Schema.Struct({ hash: Hash, raw: Schema.NullOr(Hex) })));

const readLane = Schema.decodeUnknownResult(LaneRow);
const readSlot = Schema.decodeUnknownResult(SlotRow);
const readAttempts = Schema.decodeUnknownResult(Attempts);

const damaged = (operation: string, what: string) => refuse(operation, `${what} is damaged`);

const readClock = Schema.decodeUnknownResult(ClockRow);

/** The server's clock, epoch ms. */
export const clockOfRow = (operation: string, row: unknown): Result.Result<number, NonceStoreError> =>
  Result.mapBoth(readClock(row), {
    onFailure: () => damaged(operation, "the server's clock"),
    onSuccess: ({ now }) => Number(now),
  });

export const laneOfRow = (
  operation: string,
  row: unknown,
): Result.Result<Head & { readonly now: number; readonly format: number }, NonceStoreError> =>
  Result.mapBoth(readLane(row), {
    onFailure: () => damaged(operation, "a lane's row"),
    onSuccess: ({ now, floor, next, tail, doubt, doubt_at, commits, format, version }) => ({
      now: Number(now),
      version,
      commits: Number(commits),
      floor: BigInt(floor),
      next: BigInt(next),
      tail: BigInt(tail),
      doubt: BigInt(doubt),
      doubtAt: Number(doubt_at),
      format: Number(format),
    }),
  });

const widths = { "0": 0, "1": 1, "2": 2 } as const;

const slotOfRow = (operation: string, row: unknown): Result.Result<SlotAt, NonceStoreError> =>
  Result.mapError(
    Result.flatMap(readSlot(row), (slot) =>
      Result.map(readAttempts(slot.attempts), (attempts): SlotAt => ({
        nonce: BigInt(slot.nonce),
        state: slot.state,
        token: slot.token,
        width: widths[slot.width],
        until: Number(slot.until),
        since: Number(slot.since),
        offeredAt: Number(slot.offered_at),
        shared: slot.shared === "true",
        outcome: slot.outcome,
        attempts,
      })),
    ),
    () => damaged(operation, "a nonce's row"),
  );

/** The nonces of a lane's rows, ascending, each once. */
export const slotsOfRows = (
  operation: string,
  rows: ReadonlyArray<object>,
): Result.Result<ReadonlyArray<SlotAt>, NonceStoreError> => {
  const slots = new Map<bigint, SlotAt>();
  for (const row of rows) {
    if (!("nonce" in row) || row.nonce === null) continue;
    const slot = slotOfRow(operation, row);
    if (slot._tag === "Failure") return Result.fail(slot.failure);
    slots.set(slot.success.nonce, slot.success);
  }
  return Result.succeed([...slots.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1)));
};
