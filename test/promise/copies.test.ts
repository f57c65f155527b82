/** Whatever callers' functions do to what they are handed: no finding, verdict, request, policy or next caller's view changes. */
import { createWalletClient, encodeFunctionData, http, numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Policy, Report } from "evm-preflight";
import { createPreflight, guardProvider } from "evm-preflight/promise";
import { guard } from "evm-preflight/viem";
import { Token } from "../contracts/artifacts.js";
import { rejection } from "../guard/reasons.js";
import { nobody, other, owner, startAnvilScene, third, type Scene } from "../preflight/scene.js";

let scene: Scene;
let token: Hex;
beforeAll(async () => {
  scene = await startAnvilScene();
  token = await scene.deploy(Token, ["Dollar", "USD", 6]);
  const data = encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [other.address, 10n ** 12n] });
  await scene.pool(owner, { to: token, data });
  await scene.mine();
});
afterAll(() => scene.stop());

type Act = (part: object) => void;
/** Done to every object within what was handed over, the innermost first. */
const acts: Readonly<Record<string, Act>> = {
  "empties lists": (part) => void (Array.isArray(part) && (part.length = 0)),
  "changes fields": (part) => {
    for (const [name, value] of Object.entries(part)) {
      const other = { to: nobody, value: 77n, verdict: "ready", severity: "info", origin: "evil" }[name];
      if (typeof value !== "object") Reflect.set(part, name, other ?? (typeof value === "bigint" ? 1n : value));
    }
  },
  "adds to lists": (part) => void (Array.isArray(part) && part.push(part[0], { severity: "blocker", code: "x" })),
  "defines getters": (part) => {
    for (const name of Object.keys(part))
      Reflect.defineProperty(part, name, { get: () => (name === "to" ? nobody : undefined), configurable: true });
  },
  "changes prototypes": (part) => void Object.setPrototypeOf(part, { evil: true, toJSON: () => "evil" }),
  deletes: (part) => void Object.keys(part).forEach((name) => Reflect.deleteProperty(part, name)),
};
const done = (act: Act, value: unknown, seen = new Set<unknown>()): void => {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  for (const part of Object.values(value)) done(act, part, seen);
  act(value);
};

let spenders = 0n;
/** An approval without a limit, of somebody new each time. */
const approve = () => {
  const spender = numberToHex(0xabc000n + ++spenders, { size: 20 });
  const args = [spender, 2n ** 256n - 1n] as const;
  return {
    from: other.address,
    to: token,
    data: encodeFunctionData({ abi: Token.abi, functionName: "approve", args }),
  };
};
const dear = { from: other.address, to: nobody, value: 10n ** 30n } as const;
const chain = () => ({
  ...{ id: scene.chainId, name: "test", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 } },
  rpcUrls: { default: { http: [scene.url] } },
});
/** What of a report has nothing to do with when it was made. */
const lasting = ({ verdict, findings, transactions, transfers, approvals, digest }: Report.Report) => ({
  ...{ verdict, codes: findings.map(({ code, severity }) => [code, severity]), transfers, approvals },
  ...{ requests: transactions.map(({ request, input }) => ({ request, input })), isDigested: digest !== null },
});

