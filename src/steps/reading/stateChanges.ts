/** What a bundle changes of who acts for accounts and contracts, as data and as findings: by storage and by their own answers. Pure. */
import { votes } from "../../abi/known/rights.js";
import { addressOf, argumentsAt, eventOf, wordsFrom } from "../../abi/words.js";
import type { Address, Hex } from "../../primitives/hex.js";
import { address, hash, text } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { StateChange } from "../../report/stateChange.js";
import { readAddress } from "../../witness/answers.js";
import { slotsOf, wordIn } from "../../witness/placement.js";
import { unseen, type View } from "../../witness/view.js";
import { isNumber, mayBeParties } from "./addressPositions.js";
import { successOf, type AskResult } from "./askResult.js";
import { instructionsIn } from "./blockReads.js";
import { ownAccounts, type Case, type Ran } from "./bundle.js";
import { controlsIn, delegationAccounts, type Control } from "./control.js";
import { calledAsSafes } from "./delegateCalls.js";
import { calledBy, lensOf, mayName, mostContracts, safesIn, suspectsOf, views } from "./proxies.js";
import type { Proven, SlotRun } from "./proxies.js";
import { selfCallsIn } from "./selfCalls.js";
import { answersOf, isAccount, low, party, tracedWords, wordHex, wordsOf } from "./stateWords.js";
import type { Change, Holds, Seen, Sight, Traced } from "./stateWords.js";

/** What changes, in a few words, and which events tell of it. */
const changes: Readonly<Record<Holds, readonly [what: string, ...events: ReadonlyArray<Control["what"]>]>> = {
  implementation: ["new implementation"],
  admin: ["new proxy admin"],
  beacon: ["new beacon"],
  owner: ["new owner", "handed over", "new Safe owner", "Safe owner removed"],
  threshold: ["number of Safe signatures"],
  module: ["new Safe module, which may move all it holds", "Safe module removed"],
  guard: ["new Safe guard"],
  moduleGuard: ["new Safe module guard"],
  fallbackHandler: ["new Safe fallback handler"],
  facet: ["other code behind its functions"],
  key: ["new key of the account"],
  delegate: ["new delegate"],
};

/** Whether code may run another's in its own place, by DELEGATECALL. */
const delegates = (code: Hex): boolean => instructionsIn(code).has(0xf4);

/** The 20 bytes of both words, at every place where a packed account may stand. */
function* places({ was, word }: Change): Generator<readonly [had: Address, has: bigint]> {
  for (let shift = 0n; shift <= 96n; shift += 8n) yield [addressOf(was >> shift), low(word >> shift)];
}

/** What the calldata names, argument by argument. */
const namedIn = (bundle: ReadonlyArray<Case>): ReadonlySet<bigint> =>
  new Set(bundle.flatMap(({ calls }) => calls.read.flatMap(({ data }) => wordsFrom(data, argumentsAt))));

const lower = (account: string): Address => account.toLowerCase() as Address;

/** Whether native currency, which nobody can make up, came in for a sender, as it does for whoever is outbid. */
const isPaid = (bundle: ReadonlyArray<Ran>, account: Address): boolean =>
  bundle.some(({ transfers }) =>
    transfers.some(({ token, to, amount }) => token === null && lower(to) === account && amount > 0n),
  );

/** Whether an event that tells of control names both accounts. */
const isAnnounced = (bundle: ReadonlyArray<Ran>, contract: Address, had: Address, has: bigint): boolean =>
  bundle.some(({ outcome: { logs } }) =>
    logs.some((log) => {
      if (lower(log.address) !== contract || controlsIn([log], 0).length === 0) return false;
      const words = [...log.topics.slice(1).map(BigInt), ...wordsFrom(log.data)];
      return words.includes(BigInt(had)) && words.includes(has);
    }),
  );

/**
 * Whether the report tells of it by other means: a movement between the two, control that goes from the one or to the
 * other, or the votes that a call gives by name.
 */
