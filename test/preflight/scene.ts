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
  type SignedAuthorization,
  type TransactionSerializable,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { RpcError } from "../rooms/errors.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import type * as Transaction from "../../src/Transaction.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../harness/anvil.js";
import { startOpGeth } from "../harness/opGeth.js";
import { findGethOrWarn, startGethDev, type GethDevOptions } from "../harness/geth.js";
import { until, type Sealed } from "../harness/gethEngine.js";
import { CurrentRun, type RunContext } from "../rooms/rpc.js";

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
  /** Default 2,000,000. */
  readonly gas?: bigint;
  readonly maxFeePerGas?: bigint;
}

/** One that carries authorisations (EIP-7702), too. */
export interface Delegating extends Call {
  readonly authorizationList?: ReadonlyArray<SignedAuthorization>;
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
  /** The nonce after the last transaction in `block`, by default the latest. */
  readonly count: (address: string, block?: string) => Promise<number>;
  readonly deploy: (artifact: { abi: Abi; bytecode: Hex }, args?: ReadonlyArray<unknown>) => Promise<Hex>;
  /** Into the pool; there until `mine`, and in the pending block. */
  readonly send: (from: (typeof keys)[number], call: Delegating) => Promise<Hex>;
  /** The same for who only mines it: geth's pending block may be two seconds late. */
  readonly pool: (from: (typeof keys)[number], call: Delegating) => Promise<Hex>;
  readonly broadcast: (raw: Hex) => Promise<Hex>;
  /** Waits until `nonce` is the next that the pool takes: geth takes note of a block a moment after it. */
  readonly untilNext: (address: string, nonce: number) => Promise<void>;
  readonly mine: () => Promise<void>;
  /** The same, by the producer and at the time that are named; anvil's randomness is its own. */
  readonly seal: (block: Sealed) => Promise<void>;
  readonly receipt: (hash: Hex) => Promise<Receipt>;
  readonly stop: () => Promise<void>;
}

const sceneOn = (
  name: string,
  chainId: number,
  node: { readonly url: string; readonly stop: () => Promise<void> },
  mine: () => Promise<unknown>,
  seal: Scene["seal"],
): Scene => {
  const ask = (method: string, params: ReadonlyArray<unknown>) => rawRequest(node.url, method, params);
  const count = async (address: string, block = "latest") =>
    Number(await ask("eth_getTransactionCount", [address, block]));
  // geth keeps a pending block for up to two seconds: it is there when it knows the new transaction
  const untilPending = (hash: Hex) =>
    until(`the pending block has ${hash}`, async () => {
      const block = (await ask("eth_getBlockByNumber", ["pending", false])) as { transactions: ReadonlyArray<string> };
      return block.transactions.includes(hash);
    });
  const broadcast = async (raw: Hex) => (await ask("eth_sendRawTransaction", [raw])) as Hex;
  const scene: Scene = {
    name,
    url: node.url,
    chainId,
    ask,
    stop: node.stop,
    seal,
    broadcast,
    count,
    balance: async (address, block = "latest") => BigInt((await ask("eth_getBalance", [address, block])) as string),
    mine: async () => {
      await mine();
    },
    untilNext: (address, nonce) =>
      until(`${nonce} is the next nonce of ${address}`, async () => (await count(address, "pending")) === nonce),
    receipt: async (hash) => {
      const receipt = (await ask("eth_getTransactionReceipt", [hash])) as Receipt | null;
      if (receipt === null) throw new Error(`no receipt of ${hash}`);
      return receipt;
    },
    send: async (from, call) => {
      const hash = await scene.pool(from, call);
      await untilPending(hash);
      return hash;
    },
    pool: async (from, { to, data, value, nonce, gas, maxFeePerGas, authorizationList }) => {
      const next = nonce ?? (await count(from.address, "pending"));
      const hash = await broadcast(
        await from.signTransaction({
          ...(authorizationList === undefined ? { type: "eip1559" } : { type: "eip7702", authorizationList }),
          chainId,
          ...(to === undefined ? {} : { to }),
          ...(data === undefined ? {} : { data }),
          value: value ?? 0n,
          nonce: next,
          gas: gas ?? 2_000_000n,
          maxFeePerGas: maxFeePerGas ?? 20_000_000_000n,
          maxPriorityFeePerGas: 1_000_000_000n,
        }),
      );
      if (nonce === undefined) await scene.untilNext(from.address, next + 1);
      return hash;
    },
    deploy: async ({ abi, bytecode }, args = []) => {
      const nonce = BigInt(await count(owner.address, "pending"));
      await scene.pool(owner, { data: encodeDeployData({ abi, bytecode, args: [...args] }), gas: 16_000_000n });
      await scene.mine();
      const at = getContractAddress({ from: owner.address, nonce });
      if ((await ask("eth_getCode", [at, "latest"])) === "0x") throw new Error("not deployed");
      return at.toLowerCase() as Hex;
    },
  };
  return scene;
};