describe.each(Object.entries(acts))("a caller's function that %s", (_, act) => {
  const spoil = (value: unknown) => done(act, value);
  const vandal = Policy.make("test/vandal", (report) => (spoil(report), Policy.pass));
  /** Sees what comes to whoever is asked next. */
  const watching = (seen: Array<unknown>) =>
    Policy.make("test/seen", (report) => (seen.push(lasting(report)), Policy.pass));

  it("cannot change the report or what the next policy sees", async () => {
    await using preflight = createPreflight({ url: scene.url });
    const named = (name: string) => ({ ...Policy.make(name, () => Policy.pass), name });
    for (const input of [approve(), dear]) {
      const [before, after]: [Array<unknown>, Array<unknown>] = [[], []];
      const honest = [named("a"), watching(before), Policy.all(named("b"), watching(before)), watching(before)];
      const raw = { ...vandal, evaluate: (report: Report.Report) => (spoil(report), Policy.pass) };
      const hostile = [raw, watching(after), Policy.all(vandal, watching(after)), watching(after)];
      const plain = await preflight.preflight(input, { policies: honest });
      const spoilt = await preflight.preflight(input, { policies: hostile });
      expect(lasting(spoilt)).toEqual(lasting(plain));
      expect([after, after.length > 0]).toEqual([before, true]);
      expect(Report.toJson(spoilt)).toMatchObject({ verdict: plain.verdict });
      expect(plain.verdict).toBe(input === dear ? "blocked" : "caution");
    }
  });

  it("gets no signature for a blocked report", async () => {
    let signed = 0;
    const account = {
      ...other,
      signTransaction: ((...given) => (signed++, other.signTransaction(...given))) as typeof other.signTransaction,
    };
    const policies = [vandal, { ...vandal, evaluate: (report: Report.Report) => (spoil(report), Policy.pass) }];
    const client = guard(createWalletClient({ account, chain: chain(), transport: http(scene.url) }), { policies });
    expect((await rejection(client.sendTransaction(dear as never)))._tag).toBe("NotCleared");
    expect(signed).toBe(0);
  });

  it("cannot change the cleared request of a wallet or key, when it is asked about a caution", async () => {
    const onCaution = (report: Report.Report) => (spoil(report), true);
    const handed: Array<Record<string, unknown>> = [];
    const wallet = {
      request: async ({
        method,
        params = [],
      }: {
        readonly method: string;
        readonly params?: ReadonlyArray<unknown>;
      }) => {
        if (method !== "eth_sendTransaction") return scene.ask(method, params);
        handed.push({ ...(params[0] as object) });
        const hash = await scene.ask(method, params);
        spoil(params);
        return hash;
      },
    };
    const one = guardProvider(wallet, { node: { url: scene.url }, onCaution });
    const asked = approve();
    expect((await rejection(one.request({ method: "eth_sendTransaction", params: [asked] } as never)))._tag).toMatch(
      /^resolved/,
    );
    expect(handed).toMatchObject([{ to: token, data: asked.data }]);
    await scene.mine();
    await using preflight = createPreflight({ url: scene.url });
    const { from, ...call } = approve();
    const told: Array<unknown> = [];
    const sent = await preflight.deliver((request, index) => {
      told.push([index, request.to, request.data]);
      return other.signTransaction(request as never);
    })({ from, ...call }, { onCaution });
    expect([told, sent.sent.length]).toEqual([[[0, call.to, call.data]], 1]);
    await scene.mine();
  });

  it("gets no other request past the clearance when it signs", async () => {
    await using preflight = createPreflight({ url: scene.url });
    const input = { from: other.address, to: third.address, value: 5n } as const;
    const spoiling = async (request: Report.Clearance["requests"][number]) => {
      const copy = { ...request };
      spoil(request);
      return other.signTransaction({ ...copy, to: nobody } as never);
    };
    const failure = await preflight
      .deliver(spoiling as never)(input)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ _tag: "SignedMismatch", field: "to" });
    // and its clearance is not the report's, nor the report the clearance's
    const report = await preflight.preflight(input);
    const clearance = await preflight.ready(report);
    const raw = await other.signTransaction(clearance.requests[0] as never);
    spoil(report);
    expect(Report.matches(clearance, [raw])).toBe(true);
  });

  it("cannot change what is signed when it is asked about a signature", async () => {
    const reached: Array<unknown> = [];
    const wallet = {
      request: ({ method, params = [] }: { readonly method: string; readonly params?: ReadonlyArray<unknown> }) =>
        method === "eth_signTypedData_v4" ? Promise.resolve(reached.push(params)) : scene.ask(method, params),
    };
    const signatures = (payload: unknown) => (spoil(payload), true);
    const one = guardProvider(wallet, { node: { url: scene.url }, signatures });
    const typed = { domain: { name: "x" }, message: { to: third.address, list: [1, 2] }, primaryType: "A", types: {} };
    const params = [other.address, typed];
    await one.request({ method: "eth_signTypedData_v4", params } as never);
    expect(reached).toEqual([params]);
  });

  it("cannot change the next event when it is told of calls or of a change", async () => {
    const told: Array<unknown> = [];
    let hash: unknown = null;
    const wallet = {
      request: async ({
        method,
        params = [],
      }: {
        readonly method: string;
        readonly params?: ReadonlyArray<unknown>;
      }) => {
        if (method === "wallet_getCallsStatus") return { status: 200, receipts: [{ transactionHash: hash }] };
        if (method === "wallet_sendCalls") {
          hash = await scene.pool(other, { to: third.address, value: 3n });
          return { id: "0x01" };
        }
        const [handed] = params as ReadonlyArray<object>;
        return method === "eth_sendTransaction"
          ? scene.ask(method, [{ ...handed, gas: "0x7530" }])
          : scene.ask(method, params);
      },
    };
    const onSettled = (settled: object) => {
      told.push(
        JSON.parse(
          JSON.stringify({ ...settled }, (__, value: unknown) => (typeof value === "bigint" ? `${value}` : value)),
        ),
      );
      spoil(settled);
    };
    const onChanged = (differences: unknown) => (spoil(differences), false);
    const one = guardProvider(wallet, { node: { url: scene.url }, onSettled, onChanged });
    const calls = [{ to: third.address, value: "0x3" }];
    const all = { version: "2.0.0", from: other.address, chainId: numberToHex(scene.chainId), calls };
    await one.request({ method: "wallet_sendCalls", params: [all] } as never);
    await scene.mine();
    for (let times = 0; times < 2; times++)
      await one.request({ method: "wallet_getCallsStatus", params: ["0x01"] } as never);
    expect([told[0], told.length]).toEqual([told[1], 2]);
    expect(told[0]).toMatchObject({ class: "same" });
    const pay = { from: other.address, to: nobody, value: "0x1" };
    const failure = await rejection(one.request({ method: "eth_sendTransaction", params: [pay] } as never));
    expect(failure).toMatchObject({ _tag: "Tampered", differences: [{ what: "request gas" }] });
    await scene.mine();
  });

  it("gets the right next head when it watches", async () => {
    await using preflight = createPreflight({ url: scene.url }, { heads: { pollMs: 20 } });
    const input = { from: owner.address, to: third.address, value: 5n } as const;
    const report = await preflight.preflight(input);
    const told: Array<unknown> = [];
    for await (const watched of preflight.watch(report)) {
      told.push([watched._tag, watched.head?.header.number !== undefined, watched.report.transactions[0]?.request?.to]);
      spoil(watched);
      spoil(report);
      if (told.length === 3) break;
      await scene.mine();
    }
    expect(told).toEqual(Array.from({ length: 3 }, () => ["Fresh", true, third.address.toLowerCase()]));
    const heads: Array<bigint> = [];
    for await (const head of preflight.watchHeads()) {
      heads.push(head.header.number);
      spoil(head);
      if (heads.length === 3) break;
      await scene.mine();
    }
    expect(heads.map((number) => number - (heads[0] ?? 0n))).toEqual([0n, 1n, 2n]);
  });
});
