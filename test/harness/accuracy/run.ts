/**
 * Preflights real transactions, signs them exactly as handed out, sends and mines them, and compares what
 * was said with what came to pass.
 */
import * as Effect from "effect/Effect";
import type { Hex, TransactionSerializable } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import * as Preflight from "../../../src/Preflight.js";
import type { Report, Settled } from "../../../src/Report.js";
import * as Rpc from "../../../src/Rpc.js";
import { accounts, rawRequest } from "../anvil.js";
import type { Bed } from "./beds.js";
import { kinds, seeded, type Case } from "./cases.js";

/** One transaction that was sent as it was handed out. */
export interface Mined {
  readonly status: boolean;
  readonly logs: boolean;
  /** null where the node does not trace. */
  readonly returnData: boolean | null;
  readonly sufficed: boolean;
  readonly gasLimit: bigint;
  /** null = the node refused it, or left it out of its block. */
  readonly gasUsed: bigint | null;
}

/** What became of one input. */
export interface Sample {
  readonly kind: string;
  readonly report: Report;
  /** Codes of what stood against it, warnings too. */
  readonly against: ReadonlyArray<string>;
  /** By position; null = blocked, or no request was handed out. */
  readonly mined: ReadonlyArray<Mined> | null;
  readonly isCovered: boolean;
  /** |expected − actual| ÷ actual; null where the node could not simulate it, or other rules came. */
  readonly deviation: number | null;
  /** What `Preflight.settle` makes of it; null where not all of it was mined. */
  readonly settled: Settled["class"] | null;
  /** Where it was blocked: whether it works when it is sent all the same. */
  readonly worksAnyway: boolean;
}

interface Receipt {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly logs: ReadonlyArray<{ readonly address: Hex; readonly topics: ReadonlyArray<Hex>; readonly data: Hex }>;
}

const signer = privateKeyToAccount(accounts[0].privateKey);

