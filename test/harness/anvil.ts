/** The embedded node of the tests: anvil from its npm package, on a free port. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { startProcess } from "./process.js";

export interface Node {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export interface AnvilOptions {
  /** Leaves transactions in the pool until `anvil_mine`. */
  readonly noMining?: boolean;
  readonly hardfork?: string;
  readonly chainId?: number;
  /** Seconds between blocks. */
  readonly blockTime?: number;
  readonly args?: ReadonlyArray<string>;
}

/** The first accounts of anvil's mnemonic, 10,000 ETH each; also funded on the geth development chain. */
export const accounts = [
  {
    address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    privateKey: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  },
  {
    address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    privateKey: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  },
  {
    address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    privateKey: "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
  },
  {
    address: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
    privateKey: "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
  },
] as const;

/** `ANVIL_BIN`, else the platform package of npm, else `anvil` on the PATH. */
export const anvilBin = (): string => {
  const fromEnvironment = process.env["ANVIL_BIN"];
  if (fromEnvironment !== undefined && fromEnvironment !== "") return fromEnvironment;
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const exe = process.platform === "win32" ? "anvil.exe" : "anvil";
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `@foundry-rs/anvil-${process.platform}-${arch}/package.json`,
    );
    const bin = join(dirname(manifest), "bin", exe);
    return existsSync(bin) ? bin : "anvil";
  } catch {
    return "anvil";
  }
};

/** Starts an anvil on a free port (about 40 ms). */
export const startAnvil = async (options: AnvilOptions = {}): Promise<Node> => {
  const running = await startProcess(
    anvilBin(),
    [
      ...["--host", "127.0.0.1", "--port", "0", "--chain-id", String(options.chainId ?? 31337)],
      ...(options.noMining === true ? ["--no-mining"] : []),
      ...(options.hardfork === undefined ? [] : ["--hardfork", options.hardfork]),
      ...(options.blockTime === undefined ? [] : ["--block-time", String(options.blockTime)]),
      ...(options.args ?? []),
    ],
    /Listening on ([\d.]+:\d+)/,
  );
  return { url: `http://${running.match[1]}`, stop: running.stop };
};

/** One raw JSON-RPC request, for setting the scene; throws the node's error text. */
export const rawRequest = async (
  url: string,
  method: string,
  params: ReadonlyArray<unknown> = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json()) as { readonly result?: unknown; readonly error?: unknown };
  if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
  return answer.result;
};

/** Mines `count` blocks on an anvil. */
export const mineAnvil = (url: string, count = 1): Promise<unknown> =>
  rawRequest(url, "anvil_mine", [`0x${count.toString(16)}`]);