const isToldOf = ({ bundle, controls, named }: Judging, contract: Address, had: Address, has: bigint): boolean =>
  controls.some((one) => one.contract === contract && (one.loses === had || one.gains === addressOf(has))) ||
  bundle.some(
    ({ transfers, outcome: { logs } }) =>
      transfers.some(
        ({ token, from, to, amount }) =>
          token !== null && lower(token) === contract && lower(from) === had && BigInt(to) === has && amount > 0n,
      ) ||
      (named.has(has) &&
        logs.some(
          (log) =>
            lower(log.address) === contract &&
            eventOf(log) === votes &&
            [BigInt(had), has].every((one) => log.topics.slice(1).some((topic) => BigInt(topic) === one)),
        )),
  );

/** Who a change is judged for. */
interface Judging {
  readonly bundle: ReadonlyArray<Ran>;
  readonly seen: Seen;
  readonly controls: ReadonlyArray<Control>;
  readonly senders: ReadonlySet<Address>;
  readonly named: ReadonlySet<bigint>;
}

/** Whether an account is a sender's, or one that a sender owns: a Safe that executes, or whose owner or admin it is. */
const isOwn = (contract: Address, { bundle, seen, senders }: Judging): boolean => {
  if (senders.has(contract) || calledAsSafes(bundle).includes(contract)) return true;
  const admins = slotsOf(false).filter(({ holds }) => holds === "admin");
  const owners = [
    ...admins.map(({ slot }) => party(wordIn(seen.before ?? unseen, contract, slot) ?? 0n)),
    ...views
      .map((view) => view(contract))
      .flatMap(({ holds, query }) =>
        holds === "owner" ? seen.worlds.map(({ before }) => readAddress(before.call(query))) : [],
      ),
  ];
  return owners.some((owner) => owner !== null && senders.has(owner));
};

/** A sender's place in a word that goes to another. */
interface Lost {
  readonly had: Address;
  readonly has: Address;
  /** Whether no event tells of it, and nothing came in for it. */
  readonly isSilent: boolean;
}

/** A change, read as what it is. */
interface Read extends Change {
  readonly lost?: Lost;
}

/** A sender's place that a change gives to another; null = none. */
const lostIn = (change: Change, judging: Judging): Lost | null => {
  const { contract, seen } = change;
  const { bundle, senders } = judging;
  for (const [had, has] of places(change)) {
    if (!senders.has(had) || !isAccount(has) || addressOf(has) === contract || senders.has(addressOf(has))) continue;
    if (seen === "trace" && isNumber(addressOf(has).slice(2))) continue;
    const isTold =
      isAnnounced(bundle, contract, had, has) || (seen === "trace" && isToldOf(judging, contract, had, has));
    return { had, has: addressOf(has), isSilent: !isTold && !isPaid(bundle, had) };
  }
  return null;
};

/** A change anywhere: a sender's place, or an account that follows another; null = no more than a number. */
const readAny = (change: Change, judging: Judging): Read | null => {
  const lost = lostIn(change, judging);
  if (lost !== null) return { ...change, holds: "owner", lost };
  return mayBeParties(wordHex(change.was).slice(2), wordHex(change.word).slice(2)) ? change : null;
};

/** A change of a first slot, read as what it is: code that a proxy runs, a keeper of a sender's account, or a sender's place. */
const readFirst = (change: Change, judging: Judging): Read => {
  const { contract, was, word } = change;
  const { seen, senders } = judging;
  const isOther = isAccount(word) && low(word) !== low(was) && !senders.has(addressOf(word));
  if (senders.has(contract) && isOther && word >> 168n === 0n) return { ...change, holds: "key" };
  const lost = lostIn(change, judging);
  if (lost !== null) return { ...change, holds: "owner", lost };
  const code = seen.codeOf(contract);
  const isCode = isOther && isAccount(was) && mayName(was) && mayName(word) && code !== null && delegates(code);
  return isCode ? { ...change, holds: "implementation" } : change;
};

/** Whether an event of the contract tells of it. */
const isTold = ({ contract, holds, was, word }: Change, controls: ReadonlyArray<Control>): boolean => {
  const whats: ReadonlyArray<string> = holds === null ? [] : changes[holds];
  return controls.some(
    (one) =>
      one.contract === contract &&
      whats.includes(one.what) &&
      (holds === "threshold" ||
        holds === "facet" ||
        one.gains === party(word) ||
        (one.gains === null && one.loses === party(was))),
  );
};

