/**
 * Contracts that state overrides put into one simulation: the witness, at addresses nobody can have prepared for, and
 * readers of storage.
 */
import * as Context from "effect/Context";
import { bytesToHex, hexToBytes } from "../primitives/bytes.js";
import { RandomWords } from "../primitives/effects.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { wordOf, wordsFrom } from "../abi/words.js";
import { witnessBytecode } from "./bytecode.js";
import { encodeQueries, gasFor, staticCall, type CallQuery, type Query } from "./queries.js";
import type { View } from "./view.js";

/** The witness and its sender, with the state overrides that bring them into being. */
export interface Placement {
  readonly address: Address;
  readonly sender: Address;
  /** The address at which a reader of overrides may be put. */
  readonly reader: Address;
  readonly override: Readonly<Record<Address, { readonly code: Hex } | { readonly balance: bigint }>>;
}

/** Wei of the sender: more than any gas limit times any fee, far below every node's overflow checks. */
const senderBalance = 2n ** 96n - 1n;

// Precompiles, predeploys and vanity pseudo-accounts live at low or leading-zero addresses.
const addressFrom = (random: Uint8Array): Address => {
  const hex = bytesToHex(random, { size: 20 });
  return hex.startsWith("0x00") ? `0xa5${hex.slice(4)}` : hex;
};

const otherThan = (address: Address, sender: Address): Address =>
  address === sender ? `0x${sender.startsWith("0x5a") ? "a5" : "5a"}${sender.slice(4)}` : sender;

/**
 * Places the witness by 40 random bytes (the first 20 its own address, the rest its sender's). Use fresh
 * ones for every simulated block: a contract that could guess them would behave only when watched.
 */
export const place = (random: Uint8Array): Placement => {
  const address = addressFrom(random.subarray(0, 20));
  const sender = otherThan(address, addressFrom(random.subarray(20, 40)));
  // why: an address like any other that nobody can have prepared for
  const reader: Address = `${address.slice(0, -1)}${address.endsWith("0") ? "1" : "0"}` as Address;
  return {
    address,
    sender,
    reader,
    override: { [address]: { code: witnessBytecode }, [sender]: { balance: senderBalance } },
  };
};

/** A place of 40 bytes that no contract can foresee. */
export const placementIn = (context: Context.Context<never>): Placement =>
  place(hexToBytes(Context.get(context, RandomWords)(40)));

/** Wei per gas: far above any base fee, so that the witness is never refused for its price. */
export const witnessFees = { maxFeePerGas: 10n ** 15n, maxPriorityFeePerGas: 0n };

/** The call that asks the witness these queries; `gas` is what they may take at most, unless less is given. */
export const witnessCall = ({ sender, address }: Placement, queries: ReadonlyArray<Query>, gas = gasFor(queries)) => ({
  from: sender,
  to: address,
  data: encodeQueries(queries),
  gas,
});

/*
 * The storage lens: where contracts keep who acts for them, read behind a simulated block, with their code replaced by a
 * reader while what was written before stays.
 */

/** Returns the slots that its calldata names: for each word SLOAD(word). */
const reader: Hex = "0x5f5b8035548152602001368110600157365ff3";

/** Several times what one SLOAD takes under any fork. */
const slotGas = 20_000;
const wordBytes = 32;

/** Slots that are read so of Safes alone. */
const ofSafes = [
  // a Safe's singleton, threshold, and the first of its modules and owners: keccak256(abi.encode(1, 1)), (1, 2)
  { holds: "implementation", slot: wordOf(0) },
  { holds: "threshold", slot: wordOf(4) },
  { holds: "module", slot: "0xcc69885fda6bcc1a4ace058b4a62bf5e179ea78fd58a1ccd71c22cc9b688792f" },
  { holds: "owner", slot: "0xe90b7bceb6e7df5418fb78d8ee546e97c83a08bbccc01a0644d599ccd2a7c2e0" },
  // keccak256("guard_manager.guard.address"), of "module_manager.module_guard.address", "fallback_manager.handler.address"
  { holds: "guard", slot: "0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8" },
  { holds: "moduleGuard", slot: "0xb104e0b93118902c651344349b610029d694cfdec91c589c91ebafbcd0289947" },
  { holds: "fallbackHandler", slot: "0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5" },
] as const;

