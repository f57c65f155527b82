/** Contracts that are known by the hash of their code, whatever address they stand at. Adding one is adding a row. Pure. */
import type { Address, Hash } from "../../primitives/hex.js";
import { safeCode } from "./safeCode.js";

/** What a contract is known for; each reader asks for the kinds that it can judge. */
export type KnownKind = string;

/** A contract whose code is known. */
export interface KnownCode {
  /** Its name and version, for people: `MultiSendCallOnly 1.4.1`. */
  readonly name: string;
  readonly kind: KnownKind;
}

/** The rows: the keccak256 of the deployed code, or of the code as it is at this very address where it names itself. */
const rows: ReadonlyArray<KnownCode & { readonly hash: Hash | ((self: Address) => Hash) }> = [
  ...safeCode,
  // the deployment at 0xcA11bde05977b3631167028862bE2a173976CA11, and viem's own build
  {
    name: "Multicall3",
    kind: "multicall3",
    hash: "0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891",
  },
  {
    name: "Multicall3 (viem)",
    kind: "multicall3",
    hash: "0x5a29a1eb2f59e45e4249b938c8192cac0d2bd32398e1afa03f302a867db692ea",
  },
];

/** What is known of the code with this hash at this address; null where it is nobody's that is known. */
export const knownCode = (hash: Hash, self: Address): KnownCode | null => {
  const row = rows.find((each) => (typeof each.hash === "string" ? each.hash === hash : each.hash(self) === hash));
  return row === undefined ? null : { name: row.name, kind: row.kind };
};
