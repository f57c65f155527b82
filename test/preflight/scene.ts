/** A node with real contracts, transactions that stay pending, and the pipeline run against it. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import {
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  numberToHex,
  type Abi,
  type Hex,
  type TransactionSerializable,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { RpcError } from "../../src/errors/rpc.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../harness/anvil.js";
import { findGethOrWarn, startGethDev } from "../harness/geth.js";

export interface Receipt {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly blockNumber: Hex;
  readonly contractAddress: Hex | null;
  readonly logs: ReadonlyArray<{ readonly address: Hex; readonly topics: ReadonlyArray<Hex>; readonly data: Hex }>;
}

export interface Call {
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly nonce?: number;
  readonly maxFeePerGas?: bigint;
}

export const keys = accounts.map(({ privateKey }) => privateKeyToAccount(privateKey));
export const [owner, other, third, spare] = keys as [
  (typeof keys)[number],
  (typeof keys)[number],
  (typeof keys)[number],
  (typeof keys)[number],
];
export const signerOf = (address: string) => {
  const key = keys.find((one) => one.address.toLowerCase() === address.toLowerCase());
  if (key === undefined) throw new Error(`no key of ${address}`);
  return key;
};

/** An address where nobody lives. */
export const nobody = "0x00000000000000000000000000000000dead0001";

export interface Scene {
  readonly name: string;
  readonly url: string;
  readonly chainId: number;
  readonly ask: (method: string, params: ReadonlyArray<unknown>) => Promise<unknown>;
  readonly balance: (address: string, block?: string) => Promise<bigint>;
  readonly deploy: (artifact: { abi: Abi; bytecode: Hex }, args?: ReadonlyArray<unknown>) => Promise<Hex>;
  /** Into the pool; there until `mine`. */
  readonly send: (from: (typeof keys)[number], call: Call) => Promise<Hex>;
  readonly broadcast: (raw: Hex) => Promise<Hex>;
  readonly mine: () => Promise<void>;
  readonly receipt: (hash: Hex) => Promise<Receipt>;
  readonly stop: () => Promise<void>;
}

const sceneOn = (
  name: string,
  chainId: number,
  node: { readonly url: string; readonly stop: () => Promise<void> },
  mine: () => Promise<unknown>,
): Scene => {
  const ask = (method: string, params: ReadonlyArray<unknown>) => rawRequest(node.url, method, params);
  const count = async (address: string, block: string) =>
    Number(await ask("eth_getTransactionCount", [address, block]));
  // geth keeps a pending block for up to two seconds: it is there when it knows the new transaction
  const untilPending = async (hash: Hex) => {
    for (let tries = 0; tries < 100; tries++) {
      const block = (await ask("eth_getBlockByNumber", ["pending", false])) as { transactions: ReadonlyArray<string> };
      if (block.transactions.includes(hash)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error("never pending");
  };
  const broadcast = async (raw: Hex) => (await ask("eth_sendRawTransaction", [raw])) as Hex;
  const scene: Scene = {
    name,
    url: node.url,
    chainId,
    ask,
    stop: node.stop,
    broadcast,
    balance: async (address, block = "latest") => BigInt((await ask("eth_getBalance", [address, block])) as string),
    mine: async () => {
      await mine();
    },
    receipt: async (hash) => {
      const receipt = (await ask("eth_getTransactionReceipt", [hash])) as Receipt | null;
      if (receipt === null) throw new Error(`no receipt of ${hash}`);
      return receipt;
    },
    send: async (from, { to, data, value, nonce, maxFeePerGas }) => {
      const hash = await broadcast(
        await from.signTransaction({
          type: "eip1559",
          chainId,
          ...(to === undefined ? {} : { to }),
          ...(data === undefined ? {} : { data }),
          value: value ?? 0n,
          nonce: nonce ?? (await count(from.address, "pending")),
          gas: 2_000_000n,
          maxFeePerGas: maxFeePerGas ?? 20_000_000_000n,
          maxPriorityFeePerGas: 1_000_000_000n,
        }),
      );
      await untilPending(hash);
      return hash;
    },
    deploy: async ({ abi, bytecode }, args = []) => {
      const nonce = BigInt(await count(owner.address, "pending"));
      await scene.send(owner, { data: encodeDeployData({ abi, bytecode, args: [...args] }) });
      await scene.mine();
      const at = getContractAddress({ from: owner.address, nonce });
      if ((await ask("eth_getCode", [at, "latest"])) === "0x") throw new Error("not deployed");
      return at.toLowerCase() as Hex;
    },
  };
  return scene;
};

export const startAnvilScene = async (): Promise<Scene> => {
  const node = await startAnvil({ noMining: true });
  return sceneOn("anvil", 31337, node, () => mineAnvil(node.url));
};

/** The nodes that the pipeline is proven on; geth only where it is installed. */
export const scenesFor = (what: string): ReadonlyArray<readonly [name: string, start: () => Promise<Scene>]> => {
  const bin = findGethOrWarn(`${what} on geth`);
  const geth = async () => {
    const node = await startGethDev(bin ?? "");
    return sceneOn("geth", 1337, node, () => node.mine());
  };
  return [["anvil", startAnvilScene], ...(bin === null ? [] : [["geth", geth] as const])];
};

/** Tries nothing twice, so that every fault is seen. */
export const layerOf = (url: string, options: Rpc.HttpOptions = {}) =>
  Rpc.layerHttp(url, { retryTimes: 0, ...options });

/** What a request is for, told by its parameters. */
export type Purpose =
  | "scanned run"
  | "probe"
  | "first run"
  | "second run"
  | "run beside"
  | "latest count"
  | "pending count"
  | (string & {});

interface SimulationWire {
  readonly calls: ReadonlyArray<{ readonly nonce?: string }>;
  readonly blockOverrides?: { readonly baseFeePerGas?: string; readonly time?: string };
}

export const purposeOf = (method: string, params: ReadonlyArray<unknown>): Purpose => {
  if (method === "eth_getTransactionCount") return `${String(params[1])} count`;
  if (method !== "eth_simulateV1") return method;
  const [block] = (params[0] as { readonly blockStateCalls: [SimulationWire] }).blockStateCalls;
  if (block.calls[0]?.nonce !== undefined) return "run beside";
  if (block.calls.length === 1) return "probe";
  if (block.blockOverrides?.baseFeePerGas === "0x0") return "scanned run";
  return block.blockOverrides?.time === undefined ? "first run" : "second run";
};

/** Instead of the node's answer: another result, or a failure. null = the node's own. */
export type Tampering = (asked: {
  readonly method: string;
  readonly purpose: Purpose;
  readonly params: ReadonlyArray<unknown>;
  /** Requests of this purpose before. */
  readonly before: number;
}) => ((result: unknown) => unknown) | RpcError | null;

/** The node with some of its answers changed on the way. */
export const tampered = (url: string, tamper: Tampering, options: Rpc.HttpOptions = {}): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) => {
      const asked = new Map<string, number>();
      return Rpc.Rpc.of({
        ...node,
        request: (method, params) => {
          const purpose = purposeOf(method, params);
          const before = asked.get(purpose) ?? 0;
          asked.set(purpose, before + 1);
          const change = tamper({ method, purpose, params, before });
          if (change === null) return node.request(method, params);
          return typeof change === "function" ? Effect.map(node.request(method, params), change) : Effect.fail(change);
        },
      });
    }),
  ).pipe(Layer.provide(layerOf(url, options)));

