/** Proxies among the contracts that a bundle calls: what their slots hold before and after, as findings. Pure. */
import { addressOf } from "../../abi/words.js";
import type { Address } from "../../primitives/hex.js";
import { address, text } from "../../primitives/statement.js";
import { note, type Evidence, type Finding } from "../../report/finding.js";
import { slotsOf, wordIn } from "../../witness/placement.js";
import { unseen, type View } from "../../witness/view.js";
import type { Case, Ran } from "./bundle.js";
import { controlsIn } from "./control.js";
import { isSafeProxy, likelySafes } from "./delegateCalls.js";
import { successOf, type AskResult } from "./askResult.js";
import type { TransactionReport } from "../../report/schema.js";

/** How many contracts are looked at, in the order in which they are called. */
export const mostContracts = 8;

/** Precompiles keep nothing, and a node may refuse to replace them. */
const isPrecompile = (account: Address): boolean => account.startsWith(`0x${"0".repeat(36)}`);

/**
 * The contracts that the bundle calls, and Safes that say that they execute, Safes first; a plain payment only where
 * `isPaid` says that its receiver may have code.
 */
export const callees = <C extends Case & Partial<Pick<Ran, "outcome">>>(
  bundle: ReadonlyArray<C>,
  isPaid: (one: C) => boolean = () => false,
): ReadonlyArray<Address> => {
  const called = bundle.flatMap((entry) =>
    entry.calls.read.filter(({ as, data }) => as === undefined && (data.length > 2 || isPaid(entry))),
  );
  const callees = new Set([...likelySafes(bundle), ...called.map(({ to }) => to.toLowerCase() as Address)]);
  return [...callees].filter((account) => !isPrecompile(account));
};

/** Whether a contract keeps its code's address as a Safe does, by how it is called or by its own code. */
const safesIn = (
  bundle: ReadonlyArray<Case & Partial<Pick<Ran, "outcome">>>,
  accounts: View,
): ((contract: Address) => boolean) => {
  const likely = likelySafes(bundle);
  return (contract) => likely.has(contract) || isSafeProxy(contract, accounts);
};

/** Those whose slots are not known to have been empty, by what an earlier run left in them; none where it saw none. */
export const suspects = (
  contracts: ReadonlyArray<Address>,
  left: View | null,
  isSafe: (contract: Address) => boolean,
): ReadonlyArray<Address> =>
  left === null
    ? []
    : contracts.filter((contract) => slotsOf(isSafe(contract)).some(({ slot }) => wordIn(left, contract, slot) !== 0n));

/** Whether a word may be the address of code, and not a counter or a hash that another contract keeps there. */
const mayBeCode = (word: bigint): boolean => word >> 96n !== 0n && word >> 160n === 0n;

/** What was seen of the slots; null where a run did not see them. */
export interface Seen {
  /** Without the calls. */
  readonly before: View | null;
  /** Behind the calls, in every world. */
  readonly after: ReadonlyArray<View | null>;
  /** Contracts whose slots may hold something before. */
  readonly suspects: ReadonlyArray<Address>;
  /** The accounts before the calls. */
  readonly accounts: View;
  readonly evidence: Evidence;
}

/** Slots that change and that no event of the contract tells of, and contracts whose slots were not seen. */
export const checkProxies = (
  bundle: ReadonlyArray<Ran>,
  contracts: ReadonlyArray<Address>,
  { before, after, suspects, accounts, evidence }: Seen,
): ReadonlyArray<Finding> => {
  const controls = bundle.flatMap(({ index, outcome }) => controlsIn(outcome.logs, index));
  const isSafe = safesIn(bundle, accounts);
  const findings: Array<Finding> = [];
  const missed = new Set<Address>();
  const party = (word: bigint) => (word === 0n ? null : addressOf(word));
  for (const contract of contracts) {
    const isNew = accounts.account(contract)?.codeSize === 0n;
    const transaction = bundle.find(({ calls }) => calls.read.some(({ to }) => to.toLowerCase() === contract))?.index;
    for (const { what, slot, isOfSafes } of slotsOf(isSafe(contract))) {
      const was = wordIn(before ?? unseen, contract, slot) ?? (suspects.includes(contract) ? null : 0n);
      for (const word of new Set(after.map((view) => wordIn(view ?? unseen, contract, slot)))) {
        if (was === null || word === null) missed.add(contract);
        else if (
          word !== was &&
          (isOfSafes !== true || mayBeCode(was)) &&
          !controls.some((one) => one.contract === contract && one.what === what && one.gains === party(word))
        )
          findings.push(
            note(
              "ContractControlChanged",
              isNew ? "info" : "warning",
              { transaction: transaction ?? null, evidence },
              text("", `${what}, without an event`),
              address("contract", contract),
              address("from", party(was)),
              address("to", party(word)),
            ),
          );
      }
    }
  }
  const unread = [...missed].slice(0, mostContracts).map((contract) => address("", contract));
  return unread.length === 0
    ? findings
    : [...findings, note("ProxiesNotSeen", "info", { evidence: "unavailable" }, ...unread)];
};

/** What a run shows of slots. */
type Run = AskResult<{
  readonly before: View;
  readonly slots: View | null;
  readonly plan: { readonly pretended: boolean };
}>;

/** What is proven, and what the scan of the same call ran; null for a report from outside. */
interface Proven {
  readonly bundle: ReadonlyArray<Case & { readonly said: TransactionReport }>;
  readonly scanned: { readonly run: Run | null } | null;
}

const saidOf = ({ bundle }: Proven) => bundle.map((entry) => ({ ...entry, outcome: entry.said.outcome }));

const calledBy = (proven: Proven): ReadonlyArray<Address> =>
  // why: what a report from outside says of code is not believed
  callees(saidOf(proven), ({ said }) => proven.scanned === null || said.code.to?.kind !== "nobody");

/** The contracts whose slots a proof looks at. */
export const lensOf = (proven: Proven): ReadonlyArray<Address> => calledBy(proven).slice(0, mostContracts);

/** Those of them that must be seen without the calls, too. */
export const suspectsOf = (proven: Proven): ReadonlyArray<Address> => {
  const run = successOf(proven.scanned?.run);
  return run === null ? lensOf(proven) : suspects(lensOf(proven), run.slots, safesIn(saidOf(proven), run.before));
};

/** What changes in the proxies that the calls reach, in every world of a proof. */
export const checkSlots = (
  proven: Proven,
  { round, next }: { readonly round: Readonly<Record<"run" | "alone", Run | null>>; readonly next: Run },
  bundle: ReadonlyArray<Ran>,
): ReadonlyArray<Finding> => {
  const run = successOf(round.run);
  if (run === null) return [];
  const worlds = [run, successOf(next)].filter((world) => world !== null);
  return checkProxies(bundle, calledBy(proven), {
    before: successOf(round.alone)?.slots ?? null,
    after: worlds.map(({ slots }) => slots),
    suspects: suspectsOf(proven),
    accounts: run.before,
    evidence: run.plan.pretended ? "assumed" : "measured",
  });
};