/** The slots that are looked at, and what is kept in each. */
export const slots: ReadonlyArray<{
  readonly slot: Hash;
  /** null = anything: the first slots of a contract. */
  readonly holds: (typeof ofSafes)[number]["holds"] | "admin" | "beacon" | null;
  /** True if it is read so of Safes alone, false if of all but Safes; absent = of every contract. */
  readonly isOfSafes?: boolean;
}> = [
  // keccak256("eip1967.proxy.implementation") - 1
  { holds: "implementation", slot: "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc" },
  // keccak256("PROXIABLE"), ERC-1822
  { holds: "implementation", slot: "0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7" },
  // keccak256("eip1967.proxy.admin") - 1
  { holds: "admin", slot: "0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103" },
  // keccak256("eip1967.proxy.beacon") - 1
  { holds: "beacon", slot: "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50" },
  // keccak256("org.zeppelinos.proxy.implementation"), keccak256("org.zeppelinos.proxy.admin")
  { holds: "implementation", slot: "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3" },
  { holds: "admin", slot: "0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b" },
  ...ofSafes.map((row) => ({ ...row, isOfSafes: true })),
  ...[0, 1].map((place) => ({ holds: null, slot: wordOf(place), isOfSafes: false })),
];

/** Each slot once. */
const watchList: ReadonlyArray<Hash> = [...new Set(slots.map(({ slot }) => slot))];
const slotData: Hex = `0x${watchList.map((slot) => slot.slice(2)).join("")}`;

/** Asks a reader for every slot, in one call. */
const slotQuery = (contract: Address): CallQuery =>
  staticCall(contract, slotData, slotGas * watchList.length, wordBytes * watchList.length);

/** Slots of a contract that somebody names. */
export type NamedSlots = { readonly address: Address; readonly storageKeys: ReadonlyArray<Hash> };

/** Asks a reader for them. */
export const namedQuery = ({ address, storageKeys }: NamedSlots): CallQuery => {
  const data: Hex = `0x${storageKeys.map((slot) => slot.slice(2)).join("")}`;
  return staticCall(address, data, slotGas * storageKeys.length, wordBytes * storageKeys.length);
};

/** Returns the queries for the readers. */
export const slotQueries = (contracts: ReadonlyArray<Address>): ReadonlyArray<CallQuery> => contracts.map(slotQuery);

/** The slots that tell of a contract, and the place of each in the reader's answer. */
const rowsOf = (isSafe: boolean) =>
  slots
    .filter(({ isOfSafes = isSafe }) => isOfSafes === isSafe)
    .map((row) => ({ ...row, place: watchList.indexOf(row.slot) }));
const [ofAllSafes, ofOthers] = [rowsOf(true), rowsOf(false)];

/** The slots that tell of a contract. */
export const slotsOf = (isSafe: boolean): ReturnType<typeof rowsOf> => (isSafe ? ofAllSafes : ofOthers);

/** The contracts as readers. */
export const readers = (contracts: ReadonlyArray<Address>): Readonly<Record<Address, { readonly code: Hex }>> =>
  Object.fromEntries(contracts.map((contract) => [contract, { code: reader }]));

/** Reads what a reader answers; nothing where it was not asked. */
export const readWords = (view: View | null, query: CallQuery): ReadonlyArray<bigint> => {
  const answer = view?.call(query);
  return answer?.success === true ? wordsFrom(answer.data) : [];
};

/** Reads what the slots of a contract hold; a word is null where it was not read, as all are where nothing was seen. */
export const wordsIn = (view: View | null, contract: Address, isSafe: boolean) => {
  const words = readWords(view, slotQuery(contract));
  return slotsOf(isSafe).map((row) => ({ ...row, word: words[row.place] ?? null }));
};
