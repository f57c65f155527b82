/** The nodes of `npm run beds`: other people's, each started as their users start it, with anvil's first accounts funded. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../../test/harness/anvil.js";
import { findGethOrWarn, startGethAsIs, startGethDev } from "../../test/harness/geth.js";
import { findOpGethOrWarn, startOpGeth } from "../../test/harness/opGeth.js";
import { finding } from "../../test/harness/parts.js";
import { startProcess } from "../../test/harness/process.js";

export interface Bed {
  readonly url: string;
  /** Puts what was sent into a block; of nodes that do so by themselves nothing. */
  readonly mine: () => Promise<unknown>;
  readonly stop: () => Promise<void>;
  /** What it wrote, for failures. */
  readonly said?: () => string;
  /** The chain that it takes signed bytes for, where that is not the one that it names. */
  readonly signedFor?: number;
}

/** A node by the name that its users know. */
export interface Row {
  /** For the command line. */
  readonly key: string;
  readonly name: string;
  /** Where it does not say its version, or says another's. */
  readonly version?: string;
  /** True if its process ends while it is asked. */
  readonly isFragile?: boolean;
  readonly start: () => Promise<Bed>;
}

const folder = fileURLToPath(new URL("../../tools/nodes/", import.meta.url));
const inFolder = (path: string): string => {
  const place = join(folder, "node_modules", path);
  if (existsSync(place)) return place;
  throw new Error(`${path} is not installed: npm ci --prefix tools/nodes --ignore-scripts`);
};
const found = (bin: string | null): string => {
  if (bin === null) throw new Error("not installed");
  return bin;
};

const nothing = (): Promise<void> => Promise.resolve();
const words = "test test test test test test test test test test test junk";

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

/** A node of a package, on a free port that it is told. */
const served = async (bin: string, args: (port: string) => ReadonlyArray<string>, ready: RegExp): Promise<Bed> => {
  const port = String(await freePort());
  const { stop, output } = await startProcess(bin, args(port), ready, 60_000);
  return { url: `http://127.0.0.1:${port}`, mine: nothing, stop, said: output };
};

/** Gives anvil's first accounts money from an account whose key the node holds. */
const fund = async (url: string, from: string, ether: bigint): Promise<void> => {
  for (const { address } of accounts) {
    const value = `0x${(ether * 10n ** 18n).toString(16)}`;
    await rawRequest(url, "eth_sendTransaction", [{ from, to: address, value, gas: "0x5208" }]);
  }
};

