import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  encodeFunctionData,
  erc20Abi,
  parseAbi,
  toFunctionSelector,
} from "viem";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { explain } from "../rooms/cli.js";
import type { Hex } from "../rooms/primitives.js";
import { accounts } from "../harness/anvil.js";
import { buildBin, type Bin } from "./bin.js";

let bin: Bin;
beforeAll(async () => {
  bin = await buildBin();
});
afterAll(() => bin.remove());

const [alice, bob] = [accounts[0].address, accounts[1].address];
const custom = parseAbi(["error NotAllowed(address who, uint256 limit)"]);
const customData = encodeErrorResult({ abi: custom, errorName: "NotAllowed", args: [alice, 5n] });
const reason = encodeErrorResult({
  abi: parseAbi(["error Error(string reason)"]),
  errorName: "Error",
  args: ["no \u001b[31mway"],
});

describe("decode", () => {
  it("reads a revert's reason and escapes it", async () => {
    const { code, stdout } = await bin.run(["decode", reason]);
    expect(stdout).toContain('revert  "no \\u{1b}[31mway"');
    expect(code).toBe(0);
  });
  it("reads a custom error by an ABI, in text and JSON", async () => {
    const abi = "error NotAllowed(address who, uint256 limit)";
    const { stdout } = await bin.run(["decode", customData, "--abi", abi]);
    expect(stdout).toContain(`revert  NotAllowed(who: ${alice}, limit: 5)`);
    const json = await bin.run(["decode", customData, "--abi", abi, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      data: customData,
      readings: [{ kind: "revert", signature: "NotAllowed(address,uint256)" }],
    });
  });
  it("reads calldata and logs by an ABI", async () => {
    const call = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, 2n ** 256n - 1n] });
    const called = await bin.run(["decode", call, "--abi", "approve(address spender, uint256 amount)"]);
    expect(called.stdout).toContain(`call  approve(spender: ${bob}, amount: 2^256 − 1)`);
    const event = "event Transfer(address indexed from, address indexed to, uint256 value)";
    const topics = encodeEventTopics({ abi: erc20Abi, eventName: "Transfer", args: { from: alice, to: bob } });
    const data = encodeAbiParameters([{ type: "uint256" }], [7n]);
    const logged = await bin.run(["decode", data, "--abi", event, "--topics", topics.join(",")]);
    expect(logged.stdout).toContain(`event  Transfer(from: ${alice}, to: ${bob}, value: 7)`);
    expect(logged.code).toBe(0);
  });
  it("reads common calls and logs without an ABI, as readings by selector", async () => {
    const call = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, 5n] });
    const { code, stdout } = await bin.run(["decode", call]);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n")).toEqual([
      `call  approve(spender: ${bob}, amount: 5)  by selector: ERC-20`,
      `call  approve(to: ${bob}, tokenId: 5)  by selector: ERC-721`,
      "2 functions fit; only the contract's own ABI tells which it is",
    ]);
    const json = JSON.parse((await bin.run(["decode", call, "--json"])).stdout);
    expect(json.readings[0]).toMatchObject({ kind: "call", by: "selector", sources: ["ERC-20"] });
    const topics = encodeEventTopics({ abi: erc20Abi, eventName: "Transfer", args: { from: alice, to: bob } });
    const data = encodeAbiParameters([{ type: "uint256" }], [7n]);
    const logged = await bin.run(["decode", data, "--topics", topics.join(",")]);
    expect(logged.stdout).toBe(`event  Transfer(from: ${alice}, to: ${bob}, value: 7)  by selector: ERC-20\n`);
    const named = await bin.run(["decode", call, "--abi", "approve(address spender, uint256 amount)", "--json"]);
    expect(JSON.parse(named.stdout).readings).toEqual([expect.objectContaining({ by: "abi", sources: [] })]);
  });
  it("reads the calls within a multicall, indented, and whole in JSON", async () => {
    const call = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 5n] });
    const abi = parseAbi(["function multicall(bytes[] data)"]);
    const inner = encodeFunctionData({ abi, args: [[call]] });
    const outer = encodeFunctionData({ abi, args: [[inner, call]] });
    const { stdout } = await bin.run(["decode", outer]);
    const told = `transfer(to: ${bob}, amount: 5) (by selector: ERC-20)`;
    expect(stdout.trimEnd().split("\n").slice(1)).toEqual([
      expect.stringMatching(/^ {2}1 {2}multicall\(data: \[0x/),
      `    1.1  ${told}`,
      `  2  ${told}`,
    ]);
    const { call: decoded } = JSON.parse((await bin.run(["decode", outer, "--json"])).stdout);
    const within = {
      function: "transfer",
      by: "selector",
      arguments: [{ name: "to" }, { name: "amount", value: "5" }],
    };
    expect(decoded.calls[0]).toMatchObject({ to: null, value: null, isDelegate: false, more: 0, calls: [within] });
  });
  it("ends with 3 and says so when nothing is known", async () => {
    const { code, stdout } = await bin.run(["decode", "0xdeadbeef00"]);
    expect(stdout).toContain("nothing known begins with 0xdeadbeef");
    expect(code).toBe(3);
  });
  it.each([
    [
      "0xa9059cbb",
      "transfer(address,uint256) begins with 0xa9059cbb, but its arguments take at least 64 bytes, and 0 are",
    ],
    [`0xa9059cbb${"00".repeat(63)}`, "take at least 64 bytes, and 63 are there"],
    [`0xa9059cbb${"ff".repeat(64)}`, "its arguments are not encoded as they should be"],
    [
      "0xac9650d8",
      "multicall(bytes[]) begins with 0xac9650d8, but its arguments take at least 64 bytes, and 0 are there",
    ],
    ["0x095ea7b3", "approve(address,uint256) begins with 0x095ea7b3"],
  ])("names what is missing behind a known selector: %s", (data, text) => {
    const { readings, text: told } = explain(data as `0x${string}`, null, []);
    expect([readings, told]).toEqual([[], expect.stringContaining(text)]);
    expect(told).not.toContain("nothing known");
  });
  it("names what is missing of an ABI's own functions and errors, and of unknown ones says that nothing is known", () => {
    const own = parseAbi(["function mine(uint256[2] pair, string name)", "error Mine(uint8 code)"]);
    const [first, second] = [toFunctionSelector(own[0]), toFunctionSelector("Mine(uint8)")];
    expect(explain(first, own, []).text).toContain("mine(uint256[2],string) begins with");
    expect(explain(first, own, []).text).toContain("take at least 128 bytes, and 0 are there");
    expect(explain(second, own, []).text).toContain("Mine(uint8) begins with");
    expect(explain(first, null, []).text).toContain("nothing known begins with");
  });
  it("refuses input that is no hex, and malformed topics, with 64", async () => {
    for (const args of [["zz"], ["0x123"], [], ["0x", "--topics", "0x12"]]) {
      const { code, stdout } = await bin.run(["decode", ...args]);
      expect(code, args.join(" ")).toBe(64);
      expect(stdout).toBe("");
    }
  });
});

describe("explain", () => {
  it("never throws and shows no control character, whatever the bytes", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(customData.slice(0, 10), reason.slice(0, 10), "0xa9059cbb", "0x"),
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { maxLength: 4 }),
        (selector, bytes, words) => {
          const data = `${selector}${Buffer.from(bytes).toString("hex")}` as Hex;
          const topics = words.map((word): `0x${string}` => `0x${Buffer.from(word).toString("hex")}`);
          for (const abi of [null, [...custom, ...erc20Abi]])
            for (const { text } of explain(data, abi, topics).readings)
              // eslint-disable-next-line no-control-regex
              expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        },
      ),
    );
  });
});
