/** What to sign is chosen once: kept by every proof, changed only by those who say so. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assignNonces, choose, everyStep, keep, signedOf, withLimits } from "../../rooms/pipeline.js";
import { digestOfReport, type BundleReport } from "../../rooms/report.js";
import { isRequestOf } from "../../rooms/transaction.js";
import { alice, bob, bundle, chain, codes } from "../../steps/parts.js";
import { gwei } from "../../steps/reading/facts.js";
import { Address } from "../../rooms/primitives.js";
import { about, answersTo, did, holding, named, reportOf, roundOf, run, scanned, type Scanned } from "./world.js";
import { inputs, worlds } from "./worlds.js";

const records = ({ transactions }: BundleReport) =>
  transactions.map(({ nonce, gas, fee, request, code }) => ({ nonce, gas, fee, request, code }));
const whole = (report: BundleReport) => {
  const signed = signedOf(report);
  if (signed === null) throw new Error("the requests are whole");
  return signed;
};
const isWhole = ({ transactions }: BundleReport) => transactions.every(({ request }) => request !== null);
/** The report's own choices beside the same answers again. */
const keptOn = ({ report, answers }: Scanned, of = report): BundleReport =>
  reportOf(keep(whole(of), answers), answers, about());

describe("choosing for several cases", () => {
  it("gives as many transactions, in the same order, each with its own request", () =>
    fc.assert(
      fc.property(inputs(64), (given) => {
        const { cases, filled, report } = scanned(given);
        expect(report.transactions).toHaveLength(given.length);
        for (const [index, { input, request }] of report.transactions.entries()) {
          expect(input).toBe(cases[index]?.input);
          expect(filled[index]?.index).toBe(index);
          expect(request !== null && isRequestOf(input, request)).toBe(true);
        }
      }),
      { numRuns: 30 },
    ));
});

describe("the balance of a payer", () => {
  it("is worked out once for all cases of a bundle, however many pay", () => {
    const senders = Array.from({ length: 40 }, (_, index) =>
      Address.make(`0x${String(1_000 + index).padStart(40, "0")}`),
    );
    const cases = bundle(...senders.map((from) => ({ from })));
    const { answers } = scanned(senders.map((from) => ({ from })));
    let reads = 0;
    const balanceOf: typeof answers.balanceOf = (account) => {
      reads++;
      return answers.balanceOf(account);
    };
    choose(cases, { ...answers, balanceOf });
    expect(reads).toBeLessThan(4 * senders.length);
  });
});

describe("the choices of a report", () => {
  it("are the same for the same answers, when nothing moved", () =>
    fc.assert(
      fc.property(worlds(), ({ inputs: given, round }) => {
        const scan = scanned(given, round);
        fc.pre(isWhole(scan.report));
        const kept = keptOn(scan);
        expect(records(kept)).toEqual(records(scan.report));
        expect([kept.digest, kept.funds]).toEqual([scan.report.digest, scan.report.funds]);
        expect(codes(kept.findings)).toEqual(codes(scan.report.findings));
      }),
    ));
  it("survive the report unchanged", () =>
    fc.assert(
      fc.property(worlds(), ({ inputs: given, round }) => {
        const { filled, report } = scanned(given, round);
        fc.pre(isWhole(report));
        const chosen = whole(report);
        expect(chosen.map(({ nonce, gas, fee, request }) => ({ nonce, gas, fee, request }))).toEqual(
          filled.map(({ nonce, gas, fee, request }) => ({ nonce, gas, fee, request })),
        );
        expect(chosen.map(({ said }) => said)).toEqual([...report.transactions]);
      }),
    ));
  it("stay when the chain moves: required sums, the base fee and the estimate move beside them", () => {
    const scan = scanned([{ value: 1n }]);
    const before = holding(10n ** 30n, { baseFeePerGas: 3n * gwei });
    const answers = answersTo(
      roundOf(scan.cases, {
        counts: new Map([[alice, { latest: Result.succeed(9), pending: Result.succeed(9) }]]),
        reader: Result.succeed(named("readerOnly", [], { before })),
        estimate: Result.succeed(10n ** 6n),
      }),
    );
    const [moved, first] = [reportOf(keep(whole(scan.report), answers), answers, about()), scan.report];
    const [{ nonce, gas, fee, request }, was] = [moved.transactions[0], first.transactions[0]];
    expect(request).toEqual(was.request);
    expect([nonce.value, nonce.latest, fee.maxFeePerGas, fee.baseFeePerGas, gas.limit]).toEqual([
      ...[was.nonce.value, 9, was.fee.maxFeePerGas, 3n * gwei, was.gas.limit],
    ]);
    expect(codes(moved.findings)).toEqual(expect.arrayContaining(["NonceTooLow/blocker", "FeeCapTooLow/blocker"]));
  });
  it("with a hole are not cleared", () => {
    const { report } = scanned([{}, {}], { counts: new Map() });
    expect(report.transactions.map(({ request }) => request)).toEqual([null, null]);
    expect([signedOf(report), report.digest]).toEqual([null, null]);
    expect(signedOf(scanned([{}, {}]).report)?.map(({ request }) => request.nonce)).toEqual([4, 5]);
  });
});

