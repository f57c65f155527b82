/**
 * How long a report holds the event loop: the worst inputs that a contract, a dapp or a node can make, each asked of anvil over
 * HTTP, then rendered. Of each the longest stretch between two turns of the event loop, in ms of the main thread's CPU, which other
 * programs do not lengthen, and on the clock; and how much CPU all of it took.
 *
 *     npm run bench:stalls              (the longest allowed is 200 ms)
 *     npm run bench:stalls -- ids       (only the inputs whose name has this in it)
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import * as Effect from "effect/Effect";
import {
  concatHex,
  createPublicClient,
  createWalletClient,
  http,
  numberToHex,
  size,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { keys, startNode } from "../examples/node.js";
import { cpu } from "../test/harness/cpu.js";
import * as Preflight from "../src/Preflight.js";
import * as Report from "../src/Report.js";
import { Rpc } from "../src/Rpc.js";
import * as RpcModule from "../src/Rpc.js";

const only = process.argv[2] ?? "";
const alice = privateKeyToAccount(keys[0]);
const from = alice.address;
const node = await startNode();
const client = createPublicClient({ chain: foundry, transport: http(node.url) });
const wallet = createWalletClient({ chain: foundry, transport: http(node.url), account: alice });
const deploy = async (runtime: string): Promise<Address> => {
  const code = runtime.length / 2;
  const hash = await wallet.sendTransaction({
    data: `0x61${code.toString(16).padStart(4, "0")}600e60003961${code.toString(16).padStart(4, "0")}6000f3${runtime}`,
  });
  await fetch(node.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] }),
  });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  if (contractAddress == null) throw new Error("nothing was deployed");
  return contractAddress;
};

const push2 = (value: number): string => `61${value.toString(16).padStart(4, "0")}`;
const push3 = (value: number): string => `62${value.toString(16).padStart(6, "0")}`;
/** `body` once for each of `count`, which is on top of the stack and stays there, from `count` down to 1. */
const loop = (count: number, body: string): string =>
  `${push2(count)}5b${body}60019003806003570050`.replace(/0050$/, "50");
const topic = {
  transfer: "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  approval: "8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",
  batch: "4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb",
};
const [me, caller, nothing] = ["30", "33", "5f5f"];
/** One ERC-721 transfer for each id. */
const tokens = (count: number, sender: string, receiver: string): string =>
  loop(count, `80${receiver}${sender}7f${topic.transfer}${nothing}a4`);
/** One ERC-1155 batch of so many ids, one of each. */
const batch = (count: number, sender: string, receiver: string): string =>
  loop(count, `8080${"60051b"}60400152600181${"60051b"}${push3(0x60 + 32 * count)}0152`) +
  `60405f52${push3(0x60 + 32 * count)}602052${push2(count)}604052${push2(count)}${push3(0x60 + 32 * count)}52` +
  `${receiver}${sender}${caller}7f${topic.batch}${push3(0x80 + 64 * count)}5fa400`;
/** Spenders in turn: `i << 96 >> 15`, the allowance too. */
const approvals = (count: number): string => loop(count, `805f528060601b600f1c${caller}7f${topic.approval}60205fa3`);

const word = (value: number | bigint): Hex => numberToHex(value, { size: 32 });
const filled = (bytes: number): Hex => `0x${"ab".repeat(bytes)}`;
/** `multicall(bytes[])` of which every pointer points to the same bytes. */
const bomb = (pointers: number, blob: Hex): Hex =>
  concatHex([
    ...["0xac9650d8" as const, word(32), word(pointers)],
    ...Array.from({ length: pointers }, () => word(pointers * 32)),
    ...[word(size(blob)), blob],
  ]);
/** Multicall3's `aggregate3` of so many calls of `to` that may fail. */
const aggregate = (count: number, to: Address): Hex =>
  concatHex([
    ...["0x82ad56cb" as const, word(32), word(count)],
    ...Array.from({ length: count }, (_, index) => word(32 * count + 192 * index)),
    ...Array.from({ length: count }, (_, index) =>
      concatHex([word(BigInt(to)), word(1), word(96), word(4), numberToHex(index, { size: 32 }), word(0)]),
    ),
  ]);

