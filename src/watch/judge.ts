/** What a head means for a watched report: by its header, else by what the outcome hangs on, else by a proof. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Result from "effect/Result";
import * as Scope from "effect/Scope";
import * as Semaphore from "effect/Semaphore";
import { nextBaseFee, parametersOf } from "../chains/baseFee.js";
import { Chains, type Chain } from "../Chains.js";
import { FeeCapTooLow } from "../errors/verdicts.js";
import type { Head, Header } from "../eth/index.js";
import type { Options } from "../pipeline/index.js";
import type { Address, Hash } from "../primitives/hex.js";
import { diff, type Difference } from "../report/diff.js";
import { minesOnDemand } from "../report/freshness.js";
import { ready, type Blocker } from "../report/ready.js";
import type { Report } from "../report/schema.js";
import { verdictOf } from "../report/ready.js";
import { Rpc } from "../rpc/index.js";
import { including, readingAt, sharedOn } from "./readings.js";
import { isUntouched } from "./reading.js";
import { standOf, touchedBy, withStand, type Found, type Held } from "./touch.js";

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

/** How a report is proven again. */
export type Prove = (report: Report, options?: Options) => Effect.Effect<Report, never, Rpc>;

/** `lost`: nothing need be asked to know it. `prove`: only a proof can tell. `quiet`: the header says nothing against it. */
export type ByHeader = { readonly is: "lost"; readonly reason: FeeCapTooLow } | { readonly is: "prove" | "quiet" };

const prove: ByHeader = { is: "prove" };
const quiet: ByHeader = { is: "quiet" };

/** Seconds after which a head is doubted: half of what makes a proof call it stale. */
const doubtful = ({ blockTimeMs, known }: Chain): number => Math.max(30, (known ? 5 * blockTimeMs : 60_000) / 1000);

/** What the header says; `now` in epoch ms. */
export const byHeader = (report: Report, header: Header, chain: Chain, now: number): ByHeader => {
  const { transactions, observed, chainId } = report;
  const nextFork = observed.rules.nextFork;
  const coming = header.timestamp + BigInt(Math.ceil(chain.blockTimeMs / 1000));
  const base = nextBaseFee(header, parametersOf(chain, header));
  const isOld = !minesOnDemand(chainId) && now / 1000 - Number(header.timestamp) > doubtful(chain);
  if (base === null || isOld || (nextFork !== null && coming >= nextFork)) return prove;
  for (const { input, request } of transactions) {
    const cap = request?.maxFeePerGas ?? request?.gasPrice;
    if (request === null || cap === undefined || request.gas > header.gasLimit) return prove;
    if (cap >= base) continue;
    // why: of a chain whose formula is not known for sure the node decides
    if (!chain.known || chain.feeModel !== "ethereum") return prove;
    const reason = new FeeCapTooLow({ account: input.from, maxFeePerGas: cap, baseFeePerGas: base, raw: null });
    return { is: "lost", reason };
  }
  return quiet;
};

/**
 * Whether the block is another producer's than the one that a report was proven with, and the outcome may tell: who
 * produces it is warm from the start (EIP-3651), so that calling or paying either of them costs other gas.
 */
export const isForAnother = ({ observed }: Report, { miner }: Header, accounts: ReadonlySet<Address>): boolean => {
  const next = observed.worlds.find(({ run }) => run === "next");
  const [was, is] = [next?.feeRecipient ?? observed.feeRecipient, miner].map((one) => one?.toLowerCase() ?? null);
  if (was === is) return false;
  return [was, is].some((one) => one === null || [...accounts].some((account) => account.toLowerCase() === one));
};

/** Prices of the moment, what follows from them, and what an account must hold while they do. */
const ofTheMoment: ReadonlySet<string | null> = new Set([
  ...["observed base fee per gas", "fee base fee per gas", "funds expected", "funds required"],
]);

const isInformation = (severity: Difference["before"]): boolean => severity === null || severity === "info";

/** Without the word that the world moved since an earlier report, which the next proof no longer says. */
const without = (report: Report): Report => {
  const findings = report.findings.filter(({ code }) => code !== "OutcomeChanged");
  return { ...report, findings, verdict: verdictOf(findings) };
};

/** What a proof changed of what was said; empty where nobody who signs need look again. */
export const essentialDiff = (before: Report, after: Report): ReadonlyArray<Difference> =>
  diff(without(before), without(after)).filter(
    (one) =>
      !ofTheMoment.has(one.what) && !(one.kind === "finding" && isInformation(one.before) && isInformation(one.after)),
  );

/** Ms after its proof when a report is proven again, whatever was read meanwhile: the pool is looked at by proofs alone. */
const mostUnproven = 5 * 60_000;

/** What a report hangs on, from when it is found out, with the scope of its watching. */
interface Holding {
  readonly what: Fiber.Fiber<Found>;
  readonly scope: Scope.Closeable;
  /** Whether what it held was read again when its block was no longer the newest. */
  readonly isSure: boolean;
}

/** A report that is watched, from the head that it was last judged at. */
export interface State {
  /** As it was proven last. */
  readonly report: Report;
  readonly isLost: boolean;
  /** null = every head is a proof. */
  readonly held: Holding | null;
}

/** What a head meant, and what is watched from then on. */
export interface Judged {
  readonly watched: Watched;
  readonly state: State;
}

