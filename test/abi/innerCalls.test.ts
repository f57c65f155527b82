/** Calls within calls: as encoders write them, bounded, and harmless whatever the bytes. */
import fc from "fast-check";
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  erc20Abi,
  multicall3Abi,
  parseAbi,
  parseAbiParameters,
  size,
  type Hex,
} from "viem";
import { describe, expect, it } from "vitest";
import { type AbiSources, decodeCall, innerCalls, innerLines, type InnerCall } from "../rooms/abi.js";

const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const bob = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const others = parseAbi([
  "function multicall(bytes[] data)",
  "function multicall(uint256 deadline, bytes[] data)",
  "function multicall(bytes32 previousBlockhash, bytes[] data)",
  "function multiSend(bytes transactions)",
  "function execTransaction(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,bytes signatures)",
  "function execTransactionFromModule(address to,uint256 value,bytes data,uint8 operation)",
  "function execute(bytes commands, bytes[] inputs, uint256 deadline)",
  "function execute(bytes commands, bytes[] inputs)",
  "function deposit()",
]);
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 5n] });
const deposit = encodeFunctionData({ abi: others, functionName: "deposit" });
const told = `transfer(to: ${bob}, amount: 5) (by selector: ERC-20)`;
const deposited = "deposit() (by selector: WETH9)";
const linesOf = (data: string, ...rest: [abis?: AbiSources, options?: { address: string }]) => {
  const call = decodeCall(data, ...rest);
  return call === null ? [] : innerLines(call).map(({ place, text }) => `${place} ${text}`);
};
const packed = (...calls: ReadonlyArray<readonly [operation: number, to: Hex, value: bigint, data: Hex]>): Hex =>
  concatHex(
    calls.map(([operation, to, value, data]) =>
      encodePacked(
        ["uint8", "address", "uint256", "uint256", "bytes"],
        [operation, to, value, BigInt(size(data)), data],
      ),
    ),
  );
const multiSend = (transactions: Hex) =>
  encodeFunctionData({ abi: others, functionName: "multiSend", args: [transactions] });
const safe = (to: Hex, data: Hex, operation: number, value = 0n) =>
  encodeFunctionData({
    abi: others,
    functionName: "execTransaction",
    args: [to, value, data, operation, 0n, 0n, 0n, alice, alice, "0x1234"],
  });
const nested = (depth: number): Hex =>
  depth === 0 ? transfer : encodeFunctionData({ abi: others, functionName: "multicall", args: [[nested(depth - 1)]] });

