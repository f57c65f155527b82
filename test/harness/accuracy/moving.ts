/**
 * Nodes whose head, or whose pending state, moves while a report is being made: blocks of one and two seconds, some
 * way off, and honest transactions on them. What counts is how many of them nothing can be said of.
 */
import * as Effect from "effect/Effect";
import * as Preflight from "../../../src/Preflight.js";
import type { Report } from "../../../src/Report.js";
import * as Rpc from "../../../src/Rpc.js";
import * as artifacts from "../../contracts/artifacts.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../anvil.js";
import { findGethOrWarn, startGethDev } from "../geth.js";
import { findOpGethOrWarn, startOpGeth } from "../opGeth.js";
import { startProxy, type Proxy } from "../proxy.js";
import { sceneOn } from "../../witness/scene.js";
import { encodeFunctionData, type Abi, type Hex } from "viem";

/** A node that moves by itself. */
export interface Moving {
  /** As it is reached through the delay. */
  readonly proxy: Proxy;
  /** How it is asked. */
  readonly options: Preflight.Options;
  /** An honest transaction of each kind. */
  readonly inputs: Readonly<Record<Kind, object>>;
  readonly stop: () => Promise<void>;
}

export const movingKinds = ["transfer", "token", "swap", "vesting", "gas-reading"] as const;
export type Kind = (typeof movingKinds)[number];

const call = (artifact: { readonly abi: Abi }, functionName: string, args: ReadonlyArray<unknown> = []): Hex =>
  encodeFunctionData({ abi: artifact.abi, functionName, args: [...args] });

const [{ address: deployer }, { address: somebody }, { address: sender }, { address: neighbour }] = accounts;

/** Deploys what is called, all of it ready for the sender. */
const furnish = async (
  url: string,
  chainId: number,
  mine: () => Promise<unknown>,
): Promise<Readonly<Record<Kind, object>>> => {
  const scene = sceneOn(url, chainId, mine);
  const token = await scene.deploy(artifacts.Token, ["Silver", "SLV", 18]);
  const gold = await scene.deploy(artifacts.Token, ["Gold", "GLD", 18]);
  const pool = await scene.deploy(artifacts.Swap, [token, gold]);
  const vesting = await scene.deploy(artifacts.Vesting, [gold, 1_000n]);
  const reader = await scene.deploy(artifacts.GasReader);
  const mint = (at: Hex, to: Hex) => ({ to: at, data: call(artifacts.Token, "mint", [to, 10n ** 24n]) });
  await scene.send(mint(token, sender), mint(token, pool), mint(gold, pool), mint(token, deployer));
  const approve = call(artifacts.Token, "approve", [pool, 10n ** 24n]);
  // the sender's own: a storage override would be another state
  const { privateKeyToAccount } = await import("viem/accounts");
  const signer = privateKeyToAccount(accounts[2].privateKey);
  const raw = await signer.signTransaction({
    ...{ type: "eip1559", chainId, to: token, data: approve, nonce: 0, gas: 100_000n },
    ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1n },
  });
  await rawRequest(url, "eth_sendRawTransaction", [raw]);
  await mine();
  const from = sender;
  return {
    transfer: { from, to: somebody, value: 1n },
    token: { from, to: token, data: call(artifacts.Token, "transfer", [somebody, 5n]) },
    swap: { from, to: pool, data: call(artifacts.Swap, "swap", [10n ** 18n, 1n, 4_000_000_000n]) },
    vesting: { from, to: vesting, data: call(artifacts.Vesting, "release") },
    "gas-reading": { from, to: reader, data: call(artifacts.GasReader, "record") },
  };
};

const every = (ms: number, work: () => Promise<unknown>): (() => Promise<void>) => {
  let isOpen = true;
  const turning = (async () => {
    while (isOpen) {
      const due = new Promise((resolve) => setTimeout(resolve, ms));
      await work().catch(() => undefined);
      await due;
    }
  })();
  return async () => {
    isOpen = false;
    await turning;
  };
};

/** How often it moves, and how far off it is; ms. */
export interface Pace {
  readonly blockMs: number;
  readonly delayMs: number;
}

/** A geth that mines through its engine API. */
const gethAt =
  (bin: string, { blockMs, delayMs }: Pace) =>
  async (): Promise<Moving> => {
    const node = await startGethDev(bin);
    const inputs = await furnish(node.url, 1337, () => node.mine());
    const quiet = every(blockMs, () => node.mine());
    const proxy = await startProxy({ target: node.url, delayMs });
    const stop = async () => {
      await quiet();
      await proxy.stop();
      await node.stop();
    };
    return { proxy, inputs, options: {}, stop };
  };

/** An anvil that mines by itself. */
const anvilAt =
  ({ blockMs, delayMs }: Pace) =>
  async (): Promise<Moving> => {
    const node = await startAnvil({ noMining: true });
    const inputs = await furnish(node.url, 31337, () => mineAnvil(node.url));
    await rawRequest(node.url, "evm_setIntervalMining", [blockMs / 1_000]);
    const proxy = await startProxy({ target: node.url, delayMs });
    const stop = async () => {
      await proxy.stop();
      await node.stop();
    };
    return { proxy, inputs, options: {}, stop };
  };

/** Two hundred milliseconds between changes of the pending state, two seconds between blocks. */
const preconfirmedMs = 200;

