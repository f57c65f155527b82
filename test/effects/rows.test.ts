/** Every known event and function makes its rows: who moves what, who gets rights or control, and what is only asked for. */
import { describe, expect, it } from "vitest";
import { knownCalls, knownEvents } from "../rooms/abi.js";
import { askedBy, effectsIn, toldIn, transfersOf, type Rows } from "../rooms/effects.js";
import type { OutcomeLog } from "../rooms/report.js";
import { alice, bob, caseOf, filled, hexOf, native, outcome, token, word } from "../steps/parts.js";

/** A value for each role: parties are addresses, the rest are small numbers. */
const values: Readonly<Record<string, bigint>> = {
  ...{ owner: BigInt(alice), spender: BigInt(bob), token: BigInt(token), from: BigInt(alice), to: BigInt(bob) },
  ...{ gains: BigInt(bob), loses: BigInt(alice), role: 5n, id: 7n, amount: 9n, open: 9n, flag: 1n, all: 1n },
  expiration: 11n,
};
const wordsOf = (roles: ReadonlyArray<string | null>) => roles.map((role) => word(values[role ?? ""] ?? 0n));
const logOf = (kind: string, words: ReadonlyArray<string>, indexed: number): OutcomeLog => ({
  ...{ address: token, decoded: null, data: hexOf(`0x${words.slice(indexed).join("")}`) },
  topics: [kind.padEnd(66, "0"), ...words.slice(0, indexed).map((each) => `0x${each}`)] as never,
});

const events = Object.entries(knownEvents);
const kindsOf = (has: (row: (typeof events)[number][1]) => unknown) =>
  events.filter(([, row]) => has(row) !== undefined);

describe("the rows of an event", () => {
  it.each(kindsOf(({ right }) => right))("of a right make one row of its owner and spender: %s", (kind, { right }) => {
    const roles = right?.values ?? [];
    const { rights, controls } = toldIn([logOf(kind, wordsOf(roles), 2)], 3);
    const owner = roles.includes("owner") ? { owner: alice } : {};
    expect(rights).toMatchObject([{ ...owner, token, standard: right?.standard, seen: "log", transaction: 3 }]);
    expect(controls).toEqual([]);
    // without its values it tells of none
    expect(toldIn([logOf(kind, [], 0)], 3).rights).toEqual([]);
  });
  it.each(kindsOf(({ control }) => control))("of control make one row of who gains and loses: %s", (kind, row) => {
    const { what, values: roles = [] } = row.control ?? {};
    const told = toldIn([logOf(kind, wordsOf(roles), 2)], 3);
    expect(told.controls).toMatchObject([
      {
        ...{ what, contract: token, transaction: 3, gains: roles.includes("gains") ? bob : null },
        loses: roles.includes("loses") ? alice : null,
      },
    ]);
    expect(told.rights).toEqual([]);
  });
  it.each(kindsOf(({ movement }) => movement).filter(([, { movement }]) => !movement?.values.includes("ids")))(
    "of a movement make one row of who gives and gets: %s",
    (kind, { movement }) => {
      const { values: roles = [], topics = 3 } = movement ?? {};
      const [moved] = transfersOf([logOf(kind, wordsOf(roles), topics - 1)], 3, "measured");
      const nobody = `0x${"0".repeat(40)}`;
      expect(moved).toMatchObject({
        ...{ token, amount: 9n, transaction: 3, evidence: "logged", standard: movement?.standard },
        ...{ from: roles.includes("from") ? alice : nobody, to: roles.includes("to") ? bob : nobody },
      });
    },
  );
  it("of an unknown kind are one row that says nothing", () => {
    const log = logOf("0x0123456789abcdef", [], 0);
    const none = { rights: [], controls: [], sums: [] };
    expect(toldIn([log], 0)).toEqual({ events: [{ log, contract: token, row: {} }], ...none });
  });
});

const callOf = (selector: string, ...words: ReadonlyArray<string>) =>
  askedBy({ from: alice, to: token, data: hexOf(`${selector}${words.join("")}`) }, 3);
const calls = Object.entries(knownCalls);
const party = (index: number) => `0x${String(index + 1).padStart(40, "0")}`;
/** Ten arguments, each another small address. */
const arguments_ = Array.from({ length: 10 }, (_, index) => word(party(index)));

