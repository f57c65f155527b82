/** What is offered per gas where a balance does not carry the horizon, on real nodes. */
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codesOf, nobody, owner, preflight, scenesFor, third, type Scene } from "./scene.js";

describe.each(scenesFor("fees"))("the fee horizon on %s", (_, start) => {
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

  it("is shortened where a balance does not carry it, with a finding, and proven so", async () => {
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
});
