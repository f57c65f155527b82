/** Several nodes behind one address, at different heights: what one of them has not is no proof. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { describe, expect, it } from "vitest";
import type { NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import type { Rpc } from "../../src/Rpc.js";
import { accounts } from "../harness/anvil.js";
import { lane, sender, sign, SimulatedChain } from "./chain.js";
import { changed, run } from "./running.js";

/** Whether the node that a question goes to has not the last block. */
type Route = (method: string, params: ReadonlyArray<unknown>, other: string) => boolean;

/** Two nodes behind one address; bytes go to the one that has all blocks. */
class Balanced extends SimulatedChain {
  isBehind: Route = () => false;
  /** What another account sent in the same block. */
  other = "";
  override answer(method: string, params: ReadonlyArray<unknown>): unknown {
    this.behind = method !== "eth_sendRawTransaction" && this.isBehind(method, params, this.other) ? 1 : 0;
    return super.answer(method, params);
  }
}

const kindOf = (method: string, [first, second]: ReadonlyArray<unknown>, other: string): number => {
  if (method === "eth_getTransactionReceipt") return first === other ? 5 : 0;
  if (method === "eth_getBlockByNumber") return first === "finalized" ? 1 : 2;
  return second === "latest" || second === "pending" ? 3 : 4;
};

/** Every way in which six kinds of question go to two nodes. */
const fixed = Array.from(
  { length: 64 },
  (_, bits): Route =>
    (method, params, other) =>
      (bits >> kindOf(method, params, other)) % 2 === 1,
);

/** Each question to either, by chance that can be repeated. */
const mixed = Array.from({ length: 24 }, (_, seed): Route => {
  let state = seed + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 1;
  };
});

/** A transaction whose nonce was taken when it was sent, by itself or by another's: what was said of it, in time. */
const toldOf = (isOurs: boolean, isBehind: Route): Promise<ReadonlyArray<string>> => {
  const chain = new Balanced();
  const delivered = Nonces.withNonce(
    lane,
    (nonce) => sign(nonce),
    (raw) =>
      Effect.sync(() => {
        if (isOurs) chain.send(raw);
        if (isOurs) chain.mine();
        else chain.mineForeign(sender.address);
        chain.mineForeign(accounts[1].address);
        chain.other = chain.account(accounts[1].address).mined[0] ?? "";
        chain.isBehind = isBehind;
        return chain.send(raw);
      }).pipe(Effect.catchDefect(Effect.fail)),
  );
  const reconciled = Effect.match(Effect.delay(Nonces.reconcile(lane), 4), {
    onFailure: () => [],
    onSuccess: ({ ended }) => ended.map(({ end }) => end),
  });
  return run(
    chain,
    Effect.gen(function* () {
      const sent = yield* Effect.match(delivered, {
        onFailure: (error) => error._tag,
        onSuccess: ({ outcome }) => outcome.kind,
      });
      return [sent, ...(yield* reconciled), ...(yield* reconciled), ...(yield* reconciled)];
    }),
    { settings: { burnedAfterMs: 3 } },
  );
};

describe("a transaction behind a load balancer", () => {
  it("is never called burned once it is mined, whichever node answers what", async () => {
    const told = await Promise.all([...fixed, ...mixed].map((isBehind) => toldOf(true, isBehind)));
    expect(new Set(told.flat())).toEqual(new Set(["tooLow", "mined"]));
  });
  it("is called burned where another's transaction was found in a final block", async () => {
    expect(await toldOf(false, () => false)).toEqual(["NonceBurned", "burned"]);
    // A node that is behind has neither the block nor the count: nobody can say
    expect(await toldOf(false, () => true)).toEqual(["tooLow"]);
    const told = await Promise.all(mixed.map((isBehind) => toldOf(false, isBehind)));
    expect(new Set(told.flat())).toEqual(new Set(["NonceBurned", "tooLow", "burned"]));
  });
});

describe("a nonce that was used while ours was sent", () => {
  /** Sends bytes that come too late, for what `before` does. */
  const late = (chain: SimulatedChain, before: Effect.Effect<unknown, unknown, NonceStore | Rpc>) =>
    Nonces.withNonce(
      lane,
      (nonce) => sign(nonce),
      (raw) => Effect.andThen(before, Effect.try({ try: () => chain.send(raw), catch: (error) => error })),
    );

  it("is not burned by our own replacement, committed meanwhile", async () => {
    const chain = new SimulatedChain();
    chain.receiptsLag = true;
    const outcome = await run(
      chain,
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(
          late(
            chain,
            Effect.sync(() => chain.refusals.push("nonce too low")),
          ),
        );
        yield* Effect.sleep(20);
        const [first] = yield* Nonces.committed(lane);
        yield* Nonces.sendReplacement(lane, 0n, first?.hash ?? "0x", yield* sign(0n, 0n, 9_000_000_000n));
        chain.mine();
        return (yield* Fiber.join(fiber)).outcome.kind;
      }),
      { settings: { burnedAfterMs: 300 } },
    );
    expect(outcome).toBe("tooLow");
  });
  it("is not called burned by a store that forgot it, because that cannot say what replaced it", async () => {
    const chain = new SimulatedChain();
    const forgetful = changed((store) => ({
      read: (id) => Effect.map(store.read(id), (read) => (read === null ? null : { ...read, slots: [] })),
    }));
    const foreign = Effect.sync(() => chain.mineForeign(sender.address));
    const sent = await run(chain, late(chain, foreign), { store: forgetful });
    expect(sent.outcome.kind).toBe("tooLow");
  });
});
