/** What callers without types give the nonce protocol beside a lane: refused by its name before anything is recorded. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { expect } from "vitest";
import type { NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import type { Rpc } from "../../src/Rpc.js";
import { lane, sign } from "./chain.js";
import { itOnChain, send, until } from "./running.js";

const counts = { latest: 0n, pending: 0n };
const asked: never = (() => Effect.succeed(counts)) as never;
const none = null as never;
/** What a call fails with, whose arguments say nothing of its type. */
const refusal = (call: unknown) => Effect.flip(call as Effect.Effect<unknown, unknown, NonceStore | Rpc>);
const refused = (field: string) => ({ _tag: "InvalidLane", field });

itOnChain("every call refuses counts in the wrong form", function* () {
  yield* Nonces.adopt(lane, { counts });
  const calls = [
    Nonces.keep(lane, { counts: counts as never }),
    Nonces.bootstrap({ ...lane, key: 1n }, { counts: counts as never }),
    Nonces.peek(lane, { counts: asked }),
    Nonces.status(lane, { counts: asked }),
    Nonces.adopt(lane, { counts: asked }),
    Nonces.moveTo(lane, asked),
    Nonces.moveTo(lane, none),
    Nonces.reconcile(lane, undefined, { counts: asked }),
    Effect.scoped(Nonces.reserve(lane, { counts: asked })),
    Nonces.withNonce(lane, (nonce) => sign(nonce), undefined, { counts: asked }),
  ];
  for (const call of calls) expect(yield* refusal(call)).toMatchObject(refused("counts"));
});

itOnChain("null options are absent, and options that a call does not take are not checked", function* (chain) {
  expect(yield* Nonces.bootstrap(lane, { settleMs: 0, counts: none })).toBe(true);
  expect(yield* Nonces.peek(lane, none)).toBe(0n);
  expect(yield* Nonces.peek(lane, { counts: none })).toBe(0n);
  for (const options of [null, { counts: null, ttl: null, width: null, delegated: null, waitMs: null, nonce: 5 }])
    expect(yield* Effect.scoped(Nonces.reserve(lane, options as never))).toMatchObject({ nonce: 0n, width: 1 });
  expect(yield* Nonces.reconcile(lane, none, none)).toMatchObject({ next: 0n });
  expect(yield* Nonces.status(lane, none)).toMatchObject({ counts });
  expect(yield* Nonces.adopt(lane, none)).toBe(false);
  yield* send();
  const { pool } = chain.account(lane.address);
  pool.clear();
  const keeping = yield* Effect.forkChild(Nonces.keep(lane, { counts: none, send: none, everyMs: 5 }));
  yield* until(() => pool.size === 1);
  yield* Fiber.interrupt(keeping);
});

itOnChain("keep survives a counts function that throws, and calls it in each round", function* (chain) {
  yield* send();
  const { pool } = chain.account(lane.address);
  pool.clear();
  let rounds = 0;
  const failing = () => {
    rounds += 1;
    if (rounds === 1) throw new Error("the indexer is away");
    if (rounds === 2) return Promise.resolve(counts) as never;
    return Effect.succeed(counts);
  };
  const keeping = yield* Effect.forkChild(Nonces.keep(lane, { counts: failing, everyMs: 5 }));
  yield* until(() => pool.size === 1 && rounds > 3);
  yield* Fiber.interrupt(keeping);
});

itOnChain("a send or sign that is no function is refused, with nothing recorded", function* (chain) {
  const wrong = "x" as never;
  const raw = yield* sign(0n);
  for (const fill of [Nonces.withNonce, Nonces.fillGap]) {
    expect(yield* refusal(fill(lane, () => Effect.succeed(raw), wrong))).toMatchObject(refused("send"));
    for (const signer of [wrong, undefined as never, none])
      expect(yield* refusal(fill(lane, signer))).toMatchObject(refused("sign"));
  }
  for (const sender of [wrong, undefined as never, none]) {
    const delivered = Effect.flatMap(Nonces.reserve(lane), (lease) => Nonces.deliver(lease, raw, sender));
    expect(yield* refusal(Effect.scoped(delivered))).toMatchObject(refused("send"));
  }
  const { hash } = yield* send();
  const replacing = Nonces.sendReplacement(lane, 0n, hash, yield* sign(0n, 5n), wrong);
  expect(yield* refusal(replacing)).toMatchObject(refused("send"));
  expect(yield* refusal(Nonces.reconcile(lane, wrong))).toMatchObject(refused("send"));
  const [kept] = yield* Nonces.committed(lane);
  expect(kept?.attempts).toHaveLength(1);
  expect(chain.broadcasts).toHaveLength(1);
});

itOnChain("a send that throws at once has an unknown outcome: its nonce is committed", function* () {
  const away = (): never => {
    throw new Error("the socket is away");
  };
  const sent = yield* Nonces.withNonce(lane, (nonce) => sign(nonce), away);
  expect(sent).toMatchObject({ nonce: 0n, outcome: { kind: "unknown" } });
  const replaced = yield* Nonces.sendReplacement(lane, 0n, sent.hash, yield* sign(0n, 5n), away);
  expect(replaced).toMatchObject({ nonce: 0n, outcome: { kind: "unknown" } });
  const promised = (async () => "0x") as never;
  const again = yield* Nonces.sendReplacement(lane, 0n, replaced.hash, yield* sign(0n, 6n), promised);
  expect(again).toMatchObject({ nonce: 0n, outcome: { kind: "unknown" } });
  const { resent } = yield* Nonces.reconcile(lane, away);
  expect(resent).toMatchObject([{ nonce: 0n, outcome: { kind: "unknown" } }]);
});

itOnChain("a signer that throws, or gives a promise, gives its nonce back", function* () {
  const throwing = (): never => {
    throw new RangeError("the device is away");
  };
  const signers: ReadonlyArray<typeof sign> = [throwing, (async () => "0x") as never];
  for (const signer of signers) {
    expect(yield* Effect.exit(Nonces.withNonce(lane, (nonce) => signer(nonce)))).toMatchObject({ _tag: "Failure" });
    expect(yield* Nonces.status(lane)).toMatchObject({ next: 0n, reserved: [] });
  }
});