const signed = async (count: number) => {
  const list: Array<object> = [];
  for (let place = 0; place < count; place++) {
    const { yParity = 0, ...one } = await privateKeyToAccount(word(place + 1_000)).signAuthorization({
      ...{ address: from, chainId: foundry.id, nonce: 0 },
    });
    list.push({ address: one.address, chainId: one.chainId, nonce: one.nonce, r: one.r, s: one.s, yParity });
  }
  return list;
};

interface Input {
  readonly name: string;
  readonly input: () => Promise<unknown>;
  readonly options?: Preflight.Options;
  /** What a node makes of the logs of the user's call. */
  readonly logs?: ReadonlyArray<unknown>;
}
const calling =
  (runtime: string, more: object = {}) =>
  async () => ({ from, to: await deploy(runtime), data: "0x01", ...more });
const stop = "60015ff3";
const fails = "5f5ffd";
const padded = (address: string): Hex => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`;
const logs = Array.from({ length: 5_400 }, (_, index) => ({
  ...{ address: numberToHex(2n ** 159n + BigInt(index), { size: 20 }), data: word(index), logIndex: "0x0" },
  topics: [`0x${topic.approval}`, padded(from), word(2n ** 158n + BigInt(index))],
  ...{ blockHash: word(0), blockNumber: "0x1", transactionHash: word(1), transactionIndex: "0x0", removed: false },
}));
const moves = logs.map((log, index) => ({
  ...{ ...log, topics: [`0x${topic.transfer}`, padded(from), word(2n ** 158n + BigInt(index))] },
}));
const listAbi = (type: string) =>
  [{ type: "function", name: "all", stateMutability: "view", inputs: [], outputs: [{ name: "", type }] }] as const;

const inputs: ReadonlyArray<Input> = [
  { name: "ETH transfer", input: async () => ({ from, to: `0x${"11".repeat(20)}`, value: 1n }) },
  { name: "5,200 ids that leave, an event each", input: calling(tokens(5_200, caller, me)) },
  { name: "5,200 ids that come, an event each", input: calling(tokens(5_200, me, caller)) },
  { name: "5,200 ids that leave, one event", input: calling(batch(5_200, caller, me)) },
  { name: "12,000 ids that come, one event", input: calling(batch(12_000, me, caller)) },
  { name: "1,000 ids that leave, in five worlds", input: calling(`${tokens(1_000, caller, me)}4250`) },
  { name: "5,200 ids that leave, in five worlds", input: calling(`${tokens(5_200, caller, me)}4250`) },
  { name: "1,000 approvals", input: calling(approvals(1_000)) },
  { name: "4,000 approvals", input: calling(approvals(4_000)) },
  { name: "5,400 approvals of tokens", input: calling(stop), logs },
  { name: "5,400 transfers of tokens", input: calling(stop), logs: moves },
  { name: "38,000 logs of nothing", input: calling(loop(38_000, `${nothing}a0`)) },
  { name: "20,000 logs of a topic", input: calling(loop(20_000, `80${nothing}a1`)) },
  { name: "1 MB log", input: calling(`${push3(1_000_000)}5fa000`) },
  {
    name: "640 authorisations",
    input: async () => ({ from, to: from, data: "0x", authorizationList: await signed(640) }),
  },
  { name: "1 MB returned", input: calling(`${push3(1_000_000)}5ff3`) },
  {
    ...{ name: "1 MB returned as uint256[]", options: { abis: [listAbi("uint256[]")] } },
    input: calling(`60205f52${push3(31_000)}602052${push3(1_000_000)}5ff3`, { data: "0xb1e2a3f5" }),
  },
  { name: "1 MB reverted", input: calling(`${push3(1_000_000)}5ffd`) },
  {
    name: "a blob, 2,000 pointers to it",
    input: async () => ({ from, to: await deploy(stop), data: bomb(2_000, filled(60_000)) }),
  },
  {
    name: "bombs within bombs",
    input: async () => ({ from, to: await deploy(stop), data: bomb(900, bomb(900, bomb(500, filled(30_000)))) }),
  },
  {
    name: "128 KiB of calldata",
    input: async () => ({ from, to: await deploy(stop), data: `0x${"c0ffee00".repeat(32_768)}` }),
  },
  {
    name: "500 calls inside that may fail",
    input: async () => ({ from, to: await deploy(stop), data: aggregate(500, await deploy(fails)) }),
  },
  {
    name: "10,000 calls inside, traced",
    input: async () => ({
      ...{ from, to: await deploy(loop(10_000, `5f5f5f5f5f73${(await deploy(fails)).slice(2)}620fffff${"f150"}`)) },
      data: aggregate(400, from),
    }),
  },
  {
    name: "bundle of 64",
    input: async () => {
      const to = await deploy(tokens(80, caller, me));
      return Array.from({ length: 64 }, () => ({ from, to, data: "0x01" }));
    },
  },
];

/** What a call of the user's did, which stands between two of the witness, with these logs. */
const inCalls = (answer: unknown, logs: ReadonlyArray<unknown>): unknown =>
  (answer as ReadonlyArray<{ readonly calls: ReadonlyArray<object> }>).map(({ calls, ...block }) => ({
    ...{ ...block, calls: calls.map((call, index) => (index === 1 && calls.length > 2 ? { ...call, logs } : call)) },
  }));

/** The longest stretch of `work`, in ms of CPU and of the clock, and all its CPU. */
const watched = async <A>(work: () => Promise<A>) => {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let [longest, last, isDone] = [0, cpu(), false];
  const turn = () => {
    const now = cpu();
    [longest, last] = [Math.max(longest, now - last), now];
    if (!isDone) setTimeout(turn, 1);
  };
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const begun = (last = cpu());
  setTimeout(turn, 0);
  const value = await work();
  await new Promise((resolve) => setImmediate(resolve));
  isDone = true;
  turn();
  delay.disable();
  return { value, longest, clock: delay.max / 1e6, cpu: cpu() - begun };
};

const layer = RpcModule.layerHttp(node.url);
const asked = ({ options, logs }: Input, input: unknown): Promise<Report.Report> =>
  Effect.runPromise(
    Effect.provide(
      logs === undefined
        ? Preflight.preflight(input as never, { deadline: 120_000, ...options })
        : Effect.updateService(Preflight.preflight(input as never, { deadline: 120_000, ...options }), Rpc, (real) =>
            Rpc.of({
              ...real,
              request: (method, params) =>
                Effect.map(real.request(method, params), (answer) =>
                  method === "eth_simulateV1" ? inCalls(answer, logs) : answer,
                ),
            }),
          ),
      layer,
    ),
  );
const forms = {
  text: (report: Report.Report) => Report.toText(report, { full: true }),
  markdown: (report: Report.Report) => Report.toMarkdown(report, { full: true }),
  html: (report: Report.Report) => Report.toHtml(report),
  svg: (report: Report.Report) => Report.toSvg(report),
  json: (report: Report.Report) => JSON.stringify(Report.toJson(report)),
  summary: (report: Report.Report) => Report.summary(report),
};

console.log(`Node ${process.version}; the longest stretch in ms of CPU (of the clock), all CPU in ms\n`);
const columns = ["preflight", "all", ...Object.keys(forms)].map((name) => name.padStart(name === "preflight" ? 16 : 9));
console.log(`${"".padEnd(38)}${columns.join("")}`);
// the first run compiles what every other one uses
for (const one of [inputs[0], ...inputs.filter(({ name }) => name.includes(only))]) {
  if (one === undefined) continue;
  const input = await one.input();
  const { value: report, ...stretch } = await watched(() => asked(one, input));
  const rendered: Array<string> = [];
  for (const render of Object.values(forms)) {
    const begun = cpu();
    render(report);
    rendered.push(
      Math.round(cpu() - begun)
        .toString()
        .padStart(9),
    );
  }
  const preflight = `${Math.round(stretch.longest)} (${Math.round(stretch.clock)})`.padStart(16);
  const codes = [...new Set(report.findings.map(({ code }) => code))].slice(0, 4).join(" ");
  console.log(
    `${one.name.padEnd(38)}${preflight}${Math.round(stretch.cpu).toString().padStart(9)}${rendered.join("")}  ${report.verdict} ${codes}`,
  );
}
node.stop();
process.exit(0);
