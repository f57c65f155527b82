/** What the compiler accepts, and what it refuses, through `createPreflight`. */
import type { Eth, Preflight, Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import type { Abi } from "viem";
import { describe, expectTypeOf, it } from "vitest";
import type { RawCall } from "../../src/Transaction.js";
import { bare, token } from "./abis.js";

declare const from: `0x${string}`;
declare const to: `0x${string}`;
declare const many: ReadonlyArray<`0x${string}`>;
declare const raws: ReadonlyArray<RawCall>;
declare const unknownAbi: Abi;
declare const preflight: ReturnType<typeof createPreflight>;
const { run } = preflight;

describe("createPreflight", () => {
  it("gives promises of reports and clearances", () => {
    expectTypeOf(preflight.run({ from, to })).toEqualTypeOf<Promise<Report.Report>>();
    expectTypeOf(preflight.scan([{ from, to }])).toEqualTypeOf<Promise<Report.Report>>();
    expectTypeOf(preflight.ready).returns.toEqualTypeOf<Promise<Report.Clearance>>();
    expectTypeOf(preflight.dispose).returns.toEqualTypeOf<Promise<void>>();
  });
  it("gives async iterables of what happens", () => {
    expectTypeOf(preflight.watch).returns.toEqualTypeOf<AsyncIterable<Preflight.Watched>>();
    expectTypeOf(preflight.watchHeads()).toEqualTypeOf<AsyncIterable<Eth.Head>>();
    expectTypeOf(preflight.watchLogs({ address: to, topics: [null] })).toEqualTypeOf<AsyncIterable<Eth.Log>>();
    expectTypeOf<Preflight.Watched["_tag"]>().toEqualTypeOf<"Fresh" | "Moved" | "Lost">();
    // @ts-expect-error a range has an end
    preflight.watchLogs({ fromBlock: 1n });
  });
  it("takes one way to the node", () => {
    // @ts-expect-error none
    createPreflight({});
    // @ts-expect-error a URL is a string
    createPreflight({ url: 1 });
    // @ts-expect-error no such option
    createPreflight({ url: "" }, { deadlin: 1 });
  });
  it("accepts transfers, raw calls and deployments", () => {
    run({ from, to, value: 1n });
    run({ from, to, data: "0x1234", nonce: 1, gas: 21_000n });
    run({ from, data: "0x6000" });
    run({ from, abi: token, bytecode: "0x6000", args: [1n] });
    run({ from, abi: bare, bytecode: "0x6000" });
  });
  it("accepts calls through an ABI, overloaded functions too", () => {
    run({ from, to, abi: token, functionName: "transfer", args: [to, 1n] });
    run({ from, to, abi: token, functionName: "pause" });
    run({ from, to, abi: token, functionName: "safe", args: [to] });
    run({ from, to, abi: token, functionName: "safe", args: [to, "0x"] });
    run({ from, to, abi: unknownAbi, functionName: "anything", args: [1] });
  });
  it("accepts tuples and lists of any length", () => {
    run([
      { from, to, abi: token, functionName: "transfer", args: [to, 1n] },
      { from, to, value: 1n },
      { from, abi: token, bytecode: "0x6000", args: [1n] },
    ]);
    run(raws);
    run([...raws, { from, to }]);
    run(many.map((each) => ({ from, to: each, value: 1n })));
    run(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each, 1n] }) as const));
  });
  it("refuses a wrong name, argument, number of arguments, and missing ones", () => {
    // @ts-expect-error no such function
    run({ from, to, abi: token, functionName: "transfr", args: [to, 1n] });
    // @ts-expect-error a number is no uint256
    run({ from, to, abi: token, functionName: "transfer", args: [to, 1] });
    // @ts-expect-error the amount is missing
    run({ from, to, abi: token, functionName: "transfer", args: [to] });
    // @ts-expect-error one too many
    run({ from, to, abi: token, functionName: "transfer", args: [to, 1n, 2n] });
    // @ts-expect-error the arguments are missing
    run({ from, to, abi: token, functionName: "transfer" });
    // @ts-expect-error the function takes none
    run({ from, to, abi: token, functionName: "pause", args: [1] });
    // @ts-expect-error a call needs a target
    run({ from, abi: token, functionName: "pause" });
    // @ts-expect-error a misspelt field
    run({ from, to, valeu: 1n });
    // @ts-expect-error no sender
    run({ to });
    // @ts-expect-error an address starts with 0x
    run({ from: "alice", to });
  });
  it("refuses the same in a deployment", () => {
    // @ts-expect-error a number is no uint256
    run({ from, abi: token, bytecode: "0x6000", args: [1] });
    // @ts-expect-error the constructor's arguments are missing
    run({ from, abi: token, bytecode: "0x6000" });
    // @ts-expect-error one too many
    run({ from, abi: token, bytecode: "0x6000", args: [1n, 2n] });
  });
  it("refuses the same anywhere in a tuple", () => {
    run([
      { from, to },
      // @ts-expect-error no such function
      { from, to, abi: token, functionName: "transfr", args: [to, 1n] },
    ]);
    const plain = { from, to };
    // @ts-expect-error a number is no uint256
    run([plain, { from, to, abi: token, functionName: "transfer", args: [to, 1] }]);
    run([
      { from, to },
      // @ts-expect-error the amount is missing
      { from, to, abi: token, functionName: "transfer", args: [to] },
    ]);
    run([
      { from, to },
      // @ts-expect-error the arguments are missing
      { from, to, abi: token, functionName: "transfer" },
    ]);
    // @ts-expect-error a number is no uint256
    run([{ from, abi: token, bytecode: "0x6000", args: [1] }]);
    // @ts-expect-error the constructor's arguments are missing
    run([{ from, abi: token, bytecode: "0x6000" }]);
    // @ts-expect-error no sender
    run([{ from, to }, { to }]);
    run([
      { from, to, abi: token, functionName: "pause" },
      // @ts-expect-error a misspelt field
      { from, to, valeu: 1n },
    ]);
  });
  it("refuses the same in a list that is made while running", () => {
    // @ts-expect-error no such function
    run(many.map((each) => ({ from, to, abi: token, functionName: "transfr", args: [each, 1n] }) as const));
    // @ts-expect-error a number is no uint256
    run(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each, 1] }) as const));
    // @ts-expect-error the amount is missing
    run(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each] }) as const));
    // @ts-expect-error the arguments are missing
    run(many.map(() => ({ from, to, abi: token, functionName: "transfer" }) as const));
  });
  it("refuses options that it does not have", () => {
    run({ from, to }, { deadline: 1_000, feeLevel: "fast" });
    // @ts-expect-error no such option
    run({ from, to }, { deadlin: 1_000 });
    // @ts-expect-error no such level
    run({ from, to }, { feeLevel: "ludicrous" });
  });
});
