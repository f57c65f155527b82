/** The words of descriptors (ERC-7730) beside what was measured of the same call. Pure. */
import type { DecodedCall } from "../abi/calls.js";
import type { Address } from "../primitives/hex.js";
import { quote } from "../primitives/statement.js";
import { shownDecimals } from "../primitives/text.js";
import { sizeOf } from "../primitives/units.js";
import { accountsOf } from "./amounts.js";
import { code, type Finding } from "./finding.js";
import type { Report } from "./schema.js";

/** A call in the words of its descriptor; `raw`: the value behind them, null where it is neither a number nor an address. */
export interface Described {
  readonly intent: string;
  readonly fields: ReadonlyArray<{
    readonly label: string;
    readonly value: string;
    readonly format: string;
    readonly raw: bigint | Address | null;
  }>;
}

/**
 * Your `descriptors` name an amount that neither moved nor was granted, or a receiver or spender that got nothing and that
 * no event names; or it writes the right number as another amount of the token. The label decides how an amount is
 * compared: of a minimum more may come, of a maximum less may leave. Fees, prices, limits and whoever gets refunds or rewards
 * are not compared.
 * @figures quote("field", "Amount to send"), quote("says", "5 USDC")
 */
export const DescriptorDisagrees = code("policy", ["warning"], "DescriptorDisagrees", [
  "a descriptor says something else than was measured",
  "believe what was measured; sign only if you know why the descriptor differs",
]);

/** Your `descriptors` threw, answered with something else, or had not answered at the end of the last round. */
export const DescriptorUnread = code("policy", ["info"], "DescriptorUnread", [
  "your descriptors gave no answer that can be compared",
  "repair the function, or ask again",
]);

/** Parts of a report that descriptors are held against. */
export type DescribedParts = Pick<
  Report,
  "transactions" | "options" | "transfers" | "balanceChanges" | "approvals" | "payees" | "tokens"
>;

const amountFormats: ReadonlySet<string> = new Set(["tokenAmount", "amount"]);
const floors: ReadonlySet<string> = new Set(["min", "minimum", "least"]);
const ceilings: ReadonlySet<string> = new Set(["max", "maximum", "most", "up", "desired"]);
const receipts: ReadonlySet<string> = new Set(["receive", "received", "get", "buy", "out", "output", "returned"]);
const receivers: ReadonlySet<string> = new Set([
  ...["to", "recipient", "receiver", "beneficiary", "payee", "spender", "operator"],
]);

/** Words of labels whose amount is part of another, or whose receiver gets something later, or only if something is left. */
const besides: ReadonlySet<string> = new Set([
  ...["fee", "fees", "gas", "price", "limit", "per", "refund", "reward", "rewards", "client", "referral", "validator"],
]);

/** True of numbers that stand for everything: all bits of a usual width, or more than half of a word. */
const isEverything = (amount: bigint): boolean =>
  amount >> 255n !== 0n || (amount >> 94n !== 0n && (amount & (amount + 1n)) === 0n);

/** True if they differ by what shares are rounded by. */
const isNear = (a: bigint, b: bigint): boolean => sizeOf(a - b) <= 2n || sizeOf(a - b) * 200n <= b;

const targetsIn = (call: DecodedCall | null): ReadonlyArray<string | null> =>
  call === null ? [] : [call.to, ...call.calls.flatMap(targetsIn)];

/** Everything that was measured of one transaction, as far as descriptors speak of it. */
const measuredIn = (parts: DescribedParts, at: number, named: ReadonlySet<string>) => {
  const own = new Set(accountsOf(parts));
  const moves = parts.transfers.filter(({ transaction, amount }) => transaction === at && amount > 0n);
  const rights = parts.approvals.filter(({ transaction }) => transaction === at);
  const sums = new Map<string, bigint>();
  const add = (account: string, unit: string, amount: bigint) =>
    sums.set(`${account}/${unit}`, (sums.get(`${account}/${unit}`) ?? 0n) + amount);
  for (const { from, to, token, tokenId, amount } of moves)
    for (const [account, sign] of [[from, -1n] as const, [to, 1n] as const]) {
      const [who, unit] = [account.toLowerCase(), `${token}/${tokenId}`];
      add(who, unit, sign * amount);
      // why: of what comes and goes in one transaction each counts, too
      add(who, `${unit}/${sign}`, sign * amount);
    }
  const rows = [...sums].map(([key, amount]) => [key.slice(0, 42), amount] as const);
  const granted = rights.filter(({ owner }) => own.has(owner.toLowerCase()));
  const spent = [
    ...rows.flatMap(([account, amount]) => (own.has(account) && amount < 0n ? [-amount] : [])),
    ...granted.flatMap(({ before, after }) => (after === null ? [] : [after, sizeOf(after - (before ?? 0n))])),
  ];
  const gains = rows.flatMap(([account, amount]) =>
    amount > 0n && (own.has(account) || named.has(account)) ? [amount] : [],
  );
  // why: balances are of the whole bundle
  const deltas = parts.transactions.length === 1 ? parts.balanceChanges : [];
  return {
    own,
    moves,
    rights,
    spent,
    gains,
    amounts: [
      ...[...rows.map(([, amount]) => sizeOf(amount)), ...moves.map(({ amount }) => amount)],
      ...[...spent, ...deltas.map(({ delta }) => sizeOf(delta)), parts.transactions[at]?.input.value ?? 0n],
    ],
    isOpen: granted.some(({ after }) => after === null),
  };
};
type Measured = ReturnType<typeof measuredIn>;

