/**
 * Random bundles over the fixtures: predicted, sent, mined for real, and every promise compared with the
 * chain. ACCURACY_BUNDLES sets how many (see the script accuracy:assets).
 */
import fc from "fast-check";
import { hexToBigInt, numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BundleReport } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { calldata, cleared, other, owner, preflight, scenesFor, signAll, third, type Scene } from "./scene.js";
import { gather, grantedOf, heldOf, type Troupe } from "./troupe.js";

const bundles = Number(process.env["ACCURACY_BUNDLES"] ?? 24);
const seed = Number(process.env["ACCURACY_SEED"] ?? 7);

interface Drawn {
  readonly from: number;
  readonly kind: number;
  readonly who: number;
  readonly amount: bigint;
  readonly id: bigint;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  from: fc.constantFrom(0, 0, 0, 1),
  kind: fc.nat(1_000_000),
  who: fc.nat(4),
  amount: fc.oneof(fc.bigInt({ min: 0n, max: 500n }), fc.constantFrom(0n, 1n, 2n ** 256n - 1n)),
  id: fc.bigInt({ min: 1n, max: 3n }),
});

/** One call of every kind there is. */
const callsOf = (t: Troupe, { from, who, amount, id }: Drawn) => {
  const me = [owner, other][from]?.address.toLowerCase() as Hex;
  const people = [owner.address, other.address, third.address, t.vault, t.permit2Spender];
  const to = people[who] ?? owner.address;
  const small = amount > 1000n ? 7n : amount;
  const mine = id + (from === 1 ? 10n : 0n);
  const erc20 = (token: Hex, name: string, args: ReadonlyArray<unknown>) => ({
    to: token,
    data: calldata(artifacts.Token, name, args),
  });
  const nft = (name: string, args: ReadonlyArray<unknown>) => ({
    to: t.nft,
    data: calldata(artifacts.Nft, name, args),
  });
  const multi = (name: string, args: ReadonlyArray<unknown>) => ({
    to: t.multi,
    data: calldata(artifacts.Multi, name, args),
  });
  const tokens = [t.token, t.fee, t.rebasing, t.silent, t.bytes32, t.noReturn, t.indexed, t.spoof];
  return [
    ...tokens.map((token) => erc20(token, "transfer", [to, small])),
    ...[t.token, t.noReturn, t.indexed, t.silent].map((token) => erc20(token, "approve", [to, amount])),
    erc20(t.token, "increaseAllowance", [to, small]),
    erc20(t.token, "burn", [small]),
    erc20(t.token, "mint", [to, small]),
    { to: t.rebasing, data: calldata(artifacts.RebasingToken, "rebase", [10n ** 18n + small * 10n ** 13n]) },
    { to: t.spoof, data: calldata(artifacts.SpoofToken, "airdrop", [t.vault, [me, to], small]) },
    { to: t.spoof, data: calldata(artifacts.SpoofToken, "understate", [to]) },
    { to: t.spoof, data: calldata(artifacts.SpoofToken, "dirty", [to, small]) },
    { to: t.vault, data: calldata(artifacts.Vault, "deposit", [t.token, small]) },
    { to: t.vault, data: calldata(artifacts.Vault, "withdraw", [t.token]) },
    { to: t.weth, data: calldata(artifacts.WETH9, "deposit"), value: small },
    { to: t.weth, data: calldata(artifacts.WETH9, "withdraw", [small]) },
    nft("transferFrom", [me, to, mine]),
    nft("approve", [to, mine]),
    nft("setApprovalForAll", [to, amount % 2n === 0n]),
    nft("mint", [to, 100n + small]),
    nft("burn", [mine]),
    multi("safeTransferFrom", [me, to, id, small, "0x"]),
    multi("safeBatchTransferFrom", [me, to, [1n, 2n, 1n], [small, 2n, 1n], "0x"]),
    multi("setApprovalForAll", [to, amount % 2n === 0n]),
    multi("mint", [to, id, small]),
    { to: t.splitter, data: calldata(artifacts.Splitter, "split", [[third.address, other.address]]), value: small },
    { to: t.splitter, data: calldata(artifacts.Splitter, "splitAndUndo", [third.address]), value: small },
    { to: t.destruct, data: calldata(artifacts.DestructFactory, "run", [third.address]), value: small },
    { to: t.permit2, data: calldata(artifacts.Permit2, "approve", [t.token, to, small, 2n ** 48n - 1n]) },
    { to: third.address.toLowerCase() as Hex, value: small },
  ].map((call) => ({ from: me, ...call }));
};

