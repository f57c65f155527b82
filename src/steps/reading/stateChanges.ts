/** Changes by a bundle of who acts for accounts and contracts, as data and findings: by storage and answers. Pure. */
import { effectsIn } from "../../effects/effects.js";
import {
  answersOf,
  facets,
  isAccount,
  namedDiff,
  tracedWords,
  views,
  wordsOf,
  type Change,
  type Sight,
} from "../../effects/slots.js";
import { party } from "../../effects/told.js";
import { addressOf, argumentsAt, wordOf, wordsFrom } from "../../abi/words.js";
import type { StateDiff } from "../../eth/call.js";
import { lower, type Address, type Hex } from "../../primitives/hex.js";
import { address, count, hash } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import type { StateChange } from "../../report/beside.js";
import { knows, unseen, type View } from "../../witness/view.js";
import { successOf, type AskResult } from "./askResult.js";
import { workedIn, type Ran } from "./bundle.js";
import { controlChanged, delegationAccounts } from "./control.js";
import { calledAsSafes } from "./delegateCalls.js";
import { calledBy, lensOf, safesIn, suspectsOf, workers, type Proven, type SlotRun } from "./proxies.js";
import {
  changes as nameOf,
  judgingOf,
  keyOf,
  rankOf,
  readAny,
  readFirst,
  severityOf,
  type Judging,
  type ContractsSeen,
} from "./stateWords.js";

/** Most changes that a tracer tells of and a report has. */
const mostTraced = 64;
/** Most contracts that a finding names. */
const mostNamed = 8;

/**
 * A proof checks 24 contracts, in the order of the calls. Contracts that are only paid, or asked to transfer or
 * approve tokens, are checked where there are fewer than eight others. One that could not be asked, because the calls
 * or other contracts took the gas for it, is not checked, either.
 * @figures count("not checked", 3), address("", pool)
 * @info where those left out are only paid, or asked to transfer or approve tokens
 */
export const ContractsLeftOut = code("approvals", ["warning", "info"], "ContractsLeftOut", [
  "contracts are called that were not checked for who controls them",
  "send fewer calls at once, with a lower gas limit",
]);

/** That contracts are left out for our own bounds, in number or in gas: a warning where one of them is asked for more than a movement of tokens. */
const checkLeft = (bundle: ReadonlyArray<Ran>, left: ReadonlyArray<Address>): ReadonlyArray<Finding> => {
  if (left.length === 0) return [];
  const working = workers(bundle);
  const worst = left.filter((contract) => working.has(contract));
  const named = [...worst, ...left.filter((contract) => !working.has(contract))].slice(0, mostNamed);
  const numbers = [count("not checked", left.length), ...named.map((contract) => address("", contract))];
  return [ContractsLeftOut[worst.length > 0 ? "warning" : "info"]({ evidence: "unavailable" }, ...numbers)];
};

const most = 2n ** 256n - 1n;
/** True if a word may be a key or its hash: a text and a selector end in zeros, and numbers begin with them. */
const isKey = (word: bigint): boolean => word >> 224n !== 0n && word % (1n << 32n) !== 0n && word !== most;

/** Calls of a sender's account to itself, or of a Safe's, that name somebody: who may act for it is kept in no known place. */
const selfCallsIn = (entry: Ran, own: ReadonlySet<Address>) => {
  const told = new Set(effectsIn([entry], "control").map(({ contract }) => contract));
  return effectsIn([entry], "call").flatMap(({ call: { from, data, as }, row, contract: account, transaction }) => {
    const isSelf = as === undefined && lower(from) === account && own.has(account);
    if (!isSelf || row.isBatch === true || row.grant !== undefined || told.has(account)) return [];
    const word = wordsFrom(data, argumentsAt).find((each) =>
      each >> 160n === 0n
        ? isAccount(each) && ![account, lower(entry.input.from)].includes(addressOf(each))
        : isKey(each),
    );
    return word === undefined ? [] : [{ account, word, transaction }];
  });
};