const agreesAmount = (words: ReadonlyArray<string>, said: bigint, measured: Measured): boolean => {
  const { amounts, gains, spent, isOpen } = measured;
  const has = (all: ReadonlySet<string>) => words.some((word) => all.has(word));
  // why: where nothing of the sender's moves, there is nothing that an amount could be held to
  if (said === 0n || isEverything(said) || isOpen || gains.length + spent.length === 0) return true;
  const from = has(receipts) && gains.length > 0 ? gains : amounts;
  return (
    amounts.some((amount) => isNear(amount, said)) ||
    (has(floors) && from.some((amount) => amount >= said)) ||
    (has(ceilings) && spent.some((amount) => amount > 0n && amount <= said))
  );
};

/** The decimals of what moves or is granted in just this amount; null where they are not known. */
const decimalsIn = (
  { tokens }: DescribedParts,
  said: bigint,
  { moves, rights }: Measured,
): ReadonlyArray<number | null> =>
  [...moves, ...rights.map((right) => ({ ...right, amount: right.after ?? -1n }))]
    .filter(({ amount, tokenId }) => tokenId === null && isNear(amount, said))
    .map(({ token }) => (token === null ? 18 : shownDecimals(tokens.find((info) => info.token === token) ?? null)));

/** The numbers that a text may begin with, by either point for decimals, and how many decimals they have. */
const numbersIn = (text: string) =>
  [",.", ".,"].flatMap(([comma = "", point = ""]) => {
    const [whole = "", fraction = "", ...more] = (text.split(" ")[0] ?? "").split(point);
    const [head = "", ...groups] = whole.split(comma);
    const digits = [head, ...groups, fraction].join("");
    const isGrouped = head.length <= 3 && !head.startsWith("0") && groups.every(({ length }) => length === 3);
    const isPlain = more.length === 0 && (groups.length === 0 || isGrouped);
    const isNumber = isPlain && digits !== "" && [...digits].every((digit) => digit >= "0" && digit <= "9");
    return isNumber ? [{ digits: BigInt(digits), places: BigInt(fraction.length) }] : [];
  });

/** True of words that begin with the amount itself, as far as its decimals are known; they may be rounded. */
const agreesWords = (text: string, said: bigint, decimals: ReadonlyArray<number | null>): boolean => {
  const numbers = numbersIn(text);
  const agrees = (unit: bigint) =>
    numbers.some(({ digits, places }) => {
      const off = sizeOf(digits * unit - said * 10n ** places);
      return off < unit || off * 200n <= said * 10n ** places;
    });
  const isOpen = numbers.length === 0 || decimals.length === 0 || decimals.includes(null);
  // why: who knows no decimals counts smallest units
  return isOpen || [0, ...decimals].some((each) => agrees(10n ** BigInt(each ?? 0)));
};

const agreesPayee = (
  parts: DescribedParts,
  at: number,
  said: Address,
  { own, moves, rights, spent }: Measured,
): boolean => {
  const transaction = parts.transactions[at];
  // why: routers write small numbers for the sender and for themselves
  if (transaction === undefined || spent.length === 0 || BigInt(said) >> 32n === 0n) return true;
  const met = [
    ...[...own, ...targetsIn(transaction.call), transaction.input.to],
    ...moves.flatMap(({ from, to, token }) => [from, to, token]),
    ...rights.flatMap(({ spender, token, owner }) => [spender, token, owner]),
    ...transaction.outcome.logs.map(({ address }) => address),
    ...parts.payees.map(({ address }) => address),
  ];
  const digits = said.slice(2).toLowerCase();
  return (
    met.some((account) => account?.toLowerCase() === said.toLowerCase()) ||
    transaction.outcome.logs.some(({ topics, data }) =>
      [...topics, data].some((bytes) => bytes.toLowerCase().includes(digits)),
    )
  );
};

const wordsOf = (label: string): ReadonlyArray<string> =>
  Array.from(label.toLowerCase(), (one) => (one === one.toUpperCase() ? " " : one))
    .join("")
    .split(" ");

/** Reports fields that are not as it was measured. `described`: of each transaction; null = no descriptor has words for it. */
export const checkDescriptors = (
  parts: DescribedParts,
  described: ReadonlyArray<Described | "unread" | null>,
): ReadonlyArray<Finding> =>
  described.flatMap((words, transaction) => {
    if (words === null || parts.transactions[transaction]?.outcome.status !== "success") return [];
    if (words === "unread") return [DescriptorUnread.info({ transaction, evidence: "unavailable" })];
    const named = new Set(words.fields.flatMap(({ raw }) => (typeof raw === "string" ? [raw.toLowerCase()] : [])));
    const measured = measuredIn(parts, transaction, named);
    const wrong = words.fields.filter(({ label, value, format, raw }) => {
      const all = wordsOf(label);
      if (all.some((word) => besides.has(word))) return false;
      if (typeof raw === "bigint")
        return (
          amountFormats.has(format) &&
          !(agreesAmount(all, raw, measured) && agreesWords(value, raw, decimalsIn(parts, raw, measured)))
        );
      const isReceiver = raw !== null && format === "addressName" && all.some((word) => receivers.has(word));
      return isReceiver && !agreesPayee(parts, transaction, raw, measured);
    });
    return wrong.map(({ label, value }) =>
      DescriptorDisagrees.warning({ transaction, evidence: "measured" }, quote("field", label), quote("says", value)),
    );
  });
