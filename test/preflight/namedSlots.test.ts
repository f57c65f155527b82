/** Changes in silence where no tracer answers: the node names the slots that a call touches, and the proof reads them. */
import { pad, toHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as Rpc from "../../src/Rpc.js";
import type * as Layer from "effect/Layer";
import * as Effect from "effect/Effect";
import * as ManagedRuntime from "effect/ManagedRuntime";
import * as Preflight from "../../src/Preflight.js";
import { summary, type BundleReport } from "../../src/Report.js";
import { Token } from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { findGethOrWarn } from "../harness/geth.js";
import { faults, startProxy } from "../harness/proxy.js";
import { MethodNotSupported, RpcError } from "../rooms/errors.js";
import {
  calldata,
  layerOf,
  other,
  owner,
  preflightOn,
  proveOn,
  scanOn,
  startAnvilScene,
  startGethScene,
  tampered,
  type Scene,
  type Tampering,
} from "./scene.js";

const stranger = "0x5115115115115115115115115115115115115115";
const list = "eth_createAccessList";
const refusal = (method: string) => new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) });

/** Keeps its caller in slot 7 where it is only paid; else does what stands behind. */
const keeper = (behind: string) => creation(`3660095733600755005b${behind}`);
/** mapping[3][caller], as the memory and the hash of it. */
const entry = "335f5260036020526040" + "5f20";
const codes = {
  /** Hands slot 7 to the account that the calldata names. */
  setter: keeper("60043560075500"),
  /** Names that account in slot 8, where its caller is who stands in slot 7. */
  nominating: keeper("3360075414601557" + "5f5ffd" + "5b60043560085500"),
  /** mapping[3][caller][account] = true. */
  operating: creation(`${entry}6020526004355f52600160405f205500`),
  /** mapping[3][caller] += number. */
  deposit: creation(`${entry}80546004350190` + "5500"),
  /** Counts in slot 0. */
  counter: creation("5f546001015f5500"),
  /** mapping[2][name] = account. */
  registry: creation("6004355f526002602052602435" + "60405f205500"),
  /** Keeps an account in slot 0x135 where gas has no price, as it has none where a list is made, and else in 0x134. */
  pricing: creation(`73${stranger.slice(2)}3a156101340155` + "00"),
};

const geth = findGethOrWarn("slots that a node names");
const withoutDebug = ["--http.api", "eth,net,web3,txpool"];
const scenes: ReadonlyArray<readonly [string, () => Promise<Scene>]> = [
  ["anvil", () => startAnvilScene()],
  ...(geth === null ? [] : [["geth without debug", () => startGethScene(geth, { args: withoutDebug })] as const]),
];

