/** The examples, executed against a real node. */
import { once } from "node:events";
import { spawnSync } from "node:child_process";
import type { AddressInfo } from "node:net";
import { createWalletClient, http, publicActions, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { payOnce } from "../examples/bot.js";
import { Token } from "../examples/contracts.js";
import { dryRun } from "../examples/dry-run.js";
import { walletBackend } from "../examples/wallet-backend.js";
import { accounts, mineAnvil, startAnvil, type Node } from "./harness/anvil.js";
import { findGethOrWarn, startGethDev } from "./harness/geth.js";
import { root } from "./harness/sources.js";

const [owner, alice, bob] = accounts;
let node: Node;
let token: Address;

const deploy = async (): Promise<Address> => {
  const client = createWalletClient({
    account: privateKeyToAccount(owner.privateKey),
    chain: foundry,
    transport: http(node.url),
  }).extend(publicActions);
  const hash = await client.deployContract({ abi: Token.abi, bytecode: Token.bytecode, args: [1_000n] });
  await mineAnvil(node.url);
  const { contractAddress } = await client.getTransactionReceipt({ hash });
  if (contractAddress === null || contractAddress === undefined) throw new Error("not deployed");
  return contractAddress;
};

const balanceOf = (account: Address): Promise<bigint> =>
  createWalletClient({ chain: foundry, transport: http(node.url) })
    .extend(publicActions)
    .readContract({ address: token, abi: Token.abi, functionName: "balanceOf", args: [account] });

beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  token = await deploy();
});
afterAll(() => node.stop());

const geth = findGethOrWarn("examples/dry-run.ts on a node that simulates deployments");

describe("examples/dry-run.ts", () => {
  it.skipIf(geth === null)("deploys and uses a contract in one bundle, without sending anything", async () => {
    const chain = await startGethDev(geth ?? "");
    try {
      const report = await dryRun(chain.url, alice.address, 0);
      expect(report.transactions.map(({ outcome }) => outcome.status)).toEqual(["success", "success"]);
      expect(report.verdict).toBe("ready");
    } finally {
      await chain.stop();
    }
  });

  it("is not ready on anvil, which refuses to simulate a deployment", async () => {
    const report = await dryRun(node.url, alice.address, 0);
    expect(report.transactions).toHaveLength(2);
    expect(["unknown", "blocked"]).toContain(report.verdict);
  });
});

describe("examples/bot.ts", () => {
  it("pays what can be paid, exactly once, and skips what would revert", async () => {
    const round = await payOnce(node.url, owner.privateKey, token, bob.address, 40n);
    expect(round).toHaveProperty("sent");
    await mineAnvil(node.url);
    expect(await balanceOf(bob.address)).toBe(40n);
    const skipped = await payOnce(node.url, alice.privateKey, token, bob.address, 1n);
    expect(skipped).toMatchObject({ tryAgain: false });
    expect("skipped" in skipped ? skipped.skipped : "").toContain("ERC20InsufficientBalance");
  });

  it("stops when it is told to", async () => {
    const reason = new Error("shutting down");
    const stopped = payOnce(node.url, owner.privateKey, token, bob.address, 1n, AbortSignal.abort(reason));
    await expect(stopped).rejects.toBe(reason);
  });
});

describe("examples/wallet-backend.ts", () => {
  it("reports, clears what it reported, and says why not", async () => {
    const server = walletBackend(node.url).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const post = async (path: string, body: unknown) => {
      const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const wish = { from: alice.address, to: bob.address, value: "1" };
    const report = await post("/preflight", wish);
    expect([report.status, report.body["verdict"]]).toEqual([200, "ready"]);
    const clearance = await post("/clear", report.body);
    expect(clearance.status).toBe(200);
    expect(clearance.body["requests"]).toHaveLength(1);
    const poor = await post("/preflight", { ...wish, value: String(10n ** 30n) });
    expect(await post("/clear", poor.body)).toMatchObject({ status: 409, body: { code: "InsufficientFunds" } });
    expect(await post("/preflight", { ...wish, to: "0x12" })).toMatchObject({ status: 400, body: { field: "to" } });
    expect((await post("/preflight", "{")).status).toBe(400);
    expect((await post("/nowhere", {})).status).toBe(404);
    server.close();
    server.closeAllConnections();
  });
});

describe("examples/demo.ts", () => {
  it("shows six verdicts as expected and ends its node", () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", "tsx", "--conditions=@evm-preflight/source", "examples/demo.ts"],
      { cwd: root, encoding: "utf8", timeout: 60_000 },
    );
    expect(stdout).not.toContain("!!");
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout.match(/^(READY|BLOCKED|CAUTION|UNKNOWN)\b/gm)).toEqual([
      "READY",
      "BLOCKED",
      "READY",
      "BLOCKED",
      "BLOCKED",
      "READY",
    ]);
    expect(stdout).toContain("npx evm-preflight check --rpc-url");
  });
});
