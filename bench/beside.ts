/**
 * What a caller would do otherwise, beside a preflight: rounds, requests and time on geth, 50 ms away; and the client CPU of
 * an ERC-20 transfer beside viem's `simulateCalls` with asset changes, without delay.
 *
 *     npm run bench:beside           (-- --docs writes the table into README.md)
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createPreflight } from "evm-preflight/promise";
import { createPublicClient, http } from "viem";
import { foundry } from "viem/chains";
import { Token } from "../test/contracts/artifacts.js";
import { calldata, other, owner, scenesFor } from "../test/preflight/scene.js";
import { startDelay } from "./scene.js";

const delayMs = 50;
const times = 15;

const [, start] = scenesFor("the comparison").find(([name]) => name === "geth") ?? [];
if (start === undefined) throw new Error("install geth: scripts/install-geth.sh");
const scene = await start();
const delay = await startDelay(scene.url, delayMs);

/** Requests, and how often one left while none was on its way. */
const counter = { requests: 0, rounds: 0, inFlight: 0 };
const counted = async <A>(answer: () => Promise<A>): Promise<A> => {
  counter.requests++;
  if (counter.inFlight++ === 0) counter.rounds++;
  return answer().finally(() => void counter.inFlight--);
};
const over: typeof fetch = (...request) => counted(() => fetch(...request));
const client = createPublicClient({
  chain: { ...foundry, id: scene.chainId },
  transport: http(delay.url, { fetchFn: over }),
});
const preflight = createPreflight({ url: delay.url, fetch: over });

const { address: from } = owner;
const call = { to: other.address, value: 1n } as const;
const ways: ReadonlyArray<readonly [name: string, ask: () => Promise<unknown>]> = [
  [
    "viem: code, simulation, gas, nonce, fees, one by one",
    async () => {
      await client.getCode({ address: call.to });
      await client.simulateBlocks({ blocks: [{ calls: [{ from, ...call }] }], traceTransfers: true });
      await client.estimateGas({ account: from, ...call });
      await client.getTransactionCount({ address: from, blockTag: "pending" });
      await client.estimateFeesPerGas();
    },
  ],
  [
    "viem: `prepareTransactionRequest`, then `simulateCalls` with asset changes",
    async () => {
      await client.prepareTransactionRequest({ account: from, ...call });
      await client.simulateCalls({ account: from, calls: [call], traceAssetChanges: true });
    },
  ],
  ["`scan` (one simulation; chooses nonce, gas, fees)", () => preflight.scan({ from, ...call })],
  ["`preflight` (scan and proof)", () => preflight.run({ from, ...call })],
];

const rows: Array<string> = [];
for (const [name, ask] of ways) {
  await ask();
  const taken: Array<number> = [];
  Object.assign(counter, { requests: 0, rounds: 0 });
  for (let time = 0; time < times; time++) {
    const started = performance.now();
    await ask();
    taken.push(performance.now() - started);
  }
  const median = taken.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
  rows.push(
    `| ${name} | ${Math.round(counter.rounds / times)} | ${Math.round(counter.requests / times)} | ${Math.round(median)} ms |`,
  );
}
const table = [
  `Compared with viem: a plain transfer on geth, ${delayMs} ms of network latency, median of ${times} on a warm connection. The viem rows do less: no approvals, no second block. [Performance](docs/performance.md)`,
  "",
  "| way | rounds | requests | time |",
  "| --- | --- | --- | --- |",
  ...rows,
].join("\n");
console.log(table);
if (process.argv.includes("--docs")) {
  const path = fileURLToPath(new URL("../README.md", import.meta.url));
  const [open, close] = ["<!-- beside -->", "<!-- /beside -->"];
  const text = readFileSync(path, "utf8");
  writeFileSync(path, `${text.slice(0, text.indexOf(open))}${open}\n\n${table}\n\n${text.slice(text.indexOf(close))}`);
}
await preflight.dispose();
await delay.stop();

const token = await scene.deploy(Token, ["Token", "TKN", 18]);
await scene.send(owner, { to: token, data: calldata(Token, "mint", [from, 1_000n]) });
await scene.mine();
const transfer = { to: token, data: calldata(Token, "transfer", [other.address, 5n]) };
const near = createPublicClient({ chain: client.chain, transport: http(scene.url) });
const own = createPreflight({ url: scene.url });
const beside = [
  [
    "viem `simulateCalls` with asset changes",
    () => near.simulateCalls({ account: from, calls: [transfer], traceAssetChanges: true }),
  ],
  ["`scan`", () => own.scan({ from, ...transfer })],
  ["`preflight`", () => own.run({ from, ...transfer })],
] as const;
const spent = beside.map(() => [] as Array<number>);
for (let turn = -30; turn < 120; turn++)
  for (const [place, [, ask]] of beside.entries()) {
    const before = process.cpuUsage();
    await ask();
    const { user, system } = process.cpuUsage(before);
    if (turn >= 0) spent[place]?.push((user + system) / 1000);
  }
const [base = Number.NaN, ...quartiles] = spent.map((each) => each.toSorted((a, b) => a - b)[each.length >> 2] ?? 0);
console.log(`\nms of client CPU of an ERC-20 transfer (lower quartile of 120, in turns), and beside viem's:`);
for (const [place, cpu] of [base, ...quartiles].entries())
  console.log(`${beside[place]?.[0]}: ${cpu.toFixed(1)}, ${(cpu / base).toFixed(2)}`);
await own.dispose();
await scene.stop();
