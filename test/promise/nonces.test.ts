/** Nonces in the Promise door: started, kept, waited for and repaired by one call each. */
import * as Layer from "effect/Layer";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import { createPreflight, type Defaults, type LogEvent } from "../../src/promise.js";
import { layerNonces } from "../../src/testing.js";
import { lane, sender, sign, SimulatedChain } from "../nonces/chain.js";
import { at } from "../nonces/lanes.js";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const signed = (nonce: bigint) => Effect.runPromise(sign(nonce));
const pool = (chain: SimulatedChain) => chain.account(sender.address).pool;

/** A client with a store of its own, where `inFlight` may be in flight. */
const connect = (
  chain: SimulatedChain,
  { inFlight = 16, nonces = layerNonces, ...defaults }: Defaults & { readonly inFlight?: number } = {},
) => {
  const settings = Layer.succeed(Nonces.Settings, { ...Nonces.defaults, inFlight, resendAfterMs: 0 });
  return createPreflight({ layer: Layer.merge(chain.layer(), settings) }, { nonces, ...defaults });
};

/** A store that lasts, so that its lanes are cold until they are started. */
const lasting = Layer.effect(
  NonceStore,
  Effect.map(NonceStore, (store) => ({ ...store, persistent: true })),
).pipe(Layer.provide(layerNonces));

