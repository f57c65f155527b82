/** What the slots of proxies say: which are looked at, and what a change of them is. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { Hash, type Address } from "../../rooms/primitives.js";
import {
  callees,
  checkChanges,
  chosenOf,
  lensOf,
  proxySuspects as suspects,
  type ContractsSeen,
} from "../../rooms/steps.js";
import { slotQueries, slots, slotsOf, type View } from "../../rooms/witness.js";
import { answer, answered, bundle, codes, filled, hexOf, inhabited, log, outcome } from "../parts.js";
import { parties, seeing, token, word } from "../parts.js";
import { at, topics } from "./arbitrary.js";

const [one, two, three] = [at("1"), at("2"), at("3")];
/** The slots of the token, in the order of the words that are read; those not named hold nothing. */
const watched = [...new Set(slots.map(({ slot }) => slot))];
const holding = (...words: ReadonlyArray<bigint | string>) =>
  seeing(
    ...slotQueries([token]).map(
      (query) => [query, answered(...watched.map((_, index) => words[index] ?? 0n))] as const,
    ),
  );
/** The same, by what a slot holds. */
const keeping = (slot: string, held: bigint | string) => holding(...watched.map((each) => (each === slot ? held : 0n)));
const isAny = () => true;
const calling = (to: Address, data = "0x12345678") => bundle({ to, data: hexOf(data) });

interface Sights extends Omit<Partial<ContractsSeen>, "worlds"> {
  readonly after?: ReadonlyArray<View | null>;
  readonly accounts?: View;
}
const changed = ({ after, accounts, ...seen }: Sights, logs: ReadonlyArray<ReturnType<typeof log>> = []) => {
  const before = accounts ?? inhabited({ [token]: "0x00" });
  return checkChanges(
    calling(token).map((each) => filled(each, { outcome: outcome({ logs }) })),
    [token],
    {
      ...{ before: holding(one), suspects: [token], codeOf: () => null, evidence: "measured" },
      worlds: (after ?? [holding(one), holding(one)]).map((slots) => ({ slots, before, after: before })),
      ...seen,
    },
  );
};
const check = (...seen: Parameters<typeof changed>) => changed(...seen).findings;

describe("contracts whose proxy slots are read", () => {
  it("are those called, each once, and those paid that may have code, without precompiles", () => {
    expect(callees(calling(token))).toEqual([token]);
    expect(callees(calling(token, "0x"))).toEqual([]);
    expect(callees(calling(token, "0x"), () => true)).toEqual([token]);
    expect(callees(bundle({ to: two, data: hexOf("0x01") }, { to: one, data: hexOf("0x01") }))).toEqual([two, one]);
    expect(callees(calling(`0x${"0".repeat(39)}4`))).toEqual([]);
  });
  it("are read before, unless their slots are known to be empty or nothing is seen here", () => {
    expect(suspects([token], holding(), isAny)).toEqual([]);
    for (const { slot } of slotsOf(true)) expect(suspects([token], keeping(slot, one), isAny)).toEqual([token]);
    for (const { slot } of slotsOf(false)) expect(suspects([token], keeping(slot, one), () => false)).toEqual([token]);
    expect(suspects([token, three], holding(), isAny)).toEqual([three]);
    expect(suspects([token], null, isAny)).toEqual([]);
  });
});

describe("the chosen of many contracts", () => {
  const [work, move, allow] = [`0x12345678`, `0xa9059cbb${word(one)}${word(1n)}`, `0x095ea7b3${word(one)}${word(1n)}`];
  const placed = (index: number): Address => `0x${index.toString(16).padStart(2, "0").repeat(20)}`;
  const called = (count: number, data: string, from = 1) =>
    Array.from({ length: count }, (_, index) => ({ to: placed(from + index), data: hexOf(data) }));
  const placesOf = (...inputs: ReadonlyArray<ReturnType<typeof called>>) => {
    const all = bundle(...inputs.flat());
    return chosenOf(all, callees(all)).map((contract) => inputs.flat().findIndex(({ to }) => to === contract));
  };
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

  it("are first those asked for more than a movement, in the order of the calls", () => {
    expect(placesOf(called(12, move))).toEqual(upTo(8));
    expect(placesOf(called(12, allow))).toEqual(upTo(8));
    expect(placesOf(called(12, move), called(1, work, 100))).toEqual([...upTo(7), 12]);
    expect(placesOf(called(30, work))).toEqual(upTo(24));
    expect(placesOf(called(6, move), called(20, work, 100))).toEqual(upTo(20).map((index) => index + 6));
    expect(placesOf(called(3, move), called(3, work, 100))).toEqual(upTo(6));
  });
  it("have the others named, with a warning where more is asked of one", () => {
    const told = (...inputs: ReadonlyArray<ReturnType<typeof called>>) => {
      const all = bundle(...inputs.flat());
      const entries = all.map((each) => filled(each, { outcome: outcome() }));
      const chosen = chosenOf(all, callees(all));
      const left = callees(all).filter((contract) => !chosen.includes(contract));
      const { findings, changes } = checkChanges(
        entries,
        [],
        { before: null, worlds: [], suspects: [], codeOf: () => null, evidence: "measured" },
        left,
      );
      expect(changes.map(({ account, seen }) => [account, seen])).toEqual(left.map((account) => [account, "unseen"]));
      return findings.map(({ code, severity, numbers }) => [code, severity, ...numbers.map(({ value }) => value)]);
    };
    expect(told(called(8, move))).toEqual([]);
    expect(told(called(24, work))).toEqual([]);
    expect(told(called(9, move))).toEqual([["ContractsLeftOut", "info", 1n, placed(9)]]);
    expect(told(called(2, move), called(25, work, 100))).toEqual([
      ["ContractsLeftOut", "warning", 3n, placed(124), placed(1), placed(2)],
    ]);
  });
});

