/** The table of chains: what is known of each, and of a chain that nobody described. Pure. */
import type { Address } from "../primitives/hex.js";
import type { FeeModel } from "./feeModel.js";
import { knownTokens } from "./tokens.js";

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
   * What `pending` means. `guess`: the node's guess at the next block, with other people's transactions, which may
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

/** A chain that is not in the table: Ethereum's rules, the fee model detected. */
export const unknownChain: Chain = {
  name: "unknown chain",
  // why: a wrong name of a currency is a wrong amount
  symbol: "native",
  decimals: 18,
  blockTag: "pending",
  pending: "guess",
  blockTimeMs: 12_000,
  paceKnown: false,
  txGasCap: eip7825Cap,
  txGasCapKnown: false,
  elasticity: 2n,
  denominator: 8n,
  minBaseFeePerGas: 0n,
  minTip: 1_000_000n,
  maxTip: 1_000_000_000_000n,
  maxInitCodeSize: 49_152,
  // geth's defaults
  nodeLimits: { maxFee: 10n ** 18n, minTip: 1n, maxBytes: 131_072 },
  nodeLimitsKnown: false,
  priceBump: 10,
  feeModel: "detect",
  gasPriceOracle: "0x420000000000000000000000000000000000000f",
  tokens: [],
  known: false,
};

/** A chain of the table, by Ethereum's rules as far as it says nothing else. */
const ruledAsEthereum: Chain = { ...unknownChain, symbol: "ETH", feeModel: "ethereum", paceKnown: true, known: true };
const ethereum: Chain = { ...ruledAsEthereum, name: "Ethereum", txGasCapKnown: true, maxTip: 500_000_000_000n };
// OP-stack defaults since Canyon: denominator 250, elasticity 6; 2^24 since Karst (Base: Azul).
const opstack: Chain = {
  ...ethereum,
  pending: "preconfirmed",
  blockTimeMs: 2_000,
  elasticity: 6n,
  denominator: 250n,
  feeModel: "opstack",
};
// 200 ms canonical blocks since Denim: `pending` has nothing more than `latest`; denominator ×10.
const base: Chain = {
  ...opstack,
  name: "Base",
  blockTag: "latest",
  blockTimeMs: 200,
  elasticity: 5n,
  denominator: 1000n,
  minBaseFeePerGas: 5_000_000n,
};
const arbitrum: Chain = {
  ...ethereum,
  name: "Arbitrum One",
  blockTag: "latest",
  blockTimeMs: 250,
  txGasCap: null,
  minTip: 0n,
  nodeLimits: { maxFee: null, minTip: null, maxBytes: null },
  priceBump: 0,
  feeModel: "arbitrum",
};

const entries: Readonly<Record<number, Chain>> = {
  1: { ...ethereum, nodeLimitsKnown: true },
  10: { ...opstack, name: "OP Mainnet" },
  56: { ...ruledAsEthereum, name: "BNB Smart Chain", symbol: "BNB", blockTag: "latest", blockTimeMs: 750 },
  100: { ...ruledAsEthereum, name: "Gnosis", symbol: "XDAI", blockTimeMs: 5_000 },
  130: { ...opstack, name: "Unichain", blockTimeMs: 1_000 },
  137: {
    ...ruledAsEthereum,
    name: "Polygon PoS",
    symbol: "POL",
    blockTag: "latest",
    blockTimeMs: 2_000,
    minTip: 25_000_000_000n,
    maxTip: 10_000_000_000_000n,
  },
  480: { ...opstack, name: "World Chain" },
  8453: base,
  42161: arbitrum,
  43114: { ...ruledAsEthereum, name: "Avalanche C-Chain", symbol: "AVAX", blockTag: "latest", blockTimeMs: 2_000 },
  84532: { ...base, name: "Base Sepolia" },
  421614: { ...arbitrum, name: "Arbitrum Sepolia" },
  11155111: { ...ethereum, name: "Sepolia", nodeLimitsKnown: true },
  11155420: { ...opstack, name: "OP Sepolia" },
};
const table: Readonly<Record<number, Chain>> = Object.fromEntries(
  Object.entries(entries).map(([id, chain]) => [id, { ...chain, tokens: knownTokens(Number(id)) }]),
);

/** The chain ids of anvil and Hardhat, and of geth's `--dev`: ruled as nobody knows, and their currency is called ETH. */
const devChain: Chain = { ...unknownChain, symbol: "ETH" };
const devChainIds: ReadonlySet<number> = new Set([1337, 31337]);

/** The built-in table: parameters by chain id; `null` = not known yet. */
export const lookup = (chainId: number | null): Chain => {
  if (chainId === null) return unknownChain;
  return table[chainId] ?? (devChainIds.has(chainId) ? devChain : unknownChain);
};