/** The node cannot simulate a further block. */
export const ProxiesNotSeen = code("approvals", ["info"], "ProxiesNotSeen", [
  "a contract may get another implementation, admin or owner without an event; that was not checked",
  "use a node that simulates several blocks in a row",
]);

/** The words of contracts that the runs change, as rows, and the contracts of which not all was seen. */
const slotsIn = (judging: Judging, contracts: ReadonlyArray<Address>) => {
  const { bundle, seen } = judging;
  const isSafe = safesIn(bundle, seen.worlds[0]?.before ?? unseen);
  const found = contracts.flatMap((contract) =>
    seen.worlds
      .flatMap((world, index) => [
        ...wordsOf(contract, isSafe(contract), seen, world, index === 0),
        ...answersOf(contract, world, index === 0),
      ])
      .map((change) => ({ contract, change })),
  );
  const looked = found.flatMap(({ change }): ReadonlyArray<Change> =>
    change === null ? [] : [change.holds === null ? readFirst(change, judging) : change],
  );
  const placesOf = new Set(looked.map(({ contract, slot }) => `${contract} ${slot}`));
  const diffs = [seen.traced ?? [], ...(seen.named ?? []).map((diff) => [diff])];
  const anywhere = diffs.flatMap((diff) => tracedWords(diff, isSafe));
  const traced = [...new Map(anywhere.map((row) => [`${row.contract} ${row.slot} ${row.word}`, row])).values()]
    .filter(({ contract, slot }) => !placesOf.has(`${contract} ${slot}`))
    .flatMap((change) => (change.holds === null ? (readAny(change, judging) ?? []) : change))
    // why: who fills the list with others takes none away that matters
    .sort((change, other) => rankOf(change) - rankOf(other))
    .slice(0, mostTraced);
  const missed = new Set(found.flatMap(({ contract, change }) => (change === null ? contract : [])));
  return { rows: [...looked, ...traced], missed: [...missed] };
};

/** The rows of the world that the figures are from, and what changes in another alone, each once. */
const shownIn = (rows: ReadonlyArray<Change>): ReadonlyArray<Change> => {
  const keyOf = ({ contract, slot, holds, word }: Change) => `${contract} ${slot ?? `${holds} ${word}`}`;
  const visible = rows.filter(({ isShown }) => isShown);
  const known = new Set(visible.map(keyOf));
  const others = rows.flatMap((row) => (known.has(keyOf(row)) ? [] : [[keyOf(row), row] as const]));
  return [...visible, ...new Map(others).values()];
};

/** The transaction that alone calls a contract; null = none, or several do. */
const callerOf = (bundle: ReadonlyArray<Ran>, contract: Address): number | null => {
  const calling = effectsIn(bundle, "call").filter((asked) => asked.contract === contract);
  const [only = null, ...more] = new Set(calling.map(({ transaction }) => transaction));
  return more.length > 0 ? null : only;
};

/** The findings about what changes without an event, each once. */
const checkSlots = (rows: ReadonlyArray<Change>, judging: Judging): ReadonlyArray<Finding> => {
  const findings = new Map<string, Finding>();
  for (const change of rows) {
    const { contract, holds, was, word, loss } = change;
    const severity = severityOf(change, judging);
    if (severity === null || holds === null || findings.has(keyOf(change))) continue;
    const evidence = change.seen === "trace" ? "estimated" : judging.seen.evidence;
    const where = { transaction: callerOf(judging.bundle, contract), evidence };
    const [had, has] = loss === undefined ? [party(was), party(word)] : [loss.had, loss.has];
    const parties = holds === "threshold" ? [] : [address("from", had), address("to", has)];
    findings.set(keyOf(change), controlChanged(severity, where, contract, nameOf[holds][0], ...parties));
  }
  return [...findings.values()];
};

