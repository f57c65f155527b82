/**
 * What is put into one simulation by its state overrides: the witness, at addresses that nobody can have prepared for, and
 * readers of storage.
 */
import * as Effect from "effect/Effect";
import { bytesToHex, hexToBytes } from "viem";
import { roll } from "../primitives/effects.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { readUint256 } from "./answers.js";
import { witnessBytecode } from "./bytecode.js";
import { encodeQueries, gasFor, staticCall, type Call, type Query } from "./queries.js";
import type { View } from "./view.js";

/** The witness and its sender, with the state overrides that bring them into being. */
export interface Placement {
  readonly address: Address;
  readonly sender: Address;
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
  return { address, sender, override: { [address]: { code: witnessBytecode }, [sender]: { balance: senderBalance } } };
};

/** A place of 40 bytes that no contract can foresee. */
export const placement: Effect.Effect<Placement> = Effect.map(roll(40), (bytes) => place(hexToBytes(bytes)));

/** The call that asks the witness these queries; `gas` is what they may take at most, unless less is given. */
export const witnessCall = ({ sender, address }: Placement, queries: ReadonlyArray<Query>, gas = gasFor(queries)) => ({
  from: sender,
  to: address,
  data: encodeQueries(queries),
  gas,
});

/*
 * The storage lens: where contracts keep who acts for them (ERC-1967, ERC-1822, a Safe's singleton), read behind a simulated
 * block, with their code replaced by a reader while what was written before stays.
 */

/** Returns the slot that its calldata names: SLOAD(CALLDATALOAD(0)). */
const reader: Hex = "0x5f35545f5260205ff3";

/** Several times what one SLOAD takes under any fork. */
const slotGas = 20_000;

/** What is kept where, in the words of the events that should tell of a change. */
export const slots: ReadonlyArray<{ readonly what: string; readonly slot: Hash; readonly isOfSafes?: true }> = [
  // keccak256("eip1967.proxy.implementation") - 1
  { what: "new implementation", slot: "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc" },
  // keccak256("PROXIABLE"), ERC-1822
  { what: "new implementation", slot: "0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7" },
  // keccak256("eip1967.proxy.admin") - 1
  { what: "new proxy admin", slot: "0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103" },
  // keccak256("eip1967.proxy.beacon") - 1
  { what: "new beacon", slot: "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50" },
  // the singleton of a Safe; other contracts keep anything there
  { what: "new implementation", slot: `0x${"0".repeat(64)}`, isOfSafes: true },
];

/** What a reader is asked. */
export const slotQuery = (contract: Address, slot: Hash): Call => staticCall(contract, slot, slotGas);

/** What is asked of the readers. */
export const slotQueries = (contracts: ReadonlyArray<Address>): ReadonlyArray<Call> =>
  contracts.flatMap((contract) => slots.map(({ slot }) => slotQuery(contract, slot)));

/** The slots that tell of a contract. */
export const slotsOf = (isSafe: boolean): typeof slots => slots.filter(({ isOfSafes }) => isSafe || isOfSafes !== true);

/** The contracts as readers. */
export const readers = (contracts: ReadonlyArray<Address>): Readonly<Record<Address, { readonly code: Hex }>> =>
  Object.fromEntries(contracts.map((contract) => [contract, { code: reader }]));

/** The word in a slot; null where it was not read. */
export const wordIn = (view: View, contract: Address, slot: Hash): bigint | null =>
  readUint256(view.call(slotQuery(contract, slot)));
