import { describe, expect, it } from "vitest";
import { rawRequest } from "./anvil.js";
import { findGethOrWarn, startGethDev } from "./geth.js";
import { untilInLine } from "./gethEngine.js";
import { startNode } from "./server.js";

const bin = findGethOrWarn("blocks across two forks");

describe.skipIf(bin === null)("a geth that is told how to build blocks", () => {
  it("crosses into Osaka and Amsterdam with named producer, time and transactions", async () => {
    const node = await startGethDev(bin ?? "", { forks: { osakaTime: 10, amsterdamTime: 30 } });
    const producer = `0x${"ab".repeat(20)}`;
    const word = `0x${"11".repeat(32)}`;
    const latest = async () =>
      (await rawRequest(node.url, "eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
    const first = await latest();
    await node.seal({ after: 5, feeRecipient: producer, prevRandao: word, parentBeaconBlockRoot: word });
    const second = await latest();
    expect([second["miner"], second["mixHash"], second["parentBeaconBlockRoot"]]).toEqual([producer, word, word]);
    expect(Number(second["timestamp"]) - Number(first["timestamp"])).toBe(5);
    await node.seal({ after: 8 });
    expect(await latest()).not.toHaveProperty("slotNumber");
    await node.seal({ after: 30 });
    expect(await latest()).toHaveProperty("slotNumber");
    await node.stop();
  });
});

describe("a slow pool", () => {
  const sender = `0x${"ab".repeat(20)}`;
  /** Puts the transaction of nonce 4 in line after so many questions; one of nonce 9 stays behind a gap. */
  const poolAfter = (questions: number) => {
    let asked = 0;
    return startNode(({ method }) => {
      const isInLine = asked > questions;
      if (method === "txpool_status") {
        asked += 1;
        return { result: { pending: isInLine ? "0x1" : "0x0", queued: isInLine ? "0x1" : "0x2" } };
      }
      if (method === "eth_getTransactionCount") return { result: isInLine ? "0x5" : "0x4" };
      const own = { ...(isInLine ? {} : { 4: { hash: "0x04" } }), 9: { hash: "0x09" } };
      return { result: { pending: {}, queued: { [sender]: own } } };
    });
  };
  it.each([0, 40])("is waited for through %i requests, and a gap is not", async (questions) => {
    const node = await poolAfter(questions);
    try {
      await untilInLine(node.url);
      expect(node.asked.filter(({ method }) => method === "txpool_status")).toHaveLength(questions + 1);
    } finally {
      await node.stop();
    }
  });
});
