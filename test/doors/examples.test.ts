/** The examples as the package brings them, run by tsx in a CommonJS package and in one of ES modules. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts, startAnvil, type Node } from "../harness/anvil.js";
import { root } from "../harness/sources.js";
import { installPacked, type Installed } from "./packed.js";

const [, alice, bob] = accounts;

describe.each(["commonjs", "module"])("the examples in a package of type %s", (type) => {
  let installed: Installed;
  let app: string;
  let node: Node;
  beforeAll(async () => {
    installed = installPacked();
    app = join(installed.folder, "app");
    mkdirSync(app);
    // why: npm leaves the type out, which means CommonJS
    writeFileSync(join(app, "package.json"), JSON.stringify(type === "module" ? { type } : {}));
    cpSync(join(installed.package, "examples"), app, { recursive: true });
    const modules = join(installed.folder, "node_modules");
    mkdirSync(join(modules, "@effect"), { recursive: true });
    for (const name of ["redis", "@effect/platform-node", "@foundry-rs"])
      symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
    node = await startAnvil();
  });
  afterAll(async () => {
    await node.stop();
    installed.remove();
  });

  const run = (name: string, args: ReadonlyArray<string> = [], env: Readonly<Record<string, string>> = {}) => {
    const { PRIVATE_KEY: _, ...rest } = process.env;
    const tsx = join(root, "node_modules/tsx/dist/cli.mjs");
    const options = { cwd: app, encoding: "utf8", env: { ...rest, ETH_RPC_URL: node.url, ...env } } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [tsx, `${name}.ts`, ...args], options);
    return { status, stdout, stderr };
  };

  it.each(["agent", "bot", "dry-run", "fee-model", "nonces", "own-step", "policies", "x402"])(
    "%s says in one line what it does and what it takes",
    (name) => {
      const line = new RegExp(`^[A-Z][^\n]+\\. Usage: [^\n]*npx tsx ${name}\\.ts[^\n]*\n$`);
      expect(run(name)).toEqual({ status: 64, stdout: "", stderr: expect.stringMatching(line) });
    },
    60_000,
  );

  it.each<readonly [name: string, args: ReadonlyArray<string>, status: number, says: RegExp]>([
    ["first", [], 0, /^READY[^]*sign exactly this:/],
    ["wallet-api", [], 0, /^The routes of a wallet's backend, .*\n\{\n {2}"openapi"/],
    ["dry-run", ["URL", alice.address], 3, /^UNKNOWN[^]*DeploymentNotSimulated/],
    ["policies", ["URL", alice.address, bob.address, "1"], 0, /^READY/],
    ["agent", ["URL", bob.address, "1"], 0, /^\{\s+sent: '0x[0-9a-f]{64}',\s+changed: false\s+\}\n$/],
    ["fee-model", ["URL", bob.address, alice.address], 0, /^UNKNOWN[^]*L1FeeUnknown/],
    ["own-step", ["URL", bob.address, bob.address, alice.address, bob.address], 0, /^[A-Z]+ ·/],
    ["names", [], 0, /claimEpochFor/],
    ["demo", [], 0, /━━ 6\.[^]*npx evm-preflight check/],
  ])(
    "%s runs without an error",
    (name, args, status, says) => {
      const all = args.map((arg) => (arg === "URL" ? node.url : arg));
      const ended = run(name, all, name === "agent" ? { PRIVATE_KEY: alice.privateKey } : {});
      expect(ended).toEqual({ status, stdout: expect.stringMatching(says), stderr: "" });
    },
    60_000,
  );

  it("wallet-backend serves on a port, and says where", async () => {
    const tsx = join(root, "node_modules/tsx/dist/cli.mjs");
    const server = spawn(process.execPath, [tsx, "wallet-backend.ts", node.url, "0"], { cwd: app });
    try {
      const [line] = (await Promise.race([once(server.stdout, "data"), once(server, "exit")])) as [unknown];
      const [, url = ""] = /^A wallet's backend: .* on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(String(line)) ?? [];
      expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
    } finally {
      server.kill();
    }
  }, 60_000);
});
