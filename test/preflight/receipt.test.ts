/** What is promised is what happens: cleared, signed unchanged, sent, mined, compared with the receipt. */
import { hexToBigInt, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import { Aggregator, Gate, Token } from "../contracts/artifacts.js";
import {
  cleared,
  other,
  owner,
  preflight,
  roundsIn,
  scenesFor,
  severe,
  signAll,
  spare,
  third,
  type AnyInput,
  type Receipt,
  type Scene,
} from "./scene.js";
import { furnish } from "./furnished.js";

describe.each(scenesFor("receipts against promises"))("on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  /** Code to delegate to, that takes ether. */
  let wallet: Hex;
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
    wallet = await scene.deploy(Aggregator);
  });
  afterAll(() => scene?.stop());

  /** Preflight to receipt; every promise of the report is compared on the way. */
  const carriedOut = async (
    input: AnyInput,
    ...warnings: ReadonlyArray<string>
  ): Promise<{ report: Report.Report; receipts: ReadonlyArray<Receipt> }> => {
    const report = await preflight(scene.url, input);
    expect(severe(report)).toEqual(warnings.map((code) => `${code}/warning`));
    const verdict = warnings.length === 0 ? "ready" : "caution";
    expect([report.verdict, report.stage, roundsIn(report)]).toEqual([verdict, "proven", 2]);
    const clearance = await cleared(report);
    const signed = await signAll(clearance);
    expect(Report.matches(clearance, signed)).toBe(true);
    const before = new Map<string, bigint>();
    for (const { account } of report.balanceChanges) before.set(account, await scene.balance(account));
    const hashes: Array<Hex> = [];
    for (const [index, raw] of signed.entries()) {
      await scene.untilNext(clearance.senders[index] ?? "", clearance.requests[index]?.nonce ?? 0);
      hashes.push(await scene.broadcast(raw));
      // pools lose count of what follows an authorisation of the sender itself
      if (clearance.requests[index]?.type === "eip7702") await scene.mine();
    }
    await scene.mine();
    const receipts = await Promise.all(hashes.map(scene.receipt));
    const paid = new Map<string, bigint>();
    for (const [index, receipt] of receipts.entries()) {
      const promised = report.transactions[index];
      if (promised === undefined) throw new Error("more receipts than transactions");
      expect(receipt.status).toBe("0x1");
      expect(promised.outcome.status).toBe("success");
      expect(hexToBigInt(receipt.gasUsed)).toBe(promised.outcome.gasUsed);
      expect(hexToBigInt(receipt.gasUsed) <= (promised.gas.limit ?? 0n)).toBe(true);
      const price = hexToBigInt(receipt.effectiveGasPrice);
      expect(price <= (promised.fee.gasPrice ?? promised.fee.maxFeePerGas ?? 0n)).toBe(true);
      expect(
        receipt.logs.map(({ address, topics, data }) => ({ address: address.toLowerCase(), topics, data })),
      ).toEqual(promised.outcome.logs.map(({ address, topics, data }) => ({ address, topics, data })));
      const mined = (await scene.ask("eth_getTransactionByHash", [hashes[index]])) as { nonce: Hex; from: Hex };
      expect(Number(mined.nonce)).toBe(promised.nonce.value);
      paid.set(mined.from, (paid.get(mined.from) ?? 0n) + price * hexToBigInt(receipt.gasUsed));
    }
    for (const { account, token: of, delta, evidence } of report.balanceChanges) {
      if (of !== null) continue;
      const moved = (await scene.balance(account)) - (before.get(account) ?? 0n) + (paid.get(account) ?? 0n);
      expect([moved, evidence], account).toEqual([delta, "measured"]);
    }
    return { report, receipts };
  };

  const tokens = async (account: string): Promise<bigint> => {
    const data = `0x70a08231${account.slice(2).toLowerCase().padStart(64, "0")}`;
    return hexToBigInt((await scene.ask("eth_call", [{ to: token, data }, "latest"])) as Hex);
  };

  it("a legacy transaction, and one with an access list", async () => {
    const call = { from: owner.address, to: gate, abi: Gate.abi, functionName: "open", gasPrice: 30_000_000_000n };
    const legacy = await carriedOut(call);
    expect(legacy.report.transactions[0].request?.type).toBe("legacy");
    const listed = await carriedOut({
      ...call,
      functionName: "pass",
      accessList: [{ address: gate, storageKeys: [`0x${"00".repeat(32)}`] }],
    });
    expect(listed.report.transactions[0].request?.type).toBe("eip2930");
    const empty = await carriedOut({ ...call, functionName: "pass", accessList: [] });
    expect(empty.report.transactions[0].request?.type).toBe("eip2930");
  });

  it("an EIP-7702 authorisation of somebody else and of the sender itself", async () => {
    const theirs = await spare.signAuthorization({ address: wallet, chainId: scene.chainId, nonce: 0 });
    await carriedOut(
      { from: owner.address, to: spare.address, value: 1n, authorizationList: [theirs] },
      "DelegationSet",
    );
    expect(await scene.ask("eth_getCode", [spare.address, "latest"])).toBe(`0xef0100${wallet.slice(2)}`);
    const nonce = await scene.count(third.address);
    const own = await third.signAuthorization({ address: wallet, chainId: 0, nonce: nonce + 1 });
    const bundle = [
      { from: third.address, to: other.address, value: 1n, authorizationList: [own] },
      { from: third.address, to: other.address, value: 2n },
    ];
    const { report } = await carriedOut(bundle, "OneInFlight", "DelegationSet");
    expect(report.transactions.map((one) => one.nonce.value)).toEqual([nonce, nonce + 2]);
    const delegated = await carriedOut({ from: third.address, to: other.address, value: 3n });
    expect(delegated.report.transactions[0].code.from).toMatchObject({ kind: "delegated", delegate: wallet });
  });

  it("a bundle of two senders: the owner approves, the spender pulls", async () => {
    const bundle = [
      {
        ...{ from: owner.address, to: token, abi: Token.abi, functionName: "approve" },
        args: [other.address, 500n],
      },
      {
        ...{ from: other.address, to: token, abi: Token.abi, functionName: "transferFrom" },
        args: [owner.address, third.address, 500n],
      },
    ];
    const { report } = await carriedOut(bundle, "OrderNotHeld");
    expect(report.funds.map(({ account }) => account)).toEqual([
      owner.address.toLowerCase(),
      other.address.toLowerCase(),
    ]);
    expect(await tokens(third.address)).toBe(500n);
  });
});
