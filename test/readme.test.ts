/** The README shows what is true: its sample is a file, its report is what the sample prints. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createWalletClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Token } from "../examples/contracts.js";
import { accounts, mineAnvil, startAnvil, type Node } from "./harness/anvil.js";
import { root } from "./harness/sources.js";

const readme = readFileSync(join(root, "README.md"), "utf8");
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(readme)?.[1] ?? "";

/** Numbers, times and hashes differ from run to run, and with them the line breaks. */
const shape = (text: string) =>
  text
    .replace(/0x[0-9a-f]{64}/g, "0x…")
    .replace(/\d+(?:[.,:-]\d+)*/g, "#")
    .replace(/\s+/g, " ")
    .trim();

let node: Node;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  const owner = createWalletClient({
    account: privateKeyToAccount(accounts[0].privateKey),
    chain: foundry,
    transport: http(node.url),
  });
  await owner.deployContract({ abi: Token.abi, bytecode: Token.bytecode, args: [1_000_000_000_000n] });
  await mineAnvil(node.url);
  await owner.writeContract({
    address: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    abi: Token.abi,
    functionName: "transfer",
    args: [accounts[1].address, 100_000_000n],
  });
  await mineAnvil(node.url);
});
afterAll(() => node.stop());

describe("README.md", () => {
  it("shows examples/first.ts as it is", () => {
    expect(block("ts")).toBe(readFileSync(join(root, "examples/first.ts"), "utf8"));
  });

  it("shows what that prints", () => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ["--import", "tsx", "--conditions=@evm-preflight/source", "examples/first.ts"],
      { cwd: root, encoding: "utf8", timeout: 60_000, env: { ...process.env, ETH_RPC_URL: node.url } },
    );
    expect([stderr, status]).toEqual(["", 0]);
    expect(shape(block("text"))).toBe(shape(stdout));
  });

  it("links to files that exist", () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path ?? "");
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
