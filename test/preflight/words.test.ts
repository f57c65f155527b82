/** What people read of everyday mistakes, by the reports of real nodes. */
import * as Effect from "effect/Effect";
import { parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPreflight } from "../../src/promise.js";
import { preflightActions } from "../../src/viem.js";
import { Chains, Eth, Preflight, Report, Rpc, type Transaction } from "../../src/index.js";
import * as Layer from "effect/Layer";
import { type Abi, createPublicClient, defineChain, http } from "viem";
import { Router, SpoofToken, Token } from "../contracts/artifacts.js";
import { calldata, owner, other, scenesFor, type Scene } from "./scene.js";

type Hex = `0x${string}`;
const zero = "0x0000000000000000000000000000000000000000";

describe.each(scenesFor("sentences"))("the texts of a report on %s", (_, start) => {
  let scene: Scene;
  let [token, spoof]: [Hex, Hex] = ["0x", "0x"];
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Dollar", "DUSD", 6]);
    spoof = await scene.deploy(SpoofToken);
  });
  afterAll(() => scene.stop());

  const run = (call: unknown) =>
    Effect.runPromise(
      Preflight.preflight(call as ReadonlyArray<Transaction.RawCall>).pipe(Effect.provide(Rpc.layerHttp(scene.url))),
    );
  const calling = (functionName: string, args: ReadonlyArray<unknown>, more: object = {}) => ({
    from: owner.address,
    to: token,
    abi: Token.abi,
    functionName,
    args,
    ...more,
  });
  const codes = ({ findings }: Report.Report) => findings.map(({ code }) => code);

  it("read an amount as it was typed", async () => {
    const value = parseEther("1.000000200000000003");
    expect(Report.summary(await run({ from: owner.address, to: other.address, value }))).toContain(
      "You send 1.000000200000000003 ETH to ",
    );
  });

  it("say how much gas a limit below the intrinsic cost lacks, whatever the node says", async () => {
    const { findings, verdict } = await run({ from: owner.address, to: other.address, value: 1n, gas: 5n });
    const found = findings.find(({ code }) => code === "IntrinsicGasTooLow");
    expect(verdict).toBe("blocked");
    expect(found?.numbers.map(({ name, value }) => [name, value])).toEqual([
      ["has", 5n],
      ["needs", 21_000n],
    ]);
  });

  it("give the units of a failure with the token's name, and the known fees", async () => {
    const report = await run([
      calling("mint", [owner.address, 5_000_000n]),
      calling("transfer", [other.address, 1_250_501_234n]),
    ]);
    expect(report.verdict).toBe("blocked");
    const text = Report.toText(report, { width: 2_000 });
    expect(text).toContain("Transaction 2 of 2 would fail.");
    expect(text).toMatch(/needed: 1250501234 = 1,250\.501234 DUSD \(0x/);
    expect(text).toMatch(/\+5 +DUSD/);
    expect(text).toMatch(/at most [0-9.]+ (gwei|wei) per gas, how much gas is not known/);
    expect(Report.summary(report)).toContain("1,250.501234 DUSD");
  });

  it("name the token that a failing call of a router is about, though no event does", async () => {
    const router = await scene.deploy(Router, [zero]);
    const word = `0x${"ab".repeat(32)}`;
    const report = await run({
      ...{ from: owner.address, to: router, abi: Router.abi, functionName: "selfPermit" },
      args: [token, 5n, 2n ** 40n, 27, word, word],
    });
    expect(report.verdict).toBe("blocked");
    expect(report.tokens).toEqual([{ token: token.toLowerCase(), name: "Dollar", symbol: "DUSD", decimals: 6 }]);
    expect(Report.summary(report)).toMatch(/selfPermit\(token: DUSD \(0x.{9}\), value: 5,/);
    // what succeeds is named by its events alone
    const given = await run(calling("approve", [router, 5n]));
    expect(given.tokens.map((info) => info.token)).toEqual([token.toLowerCase()]);
  });

  it("say that a view function needs no transaction, and what it returns", async () => {
    const report = await run(calling("balanceOf", [owner.address]));
    const { numbers } = report.findings.find(({ code }) => code === "ReadOnlyCall") ?? { numbers: [] };
    expect(numbers.map(({ name, value }) => [name, value])).toEqual([
      ["function", "balanceOf"],
      ["returns", "0"],
    ]);
    expect(codes(await run(calling("mint", [owner.address, 1n])))).not.toContain("ReadOnlyCall");
    const raw = `0x70a08231${owner.address.slice(2).padStart(64, "0")}`;
    const guessed = await run({ from: owner.address, to: token, data: raw });
    expect(guessed.findings.map(({ code, evidence }) => [code, evidence])).toContainEqual(["ReadOnlyCall", "assumed"]);
  });

  it("give the ABI's reason why value is refused", async () => {
    const report = await run(calling("mint", [owner.address, 1n], { value: 1n }));
    expect(report.because).toBe("the call reverts: by its ABI the function is not payable");
    expect(report.transactions[0].outcome.failure?._tag).toBe("ExecutionReverted");
  });

  it("warn of value for the zero address, and show a payment to oneself", async () => {
    const burned = await run({ from: owner.address, to: zero, value: 1n });
    expect([burned.verdict, codes(burned)]).toEqual(["caution", expect.arrayContaining(["ValueBurned"])]);
    const own = await run({ from: owner.address, to: owner.address, value: 7n * 10n ** 17n });
    expect(Report.summary(own)).toContain("You send 0.7 ETH to yourself and pay");
  });

  it("warn of burned tokens, and name them", async () => {
    const dead = "0x000000000000000000000000000000000000dEaD";
    const value = await run({ from: owner.address, to: dead, value: 1n });
    expect([value.verdict, codes(value)]).toEqual(["caution", expect.arrayContaining(["ValueBurned"])]);
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 5_000_000n]) });
    await scene.mine();
    const burned = await run(calling("transfer", [dead, 1_500_000n]));
    expect([burned.verdict, codes(burned)]).toEqual(["caution", expect.arrayContaining(["ValueBurned"])]);
    expect(Report.toText(burned)).toMatch(/1\.5 DUSD/);
    const found = burned.findings.find(({ code }) => code === "ValueBurned");
    expect(found?.numbers.map(({ name, value }) => [name, value])).toEqual([
      ["token", token.toLowerCase()],
      ["amount", 1_500_000n],
      ["to", dead.toLowerCase()],
    ]);
    expect(codes(await run(calling("transfer", [other.address, 1_500_000n])))).not.toContain("ValueBurned");
  });

  it("are the same for one ABI as for a list of it", async () => {
    const asked = { from: owner.address, to: token, data: calldata(Token, "transfer", [other.address, 10n ** 30n]) };
    const here = Effect.provide(Rpc.layerHttp(scene.url));
    const report = await Effect.runPromise(here(Preflight.scan(asked, { abis: Token.abi })));
    expect(report.transactions[0].call?.by).toBe("abi");
    // as one writes it in JavaScript
    const written = { abis: ["function transfer(address someone, uint256 many)"] as never };
    const read = await Effect.runPromise(here(Preflight.scan(asked, written)));
    expect(read.transactions[0].call?.arguments.map(({ name }) => name)).toEqual(["someone", "many"]);
    const failed = await Effect.runPromise(
      here(Effect.flip(Eth.call({ ...asked, block: "latest", abis: Token.abi as Abi }))),
    );
    expect(JSON.stringify(failed)).toContain('"caller"');
  });

  it("show a token's own claims as claims", async () => {
    const report = await run({
      ...{ from: owner.address, to: spoof, abi: SpoofToken.abi, functionName: "airdrop" },
      args: [other.address, [owner.address], 5_000n * 10n ** 18n],
    });
    expect(Report.summary(report)).toMatch(/It claims to give you 5,000 SPOOF \(0x.{9}\)\. You get nothing\./);
  });

  it("have the currency of the caller's chain at every entry", async () => {
    const chain = defineChain({
      id: scene.chainId,
      name: "Mantle here",
      nativeCurrency: { name: "Mantle", symbol: "MNT", decimals: 18 },
      rpcUrls: { default: { http: [scene.url] } },
    });
    const client = createPublicClient({ chain, transport: http(scene.url) });
    const call = { from: owner.address, to: other.address, value: 10n ** 18n } as const;
    const actions = client.extend(preflightActions());
    const plain = createPreflight({ client });
    const layer = Layer.merge(Rpc.layerHttp(scene.url), Chains.layerWith(scene.chainId, { symbol: "MNT" }));
    const reports = [
      await actions.preflight(call),
      await plain.run(call),
      await Effect.runPromise(Effect.provide(Preflight.preflight(call), Rpc.layerClient(client))),
      await Effect.runPromise(Effect.provide(Preflight.preflight(call), layer)),
    ];
    await plain.dispose();
    for (const report of reports) expect(Report.summary(report)).toContain("You send 1 MNT to ");
    const [first] = reports;
    expect(first?.chain).toEqual({ name: "Mantle here", symbol: "MNT", decimals: 18 });
    // why: what is proven by who does not describe the chain keeps the words of who did
    const elsewhere = await Effect.runPromise(
      Effect.provide(Preflight.prove(first as Report.Report), Rpc.layerHttp(scene.url)),
    );
    expect(elsewhere.chain).toEqual(first?.chain);
  });
});
