/**
 * The table of chains: what is known of each, and of a chain that nobody described; and the best known tokens of each, at
 * most ten: what an allowance to a contract most often is over. Pure.
 *
 * Symbols, decimals and addresses as in the token lists of @uniswap/default-token-list 22.21.0 and
 * @aave-dao/aave-address-book 4.68.1.
 */
import type { Address } from "../primitives/hex.js";
import { type Chain, eip7825Cap } from "./rules.js";

const rows: Readonly<Record<number, ReadonlyArray<readonly [symbol: string, decimals: number, address: Address]>>> = {
  1: [
    ["USDT", 6, "0xdac17f958d2ee523a2206206994597c13d831ec7"],
    ["USDC", 6, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"],
    ["WETH", 18, "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"],
    ["DAI", 18, "0x6b175474e89094c44da98b954eedeac495271d0f"],
    ["WBTC", 8, "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599"],
    ["stETH", 18, "0xae7ab96520de3a18e5e111b5eaab095312d7fe84"],
    ["wstETH", 18, "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0"],
    ["LINK", 18, "0x514910771af9ca656af840dff83e8264ecf986ca"],
    ["UNI", 18, "0x1f9840a85d5af5bf1d1762f925bdaddc4201f984"],
    ["USDe", 18, "0x4c9edd5852cd905f086c759e8383e09bff1e68b3"],
  ],
  10: [
    ["USDC", 6, "0x0b2c639c533813f4aa9d7837caf62653d097ff85"],
    ["USDT", 6, "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58"],
    ["WETH", 18, "0x4200000000000000000000000000000000000006"],
    ["DAI", 18, "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1"],
    ["WBTC", 8, "0x68f180fcce6836688e9084f035309e29bf0a2095"],
    ["OP", 18, "0x4200000000000000000000000000000000000042"],
    ["USDC.e", 6, "0x7f5c764cbc14f9669b88837ca1490cca17c31607"],
    ["wstETH", 18, "0x1f32b1c2345538c0c6f582fcb022739c4a194ebb"],
    ["LINK", 18, "0x350a791bfc2c21f9ed5d10980dad2e2638ffa7f6"],
    ["AAVE", 18, "0x76fb31fb4af56892a25e32cfc43de717950c9278"],
  ],
  56: [
    ["USDT", 18, "0x55d398326f99059ff775485246999027b3197955"],
    ["USDC", 18, "0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d"],
    ["WBNB", 18, "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"],
    ["BTCB", 18, "0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c"],
    ["ETH", 18, "0x2170ed0880ac9a755fd29b2688956bd959f933f8"],
    ["FDUSD", 18, "0xc5f0f7b66764f6ec8c8dff7ba683102295e16409"],
    ["wstETH", 18, "0x26c5e01524d2e6280a48f2c50ff6de7e52e9611c"],
    ["DAI", 18, "0x1af3f329e8be154074d8769d1ffa4ee058b1dbc3"],
    ["LINK", 18, "0xf8a0bf9cf54bb92f17374d9e9a321e6a111a51bd"],
    ["UNI", 18, "0xbf5140a22578168fd562dccf235e5d43a02ce9b1"],
  ],
  100: [
    ["WXDAI", 18, "0xe91d153e0b41518a2ce8dd3d7944fa863463a97d"],
    ["USDC", 6, "0xddafbb505ad214d7b80b1f830fccc89b60fb7a83"],
    ["USDC.e", 6, "0x2a22f9c3b484c3629090feed35f17ff8f88f76f0"],
    ["WETH", 18, "0x6a023ccd1ff6f2045c3309768ead9e68f978f6e1"],
    ["GNO", 18, "0x9c58bacc331c9aa871afd802db6379a98e80cedb"],
    ["wstETH", 18, "0x6c76971f98945ae98dd7d4dfca8711ebea946ea6"],
    ["sDAI", 18, "0xaf204776c7245bf4147c2612bf6e5972ee483701"],
    ["EURe", 18, "0xcb444e90d8198415266c6a2724b7900fb12fc56e"],
    ["GHO", 18, "0xfc421ad3c883bf9e7c4f42de845c4e4405799e73"],
  ],
  130: [
    ["USDC", 6, "0x078d782b760474a361dda0af3839290b0ef57ad6"],
    ["WETH", 18, "0x4200000000000000000000000000000000000006"],
    ["USDT0", 6, "0x9151434b16b9763660705744891fa906f660ecc5"],
    ["UNI", 18, "0x8f187aa05619a017077f5308904739877ce9ea21"],
    ["WBTC", 8, "0x927b51f251480a681271180da4de28d44ec4afb8"],
    ["DAI", 18, "0x20cab320a855b39f724131c69424240519573f81"],
    ["LINK", 18, "0x5a53b6d19d8edcb7923f0d840eebb3f09bbeefb7"],
    ["USDS", 18, "0x116ee4d63847fb295dd919ae57b768ea3b2f7bb4"],
    ["AAVE", 18, "0x02a24c380da560e4032dc6671d8164cfbeeaae1e"],
    ["cbBTC", 8, "0xb6a3e8e5715fd4c99ecedaaae121bde4ab6a1ef1"],
  ],
  137: [
    ["USDC", 6, "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359"],
    ["USDT", 6, "0xc2132d05d31c914a87c6611c10748aeb04b58e8f"],
    ["WETH", 18, "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619"],
    ["WPOL", 18, "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270"],
    ["USDC.e", 6, "0x2791bca1f2de4661ed88a30c99a7a9449aa84174"],
    ["DAI", 18, "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063"],
    ["WBTC", 8, "0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6"],
    ["LINK", 18, "0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39"],
    ["AAVE", 18, "0xd6df932a45c0f255f85145f286ea0b292b21c90b"],
    ["wstETH", 18, "0x03b54a6e9a984069379fae1a4fc4dbae93b3bccd"],
  ],
  480: [
    ["USDC.e", 6, "0x79a02482a880bce3f13e09da970dc34db4cd24d1"],
    ["WETH", 18, "0x4200000000000000000000000000000000000006"],
    ["WBTC", 8, "0x03c7054bcb39f7b2e5b2c7acb37583e32d70cfa3"],
  ],
  8453: [
    ["USDC", 6, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"],
    ["WETH", 18, "0x4200000000000000000000000000000000000006"],
    ["cbBTC", 8, "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf"],
    ["cbETH", 18, "0x2ae3f1ec7f1f5012cfeab0185bfc7aa3cf0dec22"],
    ["AERO", 18, "0x940181a94a35a4569e4529a3cdfb74e38fd98631"],
    ["DAI", 18, "0x50c5725949a6f0c72e6c4a641f24049a917db0cb"],
    ["USDbC", 6, "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca"],
    ["wstETH", 18, "0xc1cba3fcea344f92d9239c08c0568f6f2f0ee452"],
    ["weETH", 18, "0x04c0599ae5a44757c0af6f9ec3b93da8976c150a"],
    ["EURC", 6, "0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42"],
  ],
  42161: [
    ["USDC", 6, "0xaf88d065e77c8cc2239327c5edb3a432268e5831"],
    ["USDT0", 6, "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"],
    ["WETH", 18, "0x82af49447d8a07e3bd95bd0d56f35241523fbab1"],
    ["WBTC", 8, "0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f"],
    ["ARB", 18, "0x912ce59144191c1204e64559fe8253a0e49e6548"],
    ["USDC.e", 6, "0xff970a61a04b1ca14834a43f5de4533ebddb5cc8"],
    ["DAI", 18, "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1"],
    ["wstETH", 18, "0x5979d7b546e38e414f7e9822514be443a4800529"],
    ["LINK", 18, "0xf97f4df75117a78c1a5a0dbb814af92458539fb4"],
    ["weETH", 18, "0x35751007a407ca6feffe80b3cb397736d2cf4dbe"],
  ],
  43114: [
    ["USDC", 6, "0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e"],
    ["USDt", 6, "0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7"],
    ["WAVAX", 18, "0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7"],
    ["WETH.e", 18, "0x49d5c2bdffac6ce2bfdb6640f4f80f226bc10bab"],
    ["BTC.b", 8, "0x152b9d0fdc40c096757f570a51e494bd4b943e50"],
    ["USDC.e", 6, "0xa7d7079b0fead91f3e65f86e8915cb59c1a4c664"],
    ["DAI.e", 18, "0xd586e7f844cea2f87f50152665bcbc2c279d8d70"],
    ["WBTC.e", 8, "0x50b7545627a5162f82a992c33b87adc75187b218"],
    ["LINK.e", 18, "0x5947bb275c521040051d82396192181b413227a3"],
    ["AAVE.e", 18, "0x63a72806098bd3d9520cc43356dd78afe5d386d9"],
  ],
  11155111: [
    ["WETH", 18, "0xfff9976782d46cc05630d1f6ebab18b2324d6b14"],
    ["UNI", 18, "0x1f9840a85d5af5bf1d1762f925bdaddc4201f984"],
  ],
};

/** The best known tokens of a chain; none of a chain that is not in the table. */
export const knownTokens = (chainId: number) =>
  (rows[chainId] ?? []).map(([symbol, decimals, address]) => ({ address, symbol, decimals }));

/** The symbols of the best known tokens of all chains. */
export const knownSymbols: ReadonlySet<string> = new Set(
  Object.values(rows).flatMap((row) => row.map(([symbol]) => symbol)),
);

/** The contracts of these tokens; none where no chain is named. */
export const knownTokensOf = (chainId: number | null): ReadonlySet<Address> =>
  new Set(chainId === null ? [] : knownTokens(chainId).map(({ address }) => address));

/**
 * Contracts that move tokens at the word of markets without a right of their own, by an account that the market's code names, on
 * every chain: OpenSea's conduit by the ConduitController (seaport 1.6, docs/Deployment.md; opensea-js 8.0.11).
 */
export const conduits: ReadonlyMap<Address, Address> = new Map([
  ["0x00000000f9490004c11cef243f5400493c00ad63", "0x1e0049783f008a0085193e00003d00cd54003c71"],
]);

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
