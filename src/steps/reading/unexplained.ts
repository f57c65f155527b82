/** Rights that may be given in a way that nothing here knows: by events of unknown kinds, and by calls nobody answers for. Pure. */
import { eventOf, addressesFrom, argumentsAt, dataAt, nobody } from "../../abi/words.js";
import { granting, harmless } from "../../abi/known/movements.js";
import type { Address } from "../../primitives/hex.js";
import { address, hash } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Approval, OutcomeLog } from "../../report/parts.js";
import { ownAccounts, type Case, type Ran } from "./bundle.js";
import { tellsOfControl } from "./control.js";
import { tellsOfRight, requestedRights } from "./rights.js";
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

/** Rights that the calldata asks for, of contracts that neither announce nor answer anything of the kind. */
const checkCalls = (
  bundle: ReadonlyArray<Case & Pick<Ran, "outcome">>,
  approvals: ReadonlyArray<Approval>,
): ReadonlyArray<Finding> => {
  const answered = new Set(approvals.map(aboutOf));
  return bundle
    .flatMap((entry) => (entry.outcome.status === "success" ? requestedRights(entry) : []))
    .filter((right) => right.claim > 0n && right.spender !== nobody && !answered.has(aboutOf(right)))
    .map(({ transaction, token, owner, spender }) =>
      note(
        "RightUnexplained",
        "info",
        { transaction, evidence: "estimated" },
        ...[address("contract", token), address("of", owner), address("to", spender)],
      ),
    );
};

/** What may be a right of a kind that is not known: information, for most of it is none. */
export const checkUnexplained = (
  bundle: ReadonlyArray<Ran>,
  approvals: ReadonlyArray<Approval>,
): ReadonlyArray<Finding> => [...checkEvents(bundle, new Set(ownAccounts(bundle))), ...checkCalls(bundle, approvals)];
