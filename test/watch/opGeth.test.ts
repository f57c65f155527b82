/** Heads and a watched report on an OP stack's own client, with a pending block of its own and without. */
import * as Layer from "effect/Layer";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import * as Eth from "../../src/Eth.js";
import { followed, until } from "../eth/watching.js";
import { rawRequest } from "../harness/anvil.js";
import { findOpGethOrWarn, startOpGeth, type L1, type OpGeth } from "../harness/opGeth.js";
import { layerOf, nobody, preflightOn, spare } from "../preflight/scene.js";
import { watching, type WatchedReport } from "./watched.js";

const bin = findOpGethOrWarn("watching on an OP-stack node");

describe.skipIf(bin === null).each([false, true])("a watched report, own pending block: %s", (computesPending) => {
  let node: OpGeth;
  let running: ReadonlyArray<WatchedReport> = [];
  beforeAll(async () => {
    node = await startOpGeth(bin ?? "", { generation: "isthmus", computesPending });
    await node.mine();
  });
  afterEach(async () => {
    for (const one of running) await one.stop();
  });
  afterAll(() => node?.stop());

  it("gets each head once", { timeout: 60_000 }, async () => {
    const heads = followed(Eth.watchHeads({ pollMs: 20 }), layerOf(node.url));
    await until(() => heads.told.length === 1, "the present head");
    for (let count = 2; count < 5; count++) {
      await node.mine();
      await until(() => heads.told.length === count, `head ${count}`);
    }
    await heads.stop();
    const numbers = heads.told.map(({ header }) => header.number - (heads.told[0]?.header.number ?? 0n));
    expect(numbers).toEqual([0n, 1n, 2n, 3n]);
  });

  it("stays `Fresh`, sees the cost of L1, and is lost once the nonce is used", { timeout: 60_000 }, async () => {
    const chained = Layer.merge(layerOf(node.url), Chains.layerWith(node.chainId, { feeModel: "opstack" }));
    const report = await preflightOn(chained, { from: spare.address, to: nobody, value: 5n });
    expect(report.verdict).toBe("ready");
    running = watching([report], chained);
    const [one] = running as [WatchedReport];
    const last = () => {
      const word = one.told.at(-1);
      return word?._tag === "Lost" ? word.reason._tag : word?._tag;
    };
    const mined = async (l1?: Partial<L1>) => {
      await node.mine(l1);
      const number = BigInt(String(await rawRequest(node.url, "eth_blockNumber")));
      await until(() => (one.told.at(-1)?.head?.header.number ?? 0n) >= number, `a word on ${number}`, 20_000);
      return last();
    };
    await until(() => one.told.length > 0, "the first word");
    expect(await mined()).toBe("Fresh");
    const required = () => one.told.at(-1)?.report.funds[0]?.required ?? 0n;
    const before = required();
    // why: what L1 costs is a price of the moment; who can no longer pay it is lost by the proof
    expect(await mined({ baseFee: 900_000_000_000n })).toBe("Fresh");
    expect(required()).toBeGreaterThan(before);
    expect(await mined()).toBe("Fresh");
    const raw = await spare.signTransaction({
      ...{ type: "eip1559", chainId: node.chainId, to: nobody, value: 1n, nonce: 0 },
      ...{ gas: 21_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 6n },
    });
    await rawRequest(node.url, "eth_sendRawTransaction", [raw]);
    expect(await mined()).toBe("NonceTooLow");
  });
});
