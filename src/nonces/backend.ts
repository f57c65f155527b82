/** What a store outside this process has to be able to do, so that lanes can be kept there. */
import type { Hex } from "../primitives/hex.js";
import type { Snapshot, SlotAt } from "./check.js";
import type { LaneId } from "./lane.js";
import type { Slot } from "./laneRules.js";
import type { Wanted } from "./makeStore.js";
import type { Result, Store } from "./store.js";

/** Where bytes are kept that were not read. */
export const unread: Hex = "0x";

/** How far the clock that a change was decided on may be from the store's own, ms. */
export const clockSlackMs = 1_000;

/** The bounds of a lane, and what tells its states apart. */
export interface Head {
  /** Made by who wrote last, never the same twice: a store that went back in time cannot have it again. */
  readonly version: string;
  readonly commits: number;
  readonly floor: bigint;
  readonly next: bigint;
  readonly tail: bigint;
  readonly doubt: bigint;
  readonly doubtAt: number;
}

/** A lane as it was at one moment, epoch ms on the store's clock; null = unknown. */
export interface Found {
  readonly now: number;
  readonly lane: { readonly head: Head; readonly slots: ReadonlyArray<SlotAt> } | null;
}

/** What is to be written at once, or not at all. */
export interface Change {
  /** Of the lane that it was decided on; null = there must be none. */
  readonly before: Head | null;
  readonly after: Head;
  /** The clock that it was decided on, epoch ms: refused when it is further than {@link clockSlackMs} from the store's. */
  readonly now: number;
  /** Nonces with what they were and what they become; null = nothing. A transaction whose bytes are {@link unread} keeps them. */
  readonly writes: ReadonlyArray<{ readonly nonce: bigint; readonly from: Slot | null; readonly to: Slot | null }>;
}

export type Outcome =
  | { readonly _tag: "Written"; readonly now: number }
  /** The lane had another version, or the clock was too far off. `found`: the lane as it is, where the store said so. */
  | { readonly _tag: "Conflict"; readonly found: Found | null };

/** Lanes in a store outside this process. All on the store's clock. */
export interface LaneBackend {
  readonly kind: string;
  readonly read: (operation: string, lane: LaneId, wanted: Wanted) => Result<Found>;
  /** Writes, so that nothing loses it, where the lane still has the version it was decided on. A lost reply is harmless: what is asked again finds another version. */
  readonly compareAndSet: (operation: string, lane: LaneId, change: Change, wanted: Wanted) => Result<Outcome>;
  /** All of a lane, and what of it cannot be read, in words. */
  readonly readAll: (lane: LaneId) => Result<{
    readonly snapshot: Snapshot | null;
    readonly unreadable: ReadonlyArray<string>;
  }>;
  /** Removes the lane and its mark; false when there was no lane. */
  readonly forget: (lane: LaneId) => Result<boolean>;
  readonly mark: Store["mark"];
  readonly setMark: Store["setMark"];
  readonly lanes: Result<ReadonlyArray<string>>;
}
