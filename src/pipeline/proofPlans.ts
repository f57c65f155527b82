/** The runs of a proof: what each simulates, on which state, in which block, and what the witness reads in it. Pure. */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import type * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import { memoize } from "effect/Function";
import type * as Eth from "../eth/index.js";
import * as Exposure from "../steps/reading/exposure.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { secondGas, secondReadings } from "../steps/reading/secondReading.js";
import * as Simulate from "../steps/simulate.js";
import { effectiveGasPrice } from "../chains/baseFee.js";
import { eip7825Cap } from "../chains/rules.js";
import type { FeeSubject } from "../chains/feeModel.js";
import type { Address } from "../primitives/hex.js";
import type { Policy } from "../report/policy.js";
import type { Draft, Observed, ReportOptions } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import { mayDepend, runsCode } from "../report/waits.js";
import { isCarrier, isFirst, type Bundle, type Case, type Filled } from "../steps/reading/bundle.js";
import { bareCall, exactCall, filledOf, unsignedBytes } from "../transaction/request.js";
import { fit, gasFor, type Query } from "../witness/queries.js";
import type { figuresOf, Round } from "./answers.js";
import type { Limits, Signed } from "./choose.js";
import type { Gas } from "./gas/doubt.js";
import { readerOnlyPlan, pricedBy } from "./scanPlans.js";
import { nameOf, type World, type Worlds } from "./worlds/contexts.js";
import { lensOf, suspectsOf, viewsOf } from "../steps/reading/proxies.js";
import { trialGas } from "./signings.js";
import { everyLook, everyLookBetween, type Subject } from "./steps.js";
import { measureQueries, type Measure } from "./limits.js";

/** The first round of a proof that was sent before it was known what there is to prove. */
export interface Ahead {
  /** Epoch ms when it was sent. */
  readonly askedAt: number;
  /**
   * Answers the very requests that were sent, each once, and asks the node from the first other one on; gives the values again
   * that were left to chance.
   */
  readonly services: Context.Context<Rpc>;
  /** Calls off what is under way still; true if whatever was asked by then had been sent. */
  readonly end: Effect.Effect<boolean>;
}

/** Input of a proof. */
export interface Claim extends Pick<Subject, "chain" | "looks" | "steps"> {
  readonly report: Draft;
  readonly bundle: Bundle<Signed>;
  readonly measure: Measure;
  readonly worlds: Worlds;
  /** Values of its block that the called code reads. */
  readonly reads: Observed["reads"];
  /** Accounts that the called contracts reached before, where it is in doubt by which fork's rules they ran. */
  readonly reachedBefore: ReadonlyArray<Address>;
  /** Slots that access lists name, to be read on both sides of the bundle; absent = none. */
  readonly named?: Observed["named"];
  /** Policies that the caller demands of the report. */
  readonly policies: ReadonlyArray<Policy>;
  /** Transactions that the chain's fee oracle is asked about, by place in the bundle; empty where there is none. */
  readonly subjects: ReadonlyMap<number, FeeSubject>;
  /** Balance that each signer is taken to have where its state is pretended, wei; null = not known. */
  readonly balanceOf: (account: Address) => bigint | null;
  /** Answers of the same call's scan a moment ago, so that they can be relied on; null for a report from outside. */
  readonly scanned:
    | (Pick<Round, "askedAt" | "codes" | "header" | "noFeeOracle" | "listed"> & {
        readonly run: ReturnType<typeof figuresOf>;
        /** The round of the proof as it was sent beside the scan; none = it was not. */
        readonly ahead?: Ahead | null;
      })
    | null;
  /** The head that the worlds stand on; null = it is not known. */
  readonly header: Round["header"];
  /** Epoch ms when that head was asked for, or what has it. */
  readonly askedAt: number;
  /** True if `ample` is asked for, too: there is no run of our own to compare the exact one with. */
  readonly asksBare: boolean;
  /** Known results of its gas limits, where they are wider ones than those that were chosen; null = its runs tell. */
  readonly settled: Gas | null;
}

/** The subject of a proof, on whatever ground. */
export type Unplaced = Omit<Claim, "worlds" | "header" | "reads" | "reachedBefore" | "named">;

/**
 * Most gas the witness may take per call: what one transaction may have, for some nodes hold calls to it,
 * and a flood of queries must not push out the user's own gas.
 */
