/** Which contracts are looked at for who acts for them: whose slots are read, and what they are asked themselves. Pure. */
import { memoize } from "effect/Function";
import { addressOf, isNobody } from "../../abi/words.js";
import { effectsIn } from "../../effects/effects.js";
import { facets, views, type Sight } from "../../effects/slots.js";
import { plainJson } from "../../primitives/json.js";
import type { Address } from "../../primitives/hex.js";
import type { TransactionReport } from "../../report/schema.js";
import { wordsIn, type NamedSlots } from "../../witness/placement.js";
import type { Query } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";
import type { Case } from "./bundle.js";
import { isSafeProxy, likelySafes, type Running } from "./delegateCalls.js";
import type { Facts } from "./answers.js";
import { successOf, type AskResult } from "./askResult.js";
import { implementationsOf, isSystem } from "./nobodyCalled.js";

/** How many contracts are looked at, in the order in which they are called; fewer of those that are only asked to move tokens. */
const most = { contracts: 24, movers: 8 } as const;

/**
 * The contracts that the bundle calls, and Safes that say that they execute, Safes first; a plain payment only where
 * `isPaid` says that its receiver may have code.
 */
export const callees = <C extends Running>(bundle: ReadonlyArray<C>, isPaid: (entry: C) => boolean = () => false) => {
  const calls = bundle.flatMap((entry) =>
    entry.calls.read.filter(({ as, data }) => as === undefined && (data.length > 2 || isPaid(entry))),
  );
  const callees = new Set([...likelySafes(bundle), ...calls.map(({ to }) => to.toLowerCase() as Address)]);
  return [...callees].filter((account) => !isSystem(account) && !isNobody(account));
};

/** Contracts that the bundle asks for more than a payment, a movement of tokens or a right over them, all of which are measured. */
export const workers = (bundle: ReadonlyArray<Running>): ReadonlySet<Address> => {
  const working = effectsIn(bundle, "call").flatMap(({ call, row, contract }) =>
    call.data.length === 2 || (row.move ?? row.grant) !== undefined ? [] : contract,
  );
  return new Set([...likelySafes(bundle), ...working]);
};

/** Those of the contracts that are looked at: whoever fills the places with movements of tokens takes none from the others. */
export const chosenOf = (bundle: ReadonlyArray<Running>, contracts: ReadonlyArray<Address>): ReadonlyArray<Address> => {
  const working = workers(bundle);
  const first = contracts.filter((contract) => working.has(contract)).slice(0, most.contracts);
  const others = contracts.filter((contract) => !working.has(contract));
  const chosen = new Set([...first, ...others.slice(0, Math.max(0, most.movers - first.length))]);
  return contracts.filter((contract) => chosen.has(contract));
};

/** Tells if a contract keeps its code's address as a Safe does, by how it is called or by its own code. */
export const safesIn = (bundle: ReadonlyArray<Running>, accounts: View): ((contract: Address) => boolean) => {
  const likely = likelySafes(bundle);
  return (contract) => likely.has(contract) || isSafeProxy(contract, accounts);
};

/** True if a word is the text of at most 31 bytes that Solidity keeps in one: its last byte is twice the length. */
const isText = (word: bigint): boolean => {
  const length = word & 0xffn;
  return length % 2n === 0n && length <= 62n && (word >> 8n) % (1n << (8n * (31n - length / 2n))) === 0n;
};

/** True if any 20 bytes of a word may be an account, and not a small number or a text. */
export const mayName = (word: bigint): boolean => word >> 96n !== 0n && !isText(word);

/** Those whose slots are not known to have been empty, by what an earlier run left in them; none where it saw none. */
export const suspects = (contracts: ReadonlyArray<Address>, view: View | null, isSafe: (one: Address) => boolean) =>
  view === null
    ? []
    : contracts.filter((contract) =>
        wordsIn(view, contract, isSafe(contract)).some(
          ({ holds, word }) => word === null || (holds === null ? mayName(word) : word !== 0n),
        ),
      );

/** A run, as far as it shows slots. */
export type SlotRun = Sight & {
  readonly plan: { readonly pretended: boolean; readonly lens?: ReadonlyArray<Address>; readonly block: unknown };
};

/** The bundle that is proven, and the scan's run of the same call; null for a report from outside. */
export interface Proven {
  readonly bundle: ReadonlyArray<Case & { readonly said: TransactionReport }>;
  readonly scanned: { readonly run: AskResult<SlotRun> | null; readonly codes?: Facts["codes"] } | null;
  /** Slots that access lists name; absent = none. */
  readonly named?: ReadonlyArray<NamedSlots>;
}

const saidOf = ({ bundle }: Proven) => bundle.map((entry) => ({ ...entry, outcome: entry.said.outcome }));

export const calledBy = (proof: Proven): ReadonlyArray<Address> =>
  // why: what a report from outside says of code is not believed
  callees(saidOf(proof), ({ said }) => proof.scanned === null || said.code.to?.kind !== "nobody");

/** The contracts whose slots a proof looks at: with the beacons of proxies among them, as the scan of the same call left them. */
export const lensOf = memoize((proof: Proven): ReadonlyArray<Address> => {
  const contracts = calledBy(proof);
  const slots = successOf(proof.scanned?.run)?.slots ?? null;
  const beacons = contracts.flatMap((contract) =>
    wordsIn(slots, contract, false).flatMap(({ holds, word }) =>
      holds === "beacon" && word !== null && word !== 0n ? addressOf(word) : [],
    ),
  );
  return [...new Set([...chosenOf(saidOf(proof), contracts), ...beacons.slice(0, most.contracts)])];
});

/** Those of them that must be seen without the calls, too. */
export const suspectsOf = memoize((proof: Proven): ReadonlyArray<Address> => {
  const run = successOf(proof.scanned?.run);
  return run === null ? lensOf(proof) : suspects(lensOf(proof), run.slots, safesIn(saidOf(proof), run.before));
});

/** Queries to contracts themselves, for those that keep it elsewhere than the slots that are known, and for the code behind proxies. */
export const viewsOf = memoize((proof: Proven): ReadonlyArray<Query> => {
  const slots = successOf(proof.scanned?.run)?.slots ?? null;
  const codes = proof.scanned?.codes ?? new Map<never, never>();
  return lensOf(proof).flatMap((contract) => [
    ...views(contract).map(({ query }) => query),
    facets(contract),
    ...implementationsOf(contract, slots, codes).map((target): Query => ({ kind: "account", address: target })),
  ]);
});

/**
 * Accounts that act for the contracts of a run behind it: words of slots with a known meaning, by contract and slot,
 * and the `state` that the run stood on; null where those were not read.
 */
export const heldIn = (bundle: ReadonlyArray<Running>, { slots, before, plan: { lens = [], block } }: SlotRun) => {
  if (slots === null || lens.length === 0) return null;
  const isSafe = safesIn(bundle, before);
  const words = lens.flatMap((contract) =>
    wordsIn(slots, contract, isSafe(contract)).flatMap(({ slot, holds, word }) =>
      holds === null || word === null ? [] : [[`${contract} ${slot}`, { contract, holds, word }] as const],
    ),
  );
  return { state: JSON.stringify(plainJson(block)), words: new Map<string, (typeof words)[number][1]>(words) };
};