describe("a price above the balance", () => {
  const pair = [{}, {}];
  const shortOf = (missing: bigint): Scanned => {
    const required = scanned(pair).report.funds[0]?.required ?? 0n;
    const before = holding(required - missing);
    const reader = Result.succeed(named("readerOnly", [], { before }));
    return scanned(pair, {
      reader,
      run: Result.succeed(
        run(
          pair.map(() => did()),
          { before },
        ),
      ),
    });
  };
  it("is lowered for every transaction of the payer alike, and just enough", () => {
    const scan = shortOf(1n);
    const { report } = scan;
    const [first, second] = report.transactions;
    expect(first.fee.shortenedFrom).not.toBeNull();
    expect(second?.fee).toEqual(first.fee);
    expect(report.funds[0]?.shortfall).toBe(0n);
    expect(first.request).toMatchObject({ maxFeePerGas: first.fee.maxFeePerGas });
    expect(codes(report.findings)).toEqual(["FeeHorizonShort/warning", "FeeHorizonShort/warning"]);
    expect(records(keptOn(scan))).toEqual(records(report));
  });
  it("is not lowered at all where one of the payer's transactions cannot follow", () => {
    const whole = scanned(pair).report.transactions[0].fee.maxFeePerGas ?? 0n;
    const { report } = shortOf(whole * 80_000n);
    expect(report.transactions.map(({ fee }) => fee.shortenedFrom)).toEqual([null, null]);
    expect(codes(report.findings)).toContain("InsufficientFunds/blocker");
  });
});

describe("a price of a payer without funds", () => {
  const short = (inputs: NonNullable<Parameters<typeof scanned>[0]>, changed: Parameters<typeof scanned>[1] = {}) => {
    const before = holding((scanned(inputs).report.funds[0]?.required ?? 0n) - 1n);
    const run1 = Result.succeed(
      run(
        inputs.map(() => did()),
        { before },
      ),
    );
    const { report } = scanned(inputs, {
      reader: Result.succeed(named("readerOnly", [], { before })),
      run: run1,
      ...changed,
    });
    return report.transactions.map(({ fee }) => fee.shortenedFrom === null);
  };
  it("is lowered where it is ours, and stays where the caller fixed it", () => {
    expect(short([{}, {}])).toEqual([false, false]);
    expect(short([{}, { gasPrice: 10n * gwei }])).toEqual([false, true]);
  });
  it("stays where the step funds is left out", () =>
    expect(short([{}, {}], { steps: new Set([...everyStep].filter((name) => name !== "funds")) })).toEqual([
      true,
      true,
    ]));
});

describe("nonces reserved elsewhere", () => {
  const scan = scanned([{}, { nonce: 5 }, { from: bob }, {}]);
  it("are marked as reserved and assumed, in the record, the request and the digest", () => {
    const assigned = assignNonces(scan.report, [9n, null, 7n, 10n]);
    expect(assigned.transactions.map(({ nonce: { value, by, evidence } }) => [value, by, evidence])).toEqual([
      [9, "reserved", "assumed"],
      [5, "caller", "assumed"],
      [7, "reserved", "assumed"],
      [10, "reserved", "assumed"],
    ]);
    expect(assigned.transactions.map(({ request }) => request?.nonce)).toEqual([9, 5, 7, 10]);
    expect(assigned.digest).toBe(digestOfReport(assigned));
    expect(assigned.digest).not.toBe(scan.report.digest);
  });
  it("undo a proof of other requests; unchanged ones leave it", () => {
    const proven: BundleReport = { ...scan.report, stage: "proven" };
    expect(assignNonces(proven, [9n]).stage).toBe("scanned");
    expect(assignNonces(proven, [null, 9n]).stage).toBe("proven");
  });
  it("leave the caller's nonces, missing ones, and impossible ones", () => {
    const nothing = assignNonces(scan.report, [null, 9n, 2n ** 53n]);
    expect(records(nothing)).toEqual(records(scan.report));
    expect(nothing.digest).toBe(scan.report.digest);
  });
  it("are kept by a proof, with a finding that they are ahead", () => {
    const assigned = assignNonces(scanned([{}]).report, [9n]);
    const proven = keptOn(scanned([{}]), assigned);
    expect(proven.transactions[0].nonce).toMatchObject({ value: 9, by: "reserved", evidence: "assumed", gap: 5 });
    expect(proven.transactions[0].request?.nonce).toBe(9);
    expect(codes(proven.findings)).toContain("NonceUnderReservation/warning");
  });
});

describe("wider gas limits", () => {
  it("are set only where we choose the limit", () => {
    const { report } = scanned([{}, { gas: 70_000n }, {}]);
    const wider = withLimits(report, [100_000n, 100_000n, 90_000n]);
    expect(wider.transactions.map(({ gas, request }) => [gas.limit, request?.gas, gas.by])).toEqual([
      [100_000n, 100_000n, "us"],
      [70_000n, 70_000n, "caller"],
      [90_000n, 90_000n, "us"],
    ]);
    expect([wider.digest, wider.digest === report.digest]).toEqual([digestOfReport(wider), false]);
  });
});

it("the chain bounds the choice: a cap on gas, a least tip", () => {
  const cases = bundle({ data: "0x1234" as never });
  const answers = answersTo(roundOf(cases), { chains: () => chain({ minTip: 77n, txGasCap: 60_000n }) });
  const [one] = choose(cases, answers);
  expect([one.gas.value, one.fee.value.maxPriorityFeePerGas]).toEqual([60_000n, 77n]);
});
