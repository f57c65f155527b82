/** Whose account pays: Safes, ERC-4337 and delegated accounts of the sender, and accounts that the caller names, on real nodes. */
import { readFileSync } from "node:fs";
import { concatHex, padHex, parseAbi, zeroAddress, type Abi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import type { Report } from "../../src/Report.js";
import { summary } from "../rooms/report.js";
import { WETH9 } from "../contracts/artifacts.js";
import { executing, making, planting } from "./safes.js";
import { calldata, other, owner, preflight, scan, scenesFor, type Scene } from "./scene.js";

const codes = JSON.parse(readFileSync(new URL("../fixtures/inner.json", import.meta.url), "utf8")) as Record<
  string,
  { readonly bytecode: Hex }
>;
const stranger: Hex = "0x00000000000000000000000000000000000000a1";
const abi = parseAbi([
  "function execute(address dest, uint256 value, bytes func)",
  "function createAccount(address owner, uint256 salt)",
  "function getAddress(address owner, uint256 salt)",
]) as Abi;
const requestsIn = ({ ledger }: Report) => ledger.requests.length;

/** Answers every question with `who`: its owner, its EntryPoint. */
const claiming = (who: Hex): Hex => concatHex(["0x73", who, "0x5f5260205ff3"]);

const byte = (size: number): Hex => `0x${size.toString(16).padStart(2, "0")}`;
const ifSelector = (selector: Hex, to: number): Hex => concatHex(["0x8063", selector, "0x1460", byte(to), "0x57"]);
const answering = (word: Hex): Hex => concatHex(["0x5b", word, "0x5f5260205ff3"]);

/** An ERC-1271 account as OpenZeppelin's and others are: it refuses a signature that is not 65 bytes long, or that no key made. */
const strict1271 = (who: Hex): Hex => {
  const recovering: Hex =
    "0x5b6004355f5260a4355f1a60205260643560405260843560605260205f60805f60015afa503d1560ff5763ffffffff60e01b5f5260205ff3";
  const start = 5 + 10 + 10 + 1;
  const owns = start + (recovering.length - 2) / 2;
  return concatHex([
    ...(["0x5f3560e01c", ifSelector("0x1626ba7e", start), ifSelector("0x8da5cb5b", owns), "0x00"] as const),
    ...[recovering, answering(concatHex(["0x73", who]))],
  ]);
};

/** As Coinbase's wallet: several owners, and an EntryPoint; a signature must be wrapped. */
const coinbase: Hex = concatHex([
  ...(["0x5f3560e01c", ifSelector("0xa2e1a8d8", 26), ifSelector("0xb0d691fe", 26 + 9), "0x00"] as const),
  ...[answering("0x6001"), answering("0x6101aa")],
]);

describe.each(scenesFor("accounts of the sender"))("accounts that belong to the sender, on %s", (_, start) => {
  let scene: Scene;
  let safe: Hex = zeroAddress;
  let weth: Hex = zeroAddress;
  beforeAll(async () => {
    scene = await start();
    safe = await making(scene, "1.4.1", owner.address);
    weth = await scene.deploy(WETH9);
    await scene.send(owner, { to: safe, value: 10n ** 18n });
    await scene.mine();
    await scene.send(owner, {
      ...{ to: safe, gas: 500_000n },
      data: executing({ to: weth, value: 10n ** 17n, data: calldata(WETH9, "deposit") }),
    });
    await scene.mine();
  }, 120_000);
  afterAll(() => scene?.stop());

  const deploy = (name: string, ...args: ReadonlyArray<Hex>) =>
    scene.deploy({
      abi: [],
      bytecode: concatHex([codes[name]?.bytecode ?? "0x", ...args.map((one) => padHex(one, { size: 32 }))]),
    });
  const send = async (call: { readonly to: Hex; readonly data?: Hex; readonly value?: bigint }) => {
    await scene.send(owner, { ...call, gas: 1_000_000n });
    await scene.mine();
  };
  const paying = () => executing({ to: weth, data: calldata(WETH9, "transfer", [stranger, 500n]) });

  it("include a Safe that the sender owns, by its own answer, without another request", async () => {
    const report = await preflight(scene.url, { from: owner.address, to: safe, data: paying() });
    expect(report.owned).toEqual([
      { account: safe.toLowerCase(), owner: owner.address.toLowerCase(), kind: "safe", evidence: "measured" },
    ]);
    expect(summary(report)).toMatch(/Your Safe \(0x\w+…\w+\) pays .* to 0x0000…00A1\./i);
    expect(summary(report)).toMatch(
      /^You pay .* You call 0x\w+…\w+: execTransaction\(.*Inside: 1 WETH \(.*: transfer\(to: 0x0000…00A1, amount: 500\)/i,
    );
    const plain = await preflight(scene.url, { from: owner.address, to: stranger, value: 1n });
    // four of them are of later blocks, two are traces, and one is an access list, as of any call
    expect(requestsIn(report)).toBeLessThanOrEqual(requestsIn(plain) + 8);
    const call = report.transactions[0].call;
    expect(call).toMatchObject({
      function: "execTransaction",
      by: "selector",
      calls: [{ function: "transfer", to: weth.toLowerCase() }],
    });
  });

  it("do not include somebody else's Safe", async () => {
    const theirs = await making(scene, "1.3.0", other.address);
    await scene.send(owner, { to: theirs, value: 10n });
    await scene.mine();
    const data = executing({ to: stranger, value: 5n }, other.address);
    const report = await scan(scene.url, { from: other.address, to: theirs, data });
    expect(report.owned).toHaveLength(1);
    const failing = await scan(scene.url, { from: owner.address, to: theirs, data });
    expect(failing.owned).toEqual([]);
    expect(summary(failing)).not.toContain("our Safe");
  });

  it("include accounts that the caller names, in movements, sentences and policies", async () => {
    const asked = { from: owner.address, to: safe, data: paying() };
    const limit = Policy.maxSpent(weth, 499n);
    const alone = await preflight(scene.url, asked, { policies: [limit] });
    expect(alone.findings.map(({ code }) => code)).not.toContain("PolicyViolation");
    const both = await preflight(scene.url, asked, { policies: [limit], accounts: [safe] });
    expect(both.findings.map(({ code }) => code)).toContain("PolicyViolation");
    const fine = await preflight(scene.url, asked, { policies: [Policy.maxSpent(weth, 500n)], accounts: [safe] });
    expect(fine.verdict).toBe("ready");
    expect(summary(fine)).toMatch(/You send .* to 0x0000…00A1/i);
    const mine = fine.balanceChanges.find(
      (one) => one.account === safe.toLowerCase() && one.token === weth.toLowerCase(),
    );
    expect(mine).toMatchObject({ delta: -500n, evidence: "measured" });
  });

  it("include the rights that these grant; rights of a Safe that is not named are shown, too", async () => {
    const data = executing({ to: weth, data: calldata(WETH9, "approve", [stranger, 2n ** 256n - 1n]) });
    const report = await preflight(scene.url, { from: owner.address, to: safe, data }, { accounts: [safe] });
    expect(summary(report)).toMatch(
      /You let 0x0000…00A1 spend all of your WETH \(0x\w+…\w+\): 0\.1 now, and what comes later\./i,
    );
    const told = await preflight(scene.url, { from: owner.address, to: safe, data });
    expect(summary(told)).toMatch(
      /Your Safe \(0x\w+…\w+\) lets 0x0000…00A1 spend all of its WETH \(0x\w+…\w+\): 0\.1 now/i,
    );
    expect(summary(told)).not.toContain("without moving anything");
  });

  it("include an ERC-4337 account where it pays, by its owner", async () => {
    const entryPoint = await deploy("EntryPoint 0.7");
    const factory = await deploy("SimpleAccountFactory 0.7", entryPoint);
    await send({ to: factory, data: calldata({ abi }, "createAccount", [owner.address, 1n]) });
    const data = calldata({ abi }, "getAddress", [owner.address, 1n]);
    const word = (await scene.ask("eth_call", [{ to: factory, data }, "latest"])) as Hex;
    const account: Hex = `0x${word.slice(26)}`;
    await send({ to: account, value: 100n });
    const pays = calldata({ abi }, "execute", [stranger, 7n, "0x"]);
    const report = await preflight(scene.url, { from: owner.address, to: account, data: pays });
    expect(report.owned).toMatchObject([{ account: account.toLowerCase(), kind: "account" }]);
    expect(summary(report)).toMatch(/0x\w+…\w+, which names you as its owner, pays 7 wei to 0x0000…00A1/i);
    // whoever is not its owner is told that it pays, and no more
    const others = await scan(scene.url, { from: other.address, to: account, data: pays });
    expect(others.owned).toEqual([]);
  });

  it.each([
    ["an ERC-1271 account that wants a signature of 65 bytes", strict1271(owner.address)],
    ["an account of several owners, as Coinbase's", coinbase],
  ])("include %s", async (_, code) => {
    const account = await planting(scene, code);
    const data = calldata({ abi }, "execute", [stranger, 0n, "0x"]);
    const report = await scan(scene.url, { from: owner.address, to: account, data });
    expect(report.owned).toMatchObject([{ account: account.toLowerCase(), kind: "account" }]);
  });

  it("do not include a contract that answers as a Safe without its code", async () => {
    const impostor = await planting(scene, claiming(owner.address));
    await scene.send(owner, { to: impostor, value: 10n });
    await scene.mine();
    const report = await scan(scene.url, {
      from: owner.address,
      to: impostor,
      data: executing({ to: stranger, value: 5n }),
    });
    expect(report.owned).toMatchObject([{ account: impostor.toLowerCase(), kind: "account" }]);
    expect(summary(report)).not.toMatch(/your Safe/i);
  });

  it("do not include a contract that only claims it and is paid, delegated (EIP-7702) or not", async () => {
    const code = await planting(scene, claiming(owner.address));
    const authorization = await other.signAuthorization({
      ...{ address: code, chainId: scene.chainId, nonce: await scene.count(other.address) },
    });
    const raw = await owner.signTransaction({
      ...{ type: "eip7702", chainId: scene.chainId, nonce: await scene.count(owner.address), to: other.address },
      ...{ gas: 200_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
      authorizationList: [authorization],
    });
    await scene.broadcast(raw);
    await scene.mine();
    const data = calldata({ abi }, "execute", [stranger, 7n, "0x"]);
    for (const to of [code, other.address]) {
      const paid = await scan(scene.url, { from: owner.address, to, data, value: 10n ** 15n });
      expect([to, paid.owned.map(({ kind }) => kind)]).toEqual([to, ["account"]]);
      expect(summary(paid)).toMatch(/You send 0\.001 ETH to 0x\w+…\w+ and/);
      expect(summary(paid)).not.toContain("our account");
    }
  });
});