const mostWitnessGas = eip7825Cap;
/** The witness gives way: what does not fit beside the user's calls is not measured. */
const roomBeside = memoize((claim: Claim): bigint => {
  const { report, bundle, steps } = claim;
  const between = everyLookBetween(steps, bundle);
  const read = Simulate.witnessGas({ calls: bundle, before: [], between, after: [] });
  const second = (secondGas.most + secondGas.gift) * BigInt(secondReadings(claim, null).length);
  const limits = bundle.map(({ request }) => request.gas);
  // why: a signature is tried once, and an account with new code in three calls of twice that gas
  const carriers = bundle.filter(isCarrier).length;
  const trials = carriers === 0 ? 0n : trialGas * BigInt(7 * carriers + 1);
  // why: what one block does not hold is run in several
  const [, next] = claim.worlds.rows;
  const own = next.spread === null ? BigInts.sumAll(limits) : limits.reduce(BigInts.max);
  const gasNeeded = own + read + second + trials;
  const limit = report.observed.gasLimit ?? gasNeeded + 2n * mostWitnessGas;
  const spare = limit > gasNeeded ? (limit - gasNeeded) / 2n : 0n;
  return spare < mostWitnessGas ? spare : mostWitnessGas;
});

export const accountQueries = memoize(({ bundle, measure, steps }: Claim): ReadonlyArray<Query> => {
  const looks = everyLook(bundle, steps);
  const looked = new Set(looks.flatMap((query) => (query.kind === "account" ? [query.address] : [])));
  const accounts = new Set([...measure.accounts, ...measure.doubtful].filter((account) => !looked.has(account)));
  return [...looks, ...[...accounts].map((address) => ({ kind: "account", address }) as const)];
});

/** The first case of each signer whose nonce the simulated state may not agree with. */
export const doubtful = memoize(({ bundle }: Claim): ReadonlyArray<Signed> =>
  bundle.filter(
    (entry) =>
      isFirst(entry, bundle) && (entry.said.nonce.inFlight !== 0 || entry.said.nonce.latest !== entry.request.nonce),
  ),
);

/** How many transactions of the signers the node counts in flight before the requests; one that is replaced is not. */
export const inFlightOf = ({ bundle }: Claim): number =>
  bundle.reduce((sum, entry) => {
    const { latest, inFlight } = entry.said.nonce;
    const before = latest === null ? 0 : Math.max(0, entry.request.nonce - latest);
    return isFirst(entry, bundle) ? sum + Math.min(before, inFlight ?? 0) : sum;
  }, 0);

/** The state with the signers' nonces pretended. */
const reservedState = (claim: Claim): Eth.StateOverrides => {
  const { options } = claim.report;
  const pretended = doubtful(claim).map(({ signer, request: { nonce } }) => {
    // why: on Flashblocks nodes an override replaces the account's whole overlay, so the balance goes with it
    const balance = claim.balanceOf(signer);
    return [signer, { ...options.stateOverrides?.[signer], nonce, ...(balance === null ? {} : { balance }) }] as const;
  });
  return { ...options.stateOverrides, ...Object.fromEntries(pretended) };
};

export const oracleQueries = ({ chain, subjects, steps }: Claim): ReadonlyArray<Query> =>
  !steps.has("fee") && !steps.has("funds")
    ? []
    : L1Fee.queries(chain, subjects.size === 0 ? null : [...subjects.values()]);

/**
 * True if the witness is asked `readerOnly`, too: for a report from outside, for balances where those of the runs are
 * pretended, for proxies, and for more at the oracles than finds room beside the calls.
 */
export const looksAlone = memoize(
  (claim: Claim) =>
    claim.scanned === null ||
    doubtful(claim).length > 0 ||
    suspectsOf(claim).length > 0 ||
    (claim.named ?? []).length > 0 ||
    gasFor(oracleQueries(claim)) > roomBeside(claim) / 2n,
);

/**
 * Lists what the witness reads in the runs: on both sides of the calls, and at the oracles before those of `exact`;
 * how many queries found no room beside the user's calls; and the contracts whose slots are read behind them.
 */
