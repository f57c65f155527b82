/** `log` of the Promise and viem doors: what happens, as plain data, and never in the way. */
import { createPublicClient, http } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { createPreflight, type LogEvent } from "../../src/promise.js";
import { layerScripted, rpcError, silence } from "../../src/testing.js";
import { preflightActions } from "../../src/viem.js";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";

let node: Node;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  await mineAnvil(node.url);
});
afterAll(() => node.stop());

const [alice, bob] = [accounts[1], accounts[2]];
const transfer = { from: alice.address, to: bob.address, value: 1n };

const collecting = () => {
  const events: Array<LogEvent> = [];
  return {
    log: (event: LogEvent) => void events.push(event),
    events,
    requests: () => events.flatMap((event) => (event.type === "request" ? [event] : [])),
    reports: () => events.flatMap((event) => (event.type === "report" ? [event] : [])),
  };
};

describe("the option log", () => {
  it("gets every request, as in the ledger, and then the report", async () => {
    const { log, events, requests, reports } = collecting();
    await using preflight = createPreflight({ url: node.url }, { log });
    const report = await preflight.run(transfer);
    const sorted = (entries: ReadonlyArray<object>) => entries.map((entry) => JSON.stringify(entry)).sort();
    const { ledger } = report;
    expect(sorted(requests())).toEqual(
      sorted(ledger.requests.map((entry) => ({ type: "request", ...entry, error: null }))),
    );
    expect(reports()).toEqual([
      {
        ...{ type: "report", operation: "preflight", chainId: 31337, stage: "proven", verdict: "ready" },
        because: report.because,
        transactions: 1,
        rounds: 2,
        requests: ledger.requests.length,
        ms: expect.any(Number),
      },
    ]);
    expect(events.at(-1)?.type).toBe("report");
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
    const proven = await preflight.prove(await preflight.scan(transfer));
    expect(reports().map(({ operation, rounds }) => [operation, rounds])).toEqual([
      ["preflight", 2],
      ["scan", 1],
      ["prove", proven.ledger.rounds],
    ]);
  });

  it("gets the reason of a failed request, once for all its tries", async () => {
    const { log, requests, reports } = collecting();
    const limited = rpcError({ code: -32005, message: "limit exceeded" });
    const layer = layerScripted({ eth_feeHistory: limited }, Rpc.layerHttp(node.url), {
      ...{ retryTimes: 2, retryBaseMs: 1 },
    });
    await using preflight = createPreflight({ layer }, { log });
    await preflight.scan(transfer);
    const [failed, ...others] = requests().filter(({ method }) => method === "eth_feeHistory");
    expect(failed).toMatchObject({ error: "RateLimited", tries: 3, step: "fee", round: 1, endpoint: "scripted node" });
    expect(others).toEqual([]);
    expect(reports()).toHaveLength(1);
  });

  it("gets requests outside the pipeline, and interrupted ones", async () => {
    const { log, requests } = collecting();
    const layer = layerScripted({ eth_feeHistory: silence }, Rpc.layerHttp(node.url));
    await using preflight = createPreflight({ layer }, { log });
    await preflight.effect(Eth.chainId);
    expect(requests()).toMatchObject([{ method: "eth_chainId", step: null, run: null, error: null }]);
    const controller = new AbortController();
    const asking = preflight.scan(transfer, { signal: controller.signal });
    const reason = new Error("gone");
    setTimeout(() => controller.abort(reason), 20);
    await expect(asking).rejects.toBe(reason);
    const [interrupted] = requests().filter(({ method }) => method === "eth_feeHistory");
    expect(interrupted).toMatchObject({ error: "Interrupted", tries: 1 });
  });

  it("never breaks a run, whatever it throws or rejects with", async () => {
    const unhandled: Array<unknown> = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      let told = 0;
      const throwing = () => {
        told++;
        throw new Error("the log is full");
      };
      const rejecting = () => Promise.reject(new Error("the log is far"));
      for (const log of [throwing, rejecting]) {
        await using preflight = createPreflight({ url: node.url }, { log });
        expect((await preflight.run(transfer)).verdict).toBe("ready");
      }
      expect(told).toBeGreaterThan(5);
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("cannot change the report", async () => {
    const forging = (event: LogEvent) => void Object.assign(event, { method: "forged", verdict: "ready" });
    await using preflight = createPreflight({ url: node.url }, { log: forging });
    const report = await preflight.run({ ...transfer, value: 10n ** 30n });
    expect(report.verdict).toBe("blocked");
    expect(report.ledger.requests.map(({ method }) => method)).not.toContain("forged");
  });

  it("works in viem clients too", async () => {
    const { log, requests, reports } = collecting();
    const client = createPublicClient({ transport: http(node.url) }).extend(preflightActions({ log }));
    const report = await client.scan(transfer);
    expect(requests()).toHaveLength(report.ledger.requests.length);
    expect(reports().map(({ operation }) => operation)).toEqual(["scan"]);
  });
});
