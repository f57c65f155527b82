/** Calls that ask for a movement or a right: what the calldata, its batches and a trace ask for beside what happened. Lives on the witness; pure. */
import { everything } from "../../abi/known/rights.js";
import { argumentsAt, padded, placeOf, wordAt, wordOf } from "../../abi/words.js";
import { effectsIn } from "../../effects/effects.js";
import { askedBy, type Asked } from "../../effects/asked.js";
import { framesOf, type Frame } from "../../effects/frames.js";
import type { Right } from "../../effects/rights.js";
import { type Address, type Hex, lower } from "../../primitives/hex.js";
import { isAnswering } from "../../effects/returned.js";
import { isRecord } from "../../primitives/record.js";
import { address, text, units } from "../../primitives/statement.js";
import type { InnerFailure } from "../../report/beside.js";
import { code, type Finding } from "../../report/finding.js";
import { readUint256 } from "../../witness/answers.js";
import { allowance, balanceOf, type CallQuery, type Query } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";
import type { Case, Ran } from "./bundle.js";
import type { Facts } from "./answers.js";
import { amountIn, balanceQuery, holding, type Holding } from "./holdings.js";
import { levelIn, queryOf } from "./rightLevel.js";
import { codeIn, mayBorrow, type Sights } from "./runCode.js";

/** Calls of one transaction that are held against what happened. */
const mostAsks = 48;
/** The same of a trace, which nobody's calldata has to pay for. */
const mostTraced = 256;

/** The movement that a call asks for, by the balances at its ends (a mint or a burn has one), or the right; else null. */
const wantedBy = ({ row, call, moves, rights }: Asked) => {
  const [[move], [right]] = [moves, rights];
  if (call.as !== undefined || call.isMeans === true) return null;
  if (move !== undefined && (move.amount !== null || move.tokenId === null)) {
    const { token, from, to, tokenId, amount } = move;
    const endOf = (account: Address | null) => (account === null ? null : holding(account, token, tokenId));
    // why: one NFT moves where the function names no amount
    return { kind: "move", token, amount: amount ?? 1n, owner: endOf(from), receiver: endOf(to) } as const;
  }
  // why: what Permit2 keeps hangs on the time
  if (right === undefined || right.standard === "permit2") return null;
  const { changes } = row;
  // why: taking some away names an amount that is not the level which is left
  const taken = changes === "less" ? (wordAt(padded(call.data, 2), placeOf(1)) ?? 0n) : null;
  return { kind: "right", right: { ...right, open: null }, amount: taken ?? right.claim, changes } as const;
};
type Wanted<Kind = unknown> = Extract<ReturnType<typeof wantedBy>, { readonly kind: Kind }>;

/** Contracts that are asked whether they are tokens. */
const mostDoubted = 4;

/** A call that asks for something, and what is known of its answer: null = nobody saw it. */
interface Ask {
  readonly asked: Asked;
  readonly wanted: Wanted;
  readonly answer: Hex | null;
  readonly isOuter: boolean;
  readonly hasFailed: boolean;
}

const askOf = (asked: Asked, told: Omit<Ask, "asked" | "wanted">): ReadonlyArray<Ask> => {
  const wanted = wantedBy(asked);
  return wanted === null ? [] : [{ asked, wanted, ...told }];
};

/** The calls of the calldata that ask for a movement or a right, the outer one first. */
const asksIn = (entry: Case): ReadonlyArray<Ask> =>
  effectsIn([entry], "call")
    .slice(0, mostAsks)
    .flatMap((asked, place) => askOf(asked, { answer: null, isOuter: place === 0, hasFailed: false }));

/** The reads that tell what is asked for; none of a right that nothing tells of. */
const readsOf = (wanted: Wanted): ReadonlyArray<Query> =>
  wanted.kind === "right"
    ? [queryOf(wanted.right)].filter((query) => query !== null)
    : [wanted.owner, wanted.receiver].flatMap((end) => (end === null ? [] : [balanceQuery(end)]));

/** Queries before and after the transactions, for what token calls ask to move or to grant. */
export const queries = (bundle: ReadonlyArray<Case>): ReadonlyArray<Query> =>
  bundle.flatMap((entry) =>
    asksIn(entry).flatMap(({ asked: { contract }, wanted, isOuter }): ReadonlyArray<Query> => {
      const { from } = entry.input;
      const owner = wanted.kind === "move" ? wanted.owner : null;
      const isTaken = isOuter && owner !== null && owner.account !== from && owner.tokenId === null;
      return [...readsOf(wanted), ...(isTaken ? [allowance(contract, owner.account, from)] : [])];
    }),
  );

