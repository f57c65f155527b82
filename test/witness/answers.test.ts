import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Address, Hash, Hex } from "../../src/primitives/hex.js";
import { decodeAnswers, type Answer } from "../../src/witness/answers.js";
import type { Query } from "../../src/witness/queries.js";

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(hexOf);
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const address = bytesOf(20).map((hex) => `0x${hex}` as Address);
const hash = bytesOf(32).map((hex) => `0x${hex}` as Hash);
const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const uint32 = (value: number): string => value.toString(16).padStart(8, "0");

interface Exchange {
  readonly query: Query;
  readonly answer: Answer;
  readonly wire: string;
}

const environment: fc.Arbitrary<Exchange> = fc
  .tuple(uint256, uint256, hash, uint256, uint256, address, hash, uint256, uint256, uint256)
  .map(([chainId, number, parentHash, timestamp, fee, feeRecipient, prevRandao, gasLimit, gasPrice, gasLeft]) => ({
    query: { kind: "environment" },
    answer: {
      ...{ kind: "environment", chainId, number, parentHash, timestamp, baseFeePerGas: fee, feeRecipient },
      ...{ prevRandao, gasLimit, gasPrice, gasLeft },
    },
    wire: [
      ...["01", word(chainId), word(number), parentHash.slice(2), word(timestamp), word(fee)],
      ...[word(BigInt(feeRecipient)), prevRandao.slice(2), word(gasLimit), word(gasPrice), word(gasLeft)],
    ].join(""),
  }));

const account: fc.Arbitrary<Exchange> = fc
  .tuple(address, uint256, hash, fc.uint8Array({ maxLength: 60 }))
  .map(([at, balance, codeHash, code]) => {
    const prefix = hexOf(code.slice(0, 23));
    return {
      query: { kind: "account", address: at },
      answer: { kind: "account", balance, codeHash, codeSize: BigInt(code.length), codePrefix: `0x${prefix}` as Hex },
      wire: `02${word(balance)}${codeHash.slice(2)}${uint32(code.length)}${prefix.padEnd(46, "0")}`,
    };
  });

const call: fc.Arbitrary<Exchange> = fc
  .tuple(address, fc.boolean(), fc.uint8Array({ maxLength: 100 }), fc.nat(100))
  .map(([to, success, returned, returnCap]) => {
    const data = hexOf(returned.slice(0, returnCap));
    return {
      query: { kind: "call", to, data: "0x" as Hex, gas: 1, returnCap },
      answer: { kind: "call", success, size: BigInt(returned.length), data: `0x${data}` as Hex },
      wire: `03${success ? "01" : "00"}${uint32(returned.length)}${data}`,
    };
  });

const exchanges = fc.array(fc.oneof(environment, account, call), { maxLength: 12 });
const queriesOf = (list: ReadonlyArray<Exchange>) => list.map(({ query }) => query);
const wireOf = (list: ReadonlyArray<Exchange>, end: string) =>
  `0x77697431${list.map(({ wire }) => wire).join("")}${end}` as Hex;

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

  it("says unavailable for what came after the gas ran out, and only there", () => {
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

  it("refuses what is cut or too long", () => {
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

  it("is total: one altered digit, or any bytes at all, give a value", () => {
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

  it("refuses the answer of somebody else: no code, a token, other queries", () => {
    const queries: ReadonlyArray<Query> = [{ kind: "environment" }];
    for (const data of ["0x", `0x${"00".repeat(32)}`, `0x${"00".repeat(31)}01`, "0x77697431", "0x77697431ff"]) {
      expect(decodeAnswers(queries, data as Hex)).toBeNull();
    }
    expect(decodeAnswers([], "0x77697431ff" as Hex)).toEqual([]);
    const dirty = wireOf(fc.sample(environment, 1), "ff").replace(/^(.{332})../, "$1ff");
    expect(decodeAnswers(queries, dirty as Hex), "a fee recipient of more than 20 bytes").toBeNull();
  });
});
