/** Calls that answer anything but `true` where a `bool` says whether they worked: what they ask for beside what happened. Lives on the witness; pure. */
import { everything } from "../../abi/known/rights.js";
import { argumentsAt, padded, placeOf, wordAt, wordOf } from "../../abi/words.js";
import { effectsIn } from "../../effects/effects.js";
import type { Right } from "../../effects/rights.js";
import { type Address, lower } from "../../primitives/hex.js";
import { isAnswering } from "../../effects/returned.js";
import { isRecord } from "../../primitives/record.js";
import { address, text, units } from "../../primitives/statement.js";
import { code } from "../../report/finding.js";
import { readUint256 } from "../../witness/answers.js";
import { allowance, type Query } from "../../witness/queries.js";
import type { Case, Ran } from "./bundle.js";
import type { Facts } from "./answers.js";
import { amountIn, balanceQuery, holding, type Holding } from "./holdings.js";
import { levelIn, queryOf } from "./rightLevel.js";
import { codeIn, mayBorrow, type Sights } from "./runCode.js";

/** The movement that the outer call asks for, by the balances at its ends (a mint or a burn has one), or the right; else null. */
const wantedBy = (entry: Case) => {
  const [outer] = effectsIn([entry], "call");
  if (outer === undefined || !isAnswering(outer)) return null;
  const { row, call, moves, rights } = outer;
  const [[move], [right]] = [moves, rights];
  if (move?.amount != null) {
    const { token, from, to, tokenId, amount } = move;
    const endOf = (account: Address | null) => (account === null ? null : holding(account, token, tokenId));
    return { kind: "move", amount, owner: endOf(from), receiver: endOf(to) } as const;
  }
  if (right === undefined) return null;
  const { changes } = row;
  // why: taking some away names an amount that is not the level which is left
  const taken = changes === "less" ? (wordAt(padded(call.data, 2), placeOf(1)) ?? 0n) : null;
  return { kind: "right", right: { ...right, open: null }, amount: taken ?? right.claim, changes } as const;
};
type Wanted<Kind = unknown> = Extract<ReturnType<typeof wantedBy>, { readonly kind: Kind }>;

/** The reads that tell what is asked for; none of a right that nothing tells of. */
const readsOf = (wanted: Wanted): ReadonlyArray<Query> =>
  wanted.kind === "right"
    ? [queryOf(wanted.right)].filter((query) => query !== null)
    : [wanted.owner, wanted.receiver].flatMap((end) => (end === null ? [] : [balanceQuery(end)]));

/** Queries before and after the transactions, for what token calls ask to move or to grant. */
export const queries = (bundle: ReadonlyArray<Case>): ReadonlyArray<Query> =>
  bundle.flatMap((entry): ReadonlyArray<Query> => {
    const { from, to } = entry.input;
    const wanted = wantedBy(entry);
    if (wanted === null || to === null) return [];
    const owner = wanted.kind === "move" ? wanted.owner : null;
    const isTaken = owner !== null && owner.account !== from && owner.tokenId === null;
    return [...readsOf(wanted), ...(isTaken ? [allowance(to, owner.account, from)] : [])];
  });

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

/** True if an event of the call, or a balance that no event explains, shows that something moved. */
const isMoved = (entry: Ran, { amount, owner, receiver }: Wanted<"move">, bundle: ReadonlyArray<Ran>, views: Sights) =>
  amount === 0n ||
  owner?.account === receiver?.account ||
  entry.transfers.some(
    (moved) =>
      moved.token === entry.input.to &&
      moved.amount > 0n &&
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
const isDone = (entry: Ran, wanted: Wanted, bundle: ReadonlyArray<Ran>, views: Sights): boolean =>
  wanted.kind === "move" ? isMoved(entry, wanted, bundle, views) : isGiven(entry, wanted, bundle, views);

const isAnswered = (wanted: Wanted, { before, after }: Sights): boolean =>
  [before, after].some((view) =>
    wanted.kind === "right"
      ? levelIn(view, wanted.right).amount !== null
      : readsOf(wanted).some((query) => readUint256(view.call(query as never)) !== null),
  );

/**
 * The transaction succeeds on the chain and does nothing: a token that is paused, or lacks the balance or the
 * allowance, may answer `false` where others revert. So is any other answer that is not `true`. A token that moves or
 * grants what was asked is not told of, whatever it answers, nor one that answers nothing.
 * @figures text("function", "transfer"), address("token", usdc), units("asked for", 5_000_000n), units("moved", 0n)
 */
export const ReturnedFalse = code("simulate", ["warning"], "ReturnedFalse", [
  "the call did not return true, and nothing shows that what it asks for happens",
  "do not rely on it; check why the contract refuses",
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

/**
 * A warning for each call that does not answer `true` while nothing shows that what it asks for happened. By its selector alone
 * only a contract that answers as a token does is asked, or that may be one which does not; by the caller's ABI any is.
 */
export const checkFalse = (bundle: ReadonlyArray<Ran>, answers: Pick<Facts, "before" | "after" | "codes">) =>
  bundle.flatMap((entry) => {
    const { index: transaction, input, outcome } = entry;
    const [returned] = effectsIn([entry], "returned");
    if (returned === undefined || input.to === null) return [];
    const where = { transaction, evidence: outcome.evidence };
    const wanted = wantedBy(entry);
    if (wanted === null) {
      const { item } = input;
      const name = isRecord(item) && typeof item["name"] === "string" ? item["name"] : null;
      return [ReturnedFalse.warning(where, text("function", name), address("contract", input.to))];
    }
    const isToken = isAnswered(wanted, answers);
    if (returned.isFalseBy === "selector" && !isToken && !mayRefuse(entry, wanted, answers)) return [];
    if (isDone(entry, wanted, bundle, answers)) return [];
    const amounts =
      wanted.kind === "move"
        ? [units("asked for", wanted.amount), units("moved", isToken ? 0n : null)]
        : [
            address("spender", wanted.right.spender),
            units("asked for", wanted.amount),
            units("allowed", levelIn(answers.after, wanted.right).amount),
          ];
    const parties = [text("function", effectsIn([entry], "call")[0]?.row.answers ?? null), address("token", input.to)];
    return [ReturnedFalse.warning(where, ...parties, ...amounts)];
  });
