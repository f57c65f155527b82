/** Types taken apart, and values walked beside them. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { arrayOf, coerce, coerceAll, elementOf, isDecodable, isDynamic, type Walk } from "../rooms/abi.js";

describe("the parser of array types", () => {
  it.each([
    ["uint8[]", { element: "uint8", length: null }],
    ["uint8[3]", { element: "uint8", length: 3 }],
    ["tuple[2][]", { element: "tuple[2]", length: null }],
    ["bytes32", null],
    ["[3]", null],
    ["uint8[3]x", null],
    ["", null],
  ])("splits %s", (type, expected) => {
    expect(arrayOf(type)).toEqual(expected);
  });
  it("keeps the components of an array's elements", () => {
    const components = [{ type: "bool" }];
    expect(elementOf({ type: "tuple[]", name: "a", components })).toEqual({ type: "tuple", name: "a", components });
    expect(elementOf({ type: "tuple", components })).toBe(null);
  });
  it("calls an array dynamic by its length or by its elements", () => {
    expect(["bytes", "string", "uint8[]", "string[2]"].every((type) => isDynamic({ type }))).toBe(true);
    expect(["bytes32", "uint8[2][3]", "address"].some((type) => isDynamic({ type }))).toBe(false);
    expect(isDynamic({ type: "tuple[2]", components: [{ type: "uint8" }, { type: "bytes" }] })).toBe(true);
    expect(isDynamic({ type: "tuple", components: [{ type: "uint8" }] })).toBe(false);
  });
  it("decodes an array only if its elements have a size and are few", () => {
    for (const type of ["uint8[0]", "uint8[][0]", "uint8[4097]", "uint8[65][64]", "[0]", "uint8[0]x[2]", "tuple[]"])
      expect([type, isDecodable([{ type }])]).toEqual([type, false]);
    for (const type of ["uint8[]", "uint8[4096]", "uint8[64][64]", "uint8[2][]"])
      expect([type, isDecodable([{ type }])]).toEqual([type, true]);
  });
});

describe("a value checked against its parameter", () => {
  const read: Walk["read"] = (type, value) =>
    typeof value === "string" ? Result.succeed(`${type} ${value}`) : Result.fail("must be text");
  const exact: Walk = { read, isExact: true };
  const pair = {
    type: "tuple",
    name: "pair",
    components: [
      { type: "a", name: "x" },
      { type: "b[2]", name: "y" },
    ],
  };

  it("is checked part by part", () => {
    expect(coerce(pair, { x: "1", y: ["2", "3"] }, exact, "args[0]")).toEqual(
      Result.succeed({ x: "a 1", y: ["b 2", "b 3"] }),
    );
    expect(coerce(pair, ["1", ["2", "3"]], exact, "")).toEqual(Result.succeed(["a 1", ["b 2", "b 3"]]));
  });
  it.each([
    [{ x: "1" }, "args[0].y", "is missing"],
    [{ x: "1", y: ["2", "3"], "z\u202e": 1 }, "args[0].z\\u{202e}", "is not a field of this tuple"],
    [{ x: "1", y: ["2"] }, "args[0].y", "must have 2 entries for b[2], got 1"],
    [{ x: "1", y: ["2", 3] }, "args[0].y[1]", "must be text"],
    [{ x: "1", y: "2" }, "args[0].y", "must be an array for b[2]"],
    [["1"], "args[0]", "must have 2 entries, got 1"],
    ["1", "args[0]", "must be an object or an array"],
    [null, "args[0]", "must be an object or an array"],
  ])("names the part that does not fit: %j", (value, field, problem) => {
    expect(coerce(pair, value, exact, "args[0]")).toEqual(Result.fail({ field, problem }));
  });
  it("passes a check without lengths and names, if these are left to the encoder", () => {
    const lax: Walk = { read: (_, value) => Result.succeed(value), isExact: false };
    for (const value of [{ y: [1, 2, 3] }, { x: 1, y: [1], z: 2 }, [1, [2], 3]])
      expect(Result.isSuccess(coerce(pair, value, lax, ""))).toBe(true);
    expect(Result.isSuccess(coerceAll([pair], [], lax, "args"))).toBe(false);
  });
});
