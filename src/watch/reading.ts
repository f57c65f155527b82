/**
 * What the accounts, slots, counts and contracts that reports hang on hold behind one block: one `eth_simulateV1` for all
 * of them. The witness reads accounts and asks contracts, slots are read by contracts whose code is replaced by a
 * reader, and how many an account has sent is seen by the address that it would create.
 */
import * as Effect from "effect/Effect";
import * as Eth from "../eth/index.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import type { Rpc } from "../rpc/index.js";
import { isAllOf } from "../steps/approvals.js";
import { placement, readers, slotQuery, witnessCall, type Placement } from "../witness/placement.js";
import type { Account, CallAnswer } from "../witness/answers.js";
import type { Query } from "../witness/queries.js";
import { seenIn, type View } from "../witness/view.js";

/** What one report hangs on. */
export interface Touched {
  readonly accounts: ReadonlySet<Address>;
  /** Of those, who is only paid: whether they own anything matters, not how much. */
  readonly payees: ReadonlySet<Address>;
  /** Slots by the account whose they are. */
  readonly slots: ReadonlyMap<Address, ReadonlySet<Hash>>;
  /** What contracts are asked, as the report's proof did. */
  readonly calls: ReadonlyArray<Extract<Query, { readonly kind: "call" }>>;
  /** Amounts that may be all there is of a token, by its call for the supply: whether they are matters, not how much there is. */
  readonly supplies: ReadonlyMap<string, ReadonlyArray<bigint>>;
  /** Whose count of sent transactions matters. */
  readonly senders: ReadonlySet<Address>;
}

/** What was read of one thing: of the block its chain and fork, of a slot or a count a word. */
export type ReadValue =
  | Pick<Account, "kind" | "balance" | "codeHash" | "codePrefix">
  | Pick<CallAnswer, "kind" | "success" | "size" | "data">
  | { readonly kind: "word"; readonly word: string };

/** What was read, by what was asked; what could not be read is not there. */
export type Reading = ReadonlyMap<string, ReadValue>;

const lower = (text: string): string => text.toLowerCase();
export const accountKey = (address: Address): string => `account ${lower(address)}`;
const slotKey = (address: Address, slot: Hex): string => `slot ${lower(address)} ${lower(slot)}`;
export const callKey = ({ to, data }: { readonly to: Address; readonly data: Hex }): string =>
  `call ${lower(to)} ${lower(data)}`;
const senderKey = (address: Address): string => `sender ${lower(address)}`;
const blockKey = "block";

/** Everything that a report hangs on, by name. */
export const keysOf = ({ accounts, slots, calls, senders }: Touched): ReadonlyArray<string> => [
  blockKey,
  ...[...accounts].map(accountKey),
  ...[...slots].flatMap(([address, its]) => [...its].map((slot) => slotKey(address, slot))),
  ...calls.map(callKey),
  ...[...senders].map(senderKey),
];

/** All that several reports hang on, each thing once. */
export const unionOf = (sets: ReadonlyArray<Touched>): Touched => {
  const slots = new Map<Address, Set<Hash>>();
  for (const set of sets)
    for (const [address, its] of set.slots) {
      const all = slots.get(address) ?? new Set<Hash>();
      slots.set(address, all);
      for (const slot of its) all.add(slot);
    }
  return {
    accounts: new Set(sets.flatMap(({ accounts }) => [...accounts])),
    payees: new Set(),
    supplies: new Map(),
    slots,
    calls: [...new Map(sets.flatMap(({ calls }) => calls.map((call) => [callKey(call), call] as const))).values()],
    senders: new Set(sets.flatMap(({ senders }) => [...senders])),
  };
};

/** Gas: what one thing takes at most where nobody means harm; who takes more costs the others a proof. */
const costs = { account: 12_000n, slot: 16_000n, call: 60_000n, sender: 100_000n } as const;
/** Gas of one call of the witness, below what one transaction may take (EIP-7825). */
const mostPerCall = 15_000_000n;
/** Gas of one request, below what nodes simulate at once. */
const mostPerRequest = 45_000_000n;

/** Gas that a set takes to read. */
const gasOf = ({ accounts, slots, calls, senders }: Touched): bigint => {
  const count = [...slots.values()].reduce((sum, { size }) => sum + size, 0);
  return (
    costs.account * BigInt(accounts.size + 1) +
    costs.slot * BigInt(count) +
    costs.call * BigInt(calls.length) +
    costs.sender * BigInt(senders.size)
  );
};

/** As few sets as may be, each of which one request reads; what is too large for any is left out, and is not known. */
export const requestsFor = (sets: ReadonlyArray<Touched>): ReadonlyArray<Touched> => {
  const whole = unionOf(sets);
  if (gasOf(whole) <= mostPerRequest) return [whole];
  const packed: Array<Touched> = [];
  for (const set of sets) {
    const last = packed.at(-1);
    const both = last === undefined ? set : unionOf([last, set]);
    if (last !== undefined && gasOf(both) <= mostPerRequest) packed[packed.length - 1] = both;
    else if (gasOf(set) <= mostPerRequest) packed.push(set);
  }
  return packed;
};

/** Queries that one call of the witness answers, and the gas that it has. */
interface Part {
  readonly queries: ReadonlyArray<Query>;
  readonly gas: bigint;
}

