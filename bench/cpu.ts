/**
 * What deciding costs: client CPU of one `scan` and one `preflight` with the node's part taken away. Every
 * case is asked of anvil once; then its answers are repeated in this process, parsed anew each time and outside
 * of what is measured, so that neither HTTP nor JSON nor the node counts. The
 * built package is measured: tsx gives every function its name anew each time it is made, a quarter of the CPU.
 *
 *     npm run bench:cpu                 (BENCH_ITERATIONS=n for other than 40)
 *     npm run bench:cpu -- logs         (only the cases whose name has this in it)
 */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { parseAbi } from "abitype";
import * as Preflight from "evm-preflight/Preflight";
import type { Report } from "evm-preflight/Report";
import * as Rpc from "evm-preflight/Rpc";
import { memoryOf } from "evm-preflight/testing";
import { createPublicClient, createWalletClient, encodeDeployData, encodeFunctionData, http, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { keys, startNode } from "../examples/node.js";
import { Payroll, Token } from "../test/contracts/artifacts.js";

const iterations = Number(process.env["BENCH_ITERATIONS"] ?? 40);
const only = process.argv[2] ?? "";
const alice = privateKeyToAccount(keys[0]);
const from = alice.address;
const bob: Address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

/** One thing to ask. */
interface Case {
  readonly name: string;
  readonly input: unknown;
  readonly options?: Preflight.Options;
}

/** How it is asked. */
const ways = { scan: Preflight.scan, preflight: Preflight.preflight } as const;
type Way = keyof typeof ways;

const node = await startNode();
const client = createPublicClient({ chain: foundry, transport: http(node.url) });
const wallet = createWalletClient({ chain: foundry, transport: http(node.url), account: alice });

const mined = async (hash: `0x${string}`) => {
  await fetch(node.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] }),
  });
  return client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
};
const deploy = async (data: `0x${string}`): Promise<Address> => {
  const { contractAddress } = await mined(await wallet.sendTransaction({ data }));
  if (contractAddress == null) throw new Error("nothing was deployed");
  return contractAddress;
};

const token = await deploy(encodeDeployData({ ...Token, args: ["Token", "TKN", 18] }));
const payroll = await deploy(Payroll.bytecode);
// code that stops: takes any calldata
const sink = await deploy("0x6001600081600b8239f300");
for (const to of [from, payroll])
  await mined(
    await wallet.sendTransaction({
      to: token,
      data: encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [to, 1_000_000n] }),
    }),
  );

const call = (functionName: "transfer", args: readonly [Address, bigint]) =>
  encodeFunctionData({ abi: Token.abi, functionName, args });
const transfer = { from, to: token, abi: Token.abi, functionName: "transfer", args: [bob, 5n] };
const paying = (count: bigint) => ({
  ...{ from, to: payroll, abi: Payroll.abi, functionName: "pay" },
  args: [token, BigInt("0xa0ee7a142d267c1f36714e4a8f75612f20a79720"), 100n, count],
});
/** An ABI of 100 entries that no other one has. */
const abiOf = (place: number) =>
  Array.from({ length: 100 }, (_, index) => {
    const name = `Made${place}_${index}`;
    const signature = [
      `event ${name}(address indexed who, uint256 amount)`,
      `error ${name}(address who)`,
      `function ${name}(uint256)`,
    ];
    return parseAbi([signature[index % 3] ?? ""] as [string])[0];
  });
const abis = Array.from({ length: 200 }, (_, place) => abiOf(place));

const cases: ReadonlyArray<Case> = [
  { name: "ETH transfer", input: { from, to: bob, value: 1n } },
  { name: "ERC-20 transfer", input: transfer },
  ...[1n, 10n, 100n, 1000n].map((count) => ({ name: `${count} logs`, input: paying(count) })),
  ...[2, 8, 64].map((length) => ({
    name: `bundle of ${length}`,
    input: Array.from({ length }, (_, index) => ({
      ...{ from, to: token, data: call("transfer", [`0x${(2 ** 40 + index).toString(16).padStart(40, "b")}`, 1n]) },
    })),
  })),
  ...[8, 32, 128].map((kib) => ({
    name: `${kib} KiB of calldata`,
    // distinct words, none of them an address
    input: { from, to: sink, data: `0x${"c0ffee00".repeat(kib * 256)}`, gas: 16_000_000n },
  })),
  ...[50, 200].map((count) => ({
    name: `${count} ABIs × 100`,
    input: transfer,
    options: { abis: abis.slice(0, count) },
  })),
].filter(({ name }) => name.includes(only));

