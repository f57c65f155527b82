/** What code may do under one fork alone, by its instructions. */
import { describe, expect, it } from "vitest";
import { isOfLaterFork } from "../rooms/chains.js";
import type { Hex } from "../rooms/primitives.js";
import * as artifacts from "../contracts/artifacts.js";

const metadata = (hash: string) => `a2646970667358221220${hash}64736f6c634300081e0033`;

describe("code checked for opcodes of a later fork", () => {
  it.each<[string, Hex]>([
    ["none", "0x"],
    ["a delegate's address", `0xef0100${"4b".repeat(20)}`],
    ["of the compiler", artifacts.Token.bytecode],
    ["with such a byte among what it pushes", "0x604b614be65000"],
    ["with such a byte behind its end", "0x600160015500e64b"],
    ["with such a byte behind what no fork has", "0x5b0c4b"],
    ["with metadata, a byte of which is a place to jump to", `0x6001600155fe${metadata(`5b${"f9".repeat(31)}`)}`],
  ])("%s runs the same under both forks", (_, code) => expect(isOfLaterFork(code)).toBe(false));

  it.each<[string, Hex]>([
    ["that asks for the slot", "0x4b5f5500"],
    ["that does behind a jump", "0x6003565b4b00"],
    ["that hides it in metadata", `0x6001600155fe${metadata(`5b4b${"f9".repeat(30)}`)}`],
    ["that reaches deeper into the stack", "0x5fe60050"],
    ["that makes accounts", "0x5f5f5ff000"],
    ["that makes accounts by CREATE2", "0x5f5f5f5ff500"],
    ["that ends itself", "0x33ff"],
  ])("%s may run differently", (_, code) => expect(isOfLaterFork(code)).toBe(true));
});
