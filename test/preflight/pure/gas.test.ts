/** Whether the gas limit decides what happens, and which limit is handed out instead: every way it can end. */
import { gasFor } from "../../rooms/witness.js";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { IntrinsicGasTooLow, OutOfGas } from "../../rooms/errors.js";
import { gasPlan, isInDoubt, settleGas, type GasLimits as Limits } from "../../rooms/pipeline.js";
import type { AskResult, Reading, Run } from "../../rooms/steps.js";
import { layerScripted } from "../../../src/testing.js";
import type { Transaction } from "../../../src/Transaction.js";
import { codes, hexOf, log, token, transaction, unanswered, word } from "../../steps/parts.js";
import { did, holding, named, options, plan, run, scanned, type Told } from "./world.js";

const call: Partial<Transaction> = { data: hexOf("0x12345678"), to: token };
/** What is chosen for calls of a contract of which nothing is known. */
const scanOf = (inputs: ReadonlyArray<Partial<Transaction>> = [call], changed: Partial<Told> = {}) =>
  scanned(inputs, { codes: new Map(), ...changed });
const ran = (...readings: ReadonlyArray<Reading>): AskResult<Run> => Result.succeed(named("exact", readings));
const refused: AskResult<Run> = Result.fail(unanswered("eth_simulateV1"));
const tooTight: AskResult<Run> = Result.fail(new OutOfGas({ gasLimit: 60_000n }));
const belowIntrinsic: AskResult<Run> = Result.fail(new IntrinsicGasTooLow({}));
const done = did();
const swallowed = did({ logs: [log(token, [word(1n)])] });
/** A run whose only call had this much gas, took all of it and failed. */
const dry = (gas: bigint): AskResult<Run> =>
  Result.succeed(
    named("exact", [did({ status: "halted", gasUsed: gas })], {
      plan: plan({ name: "exact", calls: [{ input: transaction(), request: {}, gas }] }),
    }),
  );

describe("the doubt whether gas decides", () => {
  /** Beside what the calls do with ample gas; null = not known. */
  const doubt = (exact: AskResult<Run>, next = ran(done), ample: ReadonlyArray<Reading> | null = [done]) =>
    isInDoubt(exact, next, ample?.map(({ outcome }) => outcome) ?? null);
  it("does not arise where the exact requests do what ample gas does, to the last byte", () => {
    expect(doubt(ran(done))).toBe(false);
    expect(doubt(ran(swallowed))).toBe(true);
    expect(doubt(ran(did({ returnData: hexOf("0x01") })))).toBe(true);
    expect(doubt(ran(swallowed), ran(done), [swallowed])).toBe(false);
    expect(doubt(ran(done), ran(done), [swallowed])).toBe(true);
    expect(doubt(ran(done, done), ran(done, done), [done, swallowed])).toBe(true);
  });
  it("does not arise where the outcome with ample gas is unknown, which another finding says", () =>
    expect(doubt(ran(swallowed), ran(done), null)).toBe(false));
  it("arises where a run was refused for its gas, or ran dry, in either block", () => {
    expect([doubt(tooTight), doubt(belowIntrinsic), doubt(refused)]).toEqual([true, true, false]);
    expect(doubt(ran(done), dry(60_000n))).toBe(true);
    expect(doubt(dry(60_000n))).toBe(true);
    expect(doubt(dry(60_000n), ran(done), null)).toBe(true);
  });
  it("counts a run as out of gas only when it failed with all its gas, but for what inner calls leave", () => {
    const beside = (changed: Parameters<typeof did>[0]) => {
      const run = named("next", [did(changed)], {
        plan: plan({ calls: [{ input: transaction(), request: {}, gas: 100n }] }),
      });
      return doubt(ran(done), Result.succeed(run));
    };
    expect(beside({ status: "reverted", gasUsed: 100n })).toBe(true);
    expect(beside({ status: "reverted", gasUsed: 88n })).toBe(true);
    expect(beside({ status: "reverted", gasUsed: 87n })).toBe(false);
    expect(beside({ status: "success", gasUsed: 100n })).toBe(false);
  });
});

