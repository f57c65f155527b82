/** What callers without types hand in: a typed error that names the field, as a rejection, with nothing started. */
import * as Effect from "effect/Effect";
import { createClient, custom } from "viem";
import { afterAll, describe, expect, it } from "vitest";
import * as Errors from "../../src/Errors.js";
import * as Preflight from "../../src/Preflight.js";
import { createPreflight, guardProvider } from "../../src/promise.js";
import * as Report from "../../src/Report.js";
import * as Transaction from "../../src/Transaction.js";
import { guard, preflightActions } from "../../src/viem.js";
import { lane, sender, SimulatedChain } from "../nonces/chain.js";

const chain = new SimulatedChain();
const preflight = createPreflight({ layer: chain.layer() });
afterAll(() => preflight.dispose());

const { address: from } = sender;
const input = { from, to: from, value: 1n } as const;
const hash = `0x${"11".repeat(32)}` as const;

/** An object that throws whenever it is read. */
const thrower = (): never =>
  new Proxy(
    {},
    {
      get: () => {
        throw new Error("get");
      },
      ownKeys: () => {
        throw new Error("keys");
      },
    },
  ) as never;
const revoked = (): never => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy as never;
};
const bare = Object.create(null) as never;

const first = <A>(iterable: AsyncIterable<A>) => iterable[Symbol.asyncIterator]().next();

describe("a given signal", () => {
  const signs: Array<bigint> = [];
  const sign = async (nonce: bigint) => {
    signs.push(nonce);
    return "0x" as const;
  };
  const calls: Readonly<Record<string, (signal: never) => Promise<unknown>>> = {
    scan: (signal) => preflight.scan(input, { signal }),
    prove: (signal) => preflight.prove({} as never, { signal }),
    settle: (signal) => preflight.settle({} as never, [hash], { signal }),
    deliver: (signal) => preflight.deliver(input, sign as never, { signal }),
    withNonce: (signal) => preflight.withNonce(lane, sign, { signal }),
    replace: (signal) => preflight.nonces.replace(lane, 0n, hash, "0x", { signal }),
    bootstrap: (signal) => preflight.nonces.bootstrap(lane, { signal }),
    watch: (signal) => first(preflight.watch({} as never, { signal })),
    watchHeads: (signal) => first(preflight.watchHeads({ signal })),
    watchLogs: (signal) => first(preflight.watchLogs({}, { signal })),
  };
  it.each(Object.entries(calls))("of a wrong type is refused by %s, with nothing started", async (_, call) => {
    for (const signal of [{}, 5, "x", Symbol("x"), () => undefined, { aborted: false }, bare])
      await expect(call(signal as never)).rejects.toMatchObject({
        ...{ _tag: "InvalidTransaction", field: "options.signal", problem: "must be an AbortSignal" },
      });
    expect(signs).toEqual([]);
  });
  it("is absent where it is null", async () => {
    expect((await preflight.scan(input, { signal: null as never })).transactions).toHaveLength(1);
    expect((await first(preflight.watchHeads({ signal: null as never }))).done).toBe(false);
  });
});

describe("given options", () => {
  const calls: Readonly<Record<string, (options: never) => Promise<unknown>>> = {
    scan: (options) => preflight.scan(input, options),
    maxSendable: (options) => preflight.maxSendable(from, from, options),
    deliver: (options) => preflight.deliver(input, async () => "0x", options),
    withNonce: (options) => preflight.withNonce(lane, async () => "0x", options),
    watchHeads: (options) => first(preflight.watchHeads(options)),
  };
  it.each(Object.entries(calls))("of a wrong type, or unreadable, are refused by %s", async (_, call) => {
    for (const options of [5, [], "x".repeat(300_000), true])
      await expect(call(options as never)).rejects.toMatchObject({ field: "options", problem: "must be an object" });
    for (const options of [thrower(), revoked()])
      await expect(call(options)).rejects.toMatchObject({ field: "options", problem: "cannot be read" });
  });
});