export const looksOf = memoize((claim: Claim) => {
  const oracles = looksAlone(claim) ? [] : oracleQueries(claim);
  const queries = [
    { kind: "environment" } as const,
    ...accountQueries(claim),
    ...L1Fee.earnings(claim.subjects.size > 0),
    ...measureQueries(claim.measure),
  ];
  // why: the oracles stand in front, for what does not fit is cut from the end
  // why: users' looks stand behind ours, which they may not starve
  const room = roomBeside(claim);
  const reached = claim.reachedBefore.map((address): Query => ({ kind: "account", address }));
  const named = (claim.named ?? []).map(({ address }): Query => ({ kind: "account", address }));
  const own = [...oracles, ...queries, ...viewsOf(claim), ...named];
  const first = fit([...own, ...claim.looks, ...claim.measure.owners, ...reached], room);
  // why: what a list costs is worked out once for each list
  const both = oracles.length === 0 ? first : first.slice(oracles.length);
  const exposed = claim.measure.exposed === null ? [] : Exposure.queries(claim.measure.exposed);
  const all = fit([...both, ...exposed], room);
  // why: what could be taken is read last of all, and pushes nothing out
  const after = all.length < both.length ? both : all;
  return { first, both, after, lens: lensOf(claim), unasked: Math.max(0, queries.length - both.length) };
});

/** The exact requests as a run, with the witness around them. */
const wholePlan = (claim: Claim, world: World): Simulate.Plan => {
  const room = roomBeside(claim);
  const { first, both, after, lens } = looksOf(claim);
  const { key, block, ahead, apart, spread, context, producer } = world;
  const { baseFeePerGas: baseFee } = context;
  // why: the figures are those of the state as it is, where it takes the requests
  const pretended = key !== "exact" && doubtful(claim).length > 0;
  return {
    name: nameOf(world),
    calls: claim.bundle.map(({ input, request }) => ({
      input,
      request: exactCall(request, input.from),
      gas: request.gas,
    })),
    before: key === "exact" ? first : both,
    ...(room > 0n ? { between: everyLookBetween(claim.steps, claim.bundle) } : {}),
    ...{ after, room, block, ahead, apart, spread, lens, named: claim.named ?? [], pretended },
    stateOverrides: { ...producer, ...(pretended ? reservedState(claim) : claim.report.options.stateOverrides) },
    blockOverrides: context,
    checksRoot: claim.reads.includes("beaconroot"),
    second: secondReadings(claim, baseFee == null ? null : BigInt(baseFee)),
  };
};

/** Wei: who has this much can pay for any gas limit. */
const rich = 2n ** 128n;

/** Input of the runs at other limits. */
export interface GasTrial {
  readonly bundle: Bundle<Case & Pick<Filled, "request">>;
  readonly options: ReportOptions;
  readonly block: Eth.BlockParameter;
  readonly ahead: World["ahead"];
  readonly context: Eth.BlockOverrides | null;
  /** Gas of a whole block; null = not known. */
  readonly room: bigint | null;
  /** Base fee of a block whose context names none; null = not known. */
  readonly baseFee?: bigint | null;
}

/** The requests at other limits, by signers who could pay for any of them; the witness tells no more than where they ran. */
export const gasPlan = (
  { bundle, options, block, ahead, context, room, baseFee = null }: GasTrial,
  limits: Limits,
): Simulate.Plan => {
  const { stateOverrides } = options;
  const charged = BigInt(context?.baseFeePerGas ?? baseFee ?? 0);
  const able = bundle
    .filter((entry) => isFirst(entry, bundle))
    .map(({ signer, request }) => {
      const nonce = request === null ? {} : { nonce: request.nonce };
      // why: inside, what the gas costs is gone already; who looks at what is left shall see the same at every limit
      const balance = bundle.reduce(
        (sum, entry, place) =>
          entry.signer === signer
            ? sum + (limits[place] ?? 0n) * effectiveGasPrice(filledOf(entry.request), charged)
            : sum,
        rich,
      );
      return [signer, { ...stateOverrides?.[signer], ...nonce, balance }] as const;
    });
  const before: ReadonlyArray<Query> = [{ kind: "environment" }];
  const gasNeeded = limits.reduce((sum, gas) => sum + gas, 2n * Simulate.witnessGas({ before, calls: [], after: [] }));
  // guard: gas in a block that is a little smaller
  const isCramped = BigInt(context?.gasLimit ?? room ?? gasNeeded) < gasNeeded;
  return {
    name: "gas",
    calls: Arr.zipWith(bundle, limits, ({ input, request }, gas) => ({
      input,
      request: request === null ? bareCall(input, gas) : { ...exactCall(request, input.from), gas },
      gas,
    })),
    before,
    after: [],
    block,
    ahead,
    stateOverrides: { ...stateOverrides, ...Object.fromEntries(able) },
    // why: the block of a world may be a little smaller than the one that limits are taken from
    blockOverrides: isCramped ? { ...context, gasLimit: gasNeeded } : context,
    pretended: true,
  };
};

