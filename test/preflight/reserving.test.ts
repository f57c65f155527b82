/** Reports under reserved nonces: proven with them, sent once, given back when nothing was sent. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { TransactionSerializable } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Nonces from "../../src/Nonces.js";
import * as NonceStore from "../../src/NonceStore.js";
import * as Preflight from "../../src/Preflight.js";
import { createPreflight } from "../../src/promise.js";
import * as Report from "../../src/Report.js";
import { codesOf, layerOf, other, owner, scenesFor, third, type Scene } from "./scene.js";

describe.each(scenesFor("reports under reserved nonces"))("a proof with a reserved nonce, on %s", (_name, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
  });
  afterAll(() => scene.stop());

  const transfer = { from: owner.address, to: other.address, value: 7n } as const;
  const sign = (request: Report.Request) => owner.signTransaction(request as TransactionSerializable);

  it("stands on the reserved nonce, and returns that when the scope closes uncommitted", async () => {
    const layer = Layer.merge(layerOf(scene.url), NonceStore.layerMemory);
    const run = Preflight.reserving((scanned) =>
      Effect.map(Nonces.reserveAll(scanned), (leases) => leases.map((lease) => lease?.nonce ?? null)),
    );
    const [first, second] = await Effect.runPromise(
      Effect.gen(function* () {
        // held: another worker of the same store has the next nonce and has not sent it
        const lane = { chainId: scene.chainId, address: third.address };
        const ahead = yield* Effect.scoped(
          Effect.andThen(Nonces.reserve(lane), run({ from: third.address, to: other.address, value: 1n })),
        );
        const free = yield* Effect.scoped(run({ from: third.address, to: other.address, value: 1n }));
        return [ahead, free] as const;
      }).pipe(Effect.provide(layer)),
    );
    expect(first.transactions[0].request?.nonce).toBe(1);
    expect(first.transactions[0].nonce).toMatchObject({ value: 1, next: 0, evidence: "assumed" });
    expect(first.verdict).toBe("caution");
    expect(codesOf(first)).toContain("NonceUnderReservation/warning");
    expect(second.transactions[0].request?.nonce).toBe(0);
    expect(second.verdict).toBe("ready");
  });

  it("lets nothing be sent when something else was signed, and frees the nonce", async () => {
    const preflight = createPreflight({ url: scene.url });
    const before = await scene.ask("eth_getTransactionCount", [owner.address, "pending"]);
    const more = (request: Report.Request) =>
      owner.signTransaction({ ...request, value: 8n } as TransactionSerializable);
    await expect(preflight.deliver(more)(transfer)).rejects.toMatchObject({ _tag: "SignedMismatch", field: "value" });
    await expect(preflight.deliver(sign)({ ...transfer, nonce: 5 })).rejects.toMatchObject({
      _tag: "InvalidTransaction",
    });
    await expect(preflight.deliver(() => Promise.reject(new Error("declined")))(transfer)).rejects.toThrow("declined");
    const { sent } = await preflight.deliver(sign)(transfer);
    await preflight.dispose();
    expect(Number(sent[0]?.nonce)).toBe(Number(before));
  });
});
