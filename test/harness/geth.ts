/**
 * The reference client, where it is installed: a development chain that mines when told to, and
 * the chain on which the execution-apis vectors were recorded.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { accounts, rawRequest, type Node } from "./anvil.js";
import { engineOf, sealOne, until, type Engine, type Sealed } from "./gethEngine.js";
import { finding } from "./parts.js";
import { startProcess } from "./process.js";

const chainDirectory = fileURLToPath(new URL("../fixtures/execution-apis/chain/", import.meta.url));

/** The reference client; null where it is left out or not installed, and the tests that are skipped are named. */
export const findGethOrWarn = finding({
  variable: "GETH_BIN",
  names: ["geth"],
  hint: "run scripts/install-geth.sh",
  isOfGo: true,
});

/** An older release of the client, where `GETH_OLD_BIN` names one: `sh scripts/install-geth.sh v1.16.9` builds it. */
export const findOldGethOrWarn = finding({
  variable: "GETH_OLD_BIN",
  names: [],
  hint: "run scripts/install-geth.sh v1.16.9",
});

interface Geth extends Node {
  readonly engine: Engine;
  /** Waits until the block that was begun by this id has what the pool holds: it starts empty, and is filled beside. */
  readonly filled: (payloadId: string) => Promise<void>;
}

