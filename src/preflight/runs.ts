/** Round 2, everything at once: the runs of a proof (`exact`, `reserved`, `next`, `alone`; `gas` and `swap` on doubt), and the world again. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/abiIndex.js";
import { eip7825Cap, type Chain } from "../Chains.js";
import type { FeeSubject } from "../chains/feeModel.js";
import type { Verdict } from "../errors/verdicts.js";
import type * as Eth from "../Eth.js";
import type { RunName } from "../primitives/names.js";
import type { Address } from "../primitives/hex.js";
import type { Observed, Report } from "../report/schema.js";
import type { Rpc } from "../Rpc.js";
import * as Code from "../steps/code.js";
import * as Fee from "../steps/fee.js";
import * as Nonce from "../steps/nonce.js";
import type { Bundle } from "../steps/reading/bundle.js";
import { failureOf, successOf, type Heard } from "../steps/reading/heard.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import * as Simulate from "../steps/simulate.js";
import { exactCall } from "../transaction/call.js";
import { unsignedBytes } from "../transaction/request.js";
import { encodeQueries, gasFor, type Query } from "../witness/queries.js";
import type { Round } from "./answers.js";
import type { Limits, Signed } from "./choose.js";
import { isSameBase } from "./compare.js";
import type { Contexts } from "./contexts.js";
import { ampleBeside, type AskAt } from "./gas.js";
import { inRound } from "./ledger.js";
import { measureQueries, type Measure } from "./limits.js";
import { alonePlan } from "./scan.js";

/** What is to be proven. */
export interface Claim {
  readonly report: Report;
  readonly bundle: Bundle<Signed>;
  readonly chain: Chain;
  readonly measure: Measure;
  readonly contexts: Contexts;
  readonly abis: AbiIndex;
}

/** The answers of a proof. */
export interface Proof {
  /** With the exact run, or the one that stands for it, as the run that the figures are from. */
  readonly round: Round;
  /** The same requests in the other block context. */
  readonly next: Heard<Simulate.Run>;
  /** The node's words, where the nonces had to be pretended: its state does not agree with its counts. */
  readonly assumed: Verdict | null;
  /** The exact requests with ample gas, where the scan had none to compare with. */
  readonly beside: Heard<Simulate.Run> | null;
  /** How many queries found no room beside the user's calls. */
  readonly unasked: number;
}

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

/** As many queries, in their order, as may fit `room` gas. What does not in the end is not known. */
const fit = (queries: ReadonlyArray<Query>, room: bigint): ReadonlyArray<Query> => {
  const isTooMuch = (kept: ReadonlyArray<Query>) =>
    gasFor(kept) > room && (gasFor(kept) > room * overcommitted || 2n * calldataGas(kept) > room);
  let kept = queries;
  while (kept.length > 0 && isTooMuch(kept)) kept = kept.slice(0, Math.floor(kept.length * 0.8));
  return kept;
};

/** The witness gives way: what does not fit beside the user's calls is not measured. */
const roomBeside = ({ report, bundle }: Claim): bigint => {
  const taken = bundle.reduce((sum, { request }) => sum + request.gas, 0n);
  const limit = report.observed.gasLimit ?? taken + 2n * mostWitnessGas;
  const spare = limit > taken ? (limit - taken) / 2n : 0n;
  return spare < mostWitnessGas ? spare : mostWitnessGas;
};

const accountQueries = ({ bundle, measure }: Claim): ReadonlyArray<Query> =>
  [...new Set([...Code.accounts(bundle), ...measure.accounts])].map((address) => ({ kind: "account", address }));

/** The nonces to be signed that the simulated state may not agree with, by signer. */
const doubtfulNonces = (bundle: Bundle<Signed>): ReadonlyMap<Address, number> => {
  const firsts = bundle.filter(
    ({ signer, index }) => !bundle.some((one) => one.signer === signer && one.index < index),
  );
  return new Map(
    firsts
      .filter(({ said: { nonce }, request }) => nonce.inFlight !== 0 || nonce.latest !== request.nonce)
      .map(({ signer, request }) => [signer, request.nonce]),
  );
};

/** The state with the signers' nonces pretended. */
const reservedState = ({ report, bundle }: Claim): Eth.StateOverrides => ({
  ...report.options.stateOverrides,
  ...Object.fromEntries(
    [...doubtfulNonces(bundle)].map(([account, nonce]) => {
      // why: on Flashblocks nodes an override replaces the account's whole overlay, so the balance goes with it
      const balance = report.funds.find((funds) => funds.account === account)?.balance ?? null;
      const pretended = { ...report.options.stateOverrides?.[account], nonce };
      return [account, balance === null ? pretended : { ...pretended, balance }] as const;
    }),
  ),
});

const blockOf = ({ report }: Claim): Observed["blockTag"] => report.options.block ?? report.observed.blockTag;

