/**
 * The rules in force: of which fork they are, who says so, and what they allow. What executes is believed first, then
 * what headers carry, then `eth_config`, then the table of chains. And whether code can do under one fork what it
 * cannot under the one before. Pure.
 */
import { eip7825Cap, type Chain } from "./table.js";
import type { Hex } from "../primitives/hex.js";
import type { Fork } from "../primitives/names.js";

/** What speaks for a fork. */
export interface Signs {
  /** By the opcodes that the simulated block executes; null where the witness did not answer. */
  readonly executed: Fork | null;
  /** What the header of that block, else of the latest, carries that tells its fork. */
  readonly header: {
    readonly requestsHash: string | null;
    readonly blockAccessListHash: string | null;
    readonly slotNumber: bigint | null;
  } | null;
  readonly config: Fork | null;
}

/** What the fork in force allows one transaction. */
export interface Rules {
  /** null = nobody said. */
  readonly fork: Fork | null;
  readonly by: "executed" | "header" | "config" | "table";
  /** Whether nothing speaks against it; where something does, the node's own answers decide. */
  readonly agrees: boolean;
  /** Most gas one transaction may ask for; null = only the block limits it. */
  readonly txGasCap: bigint | null;
  /** Bytes. */
  readonly maxInitCodeSize: number;
  /** When the next fork activates, epoch seconds; null = not known, or none is planned. */
  readonly nextFork: bigint | null;
}

/** EIP-7954. */
const amsterdamInitCode = 131_072;

/** Whether the header is one of Amsterdam's (EIP-7928, EIP-7843); null where it carries too little to tell. */
const isAmsterdam = ({ requestsHash, blockAccessListHash, slotNumber }: NonNullable<Signs["header"]>): boolean | null =>
  blockAccessListHash !== null || slotNumber !== null ? true : requestsHash !== null ? false : null;

/** Which fork it is; `eth_config` alone stands against nothing that executes, for it names what a chain may be to be. */
export const forkOf = ({ executed, header, config }: Signs): Pick<Rules, "fork" | "by" | "agrees"> => {
  const isAmsterdamHeader = header === null ? null : isAmsterdam(header);
  if (executed !== null)
    return {
      fork: executed,
      by: "executed",
      agrees: isAmsterdamHeader === null || isAmsterdamHeader === (executed === "amsterdam"),
    };
  if (isAmsterdamHeader === true)
    return { fork: "amsterdam", by: "header", agrees: config === null || config === "amsterdam" };
  return config === null
    ? { fork: null, by: "table", agrees: true }
    : { fork: config, by: "config", agrees: isAmsterdamHeader === null || config !== "amsterdam" };
};

/** The chain as the fork in force has it. */
export const ruled = (chain: Chain, { fork, agrees, by }: Pick<Rules, "fork" | "agrees" | "by">): Chain => {
  // why: a rule that is not certain warns, and blocks nothing that the node itself does
  if (!agrees)
    return { ...chain, txGasCapKnown: false, maxInitCodeSize: Math.max(chain.maxInitCodeSize, amsterdamInitCode) };
  // why: another cap than Osaka's is the chain's own, whatever its fork
  const uncapped = chain.txGasCap === eip7825Cap ? null : chain.txGasCap;
  switch (fork) {
    // why: since Amsterdam the cap binds execution alone, state gas comes on top (EIP-8037)
    case "amsterdam":
      return { ...chain, txGasCap: uncapped, maxInitCodeSize: Math.max(chain.maxInitCodeSize, amsterdamInitCode) };
    case "osaka":
      return chain.known ? chain : { ...chain, txGasCapKnown: by === "executed" };
    case "beforeOsaka":
      return { ...chain, txGasCap: uncapped };
    case null:
      return chain;
  }
};

/** The rules of a chain by what speaks for them. */
export const rulesOf = (
  chain: Chain,
  signs: Signs,
  nextFork: bigint | null,
): { readonly chain: Chain; readonly rules: Rules } => {
  const decided = forkOf(signs);
  const own = ruled(chain, decided);
  const { txGasCap, maxInitCodeSize } = own;
  return { chain: own, rules: { ...decided, txGasCap, maxInitCodeSize, nextFork } };
};

/** Most gas a call is run with where nobody fixed it. */
export const mostGas = ({ txGasCap }: Chain, blockGasLimit: bigint | null): bigint =>
  txGasCap ?? blockGasLimit ?? eip7825Cap;

/**
 * Instructions that Amsterdam has and Osaka has not, or that may do more there: an account that is made may be larger,
 * and have more init code.
 */
const changed: ReadonlySet<number> = new Set([
  0x4b, // SLOTNUM
  0xe6, // DUPN
  0xe7, // SWAPN
  0xe8, // EXCHANGE
  0xf0, // CREATE
  0xf5, // CREATE2
  0xff, // SELFDESTRUCT
]);

const [jumpDestination, push1, push32] = [0x5b, 0x60, 0x7f] as const;

/** Opcodes that Osaka and Amsterdam have, from first to last; behind any other nothing runs under either. */
const shared: ReadonlyArray<readonly [first: number, last: number]> = [
  [0x01, 0x0b],
  [0x10, 0x1e],
  [0x20, 0x20],
  [0x30, 0x4a],
  [0x50, 0x55],
  [0x57, 0xa4],
  [0xf1, 0xf2],
  [0xf4, 0xf4],
  [0xfa, 0xfa],
];

/**
 * Whether an instruction of the code that can be reached is another under Amsterdam than under Osaka. A linear sweep:
 * jumps go to JUMPDESTs outside of push data alone, and what is behind an end is reached by a jump only.
 */
export const isOfLaterFork = (code: Hex): boolean => {
  let isReached = true;
  for (let at = 2; at + 1 < code.length; at += 2) {
    const opcode = Number.parseInt(code.slice(at, at + 2), 16);
    if (opcode === jumpDestination) isReached = true;
    if (isReached && changed.has(opcode)) return true;
    if (!shared.some(([first, last]) => opcode >= first && opcode <= last)) isReached = false;
    if (opcode >= push1 && opcode <= push32) at += 2 * (opcode - push1 + 1);
  }
  return false;
};
