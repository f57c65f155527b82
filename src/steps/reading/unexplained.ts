/** Rights that may be given in a way that nothing here knows: by events of unknown kinds, and by calls nobody answers for. Pure. */
import * as Arr from "effect/Array";
import { addressesFrom, argumentsAt, dataAt, nobody } from "../../abi/words.js";
import { everything, grants, narrowMaximum } from "../../abi/known/rights.js";
import { askedBy, type Asked } from "../../effects/asked.js";
import { effectsIn } from "../../effects/effects.js";
import type { Event } from "../../effects/events.js";
import type { Right } from "../../effects/rights.js";
import type { Address, Hex } from "../../primitives/hex.js";
import { address, hash, units } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import type { Approval, OutcomeLog } from "../../report/parts.js";
import { ownAccounts, workedIn, type Case, type Ran } from "./bundle.js";
import { readings } from "./rightLevel.js";

/** True if a row explains an event, or an ABI of the contract itself types it; one without an address is that of the called contract. */
const isExplained = ({ log: { decoded }, contract, row }: Event, { input }: Case): boolean =>
  (row.movement ?? row.right ?? row.control ?? row.isHarmless) !== undefined ||
  decoded?.provenance.some(({ kind, source }) => kind === "address" || (source === null && contract === input.to)) ===
    true;

/** Addresses that a log names, indexed or not, in whatever order. */
const namedIn = ({ topics, data }: OutcomeLog): ReadonlySet<Address> =>
  // why: amounts are hardly ever indexed, and whoever searches finds an address that begins with zeros
  new Set([...topics.flatMap((topic) => [...addressesFrom(topic, dataAt, 40)]), ...addressesFrom(data, dataAt)]);

/** Addresses that the calls name among their arguments. */
const mentionedIn = ({ calls }: Case): ReadonlySet<Address> =>
  new Set(calls.read.flatMap(({ data }) => [...addressesFrom(data, argumentsAt, 40)]));

/** True if a log names one of the senders, in any place: some contracts keep 19 bytes of an address (Euler). */
const namesSender = ({ topics, data }: OutcomeLog, senders: ReadonlySet<Address>): boolean => {
  const text = [...topics, data].join().toLowerCase();
  return [...senders].some((sender) => text.includes(sender.slice(2, 40)));
};

/**
 * The account beside the sender in what a log tells of it; null = it tells of nobody's rights that were asked for here.
 * A log of the sender's own account is of the sender, and may name a key only.
 */
const besideIn = (
  { log, contract }: Event,
  { input }: Case,
  senders: ReadonlySet<Address>,
  recipients: ReadonlySet<Address>,
): { readonly other: Address | null } | null => {
  const others = [...namedIn(log)].filter((account) => !senders.has(account) && account !== contract);
  const [other = null] = others;
  if (senders.has(contract)) return { other };
  if (other === null) return null;
  if (namesSender(log, senders)) return { other };
  const recipient = others.find((account) => account !== input.to && recipients.has(account));
  return recipient === undefined ? null : { other: recipient };
};

/**
 * It concerns the sender, one of its accounts, or an account in the calldata.
 * @figures address("contract", pool), hash("event", sent), address("beside", bob)
 */
export const EventUnexplained = code("approvals", ["info"], "EventUnexplained", [
  "an event of an unknown kind may give somebody a right to act for the sender",
  "give the contract's ABI with its address, or check that nobody gets such a right",
]);

/**
 * The contract may keep rights that it does not tell, the call may be made by an account behind the one that is read
 * to make it, or it stands in bytes that no known function reads as a call.
 * @figures address("contract", pool), address("of", alice), address("to", bob), units("amount", 5n)
 */
export const RightUnexplained = code("approvals", ["info"], "RightUnexplained", [
  "a right is announced or requested that the contract's getters do not show",
  "check in the contract who may act for the sender",
]);

