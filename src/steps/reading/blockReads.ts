/** The values of its block that code reads, by its instructions. Pure. */
import { addressOf } from "../../abi/words.js";
import { reachableIn } from "../../chains/rules.js";
import { BlockRead } from "../../primitives/names.js";
import type { Address, Hex } from "../../primitives/hex.js";
import { remembered } from "../../primitives/record.js";
import { successOf, type AskResult } from "./askResult.js";
import { runsCode } from "../../report/waits.js";
import type { Case, Filled } from "./bundle.js";

/**
 * Instructions by the yellow paper and EIP-1559, EIP-4399, EIP-7516, EIP-7843; the last six run other code. SELFBALANCE is a
 * payer's own only where code runs as the payer, which is `others`.
 */
const instructions: ReadonlyMap<number, BlockRead> = new Map([
  // why: the base fee decides what gas costs, and what that leaves to who pays for it: BALANCE, GASPRICE
  [0x31, "basefee"],
  [0x3a, "basefee"],
  [0x40, "blockhash"],
  [0x41, "coinbase"],
  [0x42, "timestamp"],
  [0x43, "number"],
  [0x44, "prevrandao"],
  [0x45, "gaslimit"],
  [0x48, "basefee"],
  [0x4a, "blobbasefee"],
  // SLOTNUM (EIP-7843)
  [0x4b, "number"],
  ...([0xf0, 0xf1, 0xf2, 0xf4, 0xf5, 0xfa] as const).map((instruction) => [instruction, "others"] as const),
]);

/** STOP, JUMP, RETURN, REVERT, INVALID, SELFDESTRUCT; not what is undefined, for another chain may define it. */
const ends: ReadonlySet<number> = new Set([0x00, 0x56, 0xf3, 0xfd, 0xfe, 0xff]);

/** The instructions of code that can be reached; all bytes of what is no code of the EVM's first form (EIP-3541). */
export const instructionsIn = (code: Hex, pushed?: Set<string>): ReadonlySet<number> =>
  reachableIn(code, (opcode) => ends.has(opcode) && !code.startsWith("0xef"), pushed);

/** The accounts that code names, as constants and immutables: 15 to 20 bytes, and no mask. */
export const accountsIn = (code: Hex): ReadonlyArray<Address> => {
  const pushed = new Set<string>();
  instructionsIn(code, pushed);
  const words = [...pushed].map((digits) => BigInt(`0x0${digits}`));
  return words.filter((one) => one >> 120n !== 0n && one >> 160n === 0n && (one & (one + 1n)) !== 0n).map(addressOf);
};

/** The contract of beacon roots (EIP-4788). */
export const beaconRoots: Address = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02";
/** As code names it: a compiler may leave out zeros in front. */
const namedRoots = beaconRoots.slice(5);

/** 64 codes of at most 2^17 hex digits: 8 MB. */
const judgedOnce = remembered<ReadonlyArray<BlockRead>>(64, 2 ** 17);

/** Reads code once, not in each report. */
const readsIn = (code: Hex): ReadonlyArray<BlockRead> =>
  judgedOnce(code, () => [
    ...[...instructionsIn(code)].flatMap((instruction) => instructions.get(instruction) ?? []),
    ...(code.toLowerCase().includes(namedRoots) ? (["beaconroot"] as const) : []),
  ]);

/** EIP-7702: code that names a delegate. */
const delegation = "0xef0100";

/**
 * The values of its block that the code called by a bundle reads. `codes` are answers of `eth_getCode`; `known` are
 * contracts whose code is known to do the same in every block.
 */
export const blockReads = (
  bundle: ReadonlyArray<Pick<Case, "input" | "authorizations"> & Partial<Pick<Filled, "code">>>,
  codes: ReadonlyMap<string, AskResult<Hex>>,
  known: ReadonlySet<Address>,
): ReadonlyArray<BlockRead> => {
  const found = bundle.flatMap(({ input: { to, data }, authorizations, code: parties }): ReadonlyArray<BlockRead> => {
    if (authorizations.length > 0) return ["others"];
    if (to === null) return readsIn(data);
    if (known.has(to)) return [];
    const code = successOf(codes.get(to));
    // why: an earlier transaction may put code where there was none
    const isUnseen =
      code === null ||
      code.startsWith(delegation) ||
      (code.length === 2 && parties !== undefined && runsCode({ code: parties }));
    return isUnseen ? ["others"] : readsIn(code);
  });
  return BlockRead.literals.filter((read) => found.includes(read));
};
