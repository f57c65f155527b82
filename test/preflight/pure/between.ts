/** A scan and a proof between two rounds, in which nothing is wrong but what is said, and a node that keeps what it was asked. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { expect } from "vitest";
import {
  readerOnlyPlan,
  answersOf,
  freePlan,
  counted as counting,
  everyStep,
  keep,
  endpointFactsOf,
  effectsReader,
  signedOf,
  undoubted,
  worldsOf,
  type Unplaced,
  type Claim,
  type Proof,
  type Scanning,
  type ProofState,
  type Subject,
} from "../../rooms/pipeline.js";
import { unknownForks, type AskRule } from "../../rooms/primitives.js";
import type { ReportOptions } from "../../rooms/report.js";
import type { AskResult, Reading, Run } from "../../rooms/steps.js";
import { lookup, type Chain } from "../../../src/Chains.js";
import type { RpcError } from "../../../src/Errors.js";
import { Rpc } from "../../../src/Rpc.js";
import type { Memory } from "../../../src/testing.js";
import type { Transaction } from "../../../src/Transaction.js";
import { alice, bundle, unanswered } from "../../steps/parts.js";
import { header, history, parent } from "../../steps/reading/facts.js";
import {
  answersTo,
  counted,
  did,
  heard,
  holding,
  named,
  nothing,
  options,
  plan,
  rich,
  roundOf,
  run,
  scanned,
  type Told,
} from "./world.js";
import { CurrentRun, memoryOf } from "../../rooms/rpc.js";

const head = header({ number: 100n });
const standard = counted([alice, 4, 4]);
const feeHistory = history([[0.5, [1n, 2n, 3n]]]);

/** What an endpoint is known to be. */
type Teach = (memory: Memory) => void;
const memoryWith = (teach: Teach): Memory => {
  const memory = memoryOf(() => 0, 1_000);
  teach(memory);
  return memory;
};

/** A block in which these rules are in force. */
export const inFork = (fork: "amsterdam" | "osaka", changed: Parameters<typeof holding>[1] = {}) =>
  holding(rich, { fork, ...changed });

interface Scan extends Partial<Pick<Scanning, "flying" | "sealed">> {
  readonly chain?: Partial<Chain>;
  readonly tag?: "pending" | "latest";
  readonly asked?: Partial<Told>;
  readonly inputs?: ReadonlyArray<Partial<Transaction>>;
  readonly options?: Partial<ReportOptions>;
  readonly teach?: Teach;
  /** Whether the witness was not asked alone, for the endpoint is known. */
  readonly isFamiliar?: boolean;
  readonly steps?: Subject["steps"];
}

/** What a scan knows after its first round; `asked` is what was answered otherwise. */
export const scanning = ({
  inputs = [{}],
  options: said = {},
  teach = () => undefined,
  isFamiliar = false,
  ...changed
}: Scan = {}): Scanning => {
  const cases = bundle(...inputs);
  const memory = memoryWith(teach);
  const { tag = "pending", flying = [], steps = everyStep, sealed = null, chain = {} } = changed;
  const subject: Subject = {
    ...{ bundle: cases, options: { ...options, ...said }, chain: { ...lookup(null), ...chain }, steps },
    ...{ wanted: [], looks: [] },
  };
  const plans = { bare: freePlan(subject, tag, [], []), reader: readerOnlyPlan(subject.options, tag, []) };
  const { codes, counts, reader, called, estimate, namedChainId } = roundOf(cases);
  const bare = run(
    cases.map(() => did()),
    { plan: plans.bare },
  );
  return {
    ...{ subject, flying, sealed, memory, chains: lookup, isNamed: !isFamiliar },
    plans: { ...plans, subjects: new Map(), known: endpointFactsOf(memory), isFamiliar },
    round: heard({
      ...{ steps, block: tag, askedAt: 0, pools: new Map(), unfunded: null, findings: [] },
      subjectOf: () => null,
      ...{ codes, counts, called, estimate, namedChainId, reader: isFamiliar ? null : reader },
      ...{ run: Result.succeed(bare), history: feeHistory, receipts: null, header: head },
      ...{ forks: unknownForks, noFeeOracle: null },
      ...changed.asked,
    }),
  };
};

