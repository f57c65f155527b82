/**
 * What it costs until the first report is there, beside the third edition (commit dcb1dc8): the import of
 * `evm-preflight/promise`, and with it the first ERC-20 preflight, each time in a fresh process, both builds in turns.
 * Client CPU, heap and resident memory by quartiles. Of memory only what is above a bare Node is the library's.
 *
 *     npm run bench:start              (BENCH_ITERATIONS=n for other than 10; BENCH_COMMIT for another commit)
 */
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createPublicClient, createWalletClient, encodeDeployData, encodeFunctionData, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { keys, startNode } from "../examples/node.js";
import { Token } from "../test/contracts/artifacts.js";
import { buildEarlier, commit, root } from "./earlier.js";

const iterations = Number(process.env["BENCH_ITERATIONS"] ?? 10);
const folder = buildEarlier();
const node = await startNode();

const account = privateKeyToAccount(keys[0]);
const client = createPublicClient({ chain: foundry, transport: http(node.url) });
const wallet = createWalletClient({ chain: foundry, transport: http(node.url), account });
const mined = async (hash: `0x${string}`) => {
  await client.request({ method: "evm_mine", params: [] } as never);
  return client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
};
const { contractAddress: to } = await mined(
  await wallet.sendTransaction({ data: encodeDeployData({ ...Token, args: ["Token", "TKN", 18] } as never) }),
);
const mint = { abi: Token.abi, functionName: "mint", args: [account.address, 1_000n] } as never;
await mined(await wallet.sendTransaction({ to: to ?? null, data: encodeFunctionData(mint) }));

/** What a fresh process says of itself: ms of CPU since it began to import, MiB in use. */
const program = (door: string) => `
  const before = process.cpuUsage();
  const rows = [];
  const tell = () => {
    const { user, system } = process.cpuUsage(before);
    const { rss, heapUsed } = process.memoryUsage();
    rows.push([(user + system) / 1e3, rss / 2 ** 20, heapUsed / 2 ** 20]);
  };
  tell();
  const { createPreflight } = await import(${JSON.stringify(door)});
  tell();
  const client = createPreflight({ url: ${JSON.stringify(node.url)} });
  const report = await client.preflight({
    ...{ from: "${account.address}", to: "${to}", abi: ["function transfer(address, uint256) returns (bool)"] },
    ...{ functionName: "transfer", args: ["0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", 5n] },
  });
  tell();
  if (report.verdict !== "ready") throw new Error(report.because);
  console.log(JSON.stringify(rows));
  process.exit(0);`;

const run = promisify(execFile);
/** CPU, resident memory and heap: of a bare Node, after the import, after the first report. */
const measured = async (at: string): Promise<ReadonlyArray<ReadonlyArray<number>>> => {
  const door = pathToFileURL(join(at, "dist/promise.js")).href;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program(door)], { cwd: root });
  return JSON.parse(stdout) as ReadonlyArray<ReadonlyArray<number>>;
};

const builds = [folder, root].map((at) => ({ at, samples: [] as Array<ReadonlyArray<ReadonlyArray<number>>> }));
for (let turn = -1; turn < iterations; turn++)
  for (const { at, samples } of turn % 2 === 0 ? builds : builds.toReversed()) {
    const sample = await measured(at);
    if (turn >= 0) samples.push(sample);
  }

const quartiles = (numbers: ReadonlyArray<number>): ReadonlyArray<number> => {
  const sorted = numbers.toSorted((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((part) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN);
};
console.log(
  `Node ${process.version}, ${commit} and this build in turns, ${iterations} each, a fresh process for each\n`,
);
console.log(`${"".padEnd(34)}${commit.padStart(22)}${"now".padStart(22)}${"ratio".padStart(8)}`);
for (const [stage, when] of [
  [1, "import"],
  [2, "import and first report"],
] as const)
  for (const [place, what] of ["ms CPU", "MiB RSS", "MiB heap"].entries()) {
    const [old = [], now = []] = builds.map(({ samples }) =>
      quartiles(samples.map((rows) => (rows[stage]?.[place] ?? Number.NaN) - (rows[0]?.[place] ?? Number.NaN))),
    );
    const told = [old, now].map((numbers) =>
      numbers
        .map((number) => number.toFixed(0))
        .join(" / ")
        .padStart(22),
    );
    const ratio = ((now[0] ?? Number.NaN) / (old[0] ?? Number.NaN)).toFixed(2);
    console.log(`${`${when}, ${what}`.padEnd(34)}${told.join("")}${ratio.padStart(8)}`);
  }
node.stop();
rmSync(folder, { recursive: true, force: true });
