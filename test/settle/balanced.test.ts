/** Settlements asked of several nodes behind one address, one of which is behind: what it has not proves nothing. */
import * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import type * as Report from "../../src/Report.js";
import type * as Rpc from "../../src/Rpc.js";
import type { Hex } from "../rooms/primitives.js";
import {
  cleared,
  nobody,
  owner,
  preflight,
  quantity,
  signAll,
  startAnvilScene,
  tampered,
  type Scene,
} from "../preflight/scene.js";

type Lacks = (question: {
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly before: number;
}) => boolean;

const ofHash = (method: string) => method === "eth_getTransactionReceipt" || method === "eth_getTransactionByHash";

describe("a settlement behind a load balancer", () => {
  let scene: Scene;
  let report: Report.BundleReport;
  let mined: Hex;
  /** Signed for the same nonce, and never mined. */
  let lost: Hex;
  beforeAll(async () => {
    scene = await startAnvilScene();
    report = await preflight(scene.url, { from: owner.address, to: nobody, value: 1n });
    const other = await preflight(scene.url, { from: owner.address, to: nobody, value: 2n });
    const [raw = "0x"] = await signAll(await cleared(other));
    lost = await scene.broadcast(raw);
    const [first] = report.transactions;
    const dearer = await owner.signTransaction({
      ...first.request,
      maxPriorityFeePerGas: 10n ** 10n,
      maxFeePerGas: 10n ** 11n,
    } as never);
    mined = await scene.broadcast(dearer);
    await scene.mine();
  });
  afterAll(() => scene?.stop());

  const settledOn = async (layer: Layer.Layer<Rpc.Rpc>, hash = mined) => {
    const { transactions } = await Effect.runPromise(Preflight.settle(report, [hash]).pipe(Effect.provide(layer)));
    return transactions.map(({ state, hash: told, class: name }) => [state, told === mined ? "mined" : "sent", name]);
  };
  const settled = (hash: Hex, lacks: Lacks) =>
    settledOn(
      tampered(scene.url, ({ method, params, before }) => (lacks({ method, params, before }) ? () => null : null)),
      hash,
    );

  it("finds the block of the transaction, where the node with the receipt is behind", async () => {
    expect(await settled(mined, ({ method, before }) => ofHash(method) && before === 0)).toEqual([
      ["mined", "mined", "tampered"],
    ]);
  });
  it("does not call a mined transaction replaced", async () => {
    expect(await settled(mined, ({ method }) => ofHash(method))).toEqual([["unknown", "mined", "unknown"]]);
    const isFull: Lacks = ({ method, params }) => method === "eth_getBlockByNumber" && params[1] === true;
    expect(await settled(mined, (one) => ofHash(one.method) || isFull(one))).toEqual([["unknown", "mined", "unknown"]]);
  });
  it("is unknown where the receipt is of no such block, or of one that the transaction has left", async () => {
    const { blockNumber } = await scene.receipt(mined);
    const parent = (await scene.ask("eth_getBlockByNumber", [quantity(BigInt(blockNumber) - 1n), false])) as {
      readonly hash: Hex;
    };
    const telling = (method: string, tell: (told: object) => unknown) =>
      settledOn(tampered(scene.url, (asked) => (asked.method === method ? (told) => tell(told as object) : null)));
    const unknown = [["unknown", "mined", "unknown"]];
    const receipt = "eth_getTransactionReceipt";
    expect(await telling(receipt, (told) => ({ ...told, blockHash: null }))).toEqual(unknown);
    expect(await telling("eth_getBlockByHash", (told) => ({ ...told, transactions: [] }))).toEqual(unknown);
    // the transaction is told to be in its block, and its receipt is still that of another
    expect(await telling(receipt, (told) => ({ ...told, blockHash: parent.hash }))).toEqual(unknown);
    // a receipt that was told once too often: the one of its block is asked for
    const stale = tampered(scene.url, ({ method, before }) =>
      method === receipt && before === 0 ? (told) => ({ ...(told as object), blockHash: parent.hash }) : null,
    );
    expect(await settledOn(stale)).toEqual([["mined", "mined", "tampered"]]);
  });
  it("calls a transaction replaced when its nonce went to another in a block, with its receipt or without", async () => {
    expect(await settled(lost, () => false)).toEqual([["mined", "mined", "replaced"]]);
    expect(await settled(lost, ({ method }) => ofHash(method))).toEqual([["replaced", "sent", "replaced"]]);
  });
  it("is refused by another chain's node, which knows nothing of it", async () => {
    const elsewhere = tampered(scene.url, ({ method }) => (method === "eth_chainId" ? () => "0x7" : null));
    const settled = Effect.runPromise(Effect.provide(Effect.flip(Preflight.settle(report, [mined])), elsewhere));
    expect(await settled).toMatchObject({ _tag: "ChainIdMismatch", expected: 31337n, actual: 7n });
  });
});
