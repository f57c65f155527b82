/** Rows of the two tables, as the model has them. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { NonceStoreError } from "../../errors/nonces.js";
import { Hash, Hex } from "../../primitives/hex.js";
import type { SlotAt } from "../check.js";

const Whole = Schema.String.check(Schema.isPattern(/^(?:0|[1-9]\d{0,18})$/));

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

export interface LaneBounds {
  readonly now: number;
  readonly floor: bigint;
  readonly next: bigint;
  readonly tail: bigint;
  readonly doubt: bigint;
  readonly doubtAt: number;
  readonly commits: number;
  readonly format: number;
}

const damaged = (operation: string, what: string) =>
  new NonceStoreError({ operation, detail: `${what} is damaged`, isRetryable: false });

export const laneOfRow = (operation: string, row: unknown): Result.Result<LaneBounds, NonceStoreError> =>
  Result.mapBoth(readLane(row), {
    onFailure: () => damaged(operation, "a lane's row"),
    onSuccess: ({ now, floor, next, tail, doubt, doubt_at, commits, format }) => ({
      now: Number(now),
      floor: BigInt(floor),
      next: BigInt(next),
      tail: BigInt(tail),
      doubt: BigInt(doubt),
      doubtAt: Number(doubt_at),
      commits: Number(commits),
      format: Number(format),
    }),
  });

const widths = { "0": 0, "1": 1, "2": 2 } as const;

export const slotOfRow = (operation: string, row: unknown): Result.Result<SlotAt, NonceStoreError> =>
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

export const slotsOfRows = (
  operation: string,
  rows: ReadonlyArray<unknown>,
): Result.Result<ReadonlyArray<SlotAt>, NonceStoreError> => {
  const slots: Array<SlotAt> = [];
  for (const row of rows) {
    const slot = slotOfRow(operation, row);
    if (slot._tag === "Failure") return Result.fail(slot.failure);
    slots.push(slot.success);
  }
  return Result.succeed(slots);
};
