/** Names and symbols of tokens are remembered between proofs as long as the caller says. */
import * as Effect from "effect/Effect";
import * as TestClock from "effect/testing/TestClock";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Address } from "../rooms/primitives.js";
import * as Preflight from "../../src/Preflight.js";
import * as artifacts from "../contracts/artifacts.js";
import { calldata, layerOf, other, owner, roundsIn, scenesFor, type Scene } from "./scene.js";
import { sendingFrom } from "./troupe.js";

const me = owner.address.toLowerCase() as Hex;
const you = other.address.toLowerCase() as Hex;

describe.each(scenesFor("proofs of movements"))("token names in scans and proofs on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    scene = await start();
    const { send, deploy, mined } = await sendingFrom(scene);
    token = await deploy(artifacts.Token, ["Gold", "GLD", 18]);
    await mined();
    await send({ to: token, data: calldata(artifacts.Token, "mint", [me, 1_000_000n]) });
    await mined();
  });
  afterAll(() => scene?.stop());

  const transfer = (of: Hex, amount: bigint) => ({
    from: me,
    to: of,
    data: calldata(artifacts.Token, "transfer", [you, amount]),
  });

  it("are remembered as long as the caller says, and read again after that", async () => {
    const input = transfer(token, 1n);
    const run = (layer: ReturnType<typeof Preflight.layerTokenCache>) =>
      Effect.gen(function* () {
        const first = yield* Preflight.preflight(input);
        const second = yield* Preflight.preflight(input);
        return [first, second].map((report) => ({ tokens: report.tokens, rounds: roundsIn(report) }));
      }).pipe(Effect.provide(layer), Effect.provide(layerOf(scene.url)), Effect.runPromise);
    const [first, second] = await run(Preflight.layerTokenCache({ timeToLive: "1 minute" }));
    expect(first).toEqual({ tokens: [{ token, name: "Gold", symbol: "GLD", decimals: 18 }], rounds: 2 });
    expect(second).toEqual(first);
  });
});

describe("the cache of token names", () => {
  const info = (digit: string) => ({
    token: `0x${digit.repeat(40)}` as Address,
    name: digit,
    symbol: digit,
    decimals: 1,
  });
  const tokens = ["1", "2", "3"].map((digit) => info(digit).token);

  it("forgets by time and by number, and separates chains", () =>
    Effect.gen(function* () {
      const cache = yield* Preflight.TokenCache;
      yield* cache.keep(1, ["1", "2", "3"].map(info));
      expect((yield* cache.recall(1, tokens)).map(({ name }) => name)).toEqual(["2", "3"]);
      expect(yield* cache.recall(10, tokens)).toEqual([]);
      yield* TestClock.adjust("59 seconds");
      expect(yield* cache.recall(1, tokens)).toHaveLength(2);
      yield* TestClock.adjust("1 seconds");
      expect(yield* cache.recall(1, tokens)).toEqual([]);
    }).pipe(
      Effect.provide(Preflight.layerTokenCache({ timeToLive: "1 minute", capacity: 2 })),
      Effect.provide(TestClock.layer()),
      Effect.runPromise,
    ));

  it("remembers nothing unless asked to", () =>
    Effect.gen(function* () {
      const cache = yield* Preflight.TokenCache;
      yield* cache.keep(1, [info("1")]);
      expect(yield* cache.recall(1, tokens)).toEqual([]);
    }).pipe(Effect.runPromise));
});
