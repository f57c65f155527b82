/** What a proof notices: a world that moved, runs that cannot be compared, answers that lie, and no order of arrival. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import fc from "fast-check";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BlockNotFound, InternalError, MethodNotSupported, RpcError, SimBlockOrder } from "../rooms/errors.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import {
  codesOf,
  other,
  owner,
  preflight,
  preflightOn,
  prove,
  proveOn,
  purposeOf,
  refusedWith,
  scan,
  scanOn,
  scenesFor,
  severe,
  spare,
  tampered,
  type Scene,
} from "./scene.js";
import { furnish, passing, transferOf, turn } from "./furnished.js";
import { environmentSays, rewritten } from "./wire.js";

describe.each(scenesFor("proofs"))("on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
    await turn({ scene, gate }, "open");
    await scene.mine();
  });
  afterAll(() => scene?.stop());

  const transfer = () => transferOf(token);
  const pass = () => passing(gate);

  describe("an older report", () => {
    it("stays ready while nothing moved, and gets a new age", async () => {
      const report = await preflight(scene.url, transfer());
      const again = await prove(scene.url, report);
      expect([again.verdict, again.stage, again.digest]).toEqual(["ready", "proven", report.digest]);
      expect(again.observed.at).toBeGreaterThanOrEqual(report.observed.at);
      expect(again.transactions.map(({ request }) => request)).toEqual(
        report.transactions.map(({ request }) => request),
      );
    });

    it("notices that its nonce was used", async () => {
      const report = await preflight(scene.url, { from: spare.address, to: other.address, value: 1n });
      expect(report.verdict).toBe("ready");
      await scene.send(spare, { to: other.address, value: 7n });
      // nobody asked to replace the one that is in flight now
      const pending = await prove(scene.url, report);
      expect([pending.verdict, (await refusedWith(pending))._tag]).toEqual(["blocked", "NonceTooLow"]);
      await scene.mine();
      await scene.mine();
      const used = await prove(scene.url, report);
      expect([used.verdict, (await refusedWith(used))._tag]).toEqual(["blocked", "NonceTooLow"]);
    });

    it("notices that its outcome changed", async () => {
      const report = await preflight(scene.url, pass());
      await turn({ scene, gate }, "close");
      const closed = await prove(scene.url, report);
      expect([closed.verdict, (await refusedWith(closed))._tag]).toEqual(["blocked", "ExecutionReverted"]);
      expect(codesOf(closed)).toContain("OutcomeChanged/warning");
      await turn({ scene, gate }, "open");
      const open = await prove(scene.url, report);
      expect(open.verdict).toBe("ready");
      await scene.mine();
    });

    it("notices that the funds are gone", async () => {
      const half = ((await scene.balance(spare.address)) * 2n) / 3n;
      const report = await preflight(scene.url, { from: spare.address, to: other.address, value: half });
      expect(report.verdict).toBe("ready");
      const spending = { from: spare.address, to: owner.address, value: half };
      const spent = await preflight(scene.url, spending);
      expect(spent.verdict).toBe("ready");
      await scene.send(spare, { to: owner.address, value: half });
      await scene.mine();
      expect((await prove(scene.url, report)).verdict).toBe("blocked");
    });

    it("notices that the base fee rose above its cap", async () => {
      const report = await preflight(scene.url, transfer());
      const raised = tampered(scene.url, ({ purpose }) =>
        purpose === "alone" ? environmentSays("baseFee", (10n ** 15n).toString(16).padStart(64, "0")) : null,
      );
      const dear = await proveOn(raised, report);
      expect([dear.verdict, (await refusedWith(dear))._tag]).toEqual(["blocked", "FeeCapTooLow"]);
    });

    it("is not proven by another chain's node", async () => {
      // a strict node does not answer eth_chainId, so that the requests alone name the chain
      const strict = tampered(scene.url, ({ method }) =>
        method === "eth_chainId" ? new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }) : null,
      );
      const report = await preflightOn(strict, transfer());
      expect([report.verdict, report.observed.namedChainId]).toEqual(["ready", null]);
      const transactions = Arr.map(report.transactions, (one) => ({
        ...one,
        request: one.request === null ? null : { ...one.request, chainId: 5 },
      }));
      const elsewhere = await prove(scene.url, { ...report, chainId: 5, transactions });
      expect(elsewhere.verdict).toBe("blocked");
      expect(await refusedWith(elsewhere)).toMatchObject({
        _tag: "ChainIdMismatch",
        expected: 5n,
        actual: BigInt(scene.chainId),
      });
    });
  });

  it.each(["exact", "next"])(
    "a head that moved under %s is asked for, and both worlds once more on it",
    async (world) => {
      const order = new RpcError({ method: "eth_simulateV1", reason: new SimBlockOrder({ detail: "" }) });
      const moved = (until: number) =>
        tampered(scene.url, ({ purpose, before }) => (purpose === world && before < until ? order : null));
      const once = await preflightOn(moved(1), transfer());
      // of a pending state that is no more the sealed block stands in, whose header is known
      expect([once.verdict, once.ledger.rounds]).toEqual(["ready", world === "exact" ? 3 : 4]);
      const always = await preflightOn(moved(9), transfer());
      expect(always.verdict).toBe("unknown");
      expect(severe(always)).toContain("SimBlockOrder/unavailable");
    },
  );

  it("a second run that behaves differently is theatre", async () => {
    const theatre = tampered(scene.url, ({ purpose }) =>
      purpose === "next"
        ? rewritten((block) => ({
            ...{ ...block, logsBloom: `0x${"00".repeat(256)}` },
            calls: block.calls.map((call, index) => (index === 1 ? { ...call, logs: [] } : call)),
          }))
        : null,
    );
    const report = await preflightOn(theatre, transfer());
    expect([report.verdict, (await refusedWith(report))._tag]).toEqual(["blocked", "SimulationDiverged"]);
  });

  it("a scan whose simulation was lost is proven with caution only", async () => {
    const lost = tampered(scene.url, ({ purpose }) =>
      purpose === "bare" ? new RpcError({ method: "eth_simulateV1", reason: new InternalError({ detail: "" }) }) : null,
    );
    for (const input of [pass(), transfer()]) {
      const report = await preflightOn(lost, input);
      expect([report.verdict, report.stage]).toEqual(["caution", "proven"]);
      const again = await prove(scene.url, report);
      expect(again.verdict).toBe("ready");
    }
  });

  it("policies that throw, or are lost, never pass", async () => {
    const throwing = Policy.make("throws", () => {
      throw new Error("broken");
    });
    const report = await preflight(scene.url, transfer(), { policies: [throwing] });
    expect([report.verdict, codesOf(report).at(-1)?.startsWith("Policy")]).toEqual(["unknown", true]);
    const fine = await preflight(scene.url, transfer(), { policies: [Policy.make("fine", () => Policy.pass)] });
    expect(fine.verdict).toBe("ready");
    const restored = await Effect.runPromise(Report.fromJson(Report.toJson(fine)));
    expect((await prove(scene.url, restored)).verdict).toBe("unknown");
    expect((await prove(scene.url, restored, { policies: [] })).verdict).toBe("ready");
  });

  it("wrong options of a proof are told, and forgotten with the next right ones", async () => {
    const report = await preflight(scene.url, transfer());
    const refused = await prove(scene.url, report, { tolerance: 7 });
    expect([refused.verdict, severe(refused)]).toEqual(["unknown", ["OptionsRefused/unavailable"]]);
    expect((await prove(scene.url, refused)).verdict).toBe("ready");
  });

  it("the order in which answers arrive decides nothing", async () => {
    // one tape per run, for the witness's place in it is random; per parameters of everything else
    const tape = new Map<string, unknown>();
    const asked = (method: string, params: ReadonlyArray<unknown>) =>
      Effect.map(Effect.service(Rpc.CurrentRun), (current) =>
        method === "eth_simulateV1" ? purposeOf(method, params, current) : `${method} ${JSON.stringify(params)}`,
      );
    const recording = Effect.map(Rpc.Rpc, (node) =>
      Rpc.Rpc.of({
        ...node,
        request: (method, params) =>
          Effect.gen(function* () {
            const result = yield* Effect.result(node.request(method, params));
            tape.set(yield* asked(method, params), result);
            return yield* Effect.fromResult(result);
          }),
      }),
    );
    const input = [transfer(), pass()];
    const layer = Rpc.layerHttp(scene.url, { retryTimes: 0 });
    const record = Effect.flatMap(recording, (node) =>
      Effect.provideService(Preflight.scan(input as never), Rpc.Rpc, node),
    );
    const first = await Effect.runPromise(record.pipe(Effect.provide(layer)));
    const comparable = (report: Report.Report) => ({
      ...report,
      ledger: null,
      observed: { ...report.observed, at: 0 },
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(12), { minLength: 24, maxLength: 24 }), async (delays) => {
        let next = 0;
        const replay = Rpc.Rpc.of({
          endpoint: "tape",
          memory: Rpc.memoryOf(() => 0, 0),
          admit: (run) => run,
          request: (method, params) =>
            Effect.flatMap(asked(method, params), (key) => {
              const result = tape.get(key);
              if (result === undefined)
                return Effect.fail(new RpcError({ method, reason: new BlockNotFound({ detail: "not on tape" }) }));
              return Effect.delay(Effect.fromResult(result as never), delays[next++ % delays.length] ?? 0);
            }),
        });
        const report = await Effect.runPromise(Effect.provideService(Preflight.scan(input as never), Rpc.Rpc, replay));
        expect(comparable(report)).toEqual(comparable(first));
      }),
      { numRuns: 15 },
    );
  });

  it("scans give the same report twice", async () => {
    const once = await scan(scene.url, transfer());
    const twice = await scanOn(
      tampered(scene.url, () => null),
      transfer(),
    );
    expect(Report.diff(once, twice).filter(({ path }) => !path.startsWith("observed"))).toEqual([]);
  });
});
