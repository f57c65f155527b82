/** Whether the senders of a bundle depend on each other: the run `order`, in which the later ones come first. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Order from "effect/Order";
import type { Observed } from "../report/schema.js";
import { mayDepend } from "../report/waits.js";
import type { Rpc } from "../Rpc.js";
import { signers } from "../steps/reading/bundle.js";
import { differences, type Story } from "../steps/reading/differences.js";
import { successOf, type Heard } from "../steps/reading/heard.js";
import { concernedIn, movedPlaces } from "../steps/reading/places.js";
import { ask, type Run } from "../steps/simulate.js";
import { blockOf, gasPlan, trialIn, type Claim } from "./proofPlans.js";

/** The cases by their senders, the last sender first; one sender's own stay in their order. */
const turned = ({ bundle }: Claim): Claim["bundle"] => {
  const places = signers(bundle);
  return Arr.sortWith(bundle, ({ signer }) => -places.indexOf(signer), Order.Number);
};

/** The run `order`; null where nothing could depend on another sender. JSON-RPC: `eth_simulateV1`. */
export const askOrder = (claim: Claim): Effect.Effect<Heard<Run> | null, never, Rpc> => {
  if (!claim.report.transactions.some((_, index) => mayDepend(claim.report, index))) return Effect.succeed(null);
  const bundle = turned(claim);
  const limits = Arr.map(bundle, ({ request }) => request.gas);
  const plan = { ...gasPlan({ ...trialIn(claim, claim.worlds.exact), bundle }, limits), name: "order" as const };
  return Effect.result(ask(plan, claim.abis));
};

const storyOf = (readings: Run["readings"]): Story => ({
  outcomes: readings.map(({ outcome }) => outcome),
  transfers: readings.flatMap(({ transfers }) => transfers),
  balanceChanges: [],
  approvals: [],
});

/** Whether every case did the same in both orders; null where one of them says nothing. */
const agreesWith = ({ bundle, measure, report }: Claim, exact: Run | null, placed: Run["readings"]): boolean | null => {
  if (exact === null || placed.length !== bundle.length) return null;
  const [one, other] = [storyOf(exact.readings), storyOf(placed)];
  const concerned = concernedIn(bundle, measure.accounts);
  const { decisive } = movedPlaces({ ...one, producer: null }, { ...other, producer: null }, concerned);
  return decisive.length === 0 && differences(one, other, report.options.tolerance).length === 0;
};

/** The other order as a world beside `exact`. */
export const worldOfOrder = (claim: Claim, exact: Run | null, heard: Heard<Run> | null): Observed["worlds"] => {
  if (heard === null) return [];
  const run = successOf(heard);
  const block = run?.block;
  const places = turned(claim).map(({ index }) => index);
  const placed = claim.bundle.flatMap(({ index }) => run?.readings[places.indexOf(index)] ?? []);
  const agrees = agreesWith(claim, exact, placed);
  return [
    {
      ...{ run: "order", state: blockOf(claim), number: block?.number ?? null, timestamp: block?.timestamp ?? null },
      ...{ feeRecipient: block?.miner ?? null, gasLimit: block?.gasLimit ?? null, agrees },
    },
  ];
};
