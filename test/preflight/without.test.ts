/** Built-in steps left out: nothing of them is asked or taken as a default, and the report says so. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QuietAllowance, Token } from "../contracts/artifacts.js";
import { InternalError, RpcError } from "../rooms/errors.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import type * as Rpc from "../../src/Rpc.js";
import * as Step from "../../src/Step.js";
import { furnish } from "./furnished.js";
import type { Wire } from "./wire.js";
import { calldata, layerOf, other, owner, startAnvilScene, tampered, third, type Scene } from "./scene.js";

let scene: Scene;
let token: `0x${string}`;
beforeAll(async () => {
  ({ scene, token } = await furnish(startAnvilScene));
});
afterAll(() => scene?.stop());

/** Where the OP stack keeps its fee oracle. */
const oracle = "420000000000000000000000000000000000000f";

type Name = NonNullable<Parameters<typeof Preflight.make>[0]["without"]>[number];
const on = <A, E>(effect: Effect.Effect<A, E, Rpc.Rpc>) =>
  Effect.runPromise(Effect.provide(effect, layerOf(scene.url)));
const transfer = () => ({ from: owner.address, to: token, data: calldata(Token, "transfer", [other.address, 5n]) });
const approval = () => ({ from: owner.address, to: token, data: calldata(Token, "approve", [other.address, 5n]) });
const pipeline = (...without: ReadonlyArray<Name>) => Preflight.make({ without });
const leftOut = (report: Report.Report) =>
  report.findings.flatMap(({ code, step, severity }) => (code === "LeftOut" ? [`${step}/${severity}`] : []));
const methods = (report: Report.Report) => new Set(report.ledger.requests.map(({ method }) => method));
const lacking = (report: Report.Report, ready: typeof Report.ready = Report.ready) =>
  Effect.runPromise(Effect.result(ready(report)));

