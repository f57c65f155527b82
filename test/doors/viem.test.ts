/** `evm-preflight/viem`, built, against a real node. */
import { Errors } from "evm-preflight";
import { preflightActions } from "evm-preflight/viem";
import { createPublicClient, createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";

let node: Node;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  await mineAnvil(node.url);
});
afterAll(() => node.stop());

const transfer = { from: accounts[1].address, to: accounts[2].address, value: 1n };

describe("preflightActions", () => {
  it("add preflight, scan, prove and ready to a public client, beside its own actions", async () => {
    const client = createPublicClient({ chain: foundry, transport: http(node.url) }).extend(preflightActions());
    const scanned = await client.scan(transfer);
    expect([scanned.verdict, scanned.stage]).toEqual(["ready", "scanned"]);
    await expect(client.ready(scanned)).rejects.toBeInstanceOf(Errors.NotProven);
    const proven = await client.prove(scanned);
    expect((await client.ready(proven)).requests).toHaveLength(1);
    expect((await client.preflight(transfer)).stage).toBe("proven");
    expect(await client.getChainId()).toBe(31337);
  });

  it("clear what a wallet client sends", async () => {
    const account = privateKeyToAccount(accounts[1].privateKey);
    const client = createWalletClient({ account, chain: foundry, transport: http(node.url) })
      .extend(publicActions)
      .extend(preflightActions({ maxAge: 10_000 }));
    const report = await client.preflight(transfer);
    expect(report.options.maxAgeMs).toBe(10_000);
    const { requests } = await client.ready(report);
    const hash = await client.sendRawTransaction({ serializedTransaction: await account.signTransaction(requests[0]) });
    await mineAnvil(node.url);
    expect((await client.getTransactionReceipt({ hash })).status).toBe("success");
  });

  it("keep the client's batching: a scan is one POST", async () => {
    let posts = 0;
    const counting: typeof fetch = (...args) => {
      posts++;
      return fetch(...args);
    };
    const transport = http(node.url, { batch: true, fetchFn: counting });
    const client = createPublicClient({ chain: foundry, transport }).extend(preflightActions());
    const report = await client.scan(transfer);
    expect([report.verdict, report.ledger.rounds, posts]).toEqual(["ready", 1, 1]);
  });

  it("reject with signal.reason", async () => {
    const client = createPublicClient({ chain: foundry, transport: http(node.url) }).extend(preflightActions());
    const reason = new Error("enough");
    await expect(client.scan(transfer, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
