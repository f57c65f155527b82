/** What an endpoint was found to be is not asked again, and is found out when it no longer is. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InvalidParams, MethodNotSupported, PendingUnavailable, RpcError, Transport } from "../rooms/errors.js";
import * as Chains from "../../src/Chains.js";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { rawRequest, startAnvil } from "../harness/anvil.js";
import { startProxy } from "../harness/proxy.js";
import { furnish, transferOf } from "./furnished.js";
import { codesOf, layerOf, nobody, owner, scenesFor, tampered, type Scene, type Tampering } from "./scene.js";
import { memoryOf } from "../rooms/rpc.js";

const l1Block = "0x4200000000000000000000000000000000000015";
const oracle = "0x420000000000000000000000000000000000000f";

const send = { from: owner.address, to: nobody, value: 1n } as const;

const asked = ({ ledger }: Report) => ledger.requests.filter(({ tries }) => tries > 0).length;
const methodsOf = ({ ledger }: Report, round: number) =>
  ledger.requests.flatMap((request) => (request.round === round ? [request.run ?? request.method] : [])).sort();

describe.each(scenesFor("a known endpoint"))("an endpoint that is known already, %s", (name, start) => {
  let scene: Scene;
  let token: `0x${string}`;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  /** One connection for everything in it. */
  const connected = <A>(use: Effect.Effect<A, unknown, Rpc.Rpc>, layer: Layer.Layer<Rpc.Rpc> = layerOf(scene.url)) =>
    Effect.runPromise(Effect.provide(use, layer));
  const scan = Effect.suspend(() => Preflight.scan(transferOf(token) as never));
  const preflight = Effect.suspend(() => Preflight.preflight(transferOf(token) as never));

  it("needs eleven requests for the first scan and eight later, seventeen and thirteen with the proof", async () => {
    const [first, second, third] = await connected(Effect.all([preflight, scan, preflight]));
    expect([first, second, third].map(({ verdict }) => verdict)).toEqual(["ready", "ready", "ready"]);
    expect([asked(first), asked(second), asked(third)]).toEqual([17, 8, 13]);
    expect([first.ledger.rounds, second.ledger.rounds, third.ledger.rounds]).toEqual([2, 1, 2]);
    // as good as the first time
    const { nonce, gas, fee } = third.transactions[0];
    expect({ nonce, gas, fee }).toEqual({
      ...{ nonce: first.transactions[0].nonce, gas: first.transactions[0].gas },
      fee: { ...first.transactions[0].fee },
    });
    expect([third.chainId, third.observed.namedChainId]).toEqual([first.chainId, scene.chainId]);
    expect(third.balanceChanges).toEqual(first.balanceChanges);
    expect(await connected(Effect.map(scan, asked))).toBe(11);
  });

  it("is asked for receipts again, for the tip, when the history no longer gives it", async () => {
    let isBroken = false;
    const tamper: Tampering = ({ method }) =>
      isBroken && method === "eth_feeHistory" ? new RpcError({ method, reason: new Transport({ detail: "" }) }) : null;
    const reports = await connected(
      Effect.gen(function* () {
        const first = yield* scan;
        isBroken = true;
        return [first, yield* scan, yield* scan] as const;
      }),
      tampered(scene.url, tamper),
    );
    const [, second, third] = reports;
    expect(methodsOf(second, 2)).toEqual(["eth_getBlockReceipts", "readerOnly"]);
    expect(methodsOf(second, 1)).not.toContain("eth_getBlockReceipts");
    expect(methodsOf(third, 1)).toContain("eth_getBlockReceipts");
    const [tip, same] = [second, third].map(({ transactions }) => transactions[0].fee.maxPriorityFeePerGas);
    expect(tip).toBe(same);
  });

  it("gets one more witness request where the run answers nothing and the header gives no base fee", async () => {
    for (const broken of ["ample", "eth_getBlockByNumber", "eth_feeHistory", "no base fee"]) {
      let isBroken = false;
      const tamper: Tampering = ({ method, purpose }) => {
        if (isBroken && broken === "no base fee" && method === "eth_getBlockByNumber")
          return (header) => ({ ...(header as object), baseFeePerGas: null });
        return isBroken && purpose === broken ? new RpcError({ method, reason: new Transport({ detail: "" }) }) : null;
      };
      const report = await connected(
        Effect.gen(function* () {
          yield* scan;
          isBroken = true;
          return yield* scan;
        }),
        tampered(scene.url, tamper),
      );
      const lacking: Record<string, ReadonlyArray<string>> = {
        ample: ["eth_chainId", "readerOnly"],
        eth_feeHistory: ["eth_getBlockReceipts", "readerOnly"],
      };
      expect(methodsOf(report, 2)).toEqual(lacking[broken] ?? ["readerOnly"]);
      expect([report.chainId, report.transactions[0].fee.evidence]).toEqual([scene.chainId, "measured"]);
      expect(report.verdict).toBe(broken === "ample" ? "unknown" : "ready");
    }
  });

  it("gives a poor sender the same answer", async () => {
    const poor = { from: owner.address, to: nobody, value: 10n ** 30n } as const;
    const [first, second] = await connected(Effect.all([Preflight.scan(poor), Preflight.scan(poor)]));
    expect([second.verdict, codesOf(second)]).toEqual([first.verdict, codesOf(first)]);
    expect(second.funds).toEqual(first.funds);
    expect([methodsOf(second, 2), methodsOf(second, 3)]).toEqual([["eth_chainId", "readerOnly"], ["funded"]]);
  });

  it.runIf(name === "anvil")("is read again when a fee oracle comes to live there", async () => {
    const [before, after, later] = await connected(
      Effect.gen(function* () {
        yield* scan;
        const known = yield* scan;
        // answers every question with 1, so that there is no sense in it, but code
        for (const address of [l1Block, oracle])
          yield* Effect.promise(() => scene.ask("anvil_setCode", [address, "0x60015f5260205ff3"]));
        return [known, yield* preflight, yield* preflight] as const;
      }),
    );
    for (const address of [l1Block, oracle]) await scene.ask("anvil_setCode", [address, "0x"]);
    expect(before.verdict).toBe("ready");
    expect(after.funds[0]?.terms.map(({ name: term }) => term)).toContain("l1Fee");
    expect(after.funds).toEqual(later.funds);
    expect(after.ledger.requests.some(({ round, run }) => round === 2 && run === "ample")).toBe(true);
  });
});

