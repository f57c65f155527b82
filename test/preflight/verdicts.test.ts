/** What stands against a transaction is found, typed and exact; and a node that validates nothing changes none of it. */
import { getContractAddress, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import { Aggregator, Box, Token } from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import {
  calldata,
  cleared,
  codesOf,
  nobody,
  other,
  owner,
  preflight,
  refusedWith,
  scenesFor,
  signAll,
  spare,
  third,
  type AnyInput,
  type Scene,
} from "./scene.js";
import { furnish, passing, transferOf, turn } from "./furnished.js";

/** Nobody's key, nobody's money. */
const poor = "0x00000000000000000000000000000000dead0002";

const errorIn = (report: Report.Report, code: string): NonNullable<Report.Finding["error"]> => {
  const found = report.findings.find((one) => one.code === code)?.error;
  if (found === undefined || found === null) throw new Error(`no ${code} in ${codesOf(report).join(" ")}`);
  return found;
};

/** What is missing, by every finding that says so, whatever its severity. */
const shortfallsIn = ({ findings }: Report.Report) =>
  findings.flatMap(({ error }) => (error?._tag === "InsufficientFunds" ? [error.shortfall] : []));

describe.each(scenesFor("verdicts"))("on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  let wallet: Hex;
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
    wallet = await scene.deploy(Aggregator);
  });
  afterAll(() => scene?.stop());

  /** Blocked by exactly this error, in one round, and `ready` fails with it. */
  const blockedBy = async (input: AnyInput, tag: string, fields: object): Promise<Report.Report> => {
    const report = await preflight(scene.url, input);
    expect([report.verdict, codesOf(report).filter((code) => code.endsWith("/blocker"))]).toEqual([
      "blocked",
      [`${tag}/blocker`],
    ]);
    expect(report.stage).toBe("scanned");
    expect(errorIn(report, tag)).toMatchObject({ _tag: tag, ...fields });
    expect(await refusedWith(report)).toMatchObject({ _tag: tag, ...fields });
    return report;
  };

  it("a call that works only because of a transaction that is still pending", async () => {
    const pass = passing(gate);
    const blocked = await blockedBy(pass, "ExecutionReverted", {
      to: gate,
      revert: { layers: [{ layer: { _tag: "Custom", signature: "GateClosed(address,uint256)" } }] },
    });
    expect(blocked.findings.map((finding) => Report.messageOf(finding)).join()).toContain(
      `GateClosed(caller: ${other.address}, visits: 0)`,
    );
    await turn({ scene, gate }, "open");
    const report = await preflight(scene.url, pass);
    expect([report.verdict, report.stage]).toEqual(["caution", "proven"]);
    expect(codesOf(report)).toContain("DependsOnPending/warning");
    expect(report.transactions[0].outcome.result?.data).toBe(`0x${"1".padStart(64, "0")}`);
    const latest = await preflight(scene.url, pass, { block: "latest" });
    expect(latest.verdict).toBe("blocked");
    const [raw] = await signAll(await cleared(report));
    const hash = await scene.broadcast(raw ?? "0x");
    await scene.mine();
    await scene.mine();
    expect((await scene.receipt(hash)).status).toBe("0x1");
  });

  it("a revert, decoded through the ABI with its arguments", async () => {
    const call = {
      from: other.address,
      to: token,
      abi: Token.abi,
      functionName: "transfer",
      args: [owner.address, 77n],
    };
    const words = `ERC20InsufficientBalance(sender: ${other.address}, balance: 0, needed: 77)`;
    const { findings } = await blockedBy(call, "ExecutionReverted", { to: token });
    expect(findings.map((finding) => Report.messageOf(finding)).join()).toContain(words);
    const raw = { from: other.address, to: token, data: calldata(Token, "transfer", [owner.address, 77n]) };
    const report = await preflight(scene.url, raw, { abis: [{ address: token, abi: Token.abi }] });
    expect(errorIn(report, "ExecutionReverted").message).toContain(words);
  });

  it("calldata for an address without code, and a contract as sender", async () => {
    await blockedBy({ from: owner.address, to: nobody, data: "0x12345678" }, "NoCode", { account: nobody });
    const report = await preflight(scene.url, { from: wallet, to: other.address });
    expect(report.verdict).toBe("blocked");
    expect(await refusedWith(report)).toMatchObject({ _tag: "SenderNotEoa", account: wallet });
  });

  it("calldata for what only a later transaction brings into being", async () => {
    const at = getContractAddress({ from: owner.address, nonce: BigInt(await scene.count(owner.address)) + 1n });
    const report = await preflight(scene.url, [
      { from: owner.address, to: at, data: calldata(Box, "set", [3n]) },
      { from: owner.address, abi: Box.abi, bytecode: Box.bytecode, args: [7n] },
    ]);
    expect(report.verdict).not.toBe("ready");
    if (name === "geth") expect(errorIn(report, "NoCode")).toMatchObject({ account: at.toLowerCase() });
  });

  it("a sender who cannot pay the value: the exact shortfall, after one more round", async () => {
    const value = 10n ** 24n;
    const have = await scene.balance(owner.address);
    const report = await preflight(scene.url, { from: owner.address, to: other.address, value });
    expect([report.verdict, report.ledger.rounds]).toEqual(["blocked", 2]);
    const { gas, fee, outcome } = report.transactions[0];
    const want = value + (gas.limit ?? 0n) * (fee.maxFeePerGas ?? 0n);
    expect(await refusedWith(report)).toMatchObject({ _tag: "InsufficientFunds", have, want, shortfall: want - have });
    expect([outcome.status, outcome.evidence, gas.limit]).toEqual(["success", "assumed", 21_000n]);
    expect(report.funds).toMatchObject([{ balance: have, required: want, shortfall: want - have }]);
    expect(shortfallsIn(report)).toEqual([want - have]);
  });

  it("a sender who cannot pay the gas", async () => {
    const report = await preflight(scene.url, { from: poor, to: other.address });
    const { gas, fee } = report.transactions[0];
    const want = (gas.limit ?? 0n) * (fee.maxFeePerGas ?? 0n);
    expect(want > 0n).toBe(true);
    const fields = { have: 0n, want, shortfall: want, account: poor };
    expect(await refusedWith(report)).toMatchObject({ _tag: "InsufficientFunds", ...fields });
    expect(shortfallsIn(report)).toEqual([want]);
    const both = await preflight(scene.url, { from: poor, to: other.address, value: 7n });
    expect(shortfallsIn(both)).toHaveLength(1);
    const tight = { from: owner.address, to: other.address, gas: 21_000n, maxFeePerGas: 10n ** 18n };
    const have = await scene.balance(owner.address);
    const dear = await preflight(scene.url, { ...tight, maxPriorityFeePerGas: 1n });
    expect(await refusedWith(dear)).toMatchObject({
      have,
      want: 21_000n * 10n ** 18n,
      shortfall: 21_000n * 10n ** 18n - have,
    });
  });

  it("two senders of a bundle, each with its own nonce and funds", async () => {
    const approve = { from: owner.address, to: token, abi: Token.abi, functionName: "approve", args: [poor, 10n] };
    const pull = {
      from: poor,
      to: token,
      abi: Token.abi,
      functionName: "transferFrom",
      args: [owner.address, poor, 10n],
    };
    const report = await preflight(scene.url, [approve, pull]);
    expect(report.transactions.map(({ outcome }) => outcome.status)).toEqual(["success", "success"]);
    expect(report.transactions.map(({ nonce }) => nonce.value)).toEqual([await scene.count(owner.address), 0]);
    expect(report.funds.map(({ account, shortfall }) => [account, shortfall === 0n])).toEqual([
      [owner.address.toLowerCase(), true],
      [poor, false],
    ]);
    expect(await refusedWith(report)).toMatchObject({ _tag: "InsufficientFunds", account: poor, have: 0n });
    const funded = await preflight(scene.url, [approve, { from: owner.address, to: poor, value: 10n ** 17n }, pull]);
    expect(funded.findings.filter(({ severity }) => severity === "blocker")).toEqual([]);
    expect(funded.funds.map(({ shortfall }) => shortfall)).toEqual([0n, 0n]);
    expect(funded.transactions.map(({ nonce }) => nonce.value)).toEqual(
      [0, 1, 0].map((add, index) => (index === 2 ? 0 : add + Number(report.transactions[0].nonce.value))),
    );
  });

  describe("whatever the node lets pass", () => {
    const transfer = { from: owner.address, to: other.address, value: 1n };

    it("a nonce that is used, and one that leaves a gap", async () => {
      const next = BigInt(await scene.count(owner.address));
      const low = await preflight(scene.url, { ...transfer, nonce: next - 1n });
      expect(await refusedWith(low)).toMatchObject({ _tag: "NonceTooLow", nonce: next - 1n, next });
      const high = await preflight(scene.url, { ...transfer, nonce: next + 2n });
      expect(await refusedWith(high)).toMatchObject({ _tag: "NonceTooHigh", nonce: next + 2n, next });
      expect(high.transactions[0].nonce.gap).toBe(2);
      const twice = await preflight(scene.url, [
        { ...transfer, nonce: next },
        { ...transfer, nonce: next },
      ]);
      expect(await refusedWith(twice)).toMatchObject({ _tag: "NonceTooLow", nonce: next, next: next + 1n });
    });

    it("a fee cap below the base fee, legacy or not", async () => {
      for (const fees of [{ maxFeePerGas: 7n, maxPriorityFeePerGas: 0n }, { gasPrice: 7n }]) {
        const report = await preflight(scene.url, { ...transfer, ...fees });
        expect(await refusedWith(report)).toMatchObject({ _tag: "FeeCapTooLow", maxFeePerGas: 7n });
      }
    });

    it("another chain", async () => {
      const report = await preflight(scene.url, { ...transfer, chainId: 5 });
      expect(await refusedWith(report)).toMatchObject({
        _tag: "ChainIdMismatch",
        expected: 5n,
        actual: BigInt(scene.chainId),
      });
    });

    it("a gas limit that is too small, or larger than a block", async () => {
      for (const gas of [21_000n, 24_000n, 100_000_000n])
        expect((await preflight(scene.url, { ...transferOf(token), gas })).verdict, String(gas)).toBe("blocked");
    });
  });

  it("a delegated sender, a delegate without code, and who may send", async () => {
    const theirs = await third.signAuthorization({
      address: wallet,
      chainId: scene.chainId,
      nonce: await scene.count(third.address),
    });
    const empty = await spare.signAuthorization({
      address: nobody,
      chainId: scene.chainId,
      nonce: await scene.count(spare.address),
    });
    const setup = await preflight(scene.url, [
      { from: owner.address, to: other.address, authorizationList: [theirs, empty] },
    ]);
    for (const raw of await signAll(await cleared(setup))) await scene.broadcast(raw);
    await scene.mine();
    await scene.mine();
    const sent = await preflight(scene.url, { from: third.address, to: other.address, value: 1n });
    expect([sent.verdict, sent.transactions[0].code.from.kind]).toEqual(["ready", "delegated"]);
    expect(codesOf(sent)).toContain("AccountDelegated/info");
    const nothing = await preflight(scene.url, { from: owner.address, to: spare.address, data: "0x12345678" });
    expect(nothing.verdict).toBe("caution");
    expect(codesOf(nothing)).toContain("DelegateWithoutCode/warning");
    expect(nothing.transactions[0].code.to).toMatchObject({ delegate: nobody, delegateHasCode: false });
  });

  it.runIf(name === "anvil")("has scenes that stand still: nothing is pending", async () => {
    expect(await rawRequest(scene.url, "txpool_status")).toMatchObject({ pending: "0x0" });
  });
});
