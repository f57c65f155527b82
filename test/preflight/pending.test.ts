/** What is in flight, and what the node's pending state holds of it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classify, type RpcError } from "../rooms/errors.js";
import { faults, startProxy } from "../harness/proxy.js";
import {
  codesOf,
  other,
  owner,
  preflight,
  preflightOn,
  quantity,
  scan,
  scanOn,
  scenesFor,
  tampered,
  type Purpose,
  type Scene,
} from "./scene.js";

describe.each(scenesFor("pending state"))("on %s", (name, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
  });
  afterAll(() => scene?.stop());

  it("a transaction of the same nonce in flight: replaced, with fees that are enough for it", async () => {
    const nonce = await scene.count(owner.address);
    await scene.send(owner, { to: other.address, value: 1n });
    const report = await preflight(scene.url, { from: owner.address, to: other.address, value: 2n, nonce });
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    expect(codesOf(report)).toContain("ReplacesPending/info");
    expect(report.transactions[0].fee.maxPriorityFeePerGas).toBeGreaterThanOrEqual(1_100_000_000n);
    const next = await preflight(scene.url, { from: owner.address, to: other.address, value: 2n });
    expect(next.transactions[0].nonce).toMatchObject({ value: nonce + 1, next: nonce + 1, latest: nonce, inFlight: 1 });
    expect(next.verdict).toBe("ready");
    const latest = await preflight(
      scene.url,
      { from: owner.address, to: other.address, value: 2n },
      { block: "latest" },
    );
    expect([latest.verdict, latest.transactions[0].nonce.value]).toEqual(["caution", nonce + 1]);
    expect(codesOf(latest)).toContain("PredecessorsNotSimulated/warning");
    await scene.mine();
  });

  it("counts that include a pool which the simulated state does not hold", async () => {
    const proxy = await startProxy({ target: scene.url });
    try {
      const ahead = quantity((await scene.count(other.address)) + 3);
      proxy.fail("eth_getTransactionCount", {
        kind: "map",
        map: (result, { params }) => (params[1] === "pending" ? ahead : result),
      });
      const report = await preflight(proxy.url, { from: other.address, to: owner.address, value: 1n });
      expect(report.transactions[0].nonce.inFlight).toBe(3);
      expect(["caution", "ready"]).toContain(report.verdict);
      if (name === "geth") {
        expect([report.verdict, report.stage]).toEqual(["caution", "proven"]);
        expect(codesOf(report)).toContain("PredecessorsNotSimulated/warning");
        expect(report.transactions[0].outcome.evidence).toBe("assumed");
        expect(report.funds[0]?.balance).toBe(await scene.balance(other.address));
      }
    } finally {
      await proxy.stop();
    }
  });

  it("a node that claims a shortage where there is none is not believed, and not waved through", async () => {
    const transfer = { from: owner.address, to: other.address, value: 1n };
    const error = { code: -38014, message: "insufficient funds for gas * price + value" };
    const shortage = classify({ method: "eth_simulateV1", error }) as RpcError;
    const once = tampered(scene.url, ({ purpose, before }) => (purpose === "bare" && before === 0 ? shortage : null));
    const scanned = await scanOn(once, transfer);
    expect([scanned.verdict, codesOf(scanned)[0], scanned.ledger.rounds]).toEqual([
      "unknown",
      "InsufficientFunds/unavailable",
      2,
    ]);
    const refusing = (...purposes: ReadonlyArray<Purpose>) =>
      preflightOn(
        tampered(scene.url, ({ purpose }) => (purposes.includes(purpose) ? shortage : null)),
        transfer,
      );
    // the run with funds given makes up for the one without, and the proof runs with what is really there
    expect((await refusing("bare")).verdict).toBe("ready");
    expect((await refusing("bare", "funded")).verdict).not.toBe("ready");
    for (const purpose of ["exact", "next"]) expect((await refusing(purpose)).verdict, purpose).toBe("unknown");
  });

  it("a pending state that the node does not have is replaced by the latest", async () => {
    const proxy = await startProxy({ target: scene.url });
    try {
      proxy.fail(
        "eth_simulateV1",
        { kind: "error", error: { code: -32000, message: "pending state is not available" } },
        2,
      );
      const report = await preflight(proxy.url, { from: owner.address, to: other.address, value: 1n });
      expect([report.verdict, report.observed.blockTag, report.ledger.rounds]).toEqual(["ready", "latest", 3]);
      expect(codesOf(report)).toContain("PendingUnavailable/info");
      proxy.reset();
      proxy.fail("eth_simulateV1", faults.html500, 1);
      const scanned = await scan(proxy.url, { from: owner.address, to: other.address, value: 1n });
      expect(scanned.findings.some(({ severity }) => severity === "unavailable" || severity === "info")).toBe(true);
    } finally {
      await proxy.stop();
    }
  });
});