/** True if a balance changed otherwise than the events of the whole bundle tell. */
const isUntold = (of: Holding, bundle: ReadonlyArray<Ran>, { before, after }: Sights) => {
  const [had, has] = [amountIn(before, of), amountIn(after, of)];
  if (had === null || has === null) return false;
  const told = effectsIn(bundle, "movement")
    .filter(({ token, tokenId }) => token === of.token && (of.tokenId === null || tokenId === of.tokenId))
    .reduce(
      (sum, { from, to, amount }) => sum + (to === of.account ? amount : 0n) - (from === of.account ? amount : 0n),
      0n,
    );
  return has - had !== told;
};

const isSameRight = (a: Right, b: Right) => a.keeper === b.keeper && a.owner === b.owner && a.spender === b.spender;

/**
 * True if an event of the call, or a balance that no event explains, shows that something moved; `isPair` = from the one
 * end to the other, for several calls may be asked to pay the same receiver.
 */
const isMoved = (
  entry: Ran,
  { token, amount, owner, receiver }: Wanted<"move">,
  bundle: ReadonlyArray<Ran>,
  views: Sights,
  isPair = false,
) =>
  amount === 0n ||
  owner?.account === receiver?.account ||
  entry.transfers.some(
    (moved) =>
      moved.token === token &&
      moved.amount > 0n &&
      (!isPair || owner === null || moved.from === owner.account) &&
      // guard: a fee alone is not what was asked for
      (receiver === null ? moved.from === owner?.account : moved.to === receiver.account),
  ) ||
  [owner, receiver].some((end) => end !== null && isUntold(end, bundle, views));

/** True if others move the owner's tokens in the call or behind it. */
const isSpent = ({ index }: Ran, { token, owner }: Right, bundle: ReadonlyArray<Ran>): boolean =>
  bundle.some(
    (other) =>
      (other.index === index || (other.index > index && (other.input.from !== owner || other.input.to !== token))) &&
      other.transfers.some((moved) => moved.token === token && moved.from === owner),
  );

/** True if a right is at the level that was asked for. */
const isLevel = ({ changes, amount }: Wanted<"right">, has: bigint | null): boolean =>
  changes === undefined ? has === amount : amount === 0n || has === (changes === "more" ? everything : 0n);

/** True if the right is there, or changed, or an event of the call tells of it that no measure contradicts. */
const isGiven = (entry: Ran, grant: Wanted<"right">, bundle: ReadonlyArray<Ran>, { before, after }: Sights) => {
  const { right } = grant;
  const [had, has] = [levelIn(before, right).amount, levelIn(after, right).amount];
  const others = bundle.filter(({ index }) => index !== entry.index);
  const tells = (kind: "right" | "request", some: ReadonlyArray<Ran>) =>
    effectsIn(some, kind).some((row) => isSameRight(row, right));
  const [isAnnounced, isOthers] = [tells("right", [entry]), tells("right", others) || tells("request", others)];
  const isMeasured = had !== null && has !== null;
  // guard: an event of a right that is measured not to be there
  const isBelieved = !isMeasured || had !== has || isOthers || isSpent(entry, right, bundle);
  return isLevel(grant, has) || (isAnnounced && isBelieved) || (isMeasured && had !== has && !isOthers);
};

/** True if anything at all shows that what was asked for is there: an event of the call itself, or a measurement. */
const isDone = (entry: Ran, wanted: Wanted, bundle: ReadonlyArray<Ran>, views: Sights, isPair = false): boolean =>
  wanted.kind === "move" ? isMoved(entry, wanted, bundle, views, isPair) : isGiven(entry, wanted, bundle, views);

const isAnswered = (wanted: Wanted, { before, after }: Sights): boolean =>
  [before, after].some((view) =>
    wanted.kind === "right"
      ? levelIn(view, wanted.right).amount !== null
      : readsOf(wanted).some((query) => readUint256(view.call(query as never)) !== null),
  );

/** True if both ends of a movement, or the level of a right, were seen in front of the transactions and behind them. */
const isMeasured = (wanted: Wanted, { before, after }: Sights): boolean =>
  [before, after].every((view) =>
    wanted.kind === "right"
      ? levelIn(view, wanted.right).amount !== null
      : [wanted.owner, wanted.receiver].every((end) => end === null || amountIn(view, end) !== null),
  );

/**
 * The transaction succeeds on the chain and does nothing: a token that is paused, or lacks the balance or the
 * allowance, may answer `false` where others revert. So is any other answer that is not `true`. A token that moves or
 * grants what was asked is not told of, whatever it answers.
 * @figures text("function", "transfer"), address("token", usdc), units("asked for", 5_000_000n), units("moved", 0n)
 */
export const ReturnedFalse = code("simulate", ["warning"], "ReturnedFalse", [
  "the call did not return true, and nothing shows that what it asks for happens",
  "do not rely on it; check why the contract refuses",
]);