/** The run of a scan, in which every transaction did this. */
export const ranAs = (reading: Reading, given: Parameters<typeof scanning>[0] = {}, changed: Partial<Run> = {}) => {
  const { subject, plans } = scanning(given);
  return Result.succeed(
    run(
      subject.bundle.map(() => reading),
      { plan: plans.bare, ...changed },
    ),
  );
};

interface Proving {
  readonly inputs?: ReadonlyArray<Partial<Transaction>>;
  readonly tag?: "pending" | "latest" | bigint;
  readonly options?: Partial<ReportOptions>;
  readonly teach?: Teach;
  readonly chain?: Partial<Chain>;
  /** Whether the report is from outside. */
  readonly isPosted?: boolean;
  /** Known results of its gas limits. */
  readonly settled?: Unplaced["settled"];
  readonly state?: Partial<ProofState>;
  /** What every transaction did in the two ends, where nothing else is said of the runs. */
  readonly ran?: Readonly<Partial<Record<"exact" | "next", Reading>>>;
  readonly round?: Partial<Told>;
  readonly proof?: Partial<Omit<Proof, "runs">> & Readonly<Partial<Record<"next" | "ample", AskResult<Run>>>>;
}

/** A run of a proof on the block that it was asked for. */
export const stood = (
  name: "exact" | "next" | "ample" | "readerOnly",
  block: Run["plan"]["block"],
  changed: Partial<Run> = {},
) => Result.succeed(named(name, [did()], { plan: plan({ name, block }), ...changed }));

/** The latest block by its hash. */
export const pinned = { blockHash: parent, requireCanonical: true } as const;

/** What a proof knows after its first round, on the latest block; what is said is otherwise. */
export const standing = ({
  inputs = [{}],
  tag = "latest",
  options: said = {},
  teach = () => undefined,
  chain: ofChain = {},
  isPosted = false,
  ...changed
}: Proving = {}): ProofState => {
  const memory = memoryWith(teach);
  const { report } = scanned(
    inputs,
    { block: tag, counts: changed.round?.counts ?? standard },
    { options: { ...options, ...said } },
  );
  const signed = signedOf(report);
  if (signed === null) throw new Error("a request has a hole");
  const chain = { ...lookup(1), ...ofChain };
  const told = roundOf(signed);
  const about: Unplaced = {
    ...{ report, bundle: signed, chain, measure: nothing, policies: [], steps: everyStep, looks: [] },
    ...{
      subjects: new Map(),
      balanceOf: () => rich,
      askedAt: 0,
      asksBare: false,
      settled: changed.settled ?? null,
    },
    scanned: isPosted ? null : { askedAt: 0, codes: told.codes, header: told.header, noFeeOracle: null, run: told.run },
  };
  const { bracket = { kind: "whole" }, head: on = head } = changed.state ?? {};
  const takesHashes = memory.recall("lacks")?.has("hash") !== true;
  const worlds = Effect.runSync(
    worldsOf({
      ...{ report, signed, chain, head: answersTo(told).header, nextFork: null, isOwn: !isPosted },
      ...{
        reach: bracket.kind === "rest" ? bracket.reach : 1,
        further: 0,
        draw: null,
        isBlobFeeRead: false,
        lastUse: null,
      },
      ...{ takesHashes, takesEntries: memory.recall("lacks")?.has("entries") !== true },
    }),
  );
  const claim: Claim = { ...about, worlds, reads: [], reachedBefore: [], header: on };
  const readings = (reading = did()) => signed.map(() => reading);
  const [far, near] = worlds.rows;
  const { run, reader, ...round } = {
    ...roundOf(signed, { block: tag, reader: stood("readerOnly", far.block) }),
    ...{
      run: stood("exact", far.block, { readings: readings(changed.ran?.exact) }),
      history: null,
      receipts: null,
      header: head,
    },
    ...changed.round,
  };
  const {
    next = stood("next", near.block, { readings: readings(changed.ran?.next) }),
    ample,
    ...others
  } = changed.proof ?? {};
  const exact = run ?? expect.fail();
  const asked = { exact, next, readerOnly: reader, ample };
  const answered = Object.entries(asked).filter(([, answer]) => answer != null);
  const proof: Proof = {
    ...{ ...round, traced: [], beside: head, reached: null, ...others },
    runs: new Map(answered) as unknown as Proof["runs"],
  };
  const answers = answersOf(proof, lookup, report.options, report.chainId);
  const bundle = keep(signed, answers);
  return {
    ...{ claim, proof, because: "proof", answers, bundle, effectsIn: effectsReader(bundle, about.measure) },
    ...{ open: [], gas: undoubted, isForkUsed: true, sealed: -1n },
    ...{ head: on, moves: 0, counts: new Map([[alice, 4]]), memory, shown: [], bracket },
    ...{ pending: [], findings: [], ran: [] },
    ...changed.state,
  };
};

