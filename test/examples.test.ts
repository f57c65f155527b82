/** The examples, executed against a real node. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { FetchHttpClient, HttpServer } from "effect/http";
import { HttpApiClient } from "effect/http-api";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { Errors, Policy } from "evm-preflight";
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
import { NonceStore, type Store } from "../src/NonceStore.js";
import { createPreflight, Report, type LogEvent } from "../src/promise.js";
import { layerNonces } from "../src/testing.js";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentWallet } from "../examples/agent.js";
import { startBot } from "../examples/bot.js";
import { Oracle, Token } from "../examples/contracts.js";
import { dryRun } from "../examples/dry-run.js";
import { transferOn } from "../examples/fee-model.js";
import { named, namesBy, serveSources } from "../examples/names.js";
import { screened } from "../examples/own-step.js";
import { transferUnder } from "../examples/policies.js";
import { WalletApi } from "../examples/wallet-api.js";
import { walletBackend } from "../examples/wallet-backend.js";
import { accounts, mineAnvil, rawRequest, startAnvil, type Node } from "./harness/anvil.js";
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
  it.skipIf(geth === null)("deploys and calls a contract in one bundle, without sending anything", async () => {
    const chain = await startGethDev(geth ?? "");
    try {
      for (const sender of [alice, owner]) {
        const report = await dryRun(chain.url, sender.address);
        expect(report.transactions.map(({ outcome }) => outcome.status)).toEqual(["success", "success"]);
        expect(report.verdict).toBe("ready");
        const from = createWalletClient({ account: privateKeyToAccount(owner.privateKey), transport: http(chain.url) });
        await from.sendTransaction({ to: bob.address, value: 1n, chain: null });
        await chain.mine();
      }
    } finally {
      await chain.stop();
    }
  });

  it("is unknown on anvil, which does not simulate a deployment, for a fresh sender and a used one", async () => {
    for (const { address } of [alice, owner]) {
      const report = await dryRun(node.url, address);
      expect(report.transactions).toHaveLength(2);
      expect([report.verdict, report.findings.filter(({ severity }) => severity === "blocker")]).toEqual([
        ...["unknown", []],
      ]);
    }
  });
});

describe("examples/own-step.ts", () => {
  it("asks a registry, checks a price, and never passes where one of them does not answer", async () => {
    // a registry with Bob alone on it: whether the only argument is he
    const registry = "0x00000000000000000000000000000000000acce5";
    const code = `0x60043573${bob.address.slice(2)}145f5260205ff3`;
    await rawRequest(node.url, "anvil_setCode", [registry, code]);
    const oracle = await deploy(Oracle, 7n);
    const transfer = { from: owner.address, to: alice.address, value: 1n };
    const passed = await screened(node.url, { registry, oracle }, transfer);
    expect([passed.verdict, passed.steps.with]).toEqual(["ready", ["acme/sanctions", "acme/price"]]);
    expect(passed.findings.map(({ code: found }) => found)).toContain("acme/Price");
    expect(passed.ledger.requests.filter(({ step }) => step === "acme/sanctions")).toHaveLength(2);
    expect(passed.ledger.requests.filter(({ step }) => step === "acme/price")).toEqual([]);
    const listed = await screened(node.url, { registry, oracle }, { ...transfer, to: bob.address });
    expect([listed.verdict, listed.because]).toEqual(["blocked", "the receiver is on the sanctions list"]);
    const data = encodeFunctionData({ abi: Token.abi, functionName: "transfer", args: [bob.address, 1n] });
    const named = await screened(node.url, { registry, oracle }, { ...transfer, to: token, value: 0n, data });
    expect([named.verdict, named.because]).toEqual(["blocked", "the receiver is on the sanctions list"]);
    const unanswered = await screened(node.url, { registry: alice.address, oracle }, transfer);
    expect([unanswered.verdict, unanswered.steps.with]).toEqual(["unknown", ["acme/sanctions", "acme/price"]]);
    expect((await screened(node.url, { registry, oracle: alice.address }, transfer)).verdict).toBe("blocked");
  });
});

describe("examples/bot.ts", () => {
  const starting = (key: Hex, options: Parameters<typeof startBot>[1] = {}) =>
    startBot({ url: node.url, key, token }, { settleMs: 1, keepMs: 200, ...options });

  it("pays what can be paid, exactly once, and gives up what would revert when its patience is over", async () => {
    await using bot = await starting(owner.privateKey);
    const round = await bot.pay({ to: bob.address, amount: 40n });
    expect(round).toHaveProperty("sent");
    for (let block = 0; block < 4; block++) await mineAnvil(node.url);
    expect(await bot.isPaid("sent" in round ? round.sent : "0x")).toBe(true);
    expect(await balanceOf(bob.address)).toBe(40n);
    await using poor = await starting(alice.privateKey);
    const skipped = await poor.pay({ to: bob.address, amount: 1n }, { patienceMs: 2_000 });
    expect(skipped).toMatchObject({ tryAgain: true });
    expect("skipped" in skipped ? skipped.skipped : "").toContain("ERC20InsufficientBalance");
    expect(await poor.pay({ to: "0x12", amount: 1n })).toMatchObject({ tryAgain: false });
  });

  /** What comes of it while blocks come. */
  const mined = async <A>(paying: Promise<A>): Promise<A> => {
    let isOver = false;
    const over = paying.finally(() => (isOver = true));
    while (!isOver) {
      await mineAnvil(node.url);
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 300))]);
    }
    return over;
  };

  it("pays what becomes payable in the next block", async () => {
    await using poor = await starting(alice.privateKey);
    await using rich = await starting(owner.privateKey);
    const paying = poor.pay({ to: bob.address, amount: 1n }, { patienceMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await rich.pay({ to: alice.address, amount: 1n })).toHaveProperty("sent");
    expect(await mined(paying)).toMatchObject({ sent: expect.any(String) });
    await mineAnvil(node.url);
    expect(await balanceOf(bob.address)).toBe(41n);
  });

  it("takes another nonce where its own was used while it waited", async () => {
    await using poor = await starting(alice.privateKey);
    await using rich = await starting(owner.privateKey);
    const paying = poor.pay({ to: bob.address, amount: 1n }, { patienceMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await rawRequest(node.url, "eth_sendTransaction", [{ from: alice.address, to: bob.address, value: "0x1" }]);
    await mineAnvil(node.url);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await rich.pay({ to: alice.address, amount: 1n })).toHaveProperty("sent");
    expect(await mined(paying)).toMatchObject({ sent: expect.any(String) });
    await mineAnvil(node.url);
  });

  it("waits until it is time, and sends the proven transaction without another proof", async () => {
    const before = await balanceOf(bob.address);
    const times: Array<bigint> = [];
    const requests: Array<string> = [];
    const log = (event: LogEvent) => void ("method" in event && requests.push(event.method));
    await using bot = await starting(owner.privateKey, { keepMs: 60_000, log });
    const round = await bot.pay(
      { to: bob.address, amount: 2n },
      {
        isTime: ({ header }) => {
          times.push(header.number);
          if (times.length < 3) void mineAnvil(node.url);
          requests.length = 0;
          return times.length === 3;
        },
      },
    );
    expect(round).toHaveProperty("sent");
    expect(requests).toContain("eth_sendRawTransaction");
    expect(requests).not.toContain("eth_simulateV1");
    expect(times.map((number) => number - (times[0] ?? 0n))).toEqual([0n, 1n, 2n]);
    await mineAnvil(node.url);
    expect(await balanceOf(bob.address)).toBe(before + 2n);
  });

  /** A store of the bot's own that is told what to lose. */
  const storeOf = (change: (store: Store) => Partial<Store>) =>
    Layer.effect(
      NonceStore,
      Effect.map(NonceStore, (store) => ({ ...store, ...change(store) })),
    ).pipe(Layer.provide(layerNonces));

  it("asks again whether a payment is committed when the store does not answer, and does not pay twice", async () => {
    const losses = { commit: 0, read: 0 };
    const gone = (operation: string) =>
      Effect.fail(new Errors.NonceStoreError({ operation, detail: "gone", isRetryable: false }));
    const nonces = storeOf((store) => ({
      commit: (...given) =>
        Effect.andThen(store.commit(...given), () => {
          losses.commit++;
          return gone("commit");
        }),
      read: (given) => (losses.commit > 0 && losses.read++ < 2 ? gone("read") : store.read(given)),
    }));
    await using bot = await starting(owner.privateKey, { keepMs: 60_000, nonces });
    const round = await bot.pay({ to: bob.address, amount: 1n });
    expect([Object.keys(round), losses.commit, losses.read > 2]).toEqual([["sent"], 1, true]);
  });

  it("reports a payment as not paid when another's transaction used its nonce", async () => {
    let isBurned = false;
    const nonces = storeOf((store) => ({
      read: (given) =>
        Effect.map(store.read(given), (found) => {
          if (!isBurned || found === null) return found;
          const slots = found.slots.map((slot) => ({ ...slot, state: "settled", outcome: "burned" }) as const);
          return { ...found, floor: found.next, slots };
        }),
    }));
    await using bot = await starting(owner.privateKey, { keepMs: 60_000, nonces });
    const round = await bot.pay({ to: bob.address, amount: 1n });
    const paid = bot.isPaid("sent" in round ? round.sent : "0x", { signal: AbortSignal.timeout(20_000) });
    isBurned = true;
    expect(await paid).toBe(false);
    await mineAnvil(node.url);
  });

  it("stops when it is told to", async () => {
    const reason = new Error("shutting down");
    await using bot = await starting(owner.privateKey);
    const stopped = bot.pay({ to: bob.address, amount: 1n }, { signal: AbortSignal.abort(reason) });
    await expect(stopped).rejects.toBe(reason);
  });
});

