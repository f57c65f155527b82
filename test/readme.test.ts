/** The README shows what is true: its sample is a file, its report is what the sample prints. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runSample } from "../scripts/readme.js";
import { mineAnvil, accounts, rawRequest, startAnvil } from "./harness/anvil.js";
import { root } from "./harness/sources.js";
import { findRedis, freePort, startRedis } from "./nonces/servers.js";

const readme = readFileSync(join(root, "README.md"), "utf8");
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(readme)?.[1] ?? "";
const redis = findRedis("the README's sample on Redis");

/** Runs an example as its reader does; not in this thread, on which the servers' output is read. */
const runExample = async (name: string, { url, port }: { readonly url: string; readonly port: number }) => {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--conditions=@evm-preflight/source", `examples/${name}.ts`],
    {
      cwd: root,
      timeout: 300_000,
      env: {
        ...process.env,
        ETH_RPC_URL: url,
        REDIS_URL: `redis://127.0.0.1:${port}`,
        PRIVATE_KEY: accounts[0].privateKey,
      },
    },
  );
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { stdout, stderr, status };
};

/** Numbers, times and hashes differ from run to run, and with them the line breaks. */
const shape = (text: string) =>
  text
    .replace(/0x[0-9a-f]{64}/g, "0x…")
    .replace(/\d+(?:[.,:-]\d+)*/g, "#")
    .replace(/\s+/g, " ")
    .trim();

describe("README.md", () => {
  it("shows examples/first.ts unchanged", () => {
    expect(block("ts")).toBe(readFileSync(join(root, "examples/first.ts"), "utf8"));
  });

  it("shows what that example prints", async () => {
    const { stdout, stderr, status } = await runSample();
    expect([stderr, status]).toEqual(["", 0]);
    expect(shape(block("text"))).toBe(shape(stdout));
  });

  it.skipIf(redis === null)(
    "has an example nonces.ts that sends on a new Redis, and again on the used one",
    async () => {
      const port = await freePort();
      const [server, node] = await Promise.all([
        startRedis(redis ?? "", { args: ["--port", String(port)] }),
        startAnvil({}),
      ]);
      try {
        const run = () => runExample("nonces", { url: node.url, port });
        const first = await run();
        expect([first.stderr, first.status]).toEqual(["", 0]);
        const again = await run();
        expect([again.stderr, again.status]).toEqual(["", 0]);
        const hashes = [first, again].map(({ stdout }) => /sent: (0x[0-9a-f]{64})/.exec(stdout)?.[1]);
        // anvil answers before it has mined
        await mineAnvil(node.url);
        const mined = hashes.map((hash) => rawRequest(node.url, "eth_getTransactionReceipt", [hash]));
        expect(await Promise.all(mined)).toMatchObject([{ status: "0x1" }, { status: "0x1" }]);
      } finally {
        await Promise.all([server.stop(), node.stop()]);
      }
    },
    90_000,
  );
});
