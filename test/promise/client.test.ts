/** What a viem client says of itself, and what is left when a client was disposed. */
import * as Effect from "effect/Effect";
import { createPublicClient, createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry, mainnet } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import * as Errors from "../../src/Errors.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import { createPreflight } from "../../src/promise.js";
import * as Rpc from "../../src/Rpc.js";
import { preflightActions } from "../../src/viem.js";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";

let node: Node;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  await mineAnvil(node.url);
});
afterAll(() => node.stop());

const [alice, bob] = [accounts[1], accounts[2]];
const to = bob.address;
const transfer = { from: alice.address, to, value: 1n };
const account = privateKeyToAccount(alice.privateKey);
const wallet = (chain = foundry as typeof foundry | typeof mainnet) =>
  createWalletClient({ account, chain, transport: http(node.url) }).extend(publicActions);

const failing = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

describe("a viem client's chain", () => {
  it("is required of the node, through every entry: another node's report is blocked", async () => {
    const client = createPublicClient({ chain: mainnet, transport: http(node.url) });
    await using preflight = createPreflight({ client });
    const reports = [
      await client.extend(preflightActions()).preflight(transfer),
      await preflight.run(transfer),
      await Effect.runPromise(Preflight.scan(transfer).pipe(Effect.provide(Rpc.layerClient(client)))),
    ];
    for (const report of reports) {
      expect([report.verdict, report.transactions[0].input.chainId]).toEqual(["blocked", 1]);
      expect(report.findings.map(({ code }) => code)).toContain("ChainIdMismatch");
      expect(await failing(preflight.ready(report))).toBeInstanceOf(Errors.ChainIdMismatch);
    }
  });

  it("stands in the request where it is the node's", async () => {
    await using preflight = createPreflight({
      client: createPublicClient({ chain: foundry, transport: http(node.url) }),
    });
    const report = await preflight.run(transfer);
    expect([report.verdict, report.transactions[0].input.chainId]).toEqual(["ready", 31337]);
    expect((await preflight.run({ ...transfer, chainId: 31337 })).verdict).toBe("ready");
  });

  it("cannot be contradicted by an input, in a bundle, or by a report of another chain", async () => {
    await using plain = createPreflight({ url: node.url });
    await using preflight = createPreflight({
      client: createPublicClient({ chain: mainnet, transport: http(node.url) }),
    });
    expect(await failing(preflight.run({ ...transfer, chainId: 31337 }))).toMatchObject({
      ...{ _tag: "InvalidTransaction", field: "chainId" },
      problem: "is not the client's chain, which is 1",
    });
    expect(await failing(preflight.scan([transfer, { ...transfer, chainId: 10 }]))).toMatchObject({
      field: "[1].chainId",
    });
    const proven = await preflight.prove(await plain.scan(transfer));
    expect([proven.verdict, proven.findings.map(({ code }) => code)]).toEqual([
      "blocked",
      expect.arrayContaining(["ChainIdMismatch"]),
    ]);
  });
});

describe("a viem client's account", () => {
  it("is the sender where the input names none, through every entry", async () => {
    const client = wallet();
    await using preflight = createPreflight({ client });
    const reports = [
      await client.extend(preflightActions()).preflight({ to, value: 1n }),
      await preflight.run({ to, value: 1n }),
      await preflight.run([{ to, value: 1n }, transfer]),
    ];
    for (const report of reports) {
      expect(report.verdict).toBe("ready");
      expect(report.transactions.map(({ input }) => input.from)).toEqual(
        report.transactions.map(() => alice.address.toLowerCase()),
      );
    }
  });

  it("cannot be contradicted by the input", async () => {
    await using preflight = createPreflight({ client: wallet() });
    const other = { ...transfer, from: bob.address };
    expect(await failing(preflight.run(other))).toMatchObject({
      ...{ _tag: "InvalidTransaction", field: "from" },
      problem: `is not the client's account, which is ${alice.address.toLowerCase()}`,
    });
    expect(await failing(preflight.run([transfer, other]))).toMatchObject({ field: "[1].from" });
  });

  it("is missing where the client has none", async () => {
    const client = createPublicClient({ chain: foundry, transport: http(node.url) });
    await using preflight = createPreflight({ client });
    // @ts-expect-error a client without an account needs the sender
    expect(await failing(preflight.run({ to, value: 1n }))).toMatchObject({
      ...{ _tag: "InvalidTransaction", field: "from", problem: "is missing" },
    });
  });

  it("sends what deliver signs", async () => {
    const client = wallet();
    await using preflight = createPreflight({ client });
    const { sent } = await preflight.deliver((request) => account.signTransaction(request))({ to, value: 1n });
    expect(sent).toHaveLength(1);
    await mineAnvil(node.url);
  });
});

