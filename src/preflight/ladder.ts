/** The gas limits that a proof runs beside the one of the request: wider ones, and ample gas to compare with. Pure. */
import { eip7825Cap } from "../Chains.js";
import type { Report } from "../report/schema.js";
import { between } from "../steps/reading/sameOutcome.js";
import type { Request } from "../transaction/request.js";

/** What to run beside the requests. */
export interface Ladder {
  /** The requests with wider limits that could be handed out, the tightest first. */
  readonly candidates: ReadonlyArray<ReadonlyArray<Request>>;
  /** The requests with as much gas as the payers, the cap and the block allow. */
  readonly reference: ReadonlyArray<Request>;
}

/** The wider limit beside the tight one, in percent on top of it. */
const widePercent = 50n;
/** Limits tried side by side when the wider one is not enough. */
const searched = 6;

const withLimits = (requests: ReadonlyArray<Request>, limits: ReadonlyArray<bigint>): ReadonlyArray<Request> =>
  requests.map((request, index) => ({ ...request, gas: limits[index] ?? request.gas }));

const least = (...values: ReadonlyArray<bigint>): bigint => values.reduce((a, b) => (a < b ? a : b));

/** Per transaction: the most gas it could have by cap, block and what its payer holds beyond the required. */
const ampleLimits = (report: Report, requests: ReadonlyArray<Request>): ReadonlyArray<bigint> => {
  const room = report.observed.gasLimit;
  const share = room === null ? null : room / BigInt(requests.length);
  return requests.map((request, index) => {
    const { gas, input } = report.transactions[index] ?? { gas: null, input: null };
    const funds = report.funds.find(({ account }) => account === input?.from);
    const price = request.gasPrice ?? request.maxFeePerGas ?? 0n;
    const own = BigInt(report.transactions.filter((transaction) => transaction.input.from === input?.from).length);
    const spare =
      funds === undefined || funds.balance === null || funds.required === null || funds.balance < funds.required
        ? 0n
        : funds.balance - funds.required;
    const affordable = price === 0n ? (gas?.cap ?? eip7825Cap) : request.gas + spare / (price * own);
    const most = least(affordable, gas?.cap ?? eip7825Cap, share ?? eip7825Cap);
    return most > request.gas ? most : request.gas;
  });
};

const isPlain = (report: Report, index: number): boolean => {
  const gas = report.transactions[index]?.gas;
  return gas === undefined || gas.limit === null || gas.limit === gas.used;
};

const differs = (a: ReadonlyArray<bigint>, b: ReadonlyArray<bigint>): boolean =>
  a.some((limit, index) => limit !== b[index]);

/**
 * The ladder of a report that was scanned; null where none would help: nothing is executed, or it was
 * proven before and its limits stand.
 */
export const ladderOf = (report: Report, requests: ReadonlyArray<Request>): Ladder | null => {
  if (report.stage === "proven") return null;
  const tight = requests.map(({ gas }) => gas);
  const lifted = ampleLimits(report, requests);
  const ample = tight.map((gas, index) => (isPlain(report, index) ? gas : (lifted[index] ?? gas)));
  if (!differs(ample, tight)) return null;
  const free = (limits: ReadonlyArray<bigint>): ReadonlyArray<bigint> =>
    limits.map((limit, index) => (report.transactions[index]?.gas.fixed === true ? (tight[index] ?? limit) : limit));
  const wide = tight.map((gas, index) => least((gas * (100n + widePercent)) / 100n, ample[index] ?? gas));
  const handed = [free(wide), free(ample)].filter(
    (limits, index, all) => differs(limits, tight) && (index === 0 || differs(limits, all[0] ?? [])),
  );
  return {
    candidates: handed.map((limits) => withLimits(requests, limits)),
    reference: withLimits(requests, ample),
  };
};

/** Limits between the wider and the ample ones, when only ample gas does what ample gas does. */
export const searchBetween = (
  requests: ReadonlyArray<Request>,
  { candidates }: Ladder,
): ReadonlyArray<ReadonlyArray<Request>> => {
  const wide = candidates[0] ?? requests;
  const ample = candidates[candidates.length - 1] ?? wide;
  const ladders = wide.map(({ gas }, index) => between(gas, ample[index]?.gas ?? gas, searched));
  return Array.from({ length: searched }, (_, rung) =>
    withLimits(
      requests,
      wide.map(({ gas }, index) => ladders[index]?.[rung] ?? gas),
    ),
  );
};
