/** A report that came back as JSON, changed on the way: a proof believes its requests, and nothing that is said of them. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import { withLimits } from "../rooms/pipeline.js";
import * as Report from "../../src/Report.js";
import { digestOfReport } from "../rooms/report.js";
import * as artifacts from "../contracts/artifacts.js";
import { nested } from "../harness/accuracy/cases.js";
import { startProxy } from "../harness/proxy.js";
import {
  calldata,
  codesOf,
  nobody,
  other,
  owner,
  prove,
  readiness,
  scan,
  severe,
  startAnvilScene,
  third,
  type Scene,
} from "./scene.js";
import { assemble, watcher } from "./watchers.js";
import { runs } from "../harness/parts.js";

type Whole = Report.BundleReport;
type One = Report.TransactionReport;

let scene: Scene;
/** A transfer that nothing stands against. */
let plain: Whole;
/** A call whose limit starves an inner call, which is swallowed. */
let starved: Whole;
beforeAll(async () => {
  scene = await startAnvilScene();
  const aggregator = await scene.deploy(artifacts.Aggregator);
  const reader = await scene.deploy(artifacts.GasReader);
  const inner = { target: reader, callData: calldata(artifacts.GasReader, "need", [400_013n]) };
  const data = nested(aggregator, inner, 30, true);
  plain = await scan(scene.url, { from: owner.address, to: nobody, value: 1n });
  const scanned = await scan(scene.url, { from: owner.address, to: aggregator, data });
  starved = withLimits(scanned, [scanned.transactions[0].gas.estimate ?? 0n]);
});
afterAll(() => scene.stop());

const jsonOf = (report: Whole): unknown => JSON.parse(JSON.stringify(Report.toJson(report)));
/** The report with other words in its transaction, and the digest that goes with them, as it comes back. */
const posted = (report: Whole, change: (one: One) => One, more: Partial<Whole> = {}): Promise<Whole> => {
  const changed: Whole = { ...report, ...more, transactions: [change(report.transactions[0])] };
  return Effect.runPromise(Report.fromJson(jsonOf({ ...changed, digest: digestOfReport(changed) }))) as Promise<Whole>;
};
/** Only what would be signed is another. */
type Numbers = Partial<Record<"gas" | "maxFeePerGas" | "maxPriorityFeePerGas" | "value", bigint>> & {
  readonly nonce?: number;
  readonly chainId?: number;
};
const requesting =
  (numbers: Numbers) =>
  (one: One): One => ({ ...one, request: { ...one.request, ...numbers } as One["request"] });
const proven = async (report: Whole, policies: ReadonlyArray<Policy.Policy> = []) => {
  const proof = await prove(scene.url, report, { policies });
  const isReady = Result.isSuccess(await readiness(proof));
  return { proof, isReady, verdict: proof.verdict, codes: codesOf(proof) };
};

describe("a posted report with no whole request", () => {
  it.each<[string, (report: Whole) => Partial<Whole>]>([
    ["without a transaction", () => ({ transactions: [] as never })],
    ["without a request", ({ transactions: [one] }) => ({ transactions: [{ ...one, request: null }] })],
  ])("is never ready %s, whatever it claims", async (_, change) => {
    const words = { verdict: "ready", stage: "proven", findings: [] } as const;
    const proof = await prove(scene.url, { ...plain, ...change(plain), ...words } as unknown as Whole);
    expect([proof.verdict, proof.stage]).toEqual(["unknown", "scanned"]);
    expect(Result.isFailure(await readiness(proof))).toBe(true);
  });
});

