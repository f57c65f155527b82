/** The outcome of each case out of whatever answered, and what stood in the way of learning it. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { decodeRevert } from "../../rooms/abi.js";
import { ExecutionReverted, InsufficientFunds, MethodNotSupported, NonceTooLow, RpcError } from "../../rooms/errors.js";
import { checkOutcomes, outcomeOf, type Round } from "../../rooms/pipeline.js";
import type { Transaction } from "../../../src/Transaction.js";
import { unseen } from "../../rooms/witness.js";
import { alice, bundle, codes, hexOf, unanswered, word } from "../../steps/parts.js";
import { answersTo, did, holding, named, plan, roundOf, run, type Told } from "./world.js";

const lost = Result.fail(unanswered("eth_simulateV1"));
const notSupported = Result.fail(
  new RpcError({ method: "eth_simulateV1", reason: new MethodNotSupported({ detail: "", code: -32601 }) }),
);
const poor = new InsufficientFunds({ account: alice });

const learned = (changed: Partial<Told>, ...inputs: ReadonlyArray<Partial<Transaction>>) => {
  const cases = bundle(...(inputs.length === 0 ? [{}] : inputs));
  const answers = answersTo(roundOf(cases, changed));
  const ran = cases.map((one) => outcomeOf(one, cases, answers));
  const findings = checkOutcomes(ran, answers);
  return { outcomes: ran.map(({ outcome }) => outcome), codes: codes(findings), findings };
};

describe("outcomes of an answered run", () => {
  it("are those of each case's place in the run", () => {
    const readings = ["0x01", "0x02", "0x03"].map((data) => did({ returnData: hexOf(data) }));
    const { outcomes, codes: found } = learned({ run: Result.succeed(run(readings)) }, {}, {}, {});
    expect(outcomes.map(({ returnData }) => returnData)).toEqual(["0x01", "0x02", "0x03"]);
    expect(found).toEqual([]);
  });
  it("include a failure in its own transaction only, and unknown for a case that the run lacks", () => {
    const failure = new ExecutionReverted({ data: hexOf("0x") });
    const { findings } = learned(
      { run: Result.succeed(run([did(), did({ status: "reverted", failure })])) },
      ...[{}, {}, {}],
    );
    expect(findings.map(({ code, transaction }) => [code, transaction])).toEqual([
      ["ExecutionReverted", 1],
      ["OutcomeUnknown", 2],
    ]);
  });
  it("have a warning for a witness without an answer in it, and information for a witness-only run", () => {
    const blind = run([did()], { before: unseen, after: unseen, witnessed: false });
    expect(learned({ run: Result.succeed(blind), reader: lost }).codes).toEqual([
      "Transport/info",
      "WitnessUnavailable/warning",
    ]);
  });
  it("have a refusal for want of funds against them, unless the balances agree with it", () => {
    const funded = Result.succeed(named("funded", [did()], { plan: plan({ name: "funded", pretended: true }) }));
    const told = (balance: bigint) =>
      learned(
        {
          ...{ run: funded, unfunded: poor },
          reader: Result.succeed(named("readerOnly", [], { before: holding(balance) })),
        },
        { value: 10n },
      ).codes;
    expect(told(10n)).toEqual(["InsufficientFunds/unavailable"]);
    expect(told(9n)).toEqual([]);
  });
});

describe("outcomes of a run that was refused whole", () => {
  it("are a blocker of the only transaction, by a verdict", () => {
    const refusal = new NonceTooLow({ account: alice });
    const { outcomes, findings, codes: found } = learned({ run: Result.fail(refusal) });
    expect(outcomes[0]).toMatchObject({ status: "unknown", failure: refusal, evidence: "unavailable" });
    expect(found).toEqual(["NonceTooLow/blocker"]);
    expect(findings[0]).toMatchObject({ transaction: 0, evidence: "estimated" });
  });
  it("are a failure of the whole, and of none of several transactions", () => {
    const { outcomes, findings } = learned({ run: Result.fail(new NonceTooLow({ account: alice })) }, {}, {});
    expect(outcomes.map(({ failure }) => failure)).toEqual([null, null]);
    expect(findings[0]).toMatchObject({ severity: "blocker", transaction: null });
  });
  it("are unknown for want of funds against our own sum", () => {
    const told = (value: bigint) => learned({ run: Result.fail(poor) }, { value });
    expect(told(10n).codes).toEqual(["InsufficientFunds/unavailable"]);
    expect(told(10n).outcomes[0]?.failure).toBeNull();
    expect(told(10n ** 31n).codes).toEqual(["InsufficientFunds/blocker"]);
  });
  it("count the values of one payer over the bundle, and not over two payers", () => {
    const half = 6n * 10n ** 29n;
    const sum = (second: Partial<Transaction>) =>
      learned({ run: Result.fail(poor) }, { value: half }, { value: half, ...second }).codes;
    expect(sum({})).toEqual(["InsufficientFunds/blocker"]);
    expect(sum({ from: hexOf(`0x${"77".repeat(20)}`) as never })).toEqual(["InsufficientFunds/unavailable"]);
  });
  it("are unknown where the request itself failed", () => {
    const { outcomes, codes: found } = learned({ run: lost });
    expect([outcomes[0]?.status, found]).toEqual(["unknown", ["Transport/unavailable"]]);
  });
  it("have no finding where nobody asked", () => expect(learned({ run: null, reader: null }).codes).toEqual([]));
});

describe("the outcome on a node that only has eth_call", () => {
  const calls = (first: NonNullable<Round["called"]>["first"], ...inputs: ReadonlyArray<Partial<Transaction>>) =>
    learned({ run: notSupported, reader: notSupported, called: { first, view: null } }, ...inputs);
  it("has the first transaction's status and value estimated, the others unknown, and the refusal", () => {
    const { outcomes, codes: found } = calls(Result.succeed(hexOf("0x01")), {}, {});
    expect(outcomes.map(({ status, returnData, evidence }) => [status, returnData, evidence])).toEqual([
      ["success", "0x01", "estimated"],
      ["unknown", null, "unavailable"],
    ]);
    expect(found).toEqual(["MethodNotSupported/unavailable"]);
  });
  it("is a revert, as it was explained", () => {
    const data = hexOf(`0x08c379a0${word(32n)}${word(2n)}${"6e6f".padEnd(64, "0")}`);
    const revert = decodeRevert(data);
    const { outcomes, codes: found } = calls(Result.fail(new ExecutionReverted({ data, revert })));
    expect(outcomes[0]).toMatchObject({ status: "reverted", returnData: data, revert, evidence: "estimated" });
    expect(found).toEqual(["MethodNotSupported/unavailable", "ExecutionReverted/blocker"]);
  });
  it("names both failures where the call was not answered either", () => {
    const { outcomes, codes: found } = calls(Result.fail(unanswered("eth_call")));
    expect(outcomes[0]?.status).toBe("unknown");
    expect(found).toEqual(["MethodNotSupported/unavailable", "Transport/unavailable"]);
  });
});