describe("a given time", () => {
  it.each([[Symbol("x")], [bare], bare, Symbol("x"), () => 1, [1, Symbol("x")], {}])(
    "is refused if malformed: %#",
    async (time) => {
      for (const name of ["deadline", "maxAge", "feeHorizon"])
        await expect(preflight.scan(input, { [name]: time })).rejects.toMatchObject({
          ...{ _tag: "InvalidTransaction", field: expect.stringMatching(`^options(\\.${name})?$`) },
        });
    },
  );
});

describe("given overrides", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const throwing = Object.defineProperty({}, "balance", {
    enumerable: true,
    get: () => {
      throw new Error("get");
    },
  });
  it.each<readonly [object, string, string]>([
    [{ blockOverrides: { timestmp: 5n } }, "blockOverrides.timestmp", "is not a field here; did you mean time?"],
    [{ blockOverrides: { timestamp: 5n } }, "blockOverrides.timestamp", "did you mean time?"],
    [{ blockOverrides: { toString: 5n } }, "blockOverrides.toString", "is not a field here"],
    [{ blockOverrides: { timestmp: null } }, "blockOverrides.timestmp", "is not a field here; did you mean time?"],
    [{ blockOverrides: { time: 5 } }, "blockOverrides.time", "Expected bigint"],
    ...[new Date(), [], 5, "x", new Map()].flatMap((none) => [
      [{ blockOverrides: none }, "blockOverrides", "must be an object"] as const,
      [{ stateOverrides: none }, "stateOverrides", "must be an object"] as const,
      [{ stateOverrides: { [from]: none } }, `stateOverrides[${from}]`, "must be an object"] as const,
    ]),
    [{ blockOverrides: cyclic }, "blockOverrides.self", "is not a field here"],
    [{ stateOverrides: { me: {} } }, "stateOverrides", "me is not an address"],
    [{ stateOverrides: { [from]: { blance: 5n } } }, `stateOverrides[${from}].blance`, "did you mean balance?"],
    [{ stateOverrides: { [from]: cyclic } }, `stateOverrides[${from}].self`, "is not a field here"],
    [{ stateOverrides: { [from]: { code: 5 } } }, `stateOverrides[${from}].code`, "Expected"],
    ...[-5n, 10n ** 80n].flatMap((beyond) => [
      [{ block: beyond }, "block", "a bigint of 0 to 256 bits"] as const,
      [{ blockOverrides: { time: beyond } }, "blockOverrides.time", "Expected a value between"] as const,
      [{ stateOverrides: { [from]: { balance: beyond } } }, `stateOverrides[${from}].balance`, "between"] as const,
    ]),
  ])("are refused by the name of the fault: %#", async (options, field, problem) => {
    await expect(preflight.scan(input, options)).rejects.toMatchObject({
      ...{ _tag: "InvalidTransaction", field: `options.${field}`, problem: expect.stringContaining(problem) },
    });
  });
  it("are refused where they cannot be read", async () => {
    await expect(preflight.scan(input, { stateOverrides: { [from]: throwing } })).rejects.toMatchObject({
      ...{ field: "options", problem: "cannot be read" },
    });
  });
  it("are the object's own fields, not inherited ones", async () => {
    const inheriting = (fields: object): object => Object.create(Object.assign(Object.create(null), fields));
    const { options } = await preflight.scan(input, {
      stateOverrides: { [from]: inheriting({ balance: 5n }) },
      blockOverrides: inheriting({ time: 5n }),
    });
    expect([options.stateOverrides, options.blockOverrides]).toEqual([{ [from.toLowerCase()]: {} }, {}]);
  });
  it("survive JSON as they were given", async () => {
    const report = await preflight.scan(input, {
      ...{ block: 5n, blockOverrides: { time: 2n ** 64n, feeRecipient: from, gasLimit: undefined } },
      stateOverrides: { [from.toUpperCase().replace("0X", "0x")]: { balance: 2n ** 256n - 1n, nonce: 7 } },
    });
    const world = { block: 5n, blockOverrides: { time: 2n ** 64n, feeRecipient: from } };
    const kept = { ...world, stateOverrides: { [from.toLowerCase()]: { balance: 2n ** 256n - 1n, nonce: 7n } } };
    expect(report.options).toMatchObject(kept);
    const read = await Effect.runPromise(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(report)))));
    expect(read.options).toEqual(report.options);
  });
});