describe("a changed request in a posted report", () => {
  const wei = 10n ** 15n;
  it("with a higher fee is judged by the policy at its real cost", async () => {
    expect(await proven(plain, [Policy.maxFee(wei)])).toMatchObject({ isReady: true, verdict: "ready" });
    const fees = { maxFeePerGas: 10n ** 16n, maxPriorityFeePerGas: 10n ** 16n };
    for (const stage of ["scanned", "proven"] as const) {
      const report = await posted(plain, requesting(fees), { stage });
      const { proof, isReady, verdict, codes } = await proven(report, [Policy.maxFee(wei)]);
      expect([verdict, isReady, codes]).toEqual(["blocked", false, ["NodeMayRefuse/info", "PolicyViolation/blocker"]]);
      expect(proof.transactions[0].fee).toMatchObject(fees);
      expect(proof.funds[0]?.required).toBe(21_000n * 10n ** 16n + 1n);
    }
  });
  it("with a higher gas limit is judged by the policies at its real gas", async () => {
    const report = await posted(plain, requesting({ gas: 25_000_000n }));
    for (const policy of [Policy.maxGas(30_000n), Policy.maxFee(wei)]) {
      const { proof, isReady, verdict, codes } = await proven(report, [policy]);
      expect([verdict, isReady, proof.transactions[0].gas.limit]).toEqual(["blocked", false, 25_000_000n]);
      expect(codes).toContain("PolicyViolation/blocker");
    }
  });
  it.each([{ value: 2n }, { chainId: 5 }])("with %o does not match its input", async (numbers) => {
    const { isReady, verdict } = await proven(await posted(plain, requesting(numbers)));
    expect([isReady, ["unknown", "blocked"].includes(verdict)]).toEqual([false, true]);
  });
  it("with one other number is judged as if the records had always said so", () => {
    const wide = fc.bigInt(0n, 40_000_000n);
    const price = fc.oneof(fc.bigInt(0n, 10n ** 10n), fc.bigInt(0n, 10n ** 18n));
    const numbers: fc.Arbitrary<Numbers> = fc.oneof(
      fc.record({ nonce: fc.nat(9) }),
      fc.record({ gas: wide }),
      fc.record({ maxFeePerGas: price }),
      fc.record({ maxPriorityFeePerGas: price }),
    );
    const recording =
      ({ nonce, gas, ...prices }: Numbers) =>
      (one: One): One => ({
        ...one,
        nonce: { ...one.nonce, value: nonce ?? one.nonce.value },
        gas: { ...one.gas, limit: gas ?? one.gas.limit },
        fee: { ...one.fee, ...prices },
      });
    return fc.assert(
      fc.asyncProperty(fc.boolean(), numbers, async (isPlain, changed) => {
        const report = isPlain ? plain : starved;
        const alone = await posted(report, requesting(changed));
        const honest = await posted(report, (one) => recording(changed)(requesting(changed)(one)));
        const [found, expected] = [await proven(alone), await proven(honest)];
        expect([found.verdict, found.codes, found.isReady]).toEqual([
          expected.verdict,
          expected.codes,
          expected.isReady,
        ]);
        expect([found.proof.digest, found.proof.funds]).toEqual([expected.proof.digest, expected.proof.funds]);
      }),
      { numRuns: runs(25) },
    );
  }, 60_000);
});

const worst = ["blocked", "unknown", "caution", "ready"] as const;
/** Says no less against it than the honest proof does. */
const isNoBetter = async (forged: Whole, honest: Whole) => {
  const { proof, isReady, verdict, codes } = await proven(forged);
  expect(isReady).toBe(false);
  expect(worst.indexOf(verdict)).toBeLessThanOrEqual(worst.indexOf(honest.verdict));
  expect(codes).toEqual(expect.arrayContaining([...severe(honest)]));
  return proof;
};

