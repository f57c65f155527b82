/** One run to ask for: what is simulated, in which block, on which state, and what is read beside it. */
import type * as Eth from "../../eth/index.js";
import type { Address } from "../../primitives/hex.js";
import type { SimulationPart } from "../../primitives/names.js";
import type { Observed, RunName } from "../../report/schema.js";
import type { Transaction } from "../../Transaction.js";
import type { Query } from "../../witness/queries.js";
import type { secondReadings } from "./secondReading.js";

/** How far apart the transactions of a bundle are mined. */
export interface Spacing {
  /** From each one's block to that of the one after it. */
  readonly blocks: number;
  /** From one block to the next. */
  readonly seconds: bigint;
}

/** One run to ask for. */
export interface Plan {
  readonly name: RunName;
  /** The user's calls, in order, each with the gas limit that it runs with; empty for `readerOnly`. */
  readonly calls: ReadonlyArray<{
    readonly input: Transaction;
    readonly request: Eth.CallRequest;
    readonly gas: bigint;
    /** The least that it must have, where a success with less than `gas` says enough; absent = all of it. */
    readonly least?: bigint;
  }>;
  /** Queries of the witness before them; it does not run when there is nothing to read. */
  readonly before: ReadonlyArray<Query>;
  /** Queries of the witness after them. */
  readonly after: ReadonlyArray<Query>;
  /** Queries right in front of a call behind the first, by the call's place; absent = nothing. */
  readonly between?: (place: number) => ReadonlyArray<Query>;
  /** Most gas for one call of the witness; absent = what its queries may take at most. */
  readonly room?: bigint;
  readonly block: Eth.BlockParameter;
  readonly stateOverrides: Eth.StateOverrides | null;
  readonly blockOverrides: Eth.BlockOverrides | null;
  /** The empty blocks in front; absent = none. */
  readonly ahead?: ReadonlyArray<Eth.BlockOverrides>;
  /** How far apart the calls have blocks of their own, as whoever produces blocks may place them; null or absent = all are in one. */
  readonly apart?: Spacing | null;
  /** True if the state is partly pretended, so that what is seen in it is `assumed`. */
  readonly pretended: boolean;
  /** Parts that the endpoint does not take, and the request goes without; none when absent. */
  readonly without?: ReadonlySet<SimulationPart | "baseFeePerGas">;
  /** True if the root of the beacon block is read back, for code may read it; absent = no. */
  readonly checksRoot?: boolean;
  /** Balances that accounts read themselves behind the witness, which a token may know; none when absent. */
  readonly second?: ReturnType<typeof secondReadings>;
  /** Contracts whose proxy slots are read behind the block, by an entry of its own; none when absent. */
  readonly lens?: ReadonlyArray<Address>;
  /** Slots that are read beside them, of any contracts; none when absent. */
  readonly named?: Observed["named"];
  /** True if transactions are asked in full, which shows the gas each ran with; absent = where limits are large. */
  readonly full?: boolean;
  /** How far apart the calls are where one block has no room for them; null or absent = they are asked in no others. */
  readonly spread?: Spacing | null;
}
