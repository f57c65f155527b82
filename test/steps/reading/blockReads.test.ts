/** What code is said to read of its block, by its instructions. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { keccak256, toHex } from "viem";
import { describe, expect, it } from "vitest";
import { accountsIn, blockReads, instructionsIn } from "../../rooms/steps.js";
import { bundle, hexOf, token } from "../parts.js";

const readsOf = (code: string) =>
  blockReads(bundle({ to: token, data: hexOf("0x01") }), new Map([[token, Result.succeed(hexOf(code))]]), new Set());

describe("the block values that code reads", () => {
  it.each([
    ["BASEFEE", "0x48", ["basefee"]],
    ["the gas price, which follows from it", "0x3a", ["basefee"]],
    ["the balance of whoever pays the gas", "0x3231", ["basefee"]],
    ["the balance of the contract, which does not", "0x47", []],
    ["what is pushed, which is data", "0x603a613131", []],
    ["the time before the base fee, once each", "0x483a4231", ["timestamp", "basefee"]],
    ["other code, as whom it pays for", `0xef0100${"11".repeat(20)}`, ["others"]],
  ] as const)("include %s", (_, code, reads) => expect(readsOf(code)).toEqual(reads));

  it("are found in the init code of a deployment, too, and not looked for in a known token", () => {
    expect(blockReads(bundle({ to: null, data: hexOf("0x3a") }), new Map(), new Set())).toEqual(["basefee"]);
    const known = new Map([[token, Result.succeed(hexOf("0x3a"))]]);
    expect(blockReads(bundle({ to: token }), known, new Set([token]))).toEqual([]);
  });
});

describe("the addresses that code contains", () => {
  const one = "1e0049783f008a0085193e00003d00cd54003c71";
  it.each([
    ["a constant", `0x73${one}`, [`0x${one}`]],
    ["an immutable", `0x7f${"0".repeat(24)}${one}`, [`0x${one}`]],
    ["one with zeros in front, which a compiler leaves out", `0x71${one.slice(4)}`, [`0x0000${one.slice(4)}`]],
    ["no mask", `0x73${"f".repeat(40)}7f${"0".repeat(24)}${"f".repeat(40)}`, []],
    ["no number, selector or text", `0x6401${"0".repeat(8)}63a9059cbb7f${"41".repeat(32)}`, []],
    ["no part of another pushed value", `0x7f${"00".repeat(4)}73${one}${"00".repeat(7)}`, []],
    ["no unreachable push", `0x0073${one}`, []],
    ["each once only", `0x73${one}73${one}`, [`0x${one}`]],
  ])("include or leave out %s", (_, code, accounts) => expect(accountsIn(hexOf(code))).toEqual(accounts));
});

describe("the reachable code of a contract", () => {
  it.each([
    ["no code behind an end", ["0x0042", "0x5f5642", "0x5f5ff342", "0x5f5ffd42", "0xfe42", "0x5fff42"], []],
    ["code behind an end from the next JUMPDEST on", ["0x005b42", "0xfe60015b42", "0x6004565b42"], ["timestamp"]],
    ["no code behind a pushed JUMPDEST", ["0x00605b42", "0x00625b5b5b42", "0x007f5b"], []],
    ["code behind JUMPI, or an opcode that no fork defines", ["0x5f5f5742", "0x0c42", "0x2142"], ["timestamp"]],
    ["code behind the operand of DUPN, SWAPN or EXCHANGE", ["0xe60042", "0xe7ff42", "0xe8fe42"], ["timestamp"]],
    ["all code of another form than the first", ["0xef000101000402000042"], ["timestamp"]],
    ["the slot by its number", ["0x4b"], ["number"]],
    ["nothing behind code that ends within a push", ["0x60", "0x7f42", "0x"], []],
  ] as const)("is found: %s", (_, codes, reads) => {
    for (const code of codes) expect([code, readsOf(code)]).toEqual([code, reads]);
  });

  it("shows hardly ever a read of the block in a compiler's metadata", () => {
    const many = 1_000;
    const readers = Array.from({ length: many }, (_, seed) => {
      const hash = keccak256(toHex(seed)).slice(2);
      return readsOf(`0x5f5ffdfea2646970667358221220${hash}64736f6c634300081e0033`);
    }).filter((reads) => reads.length > 0);
    expect(readers.length / many).toBeLessThan(0.1);
  });

  it("covers all executed opcodes, for any jumps", () => {
    const weighted = fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 255 }) },
      { weight: 2, arbitrary: fc.constantFrom(0x00, 0x56, 0x57, 0x5b, 0xf3, 0xfd, 0xfe, 0xff) },
      { weight: 1, arbitrary: fc.constantFrom(0x60, 0x61, 0x62, 0x7f, 0xe6, 0xe7, 0xe8, 0x42) },
    );
    const programs = fc.array(weighted, { minLength: 1, maxLength: 64 });
    fc.assert(
      fc.property(programs, fc.infiniteStream(fc.nat()), (program, choices) => {
        const counted = instructionsIn(toHex(Uint8Array.from(program)));
        for (const opcode of executed(program, () => choices.next().value ?? 0)) expect(counted).toContain(opcode);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** One way through a program: every jump goes to some JUMPDEST, and every condition holds or not, as is drawn. */
function* executed(program: ReadonlyArray<number>, draw: () => number): Generator<number> {
  const dests: Array<number> = [];
  const pushed = (opcode: number) => (opcode >= 0x60 && opcode <= 0x7f ? opcode - 0x5f : 0);
  for (let at = 0; at < program.length; at += 1 + pushed(program[at] ?? 0)) if (program[at] === 0x5b) dests.push(at);
  let at: number | undefined = 0;
  for (let steps = 0; steps < 200 && at !== undefined; steps++) {
    const opcode: number | undefined = program[at];
    if (opcode === undefined) return;
    yield opcode;
    if ([0x00, 0xf3, 0xfd, 0xfe, 0xff].includes(opcode)) return;
    const isJump: boolean = opcode === 0x56 || (opcode === 0x57 && draw() % 2 === 0);
    const operand: boolean =
      opcode >= 0xe6 && opcode <= 0xe8 && ((program[at + 1] ?? 0) < 0x5b || (program[at + 1] ?? 0) > 0x7f);
    at = isJump ? dests[draw() % Math.max(1, dests.length)] : at + 1 + pushed(opcode) + (operand ? 1 : 0);
  }
}
