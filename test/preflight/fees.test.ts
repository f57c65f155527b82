/** What is offered per gas, on real nodes: horizon, levels, a balance that does not carry it, nodes that refuse. */
import * as Effect from "effect/Effect";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import { layerScripted, rpcError } from "../../src/testing.js";
import { Token } from "../contracts/artifacts.js";
import { calldata, codesOf, layerOf, nobody, owner, preflight, scenesFor, third, type Scene } from "./scene.js";

describe.each(scenesFor("fees"))("on %s", (_, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
    for (let block = 0; block < 3; block++) {
      await scene.send(owner, { to: nobody, value: 1n });
      await scene.mine();
    }
  });
  afterAll(() => scene?.stop());
  const transfer = { from: third.address, to: nobody, value: 1n } as const;

  it("the base fee is that of the block that is mined next, and the tip comes from recent blocks", async () => {
    const report = await preflight(scene.url, transfer);
    const { fee, request } = report.transactions[0];
    if (request === null) throw new Error(codesOf(report).join(" "));
    expect(fee).toMatchObject({ tipSource: "feeHistory", maxPriorityFeePerGas: 1_000_000_000n, horizonSeconds: 60 });
    await scene.broadcast(await third.signTransaction(request));
    await scene.mine();
    const block = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly baseFeePerGas: string };
    expect(BigInt(block.baseFeePerGas)).toBe(fee.baseFeePerGas);
  });

  it("the cap outlives the horizon that the caller names", async () => {
    const shorter = await preflight(scene.url, transfer, { feeHorizon: 12_000 });
    const longer = await preflight(scene.url, transfer, { feeHorizon: 120_000, feeLevel: "fast" });
    const [one, other] = [shorter, longer].map((report) => report.transactions[0].fee);
    const over = (fee: typeof one) =>
      Number((fee?.maxFeePerGas ?? 0n) - (fee?.maxPriorityFeePerGas ?? 0n)) / Number(fee?.baseFeePerGas);
    expect(over(one)).toBeCloseTo(1.125, 3);
    expect(over(other)).toBeCloseTo(1.125 ** 10, 2);
    expect([one?.horizonSeconds, other?.horizonSeconds]).toEqual([12, 120]);
  });

  it("a balance that does not carry the horizon gets a shorter one, said and proven", async () => {
    const full = await preflight(scene.url, transfer);
    const { gas, fee } = full.transactions[0];
    const least = (fee.baseFeePerGas ?? 0n) + (fee.maxPriorityFeePerGas ?? 0n);
    const price = (least + (fee.maxFeePerGas ?? 0n)) / 2n;
    const account = privateKeyToAccount(generatePrivateKey());
    await scene.send(owner, { to: account.address, value: 1n + (gas.limit ?? 0n) * price });
    await scene.mine();
    const report = await preflight(scene.url, { ...transfer, from: account.address });
    expect(codesOf(report)).toContain("FeeHorizonShort/warning");
    expect([report.verdict, report.stage]).toEqual(["caution", "proven"]);
    const { request, fee: lower } = report.transactions[0];
    expect(lower.horizonSeconds).toBeLessThan(60);
    expect(report.funds[0]?.required).toBeLessThanOrEqual(report.funds[0]?.balance ?? 0n);
    if (request === null) throw new Error("no request");
    const hash = await scene.broadcast(await account.signTransaction(request));
    await scene.mine();
    expect((await scene.receipt(hash)).status).toBe("0x1");
  });

  it("a balance below even the next block's price is short of the whole", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    await scene.send(owner, { to: account.address, value: 21_000n });
    await scene.mine();
    const report = await preflight(scene.url, { ...transfer, from: account.address });
    expect(codesOf(report)).toContain("InsufficientFunds/blocker");
    expect(codesOf(report)).not.toContain("FeeHorizonShort/warning");
    const [funds] = report.funds;
    expect(funds?.shortfall).toBe((funds?.required ?? 0n) - 21_000n);
  });

  it("a node without history and receipts costs evidence, not the report", async () => {
    const answers = {
      eth_feeHistory: rpcError({ code: -32601, message: "the method eth_feeHistory does not exist/is not available" }),
      eth_getBlockReceipts: rpcError({ code: -32601, message: "the method eth_getBlockReceipts does not exist" }),
    };
    const report = await Effect.runPromise(
      Preflight.preflight(transfer).pipe(Effect.provide(layerScripted(answers, layerOf(scene.url)))),
    );
    expect(report.verdict).toBe("ready");
    expect(report.transactions[0].fee).toMatchObject({ tipSource: "minimum", maxPriorityFeePerGas: 1_000_000n });
    const partly = await Effect.runPromise(
      Preflight.preflight(transfer).pipe(
        Effect.provide(layerScripted({ eth_feeHistory: answers.eth_feeHistory }, layerOf(scene.url))),
      ),
    );
    expect(partly.verdict).toBe("ready");
  });

  it("a tip beyond all measure is not followed", async () => {
    const block = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly number: string };
    const lie = "0xffffffffffffffff";
    const history = {
      oldestBlock: block.number,
      baseFeePerGas: ["0x3b9aca00", "0x3b9aca00"],
      gasUsedRatio: [0.5],
      reward: [[lie, lie, lie]],
    };
    const report = await Effect.runPromise(
      Preflight.preflight(transfer).pipe(
        Effect.provide(layerScripted({ eth_feeHistory: history }, layerOf(scene.url))),
      ),
    );
    expect(codesOf(report)).toContain("TipCapped/warning");
    expect(report.transactions[0].request?.maxPriorityFeePerGas).toBe(1_000_000_000_000n);
  });

  it("a legacy price stays as it is, and everything fits it", async () => {
    const report = await preflight(scene.url, { ...transfer, gasPrice: 5_000_000_000n });
    expect(report.transactions[0].request).toMatchObject({ type: "legacy", gasPrice: 5_000_000_000n });
    expect(report.verdict).toBe("ready");
  });

  it("blob fields stay as they are, and blob gas counts", async () => {
    const blobVersionedHashes = [`0x01${"ab".repeat(31)}`, `0x01${"cd".repeat(31)}`] as const;
    const report = await preflight(scene.url, { ...transfer, blobVersionedHashes, maxFeePerBlobGas: 7_000n });
    expect(report.transactions[0].request).toMatchObject({
      type: "eip4844",
      blobVersionedHashes,
      maxFeePerBlobGas: 7_000n,
    });
    const blobGas = report.funds[0]?.terms.find((term) => term.name === "blobGas");
    expect(blobGas?.amount).toBe(2n * 131_072n * 7_000n);
  });

  it("tokens that are not there are named beside the revert", async () => {
    const token = await scene.deploy(Token, ["Gold", "GLD", 18]);
    const data = calldata(Token, "transfer", [nobody, 7n]);
    const report = await preflight(scene.url, { from: third.address, to: token, data });
    expect(report.verdict).toBe("blocked");
    const finding = report.findings.find(({ code }) => code === "TokenShortfall");
    expect(finding?.numbers).toContainEqual({ name: "short by", unit: "units", value: 7n });
  });
});
