/**
 * Comparisons of what was said with what happened, as plain data. Amounts are wei, gas is gas, prices are wei per gas.
 */
import type { Log, Receipt } from "../eth/index.js";
import type { Difference, Address, Hash, Hex } from "../primitives/index.js";
import type { Report } from "../report/index.js";

/**
 * Why what was said is not what happened, the gravest first. `tampered`: what was mined is not the request that was
 * proven. `replaced`: another transaction of the sender took the nonce. `simulatorWrong`: the same question about the
 * same state gets another answer than the chain gave. `unknown`: it differs, and nobody could be asked why; or the
 * report or the receipt does not say all of the outcome.
 * `ordering`: others' transactions came first, in its block or since the report. `contextDependent`: the outcome
 * depends on the block's own values, such as its time. `priceMoved`: amounts moved, and nothing else; or the fees of
 * layer 1 did. `unfulfilled`: it happened as the report said, which is that a call returns `false` and nothing that it asks
 * for happens. `same`: nothing differs.
 */
export const settlementClasses = [
  "tampered",
  "replaced",
  "simulatorWrong",
  "unknown",
  "ordering",
  "contextDependent",
  "priceMoved",
  "unfulfilled",
  "same",
] as const;
/** The gravest of them; `same` where there is none. */
export const gravest = (classes: ReadonlyArray<Settled["class"]>): Settled["class"] =>
  settlementClasses.find((one) => classes.includes(one)) ?? "same";

/** Facts said beside what happened: how much of it was the same, what was not, and of what nothing could be said. */
export interface Comparison {
  /** Facts that were compared. */
  readonly compared: number;
  /**
   * The facts that were said (`a`), and are otherwise (`b`); what each amounts to, and how that is known: `measured` by a
   * replay, `logged` by receipt and block, `unavailable` where it is `unknown`.
   */
  readonly differences: ReadonlyArray<
    Difference & {
      readonly class: Exclude<Settled["class"], "same">;
      readonly evidence: "measured" | "logged" | "unavailable";
    }
  >;
  /** Facts that were said and could not be compared. */
  readonly uncompared: ReadonlyArray<Omit<Difference, "a" | "b">>;
}

/** A transaction that was sent, as `deliver` and `Nonces.deliver` give it. */
export interface SentTransaction {
  /** Its hash. */
  readonly hash: Hash;
  /** The receipt that came with the sending, which is then not asked for; any other object is not looked at. */
  readonly receipt?: Receipt | null | undefined;
}

/** A transaction that was mined. */
export interface MinedSettlement extends Comparison {
  /** It is in a block. */
  readonly state: "mined";
  /** Its place in the report, from 0. */
  readonly transaction: number;
  /** The hash of the transaction that was mined. */
  readonly hash: Hash;
  /** The hash that was asked about, where no block has it: the transaction `hash` has its sender and nonce. Else absent. */
  readonly sent?: Hash;
  /** The number of the block. */
  readonly blockNumber: bigint;
  /** The block's hash, 32 bytes. */
  readonly blockHash: Hash;
  /** The class that it amounts to. */
  readonly class: Settled["class"];
  /** Its success or failure. */
  readonly status: "success" | "failure" | null;
  /** Gas that it used, refunds taken off. */
  readonly gasUsed: bigint;
  /** The price paid for gas, wei per gas. */
  readonly effectiveGasPrice: bigint | null;
  /** The cost beside the value: gas, blob gas, layer 1, operator; null where the receipt does not say the price. */
  readonly cost: bigint | null;
  /** The cost of publishing on L1, wei; null where nothing is charged or known. */
  readonly l1Fee: bigint | null;
  /** The operator's charge, wei; null where nothing is charged or known. */
  readonly operatorFee: bigint | null;
  /** The contract that it created. */
  readonly created: Address | null;
  /** Its lesson for future ones, as plain numbers. */
  readonly sample: {
    /** The chain; null where the report does not know it. */
    readonly chainId: number;
    /** The first four bytes of the calldata; null for transfers and deployments. */
    readonly selector: Hex | null;
    /** The class that it amounts to. */
    readonly class: Settled["class"];
    /** True if it succeeded where failure was said, or the other way round. */
    readonly isFlip: boolean;
    /** Gas used ÷ gas limit. */
    readonly gasRatio: number;
    /** Gas used ÷ gas said; null where none was said. */
    readonly gasOfSaid: number | null;
    /** Blocks from the newest that the report knew to the one that holds the transaction; null = not known. */
    readonly ageBlocks: number | null;
    /** Price paid ÷ the most that was allowed. */
    readonly priceRatio: number | null;
  };
}