/** A node whose pending state is ordered before us, and grows by somebody's transfer every 200 ms. */
const preconfirmed =
  (
    start: () => Promise<{ url: string; chainId: number; mine: () => Promise<unknown>; stop: () => Promise<void> }>,
    delayMs: number,
  ) =>
  async (): Promise<Moving> => {
    const node = await start();
    const inputs = await furnish(node.url, node.chainId, node.mine);
    const { privateKeyToAccount } = await import("viem/accounts");
    const signer = privateKeyToAccount(accounts[3].privateKey);
    let nonce = 0;
    const grow = every(preconfirmedMs, async () => {
      const raw = await signer.signTransaction({
        ...{ type: "eip1559", chainId: node.chainId, to: neighbour, value: 1n, nonce, gas: 21_000n },
        ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1n },
      });
      await rawRequest(node.url, "eth_sendRawTransaction", [raw]);
      nonce++;
    });
    const quiet = every(2_000, node.mine);
    const proxy = await startProxy({ target: node.url, delayMs });
    const stop = async () => {
      await grow();
      await quiet();
      await proxy.stop();
      await node.stop();
    };
    return { proxy, inputs, options: { pending: "preconfirmed" }, stop };
  };

const anvilOnDemand = async () => {
  const node = await startAnvil({ noMining: true });
  return { ...node, chainId: 31337, mine: () => mineAnvil(node.url) };
};

const paces: ReadonlyArray<Pace> = [1_000, 2_000].flatMap((blockMs) =>
  [100, 300].map((delayMs) => ({ blockMs, delayMs })),
);
const named = ({ blockMs, delayMs }: Pace) => `blocks of ${blockMs / 1_000} s, ${delayMs} ms away`;

const geth = findGethOrWarn("moving heads on geth");
const opGeth = findOpGethOrWarn("moving pending state on the OP stack");

/** Every bed whose node is installed, by name. */
export const movingBeds: ReadonlyArray<readonly [name: string, start: () => Promise<Moving>]> = [
  ...(geth === null ? [] : paces.map((pace) => [`geth, ${named(pace)}`, gethAt(geth, pace)] as const)),
  ...paces.map((pace) => [`anvil, ${named(pace)}`, anvilAt(pace)] as const),
  ...[100, 300].map(
    (delayMs) => [`anvil, pre-confirmed, ${delayMs} ms away`, preconfirmed(anvilOnDemand, delayMs)] as const,
  ),
  ...(opGeth === null
    ? []
    : [
        [
          "op-geth, pre-confirmed, 100 ms away",
          preconfirmed(() => startOpGeth(opGeth, { generation: "isthmus", computesPending: true }), 100),
        ] as const,
      ]),
];

/** The reports of so many honest transactions of a kind, some at a time. */
export const reportsOn = async (
  { proxy, inputs, options }: Moving,
  kind: Kind,
  count: number,
  atOnce = 4,
): Promise<ReadonlyArray<Report>> => {
  let left = count;
  const reports: Array<Report> = [];
  const lane = async () => {
    while (left-- > 0) {
      const asked = Preflight.preflight(inputs[kind] as never, options);
      reports.push(await Effect.runPromise(Effect.provide(asked, Rpc.layerHttp(proxy.url))));
      // why: not always at the same moment of a block
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return reports;
};

/** What nothing can be said of. */
export const isLost = ({ verdict, stage }: Report): boolean => verdict === "unknown" || stage !== "proven";

/** The most of a hundred that may be unknown where nothing but the head moves. */
const mostLost = 0.01;

/** Markdown, a row for each bed whose name has `wanted` in it; and whether more are unknown, or blocked, than may be. */
export const movingTable = async (
  count: number,
  wanted: string,
  tell: (line: string) => void,
): Promise<{ readonly table: string; readonly isFailed: boolean }> => {
  const rows: Array<string> = [];
  let isFailed = false;
  for (const [name, start] of movingBeds.filter(([bed]) => bed.includes(wanted))) {
    const on = await start();
    const cells: Array<string> = [];
    let slowest = 0;
    try {
      for (const kind of movingKinds) {
        const reports = await reportsOn(on, kind, count);
        const blocked = reports.filter(({ verdict }) => verdict === "blocked");
        const lost = reports.filter((report) => !blocked.includes(report) && isLost(report));
        const isToldOnly = name.includes("pre-confirmed");
        if (blocked.length > 0 || (!isToldOnly && lost.length > count * mostLost)) isFailed = true;
        cells.push(`${lost.length}${blocked.length > 0 ? ` (${blocked.length} blocked)` : ""}`);
        slowest = Math.max(slowest, ...reports.map(({ ledger }) => ledger.ms));
        for (const { verdict, ledger, findings } of [...lost, ...blocked])
          tell(
            `${name}, ${kind}: ${verdict} in ${ledger.rounds} rounds: ${findings.map(({ code }) => code).join(", ")}`,
          );
      }
    } finally {
      await on.stop();
    }
    rows.push(`| ${name} | ${cells.join(" | ")} | ${slowest} ms |`);
    tell(rows.at(-1) ?? "");
  }
  const head = [`unknown of ${count}`, ...movingKinds, "slowest"];
  return {
    table: [`| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`, ...rows].join("\n"),
    isFailed,
  };
};
