/** Control that changes hands in silence, and honest changes beside it, on real nodes. */
import { encodeAbiParameters, keccak256, pad, toHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import * as Effect from "effect/Effect";
import {
  Bids,
  Facets,
  FirstSlotProxy,
  Governed,
  InnerBeacon,
  Keeper,
  KeyAccount,
  OuterBeacon,
  Passing,
  Payee,
  Rememberer,
  Slots,
  Token,
  TwiceBeaconProxy,
} from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { InvalidParams, MethodNotSupported, RpcError } from "../rooms/errors.js";
import * as Layer from "effect/Layer";
import * as Rpc from "../../src/Rpc.js";
import * as Preflight from "../../src/Preflight.js";
import {
  calldata,
  layerOf,
  other,
  owner,
  preflight,
  scenesFor,
  tampered,
  third,
  type Scene,
  type Tampering,
  delegate,
} from "./scene.js";

const thief = `0x${keccak256(toHex("thief")).slice(26)}` as const;
const stranger = "0x5115115115115115115115115115115115115115";
const numbered = (slot: number) => pad(toHex(slot));
/** Somebody of whom nothing is known, by a number. */
const payeeOf = (index: number) => `0x${keccak256(toHex(`payee ${index}`)).slice(26)}` as const;

const controls = (report: Report.Report) =>
  report.findings
    .filter(({ code }) => code === "ContractControlChanged" || code === "OwnershipChanged")
    .map(({ severity, numbers }) => [severity, String(numbers.at(-1)?.value).toLowerCase()]);
const changed = ({ stateChanges }: Report.Report) =>
  stateChanges.map(({ slot, holds, before, after, seen }) => [slot, holds, before, after, seen]);

describe.each(scenesFor("state changes"))("state changes without an event, on %s", (node, start) => {
  let scene: Scene;
  let codes: readonly [Hex, Hex];
  beforeAll(async () => {
    scene = await start();
    codes = [await scene.deploy(InnerBeacon), await scene.deploy(Slots, [stranger])];
  });
  afterAll(() => scene?.stop());
  const run = (from: Hex, to: Hex, data: Hex, value = 0n) => preflight(scene.url, { from, to, data, value });

  it("give one warning for an owner in the first slot, and block nothing that is named", async () => {
    const keeper = await scene.deploy(Keeper, [owner.address]);
    for (const [name, args, next] of [
      ["setOwner", [stranger], stranger],
      ["claim", [], thief],
      ["claimSeen", [], thief],
    ] as const) {
      const report = await run(owner.address, keeper, calldata(Keeper, name, args));
      expect([report.verdict, controls(report)]).toEqual(["caution", [["warning", next]]]);
      expect(changed(report)).toEqual([
        [
          numbered(0),
          "owner",
          expect.stringContaining(owner.address.slice(2).toLowerCase()),
          expect.any(String),
          "lens",
        ],
      ]);
    }
    const told = await run(owner.address, keeper, calldata(Keeper, "transferOwnership", [stranger]));
    expect([told.verdict, controls(told)]).toEqual(["caution", [["warning", stranger]]]);
    expect(told.stateChanges).toHaveLength(1);
    // of a contract that is somebody else's it is data
    const passing = await run(other.address, keeper, calldata(Keeper, "setOwner", [stranger]));
    expect([passing.verdict, controls(passing), passing.stateChanges.length]).toEqual(["ready", [], 1]);
  });
  it("show a governor behind any slot by its getter, and block where nothing names the new one", async () => {
    const governed = await scene.deploy(Governed, [owner.address]);
    const set = await run(owner.address, governed, calldata(Governed, "setGovernance", [stranger]));
    expect([set.verdict, controls(set)]).toEqual(["caution", [["warning", stranger]]]);
    expect(changed(set)).toEqual([
      [null, "owner", pad(owner.address).toLowerCase(), pad(stranger), "view"],
      [numbered(7), "owner", pad(owner.address).toLowerCase(), pad(stranger), "trace"],
    ]);
    const taken = await run(owner.address, governed, calldata(Governed, "claim"));
    expect([taken.verdict, controls(taken)]).toEqual(["blocked", [["blocker", thief]]]);
    const gained = await run(other.address, governed, calldata(Governed, "setGovernance", [other.address]));
    expect([gained.verdict, controls(gained)]).toEqual(["ready", []]);
    expect((await run(owner.address, governed, calldata(Governed, "work"))).stateChanges).toEqual([]);
  });
  it("are not reported of an outbid bidder who is paid back, and of a contract that only remembers another", async () => {
    const bids = await scene.deploy(Bids);
    await scene.send(owner, { to: bids, data: calldata(Bids, "bid"), value: 5n });
    await scene.mine();
    const bundle = await preflight(scene.url, [
      { from: other.address, to: bids, data: calldata(Bids, "bid"), value: 9n },
      { from: owner.address, to: stranger, value: 1n },
    ]);
    expect(controls(bundle)).toEqual([]);
    const rememberer = await scene.deploy(Rememberer);
    await scene.send(owner, { to: rememberer, data: calldata(Rememberer, "remember", [codes[0]]) });
    await scene.mine();
    const report = await run(owner.address, rememberer, calldata(Rememberer, "remember", [codes[1]]));
    expect([report.verdict, controls(report)]).toEqual(["ready", []]);
    expect(changed(report)).toEqual([[numbered(0), null, pad(codes[0]), pad(codes[1]), "lens"]]);
  });
  it("are reported of a place that is lost for a wei: a payment says nothing of the loss", async () => {
    // keeps its caller in the first slot where it is only paid, else gives that place away and pays its caller a wei
    const registry = creation(`36600857335f55005b73${thief.slice(2)}5f555f5f5f5f6001335af100`);
    const place = await scene.deploy({ abi: [], bytecode: registry });
    await scene.send(owner, { to: place, data: "0x", value: 5n });
    await scene.mine();
    const report = await run(owner.address, place, "0x01");
    expect([report.verdict, controls(report)]).toEqual(["caution", [["warning", thief]]]);
  });
  it.each([0, 1])("show a proxy whose code stands in slot %i", async (slot) => {
    const proxy = await scene.deploy(FirstSlotProxy, [BigInt(slot), codes[0]]);
    const report = await run(owner.address, proxy, calldata(FirstSlotProxy, "upgrade", [BigInt(slot), codes[1]]));
    expect([report.verdict, controls(report)]).toEqual(["caution", [["warning", codes[1].toLowerCase()]]]);
    // what the code before answered of an owner, and the one behind does not, is told as unseen
    expect(changed(report)).toContainEqual([
      numbered(slot),
      "implementation",
      pad(codes[0]).toLowerCase(),
      pad(codes[1]).toLowerCase(),
      "lens",
    ]);
  });
  it("show a beacon's beacon, and a diamond's facet", async () => {
    const inner = await scene.deploy(InnerBeacon);
    const proxy = await scene.deploy(TwiceBeaconProxy, [await scene.deploy(OuterBeacon, [inner])]);
    const twisted = await run(owner.address, proxy, calldata(TwiceBeaconProxy, "twist", [inner, codes[1]]));
    expect([twisted.verdict, controls(twisted)]).toEqual(["caution", [["warning", codes[1].toLowerCase()]]]);
    const still = await run(owner.address, proxy, calldata(TwiceBeaconProxy, "work"));
    expect([still.verdict, still.stateChanges]).toEqual(["ready", []]);
    const diamond = await scene.deploy(Facets, [codes[0]]);
    const swapped = await run(owner.address, diamond, calldata(Facets, "swap", [codes[1]]));
    expect([swapped.verdict, controls(swapped)]).toEqual(["caution", [["warning", codes[1].toLowerCase()]]]);
    expect((await run(owner.address, diamond, calldata(Facets, "work"))).verdict).toBe("ready");
  });
  it("show a key that a delegated account gets in a batch, and none where it only works", async () => {
    await delegate(scene, await scene.deploy(KeyAccount));
    const mode = `0x0100000000000000000000000000000000000000000000000000000000000000`;
    const batch = (...calls: ReadonlyArray<readonly [to: Hex, data: Hex]>) => {
      const type = { type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] };
      const data = encodeAbiParameters([type], [calls.map(([to, inner]) => [to, 0n, inner])]);
      return calldata(KeyAccount, "execute", [mode, data]);
    };
    const self = third.address;
    const work = await run(self, self, batch([stranger, "0x"], [self, calldata(KeyAccount, "bump")]));
    expect([work.verdict, controls(work)]).toEqual(["ready", []]);
    for (const to of [self, pad("0x", { size: 20 })]) {
      const report = await run(self, self, batch([stranger, "0x"], [to, calldata(KeyAccount, "addKey", [thief])]));
      expect([report.verdict, controls(report)]).toEqual(["caution", [["warning", thief]]]);
      expect(changed(report)).toEqual([[null, "key", null, pad(thief), "calldata"]]);
    }
  });
  describe("among many calls", () => {
    const self = third.address;
    /** Counts how often it is called. */
    const sink = { abi: [], bytecode: creation("5f546001015f5500") };
    const many = async (count: number, put: () => Promise<Hex>): Promise<ReadonlyArray<Hex>> => {
      const all: Array<Hex> = [];
      while (all.length < count) all.push(await put());
      return all;
    };
    const batchOf = (calls: ReadonlyArray<readonly [to: Hex, data: Hex]>) => {
      const type = { type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] };
      const data = encodeAbiParameters([type], [calls.map(([to, inner]) => [to, 0n, inner])]);
      return { from: self, to: self, data: calldata(KeyAccount, "execute", [pad("0x01", { dir: "right" }), data]) };
    };
    const warned = ({ findings }: Report.Report) =>
      findings.flatMap(({ code, severity }) => (severity === "info" ? [] : [code]));

    it("show a governor that leaves in silence behind nine others, in a batch and in a bundle", async () => {
      await delegate(scene, await scene.deploy(KeyAccount));
      const sinks = await many(9, () => scene.deploy(sink));
      const set = calldata(Governed, "setGovernance", [stranger]);
      const [theirs, ours] = [await scene.deploy(Governed, [self]), await scene.deploy(Governed, [owner.address])];
      await scene.mine();
      const others = sinks.map((to) => [to, "0x12345678"] as const);
      const batch = await preflight(scene.url, batchOf([...others, [theirs, set]]));
      expect([batch.verdict, controls(batch)]).toEqual(["caution", [["warning", stranger]]]);
      const work = await preflight(scene.url, batchOf([...others, [theirs, calldata(Governed, "work")]]));
      expect([work.verdict, warned(work)]).toEqual(["ready", []]);
      const bundle = await preflight(
        scene.url,
        [...others, [ours, set] as const].map(([to, data]) => ({ from: owner.address, to, data })),
      );
      expect([bundle.verdict, controls(bundle)]).toEqual(["caution", [["warning", stranger]]]);
    });
    it("give a warning for accounts that were not asked because others burn the witness's gas", async () => {
      await delegate(scene, await scene.deploy(KeyAccount));
      // burns all its gas, but for the one call that is made of it
      const burner = { abi: [], bytecode: creation("60003560e01c6312345678146013575b600f565b00") };
      const burners = await many(9, () => scene.deploy(burner));
      const theirs = await scene.deploy(Governed, [self]);
      await scene.mine();
      const calls = burners.map((to) => [to, "0x12345678"] as const);
      const batch = batchOf([...calls, [theirs, calldata(Governed, "setGovernance", [stranger])]]);
      const untraced = tampered(scene.url, ({ method }) =>
        method === "debug_traceCall" ? new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }) : null,
      );
      const report = await Effect.runPromise(
        Effect.provide(Preflight.preflight({ ...batch, gas: 16_000_000n }), untraced),
      );
      // a simulation of geth's has gas for the witness besides
      const codes = node === "anvil" ? ["ContractsLeftOut", "ContractControlChanged"] : ["ContractControlChanged"];
      expect([report.verdict, warned(report).sort()]).toEqual(["caution", codes.sort()]);
    });
    it("are not reported of twelve transfers in a batch and ten payments in a bundle", async () => {
      await delegate(scene, await scene.deploy(KeyAccount));
      const tokens = await many(12, () => scene.deploy(Token, ["Token", "TKN", 18]));
      for (const to of tokens) await scene.send(owner, { to, data: calldata(Token, "mint", [self, 100n]) });
      await scene.mine();
      const transfer = calldata(Token, "transfer", [other.address, 1n]);
      const batch = await preflight(scene.url, batchOf(tokens.map((token) => [token, transfer])));
      expect([batch.verdict, warned(batch)]).toEqual(["ready", []]);
      const payments = tokens.slice(0, 10).map((_, index) => ({ to: payeeOf(index), value: 10n ** 15n }));
      const bundle = await preflight(
        scene.url,
        payments.map((payment) => ({ from: owner.address, ...payment })),
      );
      expect([bundle.verdict, warned(bundle)]).toEqual(["ready", []]);
    });
  });
  describe("shown by a trace", () => {
    const method = "debug_traceCall";
    const isTrace = (one: { readonly method: string }) => one.method === method;
    /** Transactions that are traced: each for its changes and, side by side, for the calls inside it. */
    const asked = ({ ledger }: Report.Report) => ledger.requests.filter(isTrace).length / 2;
    const traced = ({ stateChanges }: Report.Report) => stateChanges.filter(({ seen }) => seen === "trace");
    let payee: Hex;
    beforeAll(async () => {
      payee = await scene.deploy(Payee, [owner.address]);
      await scene.send(owner, { to: payee, data: calldata(Payee, "enrol") });
      await scene.mine();
    });
    const call = (name: "claim" | "claimOwner" | "claimFeigned" | "enrol" | "work") => ({
      ...{ from: owner.address, to: payee, data: calldata(Payee, name) },
    });
    const through = (tamper: Tampering, ...calls: ReadonlyArray<ReturnType<typeof call>>) =>
      Effect.runPromise(
        Effect.forEach(calls, (one) => Preflight.preflight(one)).pipe(Effect.provide(tampered(scene.url, tamper))),
      );

    it.each(["claim", "claimOwner", "claimFeigned"] as const)("include %s, in any slot, once", async (name) => {
      const report = await preflight(scene.url, call(name));
      expect([report.verdict, controls(report), asked(report)]).toEqual(["caution", [["warning", thief]], 1]);
      expect(report.observed.traced).toBe(1);
      expect(traced(report)).toHaveLength(1);
      expect(traced(report)[0]).toMatchObject({ account: payee.toLowerCase(), holds: "owner", transaction: 0 });
      expect(traced(report)[0]?.after).toContain(thief.slice(2));
    });
    it("include contracts called by another, and none that are new", async () => {
      const [heir, passing] = [await scene.deploy(Passing), await scene.deploy(Passing)];
      await scene.send(owner, { to: heir, data: calldata(Passing, "enrol") });
      await scene.mine();
      const report = await run(owner.address, passing, calldata(Passing, "pass", [heir]));
      expect([report.verdict, controls(report)]).toEqual(["caution", [["warning", thief]]]);
      const made = await run(owner.address, passing, calldata(Passing, "make"));
      expect([made.verdict, controls(made), traced(made)]).toEqual(["ready", [], []]);
    });
    it("are not reported where an event names them, or votes go where the call names", async () => {
      const told = await run(owner.address, payee, calldata(Payee, "transferOwnership", [stranger]));
      expect(controls(told)).toEqual([["warning", stranger]]);
      const voted = await run(owner.address, payee, calldata(Payee, "delegate", [stranger]));
      expect([voted.verdict, controls(voted), traced(voted).length]).toEqual(["ready", [], 1]);
      const work = await preflight(scene.url, call("work"));
      expect([work.verdict, work.stateChanges, asked(work)]).toEqual(["ready", [], 1]);
    });
    it("of a later transaction build on those of the earlier ones", async () => {
      const from = other.address;
      const bundle = await preflight(scene.url, [
        { ...call("enrol"), from },
        { ...call("claim"), from },
      ]);
      // what nobody had before the bundle is taken from nobody by all of it
      expect([asked(bundle), traced(bundle)]).toEqual([2, []]);
      const late = await preflight(scene.url, [call("work"), call("claim")]);
      expect([asked(late), late.observed.traced, controls(late)]).toEqual([2, 2, [["warning", thief]]]);
    });
    it("need no request for a plain payment", async () => {
      const paid = await preflight(scene.url, { from: owner.address, to: stranger, value: 1n });
      expect([paid.verdict, asked(paid)]).toEqual(["ready", 0]);
    });
    it.each([
      ["refuses it", Effect.fail(new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }))],
      ["has no such tracer", Effect.fail(new RpcError({ method, reason: new InvalidParams({ detail: "no tracer" }) }))],
      ["does not answer", Effect.never],
    ])("need one request for who %s, without a wait or a change there", async (_, answer) => {
      let times = 0;
      const layer = Layer.effect(
        Rpc.Rpc,
        Effect.map(Rpc.Rpc, (node) =>
          Rpc.Rpc.of({
            ...node,
            request: (name, params) =>
              name === method
                ? Effect.suspend(() => (times++, answer))
                : name === "eth_createAccessList"
                  ? Effect.fail(new RpcError({ method: name, reason: new MethodNotSupported({ detail: "" }) }))
                  : node.request(name, params),
          }),
        ),
      ).pipe(Layer.provide(layerOf(scene.url)));
      const begun = Date.now();
      const reports = await Effect.runPromise(
        Effect.forEach([call("claim"), call("work"), call("work")], (one) => Preflight.preflight(one)).pipe(
          Effect.provide(layer),
        ),
      );
      const seen = ({ stateChanges }: Report.Report) => stateChanges.map((change) => change.seen);
      expect(reports.map((one) => [one.verdict, seen(one)])).toEqual([0, 1, 2].map(() => ["ready", ["unseen"]]));
      expect(reports.map(({ observed }) => observed.traced)).toEqual([0, 0, 0]);
      // for the changes and, side by side, for the calls inside
      expect(times).toBe(2);
      // far from what a trace may take, or a deadline
      expect(Date.now() - begun).toBeLessThan(2_500);
    });
    it("are not read from malformed answers, and no lie removes a finding", async () => {
      const account = { nonce: 1, storage: { [pad("0x7")]: pad(owner.address) } };
      for (const answer of [
        null,
        3,
        [],
        {},
        { pre: {}, post: 5 },
        { pre: {}, post: { [payee]: { storage: { a: 1 } } } },
      ]) {
        const [report] = await through((one) => (isTrace(one) ? () => answer : null), call("work"));
        expect([report?.verdict, report?.stateChanges], JSON.stringify(answer)).toEqual(["ready", []]);
      }
      const keeper = await scene.deploy(Keeper, [owner.address]);
      for (const answer of [
        { pre: {}, post: {} },
        { pre: {}, post: { [keeper]: account } },
      ]) {
        const claim = { ...call("claim"), to: keeper, data: calldata(Keeper, "claim") };
        const [report] = await through((one) => (isTrace(one) ? () => answer : null), claim);
        expect([report?.verdict, controls(report as Report.Report)]).toEqual(["caution", [["warning", thief]]]);
      }
    });
  });
  it("survive JSON, stand in the full text, and leave the digest unchanged", async () => {
    const keeper = await scene.deploy(Keeper, [owner.address]);
    const report = await run(owner.address, keeper, calldata(Keeper, "claim"));
    const back = await Effect.runPromise(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(report)))));
    expect(back.stateChanges).toEqual(report.stateChanges);
    expect(Report.toText(report, { full: true })).toContain("Storage that says who acts");
    expect(Report.toHtml(report)).toContain("Storage that says who acts");
    expect(back.digest).toBe(report.digest);
  });
});
