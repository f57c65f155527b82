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
const rows: ReadonlyArray<KnownCode & { readonly hash: Hash | ((self: Address) => Hash) }> = [...safeCode];

/** What is known of the code with this hash at this address; null where it is nobody's that is known. */
export const knownCode = (hash: Hash, self: Address): KnownCode | null => {
  const row = rows.find((each) => (typeof each.hash === "string" ? each.hash === hash : each.hash(self) === hash));
  return row === undefined ? null : { name: row.name, kind: row.kind };
};
