/** The gas limit that is handed out, proven on real nodes: traps in which a tighter one does something else. */
import { type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BundleReport } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { InternalError, RpcError } from "../rooms/errors.js";
import { nested } from "../harness/accuracy/cases.js";
import {
  calldata,
  codesOf,
  nobody,
  other,
  owner,
  preflight,
  preflightOn,
  prove,
  scan,
  scenesFor,
  severe,
  tampered,
  third,
  type AnyInput,
  type Scene,
} from "./scene.js";
import { creation } from "../harness/creation.js";

describe.each(scenesFor("gas limits"))("the gas limit of a request on %s", (name, start) => {
  let scene: Scene;
  let aggregator: Hex;
  let gasReader: Hex;
  let clearer: Hex;
  beforeAll(async () => {
    scene = await start();
    aggregator = await scene.deploy(artifacts.Aggregator);
    gasReader = await scene.deploy(artifacts.GasReader);
    clearer = await scene.deploy(artifacts.StorageClearer);
    for (let times = 0; times < 3; times++) {
      await scene.send(owner, { to: clearer, data: calldata(artifacts.StorageClearer, "fill", [30n]) });
      await scene.mine();
    }
  });
  afterAll(() => scene?.stop());

  const gasOf = (report: BundleReport) => report.transactions[0].gas;

  /** Signed as handed out, mined: the receipt must tell what the report tells. */
  const mined = async (report: BundleReport) => {
    const { request, outcome } = report.transactions[0];
    if (request === null) throw new Error(`no request: ${codesOf(report).join(" ")}`);
    const hash = await scene.broadcast(await owner.signTransaction(request));
    await scene.mine();
    const receipt = await scene.receipt(hash);
    expect(receipt.status).toBe("0x1");
    expect(receipt.logs.map(({ address, data }) => [address.toLowerCase(), data])).toEqual(
      outcome.logs.map(({ address, data }) => [address, data]),
    );
    expect(BigInt(receipt.gasUsed)).toBe(outcome.gasUsed);
    return receipt;
  };
  /** A further proof, which runs at this limit alone, does not make it ready. */
  const isSaidAgain = async (report: BundleReport, code: string) => {
    const again = await prove(scene.url, report);
    expect([again.verdict, codesOf(again)]).toEqual(["caution", expect.arrayContaining([code])]);
  };
  const inner = (functionName: string, gas: bigint) => ({
    target: gasReader,
    callData: calldata(artifacts.GasReader, functionName, [gas]),
  });
  const last = async (): Promise<bigint> =>
    BigInt(
      (await scene.ask("eth_call", [{ to: gasReader, data: calldata(artifacts.GasReader, "last") }, "latest"])) as Hex,
    );

  it("leaves a swallowed inner call what it needs behind many frames (63/64)", async () => {
    // the estimate is satisfied with the outer success; 40 frames deep a buffer of 10 % is nothing
    const input = { from: owner.address, to: aggregator, data: nested(aggregator, inner("need", 400_007n), 40, true) };
    const report = await preflight(scene.url, input);
    expect(codesOf(report)).toContain("GasLimitWidened/info");
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    expect(gasOf(report).limit).toBeGreaterThan(400_007n * 2n - 200_000n);
    expect(gasOf(report).limit).toBeLessThan(4_000_000n);
    await mined(report);
    expect(await last()).toBe(400_007n);
  });

  it("is no finding of a proof where the caller fixed the gas: only the block differs, not the outcome", async () => {
    const data = calldata(artifacts.GasReader, "record");
    for (const gas of [120_000n, 900_000n, 16_000_000n]) {
      const report = await preflight(scene.url, { from: owner.address, to: gasReader, data, gas });
      expect([report.verdict, severe(report)]).toEqual([
        ...["caution", [expect.stringMatching(/^Gas(Dependent|HeadroomThin)\/warning$/)]],
      ]);
    }
    const fixed = await preflight(scene.url, { from: owner.address, to: other.address, value: 1n, gas: 50_000n });
    expect([fixed.verdict, severe(fixed)]).toEqual(["ready", []]);
  });

  it("is a warning where the outcome follows the gas, and the outcome shown is that of this limit", async () => {
    const data = calldata(artifacts.GasReader, "record");
    const report = await preflight(scene.url, { from: owner.address, to: gasReader, data });
    expect(codesOf(report)).toContain("GasDependent/warning");
    expect(report.verdict).toBe("caution");
    await isSaidAgain(report, "GasDependent/warning");
    expect(gasOf(report).limit).toBeLessThan(150_000n);
    await mined(report);
  });

  it("is enough on latest state for slots that others' pending transactions have made nonzero", async () => {
    // adds one to each of forty words
    const counters = await scene.deploy({ abi: [], bytecode: creation("60285b60019003805460010181558060025700") });
    await scene.send(third, { to: counters });
    const report = await preflight(scene.url, { from: owner.address, to: counters });
    expect([report.verdict, codesOf(report)]).toEqual(["ready", ["GasLimitWidened/info"]]);
    const limit = report.transactions[0].request?.gas ?? 0n;
    // tried at what it takes from zero: 40 times 17,100 more
    expect([limit > 880_000n, limit < 2_000_000n]).toEqual([true, true]);
    await scene.mine();
  });

  it("is tried once more, and no more often, where the proof of a wider one lacks an answer", async () => {
    const counters = await scene.deploy({ abi: [], bytecode: creation("60285b60019003805460010181558060025700") });
    await scene.send(third, { to: counters });
    let isWidened = false;
    const layer = tampered(scene.url, ({ method, purpose }) => {
      isWidened ||= purpose === "gas";
      return isWidened && purpose === "next"
        ? new RpcError({ method, reason: new InternalError({ detail: "" }) })
        : null;
    });
    const report = await preflightOn(layer, { from: owner.address, to: counters });
    await scene.mine();
    expect(report.verdict).toBe("unknown");
    const rounds = report.ledger.requests.flatMap(({ round, because }) => (because === "incomparable" ? [round] : []));
    expect(new Set(rounds).size).toBe(1);
  });

  it("covers the peak of a call that gets a refund in the end", async () => {
    const data = calldata(artifacts.StorageClearer, "clear", [25n]);
    const report = await preflight(scene.url, { from: owner.address, to: clearer, data });
    expect(report.verdict).toBe("ready");
    const { limit, used } = gasOf(report);
    expect((limit ?? 0n) * 100n).toBeGreaterThan((used ?? 0n) * 120n);
    await mined(report);
  });

  it("covers calldata's floor, access lists and authorisations, whatever they cost", async () => {
    const anything = await scene.deploy(artifacts.GarbageGasPriceOracle);
    const authority = privateKeyToAccount(generatePrivateKey());
    const signed = await authority.signAuthorization({ contractAddress: aggregator, chainId: scene.chainId, nonce: 0 });
    const authorization = {
      address: aggregator,
      chainId: scene.chainId,
      nonce: 0,
      r: signed.r,
      s: signed.s,
      yParity: signed.yParity ?? 0,
    };
    const keys = Array.from({ length: 20 }, (_, key): Hex => `0x${key.toString(16).padStart(64, "0")}`);
    const inputs: ReadonlyArray<AnyInput> = [
      { from: owner.address, to: anything, data: `0x${"ff".repeat(9_000)}` },
      { from: owner.address, to: nobody, value: 1n, accessList: [{ address: anything, storageKeys: keys }] },
      { from: owner.address, to: nobody, value: 1n, authorizationList: [authorization] },
    ];
    for (const input of inputs) {
      const report = await preflight(scene.url, input);
      expect(["ready", "caution"]).toContain(report.verdict);
      expect(gasOf(report).limit ?? 0n).toBeGreaterThanOrEqual(gasOf(report).used ?? 0n);
      await mined(report);
    }
    expect(await scene.ask("eth_getCode", [authority.address, "latest"])).toBe(`0xef0100${aggregator.slice(2)}`);
  });

  it("takes authorisations whose signature begins with zeros", async () => {
    let found = null;
    for (let nonce = 0; found === null; nonce++) {
      const signed = await other.signAuthorization({ contractAddress: aggregator, chainId: scene.chainId, nonce });
      if (signed.r.startsWith("0x0")) found = { ...signed, nonce };
    }
    const { r, s, yParity = 0, nonce } = found;
    const entry = { address: aggregator, chainId: scene.chainId, nonce, r, s, yParity };
    const report = await scan(scene.url, { from: owner.address, to: nobody, authorizationList: [entry] });
    expect(report.transactions[0].outcome.status).toBe("success");
  });

  it("keeps the caller's limit, and says when more gas would change the outcome", async () => {
    const data = nested(aggregator, inner("need", 400_011n), 2, true);
    const input = { from: owner.address, to: aggregator, data, gas: 200_000n };
    const report = await preflight(scene.url, input);
    expect(report.transactions[0].request?.gas).toBe(200_000n);
    expect(codesOf(report)).toContain("GasHeadroomThin/warning");
    expect(report.verdict).toBe("caution");
    await isSaidAgain(report, "GasHeadroomThin/warning");
  });

  it("covers the peak of a later transaction with a refund, and no more", async () => {
    const report = await preflight(scene.url, [
      { from: owner.address, to: nobody, value: 1n },
      { from: owner.address, to: clearer, data: calldata(artifacts.StorageClearer, "clear", [20n]) },
    ]);
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    const hashes: Array<Hex> = [];
    for (const { request } of report.transactions) {
      if (request === null) throw new Error("no request");
      hashes.push(await scene.broadcast(await owner.signTransaction(request)));
    }
    await scene.mine();
    for (const hash of hashes) expect((await scene.receipt(hash)).status).toBe("0x1");
    const { limit, used } = report.transactions[1]?.gas ?? { limit: null, used: null };
    // what is given back is a fifth at most
    expect(Number(limit) / Number(used)).toBeGreaterThan(1.2);
    expect(Number(limit) / Number(used)).toBeLessThan(1.9);
  });
});
