/** Nodes that are some slots behind, and gateways whose nodes are not at one height, or not of one chain. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import { rawRequest, startAnvil } from "../harness/anvil.js";
import { findGethOrWarn, startGethDev, type GethDev } from "../harness/geth.js";
import { BlockNotFound, RpcError } from "../rooms/errors.js";
import { codesOf, layerOf, nobody, other, owner, preflightOn, purposeOf, type Purpose } from "./scene.js";
import { CurrentRun } from "../rooms/rpc.js";

const send = { from: other.address, to: nobody, value: 1n } as const;

describe("a node of Ethereum with an old head", () => {
  it.each([
    ["one slot", 14, "ready", []],
    ["three slots", 42, "caution", ["HeadOld/warning"]],
    ["four slots", 54, "unknown", ["PendingStale/unavailable"]],
  ])("is judged %s behind", async (_, age, verdict, codes) => {
    const args = ["--timestamp", String(Math.floor(Date.now() / 1000) - age)];
    const node = await startAnvil({ chainId: 1, args });
    const report = await preflightOn(layerOf(node.url), send);
    await node.stop();
    expect([report.verdict, codesOf(report).filter((code) => /^(HeadOld|PendingStale)/.test(code))]).toEqual([
      verdict,
      codes,
    ]);
  });
});

/** Runs while its slot 0 is not zero, and sets it to zero where it is called without data. */
const gateCode = "0x3615601057600054600e575f5ffd5b005b5f5f5500";
const gate = "0x00000000000000000000000000000000000ca7e5";
const pass = { from: other.address, to: gate, data: "0x01" } as const;
const alloc = (isOpen: boolean) => ({
  [gate.slice(2)]: {
    ...{ balance: "0x0", code: gateCode },
    storage: { [toHex(0, { size: 32 })]: toHex(Number(isOpen), { size: 32 }) },
  },
});
const close = { type: "eip1559", to: gate, gas: 60_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n } as const;

/** An endpoint, some of whose requests are answered otherwise. `before` = how many of this purpose came before. */
const gateway = (
  url: string,
  answer: (
    node: Rpc.Rpc["Service"],
    method: string,
    params: ReadonlyArray<unknown>,
    purpose: Purpose,
    before: number,
  ) => ReturnType<Rpc.Rpc["Service"]["request"]>,
): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) => {
      const asked = new Map<Purpose, number>();
      return Rpc.Rpc.of({
        ...node,
        request: (method, params) =>
          Effect.flatMap(Effect.service(CurrentRun), (run) => {
            const purpose = purposeOf(method, params, run);
            const before = asked.get(purpose) ?? 0;
            asked.set(purpose, before + 1);
            return answer(node, method, params, purpose, before);
          }),
      });
    }),
  ).pipe(Layer.provide(layerOf(url)));

const geth = findGethOrWarn("gateways over two heads, or two chains");

describe.runIf(geth !== null)("a gateway over two nodes of Ethereum, on geth", () => {
  const members = 24;
  let node: GethDev;
  let [old, hash] = ["", ""];
  beforeAll(async () => {
    node = await startGethDev(geth ?? "", { chainId: 1, age: 36, alloc: alloc(true) });
    for (let block = 0; block < 2; block++) await node.seal({ after: 12 });
    old = String(await rawRequest(node.url, "eth_blockNumber", []));
    const raw = await owner.signTransaction({ ...close, chainId: 1, nonce: 0 });
    await rawRequest(node.url, "eth_sendRawTransaction", [raw]);
    await node.seal({ after: 12 });
    const head = (await rawRequest(node.url, "eth_getBlockByNumber", ["latest", false])) as { hash: string };
    ({ hash } = head);
  });
  afterAll(() => node?.stop());

  /** Every other answer is of the block before the head, in which the gate is open; which ones, follows from the seed. */
  const spread = (seed: number) =>
    gateway(node.url, (real, method, params, purpose, before) => {
      if (BigInt(keccak256(toHex(`${seed} ${purpose} ${before}`))) % 2n === 0n) return real.request(method, params);
      if (JSON.stringify(params).includes(hash))
        return Effect.fail(new RpcError({ method, reason: new BlockNotFound({ detail: "" }) }));
      const tagged = method === "eth_estimateGas" && params.length < 2 ? [...params, "pending"] : params;
      return real.request(
        method,
        tagged.map((one) => (one === "latest" || one === "pending" ? old : one)),
      );
    });
  const verdicts = async (input: typeof send | typeof pass) => {
    const all: Array<string> = [];
    for (let seed = 0; seed < members; seed++) all.push((await preflightOn(spread(seed), input)).verdict);
    return all;
  };

  it("is never ready for a call that fails at the later head, where any answer named that", async () => {
    expect((await verdicts(pass)).filter((verdict) => verdict === "ready")).toEqual([]);
  });

  it("is ready for a transfer all the same", async () => {
    const ready = (await verdicts(send)).filter((verdict) => verdict === "ready");
    expect(ready.length).toBeGreaterThan(members / 2);
  });
});

describe.runIf(geth !== null)("a gateway over two chains, on geth", () => {
  const chainIds = [4242, 4243] as const;
  let [closed, open] = [] as unknown as [GethDev, GethDev];
  beforeAll(async () => {
    [closed, open] = await Promise.all([
      startGethDev(geth ?? "", { chainId: chainIds[0], alloc: alloc(false) }),
      startGethDev(geth ?? "", { chainId: chainIds[1], alloc: alloc(true) }),
    ]);
    await Promise.all([closed.mine(2), open.mine(2)]);
  });
  afterAll(() => Promise.all([closed?.stop(), open?.stop()]));

  it.each<[string, ReadonlyArray<Purpose>]>([
    ["its id", ["eth_chainId"]],
    ["the header", ["eth_getBlockByNumber"]],
    ["fee history", ["eth_feeHistory"]],
    ["estimates", ["eth_estimateGas"]],
    ["codes", ["eth_getCode"]],
    ["counts", ["latest count", "pending count"]],
    ...(["ample", "readerOnly", "exact", "next"] as const).map((run): [string, ReadonlyArray<Purpose>] => [run, [run]]),
    ["header and next", ["eth_getBlockByNumber", "next"]],
    ["all runs but exact", ["ample", "readerOnly", "next", "eth_getBlockByNumber"]],
    ["all runs but next", ["ample", "readerOnly", "exact", "eth_getBlockByNumber"]],
  ])("is not ready for a call that fails on the other chain, where that shows %s", async (_, purposes) => {
    const other = await Effect.runPromise(Effect.provide(Rpc.Rpc, layerOf(open.url)));
    const mixed = gateway(closed.url, (real, method, params, purpose) =>
      (purposes.includes(purpose) ? other : real).request(method, params),
    );
    expect((await preflightOn(mixed, pass)).verdict).not.toBe("ready");
  });
});