describe("a posted report that lies about its request", () => {
  it("is judged no better than an honest one, where gas decides", async () => {
    const { proof: honest } = await proven(starved);
    expect([honest.verdict, severe(honest)]).toEqual(["unknown", ["InnerCallFailed/warning", "ScanAgain/unavailable"]]);
    const [{ outcome, call }] = honest.transactions;
    const tight = { transfers: honest.transfers, balanceChanges: honest.balanceChanges };
    const same = (one: One): One => one;
    const receiver = (one: One): One["code"]["to"] =>
      one.code.to === null ? null : { ...one.code.to, kind: "nobody" };
    const forgeries: ReadonlyArray<readonly [string, (one: One) => One, Partial<Whole>?]> = [
      ["nothing", same],
      ["its stage", same, { stage: "proven" }],
      ["the outcome of the tight limit", (one) => ({ ...one, outcome }), tight],
      ["that, and its stage", (one) => ({ ...one, outcome }), { ...tight, stage: "proven" }],
      ["who chose the gas", (one) => ({ ...one, gas: { ...one.gas, by: "caller" } })],
      ["the limit beside the request", (one) => ({ ...one, gas: { ...one.gas, limit: 9_000_000n } })],
      ["who is called", (one) => ({ ...one, code: { ...one.code, to: receiver(one) } })],
      ["what it calls", (one) => ({ ...one, call: one.call && { ...one.call, function: "nothing", by: "abi" } })],
      ["that it calls nothing", (one) => ({ ...one, call: null })],
      ["the cap", (one) => ({ ...one, gas: { ...one.gas, cap: one.request?.gas ?? null } })],
      ["the estimate", (one) => ({ ...one, gas: { ...one.gas, estimate: 2n ** 64n, peak: 1n, used: 1n } })],
      ["the gas of a block", same, { observed: { ...starved.observed, gasLimit: 1n } }],
      ["the funds", same, { funds: starved.funds.map((payer) => ({ ...payer, balance: 0n, required: 0n })) }],
      ["the verdict", same, { verdict: "ready", findings: [], because: "", stage: "proven" }],
    ];
    for (const [what, change, more] of forgeries) {
      const proof = await isNoBetter(await posted(starved, change, more), honest);
      expect([what, proof.digest, proof.transactions[0].call]).toEqual([what, honest.digest, call]);
    }
    expect(call).not.toBeNull();
  }, 60_000);
  it("is judged no better for a pretended balance, where the fee is beyond the real one", async () => {
    const fees = { maxFeePerGas: 10n ** 24n };
    const { proof: honest } = await proven(await posted(plain, requesting(fees)));
    expect([honest.verdict, severe(honest)]).toEqual([
      "blocked",
      expect.arrayContaining(["InsufficientFunds/blocker"]),
    ]);
    const funds = plain.funds.map((payer) => ({ ...payer, balance: 2n ** 200n, shortfall: 0n }));
    const proof = await isNoBetter(await posted(plain, requesting(fees), { funds }), honest);
    expect(proof.funds).toEqual(honest.funds);
  });
  it("is judged no better where state must be pretended: the real balance is measured beside", async () => {
    await scene.send(third, { to: nobody, value: 1n });
    const ahead = await scan(scene.url, { from: third.address, to: nobody, value: 1n });
    const { proof: honest } = await proven(ahead);
    for (const balance of [0n, 10n ** 30n]) {
      const funds = ahead.funds.map((payer) => ({ ...payer, balance, shortfall: 0n }));
      const { proof, verdict, codes } = await proven(await posted(ahead, (one) => one, { funds }));
      expect([verdict, codes, proof.funds]).toEqual([honest.verdict, codesOf(honest), honest.funds]);
      // the runs that pretended a balance nobody has are compared, and asked again with the one that was measured
      const { rounds } = proof.ledger;
      expect([rounds > honest.ledger.rounds, rounds <= honest.ledger.rounds + 2]).toEqual([true, true]);
    }
    await scene.mine();
  });
  it("without a time is still proven, with both simulated blocks timed from the head", async () => {
    const observed = { ...plain.observed, timestamp: null };
    const { isReady, codes } = await proven(await posted(plain, (one) => one, { observed }));
    expect([isReady, codes]).toEqual([true, []]);
  });
});

