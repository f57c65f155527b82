/** Waiting for a nonce, with an end. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { describe, expect, it } from "vitest";
import * as Nonces from "../../src/Nonces.js";
import { lane, sign, SimulatedChain } from "./chain.js";
import { at } from "./lanes.js";
import { run, send } from "./running.js";

const settings = { inFlight: 1 };
const sendWithin = (waitMs: number, counts?: Nonces.Counts) =>
  Nonces.withNonce(lane, (nonce) => sign(nonce), undefined, {
    waitMs,
    ...(counts === undefined ? {} : { counts, delegated: false }),
  });

describe("reserve that waits", () => {
  it("takes the nonce when the chain makes room, also where its first counts were given", async () => {
    const chain = new SimulatedChain();
    const [first, second, third] = await run(
      chain,
      Effect.gen(function* () {
        const one = yield* send();
        const waiting = yield* Effect.forkChild(sendWithin(20_000));
        yield* Effect.sleep(60);
        chain.mine();
        const two = yield* Fiber.join(waiting);
        const given = yield* Effect.forkChild(sendWithin(20_000, at(1n)));
        yield* Effect.sleep(60);
        chain.mine();
        return [one, two, yield* Fiber.join(given)] as const;
      }),
      { settings },
    );
    expect([first.nonce, second.nonce, third.nonce]).toEqual([0n, 1n, 2n]);
  });

  it("is NonceBusy when its time is over, at once without a time, and refuses a malformed time", async () => {
    const chain = new SimulatedChain();
    const began = performance.now();
    const failures = await run(
      chain,
      Effect.gen(function* () {
        yield* send();
        const atOnce = yield* Effect.flip(sendWithin(0));
        const none = yield* Effect.flip(sendWithin(Number.NaN));
        expect(none).toMatchObject({ _tag: "InvalidLane", field: "waitMs", mayBeSent: false });
        const asked = performance.now();
        const late = yield* Effect.flip(sendWithin(150));
        expect(performance.now() - asked).toBeGreaterThanOrEqual(145);
        return [atOnce, late];
      }),
      { settings },
    );
    expect(failures).toMatchObject(Array(2).fill({ _tag: "NonceBusy", head: { nonce: 0n } }));
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(chain.broadcasts).toHaveLength(1);
  });

  it("can be interrupted, and leaves nothing behind", async () => {
    const chain = new SimulatedChain();
    const next = await run(
      chain,
      Effect.gen(function* () {
        yield* send();
        const waiting = yield* Effect.forkChild(sendWithin(60_000));
        yield* Effect.sleep(30);
        yield* Fiber.interrupt(waiting);
        chain.mine();
        return yield* send();
      }),
      { settings },
    );
    expect(next.nonce).toBe(1n);
  });

  it("does not wait for a waiter of another store, though the lane has the same name", async () => {
    const [crowded, free] = [new SimulatedChain(), new SimulatedChain()];
    const crowd = run(crowded, Effect.andThen(send(), Effect.flip(sendWithin(4_000))), { settings });
    while (crowded.broadcasts.length === 0) await Effect.runPromise(Effect.sleep(5));
    await Effect.runPromise(Effect.sleep(100));
    const began = performance.now();
    const sent = await run(free, sendWithin(3_000), { settings });
    expect([sent.nonce, performance.now() - began < 2_000]).toEqual([0n, true]);
    expect(await crowd).toMatchObject({ _tag: "NonceBusy" });
  });
});