const receiptOf = async (url: string, hash: Hex): Promise<Receipt | null> => {
  for (let attempt = 0; attempt < 50; attempt++) {
    // a node says that it indexes, or has none yet
    const receipt = await rawRequest(url, "eth_getTransactionReceipt", [hash]).catch(() => null);
    if (receipt !== null) return receipt as Receipt;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return null;
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

const balanceOf = async (url: string): Promise<bigint> =>
  BigInt((await rawRequest(url, "eth_getBalance", [signer.address, "latest"])) as Hex);

/** Into the pool; null = refused. */
const broadcast = async (url: string, request: object): Promise<Hex | null> => {
  const raw = await signer.signTransaction(request as TransactionSerializable);
  return rawRequest(url, "eth_sendRawTransaction", [raw]).then(
    (hash) => hash as Hex,
    () => null,
  );
};

/** Sends one after the other, and mines them together. */
const sendAll = async (on: Bed, requests: ReadonlyArray<object>, fork: string | null = null) => {
  const hashes: Array<Hex | null> = [];
  for (const request of requests) hashes.push(await broadcast(on.url, request));
  await on.mine(fork);
  return Promise.all(
    hashes.map(async (hash) => {
      const receipt = hash === null ? null : await receiptOf(on.url, hash);
      return hash === null || receipt === null ? null : { hash, receipt };
    }),
  );
};

/** Sends what was blocked, with the caller's limits, else generous ones, into a block of the rules that blocked it. */
const worksAnyway = async (on: Bed, inputs: ReadonlyArray<Case>, { observed }: Report): Promise<boolean> => {
  const first = Number(await rawRequest(on.url, "eth_getTransactionCount", [signer.address, "latest"]));
  const fees = { maxFeePerGas: 2n * 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
  const requests = inputs.map((input, index) => ({
    ...{ chainId: on.chainId, nonce: first + index, gas: 16_000_000n, ...fees },
    ...input,
    gasPrice: undefined,
  }));
  return (await sendAll(on, requests, observed.rules.fork)).every((one) => one?.receipt.status === "0x1");
};

const outcomeOf = async (
  on: Bed,
  sent: Awaited<ReturnType<typeof sendAll>>[number] | undefined,
  { outcome, gas }: Report["transactions"][number],
): Promise<Mined> => {
  const gasLimit = gas.limit ?? 0n;
  if (sent == null) return { status: false, logs: false, returnData: null, sufficed: false, gasLimit, gasUsed: null };
  const { hash, receipt } = sent;
  const isSuccess = receipt.status === "0x1";
  const output = await tracedOutput(on.url, hash);
  const isSimulated = outcome.evidence === "measured";
  return {
    status: isSuccess === (outcome.status === "success") || !isSimulated,
    logs: flat(receipt.logs) === flat(outcome.logs) || !isSimulated,
    returnData: output === null || !isSimulated ? null : output === (outcome.returnData ?? "0x").toLowerCase(),
    sufficed: isSuccess,
    gasLimit,
    gasUsed: BigInt(receipt.gasUsed),
  };
};

/** What was said against what happened; null where one of them is not there. */
const settledOn = async (
  on: Bed,
  report: Report,
  sent: Awaited<ReturnType<typeof sendAll>>,
): Promise<Settled["class"] | null> => {
  const hashes = sent.flatMap((one) => (one === null ? [] : [one.hash]));
  if (hashes.length !== report.transactions.length) return null;
  const asked = Preflight.settle(report, hashes).pipe(Effect.provide(Rpc.layerHttp(on.url)));
  return (await Effect.runPromise(asked)).class;
};

/** Preflights, signs, sends, mines and compares the transactions of one input. */
export const measure = async (
  on: Bed,
  kind: string,
  inputs: readonly [Case, ...ReadonlyArray<Case>],
): Promise<Sample> => {
  const calls = inputs.map((input) => ({ from: signer.address, ...input }));
  const report = await Effect.runPromise(
    // the union of cases is checked by the library itself
    Preflight.preflight(calls as never, { deadline: 30_000 }).pipe(Effect.provide(Rpc.layerHttp(on.url))),
  );
  const against = report.findings.filter(({ severity }) => severity !== "info").map(({ code }) => code);
  const said = { kind, report, against };
  const requests = report.transactions.flatMap(({ request }) => (request === null ? [] : [request]));
  const [funds] = report.funds;
  if (requests.length < inputs.length || report.verdict === "blocked" || funds === undefined)
    return {
      ...said,
      mined: null,
      settled: null,
      isCovered: true,
      deviation: null,
      worksAnyway: await worksAnyway(on, inputs, report),
    };
  const had = await balanceOf(on.url);
  const sent = await sendAll(on, requests);
  const mined = await Promise.all(report.transactions.map((one, index) => outcomeOf(on, sent[index], one)));
  const actual = had - (await balanceOf(on.url));
  const off = funds.expected === null ? actual : funds.expected - actual;
  const isComparable =
    !against.includes("ForkAhead") && report.transactions.every(({ outcome }) => outcome.evidence === "measured");
  return {
    ...said,
    mined,
    settled: await settledOn(on, report, sent),
    isCovered: funds.required !== null && funds.required >= actual,
    deviation: isComparable ? Number(off < 0n ? -off : off) / Number(actual) : null,
    worksAnyway: false,
  };
};

const isAsSaid = ({ status, logs, returnData, sufficed, gasUsed }: Mined): boolean =>
  status && logs && returnData !== false && sufficed && gasUsed !== null;

/** Whether everything was sent, and did what was said, for no more than was said. */
export const isRight = ({ mined, isCovered, deviation }: Sample): boolean =>
  mined !== null && mined.every(isAsSaid) && isCovered && (deviation ?? 0) <= 0.001;

/** At least `count` transactions mined on nodes of one kind, the kinds of input in turn, drawn from `seed`. */
export const runOn = async (start: () => Promise<Bed>, count: number, seed: number): Promise<ReadonlyArray<Sample>> => {
  const random = seeded(seed);
  const drawn = Object.entries(kinds);
  const samples: Array<Sample> = [];
  let on = await start();
  try {
    for (let [index, done] = [seed, 0]; done < count; index++) {
      const [kind, draw] = drawn[index % drawn.length] ?? ["", () => [{}] as const];
      const inputs = await draw(on.stage, random);
      const sample = await measure(on, kind, inputs);
      samples.push(sample);
      done += (sample.mined ?? []).filter(({ gasUsed }) => gasUsed !== null).length;
      await on.rewind();
      if (!on.isSpent()) continue;
      await on.stop();
      on = await start();
    }
  } finally {
    await on.stop();
  }
  return samples;
};