/**
 * A call inside a batch, an account or another contract asks a token to move or to grant something; or the transaction
 * itself does, and gets no answer. No event, balance or allowance shows that it happens: the token refuses in silence, or
 * passes over a function that it does not have.
 * @figures text("function", "approve"), address("token", usdc), address("spender", pool), units("asked for", 5_000_000n),
 *   units("allowed", 0n), text("because", "it returned nothing")
 */
export const AskedInVain = code("simulate", ["warning"], "AskedInVain", [
  "a token is asked to move or to grant something, and nothing shows that it happens",
  "do not rely on it; check why the token does not do it",
]);

/**
 * True if a contract that answers no such read may be a token all the same, which refuses it: its code has the selector of the
 * read, or was not read, or runs other code and says nothing; what it answered is then one word of zero.
 */
const mayRefuse = ({ input, outcome }: Ran, wanted: Wanted, answers: Pick<Facts, "before" | "after" | "codes">) => {
  const code = input.to === null ? null : codeIn(input.to, answers);
  const selectors = readsOf(wanted).flatMap((query) =>
    query.kind === "call" ? [query.data.slice(2, argumentsAt)] : [],
  );
  const isRead = code !== null && selectors.some((selector) => code.includes(selector));
  const isSilent = !outcome.logs.some(({ address: emitter }) => lower(emitter) === input.to);
  return outcome.returnData === wordOf(0n) && (isRead || (isSilent && (code === null || mayBorrow(code))));
};

/** The amount that was asked for and the one that there is, as figures. */
const amountsOf = (wanted: Wanted, moved: bigint | null, after: View) =>
  wanted.kind === "move"
    ? [units("asked for", wanted.amount), units("moved", moved)]
    : [
        address("spender", wanted.right.spender),
        units("asked for", wanted.amount),
        units("allowed", levelIn(after, wanted.right).amount),
      ];

/** Facts that asks are held against. */
// `isHarmless` = of a failure inside that is no warning; absent = every one is
type VainFacts = Pick<Facts, "before" | "after" | "codes" | "traces"> & Partial<Record<"isHarmless", Excuse>>;
type Excuse = (failure: InnerFailure) => boolean;

/** A warning for each transaction whose own call does not answer `true`. By its selector alone only a contract that answers as a token does is asked, or that may be one which does not; by the caller's ABI any is. */
export const checkFalse = (bundle: ReadonlyArray<Ran>, answers: VainFacts): ReadonlyArray<Finding> =>
  bundle.flatMap((entry) => {
    const { index: transaction, input, outcome } = entry;
    const [returned] = effectsIn([entry], "returned");
    if (returned === undefined || input.to === null) return [];
    const where = { transaction, evidence: outcome.evidence };
    const [outer] = effectsIn([entry], "call");
    const wanted = outer === undefined || !isAnswering(outer) ? null : wantedBy(outer);
    if (wanted === null) {
      const { item } = input;
      const name = isRecord(item) && typeof item["name"] === "string" ? item["name"] : null;
      return [ReturnedFalse.warning(where, text("function", name), address("contract", input.to))];
    }
    const isToken = isAnswered(wanted, answers);
    if (returned.isFalseBy === "selector" && !isToken && !mayRefuse(entry, wanted, answers)) return [];
    if (isDone(entry, wanted, bundle, answers)) return [];
    const parties = [text("function", outer?.row.answers ?? null), address("token", input.to)];
    return [ReturnedFalse.warning(where, ...parties, ...amountsOf(wanted, isToken ? 0n : null, answers.after))];
  });

/** True if a call that failed holds this one, or may be this one: a warning tells that, and what is undone asks for nothing. */
const isUndone = ({ outcome: { inner } }: Ran, { call }: Asked, { isHarmless }: VainFacts): boolean =>
  inner?.failed.some(
    (failed) =>
      isHarmless?.(failed) !== true && (failed.data === null || failed.data.toLowerCase().includes(call.data.slice(2))),
  ) === true;

/** The calls inside that a tracer saw ask for something. */
const tracedAsks = (frames: ReadonlyArray<Frame>, transaction: number): ReadonlyArray<Ask> =>
  frames.flatMap(({ from, to, data, answer, hasFailed, isBorrowed, isIdle }) =>
    // why: who is not there is told by another name
    to === null || isBorrowed || isIdle
      ? []
      : askOf(askedBy({ from, to, data }, transaction), { answer, isOuter: false, hasFailed }),
  );

/** The reason why an ask was not fulfilled, by its answer; null where its answer says that it was, or says something else. */
const reasonOf = ({ answer, hasFailed, asked: { row } }: Ask): string | null => {
  if (hasFailed) return row.grant === undefined ? "it failed, and the caller ignored that" : null;
  if (answer === null) return "nobody saw what it returned";
  if (answer === "0x") return "it returned nothing";
  return answer === wordOf(0n) ? "it returned false" : null;
};

