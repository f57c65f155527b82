/** The fixtures do what their names say: whoever tests with them may rely on it. */
import {
  decodeErrorResult,
  encodeFunctionData,
  encodeFunctionResult,
  numberToHex,
  parseSignature,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts, rawRequest } from "../harness/anvil.js";
import { nodes, unwatched, user, type Scene, type UserCall } from "../witness/scene.js";
import * as artifacts from "./artifacts.js";

const owner = privateKeyToAccount(accounts[0].privateKey);
const spender = accounts[1].address;
const maximum = 2n ** 256n - 1n;
const domain = (name: string, verifyingContract: Address) => ({
  name,
  ...(name === "Permit2" ? {} : { version: "1" }),
  chainId: 31337,
  verifyingContract,
});

describe("the fixtures", () => {
  let scene: Scene;
  beforeAll(async () => {
    const anvil = nodes.find(([name]) => name === "anvil");
    if (anvil === undefined) throw new Error("anvil is always there");
    scene = await anvil[1]();
  }, 30_000);
  afterAll(() => scene?.stop());

  const revertOf = async (call: UserCall): Promise<Hex> => {
    const { status, returnData, error } = await unwatched(scene, call);
    expect(status).toBe("0x0");
    return ((error as { readonly data?: Hex } | undefined)?.data ?? returnData) as Hex;
  };

  it("revert with every panic code", async () => {
    const { abi } = artifacts.Reverter;
    const to = await scene.deploy(artifacts.Reverter);
    const panics: ReadonlyArray<readonly [number, Hex]> = [
      [0x00, encodeFunctionData({ abi, functionName: "panicGeneric" })],
      [0x01, encodeFunctionData({ abi, functionName: "panicAssert" })],
      [0x11, encodeFunctionData({ abi, functionName: "panicArithmetic", args: [1n] })],
      [0x12, encodeFunctionData({ abi, functionName: "panicDivision", args: [1n] })],
      [0x21, encodeFunctionData({ abi, functionName: "panicEnum", args: [0n] })],
      [0x22, encodeFunctionData({ abi, functionName: "panicStorageBytes" })],
      [0x31, encodeFunctionData({ abi, functionName: "panicPop" })],
      [0x32, encodeFunctionData({ abi, functionName: "panicIndex", args: [0n] })],
      [0x41, encodeFunctionData({ abi, functionName: "panicMemory" })],
      [0x51, encodeFunctionData({ abi, functionName: "panicFunction" })],
    ];
    for (const [code, data] of panics) {
      const expected = `0x4e487b71${numberToHex(code, { size: 32 }).slice(2)}`;
      expect(await revertOf({ to, data }), numberToHex(code)).toBe(expected);
    }
    const nested = await revertOf({ to, data: encodeFunctionData({ abi, functionName: "nested" }) });
    const outer = decodeErrorResult({ abi, data: nested });
    if (outer.errorName !== "Wrapped") throw new Error(outer.errorName);
    const middle = decodeErrorResult({ abi, data: outer.args[2] });
    if (middle.errorName !== "CallFailed") throw new Error(middle.errorName);
    expect(decodeErrorResult({ abi, data: middle.args[0] })).toMatchObject({ errorName: "Plain", args: [42n] });
    const loop = await unwatched(scene, { to, data: encodeFunctionData({ abi, functionName: "loop" }), gas: 300_000n });
    expect([loop.status, BigInt(loop.gasUsed)]).toEqual(["0x0", 300_000n]);
  });

  it("have an aggregator that succeeds with too little gas, and a clearer that needs more than it uses", async () => {
    const aggregator = await scene.deploy(artifacts.Aggregator);
    const reader = await scene.deploy(artifacts.GasReader);
    const callData = encodeFunctionData({ abi: artifacts.GasReader.abi, functionName: "need", args: [400_000n] });
    const inner = { target: reader, allowFailure: true, value: 0n, callData };
    const data = encodeFunctionData({ abi: artifacts.Aggregator.abi, functionName: "aggregate", args: [[inner]] });
    const results = await Promise.all(
      [100_000n, 500_000n].map((gas) => unwatched(scene, { to: aggregator, data, gas })),
    );
    expect(results.map(({ status }) => status)).toEqual(["0x1", "0x1"]);
    expect(results[0]?.returnData).not.toBe(results[1]?.returnData);

    const clearer = await scene.deploy(artifacts.StorageClearer);
    const { abi } = artifacts.StorageClearer;
    await scene.send({ to: clearer, data: encodeFunctionData({ abi, functionName: "fill", args: [50n] }) });
    const clear = { to: clearer, data: encodeFunctionData({ abi, functionName: "clear", args: [50n] }) };
    const { gasUsed } = await unwatched(scene, clear);
    expect((await unwatched(scene, { ...clear, gas: BigInt(gasUsed) })).status).toBe("0x0");
    expect((await unwatched(scene, { ...clear, gas: (BigInt(gasUsed) * 4n) / 3n })).status).toBe("0x1");
  });

  it("take permits signed by EIP-2612, DAI and Permit2", async () => {
    const permitToken = await scene.deploy(artifacts.PermitToken);
    const message = { owner: owner.address, spender, value: 5n, nonce: 0n, deadline: maximum };
    const field = (name: string, type: string) => ({ name, type });
    const types = {
      Permit: [
        ...[field("owner", "address"), field("spender", "address"), field("value", "uint256")],
        ...[field("nonce", "uint256"), field("deadline", "uint256")],
      ],
    };
    const signed = parseSignature(
      await owner.signTypedData({ domain: domain("Permit Token", permitToken), types, primaryType: "Permit", message }),
    );
    const permit = encodeFunctionData({
      abi: artifacts.PermitToken.abi,
      functionName: "permit",
      args: [owner.address, spender, 5n, maximum, 27 + signed.yParity, signed.r, signed.s],
    });
    expect((await unwatched(scene, { to: permitToken, data: permit })).status).toBe("0x1");

    const dai = await scene.deploy(artifacts.DaiToken);
    const daiTypes = {
      Permit: [
        ...[field("holder", "address"), field("spender", "address"), field("nonce", "uint256")],
        ...[field("expiry", "uint256"), field("allowed", "bool")],
      ],
    };
    const daiSigned = parseSignature(
      await owner.signTypedData({
        domain: domain("Dai-like", dai),
        types: daiTypes,
        primaryType: "Permit",
        message: { holder: owner.address, spender, nonce: 0n, expiry: 0n, allowed: true },
      }),
    );
    const daiPermit = encodeFunctionData({
      abi: artifacts.DaiToken.abi,
      functionName: "permit",
      args: [owner.address, spender, 0n, 0n, true, 27 + daiSigned.yParity, daiSigned.r, daiSigned.s],
    });
    expect((await unwatched(scene, { to: dai, data: daiPermit })).status).toBe("0x1");

    const permit2 = await scene.deploy(artifacts.Permit2);
    const details = { token: dai, amount: 9n, expiration: 2_000_000_000, nonce: 0 };
    const single = { details, spender, sigDeadline: maximum };
    const permit2Types = {
      PermitSingle: [field("details", "PermitDetails"), field("spender", "address"), field("sigDeadline", "uint256")],
      PermitDetails: [
        ...[field("token", "address"), field("amount", "uint160")],
        ...[field("expiration", "uint48"), field("nonce", "uint48")],
      ],
    };
    const signature = await owner.signTypedData({
      domain: domain("Permit2", permit2),
      types: permit2Types,
      primaryType: "PermitSingle",
      message: single,
    });
    const { abi } = artifacts.Permit2;
    await scene.send({
      to: permit2,
      data: encodeFunctionData({ abi, functionName: "permit", args: [owner.address, single, signature] }),
    });
    const data = encodeFunctionData({ abi, functionName: "allowance", args: [owner.address, dai, spender] });
    const result = await rawRequest(scene.url, "eth_call", [{ to: permit2, data }, "latest"]);
    expect(result).toBe(encodeFunctionResult({ abi, functionName: "allowance", result: [9n, 2_000_000_000, 1] }));
  });

  it("spoof by every clue: honest with the trigger that is true, a thief with one that is not", async () => {
    const token = await scene.deploy(artifacts.Token, ["Gold", "GLD", 18]);
    const { abi } = artifacts.Spoofer;
    const spoofer = await scene.deploy(artifacts.Spoofer, [token, 0, 0n]);
    const approve = encodeFunctionData({ abi: artifacts.Token.abi, functionName: "approve", args: [spoofer, 50n] });
    const mint = encodeFunctionData({ abi: artifacts.Token.abi, functionName: "mint", args: [user, 50n] });
    await scene.send({ to: token, data: mint }, { to: token, data: approve });
    const claim = encodeFunctionData({ abi, functionName: "claim" });
    const claimed = async (clue: number, trigger: bigint): Promise<bigint | undefined> => {
      await scene.send({ to: spoofer, data: encodeFunctionData({ abi, functionName: "set", args: [clue, trigger] }) });
      const { status, logs } = await unwatched(scene, { to: spoofer, data: claim });
      expect(status).toBe("0x1");
      const last = logs.at(-1);
      return last === undefined ? undefined : BigInt(last.data);
    };
    // Clues that compare by ≤ or ≥: one extreme is always true, the other never.
    for (const [clue, yes, no] of [
      [1, maximum, 0n],
      [2, maximum, 0n],
      [3, 0n, maximum],
      [4, maximum, 0n],
      [6, 0n, maximum],
      [7, BigInt(token), 0x123456n],
      [8, maximum, 0n],
      [12, 0n, maximum],
    ] as const) {
      expect([await claimed(clue, yes), await claimed(clue, no)], `clue ${clue}`).toEqual([1n, 0n]);
    }
    for (const parity of [9, 10]) {
      const both = [await claimed(parity, 0n), await claimed(parity, 1n)];
      // Each `set` mines a block, which may flip a parity; never is it neither nor something else.
      expect(
        both.every((flag) => flag === 0n || flag === 1n),
        `clue ${parity}`,
      ).toBe(true);
    }
    for (const equal of [0, 5, 11, 13]) expect(await claimed(equal, maximum), `clue ${equal}`).toBe(0n);
  });

  it("move tokens otherwise than their events say", async () => {
    const balance = async (token: Address, account: Address): Promise<bigint> => {
      const data = encodeFunctionData({ abi: artifacts.Token.abi, functionName: "balanceOf", args: [account] });
      return BigInt((await rawRequest(scene.url, "eth_call", [{ to: token, data }, "latest"])) as string);
    };
    const mint = encodeFunctionData({ abi: artifacts.Token.abi, functionName: "mint", args: [user, 1000n] });
    const transfer = encodeFunctionData({ abi: artifacts.Token.abi, functionName: "transfer", args: [spender, 200n] });
    const moved = async (token: Address, data: Hex = transfer) => {
      await scene.send({ to: token, data: mint });
      const { logs } = await unwatched(scene, { to: token, data });
      await scene.send({ to: token, data });
      return { events: logs.map((log) => BigInt(log.topics[3] ?? log.data)), received: await balance(token, spender) };
    };
    expect(await moved(await scene.deploy(artifacts.Token, ["A", "A", 1]))).toEqual({ events: [200n], received: 200n });
    expect(await moved(await scene.deploy(artifacts.FeeToken))).toEqual({ events: [200n], received: 198n });
    expect(await moved(await scene.deploy(artifacts.RebasingToken))).toEqual({ events: [200n], received: 202n });
    expect(await moved(await scene.deploy(artifacts.SilentToken))).toEqual({ events: [], received: 200n });
    expect(await moved(await scene.deploy(artifacts.NoReturnToken))).toEqual({ events: [200n], received: 200n });
    expect(await moved(await scene.deploy(artifacts.IndexedToken))).toEqual({ events: [200n], received: 200n });
    const { abi } = artifacts.SpoofToken;
    const spoof = await scene.deploy(artifacts.SpoofToken);
    const airdrop = encodeFunctionData({ abi, functionName: "airdrop", args: [user, [spender], 7n] });
    expect(await moved(spoof, airdrop)).toEqual({ events: [7n], received: 0n });
    const understate = encodeFunctionData({ abi, functionName: "understate", args: [spender] });
    expect(await moved(spoof, understate)).toEqual({ events: [1n], received: 2000n });
  });
});
