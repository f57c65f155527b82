/** State of a proof between its rounds: its claim, the answers, what they leave open; and what its runs say. */
import type * as Eth from "../eth/index.js";
import type { StateDiff } from "../eth/call.js";
import type { RpcError } from "../errors/rpc.js";
import type { Address } from "../primitives/hex.js";
import type { AskRule } from "../primitives/names.js";
import type { Finding } from "../report/finding.js";
import type { Observed } from "../report/schema.js";
import type { Memory } from "../rpc/index.js";
import type { Bundle, Filled } from "../steps/reading/bundle.js";
import { failureOf, successOf, type AskResult, type Failure } from "../steps/reading/askResult.js";
import type { Run } from "../steps/simulate.js";
import { figuresOf, type Answers, type Round } from "./answers.js";
import type { Limits } from "./choose.js";
import type { Gas } from "./gas/doubt.js";
import { doubtful, type Claim } from "./proofPlans.js";
import { isSamePlace } from "./worlds/compare.js";
import type { World, Worlds } from "./worlds/contexts.js";
import type { RunEffects } from "./worlds/movements.js";

/** The answers of a proof. */
export interface Proof extends Round {
  /** Changes that the first transactions make on the state of `next`, one after the other, as a tracer tells them. */
  readonly traced: ReadonlyArray<StateDiff>;
  /** The accounts that the bundle reaches, where it is in doubt by which fork's rules; null = not asked, or not told. */
  readonly reached: ReadonlyArray<Address> | null;
  /** The latest header, asked in the round of the runs; null = they stand on a block that the caller named. */
  readonly beside: AskResult<Eth.Block> | null;
}

/** The node's words, where the nonces had to be pretended: its state does not agree with its counts. */
export const assumedIn = ({ runs }: Pick<Proof, "runs">): Failure | null =>
  runs.has("reserved") ? failureOf(runs.get("exact")) : null;

/** Answers of these worlds, of those that were asked. */
export const answersIn = ({ runs }: Proof, worlds: ReadonlyArray<World>): ReadonlyArray<AskResult<Run>> =>
  worlds.flatMap(({ key }) => runs.get(key) ?? []);

/** Something that the answers leave open; a rule asks more for each kind. */
export type Doubt =
  /** The exact run lacks the witness's answers, and nobody asked the witness alone. */
  | { readonly kind: "unread" }
  /** A report from outside was to be proven on a pending state that the endpoint does not have. */
  | { readonly kind: "noPending"; readonly refusal: Failure }
  /** A world was refused for how it was asked; `parts` = what the endpoint is not known to refuse yet. */
  | { readonly kind: "unsupportedPart"; readonly parts: ReadonlyArray<readonly ["hash" | "entries", RpcError]> }
  /** The runs were made on more than one state, or on none; `noRetriesLeft` = as often as may be on one state. */
  | { readonly kind: "headMoved"; readonly noRetriesLeft: boolean }
  /** A world got no answer, or a fork parts a bundle. */
  | { readonly kind: "misplaced" | "forkParts" | "incomparable" }
  /** A run hides what fails inside it. */
  | { readonly kind: "hiddenCall" }
  /** The gas limits may decide what the requests do. */
  | { readonly kind: "gasInDoubt" }
  /** A call inside burns gas, so that smaller limits may do. */
  | { readonly kind: "gasBurnt"; readonly limits: Limits }
  /** The requests run in the next block, and fail in a later one. */
  | { readonly kind: "closes"; readonly bracket: Bracket }
  /** The two ends differ, and further worlds may say why. */
  | { readonly kind: "worldsDiffer" }
  /** The runs may have used what two forks have not in common. */
  | { readonly kind: "forkUsed" }
  /** The caller wants the latest block confirmed behind the runs. */
  | { readonly kind: "unconfirmed" };

/** A doubt of one kind. */
export type DoubtOf<K extends Doubt["kind"]> = Extract<Doubt, { readonly kind: K }>;

