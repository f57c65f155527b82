/** Bounded in everything: what a contract, a dapp or a node makes long ends in time and within its memory, and says what was cut. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { concatHex, numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { share } from "../harness/parts.js";
import { startProxy } from "../harness/proxy.js";
import { startServer, type Asked } from "../harness/server.js";
import type { Done, Task } from "./bounded/worker.js";
import { nobody, owner, startAnvilScene, type Scene } from "./scene.js";
import { creation } from "../harness/creation.js";

let directory = "";
let scene: Scene;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "bounded-"));
  await build({
    ...{ entryPoints: [fileURLToPath(new URL("bounded/worker.ts", import.meta.url))] },
    ...{ outfile: join(directory, "worker.mjs"), bundle: true, platform: "node", format: "esm", target: "node20" },
    ...{ conditions: ["@evm-preflight/source"], external: ["undici"], logLevel: "error" },
  });
  scene = await startAnvilScene();
});
afterAll(async () => {
  await scene.stop();
  rmSync(directory, { recursive: true });
});

/** The deadline of every run, far off even on a busy machine: what is bounded ends by its bounds. */
const deadlineMs = 120_000;
/** How long a test may take, with its process and its scene. */
const timeout = 150_000;
/** The deadline where a user names none: the work of any run fits into it. */
const usualMs = 10_000;

/** Runs one preflight in a process of its own, with a heap of so many MiB where that is said. */
const run = async (task: Partial<Task> & Pick<Task, "input">, heapMiB: number | null = null): Promise<Done> => {
  const file = join(directory, "task.json");
  writeFileSync(file, JSON.stringify({ url: scene.url, deadlineMs, batch: false, abiItems: 0, ...task }));
  const flags = heapMiB === null ? [] : [`--max-old-space-size=${heapMiB}`];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, join(directory, "worker.mjs"), file]);
  return JSON.parse(stdout) as Done;
};

const word = (value: number | bigint): Hex => numberToHex(value, { size: 32 });
/** `multicall(bytes[])` of which every pointer points to the same bytes. */
const bomb = (pointers: number, blob: Hex): Hex =>
  concatHex([
    ...["0xac9650d8" as const, word(32), word(pointers)],
    ...Array.from({ length: pointers }, () => word(pointers * 32)),
    ...[word((blob.length - 2) / 2), blob],
  ]);
const filled = (bytes: number): Hex => `0x${"ab".repeat(bytes)}`;

const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const approvalTopic = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
/** Emits so many `Approval` events, each to another spender, whatever it is called with. */
const approver = (count: number): Hex => {
  const topic = approvalTopic.slice(2);
  // PUSH2 count, loop: JUMPDEST, LOG3(0, 32, topic, caller, i << 96), i - 1, until it is zero
  const runtime = `61${count.toString(16).padStart(4, "0")}5b60015f528060601b600f1c337f${topic}60205fa360019003806003575000`;
  return creation(runtime);
};

/** Emits so many transfers of tokens to the caller, an id each, and then asks for the time. */
const timed = (count: number): Hex =>
  creation(
    `61${count.toString(16).padStart(4, "0")}5b803330${`7f${transferTopic.slice(2)}`}5f5fa46001900380600357504250`,
  );