/** Answers by what the limit of the first case is; says what was asked for. */
const settle = (
  answer: (limit: bigint, round: number) => AskResult<Run>,
  {
    there,
    inputs = [call],
    balance = null,
  }: {
    /** Answers in the other block context; left out = it is not asked. */
    readonly there?: (limit: bigint) => AskResult<Run>;
    readonly inputs?: ReadonlyArray<Partial<Transaction>>;
    /** What alice has, wei; null = more than anything costs. */
    readonly balance?: bigint | null;
  } = {},
) => {
  const before = balance === null ? holding(10n ** 30n) : holding(balance);
  const { filled, answers, report } = scanOf(inputs, {
    run: Result.succeed(
      run(
        inputs.map(() => did()),
        { before },
      ),
    ),
    reader: Result.succeed(named("readerOnly", [], { before })),
  });
  const asked: Array<ReadonlyArray<Limits>> = [];
  const gas = Effect.runSync(
    settleGas(filled, answers, (limits) => {
      asked.push(limits);
      const here = limits.map(([limit]) => answer(limit, asked.length));
      return Effect.succeed(there === undefined ? [here] : [here, limits.map(([limit]) => there(limit))]);
    }).pipe(Effect.provide(layerScripted({}))),
  );
  const [{ fee, gas: chosen }] = filled;
  return {
    ...{ gas, asked, tight: chosen.value ?? 0n, cap: report.transactions[0].gas.cap ?? 0n },
    ...{ price: fee.value.maxFeePerGas ?? 0n, required: report.funds[0]?.required ?? 0n },
  };
};
const { tight, cap } = settle(() => ran(done));
const wide = (tight * 150n) / 100n;
const from = (least: bigint) => (limit: bigint) => ran(limit >= least ? done : swallowed);

