/** Round 2, everything at once: the exact requests in two block contexts, wider gas beside, and the world again. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Chain } from "../Chains.js";
import type { Address, Hash } from "../errors/hex.js";
import * as Eth from "../Eth.js";
import type { Report } from "../report/schema.js";
import type { Rpc } from "../Rpc.js";
import * as Approvals from "../steps/approvals.js";
import * as Assets from "../steps/assets.js";
import * as Code from "../steps/code.js";
import * as Fee from "../steps/fee.js";
import * as L1Fee from "../steps/l1Fee.js";
import * as Nonce from "../steps/nonce.js";
import * as Simulate from "../steps/simulate.js";
import * as Tokens from "../steps/tokens.js";
import { unsignedBytes, type Request } from "../transaction/request.js";
import { gasFor, type Query } from "../witness/queries.js";
import type { Facts, Failure } from "./facts.js";
import { inRound } from "./run.js";

type Run = Result.Result<Simulate.Simulated, Failure>;

/** What is measured in a proof, decided from what the earlier report revealed. */
export interface Measure {
  readonly holdings: ReadonlyArray<Assets.Holding>;
  readonly rights: ReadonlyArray<Approvals.Right>;
  readonly tokens: ReadonlyArray<Address>;
  readonly delegates: ReadonlyArray<Address>;
}

/** One proof to ask for. */
export interface Exam {
  readonly report: Report;
  readonly requests: ReadonlyArray<Request>;
  /** The same with the wider gas limits; null when there is none to try. */
  readonly wide: ReadonlyArray<Request> | null;
  readonly chain: Chain;
  readonly measure: Measure;
  /** Senders whose signed nonce may not be that of the simulated state, with it. */
  readonly nonces: ReadonlyMap<Address, number>;
}

/** The answers of a proof. */
export interface Examined {
  /** The facts, with run A (or the run that stands for it) as the main one. */
  readonly facts: Facts;
  readonly requests: ReadonlyArray<Request>;
  /** The same requests in another block context. */
  readonly second: Run;
  /** Run A failed where the wider gas limits worked. */
  readonly widened: boolean;
  /** The nonces had to be pretended: predecessors are missing in the simulated state. */
  readonly assumed: boolean;
}

const exactCall = (from: Address, request: Request): Eth.CallRequest => {
  const { type: _, chainId: __, ...fields } = request;
  return { from, ...fields };
};

const accountsOf = (measure: Measure, report: Report): ReadonlyArray<Query> => {
  const transactions = report.transactions.map(({ input }) => input);
  const addresses = new Set([...Code.accounts(transactions), ...measure.delegates]);
  return [...addresses].map((address) => ({ kind: "account", address }));
};

/** Most gas the witness may take per call: a flood of queries must not push out the user's own gas. */
const mostWitnessGas = 30_000_000n;

/** As many queries, in their order, as fit `room` gas. */
const fit = (queries: ReadonlyArray<Query>, room: bigint): ReadonlyArray<Query> => {
  let kept = queries;
  while (kept.length > 0 && gasFor(kept) > room) kept = kept.slice(0, Math.floor(kept.length * 0.8));
  return kept;
};

