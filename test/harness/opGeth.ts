/**
 * An OP stack's execution client, where it is built: a chain with the predeploys of a real network, driven as its
 * sequencer would, with an L1-attributes deposit at the head of every block.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { concatHex, encodePacked, keccak256, numberToHex, padHex, toHex, toRlp, type Hex } from "viem";
import * as artifacts from "../contracts/artifacts.js";
import { accounts, rawRequest, type Node } from "./anvil.js";
import { startGeth } from "./geth.js";
import { untilInLine } from "./gethEngine.js";
import { finding } from "./parts.js";

/** op-geth; null where it is left out or not installed, and the tests that are skipped are named. */
export const findOpGethOrWarn = finding({
  variable: "OP_GETH_BIN",
  names: ["op-geth"],
  hint: "run scripts/install-op-geth.sh",
  isOfGo: true,
});

/** The fork times of a genesis in the order of their activation, up to and with each generation of fees. */
const forks = {
  ecotone: ["regolithTime", "shanghaiTime", "canyonTime", "cancunTime", "ecotoneTime"],
  fjord: ["fjordTime", "graniteTime"],
  holocene: ["holoceneTime"],
  isthmus: ["pragueTime", "isthmusTime"],
  jovian: ["jovianTime"],
} as const;
export type Generation = keyof typeof forks;
export const generations = Object.keys(forks) as ReadonlyArray<Generation>;
const isFrom = (first: Generation, generation: Generation) =>
  generations.indexOf(generation) >= generations.indexOf(first);

/** Networks whose genesis holds the predeploys of that generation. */
const networks = {
  ecotone: "lisk-mainnet",
  fjord: "unichain-mainnet",
  isthmus: "rehearsal-0-bn-0-rehearsal-0-bn",
} as const;

/** What a block says of L1, and of the chain's own parameters. Wei; the scalars in millionths. */
export interface L1 {
  readonly baseFee: bigint;
  readonly blobBaseFee: bigint;
  readonly baseFeeScalar: number;
  readonly blobBaseFeeScalar: number;
  /** From Isthmus on. */
  readonly operatorFeeScalar: number;
  readonly operatorFeeConstant: bigint;
  /** From Jovian on. */
  readonly daFootprintGasScalar: number;
  /** Wei per gas of this chain, from Jovian on. */
  readonly minBaseFee: number;
}

export interface OpGethOptions {
  /** The rules, from the genesis on. */
  readonly generation: Generation;
  /** Predeploys that missed the upgrades since: L1Block then holds the operator fee of `l1` from the genesis on. */
  readonly predeploys?: keyof typeof networks;
  /** Default 901. */
  readonly chainId?: number;
  readonly l1?: Partial<L1>;
  /** Whether `pending` is a block of its own; default false. */
  readonly computesPending?: boolean;
  /** In the form of EIP-1559: from Holocene on, default 250 and 6. */
  readonly eip1559?: { readonly denominator: number; readonly elasticity: number };
  /** Further accounts of the genesis. */
  readonly alloc?: Genesis["alloc"];
}

export interface OpGeth extends Node {
  readonly chainId: number;
  /** Builds a block from the pool and makes it the head; what it is given of L1 stays so. */
  readonly mine: (l1?: Partial<L1>) => Promise<void>;
}

const l1Block = "4200000000000000000000000000000000000015";
const oracle = "420000000000000000000000000000000000000f";
const implementationSlot = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
const gasLimit = 60_000_000;

interface Account {
  readonly balance?: string;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
}
interface Genesis {
  readonly config: Record<string, unknown>;
  readonly alloc: Record<string, Account>;
}

