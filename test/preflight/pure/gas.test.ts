/** Whether the gas limit decides what happens, and which limit is handed out instead: every way it can end. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { OutOfGas } from "../../../src/errors/verdicts.js";
import type { Heard } from "../../../src/preflight/answers.js";
import { signedOf } from "../../../src/preflight/choose.js";
import { ampleBeside, isInDoubt, settleGas, type Limits } from "../../../src/preflight/gas.js";
import type { Report } from "../../../src/report/schema.js";
import type { Reading } from "../../../src/steps/reading/bundle.js";
import type { Run } from "../../../src/steps/simulate.js";
import { layerScripted } from "../../../src/testing.js";
import type { Transaction } from "../../../src/Transaction.js";
import { codes, hexOf, log, token, transaction, unanswered, word } from "../../steps/parts.js";
import { did, named, plan, scanned } from "./world.js";

const call: Partial<Transaction> = { data: hexOf("0x12345678"), to: token };
const scanOf = (...inputs: ReadonlyArray<Partial<Transaction>>) => {
  const { report } = scanned(inputs.length === 0 ? [call] : inputs, { codes: new Map() });
  const bundle = signedOf(report);
  if (bundle === null) throw new Error("the requests are whole");
  return { report, bundle };
};
const ran = (...readings: ReadonlyArray<Reading>): Heard<Run> => Result.succeed(named("exact", readings));
const refused: Heard<Run> = Result.fail(unanswered("eth_simulateV1"));
const tooTight: Heard<Run> = Result.fail(new OutOfGas({ gasLimit: 60_000n }));
const done = did();
const swallowed = did({ logs: [log(token, [word(1n)])] });
/** A run whose only call had this much gas, took all of it and failed. */
const dry = (gas: bigint): Heard<Run> =>
  Result.succeed(
    named("exact", [did({ status: "halted", gasUsed: gas })], {
      plan: plan({ name: "exact", calls: [{ input: transaction(), request: {}, gas }] }),
    }),
  );

describe("whether gas may decide", () => {
  const doubt = (exact: Heard<Run>, next = ran(done), beside: Heard<Run> | null = null) =>
    isInDoubt(scanOf().bundle, exact, next, beside);
  it("is not in doubt where the exact requests did what the scan did", () => {
    expect(doubt(ran(done))).toBe(false);
    expect(doubt(ran(swallowed))).toBe(true);
    expect(doubt(ran(did({ returnData: hexOf("0x01") })))).toBe(true);
  });
  it("is judged by the run with ample gas where there is one, else by the scan", () => {
    expect(doubt(ran(swallowed), ran(done), ran(swallowed))).toBe(false);
    expect(doubt(ran(done), ran(done), ran(swallowed))).toBe(true);
    expect(doubt(ran(done), ran(done), refused)).toBe(false);
  });
  it("is in doubt where a run was refused for its gas, or ran dry, in either context", () => {
    expect([doubt(tooTight), doubt(refused)]).toEqual([true, false]);
    expect(doubt(ran(done), dry(60_000n))).toBe(true);
    expect(doubt(dry(60_000n))).toBe(true);
  });
  it("is exhausted when it failed with all its gas, and only then", () => {
    const beside = (changed: Parameters<typeof did>[0]) => {
      const run = named("next", [did(changed)], {
        plan: plan({ calls: [{ input: transaction(), request: {}, gas: 100n }] }),
      });
      return doubt(ran(done), Result.succeed(run));
    };
    expect(beside({ status: "reverted", gasUsed: 100n })).toBe(true);
    expect(beside({ status: "reverted", gasUsed: 99n })).toBe(false);
    expect(beside({ status: "success", gasUsed: 100n })).toBe(false);
  });
});

describe("ample gas beside the exact requests", () => {
  it("is asked for where a caller's limit was all that the scan ran with", () => {
    const own = scanOf({ ...call, gas: 70_000n });
    const ample = ampleBeside(own.report, own.bundle);
    expect(ample?.[0]).toBeGreaterThan(70_000n);
    expect(ample?.[0]).toBe(own.report.transactions[0].gas.cap);
    expect(ampleBeside({ ...own.report, stage: "proven" }, own.bundle)).toBeNull();
    const ours = scanOf();
    expect(ampleBeside(ours.report, ours.bundle)).toBeNull();
  });
  it("is never more than the payer can pay at the chosen price, nor than its share of the block", () => {
    const { report, bundle } = scanOf({ ...call, gas: 70_000n });
    const [{ request }] = bundle;
    const price = request.maxFeePerGas ?? 0n;
    const pays = (more: bigint): Report => ({
      ...report,
      funds: report.funds.map((payer) => ({ ...payer, balance: (payer.required ?? 0n) + more * price })),
    });
    expect(ampleBeside(pays(5_000n), bundle)).toEqual([75_000n]);
    expect(ampleBeside(pays(0n), bundle)).toBeNull();
    const small: Report = { ...report, observed: { ...report.observed, gasLimit: 80_000n } };
    expect(ampleBeside(small, bundle)).toEqual([80_000n]);
  });
  it("is shared by the transactions of one payer", () => {
    const { report, bundle } = scanOf({ ...call, gas: 70_000n }, { ...call, gas: 70_000n });
    const price = bundle[0].request.maxFeePerGas ?? 0n;
    const tight: Report = {
      ...report,
      funds: report.funds.map((payer) => ({ ...payer, balance: (payer.required ?? 0n) + 10_000n * price })),
    };
    expect(ampleBeside(tight, bundle)).toEqual([75_000n, 75_000n]);
  });
  it("changes nothing where nothing is executed", () => {
    const { report } = scanned([{ gas: 21_000n }]);
    const plain = signedOf(report);
    expect(report.transactions[0].code.to?.kind).toBe("nobody");
    expect(plain === null ? undefined : ampleBeside(report, plain)).toBeNull();
  });
});

