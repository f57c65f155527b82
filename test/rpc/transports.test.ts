/** Every way of viem to a node: the same report, in two rounds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPreflight } from "evm-preflight/promise";
import { preflightActions } from "evm-preflight/viem";
import { createPublicClient, fallback, http, webSocket, type Transport } from "viem";
import { foundry } from "viem/chains";
import { ipc } from "viem/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";
import { socketUrl } from "../harness/socketUrl.js";

const transfer = { from: accounts[1].address, to: accounts[2].address, value: 1n };
const folder = mkdtempSync(join(tmpdir(), "anvil-"));
const path = join(folder, "anvil.ipc");
let node: Node;
beforeAll(async () => {
  node = await startAnvil({ noMining: true, args: ["--ipc", path] });
  await mineAnvil(node.url);
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ways: ReadonlyArray<readonly [name: string, way: () => Transport]> = [
  ["http", () => http(node.url)],
  ["http with batches", () => http(node.url, { batch: true })],
  ["webSocket", () => webSocket(socketUrl(node.url), { reconnect: false })],
  ["ipc", () => ipc(path, { reconnect: false })],
  ["fallback, the first one dead", () => fallback([http("http://127.0.0.1:9"), http(node.url)])],
];

describe("a viem transport", () => {
  it.each(ways)("of %s proves a transfer in two rounds", async (_, way) => {
    await using preflight = createPreflight({ transport: way() });
    const report = await preflight.run(transfer);
    expect([report.verdict, report.stage, report.ledger.rounds]).toEqual(["ready", "proven", 2]);
    expect((await preflight.ready(report)).requests[0].gas).toBe(21_000n);
  });

  it.each(ways)("of %s serves a client with actions", async (_, way) => {
    const client = createPublicClient({ chain: foundry, transport: way() }).extend(preflightActions());
    expect((await client.scan(transfer)).verdict).toBe("ready");
  });
});
