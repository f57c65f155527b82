/** A step of a user's own in the pipeline: asked in the same round, told by its name, and never a pass where it fails. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as Stream from "effect/Stream";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as Errors from "../../src/Errors.js";
import * as Eth from "../../src/Eth.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import * as Step from "../../src/Step.js";
import { startAnvil } from "../harness/anvil.js";
import { startProxy, type Proxy } from "../harness/proxy.js";
import { CurrentRun } from "../rooms/rpc.js";
import { Token } from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { furnish } from "./furnished.js";
import {
  calldata,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  readiness,
  severe,
  startAnvilScene,
  third,
  type Scene,
} from "./scene.js";

let scene: Scene;
let token: `0x${string}`;
const open: Array<Proxy> = [];
beforeAll(async () => {
  ({ scene, token } = await furnish(startAnvilScene));
});
afterEach(async () => {
  for (const proxy of open.splice(0)) await proxy.stop();
});
afterAll(() => scene?.stop());

const transfer = () => ({ from: owner.address, to: token, data: calldata(Token, "transfer", [other.address, 5n]) });
const native = { from: owner.address, to: other.address, value: 1n };
const on = <A, E>(effect: Effect.Effect<A, E, Rpc.Rpc>, layer = layerOf(scene.url)) =>
  Effect.runPromise(Effect.provide(effect, layer));
const ofStep = (report: Report.BundleReport, name: string) =>
  report.findings.filter(({ step }) => step === name).map(({ code, severity }) => `${code}/${severity}`);

/** Reads a registry that anvil has at any place: whether the receiver is on it. */
const registry = (at: `0x${string}`) =>
  Step.make({
    name: "acme/sanctions",
    ask: (bundle, { block }) =>
      Effect.forEach(
        bundle,
        ({ to }) => Eth.call({ block, to: at, data: `0x70a08231${(to ?? nobody).slice(2).padStart(64, "0")}` }),
        {
          concurrency: "unbounded",
        },
      ),
    check: (_, { answer }) =>
      answer.flatMap((balance, transaction) =>
        BigInt(balance) === 0n ? [] : [Step.blocker("acme/Listed", "the receiver is on a list", { transaction })],
      ),
  });

const asText = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

const saying = (finding: Step.Finding) => Step.make({ name: "acme/says", check: () => [finding] });

/** The balances of the receivers, by requests as data. */
const receivers = (read: (result: unknown) => bigint, method = "eth_getBalance") =>
  Step.make({
    name: "acme/receivers",
    requests: (bundle, { block }) =>
      bundle.map(({ to }) => ({
        method,
        params: [to, typeof block === "bigint" ? `0x${block.toString(16)}` : block],
        read,
      })),
    check: (_, { answer }) =>
      answer.map((balance, transaction) =>
        Step.info("acme/Holds", "the receiver has native currency", {
          transaction,
          numbers: [{ name: "balance", unit: "wei", value: balance }],
        }),
      ),
  });

describe("the requests of a caller's step", () => {
  it("go out with the first round of a scan and of a proof, and its answer reads their results", async () => {
    const mine = Preflight.make({ steps: [receivers((result) => BigInt(String(result)))] });
    const report = await on(mine.preflight([native, { ...native, to: third.address }]));
    const told = report.findings.filter(({ step }) => step === "acme/receivers");
    expect(told.map(({ transaction, numbers }) => [transaction, typeof numbers[0]?.value])).toEqual([
      [0, "bigint"],
      [1, "bigint"],
    ]);
    const asked = report.ledger.requests.filter(({ step }) => step === "acme/receivers");
    expect(asked.map(({ round, method }) => `${round} ${method}`)).toEqual([
      ...["1 eth_getBalance", "1 eth_getBalance"],
      ...["2 eth_getBalance", "2 eth_getBalance"],
    ]);
  });

  it.each([
    [
      "whose answer cannot be read",
      receivers(() => BigInt("none")),
      "requests[0].read threw: Cannot convert none to a BigInt",
    ],
    ["that the node refuses", receivers(() => 0n, "eth_nothing"), "eth_nothing"],
    ["that are no list", { name: "acme/receivers", requests: () => "none", check: () => [] }, "must return a list"],
    [
      "that are none",
      { name: "acme/receivers", requests: () => [{ method: 1 }], check: () => [] },
      "requests[0] must be",
    ],
    [
      "that are too many",
      { name: "acme/receivers", requests: () => Array.from({ length: 65 }, () => ({})), check: () => [] },
      "at most 64",
    ],
  ])("make the step unavailable where they are wrong: %s", async (_, step, why) => {
    const report = await on(Preflight.make({ steps: [step as never] }).preflight(native));
    expect([report.verdict, ofStep(report, "acme/receivers")]).toEqual(["unknown", ["StepUnavailable/unavailable"]]);
    expect(
      JSON.stringify(
        report.findings.find(({ step: by }) => by === "acme/receivers"),
        asText,
      ),
    ).toContain(why);
  });

  it("are refused beside `ask`", () => {
    const both = { name: "acme/both", ask: () => Effect.succeed([]), requests: () => [], check: () => [] } as const;
    expect(() => Preflight.make({ steps: [both] })).toThrowError(
      new Errors.InvalidStep({ field: "steps[0].requests", problem: "cannot be combined with ask" }),
    );
  });
});