describe("the methods of nonces", () => {
  it("refuse malformed times by the name of the option, and send nothing", async () => {
    const chain = new SimulatedChain();
    await using preflight = connect(chain, { nonces: lasting });
    for (const ms of [Number.NaN, -1, Infinity, "abc" as never]) {
      const wrong = (field: string) => ({ _tag: "InvalidLane", field, mayBeSent: false });
      await expect(preflight.nonces.keep(lane, { everyMs: ms })).rejects.toMatchObject(wrong("everyMs"));
      await expect(preflight.nonces.bootstrap(lane, { settleMs: ms })).rejects.toMatchObject(wrong("settleMs"));
      await expect(preflight.withNonce(lane, signed, { ttl: ms })).rejects.toMatchObject(wrong("ttl"));
      await expect(preflight.withNonce(lane, signed, { waitMs: ms })).rejects.toMatchObject(wrong("waitMs"));
      await expect(preflight.deliver({} as never, signed as never, { ttl: ms })).rejects.toMatchObject(wrong("ttl"));
    }
  });

  it("accept null for no options, and refuse malformed ones", async () => {
    await using preflight = connect(new SimulatedChain());
    expect((await preflight.withNonce(lane, signed, null as never)).nonce).toBe(0n);
    expect(await preflight.nonces.bootstrap(lane, null as never)).toBe(false);
    await (await preflight.nonces.keep(lane, null as never)).stop();
    await expect(preflight.nonces.keep(lane, 5 as never)).rejects.toMatchObject({ field: "options" });
  });

  it("start by one call, which the error before it names", async () => {
    await using preflight = connect(new SimulatedChain(), { nonces: lasting });
    await expect(preflight.withNonce(lane, signed)).rejects.toMatchObject({
      ...{ _tag: "NonceColdStart", mayBeSent: false },
      message: expect.stringContaining("preflight.nonces.bootstrap(lane)"),
    });
    expect(await preflight.nonces.bootstrap(lane, { settleMs: 1 })).toBe(true);
    expect(await preflight.nonces.bootstrap(lane)).toBe(false);
    expect((await preflight.withNonce(lane, signed)).nonce).toBe(0n);
  });

  it("keep lanes by one call, until it is stopped, or the client is disposed", async () => {
    const chain = new SimulatedChain();
    await using preflight = connect(chain);
    await preflight.withNonce(lane, signed);
    const resent = async () => {
      pool(chain).clear();
      await expect.poll(() => pool(chain).size, { timeout: 10_000, interval: 5 }).toBe(1);
    };
    const isLost = async () => {
      pool(chain).clear();
      await pause(60);
      return pool(chain).size === 0;
    };
    const keeping = await preflight.nonces.keep(lane, { everyMs: 5 });
    await resent();
    await keeping.stop();
    expect(await isLost()).toBe(true);
    await preflight.nonces.keep(lane, { everyMs: 5 });
    await resent();
    await preflight.dispose();
    expect(await isLost()).toBe(true);
  });

  it("keep lanes with a key and given counts; failures go to the log", async () => {
    const events: Array<LogEvent> = [];
    await using preflight = connect(new SimulatedChain(), { log: (event) => void events.push(event) });
    const keyed = { ...lane, key: 3n };
    await expect(preflight.nonces.keep(keyed)).rejects.toMatchObject({ _tag: "InvalidLane", field: "key" });
    await preflight.nonces.bootstrap(keyed, { settleMs: 1, counts: async () => at(4n) });
    let fails = true;
    const asked = new Set<string>();
    const counts = async ({ id }: { readonly id: string }) => {
      asked.add(id);
      if (fails) throw new Error("no entry point");
      return at(6n);
    };
    await preflight.nonces.keep(keyed, { everyMs: 5, counts });
    await expect.poll(() => events.some(({ type }) => type === "keep"), { timeout: 10_000, interval: 5 }).toBe(true);
    fails = false;
    await expect.poll(async () => (await preflight.nonces.status(keyed)).floor, { timeout: 10_000 }).toBe(6n);
    expect([...asked]).toEqual([`31337:${sender.address.toLowerCase()}:3`]);
    const told = events.flatMap((event) => (event.type === "keep" ? [event] : []));
    expect(told[0]).toEqual({
      ...{ type: "keep", lane: `31337:${sender.address.toLowerCase()}:3` },
      ...{ reason: "Error", message: "no entry point" },
    });
  });

  it("wait until the deadline, and no longer than the signal allows", async () => {
    const chain = new SimulatedChain();
    await using preflight = connect(chain, { inFlight: 1 });
    await preflight.withNonce(lane, signed);
    await expect(preflight.withNonce(lane, signed, { waitMs: 60 })).rejects.toMatchObject({
      ...{ _tag: "NonceBusy", head: { nonce: 0n } },
    });
    const reason = new Error("shutting down");
    const stopping = new AbortController();
    const stopped = preflight.withNonce(lane, signed, { waitMs: 60_000, signal: stopping.signal });
    setTimeout(() => stopping.abort(reason), 50);
    await expect(stopped).rejects.toBe(reason);
    const waiting = preflight.withNonce(lane, signed, { waitMs: 20_000 });
    await pause(50);
    chain.mine();
    expect((await waiting).nonce).toBe(1n);
  });

  it("accept width, ttl and counts, and do not send under a lease that was too short", async () => {
    const chain = new SimulatedChain();
    await using preflight = connect(chain);
    const counts = { ...at(5n), ttl: 10 };
    expect((await preflight.withNonce(lane, signed, { counts })).nonce).toBe(5n);
    await expect(preflight.withNonce(lane, signed, { width: 2, counts: at(6n) })).rejects.toMatchObject({
      ...{ _tag: "SignedMismatch", field: "authorizationList" },
    });
    const slowly = async (nonce: bigint) => {
      await pause(60);
      await preflight.withNonce(lane, signed, { counts: at(6n) });
      return Effect.runPromise(sign(nonce, 9n));
    };
    await expect(preflight.withNonce(lane, slowly, { ttl: 10, counts: at(6n) })).rejects.toMatchObject({
      ...{ _tag: "LeaseLost", nonce: 6n, mayBeSent: false },
    });
    // the first, and the one that had its nonce meanwhile
    expect(chain.broadcasts.map(({ nonce }) => nonce)).toEqual([5, 6]);
  });

  it("send through a relay: first sends, repeated ones and replacements", async () => {
    const chain = new SimulatedChain();
    const relayed: Array<string> = [];
    const send = async (raw: `0x${string}`) => {
      relayed.push(raw);
      return { jsonrpc: "2.0", id: 1, result: chain.send(raw as never) };
    };
    await using preflight = connect(chain, { send });
    const first = await preflight.withNonce(lane, signed);
    expect([first.outcome.kind, relayed.length]).toEqual(["accepted", 1]);
    pool(chain).clear();
    const keeping = await preflight.nonces.keep(lane, { everyMs: 5 });
    await expect.poll(() => pool(chain).size).toBe(1);
    await keeping.stop();
    pool(chain).clear();
    const dearer = await Effect.runPromise(sign(0n, 0n, 9_000_000_000n));
    const replaced = await preflight.nonces.replace(lane, 0n, first.hash, dearer);
    expect([relayed.at(-1), replaced.outcome.kind]).toEqual([dearer, "accepted"]);
    expect(chain.broadcasts).toHaveLength(relayed.length);
    chain.refusals.push("replacement transaction underpriced");
    const cheap = await Effect.runPromise(sign(0n, 1n));
    await expect(preflight.nonces.replace(lane, 0n, replaced.hash, cheap)).rejects.toMatchObject({
      ...{ _tag: "SendRejected", kind: "underpriced", mayBeSent: true },
    });
  });

  it("reject when a `send` of one call resolves with an error", async () => {
    await using preflight = connect(new SimulatedChain());
    const send = async () => ({ jsonrpc: "2.0", id: 1, error: { code: -32000, message: "insufficient funds" } });
    await expect(preflight.withNonce(lane, signed, { send })).rejects.toMatchObject({
      ...{ _tag: "SendRejected", nonce: 0n, kind: "rejected", isFree: false, mayBeSent: true },
    });
  });

  it("name committed transactions when the call is aborted, or the client ends, and not otherwise", async () => {
    const chain = new SimulatedChain();
    const reason = new Error("shutting down");
    const hanging = () => new Promise<never>(() => undefined);
    for (const nonce of [0n, 1n]) {
      const preflight = connect(chain, { send: hanging });
      const stopping = new AbortController();
      const sending = preflight.withNonce(lane, signed, { counts: at(nonce), signal: stopping.signal });
      setTimeout(() => (nonce === 0n ? stopping.abort(reason) : void preflight.dispose()), 100);
      await expect(sending).rejects.toMatchObject({
        ...{ _tag: "PartlySent", mayBeSent: true, sent: [], inDoubt: { nonce }, left: 0 },
        detail: expect.stringContaining(nonce === 0n ? "shutting down" : "disposed"),
      });
      await preflight.dispose();
    }
    await using preflight = connect(chain);
    const stopping = new AbortController();
    const signing = preflight.withNonce(lane, hanging, { counts: at(0n), signal: stopping.signal });
    setTimeout(() => stopping.abort(reason), 50);
    await expect(signing).rejects.toBe(reason);
  });

  it("require a signer, and a report that is one: else the field is named", async () => {
    const chain = new SimulatedChain();
    await using preflight = connect(chain);
    const none = undefined as never;
    const transfer = { from: sender.address, to: sender.address, value: 1n };
    const steps = { with: [], without: [] };
    const parts = { transactions: [{}], carriers: [], findings: [], funds: [], observed: {}, options: {}, steps };
    const wrongs: ReadonlyArray<readonly [() => Promise<unknown>, string]> = [
      [() => preflight.withNonce(lane, none), "sign"],
      [() => preflight.deliver(transfer, none), "sign"],
      [() => preflight.ready({} as never), "report.transactions"],
      [() => preflight.ready(none), "report"],
      [() => preflight.ready({ ...parts, carriers: undefined } as never), "report.carriers"],
      [() => preflight.ready({ ...parts, options: undefined } as never), "report.options"],
      [() => preflight.ready({ ...parts, steps: undefined } as never), "report.steps"],
      [() => preflight.ready({ ...parts, steps: { with: [] } } as never), "report.steps.without"],
      [() => preflight.ready(parts as never), "report"],
      [() => preflight.prove({ transactions: [{}], carriers: [] } as never), "report.findings"],
      [() => preflight.settle("0x" as never, []), "report"],
    ];
    for (const [call, field] of wrongs)
      await expect(call()).rejects.toMatchObject({ _tag: "InvalidTransaction", field });
    const bytes = (async () => ({ raw: "0x" })) as never;
    await expect(preflight.withNonce(lane, bytes)).rejects.toMatchObject({ _tag: "SignedMismatch", field: "raw" });
    expect(chain.broadcasts).toEqual([]);
  });
});