const checkEvents = (bundle: ReadonlyArray<Ran>, senders: ReadonlySet<Address>): ReadonlyArray<Finding> =>
  workedIn(bundle).flatMap((entry) => {
    const found = new Map<string, Finding>();
    const recipients = mentionedIn(entry);
    const where = { transaction: entry.index, evidence: "logged" } as const;
    for (const event of effectsIn([entry], "event")) {
      const { contract, log, row } = event;
      const kind = log.topics[0] ?? null;
      const key = `${contract}/${kind}`;
      if (found.has(key)) continue;
      const numbers = [address("contract", contract), hash("event", kind)];
      // why: an ABI tells what it is called, not that nobody may act by it
      if (row.isGranting === true) found.set(key, RightUnexplained.info(where, ...numbers));
      else if (!isExplained(event, entry)) {
        const beside = besideIn(event, entry, senders, recipients);
        if (beside !== null) found.set(key, EventUnexplained.info(where, ...numbers, address("beside", beside.other)));
      }
    }
    return [...found.values()];
  });

const amounts: ReadonlySet<string> = new Set(["erc20", "permit2", "aaveDebt"]);
const anybody = "anybody";

/** The key of a right or a row: everything, one id or an amount, of whom and to whom. */
const keyOf = (
  { standard, token, owner, spender, tokenId }: Pick<Right, "standard" | "token" | "owner" | "spender" | "tokenId">,
  by: string = owner,
): string => `${token}/${by}/${spender}/${tokenId ?? (amounts.has(standard) ? standard : "all")}`;

const gives = ({ claim, spender }: Right): boolean => claim > 0n && spender !== nobody;
/** The amount that must be there of a right: narrow tokens keep less of everything. */
const leastOf = ({ claim }: Right): bigint => (claim === everything ? narrowMaximum : claim);

/** The approvals of a report, and what moves, by what a right needs of them. */
const knownOf = (bundle: ReadonlyArray<Ran>, approvals: ReadonlyArray<Approval>) => {
  const spent = new Map<string, bigint>();
  for (const { token, from, tokenId, amount } of effectsIn(bundle, "movement")) {
    const key = `${token}/${from}/${tokenId}`;
    spent.set(key, (spent.get(key) ?? 0n) + amount);
  }
  return { rows: Arr.groupBy(approvals, (row) => keyOf(row)), spent };
};

/** The most that the events of a transaction tell of each right that the report has a row of, whoever gave it. */
const largestIn = (entry: Ran, { rows }: ReturnType<typeof knownOf>) => {
  const most = new Map<string, Right>();
  for (const right of effectsIn([entry], "right").flatMap(readings)) {
    const key = keyOf(right, anybody);
    if (right.claim > (most.get(key)?.claim ?? 0n) && rows[keyOf(right)] !== undefined) most.set(key, right);
  }
  const isTold = (right: Right): boolean =>
    readings(right).some((read) => (most.get(keyOf(read, anybody))?.claim ?? 0n) >= leastOf(read));
  return { isTold, tokens: [...new Set([...most.values()].map(({ token }) => token))] };
};

/** A right of which the contract's getters show nothing; null = it is not known who gets it, or how much. */
const unexplained = (
  { transaction, token, owner }: Pick<Right, "transaction" | "token" | "owner">,
  spender: Address | null,
  amount: bigint | null,
): Finding =>
  RightUnexplained.info(
    { transaction, evidence: "estimated" },
    ...[address("contract", token), address("of", owner), address("to", spender), units("amount", amount)],
  );
const unexplainedRight = (right: Right) => unexplained(right, right.spender, right.operator ? everything : right.claim);

/** Calls that give rights, wherever they stand in bytes that nothing here reads as calls: a selector, and an address behind it. */
const hidden = new RegExp(
  // why: an address that begins with eight zeros is mined in minutes
  `(?:${Object.keys(grants).join("|")})(?=0{24}(?!0{32})[0-9a-f]{40})`.replaceAll("0x", ""),
  "g",
);
/** Digits of such a call that are read: of a batch of Permit2's, which its owner has signed, some thirty. */
const mostHidden = 8_192;
/** How many such calls are looked at; of what more there is nothing is known. */
const mostLooks = 256;

