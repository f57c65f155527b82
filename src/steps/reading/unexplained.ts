/** Rights that may be given in a way that nothing here knows: by events of unknown kinds, and by calls nobody answers for. Pure. */
import * as Arr from "effect/Array";
import { addressAt, addressesFrom, argumentsAt, dataAt, eventOf, nobody, padded, placeOf } from "../../abi/words.js";
import { granting, harmless } from "../../abi/known/movements.js";
import { everything, grants, handovers } from "../../abi/known/rights.js";
import { isBatch, type Call } from "../../abi/batches.js";
import type { Address, Hex } from "../../primitives/hex.js";
import { address, hash, units } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Approval, OutcomeLog, Transfer } from "../../report/parts.js";
import { ownAccounts, type Case, type Ran } from "./bundle.js";
import { controlsIn, tellsOfControl } from "./control.js";
import { calldataRights, requestedRights, rightsIn, tellsOfRight, type Right } from "./rights.js";
import { tellsOfMovement } from "./transferLogs.js";

const isExplained = (log: OutcomeLog): boolean => {
  const kind = eventOf(log) ?? "";
  return (
    log.decoded !== null || tellsOfMovement(kind) || tellsOfRight(kind) || tellsOfControl(kind) || harmless.has(kind)
  );
};

/** Whom a log names, indexed or not, in whatever order. */
const namedIn = ({ topics, data }: OutcomeLog): ReadonlySet<Address> =>
  // why: amounts are hardly ever indexed, and whoever searches finds an address that begins with zeros
  new Set([...topics.flatMap((topic) => [...addressesFrom(topic, dataAt, 40)]), ...addressesFrom(data, dataAt)]);

/** Whom the calls name among their arguments. */
const askedIn = ({ calls }: Case): ReadonlySet<Address> =>
  new Set(calls.read.flatMap(({ data }) => [...addressesFrom(data, argumentsAt, 40)]));

/** Whether a log names one of the senders, in any place: some contracts keep 19 bytes of an address (Euler). */
const namesSender = ({ topics, data }: OutcomeLog, senders: ReadonlySet<Address>): boolean => {
  const text = [...topics, data].join().toLowerCase();
  return [...senders].some((sender) => text.includes(sender.slice(2, 40)));
};

/**
 * The account beside the sender in what a log tells of it; null = it tells of nobody's rights that were asked for here.
 * What the sender's own account says is of the sender, and may name a key only.
 */
const besideIn = (
  log: OutcomeLog,
  { input }: Case,
  senders: ReadonlySet<Address>,
  recipients: ReadonlySet<Address>,
): { readonly other: Address | null } | null => {
  const contract = log.address.toLowerCase() as Address;
  const others = [...namedIn(log)].filter((account) => !senders.has(account) && account !== contract);
  const [other = null] = others;
  if (senders.has(contract)) return { other };
  if (other === null) return null;
  if (namesSender(log, senders)) return { other };
  const recipient = others.find((account) => account !== input.to && recipients.has(account));
  return recipient === undefined ? null : { other: recipient };
};

const checkEvents = (bundle: ReadonlyArray<Ran>, senders: ReadonlySet<Address>): ReadonlyArray<Finding> => {
  const found = new Map<string, Finding>();
  for (const entry of bundle) {
    const { index, outcome } = entry;
    if (outcome.status !== "success") continue;
    const recipients = askedIn(entry);
    for (const log of outcome.logs) {
      const contract = log.address.toLowerCase() as Address;
      const kind = log.topics[0] ?? null;
      const key = `${index}/${contract}/${kind}`;
      if (found.has(key) || isExplained(log)) continue;
      const where = { transaction: index, evidence: "logged" } as const;
      if (granting.has(eventOf(log) ?? "")) {
        found.set(key, note("RightUnexplained", "info", where, address("contract", contract), hash("event", kind)));
        continue;
      }
      const beside = besideIn(log, entry, senders, recipients);
      if (beside === null) continue;
      const numbers = [address("contract", contract), hash("event", kind), address("beside", beside.other)];
      found.set(key, note("EventUnexplained", "info", where, ...numbers));
    }
  }
  return [...found.values()];
};

const aboutOf = ({ token, owner, spender }: Pick<Approval, "token" | "owner" | "spender">): string =>
  `${token}/${owner}/${spender}`;

