/** Steps of a user's own at the Promise and viem doors: plain objects, for every verb of the door. */
import { createPublicClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Errors from "../../src/Errors.js";
import { createPreflight, type PlainStep } from "../../src/promise.js";
import * as Rpc from "../../src/Rpc.js";
import * as Step from "../../src/Step.js";
import type { Report } from "../../src/Report.js";
import { preflightActions } from "../../src/viem.js";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";
import { startProxy } from "../harness/proxy.js";
import { CurrentRun } from "../rooms/rpc.js";

let node: Node;
beforeAll(async () => {
  node = await startAnvil();
  await mineAnvil(node.url);
});
afterAll(() => node.stop());

const [alice, bob, carol] = [accounts[1], accounts[2], accounts[3]];
const native = { from: alice.address, to: bob.address, value: 1n };
const account = privateKeyToAccount(alice.privateKey);
const failing = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

/** What is sent to Carol is on a list, as the node says of a balance. */
const sanctions: PlainStep<ReadonlyArray<boolean>> = {
  name: "acme/sanctions",
  ask: async (bundle, { request }) => {
    expect(await request({ method: "eth_blockNumber" })).toMatch(/^0x/);
    // a block may be a number
    expect(await request({ method: "eth_getBalance", params: [carol.address, 0n] })).toMatch(/^0x/);
    return bundle.map(({ to }) => to?.toLowerCase() === carol.address.toLowerCase());
  },
  check: (_, { answer }) =>
    answer.flatMap((isListed, transaction) =>
      isListed ? [{ code: "acme/Listed", severity: "blocker", sentence: "on a list", transaction } as const] : [],
    ),
};
const ofStep = ({ findings }: Report, name: string) =>
  findings.filter(({ step }) => step === name).map(({ code, severity }) => `${code}/${severity}`);
const asked = ({ ledger }: Report) =>
  ledger.requests.flatMap(({ step, method, round }) => (step === "acme/sanctions" ? [`${round} ${method}`] : []));

/** An endpoint whose requests of logs end late: their own timer is later than the deadline, as it may be under load. */
const lagging = (url: string) =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (rpc) => ({
      ...rpc,
      request: (method, params) =>
        method === "eth_getLogs"
          ? Effect.updateService(rpc.request(method, params), CurrentRun, (run) => ({
              ...run,
              deadline: Number.POSITIVE_INFINITY,
            }))
          : rpc.request(method, params),
    })),
  ).pipe(Layer.provide(Rpc.layerHttp(url)));