describe("innerCalls", () => {
  // every function of it: test/steps/reading/forms.test.ts
  it("reads a multicall of Multicall3, with values", () => {
    const pair = { target: usdc, allowFailure: true, callData: transfer } as const;
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [[pair]] });
    expect(linesOf(data)).toEqual([`1 to ${usdc}: ${told}`]);
    const valued = encodeFunctionData({
      abi: parseAbi(["function aggregate3Value((address,bool,uint256,bytes)[])"]),
      args: [
        [
          [usdc, false, 10n ** 18n, deposit],
          [bob, false, 5n * 10n ** 17n, "0x"],
          [bob, false, 0n, "0xdeadbeef01"],
        ],
      ],
    });
    expect(linesOf(valued)).toEqual([
      `1 to ${usdc} with 1 ETH: ${deposited}`,
      `2 to ${bob} with 0.5 ETH: nothing else`,
      `3 to ${bob}: selector 0xdeadbeef, 5 bytes of data`,
    ]);
  });

  it("reads calls of a contract to itself, by its own ABI where that is given", () => {
    const abi = parseAbi(["function transfer(address whom, uint256 much)"]);
    for (const data of [
      encodeFunctionData({ abi: others, functionName: "multicall", args: [[transfer]] }),
      encodeFunctionData({ abi: others, functionName: "multicall", args: [9n, [transfer]] }),
      encodeFunctionData({ abi: others, functionName: "multicall", args: [`0x${"ab".repeat(32)}`, [transfer]] }),
    ]) {
      expect(linesOf(data)).toEqual([`1 ${told}`]);
      expect(linesOf(data, [{ address: usdc, abi }], { address: usdc })).toEqual([
        `1 transfer(whom: ${bob}, much: 5) (by the ABI given for ${usdc})`,
      ]);
    }
  });

  it("reads a Safe's transaction and the list it delegates to, level by level", () => {
    const data = safe(alice, multiSend(packed([0, usdc, 0n, transfer], [1, bob, 7n, deposit])), 1);
    const lines = linesOf(data);
    expect(lines[0]).toContain(`1 with the code of ${alice} in its own place: multiSend(transactions: 0x`);
    expect(lines.slice(1)).toEqual([
      `1.1 to ${usdc}: ${told}`,
      `1.2 with the code of ${bob} in its own place with 7 wei: ${deposited}`,
    ]);
    const moduled = encodeFunctionData({
      abi: others,
      functionName: "execTransactionFromModule",
      args: [usdc, 1n, transfer, 0],
    });
    expect(linesOf(moduled)).toEqual([`1 to ${usdc} with 1 wei: ${told}`]);
  });

  it("shows a call of a list that pays nobody", () => {
    const zero = `0x${"00".repeat(20)}` as Hex;
    expect(linesOf(multiSend(packed([0, zero, 10n ** 18n, "0x"])))).toEqual([`1 to ${zero} with 1 ETH: nothing else`]);
  });

  it("reads nothing of a list with wrong lengths or operations", () => {
    const list = packed([0, usdc, 0n, transfer], [0, bob, 0n, deposit]);
    for (const broken of [list.slice(0, -2), `${list}00`, list.replace("0x00", "0x02"), `0x00${"ff".repeat(90)}`])
      expect(linesOf(multiSend(broken as Hex)), broken).toEqual([]);
  });

  it("reads the router's commands, plans within plans, and names none whose input does not fit", () => {
    const wrap = encodeAbiParameters(parseAbiParameters("address, uint256"), [alice, 5n]);
    const swap = encodeAbiParameters(parseAbiParameters("address, uint256, uint256, address[], bool"), [
      ...([alice, 5n, 4n, [usdc, bob], true] as const),
    ]);
    const plan = encodeAbiParameters(parseAbiParameters("bytes, bytes[]"), ["0x0b", [wrap]]);
    const lines = [
      `1 WRAP_ETH(recipient: ${alice}, amountMin: 5)`,
      `2 V2_SWAP_EXACT_IN(recipient: ${alice}, amountIn: 5, amountOutMin: 4, path: [${usdc}, ${bob}], payerIsUser: true), which may fail`,
      "3 command 0x3f with 64 bytes of input",
      "4 command 0x08 with 64 bytes of input",
    ];
    const args = ["0x0b883f0821", [wrap, swap, wrap, wrap, plan]] as const;
    for (const data of [
      encodeFunctionData({ abi: others, functionName: "execute", args }),
      encodeFunctionData({ abi: others, functionName: "execute", args: [...args, 9n] }),
    ]) {
      expect(linesOf(data).slice(0, 4)).toEqual(lines);
      expect(linesOf(data).at(-1)).toBe(`5.1 WRAP_ETH(recipient: ${alice}, amountMin: 5)`);
    }
    expect(linesOf(encodeFunctionData({ abi: others, functionName: "execute", args: ["0x0b0b", [wrap]] }))).toEqual([]);
  });

  it("reads four levels deep, and counts the calls that it does not read", () => {
    expect(linesOf(nested(4))).toHaveLength(4);
    expect(linesOf(nested(9)).at(-1)).toBe("1.1.1.1.… 1 more, not read");
    const many = encodeFunctionData({
      abi: others,
      functionName: "multicall",
      args: [Array.from({ length: 90 }, () => transfer)],
    });
    expect(linesOf(many)).toHaveLength(65);
    expect(linesOf(many).at(-1)).toBe("… 26 more, not read");
    const both = encodeFunctionData({ abi: others, functionName: "multicall", args: [[many, many]] });
    const count = ({ calls }: Pick<InnerCall, "calls">): number =>
      calls.reduce((sum, call) => sum + 1 + count(call), 0);
    expect(count(innerCalls(both))).toBe(64);
    expect(linesOf(transfer)).toEqual([]);
    expect(linesOf("0x")).toEqual([]);
  });

  it("never throws, and writes harmless lines quickly, whatever the bytes", () => {
    const seeds = [nested(3), safe(alice, multiSend(packed([0, usdc, 1n, transfer])), 1), nested(1)];
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(2_000), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
        (seed, changes) => {
          const bytes = Buffer.from(seed.slice(2), "hex");
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
          for (const line of linesOf(`0x${bytes.toString("hex")}`)) {
            expect(line.length).toBeLessThan(3_000);
            expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
          }
        },
      ),
    );
    const heavy = `0x8d80ff0a${"0".repeat(62)}20${"0".repeat(59)}0ffc0${"00".repeat(65_472)}`;
    const start = performance.now();
    linesOf(heavy);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
