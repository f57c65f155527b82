/** The storage lens of the runs: asked beside them, given up where a node takes no further entry, and what it showed. */
import * as Effect from "effect/Effect";
import type { AbiIndex } from "../../abi/abiIndex.js";
import type { RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";
import type { Address } from "../../primitives/hex.js";
import type { Finding } from "../../report/finding.js";
import { Rpc } from "../../Rpc.js";
import { learnLack } from "../../rpc/memory.js";
import type { Filled } from "../../steps/reading/bundle.js";
import { successOf, type Failure, type Heard } from "../../steps/reading/heard.js";
import * as Proxies from "../../steps/reading/proxies.js";
import * as Simulate from "../../steps/simulate.js";
import type { Round } from "../answers.js";
import type { Signed } from "../choose.js";
import { inNextRound } from "../ledger.js";
import { askTaken } from "./taken.js";

/** What may be the further entry's doing: of a refused form, or left too little of the gas that a node gives one request. */
const mayRefuse: ReadonlySet<string> = new Set<Verdict["_tag"] | RpcError["reason"]["_tag"]>([
  ...(["InvalidParams", "SimBlockOrder", "NodeLimitExceeded", "MalformedResponse", "InternalError"] as const),
  ...(["IntrinsicGasTooLow", "BlockGasLimitExceeded"] as const),
]);
/** What says so of every request, whatever its calls do. */
const refuses: ReadonlySet<string> = new Set<RpcError["reason"]["_tag"]>(["InvalidParams", "SimBlockOrder"]);

/** A run; without its lens where the endpoint refuses that. JSON-RPC: `eth_simulateV1`, in one more round to find out. */
export const askLensed = (plan: Simulate.Plan, abis: AbiIndex): Effect.Effect<Simulate.Run, Failure, Rpc> =>
  Effect.flatMap(Rpc, ({ memory }) => {
    if ((plan.lens ?? []).length === 0) return askTaken(plan, abis);
    const unlensed = Effect.map(askTaken({ ...plan, lens: [] }, abis), (run): Simulate.Run => ({
      ...run,
      slots: null,
    }));
    if (memory.recall("lacks")?.has("entries") === true) return unlensed;
    const without = (failure: Failure) => {
      const said = failure._tag === "RpcError" ? failure.reason._tag : failure._tag;
      // why: a number that we have set is refused where the head moved, not for the further entry
      const isMoved = said === "SimBlockOrder" && plan.blockOverrides?.number !== undefined;
      if (!mayRefuse.has(said) || isMoved) return Effect.fail(failure);
      return Effect.tap(inNextRound("unsupportedPart", unlensed), () =>
        Effect.sync(() =>
          failure._tag === "RpcError" && refuses.has(said) ? learnLack(memory, "entries", failure) : undefined,
        ),
      );
    };
    return askTaken(plan, abis).pipe(Effect.catch(without));
  });

/** What is proven, and what the scan of the same call ran; null for a report from outside. */
interface Looking {
  readonly bundle: ReadonlyArray<Signed>;
  readonly scanned: Pick<Round, "run"> | null;
}

const ranBefore = ({ bundle }: Pick<Looking, "bundle">) => bundle.map((one) => ({ ...one, outcome: one.said.outcome }));

const calledBy = ({ bundle, scanned }: Looking): ReadonlyArray<Address> =>
  Proxies.callees(
    ranBefore({ bundle }),
    // why: what a report from outside says of code is not believed
    ({ said }) => scanned === null || said.code.to?.kind !== "nobody",
  );

/** The contracts whose slots a proof looks at. */
export const lensOf = (looking: Looking): ReadonlyArray<Address> => calledBy(looking).slice(0, Proxies.mostContracts);

/** Those of them that must be seen without the calls, too. */
export const suspectsOf = (looking: Looking): ReadonlyArray<Address> => {
  const run = successOf(looking.scanned?.run);
  return run === null
    ? lensOf(looking)
    : Proxies.suspects(lensOf(looking), run.slots, Proxies.safesIn(ranBefore(looking), run.before));
};

/** What changes in the proxies that the calls reach, in every world of a proof. */
export const checkSlots = (
  looking: Looking,
  { round, next }: { readonly round: Pick<Round, "run" | "alone">; readonly next: Heard<Simulate.Run> },
  bundle: ReadonlyArray<Filled>,
): ReadonlyArray<Finding> => {
  const run = successOf(round.run);
  if (run === null) return [];
  const worlds = [run, successOf(next)].filter((world) => world !== null);
  return Proxies.checkProxies(bundle, calledBy(looking), {
    before: successOf(round.alone)?.slots ?? null,
    after: worlds.map(({ slots }) => slots),
    suspects: suspectsOf(looking),
    accounts: run.before,
    evidence: run.plan.pretended ? "assumed" : "measured",
  });
};