describe("a caller's step", () => {
  it("asks in the first round of a scan and of a proof, once in each, under its name", async () => {
    const proxy = await startProxy({ target: scene.url, inRounds: true });
    open.push(proxy);
    const mine = Preflight.make({ steps: [registry(token)] });
    const report = await on(mine.preflight(transfer()), layerOf(proxy.url));
    const calls = proxy.seen.filter(({ method }) => method === "eth_call");
    expect(calls.map(({ round }) => round)).toEqual([0, 1]);
    expect(report.ledger.rounds).toBe(2);
    expect(
      report.ledger.requests.flatMap(({ step, method, round, because }) =>
        step === "acme/sanctions" ? [`${round} ${method} ${because}`] : [],
      ),
    ).toEqual(["1 eth_call null", "2 eth_call proof"]);
    // the token's contract has none of the token
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    expect(report.steps).toEqual({ with: ["acme/sanctions"], without: [] });
    expect((await on(mine.ready(report))).requests).toHaveLength(1);
  });

  it("sends its requests with the others before any answer, also for a report from outside", async () => {
    const proxy = await startProxy({ target: scene.url, inRounds: true });
    open.push(proxy);
    const plain = await on(Preflight.scan(native));
    const mine = Preflight.make({ steps: [registry(token)] });
    for (const asked of [mine.scan(native), mine.prove(plain)]) {
      proxy.reset();
      await on(asked, layerOf(proxy.url));
      const calls = proxy.seen.filter(({ method }) => method === "eth_call");
      expect(calls.map(({ round }) => round)).toEqual([0]);
    }
  });

  it("is not called again where a scan begins anew, and a proof is made of a wider limit", async () => {
    const stages: Array<string> = [];
    const counting = Step.make({
      name: "acme/counting",
      ask: (_, { stage }) => Effect.sync(() => void stages.push(stage)),
      check: () => [],
    });
    const mine = Preflight.make({ steps: [counting] });
    const proxy = await startProxy({ target: scene.url });
    open.push(proxy);
    // no pending state: the scan begins anew on the latest block
    const message = "pending block is not available";
    proxy.fail("eth_simulateV1", { kind: "error", error: { code: -32000, message } }, 2);
    const anew = await on(mine.preflight(native), layerOf(proxy.url));
    expect(anew.ledger.requests.map(({ because }) => because)).toContain("noPending");
    expect([stages.splice(0), anew.verdict]).toEqual([["scan", "proof"], "ready"]);

    // adds one to each of forty words; others' pending transaction has warmed them from zero
    const counters = await scene.deploy({ abi: [], bytecode: creation("60285b60019003805460010181558060025700") });
    await scene.send(third, { to: counters });
    const wider = await on(mine.preflight({ from: owner.address, to: counters }));
    await scene.mine();
    expect(codesOf(wider)).toContain("GasLimitWidened/info");
    expect([stages, wider.verdict]).toEqual([["scan", "proof"], "ready"]);
  });

  it("gets the time and the place at which it is called", async () => {
    const told: Array<Step.Context> = [];
    const telling = Step.make({
      name: "acme/telling",
      ask: (_, context) => Effect.sync(() => void told.push(context)),
      check: () => [],
    });
    const report = await on(Preflight.make({ steps: [telling] }).preflight(native));
    expect(told.map(({ stage, chainId, block }) => [stage, chainId, block])).toEqual([
      ["scan", null, "pending"],
      ["proof", 31_337, "pending"],
    ]);
    // the run is over
    expect(told.every(({ signal }) => signal.aborted)).toBe(true);
    expect(report.verdict).toBe("ready");
  });

  it("makes no clearance younger than its own answers, however long it takes", async () => {
    const slow = Step.make({ name: "acme/slow", ask: () => Effect.sleep(700), check: () => [] });
    const mine = Preflight.make({ steps: [slow] });
    const begun = Date.now();
    const scanned = await on(mine.scan(native));
    expect([scanned.verdict, scanned.observed.at - begun < 600]).toEqual(["ready", true]);
    expect(scanned.ledger.ms).toBeGreaterThanOrEqual(690);
    const proven = await on(mine.prove(scanned));
    expect([proven.verdict, Date.now() - proven.observed.at >= 500]).toEqual(["ready", true]);
  });

  it("blocks, warns and informs; its findings count, and policies see them", async () => {
    const remedy = "ask acme";
    const numbers = [{ name: "score", unit: "count", value: 7n }] as const;
    const of = (finding: Step.Finding) => on(Preflight.make({ steps: [saying(finding)] }).preflight(native));
    const blocked = await of(Step.blocker("acme/Listed", "on a list", { remedy, numbers, transaction: 0 }));
    expect([blocked.verdict, blocked.because, blocked.stage]).toEqual(["blocked", "on a list", "scanned"]);
    expect(blocked.findings.find(({ step }) => step === "acme/says")).toMatchObject({
      remedy,
      numbers,
      transaction: 0,
    });
    expect(await readiness(blocked)).toMatchObject({ failure: { _tag: "NotProven" } });
    const warned = await of(Step.warning("acme/Odd", "odd"));
    expect([warned.verdict, warned.because, warned.stage]).toEqual(["caution", "odd", "proven"]);
    const told = await of(Step.info("acme/Known", "known"));
    expect([told.verdict, ofStep(told, "acme/says")]).toEqual(["ready", ["acme/Known/info"]]);
    const wordless = await of(Step.blocker("acme/Listed", "  "));
    expect([wordless.verdict, wordless.because]).toEqual(["blocked", "acme/Listed"]);
    // the last, in the order of the pipeline
    expect(told.findings.at(-1)?.step).toBe("acme/says");
    const seeing = Policy.make("no acme", ({ findings }) =>
      findings.some(({ code }) => code === "acme/Known") ? Policy.fail("seen") : Policy.pass,
    );
    const judged = await on(
      Preflight.make({ steps: [saying(Step.info("acme/Known", "known"))] }).preflight(native, { policies: [seeing] }),
    );
    expect(severe(judged)).toEqual(["PolicyViolation/blocker"]);
  });

  it("reads by the witness before and after, in both simulated blocks, without a request", async () => {
    const balance = Step.balanceOf(token, other.address as `0x${string}`);
    const seen: Array<readonly [stage: string, before: bigint, after: bigint, native: boolean]> = [];
    const looking = Step.make({
      name: "acme/price",
      looks: ([{ to }]) => [balance, Step.account(to ?? nobody)],
      check: (report, { before, after, answer }) => {
        expect(answer).toBeUndefined();
        const [one, two] = [before, after].map((view) => BigInt(view.call(balance)?.data ?? "0x0"));
        seen.push([report.stage, one ?? 0n, two ?? 0n, after.account(token) !== null]);
        return [Step.info("acme/Price", "the price", { numbers: [{ name: "", unit: "count", value: two ?? 0n }] })];
      },
    });
    const plain = await on(Preflight.preflight(transfer()));
    const report = await on(Preflight.make({ steps: [looking] }).preflight(transfer()));
    expect(report.ledger.requests).toHaveLength(plain.ledger.requests.length);
    expect(seen.map(([stage]) => stage)).toEqual(["scanned", "proven", "proven"]);
    for (const [, before, after, isSeen] of seen) expect([after - before, isSeen]).toEqual([5n, true]);
    // both worlds say the same: once
    expect(ofStep(report, "acme/price")).toEqual(["acme/Price/info"]);
    expect(report.verdict).toBe("ready");
  });

  it("judges the blocks between, too: a finding in one of them counts", async () => {
    // what reads the time has worlds between: one answers with it, one says it in an event
    const clock = await scene.deploy({ abi: [], bytecode: creation("425f5260205ff3") });
    const teller = await scene.deploy({ abi: [], bytecode: creation("425f5260205fa0") });
    const time = Step.staticCall(clock, "0x", 100_000, 32);
    const times: Array<bigint> = [];
    const telling = Step.make({
      name: "acme/time",
      looks: () => [time],
      check: ({ stage, transactions }, { before }) => {
        const now = BigInt(before.call(time)?.data ?? "0x0");
        // what it says in an event is that of the same world
        expect(BigInt(transactions[0]?.outcome.logs[0]?.data ?? "0x0")).toBe(now);
        if (stage === "scanned") return [];
        times.push(now);
        const [exact = now, next = now] = times;
        return now > next && now < exact ? [Step.warning("acme/Between", "in between")] : [];
      },
    });
    const report = await on(Preflight.make({ steps: [telling] }).preflight({ from: owner.address, to: teller }));
    const between = report.ledger.requests.filter(({ run }) => run === "between" || run === "twin");
    expect([between.length > 0, times.length]).toEqual([true, 2 + between.length]);
    expect([report.verdict, ofStep(report, "acme/time")]).toEqual(["caution", ["acme/Between/warning"]]);
  });

  it("gets the same answer in each simulated block, whatever it does with it", async () => {
    class Hits {
      readonly list = [3];
    }
    class Names extends Set<string> {
      readonly of = "acme";
      override has(name: string): boolean {
        return super.has(name.toLowerCase());
      }
      override add(name: string): this {
        return super.add(name.toLowerCase());
      }
    }
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const own = Symbol("own");
    const answers = () => ({
      list: [1, 2],
      map: new Map([["a", [1]]]),
      set: new Set([1]),
      bytes: Uint8Array.of(1),
      // its `slice` shares the memory
      buffer: Buffer.from([1]),
      memory: Uint8Array.of(1, 2).buffer,
      words: Uint16Array.of(256),
      pattern: /a/gu,
      names: new Names(["Alice"]),
      date: new Date(5),
      hits: new Hits(),
      circle,
      [own]: [1],
    });
    const seen: Array<unknown> = [];
    const emptying = Step.make({
      name: "acme/emptying",
      ask: () => Effect.sync(answers),
      check: (_, { answer }) => {
        expect(answer).toEqual(answers());
        expect([answer.buffer.toString("hex"), new Uint8Array(answer.memory).length]).toEqual(["01", 2]);
        expect([answer.names.has("ALICE"), answer.names.of, "a".match(answer.pattern)?.length]).toEqual([
          true,
          "acme",
          1,
        ]);
        expect(answer.circle.self).toBe(answer.circle);
        seen.push(answer.hits instanceof Hits);
        const found = answer.list.splice(0).map(() => Step.warning("acme/Hit", "a hit"));
        for (const part of [answer.map.get("a"), answer.hits.list, answer[own]]) part?.splice(0);
        for (const part of [answer.map, answer.set, answer.names]) part.clear();
        for (const part of [answer.bytes, answer.buffer, answer.words, new Uint8Array(answer.memory)]) part.fill(0);
        answer.date.setTime(0);
        answer.circle.self = null;
        return found;
      },
    });
    const mine = Preflight.make({ steps: [emptying] });
    const report = await on(mine.preflight(native));
    expect([report.stage, report.verdict, seen]).toEqual(["proven", "caution", [true, true, true]]);
    expect(ofStep(report, "acme/emptying")).toEqual(["acme/Hit/warning"]);
  });

  it("does not change our answers, whatever it looks at", async () => {
    const starved = Step.make({
      name: "acme/starved",
      looks: () => [Step.staticCall(token, Step.balanceOf(token, other.address).data, 1, 1)],
      check: () => [],
    });
    const [plain, mine] = [
      await on(Preflight.preflight(transfer())),
      await on(Preflight.make({ steps: [starved] }).preflight(transfer())),
    ];
    expect([mine.balanceChanges, mine.verdict]).toEqual([plain.balanceChanges, plain.verdict]);
  });

  it("does not starve our answers, though its looks burn all their gas", async () => {
    const endless = "0x00000000000000000000000000000000dead00f1";
    await scene.ask("anvil_setCode", [endless, "0x5b600056"]);
    const burning = Step.make({
      name: "acme/burning",
      looks: () =>
        Array.from({ length: 30 }, (_, index) =>
          Step.staticCall(endless, `0x0${index % 10}0${index % 7}`, 990_000, 32),
        ),
      check: () => [],
    });
    const approve = {
      from: owner.address,
      to: token,
      data: calldata(Token, "approve", [third.address, 2n ** 256n - 1n]),
    };
    const [plain, mine] = [
      await on(Preflight.preflight(approve)),
      await on(Preflight.make({ steps: [burning] }).preflight(approve)),
    ];
    const ours = (report: Report.BundleReport) =>
      codesOf({ ...report, findings: report.findings.filter(({ step }) => step !== "acme/burning") });
    expect([ours(mine), mine.approvals, mine.balanceChanges]).toEqual([
      ours(plain),
      plain.approvals,
      plain.balanceChanges,
    ]);
  });

  it("stays as it was when its pipeline was made, and hides no finding of ours", async () => {
    const flood = Array.from({ length: 256 }, (_, index) =>
      Step.blocker(`acme/n${index}`, "x".repeat(1_000), {
        numbers: [{ name: "n", unit: "count", value: BigInt(index) }],
      }),
    );
    const step = { name: "acme/flood" as const, check: () => flood };
    const pipeline = Preflight.make({ steps: [step] });
    Object.assign(step, { name: "bad", check: () => [] });
    const never = Policy.make("never", () => Policy.fail("never"));
    const begun = performance.now();
    const report = await on(pipeline.preflight(native, { policies: [never] }));
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect([report.verdict, report.steps.with]).toEqual(["blocked", ["acme/flood"]]);
    expect(codesOf(report)).toContain("PolicyViolation/blocker");
  });

  it("takes no room from our answers, whatever it reads", async () => {
    const wordy = "0x00000000000000000000000000000000dead00f2";
    // returns two MiB of zeros
    await scene.ask("anvil_setCode", [wordy, "0x622000006000f3"]);
    const reading = Eth.call({ to: wordy, data: "0x", block: "latest" });
    const chatty = Step.make({
      name: "acme/chatty",
      ask: () => Effect.ignore(Effect.all([reading, reading, reading, reading], { concurrency: "unbounded" })),
      check: () => [],
    });
    const report = await on(Preflight.make({ steps: [chatty] }).preflight(native));
    expect([report.verdict, codesOf(report)]).toEqual(["ready", codesOf(await on(Preflight.preflight(native)))]);
    expect(report.ledger.requests.filter(({ step }) => step === "acme/chatty")).toHaveLength(8);
  });

  it("cannot make another chain's block our newest, and has its name on all its requests", async () => {
    const far = await startAnvil({ args: ["--number", "100000"] });
    const elsewhere = Step.make({
      name: "acme/elsewhere",
      ask: () =>
        Effect.all([
          Effect.ignore(Effect.provide(Preflight.simulate(native), layerOf(far.url))),
          Effect.ignore(Preflight.estimateGas(native)),
        ]),
      check: () => [],
    });
    const plain = await on(Preflight.preflight(native));
    const report = await on(Preflight.make({ steps: [elsewhere] }).preflight(native));
    await far.stop();
    expect([report.verdict, codesOf(report)]).toEqual(["ready", codesOf(plain)]);
    const ours = ({ ledger }: Report.BundleReport) =>
      ledger.requests.filter(({ step }) => step !== "acme/elsewhere").length;
    expect(ours(report)).toBe(ours(plain));
  });

  it("gets the block that its proof stands on", async () => {
    const told: Array<readonly [stage: string, block: unknown]> = [];
    const listening = Step.make({
      name: "acme/listening",
      ask: (_, { stage, block }) => Effect.sync(() => void told.push([stage, block])),
      check: () => [],
    });
    const nonce = await scene.count(third.address);
    await scene.pool(third, { to: nobody, value: 1n, nonce });
    const replacing = { from: third.address, to: other.address, value: 1n, nonce, maxFeePerGas: 10n ** 12n };
    const report = await on(
      Preflight.make({ steps: [listening] }).preflight({ ...replacing, maxPriorityFeePerGas: 10n ** 11n }),
    );
    await scene.mine();
    expect(report.observed.blockTag).toBe("latest");
    expect(told).toEqual([
      ["scan", "pending"],
      ["proof", "latest"],
    ]);
  });

  it("needs the services that its verbs then need", async () => {
    class Lists extends Context.Service<Lists, { readonly has: (address: string) => Effect.Effect<boolean> }>()(
      "Lists",
    ) {}
    const listed = Step.make({
      name: "acme/lists",
      ask: ([{ to }]) => Effect.flatMap(Lists, ({ has }) => has(to ?? "")),
      check: (_, { answer }) => (answer ? [Step.blocker("acme/Listed", "on a list")] : []),
    });
    const mine = Preflight.make({ steps: [listed] });
    const lists = Layer.succeed(Lists, {
      has: (address) => Effect.succeed(address === other.address.toLowerCase() || address === other.address),
    });
    const report = await on(Effect.provide(mine.scan(native), lists));
    expect(severe(report)).toEqual(["acme/Listed/blocker"]);
    const reserved = mine.reserving(() => Effect.succeed([null]));
    expect((await on(Effect.provide(reserved(native), lists))).verdict).toBe("blocked");
  });

  it("survives JSON in a report, and stands in the JSON schema", async () => {
    const report = await on(Preflight.make({ steps: [saying(Step.warning("acme/Odd", "odd"))] }).scan(native));
    const json: unknown = JSON.parse(JSON.stringify(Report.toJson(report)));
    expect(await Effect.runPromise(Report.fromJson(json))).toEqual(report);
    const wrong = { ...(json as object), steps: { with: ["acme"], without: [] } };
    expect(Result.isFailure(await Effect.runPromise(Effect.result(Report.fromJson(wrong))))).toBe(true);
    const older = await Effect.runPromise(Effect.flip(Report.fromJson({ ...(json as object), version: 3 })));
    expect(older).toMatchObject({ _tag: "ReportVersion", found: 3, supported: 5 });
    // the same names as `fromJson` takes
    expect(JSON.stringify(Schema.toJsonSchemaDocument(Report.Finding))).toContain("[A-Za-z0-9][\\\\w.-]{0,39}\\\\/");
    expect(Report.toText(report)).toContain("odd");
  });
});