/** The first right that stands in the arguments of a call in which nothing here finds calls, and that no event tells. */
const hiddenIn = (
  { call: { to, data }, row, transaction }: Asked,
  { isTold, tokens }: ReturnType<typeof largestIn>,
): ReadonlyArray<Finding> => {
  if (row.isBatch === true) return [];
  let [looks, named]: [number, ReadonlyArray<Address> | null] = [0, null];
  for (const { index } of data.slice(argumentsAt).matchAll(hidden)) {
    if (index % 2 !== 0) continue;
    if (++looks > mostLooks) return [unexplained({ transaction, token: to, owner: to }, null, null)];
    const start = argumentsAt + index;
    const inner: Hex = `0x${data.slice(start, start + mostHidden)}`;
    for (const right of askedBy({ from: to, to, data: inner }, transaction).rights.filter(gives)) {
      // why: which token is called the bytes do not say, but they name it
      named ??= [to, ...tokens.filter((token) => data.includes(token.slice(2)))];
      if (!(right.token === to ? named : [right.token]).some((token) => isTold({ ...right, token })))
        return [unexplainedRight(right)];
    }
  }
  return [];
};

/** True if a right is asked to be nothing any more. */
const takesBack = ({ claim, operator, open, tokenId }: Right): boolean =>
  claim === 0n && (operator || open !== null || tokenId !== null);

/** True if the report says what becomes of a right: as much is there, or was spent, or the bundle takes it back again. */
const isAnswered = (right: Right, { rows, spent }: ReturnType<typeof knownOf>, isTakenBack: boolean): boolean => {
  const { token, owner, tokenId, operator } = right;
  const used = operator ? 0n : (spent.get(`${token}/${owner}/${tokenId}`) ?? 0n);
  return (rows[keyOf(right)] ?? []).some(
    ({ before, after, evidence }) =>
      (after ?? 0n) + used >= leastOf(right) ||
      (after === 0n && before !== null && evidence === "measured" && isTakenBack),
  );
};

/**
 * The rights that calls ask for and the report does not say what becomes of. Whose calls a contract makes only its code
 * knows: it may pass them on to an account behind it, a Safe behind its module. So of what it is read to give in its own
 * name as much is there at the end, or an event tells of it, or it was spent or taken back.
 */
const silentIn = (entry: Ran, known: ReturnType<typeof knownOf>, { isTold }: ReturnType<typeof largestIn>) => {
  const asked = new Map<string, Right>();
  const last = new Map<string, Right>();
  for (const right of effectsIn([entry], "request")) {
    const ways = readings(right);
    for (const read of ways) last.set(keyOf(read), read);
    // why: of what may be an amount or an id, each number is another right
    const key = ways.map((read) => keyOf(read)).join();
    if (gives(right) && right.claim > (asked.get(key)?.claim ?? 0n)) asked.set(key, right);
  }
  const mayFail = effectsIn([entry], "call").some(({ row }) => row.isLenient === true);
  const isKnown = (right: Right): boolean => {
    const end = last.get(keyOf(right));
    const isOwn = right.owner === entry.input.from && known.rows[keyOf(right)] !== undefined;
    return isOwn || isAnswered(right, known, !mayFail && end !== undefined && takesBack(end));
  };
  return [...asked.values()].filter((right) => !isTold(right) && !readings(right).some(isKnown)).map(unexplainedRight);
};

/** Accounts that calls let act for a contract that announces nothing of the kind. */
const handedIn = (entry: Ran): ReadonlyArray<Finding> => {
  const told = new Set(effectsIn([entry], "control").map(({ contract, gains }) => `${contract}/${gains}`));
  return effectsIn([entry], "call").flatMap(({ call: { from: owner, to: token }, gains, transaction }) =>
    gains === null || told.has(`${token}/${gains}`) ? [] : [unexplained({ transaction, token, owner }, gains, null)],
  );
};

/** Rights that the calldata asks for, of contracts that neither announce nor answer anything of the kind. */
const checkCalls = (bundle: ReadonlyArray<Ran>, approvals: ReadonlyArray<Approval>): ReadonlyArray<Finding> => {
  const known = knownOf(bundle, approvals);
  return workedIn(bundle).flatMap((entry) => {
    const told = largestIn(entry, known);
    const unread = effectsIn([entry], "call").flatMap((asked) => hiddenIn(asked, told));
    return [...silentIn(entry, known, told), ...unread, ...handedIn(entry)];
  });
};

/** Reports what may be a right of a kind that is not known: as information, for most of it is none. */
export const checkUnexplained = (bundle: ReadonlyArray<Ran>, approvals: ReadonlyArray<Approval>) => [
  ...checkEvents(bundle, new Set(ownAccounts(bundle))),
  ...checkCalls(bundle, approvals),
];
