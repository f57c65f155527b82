/** The examples, executed against a real node. */
import { once } from "node:events";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  createWalletClient,
  encodeFunctionData,
  http,
  publicActions,
  serializeTransaction,
  type Abi,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { payOnce } from "../examples/bot.js";
import { Oracle, Token } from "../examples/contracts.js";
import { dryRun } from "../examples/dry-run.js";
import { transferOn } from "../examples/fee-model.js";
import { walletBackend } from "../examples/wallet-backend.js";
import { accounts, mineAnvil, startAnvil, type Node } from "./harness/anvil.js";
import { findGethOrWarn, startGethDev } from "./harness/geth.js";
import { root } from "./harness/sources.js";

const [owner, alice, bob] = accounts;
let node: Node;
let token: Address;

const deploy = async (
  { abi, bytecode }: { readonly abi: Abi; readonly bytecode: Hex },
  ...args: ReadonlyArray<unknown>
): Promise<Address> => {
  const client = createWalletClient({
    account: privateKeyToAccount(owner.privateKey),
    chain: foundry,
    transport: http(node.url),
  }).extend(publicActions);
  const hash = await client.deployContract({ abi, bytecode, args: [...args] });
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
  token = await deploy(Token, 1_000n);
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
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = walletBackend(node.url).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const post = async (path: string, body: unknown) => {
    const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const wish = { from: alice.address, to: bob.address, value: "1" };
  /** The JSON of a report, as an app gets it. */
  const reported = async (changed: object = {}) => {
    const { status, body } = await post("/preflight", { ...wish, ...changed });
    expect(status).toBe(200);
    return body as Record<string, unknown> & { transactions: [Posted]; options: object };
  };
  interface Posted {
    readonly input: object;
    readonly request: object;
    readonly outcome: object;
  }

  it("reports, clears what it reported, and says why not", async () => {
    const report = await reported();
    expect(report["verdict"]).toBe("ready");
    const clearance = await post("/clear", report);
    expect(clearance.status).toBe(200);
    expect(clearance.body["requests"]).toHaveLength(1);
    const poor = await reported({ value: String(10n ** 30n) });
    expect(await post("/clear", poor)).toMatchObject({ status: 409, body: { code: "InsufficientFunds" } });
    expect(await post("/preflight", { ...wish, to: "0x12" })).toMatchObject({ status: 400, body: { field: "to" } });
    expect((await post("/preflight", "{")).status).toBe(400);
    expect((await post("/clear", { ...report, version: 1 })).status).toBe(400);
    expect((await post("/clear", { ...report, funds: "plenty" })).status).toBe(400);
    expect((await post("/nowhere", {})).status).toBe(404);
  });

  it("clears no report that was made to look better than it is", async () => {
    const better = { findings: [], verdict: "ready", because: "it is fine", stage: "proven" };
    const poor = await reported({ value: String(10n ** 30n) });
    const rich = (poor["funds"] as ReadonlyArray<object>).map((funds) => ({ ...funds, shortfall: "0" }));
    expect(await post("/clear", { ...poor, ...better, funds: rich })).toMatchObject({
      status: 409,
      body: { code: "InsufficientFunds" },
    });
    // nobody gave alice any of it
    const data = encodeFunctionData({ abi: Token.abi, functionName: "transfer", args: [bob.address, 5n] });
    const reverting = await reported({ to: token, value: "0", data });
    const [first] = reverting.transactions;
    const success = { ...first, outcome: { ...first.outcome, status: "success", failure: null, revert: null } };
    expect((await post("/clear", { ...reverting, ...better, transactions: [success] })).status).toBe(409);
  });

  it("clears no report whose requests, outcome or digest were altered", async () => {
    const report = await reported();
    const [first] = report.transactions;
    const more = { value: "2" };
    const less = (report["balanceChanges"] as ReadonlyArray<object>).map((change) => ({ ...change, delta: "0" }));
    const altered: ReadonlyArray<readonly [what: string, change: object, code: string]> = [
      ["the request", { transactions: [{ ...first, request: { ...first.request, ...more } }] }, "NotProven"],
      [
        "the request and the input",
        { transactions: [{ ...first, input: { ...first.input, ...more }, request: { ...first.request, ...more } }] },
        "NotProven",
      ],
      ["the digest", { digest: `0x${"12".repeat(32)}` }, "NotProven"],
      ["the movements that were shown", { transfers: [] }, "OutcomeChanged"],
      ["the balances that were shown", { balanceChanges: less }, "OutcomeChanged"],
    ];
    for (const [what, change, code] of altered)
      expect(await post("/clear", { ...report, ...change }), what).toMatchObject({ status: 409, body: { code } });
  });

  it("does not take the app's word for how long a clearance holds", async () => {
    const report = await reported();
    const patient = { ...report, options: { ...report.options, maxAgeMs: 10 ** 12, tolerance: 0.9 } };
    const clearance = await post("/clear", patient);
    expect(clearance.status).toBe(200);
    expect(clearance.body["expiresAt"]).toBeLessThanOrEqual(Date.now() + 30_000);
  });
});

describe("examples/fee-model.ts", () => {
  it("counts what the oracle charges for the bytes of the very request, and is unknown without it", async () => {
    const oracle = await deploy(Oracle, 3_000_000n);
    const transfer = { from: alice.address, to: bob.address, value: 1n };
    const report = await transferOn(node.url, 31337, oracle, transfer);
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    const { request, gas, fee } = report.transactions[0];
    if (request === null) throw new Error("no request");
    const bytes = BigInt((serializeTransaction(request).length - 2) / 2 + 68);
    const l1Fee = report.funds[0]?.terms.find(({ name }) => name === "l1Fee")?.amount;
    expect(l1Fee).toBe(2n * 3_000_000n * bytes);
    expect(report.funds[0]?.required).toBe(1n + (gas.limit ?? 0n) * (fee.maxFeePerGas ?? 0n) + 6_000_000n * bytes);
    const silent = await transferOn(node.url, 31337, bob.address, transfer);
    expect(silent.verdict).toBe("unknown");
    expect(silent.findings.map(({ code }) => code)).toContain("L1FeeUnknown");
  });

  it("is written with what the package exports", () => {
    const imports = readFileSync(join(root, "examples/fee-model.ts"), "utf8").matchAll(/ from "([^"]+)"/g);
    expect([...imports].map(([, name]) => name)).toEqual([
      ...["node:url", "effect/Effect", "effect/Layer", "evm-preflight", "viem"],
    ]);
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
      "CAUTION",
      "BLOCKED",
      "BLOCKED",
      "READY",
    ]);
    expect(stdout).toContain("npx evm-preflight check --rpc-url");
  });
});