describe("the chosen gas limit", () => {
  it("stays where it does what ample gas does, each asked once and side by side", () => {
    const { gas, asked } = settle(() => ran(done));
    expect(gas).toMatchObject({ limits: null, findings: [] });
    expect(asked).toEqual([[[tight], [wide], [cap]]]);
  });
  it("becomes the wider one where only that does", () =>
    expect(settle(from(wide)).gas).toMatchObject({ limits: [wide], findings: [] }));
  it("is searched for where neither does, and is the first of the row that does", () => {
    const { gas, asked } = settle(from(10n * tight));
    expect(asked).toHaveLength(2);
    const rungs = asked[1]?.map(([limit]) => limit) ?? [];
    expect(rungs).toHaveLength(6);
    expect([rungs[0] ?? 0n > wide, rungs.at(-1)]).toEqual([expect.anything(), cap]);
    expect(gas.findings).toEqual([]);
    expect(gas.limits).toEqual([rungs.find((limit) => limit >= 10n * tight)]);
  });
  it("becomes ample gas itself where only that does", () => expect(settle(from(cap)).gas.limits).toEqual([cap]));
  it("stays, with a warning, where the result follows the gas", () => {
    const { gas } = settle((limit) => ran(did({ returnData: hexOf(`0x${word(limit)}`) })));
    expect([gas.limits, codes(gas.findings)]).toEqual([null, ["GasDependent/warning"]]);
    expect(gas.findings[0]?.numbers).toEqual([
      { name: "limit", unit: "gas", value: tight },
      { name: "compared with", unit: "gas", value: cap },
    ]);
  });
  it("stays, with a warning, where the caller fixed it", () => {
    const own = { ...call, gas: 70_000n };
    const { gas, asked } = settle(from(80_000n), { inputs: [own] });
    expect(asked).toEqual([[[70_000n], [cap]]]);
    expect([gas.limits, codes(gas.findings)]).toEqual([null, ["GasHeadroomThin/warning"]]);
  });
  it("is widened in a bundle where it is ours, and stays where it is the caller's", () => {
    const second = { ...call, gas: 70_000n };
    const share = 30_000_000n / 2n;
    const { gas, asked } = settle(from(wide), { inputs: [call, second] });
    expect(asked[0]?.map(([, limit]) => limit)).toEqual([70_000n, 70_000n, 70_000n, share]);
    expect(gas.limits).toEqual([wide, 70_000n]);
  });
  it("is the one that holds in the other block, too", () => {
    const both = (least: bigint) => settle(() => ran(done), { there: from(least) });
    expect(both(tight).gas.limits).toBe(null);
    expect(both(wide).gas.limits).toEqual([wide]);
    const { gas, asked } = both(10n * tight);
    expect(gas.limits).toEqual([asked[1]?.map(([limit]) => limit).find((limit) => limit >= 10n * tight)]);
    // whichever of them asks for more
    expect(settle(from(10n * tight), { there: () => ran(done) }).gas.limits).toEqual(gas.limits);
  });
  it("stays where the other block fails with any gas, because no limit helps there", () =>
    expect(settle(() => ran(done), { there: dry }).gas).toMatchObject({ limits: null, findings: [] }));
  it("stays, and is unknown, where the other block gave no answer", () => {
    const { limits, findings } = settle(() => ran(done), { there: () => refused }).gas;
    expect([limits, codes(findings)]).toEqual([null, ["Transport/unavailable"]]);
  });
  it("is the first that works where it is refused for its gas", () => {
    expect(settle((limit) => (limit === tight ? tooTight : ran(done))).gas.limits).toEqual([wide]);
    expect(settle((limit) => (limit < cap ? tooTight : ran(done))).gas.limits).toEqual([cap]);
    expect(settle(() => tooTight).gas).toMatchObject({ limits: null, findings: [] });
  });
  it("stays, and is unknown, where any of the runs got no answer", () => {
    for (const lost of [tight, wide, cap]) {
      const { limits, findings } = settle((limit) => (limit === lost ? refused : ran(done))).gas;
      expect([limits, codes(findings)]).toEqual([null, ["Transport/unavailable"]]);
      expect(findings[0]).toMatchObject({ step: "estimate", evidence: "unavailable" });
    }
  });
  it("stays, and is unknown, where the search for a wider one got no answer", () => {
    const { gas, asked } = settle((limit, round) => (round === 2 && limit < cap ? refused : from(cap)(limit)));
    expect(asked).toHaveLength(2);
    expect([gas.limits, codes(gas.findings)]).toEqual([null, ["Transport/unavailable"]]);
  });
  it("is not searched for where nothing is executed", () => {
    const { gas, asked } = settle(() => ran(swallowed), { inputs: [{}] });
    expect([gas, asked]).toMatchObject([{ limits: null, findings: [] }, []]);
  });
});

describe("ample gas above what the payer can pay", () => {
  const own = { ...call, gas: 70_000n };
  /** Alice can pay for so much more gas than she is asked to sign for. */
  const paying = (more: bigint, inputs: ReadonlyArray<Partial<Transaction>> = [call]) => {
    const { required, price } = settle(() => ran(done), { inputs });
    return { inputs, balance: required + more * price };
  };
  it("is still simulated, and no chosen limit exceeds what can be paid", () => {
    expect(settle(() => ran(done), paying(5_000n)).asked).toEqual([[[tight], [tight + 5_000n], [cap]]]);
    expect(settle(() => ran(done), paying(100_000n)).asked).toEqual([[[tight], [wide], [tight + 100_000n], [cap]]]);
    expect(settle(() => ran(done), paying(0n)).asked).toEqual([[[tight], [cap]]]);
    expect(settle(from(tight + 5_000n), paying(5_000n)).gas).toMatchObject({ limits: [tight + 5_000n], findings: [] });
    expect(settle(from(wide + 1n), paying(100_000n)).gas.limits).toEqual([tight + 100_000n]);
  });
  it("has a warning where only it does the same", () => {
    for (const more of [0n, 5_000n, 100_000n]) {
      const { gas } = settle(from(cap), paying(more));
      expect([gas.limits, codes(gas.findings)]).toEqual([null, ["GasHeadroomThin/warning"]]);
    }
  });
  it("is shared by the transactions of one payer", () => {
    const { asked } = settle(() => ran(done, done), paying(10_000n, [call, call]));
    const [, second] = asked[0]?.[0] ?? [];
    expect(asked[0]?.[1]).toEqual([tight + 5_000n, (second ?? 0n) + 5_000n]);
  });
  it("is simulated beside a caller's own limit, which stays", () =>
    expect(settle(() => ran(done), paying(5_000n, [own])).asked).toEqual([[[70_000n], [cap]]]));
  it("is never more than its share of the block", () => {
    const small = holding(10n ** 30n, { gasLimit: 80_000n });
    const { filled, answers } = scanOf([call], {
      run: Result.succeed(run([did()], { before: small })),
      reader: Result.succeed(named("readerOnly", [], { before: small })),
    });
    const asked: Array<ReadonlyArray<Limits>> = [];
    const askAt = (limits: ReadonlyArray<Limits>) => {
      asked.push(limits);
      return Effect.succeed([limits.map(() => ran(done))] as const);
    };
    Effect.runSync(settleGas(filled, answers, askAt).pipe(Effect.provide(layerScripted({}))));
    expect(asked).toEqual([[[tight], [80_000n]]]);
  });
});