/** An answer: what the node says, or why it does not. */
type Answers = Readonly<Record<string, (params: ReadonlyArray<unknown>) => unknown>>;

const blockIn = (params: ReadonlyArray<unknown>): string =>
  params.flatMap((one) =>
    one === "latest" || one === "pending"
      ? [` ${one}`]
      : typeof one === "object" && one !== null && "blockHash" in one
        ? [" pinned"]
        : [],
  )[0] ?? "";

/** What is known then, and every request: in which further round, by which rule, of which run, on which block. Unanswered unless said. */
export const asked = async <S>(
  { memory }: { readonly memory: Memory },
  ask: Effect.Effect<S, never, Rpc>,
  answers: Answers = {},
): Promise<{
  readonly known: S;
  readonly lines: ReadonlyArray<string>;
  /** The same lines in the order in which they were sent. */
  readonly order: ReadonlyArray<string>;
  readonly wire: ReadonlyArray<ReadonlyArray<unknown>>;
}> => {
  const lines: Array<string> = [];
  const wire: Array<ReadonlyArray<unknown>> = [];
  const node = Rpc.of({
    endpoint: "a node by hand",
    memory,
    admit: (run) => run,
    request: (method, params) =>
      Effect.flatMap(CurrentRun, ({ round, because, run }): Effect.Effect<unknown, RpcError> => {
        lines.push(`${round} ${because} ${method}${run == null ? "" : ` ${run}`}${blockIn(params)}`);
        wire.push(params);
        const answer = answers[method];
        return answer === undefined ? Effect.fail(unanswered(method)) : Effect.succeed(answer(params));
      }),
  });
  const known = await Effect.runPromise(counting(ask).pipe(Effect.provideService(Rpc, node)));
  return { known, lines: [...lines].sort(), order: lines, wire };
};

interface Simulated {
  readonly blockStateCalls: ReadonlyArray<{ readonly calls?: ReadonlyArray<unknown> }>;
}
/** Answers every simulation: each call succeeded, or failed. */
export const simulating =
  (status: "0x0" | "0x1" = "0x1") =>
  ([request]: ReadonlyArray<unknown>): unknown =>
    (request as Simulated).blockStateCalls.map(({ calls = [] }) => ({
      transactions: calls.map((call) => ({
        ...{ hash: parent, from: alice, nonce: "0x0", value: "0x0", input: "0x" },
        gas: (call as { readonly gas: string }).gas,
      })),
      ...{ number: "0x65", hash: parent, parentHash: parent, timestamp: "0x1", gasLimit: "0x1", gasUsed: "0x0" },
      calls: calls.map(() => ({ status, gasUsed: "0x5208", returnData: "0x", logs: [] })),
    }));

/** The rules of a list by their names; one that has the name of an earlier one is the `(last)`. */
export const namesOf = (rules: ReadonlyArray<{ readonly because: AskRule }>): ReadonlyArray<string> =>
  rules.map(({ because }, place) =>
    rules.slice(0, place).some((one) => one.because === because) ? `${because} (last)` : because,
  );
