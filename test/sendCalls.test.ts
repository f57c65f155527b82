/** The example `examples/send-calls.ts` on real accounts' code: all of its calls are mined as one, or none is. */
import { defineChain, encodeFunctionData, http, numberToHex, parseAbi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendCalls } from "../examples/send-calls.js";
import { kitsFor, type Kit } from "./signing/kit.js";
import { hasBeds } from "./signing/parts.js";

const abi = parseAbi([
  "function approve(address spender, uint256 amount) returns (bool)",
  "function transfer(address to, uint256 amount) returns (bool)",
]);

describe.skipIf(!hasBeds("examples/send-calls.ts on real accounts' code"))("examples/send-calls.ts", () => {
  let kit: Kit;
  beforeAll(async () => {
    const [, start] = kitsFor("examples/send-calls.ts")[0] ?? [];
    if (start === undefined) throw new Error("no node");
    kit = await start();
  }, 240_000);
  afterAll(() => kit?.stop());

  it.each([
    ["simple", 51, true],
    ["metamask", 52, true],
    ["plain", 53, false],
  ] as const)("sends the calls of an account: %s", async (delegation, seed, isOne) => {
    const owner = await kit.account(seed, delegation);
    await kit.fill(owner.address);
    // why: keys of the kit are drawn by their seeds
    const key = numberToHex(2n ** 200n + 1_000n + BigInt(seed), { size: 32 });
    const transport = http(kit.scene.url);
    const chain = defineChain({
      ...{ id: kit.scene.chainId, name: "test", rpcUrls: { default: { http: [kit.scene.url] } } },
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    });
    const { address: to } = kit.tokens.usdc;
    const spender = kit.spender.address;
    const approve = { to, data: encodeFunctionData({ abi, functionName: "approve", args: [spender, 7n] }) };
    const pay = (amount: bigint) => ({
      ...{ to, data: encodeFunctionData({ abi, functionName: "transfer", args: [kit.stranger.address, amount] }) },
    });
    const said: Array<string> = [];
    const send = (amount: bigint) =>
      sendCalls({ chain, transport, key }, [approve, pay(amount)], (text) => said.push(text));
    const nonce = await kit.scene.count(owner.address);
    expect(await send(10n ** 40n)).toEqual({ refused: expect.stringContaining("exceeds balance") });
    expect([await kit.scene.count(owner.address, "pending"), said[0]]).toEqual([
      nonce,
      expect.stringMatching(/^BLOCKED/),
    ]);

    const sent = await send(5n);
    expect(sent).toMatchObject({ isOne });
    await kit.scene.mine();
    expect(await kit.scene.count(owner.address)).toBe(nonce + (isOne ? 1 : 2));
    expect(await kit.read({ kind: "allowance", token: to, owner: owner.address as Hex, spender })).toBe(7n);
  });
});