describe("a posted report that names its state", () => {
  const onLatest = (report: Whole) =>
    posted(report, (one) => one, { observed: { ...report.observed, blockTag: "latest" } });
  it("is proven on pending state regardless", async () => {
    const gate = await scene.deploy(artifacts.Gate);
    const call = (functionName: "open" | "close" | "pass") => calldata(artifacts.Gate, functionName, []);
    await scene.send(third, { to: gate, data: call("open") });
    await scene.mine();
    const scanned = await scan(scene.url, { from: owner.address, to: gate, data: call("pass") });
    await scene.send(third, { to: gate, data: call("close") });
    const honest = await proven(await posted(scanned, (one) => one));
    const forged = await proven(await onLatest(scanned));
    expect([honest.verdict, honest.isReady]).toEqual(["blocked", false]);
    expect([forged.verdict, forged.codes, forged.proof.observed.blockTag]).toEqual([
      "blocked",
      honest.codes,
      "pending",
    ]);
    // nor by an input that replaces what waits, beside a request that does not
    const nonce = await scene.count(owner.address);
    await scene.send(owner, { to: other.address, value: 1n });
    const replacing = (one: One): One => ({ ...requesting({ nonce: nonce + 1 })(one), input: { ...one.input, nonce } });
    const observed = { ...scanned.observed, blockTag: "latest" } as const;
    expect((await proven(await posted(scanned, replacing, { observed }))).isReady).toBe(false);
    await scene.mine();
  });
  it("is proven on latest state where it replaces one in flight, and where the node has no pending state", async () => {
    const nonce = await scene.count(owner.address);
    await scene.send(owner, { to: other.address, value: 1n });
    const replacing = await scan(scene.url, { from: owner.address, to: other.address, value: 2n, nonce });
    const { proof, codes } = await proven(await posted(replacing, (one) => one));
    expect([proof.verdict, proof.observed.blockTag]).toEqual(["ready", "latest"]);
    expect(codes).toContain("ReplacesPending/info");
    await scene.mine();
    const sealed = await onLatest(await scan(scene.url, { from: owner.address, to: nobody, value: 1n }));
    const proxy = await startProxy({ target: scene.url });
    try {
      await prove(proxy.url, sealed);
      const runs = proxy.seen.filter(({ method }) => method === "eth_simulateV1").length;
      const error = { code: -32000, message: "pending state is not available" };
      proxy.reset();
      proxy.fail("eth_simulateV1", { kind: "error", error }, runs);
      const without = await prove(proxy.url, sealed);
      expect([without.verdict, without.observed.blockTag]).toEqual(["ready", "latest"]);
      expect(codesOf(without)).toContain("PendingUnavailable/info");
    } finally {
      await proxy.stop();
    }
  });
});

describe("a posted report that moves the time of its blocks", () => {
  const money = 10n ** 18n;
  it.each(["by the time of its block", "by its own age", "by the time of its last proof"])(
    "is blocked, %s",
    async (how) => {
      const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly timestamp: string };
      const [hour, now] = [3_600n, BigInt(head.timestamp)];
      // gives back what it is paid from the next hour on
      const lock = await scene.deploy({ abi: [], bytecode: watcher(assemble(`${now + hour} TIMESTAMP GT`)) });
      const scanned = await scan(scene.url, { from: other.address, to: lock, value: money, data: "0x01" });
      const [{ observed }, timestamp] = [scanned, now + 2n * hour];
      const world = { run: "next", state: "pending", number: 1n, timestamp, agrees: true } as const;
      const moved: Readonly<Record<string, Partial<Whole["observed"]>>> = {
        "by the time of its block": { timestamp },
        "by its own age": { at: observed.at - Number(2n * hour) * 1_000 },
        "by the time of its last proof": { worlds: [{ ...world, feeRecipient: null, gasLimit: null }] },
      };
      const forged = await posted(scanned, requesting({ gas: 200_000n }), { observed: { ...observed, ...moved[how] } });
      const { proof, verdict, codes } = await proven(forged, [Policy.maxSpent("native", 0n)]);
      expect([verdict, codes]).toEqual(["blocked", expect.arrayContaining(["PolicyViolation/blocker"])]);
      for (const { timestamp: at } of proof.observed.worlds) expect((at ?? 0n) - now).toBeLessThan(hour);
    },
  );
});

