/**
 * A bundle placed otherwise than in `exact`: the run `reordered`, in which later senders come first, and the run `oneBlockEach`,
 * in which every transaction has a block of its own.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Order from "effect/Order";
import { code, type Finding } from "../../report/finding.js";
import { abisOf } from "../../report/options.js";
import type { Observed } from "../../report/schema.js";
import { mayDepend, runsCode } from "../../report/waits.js";
import { Rpc } from "../../rpc/index.js";
import { signers } from "../../steps/reading/bundle.js";
import { compareEffects, type Effects } from "../../steps/reading/compare.js";
import { successOf, type AskResult } from "../../steps/reading/askResult.js";
import { concernedIn, livesIn } from "../../steps/reading/addressPositions.js";
import type { Run } from "../../steps/simulate.js";
import { tagOf, type World } from "./contexts.js";
import { type ProofInput, gasPlan, trialIn } from "../proofPlans.js";
import { simulate } from "../endpoint/simulate.js";

/** A bundle placed otherwise, on which state, and what it did there. */
export interface Placed {
  readonly name: "reordered" | "oneBlockEach";
  readonly bundle: ProofInput["bundle"];
  readonly world: World;
  readonly result: AskResult<Run>;
}

/** The cases by their senders, the last sender first; one sender's own stay in their order. */
const turned = ({ bundle }: ProofInput): ProofInput["bundle"] => {
  const places = signers(bundle);
  return Arr.sortWith(bundle, ({ signer }) => -places.indexOf(signer), Order.Number);
};

/** True if what a bundle does may hang on all of it being in one block, and `exact` has it so. */
const isTogether = ({ bundle, worlds, report }: ProofInput): boolean =>
  bundle.length > 1 && worlds.exact.apart === null && report.transactions.some(runsCode);

const placingsOf = (claim: ProofInput, takesEntries: boolean): ReadonlyArray<Omit<Placed, "result">> => {
  const { report, bundle, worlds } = claim;
  const isOpen = report.transactions.some((_, index) => mayDepend(report, index));
  return [
    ...(isOpen ? [{ name: "reordered", bundle: turned(claim), world: worlds.exact } as const] : []),
    ...(takesEntries && isTogether(claim)
      ? [{ name: "oneBlockEach", bundle, world: worlds.oneBlockEach } as const]
      : []),
  ];
};

/** Asks for the bundle placed otherwise, where that may matter. JSON-RPC: `eth_simulateV1`. */
export const askPlaced = (claim: ProofInput): Effect.Effect<ReadonlyArray<Placed>, never, Rpc> =>
  Effect.flatMap(Rpc, ({ memory }) =>
    Effect.forEach(
      placingsOf(claim, memory.recall("lacks")?.has("entries") !== true),
      Effect.fnUntraced(function* (placing) {
        const { name, bundle, world } = placing;
        const limits = Arr.map(bundle, ({ request }) => request.gas);
        const plan = {
          ...gasPlan({ ...trialIn(claim, world), bundle }, limits),
          name,
          apart: name === "oneBlockEach" ? world.apart : null,
        };
        return { ...placing, result: yield* Effect.result(simulate(plan, abisOf(claim.report.options))) };
      }),
      { concurrency: "unbounded" },
    ),
  );

const effectsOf = (readings: Run["readings"]): Effects => ({
  outcomes: readings.map(({ outcome }) => outcome),
  transfers: readings.flatMap(({ transfers }) => transfers),
  ...{ balanceChanges: [], approvals: [], producer: null },
});

/** True if every case did the same in both; null where one of them says nothing. */
const agreesWith = (
  { bundle, measure, report }: ProofInput,
  exact: Run | null,
  readings: Run["readings"],
): boolean | null => {
  if (exact === null || readings.length !== bundle.length) return null;
  const found = compareEffects(effectsOf(exact.readings), effectsOf(readings), {
    ...{ tolerance: report.options.tolerance, whose: new Set(), numbers: null },
    concerned: concernedIn(bundle, measure.parties, measure.doubtful, livesIn([exact.before, exact.after])),
  });
  return found.every(({ kind }) => kind === "address");
};

/** The placings as worlds beside `exact`. */
export const worldsOfPlaced = (
  claim: ProofInput,
  exact: Run | null,
  placed: ReadonlyArray<Placed>,
): Observed["worlds"] =>
  placed.map(({ name, bundle, world, result }) => {
    const run = successOf(result);
    const block = run?.block;
    const places = bundle.map(({ index }) => index);
    const readings = claim.bundle.flatMap(({ index }) => run?.readings[places.indexOf(index)] ?? []);
    const state = name === "reordered" ? tagOf(claim.report) : world.state;
    return {
      ...{ run: name, state, number: block?.number ?? null, timestamp: block?.timestamp ?? null },
      ...{ feeRecipient: block?.miner ?? null, gasLimit: block?.gasLimit ?? null },
      agrees: agreesWith(claim, exact, readings),
    };
  });

/** The node could not simulate the bundle in several blocks. */
export const BundleInOneBlock = code("proof", ["warning"], "BundleInOneBlock", [
  "the bundle was proven in one block only, but it may be mined in several",
  "send them one at a time, each after its own preflight",
]);

/** Nothing holds the transactions of a bundle together: what was seen in one block alone is not what will be mined. */
export const checkApart = (claim: ProofInput, worlds: Observed["worlds"]): ReadonlyArray<Finding> => {
  const apart = worlds.find(({ run }) => run === "oneBlockEach");
  // guard: a bundle in several blocks on sealed state
  if (!isTogether(claim) || apart?.agrees === true) return [];
  return [BundleInOneBlock.warning({ evidence: apart?.agrees === false ? "measured" : "unavailable" })];
};