export const preflightOn = (layer: Layer.Layer<Rpc.Rpc>, input: AnyInput, options?: Preflight.Options) =>
  Effect.runPromise(Preflight.preflight(input as never, options).pipe(Effect.provide(layer)));
export const scanOn = (layer: Layer.Layer<Rpc.Rpc>, input: AnyInput, options?: Preflight.Options) =>
  Effect.runPromise(Preflight.scan(input as never, options).pipe(Effect.provide(layer)));
export const proveOn = (layer: Layer.Layer<Rpc.Rpc>, report: Report.Report, options?: Preflight.Options) =>
  Effect.runPromise(Preflight.prove(report, options).pipe(Effect.provide(layer)));

/** Inputs of tests come out of tables: the types of the doors are proven elsewhere. */
export type AnyInput = Preflight.Input | ReadonlyArray<unknown>;

export const preflight = (url: string, input: AnyInput, options?: Preflight.Options): Promise<Report.Report> =>
  Effect.runPromise(Preflight.preflight(input as never, options).pipe(Effect.provide(layerOf(url))));

export const scan = (url: string, input: AnyInput, options?: Preflight.Options): Promise<Report.Report> =>
  Effect.runPromise(Preflight.scan(input as never, options).pipe(Effect.provide(layerOf(url))));

export const prove = (url: string, report: Report.Report, options?: Preflight.Options): Promise<Report.Report> =>
  Effect.runPromise(Preflight.prove(report, options).pipe(Effect.provide(layerOf(url))));

/** The clearance, or the error that stood against it. */
export const readiness = (report: Report.Report) => Effect.runPromise(Effect.result(Report.ready(report)));

export const cleared = async (report: Report.Report): Promise<Report.Clearance> => {
  const result = await readiness(report);
  if (Result.isFailure(result)) throw result.failure;
  return result.success;
};

export const refusedWith = async (report: Report.Report): Promise<Report.Blocker> => {
  const result = await readiness(report);
  if (Result.isSuccess(result)) throw new Error(`a clearance for a ${report.verdict} report`);
  return result.failure;
};

/** Signed as they are handed out: viem's types take them unchanged. */
export const signAll = async (clearance: Report.Clearance): Promise<ReadonlyArray<Hex>> => {
  const signed: Array<Hex> = [];
  for (const [index, request] of clearance.requests.entries())
    signed.push(await signerOf(clearance.senders[index] ?? "").signTransaction(request as TransactionSerializable));
  return signed;
};

/** `code/severity` of every finding, in order. */
export const codesOf = (report: Report.Report): ReadonlyArray<string> =>
  report.findings.map(({ code, severity }) => `${code}/${severity}`);

export const quantity = numberToHex;
export const calldata = (artifact: { readonly abi: Abi }, functionName: string, args: ReadonlyArray<unknown> = []) =>
  encodeFunctionData({ abi: artifact.abi, functionName, args: [...args] });