describe("the limit that is handed out", () => {
  /** Answers by what the limit of the first case is; says what was asked for. */
  const settle = (
    answer: (limit: bigint, round: number) => Heard<Run>,
    {
      next = ran(done),
      inputs = [call],
    }: {
      readonly next?: Heard<Run>;
      readonly inputs?: ReadonlyArray<Partial<Transaction>>;
    } = {},
  ) => {
    const { report, bundle } = scanOf(...inputs);
    const asked: Array<ReadonlyArray<Limits>> = [];
    const gas = Effect.runSync(
      settleGas(report, bundle, next, (limits) => {
        asked.push(limits);
        return Effect.succeed(limits.map(([limit]) => answer(limit, asked.length)));
      }).pipe(Effect.provide(layerScripted({}))),
    );
    return { gas, asked, tight: bundle[0].request.gas, cap: report.transactions[0].gas.cap ?? 0n };
  };
  const { tight, cap } = settle(() => ran(done));
  const wide = (tight * 150n) / 100n;
  const from = (least: bigint) => (limit: bigint) => ran(limit >= least ? done : swallowed);

  it("is the chosen one where it does what ample gas does, asked once each, all side by side", () => {
    const { gas, asked } = settle(() => ran(done));
    expect(gas).toEqual({ limits: null, findings: [] });
    expect(asked).toEqual([[[tight], [wide], [cap]]]);
  });
  it("is the wider one where only that does", () =>
    expect(settle(from(wide)).gas).toEqual({ limits: [wide], findings: [] }));
  it("is searched for where neither does, and is the first of the row that does", () => {
    const { gas, asked } = settle(from(10n * tight));
    expect(asked).toHaveLength(2);
    const rungs = asked[1]?.map(([limit]) => limit) ?? [];
    expect(rungs).toHaveLength(6);
    expect([rungs[0] ?? 0n > wide, rungs.at(-1)]).toEqual([expect.anything(), cap]);
    expect(gas.findings).toEqual([]);
    expect(gas.limits).toEqual([rungs.find((limit) => limit >= 10n * tight)]);
  });
  it("is ample gas itself where only that does", () => expect(settle(from(cap)).gas.limits).toEqual([cap]));
  it("stays, with a warning, where what is returned follows the gas", () => {
    const { gas } = settle((limit) => ran(did({ returnData: hexOf(`0x${word(limit)}`) })));
    expect([gas.limits, codes(gas.findings)]).toEqual([null, ["GasDependent/warning"]]);
    expect(gas.findings[0]?.numbers).toEqual([
      { name: "limit", unit: "gas", value: tight },
      { name: "compared with", unit: "gas", value: cap },
    ]);
  });
  it("that the caller fixed stays, with a warning", () => {
    const own = { ...call, gas: 70_000n };
    const { gas, asked } = settle(from(80_000n), { inputs: [own] });
    expect(asked).toEqual([[[70_000n], [cap]]]);
    expect([gas.limits, codes(gas.findings)]).toEqual([null, ["GasHeadroomThin/warning"]]);
  });
  it("of a bundle is wider where it is ours, and the caller's where it is not", () => {
    const second = { ...call, gas: 70_000n };
    const share = 30_000_000n / 2n;
    const { gas, asked } = settle(from(wide), { inputs: [call, second] });
    expect(asked[0]?.map(([, limit]) => limit)).toEqual([70_000n, 70_000n, 70_000n, share]);
    expect(gas.limits).toEqual([wide, 70_000n]);
  });
  it("is wider where the chosen one runs dry in the other context", () =>
    expect(settle(() => ran(done), { next: dry(tight) }).gas.limits).toEqual([wide]));
  it("is the first that works where the chosen one is refused for its gas", () => {
    expect(settle((limit) => (limit === tight ? tooTight : ran(done))).gas.limits).toEqual([wide]);
    expect(settle((limit) => (limit < cap ? tooTight : ran(done))).gas.limits).toEqual([cap]);
    expect(settle(() => tooTight).gas).toEqual({ limits: null, findings: [] });
  });
  it("stays where ample gas got no answer and the chosen one works", () =>
    expect(settle((limit) => (limit === cap ? refused : ran(done))).gas).toEqual({ limits: null, findings: [] }));
  it.fails("stays where the chosen one merely got no answer: nothing was learned against it", () =>
    expect(settle((limit) => (limit === tight ? refused : ran(done))).gas.limits).toBeNull());
  it("is not searched for where nothing is executed", () => {
    const { gas, asked } = settle(() => ran(swallowed), { inputs: [{}] });
    expect([gas, asked]).toEqual([{ limits: null, findings: [] }, []]);
  });
});
