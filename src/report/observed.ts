/** The state, the blocks and the rules that a report's figures are from. */
import * as Schema from "effect/Schema";
import { BlockRead, Fork, RunName, SimulationPart } from "../primitives/names.js";
import { Address, amount, Hash, later } from "../primitives/hex.js";
import { AccessListEntry } from "../transaction/fields.js";
import { BlockName } from "./options.js";

/** One block context in which the exact requests ran. */
const World = Schema.Struct({
  /** The run that simulated it. */
  run: RunName,
  /** The block or tag whose state it stood on. */
  state: BlockName,
  /** The number of the simulated block. */
  number: amount,
  /** Epoch seconds. */
  timestamp: amount,
  /** The producer of the simulated block. */
  feeRecipient: Schema.NullOr(Address),
  /** The gas limit of the simulated block, gas. */
  gasLimit: amount,
  /** The base fee, wei per gas, of a block that is as the next one (`twin`); absent = it is another block. */
  baseFeePerGas: Schema.optionalKey(amount),
  /** True if it did the same as the world that the report's figures are from; null = could not be compared. */
  agrees: Schema.NullOr(Schema.Boolean),
});

/** The rules that one transaction is bound by, and who says so. */
const Rules = Schema.Struct({
  /** null = not known. */
  fork: Schema.NullOr(Fork),
  /**
   * `executed`: by opcodes that the witness tried in the simulated block. `header`: by the fields of that block.
   * `config`: by `eth_config`. `table`: by the table of chains, where nothing else told.
   */
  by: Schema.Literals(["executed", "header", "config", "table"]),
  /** True if nothing spoke against it. */
  agrees: Schema.Boolean,
  /** Most gas one transaction may ask for; null = only the block limits it. */
  txGasCap: amount,
  /** Bytes. */
  maxInitCodeSize: Schema.Finite,
  /** When the next fork activates, epoch seconds, by `eth_config`; null = not known, or none is planned. */
  nextFork: amount,
});

/** The state that everything was read from. */
export const Observed = Schema.Struct({
  /** The requested block. */
  blockTag: BlockName,
  /** The block whose state was the base. */
  baseNumber: amount,
  /** The block that was simulated on top. */
  simulatedNumber: amount,
  /** The hash of the simulated block's parent. */
  parentHash: Schema.NullOr(Hash),
  /** Epoch seconds of the simulated block. */
  timestamp: amount,
  /** The base fee of the simulated block, wei per gas. */
  baseFeePerGas: amount,
  /** The gas limit of the simulated block, gas. */
  gasLimit: amount,
  /** `latest` as the node answered it beside. */
  latestNumber: amount,
  /** Fee recipient of the latest block; null = not known. */
  feeRecipient: Schema.NullOr(Address),
  /** Epoch ms when the answers were in. */
  at: Schema.Finite,
  /**
   * `stale`: another answer named a newer block, or the head is too old for its chain. `unknown`: not known, or a state
   * other than the newest was requested. A chain that mines on demand (1337, 31337) is judged by number alone.
   */
  freshness: Schema.Literals(["fresh", "stale", "unknown"]),
  /** How the outcome was learned: `simulate` = `eth_simulateV1`; `call` = `eth_call` and `eth_estimateGas`; `none`. */
  tier: Schema.Literals(["simulate", "call", "none"]),
  /**
   * Parts of `eth_simulateV1` that the node refused or ignored in the run that the figures are from; empty where it
   * took everything.
   */
  leftOut: Schema.Array(SimulationPart),
  /** The rules in force, and how they are known. */
  rules: Rules,
  /**
   * The answer of `eth_chainId`, at most ten minutes old on the same connection. The chain id inside the simulation may
   * differ.
   */
  namedChainId: Schema.NullOr(Schema.Int),
  /** Worlds in which the exact requests ran; empty until they were proven. */
  worlds: Schema.Array(World),
  /**
   * Values of the block that the called code reads, by its instructions: what is not named was not seen, which is no
   * proof
   * that it is not read. Empty where no code runs, or none was looked at.
   */
  reads: later(Schema.Array(BlockRead), []),
  /**
   * Number of transactions, from the first, of which a tracer showed every changed slot. Of the others only slots that
   * are known to control accounts were read, and those that `named` has.
   */
  traced: later(Schema.Int, 0),
  /**
   * Slots of contracts that the scan's `eth_createAccessList` named for the first transaction of each sender; a proof reads
   * them on both sides of the transactions, at most 16 of 16 contracts. Empty where a tracer is known to tell more.
   */
  named: later(Schema.Array(AccessListEntry), []),
  /**
   * Epoch ms until which a clearance may hold: where the transactions fail in a later block (`ClosesAt`), or where blocks
   * come faster than they can be simulated, the code may tell them apart, and `maxAge` is the default
   * (`BlocksNotSimulated`); null = `maxAge` alone bounds it.
   */
  until: later(Schema.NullOr(Schema.Finite), null),
});
export interface Observed extends Schema.Schema.Type<typeof Observed> {}