/** What all heads of one watching are judged with. */
export interface Watching {
  readonly prove: Prove;
  readonly options: Options;
  /** Ends with the stream. */
  readonly scope: Scope.Scope;
  /** The newest head that nobody took, else the one that is given. */
  readonly newest: (head: Head) => Effect.Effect<Head>;
}

/** The same report, shown true at a later time. */
const dated = (report: Report, { header }: Head, at: number): Report => ({
  ...report,
  observed: { ...report.observed, at, latestNumber: header.number },
});

const isHeld = (what: Found): what is Held => what !== null && what !== "beyondState";

const letGo = ({ held }: State): Effect.Effect<void> =>
  held === null ? Effect.void : Scope.close(held.scope, Exit.void);

/** What a proof says. */
const judge = (before: State, again: Report, head: Head): Effect.Effect<Watched> =>
  Effect.map(Effect.result(ready(again)), (clearance): Watched => {
    if (Result.isFailure(clearance)) return { _tag: "Lost", head, reason: clearance.failure, report: again };
    const diff = essentialDiff(before.report, again);
    return diff.length === 0
      ? { _tag: "Fresh", head, report: again, by: "proof" }
      : { _tag: "Moved", head, diff, report: again };
  });

/** Finds out what a report hangs on while its word is told: nobody but the next head needs it. */
const holding = (
  report: Report,
  stand: Hash | null,
  { options, scope: parent }: Watching,
): Effect.Effect<State["held"], never, Rpc> =>
  Effect.gen(function* () {
    // why: nothing says what the answer of a user's step hangs on; a report that lacks a step is not held, for it is not `ready`
    if (stand === null || report.steps.with.length > 0) return null;
    const scope = yield* Scope.fork(parent);
    const found = Effect.tap(touchedBy(report, stand, options), (what) =>
      isHeld(what) ? Scope.provide(including(what.touched), scope) : Effect.void,
    );
    return { what: yield* Effect.forkIn(found, scope), scope, isSure: false };
  });

/** The state that a watching begins with. */
export const begun = (report: Report, watching: Watching): Effect.Effect<State, never, Rpc> =>
  Effect.map(holding(report, standOf(report), watching), (held) => ({ report, isLost: false, held }));

/** Whether the last search found that no reading will do. */
const isBeyondState = ({ held }: State): boolean => {
  const found = held?.what.pollUnsafe();
  return found !== undefined && Exit.isSuccess(found) && found.value === "beyondState";
};

const proven = (watching: Watching, state: State, since: Head): Effect.Effect<Judged, never, Rpc> =>
  Effect.gen(function* () {
    const { memory } = yield* Rpc;
    const [head, { report: again, stand }] = yield* Semaphore.withPermit(
      sharedOn(memory).proofs,
      Effect.all([watching.newest(since), withStand(watching.prove(state.report, watching.options))]),
    );
    const watched = yield* judge(state, again, head);
    // why: so long as it does the same, what it reads is not looked for again; a proof is never wrong
    if (watched._tag === "Fresh" && isBeyondState(state))
      return { watched, state: { report: again, isLost: false, held: state.held } };
    yield* letGo(state);
    // why: what is no clearance is compared with the last that was one
    if (watched._tag === "Lost") return { watched, state: { report: state.report, isLost: true, held: null } };
    return { watched, state: { report: again, isLost: false, held: yield* holding(again, stand, watching) } };
  });

/** What a report hangs on; null where only a proof can tell. */
const heldAt = (state: State, { header }: Head, now: number): Effect.Effect<Held | null> =>
  Effect.gen(function* () {
    if (state.isLost || state.held === null || now - state.report.observed.at > mostUnproven) return null;
    const what = yield* Fiber.join(state.held.what);
    return isHeld(what) && !isForAnother(state.report, header, what.touched.accounts) ? what : null;
  });

/** What a head means. */
export const atHead = (watching: Watching, state: State, head: Head): Effect.Effect<Judged, never, Rpc> =>
  Effect.gen(function* () {
    const { report } = state;
    const chains = yield* Effect.service(Chains);
    const now = yield* Clock.currentTimeMillis;
    const said = byHeader(report, head.header, chains(report.chainId), now);
    if (said.is === "lost") {
      const lost: Lost = { _tag: "Lost", head, reason: said.reason, report };
      return { watched: lost, state: { ...state, isLost: true } };
    }
    const held = said.is === "prove" ? null : yield* heldAt(state, head, now);
    if (held === null) return yield* proven(watching, state, head);
    const { touched, block, held: before } = held;
    const isSame = head.header.hash === block;
    // why: while blocks come a node may answer for the newest one by the state of the next (anvil does)
    const again = isSame || state.held?.isSure === true ? Effect.succeed(before) : readingAt(touched, block, "older");
    const behind = isSame ? Effect.succeed(before) : readingAt(touched, head.header.hash);
    const readings = yield* Effect.result(Effect.all([again, behind], { concurrency: "unbounded" }));
    if (Result.isFailure(readings) || !readings.success.every((one) => isUntouched(touched, before, one)))
      return yield* proven(watching, state, head);
    const fresh = dated(report, head, now);
    const clearance = yield* Effect.result(ready(fresh));
    return Result.isFailure(clearance)
      ? yield* proven(watching, state, head)
      : {
          watched: { _tag: "Fresh", head, report: fresh, by: "reading" },
          state: { ...state, held: state.held && { ...state.held, isSure: state.held.isSure || !isSame } },
        };
  });
