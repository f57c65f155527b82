/** A limit is handed out only after it was compared with ample gas: every `gas` run counts, and a lost one is said. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Hex } from "viem";
import { RpcError, Transport } from "../rooms/errors.js";
import type { BundleReport } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { nested } from "../harness/accuracy/cases.js";
import { creation } from "../harness/creation.js";
import {
  calldata,
  codesOf,
  owner,
  preflight,
  preflightOn,
  prove,
  proveOn,
  readiness,
  scan,
  startAnvilScene,
  tampered,
  type Scene,
  type Tampering,
} from "./scene.js";

let scene: Scene;
let aggregator: Hex;
let reader: Hex;
beforeAll(async () => {
  scene = await startAnvilScene();
  aggregator = await scene.deploy(artifacts.Aggregator);
  reader = await scene.deploy(artifacts.GasReader);
});
afterAll(() => scene.stop());

/** A call that swallows the failure of an inner one, which works only with so much gas. */
const swallowing = (gas: bigint, depth: number) => ({
  ...{ from: owner.address, to: aggregator },
  data: nested(aggregator, { target: reader, callData: calldata(artifacts.GasReader, "need", [gas]) }, depth, true),
});
const transport = new RpcError({ method: "eth_simulateV1", reason: new Transport({ detail: "reset" }) });
/** The node, but for the `gas` run of this number. */
const losing = (index: number) => {
  const lost: Array<number> = [];
  const tamper: Tampering = ({ purpose, before }) => {
    if (purpose !== "gas" || before !== index) return null;
    lost.push(before);
    return transport;
  };
  return { layer: tampered(scene.url, tamper), lost };
};
const limitOf = ({ transactions: [{ request }] }: BundleReport) => request?.gas ?? null;
const isReady = async (report: BundleReport) => (await readiness(report))._tag === "Success";
/** By round, what is asked of `gas`. */
const gasRounds = ({ ledger: { requests } }: BundleReport) =>
  requests.filter(({ run }) => run === "gas").map(({ round }) => round);
const inDoubt = [expect.any(String), expect.arrayContaining(["Transport/unavailable"]), false];
const told = async (report: BundleReport) => [report.verdict, codesOf(report), await isReady(report)];

describe("a swallowed inner call", () => {
  it("works at the limit that a scan hands out, found in a second round", async () => {
    const input = swallowing(400_007n, 40);
    const scanned = await scan(scene.url, input);
    expect([scanned.ledger.rounds, new Set(gasRounds(scanned))]).toEqual([2, new Set([2])]);
    expect(gasRounds(scanned).length).toBeGreaterThanOrEqual(2);
    expect(codesOf(scanned)).toContain("GasLimitWidened/info");
    expect(scanned.transactions[0].gas.limit).toBe(limitOf(scanned));
    const proven = await prove(scene.url, scanned);
    expect([proven.verdict, codesOf(proven).includes("GasLimitWidened/info")]).toEqual(["ready", true]);
    expect([limitOf(proven), proven.digest]).toEqual([limitOf(scanned), scanned.digest]);
  });

  it.each([0, 1, 2])("is never ready in a preflight that lost its gas run %s", async (index) => {
    const input = swallowing(3_000_001n, 2);
    const honest = await preflight(scene.url, input);
    expect([honest.verdict, await isReady(honest)]).toEqual(["ready", true]);
    const { layer, lost } = losing(index);
    const report = await preflightOn(layer, input);
    expect(lost).toEqual([index]);
    // either it was asked again and compared, or nothing is handed out
    if (await isReady(report)) expect(limitOf(report)).toBe(limitOf(honest));
    else expect(await told(report)).toEqual(inDoubt);
  });

  it("is never ready in a preflight that lost every gas run", async () => {
    const layer = tampered(scene.url, ({ purpose }) => (purpose === "gas" ? transport : null));
    expect(await told(await preflightOn(layer, swallowing(3_000_001n, 2)))).toEqual(inDoubt);
  });

  it("is never ready in a proof from outside that lost its run with ample gas", async () => {
    const scanned = await scan(scene.url, swallowing(3_000_001n, 2));
    expect(await isReady(await prove(scene.url, scanned))).toBe(true);
    const layer = tampered(scene.url, ({ purpose }) => (purpose === "ample" ? transport : null));
    expect(await told(await proveOn(layer, scanned))).toEqual(inDoubt);
  });
});

describe("a call that shows what its sender has", () => {
  it.each([
    ["emits", "33315f5260205fa000"],
    ["returns", "33315f5260205ff3"],
    ["emits of the origin", "32315f5260205fa000"],
  ])("is not taken to depend on its gas where it %s it", async (_, code) => {
    // to one byte alone, for whoever asks for an owner must not get an amount
    const teller = await scene.deploy({ abi: [], bytecode: creation(`36600114600857005b${code}`) });
    const call = { from: owner.address, to: teller, data: "0x01" as const };
    for (const input of [call, { ...call, value: 1n, gasPrice: 10n ** 10n }]) {
      const report = await preflight(scene.url, input);
      expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
      expect(gasRounds(report).length).toBeGreaterThan(0);
    }
  });
});
