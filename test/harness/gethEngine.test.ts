import { describe, expect, it } from "vitest";
import { rawRequest } from "./anvil.js";
import { findGethOrWarn, startGethDev } from "./geth.js";

const bin = findGethOrWarn("blocks across two forks");

describe.skipIf(bin === null)("blocks of a geth that is told how to build them", () => {
  it("cross into Osaka and Amsterdam, by whom, when and with what is named", async () => {
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