describe("a signature by another key", () => {
  const wrong = privateKeyToAccount(bob.privateKey);
  const accountsInIt = { expected: alice.address.toLowerCase(), actual: bob.address.toLowerCase() };

  it("is reported as such by deliver, with both accounts, and nothing is sent", async () => {
    await using preflight = createPreflight({ url: node.url });
    const signed = (request: Parameters<typeof wrong.signTransaction>[0]) => wrong.signTransaction(request);
    const error = await failing(preflight.deliver(signed)(transfer));
    expect(error).toMatchObject({ _tag: "SignedMismatch", field: "from", mayBeSent: false, ...accountsInIt });
    expect((error as Error).message).toContain("sign with the sender's key");
    const { sent } = await preflight.deliver((request) => account.signTransaction(request))(transfer);
    expect(sent).toHaveLength(1);
    await mineAnvil(node.url);
  });

  it("is reported as such by withNonce", async () => {
    await using preflight = createPreflight({ url: node.url });
    const sign = (nonce: bigint) =>
      wrong.signTransaction({
        ...{ to, value: 1n, gas: 21_000n, chainId: 31337 },
        gasPrice: 10n ** 9n,
        nonce: Number(nonce),
      });
    const error = await failing(preflight.withNonce({ chainId: 31337, address: alice.address }, sign));
    expect(error).toMatchObject({ _tag: "SignedMismatch", field: "from", ...accountsInIt });
  });
});

describe("dispose of a client", () => {
  it("ends running and later calls with an error that says so, and may be called twice", async () => {
    const silent = { request: () => new Promise<never>(() => undefined) };
    const preflight = createPreflight({ provider: silent });
    await using other = createPreflight({ url: node.url });
    const report = await other.run(transfer);
    const early = failing(preflight.run(transfer));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const late = failing(preflight.scan(transfer));
    const ends = [preflight.dispose(), preflight.dispose()];
    expect([await early, await late].map((error) => error instanceof Errors.Disposed)).toEqual([true, true]);
    expect(await early).toMatchObject({ isCut: true, mayBeSent: true });
    await Promise.all(ends);
    await preflight.dispose();
    const lane = { chainId: 31337, address: alice.address };
    for (const call of [
      () => preflight.run(transfer),
      () => preflight.scan(transfer),
      () => preflight.prove(report),
      () => preflight.ready(report),
      () => preflight.effect(Effect.void),
      () => preflight.deliver(async () => "0x")(transfer),
      () => preflight.withNonce(lane, async () => "0x"),
    ]) {
      const error = await failing(call());
      expect(error).toBeInstanceOf(Errors.Disposed);
      expect(error).toMatchObject({ isCut: false, mayBeSent: false });
      expect((error as Error).message).toContain("the client was disposed");
    }
  });

  it.each([undefined, null])("keeps defaults where an option is %s, and reads null as no options", async (left) => {
    // its report has but its name
    const policies = [Policy.make("never", () => Policy.fail("it never holds"))];
    await using preflight = createPreflight({ url: node.url }, { policies });
    const sending = { ...transfer, value: 1n };
    const none = { policies: left, deadline: left } as never;
    const scanned = await preflight.scan(sending, none);
    for (const report of [
      await preflight.preflight(sending, none),
      await preflight.preflight(sending, null as never),
      await preflight.prove(scanned, none),
      await preflight.prove(scanned, null as never),
    ])
      expect(report.findings).toContainEqual(expect.objectContaining({ code: "PolicyViolation" }));
    const signed = vi.fn(() => Promise.resolve("0x" as const));
    expect(await failing(preflight.deliver(sending, signed, none))).toMatchObject({ _tag: "PolicyViolation" });
    expect(signed).not.toHaveBeenCalled();
  });

  it("rejects a malformed report, and throws nothing synchronously", async () => {
    await using preflight = createPreflight({ url: node.url }, { policies: [Policy.noNewApprovals] });
    const { steps, ...older } = await preflight.scan({ ...transfer, value: 1n });
    const odd = [undefined, {}, { with: "acme/a", without: [] }, { with: [], without: null }];
    for (const junk of [
      null,
      undefined,
      5,
      {},
      { transactions: [] },
      ...odd.map((some) => ({ ...older, steps: some })),
    ]) {
      const asked = [
        preflight.prove(junk as never),
        preflight.ready(junk as never),
        preflight.settle(junk as never, []),
      ];
      for (const call of asked) expect(await failing(call)).toMatchObject({ _tag: "InvalidTransaction" });
    }
    expect((await preflight.prove({ ...older, steps })).stage).toBe("proven");
  });
});