export const startAnvilScene = async (chainId = 31337, args: ReadonlyArray<string> = []): Promise<Scene> => {
  const node = await startAnvil({ noMining: true, chainId, args });
  const seal = async ({ feeRecipient, after }: Sealed) => {
    if (feeRecipient !== undefined) await rawRequest(node.url, "anvil_setCoinbase", [feeRecipient]);
    if (after !== undefined) {
      const head = (await rawRequest(node.url, "eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
      await rawRequest(node.url, "evm_setNextBlockTimestamp", [Number(head.timestamp) + after]);
    }
    await mineAnvil(node.url);
  };
  return sceneOn("anvil", chainId, node, () => mineAnvil(node.url), seal);
};

/** A geth of one's own. */
export const startGethScene = async (bin: string, options: GethDevOptions = {}): Promise<Scene> => {
  const node = await startGethDev(bin, options);
  return sceneOn("geth", options.chainId ?? 1337, node, () => node.mine(), node.seal);
};

/** An op-geth of one's own, which has no pending block; its producer is the sequencer. why: of this chain nobody expects a clock */
export const startOpGethScene = async (
  bin: string,
  options: Pick<Parameters<typeof startOpGeth>[1], "alloc"> = {},
): Promise<Scene> => {
  const node = await startOpGeth(bin, { generation: "isthmus", chainId: 1337, ...options });
  await node.mine();
  const refuse = () => Promise.reject(new Error("op-geth seals nothing"));
  const scene = sceneOn("op-geth", node.chainId, node, () => node.mine(), refuse);
  return { ...scene, send: scene.pool };
};

/** The nodes that the pipeline is proven on; geth, with these arguments, only where it is installed. */
export const scenesFor = (
  what: string,
  { args = [] }: Pick<GethDevOptions, "args"> = {},
): ReadonlyArray<readonly [name: string, start: () => Promise<Scene>]> => {
  const bin = findGethOrWarn(`${what} on geth`);
  const geth = () => startGethScene(bin ?? "", { args });
  return [["anvil", () => startAnvilScene()], ...(bin === null ? [] : [["geth", geth] as const])];
};

/** Tries nothing twice, so that every fault is seen. */
export const layerOf = (url: string, options: Rpc.HttpOptions = {}) =>
  Rpc.layerHttp(url, { retryTimes: 0, ...options });

/** What a request is for: the simulated run it is, the block a count is of, else its method. */
export type Purpose = Report.RunName | "latest count" | "pending count" | (string & {});

/** By the names that the pipeline gives its own requests, as they stand in the ledger. */
export const purposeOf = (method: string, params: ReadonlyArray<unknown>, { run }: Pick<RunContext, "run">): Purpose =>
  run ?? (method === "eth_getTransactionCount" ? `${String(params[1])} count` : method);

/** Instead of the node's answer: another result, or a failure. null = the node's own. */
export type Tampering = (asked: {
  readonly method: string;
  readonly purpose: Purpose;
  readonly params: ReadonlyArray<unknown>;
  /** The step that asks. */
  readonly step: Report.StepName | null;
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
        request: (method, params) =>
          Effect.flatMap(Effect.service(CurrentRun), (current) => {
            const purpose = purposeOf(method, params, current);
            const before = asked.get(purpose) ?? 0;
            asked.set(purpose, before + 1);
            const change = tamper({ method, purpose, params, step: current.step ?? null, before });
            if (change === null) return node.request(method, params);
            return typeof change === "function"
              ? Effect.map(node.request(method, params), change)
              : Effect.fail(change);
          }),
      });
    }),
  ).pipe(Layer.provide(layerOf(url, options)));

