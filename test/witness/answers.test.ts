import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hex } from "../rooms/primitives.js";
import { decodeAnswers, type Query } from "../rooms/witness.js";
import { environment, exchanges, hexOf, queriesOf, wireOf } from "./wire.js";

describe("decodeAnswers", () => {
  it("reads every complete answer, in either case", () => {
    fc.assert(
      fc.property(exchanges, (list) => {
        const wire = wireOf(list, "ff");
        const answers = list.map(({ answer }) => answer);
        expect(decodeAnswers(queriesOf(list), wire)).toEqual(answers);
        expect(decodeAnswers(queriesOf(list), `0x${wire.slice(2).toUpperCase()}` as Hex)).toEqual(answers);
      }),
    );
  });

  it("reports unavailable exactly for the answers after the gas ran out", () => {
    fc.assert(
      fc.property(exchanges, fc.nat(), (list, at) => {
        const known = list.slice(0, list.length === 0 ? 0 : at % list.length);
        const expected = list.map(({ answer }, index) => (index < known.length ? answer : { kind: "unavailable" }));
        const starved = decodeAnswers(queriesOf(list), wireOf(known, "00"));
        // Nothing was asked: nothing can be missing.
        expect(starved).toEqual(list.length === 0 ? null : expected);
      }),
    );
  });

  it("refuses a truncated or too long answer", () => {
    fc.assert(
      fc.property(exchanges, fc.nat(), (list, cut) => {
        const wire = wireOf(list, "ff");
        const shorter = wire.slice(0, cut % wire.length) as Hex;
        expect(decodeAnswers(queriesOf(list), shorter)).toBeNull();
        expect(decodeAnswers(queriesOf(list), `${wire}00` as Hex)).toBeNull();
        expect(decodeAnswers(queriesOf(list), `${wire}${"00".repeat(100_000)}` as Hex)).toBeNull();
      }),
    );
  });

  it("gives a value for any bytes, also with one altered digit", () => {
    const digit = fc.constantFrom(..."0123456789abcdefxzé \u0000");
    fc.assert(
      fc.property(exchanges, fc.nat(), digit, fc.uint8Array({ maxLength: 500 }), (list, at, other, bytes) => {
        const wire = wireOf(list, "ff");
        const altered = `${wire.slice(0, at % wire.length)}${other}${wire.slice((at % wire.length) + 1)}`;
        const noise = [altered, `0x${hexOf(bytes)}`, `0x77697431${hexOf(bytes)}`, hexOf(bytes), ""];
        for (const text of noise) {
          const answers = decodeAnswers(queriesOf(list), text as Hex);
          expect(answers === null || answers.length === list.length).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("refuses the answer of another contract: no code, a token, other queries", () => {
    const queries: ReadonlyArray<Query> = [{ kind: "environment" }];
    for (const data of ["0x", `0x${"00".repeat(32)}`, `0x${"00".repeat(31)}01`, "0x77697431", "0x77697431ff"]) {
      expect(decodeAnswers(queries, data as Hex)).toBeNull();
    }
    expect(decodeAnswers([], "0x77697431ff" as Hex)).toEqual([]);
    const dirty = wireOf(fc.sample(environment, 1), "ff").replace(/^(.{332})../, "$1ff");
    expect(decodeAnswers(queries, dirty as Hex), "a fee recipient of more than 20 bytes").toBeNull();
  });
});
