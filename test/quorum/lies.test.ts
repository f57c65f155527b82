/** A quorum of which one endpoint lies: never ready, whoever lies, in one run or in all. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { keccak256, maxUint256, padHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { Token } from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import { forkOf, isHeld, pairOf as quorum, passOn } from "../harness/pairs.js";
import { half, share } from "../harness/parts.js";
import { inventedHead, lagging, liar, liesAbout, noFacts, silent, unable, type Lie } from "../harness/lies.js";
import { furnish, transferOf } from "../preflight/furnished.js";
import {
  calldata,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  preflightOn,
  scenesFor,
  severe,
  startAnvilScene,
  type AnyInput,
  type Scene,
} from "../preflight/scene.js";

const padded = (address: string): Hex => padHex(address.toLowerCase() as Hex);
const held = 10n ** 24n;

describe.each(scenesFor("quorums"))("a report over two endpoints on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let lies: Readonly<Record<string, Lie>>;
  let inputs: ReadonlyArray<AnyInput>;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
    const codeHash = keccak256((await scene.ask("eth_getCode", [token, "latest"])) as Hex);
    const facts = { owner: owner.address, other: other.address, token, spender: nobody, held, codeHash } as const;
    lies = liesAbout({ ...facts, chainId: scene.chainId });
    const approval = { from: owner.address, to: token, data: calldata(Token, "approve", [nobody, maxUint256]) };
    inputs = [transferOf(token), approval];
  });
  afterAll(() => scene?.stop());

  const verdictsOf = async (layer: Layer.Layer<Rpc.Rpc>) => {
    const reports = [];
    for (const input of inputs) reports.push(await preflightOn(layer, input));
    return reports;
  };

  it("is ready where both are honest", async () => {
    const [transfer, approval] = await verdictsOf(quorum(layerOf(scene.url), layerOf(scene.url)));
    expect([transfer?.verdict, approval?.verdict]).toEqual(["ready", "caution"]);
    expect(transfer?.ledger.rounds).toBe(2);
    expect(codesOf(transfer ?? expect.fail())).toEqual([]);
  });

  it.each(half(Object.keys(liesAbout(noFacts)), 0))(
    "is never ready with %s",
    async (about, index) => {
      const lie = lies[about] ?? expect.fail();
      const runs = lie.method === "eth_simulateV1" ? (["next", "exact", null] as const) : [null];
      let count = 0;
      for (const run of runs)
        for (const isFirst of share([true, false], index))
          for (const input of inputs) {
            const told = { count: 0 };
            const [honest, lying] = [layerOf(scene.url), liar(scene.url, lie, run, told)];
            const report = await preflightOn(isFirst ? quorum(lying, honest) : quorum(honest, lying), input);
            count += told.count;
            const codes = codesOf(report);
            if (told.count > 0) expect([run, isFirst, codes, isHeld(report)]).toEqual([run, isFirst, codes, true]);
          }
      expect(count).toBeGreaterThan(0);
    },
    60_000,
  );
});

describe("a report over two endpoints on anvil", () => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    ({ scene, token } = await furnish(startAnvilScene));
    for (let block = 0; block < 12; block++) await scene.mine();
  });
  afterAll(() => scene?.stop());

  const on = async (first: Layer.Layer<Rpc.Rpc>, second: Layer.Layer<Rpc.Rpc>, options?: Rpc.QuorumOptions) => {
    const report = await preflightOn(quorum(first, second, options), transferOf(token));
    return { verdict: report.verdict, codes: severe(report), report };
  };
  const honest = () => layerOf(scene.url);

  it("is unknown while another endpoint cannot confirm, or never answers", async () => {
    for (const other of [unable(scene.url), silent(scene.url)]) {
      const { verdict, codes } = await on(honest(), other, { waitMs: 200 });
      expect([verdict, codes]).toEqual(["unknown", ["QuorumMissing/unavailable"]]);
    }
  });

  it("names each endpoint and its answer, without secrets", async () => {
    const lie = liesAbout(noFacts)["it takes less gas"];
    const { report } = await on(honest(), liar(scene.url, lie ?? expect.fail(), "next", { count: 0 }));
    const [found] = report.findings.filter(({ code }) => code === "WitnessesDisagree");
    const endpoint = scene.url.replace(/\/$/, "");
    expect(found?.severity).toBe("blocker");
    expect(found?.numbers.map(({ value }) => value)).toEqual([
      expect.stringMatching(
        new RegExp(`^${endpoint} \\(provider 1\\): eth_simulateV1 \\(next\\), call 1 gasUsed: \\d+$`),
      ),
      expect.stringMatching(
        new RegExp(`^${endpoint} \\(provider 2\\): eth_simulateV1 \\(next\\), call 1 gasUsed: \\d+$`),
      ),
    ]);
  });

  it("asks a lagging endpoint once more, on a block that both have", async () => {
    const { verdict, codes, report } = await on(honest(), lagging(scene.url, 1n));
    expect([verdict, codes]).toEqual(["ready", []]);
    const pinned = report.ledger.requests.filter(({ run }) => run === "pinned");
    expect(pinned.length).toBeGreaterThan(0);
    expect(Math.min(...pinned.map(({ round }) => round))).toBeGreaterThan(1);
  });

  it("is unknown where a head follows from no block of the other", async () => {
    const { verdict, codes } = await on(liar(scene.url, inventedHead, null, { count: 0 }), honest());
    expect([verdict, codes]).toEqual(["unknown", expect.arrayContaining(["QuorumMissing/unavailable"])]);
  });

  it("is unknown where the chosen endpoint has an old head", async () => {
    const { verdict, codes } = await on(lagging(scene.url, 10n), honest());
    expect([verdict, codes]).toEqual(["unknown", expect.arrayContaining(["PendingStale/unavailable"])]);
  });

  it("is blocked where the other is on another chain", async () => {
    const elsewhere = await furnish(startAnvilScene);
    await elsewhere.scene.mine();
    for (const [one, two] of [
      [honest(), layerOf(elsewhere.scene.url)],
      [layerOf(elsewhere.scene.url), honest()],
    ] as const)
      expect(["blocked", "unknown"]).toContain((await on(one, two)).verdict);
    await elsewhere.scene.stop();
  });

  it.each([
    ["ether that nobody has", "anvil_setBalance", () => [owner.address, "0xffffffffffffffffffff"]],
    ["a sender who has none", "anvil_setBalance", () => [owner.address, "0x1"]],
    ["a token that says yes to everything", "anvil_setCode", () => [token, "0x600160005260206000f3"]],
    [
      "a token whose storage is another",
      "anvil_setStorageAt",
      () => [token, `0x${"00".repeat(32)}`, `0x${"01".repeat(32)}`],
    ],
  ] as const)("is not ready where one has a state of its own: %s", async (_, method, params) => {
    const fork = await forkOf(scene.url, scene.chainId);
    await rawRequest(fork.url, method, params());
    for (const [one, two] of [
      [honest(), layerOf(fork.url)],
      [layerOf(fork.url), honest()],
    ] as const) {
      const { verdict, codes } = await on(one, two);
      // why: who has nothing by the first endpoint is blocked before anything sealed is run
      const isBroke = method === "anvil_setBalance" && codes.includes("InsufficientFunds/blocker");
      expect([verdict, isBroke || codes.includes("WitnessesDisagree/blocker")]).toEqual(["blocked", true]);
    }
    await fork.stop();
  });

  it("fails a request outside the pipeline that fewer than `agree` confirm", async () => {
    const askedOf = (lie: Lie, block: bigint | "latest", isFirst: boolean) => {
      const lying = liar(scene.url, lie, null, { count: 0 });
      const layer = isFirst ? quorum(lying, honest()) : quorum(honest(), lying);
      const asked = Effect.all([
        Eth.getCode({ address: token, block }),
        Eth.getTransactionCount({ address: owner.address, block }),
      ]);
      return Effect.runPromise(asked.pipe(Effect.provide(layer), Effect.flip));
    };
    const code: Lie = { method: "eth_getCode", tell: () => "0x" };
    const ofHead: Lie = {
      method: "eth_getTransactionCount",
      tell: (count, [, at]) => (at === "latest" ? "0x99" : count),
    };
    for (const isFirst of [true, false]) {
      for (const block of [3n, "latest"] as const)
        expect(await askedOf(code, block, isFirst)).toMatchObject({ _tag: "WitnessesDisagree", method: "eth_getCode" });
      expect(await askedOf(ofHead, "latest", isFirst)).toMatchObject({
        _tag: "RpcError",
        method: "eth_getTransactionCount",
        reason: { _tag: "UpstreamUnavailable" },
      });
    }
    const longAgo = quorum(lagging(scene.url, 13n, false), honest());
    const ofOld = Effect.all([
      Effect.flip(Eth.getTransactionCount({ address: owner.address, block: "latest" })),
      Effect.flip(Eth.getBlock({ block: "latest" })),
    ]);
    const refused = { reason: { _tag: "UpstreamUnavailable", detail: expect.stringContaining("much later blocks") } };
    expect(await Effect.runPromise(ofOld.pipe(Effect.provide(longAgo)))).toMatchObject([refused, refused]);
    const lag = quorum(honest(), lagging(scene.url, 1n, false));
    const count = Eth.getTransactionCount({ address: owner.address, block: "latest" }).pipe(Effect.provide(lag));
    expect(await Effect.runPromise(count)).toBe(BigInt(await scene.count(owner.address)));
  });

  it("is not ready where one names another receiver of native currency", async () => {
    const at = await scene.deploy(passOn);
    const input = { from: owner.address, to: at, value: 5n, data: padded(other.address) };
    const isNative = (log: unknown): boolean => /^0xe{40}$/i.test(String(Object(log)["address"]));
    const told = (change: (log: { topics: ReadonlyArray<string> }) => ReadonlyArray<unknown>): Lie => ({
      method: "eth_simulateV1",
      tell: (blocks) =>
        JSON.parse(JSON.stringify(blocks), (name, value: unknown) =>
          name === "logs" && Array.isArray(value)
            ? value.flatMap((log) => (isNative(log) ? change(log) : [log]))
            : value,
        ),
    });
    const to = padded(other.address);
    const lies = {
      another: told((log) => [{ ...log, topics: log.topics.map((word) => (word === to ? padded(nobody) : word)) }]),
      none: told(() => []),
    };
    expect((await preflightOn(quorum(honest(), honest()), input)).verdict).toBe("ready");
    for (const [name, lie] of Object.entries(lies))
      for (const run of ["next", "exact", null] as const)
        for (const isFirst of [true, false]) {
          const lying = liar(scene.url, lie, run, { count: 0 });
          const report = await preflightOn(isFirst ? quorum(lying, honest()) : quorum(honest(), lying), input);
          // why: that the second keeps silent is what a client does that traces nothing
          const isSilent = name === "none" && !isFirst;
          if (!isSilent) expect([name, run, isFirst, report.verdict]).not.toContain("ready");
          if (name === "another")
            expect([run, isFirst, codesOf(report), isHeld(report)]).toEqual([run, isFirst, codesOf(report), true]);
        }
  });
});

describe("the endpoints of a quorum", () => {
  const url = (host: string) => ({ url: `https://${host}/v3/secretkey` });
  it.each([
    ["none", [], {}, "endpoints"],
    ["one", [url("a.example.org")], {}, "endpoints"],
    ["two of one provider", [url("a.example.org"), url("b.example.org")], {}, "endpoints"],
    [
      "two of one name",
      [
        { ...url("a.org"), provider: "X" },
        { ...url("b.org"), provider: "x " },
      ],
      {},
      "endpoints",
    ],
    ["a public suffix", [url("a.co.uk"), url("b.org")], {}, "endpoints[0].provider"],
    ["shared hosting", [url("a.org"), url("b.workers.dev")], {}, "endpoints[1].provider"],
    ["no URL", [url("a.org"), { url: "ws://b.org" }], {}, "endpoints[1].url"],
    ["agree of one", [url("a.org"), url("b.org")], { agree: 1 }, "agree"],
    ["agree of more than there are", [url("a.org"), url("b.org"), url("c.b.org")], { agree: 3 }, "agree"],
    ["agree of a half", [url("a.org"), url("b.org")], { agree: 1.5 }, "agree"],
    ["no time", [url("a.org"), url("b.org")], { waitMs: 0 }, "waitMs"],
  ] as const)("are refused as one: %s", async (_, endpoints, options, field) => {
    const refused = expect(() => Rpc.quorum(endpoints, options));
    refused.toThrow(expect.objectContaining({ _tag: "InvalidConnection", field }));
    refused.not.toThrow(/secretkey/);
  });

  it("are accepted where addresses, ports or names differ", async () => {
    const pairs = [
      ["http://127.0.0.1:8545", "http://127.0.0.1:8546"],
      ["http://localhost:1", "https://rpc.example.org/key"],
      ["https://mainnet.one.io/key", "https://mainnet.two.io/key"],
    ];
    for (const pair of pairs) {
      const layer = Rpc.quorum(pair.map((one) => ({ url: one })));
      expect(
        await Effect.runPromise(Rpc.Rpc.use(({ endpoint }) => Effect.succeed(endpoint)).pipe(Effect.provide(layer))),
      ).toContain(", ");
    }
  });
});
