/** Wallets that hide what they did: what is not shown is no success, and nobody pays twice. */
import * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { createClient, createWalletClient, custom, numberToHex, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rpc } from "evm-preflight";
import { guardProvider, releaseHeld, type GuardOptions } from "evm-preflight/promise";
import { guard } from "evm-preflight/viem";
import { nobody, other, owner, scenesFor, spare, third, type Scene } from "../preflight/scene.js";
import { rejection } from "./reasons.js";

type Asked = { readonly method: string; readonly params?: ReadonlyArray<unknown> };

/** A clock that runs faster from the moment on at which it is told to. */
const clockOf = (rate: number) => {
  let from = { real: Date.now(), told: Date.now(), rate: 1 };
  const now = () => from.told + (Date.now() - from.real) * from.rate;
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => Math.floor(now()),
    currentTimeMillis: Effect.sync(() => Math.floor(now())),
    currentTimeNanosUnsafe: () => BigInt(Math.floor(now())) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(Math.floor(now())) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(Math.floor(now())) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(Math.floor(now())) * 1_000_000n),
    // it ends sooner where the clock is hurried meanwhile
    sleep: (duration) =>
      Effect.promise(async (signal) => {
        const { rate: first } = from;
        for (let left = Duration.toMillis(duration); left > 0 && !signal.aborted;) {
          const [at, fast] = [Date.now(), Math.max(first, from.rate)];
          await new Promise((end) => setTimeout(end, Math.min(5, left / fast)));
          left -= (Date.now() - at) * fast;
        }
      }),
  };
  return {
    now,
    layer: Layer.succeed(Clock.Clock, clock),
    hurry: (to = rate) => (from = { real: Date.now(), told: now(), rate: to }),
    // a report is as old as the clock says, so that it goes back
    rest: () => (from = { real: Date.now(), told: Date.now(), rate: 1 }),
  };
};