/** Calls that give rights, wherever they stand in bytes that nothing here reads as calls: a selector, and an address behind it. */
const hidden = new RegExp(
  `(?:${Object.keys(grants).join("|")})(?=0{24}(?!0{8})[0-9a-f]{40})`.replaceAll("0x", ""),
  "g",
);
/** Digits of such a call that are read: of a batch of Permit2's, which its owner has signed, some thirty. */
const mostHidden = 8_192;

/** The first right that stands in the arguments of a call in which nothing here finds calls. */
const hiddenIn = ({ to, data }: Call, transaction: number): ReadonlyArray<Right> => {
  if (isBatch(data)) return [];
  for (const { index } of data.slice(argumentsAt).matchAll(hidden)) {
    const start = argumentsAt + index;
    const inner: Hex = `0x${index % 2 === 0 ? data.slice(start, start + mostHidden) : ""}`;
    const [right] = calldataRights([{ from: to, to, data: inner }], transaction).filter(gives);
    if (right !== undefined) return [right];
  }
  return [];
};

const gives = ({ claim, spender }: Right): boolean => claim > 0n && spender !== nobody;

/**
 * Whether the approvals of a report say what becomes of a right. Whose calls a contract makes only its code knows: it may
 * pass them on to an account behind it, a Safe behind its module. So of what it is read to give in its own name as much is
 * there at the end, or an event tells of it, or it was spent or taken back.
 */
const isAnswered = (
  { token, owner, spender, operator, claim }: Right,
  rows: ReadonlyArray<Approval>,
  last: Right | undefined,
  { input, outcome, index }: Ran,
  moved: ReadonlyArray<Transfer>,
): boolean => {
  if (owner === input.from || rows.length === 0) return rows.length > 0;
  const isThere = (spent: bigint) =>
    rows.some(({ standard, after }) => (after ?? 0n) + spent >= (standard === "erc721" ? 1n : claim));
  const isTakenBack = last?.claim === 0n && (last.open !== null || last.operator);
  if (isTakenBack || isThere(0n)) return true;
  const isTold = rightsIn(outcome.logs, index).some(
    (told) => told.token === token && told.spender === spender && told.operator === operator,
  );
  const spending = moved.filter((movement) => movement.token === token && movement.from === owner);
  return isTold || isThere(spending.reduce((sum, { amount }) => sum + amount, 0n));
};

/** Whom calls let act for a contract that announces nothing of the kind. */
const handedIn = ({ calls, outcome, index }: Ran) => {
  const told = new Set(controlsIn(outcome.logs, index).map(({ contract, gains }) => `${contract}/${gains}`));
  return calls.read.flatMap(({ from, to, data }) => {
    const place = handovers[data.slice(0, argumentsAt)];
    const spender = place === undefined ? null : addressAt(padded(data, place + 1), placeOf(place));
    const isKnown = spender === null || spender === nobody || told.has(`${to}/${spender}`);
    return isKnown ? [] : [{ transaction: index, token: to, owner: from, spender, operator: false, claim: null }];
  });
};

/** Rights that the calldata asks for, of contracts that neither announce nor answer anything of the kind. */
const checkCalls = (bundle: ReadonlyArray<Ran>, approvals: ReadonlyArray<Approval>): ReadonlyArray<Finding> => {
  const moved = bundle.flatMap(({ transfers }) => transfers);
  const rows = Arr.groupBy(approvals, aboutOf);
  return bundle.flatMap((entry) => {
    if (entry.outcome.status !== "success") return [];
    const asked = requestedRights(entry);
    const last = new Map(asked.map((right) => [`${aboutOf(right)}/${right.operator}`, right]));
    const silent = asked.filter((right) => {
      const about = aboutOf(right);
      return (
        gives(right) && !isAnswered(right, rows[about] ?? [], last.get(`${about}/${right.operator}`), entry, moved)
      );
    });
    return [...silent, ...entry.calls.read.flatMap((call) => hiddenIn(call, entry.index)), ...handedIn(entry)].map(
      ({ transaction, token, owner, spender, operator, claim }) =>
        note(
          "RightUnexplained",
          "info",
          { transaction, evidence: "estimated" },
          ...[address("contract", token), address("of", owner), address("to", spender)],
          units("amount", operator ? everything : claim),
        ),
    );
  });
};

/** What may be a right of a kind that is not known: information, for most of it is none. */
export const checkUnexplained = (
  bundle: ReadonlyArray<Ran>,
  approvals: ReadonlyArray<Approval>,
): ReadonlyArray<Finding> => [...checkEvents(bundle, new Set(ownAccounts(bundle))), ...checkCalls(bundle, approvals)];
