/**
 * The rules in force: of which fork they are, who says so, and what they allow. What executes is believed first, then
 * what headers carry, then `eth_config`, then the table of chains. And whether code can do under one fork what it
 * cannot under the one before. Pure.
 */
import type { Address, Hex } from "../primitives/hex.js";
import type { Fork } from "../primitives/names.js";
import type { FeeModel } from "./feeModel.js";

/** One chain's parameters. */
export interface Chain {
  /** The chain's name, for people. */
  readonly name: string;
  /** Symbol of the native currency; `native` where nobody names it. */
  readonly symbol: string;
  /** Decimals of the native currency. */
  readonly decimals: number;
  /** The tag that names the newest usable state. */
  readonly blockTag: "pending" | "latest";
  /**
   * The meaning of `pending`. `guess`: the node's guess at the next block, with other people's transactions, which may
   * never be mined. `preconfirmed`: transactions that are ordered before whatever is sent now. On a guess, a report is
   * `ready` only if the outcome is the same on the sealed head.
   */
  readonly pending: "guess" | "preconfirmed";
  /**
   * ms between blocks. A head that misses two blocks is doubtful, one that misses three is stale. Where blocks are
   * shorter than 5 s, these limits are 10 s and 20 s.
   */
  readonly blockTimeMs: number;
  /** True where the block time is known; the age of the head is judged by it. */
  readonly paceKnown: boolean;
  /** Most gas one transaction may ask for; null = only the block limits it. */
  readonly txGasCap: bigint | null;
  /** False where the cap is only assumed: a limit above it is then a warning, not a blocker. */
  readonly txGasCapKnown: boolean;
  /** EIP-1559: a full block raises the base fee by (elasticity − 1) ÷ denominator. */
  readonly elasticity: bigint;
  /** The base fee change denominator of EIP-1559; see `elasticity`. */
  readonly denominator: bigint;
  /** Wei per gas. */
  readonly minBaseFeePerGas: bigint;
  /** Smallest tip that is proposed, wei per gas. */
  readonly minTip: bigint;
  /** Largest tip that is proposed, wei per gas: a node that names more is not followed. */
  readonly maxTip: bigint;
  /** Bytes (EIP-3860). */
  readonly maxInitCodeSize: number;
  /** Limits of the nodes' settings, not of the chain's rules; null = no limit is known. */
  readonly nodeLimits: {
    /** Most that the gas of one transaction may cost, wei (geth: `rpc.txfeecap`). */
    readonly maxFee: bigint | null;
    /** Least tip, wei per gas (geth: `txpool.pricelimit`). */
    readonly minTip: bigint | null;
    /** Most bytes of a signed transaction without blobs; with blobs eight times as many, blobs and proofs among them. */
    readonly maxBytes: number | null;
  };
  /**
   * True where the chain's nodes are known to have these settings. What they would refuse is then a warning, else
   * information.
   */
  readonly nodeLimitsKnown: boolean;
  /**
   * Percent by which both fees of a replacement must rise (geth: `txpool.pricebump`); blobs need 100 at least. 0 = there
   * is no pool that compares.
   */
  readonly priceBump: number;
  /**
   * How the chain charges beyond gas × price: a model of your own, or a built-in one by its name. `opstack`: L1 data fee
   * and operator fee read from the oracle predeploys. `arbitrum`: the L1 cost is inside the gas. `detect`: `opstack` when
   * the oracle predeploys have code, else `ethereum`.
   */
  readonly feeModel: "ethereum" | "opstack" | "arbitrum" | "detect" | FeeModel;
  /** Address of OP-stack's `GasPriceOracle`. */
  readonly gasPriceOracle: Address;
  /** Its best known tokens. Every proof checks whether contracts could take them (`report.exposure`). */
  readonly tokens: ReadonlyArray<{
    /** The contract, in lower case. */
    readonly address: Address;
    readonly symbol: string;
    readonly decimals: number;
  }>;
  /** False for chains the table does not know. */
  readonly known: boolean;
}

/** EIP-7825: 2^24. */
export const eip7825Cap = 16_777_216n;

/** Signs that speak for a fork. */
export interface Signs {
  /** By the opcodes that the simulated block executes; null where the witness did not answer. */
  readonly executed: Fork | null;
  /** Fields of that block's header, else of the latest one's, that tell its fork. */
  readonly header: {
    readonly requestsHash: string | null;
    readonly blockAccessListHash: string | null;
    readonly slotNumber: bigint | null;
  } | null;
  readonly config: Fork | null;
}

/** Rules of the fork in force for one transaction. */
export interface Rules {
  /** null = nobody said. */
  readonly fork: Fork | null;
  readonly by: "executed" | "header" | "config" | "table";
  /** True if nothing speaks against it; where something does, the node's own answers decide. */
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

/** True if the header is one of Amsterdam's (EIP-7928, EIP-7843); null where it carries too little to tell. */
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
  if (fork === null) return chain;
  if (fork === "beforeOsaka") return { ...chain, txGasCap: uncapped };
  if (fork === "osaka") return chain.known ? chain : { ...chain, txGasCapKnown: by === "executed" };
  // why: since Amsterdam the cap binds execution alone, state gas comes on top (EIP-8037)
  return { ...chain, txGasCap: uncapped, maxInitCodeSize: Math.max(chain.maxInitCodeSize, amsterdamInitCode) };
};

/** The rules of a chain by what speaks for them. */
export const rulesOf = (chain: Chain, signs: Signs, nextFork: bigint | null) => {
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

/** The number that a hex digit stands for. */
const digitAt = (text: string, at: number): number => {
  const letter = text.charCodeAt(at) | 32;
  return letter - (letter > 96 ? 87 : 48);
};

/** True if the opcode may have an operand in the next byte: DUPN, SWAPN, EXCHANGE (EIP-8024). */
const mayHaveOperand = (opcode: number): boolean => opcode >= 0xe0 && opcode <= 0xef;

/**
 * The opcodes of code that can be reached, and maybe more; nothing runs right behind one that `isEnd`. A linear sweep: jumps
 * go to JUMPDESTs outside of push data alone, and what is behind an end is reached by a jump only. What is pushed
 * goes into `pushed`, as hex digits.
 */
export const reachableIn = (code: Hex, isEnd: (opcode: number) => boolean, pushed?: Set<string>) => {
  const found = new Set<number>();
  let [isReached, isOperand] = [true, false];
  for (let at = 2; at + 2 <= code.length; at += 2) {
    const opcode = 16 * digitAt(code, at) + digitAt(code, at + 1);
    if (opcode === jumpDestination) isReached = true;
    if (isReached) found.add(opcode);
    if (!isOperand && isEnd(opcode)) isReached = false;
    isOperand = mayHaveOperand(opcode);
    const size = opcode < push1 || opcode > push32 ? 0 : 2 * (opcode - push1 + 1);
    if (isReached && size > 0) pushed?.add(code.slice(at + 2, at + 2 + size));
    at += size;
  }
  return found;
};

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

const isShared = (opcode: number): boolean => shared.some(([first, last]) => opcode >= first && opcode <= last);

/** True if an instruction of the code that can be reached is another under Amsterdam than under Osaka. */
export const isOfLaterFork = (code: Hex): boolean =>
  [...reachableIn(code, (opcode) => !isShared(opcode))].some((opcode) => changed.has(opcode));