const randomHash: Effect.Effect<Hash> = Effect.sync(() => {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}` as Hash;
});

const without = <A>(pairs: Readonly<Record<string, A | null>>): Record<string, A> =>
  Object.fromEntries(Object.entries(pairs).filter((pair): pair is [string, A] => pair[1] !== null));

/** Seconds by which the second context is later. */
const laterBy = 12n;

const secondBaseFee = ({ report, requests }: Exam): bigint | null => {
  const base = report.observed.baseFeePerGas;
  if (base === null) return null;
  const caps = requests.map(({ gasPrice, maxFeePerGas }) => gasPrice ?? maxFeePerGas ?? 0n);
  const least = caps.reduce((a, b) => (a < b ? a : b));
  const raised = base + base / 16n + 1n;
  return raised <= least ? raised : base <= least ? base : null;
};

const contexts = Effect.fnUntraced(function* (exam: Exam) {
  const { report } = exam;
  const now = yield* Clock.currentTimeMillis;
  const elapsed = BigInt(Math.max(0, Math.ceil((now - report.observed.at) / 1000)));
  const pretended = report.options.blockOverrides;
  const first: Eth.BlockOverrides = {
    ...without({ feeRecipient: report.observed.feeRecipient }),
    prevRandao: yield* randomHash,
    ...pretended,
  };
  const time = report.observed.timestamp === null ? null : report.observed.timestamp + laterBy + elapsed;
  const second: Eth.BlockOverrides = {
    feeRecipient: `0x${(yield* randomHash).slice(2, 42)}` as Address,
    prevRandao: yield* randomHash,
    ...without({ time, baseFeePerGas: secondBaseFee(exam) }),
    ...pretended,
  };
  return { first, second };
});

const nonceOverrides = ({ report, nonces }: Exam): Eth.StateOverrides =>
  Object.fromEntries(
    [...nonces].map(([address, nonce]) => {
      // why: on Flashblocks nodes an override replaces the account's whole overlay, so the balance goes with it
      const balance = report.funds.find(({ account }) => account === address)?.balance ?? null;
      return [address, { ...report.options.stateOverrides?.[address], nonce, ...without({ balance }) }];
    }),
  );

/** All runs of a proof at once, with the counts, the code and the fees read again. */
export const askProof = Effect.fnUntraced(function* (
  exam: Exam,
  round: number,
): Effect.fn.Return<Examined, never, Rpc> {
  const { report, requests, wide, chain, measure } = exam;
  const block = report.observed.blockTag;
  const transactions = report.transactions.map(({ input }) => input);
  const userGas = requests.reduce((sum, { gas }) => sum + gas, 0n);
  const limit = report.observed.gasLimit ?? userGas + 2n * mostWitnessGas;
  // the witness gives way: what does not fit beside the user's calls is not measured
  const spare = limit > userGas ? (limit - userGas) / 2n : 0n;
  const room = spare < mostWitnessGas ? spare : mostWitnessGas;
  const common: ReadonlyArray<Query> = [
    { kind: "environment" },
    ...accountsOf(measure, report),
    ...Assets.queries(measure.holdings),
    ...Approvals.queries(measure.rights),
  ];
  const before = fit([...common, ...Tokens.queries(measure.tokens)], room);
  const after = fit(common, room);
  const { first, second } = yield* contexts(exam);
  const state = report.options.stateOverrides as Eth.StateOverrides | null;
  const plan = (
    asked: ReadonlyArray<Request>,
    blockOverrides: Eth.BlockOverrides,
    pretend: boolean,
  ): Simulate.Plan => ({
    calls: asked.map((request, index) => exactCall(transactions[index]?.from ?? ("0x" as Address), request)),
    before,
    after,
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
        wide: wide === null ? skipped : run(plan(wide, first, pretend)),
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
  const byNonce =
    Result.isFailure(asked.plain) &&
    (asked.plain.failure._tag === "NonceTooHigh" || asked.plain.failure._tag === "NonceTooLow");
  const pretended = byNonce ? asked.assumed : null;
  const standIn = pretended !== null;
  const main = pretended ?? asked.plain;
  const widened = asked.wide !== null && worked(asked.wide) && !worked(main) && Result.isSuccess(main);
  const chosen = widened && wide !== null ? wide : requests;
  return {
    facts: {
      block,
      chainId: report.chainId === null ? Result.succeed(0) : Result.succeed(report.chainId),
      codes: asked.codes,
      counts: asked.counts,
      fees: asked.fees,
      estimate: null,
      main: widened && asked.wide !== null ? asked.wide : main,
      probe: asked.probe,
      called: null,
      gasGiven: chosen.map(({ gas }) => gas),
      funded: false,
      l1Subjects,
      findings: [],
    },
    requests: chosen,
    second: asked.second,
    widened,
    assumed: standIn,
  };
});

/** Every user call of the run succeeded. */
const worked = (run: Run): boolean =>
  Result.isSuccess(run) && run.success.calls.every(({ status }) => status === "success");

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
