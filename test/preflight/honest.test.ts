/**
 * Honest contracts and flows: alone, and then mined as they were told; and under forty transactions of others that
 * stay pending. What is not ready is a row that says why.
 */
import type { Hex, TransactionSerializable } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { within } from "../rooms/steps.js";
import { messageOf, type BundleReport } from "../../src/Report.js";
import { assets } from "./honest/assets.js";
import { clocks } from "./honest/clocks.js";
import { crowds } from "./honest/crowds.js";
import { markets } from "./honest/markets.js";
import { crowd, drain, prepare } from "./honest/setup.js";
import { bare, whoOf, type Act, type Row, type Rows, type Stage, type Who } from "./honest/stage.js";
import { wallets } from "./honest/wallets.js";
import { cleared, codesOf, preflight, scenesFor, severe, type Scene } from "./scene.js";
import { heldOf } from "./troupe.js";

const rows: Rows = { ...assets, ...markets, ...clocks, ...wallets, ...crowds };

const asked = async ({ input }: Row, stage: Stage, who: Who): Promise<ReadonlyArray<Act>> => {
  const acts = await input(stage, who);
  return [acts].flat() as ReadonlyArray<Act>;
};

/** Why it is as it is, for whom a row fails. */
const messages = ({ findings }: BundleReport) => findings.map((one) => `${one.code}: ${messageOf(one)}`).join("\n");

/** Signs, sends and mines what was cleared; the receipts. */
const mined = async (scene: Scene, who: Who, report: BundleReport) => {
  const hashes: Array<Hex> = [];
  for (const request of (await cleared(report)).requests)
    hashes.push(await scene.broadcast(await who.signTransaction(request as TransactionSerializable)));
  await drain(scene);
  return Promise.all(hashes.map((hash) => scene.receipt(hash)));
};

describe.each(scenesFor("honest contracts"))("honest contracts on %s", (node, start) => {
  const staged = Object.entries(rows).filter(([, { isGethOnly }]) => isGethOnly !== true || node === "geth");
  let stage: Stage;
  beforeAll(async () => {
    stage = await prepare(await start(), rows);
  });
  afterAll(() => stage?.scene.stop());

  describe("under forty transactions of others", () => {
    beforeAll(() => crowd(stage));
    it.each(staged)("have the expected verdict: %s", async (name, row) => {
      const who = whoOf(name);
      const acts = await asked(row, stage, who);
      const report = await preflight(stage.scene.url, acts.map(bare), row.options?.(stage, who));
      const expected = row.crowded ?? row.severe ?? [];
      expect([severe(report), report.verdict], messages(report)).toEqual([
        expected,
        expected.length === 0 ? "ready" : "caution",
      ]);
    });
  });

  describe("alone, and mined as reported", () => {
    beforeAll(() => drain(stage.scene));
    it.each(staged)("have the expected verdict, and do the same when mined: %s", async (name, row) => {
      const { scene, at } = stage;
      const who = whoOf(name);
      const acts = await asked(row, stage, who);
      const report = await preflight(scene.url, acts, row.options?.(stage, who));
      const expected = row.severe ?? [];
      expect([severe(report), report.verdict], messages(report)).toEqual([
        expected,
        expected.length === 0 ? "ready" : "caution",
      ]);
      if (row.isMined === false || expected.length > 0) return;
      const receipts = await mined(scene, who, report);
      const [first] = receipts;
      for (const [index, { status, logs }] of receipts.entries()) {
        const told = report.transactions[index]?.outcome.logs;
        expect([status, logs.map(({ topics }) => topics[0])]).toEqual(["0x1", told?.map(({ topics }) => topics[0])]);
      }
      const block = BigInt(first?.blockNumber ?? "0x0");
      const paid = receipts.reduce(
        (sum, { gasUsed, effectiveGasPrice }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPrice),
        0n,
      );
      // why: whom a world pretends to produce the block, did not
      const isTold = ({ account, evidence }: BundleReport["balanceChanges"][number]) =>
        evidence === "measured" && report.observed.worlds.every(({ feeRecipient }) => feeRecipient !== account);
      for (const change of report.balanceChanges.filter(isTold)) {
        const [before, after] = await Promise.all(
          [block - 1n, block].map((height) => heldOf(scene, at, change, `0x${height.toString(16)}`)),
        );
        const isPayer = change.token === null && change.account === who.address.toLowerCase();
        const delta = (after ?? 0n) - (before ?? 0n) + (isPayer ? paid : 0n);
        // a full block moves the base fee by an eighth, and what follows it
        const room = codesOf(report).includes("PriceDependent/info") ? 0.125 : report.options.tolerance;
        expect([change.account, change.token, within(delta, change.delta, room)]).toEqual([
          change.account,
          change.token,
          true,
        ]);
      }
    });
  });
});