it("another chain behind a known endpoint is noticed", async () => {
  const [one, other] = [await startAnvil(), await startAnvil({ chainId: 4242 })];
  const behind = { target: one.url };
  const proxy = await startProxy(behind);
  const reports = await Effect.runPromise(
    Effect.gen(function* () {
      yield* Preflight.scan(send);
      const known = yield* Preflight.scan(send);
      behind.target = other.url;
      return [known, yield* Preflight.scan(send), yield* Preflight.scan({ ...send, chainId: 31337 })] as const;
    }).pipe(Effect.provide(layerOf(proxy.url))),
  );
  expect(reports.map(({ chainId, verdict }) => [chainId, verdict])).toEqual([
    [31337, "ready"],
    [4242, "ready"],
    [4242, "blocked"],
  ]);
  expect(codesOf(reports[2])).toContain("ChainIdMismatch/blocker");
  await Promise.all([proxy.stop(), one.stop(), other.stop()]);
});

it("another chain behind a known endpoint that simulates on no pending state is noticed", async () => {
  const [one, other] = [await startAnvil(), await startAnvil({ chainId: 4242 })];
  const behind = { target: one.url };
  const proxy = await startProxy(behind);
  const layer = tampered(proxy.url, ({ method, params }) =>
    behind.target === other.url && method === "eth_simulateV1" && params[1] === "pending"
      ? new RpcError({ method, reason: new PendingUnavailable({ detail: "" }) })
      : null,
  );
  const report = await Effect.runPromise(
    Effect.gen(function* () {
      yield* Preflight.scan(send);
      behind.target = other.url;
      return yield* Preflight.scan(send);
    }).pipe(Effect.provide(layer)),
  );
  expect([report.chainId, report.verdict, report.observed.blockTag]).toEqual([4242, "ready", "latest"]);
  expect(codesOf(report)).toContain("PendingUnavailable/info");
  await Promise.all([proxy.stop(), one.stop(), other.stop()]);
});

/** How often the head is asked for in the second round. */
const heads = (report: Report) => methodsOf(report, 2).filter((method) => method === "eth_getBlockByNumber").length;