describe("a proxy slot", () => {
  it("has no finding where it stays", () => {
    expect(check({})).toEqual([]);
    expect(check({ before: null, after: [holding(), holding()], suspects: [] })).toEqual([]);
  });
  it("has one warning with both addresses where it changes in either block", () => {
    for (const after of [[two], [one, two], [two, two]].map((words) => words.map((word) => holding(word)))) {
      const [finding, ...more] = check({ after });
      expect(more).toEqual([]);
      expect(finding).toMatchObject({ code: "ContractControlChanged", severity: "warning", transaction: 0 });
      expect(finding?.numbers.map(({ value }) => value)).toEqual([
        ...["new implementation, without an event", token, one, two],
      ]);
    }
    expect(check({ after: [holding(two), holding(three)] })).toHaveLength(2);
    expect(codes(check({ before: null, suspects: [] }))).toEqual(["ContractControlChanged/warning"]);
  });
  it("is information for a contract that is created here", () => {
    expect(codes(check({ after: [holding(two)], accounts: inhabited({}) }))).toEqual(["ContractControlChanged/info"]);
  });
  it("is reported by its event where that names the same, and not by another's", () => {
    const upgraded = (by: Address, to: Address) => [log(by, [topics.upgraded, word(to)])];
    const after = [holding(two), holding(two)];
    expect(check({ after }, upgraded(token, two))).toEqual([]);
    expect(check({ after }, upgraded(token, three))).toHaveLength(1);
    expect(check({ after }, upgraded(three, two))).toHaveLength(1);
    expect(check({ after: [holding(one, 0n, two)] }, upgraded(token, two))).toHaveLength(1);
  });
  it("number 0 counts for a Safe alone: by its call, its code, or its own events", () => {
    const first = slots.find(({ isOfSafes }) => isOfSafes)?.slot ?? "";
    const holdingLast = (word: Address) => keeping(first, word);
    const seen = { before: holdingLast(one), after: [holdingLast(two)], suspects: [token] };
    const proxy = inhabited({ [token]: "0x00" });
    expect(check(seen)).toEqual([]);
    const accounts = {
      ...proxy,
      account: (account: Address) => {
        const known = proxy.account(account);
        const codeHash = Hash.make("0xb89c1b3bdf2cf8827818646bce9a8f6e372885f8c55e5c07acbd307cb133b000");
        return known === null ? null : { ...known, codeHash };
      },
    };
    expect(codes(check({ ...seen, accounts }))).toEqual(["ContractControlChanged/warning"]);
    const executed = "442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e";
    expect(codes(check(seen, [log(token, [executed])]))).toEqual(["ContractControlChanged/warning"]);
    expect(suspects([token], keeping(first, 7n), () => false)).toEqual([]);
    expect(suspects([token], keeping(first, 7n), isAny)).toEqual([token]);
  });
  it("is reported as unseen where it was not read before, after, or in one block", () => {
    for (const seen of [{ before: null }, { after: [null] }, { after: [holding(one), null] }]) {
      const findings = check(seen);
      expect(codes(findings)).toEqual(["ProxiesNotSeen/info"]);
      expect(findings[0]?.numbers.map(({ value }) => value)).toEqual([token]);
    }
  });
});

describe("proxy slots that were not read", () => {
  const rows = (seen: Sights) => changed(seen).changes.map((change) => [change.account, change.seen, change.before]);
  it("before the calls leave open what was there", () =>
    expect(rows({ before: null, after: [holding(), holding()] })).toEqual([[token, "unseen", null]]));
  it("are those of a reader that failed, whatever it returned", () => {
    const failed = seeing(
      ...slotQueries([token]).map(
        (query) => [query, answer(`0x${watched.map(() => word(two)).join("")}`, false)] as const,
      ),
    );
    expect(rows({ after: [failed, failed] })).toEqual([[token, "unseen", null]]);
  });
});

it("a proof reads the beacon of a proxy whose slot the scan of the same call saw", () => {
  const beacon = slots.find(({ holds }) => holds === "beacon")?.slot ?? "";
  const run = { ...{ before: inhabited({}), after: inhabited({}) }, plan: { pretended: false, block: "latest" } };
  const said = { outcome: outcome(), code: parties(calling(token)[0].input, "contract") };
  const of = (seen: View | null) => {
    const entry = { ...calling(token)[0], said: said as never };
    return lensOf({ bundle: [entry], scanned: { run: Result.succeed({ ...run, slots: seen }) } });
  };
  expect(of(keeping(beacon, two))).toEqual([token, two]);
  expect(of(holding())).toEqual([token]);
  expect(of(null)).toEqual([token]);
});