describe("a posted report on a contract that is honest only without a base fee, as in a scan,", () => {
  let spoofed: Whole;
  let honest: Whole;
  beforeAll(async () => {
    const token = await scene.deploy(artifacts.Token, ["Gold", "GLD", 18]);
    const spoofer = await scene.deploy(artifacts.Spoofer, [token, 2, 0n]);
    await scene.send(owner, { to: token, data: calldata(artifacts.Token, "mint", [other.address, 10_000n]) });
    await scene.send(other, { to: token, data: calldata(artifacts.Token, "approve", [spoofer, 1_000n]) });
    await scene.mine();
    const claim = { from: other.address, to: spoofer, data: calldata(artifacts.Spoofer, "claim") };
    spoofed = await scan(scene.url, claim);
    honest = (await proven(spoofed)).proof;
  });
  const forging = async (change: (one: One) => One, more: Partial<Whole> = {}) =>
    isNoBetter(await posted(spoofed, change, more), honest);
  const same = (one: One): One => one;
  it("is blocked, though nothing was found against it yet", () => {
    expect([spoofed.verdict, honest.verdict]).toEqual(["ready", "blocked"]);
    expect(codesOf(honest)).toContain("SimulationDiverged/blocker");
  });
  it("is judged no better for its stage", () => forging(same, { stage: "proven" }));
  it("is judged no better for the block it stood on", () =>
    forging(same, { observed: { ...spoofed.observed, simulatedNumber: 1n } }));
  it("is judged no better for the origin of its outcome", () =>
    forging(same, { observed: { ...spoofed.observed, tier: "none" } }));
  it("is judged no better for the proof's outcome in place of its own", () => {
    const [{ outcome }] = honest.transactions;
    const { transfers, balanceChanges } = honest;
    // whom the forger names is measured from the start, and no newcomer
    const findings = honest.findings.filter(({ code }) => code !== "FirstSeenInProof");
    const forged = posted(spoofed, (one) => ({ ...one, outcome }), { transfers, balanceChanges });
    return forged.then((report) => isNoBetter(report, { ...honest, findings }));
  });
});

it("a posted report keeps its maker's tolerance, unless the caller gives one", async () => {
  const token = await scene.deploy(artifacts.Token, ["Gold", "GLD", 18]);
  const vesting = await scene.deploy(artifacts.Vesting, [token, 10n ** 9n]);
  await scene.seal({ after: 3 });
  const release = { from: other.address, to: vesting, data: calldata(artifacts.Vesting, "release") };
  const scanned = await scan(scene.url, release);
  const lax = await posted(scanned, (one) => one, { options: { ...scanned.options, tolerance: 0.999 } });
  expect(severe(await prove(scene.url, lax))).toEqual([]);
  expect(severe(await prove(scene.url, lax, { tolerance: 0.005 }))).toContain("ChanceDependent/warning");
});

/** The JSON with another value at a path. */
const withAt = (json: unknown, [key, ...rest]: ReadonlyArray<string | number>, value: unknown): unknown => {
  if (key === undefined) return value;
  const inside = (json as Readonly<Record<string, unknown>>)[key];
  const changed = withAt(inside, rest, value);
  return Array.isArray(json)
    ? json.map((one: unknown, index) => (index === key ? changed : one))
    : { ...(json as object), [key]: changed };
};

describe("JSON of an impossible report", () => {
  const one = ["transactions", 0] as const;
  it.each<readonly [path: ReadonlyArray<string | number>, value: unknown]>([
    [[...one, "request", "nonce"], -1],
    [[...one, "request", "gas"], "-1"],
    [[...one, "request", "maxFeePerGas"], "-1"],
    [[...one, "request", "maxPriorityFeePerGas"], "-1"],
    [[...one, "request", "value"], "-1"],
    [[...one, "input", "nonce"], -1],
    [[...one, "input", "gas"], "-1"],
    [["options", "tolerance"], 1],
    [["options", "tolerance"], -1],
    [["options", "deadlineMs"], 0],
    [["options", "maxAgeMs"], 0],
    [["options", "feeHorizonSeconds"], -1],
    [["observed", "at"], null],
  ])("is refused by its field: %j = %j", async (path, value) => {
    const said = await Effect.runPromise(Effect.flip(Report.fromJson(withAt(jsonOf(plain), path, value))));
    expect(said._tag).toBe("SchemaError");
    expect(said.message).toContain(path.map((key) => `[${JSON.stringify(key)}]`).join(""));
  });
  it("is refused where it has more transactions than a bundle may", async () => {
    const many = (count: number) =>
      withAt(jsonOf(plain), ["transactions"], Array.from({ length: count }, () => jsonOf(plain)).map(firstOf));
    expect((await Effect.runPromise(Report.fromJson(many(64)))).transactions).toHaveLength(64);
    const said = await Effect.runPromise(Effect.flip(Report.fromJson(many(65))));
    expect([said._tag, said.message]).toEqual(["SchemaError", expect.stringContaining('["transactions"]')]);
  });
});

const firstOf = (json: unknown): unknown => (json as { readonly transactions: ReadonlyArray<unknown> }).transactions[0];