describe("the block of a gas run", () => {
  /** For the witness, which says on which chain and block it ran, and asks for as much again. */
  const looking = 2n * gasFor([{ kind: "environment" }]);
  const roomIn = (gasLimit: bigint | undefined, limits: Limits) =>
    gasPlan(
      {
        ...{ bundle: scanOf([call, call]).filled, options, block: "latest", ahead: [] },
        room: null,
        context: { number: 7n, ...(gasLimit === undefined ? {} : { gasLimit }) },
      },
      limits,
    ).blockOverrides;

  it.each([
    [
      "keeps the world's limit, where that has room for all",
      60_000_000n + looking,
      [30_000_000n, 30_000_000n],
      60_000_000n + looking,
    ],
    [
      "has room for the limits, where the world's is a little smaller",
      59_999_999n,
      [30_000_000n, 30_000_000n],
      60_000_000n + looking,
    ],
    ["is the node's own, where the world says nothing of it", undefined, [30_000_000n, 30_000_000n], undefined],
  ] satisfies ReadonlyArray<readonly [string, bigint | undefined, Limits, bigint | undefined]>)(
    "%s",
    (_, gasLimit, limits, room) => {
      expect(roomIn(gasLimit, limits)).toEqual({ number: 7n, ...(room === undefined ? {} : { gasLimit: room }) });
    },
  );
});

describe("the signers' balances in a gas run", () => {
  /** What is left of each signer's money inside the last of its calls, had the earlier ones burned their gas. */
  const leftIn = (calls: ReadonlyArray<Partial<Transaction>>, limits: Limits, fees: object) => {
    const { filled } = scanOf(calls);
    const state = gasPlan(
      { bundle: filled, options, block: "latest", ahead: [], room: null, ...fees } as never,
      limits,
    );
    return Object.values(state.stateOverrides ?? {}).map(({ balance }) => BigInt(balance ?? 0) - 2n ** 128n);
  };
  const paying = (base: bigint) => ({ context: { baseFeePerGas: base } });
  const priced = { ...call, maxFeePerGas: 9n, maxPriorityFeePerGas: 2n };

  it("leave the same behind the price of the gas, at every limit", () => {
    for (const limit of [50_000n, 60_000n, 16_000_000n]) {
      expect(leftIn([priced], [limit], paying(5n))).toEqual([limit * 7n]);
      expect(leftIn([priced], [limit], paying(8n))).toEqual([limit * 9n]);
      expect(leftIn([{ ...call, gasPrice: 6n }], [limit], paying(5n))).toEqual([limit * 6n]);
      expect(leftIn([priced], [limit], { context: null, baseFee: 5n })).toEqual([limit * 7n]);
    }
  });
  it("are enough for all of their calls", () =>
    expect(leftIn([priced, priced], [50_000n, 60_000n], paying(5n))).toEqual([110_000n * 7n]));
});