describe("a caller's step without an answer", () => {
  const hanging = Step.make({ name: "acme/bad", ask: () => Effect.never, check: () => [] });
  const stuck = Step.make({ name: "acme/bad", ask: () => Effect.uninterruptible(Effect.never), check: () => [] });
  const bad: Readonly<Record<string, Preflight.Pipeline>> = {
    failing: Preflight.make({
      steps: [Step.make({ name: "acme/bad", ask: () => Effect.fail("no"), check: () => [] })],
    }),
    dying: Preflight.make({
      steps: [Step.make({ name: "acme/bad", ask: () => Effect.die(new Error("no")), check: () => [] })],
    }),
    interrupted: Preflight.make({
      steps: [Step.make({ name: "acme/bad", ask: () => Effect.interrupt, check: () => [] })],
    }),
    hanging: Preflight.make({ steps: [hanging] }),
    "not to be interrupted": Preflight.make({ steps: [stuck] }),
    throwing: Preflight.make({
      steps: [Step.make({ name: "acme/bad", ask: (): Effect.Effect<void> => JSON.parse("{"), check: () => [] })],
    }),
    "throwing in looks": Preflight.make({
      steps: [Step.make({ name: "acme/bad", looks: () => JSON.parse("{"), check: () => [] })],
    }),
    "looking at too much": Preflight.make({
      steps: [
        Step.make({
          name: "acme/bad",
          looks: () => Array.from({ length: 33 }, () => Step.account(nobody)),
          check: () => [],
        }),
      ],
    }),
    "looking with more gas than there is": Preflight.make({
      steps: [
        Step.make({ name: "acme/bad", looks: () => [Step.staticCall(nobody, "0x", 1_000_001)], check: () => [] }),
      ],
    }),
    "looking for more than is kept": Preflight.make({
      steps: [Step.make({ name: "acme/bad", looks: () => [Step.staticCall(nobody, "0x", 1, 1_025)], check: () => [] })],
    }),
    ...Object.fromEntries(
      [-5, 1.5, Number.NaN].flatMap((amount) =>
        [
          [`with ${amount} gas`, Step.staticCall(nobody, "0x", amount)] as const,
          [`for ${amount} bytes`, Step.staticCall(nobody, "0x", 1, amount)] as const,
        ].map(([name, look]) => [
          `looking ${name}`,
          Preflight.make({ steps: [Step.make({ name: "acme/bad", looks: () => [look], check: () => [] })] }),
        ]),
      ),
    ),
    "checking beyond the deadline": Preflight.make({
      steps: [
        Step.make({
          name: "acme/bad",
          check: () => {
            const begun = performance.now();
            while (performance.now() < begun + 1_600);
            return [];
          },
        }),
      ],
    }),
    "answering with promises": Preflight.make({
      steps: [
        Step.make({
          name: "acme/bad",
          ask: () => Effect.sync(() => [Promise.reject(new Error("no"))]),
          check: () => [],
        }),
      ],
    }),
    "finding promises": Preflight.make({
      steps: [Step.make({ name: "acme/bad", check: () => [Promise.reject(new Error("no"))] as never })],
    }),
    "finding a number without end": Preflight.make({
      steps: [
        Step.make({
          name: "acme/bad",
          check: () => [Step.info("acme/A", "a", { numbers: [{ name: "", unit: "wei", value: 1n << 600n }] })],
        }),
      ],
    }),
    "promising in check": Preflight.make({
      steps: [Step.make({ name: "acme/bad", check: () => Promise.reject(new Error("no")) as never })],
    }),
    "promising in looks": Preflight.make({
      steps: [Step.make({ name: "acme/bad", looks: () => Promise.reject(new Error("no")) as never, check: () => [] })],
    }),
    "promising in ask": Preflight.make({
      steps: [Step.make({ name: "acme/bad", ask: () => Promise.reject(new Error("no")) as never, check: () => [] })],
    }),
    "throwing in check": Preflight.make({ steps: [Step.make({ name: "acme/bad", check: () => JSON.parse("{") })] }),
  };

  it.each(Object.entries(bad))("is unavailable by its name: %s", async (_, pipeline) => {
    const begun = performance.now();
    const report = await on(pipeline.preflight(native, { deadline: 1_500 }));
    expect(performance.now() - begun).toBeLessThan(4_000);
    expect([report.verdict, ofStep(report, "acme/bad")]).toEqual(["unknown", ["StepUnavailable/unavailable"]]);
    expect(Result.isFailure(await on(Effect.result(pipeline.ready(report))))).toBe(true);
    expect(Result.isFailure(await readiness(report))).toBe(true);
  });

  it("is named with its reason in every rendering, each of several", async () => {
    const boo = (name: "acme/one" | "acme/two", why: string) =>
      Step.make({
        name,
        check: () => {
          throw new Error(why);
        },
      });
    const mine = Preflight.make({ steps: [boo("acme/one", "boo"), boo("acme/two", "x")] });
    const report = await on(mine.scan(native));
    const full = { full: true } as const;
    for (const text of [
      Report.toText(report),
      Report.toText(report, full),
      Report.toMarkdown(report, full),
      Report.toHtml(report, full),
    ]) {
      expect(text).toMatch(/acme\/one[^]*check threw: boo/);
      expect(text).toMatch(/acme\/two[^]*check threw: x/);
    }
    expect(Report.summary(report)).toContain("a step of your own gave no answer: acme/one and acme/two.");
    const left = await on(Preflight.make({ steps: [], without: ["code", "nonce"] }).scan(native));
    expect(Report.summary(left)).toContain("a step was left out of the pipeline: code and nonce.");
  });

  it("is named first where it alone took the time", async () => {
    const mine = Preflight.make({ steps: [hanging] });
    const report = await on(mine.preflight(native, { deadline: 500 }));
    expect(report.because).toContain("a step of your own gave no answer");
    expect(severe(report)).toEqual(["StepUnavailable/unavailable"]);
  });

  it("takes no time from others without an answer", async () => {
    const steps = Array.from({ length: 32 }, (_, index) =>
      Step.make({
        name: `acme/bad-${index}`,
        ask: () => Effect.uninterruptible(Effect.never),
        check: () => [],
      }),
    );
    const late: Array<number> = [];
    // why: one after another they are at least 320 ms late, however idle the machine is
    while (late.length < 8 && !late.some((ms) => ms < 200)) {
      const { ledger } = await on(Preflight.make({ steps }).scan(native, { deadline: 500 }));
      late.push(ledger.ms - 500);
    }
    expect(Math.min(...late)).toBeLessThan(200);
  });

  it("shows its hanging request in the ledger, too", async () => {
    const proxy = await startProxy({ target: scene.url });
    open.push(proxy);
    proxy.fail("eth_getLogs", { kind: "hang" });
    const logs = Eth.getLogs({ fromBlock: 0n, toBlock: 0n });
    // why: under load a request's own timer comes after all others
    const lagging = Effect.updateService(logs, CurrentRun, (run) => ({ ...run, deadline: Number.POSITIVE_INFINITY }));
    const many = Effect.all(
      Array.from({ length: 50 }, () => lagging),
      { concurrency: "unbounded" },
    );
    const cases: ReadonlyArray<readonly [Effect.Effect<unknown, unknown, Rpc.Rpc>, number]> = [
      [logs, 1],
      [lagging, 1],
      [many, 50],
    ];
    for (const [asked, times] of cases) {
      const asking = Step.make({ name: "acme/bad", ask: () => asked, check: () => [] });
      const report = await on(Preflight.make({ steps: [asking] }).scan(native, { deadline: 700 }), layerOf(proxy.url));
      expect(report.ledger.requests.flatMap(({ step, method }) => (step === "acme/bad" ? [method] : []))).toEqual(
        Array.from({ length: times }, () => "eth_getLogs"),
      );
      const why = report.findings.find(({ step }) => step === "acme/bad")?.numbers[1];
      expect(why).toMatchObject({ name: "because", value: expect.stringMatching(/answer|time/i) });
      expect(String(why?.value).match(/eth_getLogs/g)).toHaveLength(1);
    }
  });

  it("has its texts bounded to what people read", async () => {
    const long = "v".repeat(1_000_000);
    const numbers = [
      { name: long, unit: "text", value: long },
      { name: long, unit: "wei", value: 1n },
    ] as const;
    const report = await on(
      Preflight.make({ steps: [saying(Step.info("acme/Long", long, { numbers }))] }).scan(native),
    );
    const found = report.findings.find(({ code }) => code === "acme/Long");
    expect(found?.numbers.map(({ name, value }) => [name.length, String(value).length])).toEqual([
      [1024, 1024],
      [1024, 1],
    ]);
  });

  it("is described by the error that a getter of a finding or a look throws", async () => {
    const thrower = {
      get code(): "acme/a" {
        throw new Error("no code today");
      },
      get kind(): "account" {
        throw new Error("no kind today");
      },
    };
    for (const [step, why] of [
      [{ name: "acme/bad", check: () => [thrower as never] }, "no code today"],
      [{ name: "acme/bad", looks: () => [thrower as never], check: () => [] }, "no kind today"],
    ] as const) {
      const report = await on(Preflight.make({ steps: [step] }).scan(native));
      expect(ofStep(report, "acme/bad")).toEqual(["StepUnavailable/unavailable"]);
      expect(Report.toText(report).replaceAll(/\s+/g, " ")).toContain(why);
    }
  });

  it("shows nothing that may be a key", async () => {
    const secret = Step.make({
      name: "acme/bad",
      ask: () => Effect.fail(new Error("GET https://user:key@example.org/v2/abcdefkey failed")),
      check: () => [],
    });
    const report = await on(Preflight.make({ steps: [secret] }).scan(native));
    expect(JSON.stringify(Report.toJson(report))).not.toContain("key");
  });

  it("is missing from a pipeline without it, which proves its report all the same", async () => {
    const mine = Preflight.make({ steps: [saying(Step.blocker("acme/Listed", "on a list"))] });
    const scanned = await on(mine.scan(native));
    const proven = await on(Preflight.prove(scanned));
    expect([proven.verdict, ofStep(proven, "acme/says")]).toEqual(["unknown", ["StepUnavailable/unavailable"]]);
    // and not on the second try either
    expect((await on(Preflight.prove(proven))).verdict).toBe("unknown");
    expect((await on(mine.prove(scanned))).verdict).toBe("blocked");
  });
});

