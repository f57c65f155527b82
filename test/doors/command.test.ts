/** The built command in an empty folder: one file that needs nothing else. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts, startAnvil, type Node } from "../harness/anvil.js";
import { root } from "../harness/sources.js";

const [alice, bob] = accounts;
const built = join(root, "dist/bin/evm-preflight.js");

describe("the built command", () => {
  const folder = mkdtempSync(join(tmpdir(), "evm-preflight-command-"));
  let node: Node;
  beforeAll(async () => {
    copyFileSync(built, join(folder, "evm-preflight.mjs"));
    node = await startAnvil();
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (args: ReadonlyArray<string>, input = "") => {
    const { NODE_PATH: _, ETH_RPC_URL: __, ...env } = process.env;
    return spawnSync(process.execPath, ["evm-preflight.mjs", ...args], { cwd: folder, encoding: "utf8", input, env });
  };

  it("is a single file of at most 2.6 MB", () => {
    expect(statSync(built).size).toBeLessThanOrEqual(2_600_000);
    expect(readdirSync(folder)).toEqual(["evm-preflight.mjs"]);
  });

  it("checks, decodes and explains an endpoint", () => {
    const check = run([
      "check",
      "--rpc-url",
      node.url,
      "--from",
      alice.address,
      "--to",
      bob.address,
      "--value",
      "1wei",
    ]);
    expect([check.status, check.stderr, check.stdout]).toEqual([0, "", expect.stringMatching(/^READY/)]);
    const decoded = run([
      "decode",
      `0x08c379a0${"20".padStart(64, "0")}${"2".padStart(64, "0")}${"6e6f".padEnd(64, "0")}`,
    ]);
    expect([decoded.status, decoded.stdout]).toEqual([0, expect.stringContaining("no")]);
    expect(run(["doctor", node.url]).stdout).toContain("eth_simulateV1");
  });

  it("has the clients of both stores, and the server for agents", () => {
    for (const url of [
      ["--redis-url", "redis://127.0.0.1:1"],
      ["--postgres-url", "postgres://127.0.0.1:1/none"],
    ]) {
      const { status, stderr } = run(["nonces", "status", ...url]);
      expect([status, stderr]).toEqual([69, expect.stringContaining("the store cannot be reached")]);
    }
    const wrong = run(["nonces", "status", "--redis-url", "http://127.0.0.1:1"]);
    expect([wrong.status, wrong.stderr]).toEqual([64, expect.stringContaining("must be a redis://")]);
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const hello = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
    expect(run(["mcp", "--rpc-url", node.url], hello).stdout).toContain(`"evm-preflight"`);
  });
});
