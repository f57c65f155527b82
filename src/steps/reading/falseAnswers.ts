/** Calls that answer anything but `true` where a `bool` says whether they worked: what they ask for beside what happened. Lives on the witness; pure. */
import { moves } from "../../abi/known/movements.js";
import { everything, grants } from "../../abi/known/rights.js";
import { addressAt, argumentsAt, padded, placeOf, wordAt, wordOf } from "../../abi/words.js";
import { type Address, type Hex, lower } from "../../primitives/hex.js";
import { isRecord } from "../../primitives/record.js";
import { address, text, units } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import type { Transaction } from "../../transaction/fields.js";
import { readUint256 } from "../../witness/answers.js";
import { allowance, type Query } from "../../witness/queries.js";
import type { Case, Ran } from "./bundle.js";
import type { Facts } from "./answers.js";
import { amountIn, balanceQuery, holding, type Holding } from "./holdings.js";
import { levelIn, queryOf } from "./rightLevel.js";
import { calldataRights, rightsIn, type Right } from "./rights.js";
import { codeIn, mayBorrow } from "./runCode.js";

/** Functions of tokens that return a `bool`, by selector. */
const answering: Readonly<Record<string, string>> = {
  // of ERC-20 and ERC-6909
  ...{ "0xa9059cbb": "transfer", "0x095bcdb6": "transfer", "0x23b872dd": "transferFrom", "0xfe99049a": "transferFrom" },
  ...{ "0x095ea7b3": "approve", "0x426a8493": "approve", "0x558a7297": "setOperator" },
  ...{ "0x39509351": "increaseAllowance", "0xd73dd623": "increaseApproval" },
  ...{ "0xa457c2d7": "decreaseAllowance", "0x66188463": "decreaseApproval" },
  // of ERC-1363
  ...{ "0x1296ee62": "transferAndCall", "0x4000aea0": "transferAndCall" },
  ...{ "0xd8fbe994": "transferFromAndCall", "0xc1d34b89": "transferFromAndCall" },
  ...{ "0x3177029f": "approveAndCall", "0xcae9ca51": "approveAndCall" },
  // of tokens that can be burned and minted
  ...{ "0x42966c68": "burn", "0x9dc29fac": "burn", "0x79cc6790": "burnFrom", "0x40c10f19": "mint" },
};
/** Those that burn or mint: at which arguments the account stands, else it is the caller's own, and the amount. */
const supply: Readonly<Record<string, { readonly from?: number; readonly to?: number; readonly amount: number }>> = {
  ...{ "0x42966c68": { amount: 0 }, "0x9dc29fac": { from: 0, amount: 1 }, "0x79cc6790": { from: 0, amount: 1 } },
  "0x40c10f19": { to: 0, amount: 1 },
};
const increasing: ReadonlySet<string> = new Set(["0x39509351", "0xd73dd623"]);
const decreasing: ReadonlySet<string> = new Set(["0xa457c2d7", "0x66188463"]);

const selectorOf = ({ data }: Pick<Transaction, "data">): string => data.slice(0, argumentsAt).toLowerCase();

/** The name of a function that says by its answer alone whether it worked; empty for one whose standard has no answer. */
const nameOf = (selector: string): string | null => {
  const row = grants[selector];
  // why: a signed permit may have been used before, and what Permit2 keeps hangs on the time
  const isOwn = row !== undefined && row.isPermit !== true && row.isTaken !== true && row.standard !== "permit2";
  return answering[selector] ?? (isOwn ? "" : null);
};

/** The move or the right that a direct token call asks for; a mint or a burn has one end. */
type Asked = { readonly amount: bigint } & (
  | { readonly kind: "move"; readonly owner: Holding | null; readonly receiver: Holding | null }
  | { readonly kind: "right"; readonly right: Right }
);

const holds = (account: Address | null, token: Address, tokenId: bigint | null = null): Holding | null =>
  account === null ? null : holding(account, token, tokenId);

/** The right that calldata asks for. Taking some away names an amount that is not the level which is left. */
const rightBy = ({ from, to }: { readonly from: Address; readonly to: Address }, data: Hex): Asked | null => {
  const [found] = calldataRights([{ from, to, data }], 0);
  const isLess = decreasing.has(data.slice(0, argumentsAt));
  return found === undefined
    ? null
    : {
        kind: "right",
        right: { ...found, open: null },
        amount: isLess ? (wordAt(data, placeOf(1)) ?? 0n) : found.claim,
      };
};