type Answers = Map<string, Array<unknown>>;

const ask = (way: Way, { input, options }: Case, layer: Layer.Layer<Rpc.Rpc>): Promise<Report> =>
  Effect.runPromise(Effect.provide(ways[way](input as never, options), layer));

/** A connection that has been asked before. */
const memory = memoryOf(Date.now, 60_000);

/** What anvil answered to each method, in the order of asking, as text. */
const recorded = async (way: Way, one: Case): Promise<string> => {
  const answers: Answers = new Map();
  const recorder = Layer.effect(
    Rpc.Rpc,
    Effect.map(Effect.service(Rpc.Rpc), (real) =>
      Rpc.Rpc.of({
        ...{ ...real, memory },
        request: (method, params) => {
          const list = answers.get(method) ?? [];
          answers.set(method, list);
          const place = list.push(null) - 1;
          return Effect.tap(real.request(method, params), (answer) => Effect.sync(() => void (list[place] = answer)));
        },
      }),
    ),
  ).pipe(Layer.provide(Rpc.layerHttp(node.url)));
  await ask(way, one, recorder);
  answers.clear();
  const { verdict, findings } = await ask(way, one, recorder);
  if (verdict !== "ready" && verdict !== "caution")
    throw new Error(`${one.name} is ${verdict}: ${JSON.stringify(findings.map(({ code }) => code))}`);
  return JSON.stringify([...answers]);
};

/** Answers to each method, one after another. */
const replayed = (text: string): Layer.Layer<Rpc.Rpc> => {
  const answers = new Map(JSON.parse(text) as ReadonlyArray<[string, Array<unknown>]>);
  return Layer.succeed(
    Rpc.Rpc,
    Rpc.Rpc.of({
      endpoint: "replayed",
      request: (method) => Effect.sync(() => answers.get(method)?.shift()),
      memory,
      admit: (run) => run,
    }),
  );
};

/** The lower quartile: whatever else the machine does can only add. */
const quiet = (numbers: ReadonlyArray<number>): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 2] ?? Number.NaN;

/** µs of process CPU. */
const measured = async (way: Way, one: Case, text: string): Promise<number> => {
  const layer = replayed(text);
  const before = process.cpuUsage();
  await ask(way, one, layer);
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

const rows: Array<{ readonly one: Case; readonly way: Way; readonly text: string; readonly samples: Array<number> }> =
  [];
for (const one of cases)
  for (const way of ["scan", "preflight"] as const)
    rows.push({ one, way, text: await recorded(way, one), samples: [] });
node.stop();

for (let turn = -10; turn < iterations; turn++)
  for (const { one, way, text, samples } of rows) {
    const used = await measured(way, one, text);
    if (turn >= 0) samples.push(used);
  }

const usedBy = (name: string, wanted: Way): number =>
  quiet(rows.find(({ one, way }) => one.name === name && way === wanted)?.samples ?? []);
const base = { scan: usedBy("ETH transfer", "scan"), preflight: usedBy("ETH transfer", "preflight") };
console.log(
  `Node ${process.version}, ${iterations} interleaved turns, µs of CPU (lower quartile), and times an ETH transfer\n`,
);
console.log(`${"".padEnd(22)}${"scan".padStart(10)}${"×".padStart(8)}${"preflight".padStart(12)}${"×".padStart(8)}`);
for (const { name } of cases) {
  const [scan, preflight] = [usedBy(name, "scan"), usedBy(name, "preflight")];
  console.log(
    `${name.padEnd(22)}${Math.round(scan).toString().padStart(10)}${(scan / base.scan).toFixed(1).padStart(8)}` +
      `${Math.round(preflight).toString().padStart(12)}${(preflight / base.preflight).toFixed(1).padStart(8)}`,
  );
}
