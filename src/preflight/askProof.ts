/** Round 2, everything at once: the exact requests in two block contexts, wider gas beside, and the world again. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { eip7825Cap, type Chain } from "../Chains.js";
import type { Address } from "../primitives/hex.js";
import * as Eth from "../Eth.js";
import type { Verdict } from "../errors/verdicts.js";
import type { Report } from "../report/schema.js";
import type { Rpc } from "../Rpc.js";
import * as Code from "../steps/code.js";
import * as Fee from "../steps/fee.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import * as Nonce from "../steps/nonce.js";
import * as Simulate from "../steps/simulate.js";
import { exactCall } from "../transaction/call.js";
import { unsignedBytes, type Request } from "../transaction/request.js";
import { encodeQueries, gasFor, type Query } from "../witness/queries.js";
import type { Facts, Failure } from "./facts.js";
import { measureQueries, type Measure } from "./measure.js";
import type { Ladder } from "./ladder.js";
import { contexts, without } from "./contexts.js";
import { inRound } from "./run.js";

/** One simulated block, or why there is none. */
export type Run = Result.Result<Simulate.Simulated, Failure>;

/** The runs of a {@link Ladder}, without the witness: only what the transactions do is compared. */
export interface Beside {
  /** One per candidate. */
  readonly candidates: ReadonlyArray<Run>;
  readonly reference: Run | null;
  /** Whether the last candidate is the reference. */
  readonly isReferenceHanded: boolean;
}

/** One proof to ask for. */
export interface Exam {
  readonly report: Report;
  readonly requests: ReadonlyArray<Request>;
  /** The gas limits to run beside; null when there is none to try. */
  readonly ladder: Ladder | null;
  /** Whether `requests` are the wider ones already, because the tighter ones did something else. */
  readonly widened: boolean;
  /** Whether the second context keeps the base fee, to tell amounts that follow it from theatre. */
  readonly steady: boolean;
  readonly chain: Chain;
  readonly measure: Measure;
  /** Senders whose signed nonce may not be that of the simulated state, with it. */
  readonly nonces: ReadonlyMap<Address, number>;
}

/** The answers of a proof. */
export interface Examined {
  readonly exam: Exam;
  /** The facts, with run A (or the run that stands for it) as the main one. */
  readonly facts: Facts;
  /** The same requests in another block context. */
  readonly second: Run;
  /** The amounts differ between the contexts, and no longer when both have the same base fee. */
  readonly followsPrice: boolean;
  /** The same with other gas limits; null when there was none to try. */
  readonly beside: Beside | null;
  /** The node's words, where the nonces had to be pretended: its state does not agree with its counts. */
  readonly assumed: Verdict | null;
  /** How many queries found no room beside the user's calls. */
  readonly unmeasured: number;
}

const accountsOf = (measure: Measure, report: Report): ReadonlyArray<Query> => {
  const transactions = report.transactions.map(({ input }) => input);
  const addresses = new Set([...Code.accounts(transactions), ...measure.accounts]);
  return [...addresses].map((address) => ({ kind: "account", address }));
};

/**
 * Most gas the witness may take per call: what one transaction may have, for some nodes hold calls to it,
 * and a flood of queries must not push out the user's own gas.
 */
const mostWitnessGas = eip7825Cap;
/** Queries are allowed a multiple of what honest tokens take; asked for are more than fit if all took it. */
const overcommitted = 6n;

/** Gas of the queries' bytes alone, which must be there before the witness runs: 21,000 and at most 64 per byte. */
const calldataGas = (queries: ReadonlyArray<Query>): bigint =>
  21_000n + 32n * BigInt(encodeQueries(queries).length - 2);

/** As many queries, in their order, as may fit `room` gas. What does not in the end is `unavailable`. */
const fit = (queries: ReadonlyArray<Query>, room: bigint): ReadonlyArray<Query> => {
  const isTooMuch = (kept: ReadonlyArray<Query>) =>
    gasFor(kept) > room && (gasFor(kept) > room * overcommitted || 2n * calldataGas(kept) > room);
  let kept = queries;
  while (kept.length > 0 && isTooMuch(kept)) kept = kept.slice(0, Math.floor(kept.length * 0.8));
  return kept;
};

const nonceOverrides = ({ report, nonces }: Exam): Eth.StateOverrides =>
  Object.fromEntries(
    [...nonces].map(([address, nonce]) => {
      // why: on Flashblocks nodes an override replaces the account's whole overlay, so the balance goes with it
      const balance = report.funds.find(({ account }) => account === address)?.balance ?? null;
      return [address, { ...report.options.stateOverrides?.[address], nonce, ...without({ balance }) }];
    }),
  );

const run = (asked: Simulate.Plan): Effect.Effect<Run, never, Rpc> => Effect.result(Simulate.ask(asked));

/** The exact requests in a block, without the witness. */
const barePlan = (
  exam: Exam,
  asked: ReadonlyArray<Request>,
  blockOverrides: Eth.BlockOverrides,
  pretend: boolean,
): Simulate.Plan => {
  const { report } = exam;
  const state = report.options.stateOverrides as Eth.StateOverrides | null;
  return {
    calls: asked.map((request, index) => exactCall(request, report.transactions[index]?.input.from ?? "0x")),
    before: [],
    after: [],
    block: report.options.block ?? report.observed.blockTag,
    stateOverrides: pretend ? { ...state, ...nonceOverrides(exam) } : state,
    blockOverrides,
  };
};

const runsOf = (
  exam: Exam,
  sets: ReadonlyArray<ReadonlyArray<Request>>,
  blockOverrides: Eth.BlockOverrides,
): Effect.Effect<ReadonlyArray<Run>, never, Rpc> =>
  Effect.forEach(sets, (set) => run(barePlan(exam, set, blockOverrides, exam.nonces.size > 0)), {
    concurrency: "unbounded",
  });