const padded = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`;

interface Simulated {
  readonly calls: ReadonlyArray<{ readonly logs: ReadonlyArray<unknown> }>;
}
/** Changes what the user's call did, which stands between two of the witness. */
const inCalls = (change: (call: object) => object) => (result: unknown) =>
  (result as ReadonlyArray<Simulated>).map(({ calls, ...block }) => ({
    ...block,
    calls: calls.map((call, index) => (index === 1 && calls.length > 2 ? change(call) : call)),
  }));

const mebibyte = 1_048_576;
/** JSON of about 31 MiB, by its shape. */
const shapes: Readonly<Record<string, () => string>> = {
  "logs of a block": () => {
    const log = JSON.stringify({ address: nobody, topics: [word(1)], data: filled(200), blockNumber: "0x1" });
    return `[${Array.from({ length: Math.floor((31 * mebibyte) / (log.length + 1)) }, () => log).join()}]`;
  },
  "one string": () => `"0x${"ab".repeat(15 * mebibyte)}"`,
  "small numbers": () => `[${"1,".repeat(15 * mebibyte)}1]`,
  "empty objects": () => `[${"{},".repeat(10 * mebibyte)}{}]`,
  "arrays in arrays": () => "[".repeat(15 * mebibyte) + "]".repeat(15 * mebibyte),
};
const from = owner.address;

/**
 * By its bounds and not by the deadline, with work that fits into `mostMs`, in its memory, with a finding of which `codes` are
 * some, and a text that somebody can read. Work is time on a processor: what else the machine does is not of it.
 */
const expectBounded = (done: Done, codes: ReadonlyArray<string>, mostMs = usualMs): void => {
  expect(done.codes).toEqual(expect.arrayContaining([...codes]));
  expect(done.codes).not.toContain("Timeout/unavailable");
  expect(done.verdict).not.toBe("ready");
  expect(done.cpuMs).toBeLessThan(mostMs);
  expect(done.grownMiB).toBeLessThan(300);
  expect(done.textSize).toBeLessThan(200_000);
};

describe("huge calldata, events and ABIs", { timeout }, () => {
  let taker: Hex;
  beforeAll(async () => {
    taker = await scene.deploy({ abi: [], bytecode: "0x60015ff3" });
  });
  it.each([
    ["one blob that 2,000 pointers share", bomb(2_000, filled(60_000))],
    ["bombs within bombs", bomb(900, bomb(900, bomb(500, filled(30_000))))],
  ])("end in CalldataCut within the limits: %s", async (_, data) => {
    expectBounded(await run({ input: { from, to: taker, data } }), ["CalldataCut/unavailable"]);
  });

  it("with 4,000 approvals beside 25 kB of batches, and an ABI of 20,000 items, stay within the limits", async () => {
    const to = await scene.deploy({ abi: [], bytecode: approver(4_000) });
    const done = await run({ input: { from, to, data: bomb(100, filled(22_000)) }, abiItems: 20_000 });
    expectBounded(done, ["CalldataCut/unavailable", "FindingsCut/warning", "PartiesCut/warning"]);
  });
});

describe("a call with 5,000 events", { timeout }, () => {
  let to: Hex;
  beforeAll(async () => {
    to = await scene.deploy({ abi: [], bytecode: timed(5_000) });
  });
  it("is judged where every simulated block repeats them", async () => {
    const done = await run({ input: { from, to, data: "0x01" } });
    expectBounded(done, ["PartiesCut/warning"]);
    expect([done.verdict, done.codes.filter((code) => code.startsWith("NodeLimit"))]).toEqual(["caution", []]);
  });

  it("fits into a heap of 128 MiB where each simulated block has others", async () => {
    const proxy = await startProxy({ target: scene.url });
    let salt = 0;
    const other = (call: object) => {
      salt += 1;
      const logs = (call as { readonly logs: ReadonlyArray<{ readonly topics: ReadonlyArray<string> }> }).logs;
      return {
        ...{
          ...call,
          logs: logs.map((log, id) => ({ ...log, topics: [...log.topics.slice(0, 3), word(salt * 8_192 + id)] })),
        },
      };
    };
    const withoutBlooms = (result: unknown) =>
      inCalls(other)((result as ReadonlyArray<object>).map((block) => ({ ...block, logsBloom: null })));
    proxy.fail("eth_simulateV1", { kind: "map", map: withoutBlooms });
    const done = await run({ url: proxy.url, input: { from, to, data: "0x01" } }, 128);
    await proxy.stop();
    expectBounded(done, ["ChanceDependent/warning"]);
  });
});

describe("a report on a hostile node", { timeout }, () => {
  let taker: Hex;
  beforeAll(async () => {
    taker = await scene.deploy({ abi: [], bytecode: "0x60015ff3" });
  });
  /** What comes of a call whose records a node changed. */
  const changed = async (change: (call: object) => object, estimate: object | null): Promise<Done> => {
    const proxy = await startProxy({ target: scene.url });
    if (estimate !== null) proxy.fail("eth_estimateGas", { kind: "error", error: estimate });
    proxy.fail("eth_simulateV1", { kind: "map", map: inCalls(change) });
    const done = await run({ url: proxy.url, input: { from, to: taker, data: "0x01" } });
    await proxy.stop();
    return done;
  };

  it.each([
    [1, "ExecutionReverted/blocker"],
    [10, "NodeLimitExceeded/unavailable"],
  ])("stays bounded where it reverts with %i MB", async (size, code) => {
    const error = { code: 3, message: "execution reverted", data: filled(size * 1_000_000) };
    const done = await changed((call) => ({ ...call, status: "0x0", returnData: "0x", error }), error);
    expectBounded(done, [code, "NodeLimitExceeded/info"]);
  });

  it.each([
    [3, "PartiesCut/warning"],
    [9, "NodeLimitExceeded/unavailable"],
    [30, "NodeLimitExceeded/unavailable"],
  ])("stays bounded where it adds %i MB of approvals to a call's events", async (size, code) => {
    const logs = Array.from({ length: size * 1_800 }, (_, index) => ({
      ...{ address: numberToHex(2n ** 159n + BigInt(index), { size: 20 }), data: word(index), logIndex: "0x0" },
      topics: [approvalTopic, padded(from), word(2n ** 158n + BigInt(index))],
      ...{ blockHash: word(0), blockNumber: "0x1", transactionHash: word(1), transactionIndex: "0x0", removed: false },
    }));
    expectBounded(await changed((call) => ({ ...call, logs }), null), [code]);
  });

  it.each(
    Object.keys(shapes).flatMap((shape, index) =>
      share(["alone", "in batches"] as const, index).map((how) => [shape, how] as const),
    ),
  )("stays bounded where every answer has 31 MB: %s, asked %s", async (shape, how) => {
    const text = shapes[shape]?.() ?? "";
    const answerOf = ({ id }: Asked) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`;
    const node = await startServer((body, _request, response) => {
      const asked = JSON.parse(body) as Asked | ReadonlyArray<Asked>;
      response.setHeader("content-type", "application/json");
      response.end(Array.isArray(asked) ? `[${answerOf(asked[0] as Asked)}]` : answerOf(asked as Asked));
    });
    const done = await run({
      url: node.url,
      input: { from, to: nobody, data: "0x01" },
      batch: how !== "alone",
    });
    await node.stop();
    expectBounded(done, ["NodeLimitExceeded/unavailable"], 5_000);
  });
});
