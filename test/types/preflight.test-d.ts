/** What the compiler accepts, and what it refuses, through `Preflight.scan and Preflight.preflight`. */
import type * as Effect from "effect/Effect";
import { Preflight, type Errors, type Report, type Rpc } from "evm-preflight";
import type { Abi } from "viem";
import { describe, expectTypeOf, it } from "vitest";
import type { RawCall } from "../../src/Transaction.js";
import { bare, token } from "./abis.js";

declare const from: `0x${string}`;
declare const to: `0x${string}`;
declare const many: ReadonlyArray<`0x${string}`>;
declare const raws: ReadonlyArray<RawCall>;
declare const unknownAbi: Abi;
const { scan } = Preflight;

describe("Preflight.scan and Preflight.preflight", () => {
  it("gives a report, fails with InvalidTransaction only, and needs Rpc", () => {
    type Expected = Effect.Effect<Report.Report, Errors.InvalidTransaction, Rpc.Rpc>;
    expectTypeOf(Preflight.scan({ from, to })).toEqualTypeOf<Expected>();
    expectTypeOf(Preflight.preflight([{ from, to }])).toEqualTypeOf<Expected>();
    expectTypeOf(Preflight.scan({ from, to, abi: token, functionName: "pause" })).toEqualTypeOf<Expected>();
    expectTypeOf(Preflight.prove).returns.toEqualTypeOf<Effect.Effect<Report.Report, never, Rpc.Rpc>>();
  });
  it("accepts transfers, raw calls and deployments", () => {
    scan({ from, to, value: 1n });
    scan({ from, to, data: "0x1234", nonce: 1, gas: 21_000n });
    scan({ from, data: "0x6000" });
    scan({ from, abi: token, bytecode: "0x6000", args: [1n] });
    scan({ from, abi: bare, bytecode: "0x6000" });
  });
  it("accepts calls through an ABI, overloaded functions too", () => {
    scan({ from, to, abi: token, functionName: "transfer", args: [to, 1n] });
    scan({ from, to, abi: token, functionName: "pause" });
    scan({ from, to, abi: token, functionName: "safe", args: [to] });
    scan({ from, to, abi: token, functionName: "safe", args: [to, "0x"] });
    scan({ from, to, abi: unknownAbi, functionName: "anything", args: [1] });
  });
  it("accepts tuples and lists of any length", () => {
    scan([
      { from, to, abi: token, functionName: "transfer", args: [to, 1n] },
      { from, to, value: 1n },
      { from, abi: token, bytecode: "0x6000", args: [1n] },
    ]);
    scan(raws);
    scan([...raws, { from, to }]);
    scan(many.map((each) => ({ from, to: each, value: 1n })));
    scan(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each, 1n] }) as const));
  });
  it("refuses a wrong name, argument, number of arguments, and missing ones", () => {
    // @ts-expect-error no such function
    scan({ from, to, abi: token, functionName: "transfr", args: [to, 1n] });
    // @ts-expect-error a number is no uint256
    scan({ from, to, abi: token, functionName: "transfer", args: [to, 1] });
    // @ts-expect-error the amount is missing
    scan({ from, to, abi: token, functionName: "transfer", args: [to] });
    // @ts-expect-error one too many
    scan({ from, to, abi: token, functionName: "transfer", args: [to, 1n, 2n] });
    // @ts-expect-error the arguments are missing
    scan({ from, to, abi: token, functionName: "transfer" });
    // @ts-expect-error the function takes none
    scan({ from, to, abi: token, functionName: "pause", args: [1] });
    // @ts-expect-error a call needs a target
    scan({ from, abi: token, functionName: "pause" });
    // @ts-expect-error a misspelt field
    scan({ from, to, valeu: 1n });
    // @ts-expect-error no sender
    scan({ to });
    // @ts-expect-error an address starts with 0x
    scan({ from: "alice", to });
  });
  it("refuses the same in a deployment", () => {
    // @ts-expect-error a number is no uint256
    scan({ from, abi: token, bytecode: "0x6000", args: [1] });
    // @ts-expect-error the constructor's arguments are missing
    scan({ from, abi: token, bytecode: "0x6000" });
    // @ts-expect-error one too many
    scan({ from, abi: token, bytecode: "0x6000", args: [1n, 2n] });
  });
  it("refuses the same anywhere in a tuple", () => {
    scan([
      { from, to },
      // @ts-expect-error no such function
      { from, to, abi: token, functionName: "transfr", args: [to, 1n] },
    ]);
    const plain = { from, to };
    // @ts-expect-error a number is no uint256
    scan([plain, { from, to, abi: token, functionName: "transfer", args: [to, 1] }]);
    scan([
      { from, to },
      // @ts-expect-error the amount is missing
      { from, to, abi: token, functionName: "transfer", args: [to] },
    ]);
    scan([
      { from, to },
      // @ts-expect-error the arguments are missing
      { from, to, abi: token, functionName: "transfer" },
    ]);
    // @ts-expect-error a number is no uint256
    scan([{ from, abi: token, bytecode: "0x6000", args: [1] }]);
    // @ts-expect-error the constructor's arguments are missing
    scan([{ from, abi: token, bytecode: "0x6000" }]);
    // @ts-expect-error no sender
    scan([{ from, to }, { to }]);
    scan([
      { from, to, abi: token, functionName: "pause" },
      // @ts-expect-error a misspelt field
      { from, to, valeu: 1n },
    ]);
  });
  it("refuses the same in a list that is made while running", () => {
    // @ts-expect-error no such function
    scan(many.map((each) => ({ from, to, abi: token, functionName: "transfr", args: [each, 1n] }) as const));
    // @ts-expect-error a number is no uint256
    scan(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each, 1] }) as const));
    // @ts-expect-error the amount is missing
    scan(many.map((each) => ({ from, to, abi: token, functionName: "transfer", args: [each] }) as const));
    // @ts-expect-error the arguments are missing
    scan(many.map(() => ({ from, to, abi: token, functionName: "transfer" }) as const));
  });
  it("refuses options that it does not have", () => {
    scan({ from, to }, { deadline: 1_000, feeLevel: "fast" });
    // @ts-expect-error no such option
    scan({ from, to }, { deadlin: 1_000 });
    // @ts-expect-error no such level
    scan({ from, to }, { feeLevel: "ludicrous" });
  });
});