describe("the rows of a call", () => {
  it.each(calls.filter(([, { move }]) => move !== undefined && move.ids === undefined))(
    "ask for one movement of the called token: %s",
    (selector, { move }) => {
      const { from, to = 0 } = move ?? {};
      expect(callOf(selector, ...arguments_).moves).toMatchObject([
        { token, from: from === undefined ? alice : party(from), to: party(to) },
      ]);
      expect(callOf(selector, ...arguments_).receiver).toBe(party(to));
    },
  );
  it.each(calls.filter(([, { grant }]) => grant !== undefined && grant.isList !== true))(
    "ask for one right: %s",
    (selector, { grant }) => {
      const { rights } = callOf(selector, ...wordsOf(grant?.values ?? []));
      const { isTaken, standard } = grant ?? {};
      const spender = grant?.values.includes("spender") === true ? bob : isTaken === true ? token : party(-1);
      expect(rights).toMatchObject([{ standard, spender, owner: alice, seen: "calldata", transaction: 3 }]);
    },
  );
  it.each(calls.filter(([, { handover, payout }]) => (handover ?? payout) !== undefined))(
    "name who gets what is handed over or paid out: %s",
    (selector, { handover, payout }) => {
      expect(callOf(selector, ...arguments_)).toMatchObject({
        gains: handover === undefined ? null : party(handover),
        payee: payout === undefined ? null : party(payout),
      });
      expect(callOf(selector)).toMatchObject({ gains: null, payee: null });
    },
  );
  it("name the receiver of a moved list, though it has no ids", () =>
    expect(callOf("0x2eb2c2d6", word(alice), word(bob))).toMatchObject({ moves: [], receiver: bob }));
  it("are none for an unknown function", () => {
    const nothing = { moves: [], rights: [], gains: null, payee: null, row: {} };
    expect(callOf("0x01234567", ...arguments_)).toMatchObject(nothing);
  });
});

/** A log whose event has a row of this kind. */
const logWith = (name: "right" | "control" | "sum", indexed: number) => {
  const [kind = "", row = {}] = kindsOf((each) => each[name])[0] ?? [];
  return logOf(kind, wordsOf(row[name]?.values ?? []), indexed);
};
const approve = hexOf(`0x095ea7b3${word(bob)}${word(9n)}`);
const executed = Object.entries(knownEvents).find(([, { isExecution }]) => isExecution === true)?.[0] ?? "";

/** One transaction that approves, with these logs and this answer. */
const ran = (logs: ReadonlyArray<OutcomeLog>, returnData = "0x") =>
  filled(caseOf({ to: token, data: approve }), {
    outcome: outcome({ logs, returnData: hexOf(returnData) }),
    transfers: [native(0, alice, bob, 5n)],
  });

/** Each kind of effect: what makes a row of it, and what the row says. A new kind is one row here. */
const made: { readonly [K in keyof Rows]: readonly [source: ReturnType<typeof ran>, row: Partial<Rows[K]>] } = {
  call: [ran([]), { contract: token, transaction: 0 }],
  request: [ran([]), { spender: bob, seen: "calldata", claim: 9n }],
  event: [ran([logOf("0x0123456789abcdef", [], 0)]), { contract: token, row: {} }],
  movement: [ran([]), { from: alice, to: bob, amount: 5n }],
  right: [ran([logWith("right", 2)]), { seen: "log", transaction: 0 }],
  control: [ran([logWith("control", 2)]), { contract: token, transaction: 0 }],
  sum: [ran([logWith("sum", 2)]), { contract: token }],
  execution: [ran([logOf(executed, [], 0)]), { safe: token, delegates: [] }],
  returned: [ran([], `0x${word(0n)}`), { isFalseBy: "selector" }],
};

describe("effects of one kind", () => {
  it.each(Object.entries(made))("are rows of all logs and calls that show them: %s", (kind, [source, row]) =>
    expect(effectsIn([source], kind as keyof Rows)).toMatchObject([row]),
  );
  it.each(["event", "right", "control", "sum", "execution", "returned"] as const)(
    "are none for a failed transaction, whatever logs are listed: %s",
    (kind) => {
      const [{ outcome: known, ...source }] = made[kind];
      expect(effectsIn([{ ...source, outcome: { ...known, status: "reverted" } }], kind)).toEqual([]);
    },
  );
  it.each(["event", "right", "returned"] as const)("are none for a transaction that has not run: %s", (kind) =>
    expect(effectsIn([caseOf({ to: token, data: approve })], kind)).toEqual([]),
  );
});