/** The arguments of a function that moves, mints or burns. */
type Places = Partial<Record<"from" | "to" | "id" | "amount", number>>;

/** The movement that calldata asks for; `ends` = whom it has: the owner, the receiver, or both. */
const moveBy = (
  { from, to }: { readonly from: Address; readonly to: Address },
  data: Hex,
  { id, amount: at = (id ?? 0) + 1, ...places }: Places,
  ends: "from" | "to" | "both",
): Asked | null => {
  const tokenId = id === undefined ? null : wordAt(data, placeOf(id));
  const endAt = (end: "from" | "to") => {
    const place = places[end];
    return holds(place === undefined ? from : addressAt(data, placeOf(place)), to, tokenId);
  };
  const [owner, receiver] = [ends === "to" ? null : endAt("from"), ends === "from" ? null : endAt("to")];
  const amount = wordAt(data, placeOf(at));
  const named = [owner, receiver].filter((end) => end !== null);
  return amount === null || named.length < (ends === "both" ? 2 : 1) ? null : { kind: "move", amount, owner, receiver };
};

const askedBy = ({ from, to, data: given }: Transaction): Asked | null => {
  const selector = selectorOf({ data: given });
  if (to === null || nameOf(selector) === null) return null;
  const data = padded(given.toLowerCase(), 4) as Hex;
  const [supplied, moved] = [supply[selector], moves[selector]];
  if (supplied !== undefined) return moveBy({ from, to }, data, supplied, supplied.to === undefined ? "from" : "to");
  return moved === undefined ? rightBy({ from, to }, data) : moveBy({ from, to }, data, moved, "both");
};

/** The reads that tell what is asked for; none of a right that nothing tells of. */
const readsOf = (asked: Asked): ReadonlyArray<Query> =>
  asked.kind === "right"
    ? [queryOf(asked.right)].filter((query) => query !== null)
    : [asked.owner, asked.receiver].flatMap((end) => (end === null ? [] : [balanceQuery(end)]));

/** Queries before and after the transactions, for what token calls ask to move or to grant. */
export const queries = (bundle: ReadonlyArray<Case>): ReadonlyArray<Query> =>
  bundle.flatMap(({ input }): ReadonlyArray<Query> => {
    const asked = askedBy(input);
    if (asked === null || input.to === null) return [];
    const owner = asked.kind === "move" ? asked.owner : null;
    const isTaken = owner !== null && owner.account !== input.from && owner.tokenId === null;
    return [...readsOf(asked), ...(isTaken ? [allowance(input.to, owner.account, input.from)] : [])];
  });

/** True if bytes that are not `true` are `false` by a selector: where no standard has an answer, one word of zero alone is. */
const saysFalse = (selector: string, returnData: Hex | null): boolean =>
  nameOf(selector) === "" ? returnData === wordOf(0n) : nameOf(selector) !== null;

/**
 * Tells by what a transaction answers anything but `true`: the caller's ABI, or its selector; null = it does not.
 * An empty answer says nothing: many tokens have no answer.
 */
const falseBy = ({ input, outcome }: Ran): "abi" | "selector" | null => {
  const { status, returnData } = outcome;
  const isTrue = returnData === null || returnData === "0x" || returnData.startsWith(wordOf(1n));
  if (status !== "success" || isTrue) return null;
  const { item } = input;
  const outputs = isRecord(item) && Array.isArray(item["outputs"]) ? (item["outputs"] as ReadonlyArray<unknown>) : [];
  if (outputs.length === 0) return saysFalse(selectorOf(input), returnData) ? "selector" : null;
  const [output] = outputs;
  const isReading = isRecord(item) && (item["stateMutability"] === "view" || item["stateMutability"] === "pure");
  return outputs.length === 1 && isRecord(output) && output["type"] === "bool" && !isReading ? "abi" : null;
};

/** True if a balance changed otherwise than the events of the whole bundle tell. */
const isUntold = (of: Holding, bundle: ReadonlyArray<Ran>, { before, after }: Pick<Facts, "before" | "after">) => {
  const [had, has] = [amountIn(before, of), amountIn(after, of)];
  if (had === null || has === null) return false;
  const told = bundle
    .flatMap(({ transfers }) => transfers)
    .filter(({ token, tokenId }) => token === of.token && (of.tokenId === null || tokenId === of.tokenId))
    .reduce(
      (sum, { from, to, amount }) => sum + (to === of.account ? amount : 0n) - (from === of.account ? amount : 0n),
      0n,
    );
  return has - had !== told;
};