const dumped = (bin: string, network: string): Genesis => {
  const text = execFileSync(bin, [`--op-network=${network}`, "dumpgenesis"], {
    maxBuffer: 1 << 28,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { config, alloc } = JSON.parse(text) as Genesis;
  const named = Object.entries(alloc).map(([at, one]) => [at.toLowerCase().replace(/^0x/, ""), one] as const);
  // why: two thousand predeploys of the future are proxies to nothing, and take ten seconds
  const isInUse = ([at, { storage }]: (typeof named)[number]) =>
    !at.startsWith("4200000000000000000000000000000000000") || storage?.[implementationSlot] !== undefined;
  return { config, alloc: Object.fromEntries(named.filter(isInUse)) };
};

/** Jovian's predeploys in front of those of Isthmus. */
const upgraded = (alloc: Genesis["alloc"]): Genesis["alloc"] => {
  const moved = ([proxy, before, { deployedBytecode }]: readonly [string, string, { deployedBytecode: string }]) => {
    const at = alloc[proxy]?.storage?.[implementationSlot]?.slice(-40) ?? "";
    return [
      [before.padStart(40, "0"), { ...alloc[at], balance: "0x0" }],
      [at, { ...alloc[at], balance: "0x0", code: deployedBytecode }],
    ];
  };
  return Object.fromEntries(
    (
      [
        [l1Block, "c0de0015", artifacts.JovianL1Block],
        [oracle, "c0de000f", artifacts.JovianGasPriceOracle],
      ] as const
    ).flatMap(moved),
  );
};

const hex = (value: number | bigint) => numberToHex(value);
const hex32 = (value: bigint) => numberToHex(value, { size: 32 });
const eip1559Hex = ({ denominator, elasticity }: Required<OpGethOptions>["eip1559"]) =>
  encodePacked(["uint32", "uint32"], [denominator, elasticity]);

/** L1Block with the operator fee where clients read it: scalar in bytes 20 to 24, constant in 24 to 32. */
const withOperatorFee = (alloc: Genesis["alloc"], { operatorFeeScalar, operatorFeeConstant }: L1) => {
  const slots = { ...alloc[l1Block]?.storage };
  slots[hex32(8n)] = hex32((BigInt(operatorFeeScalar) << 64n) | operatorFeeConstant);
  return { [l1Block]: { ...alloc[l1Block], storage: slots } };
};

const genesisOf = (bin: string, { generation, chainId = 901, predeploys, ...rest }: OpGethOptions, l1: L1) => {
  const own = generation === "holocene" ? "fjord" : generation === "jovian" ? "isthmus" : generation;
  const { config, alloc } = dumped(bin, networks[predeploys ?? own]);
  const kept = Object.entries(config).filter(([name]) => !name.endsWith("Time"));
  const on = generations.filter((one) => isFrom(one, generation)).flatMap((one) => forks[one]);
  const parameters = eip1559Hex(rest.eip1559 ?? { denominator: 250, elasticity: 6 });
  const extraData = isFrom("jovian", generation)
    ? concatHex(["0x01", parameters, padHex("0x", { size: 8 })])
    : concatHex(["0x00", parameters]);
  return {
    config: { ...Object.fromEntries(kept), ...Object.fromEntries(on.map((name) => [name, 0])), chainId },
    ...{ nonce: "0x0", difficulty: "0x0", coinbase: "0x4200000000000000000000000000000000000011" },
    extraData: isFrom("holocene", generation) ? extraData : "0x",
    timestamp: hex(Math.floor(Date.now() / 1000) - 31),
    gasLimit: hex(gasLimit),
    baseFeePerGas: hex(10_000_000),
    alloc: {
      ...alloc,
      ...(generation === "jovian" ? upgraded(alloc) : {}),
      ...(predeploys === undefined ? {} : withOperatorFee(alloc, l1)),
      ...Object.fromEntries(accounts.map(({ address }) => [address.slice(2), { balance: hex(10n ** 22n) }])),
      ...rest.alloc,
    },
  };
};

const zeroHash = padHex("0x", { size: 32 });
const attributesOf = (l1: L1, generation: Generation): Hex => {
  const shared = encodePacked(
    ["uint32", "uint32", "uint64", "uint64", "uint64", "uint256", "uint256", "bytes32", "bytes32"],
    [
      l1.baseFeeScalar,
      l1.blobBaseFeeScalar,
      0n,
      1_700_000_000n,
      1_000n,
      l1.baseFee,
      l1.blobBaseFee,
      zeroHash,
      zeroHash,
    ],
  );
  const operator = encodePacked(["uint32", "uint64"], [l1.operatorFeeScalar, l1.operatorFeeConstant]);
  if (!isFrom("isthmus", generation)) return concatHex(["0x440a5e20", shared]);
  if (!isFrom("jovian", generation)) return concatHex(["0x098999be", shared, operator]);
  return concatHex(["0x3db6be2b", shared, operator, encodePacked(["uint16"], [l1.daFootprintGasScalar])]);
};

/** The deposit that tells the chain of L1: source, sender, recipient, mint, value, gas, whether it is a system's, data. */
const depositOf = (attributes: Hex, salt: number): Hex =>
  concatHex([
    "0x7e",
    toRlp([
      keccak256(toHex(salt)),
      ...(["0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001", `0x${l1Block}`, "0x", "0x"] as const),
      ...([hex(1_000_000), "0x", attributes] as const),
    ]),
  ]);

interface Header {
  readonly hash: string;
  readonly timestamp: string;
}
interface Built {
  readonly executionPayload: { readonly blockHash: string };
}

/** A chain that mines when told to, anvil's accounts funded; at its genesis nothing is known of L1. */
export const startOpGeth = async (bin: string, options: OpGethOptions): Promise<OpGeth> => {
  const { generation, chainId = 901, eip1559 = { denominator: 250, elasticity: 6 } } = options;
  let l1: L1 = {
    ...{ baseFee: 12_000_000_000n, blobBaseFee: 3_000_000n, baseFeeScalar: 2_000, blobBaseFeeScalar: 900_000 },
    ...{ operatorFeeScalar: 0, operatorFeeConstant: 0n, daFootprintGasScalar: 400, minBaseFee: 0 },
    ...options.l1,
  };
  const node = await startGeth(bin, genesisOf(bin, options, l1), {
    networkId: String(chainId),
    args: options.computesPending === true ? ["--rollup.computependingblock"] : [],
  });
  // why: what L1Block does not take, clients still take as of the first block of an upgrade
  const told = options.predeploys ?? generation;
  const version = isFrom("isthmus", generation) ? 4 : 3;
  let salt = 0;
  const mine = async (change: Partial<L1> = {}): Promise<void> => {
    l1 = { ...l1, ...change };
    await untilInLine(node.url);
    const head = (await rawRequest(node.url, "eth_getBlockByNumber", ["latest", false])) as Header;
    const state = { headBlockHash: head.hash, safeBlockHash: zeroHash, finalizedBlockHash: zeroHash };
    const root = `0x${randomBytes(32).toString("hex")}`;
    const { payloadId } = (await node.engine("engine_forkchoiceUpdatedV3", [
      state,
      {
        // why: blocks on demand would run ahead of the clock
        timestamp: hex(Math.max(Number(head.timestamp) + 1, Math.floor(Date.now() / 1000) - 30)),
        prevRandao: `0x${randomBytes(32).toString("hex")}`,
        suggestedFeeRecipient: "0x4200000000000000000000000000000000000011",
        withdrawals: [],
        parentBeaconBlockRoot: root,
        transactions: [depositOf(attributesOf(l1, told), ++salt)],
        noTxPool: false,
        gasLimit: hex(gasLimit),
        ...(isFrom("holocene", generation) ? { eip1559Params: eip1559Hex(eip1559) } : {}),
        ...(isFrom("jovian", generation) ? { minBaseFee: l1.minBaseFee } : {}),
      },
    ])) as { readonly payloadId: string };
    await node.filled(payloadId);
    const { executionPayload } = (await node.engine(`engine_getPayloadV${version}`, [payloadId])) as Built;
    const { status } = (await node.engine(`engine_newPayloadV${version}`, [
      ...[executionPayload, [], root],
      ...(version === 4 ? [[]] : []),
    ])) as { readonly status: string };
    if (status !== "VALID") throw new Error(`the block is ${status}`);
    await node.engine("engine_forkchoiceUpdatedV3", [{ ...state, headBlockHash: executionPayload.blockHash }, null]);
  };
  return { url: node.url, chainId, mine, stop: node.stop };
};
