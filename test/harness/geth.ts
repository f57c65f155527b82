/**
 * The reference client, where it is installed: a development chain that mines when told to, and
 * the chain on which the execution-apis vectors were recorded.
 */
import { execFileSync } from "node:child_process";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { accounts, rawRequest, type Node } from "./anvil.js";
import { startProcess } from "./process.js";

const chainDirectory = fileURLToPath(new URL("../fixtures/execution-apis/chain/", import.meta.url));

const goPath = (): string => {
  const fromEnvironment = process.env["GOPATH"];
  if (fromEnvironment !== undefined && fromEnvironment !== "") return fromEnvironment;
  try {
    return execFileSync("go", ["env", "GOPATH"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return join(homedir(), "go");
  }
};

/** `GETH_BIN`, else `geth` on the PATH, else in Go's bin directory; null when there is none. */
export const findGeth = (): string | null => {
  const fromEnvironment = process.env["GETH_BIN"];
  if (fromEnvironment !== undefined && fromEnvironment !== "")
    return existsSync(fromEnvironment) ? fromEnvironment : null;
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, "geth"));
  return [...onPath, join(goPath(), "bin", "geth")].find((bin) => existsSync(bin)) ?? null;
};

/** {@link findGeth}; when it is null says loudly which tests are skipped. */
export const findGethOrWarn = (skipped: string): string | null => {
  const bin = findGeth();
  if (bin === null) console.warn(`SKIPPED: ${skipped}: no geth found (run scripts/install-geth.sh, or set GETH_BIN)`);
  return bin;
};

const base64url = (data: string | Buffer): string => Buffer.from(data).toString("base64url");

/** The engine API of a geth, authenticated by its JWT secret. */
const engine = (url: string, secret: Buffer) => async (method: string, params: ReadonlyArray<unknown>) => {
  const claims = `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(JSON.stringify({ iat: Math.floor(Date.now() / 1000) }))}`;
  const token = `${claims}.${createHmac("sha256", secret).update(claims).digest("base64url")}`;
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json()) as { readonly result?: unknown; readonly error?: unknown };
  if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
  return answer.result;
};

interface Geth extends Node {
  readonly engine: ReturnType<typeof engine>;
}

const startGeth = async (
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
      engine: engine(`http://${running.match[2]}`, secret),
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
  readonly args?: ReadonlyArray<string>;
}

export interface GethDev extends Node {
  /** Builds a block from the pool and makes it the head. */
  readonly mine: (count?: number) => Promise<void>;
}

interface Header {
  readonly hash: string;
  readonly timestamp: string;
}
interface Built {
  readonly executionPayload: { readonly blockHash: string; readonly transactions: ReadonlyArray<string> };
  readonly blobsBundle: { readonly commitments: ReadonlyArray<string> };
  readonly executionRequests: ReadonlyArray<string>;
}

const systemContracts = [
  "00000961ef480eb55e80d19ad83579a64c007002",
  "0000bbddc7ce488642fb579f8b00f3a590007251",
  "0000f90827f1c53a10cb7a02335b175320002935",
  "000f3df6d732807ef1319fb7b8bb8522d0beac02",
];
const blobs = { target: 6, max: 9, baseFeeUpdateFraction: 5007716 };

const developmentGenesis = (options: GethDevOptions) => {
  const { alloc } = JSON.parse(readFileSync(join(chainDirectory, "genesis.json"), "utf8")) as {
    readonly alloc: Record<string, unknown>;
  };
  const blockForks = ["homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg"];
  const laterForks = ["istanbul", "muirGlacier", "berlin", "london", "arrowGlacier", "grayGlacier", "mergeNetsplit"];
  return {
    config: {
      chainId: options.chainId ?? 1337,
      ...Object.fromEntries([...blockForks, ...laterForks].map((fork) => [`${fork}Block`, 0])),
      ...{ shanghaiTime: 0, cancunTime: 0, pragueTime: 0, osakaTime: 0, terminalTotalDifficulty: 0, ethash: {} },
      depositContractAddress: "0x0000000000000000000000000000000000000000",
      blobSchedule: { cancun: { ...blobs, target: 3, max: 6 }, prague: blobs, osaka: blobs },
    },
    ...{ nonce: "0x0", timestamp: "0x0", extraData: "0x", difficulty: "0x0", baseFeePerGas: "0x3b9aca00" },
    gasLimit: `0x${(options.gasLimit ?? 60_000_000n).toString(16)}`,
    alloc: {
      ...Object.fromEntries(systemContracts.map((address) => [address, alloc[address]])),
      ...Object.fromEntries(accounts.map(({ address }) => [address.slice(2), { balance: "0x21e19e0c9bab2400000" }])),
      ...options.alloc,
    },
  };
};

const zeroHash = `0x${"00".repeat(32)}`;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const versionedHash = (commitment: string): string =>
  `0x01${createHash("sha256")
    .update(Buffer.from(commitment.slice(2), "hex"))
    .digest("hex")
    .slice(2)}`;

const mineOne = async ({ url, engine: ask }: Geth, age: number): Promise<void> => {
  const pooled = (await rawRequest(url, "txpool_status")) as { readonly pending: string };
  // A builder starts from an empty block and fills it beside; an answer without the pool came too early.
  for (let attempt = 1; ; attempt++) {
    const head = (await rawRequest(url, "eth_getBlockByNumber", ["latest", false])) as Header;
    const state = { headBlockHash: head.hash, safeBlockHash: zeroHash, finalizedBlockHash: zeroHash };
    const attributes = {
      timestamp: `0x${Math.max(Number(head.timestamp) + 1, Math.floor(Date.now() / 1000) - age).toString(16)}`,
      prevRandao: `0x${randomBytes(32).toString("hex")}`,
      suggestedFeeRecipient: "0x00000000000000000000000000000000000fee00",
      withdrawals: [],
      parentBeaconBlockRoot: zeroHash,
    };
    const { payloadId } = (await ask("engine_forkchoiceUpdatedV3", [state, attributes])) as {
      readonly payloadId: string;
    };
    await sleep(20 * attempt);
    const built = (await ask("engine_getPayloadV5", [payloadId])) as Built;
    if (Number(pooled.pending) > 0 && built.executionPayload.transactions.length === 0 && attempt < 5) continue;
    const hashes = built.blobsBundle.commitments.map(versionedHash);
    await ask("engine_newPayloadV4", [built.executionPayload, hashes, zeroHash, built.executionRequests]);
    const next = built.executionPayload.blockHash;
    await ask("engine_forkchoiceUpdatedV3", [
      { headBlockHash: next, safeBlockHash: head.hash, finalizedBlockHash: head.hash },
      null,
    ]);
    return;
  }
};

/**
 * A development chain (id 1337, Osaka rules, anvil's accounts funded) driven through the engine
 * API, so that transactions stay pending until `mine`. geth keeps its pending block up to 2 s.
 */
export const startGethDev = async (bin: string, options: GethDevOptions = {}): Promise<GethDev> => {
  const geth = await startGeth(bin, developmentGenesis(options), { networkId: "1337", args: options.args ?? [] });
  let turn: Promise<void> = Promise.resolve();
  const mine = (count = 1): Promise<void> => {
    turn = turn.then(async () => {
      for (let i = 0; i < count; i++) await mineOne(geth, options.age ?? 0);
    });
    return turn;
  };
  await mine();
  const timer =
    options.periodMs === undefined ? null : setInterval(() => void mine().catch(() => undefined), options.periodMs);
  return {
    url: geth.url,
    mine,
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      await turn.catch(() => undefined);
      await geth.stop();
    },
  };
};