describe("the arguments of settle", () => {
  it.each<readonly [unknown, unknown, string]>([
    ...[undefined, null, hash, {}, [], [hash, hash]].map((hashes) => [hashes, {}, "hashes"] as const),
    ...[[null], ["0x12"], [Symbol("x")], Array.from({ length: 1 })].map((hashes) => [hashes, {}, "hashes[0]"] as const),
    ...[Number.NaN, -1, 0, Infinity, "300", "0x123", Symbol("x"), {}, [Symbol("x")], [bare], bare].map(
      (deadline) => [[hash], { deadline }, "options.deadline"] as const,
    ),
    ...[5, "x", []].map((options) => [[hash], options, "options"] as const),
    // what is left empty is no option, and hides none
    [[hash], { maxAge: undefined, deadlin: 5 }, "options.deadlin"],
  ])("are refused by name: %#", async (hashes, options, field) => {
    const report = await preflight.scan(input);
    const none = Preflight.settle(null as never, hashes as never, options as never);
    await expect(Effect.runPromise(Effect.provide(none, chain.layer()))).rejects.toMatchObject({
      ...{ _tag: "InvalidTransaction", field: "report" },
    });
    await expect(preflight.settle(report, hashes as never, options as never)).rejects.toMatchObject({
      ...{ _tag: "InvalidTransaction", field },
    });
  });
});

describe("a signer's answer", () => {
  const raw = (actual: string) => ({ _tag: "SignedMismatch", field: "raw", actual, mayBeSent: false });
  it.each([
    ["at once", () => "0x02", "0x02"],
    ...[undefined, null, 5, bare, [], Symbol("x"), () => 1].map((answer) => [
      `what is no text, ${typeof answer}`,
      async () => answer,
      typeof answer,
    ]),
    ["at once, and no text", () => bare, "object"],
  ] as ReadonlyArray<readonly [string, () => unknown, string]>)("is a typed mismatch: %s", async (_, sign, actual) => {
    await expect(preflight.withNonce(lane, sign as never)).rejects.toMatchObject(raw(actual));
  });
  it("fails with what a signer throws at once", async () => {
    const sign = (): never => {
      throw new RangeError("the device is away");
    };
    await expect(preflight.withNonce(lane, sign)).rejects.toThrow(RangeError);
  });
  it("may come without a promise", async () => {
    const keyed = { ...lane, key: 1n };
    const counts = () => ({ latest: 0n, pending: 0n });
    expect(await preflight.nonces.bootstrap(keyed, { settleMs: 0, counts: counts as never })).toBe(true);
  });
});

