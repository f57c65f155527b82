/** Where the witness stands in one simulation: addresses that nobody can have prepared for. */
import * as Effect from "effect/Effect";
import { bytesToHex, hexToBytes } from "viem";
import { roll } from "../primitives/dice.js";
import type { Address, Hex } from "../primitives/hex.js";
import { witnessBytecode } from "./bytecode.js";
import { encodeQueries, gasFor, type Query } from "./queries.js";

/** What the state overrides say of one account. */
export type AccountOverride = { readonly code: Hex } | { readonly balance: bigint };

/** The witness and its sender, with the state overrides that bring them into being. */
export interface Placement {
  readonly address: Address;
  readonly sender: Address;
  readonly override: Readonly<Record<Address, AccountOverride>>;
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
