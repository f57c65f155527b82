/** Proxy slots that change without a word, seen by the storage lens on real nodes. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IntrinsicGasTooLow, InvalidParams, NodeLimitExceeded, SenderNotEoa, RpcError } from "../rooms/errors.js";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { slotsOf } from "../rooms/witness.js";
import { Slots } from "../contracts/artifacts.js";
import { calldata, layerOf, nobody, owner, preflight, prove, scan, scenesFor, severe, type Scene } from "./scene.js";

const slots = slotsOf(false).filter(({ holds }) => holds !== null);
const whats = { implementation: "new implementation", admin: "new proxy admin", beacon: "new beacon" } as Readonly<
  Record<string, string>
>;
const [first, second] = ["0x00000000000000000000000000000000000000a1", "0x00000000000000000000000000000000000000b2"];

const runsOf = ({ ledger }: Report) => ledger.requests.flatMap(({ run }) => run ?? []).sort();
const changesIn = ({ findings }: Report) =>
  findings
    .filter(({ code }) => code === "ContractControlChanged")
    .map(({ severity, evidence, numbers }) => [severity, evidence, ...numbers.map(({ value }) => value)]);
type Answer = ReturnType<Rpc.Rpc["Service"]["request"]>;
const codes = ({ findings }: Report) => findings.map(({ code }) => code);
/** Entries of a request that simulates. */
const entriesOf = (params: ReadonlyArray<unknown>) =>
  (params[0] as { readonly blockStateCalls: ReadonlyArray<{ readonly calls?: ReadonlyArray<unknown> }> })
    .blockStateCalls;

