/** What the compiler accepts, and what it refuses, through `preflightActions`. */
import type { Report } from "evm-preflight";
import { preflightActions } from "evm-preflight/viem";
import { createPublicClient, http, type Abi } from "viem";
import { describe, expectTypeOf, it } from "vitest";
import type { RawCall } from "../../src/Transaction.js";
import { bare, token } from "./abis.js";

declare const from: `0x${string}`;
declare const to: `0x${string}`;
declare const many: ReadonlyArray<`0x${string}`>;
declare const raws: ReadonlyArray<RawCall>;
declare const unknownAbi: Abi;
const client = createPublicClient({ transport: http() }).extend(preflightActions());
const { preflight } = client;

describe("preflightActions", () => {
  it("gives promises of reports and clearances, beside the client's own actions", () => {
    expectTypeOf(client.preflight({ from, to })).toEqualTypeOf<Promise<Report.Report>>();
    expectTypeOf(client.scan([{ from, to }])).toEqualTypeOf<Promise<Report.Report>>();
    expectTypeOf(client.ready).returns.toEqualTypeOf<Promise<Report.Clearance>>();
    expectTypeOf(client.getChainId()).toEqualTypeOf<Promise<number>>();
  });
  it("accepts transfers, raw calls and deployments", () => {
    preflight({ from, to, value: 1n });
    preflight({ from, to, data: "0x1234", nonce: 1, gas: 21_000n });
    preflight({ from, data: "0x6000" });
    preflight({ from, abi: token, bytecode: "0x6000", args: [1n] });
    preflight({ from, abi: bare, bytecode: "0x6000" });
  });
  it("accepts calls through an ABI, overloaded functions too", () => {
    preflight({ from, to, abi: token, functionName: "transfer", args: [to, 1n] });
    preflight({ from, to, abi: token, functionName: "pause" });
    preflight({ from, to, abi: token, functionName: "safe", args: [to] });
    preflight({ from, to, abi: token, functionName: "safe", args: [to, "0x"] });
    preflight({ from, to, abi: unknownAbi, functionName: "anything", args: [1] });
  });
  it("accepts tuples and lists of any length", () => {
    preflight([
      { from, to, abi: token, functionName: "transfer", args: [to, 1n] },
      { from, to, value: 1n },
      { from, abi: token, bytecode: "0x6000", args: [1n] },
    ]);
    preflight(raws);
    preflight([...raws, { from, to }]);
    preflight(many.map((each) => ({ from, to: each, value: 1n })));
    preflight(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each, 1n] }) as const));
  });
  it("refuses a wrong name, argument, number of arguments, and missing ones", () => {
    // @ts-expect-error no such function
    preflight({ from, to, abi: token, functionName: "transfr", args: [to, 1n] });
    // @ts-expect-error a number is no uint256
    preflight({ from, to, abi: token, functionName: "transfer", args: [to, 1] });
    // @ts-expect-error the amount is missing
    preflight({ from, to, abi: token, functionName: "transfer", args: [to] });
    // @ts-expect-error one too many
    preflight({ from, to, abi: token, functionName: "transfer", args: [to, 1n, 2n] });
    // @ts-expect-error the arguments are missing
    preflight({ from, to, abi: token, functionName: "transfer" });
    // @ts-expect-error the function takes none
    preflight({ from, to, abi: token, functionName: "pause", args: [1] });
    // @ts-expect-error a call needs a target
    preflight({ from, abi: token, functionName: "pause" });
    // @ts-expect-error a misspelt field
    preflight({ from, to, valeu: 1n });
    // @ts-expect-error no sender
    preflight({ to });
    // @ts-expect-error an address starts with 0x
    preflight({ from: "alice", to });
  });
  it("refuses the same in a deployment", () => {
    // @ts-expect-error a number is no uint256
    preflight({ from, abi: token, bytecode: "0x6000", args: [1] });
    // @ts-expect-error the constructor's arguments are missing
    preflight({ from, abi: token, bytecode: "0x6000" });
    // @ts-expect-error one too many
    preflight({ from, abi: token, bytecode: "0x6000", args: [1n, 2n] });
  });
  it("refuses the same anywhere in a tuple", () => {
    preflight([
      { from, to },
      // @ts-expect-error no such function
      { from, to, abi: token, functionName: "transfr", args: [to, 1n] },
    ]);
    const plain = { from, to };
    // @ts-expect-error a number is no uint256
    preflight([plain, { from, to, abi: token, functionName: "transfer", args: [to, 1] }]);
    preflight([
      { from, to },
      // @ts-expect-error the amount is missing
      { from, to, abi: token, functionName: "transfer", args: [to] },
    ]);
    preflight([
      { from, to },
      // @ts-expect-error the arguments are missing
      { from, to, abi: token, functionName: "transfer" },
    ]);
    // @ts-expect-error a number is no uint256
    preflight([{ from, abi: token, bytecode: "0x6000", args: [1] }]);
    // @ts-expect-error the constructor's arguments are missing
    preflight([{ from, abi: token, bytecode: "0x6000" }]);
    // @ts-expect-error no sender
    preflight([{ from, to }, { to }]);
    preflight([
      { from, to, abi: token, functionName: "pause" },
      // @ts-expect-error a misspelt field
      { from, to, valeu: 1n },
    ]);
  });
  it("refuses the same in a list that is made while running", () => {
    // @ts-expect-error no such function
    preflight(many.map((each) => ({ from, to, abi: token, functionName: "transfr", args: [each, 1n] }) as const));
    // @ts-expect-error a number is no uint256
    preflight(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each, 1] }) as const));
    // @ts-expect-error the amount is missing
    preflight(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each] }) as const));
    // @ts-expect-error the arguments are missing
    preflight(many.map(() => ({ from, to, abi: token, functionName: "transfer" }) as const));
  });
  it("refuses options that it does not have", () => {
    preflight({ from, to }, { deadline: 1_000, feeLevel: "fast" });
    // @ts-expect-error no such option
    preflight({ from, to }, { deadlin: 1_000 });
    // @ts-expect-error no such level
    preflight({ from, to }, { feeLevel: "ludicrous" });
  });
});