describe("the arguments of nonces", () => {
  const refused = (field: string) => ({ _tag: "InvalidLane", field, mayBeSent: false });
  const { replace } = preflight.nonces;
  it.each([undefined, null, 5, bare, Symbol("x")])("refuse malformed bytes to replace by: %#", async (raw) => {
    await expect(replace(lane, 0n, hash, raw as never)).rejects.toMatchObject({ _tag: "SignedMismatch", field: "raw" });
  });
  it.each([undefined, null, 5, "0x12", bare, Symbol("x")])(
    "refuse a malformed nonce and replaced hash: %#",
    async (it) => {
      await expect(replace(lane, it as never, hash, "0x02")).rejects.toMatchObject(refused("nonce"));
      await expect(replace(lane, 0n, it as never, "0x02")).rejects.toMatchObject(refused("replaces"));
    },
  );
  it.each([5, null, "x", { latest: "0x1", pending: "0x1" }, { latest: 0n }, bare])(
    "refuse wrong counts: %#",
    async (counts) => {
      const keyed = { ...lane, key: 2n };
      const asked = { settleMs: 0, counts: async () => counts as never };
      await expect(preflight.nonces.bootstrap(keyed, asked)).rejects.toMatchObject(refused("counts"));
      if (counts === null) return;
      await expect(preflight.nonces.bootstrap(keyed, { counts: counts as never })).rejects.toMatchObject(
        refused("counts"),
      );
      await expect(
        preflight.nonces.keep(keyed, { counts: { latest: 0n, pending: 0n } as never }),
      ).rejects.toMatchObject(refused("counts"));
      await expect(preflight.nonces.keep(keyed, { counts: counts as never })).rejects.toMatchObject(refused("counts"));
      await expect(preflight.withNonce(keyed, async () => "0x", { counts: counts as never })).rejects.toMatchObject(
        refused("counts"),
      );
    },
  );
  it("refuse a send that is no function", async () => {
    const send = "x" as never;
    await expect(preflight.withNonce(lane, async () => "0x", { send })).rejects.toMatchObject(refused("send"));
    await expect(preflight.nonces.keep(lane, { send })).rejects.toMatchObject(refused("send"));
  });
});

describe("the arguments of watch", () => {
  it.each([undefined, null, 5, [], bare, revoked].map((of) => [of]))("refuse a malformed report: %#", async (of) => {
    const report: unknown = of === revoked ? revoked() : of;
    await expect(first(preflight.watch(report as never))).rejects.toMatchObject({
      ...{ _tag: "InvalidTransaction", field: expect.stringMatching(/^report/) },
    });
  });
  it.each([undefined, null, "x", []])("refuse a malformed filter of logs: %#", async (filter) => {
    await expect(first(preflight.watchLogs(filter as never))).rejects.toMatchObject({ field: "filter" });
  });
  it.each([
    [{ adress: from }, "filter.adress: no such field; did you mean address?"],
    [{ address: from, fromBlock: 1n }, "filter.fromBlock: no such field"],
    [{ address: 5 }, "filter.address: not an address of 20 bytes"],
    [{ topics: [from] }, "filter.topics[0]: not hex of 32 bytes"],
  ])("refuse a wrong filter by its name, and do not watch all logs: %#", async (filter, detail) => {
    await expect(first(preflight.watchLogs(filter as never))).rejects.toMatchObject({
      ...{ _tag: "RpcError", message: expect.stringContaining(detail) },
      reason: { _tag: "InvalidParams", detail },
    });
  });
  it("accept null for no options", async () => {
    expect((await first(preflight.watchHeads(null as never))).done).toBe(false);
    const report = await preflight.scan(input);
    await expect(first(preflight.watch(report, null as never))).rejects.toMatchObject({ _tag: "NotProven" });
  });
});

describe("the arguments of createPreflight", () => {
  const url = "http://127.0.0.1:9";
  it.each<readonly [unknown, unknown, string]>([
    ...[undefined, null, Number.NaN, {}, "x"].map((endpoints) => [{ endpoints }, {}, "endpoints"] as const),
    [{ endpoints: Array.from({ length: 5 }) }, {}, "endpoints[0]"],
    [{ endpoints: [{ url: 5 }] }, {}, "endpoints[0].url"],
    [{ endpoints: [{ url, provider: 5 }] }, {}, "endpoints[0].provider"],
    ...[() => 1, () => undefined, () => ({})].map((transport) => [{ transport }, {}, "transport"] as const),
    ...[5, "x", []].map((defaults) => [{ url }, defaults, "defaults"] as const),
    ...["nonces", "log", "send", "heads"].flatMap((name) =>
      [Number.NaN, "x", 5].map((value) => [{ url }, { [name]: value }, name] as const),
    ),
  ])("are refused by the name of the fault: %#", (connection, defaults, field) => {
    expect(() => createPreflight(connection as never, defaults as never)).toThrow(
      expect.objectContaining({ _tag: "InvalidConnection", field }),
    );
  });
  it("are refused where the defaults cannot be read", () => {
    for (const defaults of [thrower(), revoked()])
      expect(() => createPreflight({ url }, defaults)).toThrow(
        expect.objectContaining({ _tag: "InvalidConnection", field: "defaults", problem: "cannot be read" }),
      );
  });
  it("are without defaults where these are null", async () => {
    const layer = chain.layer();
    for (const defaults of [null, { nonces: null, log: null, send: null, heads: null }]) {
      await using client = createPreflight({ layer }, defaults as never);
      expect((await client.scan(input)).transactions).toHaveLength(1);
    }
  });
});

