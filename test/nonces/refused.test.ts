/** What a refusal for good means for who sent it: it fails, and says whether to pay again. */
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { NonceStoreError } from "../rooms/errors.js";
import * as Nonces from "../../src/Nonces.js";
import { lane, sign, SimulatedChain } from "./chain.js";
import { changed, run, send } from "./running.js";

const poor = "insufficient funds for gas * price + value: have 1 want 2";

describe("a transaction that the node refuses for good", () => {
  it.each([
    ["rejected", poor],
    ["underpriced", "replacement transaction underpriced"],
  ] as const)("fails with %s, keeps its nonce, and may be sent", async (kind, refusal) => {
    const chain = new SimulatedChain();
    chain.refusals.push(refusal);
    const [failure, next, committed] = await run(
      chain,
      Effect.all([Effect.flip(send()), send(), Nonces.committed(lane)]),
    );
    const hash = chain.broadcasts[0]?.hash;
    expect(failure).toMatchObject({ _tag: "SendRejected", nonce: 0n, hash, kind, isFree: false, mayBeSent: true });
    expect([next.nonce, committed.map(({ nonce }) => nonce)]).toEqual([1n, [0n, 1n]]);
  });

  it.each([
    ["a JSON-RPC error", { jsonrpc: "2.0", id: 1, error: { code: -32000, message: poor } }, "SendRejected"],
    ["a JSON-RPC answer", { jsonrpc: "2.0", id: 1, result: `0x${"ab".repeat(32)}` }, "accepted"],
    ["a receipt of a relay", { bundle: "0x12" }, "unknown"],
    ["nothing", undefined, "unknown"],
  ])("is recognised in what `send` resolves with: %s", async (_, answer, expected) => {
    const sent = Nonces.withNonce(
      lane,
      (nonce) => sign(nonce),
      () => Effect.succeed(answer),
    );
    const found = await run(new SimulatedChain(), Effect.result(sent));
    expect(found._tag === "Success" ? found.success.outcome.kind : found.failure._tag).toBe(expected);
  });

  it("is unknown where the node answers with the hash of another transaction", async () => {
    const chain = new SimulatedChain();
    chain.send = () => `0x${"ab".repeat(32)}`;
    const [sent, committed] = await run(chain, Effect.all([send(), Nonces.committed(lane)]));
    expect([sent.outcome.kind, committed.map(({ hash }) => hash)]).toEqual(["unknown", [sent.hash]]);
  });

  it("is named as the head in the error for want of room behind it", async () => {
    const chain = new SimulatedChain();
    chain.refusals.push(poor);
    const settings = { inFlight: 2 };
    const [refused, , busy] = await run(chain, Effect.all([Effect.flip(send()), send(), Effect.flip(send())]), {
      settings,
    });
    expect(busy).toMatchObject({
      _tag: "NonceBusy",
      head: { nonce: 0n, hash: "hash" in refused ? refused.hash : null, outcome: "rejected" },
    });
    expect(busy.message).toContain("replace the first");
  });

  it("differs from a merely reserved head, which has no hash", async () => {
    const behind = Effect.scoped(Effect.andThen(Nonces.reserve(lane), Effect.flip(send())));
    // why: who finds no room asks again and again, and what it costs the store is what empties the lane later
    const unread = changed(() => ({ read: () => Effect.die(new Error("the whole lane is read")) }));
    const busy = await run(new SimulatedChain(), behind, { settings: { inFlight: 1 }, store: unread });
    expect(busy).toMatchObject({ _tag: "NonceBusy", head: { nonce: 0n, hash: null } });
  });
});

it("a commit whose answer is lost fails with its nonce and hash", async () => {
  const broken = new NonceStoreError({ operation: "commit", detail: "gone", isRetryable: false });
  const losing = changed((store) => ({
    commit: (...given) => Effect.andThen(store.commit(...given), Effect.fail(broken)),
  }));
  const [failure, [committed]] = await run(
    new SimulatedChain(),
    Effect.all([Effect.flip(send()), Nonces.committed(lane)]),
    { store: losing },
  );
  expect(committed).toMatchObject({ nonce: 0n });
  expect(failure).toMatchObject({ _tag: "NonceStoreError", nonce: 0n, hash: committed?.hash, mayBeSent: true });
});