const isSameRight = (a: Right, b: Right): boolean =>
  a.keeper === b.keeper && a.owner === b.owner && a.spender === b.spender;

type Views = Pick<Facts, "before" | "after">;

/** True if an event of the call, or a balance that no event explains, shows that something moved. */
const isMoved = (
  entry: Ran,
  { amount, owner, receiver }: Extract<Asked, { kind: "move" }>,
  bundle: ReadonlyArray<Ran>,
  views: Views,
): boolean =>
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
const isLevel = (selector: string, amount: bigint, has: bigint | null): boolean =>
  increasing.has(selector)
    ? amount === 0n || has === everything
    : decreasing.has(selector)
      ? amount === 0n || has === 0n
      : has === amount;

/** True if the right is there, or changed, or an event of the call tells of it that no measure contradicts. */
const isGiven = (
  entry: Ran,
  { right, amount }: Extract<Asked, { kind: "right" }>,
  bundle: ReadonlyArray<Ran>,
  { before, after }: Views,
): boolean => {
  const [had, has] = [levelIn(before, right).amount, levelIn(after, right).amount];
  const isOthers = bundle.some(
    (other) =>
      other.index !== entry.index &&
      [...rightsIn(other.outcome.logs, other.index), ...calldataRights(other.calls.read, other.index)].some((one) =>
        isSameRight(one, right),
      ),
  );
  const isMeasured = had !== null && has !== null;
  const isLogged = rightsIn(entry.outcome.logs, entry.index).some((one) => isSameRight(one, right));
  // guard: an event of a right that is measured not to be there
  const isBelieved = !isMeasured || had !== has || isOthers || isSpent(entry, right, bundle);
  return (
    isLevel(selectorOf(entry.input), amount, has) ||
    (isLogged && isBelieved) ||
    (isMeasured && had !== has && !isOthers)
  );
};

/** True if anything at all shows that what was asked for is there: an event of the call itself, or a measurement. */
const isDone = (entry: Ran, asked: Asked, bundle: ReadonlyArray<Ran>, views: Views): boolean =>
  asked.kind === "move" ? isMoved(entry, asked, bundle, views) : isGiven(entry, asked, bundle, views);

const isAnswered = (asked: Asked, { before, after }: Pick<Facts, "before" | "after">): boolean =>
  [before, after].some((view) =>
    asked.kind === "right"
      ? levelIn(view, asked.right).amount !== null
      : readsOf(asked).some((query) => readUint256(view.call(query as never)) !== null),
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
const mayRefuse = (
  { input, outcome }: Ran,
  asked: Asked,
  answers: Pick<Facts, "before" | "after" | "codes">,
): boolean => {
  const code = input.to === null ? null : codeIn(input.to, answers);
  const selectors = readsOf(asked).flatMap((query) =>
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
export const checkFalse = (
  bundle: ReadonlyArray<Ran>,
  answers: Pick<Facts, "before" | "after" | "codes">,
): ReadonlyArray<Finding> =>
  bundle.flatMap((entry) => {
    const { index: transaction, input, outcome } = entry;
    const by = falseBy(entry);
    if (by === null || input.to === null) return [];
    const where = { transaction, evidence: outcome.evidence };
    const asked = askedBy(input);
    if (asked === null) {
      const { item } = input;
      const name = isRecord(item) && typeof item["name"] === "string" ? item["name"] : null;
      return [ReturnedFalse.warning(where, text("function", name), address("contract", input.to))];
    }
    const isToken = isAnswered(asked, answers);
    if (by === "selector" && !isToken && !mayRefuse(entry, asked, answers)) return [];
    if (isDone(entry, asked, bundle, answers)) return [];
    const amounts =
      asked.kind === "move"
        ? [units("asked for", asked.amount), units("moved", isToken ? 0n : null)]
        : [
            address("spender", asked.right.spender),
            units("asked for", asked.amount),
            units("allowed", levelIn(answers.after, asked.right).amount),
          ];
    const parties = [text("function", nameOf(selectorOf(input)) || null), address("token", input.to)];
    return [ReturnedFalse.warning(where, ...parties, ...amounts)];
  });
