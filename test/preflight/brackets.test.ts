/**
 * The worlds of a proof bracket the time in which a clearance may be mined: what happens between them, what opens, what
 * closes, what changes by and by, and what it costs.
 */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { type Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RateLimited, RpcError } from "../../src/Errors.js";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { Auction, Token, Vesting } from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { isWhole } from "../harness/parts.js";
import { assemble, watcher } from "./watchers.js";
import {
  calldata,
  cleared,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  preflight,
  preflightOn,
  scenesFor,
  severe,
  tampered,
  third,
  type Scene,
} from "./scene.js";
import { CurrentRun } from "../rooms/rpc.js";

/** Init code of a contract that fails where `condition` leaves zero, and does nothing else. */
const gate = (condition: string): Hex =>
  creation(`${condition}60${(condition.length / 2 + 6).toString(16).padStart(2, "0")}575f5ffd5b00`);
const before = (time: bigint) => assemble(`${time} TIMESTAMP LT`);
const after = (time: bigint) => assemble(`${time} TIMESTAMP GT`);
const outside = (what: "TIMESTAMP" | "NUMBER", from: bigint, to: bigint) =>
  assemble(`${from} ${what} LT ${to} ${what} GT OR`);

const runsOf = ({ ledger }: Report) => ledger.requests.flatMap(({ run }) => (run === null ? [] : [run]));
const worldsOf = ({ observed }: Report) => observed.worlds.map(({ run, agrees }) => [run, agrees]);
const value = 10n ** 16n;

