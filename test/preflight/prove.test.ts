/** What a proof notices: a world that moved, runs that cannot be compared, and answers that lie. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InternalError, MethodNotSupported, PendingUnavailable, RpcError, SimBlockOrder } from "../rooms/errors.js";
import * as Policy from "../../src/Policy.js";
import * as Report from "../../src/Report.js";
import {
  codesOf,
  preflight,
  preflightOn,
  prove,
  proveOn,
  refusedWith,
  scenesFor,
  severe,
  tampered,
  type Scene,
} from "./scene.js";
import { furnish, passing, transferOf, turn } from "./furnished.js";
import { environmentSays, rewritten } from "./wire.js";

describe.each(scenesFor("proofs"))("prove on %s", (_, start) => {
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

  describe("prove of an older report", () => {
    it("notices that the base fee rose above its cap", async () => {
      const report = await preflight(scene.url, transfer());
      const raised = tampered(scene.url, ({ purpose }) =>
        purpose === "readerOnly" ? environmentSays("baseFee", (10n ** 15n).toString(16).padStart(64, "0")) : null,
      );
      const dear = await proveOn(raised, report);
      expect([dear.verdict, (await refusedWith(dear))._tag]).toEqual(["blocked", "FeeCapTooLow"]);
    });

    it("does not accept chain id 0, which no transaction is signed for", async () => {
      const unsupported = (method: string) => new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) });
      const nowhere = tampered(scene.url, ({ method }) =>
        method === "eth_chainId"
          ? () => "0x0"
          : method === "eth_simulateV1" || method === "eth_call"
            ? unsupported(method)
            : null,
      );
      const report = await preflightOn(nowhere, transfer());
      expect([report.verdict, report.chainId, report.transactions[0].request]).toEqual(["unknown", null, null]);
    });

    it("refuses another chain's node", async () => {
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
    "asks for a head that moved under %s, and runs both blocks once more on it",
    async (world) => {
      const order = new RpcError({ method: "eth_simulateV1", reason: new SimBlockOrder({ detail: "" }) });
      const moved = (until: number) =>
        tampered(scene.url, ({ purpose, before }) => (purpose === world && before < until ? order : null));
      const once = await preflightOn(moved(1), transfer());
      // a header is read after the move, before both worlds run again
      expect([once.verdict, once.ledger.rounds]).toEqual(["ready", 4]);
      const always = await preflightOn(moved(9), transfer());
      expect(always.verdict).toBe("unknown");
      expect(severe(always)).toContain("SimBlockOrder/unavailable");
    },
  );

  it("blocks a contract that behaves differently in the second run", async () => {
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

  it("gives at most caution for a scan whose simulation was lost", async () => {
    const lost = tampered(scene.url, ({ purpose }) =>
      purpose === "ample"
        ? new RpcError({ method: "eth_simulateV1", reason: new InternalError({ detail: "" }) })
        : null,
    );
    for (const input of [pass(), transfer()]) {
      const report = await preflightOn(lost, input);
      expect([report.verdict, report.stage]).toEqual(["caution", "proven"]);
      const again = await prove(scene.url, report);
      expect(again.verdict).toBe("ready");
    }
  });

  it("reports a run that named another chain, also where its state was given up", async () => {
    const scanned = await preflight(scene.url, transfer());
    const named = (chainId: number) => chainId.toString(16).padStart(64, "0");
    const other = (result: unknown): unknown =>
      JSON.parse(JSON.stringify(result).replaceAll(named(scene.chainId), named(4_242)));
    const proven = (isStrange: boolean) =>
      proveOn(
        tampered(scene.url, ({ method, purpose, before }) => {
          if (purpose === "exact" && before === 0)
            return new RpcError({ method, reason: new PendingUnavailable({ detail: "" }) });
          return isStrange && purpose === "next" && before === 0 ? other : null;
        }),
        scanned,
      );
    expect(codesOf(await proven(false))).toContain("PendingUnavailable/info");
    expect(severe(await proven(true))).toContain("ChainIdMismatch/blocker");
  });

  it("never passes policies that throw or were lost", async () => {
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
    // what is plain data is rebuilt of the report alone
    const dear = await preflight(scene.url, transfer(), { policies: [Policy.maxFee(1n)] });
    const rebuilt = await Effect.runPromise(Report.fromJson(Report.toJson(dear)));
    expect(severe(await prove(scene.url, rebuilt))).toEqual(["PolicyViolation/blocker"]);
  });
});