describe("a preflight without a step", () => {
  it.each([
    ["code", "eth_getCode", "unavailable"],
    ["simulate", "eth_simulateV1", "unavailable"],
    ["estimate", "eth_estimateGas", "unavailable"],
    ["nonce", "eth_getTransactionCount", "unavailable"],
    ["fee", "eth_feeHistory", "unavailable"],
    ["funds", null, "unavailable"],
    ["assets", null, "warning"],
    ["approvals", null, "warning"],
  ] as const)("asks nothing of %s, and says so", async (name, method, severity) => {
    const mine = pipeline(name);
    for (const report of [await on(mine.scan(transfer())), await on(mine.preflight(transfer()))]) {
      expect(leftOut(report)).toEqual([`${name}/${severity}`]);
      expect(report.steps).toEqual({ with: [], without: [name] });
      expect(report.verdict).toBe(severity === "warning" ? "caution" : "unknown");
      expect(report.ledger.requests.filter(({ step }) => step === name)).toEqual([]);
      if (method !== null) expect(methods(report)).not.toContain(method);
      expect(report.findings.filter(({ step, code }) => step === name && code !== "LeftOut")).toEqual([]);
      expect(Report.fromJson(Report.toJson(report))).toBeTruthy();
    }
  });

  it("has the witness read nothing for the step, between the transactions or at fee oracles", async () => {
    /** The calldata of the simulated calls, by request. */
    const simulated = async (...without: ReadonlyArray<Name>) => {
      const found: Array<ReadonlyArray<string>> = [];
      const layer = tampered(scene.url, ({ method, params: [simulation] }) => {
        const { blockStateCalls = [] } = (simulation ?? {}) as { blockStateCalls?: ReadonlyArray<{ calls: Wire[] }> };
        const calls = blockStateCalls.flatMap((block) => block.calls);
        if (method === "eth_simulateV1") found.push(calls.map(({ data, input }) => String(data ?? input)));
        return null;
      });
      await Effect.runPromise(Effect.provide(pipeline(...without).scan([transfer(), transfer()]), layer));
      return found;
    };
    const most = (found: ReadonlyArray<ReadonlyArray<string>>) => Math.max(...found.map(({ length }) => length));
    const names = (text: string) => (found: ReadonlyArray<ReadonlyArray<string>>) => found.flat().join().includes(text);
    const [isOracleRead, isBalanceRead] = [
      names(oracle),
      names(`70a08231${owner.address.slice(2).padStart(64, "0")}`.toLowerCase()),
    ];
    const whole = await simulated();
    expect([isOracleRead(whole), isBalanceRead(whole)]).toEqual([true, true]);
    expect(most(await simulated("code"))).toBe(most(whole) - 1);
    expect(isOracleRead(await simulated("fee"))).toBe(true);
    expect(isOracleRead(await simulated("fee", "funds"))).toBe(false);
    // why: what a transfer asks for is held against what moved, whoever pays the fee
    expect(isBalanceRead(await simulated("funds"))).toBe(true);
  });

  it("has no value in the report, where the step would choose or find one", async () => {
    const [code] = (await on(pipeline("code").scan(transfer()))).transactions;
    expect([code.code.from.kind, code.code.to?.kind]).toEqual(["unknown", "unknown"]);
    const [simulated] = (await on(pipeline("simulate").scan(transfer()))).transactions;
    expect([simulated.outcome.status, simulated.gas.used]).toEqual(["unknown", null]);
    const [estimated] = (await on(pipeline("estimate").scan(transfer()))).transactions;
    expect([estimated.gas.limit, estimated.gas.estimate, estimated.request]).toEqual([null, null, null]);
    const [nonce] = (await on(pipeline("nonce").scan(transfer()))).transactions;
    expect([nonce.nonce.value, nonce.nonce.next, nonce.request]).toEqual([null, null, null]);
    const [fee] = (await on(pipeline("fee").scan(transfer()))).transactions;
    expect([fee.fee.maxFeePerGas, fee.fee.maxPriorityFeePerGas, fee.fee.evidence]).toEqual([null, null, "unavailable"]);
    expect((await on(pipeline("funds").scan(transfer()))).funds).toEqual([]);
    const assets = await on(pipeline("assets").preflight(transfer()));
    expect([assets.transfers, assets.balanceChanges]).toEqual([[], []]);
    expect((await on(pipeline("approvals").preflight(approval()))).approvals).toEqual([]);
  });

  it("keeps the caller's own values", async () => {
    const fixed = { ...transfer(), gas: 100_000n, nonce: 7, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
    const report = await on(pipeline("estimate", "nonce", "fee").scan(fixed));
    expect(report.transactions[0].request).toMatchObject({ gas: 100_000n, nonce: 7, maxFeePerGas: 10n ** 10n });
    expect(leftOut(report)).toEqual(["estimate/warning", "nonce/unavailable", "fee/unavailable"]);
    const proven = await on(pipeline("estimate").preflight({ ...transfer(), gas: 100_000n }));
    expect([proven.verdict, proven.stage, leftOut(proven)]).toEqual(["caution", "proven", ["estimate/warning"]]);
    expect((await on(pipeline("estimate").ready(proven))).requests).toHaveLength(1);
    const [one, two] = [{ ...transfer(), gas: 100_000n }, transfer()];
    expect(leftOut(await on(pipeline("estimate").scan([one, two])))).toEqual(["estimate/unavailable"]);
  });

  it("makes policies on the step's values unknown, and no others", async () => {
    const unknown = (report: Report.Report) =>
      report.findings.flatMap(({ code, numbers }) => (code === "PolicyUnknown" ? [String(numbers[0]?.value)] : []));
    const policies = [
      Policy.maxSpent(token, 1n),
      Policy.noNewApprovals,
      Policy.maxGas(10n ** 7n),
      Policy.make("mine", ({ transfers }) =>
        transfers.length > 9 ? { _tag: "Fail", detail: "too many" } : { _tag: "Pass" },
      ),
    ];
    const assets = await on(pipeline("assets").preflight(transfer(), { policies }));
    expect([assets.verdict, unknown(assets)]).toEqual(["unknown", ["maxSpent", "mine"]]);
    const approvals = await on(pipeline("approvals").preflight(approval(), { policies }));
    expect(unknown(approvals)).toEqual(["noNewApprovals"]);
    const byToken = Policy.make("by token", ({ tokens }) => (tokens.length > 0 ? Policy.fail("one") : Policy.pass));
    const unnamed = await on(pipeline("assets").preflight(transfer(), { policies: [byToken] }));
    expect(unknown(unnamed)).toEqual(["by token"]);
    const named = await on(pipeline("assets").preflight(approval(), { policies: [byToken, Policy.noNewApprovals] }));
    expect([unknown(named), named.verdict]).toEqual([[], "blocked"]);
    expect(unknown(await on(Preflight.preflight(transfer(), { policies })))).toEqual([]);
  });

  it("is refused by the `ready` of a pipeline with the step, and accepted by its own", async () => {
    const report = await on(pipeline("approvals").preflight(transfer()));
    expect(Result.isSuccess(await lacking(report))).toBe(true);
    expect(Result.isSuccess(await lacking(report, pipeline("approvals").ready))).toBe(true);
    expect(Result.isSuccess(await lacking(report, pipeline("assets", "approvals").ready))).toBe(true);
    const whole = await lacking(report, Preflight.make({ steps: [] }).ready);
    expect(Result.isFailure(whole) && whole.failure).toMatchObject({ missing: [{ reason: "StepMissing" }] });
  });

  it.each(["code", "nonce", "assets", "approvals", "funds"] as const)(
    "is judged in the proof of a pipeline with the step: %s",
    async (name) => {
      const lean = await on(pipeline(name).scan({ ...transfer(), nonce: await scene.count(owner.address) }));
      const proven = await on(Preflight.prove(lean));
      expect([proven.verdict, proven.stage, leftOut(proven)]).toEqual(["ready", "proven", []]);
      expect([proven.transfers.length, proven.funds.length, proven.steps.without]).toEqual([1, 1, []]);
      expect((await on(Preflight.make({ steps: [] }).ready(proven))).requests).toHaveLength(1);
    },
  );

  it("leaves the step out of a proof, whatever the report has", async () => {
    const theirs = await on(pipeline("approvals").prove(await on(Preflight.scan(transfer()))));
    expect([leftOut(theirs), theirs.stage]).toEqual([["approvals/warning"], "proven"]);
    const whole = await on(Preflight.scan(transfer()));
    const unproven = await on(pipeline("simulate").prove(whole));
    expect([leftOut(unproven), unproven.stage, unproven.verdict]).toEqual([
      ["simulate/unavailable"],
      "scanned",
      "unknown",
    ]);
    expect(unproven.ledger).toEqual(whole.ledger);
  });

  it("says by our own rule what the step lacks where nobody simulates, whatever the report says", async () => {
    const asked: Array<string> = [];
    const asking = Step.make({
      name: "acme/asks",
      ask: (_, { stage }) => Effect.sync(() => void asked.push(stage)),
      check: () => [],
    });
    const lean = await on(pipeline("approvals").scan(transfer()));
    const said = { ...lean.findings[0], code: "LeftOut", severity: "info", step: "simulate" } as Report.Finding;
    const mine = Preflight.make({ steps: [asking], without: ["simulate"] });
    const proven = await on(mine.prove({ ...lean, findings: [...lean.findings, said] }));
    expect([proven.verdict, leftOut(proven), proven.steps.without, asked]).toEqual([
      "unknown",
      ["simulate/unavailable", "approvals/warning"],
      ["simulate", "approvals"],
      [],
    ]);
  });

  it("keeps a proof's findings about the gas limit", async () => {
    const scanned = await on(pipeline("estimate").scan({ ...transfer(), gas: 100_000n }));
    const lost = tampered(scene.url, ({ purpose }) =>
      purpose === "ample"
        ? new RpcError({ method: "eth_simulateV1", reason: new InternalError({ detail: "" }) })
        : null,
    );
    const proven = await Effect.runPromise(Effect.provide(pipeline("estimate").prove(scanned), lost));
    expect([proven.verdict, leftOut(proven)]).toEqual(["unknown", ["estimate/warning"]]);
  });

  it("is proven with the estimate, too, by a pipeline with the step", async () => {
    const doubting = tampered(scene.url, ({ method }) => (method === "eth_estimateGas" ? () => "0x7a120" : null));
    const proving = (pipe: Preflight.Pipeline) =>
      Effect.runPromise(
        Effect.provide(
          Effect.flatMap(pipe.scan({ ...transfer(), gas: 100_000n }), (lean) => pipeline().prove(lean)),
          doubting,
        ),
      );
    const [whole, mine] = [await proving(pipeline()), await proving(pipeline("estimate"))];
    expect([whole.verdict, mine.verdict, mine.steps.without]).toEqual(["caution", "caution", []]);
    for (const { transactions, findings } of [whole, mine]) {
      expect(transactions[0].gas.estimate).toBe(500_000n);
      expect(findings.map(({ code }) => code)).toContain("GasBelowEstimate");
    }
    expect(mine.ledger.requests.filter(({ step }) => step === "estimate")).toMatchObject([{ because: "proof" }]);
  });

  it("hides no right: what is spent is read of tokens that move, and an unmeasured right is shown", async () => {
    const quiet = await scene.deploy(QuietAllowance);
    await scene.send(owner, { to: quiet, data: calldata(QuietAllowance, "approve", [other.address, 50n]) });
    await scene.mine();
    const data = calldata(QuietAllowance, "transferFrom", [owner.address, other.address, 20n]);
    const taking = { from: other.address, to: quiet, data };
    const [whole, mine] = [await on(Preflight.preflight(taking)), await on(pipeline("assets").preflight(taking))];
    expect(whole.approvals).toHaveLength(1);
    expect(mine.approvals).toEqual(whole.approvals);
    expect((await on(pipeline("assets").prove(whole))).approvals).toEqual(whole.approvals);
    const none = { holdings: 320, rights: 0, tokens: 48 };
    const cut = await on(
      Effect.provideService(pipeline("assets").preflight(approval()), Preflight.MeasureLimits, none),
    );
    expect(cut.findings.map(({ code }) => code)).toContain("PartiesCut");
  });

  it("asks for it neither after the verdict, nor in the pool where nobody counts", async () => {
    const failing = { from: other.address, to: token, data: "0xa9059cbb", gas: 100_000n } as const;
    const whole = await on(Preflight.scan(failing));
    expect(whole.transactions[0].outcome.status).toBe("reverted");
    const unproven = await on(pipeline("simulate").prove(whole, { traceReverts: true }));
    expect(unproven.ledger).toEqual(whole.ledger);
    await scene.pool(third, { to: owner.address, value: 1n });
    const behind = await on(Preflight.scan({ from: third.address, to: owner.address, value: 2n }));
    const proven = await on(pipeline("nonce").prove(behind));
    await scene.mine();
    const asked = ({ ledger }: Report.Report) =>
      ledger.requests.filter(({ step, round }) => step === "nonce" && round > behind.ledger.rounds);
    expect([behind.transactions[0].nonce.inFlight, asked(proven)]).toEqual([1, []]);
  });

  it("says that nobody looked, and never that nothing changes", async () => {
    const said = async (input: object, ...without: ReadonlyArray<Name>) =>
      Report.summary(await on(pipeline(...without).preflight(input as never)));
    const assets = await said(transfer(), "assets");
    expect(assets).toContain("Movements were not checked.");
    expect(assets).not.toContain("without moving anything");
    const approvals = await said(approval(), "approvals");
    expect(approvals).toContain("Approvals were not checked.");
    expect(approvals).not.toContain("without moving anything");
    expect(await said(transfer(), "assets", "approvals")).toContain("Movements and approvals were not checked.");
    expect(await said(transfer())).not.toContain("not checked");
  });

  it("works with a caller's steps, which see the report without the step", async () => {
    const seen: Array<number> = [];
    const looking = Step.make({
      name: "acme/looks",
      check: ({ transfers }) => (seen.push(transfers.length), []),
    });
    const mine = Preflight.make({ steps: [looking], without: ["assets"] });
    const report = await on(mine.preflight(transfer()));
    expect(report.steps).toEqual({ with: ["acme/looks"], without: ["assets"] });
    expect(new Set(seen)).toEqual(new Set([0]));
  });

  it.each(["simulate", "estimate", "fee", "funds"] as const)(
    "is named by its step to a caller of maxSendable: %s",
    async (name) => {
      const failed = await on(Effect.flip(pipeline(name).maxSendable(third.address, other.address)));
      expect(failed.message).toContain(`a step was left out of the pipeline · step ${name}`);
    },
  );

  it.each([
    ["without[0]", ["codes"]],
    ["without[1]", ["code", "code"]],
    ["without[0]", ["chain"]],
    ["without", "code"],
  ])("is refused by its field: %s", (field, without) => {
    const made = Result.try(() => Preflight.make({ without } as never));
    expect(Result.isFailure(made) && made.failure).toMatchObject({ _tag: "InvalidStep", field });
  });
});