/** Changes of the contracts, and findings about them. */
export const checkChanges = (
  bundle: ReadonlyArray<Ran>,
  contracts: ReadonlyArray<Address>,
  seen: ContractsSeen,
  /** Those that are called, too, and were left out. */
  left: ReadonlyArray<Address> = [],
): { readonly changes: ReadonlyArray<StateChange>; readonly findings: ReadonlyArray<Finding> } => {
  const judging = judgingOf(bundle, seen);
  const { rows, missed } = slotsIn(judging, contracts);
  const own = new Set([...judging.senders, ...calledAsSafes(bundle)]);
  const keys = workedIn(bundle).flatMap((entry) => selfCallsIn(entry, own));
  const unread = missed.slice(0, mostNamed).map((contract) => address("", contract));
  const row = { slot: null, holds: null, before: null, after: null, transaction: null };
  return {
    changes: [
      ...shownIn(rows).map(({ contract, slot, holds, was, word, seen }): StateChange => ({
        ...{ account: contract, slot, holds, before: holds === "facet" ? null : wordOf(was), after: wordOf(word) },
        ...{ transaction: callerOf(bundle, contract), seen },
      })),
      ...keys.map(({ account, word, transaction }): StateChange => ({
        ...{ ...row, account, holds: "key", after: wordOf(word), transaction, seen: "calldata" },
      })),
      ...[...missed, ...left].map((account): StateChange => ({ ...row, account, seen: "unseen" })),
    ],
    findings: [
      ...checkSlots(rows, judging),
      ...keys.map(({ account, word, transaction }) =>
        controlChanged(
          "warning",
          { transaction, evidence: "estimated" },
          account,
          "the account calls itself and names another, or a key",
          ...(word >> 160n === 0n ? [address("to", addressOf(word))] : [hash("to", wordOf(word))]),
        ),
      ),
      ...(unread.length === 0 ? [] : [ProxiesNotSeen.info({ evidence: "unavailable" }, ...unread)]),
      ...checkLeft(bundle, left),
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
    return [{ ...of, before: wordOf(was), after: wordOf(word), transaction: null }];
  });

/** Changes in the contracts that the calls reach, in every world of a proof. */
export const stateChangesIn = (
  proof: Proven,
  answers: {
    readonly run: AskResult<SlotRun> | null;
    readonly reader: AskResult<SlotRun> | null;
    readonly codes: ReadonlyMap<Address, AskResult<Hex>>;
    readonly next: AskResult<SlotRun> | undefined;
    readonly between: ReadonlyArray<AskResult<SlotRun>>;
    readonly traced: ReadonlyArray<StateDiff>;
  },
  bundle: ReadonlyArray<Ran>,
) => {
  const { reader, codes, next, between, traced } = answers;
  const run = successOf(answers.run);
  if (run === null) return { changes: [], findings: [], isRead: false };
  const lens = lensOf(proof);
  const before = successOf(reader)?.slots ?? null;
  const worlds = [run, ...[next, ...between].flatMap((world) => successOf(world) ?? [])];
  const named = worlds.flatMap((world) => namedDiff(proof.named ?? [], before, world) ?? []);
  const seen: ContractsSeen = {
    ...{ before, worlds, named },
    suspects: suspectsOf(proof),
    traced,
    codeOf: (account) => successOf(codes.get(account)),
    evidence: run.plan.pretended ? "assumed" : "measured",
  };
  // why: a witness that others have starved says nothing of whom it was to ask, and that is not that nothing changed
  const isUnheard = (contract: Address) =>
    run.before.environment !== null &&
    [...views(contract).map(({ query }) => query), facets(contract)].some(
      (query) => !knows(run.before, query) || !knows(run.after, query),
    );
  const left = calledBy(proof).filter((contract) => !lens.includes(contract) || isUnheard(contract));
  const { changes, findings } = checkChanges(bundle, lens, seen, left);
  return { changes: [...changes, ...delegationsOf(bundle, run)], findings, isRead: named.length === worlds.length };
};
