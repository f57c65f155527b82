/** The most that can be sent, proven by sending it. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import * as Preflight from "../../src/Preflight.js";
import * as artifacts from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import { calldata, codesOf, layerOf, nobody, owner, scenesFor, startAnvilScene, type Scene } from "./scene.js";

const ask = (scene: Scene, from: Hex, to: Hex, options?: Preflight.Options) =>
  Effect.runPromise(Effect.result(Preflight.maxSendable(from, to, options)).pipe(Effect.provide(layerOf(scene.url))));

const given = async (scene: Scene, from: Hex, to: Hex, options?: Preflight.Options) => {
  const result = await ask(scene, from, to, options);
  if (Result.isFailure(result)) throw result.failure;
  return result.success;
};

describe.each(scenesFor("the most that can be sent"))("maxSendable on %s", (_, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
  });
  afterAll(() => scene?.stop());

  /** A new account with exactly this much. */
  const funded = async (balance: bigint) => {
    const account = privateKeyToAccount(generatePrivateKey());
    await scene.send(owner, { to: account.address, value: balance });
    await scene.mine();
    return account;
  };

  /** Sends it; what is left must be exactly what gas and price did not use. */
  const sent = async (from: Awaited<ReturnType<typeof funded>>, to: Hex) => {
    const { value, report } = await given(scene, from.address, to);
    expect(codesOf(report).filter((code) => !code.endsWith("/info"))).toEqual([]);
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    const { request } = report.transactions[0];
    const funds = report.funds[0];
    if (request === null || funds === undefined || request.maxFeePerGas === undefined) throw new Error("no request");
    expect(request.value).toBe(value);
    expect(request.value + request.gas * request.maxFeePerGas).toBe(funds.balance);
    expect(funds.required).toBe(funds.balance);
    const before = await scene.balance(to);
    const hash = await scene.broadcast(await from.signTransaction(request));
    await scene.mine();
    const receipt = await scene.receipt(hash);
    expect(receipt.status).toBe("0x1");
    const unspent = request.gas * request.maxFeePerGas - BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
    expect(await scene.balance(from.address)).toBe(unspent);
    expect((await scene.balance(to)) - before).toBe(value);
    return { request, report };
  };

  it("to an account is the whole balance without gas at its price, to the wei", async () => {
    await sent(await funded(10n ** 18n + 12_345_678_901n), nobody);
  });
  it("to a contract counts the gas of receiving it", async () => {
    const splitter = await scene.deploy(artifacts.Aggregator);
    const { request } = await sent(await funded(10n ** 17n + 3n), splitter);
    expect(request.gas).toBeGreaterThan(21_000n);
  });
  it("is as exact with a hundredth of an ether as with little more than the fees", async () => {
    await sent(await funded(10n ** 16n), nobody);
    const { value } = await given(scene, (await funded(10n ** 15n)).address, nobody);
    expect(value).toBeGreaterThan(0n);
  });
  it("is refused with the exact shortfall where the fees alone are more", async () => {
    const poor = await funded(1_000n);
    const result = await ask(scene, poor.address, nobody);
    if (Result.isSuccess(result)) throw new Error("something to send");
    expect(result.failure).toMatchObject({ _tag: "InsufficientFunds", have: 1_000n });
    const { want, shortfall } = result.failure as { want: bigint; shortfall: bigint };
    expect(shortfall).toBe(want - 1_000n);
    const celo = Chains.layerWith(scene.chainId, { symbol: "CELO", decimals: 12 });
    const there = Layer.merge(layerOf(scene.url), celo);
    const told = await Effect.runPromise(
      Effect.provide(Effect.flip(Preflight.maxSendable(poor.address, nobody)), there),
    );
    const more = { from: poor.address, to: nobody, value: 10n ** 18n } as const;
    const scanned = await Effect.runPromise(Effect.provide(Preflight.scan(more), there));
    const { error } = scanned.findings.find(({ code }) => code === "InsufficientFunds") ?? {};
    expect(error?.message).toMatch(/short by [\d.]+ CELO/);
    expect(told.message).toMatch(/short by [\d.]+ CELO/);
  });
  it("to a contract that takes nothing is a blocked report", async () => {
    const box = await scene.deploy(artifacts.Vault);
    const { report } = await given(scene, (await funded(10n ** 17n)).address, box);
    expect(report.verdict).toBe("blocked");
  });
});

describe("maxSendable on an OP-stack chain", () => {
  it("keeps the most that L1 and operator fee can become, and no more", async () => {
    const scene = await startAnvilScene();
    const oracle = "0x420000000000000000000000000000000000000F";
    await rawRequest(scene.url, "anvil_setCode", [oracle, artifacts.FjordGasPriceOracle.deployedBytecode]);
    await rawRequest(scene.url, "anvil_setCode", [
      "0x4200000000000000000000000000000000000015",
      artifacts.L1Block.deployedBytecode,
    ]);
    const settings = [0x5f19cf3n, 0x56d33bn, 0x8dd, 0x101c12, 100, 10n ** 12n, 3];
    await scene.send(owner, { to: oracle, data: calldata(artifacts.FjordGasPriceOracle, "set", settings) });
    const from = privateKeyToAccount(generatePrivateKey());
    await scene.send(owner, { to: from.address, value: 10n ** 18n });
    await scene.mine();
    const { value, report } = await Effect.runPromise(
      Preflight.maxSendable(from.address, nobody).pipe(
        Effect.provide(Layer.merge(layerOf(scene.url), Chains.layerWith(31337, { feeModel: "opstack" }))),
      ),
    );
    expect(report.verdict).toBe("ready");
    const [funds] = report.funds;
    const l1 = funds?.terms.find(({ name }) => name === "l1Fee")?.amount ?? 0n;
    expect(l1).toBeGreaterThan(0n);
    expect(funds?.required).toBeLessThanOrEqual(10n ** 18n);
    // the stand-in bytes of the first question may cost a little more than the real ones
    expect(10n ** 18n - (funds?.required ?? 0n)).toBeLessThan(l1);
    expect(value).toBeGreaterThan(0n);
    await scene.stop();
  });
});
