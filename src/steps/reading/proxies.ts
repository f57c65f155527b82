/** Proxies among the contracts that a bundle calls: what their slots hold before and after, as findings. Pure. */
import { addressOf } from "../../abi/words.js";
import type { Address } from "../../primitives/hex.js";
import { address, text } from "../../primitives/statement.js";
import { note, type Evidence, type Finding } from "../../report/finding.js";
import { slotsOf, wordIn } from "../../witness/placement.js";
import { unseen, type View } from "../../witness/view.js";
import type { Case, Ran } from "./bundle.js";
import { controlsIn } from "./controlLogs.js";
import { isSafeProxy, likelySafes } from "./delegateCalls.js";

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
  const called = bundle.flatMap((one) =>
    one.calls.read.filter(({ as, data }) => as === undefined && (data.length > 2 || isPaid(one))),
  );
  const callees = new Set([...likelySafes(bundle), ...called.map(({ to }) => to.toLowerCase() as Address)]);
  return [...callees].filter((account) => !isPrecompile(account));
};

/** Whether a contract keeps its code's address as a Safe does, by how it is called or by its own code. */
export const safesIn = (
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
  const told = bundle.flatMap(({ index, outcome }) => controlsIn(outcome.logs, index));
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
          !told.some((one) => one.contract === contract && one.what === what && one.gains === party(word))
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