describe("the `ready` of a pipeline with a caller's step", () => {
  const mine = Preflight.make({ steps: [saying(Step.info("acme/Known", "known"))] });

  it("refuses a report that lacks a step, until it is proven there", async () => {
    const plain = await on(Preflight.preflight(native));
    expect(Result.isSuccess(await readiness(plain))).toBe(true);
    const refused = await on(Effect.flip(mine.ready(plain)));
    expect(refused).toMatchObject({ _tag: "NotProven", missing: [{ reason: "StepMissing" }] });
    expect(refused.message).toContain("acme/says");
    const proven = await on(mine.prove(plain));
    expect(Result.isSuccess(await on(Effect.result(mine.ready(proven))))).toBe(true);
    // what it holds is all that `Report.ready` judges by
    expect(Result.isSuccess(await readiness(proven))).toBe(true);
  });

  it("is a proof at every head when it is watched, and at the beginning", async () => {
    const plain = await on(Preflight.preflight(native));
    const watched = (report: Report.BundleReport) =>
      on(Stream.runHead(mine.watch(report, Stream.take(Eth.watchHeads(), 1))));
    await expect(watched(plain)).rejects.toMatchObject({ _tag: "NotProven" });
  });
});

describe("a malformed step", () => {
  const make = (steps: unknown) => () => Preflight.make({ steps: steps as ReadonlyArray<Step.Step> });
  const check = () => [];

  it.each([
    ["steps", { name: "acme/a", check }],
    ["steps", Array.from({ length: 33 }, (_, at) => ({ name: `acme/a${at}`, check }))],
    ["steps[0]", [null]],
    ["steps[0].name", [{ name: "acme", check }]],
    ["steps[0].name", [{ name: "acme/", check }]],
    ["steps[0].name", [{ name: `acme/${"a".repeat(61)}`, check }]],
    ["steps[0].name", [{ name: "acme/a b", check }]],
    [
      "steps[1].name",
      [
        { name: "acme/a", check },
        { name: "acme/a", check },
      ],
    ],
    ["steps[0].check", [{ name: "acme/a" }]],
    ["steps[0].ask", [{ name: "acme/a", check, ask: 1 }]],
    ["steps[0].asks", [{ name: "acme/a", check, asks: check }]],
    [
      "options",
      [
        {
          check,
          get name(): string {
            throw new Error("no name");
          },
        },
      ],
    ],
  ] as const)("is refused by its field: %s", (field, steps) => {
    const made = Result.try(make(steps));
    expect(Result.isFailure(made) && made.failure).toMatchObject({ _tag: "InvalidStep", field });
  });

  it("is refused for the code of a finding, too", () => {
    expect(() => Preflight.make({ steps: [], besides: ["fee"] } as never)).toThrow(Errors.InvalidStep);
    expect(() => Preflight.make(undefined as never)).toThrow(Errors.InvalidStep);
    expect(() => Step.blocker("Listed" as "a/b", "")).toThrow(Errors.InvalidStep);
    // what is handed on beside it changes neither what it is nor how bad
    const [blocker, info] = [Step.blocker("acme/A", "a", Step.info("acme/B", "b")), Step.info("acme/B", "b")];
    expect([blocker, info]).toMatchObject([
      { code: "acme/A", severity: "blocker", sentence: "a" },
      { code: "acme/B", severity: "info" },
    ]);
  });

  it("is not refused for being an instance of a class with fields of its own", async () => {
    class Screen {
      readonly name = "acme/screen";
      readonly list = [other.address];
      check({ transactions }: Report.BundleReport): ReadonlyArray<Step.Finding> {
        const isListed = transactions.some(({ input: { to } }) =>
          this.list.some((listed) => listed.toLowerCase() === to),
        );
        return isListed ? [Step.blocker("acme/Listed", "on a list")] : [];
      }
    }
    const report = await on(Preflight.make({ steps: [new Screen()] }).scan(native));
    expect([report.verdict, report.because]).toEqual(["blocked", "on a list"]);
    expect(await Effect.runPromise(Effect.flip(Report.ready(report)))).toMatchObject({
      _tag: "NotProven",
      message: "the report does not allow signing · on a list · do not sign it",
      missing: [{ reason: "Blocked", code: "acme/Listed" }],
    });
  });
});