/** Whatever else the machine does: the default of 10 s is for people who wait, and tests of the deadline name their own. */
const patient = (options: Preflight.Options | undefined): Preflight.Options => ({ deadline: "1 minute", ...options });

export const preflightOn = (layer: Layer.Layer<Rpc.Rpc>, input: AnyInput, options?: Preflight.Options) =>
  Effect.runPromise(Preflight.preflight(input as never, patient(options)).pipe(Effect.provide(layer)));
export const scanOn = (layer: Layer.Layer<Rpc.Rpc>, input: AnyInput, options?: Preflight.Options) =>
  Effect.runPromise(Preflight.scan(input as never, patient(options)).pipe(Effect.provide(layer)));
/** A proof takes the deadline of its scan. */
export const proveOn = <R extends Report.Report>(layer: Layer.Layer<Rpc.Rpc>, report: R, options?: Preflight.Options) =>
  Effect.runPromise(Preflight.prove(report, options).pipe(Effect.provide(layer)));

/** Inputs of tests come out of tables: the types of the doors are proven elsewhere. */
export type AnyInput = Transaction.Input | ReadonlyArray<unknown>;

export const preflight = (url: string, input: AnyInput, options?: Preflight.Options): Promise<Report.BundleReport> =>
  preflightOn(layerOf(url), input, options);

export const scan = (url: string, input: AnyInput, options?: Preflight.Options): Promise<Report.BundleReport> =>
  scanOn(layerOf(url), input, options);

export const prove = <R extends Report.Report>(url: string, report: R, options?: Preflight.Options): Promise<R> =>
  proveOn(layerOf(url), report, options);

/** The clearance, or the error that stood against it. */
export const readiness = <R extends Report.Report>(report: R) => Effect.runPromise(Effect.result(Report.ready(report)));

export const cleared = async (report: Report.BundleReport): Promise<Report.BundleClearance> => {
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

/**
 * Network rounds, but for the proof that is asked once more because the pending block was made anew between
 * its runs: geth does that every two seconds.
 */
export const roundsIn = ({ ledger: { rounds, requests } }: Report.Report): number => {
  const proofs = new Set(requests.filter(({ run }) => run === "exact").map(({ round }) => round));
  const isWidened = requests.some(({ run }) => run === "gas");
  return proofs.size > 1 && !isWidened ? rounds - 1 : rounds;
};

/** {@link codesOf} without what is only information. */
export const severe = (report: Report.Report): ReadonlyArray<string> =>
  codesOf(report).filter((code) => !code.endsWith("/info"));

export const quantity = numberToHex;
export const calldata = (artifact: { readonly abi: Abi }, functionName: string, args: ReadonlyArray<unknown> = []) =>
  encodeFunctionData({ abi: artifact.abi, functionName, args: [...args] });

/** Delegates the third account by an authorisation, mined. */
export const delegate = async (scene: Scene, to: Hex): Promise<void> => {
  const nonce = await scene.count(third.address);
  const authorization = await third.signAuthorization({ address: to, chainId: scene.chainId, nonce: nonce + 1 });
  const raw = await third.signTransaction({
    ...{ type: "eip7702", chainId: scene.chainId, nonce, to: third.address, gas: 200_000n },
    ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n, authorizationList: [authorization] },
  });
  await scene.broadcast(raw);
  await scene.mine();
};