const inputOf = (t: Troupe, list: ReadonlyArray<Drawn>) =>
  list.flatMap((one) => {
    const calls = callsOf(t, one);
    return calls[one.kind % calls.length] ?? [];
  });

interface Tally {
  mined: number;
  refused: number;
  facts: number;
}

describe.each(scenesFor("random bundles"))("random bundles on %s", (_, start) => {
  let scene: Scene;
  let troupe: Troupe;
  beforeAll(async () => {
    scene = await start();
    troupe = await gather(scene);
  });
  afterAll(() => scene?.stop());

  /** Sends what the report clears, and compares everything that it calls measured. */
  const compare = async (report: BundleReport, tally: Tally): Promise<void> => {
    const hashes: Array<Hex> = [];
    for (const raw of await signAll(await cleared(report))) hashes.push(await scene.broadcast(raw));
    await scene.mine();
    const receipts = await Promise.all(hashes.map(scene.receipt));
    const block = receipts[0]?.blockNumber ?? "0x0";
    const parent = numberToHex(hexToBigInt(block) - 1n);
    const paid = new Map<string, bigint>();
    for (const [index, receipt] of receipts.entries()) {
      const { input, outcome } = report.transactions[index] as BundleReport["transactions"][number];
      expect(receipt.blockNumber).toBe(block);
      expect([receipt.status === "0x1" ? "success" : "failed", hexToBigInt(receipt.gasUsed)]).toEqual([
        outcome.status,
        outcome.gasUsed,
      ]);
      expect(receipt.logs.map(({ address, topics, data }) => ({ address, topics, data }))).toEqual(
        outcome.logs.map(({ address, topics, data }) => ({ address, topics, data })),
      );
      const fee = hexToBigInt(receipt.gasUsed) * hexToBigInt(receipt.effectiveGasPrice);
      paid.set(input.from, (paid.get(input.from) ?? 0n) + fee);
      tally.facts += 2 + receipt.logs.length;
    }
    for (const change of report.balanceChanges) {
      if (change.evidence !== "measured") continue;
      const before = await heldOf(scene, troupe, change, parent);
      const after = await heldOf(scene, troupe, change, block);
      const gas = change.token === null ? (paid.get(change.account) ?? 0n) : 0n;
      expect({
        ...change,
        before,
        delta: after - before + gas,
        after: change.token === null ? change.after : after,
      }).toEqual(change);
      tally.facts++;
    }
    for (const approval of report.approvals) {
      if (approval.evidence !== "measured") continue;
      const before = await grantedOf(scene, troupe, approval, parent);
      const after = await grantedOf(scene, troupe, approval, block);
      expect({ ...approval, before, after }).toEqual(approval);
      tally.facts++;
    }
  };

  it(
    `happen exactly as predicted, ${bundles} of them`,
    async () => {
      const tally: Tally = { mined: 0, refused: 0, facts: 0 };
      const lists = fc.sample(fc.array(drawn, { minLength: 1, maxLength: 4 }), { numRuns: bundles, seed });
      for (const list of lists) {
        const input = inputOf(troupe, list);
        const report = await preflight(scene.url, input);
        const reverts = report.transactions.some(({ outcome }) => outcome.status === "reverted");
        if (reverts) {
          expect(report.verdict).toBe("blocked");
          tally.refused++;
          continue;
        }
        expect([report.stage, report.findings.filter(({ severity }) => severity === "blocker")]).toEqual([
          "proven",
          [],
        ]);
        expect(report.balanceChanges.filter(({ evidence }) => evidence !== "measured")).toEqual([]);
        await compare(report, tally);
        tally.mined++;
      }
      expect(tally.mined).toBeGreaterThan(bundles / 3);
      expect(tally.facts).toBeGreaterThan(tally.mined * 4);
    },
    30_000 + bundles * 3_000,
  );
});