/** How much of the time in which a clearance may be mined is proven: all of it, or what is left where the requests fail further out. */
export type Bracket =
  | { readonly kind: "whole" }
  | {
      readonly kind: "rest";
      /** How many steps behind the next block they are proven now. */
      readonly reach: number;
      /** True if a world that far out was seen to run already. */
      readonly isSeen: boolean;
      /** Time of the block in which they failed, epoch seconds; null = not known. */
      readonly failed: bigint | null;
      /** The draw of that block: the nearer one is the same but for its number and time. */
      readonly draw: Worlds["draw"];
    };

/** State of a proof between its rounds. */
export interface ProofState {
  readonly claim: Claim;
  readonly proof: Proof;
  readonly answers: Answers;
  readonly bundle: Bundle<Filled>;
  /** The rule by which it was asked. */
  readonly because: AskRule;
  /** Reads what a run of it did; the calls inside, which may be traced later, are no part of that. */
  readonly effectsIn: (run: Run) => RunEffects;
  /** Doubts that its answers raise beside those that its runs show, and that no rule has settled. */
  readonly open: ReadonlyArray<Doubt>;
  /** Results of the runs at other limits. */
  readonly gas: Gas;
  /** True if the runs may have used what two forks have not in common. */
  readonly isForkUsed: boolean;
  /** The highest mined block that any answer named by then; −1 = none did. */
  readonly sealed: bigint;
  /** The head that the attempt stands on. */
  readonly head: Claim["header"];
  /** The one on the state that was asked for, which did not hold still, where a sealed block stands in. */
  readonly pending: ReadonlyArray<ProofState>;
  /** The counts on the sealed state before the attempt, as far as they are known. */
  readonly counts: ReadonlyMap<string, number | null>;
  /** Latest headers that were asked behind the runs. */
  readonly shown: ReadonlyArray<AskResult<Eth.Block>>;
  /** How often the ground has moved on this state. */
  readonly moves: number;
  readonly findings: ReadonlyArray<Finding>;
  readonly bracket: Bracket;
  /** Every run of earlier attempts: one that did not stand was answered by somebody, too. */
  readonly ran: ReadonlyArray<Run | null>;
  readonly memory: Memory;
}

/** The part of a state that the next attempt of its proof begins with. */
export type KeptState = Pick<
  ProofState,
  "head" | "pending" | "counts" | "shown" | "moves" | "findings" | "bracket" | "ran" | "memory"
>;

/** A state of which nothing was asked yet. */
export const firstState = (memory: Memory, head: Claim["header"]): KeptState => ({
  ...{ memory, head, counts: new Map(), moves: 0, bracket: { kind: "whole" } },
  ...{ pending: [], shown: [], findings: [], ran: [] },
});

/** True if runs on this state have to stand on the latest block. */
export const isOnHead = (block: Observed["blockTag"]): boolean => block === "pending" || block === "latest";

/** True if the same round measured the balances that signers are taken to have, wherever a run pretends them. */
export const isTrueToState = (claim: Claim, proof: Proof): boolean => {
  const measured = successOf(proof.runs.get("readerOnly"))?.before;
  const isPretended = [figuresOf(proof), proof.runs.get("next")].some(
    (result) => successOf(result)?.plan.pretended === true,
  );
  return (
    !isPretended ||
    doubtful(claim).every(({ signer }) => {
      const [balance, has] = [claim.balanceOf(signer), measured?.account(signer)?.balance ?? null];
      return balance === null || has === null || balance === has;
    })
  );
};

/** True if both worlds answered, and on the state as it is. */
export const isComparable = (claim: Claim, proof: Proof): boolean =>
  successOf(figuresOf(proof)) === null || (successOf(proof.runs.get("next")) !== null && isTrueToState(claim, proof));

/** The run with free and ample gas, where it stood on the block of the exact one. */
export const ampleOf = (proof: Proof): Run | null => {
  const [exact, free] = [successOf(figuresOf(proof)), successOf(proof.runs.get("ample"))];
  return exact !== null && free !== null && isSamePlace(exact, free) ? free : null;
};
