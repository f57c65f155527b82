/** The storage lens of the runs: what it looks at, and what it showed. */
import type { Address } from "../../primitives/hex.js";
import type { Finding } from "../../report/finding.js";
import type { Filled } from "../../steps/reading/bundle.js";
import { successOf, type Heard } from "../../steps/reading/heard.js";
import * as Proxies from "../../steps/reading/proxies.js";
import type * as Simulate from "../../steps/simulate.js";
import type { Round } from "../answers.js";
import type { Signed } from "../choose.js";

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
