/** A proof chooses nothing: it keeps what the scan chose, and says where that no longer holds. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as Report from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import {
  cleared,
  codesOf,
  nobody,
  other,
  owner,
  preflight,
  prove,
  refusedWith,
  scan,
  scenesFor,
  signAll,
  third,
  type AnyInput,
  type Scene,
} from "./scene.js";
import { furnish, transferOf } from "./furnished.js";
import { creation } from "../harness/creation.js";

/** Called with a number, both remember it. Called with nothing, this one turns that many times in a loop and emits an event. */
const loop = "366018575f545b8015601357600190036006565b5f5fa0005b5f355f5500";
/** This one emits it when it has that much gas, and comes to its end without it all the same. */
const spoilt = "366010575f545a10600e575f5fa05b005b5f355f5500";

describe.each(scenesFor("choices that are kept"))("nonce, gas and fee of scan and proof on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  let looping: Hex;
  let wanting: Hex;
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
    looping = await scene.deploy({ abi: [], bytecode: creation(loop) });
    wanting = await scene.deploy({ abi: [], bytecode: creation(spoilt) });
  });
  afterAll(() => scene?.stop());

  const remember = async (at: Hex, number: bigint) => {
    await scene.send(third, { to: at, data: `0x${number.toString(16).padStart(64, "0")}` });
    await scene.mine();
  };

  describe("a state that did not move", () => {
    const inputs = (): Readonly<Record<string, AnyInput>> => ({
      "a transfer of ether": { from: owner.address, to: nobody, value: 1n },
      "a call": transferOf(token),
      "a legacy price": { ...transferOf(token), gasPrice: 30_000_000_000n },
      "what the caller fixed": { ...transferOf(token), gas: 90_000n, maxFeePerGas: 70_000_000_000n },
      "a bundle of two senders": [
        transferOf(token),
        { from: other.address, to: gate, abi: artifacts.Gate.abi, functionName: "open" },
        { from: owner.address, to: nobody, value: 2n },
      ],
    });

    it("keeps nonce, gas and fee of every transaction of the scan in every proof", async () => {
      for (const [name, input] of Object.entries(inputs())) {
        const scanned = await scan(scene.url, input);
        const proven = await prove(scene.url, scanned);
        const again = await prove(scene.url, proven);
        expect([scanned.stage, proven.stage, again.stage], name).toEqual(["scanned", "proven", "proven"]);
        for (const [index, before] of scanned.transactions.entries())
          for (const { transactions } of [proven, again]) {
            const after = transactions[index];
            expect(after?.nonce, name).toEqual(before.nonce);
            expect(after?.fee, name).toEqual(before.fee);
            // what it takes is measured anew, and nothing else of it
            expect({ ...after?.gas, used: before.gas.used, peak: before.gas.peak }, name).toEqual(before.gas);
            expect(after?.request, name).toEqual(before.request);
          }
        expect([proven.digest, again.digest], name).toEqual([scanned.digest, scanned.digest]);
        expect([proven.verdict, again.verdict], name).toEqual(["ready", "ready"]);
      }
    });

    it("lets a proof name the blocks in which the exact requests ran, and that they agree", async () => {
      const scanned = await scan(scene.url, transferOf(token));
      expect(scanned.observed.worlds).toEqual([]);
      const { observed } = await prove(scene.url, scanned);
      const [exact, next] = observed.worlds;
      expect(observed.worlds.map(({ run, state, agrees }) => [run, state, agrees])).toEqual([
        ["exact", "pending", true],
        ["next", observed.latestNumber, true],
        // of a report from outside nobody has seen what the code reads
        ["between", observed.latestNumber, true],
        ["twin", observed.latestNumber, true],
        ["between", observed.latestNumber, true],
        ["twin", observed.latestNumber, true],
      ]);
      expect([exact?.number, exact?.timestamp]).toEqual([observed.simulatedNumber, observed.timestamp]);
      // the block that comes next, and one behind it at an odd distance
      expect(next?.number).toBe((observed.latestNumber ?? 0n) + 1n);
      expect(exact?.number).toBe((next?.number ?? 0n) + 3n);
      expect(((exact?.timestamp ?? 0n) - (next?.timestamp ?? 0n)) % 2n).toBe(1n);
      // in one of the blocks between another builder's, as far as the protocol lets it move in four blocks
      const moved = observed.worlds.map(({ gasLimit }) => Math.abs(Number(gasLimit) - Number(next?.gasLimit)));
      expect(Math.max(...moved)).toBeGreaterThan(0);
      expect(Math.max(...moved)).toBeLessThan((4 * Number(next?.gasLimit)) / 1_024);
      expect(next?.feeRecipient).toBe(scanned.observed.feeRecipient);
      expect(next?.feeRecipient).not.toBe(exact?.feeRecipient);
    });
  });

  describe("the request log", () => {
    it("names method, run, step and endpoint of every request", async () => {
      const { ledger } = await preflight(scene.url, transferOf(token));
      const endpoint = new URL(scene.url).origin;
      expect(ledger.requests.every((request) => request.endpoint.startsWith(endpoint))).toBe(true);
      const named = ledger.requests.map(({ round, method, run, step }) => `${round} ${step} ${run ?? method}`);
      expect(named.sort()).toEqual([
        "1 chain eth_chainId",
        "1 chain eth_getBlockByNumber",
        "1 code eth_getCode",
        "1 code eth_getCode",
        "1 estimate eth_estimateGas",
        "1 fee eth_feeHistory",
        "1 fee eth_getBlockReceipts",
        "1 nonce eth_getTransactionCount",
        "1 nonce eth_getTransactionCount",
        "1 simulate ample",
        "1 simulate readerOnly",
        "2 chain eth_config",
        "2 chain eth_getBlockByNumber",
        "2 nonce eth_getTransactionCount",
        "2 nonce eth_getTransactionCount",
        "2 simulate exact",
        "2 simulate next",
      ]);
    });
  });

  describe("a gas limit that no longer suffices", () => {
    /** Signed as handed out, mined: the event is there. */
    const isCarriedOut = async (report: Report.BundleReport, emitter: Hex) => {
      const [raw] = await signAll(await cleared(report));
      const hash = await scene.broadcast(raw ?? "0x");
      await scene.mine();
      const { status, logs } = await scene.receipt(hash);
      expect([status, logs.map(({ address }) => address.toLowerCase())]).toEqual(["0x1", [emitter]]);
    };

    it("is reported by every proof and cleared by none; a new preflight widens it", async () => {
      const input = { from: owner.address, to: wanting };
      await remember(wanting, 1n);
      const scanned = await scan(scene.url, input);
      const proven = await preflight(scene.url, input);
      expect([scanned.verdict, proven.verdict]).toEqual(["ready", "ready"]);
      await remember(wanting, 1_000_000n);
      for (const report of [scanned, proven]) {
        const again = await prove(scene.url, report);
        expect(codesOf(again), report.stage).toContain("ScanAgain/unavailable");
        expect(again.verdict, report.stage).toBe("unknown");
        expect(again.transactions[0].gas.limit, report.stage).toBe(report.transactions[0].gas.limit);
        expect(await refusedWith(again), report.stage).toMatchObject({
          _tag: "NotProven",
          missing: [{ reason: "CheckUnavailable", code: "ScanAgain" }],
        });
      }
      const wider = await preflight(scene.url, input);
      expect([wider.verdict, codesOf(wider).includes("GasLimitWidened/info")]).toEqual(["ready", true]);
      expect((wider.transactions[0].gas.limit ?? 0n) > 1_000_000n).toBe(true);
      await isCarriedOut(wider, wanting);
    });

    it("is never cleared where the transaction itself runs out of it", async () => {
      await remember(looping, 1n);
      const input = { from: owner.address, to: looping };
      const scanned = await scan(scene.url, input);
      const proven = await preflight(scene.url, input);
      await remember(looping, 20_000n);
      for (const report of [scanned, proven]) {
        const again = await prove(scene.url, report);
        expect(again.verdict, report.stage).toBe("blocked");
        expect(["VmHalt", "OutOfGas"], report.stage).toContain((await refusedWith(again))._tag);
      }
      await isCarriedOut(await preflight(scene.url, input), looping);
    });
  });
});
