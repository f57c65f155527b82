/** What a proof checks beyond the steps: that its requests are its own, and how much of the state it stood on is known. Pure. */
import { gap, NotProven } from "../errors/verdicts.js";
import { count } from "../primitives/statement.js";
import { fromError, note, type Finding } from "../report/finding.js";
import { isFirst, type Bundle } from "../steps/reading/bundle.js";
import { successOf } from "../steps/reading/heard.js";
import { isRequestOf } from "../transaction/request.js";
import { knows } from "../witness/view.js";
import type { Signed } from "./choose.js";
import { measureQueries } from "./limits.js";
import type { Proof } from "./askProof.js";
import { inFlightOf, unasked, type Claim } from "./proofPlans.js";

/**
 * Whether the signed nonce is ahead of the state that was simulated on. A state other than `pending`
 * holds nothing of the pool, also where the node does not check nonces.
 */
const isAhead = (claim: Claim, { round, assumed }: Proof): boolean =>
  assumed !== null ||
  // why: a node that does not validate refuses nothing for a state that lacks the predecessors
  // guard: a node that does not validate, with some in flight
  (inFlightOf(claim) > 0 && successOf(round.run)?.plan.without?.has("validation") === true) ||
  (round.block !== "pending" &&
    claim.bundle.some((one) => {
      const latest = successOf(round.counts.get(one.signer)?.latest);
      return isFirst(one, claim.bundle) && latest !== null && one.request.nonce > latest;
    }));

/** `isAlike` = the next block, which has nothing of what is in flight, did the same. */
export const checkAhead = (claim: Claim, proof: Proof, isAlike: boolean): ReadonlyArray<Finding> => {
  const inFlight = inFlightOf(claim);
  // guard: own transactions in flight that the state lacks
  if (!isAhead(claim, proof))
    return isAlike && inFlight > 0
      ? [note("BehindInFlight", "info", { evidence: "measured" }, count("in flight", inFlight))]
      : [];
  const code = proof.assumed?._tag === "NonceTooLow" ? "NonceAssumed" : "PredecessorsNotSimulated";
  return [note(code, "warning", { evidence: "assumed" })];
};

/** Where pending state is a guess, and the node simulates on nothing else: others' transactions are in both worlds. */
export const checkStates = ({ report, chain, worlds }: Claim): ReadonlyArray<Finding> =>
  (report.options.pending ?? chain.pending) === "guess" && worlds.next.state === "pending"
    ? [note("SealedStateUnseen", "info", { evidence: "unavailable" })]
    : [];

/** Balances and rights that found no room, or no gas, to be read. */
export const checkMeasured = (claim: Claim, { round }: Proof): ReadonlyArray<Finding> => {
  const { measure } = claim;
  const run = successOf(round.run);
  const unread =
    run === null || !run.witnessed
      ? 0
      : measureQueries({ ...measure, tokens: [] }).filter(
          (query) => !knows(run.before, query) || !knows(run.after, query),
        ).length;
  // why: what was not asked is not read either
  const missing = measure.cut + Math.max(unasked(claim), unread);
  // guard: what found no room to be read
  return missing === 0 ? [] : [note("PartiesCut", "warning", { evidence: "logged" }, count("not measured", missing))];
};

export const checkRequests = (bundle: Bundle<Signed>): ReadonlyArray<Finding> =>
  // guard: requests are those of the inputs
  bundle.every(({ input, request }) => isRequestOf(input, request))
    ? []
    : [
        fromError(
          new NotProven({ missing: [gap("Altered", "the requests are not those of the report's inputs")] }),
          "unavailable",
          { step: "proof", evidence: "measured" },
        ),
      ];