export const startGeth = async (
  bin: string,
  genesis: unknown,
  options: { readonly chainFile?: string; readonly networkId: string; readonly args?: ReadonlyArray<string> },
): Promise<Geth> => {
  const directory = mkdtempSync(join(tmpdir(), "geth-"));
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  try {
    const secret = randomBytes(32);
    const datadir = ["--datadir", directory, "--state.scheme", "hash"];
    writeFileSync(join(directory, "genesis.json"), JSON.stringify(genesis));
    writeFileSync(join(directory, "jwt"), secret.toString("hex"));
    execFileSync(bin, ["init", ...datadir, join(directory, "genesis.json")], { stdio: "pipe" });
    if (options.chainFile !== undefined) {
      execFileSync(bin, ["import", ...datadir, "--nocompaction", "--gcmode", "archive", options.chainFile], {
        stdio: "pipe",
      });
    }
    const running = await startProcess(
      bin,
      [
        ...[...datadir, "--cache", "64", "--networkid", options.networkId, "--syncmode", "full", "--gcmode", "archive"],
        ...["--http", "--http.addr", "127.0.0.1", "--http.port", "0", "--http.api", "eth,net,web3,debug,txpool"],
        ...["--authrpc.addr", "127.0.0.1", "--authrpc.port", "0", "--authrpc.jwtsecret", join(directory, "jwt")],
        ...["--port", "0", "--ipcdisable", "--nodiscover", "--maxpeers", "0", "--miner.gasprice", "1"],
        ...(options.args ?? []),
      ],
      /HTTP server started\s+endpoint=([\d.]+:\d+)\s+auth=false[^]*HTTP server started\s+endpoint=([\d.]+:\d+)\s+auth=true/,
    );
    return {
      url: `http://${running.match[1]}`,
      engine: engineOf(`http://${running.match[2]}`, secret),
      filled: (payloadId) => running.said(new RegExp(`Updated payload .*${payloadId}`)),
      stop: async () => {
        await running.stop();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
};

/**
 * The chain of the execution-apis vectors, 54 blocks, served as they were recorded: importing
 * `chain.rlp` already makes `latest` the recorded head.
 */
export const startGethVectors = (bin: string): Promise<Node> =>
  startGeth(bin, JSON.parse(readFileSync(join(chainDirectory, "genesis.json"), "utf8")), {
    chainFile: join(chainDirectory, "chain.rlp"),
    networkId: "3503995874084926",
  });

/** The client's own `--dev`, as people start it; `account` is the one that it gives money. */
export const startGethAsIs = async (
  bin: string,
  args: ReadonlyArray<string> = [],
): Promise<Node & { readonly account: `0x${string}` }> => {
  const running = await startProcess(
    bin,
    [
      ...["--dev", "--http", "--http.addr", "127.0.0.1", "--http.port", "0"],
      ...["--authrpc.addr", "127.0.0.1", "--authrpc.port", "0", "--port", "0", "--ipcdisable", ...args],
    ],
    /HTTP server started\s+endpoint=([\d.]+:\d+)\s+auth=false/,
  );
  const url = `http://${running.match[1]}`;
  const [account = "0x"] = (await rawRequest(url, "eth_accounts", [])) as ReadonlyArray<`0x${string}`>;
  return { url, account, stop: running.stop };
};

/** Activations by name: seconds after the genesis. */
export type Forks = Readonly<Partial<Record<"osakaTime" | "amsterdamTime", number>>>;

export interface GethDevOptions {
  /** Milliseconds between blocks; absent = a block only when {@link GethDev.mine} is called. */
  readonly periodMs?: number;
  /** Default 1337. */
  readonly chainId?: number;
  /** Seconds by which its blocks are dated back; default 0. */
  readonly age?: number;
  /** The genesis gas limit; default 60,000,000. */
  readonly gasLimit?: bigint;
  /** Additional genesis accounts by address, in the genesis file's own form. */
  readonly alloc?: Readonly<Record<string, unknown>>;
  /** When forks activate, seconds after the genesis, by their names in its file; default Osaka from the start. */
  readonly forks?: Forks;
  readonly args?: ReadonlyArray<string>;
}

export interface GethDev extends Node {
  /** Builds a block from the pool and makes it the head. */
  readonly mine: (count?: number) => Promise<void>;
  /** The same, by the producer, at the time and with the randomness that are named. */
  readonly seal: (block: Sealed) => Promise<void>;
}

const systemContracts = [
  "00000961ef480eb55e80d19ad83579a64c007002",
  "0000bbddc7ce488642fb579f8b00f3a590007251",
  "0000f90827f1c53a10cb7a02335b175320002935",
  "000f3df6d732807ef1319fb7b8bb8522d0beac02",
];
const blobs = { target: 6, max: 9, baseFeeUpdateFraction: 5007716 };

type Alloc = Readonly<Record<string, { readonly code?: string }>>;

/** What the client's own development chain holds of system contracts: those of forks after Osaka too. */
const laterContracts = (bin: string): Alloc => {
  const text = execFileSync(bin, ["--dev", "dumpgenesis"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const { alloc } = JSON.parse(text) as { readonly alloc: Alloc };
  return Object.fromEntries(Object.entries(alloc).filter(([, { code }]) => code !== undefined));
};

const developmentGenesis = (bin: string, options: GethDevOptions) => {
  const { alloc } = JSON.parse(readFileSync(join(chainDirectory, "genesis.json"), "utf8")) as {
    readonly alloc: Record<string, unknown>;
  };
  const blockForks = ["homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg"];
  const start = Math.floor(Date.now() / 1000) - (options.age ?? 0) - 1;
  const forks = Object.entries(options.forks ?? { osakaTime: 0 }).map(([name, after]) => [
    name,
    after && start + after,
  ]);
  const laterForks = ["istanbul", "muirGlacier", "berlin", "london", "arrowGlacier", "grayGlacier", "mergeNetsplit"];
  return {
    config: {
      chainId: options.chainId ?? 1337,
      ...Object.fromEntries([...blockForks, ...laterForks].map((fork) => [`${fork}Block`, 0])),
      ...{ shanghaiTime: 0, cancunTime: 0, pragueTime: 0, terminalTotalDifficulty: 0, ethash: {} },
      ...Object.fromEntries(forks),
      depositContractAddress: "0x0000000000000000000000000000000000000000",
      blobSchedule: { cancun: { ...blobs, target: 3, max: 6 }, prague: blobs, osaka: blobs, amsterdam: blobs },
    },
    ...{
      nonce: "0x0",
      timestamp: `0x${start.toString(16)}`,
      extraData: "0x",
      difficulty: "0x0",
      baseFeePerGas: "0x3b9aca00",
    },
    gasLimit: `0x${(options.gasLimit ?? 60_000_000n).toString(16)}`,
    alloc: {
      ...(options.forks?.amsterdamTime === undefined ? {} : laterContracts(bin)),
      ...Object.fromEntries(systemContracts.map((address) => [address, alloc[address]])),
      ...Object.fromEntries(accounts.map(({ address }) => [address.slice(2), { balance: "0x21e19e0c9bab2400000" }])),
      ...options.alloc,
    },
  };
};

/**
 * A development chain (id 1337, Osaka rules, anvil's accounts funded) driven through the engine
 * API, so that transactions stay pending until `mine`. geth keeps its pending block up to 2 s.
 */
export const startGethDev = async (bin: string, options: GethDevOptions = {}): Promise<GethDev> => {
  const genesis = developmentGenesis(bin, options);
  const geth = await startGeth(bin, genesis, { networkId: "1337", args: options.args ?? [] });
  const now = () => Math.floor(Date.now() / 1000) - (options.age ?? 0);
  let turn: Promise<void> = Promise.resolve();
  const next = (work: () => Promise<void>): Promise<void> => {
    turn = turn.then(work);
    return turn;
  };
  const one = (block: Sealed) => sealOne(geth, block, { now, forks: genesis.config });
  const mine = (count = 1) =>
    next(async () => {
      for (let i = 0; i < count; i++) await one({});
    });
  await mine();
  // why: of a hash that it does not know it says at first that it is still indexing
  await until("the node has indexed its transactions", () =>
    rawRequest(geth.url, "eth_getTransactionReceipt", [`0x${"00".repeat(32)}`]).then(
      () => true,
      () => false,
    ),
  );
  const timer =
    options.periodMs === undefined ? null : setInterval(() => void mine().catch(() => undefined), options.periodMs);
  return {
    url: geth.url,
    mine,
    seal: (block) => next(() => one(block)),
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      await turn.catch(() => undefined);
      await geth.stop();
    },
  };
};
