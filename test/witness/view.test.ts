/** What was seen, by what was asked: one kind of not known, whatever bytes came in. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Address, Hash, Hex } from "../rooms/primitives.js";
import { either, knows, unseen, viewOf, type CallQuery, type WitnessAnswer, type Query } from "../rooms/witness.js";
import { exchanges, hexOf, queriesOf, wireOf, type Exchange } from "./wire.js";

const upper = (hex: Hex): Hex => `0x${hex.slice(2).toUpperCase()}` as Hex;
const spelled = (query: Query): Query => {
  switch (query.kind) {
    case "environment":
      return query;
    case "account":
      return { ...query, address: upper(query.address as Hex) as string as Address };
    case "call":
      return {
        ...query,
        to: upper(query.to as Hex) as string as Address,
        data: upper(query.data),
        gas: 7,
        returnCap: 9,
      };
  }
};
const look = (view: ReturnType<typeof viewOf>, query: Query) => {
  if (view === null) return null;
  if (query.kind === "environment") return view.environment;
  return query.kind === "account" ? view.account(query.address) : view.call(query);
};
const nameOf = (query: Query): string =>
  query.kind === "environment" ? "" : query.kind === "account" ? query.address : `${query.to}/${query.data}`;
/** Each question once: of two alike the fuller answer stands. */
const distinct = (list: ReadonlyArray<Exchange>): ReadonlyArray<Exchange> => [
  ...new Map(list.map((one) => [nameOf(one.query), one])).values(),
];
const asked = exchanges.map(distinct);

