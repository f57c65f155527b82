/** Human-readable ABIs through every door: names and arguments are inferred as through JSON ABIs. */
import { Preflight } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { preflightActions } from "evm-preflight/viem";
import { createPublicClient, http } from "viem";
import { describe, it } from "vitest";

declare const from: `0x${string}`;
declare const to: `0x${string}`;
declare const many: ReadonlyArray<`0x${string}`>;
declare const loose: ReadonlyArray<string>;

const token = [
  "constructor(uint256 supply)",
  "function transfer(address to, uint256 amount) returns (bool)",
  "function pause()",
  "function safe(address to)",
  "function safe(address to, bytes data)",
  "struct Order { address maker; uint256[] amounts; }",
  "function fill(Order order)",
  "event Transfer(address indexed from, address indexed to, uint256 amount)",
] as const;

const { run, scan: promised, deliver } = createPreflight({ url: "" });
const client = createPublicClient({ transport: http() }).extend(preflightActions());

describe("a human-readable ABI", () => {
  it("types names and arguments in every entry", () => {
    const call = { from, to, abi: token, functionName: "transfer", args: [to, 1n] } as const;
    Preflight.scan(call);
    Preflight.preflight(call);
    Preflight.simulate(call);
    Preflight.estimateGas(call);
    Preflight.checkCode(call);
    Preflight.resolveNonce(call);
    Preflight.quoteFee(call);
    run(call);
    promised(call);
    deliver(async () => "0x")(call);
    client.preflight(call);
    client.scan(call);
  });
  it("may be written in the call itself, or be known only at run time", () => {
    Preflight.scan({
      ...{ from, to, functionName: "transfer", args: [to, 1n] },
      abi: ["function transfer(address to, uint256 amount) returns (bool)"],
    });
    run({ from, to, abi: ["function pause()"], functionName: "pause" });
    run({ from, to, abi: loose, functionName: "anything", args: [1] });
    Preflight.scan({ from, to, abi: token, functionName: "fill", args: [{ maker: to, amounts: [1n] }] });
    Preflight.scan({ from, to, abi: token, functionName: "safe", args: [to, "0x"] });
    Preflight.scan({ from, abi: token, bytecode: "0x6000", args: [1n] });
    Preflight.scan({ from, to }, { abis: [token, { address: to, abi: token }] });
  });
  it("may stand in a list", () => {
    Preflight.scan([
      { from, to, abi: token, functionName: "transfer", args: [to, 1n] },
      { from, to, abi: ["function pause()"], functionName: "pause" },
      { from, abi: token, bytecode: "0x6000", args: [1n] },
      { from, to, value: 1n },
    ]);
    run(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each, 1n] }) as const));
  });
  it("refuses a wrong name, argument, and missing ones, in every entry", () => {
    // @ts-expect-error no such function
    Preflight.scan({ from, to, abi: token, functionName: "transfr", args: [to, 1n] });
    // @ts-expect-error a number is no uint256
    Preflight.preflight({ from, to, abi: token, functionName: "transfer", args: [to, 1] });
    // @ts-expect-error the amount is missing
    run({ from, to, abi: token, functionName: "transfer", args: [to] });
    // @ts-expect-error the arguments are missing
    client.preflight({ from, to, abi: token, functionName: "transfer" });
    // @ts-expect-error an event is no function
    run({ from, to, abi: token, functionName: "Transfer", args: [to, to, 1n] });
    // @ts-expect-error a field of the struct is missing
    run({ from, to, abi: token, functionName: "fill", args: [{ maker: to }] });
    // @ts-expect-error a number is no uint256
    run({ from, abi: token, bytecode: "0x6000", args: [1] });
    // @ts-expect-error no signature
    run({ from, to, abi: ["functon f(address a)"], functionName: "f", args: [to] });
    Preflight.scan([
      { from, to },
      // @ts-expect-error no signature
      { from, to, abi: ["functon f(address a)"], functionName: "f", args: [to] },
    ]);
    Preflight.scan([
      { from, to },
      // @ts-expect-error no such function
      { from, to, abi: token, functionName: "transfr", args: [to, 1n] },
    ]);
    Preflight.scan([
      { from, to },
      // @ts-expect-error the amount is missing
      { from, to, abi: ["function transfer(address to, uint256 amount)"], functionName: "transfer", args: [to] },
    ]);
    // @ts-expect-error a number is no uint256
    run(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each, 1] }) as const));
  });
});
