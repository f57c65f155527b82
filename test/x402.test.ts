/** The facilitator of `examples/x402.ts` with USDC by its maker: what it settles is mined and worked, and nothing is paid twice. */
import { encodeFunctionData, numberToHex, parseAbi, parseSignature, type Address, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFacilitator, type Payment, type Requirements } from "../examples/x402.js";
import { diceOf } from "./harness/families/kit.js";
import { kitsFor, type Kit } from "./signing/kit.js";
import { hasBeds } from "./signing/parts.js";

const most = process.env["TEST_ALL"] === "1" ? 100 : 20;
const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
]);
const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

const spoils = ["amount", "expired", "used", "signer", "domain", "name", "balance", "payee", "network"] as const;
type Spoil = (typeof spoils)[number];

describe.skipIf(!hasBeds("examples/x402.ts with real USDC"))("examples/x402.ts", () => {
  let kit: Kit;
  let fees: PrivateKeyAccount;
  let key: Hex;
  let payers: ReadonlyArray<PrivateKeyAccount>;
  beforeAll(async () => {
    const [, start] = kitsFor("examples/x402.ts")[0] ?? [];
    if (start === undefined) throw new Error("no node");
    kit = await start();
    const all: Array<PrivateKeyAccount> = [];
    for (const seed of [11, 12, 13, 14]) {
      const payer = await kit.account(seed);
      await kit.fill(payer.address);
      all.push(payer);
    }
    payers = all;
    fees = await kit.account(15);
    // why: keys of the kit are drawn by their seeds
    key = numberToHex(2n ** 200n + 1_015n, { size: 32 });
  }, 240_000);
  afterAll(() => kit?.stop());

  /** A payment that a client signs, spoiled or not, and what its server asks for. */
  const paymentOf = async (seed: number, payTo: Address, spoil: Spoil | null) => {
    const random = diceOf(seed);
    const usdc = kit.tokens.usdc;
    const payer = random.of(payers);
    const amount = BigInt(1 + random.below(1_000));
    const network = `eip155:${kit.scene.chainId}`;
    const extra = { name: spoil === "name" ? "USDC" : usdc.name, version: usdc.version };
    const asked: Requirements = {
      ...{ scheme: "exact", network: spoil === "network" ? "eip155:8453" : network, asset: usdc.address, payTo },
      ...{ amount: String(spoil === "balance" ? 10n ** 15n : amount), maxTimeoutSeconds: 3_600, extra },
    };
    const now = Math.floor(Date.now() / 1_000);
    const message = {
      from: payer.address,
      to: spoil === "payee" ? random.address() : payTo,
      value: BigInt(asked.amount) - (spoil === "amount" ? 1n : 0n),
      ...{ validAfter: BigInt(now - 600), validBefore: BigInt(spoil === "expired" ? now - 1 : now + 3_000) },
      nonce: numberToHex(BigInt(seed) + 2n ** 255n, { size: 32 }),
    };
    const domain = { ...extra, chainId: kit.scene.chainId, verifyingContract: usdc.address };
    const signer = spoil === "signer" ? fees : payer;
    const signature = await signer.signTypedData({
      ...{ types, primaryType: "TransferWithAuthorization", message },
      domain: spoil === "domain" ? { ...domain, name: "USD C" } : domain,
    });
    const authorization = {
      ...{ from: message.from, to: message.to, nonce: message.nonce, value: String(message.value) },
      ...{ validAfter: String(message.validAfter), validBefore: String(message.validBefore) },
    };
    const payment: Payment = { accepted: { scheme: "exact", network }, payload: { signature, authorization } };
    if (spoil === "used") {
      const { r, s, yParity } = parseSignature(signature);
      const { from, to, value, validAfter, validBefore, nonce } = message;
      const args = [from, to, value, validAfter, validBefore, nonce, 27 + yParity, r, s] as const;
      const data = encodeFunctionData({ abi, functionName: "transferWithAuthorization", args });
      expect((await kit.send([{ from: kit.stranger, to: usdc.address, data }])).map(({ status }) => status)).toEqual([
        "0x1",
      ]);
    }
    return { payment, asked, spoil, amount };
  };

  it(`settles the valid ones of ${most} payments, each once, and nothing that reverts`, async () => {
    await using facilitator = await startFacilitator({ url: kit.scene.url, key }, { settleMs: 1, deadline: 10_000 });
    const payTo = "0x00000000000000000000000000000000dead0402";
    const before = await kit.scene.count(fees.address);
    const drawn: Array<Awaited<ReturnType<typeof paymentOf>>> = [];
    for (let seed = 1; seed <= most; seed++)
      drawn.push(await paymentOf(seed, payTo, seed % 4 === 0 ? (spoils[(seed / 4) % spoils.length] ?? null) : null));
    const paidByOthers = await kit.read({ kind: "balance", token: kit.tokens.usdc.address, of: payTo });
    let isOver = false;
    const mining = (async () => {
      while (!isOver) {
        await kit.scene.mine();
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    })();
    const settled = new Set<string>();
    let paid = 0n;
    for (let at = 0; at < drawn.length; at += 4) {
      const some = drawn.slice(at, at + 4);
      // each is asked twice at once, as a client that heard nothing asks again
      const ended = await Promise.all(
        [...some, ...some].map(({ payment, asked }) => facilitator.settle(payment, asked)),
      );
      for (const [index, { spoil, amount, payment, asked }] of some.entries()) {
        const name = `${at + index + 1} ${spoil}`;
        const [first, again] = [ended[index], ended[index + some.length]];
        expect([name, again]).toEqual([name, first]);
        const isGood = spoil === null;
        expect([name, first?.success], JSON.stringify(first)).toEqual([name, isGood]);
        if (first?.success !== true) continue;
        expect([name, (await kit.scene.receipt(first.transaction)).status]).toEqual([name, "0x1"]);
        expect(settled.has(first.transaction)).toBe(false);
        settled.add(first.transaction);
        paid += amount;
        // done, it is answered as before; another payment under its nonce, and another server, get nothing
        expect(await facilitator.settle(payment, asked)).toEqual(first);
        expect(await facilitator.settle(payment, { ...asked, amount: "1000000" })).toMatchObject({ success: false });
        expect(await facilitator.verify(payment, asked)).toMatchObject({ isValid: false });
      }
    }
    isOver = true;
    await mining;
    expect(await kit.scene.count(fees.address)).toBe(before + settled.size);
    expect(await kit.read({ kind: "balance", token: kit.tokens.usdc.address, of: payTo })).toBe(paidByOthers + paid);
    expect(settled.size).toBe(drawn.filter(({ spoil }) => spoil === null).length);
  }, 600_000);

  it("gives the reason why a payment is invalid, and lets it be tried again", async () => {
    await using facilitator = await startFacilitator({ url: kit.scene.url, key }, { settleMs: 1, deadline: 10_000 });
    const payTo = "0x00000000000000000000000000000000dead0403";
    const reasons: ReadonlyArray<readonly [Spoil, string]> = [
      ["amount", "the amount is another one"],
      ["expired", "it has expired"],
      ["used", "nonce is used"],
      ["signer", "the payer did not sign it"],
      ["domain", "the payer did not sign it"],
      ["name", "domain"],
      ["balance", "balance"],
      ["payee", "the payee is another one"],
      ["network", "the network is another one"],
    ];
    for (const [index, [spoil, reason]] of reasons.entries()) {
      const { payment, asked } = await paymentOf(1_000 + index, payTo, spoil);
      const verified = await facilitator.verify(payment, asked);
      expect([spoil, verified]).toMatchObject([
        spoil,
        { isValid: false, invalidReason: expect.stringContaining(reason) },
      ]);
      expect(await facilitator.settle(payment, asked)).toMatchObject({ success: false });
    }
    expect(await kit.read({ kind: "balance", token: kit.tokens.usdc.address, of: payTo })).toBeGreaterThan(0n);
  }, 120_000);
});
