/** What is told of a watched report. */
import type { Head } from "../Eth.js";
import type { Difference } from "../report/diff.js";
import type { Blocker } from "../report/ready.js";
import type { Report } from "../report/schema.js";

/** The clearance holds at this head: the same requests do the same, and `Report.ready` clears them. */
export interface Fresh {
  readonly _tag: "Fresh";
  /** The head that it was judged by. */
  readonly head: Head;
  /** What to sign by; dated at this head (`observed.at`), so that its clearance lasts from here. */
  readonly report: Report;
  /** `reading`: nothing that the outcome hangs on has changed since its proof. `proof`: it was proven again. */
  readonly by: "reading" | "proof";
}

/** The requests still may be signed, but not on what was said before. */
export interface Moved {
  readonly _tag: "Moved";
  /** The head that it was judged by. */
  readonly head: Head;
  /** What the new proof says otherwise, but for prices of the moment. */
  readonly diff: ReadonlyArray<Difference>;
  /** Proven at this head; what comes next is compared with it. */
  readonly report: Report;
}

/** There is no clearance now. Every head after it is proven, so that `Fresh` or `Moved` may follow. */
export interface Lost {
  readonly _tag: "Lost";
  /** null = the clearance expired before one was judged. */
  readonly head: Head | null;
  /** As `Report.ready` fails, or `FeeCapTooLow` by the head alone. */
  readonly reason: Blocker;
  /** The latest that was proven. */
  readonly report: Report;
}

/** What a head means for a watched report. */
export type Watched = Fresh | Moved | Lost;