describe("the arguments of viem's actions and of guards", () => {
  const client = createClient({ transport: custom({ request: async () => "0x1" }) });
  const makes: ReadonlyArray<readonly [string, string, (given: never) => unknown]> = [
    ["preflightActions", "defaults", (given) => preflightActions(given)(client)],
    ["guard", "options", (given) => guard(client, given)],
    ["guardProvider", "options", (given) => guardProvider({ request: async () => "0x1" }, given)],
  ];
  it.each(makes)("are refused by %s as malformed or unreadable options", (_, field, make) => {
    for (const given of [5, "x", []])
      expect(() => make(given as never)).toThrow(
        expect.objectContaining({ _tag: "InvalidConnection", field, problem: "must be an object" }),
      );
    for (const given of [thrower(), revoked()])
      expect(() => make(given)).toThrow(
        expect.objectContaining({ _tag: "InvalidConnection", field, problem: "cannot be read" }),
      );
    expect(make(null as never)).toBeTypeOf("object");
  });
  it.each<readonly [string, ReadonlyArray<unknown>, RegExp]>([
    ["onCaution", ["allow", "reject", 1, true, {}], /^must be "refuse", "send" or a function$/],
    ["signatures", ["send", "y", 1, true, []], /^must be "refuse", "allow", a function or \{ signIn, prove \}$/],
    ["onChanged", ["send", "allow", "refuse", true], /^must be "reject" or a function$/],
    ["onUnverified", ["log", 1, {}], /^must be "reject", "accept" or a function$/],
    ["onSettled", ["log", 1, {}], /^must be a function$/],
  ])("are refused for the rule %s in any other word than its own", (field, wrong, problem) => {
    for (const [, , make] of makes.slice(1))
      for (const rule of wrong)
        expect(() => make({ [field]: rule } as never)).toThrow(
          expect.objectContaining({ _tag: "InvalidConnection", field, problem: expect.stringMatching(problem) }),
        );
  });
  it("accept a rule's own words, a function, and null for none", () => {
    const rules = { onCaution: "send", signatures: "allow", onChanged: "reject", onUnverified: null, onSettled: null };
    for (const [, , make] of makes.slice(1)) {
      expect(make(rules as never)).toBeTypeOf("object");
      expect(make({ onCaution: () => true, signatures: "refuse", onChanged: () => true } as never)).toBeTypeOf(
        "object",
      );
    }
  });
});

describe("a report that is still JSON", () => {
  const doors: Readonly<Record<string, (report: never, whole: never) => unknown>> = {
    ready: (report) => preflight.ready(report),
    prove: (report) => preflight.prove(report),
    settle: (report) => preflight.settle(report, [hash]),
    watch: (report) => first(preflight.watch(report)),
    toText: async (report) => Report.toText(report),
    summary: async (report) => Report.summary(report),
    diff: async (report, whole) => Report.diff(report, whole),
    "diff, as the second": async (report, whole) => Report.diff(whole, report),
  };
  it.each(Object.entries(doors))("is refused by %s, which names the function that reads it", async (_, door) => {
    const report = await preflight.scan(input);
    const json = JSON.parse(JSON.stringify(Report.toJson(report)));
    await expect(door(json as never, report as never)).rejects.toMatchObject({
      ...{ _tag: "InvalidTransaction", field: "report", problem: expect.stringContaining("Report.fromJson") },
    });
  });
});