/** Gas that every call of the witness has beside: its last query may want to use its whole cap. */
const spare = 500_000n;

/** Queries in calls of the witness, each within what one transaction may take. */
const partsOf = (queries: ReadonlyArray<Query>, costOf: (query: Query) => bigint): ReadonlyArray<Part> => {
  const parts: Array<{ readonly queries: Array<Query>; gas: bigint }> = [];
  for (const query of queries) {
    const last = parts.at(-1);
    const cost = costOf(query);
    if (last !== undefined && last.gas + cost <= mostPerCall) {
      last.queries.push(query);
      last.gas += cost;
    } else parts.push({ queries: [query], gas: cost + spare });
  }
  return parts;
};

const callsOf = (at: Placement, parts: ReadonlyArray<Part>): ReadonlyArray<Eth.CallRequest> =>
  parts.map(({ queries, gas }) => witnessCall(at, queries, gas));

/** What the witness saw, a view for each part that was answered. */
const viewsOf = (parts: ReadonlyArray<Part>, block: Eth.SimulatedBlock | undefined) =>
  parts.flatMap(({ queries }, index) => {
    const view = seenIn(queries, block?.calls[index]);
    return view === null ? [] : [{ queries, view }];
  });

/** CREATE of nothing, whose address tells the count of who creates: PUSH1 0 (three times) CREATE, returned as a word. */
const creator: Hex = "0x600060006000f060005260206000f3";

const entryOf = (calls: ReadonlyArray<Eth.CallRequest>, stateOverrides: Eth.StateOverrides): Eth.BlockStateCall => ({
  ...{ calls, stateOverrides },
  blockOverrides: { gasLimit: calls.reduce((sum, { gas }) => sum + BigInt(gas ?? 0), 0n), baseFeePerGas: 0n },
});

const wordOf = (word: string): ReadValue => ({ kind: "word", word });

const answerTo = (query: Query, view: View): readonly [key: string, held: ReadValue | null] => {
  switch (query.kind) {
    case "environment": {
      const seen = view.environment;
      return [blockKey, seen && wordOf(`${seen.chainId} ${seen.fork}`)];
    }
    case "account":
      return [accountKey(query.address), view.account(query.address)];
    case "call":
      return [callKey(query), view.call(query)];
  }
};

/** Reads a set behind a block. JSON-RPC: `eth_simulateV1`. */
export const read = (set: Touched, block: Hash): Effect.Effect<Reading, Eth.Failure, Rpc> =>
  Effect.gen(function* () {
    const at = yield* placement;
    const accounts = [...set.accounts].map((address): Query => ({ kind: "account", address }));
    const seen = partsOf([{ kind: "environment" }, ...accounts, ...set.calls], ({ kind }) =>
      kind === "call" ? costs.call : costs.account,
    );
    const slots = [...set.slots].flatMap(([address, its]) => [...its].map((slot) => slotQuery(address, slot)));
    const lens = partsOf(slots, () => costs.slot);
    const senders = [...set.senders];
    const creators = Object.fromEntries(senders.map((sender) => [sender, { code: creator }]));
    const counting = senders.map((to) => ({ from: at.sender, to, gas: costs.sender }));
    const simulated = yield* Eth.simulateV1({
      blocks: [
        entryOf(callsOf(at, seen), at.override),
        entryOf(callsOf(at, lens), readers([...set.slots.keys()])),
        entryOf(counting, creators),
      ],
      block: { blockHash: block },
    });
    const [first, second, third] = simulated;
    const reading = new Map<string, ReadValue>();
    for (const { queries, view } of viewsOf(seen, first))
      for (const query of queries) {
        const [key, held] = answerTo(query, view);
        if (held !== null) reading.set(key, held);
      }
    for (const { view } of viewsOf(lens, second))
      for (const query of slots) {
        const word = view.call(query);
        if (word !== null && word.success) reading.set(slotKey(query.to, query.data), wordOf(word.data));
      }
    for (const [index, sender] of senders.entries()) {
      const result = third?.calls[index];
      if (result?.status === "success") reading.set(senderKey(sender), wordOf(result.returnData));
    }
    return reading;
  });

/** Whether all that a report hangs on was read, and holds what it held. */
export const isUntouched = (set: Touched, before: Reading, now: Reading): boolean => {
  const payees = new Set([...set.payees].map(accountKey));
  const matters = (key: string, held: ReadValue): string => {
    switch (held.kind) {
      case "account": {
        // why: of an account that is only paid its code matters, and whether it is empty
        const balance = payees.has(key) ? held.balance > 0n : held.balance;
        return [balance, held.codeHash, held.codePrefix].join(" ");
      }
      case "call": {
        const { success, size, data } = held;
        const supply = success && data.length >= 66 ? BigInt(data.slice(0, 66)) : null;
        // why: of a supply it matters which of the amounts are all of it
        const amounts = set.supplies.get(key)?.map((amount) => isAllOf(amount, supply));
        return (amounts ?? [success, size, data]).join(" ");
      }
      case "word":
        return held.word;
    }
  };
  return keysOf(set).every((key) => {
    const [held, holds] = [before.get(key), now.get(key)];
    return held !== undefined && holds !== undefined && matters(key, held) === matters(key, holds);
  });
};