/** A report against the chain. */
export interface Settled {
  /** The gravest of all. */
  readonly class: (typeof settlementClasses)[number];
  /**
   * The fate of each transaction of the report, in its order. Not mined: `pending` in the pool; `dropped`: the node does
   * not know it, and its nonce is free; `replaced` by another, found in a block, whose receipt the node has not;
   * `unknown`: its nonce is used, and by which transaction was not found: it may be mined, and the node behind; or its
   * receipt and its block are not of one another.
   */
  readonly transactions: ReadonlyArray<
    | MinedSettlement
    | (Pick<MinedSettlement, "transaction" | "hash"> & {
        readonly state: "pending" | "dropped" | "replaced" | "unknown";
        readonly class: "unknown" | "replaced";
      })
  >;
  /**
   * The fate of each user operation or Safe's transaction of the report, in its order, by the event of its EntryPoint or its Safe;
   * absent where the report has transactions. `unknown`: what was mined says nothing of it. `success` is false where its calls failed
   * though the transaction did not; `cost` is what a user operation was charged, in wei.
   */
  readonly signings?: ReadonlyArray<{
    readonly signing: number;
    readonly hash: Hash;
    readonly state: "mined" | "pending" | "dropped" | "unknown";
    readonly success: boolean | null;
    readonly cost: bigint | null;
    readonly class: "same" | "unfulfilled" | "unknown";
  }>;
  /** Balances measured over the whole bundle; all are `uncompared` where `balancesUntold` says why. */
  readonly balances: Comparison;
  /**
   * Why no balance was compared; null where they were. Changes are said of the whole bundle, so that one block has to
   * hold it all (`severalBlocks` do), with every transaction mined (else `notAllMined`) as it was proven (else
   * `otherRequest`); what accounts' inputs do is mined among others' (`ofAccounts`). What each transaction did is compared in either case.
   */
  readonly balancesUntold: "severalBlocks" | "notAllMined" | "otherRequest" | "ofAccounts" | null;
  /** The requests that it took. */
  readonly ledger: Report["ledger"];
}

/** The fate of one transaction. */
export type Settlement = Settled["transactions"][number];

/** The outcome of a transaction in one run, or on the chain. */
export interface MinedOutcome {
  /** Its success or failure. */
  readonly status: "success" | "failure";
  /** Gas that it used, refunds taken off. */
  readonly gasUsed: bigint;
  /** The events that it emitted, in order. */
  readonly logs: ReadonlyArray<Pick<Log, "address" | "topics" | "data">>;
}

/** Facts known beside receipt and block. */
export interface Hindsight {
  /** The place in the report; by sender and nonce where it is left out. */
  readonly transaction?: number;
  /** The hash that was sent, where it is not what was mined. */
  readonly sent?: Hash;
  /** The transaction simulated again, with the values of its own block; absent or null where no node answered. */
  readonly replay?: {
    /** On the parent block, behind the transactions before it. */
    readonly behind: MinedOutcome | null;
    /** On the parent block, behind those of its own bundle alone. */
    readonly alone: MinedOutcome | null;
    /** Simulated on the report's base block, after the earlier transactions of its bundle. */
    readonly earlier: MinedOutcome | null;
    /** As `earlier`, behind blocks of other hashes; null where there are none between. */
    readonly rehashed: MinedOutcome | null;
    /** As `earlier`, in the values of another block. */
    readonly elsewhere: MinedOutcome | null;
  } | null;
  /** Amounts that accounts held before and after the block; raw units, wei where `token` is null. */
  readonly held?: ReadonlyArray<{
    readonly account: Address;
    readonly token: Address | null;
    readonly before: bigint;
    readonly after: bigint;
  }>;
}

export type { Receipt };
