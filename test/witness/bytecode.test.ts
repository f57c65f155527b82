import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { witnessBytecode } from "../rooms/witness.js";

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

it("the witness's bytecode is what Witness.yul compiles to", () => {
  const check = () => execFileSync(process.execPath, [path("scripts/build-witness.mjs"), "--check"], { stdio: "pipe" });
  expect(check).not.toThrow();
  const source = createHash("sha256")
    .update(readFileSync(path("src/witness/Witness.yul")))
    .digest("hex");
  expect(readFileSync(path("src/witness/bytecode.ts"), "utf8")).toContain(source);
}, 60_000);

it("the witness has no opcode that changes state, logs, or is younger than Paris, but for the two that it tries", () => {
  const code = Buffer.from(witnessBytecode.slice(2), "hex");
  const instructions = new Set<number>();
  const tried: Array<number> = [];
  for (let at = 0; at < code.length; at++) {
    const opcode = code[at] ?? 0;
    instructions.add(opcode);
    // CLZ and SLOTNUM, each once, in a call to itself
    if (opcode === 0x1e || opcode === 0x4b) tried.push(opcode);
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f;
  }
  expect(instructions.has(0xfa), "STATICCALL").toBe(true);
  expect(tried.sort((a, b) => a - b)).toEqual([0x1e, 0x4b]);
  const forbidden: Readonly<Record<string, ReadonlyArray<number>>> = {
    "SLOAD, SSTORE, TLOAD, TSTORE": [0x54, 0x55, 0x5c, 0x5d],
    "LOG0 to LOG4": [0xa0, 0xa1, 0xa2, 0xa3, 0xa4],
    "CREATE, CREATE2, SELFDESTRUCT": [0xf0, 0xf5, 0xff],
    "CALL, CALLCODE, DELEGATECALL": [0xf1, 0xf2, 0xf4],
    "PUSH0, MCOPY, BLOBHASH, BLOBBASEFEE": [0x5f, 0x5e, 0x49, 0x4a],
    "REVERT, INVALID: it always returns": [0xfd, 0xfe],
  };
  for (const [names, opcodes] of Object.entries(forbidden)) {
    expect(
      opcodes.filter((opcode) => instructions.has(opcode)),
      names,
    ).toEqual([]);
  }
});