/** How bad a change is; null = data, no finding. */
const severityOf = (change: Read, judging: Judging): "info" | "warning" | "blocker" | null => {
  const { contract, slot, holds, was, word, lost } = change;
  const { seen, senders, named, controls } = judging;
  if (holds === null || lost?.isSilent === false || isTold(change, controls)) return null;
  const isNew = seen.worlds[0]?.before.account(contract)?.codeSize === 0n;
  if (isNew) return slot === null ? null : "info";
  // why: a Safe that is set up had neither, and what nobody owned is taken from nobody
  if (was === 0n && (holds === "owner" || holds === "threshold")) return null;
  const isOwner = holds === "owner" && lost === undefined;
  if (isOwner && senders.has(addressOf(word)) && !senders.has(addressOf(was))) return null;
  // why: in one word of a Safe another contract may count
  if (slot !== null && BigInt(slot) === 0n && holds === "implementation" && !isAccount(was)) return null;
  const isNamed = named.has(word) || named.has(low(word)) || (word === 0n && isOwner);
  const isGiven = lost !== undefined || isNamed || isPaid(judging.bundle, addressOf(was));
  return !isGiven && isOwn(contract, judging) ? "blocker" : "warning";
};

const keyOf = ({ contract, was, word, holds, seen, lost }: Read): string => {
  // why: what is packed is told of by a getter as well
  const [had, has] =
    seen === "trace" && lost !== undefined ? [BigInt(lost.had), BigInt(lost.has)] : [low(was), low(word)];
  return `${contract} ${holds} ${had} ${has}`;
};

/** What is silent first, then what has a meaning. */
const rankOf = ({ holds, lost }: Read): number => (lost?.isSilent === true ? 0 : holds === null ? 2 : 1);

/** Most changes that a tracer tells of and a report has. */
const mostTraced = 64;

/** What changes of the contracts, and what is found about it. */
export const checkChanges = (
  bundle: ReadonlyArray<Ran>,
  contracts: ReadonlyArray<Address>,
  seen: Seen,
): { readonly changes: ReadonlyArray<StateChange>; readonly findings: ReadonlyArray<Finding> } => {
  const controls = bundle.flatMap(({ index, outcome }) => controlsIn(outcome.logs, index));
  const senders = new Set<Address>(ownAccounts(bundle));
  const judging: Judging = { bundle, seen, controls, senders, named: namedIn(bundle) };
  const isSafe = safesIn(bundle, seen.worlds[0]?.before ?? unseen);
  const found = contracts.flatMap((contract) =>
    seen.worlds
      .flatMap((world, index) => [
        ...wordsOf(contract, isSafe(contract), seen, world, index === 0),
        ...answersOf(contract, world, index === 0),
      ])
      .map((change) => ({ contract, change })),
  );
  const missed = [...new Set(found.flatMap(({ contract, change }) => (change === null ? contract : [])))];
  const looked = found.flatMap(({ change }): ReadonlyArray<Read> =>
    change === null ? [] : [change.holds === null ? readFirst(change, judging) : change],
  );
  const placesOf = new Set(looked.map(({ contract, slot }) => `${contract} ${slot}`));
  const traced = tracedWords(seen.traced ?? [], isSafe)
    .filter(({ contract, slot }) => !placesOf.has(`${contract} ${slot}`))
    .flatMap((change): Read | ReadonlyArray<Read> =>
      change.holds === null ? (readAny(change, judging) ?? []) : change,
    )
    // why: who fills the list with others takes none away that matters
    .sort((one, other) => rankOf(one) - rankOf(other))
    .slice(0, mostTraced);
  const all = [...looked, ...traced];
  const transactionOf = (contract: Address): number | null => {
    const [only = null, ...more] = bundle.filter(({ calls }) => calls.read.some(({ to }) => lower(to) === contract));
    return more.length > 0 ? null : (only?.index ?? null);
  };
  const told = new Map<string, Finding>();
  for (const change of all) {
    const { contract, holds, was, word, lost } = change;
    const severity = severityOf(change, judging);
    if (severity === null || holds === null || told.has(keyOf(change))) continue;
    const evidence = change.seen === "trace" ? "estimated" : seen.evidence;
    const where = { transaction: transactionOf(contract), evidence };
    const [had, has] = lost === undefined ? [party(was), party(word)] : [lost.had, lost.has];
    const parties = holds === "threshold" ? [] : [address("from", had), address("to", has)];
    const what = text("", `${changes[holds][0]}, without an event`);
    const finding = note(
      "ContractControlChanged",
      severity === "info" ? severity : "warning",
      where,
      what,
      address("contract", contract),
      ...parties,
    );
    told.set(keyOf(change), severity === "blocker" ? { ...finding, severity } : finding);
  }
  const own = new Set([...senders, ...calledAsSafes(bundle)]);
  const keys = bundle.flatMap((entry) => selfCallsIn(entry, controls, own));
  const unread = missed.slice(0, mostContracts).map((contract) => address("", contract));
  const row = { slot: null, holds: null, before: null, after: null, transaction: null };
  return {
    changes: [
      ...all
        .filter(({ isShown }) => isShown)
        .map(({ contract, slot, holds, was, word, seen }): StateChange => ({
          ...{ account: contract, slot, holds, before: holds === "facet" ? null : wordHex(was), after: wordHex(word) },
          ...{ transaction: transactionOf(contract), seen },
        })),
      ...keys.map(({ account, word, transaction }): StateChange => ({
        ...{ ...row, account, holds: "key", after: wordHex(word), transaction, seen: "calldata" },
      })),
      ...missed.map((account): StateChange => ({ ...row, account, seen: "unseen" })),
    ],
    findings: [
      ...told.values(),
      ...keys.map(({ account, word, transaction }) =>
        note(
          "ContractControlChanged",
          "warning",
          { transaction, evidence: "estimated" },
          text("", "the account calls itself and names another, or a key, without an event"),
          address("contract", account),
          ...(word >> 160n === 0n ? [address("to", addressOf(word))] : [hash("to", wordHex(word))]),
        ),
      ),
      ...(unread.length === 0 ? [] : [note("ProxiesNotSeen", "info", { evidence: "unavailable" }, ...unread)]),
    ],
  };
};