describe.each(scenesFor("the storage lens"))("the storage lens on %s", (_, start) => {
  let scene: Scene;
  let proxy: Hex;
  let plain: Hex;
  beforeAll(async () => {
    scene = await start();
    proxy = await scene.deploy(Slots, [first]);
    plain = await scene.deploy(Slots, [`0x${"0".repeat(40)}`]);
  });
  afterAll(() => scene?.stop());

  const call = (to: Hex, name: string, ...args: ReadonlyArray<unknown>) => ({
    from: owner.address,
    to,
    data: calldata(Slots, name, args),
  });
  const told = (what: string, to: Hex, from: string | null, into: string) => [
    ...["warning", "measured", `${what}, without an event`, to],
    ...(from === null ? [] : [from]),
    into,
  ];

  it("reports no proxy or other contract that stays as it is", async () => {
    for (const to of [proxy, plain]) {
      const report = await preflight(scene.url, call(to, "work"));
      expect([report.verdict, severe(report), codes(report).includes("ProxiesNotSeen")]).toEqual(["ready", [], false]);
    }
  });
  it("shows the old and the new value of every slot, whether it held anything before or not", async () => {
    for (const { holds, slot } of slots) {
      const what = whats[holds ?? ""] ?? "";
      const isHeld = slot === slots[0]?.slot;
      const report = await preflight(scene.url, call(proxy, "write", slot, second));
      expect(report.verdict).toBe("caution");
      expect(changesIn(report)).toEqual([told(what, proxy, isHeld ? first : null, second)]);
    }
    const report = await preflight(scene.url, call(plain, "write", slots[0]?.slot, second));
    expect(changesIn(report)).toEqual([told("new implementation", plain, null, second)]);
  });
  it("leaves an honest upgrade to its event, and does not trust an event with another address", async () => {
    expect(changesIn(await preflight(scene.url, call(proxy, "upgradeTo", second)))).toEqual([
      ["warning", "logged", "new implementation", proxy, second],
    ]);
    expect(changesIn(await preflight(scene.url, call(proxy, "lie", first, second)))).toEqual([
      ["warning", "logged", "new implementation", proxy, first],
      told("new implementation", proxy, first, second),
    ]);
  });
  it("sees an upgrade in whichever simulated block it happens, and by plain payments", async () => {
    for (const parity of [0n, 1n]) {
      const report = await preflight(scene.url, call(proxy, "writeAt", parity, second));
      expect(changesIn(report)).toEqual([told("new implementation", proxy, first, second)]);
    }
    const paid = { from: owner.address, to: proxy, value: 1n };
    expect(changesIn(await preflight(scene.url, paid))).toEqual([
      told("new implementation", proxy, first, owner.address.toLowerCase()),
    ]);
    expect((await preflight(scene.url, { ...paid, to: nobody })).verdict).toBe("ready");
  });
  it("sees an upgrade in a proof of a report from outside", async () => {
    const report = await scan(scene.url, call(proxy, "write", slots[0]?.slot, second));
    expect(changesIn(await prove(scene.url, report))).toEqual([told("new implementation", proxy, first, second)]);
  });
  it("needs one request for a proxy, or while no tracer is known, and never a round", async () => {
    const both = (to: Hex) => Preflight.preflight(call(to, "work"));
    const reports = await Effect.runPromise(
      Effect.all([both(plain), both(plain), both(proxy)]).pipe(Effect.provide(layerOf(scene.url))),
    );
    expect(reports.map(runsOf)).toEqual([
      ["ample", "between", "between", "exact", "next", "readerOnly", "readerOnly", "twin", "twin"],
      ["ample", "between", "between", "exact", "next", "twin", "twin"],
      ["ample", "between", "between", "exact", "next", "readerOnly", "twin", "twin"],
    ]);
    // a gas limit of the caller's leaves no room in the block for more than the call
    const tight = await preflight(scene.url, { ...call(plain, "work"), gas: 60_000n });
    expect([...reports, tight].map(({ ledger }) => ledger.rounds)).toEqual([2, 2, 2, 2]);
  });

  const notSeen = (report: Report) => {
    // the node's tracer shows what the lens could not
    expect([report.verdict, changesIn(report).length > 0]).toEqual(["caution", true]);
    expect(report.findings.filter(({ code }) => code === "ProxiesNotSeen")).toMatchObject([
      { severity: "info", evidence: "unavailable", numbers: [{ value: proxy }] },
    ]);
  };
  /** The node, with what is asked of it in several entries answered by `answer`. */
  const answering = (answer: (node: Rpc.Rpc["Service"], params: ReadonlyArray<unknown>) => Answer) =>
    Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (node) =>
        Rpc.Rpc.of({
          ...node,
          request: (method, params) =>
            method === "eth_simulateV1" && entriesOf(params).filter(({ calls = [] }) => calls.length > 0).length > 1
              ? answer(node, params)
              : node.request(method, params),
        }),
      ),
    ).pipe(Layer.provide(layerOf(scene.url)));
  const silent = Effect.suspend(() => Preflight.preflight(call(proxy, "write", slots[0]?.slot, second)));
  const method = "eth_simulateV1";

  it.each([
    [new RpcError({ method, reason: new InvalidParams({ detail: "one block only" }) }), 1],
    [new RpcError({ method, reason: new NodeLimitExceeded({ detail: "out of gas for one request" }) }), 15],
    [new IntrinsicGasTooLow({}), 15],
  ])("reports a refused further entry, and remembers a refusal that holds for every request: %s", async (no, most) => {
    let refused = 0;
    const layer = answering(() => Effect.suspend(() => (refused++, Effect.fail(no))));
    const reports = await Effect.runPromise(Effect.all([silent, silent]).pipe(Effect.provide(layer)));
    reports.forEach(notSeen);
    expect(refused).toBe(most);
    expect(reports.map(({ ledger }) => ledger.rounds)).toEqual(most === 1 ? [3, 2] : [4, 4]);
    expect(runsOf(reports[1]).filter((run) => run === "readerOnly")).toEqual([]);
  });
  it("reports entries that do not stand on each other", async () => {
    const layer = answering((node, [payload, tag]) =>
      Effect.map(
        Effect.forEach(entriesOf([payload]), (entry) =>
          node.request(method, [{ ...(payload as object), blockStateCalls: [entry] }, tag]),
        ),
        (blocks) => blocks.flat(),
      ),
    );
    notSeen(await Effect.runPromise(Effect.provide(silent, layer)));
  });
  it("keeps everything else, and does not ask twice, where the calls themselves are refused", async () => {
    let refused = 0;
    const no = new SenderNotEoa({});
    const layer = answering(() => Effect.suspend(() => (refused++, Effect.fail(no))));
    const report = await Effect.runPromise(Effect.provide(silent, layer));
    // what is asked again without the lens would stand in the ledger
    expect([report.verdict, refused, runsOf(report)]).toEqual(["blocked", 1, ["readerOnly"]]);
  });
});
