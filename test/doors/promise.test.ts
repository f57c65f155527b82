/** `evm-preflight/promise`, built, against a real node. */
import { Errors, Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import * as Effect from "effect/Effect";
import { createPublicClient, createWalletClient, custom, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rpc } from "evm-preflight";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";

let node: Node;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  await mineAnvil(node.url);
});
afterAll(() => node.stop());

const [alice, bob] = [accounts[1], accounts[2]];
const transfer = { from: alice.address, to: bob.address, value: 1n };

describe("createPreflight", () => {
  it("comes from the built files, not from the sources", () => {
    expect(import.meta.resolve("evm-preflight/promise")).toMatch(/\/dist\/promise\.js$/);
  });

  it("takes a URL, a client, a transport or a provider, and proves a transfer in two rounds with each", async () => {
    const client = createPublicClient({ chain: foundry, transport: http(node.url) });
    for (const connection of [
      { url: node.url },
      { url: node.url, batch: true },
      { client },
      { transport: http(node.url, { batch: true }) },
      { provider: { request: (args: { method: string; params: unknown }) => client.request(args as never) } },
    ]) {
      await using preflight = createPreflight(connection);
      const report = await preflight.run(transfer);
      expect([report.verdict, report.stage, report.ledger.rounds]).toEqual(["ready", "proven", 2]);
      expect((await preflight.scan(transfer)).ledger.rounds).toBe(1);
    }
  });

  it("takes endpoints that must agree, and refuses endpoints that cannot", async () => {
    await using preflight = createPreflight({
      endpoints: [
        { url: node.url, provider: "one" },
        { url: node.url, provider: "two" },
      ],
    });
    const report = await preflight.run(transfer);
    expect([report.verdict, report.ledger.rounds]).toEqual(["ready", 2]);
    expect(() => createPreflight({ endpoints: [{ url: node.url }, { url: node.url }] })).toThrow(
      Errors.InvalidConnection,
    );
  });

  it("clears a request that viem signs and the node mines as reported", async () => {
    await using preflight = createPreflight({ url: node.url });
    const report = await preflight.prove(await preflight.scan(transfer));
    const clearance = await preflight.ready(report);
    const account = privateKeyToAccount(alice.privateKey);
    const signed = await account.signTransaction(clearance.requests[0]);
    expect(Report.matches(clearance, [signed])).toBe(true);
    const client = createWalletClient({ account, chain: foundry, transport: http(node.url) });
    const hash = await client.sendRawTransaction({ serializedTransaction: signed });
    await mineAnvil(node.url);
    const receipt = await createPublicClient({ chain: foundry, transport: http(node.url) }).getTransactionReceipt({
      hash,
    });
    expect([receipt.status, receipt.gasUsed]).toEqual(["success", report.transactions[0].outcome.gasUsed]);
    expect((await preflight.settle(report, [hash])).class).toBe("same");
  });

  it("rejects with the tagged errors themselves", async () => {
    await using preflight = createPreflight({ url: node.url });
    const wrong = await preflight.run({ ...transfer, to: "0x12" }).catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(Errors.InvalidTransaction);
    expect(wrong).toBeInstanceOf(Error);
    expect(wrong).toMatchObject({ _tag: "InvalidTransaction", field: "to" });
    const poor = await preflight.run({ ...transfer, value: 10n ** 30n });
    await expect(preflight.ready(poor)).rejects.toBeInstanceOf(Errors.InsufficientFunds);
    const scanned = await preflight.scan(transfer);
    await expect(preflight.ready(scanned)).rejects.toBeInstanceOf(Errors.NotProven);
  });

  it("rejects with signal.reason, also when it was aborted before", async () => {
    await using preflight = createPreflight({ url: node.url });
    const reason = new Error("the user left");
    await expect(preflight.run(transfer, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await using silent = createPreflight({ provider: { request: () => new Promise<never>(() => undefined) } });
    const controller = new AbortController();
    const pending = silent.run(transfer, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    await expect(pending).rejects.toBe(reason);
  });

  it("keeps concurrent runs apart: aborting one leaves the other", async () => {
    await using preflight = createPreflight({ url: node.url });
    const controller = new AbortController();
    const [left, right] = [preflight.run(transfer, { signal: controller.signal }), preflight.run(transfer)];
    controller.abort(new Error("only the left"));
    await expect(left).rejects.toThrow("only the left");
    expect((await right).verdict).toBe("ready");
    const many = await Promise.all(Array.from({ length: 8 }, () => preflight.run(transfer)));
    expect(many.map(({ verdict, ledger }) => [verdict, ledger.rounds])).toEqual(many.map(() => ["ready", 2]));
  });

  it("gives options of a call precedence over the defaults", async () => {
    await using preflight = createPreflight({ url: node.url }, { maxAge: 5_000, feeLevel: "slow" });
    const report = await preflight.scan(transfer, { feeLevel: "fast" });
    expect([report.options.maxAgeMs, report.options.feeLevel]).toEqual([5_000, "fast"]);
  });

  it("runs any effect that needs the node, and none after dispose", async () => {
    const preflight = createPreflight({ url: node.url });
    const chainId = Effect.flatMap(Effect.service(Rpc.Rpc), (rpc) => rpc.request("eth_chainId", []));
    expect(await preflight.effect(chainId)).toBe("0x7a69");
    await expect(preflight.effect(Effect.fail("mine"))).rejects.toBe("mine");
    await preflight.dispose();
    await expect(preflight.run(transfer)).rejects.toThrow();
  });

  it("proves a report that came through JSON", async () => {
    await using preflight = createPreflight({ url: node.url });
    const report = await preflight.run(transfer);
    const copy = await preflight.effect(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(report)))));
    expect(copy).toEqual(report);
    expect((await preflight.ready(copy)).digest).toBe(report.digest);
  });

  it("works through a custom transport that never sees two runs mixed", async () => {
    const asked: Array<string> = [];
    const transport = custom({
      request: async ({ method, params }: { method: string; params: unknown }) => {
        asked.push(method);
        const response = await fetch(node.url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        });
        return ((await response.json()) as { result: unknown }).result;
      },
    });
    await using preflight = createPreflight({ transport });
    const report = await preflight.scan(transfer);
    expect(asked.sort()).toEqual(report.ledger.requests.map(({ method }) => method).sort());
  });
});