/** What was remembered after these, by how many requests a scan then asks: 8 of an endpoint that is known, else 11. */
describe("the facts that are remembered of an endpoint", () => {
  const otherHash = `0x${"77".repeat(32)}`;
  const foreign: Tampering = ({ method }) =>
    method === "eth_getBlockByNumber" ? (header) => ({ ...(header as object), hash: otherHash }) : null;
  let url: string;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ url, stop } = await startAnvil());
    // two blocks, so that an older one can be asked for
    await rawRequest(url, "anvil_mine", ["0x2"]);
  });
  afterAll(() => stop());
  const scans = (all: ReadonlyArray<Preflight.Options | undefined>, layer = layerOf(url)) =>
    Effect.runPromise(
      Effect.provide(
        Effect.forEach(all, (options) => Preflight.scan(send, options)),
        layer,
      ),
    );

  it.each<[string, Preflight.Options]>([
    ["pretended", { stateOverrides: { [nobody]: { balance: 1n } } }],
    ["long gone", { block: 1n }],
  ])("are not used on a state that is %s", async (_, options) => {
    const [, after, known] = await scans([options, undefined, undefined]);
    expect([after, known].map((report) => report && asked(report))).toEqual([11, 8]);
  });

  it("are not used where the header is of another branch, which is asked again", async () => {
    let isForeign = true;
    const layer = tampered(url, (one) => (isForeign ? foreign(one) : null));
    const reports = await Effect.runPromise(
      Effect.gen(function* () {
        const strange = yield* Preflight.scan(send);
        isForeign = false;
        const cold = yield* Preflight.scan(send);
        const warm = yield* Preflight.scan(send);
        isForeign = true;
        return [strange, cold, warm, yield* Preflight.scan(send)] as const;
      }).pipe(Effect.provide(layer)),
    );
    expect(reports.slice(0, 3).map(asked)).toEqual([11, 11, 8]);
    expect(methodsOf(reports[3], 2)).toEqual(expect.arrayContaining(["readerOnly", "ample", "eth_chainId"]));
  });

  it("include the chain for ten minutes after it was named, not after it was last used", async () => {
    let now = 0;
    const clocked = Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (real) => Rpc.Rpc.of({ ...real, memory: memoryOf(() => now, 60_000) })),
    ).pipe(Layer.provide(layerOf(url)));
    const named = await Effect.runPromise(
      Effect.forEach([0, 6, 11, 12], (minute) => {
        now = minute * 60_000;
        return Effect.map(Preflight.scan(send), (report) => methodsOf(report, 1).includes("eth_chainId"));
      }).pipe(Effect.provide(clocked)),
    );
    expect(named).toEqual([true, false, true, false]);
  });

  it("are not used for a pretended base fee, nor for what a caller's own model reads", async () => {
    const baseFeePerGas = 7_000_000_000n;
    const [, pretended] = await scans([undefined, { blockOverrides: { baseFeePerGas } }]);
    expect(methodsOf(pretended as Report, 1)).toContain("readerOnly");
    expect(pretended?.observed.baseFeePerGas).toBe(baseFeePerGas);
    const feeModel: Chains.FeeModel = {
      name: "by the base fee",
      queries: () => [],
      decide: () => ({ fees: { l1Fee: 1n, l1FeeAtMost: 1n, operatorFee: 0n, operatorFeeAtMost: 0n } }),
    };
    const own = Layer.merge(layerOf(url), Chains.layerWith(31337, { name: "own", feeModel }));
    const [, warm] = await Effect.runPromise(
      Effect.provide(
        Effect.forEach([0, 1], () => Preflight.scan({ ...send, chainId: 31337 })),
        own,
      ),
    );
    expect(methodsOf(warm as Report, 1)).toContain("readerOnly");
  });

  it("do not use the header of a scan that has grown old", async () => {
    const reports = await Effect.runPromise(
      Effect.forEach([0, 1, 4, 20], (blocks) =>
        Preflight.reserving(() =>
          Effect.promise(async () => {
            await new Promise((resolve) => setTimeout(resolve, 1_100));
            if (blocks > 0) await rawRequest(url, "anvil_mine", [`0x${blocks.toString(16)}`]);
            return [null];
          }),
        )(send),
      ).pipe(Effect.provide(layerOf(url))),
    );
    for (const report of reports) {
      const { verdict, observed } = report;
      expect([verdict, observed.freshness, heads(report)]).toEqual(["ready", "fresh", 1]);
      expect(observed.latestNumber).toBe(observed.baseNumber);
    }
  });

  it("leave one request for the header beside the proof, whether the scan was long before or not at all", async () => {
    const slow = Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (real) =>
        Rpc.Rpc.of({
          ...real,
          request: (method, params) =>
            Effect.delay(real.request(method, params), method === "eth_estimateGas" ? 1_200 : 0),
        }),
      ),
    ).pipe(Layer.provide(layerOf(url)));
    const broken = tampered(url, ({ method, before }) =>
      method === "eth_getBlockByNumber" && before === 0
        ? new RpcError({ method, reason: new Transport({ detail: "" }) })
        : null,
    );
    for (const layer of [slow, broken]) {
      const report = await Effect.runPromise(Preflight.preflight(send).pipe(Effect.provide(layer)));
      expect([report.verdict, report.observed.freshness, heads(report)]).toEqual(["ready", "fresh", 1]);
    }
  });

  it("leave out a nonce request where nothing was learned", async () => {
    const down = tampered(url, ({ method }) =>
      method === "eth_simulateV1" ? new RpcError({ method, reason: new Transport({ detail: "" }) }) : null,
    );
    let taken = 0;
    const take = () => Effect.sync(() => [BigInt(taken++)]);
    const report = await Effect.runPromise(Preflight.reserving(take)(send).pipe(Effect.provide(down)));
    expect([report.verdict, taken]).toEqual(["unknown", 0]);
  });

  it("do not include a refused parameter when the caller's own overrides were refused", async () => {
    const refusal = new RpcError({
      method: "eth_simulateV1",
      reason: new InvalidParams({ code: -32602, detail: "bad override" }),
    });
    let isBroken = true;
    const layer = tampered(url, ({ method }) => (isBroken && method === "eth_simulateV1" ? refusal : null));
    const [first, second] = await Effect.runPromise(
      Effect.gen(function* () {
        const refused = yield* Preflight.scan(send, { stateOverrides: { [nobody]: { balance: 1n } } });
        isBroken = false;
        return [refused, yield* Preflight.scan(send)] as const;
      }).pipe(Effect.provide(layer)),
    );
    expect([first.observed.tier, second.observed.tier, second.verdict]).toEqual(["none", "simulate", "ready"]);
  });

  it("include nothing that a caller pretended", async () => {
    for (const address of [l1Block, oracle]) await rawRequest(url, "anvil_setCode", [address, "0x60015f5260205ff3"]);
    const gone = { [l1Block]: { code: "0x" }, [oracle]: { code: "0x" } } as const;
    const [honest, pretended, after] = await Effect.runPromise(
      Effect.all([
        Preflight.preflight(send),
        Preflight.scan(send, { stateOverrides: gone }),
        Preflight.preflight(send),
      ]).pipe(Effect.provide(layerOf(url))),
    );
    expect(pretended.funds[0]?.terms.some(({ name }) => name === "l1Fee")).toBe(false);
    expect(after.funds).toEqual(honest.funds);
  });
});

describe("the memory of a connection", () => {
  const memory = (now: () => number) => memoryOf(now, 1_000);
  it("holds a fact for its time, and forgets all at once", () => {
    let now = 0;
    const known = memory(() => now);
    expect(known.recall("chainId")).toBeNull();
    known.learn("chainId", 1);
    now = 10 * 60_000 - 1;
    expect(known.recall("chainId")).toBe(1);
    now += 1;
    expect(known.recall("chainId")).toBeNull();
    known.learn("chainId", 1);
    known.learn("tellsTip", true);
    known.forget();
    expect([known.recall("chainId"), known.recall("tellsTip")]).toEqual([null, null]);
  });
  it("is bounded, whatever methods are called", () => {
    const known = memory(() => 0);
    const refusal = (method: string) =>
      Result.fail(new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }));
    for (let index = 0; index < 10_000; index++) known.heard(`m${index}`, refusal(`m${index}`));
    expect([known.refused("m0")?.method, known.refused("m9999")]).toEqual(["m0", null]);
  });
});
