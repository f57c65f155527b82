/**
 * What a report costs beside the third edition (commit dcb1dc8): both builds in one process, on one anvil, in turns, each as often
 * as the other, so that neither is hotter. Client CPU by lower quartiles; calls and fibers counted by V8, free of noise.
 *
 *     npm run bench:previous              (BENCH_ITERATIONS=n for other than 150; BENCH_COMMIT for another commit)
 *     npm run bench:previous -- ERC-20    (only the cases whose name has this in it)
 */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type * as Doors from "evm-preflight/promise";
import { createPublicClient, createWalletClient, encodeDeployData, encodeFunctionData, http, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { keys, startNode } from "../examples/node.js";
import { Payroll, QuietStake, Token } from "../test/contracts/artifacts.js";
import { buildEarlier, commit, root } from "./earlier.js";

const iterations = Number(process.env["BENCH_ITERATIONS"] ?? 150);
const only = process.argv[2] ?? "";

const given = process.env["BENCH_PREVIOUS"];
const folder = given ?? buildEarlier();

const load = (at: string): Promise<typeof Doors> => import(pathToFileURL(join(at, "dist/promise.js")).href);
const node = await startNode();
const editions = await Promise.all(
  [folder, root].map(async (at) => {
    const { createPreflight } = await load(at);
    return {
      at: `${pathToFileURL(at).href}/dist/`.replaceAll("//dist", "/dist"),
      client: createPreflight({ url: node.url }),
    };
  }),
);

const alice = privateKeyToAccount(keys[0]);
const from = alice.address;
const bob: Address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const client = createPublicClient({ chain: foundry, transport: http(node.url) });
const wallet = createWalletClient({ chain: foundry, transport: http(node.url), account: alice });
const rpc = (method: string, params: ReadonlyArray<unknown>) => client.request({ method, params } as never);
const mined = async (hash: `0x${string}`) => {
  await rpc("evm_mine", []);
  return client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
};
const deploy = async (data: `0x${string}`): Promise<Address> => {
  const { contractAddress } = await mined(await wallet.sendTransaction({ data }));
  if (contractAddress == null) throw new Error("nothing was deployed");
  return contractAddress;
};
const send = async (to: Address, data: `0x${string}`) => mined(await wallet.sendTransaction({ to, data }));

const [plain, described] = [
  await deploy(encodeDeployData({ ...Token, args: ["Token", "TKN", 18] })),
  await deploy(encodeDeployData({ ...Token, args: ["Token", "TKN", 18] })),
];
// the compiler's default metadata: a hash in which TIMESTAMP stands as a byte of data
const hash = `42${"11".repeat(31)}`;
const metadata = `a2646970667358221220${hash}64736f6c634300081c0033`;
await rpc("anvil_setCode", [described, `${await client.getCode({ address: described })}${metadata}`]);
const payroll = await deploy(Payroll.bytecode);
const stake = await deploy(encodeDeployData({ ...QuietStake, args: [plain] } as never));
const on = (data: { readonly functionName: string; readonly args: ReadonlyArray<unknown> }) =>
  encodeFunctionData({ abi: Token.abi, ...data } as never);
for (const token of [plain, described])
  for (const to of [from, payroll]) await send(token, on({ functionName: "mint", args: [to, 1_000_000n] }));
await send(plain, on({ functionName: "approve", args: [stake, 1_000n] }));

const transfer = (to: Address, amount = 5n) => ({
  from,
  to,
  abi: Token.abi,
  functionName: "transfer",
  args: [bob, amount],
});
const events = {
  ...{ from, to: payroll, abi: Payroll.abi, functionName: "pay" },
  args: [plain, BigInt("0xa0ee7a142d267c1f36714e4a8f75612f20a79720"), 100n, 1_000n],
};

/** A case, and the most that it may cost beside the earlier build; null = no goal. */
const cases = [
  ["ERC-20 preflight, default metadata", "preflight", transfer(described), 0.3],
  ["ERC-20 preflight, no metadata", "preflight", transfer(plain), 0.45],
  ["ERC-20 scan", "scan", transfer(plain), 0.55],
  ["ETH preflight", "preflight", { from, to: bob, value: 1n }, 0.45],
  ["ETH scan", "scan", { from, to: bob, value: 1n }, 0.55],
  ["ERC-20 approve, preflight", "preflight", { ...transfer(plain), functionName: "approve" }, null],
  ["bundle of 3, preflight", "preflight", [transfer(plain), transfer(plain, 6n), transfer(plain, 7n)], null],
  [
    "unknown contract, preflight",
    "preflight",
    { from, to: stake, abi: QuietStake.abi, functionName: "stake", args: [5n] },
    0.5,
  ],
  ["1,000 events, preflight", "preflight", events, 0.4],
] as const;

type Client = (typeof editions)[number]["client"];
const ask = async (of: Client, way: "scan" | "preflight", input: unknown) => {
  const report = await of[way](input as never);
  if (report.verdict !== "ready" && report.verdict !== "caution")
    throw new Error(`${report.verdict}: ${report.findings.map(({ code }) => code).join(", ")}`);
  return report;
};
/** ms of this process's CPU. */
const used = async (...asked: Parameters<typeof ask>): Promise<number> => {
  const before = process.cpuUsage();
  await ask(...asked);
  await nextTurn();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
/** The lower quartile: whatever else the machine does can only add. */
const quiet = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 2] ?? Number.NaN;

console.log(
  `Node ${process.version}, ${commit} and this build in turns, ${iterations} each, ms of CPU (lower quartile)\n`,
);
console.log(`${"".padEnd(36)}${commit.padStart(9)}${"now".padStart(9)}${"ratio".padStart(8)}${"goal".padStart(7)}`);
const chosen = cases.filter(([name]) => name.includes(only));
const rows = chosen.map((row) => ({
  row,
  samples: editions.map(({ client: of }) => ({ of, taken: [] as Array<number> })),
}));
for (let turn = -10; turn < iterations; turn++)
  for (const { row, samples } of rows) {
    const [, way, input] = row;
    // 1,000 events cost as much as all the others
    if (input === events && turn % 5 !== 0) continue;
    for (const { of, taken } of turn % 2 === 0 ? samples : samples.toReversed()) {
      const cost = await used(of, way, input);
      if (turn >= 0) taken.push(cost);
    }
  }
for (const {
  row: [name, , , goal],
  samples,
} of rows) {
  const [old = Number.NaN, now = Number.NaN] = samples.map(({ taken }) => quiet(taken));
  console.log(
    `${name.padEnd(36)}${old.toFixed(2).padStart(9)}${now.toFixed(2).padStart(9)}${(now / old).toFixed(2).padStart(8)}${String(goal ?? "").padStart(7)}`,
  );
}

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const runs = 10;
console.log(`\ncounts of one, mean of ${runs}: own calls, calls in Effect, fibers, requests`);
for (const [name, way, input] of chosen) {
  if (input === events) continue;
  for (const [place, { at, client: of }] of editions.entries()) {
    await ask(of, way, input);
    await session.post("Profiler.takePreciseCoverage");
    let requests = 0;
    for (let run = 0; run < runs; run++) requests += (await ask(of, way, input)).ledger.requests.length;
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const counts = { own: 0, effect: 0, fibers: 0 };
    for (const { url, functions } of result)
      for (const { functionName, ranges } of functions) {
        const count = ranges[0]?.count ?? 0;
        if (url.startsWith(at)) counts.own += count;
        if (url.includes("/node_modules/effect/")) counts.effect += count;
        if (url.includes("/node_modules/effect/") && functionName === "FiberImpl") counts.fibers += count;
      }
    const mean = (count: number) => Math.round(count / runs).toLocaleString("en");
    const line = [counts.own, counts.effect, counts.fibers, requests].map((count) => mean(count).padStart(9)).join("");
    console.log(`${name.padEnd(36)}${(place === 0 ? commit : "now").padStart(9)}${line}`);
  }
}
await Promise.all(editions.map(({ client: of }) => of.dispose()));
node.stop();

const further = join(root, "tools/runtimes/node_modules/node-24/bin/node");
if (process.version.startsWith("v20") && existsSync(further)) {
  console.log("");
  spawnSync(further, [...process.execArgv, ...process.argv.slice(1)], {
    ...{ cwd: root, stdio: "inherit" },
    env: { ...process.env, BENCH_PREVIOUS: folder },
  });
}
if (given === undefined) rmSync(folder, { recursive: true, force: true });
