/**
 * Preflights real transactions, signs them exactly as handed out, sends and mines them, and compares what
 * was said with what came to pass.
 */
import * as Effect from "effect/Effect";
import { createPublicClient, http, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import * as Preflight from "../../../src/Preflight.js";
import type { Report } from "../../../src/Report.js";
import * as Rpc from "../../../src/Rpc.js";
import { accounts, mineAnvil, rawRequest, startAnvil, type Node } from "../anvil.js";
import { startGethDev } from "../geth.js";
import { sceneOn } from "./scene.js";
import { kinds, seeded, setStage, type Case, type Stage } from "./cases.js";

/** What became of one transaction. */
export interface Sample {
  readonly kind: string;
  readonly verdict: Report["verdict"];
  /** Codes of what stood against it. */
  readonly against: ReadonlyArray<string>;
  /** null = no request was handed out, so nothing was sent. */
  readonly mined: {
    readonly status: boolean;
    readonly logs: boolean;
    /** null where the node does not trace. */
    readonly returnData: boolean | null;
    readonly sufficed: boolean;
    readonly gasLimit: bigint;
    readonly gasUsed: bigint;
    readonly isCovered: boolean;
    /** |expected − actual| ÷ actual; null where the node could not simulate it. */
    readonly deviation: number | null;
  } | null;
}

export interface Bench {
  readonly name: string;
  readonly url: string;
  readonly chainId: number;
  readonly stage: Stage;
  readonly mine: () => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

const bench = async (name: string, node: Node, chainId: number, mine: () => Promise<unknown>): Promise<Bench> => {
  const scene = sceneOn(node.url, chainId, mine);
  const stage = await setStage(scene, chainId, accounts[0].address);
  return { name, url: node.url, chainId, stage, mine, stop: node.stop };
};

export const anvilBench = async (): Promise<Bench> => {
  const node = await startAnvil({ noMining: true });
  return bench("anvil", node, 31337, () => mineAnvil(node.url));
};

export const gethBench = async (bin: string): Promise<Bench> => {
  const node = await startGethDev(bin);
  return bench("geth", node, 1337, () => node.mine());
};

interface Receipt {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly logs: ReadonlyArray<{ readonly address: Hex; readonly topics: ReadonlyArray<Hex>; readonly data: Hex }>;
}

const receiptOf = async (url: string, hash: Hex): Promise<Receipt> => {
  for (let attempt = 0; attempt < 50; attempt++) {
    const receipt = (await rawRequest(url, "eth_getTransactionReceipt", [hash])) as Receipt | null;
    if (receipt !== null) return receipt;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no receipt of ${hash}`);
};

const tracedOutput = async (url: string, hash: Hex): Promise<string | null> => {
  try {
    const trace = (await rawRequest(url, "debug_traceTransaction", [hash, { tracer: "callTracer" }])) as {
      readonly output?: string;
    };
    return (trace.output ?? "0x").toLowerCase();
  } catch {
    return null;
  }
};

const flat = (logs: ReadonlyArray<{ address: string; topics: ReadonlyArray<string>; data: string }>): string =>
  JSON.stringify(logs.map(({ address, topics, data }) => [address, topics, data])).toLowerCase();

/** Preflights, signs, sends, mines and compares one transaction. */
export const measure = async (on: Bench, kind: string, drawn: Case): Promise<Sample> => {
  const signer = privateKeyToAccount(accounts[0].privateKey);
  const report = await Effect.runPromise(
    // the union of cases is checked by the library itself
    Preflight.preflight({ from: signer.address, ...drawn } as never, { deadline: 30_000 }).pipe(
      Effect.provide(Rpc.layerHttp(on.url)),
    ),
  );
  const against = report.findings
    .filter(({ severity }) => severity === "blocker" || severity === "unavailable")
    .map(({ code }) => code);
  const { request, outcome, gas } = report.transactions[0];
  const funds = report.funds[0];
  if (request === null || gas.limit === null || report.verdict === "blocked" || funds === undefined)
    return { kind, verdict: report.verdict, against, mined: null };
  const client = createPublicClient({ transport: http(on.url) });
  const raw = await signer.signTransaction(request);
  const hash = await client.sendRawTransaction({ serializedTransaction: raw });
  await on.mine();
  const receipt = await receiptOf(on.url, hash);
  const success = receipt.status === "0x1";
  const gasUsed = BigInt(receipt.gasUsed);
  const actual = (success ? request.value : 0n) + gasUsed * BigInt(receipt.effectiveGasPrice);
  const output = await tracedOutput(on.url, hash);
  const off = funds.expected === null ? actual : funds.expected - actual;
  const simulated = outcome.evidence === "measured";
  return {
    kind,
    verdict: report.verdict,
    against,
    mined: {
      status: success === (outcome.status === "success") || !simulated,
      logs: flat(receipt.logs) === flat(outcome.logs) || !simulated,
      returnData: output === null || !simulated ? null : output === (outcome.returnData ?? "0x").toLowerCase(),
      sufficed: success,
      gasLimit: gas.limit,
      gasUsed,
      isCovered: funds.required !== null && funds.required >= actual,
      deviation: simulated ? Number(off < 0n ? -off : off) / Number(actual) : null,
    },
  };
};

/** `count` transactions on one node, the kinds in turn, drawn from `seed`. */
export const runOn = async (on: Bench, count: number, seed: number): Promise<ReadonlyArray<Sample>> => {
  const random = seeded(seed);
  const names = Object.keys(kinds);
  const samples: Array<Sample> = [];
  for (let index = 0; index < count; index++) {
    const kind = names[index % names.length] ?? "";
    const draw = kinds[kind];
    if (draw !== undefined) samples.push(await measure(on, kind, await draw(on.stage, random)));
  }
  return samples;
};