/** Balances that tell of contracts if they are tokens, of those that a tracer saw to refuse or to say nothing: the first of each. */
export const doubted = (trace: unknown): ReadonlyMap<Address, CallQuery> =>
  new Map(
    [
      ...new Map(
        tracedAsks(framesOf(trace), 0)
          .filter((ask) => reasonOf(ask) !== null)
          .map(({ asked: { contract, call } }) => [contract, balanceOf(contract, call.from)]),
      ),
    ].slice(0, mostDoubted),
  );

/** All that a transaction asks for, each once: with the answer where a tracer saw it. */
const everyAsk = (entry: Ran, frames: ReadonlyArray<Frame>, answers: VainFacts): ReadonlyArray<Ask> => {
  const keyOf = ({ asked: { call } }: Ask) => `${call.from}${call.to}${call.data}`.toLowerCase();
  const all = tracedAsks(frames, entry.index);
  const seen = new Set(all.map(keyOf));
  // why: whoever asks for much that is done hides nothing by it
  const traced = all.filter((ask) => reasonOf(ask) !== null).slice(0, mostTraced);
  const isAsked = ({ asked }: Ask) => !isUndone(entry, asked, answers);
  const asks = asksIn(entry).filter((ask) => !ask.isOuter && isAsked(ask) && !seen.has(keyOf(ask)));
  const [outer] = asksIn(entry).filter(({ isOuter }) => isOuter);
  return [
    // why: any other answer of the transaction's own call is judged by itself
    ...(outer === undefined || entry.outcome.returnData !== "0x" ? [] : [{ ...outer, answer: "0x" as const }]),
    ...asks,
    ...traced.filter(isAsked),
  ];
};

/** True if an event of the token names both ends, whatever it is called; of a mint or burn, any event of the token's. */
const isNamed = ({ outcome }: Ran, { wanted, asked: { contract } }: Ask): boolean => {
  const ends =
    wanted.kind === "move"
      ? [wanted.owner?.account ?? null, wanted.receiver?.account ?? null]
      : [wanted.right.owner, wanted.right.spender];
  return outcome.logs.some(({ address: emitter, topics, data }) => {
    const words = [...topics.slice(1), data].join("").toLowerCase();
    const isNaming = ends.includes(null) || ends.every((end) => words.includes((end ?? "0x").slice(2)));
    return lower(emitter) === contract && isNaming;
  });
};

/** True if a right is used, of which a token need not tell, or a permit's was there before: anybody may use the permit. */
const isUsed = (entry: Ran, { wanted, asked: { row } }: Ask, bundle: ReadonlyArray<Ran>, { before, after }: Sights) =>
  wanted.kind === "right" &&
  wanted.amount > 0n &&
  (isSpent(entry, wanted.right, bundle) ||
    (row.grant?.isPermit === true &&
      [before, after].some((view) => (levelIn(view, wanted.right).amount ?? 0n) >= wanted.amount)));

/** The name of a function that asks for something, as far as it is known. */
const nameOf = ({ asked: { row }, wanted }: Ask): string =>
  row.answers ?? (wanted.kind === "move" ? "transfer" : row.grant?.isPermit === true ? "permit" : "approval");

/**
 * True if a contract is a token by its own reads: by one of them where the answer says that nothing happened, and by both
 * sides of all of them where that is to be seen of the reads alone.
 */
const isKnownToken = ({ answer, hasFailed, wanted }: Ask, sights: Sights): boolean =>
  hasFailed || (answer !== null && answer !== "0x") ? isAnswered(wanted, sights) : isMeasured(wanted, sights);

/** A warning for each call that is asked of a token, does not say that it was done, and of which nothing shows that it was. */
export const checkSilence = (bundle: ReadonlyArray<Ran>, answers: VainFacts): ReadonlyArray<Finding> =>
  bundle.flatMap((entry) => {
    const { index: transaction, outcome } = entry;
    if (outcome.status !== "success") return [];
    const where = { transaction, evidence: "measured" } as const;
    const trace = answers.traces?.[transaction];
    const frames = framesOf(trace?.trace);
    return everyAsk(entry, frames, answers).flatMap((ask) => {
      const { wanted, asked } = ask;
      const reason = reasonOf(ask);
      const isFulfilled = () =>
        isDone(entry, wanted, bundle, answers, true) || isNamed(entry, ask) || isUsed(entry, ask, bundle, answers);
      const isToken = isKnownToken(ask, answers) || trace?.tokens.has(asked.contract) === true;
      if (reason === null || !isToken || isFulfilled()) return [];
      const parties = [text("function", nameOf(ask)), address("token", asked.contract)];
      const amounts = amountsOf(wanted, 0n, answers.after);
      return [AskedInVain.warning(where, ...parties, ...amounts, text("because", reason))];
    });
  });