/** Waits for a balance, and asks for it again: what comes before a node listens to its own pool is mined with the next. */
const funded = async (url: string, give: () => Promise<unknown>): Promise<void> => {
  const { address } = accounts[accounts.length - 1] ?? accounts[0];
  for (let tries = 0; (await rawRequest(url, "eth_getBalance", [address, "latest"])) === "0x0"; tries++) {
    if (tries % 50 === 0) await give();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const gethAsIs = async (bin: string): Promise<Bed> => {
  const node = await startGethAsIs(bin);
  await funded(node.url, () => fund(node.url, node.account, 1_000n));
  return { ...node, mine: nothing };
};

const opGeth = async (): Promise<Bed> => {
  const node = await startOpGeth(found(findOpGethOrWarn("the OP stack's node")), { generation: "jovian" });
  await node.mine();
  return { ...node, mine: () => node.mine() };
};

const remix = async (): Promise<Bed> => {
  const ethsim = inFolder("@remix-project/remix-simulator/bin/ethsim");
  const node = await served(process.execPath, (port) => [ethsim, "start", "--port", port], /listening on http/);
  const held = await rawRequest(node.url, "eth_accounts");
  for (const [place, { address }] of accounts.entries()) {
    const from = Array.isArray(held) ? String(held[place]) : "";
    const gift = { from, to: address, value: `0x${(90n * 10n ** 18n).toString(16)}`, gas: "0x5208" };
    await rawRequest(node.url, "eth_sendTransaction", [gift]);
  }
  return { ...node, signedFor: 1 };
};

/** BNB Smart Chain's forks by block and by time, all from the start. */
const bscBlocks = [
  ...["homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg", "istanbul"],
  ...["muirGlacier", "ramanujan", "niels", "mirrorSync", "bruno", "euler", "gibbs", "nano", "moran", "planck"],
  ...["luban", "plato", "berlin", "london", "hertz", "hertzfix"],
];
const bscTimes = [
  ...["shanghai", "kepler", "feynman", "feynmanFix", "cancun", "haber", "haberFix", "bohr", "pascal", "prague"],
  ...["lorentz", "maxwell", "fermi", "osaka", "mendel", "pasteur"],
];
const blobs = { target: 3, max: 6, baseFeeUpdateFraction: 3338477 };

/**
 * BNB Smart Chain with one validator, whose key is anvil's third: it mines every 450 ms. The system contracts are not
 * there, so that the chain ends with its first epoch, at block 200.
 */
const bscGenesis = (validator: string) => ({
  config: {
    chainId: 714,
    ...Object.fromEntries(bscBlocks.map((fork) => [`${fork}Block`, 0])),
    ...Object.fromEntries(bscTimes.map((fork) => [`${fork}Time`, 0])),
    parlia: {},
    blobSchedule: { cancun: blobs, prague: blobs, osaka: blobs },
  },
  nonce: "0x0",
  timestamp: `0x${(Math.floor(Date.now() / 1000) - 5).toString(16)}`,
  // vanity, one validator with its vote key, turn length, seal
  extraData: `0x${"00".repeat(32)}01${validator.slice(2)}${"00".repeat(48)}01${"00".repeat(65)}`,
  gasLimit: "0x3938700",
  difficulty: "0x1",
  coinbase: `0x${"ff".repeat(19)}fe`,
  alloc: Object.fromEntries(accounts.map(({ address }) => [address.slice(2), { balance: "0x21e19e0c9bab2400000" }])),
});

const findBscOrWarn = finding({
  variable: "BSC_GETH_BIN",
  names: ["bsc-geth"],
  hint: "run scripts/install-bsc.sh",
  isOfGo: true,
});

const bsc = async (): Promise<Bed> => {
  const bin = found(findBscOrWarn("BNB Smart Chain's node"));
  const directory = mkdtempSync(join(tmpdir(), "bsc-"));
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  try {
    const { address, privateKey } = accounts[3];
    const data = ["--datadir", directory];
    const password = ["--password", file("password", "x")];
    const run = (...args: ReadonlyArray<string>) => execFileSync(bin, args, { stdio: "pipe" });
    run("account", "import", ...data, ...password, file("key", privateKey.slice(2)));
    run("init", ...data, "--state.scheme", "hash", file("genesis.json", JSON.stringify(bscGenesis(address))));
    const running = await startProcess(
      bin,
      [
        ...[...data, ...password, "--networkid", "714", "--cache", "64", "--syncmode", "full", "--gcmode", "archive"],
        ...["--mine", "--miner.etherbase", address, "--unlock", address, "--allow-insecure-unlock"],
        ...["--http", "--http.addr", "127.0.0.1", "--http.port", "0", "--http.api", "eth,net,web3,debug,txpool"],
        ...["--port", "0", "--ipcdisable", "--nodiscover", "--maxpeers", "0", "--miner.gasprice", "1"],
      ],
      /HTTP server started\s+endpoint=([\d.]+:\d+)\s+auth=false/,
    );
    const stop = async () => {
      await running.stop();
      remove();
    };
    return { url: `http://${running.match[1]}`, mine: nothing, stop };
  } catch (error) {
    remove();
    throw error;
  }
};

/** By what is built: the program does not know it. */
const opGethVersion = (): string => {
  const module = readFileSync(new URL("../op-geth/go.mod", import.meta.url), "utf8");
  return /op-geth v(\S+)/.exec(module)?.[1] ?? "";
};

const findOldGeth = finding({
  variable: "GETH_OLD_BIN",
  names: ["geth-1.16.9"],
  hint: "run scripts/install-geth.sh v1.16.9",
  isOfGo: true,
});

/** Every node, in the order of the table. */
export const rows: ReadonlyArray<Row> = [
  { key: "geth", name: "geth", start: () => startGethDev(found(findGethOrWarn("geth"))) },
  { key: "geth-dev", name: "geth `--dev`", start: () => gethAsIs(found(findGethOrWarn("geth"))) },
  { key: "geth-old", name: "geth", start: () => startGethDev(found(findOldGeth("an older geth"))) },
  { key: "op-geth", name: "op-geth", version: opGethVersion(), start: opGeth },
  { key: "bsc", name: "BNB Smart Chain", start: bsc },
  { key: "anvil", name: "anvil", start: async () => ({ ...(await startAnvil()), mine: nothing }) },
  {
    key: "hardhat",
    name: "hardhat",
    start: () =>
      served(
        inFolder("node-22/bin/node"),
        (port) => [
          ...[inFolder("hardhat/dist/src/cli.js"), "--config", join(folder, "hardhat.config.js"), "node"],
          ...["--hostname", "127.0.0.1", "--port", port],
        ],
        /Started HTTP and WebSocket/,
      ),
  },
  {
    key: "ganache",
    name: "ganache",
    start: () =>
      served(
        process.execPath,
        (port) => [
          inFolder("ganache/dist/node/cli.js"),
          ...["--server.port", port, "--wallet.mnemonic", words, "--wallet.defaultBalance", "10000"],
        ],
        /Listening on/,
      ),
  },
  {
    key: "tevm",
    name: "tevm",
    version: "2.0.0-next.101",
    start: async () => {
      inFolder("tevm/package.json");
      const node = await served(process.execPath, (port) => [join(folder, "tevm.js"), port], /Listening on/);
      return { ...node, mine: () => mineAnvil(node.url) };
    },
  },
  { key: "remix", name: "Remix", isFragile: true, start: remix },
];