describe("a view", () => {
  it("gives every answer to its question, in any spelling, for any gas and room", () =>
    fc.assert(
      fc.property(asked, (list) => {
        const view = viewOf(queriesOf(list), wireOf(list, "ff"));
        for (const { query, answer } of list)
          for (const question of [query, spelled(query)]) {
            expect(look(view, question)).toEqual(answer);
            expect(view !== null && knows(view, question)).toBe(true);
          }
      }),
    ));
  it("has no answer to what was not asked", () =>
    fc.assert(
      fc.property(asked, asked, (list, others) => {
        const view = viewOf(queriesOf(list), wireOf(list, "ff"));
        const names = new Set(list.map(({ query }) => nameOf(query)));
        for (const { query } of others.filter((one) => !names.has(nameOf(one.query)))) {
          expect(look(view, query)).toBeNull();
          expect(view === null || knows(view, query)).toBe(false);
        }
      }),
    ));
  it("of a witness whose gas ran out has the answers before, and none after", () =>
    fc.assert(
      fc.property(
        asked.filter((list) => list.length > 0),
        fc.nat(),
        (list, at) => {
          const known = list.slice(0, at % list.length);
          const view = viewOf(queriesOf(list), wireOf(known, "00"));
          for (const [index, { query, answer }] of list.entries())
            expect(look(view, query)).toEqual(index < known.length ? answer : null);
        },
      ),
    ));
  it("keeps of two equal questions the answered one, then the longer answer", () => {
    const call = { kind: "call", to: `0x${"11".repeat(20)}` as Address, data: "0x", gas: 1, returnCap: 8 } as const;
    const [failed, short, long] = ["03000000000000".slice(0, 12), "030100000004ab", "030100000004abcdef01"];
    const answerOf = (caps: readonly [number, number], ...wires: ReadonlyArray<string>) => {
      const queries = caps.map((returnCap) => ({ ...call, returnCap }));
      return viewOf(queries, `0x77697431${wires.join("")}ff` as Hex)?.call(call);
    };
    for (const [caps, ...wires] of [
      [[0, 8], failed, long],
      [[8, 0], long, failed],
      [[1, 8], short, long],
      [[8, 1], long, short],
    ] as const)
      expect(answerOf(caps, ...wires)).toMatchObject({ success: true, data: "0xabcdef01" });
  });
  it("is none where the bytes are cut, foreign, or the answer to other questions", () =>
    fc.assert(
      fc.property(
        asked.filter((list) => list.length > 0),
        fc.nat(),
        (list, cut) => {
          const wire = wireOf(list, "ff");
          const queries = queriesOf(list);
          expect(viewOf(queries, wire.slice(0, cut % wire.length) as Hex)).toBeNull();
          expect(viewOf(queries, `${wire}00` as Hex)).toBeNull();
          expect(viewOf([...queries, { kind: "environment" }], wire)).toBeNull();
          const caps = new Set(queries.map((query) => (query.kind === "call" ? query.returnCap : null)));
          // why: what one question may answer in more bytes can end where an answer to another does
          if (caps.size === 1) expect(viewOf(queries.slice(1), wire)).toBeNull();
          for (const foreign of ["0x", `0x${"00".repeat(32)}`, "0x77697431ff"])
            expect(viewOf(queries, foreign as Hex)).toBeNull();
        },
      ),
    ));
  it("never throws, for any bytes", () => {
    const digit = fc.constantFrom(..."0123456789abcdefxzé \u0000");
    fc.assert(
      fc.property(exchanges, fc.nat(), digit, fc.uint8Array({ maxLength: 500 }), (list, at, other, bytes) => {
        const wire = wireOf(list, "ff");
        const altered = `${wire.slice(0, at % wire.length)}${other}${wire.slice((at % wire.length) + 1)}`;
        for (const text of [altered, `0x${hexOf(bytes)}`, `0x77697431${hexOf(bytes)}`, hexOf(bytes), ""]) {
          const view = viewOf(queriesOf(list), text as Hex);
          for (const { query } of list) expect(look(view, query)).not.toBe(undefined);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("two combined views", () => {
  const call: CallQuery = { kind: "call", to: `0x${"11".repeat(20)}`, data: "0x", gas: 1, returnCap: 32 };
  const word = (digit: string): Exchange => ({
    ...{ query: call, answer: { kind: "call", success: true, size: 1n, data: `0x${digit}` as Hex } },
    wire: `030100000001${digit}`,
  });
  const [first, second] = ["01", "02"].map((digit) => viewOf([call], wireOf([word(digit)], "ff")) ?? unseen);
  it("give the first's answer, else the second's, and an unseen one adds nothing", () => {
    const data = (view = unseen) => view.call(call)?.data ?? null;
    expect([data(first), data(second)]).toEqual(["0x01", "0x02"]);
    expect(data(either(first ?? unseen, second ?? unseen))).toBe("0x01");
    expect(data(either(unseen, second ?? unseen))).toBe("0x02");
    expect(data(either(unseen, unseen))).toBeNull();
  });
  it("are read question by question: each may have answers that the other lacks", () => {
    const parent = `0x${"ab".repeat(32)}` as Hash;
    const environment: WitnessAnswer<"environment"> = {
      ...{ kind: "environment", chainId: 1n, number: 1n, parentHash: parent, timestamp: 1n, baseFeePerGas: 1n },
      ...{ feeRecipient: `0x${"00".repeat(20)}` as Address, prevRandao: parent },
      ...{ gasLimit: 1n, gasPrice: 1n, gasLeft: 1n, fork: "osaka" },
    };
    const half = { ...unseen, environment };
    const both = either(half, first ?? unseen);
    expect([both.environment?.parentHash, both.call(call)?.data]).toEqual([parent, "0x01"]);
  });
  describe("two views of a call that the first did not see answered", () => {
    const failed: WitnessAnswer<"call"> = { kind: "call", success: false, size: 0n, data: "0x" };
    const reverted: WitnessAnswer<"call"> = { ...failed, size: 1n, data: "0x01" };
    // what an address without code answers
    const empty: WitnessAnswer<"call"> = { ...failed, success: true };
    const said: WitnessAnswer<"call"> = { ...empty, size: 1n, data: "0x02" };
    const zero: WitnessAnswer<"call"> = { ...empty, size: 32n, data: `0x${"00".repeat(32)}` };
    const answering = (answer: WitnessAnswer<"call"> | null) => ({ ...unseen, call: () => answer });
    const seen = (one: WitnessAnswer<"call"> | null, other: WitnessAnswer<"call"> | null) =>
      either(answering(one), answering(other)).call(call);
    const silent = [failed, reverted, empty];
    it("give the second's answer, if there is one", () => {
      for (const one of [...silent, null]) for (const other of [said, zero]) expect(seen(one, other)).toBe(other);
    });
    it("keep what the first showed: that it failed, or was empty", () => {
      for (const one of silent) {
        for (const other of silent) expect(seen(one, other)).toBe(one);
        expect([seen(one, null), seen(null, one)]).toEqual([one, one]);
      }
    });
    it("keep a given answer, zero too, whatever the second has", () => {
      for (const one of [said, zero])
        for (const other of [...silent, said, zero, null]) expect(seen(one, other)).toBe(one);
    });
    it("give the same in any order of combining three", () => {
      const any = fc.constantFrom(...silent, said, zero, null);
      fc.assert(
        fc.property(any, any, any, (a, b, c) => {
          const [x, y, z] = [answering(a), answering(b), answering(c)];
          expect(either(either(x, y), z).call(call)).toBe(either(x, either(y, z)).call(call));
        }),
      );
    });
  });
});