describe.each(scenes)("storage slots that an access list names, on %s", (_, start) => {
  let scene: Scene;
  let at: Readonly<Record<keyof typeof codes, Hex>>;
  beforeAll(async () => {
    scene = await start();
    const deployed: Array<readonly [string, Hex]> = [];
    for (const [name, bytecode] of Object.entries(codes))
      deployed.push([name, await scene.deploy({ abi: [], bytecode })]);
    at = Object.fromEntries(deployed) as typeof at;
    for (const to of [at.setter, at.nominating]) await scene.send(owner, { to, data: "0x" });
    await scene.mine();
  });
  afterAll(() => scene?.stop());
  /** The node without its debug methods, what else it says changed by `tamper`. */
  const untraced = (tamper: Tampering = () => null) =>
    tampered(scene.url, (asked) => (asked.method.startsWith("debug_") ? refusal(asked.method) : tamper(asked)));
  const asking = (...words: ReadonlyArray<Hex>): Hex => `0x12345678${words.map((word) => pad(word).slice(2)).join("")}`;
  const run = (to: Hex, data: Hex, layer: Layer.Layer<Rpc.Rpc> = untraced()) =>
    preflightOn(layer, { from: owner.address, to, data });
  const told = (report: BundleReport) => [
    report.verdict,
    ...report.findings
      .filter(({ code }) => code === "ContractControlChanged")
      .map(({ severity, numbers }) => [severity, String(numbers.at(-1)?.value).toLowerCase()]),
  ];
  const lists = ({ ledger }: BundleReport) => ledger.requests.filter(({ method }) => method === list);

  it.each(["setter", "nominating", "operating"] as const)("give a caution with the named account: %s", async (name) => {
    const report = await run(at[name], asking(stranger));
    expect(told(report)).toEqual(["caution", ["warning", stranger]]);
    expect(report.observed.named).toMatchObject([{ address: at[name] }]);
    expect([lists(report).length, report.ledger.rounds]).toEqual([1, 2]);
  });
  it.each<[keyof typeof codes, () => Hex]>([
    ["counter", () => asking()],
    ["deposit", () => asking(toHex(10n ** 18n))],
    ["registry", () => asking(toHex(99n), stranger)],
  ])("leave %s ready", async (name, data) => {
    const report = await run(at[name], data());
    expect(told(report)).toEqual(["ready"]);
    expect(report.stateChanges).toEqual([]);
    expect(summary(report)).toContain("without moving anything");
    expect(summary(report)).not.toContain("was not seen");
  });
  it.each<[string, Tampering]>([
    ["is refused", ({ method }) => (method === list ? refusal(method) : null)],
    ["names nothing", ({ method }) => (method === list ? (told) => ({ ...Object(told), accessList: [] }) : null)],
    [
      "has the gas of another call",
      ({ method }) => (method === list ? (told) => ({ ...Object(told), gasUsed: "0x5230" }) : null),
    ],
  ])("are reported as unseen where the list %s", async (_, tamper) => {
    const report = await run(at.counter, asking(), untraced(tamper));
    expect(report.verdict).toBe("ready");
    expect(report.stateChanges).toMatchObject([{ account: at.counter, seen: "unseen", transaction: 0 }]);
    expect(summary(report)).toMatch(/without moving anything.*What else it changes was not seen\.$/);
  });
  it("are reported as unseen where the code reads a value that the list is made without", async () => {
    const report = await run(at.pricing, asking());
    expect(report.observed.named).toMatchObject([{ address: at.pricing, storageKeys: [pad("0x135")] }]);
    expect(report.stateChanges).toMatchObject([{ account: at.pricing, seen: "unseen", transaction: 0 }]);
  });
  it("are stored in a scan, and read by its proof on another connection", async () => {
    const scanned = await scanOn(untraced(), { from: owner.address, to: at.setter, data: asking(stranger) });
    const bare = untraced(({ method }) => (method === list ? refusal(method) : null));
    expect(told(await proveOn(bare, scanned))).toEqual(["caution", ["warning", stranger]]);
  });
  it("do not cover later transactions of a sender, and the report says so", async () => {
    const from = owner.address;
    const two = [0, 1].map(() => ({ from, to: at.counter, data: asking() }));
    const report = await preflightOn(untraced(), two);
    expect(report.stateChanges.map(({ seen, transaction }) => [seen, transaction])).toEqual([["unseen", 1]]);
    const both = await preflightOn(untraced(), [two[0], { ...two[0], from: other.address }]);
    expect(lists(both)).toHaveLength(2);
  });
  it("are not requested for a token's transfer, for a payment, or after the list was refused", async () => {
    const token = await scene.deploy(Token, ["Token", "TKN", 18]);
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 100n]) });
    await scene.mine();
    for (const name of ["transfer", "approve"] as const)
      expect(lists(await run(token, calldata(Token, name, [other.address, 1n])))).toEqual([]);
    expect(lists(await run(other.address, "0x"))).toEqual([]);
    const proxy = await startProxy({ target: scene.url });
    for (const method of [list, "debug_traceCall"]) proxy.fail(method, faults.notFound);
    const refusing = ManagedRuntime.make(layerOf(proxy.url));
    const counting = Preflight.preflight({ from: owner.address, to: at.counter, data: asking() });
    const reports = await refusing.runPromise(Effect.all([counting, counting]));
    await refusing.dispose();
    await proxy.stop();
    expect(reports.map((report) => lists(report).length)).toEqual([1, 0]);
  });
});

describe("with a tracer", () => {
  it("need no list once the tracer is known, and a first step reads the trace", async () => {
    const scene = await startAnvilScene();
    const to = await scene.deploy({ abi: [], bytecode: codes.operating });
    const runtime = ManagedRuntime.make(layerOf(scene.url));
    const data: Hex = `0x12345678${pad(stranger).slice(2)}`;
    const asked = Preflight.preflight({ from: owner.address, to, data });
    const [first, second] = await runtime.runPromise(Effect.all([asked, asked]));
    await runtime.dispose();
    await scene.stop();
    const methods = ({ ledger }: BundleReport) => ledger.requests.filter(({ method }) => method === list).length;
    expect([methods(first), methods(second)]).toEqual([1, 0]);
    for (const report of [first, second]) expect([report.verdict, report.observed.traced]).toEqual(["caution", 1]);
    expect(second.observed.named).toEqual([]);
  });
});