/** The exact requests as a run, without the witness. */
const planOf = (claim: Claim, name: RunName, context: Eth.BlockOverrides, pretended: boolean): Simulate.Plan => ({
  name,
  calls: Arr.map(claim.bundle, ({ input, request }) => ({
    input,
    request: exactCall(request, input.from),
    gas: request.gas,
  })),
  before: [],
  after: [],
  block: blockOf(claim),
  stateOverrides: pretended ? reservedState(claim) : claim.report.options.stateOverrides,
  blockOverrides: context,
  pretended,
});

const isDoubtful = ({ bundle }: Claim): boolean => doubtfulNonces(bundle).size > 0;

/** The exact requests at other limits. */
const gasPlan = (claim: Claim, limits: Limits): Simulate.Plan => {
  const plan = planOf(claim, "gas", claim.contexts.exact, isDoubtful(claim));
  const calls = Arr.zipWith(plan.calls, limits, (call, gas) => ({ ...call, request: { ...call.request, gas }, gas }));
  return { ...plan, calls };
};

/** The exact requests at other limits, side by side in one round. */
export const askAt =
  (claim: Claim, round: () => number): AskAt =>
  (limits) =>
    Effect.suspend(() =>
      inRound(
        round(),
        Effect.forEach(limits, (set) => Effect.result(Simulate.ask(gasPlan(claim, set), claim.abis)), {
          concurrency: "unbounded",
        }),
      ),
    );

/** The exact requests with the witness around them. */
const witnessed = (claim: Claim, plan: Simulate.Plan) => {
  const room = roomBeside(claim);
  const wanted: ReadonlyArray<Query> = [
    { kind: "environment" },
    ...accountQueries(claim),
    ...measureQueries(claim.measure),
  ];
  const asked = fit(wanted, room);
  return { plan: { ...plan, before: asked, after: asked, room }, unasked: wanted.length - asked.length };
};

/** The other context once more, at the base fee of the first: whether the price alone made the difference. */
export const askSwap = (claim: Claim, round: number): Effect.Effect<Heard<Simulate.Run>, never, Rpc> =>
  inRound(
    round,
    Effect.result(
      Simulate.ask(witnessed(claim, planOf(claim, "swap", claim.contexts.swap, isDoubtful(claim))).plan, claim.abis),
    ),
  );

/** All runs of a proof at once, with the counts, the code and the fees read again. */
export const askProof = Effect.fnUntraced(function* (claim: Claim, round: number): Effect.fn.Return<Proof, never, Rpc> {
  const { report, bundle, chain, contexts, abis } = claim;
  const block = blockOf(claim);
  const doubtful = isDoubtful(claim);
  const subjects = new Map<number, FeeSubject>();
  for (const { index, request } of bundle) {
    const unsigned = unsignedBytes(request);
    if (unsigned !== null) subjects.set(index, { unsigned, gasLimit: request.gas });
  }
  const run = (plan: Simulate.Plan) => Effect.result(Simulate.ask(plan, abis));
  const exact = witnessed(claim, planOf(claim, "exact", contexts.exact, false));
  const lookAt = [...accountQueries(claim), ...L1Fee.queries(chain, [...subjects.values()])];
  const skipped: Effect.Effect<Heard<Simulate.Run> | null> = Effect.succeed(null);
  const ample = ampleBeside(report, bundle);
  const asked = yield* inRound(
    round,
    Effect.all(
      {
        exact: run(exact.plan),
        reserved: doubtful ? run(witnessed(claim, planOf(claim, "reserved", contexts.exact, true)).plan) : skipped,
        beside: ample === null ? skipped : run(gasPlan(claim, ample)),
        next: run(witnessed(claim, planOf(claim, "next", contexts.next, doubtful)).plan),
        alone: run(alonePlan(report.options, block, lookAt)),
        codes: Code.ask(bundle, block),
        counts: Nonce.ask(bundle),
        fees: Fee.askHeader,
      },
      { concurrency: "unbounded" },
    ),
  );
  const said = failureOf(asked.exact);
  // why: mined state that is beyond the nonce cannot be pretended away, only pending state can
  const isTaken = said?._tag === "NonceTooLow" && block === "pending";
  const assumed = said !== null && (said._tag === "NonceTooHigh" || isTaken) && asked.reserved !== null ? said : null;
  const { namedChainId } = report.observed;
  return {
    round: {
      block,
      namedChainId: namedChainId === null ? null : Result.succeed(namedChainId),
      codes: asked.codes,
      counts: asked.counts,
      fees: asked.fees,
      estimate: null,
      run: assumed === null ? asked.exact : asked.reserved,
      alone: asked.alone,
      called: null,
      unfunded: null,
      subjectOf: ({ index }) => subjects.get(index) ?? null,
      findings: [],
    },
    next: asked.next,
    beside: asked.beside,
    assumed,
    unasked: exact.unasked,
  };
});

/** Whether the two contexts stood on the same block; if not, asking once more may help. */
export const isComparable = ({ round, next }: Proof): boolean => {
  const [run, other] = [successOf(round.run), successOf(next)];
  return run === null || (other !== null && isSameBase(run, other) === true);
};
