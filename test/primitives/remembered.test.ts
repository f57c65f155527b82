import { describe, expect, it, vi } from "vitest";
import { memoize } from "../rooms/primitives.js";

describe("what is remembered of a list", () => {
  const setup = () => {
    const make = vi.fn((list: ReadonlyArray<string>) => list.join());
    return { make, of: memoize(make) };
  };

  it("is worked out once for each list", () => {
    const { make, of } = setup();
    const list = ["a", "b"];
    expect([of(list), of(list), of(["a", "b"])]).toEqual(["a,b", "a,b", "a,b"]);
    expect(make).toHaveBeenCalledTimes(2);
  });

  it("is worked out again when the list grows, shrinks or holds another entry", () => {
    const { of } = setup();
    const list = ["a"];
    expect(of(list)).toBe("a");
    list.push("b");
    expect(of(list)).toBe("a,b");
    list[0] = "c";
    expect(of(list)).toBe("c,b");
    list.length = 0;
    expect(of(list)).toBe("");
  });

  it("tells lists that hold nothing from lists that are not known", () => {
    const { make, of } = setup();
    const list: ReadonlyArray<string> = [];
    expect([of(list), of(list)]).toEqual(["", ""]);
    expect(make).toHaveBeenCalledTimes(1);
  });
});
