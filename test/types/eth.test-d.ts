import type * as Effect from "effect/Effect";
import { expectTypeOf, test } from "vitest";
import * as Eth from "../../src/Eth.js";
import type { Rpc } from "../../src/Rpc.js";

const to = "0x2222222222222222222222222222222222222222";

test("a call has a receiver, an estimate need not have one", () => {
  expectTypeOf(Eth.call({ to, input: "0x12", block: "latest" })).toEqualTypeOf<
    Effect.Effect<Eth.Hex, Eth.Failure, Rpc>
  >();
  // @ts-expect-error a deployment is no call
  void Eth.call({ data: "0x00", block: "latest" });
  // @ts-expect-error nor is it one with no receiver in as many words
  void Eth.call({ to: null, block: "latest" });
  expectTypeOf(Eth.estimateGas({ data: "0x00" })).toEqualTypeOf<Effect.Effect<bigint, Eth.Failure, Rpc>>();
});

test("missing fields of a receipt and of a simulated transaction are null", () => {
  expectTypeOf<Eth.Receipt["logs"]>().toEqualTypeOf<ReadonlyArray<Eth.Log> | null>();
  expectTypeOf<Eth.Receipt["status"]>().toEqualTypeOf<"success" | "failure" | null>();
  expectTypeOf<Eth.FullTransaction["yParity"]>().toEqualTypeOf<bigint | null>();
  expectTypeOf<Eth.FullTransaction["blockTimestamp"]>().toEqualTypeOf<bigint | null>();
  expectTypeOf<NonNullable<Eth.FullTransaction["accessList"]>[number]>().toEqualTypeOf<{
    readonly address: Eth.Address;
    readonly storageKeys: ReadonlyArray<Eth.Hash>;
  }>();
  expectTypeOf<NonNullable<Eth.FullTransaction["authorizationList"]>[number]["r"]>().toEqualTypeOf<bigint>();
});

test("a simulated block names the entry that it answers", () => {
  expectTypeOf<Eth.SimulatedBlock["entry"]>().toEqualTypeOf<number | null>();
  expectTypeOf(
    Eth.simulateV1({ blocks: [{ blockOverrides: { timestamp: 5 } }], fillers: true, block: "latest" }),
  ).toEqualTypeOf<Effect.Effect<ReadonlyArray<Eth.SimulatedBlock>, Eth.Failure, Rpc>>();
  // @ts-expect-error the wire's name of `blocks`
  void Eth.simulateV1({ blockStateCalls: [], block: "latest" });
});
