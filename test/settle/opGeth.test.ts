/** Settlements on the OP stack's own client: fees of layer 1 and of the operator, as its receipts tell them. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { getContractAddress, type Hex, type TransactionSerializable } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import * as Preflight from "../../src/Preflight.js";
import type { Hash } from "../rooms/primitives.js";
import { rawRequest } from "../harness/anvil.js";
import { creation } from "../harness/creation.js";
import { findOpGethOrWarn, startOpGeth, type L1, type OpGeth } from "../harness/opGeth.js";
import { cleared, layerOf, nobody, owner, preflightOn } from "../preflight/scene.js";

const bin = findOpGethOrWarn("settlements on an OP-stack node");
const l1 = { baseFee: 10n ** 10n, blobBaseFee: 10n ** 9n, baseFeeScalar: 5_227, blobBaseFeeScalar: 1_014_213 };

describe.skipIf(bin === null).each([
  ["isthmus", { ...l1, operatorFeeScalar: 400_000_000, operatorFeeConstant: 900_000_000n }],
  ["jovian", { ...l1, operatorFeeScalar: 3_000, operatorFeeConstant: 900_000_000n, minBaseFee: 2_000_000 }],
] as const)("a settlement under %s", (generation, fees) => {
  let node: OpGeth;
  beforeAll(async () => {
    node = await startOpGeth(bin ?? "", { generation, l1: fees });
    await node.mine();
  }, 60_000);
  afterAll(() => node?.stop());

  const balance = async () =>
    BigInt((await rawRequest(node.url, "eth_getBalance", [owner.address, "latest"])) as string);
  const settled = async (changed: Partial<L1> = {}, to: Hex = nobody) => {
    const layer = Layer.merge(layerOf(node.url), Chains.layerWith(node.chainId, { feeModel: "opstack" }));
    const report = await preflightOn(layer, { from: owner.address, to, value: 5n });
    const [request] = (await cleared(report)).requests;
    const raw = await owner.signTransaction(request as TransactionSerializable);
    const hash = (await rawRequest(node.url, "eth_sendRawTransaction", [raw])) as Hash;
    const before = await balance();
    await node.mine(changed);
    const found = await Effect.runPromise(Preflight.settle(report, [hash]).pipe(Effect.provide(layer)));
    const [one] = found.transactions;
    if (one?.state !== "mined") return expect.fail();
    return { found, one, paid: before - (await balance()) };
  };

  it("equals the report, to the wei", async () => {
    const { found, one, paid } = await settled();
    expect([found.class, one.differences, found.balances.differences]).toEqual(["same", [], []]);
    expect([found.balances.compared, found.balances.uncompared]).toEqual([2, []]);
    expect(one.l1Fee).toBeGreaterThan(0n);
    expect(one.operatorFee).toBeGreaterThan(900_000_000n);
    expect((one.cost ?? 0n) + 5n).toBe(paid);
  });

  it("is contextDependent for a block's time in an event, behind the block's own L1 transaction", async () => {
    const data = creation("4260005260206000a000");
    const nonce = BigInt((await rawRequest(node.url, "eth_getTransactionCount", [owner.address, "latest"])) as string);
    const raw = await owner.signTransaction({
      ...{ type: "eip1559", chainId: node.chainId, nonce: Number(nonce), data, gas: 200_000n },
      ...{ maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 6n },
    });
    await rawRequest(node.url, "eth_sendRawTransaction", [raw]);
    await node.mine();
    const { found, one } = await settled({}, getContractAddress({ from: owner.address, nonce }));
    expect([found.class, one.differences]).toEqual([
      "contextDependent",
      [expect.objectContaining({ kind: "log", event: 0 })],
    ]);
  });

  it("is priceMoved where the price of layer 1 rises, and nothing else differs", async () => {
    const { found, one, paid } = await settled({ baseFee: 20n * l1.baseFee });
    expect([found.class, one.differences.map(({ what }) => what)]).toEqual([
      "priceMoved",
      expect.arrayContaining(["L1 fee"]),
    ]);
    expect(found.balances.differences).toEqual([]);
    expect((one.cost ?? 0n) + 5n).toBe(paid);
  });
});
