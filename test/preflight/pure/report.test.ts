/** From answers to a report: what is told, what is left out, what decides, and how each finding is known. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExecutionReverted, InsufficientFunds, NonceTooLow } from "../../rooms/errors.js";
import * as Policy from "../../../src/Policy.js";
import { codes as declared, note } from "../../harness/notes.js";
import { becauseOf, fromError, verdictOf, type Finding, type Report } from "../../rooms/report.js";
import { toJson } from "../../../src/Report.js";
import { stepNames, type Address } from "../../rooms/primitives.js";
import { unseen } from "../../rooms/witness.js";
import { alice, codes as codesIn, hexOf, log, unanswered, word } from "../../steps/parts.js";
import { at as addressAt, topics } from "../../steps/reading/arbitrary.js";
import { absent } from "../../steps/reading/facts.js";
import { did, holding, named, options, rich, run, scanned } from "./world.js";
import { worlds } from "./worlds.js";

const [stranger, nobody] = [addressAt("7"), addressAt("0")];
const lost = Result.fail(unanswered("eth_simulateV1"));
const codes = ({ findings }: Report) => codesIn(findings);
const reverted = did({ status: "reverted", failure: new ExecutionReverted({ data: hexOf("0x") }) });
const at = { step: "proof", evidence: "measured" } as const;

describe("a report on answers in which nothing went wrong", () => {
  it("is ready, with nothing found, and says that it is not proven", () => {
    const { report } = scanned();
    expect([report.verdict, report.findings, report.because]).toEqual([
      ...["ready", [], "nothing found against it yet; not proven"],
    ]);
    expect(report.observed).toMatchObject({
      ...{ blockTag: "latest", baseNumber: 100n, simulatedNumber: 101n, latestNumber: 100n },
      ...{ freshness: "fresh", tier: "simulate", namedChainId: 1 },
    });
  });
  it("says how the outcome was learned", () => {
    const tier = (changed: Parameters<typeof scanned>[1]) => scanned([{}], changed).report.observed.tier;
    const called = { first: Result.succeed(hexOf("0x")), view: null };
    expect([tier({}), tier({ run: lost, called }), tier({ run: lost })]).toEqual(["simulate", "call", "none"]);
  });
});

describe("findings that a blocker makes moot", () => {
  it("include the sum of a payer whose transaction fails anyway, and no other doubt", () => {
    const blind = { before: unseen, after: unseen, witnessed: false };
    const unpaid = { reader: lost, history: absent, receipts: absent, header: absent } as const;
    const found = (reading: typeof reverted) =>
      codes(scanned([{}], { ...unpaid, run: Result.succeed(run([reading], blind)) }).report);
    expect(found(did())).toContain("FundsUnknown/unavailable");
    expect(found(reverted)).not.toContain("FundsUnknown/unavailable");
    expect(found(reverted)).toContain("BaseFeeUnknown/unavailable");
  });
  it("exclude the sum itself, where it is known to be short", () => {
    const { report } = scanned([{}], { run: Result.succeed(run([reverted], { before: holding(0n) })) });
    expect(codes(report)).toEqual(expect.arrayContaining(["ExecutionReverted/blocker", "InsufficientFunds/blocker"]));
  });
  it("include the node's refusal of the whole where our own rule says the same with its evidence", () => {
    const poor = holding(0n);
    const refusal = new InsufficientFunds({ account: alice });
    const reader = Result.succeed(named("readerOnly", [], { before: poor }));
    const { report } = scanned([{ value: 1n }], { reader, run: Result.fail(refusal) });
    const short = report.findings.filter(({ code }) => code === "InsufficientFunds");
    expect(short.map(({ step, severity, evidence }) => [step, severity, evidence])).toEqual([
      ["funds", "blocker", "measured"],
    ]);
    const spent = scanned([{ nonce: 3 }], { run: Result.fail(new NonceTooLow({ account: alice })) }).report;
    expect(spent.findings.filter(({ code }) => code === "NonceTooLow").map(({ step }) => step)).toEqual(["nonce"]);
  });
  it("exclude a refusal that nothing else explains", () => {
    const { report } = scanned([{}], { run: Result.fail(new NonceTooLow({ account: alice })) });
    expect(report.findings.map(({ code, step }) => [code, step])).toContainEqual(["NonceTooLow", "simulate"]);
    expect(report.verdict).toBe("blocked");
  });
});

describe("a flood of events", () => {
  it("is shown by its worst, and the number of the others", () => {
    const handed = (index: number, from: Address) =>
      log(hexOf(`0x${word(BigInt(index) + 9n).slice(24)}`) as Address, [topics.ownership, word(from), word(stranger)]);
    const logs = Array.from({ length: 5_000 }, (_, index) => handed(index, index === 4_999 ? alice : nobody));
    const { report } = scanned([{}], { run: Result.succeed(run([did({ logs })])) });
    expect(report.findings).toHaveLength(257);
    expect(report.verdict).toBe("caution");
    expect(codes(report)).toContain("FindingsCut/warning");
    const lost = report.findings.find(({ code }) => code === "OwnershipChanged");
    expect(lost?.numbers).toContainEqual({ name: "from", unit: "address", value: alice });
    expect(
      JSON.stringify(toJson(report)).length - JSON.stringify(toJson({ ...report, findings: [] })).length,
    ).toBeLessThan(150_000);
  });
});

describe("a doubt of an earlier report", () => {
  const failure = (transaction: number | null = null): Finding =>
    fromError(unanswered("eth_getCode"), "info", { step: "code", transaction, evidence: "unavailable" });
  it("stays, unless this round says the same of the same transaction", () => {
    const told = (changed: Parameters<typeof scanned>[1], ...earlier: ReadonlyArray<Finding>) =>
      scanned([{}], changed, { earlier }).report.findings.map(({ code, transaction }) => [code, transaction]);
    expect(told({}, failure(0))).toEqual([["Transport", 0]]);
    const codesLost = { codes: new Map([[alice, Result.fail(unanswered("eth_getCode"))]]) };
    expect(told(codesLost, failure(0))).toEqual([["Transport", 0]]);
    expect(told(codesLost, failure(1))).toEqual([
      ["Transport", 0],
      ["Transport", 1],
    ]);
    // another question that got no answer is another finding
    expect(told({ codes: new Map([[alice, lost]]) }, failure(0))).toEqual([
      ["Transport", 0],
      ["Transport", 0],
    ]);
  });
  it("is shown once, however often it failed", () => {
    const { report } = scanned([{}], {}, { earlier: [failure(), failure(), failure(0)] });
    expect(report.findings.map(({ transaction }) => transaction)).toEqual([null, 0]);
  });
});

describe("the verdict and its reason", () => {
  it("are those of the first finding that decides, in the order of the pipeline", () =>
    fc.assert(
      fc.property(worlds(4), ({ inputs, round }) => {
        const { report } = scanned(inputs, round);
        expect(report.verdict).toBe(verdictOf(report.findings));
        const steps = report.findings.map(({ step }) => stepNames.findIndex((name) => name === step));
        expect(steps).toEqual([...steps].sort((a, b) => a - b));
        const decisive = { blocked: "blocker", unknown: "unavailable", caution: "warning", ready: null }[
          report.verdict
        ];
        const decides = report.findings.find(({ severity }) => severity === decisive);
        expect(decides?.sentence).toBe(decisive === null ? undefined : report.because);
        expect(becauseOf(report.findings, "scanned")).toBe(report.because);
      }),
    ));
  it("are the blocker's where there is one, then the doubt's, then the warning's", () => {
    const warning = note("PendingStale", "warning", { evidence: "measured" });
    const doubt = note("BaseNotComparable", "unavailable", { evidence: "unavailable" });
    const late = fromError(new ExecutionReverted({ data: hexOf("0x") }), "blocker", at, {
      ...{ sentence: "a blocker", numbers: [], remedy: "" },
    });
    const because = (...findings: ReadonlyArray<Finding>) => scanned([{}], {}, { findings }).report.because;
    expect([because(warning), because(warning, doubt), because(warning, doubt, late)]).toEqual([
      ...[declared.PendingStale.sentence, declared.BaseNotComparable.sentence, "a blocker"],
    ]);
  });
  it("say `proven` where nothing is against it", () =>
    expect(scanned([{}], {}, { stage: "proven" }).report.because).toContain("exactly this request was proven"));
});

describe("a request with a missing part", () => {
  const unnamed = holding(10n ** 30n, { chainId: 0n });
  const nowhere = {
    namedChainId: null,
    run: Result.succeed(run([did(), did()], { before: unnamed })),
    reader: Result.succeed(named("readerOnly", [], { before: unnamed })),
  };
  it("has a finding per transaction, where nothing else was found", () => {
    const { report } = scanned([{}, {}], nowhere);
    expect(report.transactions.map(({ request }) => request)).toEqual([null, null]);
    expect(report.findings.map(({ code, severity, transaction }) => [code, severity, transaction])).toEqual([
      ["RequestIncomplete", "unavailable", 0],
      ["RequestIncomplete", "unavailable", 1],
    ]);
    expect([report.verdict, report.digest]).toEqual(["unknown", null]);
  });
  it("has no finding beside one that says why", () =>
    expect(codes(scanned([{}, {}], { ...nowhere, namedChainId: lost }).report)).toEqual(["Transport/unavailable"]));
  it("never leaves a report ready", () =>
    fc.assert(
      fc.property(worlds(4), ({ inputs, round }) => {
        const { report } = scanned(inputs, round);
        const isWhole = report.transactions.every(({ request }) => request !== null);
        expect(report.digest !== null).toBe(isWhole && report.chainId !== null);
        if (!isWhole) expect(["unknown", "blocked"]).toContain(report.verdict);
      }),
    ));
});

describe("the evidence of a finding", () => {
  const evidence: Partial<
    Record<Finding["code"], (report: Report, index: number) => ReadonlyArray<string | undefined>>
  > = {
    NoCode: ({ transactions }, index) => [transactions[index]?.code.to?.evidence],
    SenderNotEoa: ({ transactions }, index) => [transactions[index]?.code.from.evidence],
    ExecutionReverted: ({ transactions }, index) => [transactions[index]?.outcome.evidence],
    OutOfGas: ({ transactions }, index) => [transactions[index]?.outcome.evidence],
    FeeCapTooLow: ({ transactions }, index) => [transactions[index]?.fee.evidence],
    BaseFeeUnknown: ({ transactions }, index) => [transactions[index]?.fee.evidence],
    InsufficientFunds: ({ funds }) => funds.map((payer) => payer.evidence),
  };
  it("is that of the value it is about, and never better than the answers", () =>
    fc.assert(
      fc.property(worlds(4), ({ inputs, round }) => {
        const { report } = scanned(inputs, round);
        for (const { code, severity, transaction, error, evidence: known, step } of report.findings) {
          if (error?._tag === "RpcError") expect([code, known]).toEqual([code, "unavailable"]);
          if (severity === "blocker") expect([code, known]).not.toEqual([code, "unavailable"]);
          const of = step === "simulate" && code !== "ExecutionReverted" ? undefined : evidence[code];
          if (of !== undefined) expect(of(report, transaction ?? 0)).toContain(known);
        }
      }),
    ));
});

describe("policies in a report", () => {
  const policy = (name: string, result: ReturnType<Policy.Policy["evaluate"]>): Policy.Policy => ({
    ...{ name, data: { policy: name }, evaluate: () => result },
  });
  it("that hold add nothing, that fail block, and that cannot tell make it unknown", () => {
    const judged = (...policies: ReadonlyArray<Policy.Policy>) => scanned([{}], {}, { policies }).report;
    expect(judged(policy("mine", Policy.pass)).verdict).toBe("ready");
    const failed = judged(policy("mine", Policy.pass), policy("other", Policy.fail("too much")));
    expect([codes(failed), failed.verdict]).toEqual([["PolicyViolation/blocker"], "blocked"]);
    expect(failed.because).toBe(failed.findings[0]?.sentence);
    const unknown = judged(policy("mine", Policy.unknown("nobody said")));
    expect([codes(unknown), unknown.verdict]).toEqual([["PolicyUnknown/unavailable"], "unknown"]);
    expect(unknown.findings[0]?.numbers).toEqual([
      { name: "policy", unit: "text", value: "mine" },
      { name: "because", unit: "text", value: "nobody said" },
    ]);
  });
  it("judge a report whose other findings are there already", () => {
    const seen: Array<ReadonlyArray<string>> = [];
    const curious = {
      ...policy("curious", Policy.pass),
      evaluate: (report: Report) => {
        seen.push([report.verdict, ...codes(report)]);
        return Policy.pass;
      },
    };
    scanned([{}], { run: Result.succeed(run([reverted])) }, { policies: [curious] });
    expect(seen).toEqual([["blocked", "ExecutionReverted/blocker"]]);
  });
  it("from the report that nobody could rebuild are lost, never passed", () => {
    const held = { ...options, policies: [{ policy: "noNewApprovals" }, { policy: "a function of mine" }] };
    const policies = held.policies.flatMap((data) => Policy.fromData(data) ?? []);
    expect(policies.map(({ name }) => name)).toEqual(["noNewApprovals"]);
    const { report } = scanned([{}], {}, { options: held, policies });
    expect(codes(report)).toEqual(["PolicyLost/unavailable"]);
    expect(report.findings[0]?.numbers).toEqual([
      { name: "lost", unit: "count", value: 1n },
      { name: "of", unit: "count", value: 2n },
    ]);
  });
});

describe("the state of a report", () => {
  it("gives a warning where it is pretended or older than the newest", () => {
    const said = (changed: Partial<typeof options>, round: Parameters<typeof scanned>[1] = {}) =>
      codes(scanned([{}], round, { options: { ...options, ...changed } }).report);
    expect(said({ stateOverrides: {} })).toEqual(["StatePretended/warning"]);
    expect(said({ blockOverrides: {} })).toEqual(["StatePretended/warning"]);
    expect(said({ block: 7n as never }, { block: 7n })).toEqual(["BlockNotNewest/warning"]);
  });
  it("is unknown where the node names two chains, and another chain than the input's is a blocker", () => {
    expect(codes(scanned([{}], { namedChainId: Result.succeed(5) }).report)).toEqual(["ChainIdDisagrees/unavailable"]);
    expect(codes(scanned([{ chainId: 5 }]).report)).toEqual(["ChainIdMismatch/blocker"]);
    expect(codes(scanned([{}], { namedChainId: lost }).report)).toEqual(["Transport/info"]);
  });
});

it("is checked by the simulated block's own number, where NUMBER is another chain's", () => {
  const before = holding(rich, { number: 7n });
  const made = run([did()], { before });
  const observedOf = (number: bigint) =>
    scanned([{}], { run: Result.succeed({ ...made, block: { ...made.block, number } as typeof made.block }) }).report
      .observed;
  expect(observedOf(101n)).toMatchObject({ simulatedNumber: 7n, freshness: "fresh" });
  expect(observedOf(7n)).toMatchObject({ simulatedNumber: 7n, freshness: "stale" });
});
