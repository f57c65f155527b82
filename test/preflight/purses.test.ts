/** Nodes that have less gas for one simulation than the transactions ask for. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Hex } from "viem";
import * as artifacts from "../contracts/artifacts.js";
import { tallyOf, brancher, word } from "../harness/accuracy/purses.js";
import { findGethOrWarn } from "../harness/geth.js";
import { liar } from "../harness/lies.js";
import { creation } from "../harness/creation.js";
import {
  calldata,
  codesOf,
  layerOf,
  owner,
  preflight,
  preflightOn,
  scan,
  scanOn,
  startAnvilScene,
  startGethScene,
  type Scene,
} from "./scene.js";

const bin = findGethOrWarn("purses");
const million = 1_000_000n;
/** Uses so much gas, and behaves otherwise with less than `needed`. */
const spending = (to: Hex, burnt: bigint, more: object = {}, needed = 0n) => ({
  ...{ from: owner.address, to, data: `0x${word(burnt)}${word(needed)}` as const },
  ...more,
});

describe.runIf(bin !== null)("a gas cap of 17 million for a whole request, on geth", () => {
  let scene: Scene;
  let to: Hex;
  beforeAll(async () => {
    scene = await startGethScene(bin ?? "", { args: ["--rpc.gascap", "17000000"] });
    to = await scene.deploy({ abi: [], bytecode: brancher });
  });
  afterAll(() => scene.stop());

  it("makes a limit that fits one call but not the next unknown, by the cap's name", async () => {
    const report = await preflight(scene.url, [
      spending(to, 5n * million, { gas: 6n * million }),
      spending(to, 0n, { gas: 16n * million }, 14n * million),
    ]);
    expect(report.verdict).toBe("unknown");
    const found = report.findings.find(({ code }) => code === "NodeGasCapExceeded");
    expect(found?.error).toMatchObject({ reason: { cap: 17_000_000n, transaction: 2 } });
  });

  it("never blocks calls behind it, and names the first that did not fit", async () => {
    const calls = Array.from({ length: 6 }, () => spending(to, 5n * million, { gas: 5_100_000n }));
    const report = await preflight(scene.url, calls);
    expect(report.verdict).toBe("unknown");
    expect(codesOf(report).filter((code) => code.endsWith("/blocker"))).toEqual([]);
    const found = report.findings.find(({ code }) => code === "NodeGasCapExceeded");
    expect(found?.error).toMatchObject({ reason: { cap: 17_000_000n, transaction: 4 } });
  });

  it("lets a limit that fits only beside small reads be ready with small ones", async () => {
    const tokens = Array.from({ length: 8 }, (_, at) => `0x${"7e".repeat(19)}${at + 10}` as const);
    const input = spending(to, 0n, { gas: 16_777_216n }, 16_700_000n);
    const report = await preflight(scene.url, input, { tokens } as never);
    expect([report.verdict, codesOf(report).filter((code) => !code.endsWith("/info"))]).toEqual(["ready", []]);
    expect(report.transactions[0].outcome.logs.map(({ topics }) => Number(topics[0]))).toEqual([0]);
  });

  it("keeps our limit at or below the simulated one", async () => {
    const report = await scan(scene.url, [spending(to, 9n * million), spending(to, 7n * million)]);
    const [, second] = report.transactions;
    expect(second?.gas.limit).toBeLessThan(8n * million);
    expect(second?.outcome.status).toBe("success");
  });

  it("is remembered: the next report asks for no more at other limits", async () => {
    const layer = layerOf(scene.url);
    await scanOn(layer, spending(to, million, { gas: 16_900_000n }));
    const report = await preflightOn(layer, spending(to, 9n * million, {}, 0n));
    expect([report.verdict, (report.transactions[0].gas.limit ?? 0n) < 17n * million]).toEqual(["ready", true]);
  });
});

describe.runIf(bin !== null).each([10, 17, 30, 50, 100])(
  "a gas cap of %s million for a whole request, on geth",
  (purse) => {
    it("makes nothing falsely ready, and blocks no working call for its gas", async () => {
      const { falseReady, falseBlocked } = await tallyOf(bin ?? "", purse * 1_000_000, 3, 38);
      expect([falseReady, falseBlocked]).toEqual([[], []]);
    }, 60_000);
  },
);

describe.runIf(bin !== null)("a block limit of 30 million, on geth", () => {
  let scene: Scene;
  let to: Hex;
  beforeAll(async () => {
    scene = await startGethScene(bin ?? "", { gasLimit: 30_000_000n });
    to = await scene.deploy({ abi: [], bytecode: brancher });
  });
  afterAll(() => scene.stop());

  it("makes a bundle that is larger run in several blocks", async () => {
    const report = await preflight(scene.url, [spending(to, 16n * million), spending(to, 16n * million)]);
    expect([report.verdict, codesOf(report).filter((code) => !code.endsWith("/info"))]).toEqual(["ready", []]);
  });
});

describe("a node that hides the gas of its calls", () => {
  let scene: Scene;
  let reader: Hex;
  beforeAll(async () => {
    scene = await startAnvilScene();
    reader = await scene.deploy(artifacts.GasReader);
  });
  afterAll(() => scene.stop());
  const hiding = () =>
    liar(
      scene.url,
      {
        method: "eth_simulateV1",
        tell: (result) =>
          (result as ReadonlyArray<{ readonly transactions: ReadonlyArray<{ readonly hash: string } | string> }>).map(
            (block) => ({
              ...block,
              transactions: block.transactions.map((one) => (typeof one === "string" ? one : one.hash)),
            }),
          ),
      },
      null,
      { count: 0 },
    );
  const maybe = (gas: bigint) => ({
    ...{ from: owner.address, to: reader, gas },
    data: calldata(artifacts.GasReader, "maybe", [gas / 2n]),
  });

  it("leaves a report ready where the first read saw the requested gas", async () =>
    expect((await preflightOn(hiding(), maybe(1_000_000n))).verdict).toBe("ready"));
  it("makes a report unknown where nothing shows the gas", async () => {
    const report = await preflightOn(hiding(), maybe(16_777_216n));
    expect([report.verdict, codesOf(report)]).toEqual([
      "unknown",
      expect.arrayContaining(["NodeGasCapExceeded/unavailable"]),
    ]);
  });
});

describe("the block limit of a scan", () => {
  it.each([
    ["anvil", () => startAnvilScene()],
    ...(bin === null ? [] : [["geth", () => startGethScene(bin)] as const]),
  ] as const)("is no less than that of the head, on %s", async (_, start) => {
    const scene = await start();
    try {
      const { gasLimit } = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as {
        readonly gasLimit: string;
      };
      // reverts where GASLIMIT is below the word that it is given
      const at = await scene.deploy({ abi: [], bytecode: creation("5f354510600857005b5f5ffd") });
      const least = BigInt(gasLimit) - 1_000_000n;
      const input = { from: owner.address, to: at, data: `0x${word(least)}` as const };
      const report = await scan(scene.url, input);
      expect([report.verdict, report.transactions[0].outcome.status]).toEqual([report.verdict, "success"]);
    } finally {
      await scene.stop();
    }
  });
});