describe("examples/wallet-backend.ts", () => {
  let backend: ManagedRuntime.ManagedRuntime<HttpServer.HttpServer, never>;
  let url: string;
  beforeAll(async () => {
    backend = ManagedRuntime.make(walletBackend(node.url, 0));
    const { address } = await backend.runPromise(Effect.service(HttpServer.HttpServer));
    url = `http://127.0.0.1:${"port" in address ? address.port : 0}`;
  });
  afterAll(() => backend.dispose());
  const post = async (path: string, body: unknown) => {
    const headers = { "content-type": "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(url + path, { method: "POST", headers, body: text });
    const answer = await response.text();
    return { status: response.status, body: JSON.parse(answer === "" ? "{}" : answer) as Record<string, unknown> };
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

  it("reports, clears its own reports, and gives the reason of a refusal", async () => {
    const report = await reported();
    expect(report["verdict"]).toBe("ready");
    const clearance = await post("/clear", report);
    expect(clearance.status).toBe(200);
    expect(clearance.body["requests"]).toHaveLength(1);
    const poor = await reported({ value: String(10n ** 30n) });
    expect(await post("/clear", poor)).toMatchObject({ status: 409, body: { _tag: "InsufficientFunds" } });
    expect(await post("/preflight", { ...wish, to: "0x12" })).toMatchObject({ status: 400, body: { field: "to" } });
    expect((await post("/preflight", "{")).status).toBe(400);
    expect((await post("/clear", { ...report, version: 1 })).status).toBe(400);
    expect((await post("/clear", { ...report, funds: "plenty" })).status).toBe(400);
    expect((await post("/clear", "[".repeat(100_000))).status).toBe(400);
    expect((await post("/nowhere", {})).status).toBe(404);
  });

  it("survives a report that is nested without end", async () => {
    const { observed, ...report } = await reported();
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const posted = JSON.stringify({ ...report, observed, findings: "HERE" }).replace(`"HERE"`, deep);
    expect((await post("/clear", posted)).status).toBe(400);
    expect((await reported())["verdict"]).toBe("ready");
  });

  it("describes its requests and answers as OpenAPI, report and errors by name", async () => {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      readonly paths: Record<string, { readonly post: { readonly responses: Record<string, unknown> } }>;
      readonly components: { readonly schemas: Record<string, { readonly required?: ReadonlyArray<string> }> };
    };
    expect(Object.keys(document.paths)).toEqual(["/preflight", "/clear"]);
    const { responses } = document.paths["/clear"]?.post ?? { responses: {} };
    expect(responses["200"]).toMatchObject({
      content: { "application/json": { schema: { $ref: "#/components/schemas/Clearance" } } },
    });
    expect(JSON.stringify(responses["409"])).toContain("InsufficientFunds");
    const report = Object.entries(document.components.schemas).find(([name]) => /^Report(Encoded)?$/.test(name))?.[1];
    expect(report?.required).toEqual(expect.arrayContaining(["verdict", "because", "findings", "digest"]));
  });

  it("gives the app a typed client: a report, a clearance with bigints, and errors by their class", async () => {
    const asked = Effect.gen(function* () {
      const client = yield* HttpApiClient.make(WalletApi, { baseUrl: url });
      const report = yield* client.preflight({ payload: { ...wish, value: 1n } });
      const { requests } = yield* client.clear({ payload: report });
      const poor = yield* client.preflight({ payload: { ...wish, value: 10n ** 30n } });
      return { value: requests[0]?.value, refused: yield* Effect.flip(client.clear({ payload: poor })) };
    });
    const { value, refused } = await Effect.runPromise(Effect.provide(asked, FetchHttpClient.layer));
    expect(value).toBe(1n);
    expect(refused).toBeInstanceOf(Errors.InsufficientFunds);
    expect(refused).toMatchObject({ account: alice.address.toLowerCase(), shortfall: expect.any(BigInt) });
  });

  it("clears no report that was changed to look better", async () => {
    const better = { findings: [], verdict: "ready", because: "it is fine", stage: "proven" };
    const poor = await reported({ value: String(10n ** 30n) });
    const rich = (poor["funds"] as ReadonlyArray<object>).map((funds) => ({ ...funds, shortfall: "0" }));
    expect(await post("/clear", { ...poor, ...better, funds: rich })).toMatchObject({
      status: 409,
      body: { _tag: "InsufficientFunds" },
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
      expect(await post("/clear", { ...report, ...change }), what).toMatchObject({ status: 409, body: { _tag: code } });
  });

  it("does not take the app's word for how long a clearance holds", async () => {
    const report = await reported();
    const patient = { ...report, options: { ...report.options, maxAgeMs: 10 ** 12, tolerance: 0.9 } };
    const clearance = await post("/clear", patient);
    expect(clearance.status).toBe(200);
    expect(clearance.body["expiresAt"]).toBeLessThanOrEqual(Date.now() + 30_000);
  });
});

describe("examples/policies.ts", () => {
  const file = join(root, "examples/policies.json");
  const transfer = { from: alice.address, to: bob.address, value: 1n };

  it("holds a transfer to the policies of a file", async () => {
    const allowed = await transferUnder(file, node.url, transfer);
    expect([allowed.verdict, allowed.options.policies.length]).toEqual(["ready", 5]);
    const tooMuch = await transferUnder(file, node.url, { ...transfer, value: 2n * 10n ** 18n });
    expect(tooMuch.verdict).toBe("blocked");
    expect(tooMuch.findings.flatMap(({ error }) => (error?._tag === "PolicyViolation" ? [error.policy] : []))).toEqual([
      "maxSpent",
    ]);
  });

  it("names the fault of a file, and sends nothing", async () => {
    const wrong = join(mkdtempSync(join(tmpdir(), "policies-")), "wrong.json");
    writeFileSync(wrong, `[{ "policy": "noNewApprovals" }, { "policy": "maxSpend" }]`);
    await expect(transferUnder(wrong, "http://127.0.0.1:9", transfer)).rejects.toMatchObject({
      _tag: "InvalidTransaction",
      field: expect.stringMatching(/^policies\[1\]/),
    });
  });
});

describe("examples/names.ts", () => {
  it("names calls by Sourcify's and 4byte's signatures and an account by ENS, each marked as the caller's", async () => {
    const reports = await named();
    expect(reports.map(({ verdict, findings }) => [verdict, findings])).toEqual([
      ["ready", []],
      ["ready", []],
    ]);
    const [verified, unknown] = reports.map((report) => Report.toText(report, { width: 200 }));
    const account = `bob.eth† (0x7099…79C8)`;
    expect(verified).toContain(`claimEpochFor(account: ${account}, epoch: 7) (by your names).`);
    expect(unknown).toContain(`claimEpochFor(${account}, 7) (by your names).`);
    for (const text of [verified, unknown]) expect(text).toContain("† by your names, not by the chain.");
  });

  it("gives no name for unknown accounts, and no error where a server is gone", async () => {
    const server = await serveSources({ contracts: {}, signatures: ["claim()"] });
    const ens = createWalletClient({ chain: foundry, transport: http(node.url) });
    const names = namesBy({ sourcify: server.url, fourByte: server.url, chainId: 31337, ens, resolver: token });
    const context = { chainId: 31337, signal: new AbortController().signal };
    expect(await names.abi?.(token, context)).toBeUndefined();
    expect(await names.function?.("0x4e71d92d", context)).toEqual(["claim()"]);
    expect(await names.function?.("0x12345678", context)).toEqual([]);
    server.stop();
    const input = { from: alice.address, to: token, data: "0x12345678" as const };
    const gone = namesBy({ sourcify: "http://127.0.0.1:9", fourByte: "http://127.0.0.1:9", chainId: 31337, ens });
    await using on = createPreflight({ url: node.url });
    const [without, within] = [await on.preflight(input), await on.preflight(input, { names: gone })];
    expect([within.verdict, within.findings, within.names]).toEqual([without.verdict, without.findings, undefined]);
  });
});

describe("examples/agent.ts", () => {
  it("sends what its owner's policies allow, and refuses the rest before the key signs", async () => {
    const policies = [Policy.maxSpent("native", 1_000n), Policy.noNewApprovals];
    const agent = agentWallet(node.url, foundry, alice.privateKey, policies);
    expect(Object.keys(agent)).toEqual(["address", "send"]);
    const nonce = () => rawRequest(node.url, "eth_getTransactionCount", [agent.address, "pending"]);
    const before = await nonce();
    const approve = encodeFunctionData({ abi: Token.abi, functionName: "approve", args: [bob.address, 1n] });
    for (const wish of [
      { to: bob.address, value: 1_001n },
      { to: token, data: approve },
    ])
      expect(await agent.send(wish)).toEqual({ refused: ["PolicyViolation"] });
    expect(await agent.send({ to: token, data: "0x12345678" })).toHaveProperty("refused");
    expect(await nonce()).toBe(before);
    const outcome = await agent.send({ to: bob.address, value: 1_000n });
    expect(outcome).toMatchObject({ sent: expect.stringMatching(/^0x[0-9a-f]{64}$/), changed: false });
    expect(await nonce()).not.toBe(before);
    await mineAnvil(node.url);
  });
});

describe("examples/fee-model.ts", () => {
  it("adds the oracle's charge for the exact request's bytes, and is unknown without an answer", async () => {
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

  it("uses only what the package exports", () => {
    const imports = readFileSync(join(root, "examples/fee-model.ts"), "utf8").matchAll(/ from "([^"]+)"/g);
    expect([...imports].map(([, name]) => name)).toEqual([
      ...["node:url", "effect/Effect", "effect/Layer", "evm-preflight", "viem"],
    ]);
  });
});

describe("examples/demo.ts", () => {
  it("shows six verdicts as expected, and ends its node", { timeout: 330_000 }, () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", "tsx", "--conditions=@evm-preflight/source", "examples/demo.ts"],
      { cwd: root, encoding: "utf8", timeout: 300_000 },
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