describe.each(scenesFor("brackets"))("the blocks over which a clearance is proven, on %s", (node, start) => {
  let scene: Scene;
  let steady: Hex;
  beforeAll(async () => {
    scene = await start();
    steady = await scene.deploy({ abi: [], bytecode: watcher(assemble("TIMESTAMP")) });
    await scene.mine();
  });
  afterAll(() => scene?.stop());

  const put = async (bytecode: Hex): Promise<Hex> => {
    const at = await scene.deploy({ abi: [], bytecode });
    await scene.mine();
    return at;
  };
  /** The time and number of the next block by a proof of now. */
  const coming = async () => {
    const { observed } = await preflight(scene.url, { from: other.address, to: steady, value });
    const next = observed.worlds.find(({ run }) => run === "next");
    return { time: next?.timestamp ?? 0n, number: next?.number ?? 0n };
  };
  const told = (to: Hex, options: Preflight.Options = {}) =>
    preflight(scene.url, { from: other.address, to, value: 0n, data: "0x01" }, options);
  const paid = (to: Hex, options: Preflight.Options = {}) =>
    preflight(scene.url, { from: other.address, to, value }, options);
  beforeEach(() => scene.mine());

  it("include the end of the clearance and one between, an odd number of blocks and seconds apart", async () => {
    const report = await paid(steady);
    expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
    expect(worldsOf(report)).toEqual([
      ["exact", true],
      ["next", true],
      ["between", true],
      ["twin", true],
      ["between", true],
      ["twin", true],
    ]);
    const [exact, next, ...between] = report.observed.worlds.map(({ timestamp, number }) => [timestamp, number]);
    const away = [...between, exact].map((world) =>
      [0, 1].map((part) => Number((world?.[part] ?? 0n) - (next?.[part] ?? 0n))),
    );
    expect(away).toEqual([
      [13, 1],
      [13, 1],
      [25, 2],
      [37, 3],
      [37, 3],
    ]);
    const [, first, , near, , far] = report.observed.worlds;
    for (const twin of [near, far])
      expect([twin?.feeRecipient, twin?.gasLimit]).toEqual([first?.feeRecipient, first?.gasLimit]);
    expect((near?.baseFeePerGas ?? 0n) * 8n - (far?.baseFeePerGas ?? 0n) * 7n).toBeLessThan(8n);
    expect(report.observed.reads).toEqual(["timestamp", "others"]);
    expect(report.observed.until).toBe(null);
  });

  const windows = Array.from(
    { length: isWhole ? 24 : 4 },
    (_, index) => [9 + (index % 12), 22 + (index % 14)] as const,
  );
  it.each(windows)("show a theft from %i to %i seconds behind the next block", async (from, to) => {
    const { time } = await coming();
    const trap = await put(watcher(outside("TIMESTAMP", time + BigInt(from) + 2n, time + BigInt(to) + 6n)));
    const report = await paid(trap);
    expect([report.verdict, codesOf(report).join()]).toEqual([
      "blocked",
      expect.stringContaining("SimulationDiverged"),
    ]);
  });

  it.each([1n, 2n])("show a contract that is honest except in block number %i behind the next", async (away) => {
    const { number } = await coming();
    // the contract itself takes a block
    const trap = await put(watcher(outside("NUMBER", number + away + 1n, number + away + 1n)));
    expect((await paid(trap)).verdict).toBe("blocked");
  });

  it.each([
    ["half a minute", 33n, "ready", ["ClosesAt/info"]],
    ["twenty seconds", 21n, "ready", ["ClosesAt/info"]],
    ["seven seconds, in which no further block may come", 7n, "caution", ["ClosesAt/warning"]],
    ["a minute", 63n, "ready", []],
  ] as const)("judge a quote that holds %s", async (_, seconds, verdict, codes) => {
    // geth simulates a scan twelve seconds later
    if (node === "geth" && seconds < 12n) return;
    const { time } = await coming();
    const quote = await put(gate(before(time + seconds)));
    const report = await told(quote);
    expect([report.verdict, codesOf(report)]).toEqual([verdict, codes]);
    const { expiresAt } = await cleared(report);
    const whole = report.observed.at + report.options.maxAgeMs;
    if (codes.length === 0) return expect([report.observed.until, expiresAt]).toEqual([null, whole]);
    expect(expiresAt).toBe(report.observed.until);
    expect(expiresAt).toBeLessThan(report.observed.at + Number(seconds) * 1_000);
    expect(expiresAt).toBeGreaterThan(report.observed.at);
    // one more round for the blocks that are left
    expect(report.ledger.requests.filter(({ run }) => run === "exact").map(({ because }) => because)).toEqual([
      "proof",
      "closing",
    ]);
  });

  it.each([5n, 20n, 33n])("are not ready where one opens %i s behind the next", async (seconds) => {
    const { time } = await coming();
    const report = await told(await put(gate(after(time + seconds))));
    // geth simulates a scan twelve seconds later
    const isOpen = node === "geth" && seconds < 12n;
    expect([report.verdict, codesOf(report).includes("NotYet/unavailable")]).toEqual(
      isOpen ? ["unknown", true] : ["blocked", false],
    );
  });

  it("show a contract that fails for a while in between as not ready", async () => {
    const { time } = await coming();
    const report = await told(await put(gate(outside("TIMESTAMP", time + 19n, time + 32n))));
    expect([report.verdict, codesOf(report)]).toEqual(["unknown", ["NotYet/unavailable"]]);
  });

  describe("with amounts that follow the time", () => {
    let token: Hex;
    beforeAll(async () => {
      token = await scene.deploy(Token, ["Token", "TKN", 18]);
      await scene.mine();
    });

    it("give a claim the amount of the nearest block", async () => {
      const vesting = await scene.deploy(Vesting, [token, 1_000n]);
      await scene.mine();
      await scene.seal({ after: 4_000 });
      const report = await preflight(scene.url, {
        from: other.address,
        to: vesting,
        data: calldata(Vesting, "release"),
      });
      expect([report.verdict, severe(report)]).toEqual(["ready", []]);
      expect(codesOf(report)).toContain("FollowsTime/info");
      const received = report.balanceChanges.find(({ account }) => account === other.address.toLowerCase());
      expect(received?.delta).toBeLessThan(4_100_000n);
    });

    it.each([
      ["falls slowly", 3n, "ready", "FollowsTime/info"],
      ["falls by a tenth between two blocks", 100n, "blocked", "SimulationDiverged/blocker"],
    ])("judge an auction that %s", async (_, decay, verdict, code) => {
      const auction = await scene.deploy(Auction, [token, 10_000n * 10n ** 12n, decay * 10n ** 12n]);
      await scene.mine();
      // keeps the price and gives the rest back: what leaves is the price
      const buy = { from: other.address, to: auction, data: calldata(Auction, "buy"), value: 10_000n * 10n ** 12n };
      const report = await preflight(scene.url, buy);
      expect([report.verdict, codesOf(report)]).toEqual([verdict, expect.arrayContaining([code])]);
    });
  });

  it("are two for a plain transfer, and for code that reads nothing and calls nobody", async () => {
    const token = await scene.deploy(Token, ["Token", "TKN", 18]);
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [other.address, 100n]) });
    await scene.mine();
    const transfer = { from: other.address, to: token, data: calldata(Token, "transfer", [third.address, 1n]) };
    for (const input of [{ from: other.address, to: nobody, value: 1n }, transfer] as const) {
      const report = await preflight(scene.url, input);
      expect([report.verdict, report.observed.reads]).toEqual(["ready", []]);
      expect(runsOf(report)).not.toContain("between");
      expect(report.observed.worlds.length).toBe(2);
    }
  });

  it.each([
    [0, 0],
    [1, 1],
    [8, 2],
  ])("are, with `worlds: %i`, %i more blocks between", async (worlds, count) => {
    const report = await paid(steady, { worlds });
    expect(runsOf(report).filter((run) => run === "between").length).toBe(count);
    expect(report.verdict).toBe("ready");
    const long = await paid(steady, { worlds, maxAge: "3 minutes" });
    expect(runsOf(long).filter((run) => run === "between").length).toBe(worlds);
    const [exact, next] = long.observed.worlds;
    expect(Number((exact?.timestamp ?? 0n) - (next?.timestamp ?? 0n))).toBe(181);
  });

  it.each([-1, 9, 1.5, "2"])("are refused by name for `worlds: %j`", async (worlds) => {
    await expect(paid(steady, { worlds } as never)).rejects.toThrow(/worlds/);
  });

  it("make nobody wait for a block between that gets no answer, and report it", async () => {
    const deaf = Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (node) =>
        Rpc.Rpc.of({
          ...node,
          request: (method, params) =>
            Effect.flatMap(Effect.service(CurrentRun), ({ run }) =>
              run === "between" ? Effect.never : node.request(method, params),
            ),
        }),
      ),
    ).pipe(Layer.provide(layerOf(scene.url)));
    const report = await preflightOn(deaf, { from: other.address, to: steady, value }, { deadline: 60_000 });
    // a contract may make the very run too slow that would tell on it
    expect([report.verdict, codesOf(report)]).toEqual(["caution", ["BlocksNotSimulated/warning"]]);
    expect(report.ledger.ms).toBeLessThan(30_000);
  });

  it("leave a refused block between as information", async () => {
    const refusal = new RpcError({
      method: "eth_simulateV1",
      reason: new RateLimited({ detail: "", retryAfterMs: null }),
    });
    const full = tampered(scene.url, ({ purpose }) => (purpose === "between" ? refusal : null));
    const report = await preflightOn(full, { from: other.address, to: steady, value });
    expect([report.verdict, codesOf(report)]).toEqual(["ready", ["BlocksNotSimulated/info"]]);
  });
  it.skipIf(node !== "geth")("do not cut a swap whose deadline is an hour away", async () => {
    const { time } = await coming();
    expect((await told(await put(gate(before(time + 3_600n))))).verdict).toBe("ready");
  });
});