describe("a random caller's step", () => {
  const junk = fc.oneof(
    fc.anything(),
    fc.array(fc.anything(), { maxLength: 3 }),
    fc.array(
      fc.record(
        {
          code: fc.oneof(fc.constant("acme/Listed"), fc.constant("ExecutionReverted"), fc.anything()),
          severity: fc.oneof(fc.constantFrom("blocker", "warning", "info", "unavailable"), fc.anything()),
          sentence: fc.oneof(fc.string(), fc.anything()),
          transaction: fc.oneof(fc.integer(), fc.constant(null)),
          numbers: fc.anything(),
        },
        { requiredKeys: ["code"] },
      ),
      { maxLength: 3 },
    ),
  );
  /** Changes whatever it is handed, and says nothing. */
  const vandal = (report: Report.BundleReport) => {
    const walk = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        walk(inner);
        Reflect.set(value, key, key === "severity" ? "info" : key === "verdict" ? "ready" : null);
      }
      if (Array.isArray(value)) value.length = 0;
    };
    walk(report);
    return [];
  };
  /** In the order of what they are: nothing that a step does may move a report to the left. */
  const worse = ["ready", "caution", "unknown", "blocked"];

  it("may write into its own copy of a report", async () => {
    const vandals = Step.make({ name: "acme/vandal", check: vandal });
    const mine = Preflight.make({ steps: [vandals] });
    const input = {
      from: owner.address,
      to: token,
      abi: Token.abi,
      functionName: "transfer",
      args: [other.address, 1n],
    } as const;
    const [plain, own] = [await on(Preflight.preflight(input)), await on(mine.preflight(input))];
    expect(own.transactions[0].outcome.logs[0]?.decoded?.name).toBe("Transfer");
    expect([own.verdict, own.findings]).toEqual([plain.verdict, plain.findings]);
  });

  it("only ever makes a report worse, and is never a defect", async () => {
    const reverting = { from: other.address, to: token, data: "0xa9059cbb" } as const;
    const [good, failing] = await Promise.all([on(Preflight.scan(native)), on(Preflight.scan(reverting))]);
    expect(failing.verdict).toBe("blocked");
    await fc.assert(
      fc.asyncProperty(junk, fc.boolean(), fc.boolean(), async (what, isThrown, isGood) => {
        const hostile = {
          name: "acme/hostile",
          looks: () => (isThrown ? what : []) as never,
          check: (report: Report.BundleReport) => {
            vandal(report);
            if (isThrown) throw what;
            return what as never;
          },
        } as const;
        const plain = isGood ? good : failing;
        const report = await on(Preflight.make({ steps: [hostile] }).scan(isGood ? native : reverting));
        expect(worse.indexOf(report.verdict)).toBeGreaterThanOrEqual(worse.indexOf(plain.verdict));
        const codes = report.findings.map(({ code, severity }) => `${code}/${severity}`);
        for (const { code, severity } of plain.findings) expect(codes).toContain(`${code}/${severity}`);
        expect(report.transactions).toHaveLength(1);
        const json = Report.toJson(report);
        expect((await Effect.runPromise(Report.fromJson(json))).verdict).toBe(report.verdict);
        if (isThrown) expect(report.verdict).not.toBe("ready");
      }),
      { numRuns: 40 },
    );
  });
});