/** The requests at other limits, or in another order, in the block of a world. */
const limitsPlan = (claim: Claim, world: World): Simulate.Plan => {
  const { bundle, limits = Arr.map(bundle, ({ request }) => request.gas), apart } = world;
  const { options, observed } = claim.report;
  return { ...gasPlan({ ...world, options, room: observed.gasLimit }, limits), name: nameOf(world), apart };
};

/** As a scan runs the calls: gas is free, and there is as much as any transaction may have; of neither a report is asked. */
const amplePlan = (claim: Claim, world: World): Simulate.Plan => {
  const cap = claim.chain.txGasCap ?? eip7825Cap;
  const calls = claim.bundle.map(({ input, request }) => {
    const gas = request.gas > cap ? request.gas : cap;
    const { gasPrice: _, maxFeePerGas: __, maxPriorityFeePerGas: ___, ...call } = exactCall(request, input.from);
    const price = input.origin?.signing === undefined ? {} : pricedBy(input);
    return { input, request: { ...call, ...price, gas }, gas, least: request.gas };
  });
  const before: ReadonlyArray<Query> = [{ kind: "environment" }];
  const needed = calls.reduce((sum, { gas }) => sum + gas, Simulate.witnessGas({ calls: [], before, after: [] }));
  const plan = wholePlan(claim, world);
  // why: a contract may ask how much a block holds
  const gasLimit = BigInts.max(needed, BigInt(plan.blockOverrides?.gasLimit ?? claim.report.observed.gasLimit ?? 0));
  return {
    ...plan,
    ...{ calls, before, between: () => [], after: [], room: mostWitnessGas, lens: [], second: [] },
    blockOverrides: { ...plan.blockOverrides, baseFeePerGas: 0n, gasLimit },
  };
};

/** The witness alone. */
const readerPlan = (claim: Claim, { block, context }: World): Simulate.Plan => {
  const plan = readerOnlyPlan(claim.report.options, block, [...accountQueries(claim), ...oracleQueries(claim)]);
  const isNamed = Object.keys(context).length > 0;
  const read = { lens: lensOf(claim), named: claim.named ?? [] };
  return { ...plan, blockOverrides: isNamed ? context : plan.blockOverrides, ...read };
};

const plans: Readonly<Record<World["form"], (claim: Claim, world: World) => Simulate.Plan>> = {
  whole: wholePlan,
  effects: (claim, world) => ({ ...wholePlan(claim, world), lens: [] }),
  ample: amplePlan,
  reader: readerPlan,
  limits: limitsPlan,
};

/** The run of a world. */
export const planOf = (claim: Claim, world: World): Simulate.Plan => plans[world.form](claim, world);

/** True if what a bundle does may hang on all of it being in one block, and `exact` has it so. */
export const isTogether = ({ bundle, worlds: { rows }, report }: Claim): boolean =>
  bundle.length > 1 && rows[0].apart === null && report.transactions.some(runsCode);

/** The reasons for which worlds are asked with every attempt; all others are asked by a rule. */
const reasons: Readonly<Partial<Record<World["why"], (claim: Claim) => boolean>>> = {
  always: () => true,
  nearer: () => true,
  nonceAhead: (claim) => doubtful(claim).length > 0,
  notScanned: ({ asksBare }) => asksBare,
  notMeasured: looksAlone,
  otherSenders: ({ bundle, report }) => bundle.some((_, place) => mayDepend(report, place)),
  manyBlocks: isTogether,
  doubtfulLimit: () => true,
};

/** The worlds that are asked with an attempt. */
export const worldsAsked = (claim: Claim): ReadonlyArray<World> =>
  claim.worlds.rows.filter(({ why }) => reasons[why]?.(claim) === true);

/** The bytes that a chain's fees hang on, of requests as they would be signed. */
export const subjectsOf = (bundle: Bundle<Signed>): ReadonlyMap<number, FeeSubject> =>
  new Map(
    bundle.flatMap(({ index, request }) => {
      const unsigned = unsignedBytes(request);
      return unsigned === null ? [] : [[index, { unsigned, gasLimit: request.gas }] as const];
    }),
  );