/** Accounts whose EIP-7702 delegation changes. */
const delegationsOf = (bundle: ReadonlyArray<Ran>, { before, after }: Sight): ReadonlyArray<StateChange> =>
  [...new Set(delegationAccounts(bundle))].flatMap((account) => {
    const delegateIn = (view: View): bigint | null => {
      const code = view.account(account)?.codePrefix.toLowerCase();
      return code === undefined ? null : code.startsWith("0xef0100") ? BigInt(`0x${code.slice(8)}`) : 0n;
    };
    const [was, word] = [delegateIn(before), delegateIn(after)];
    if (was === null || word === null || was === word) return [];
    const of = { account, slot: null, holds: "delegate", seen: "code" } as const;
    return [{ ...of, before: wordHex(was), after: wordHex(word), transaction: null }];
  });

/** What changes in the contracts that the calls reach, in every world of a proof. */
export const stateChangesIn = (
  proven: Proven,
  {
    round,
    next,
    traced,
  }: {
    readonly round: {
      readonly run: AskResult<SlotRun> | null;
      readonly alone: AskResult<SlotRun> | null;
      readonly codes: ReadonlyMap<Address, AskResult<Hex>>;
    };
    readonly next: AskResult<SlotRun>;
    readonly traced: Traced;
  },
  bundle: ReadonlyArray<Ran>,
): ReturnType<typeof checkChanges> => {
  const run = successOf(round.run);
  if (run === null) return { changes: [], findings: [] };
  const contracts = [...new Set([...lensOf(proven), ...calledBy(proven)])];
  const { changes, findings } = checkChanges(bundle, contracts, {
    before: successOf(round.alone)?.slots ?? null,
    worlds: [run, successOf(next)].filter((world) => world !== null),
    suspects: suspectsOf(proven),
    traced,
    codeOf: (account) => successOf(round.codes.get(account)),
    evidence: run.plan.pretended ? "assumed" : "measured",
  });
  return { changes: [...changes, ...delegationsOf(bundle, run)], findings };
};