describe.each(scenesFor("accounts that are held"))("an account held after an unanswered send, on %s", (_, start) => {
  let scene: Scene;
  let nodeOf: (clock: ReturnType<typeof clockOf>) => NonNullable<GuardOptions["node"]>;
  beforeAll(async () => {
    scene = await start();
    nodeOf = (clock) => ({ layer: Layer.merge(Rpc.layerHttp(scene.url), clock.layer) as never });
  });
  afterAll(() => scene.stop());

  const hidden = `0x${"77".repeat(32)}`;
  const pay = (from: string = other.address, value = 1n) =>
    ({ method: "eth_sendTransaction", params: [{ from, to: nobody, value: numberToHex(value) }] }) as never;

  /** A wallet that does with what it is handed what it likes, and shows what it likes. */
  const walletOf = (
    answer: (handed: Record<string, `0x${string}`>) => unknown,
    show: (hash: string) => unknown = () => null,
  ) => {
    const clock = clockOf(40);
    const sends: Array<Record<string, `0x${string}`>> = [];
    const wallet = {
      request: async ({ method, params = [] }: Asked): Promise<unknown> => {
        if (method === "eth_getTransactionByHash") return show(String(params[0]));
        if (method !== "eth_sendTransaction") return scene.ask(method, params);
        clock.hurry();
        const [handed] = params as ReadonlyArray<Record<string, `0x${string}`>>;
        sends.push(handed as never);
        return answer(handed as never);
      },
    };
    const guarded = (options: GuardOptions = {}) => guardProvider(wallet, { node: nodeOf(clock), ...options });
    const send = (one: Pick<ReturnType<typeof guarded>, "request">, asked = pay()) => {
      clock.rest();
      return rejection(one.request(asked));
    };
    return { sends, wallet, guarded, send, clock };
  };
  /** Sends what was handed, changed, with one of the test's keys. */
  const signing = async (handed: Record<string, `0x${string}`>, changed: object = {}, key = other) => {
    const { gas, maxFeePerGas, maxPriorityFeePerGas, nonce, value, to } = handed;
    const fields = { gas, maxFeePerGas, maxPriorityFeePerGas, value };
    const numbers = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, BigInt(field ?? 0)]));
    const counted = key === other ? Number(nonce) : await scene.count(key.address, "pending");
    const whole = { type: "eip1559", chainId: scene.chainId, to, ...numbers, nonce: counted, ...changed };
    return key.signTransaction(whole as never);
  };
  const inFlight = (failure: { readonly message?: unknown; readonly _tag: string }) => {
    expect([failure._tag, failure.message]).toEqual(["GuardRefused", expect.stringContaining("one may be in flight")]);
  };

  it.each([null, "", "0x", "0x12", `0x${"7".repeat(63)}`, `0x${"7".repeat(65)}`, 7, {}, [hidden]])(
    "rejects at once, with the account held, for an answer that is no hash: %j",
    async (answer) => {
      const { guarded, send, sends, clock } = walletOf(() => answer);
      const one = guarded({ onUnverified: "accept" });
      const failure = await send(one);
      expect([failure._tag, failure["hash"], failure["mayBeSent"]]).toEqual(["Unverified", null, true]);
      expect(clock.now() - Date.now()).toBeLessThan(20_000);
      inFlight(await send(one));
      expect(sends).toHaveLength(1);
    },
  );

  it("rejects a hash that no node has after half a minute, and a page that tries again pays once", async () => {
    const { guarded, wallet, send, sends, clock } = walletOf(() => hidden);
    const one = guarded({ deadline: 5_000 });
    const failure = await send(one);
    expect(failure).toMatchObject({ _tag: "Unverified", hash: hidden, mayBeSent: true, code: -32001 });
    expect(failure["message"]).toContain("handed to the wallet; do not send again");
    expect(clock.now() - Date.now()).toBeGreaterThan(28_000);
    inFlight(await send(one));
    // another value, and a guard that is made anew of the same wallet
    inFlight(await send(one, pay(other.address, 2n)));
    inFlight(await send(guarded()));
    const calls = { version: "2.0.0", from: other.address, calls: [{ to: nobody, value: "0x1" }] };
    const all = { ...calls, chainId: numberToHex(scene.chainId) };
    inFlight(await send(one, { method: "wallet_sendCalls", params: [all] } as never));
    expect(sends).toHaveLength(1);
    // what is nobody's is let go by nobody
    expect([releaseHeld(one, owner.address), releaseHeld({}, other.address)]).toEqual([false, false]);
    expect(releaseHeld(one, other.address.toLowerCase())).toBe(true);
    expect([releaseHeld(one, other.address), (await send(one))._tag, sends.length]).toEqual([false, "Unverified", 2]);
    // by the provider that was guarded, too
    expect(releaseHeld(wallet, other.address)).toBe(true);
  }, 60_000);

  it("makes later sends wait while a payment is looked for, also calls and those through another guard", async () => {
    const calls = { version: "2.0.0", from: other.address, calls: [{ to: nobody, value: "0x1" }] };
    const all = { ...calls, chainId: numberToHex(scene.chainId) };
    for (const asked of [{ method: "wallet_sendCalls", params: [all] } as never, pay(other.address, 2n)]) {
      const { guarded, send, sends, wallet, clock } = walletOf(() => hidden);
      const passed: Array<string> = [];
      const one = guarded();
      const ask = wallet.request;
      wallet.request = (request) => (passed.push(request.method), ask(request));
      const first = send(one);
      while (sends.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      clock.rest();
      const second = rejection(guarded().request(asked));
      expect((await first)._tag).toBe("Unverified");
      inFlight(await second);
      expect([sends.length, passed.includes("wallet_sendCalls")]).toEqual([1, false]);
    }
  }, 60_000);

  it("lets no transport retry by itself", async () => {
    const { guarded, clock, sends } = walletOf(() => hidden);
    const client = createClient({ transport: custom(guarded(), { retryDelay: 1 }) });
    clock.rest();
    const failure = await rejection(client.request(pay()));
    expect([failure._tag, sends.length]).toEqual(["Unverified", 1]);
  }, 60_000);

  it("is held by a guarded client as by a provider", async () => {
    const { wallet, clock, sends } = walletOf(() => hidden);
    const client = createWalletClient({ account: other.address, chain: null, transport: custom(wallet) } as never);
    const one = guard(client as never, { node: nodeOf(clock) }) as never as ReturnType<typeof createWalletClient>;
    const send = () => rejection(one.sendTransaction({ to: nobody, value: 1n } as never));
    expect((await send())._tag).toBe("Unverified");
    clock.rest();
    inFlight(await send());
    const extended = one.extend(() => ({}));
    expect([sends.length, releaseHeld(extended, other.address)]).toEqual([1, true]);
  }, 60_000);

  it("is released once the node or the wallet shows the transaction", async () => {
    for (const by of ["node", "wallet"] as const) {
      let raw: `0x${string}` = "0x";
      let isShown = false;
      const { keccak256 } = await import("viem");
      const shownTo: Array<unknown> = [];
      const { guarded, send, sends } = walletOf(
        async (handed) => keccak256((raw = await signing(handed))),
        () => (isShown ? shownTo[0] : null),
      );
      // what is in flight is a caution on geth, whose pending state lacks it for a while
      const one = guarded({ onCaution: () => true });
      expect((await send(one))._tag).toBe("Unverified");
      inFlight(await send(one));
      const hash = await scene.broadcast(raw);
      shownTo.push(await scene.ask("eth_getTransactionByHash", [hash]));
      isShown = by === "wallet";
      expect([sends.length, (await send(one))._tag]).toEqual([1, "Unverified"]);
      expect(sends).toHaveLength(2);
      await scene.mine();
      await scene.untilNext(other.address, Number(sends[0]?.["nonce"]) + 1);
    }
  }, 90_000);

  it("is released once its nonce is used", async () => {
    const { guarded, send, sends } = walletOf(() => hidden);
    const one = guarded();
    expect((await send(one))._tag).toBe("Unverified");
    await scene.pool(other, { to: nobody, value: 3n });
    // in flight, it may still lose
    inFlight(await send(one));
    await scene.mine();
    await scene.untilNext(other.address, Number(sends[0]?.["nonce"]) + 1);
    expect([(await send(one))._tag, sends.length]).toEqual(["Unverified", 2]);
  }, 60_000);

  it("accepts a transaction that the wallet alone shows, if that authenticates itself", async () => {
    const { keccak256, parseTransaction } = await import("viem");
    let wire: Record<string, unknown> = {};
    const showing = async (handed: Record<string, `0x${string}`>, changed: object = {}) => {
      const raw = await signing(handed, changed);
      const { v: __, data, type: ___, ...fields } = parseTransaction(raw);
      const hex = Object.entries({ value: 0n, ...fields }).map(([name, field]) => [
        name,
        typeof field === "bigint" || typeof field === "number" ? numberToHex(field) : field,
      ]);
      const stripped = { r: numberToHex(BigInt(fields.r ?? 0)), s: numberToHex(BigInt(fields.s ?? 0)) };
      const beside = { type: "0x2", hash: keccak256(raw), from: other.address, input: data ?? "0x", accessList: [] };
      wire = { ...Object.fromEntries(hex), ...stripped, ...beside, blockNumber: null };
      return keccak256(raw);
    };
    const good = walletOf(showing, () => wire);
    expect((await good.send(good.guarded()))._tag).toMatch(/^resolved 0x/);
    const far = walletOf(
      (handed) => showing(handed, { chainId: 1 }),
      () => wire,
    );
    expect(await far.send(far.guarded())).toMatchObject({
      _tag: "Tampered",
      differences: [{ what: "request chainId" }],
    });
    const dear = walletOf(
      (handed) => showing(handed, { value: 9n }),
      () => wire,
    );
    expect((await dear.send(dear.guarded()))._tag).toBe("Tampered");
    for (const changed of [{}, { type: "0x7e" }, { r: "0x5" }, { hash: hidden }]) {
      const lying = walletOf(
        (handed) => showing(handed, { value: 9n }),
        () => ({ ...wire, value: "0x1", ...changed }),
      );
      expect((await lying.send(lying.guarded()))._tag, JSON.stringify(changed)).toBe("Unverified");
    }
    const mute = walletOf(
      () => hidden,
      () => new Promise(() => undefined),
    );
    expect((await mute.send(mute.guarded()))._tag).toBe("Unverified");
  }, 90_000);

  it("stays held when the hash of another transaction is shown", async () => {
    const mined = await scene.pool(other, { to: nobody, value: 1n });
    await scene.mine();
    const old = walletOf(
      () => mined,
      (hash) => scene.ask("eth_getTransactionByHash", [hash]),
    );
    expect(await old.send(old.guarded())).toMatchObject({ _tag: "Unverified", hash: mined });
    inFlight(await old.send(old.guarded()));
    const theirs = walletOf(async (handed) => scene.broadcast(await signing(handed, {}, third)));
    const one = theirs.guarded({ onChanged: () => true });
    const sender = third.address.toLowerCase();
    expect(await theirs.send(one)).toMatchObject({ _tag: "SentByOther", sender, mayBeSent: true });
    inFlight(await theirs.send(one));
    await scene.mine();
  }, 60_000);

  it("rejects, and ends its turn, when a caller's function never answers", async () => {
    const mute = (clock: ReturnType<typeof clockOf>) => () => {
      clock.hurry(2_000);
      return new Promise<boolean>(() => undefined);
    };
    // nothing was handed over
    const cautious = walletOf(() => hidden);
    const burning = { method: "eth_sendTransaction", params: [{ from: other.address, to: zeroAddress, value: "0x1" }] };
    const one = cautious.guarded({ onCaution: mute(cautious.clock) });
    for (const _ of [1, 2]) expect((await cautious.send(one, burning as never))._tag).toBe("NotCleared");
    expect(cautious.sends).toEqual([]);
    // the transaction is not shown, and the account is held
    const hiding = walletOf(() => hidden);
    const two = hiding.guarded({ onUnverified: mute(hiding.clock), deadline: 5_000 });
    expect((await hiding.send(two))._tag).toBe("Unverified");
    inFlight(await hiding.send(two));
    // the fee is not the one that was cleared
    const changing = walletOf(async (handed) => scene.broadcast(await signing(handed, { gas: 90_000n })));
    const three = changing.guarded({ onChanged: mute(changing.clock) });
    expect((await changing.send(three))._tag).toBe("Tampered");
    await scene.mine();
    expect((await changing.send(three))._tag).toBe("Tampered");
    await scene.mine();
    // a signature
    const signs = walletOf(() => hidden);
    const four = signs.guarded({ signatures: mute(signs.clock) });
    const message = { method: "personal_sign", params: ["0x11", other.address] };
    expect((await signs.send(four, message as never))._tag).toBe("GuardRefused");
  }, 60_000);

  it("stays held, without blocking its turn, when a wallet never says more of a send", async () => {
    let isMute = false;
    const { guarded, send, clock } = walletOf(
      () => hidden,
      () => (isMute ? (clock.hurry(), new Promise(() => undefined)) : null),
    );
    const one = guarded({ deadline: 5_000 });
    expect((await send(one, pay(spare.address)))._tag).toBe("Unverified");
    isMute = true;
    inFlight(await send(one, pay(spare.address)));
  }, 60_000);

  it("is not held where the caller accepts a send that nobody shows", async () => {
    const asked: Array<unknown> = [];
    const rows = [
      ["accept", true],
      [(hash: unknown) => asked.push(hash) > 0, true],
      [() => Promise.resolve(true), true],
      ["reject", false],
      [() => false, false],
      [() => 1 as never, false],
      [() => Promise.reject(new Error("no")), false],
    ] as ReadonlyArray<readonly [NonNullable<GuardOptions["onUnverified"]>, boolean]>;
    for (const [onUnverified, isAccepted] of rows) {
      const { guarded, send } = walletOf(() => hidden);
      const one = guarded({ onUnverified, deadline: 5_000 });
      const first = await send(one, pay(spare.address));
      expect(first._tag).toBe(isAccepted ? `resolved ${hidden}` : "Unverified");
      if (!isAccepted) inFlight(await send(one, pay(spare.address)));
      else expect((await send(one, pay(spare.address)))._tag).toBe(`resolved ${hidden}`);
    }
    expect(asked).toEqual([hidden, hidden]);
    expect(() => guardProvider({ request: () => Promise.resolve(1) }, { onUnverified: "x" as never })).toThrow(
      "onUnverified",
    );
  }, 120_000);
});
