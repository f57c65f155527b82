/** What a run measures, in the order of importance, and how much of it at most. */
import { describe, expect, it } from "vitest";
import { everyStep, measureOf, measureOfReport, measureQueries, wantedBy } from "../../rooms/pipeline.js";
import { lookup } from "../../../src/Chains.js";
import * as Policy from "../../../src/Policy.js";
import { Address } from "../../rooms/primitives.js";
import { transfers } from "../../rooms/steps.js";
import { balanceOf, decimals, name, symbol } from "../../rooms/witness.js";
import { alice, bob, bundle, filled, log, token, word } from "../../steps/parts.js";
import { at, topics } from "../../steps/reading/arbitrary.js";
import { did, nothing, scanned } from "./world.js";

const plenty = { holdings: 320, rights: 64, tokens: 48 };
const other = at("7");
const moves = log(token, [topics.transfer, word(alice), word(bob)], [word(5n)]);
const grants = log(token, [topics.approval, word(alice), word(bob)], [word(9n)]);
const running = (...logs: ReadonlyArray<ReturnType<typeof log>>) => bundle({}).map((one) => filled(one, did({ logs })));
const measured = (
  limits: Partial<typeof plenty> = {},
  policies: ReadonlyArray<Policy.Policy> = [],
  cases = running(moves, grants),
) => measureOf(cases, transfers(cases), policies, { ...plenty, ...limits }, everyStep);
const keys = (holdings: ReturnType<typeof measured>["holdings"]) =>
  holdings.map(({ account, token: what, wanted }) => `${wanted ? "!" : ""}${account}/${what ?? "native"}`);

describe("the balances that policies judge by", () => {
  it("are measured for the named account, else for every sender once", () => {
    const two = bundle({}, { from: bob }, {});
    const wanted = wantedBy(
      [Policy.maxSpent(token, 1n), Policy.minReceived("native", 1n, other)],
      two,
      plenty,
      everyStep,
    );
    expect(keys(wanted)).toEqual([`!${alice}/${token}`, `!${bob}/${token}`, `!${other}/native`]);
    expect(wantedBy([Policy.noNewApprovals], two, plenty, everyStep)).toEqual([]);
    expect(wantedBy([Policy.maxSpent(token, 1n)], two, { ...plenty, holdings: 1 }, everyStep)).toHaveLength(1);
  });
  it("stand first, and their token is read though it does not move", () => {
    const { holdings, tokens } = measured({}, [Policy.minReceived(other, 1n, bob)]);
    expect(keys(holdings).slice(0, 2)).toEqual([`!${bob}/${other}`, `${alice}/native`]);
    expect(tokens).toEqual([other, token]);
  });
});

describe("the accounts whose losses decide", () => {
  it("are the same without the step that would read them", () => {
    const cases = running(log(token, [topics.ownership, word(alice), word(bob)], []));
    const without = new Set([...everyStep].filter((name) => name !== "approvals"));
    const [whole, less] = [everyStep, without].map((steps) => measureOf(cases, [], [], plenty, steps));
    expect([whole?.parties, whole?.accounts]).toEqual([[token], [token]]);
    expect([less?.parties, less?.accounts]).toEqual([[token], []]);
  });
});

describe("the measurements of a run", () => {
  it("cover the movements, the rights of its events, and each token once", () => {
    const { holdings, rights, tokens, cut } = measured();
    expect(keys(holdings)).toEqual([`${alice}/native`, `${alice}/${token}`, `${bob}/${token}`]);
    const permit2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";
    expect(rights.map(({ standard, owner, spender }) => [standard, owner, spender])).toEqual([
      ["erc20", alice, bob],
      ["permit2", alice, bob],
      ["erc20", alice, permit2],
    ]);
    expect([tokens, cut]).toEqual([[token], 0]);
  });
  it("are cut at the limits, and the cut ones are counted", () => {
    const crowd = Array.from({ length: 30 }, (_, index) =>
      log(token, [topics.transfer, word(alice), word(Address.make(`0x${"99".repeat(19)}${index + 10}`))], [word(1n)]),
    );
    const few = measured({ holdings: 10 }, [], running(...crowd));
    expect([few.holdings.length, few.cut]).toEqual([10, 22]);
    expect(keys(few.holdings).slice(0, 2)).toEqual([`${alice}/native`, `${alice}/${token}`]);
    const rights = Array.from({ length: 9 }, (_, index) =>
      log(token, [topics.approval, word(alice), word(Address.make(`0x${"99".repeat(19)}${index + 10}`))], [word(1n)]),
    );
    const none = measured({ rights: 4, tokens: 0 }, [], running(...rights));
    expect([none.rights.length, none.cut, none.tokens]).toEqual([4, 6, []]);
  });
  it("always include a sender's own currency and what a policy needs", () => {
    const { holdings } = measured({ holdings: 0 }, [Policy.minReceived(other, 1n, bob)]);
    expect(keys(holdings)).toEqual([`${alice}/native`]);
    const asked = measured({ holdings: 1 }, [Policy.minReceived(other, 1n, bob)]);
    expect(keys(asked.holdings)).toEqual([`!${bob}/${other}`, `${alice}/native`]);
  });
  it("of a report cover its own movements, and the delegates that it knows", () => {
    const { report } = scanned();
    const [{ code }] = report.transactions;
    const delegated = {
      ...report,
      transactions: [{ ...report.transactions[0], code: { ...code, from: { ...code.from, delegate: other } } }],
    } as const;
    const cases = running();
    expect(measureOfReport(delegated, cases, [], plenty, everyStep, lookup(1)).accounts).toEqual([other]);
    expect(measureOfReport(report, cases, [], plenty, everyStep, lookup(1)).accounts).toEqual([]);
  });
});

it("the witness reads balances and rights first, and tokens' names last unless they are remembered", () => {
  const measure = measured();
  const queries = measureQueries(measure);
  expect(queries[0]).toEqual({ kind: "account", address: alice });
  expect(queries[1]).toEqual(balanceOf(token, alice));
  expect(queries.slice(-3)).toEqual([decimals(token), symbol(token), name(token)]);
  const remembered = { token, name: "Gold", symbol: "GLD", decimals: 18 };
  const fewer = measureQueries({ ...measure, named: [remembered] });
  expect(fewer).toEqual(queries.slice(0, -3));
  // decimals are read anew in every proof
  expect(fewer).toContainEqual(decimals(token));
  expect(measureQueries(nothing)).toEqual([]);
});