const askLadder = (
  exam: Exam,
  { candidates, reference }: Ladder,
  blockOverrides: Eth.BlockOverrides,
): Effect.Effect<Beside, never, Rpc> => {
  const last = candidates[candidates.length - 1];
  const isReferenceHanded = last?.every(({ gas }, index) => gas === reference[index]?.gas) === true;
  return Effect.map(
    runsOf(exam, isReferenceHanded ? candidates : [...candidates, reference], blockOverrides),
    (runs) => ({
      candidates: runs.slice(0, candidates.length),
      reference: runs[runs.length - 1] ?? null,
      isReferenceHanded,
    }),
  );
};

/** The same transactions with other gas limits, side by side in one round. */
export const askLimits = (
  exam: Exam,
  sets: ReadonlyArray<ReadonlyArray<Request>>,
  round: number,
): Effect.Effect<ReadonlyArray<Run>, never, Rpc> =>
  Effect.flatMap(contexts(exam.report, exam.requests, false), ({ first }) => inRound(round, runsOf(exam, sets, first)));

/** All runs of a proof at once, with the counts, the code and the fees read again. */
export const askProof = Effect.fnUntraced(function* (
  exam: Exam,
  round: number,
): Effect.fn.Return<Examined, never, Rpc> {
  const { report, requests, ladder, chain, measure } = exam;
  const block = report.options.block ?? report.observed.blockTag;
  const transactions = report.transactions.map(({ input }) => input);
  const userGas = requests.reduce((sum, { gas }) => sum + gas, 0n);
  const limit = report.observed.gasLimit ?? userGas + 2n * mostWitnessGas;
  // the witness gives way: what does not fit beside the user's calls is not measured
  const spare = limit > userGas ? (limit - userGas) / 2n : 0n;
  const room = spare < mostWitnessGas ? spare : mostWitnessGas;
  const common: ReadonlyArray<Query> = [
    { kind: "environment" },
    ...accountsOf(measure, report),
    ...measureQueries(measure),
  ];
  const before = fit(common, room);
  const after = before;
  const { first, second } = yield* contexts(report, requests, exam.steady);
  const state = report.options.stateOverrides as Eth.StateOverrides | null;
  const plan = (
    asked: ReadonlyArray<Request>,
    blockOverrides: Eth.BlockOverrides,
    pretend: boolean,
  ): Simulate.Plan => ({
    calls: asked.map((request, index) => exactCall(request, transactions[index]?.from ?? "0x")),
    before,
    after,
    room,
    block,
    stateOverrides: pretend ? { ...state, ...nonceOverrides(exam) } : state,
    blockOverrides,
  });
  const run = (asked: Simulate.Plan): Effect.Effect<Run, never, Rpc> => Effect.result(Simulate.ask(asked));
  const skipped: Effect.Effect<Run | null> = Effect.succeed(null);
  const pretend = exam.nonces.size > 0;
  const l1Subjects = requests.map((request) => {
    const unsigned = unsignedBytes(request);
    return unsigned === null ? null : { unsigned, gasLimit: request.gas };
  });
  const asked = yield* inRound(
    round,
    Effect.all(
      {
        plain: run(plan(requests, first, false)),
        assumed: pretend ? run(plan(requests, first, true)) : skipped,
        second: run(plan(requests, second, pretend)),
        beside: ladder === null ? Effect.succeed(null) : askLadder(exam, ladder, first),
        probe: run({
          calls: [],
          before: [
            { kind: "environment" },
            ...accountsOf(measure, report),
            ...L1Fee.queries(
              chain,
              l1Subjects.filter((subject) => subject !== null),
            ),
          ],
          after: [],
          block,
          stateOverrides: state,
          blockOverrides: report.options.blockOverrides,
        }),
        codes: Code.ask(Code.accounts(transactions), block),
        counts: Nonce.ask(Nonce.senders(transactions)),
        fees: Fee.askHeader,
      },
      { concurrency: "unbounded" },
    ),
  );
  const said = Result.isFailure(asked.plain) ? asked.plain.failure : null;
  // why: mined state that is beyond the nonce cannot be pretended away, only pending state can
  const isTaken = said?._tag === "NonceTooLow" && block === "pending";
  const refusedNonce = said?._tag === "NonceTooHigh" || isTaken ? said : null;
  const pretended = refusedNonce === null ? null : asked.assumed;
  return {
    exam,
    facts: {
      block,
      chainId: report.chainId === null ? Result.succeed(0) : Result.succeed(report.chainId),
      codes: asked.codes,
      counts: asked.counts,
      fees: asked.fees,
      estimate: null,
      main: pretended ?? asked.plain,
      probe: asked.probe,
      called: null,
      gasGiven: requests.map(({ gas }) => gas),
      pretended: pretended !== null,
      refusal: null,
      l1Subjects,
      findings: [],
    },
    second: asked.second,
    followsPrice: false,
    beside: asked.beside,
    assumed: pretended === null ? null : refusedNonce,
    unmeasured: common.length - before.length,
  };
});

/** The nonces that the simulated state may not agree with. */
export const doubtfulNonces = (report: Report): ReadonlyMap<Address, number> => {
  const nonces = new Map<Address, number>();
  for (const { input, nonce, request } of report.transactions) {
    if (nonces.has(input.from) || request === null) continue;
    const certain = nonce.inFlight === 0 && nonce.latest === request.nonce;
    nonces.set(input.from, certain ? -1 : request.nonce);
  }
  return new Map([...nonces].filter(([, nonce]) => nonce >= 0));
};