describe("steps of the Promise entry", () => {
  it("send their requests in every verb, by the client's connection and ledger", async () => {
    await using preflight = createPreflight({ url: node.url, steps: [sanctions] });
    const scanned = await preflight.scan(native);
    expect([scanned.verdict, asked(scanned)]).toEqual(["ready", ["1 eth_blockNumber", "1 eth_getBalance"]]);
    const report = await preflight.run(native);
    expect([report.verdict, asked(report)]).toEqual([
      "ready",
      ["1 eth_blockNumber", "1 eth_getBalance", "2 eth_blockNumber", "2 eth_getBalance"],
    ]);
    expect(report.steps.with).toEqual(["acme/sanctions"]);
    expect((await preflight.ready(report)).requests).toHaveLength(1);

    await using plain = createPreflight({ url: node.url });
    const without = await plain.run(native);
    expect(await failing(preflight.ready(without))).toMatchObject({ missing: [{ reason: "StepMissing" }] });
    expect(await failing(plain.ready(without))).toBeNull();
    expect((await preflight.prove(without)).steps.with).toEqual(["acme/sanctions"]);
    expect((await plain.prove(report)).verdict).toBe("unknown");

    const blocked = await preflight.run({ ...native, to: carol.address });
    expect([blocked.verdict, blocked.because]).toEqual(["blocked", "on a list"]);
    expect(await failing(preflight.ready(blocked))).toBeInstanceOf(Errors.NotProven);
  });

  it("are left out of every verb", async () => {
    await using preflight = createPreflight({ url: node.url, without: ["approvals"], steps: [sanctions] });
    const report = await preflight.run(native);
    expect(report.steps).toEqual({ with: ["acme/sanctions"], without: ["approvals"] });
    expect([report.verdict, ofStep(report, "approvals")]).toEqual(["caution", ["LeftOut/warning"]]);
    expect((await preflight.ready(report)).requests).toHaveLength(1);
    const client = createPublicClient({ transport: http(node.url) }).extend(preflightActions({ without: ["funds"] }));
    const unfunded = await client.scan(native);
    expect([unfunded.verdict, unfunded.funds, ofStep(unfunded, "funds")]).toEqual([
      "unknown",
      [],
      ["LeftOut/unavailable"],
    ]);
    expect(() => createPreflight({ url: node.url, without: ["chain" as "code"] })).toThrow(Errors.InvalidStep);
  });

  it("stop a send that a step is against, and malformed ones too", async () => {
    await using preflight = createPreflight({ url: node.url, steps: [sanctions] });
    const deliver = preflight.deliver((request) => account.signTransaction(request));
    const refused = await failing(deliver({ ...native, to: carol.address }));
    expect(refused).toBeInstanceOf(Errors.NotProven);
    const { report, sent } = await deliver(native);
    expect([report.steps.with, sent.length]).toEqual([["acme/sanctions"], 1]);
  });

  it("run while watching", async () => {
    const counts = { ask: 0 };
    await using preflight = createPreflight({
      url: node.url,
      steps: [{ name: "acme/counting", ask: () => ++counts.ask, check: () => [] }],
    });
    const report = await preflight.run(native);
    const before = counts.ask;
    for await (const watched of preflight.watch(report)) {
      expect(watched).toMatchObject({ _tag: "Fresh" });
      break;
    }
    expect(counts.ask).toBe(before + 1);
    await using plain = createPreflight({ url: node.url });
    const iterator = preflight.watch(await plain.run(native))[Symbol.asyncIterator]();
    expect(await failing(iterator.next())).toMatchObject({ missing: [{ reason: "StepMissing" }] });
  });

  it("get the node's refusal as the tagged error; a step without an answer is reported", async () => {
    let refusal: unknown = null;
    await using preflight = createPreflight(
      {
        url: node.url,
        steps: [
          {
            name: "acme/refused",
            ask: async (_, { request }) => {
              refusal = await failing(request({ method: "acme_unknown" }));
              throw refusal;
            },
            check: () => [],
          },
          { name: "acme/hanging", ask: () => new Promise<void>(() => undefined), check: () => [] },
          { name: "acme/late", ask: async () => 1n, check: async () => [] as never } as unknown as PlainStep,
        ],
      },
      { deadline: 1_000 },
    );
    const report = await preflight.run(native);
    expect(refusal).toMatchObject({ _tag: "RpcError", reason: { _tag: "MethodNotSupported" } });
    for (const name of ["acme/refused", "acme/hanging", "acme/late"])
      expect(ofStep(report, name)).toEqual(["StepUnavailable/unavailable"]);
    expect(report.verdict).toBe("unknown");
  });

  it("have their hanging request in the ledger, too, and ended", async () => {
    const proxy = await startProxy({ target: node.url });
    proxy.fail("eth_getLogs", { kind: "hang" });
    let refusal: Promise<unknown> = Promise.resolve(null);
    await using preflight = createPreflight(
      {
        layer: lagging(proxy.url),
        steps: [
          {
            name: "acme/hanging",
            ask: (_, { request }) => (refusal = failing(request({ method: "eth_getLogs", params: [{}] }))),
            check: () => [],
          },
        ],
      },
      { deadline: 700 },
    );
    const report = await preflight.scan(native);
    expect(await refusal).toMatchObject({ _tag: "InvalidStep", field: "request" });
    expect(report.ledger.requests.flatMap(({ step, method }) => (step === "acme/hanging" ? [method] : []))).toEqual([
      "eth_getLogs",
    ]);
    expect(report.findings.find(({ step }) => step === "acme/hanging")?.numbers).toMatchObject([
      {},
      { name: "because", value: "no answer within the deadline, eth_getLogs" },
    ]);
    await proxy.stop();
  });

  it("are named when they send a malformed request, or one after the run", async () => {
    const refusals: Array<unknown> = [];
    let late: (() => Promise<unknown>) | undefined;
    await using preflight = createPreflight({
      url: node.url,
      steps: [
        {
          name: "acme/odd",
          ask: async (_, { request }) => {
            late = () => request({ method: "eth_chainId" });
            for (const odd of [{}, undefined, { method: "" }, { method: "eth_chainId", params: {} }])
              refusals.push(await failing((request as (asked: unknown) => Promise<unknown>)(odd)));
          },
          check: () => [],
        },
      ],
    });
    expect((await preflight.scan(native)).verdict).toBe("ready");
    refusals.push(await failing(late?.() ?? Promise.resolve()));
    expect(refusals.map((error) => [(error as Errors.InvalidStep)._tag, (error as Errors.InvalidStep).field])).toEqual([
      ["InvalidStep", "request.method"],
      ["InvalidStep", "request.method"],
      ["InvalidStep", "request.method"],
      ["InvalidStep", "request.params"],
      ["InvalidStep", "request"],
    ]);
  });

  it("send bigints of a request as quantities, however deep, and nothing that is no JSON", async () => {
    const answers: Array<unknown> = [];
    const strange: Array<unknown> = [];
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    class Latest {
      toJSON() {
        return "latest";
      }
    }
    await using preflight = createPreflight({
      url: node.url,
      steps: [
        {
          name: "acme/deep",
          ask: async (_, { request }) => {
            const call = { from: alice.address, to: bob.address, value: 16n };
            const over = { [alice.address]: { balance: 15n } };
            answers.push(await request({ method: "eth_call", params: [call, "latest"] }));
            answers.push(await request({ method: "eth_call", params: [call, new Latest()] }));
            answers.push(await failing(request({ method: "eth_call", params: [call, "latest", over] })));
            answers.push(await failing(request({ method: "eth_call", params: [circle] })));
            answers.push(await failing(request({ method: "eth_call", params: [{ ...call, value: -1n }] })));
            answers.push(await failing(request({ method: "eth_call", params: [new Map([["to", bob.address]])] })));
            for (const part of [undefined, Number.NaN, Infinity, Symbol("x"), () => 1])
              for (const params of [[call, part], [call, [part]], part === undefined ? [part, call] : [{ to: part }]])
                strange.push(await failing(request({ method: "eth_call", params })));
            answers.push(await request({ method: "eth_call", params: [{ ...call, gas: undefined }, "latest"] }));
          },
          check: () => [],
        },
      ],
    });
    await preflight.scan(native);
    expect(answers).toMatchObject([
      "0x",
      "0x",
      { _tag: "InsufficientFunds", raw: expect.anything() },
      { _tag: "InvalidStep", field: "request.params" },
      { _tag: "InvalidStep", field: "request.params" },
      { _tag: "InvalidStep", field: "request.params" },
      "0x",
    ]);
    expect(strange).toMatchObject(Array.from({ length: 15 }, () => ({ _tag: "InvalidStep", field: "request.params" })));
  });

  it("cannot end the program by a request that nobody waits for", async () => {
    await using preflight = createPreflight({
      url: node.url,
      steps: [
        {
          name: "acme/two",
          ask: async (_, { request }) => {
            const [first, second] = [request({ method: "acme_one" }), request({ method: "acme_two" })];
            await first;
            await second;
          },
          check: () => [],
        },
      ],
    });
    // a rejection that nobody hears fails the run of the tests
    expect(ofStep(await preflight.scan(native), "acme/two")).toEqual(["StepUnavailable/unavailable"]);
  });

  it("are refused where they are made when malformed, whatever the way to the node", () => {
    const steps = [{ name: "acme" as "a/b", check: () => [] }];
    for (const make of [
      () => createPreflight({ url: node.url, steps }),
      () => createPreflight({ layer: Rpc.layerHttp(node.url), steps }),
      () => createPreflight({ client: createPublicClient({ transport: http(node.url) }), steps }),
      () => createPublicClient({ transport: http(node.url) }).extend(preflightActions({ steps })),
      () => createPreflight({ url: node.url, steps: "acme/a" as never }),
    ])
      expect(make).toThrow(Errors.InvalidStep);
  });

  it("do not pass by a malformed answer", async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.boolean(), async (junk, isAnswer) => {
        await using preflight = createPreflight({
          url: node.url,
          steps: [
            {
              name: "acme/junk",
              ask: async () => junk,
              looks: () => (isAnswer ? [] : [junk]) as never,
              check: (_, { answer }) => (isAnswer ? answer : []) as never,
            },
          ],
        });
        const { verdict, findings } = await preflight.scan(native);
        const isNothing = isAnswer && Array.isArray(junk) && junk.length === 0;
        expect(verdict).toBe(isNothing ? "ready" : "unknown");
        expect(findings.filter(({ step }) => step === "acme/junk").length > 0).toBe(!isNothing);
      }),
      { numRuns: 25 },
    );
  });
});

describe("steps of the viem entry", () => {
  it("run in all its actions", async () => {
    const price = Step.account(bob.address);
    const client = createPublicClient({ transport: http(node.url) }).extend(
      preflightActions({
        steps: [
          {
            name: "acme/richer",
            looks: () => [price],
            check: (_, { before, after }) =>
              (after.account(bob.address)?.balance ?? 0n) > (before.account(bob.address)?.balance ?? 0n)
                ? [Step.warning("acme/Richer", "bob gets richer")]
                : [],
          },
        ],
      }),
    );
    const report = await client.preflight(native);
    expect([report.verdict, report.because]).toEqual(["caution", "bob gets richer"]);
    expect((await client.prove(report)).verdict).toBe("caution");
    expect((await client.ready(report)).requests).toHaveLength(1);
    const plain = await createPublicClient({ transport: http(node.url) })
      .extend(preflightActions())
      .preflight(native);
    expect(await failing(client.ready(plain))).toMatchObject({ missing: [{ reason: "StepMissing" }] });
  });
});