describe("the arguments of renderings", () => {
  const { toText, toMarkdown, toHtml, toSvg, summary } = Report;
  const renderings: Readonly<Record<string, (report: never, options: never) => string>> = {
    ...{ toText, toMarkdown, toHtml, toSvg, summary },
  };
  it.each(Object.entries(renderings))("are refused by %s unless they are a report", async (_, render) => {
    for (const report of [undefined, null, 5, {}, [], bare, revoked()])
      expect(() => render(report as never, {} as never)).toThrow(
        expect.objectContaining({ _tag: "InvalidTransaction", field: expect.stringMatching(/^report/) }),
      );
    const report = (await preflight.scan(input)) as never;
    expect(render(report, null as never)).toBe(render(report, {} as never));
  });
  it("are without ABIs and defaults where these are null", async () => {
    expect(Errors.decodeRevert("0x12345678", null as never, null as never)).toEqual(Errors.decodeRevert("0x12345678"));
    expect((await Effect.runPromise(Transaction.check(input, null as never))).transactions).toHaveLength(1);
  });
});

describe("an input that throws while it is read", () => {
  const getter = (name: string): never =>
    Object.defineProperty({ ...input }, name, {
      enumerable: true,
      get: () => {
        throw new Error("get");
      },
    }) as never;
  it("is refused as an input", async () => {
    const refused = { _tag: "InvalidTransaction", field: "transaction", problem: "cannot be read" };
    const alone = [getter("to"), getter("data"), getter("from"), thrower(), revoked()];
    for (const transaction of [...alone, [thrower()], [input, revoked()]]) {
      await expect(preflight.scan(transaction as never)).rejects.toMatchObject(refused);
      await expect(Effect.runPromise(Transaction.check(transaction))).rejects.toMatchObject(refused);
    }
  });
  it("is refused as an option, and inside of one", async () => {
    for (const options of [thrower(), revoked()])
      await expect(
        Effect.runPromise(Preflight.scan(input, options).pipe(Effect.provide(chain.layer()))),
      ).rejects.toMatchObject({ _tag: "InvalidTransaction", field: "options", problem: "cannot be read" });
    for (const name of ["abis", "stateOverrides", "tokens", "policies", "deadline", "block"])
      await expect(preflight.scan(input, { [name]: thrower() })).rejects.toMatchObject({
        ...{ _tag: "InvalidTransaction", field: expect.stringMatching(/^options/) },
      });
  });
});

describe("an input that is too long", () => {
  const item = { type: "function", name: "f", inputs: [], outputs: [], stateMutability: "view" };
  const soon = async (call: () => Promise<unknown>, field: string) => {
    const begun = process.cpuUsage();
    await expect(call()).rejects.toMatchObject({ _tag: "InvalidTransaction", field });
    // why: each took between one second and two
    expect(process.cpuUsage(begun).user).toBeLessThan(500_000);
  };
  it("is refused at once", async () => {
    const [zeros, abi] = [Array.from({ length: 1e6 }, () => 0), Array.from({ length: 100_000 }, () => item)];
    await soon(() => preflight.prove(zeros as never), "report");
    await soon(() => preflight.scan({ ...input, abi: zeros, functionName: "f" } as never), "abi");
    await soon(() => preflight.scan({ ...input, abi, functionName: "f" } as never), "abi");
    await soon(() => preflight.scan(input, { abis: zeros as never }), "options.abis");
    await soon(() => preflight.scan(input, { abis: abi as never }), "options.abis[0]");
    await soon(() => preflight.scan(input, { abis: [{ address: from, abi: abi as never }] }), "options.abis[0]");
    await soon(() => preflight.scan(input, "x".repeat(300_000) as never), "options");
  });
});
