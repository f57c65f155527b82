import { describe, expect, it, vi } from "vitest";
import { memoizeList, remembered } from "../rooms/primitives.js";

describe("a value remembered by a list", () => {
  const setup = () => {
    const make = vi.fn((list: ReadonlyArray<string>) => list.join());
    return { make, of: memoizeList(make) };
  };

  it("is computed once for each list", () => {
    const { make, of } = setup();
    const list = ["a", "b"];
    expect([of(list), of(list), of(["a", "b"])]).toEqual(["a,b", "a,b", "a,b"]);
    expect(make).toHaveBeenCalledTimes(2);
  });

  it("is computed again when the list grows, shrinks or holds another entry", () => {
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

  it("differs for empty lists and unknown ones", () => {
    const { make, of } = setup();
    const list: ReadonlyArray<string> = [];
    expect([of(list), of(list)]).toEqual(["", ""]);
    expect(make).toHaveBeenCalledTimes(1);
  });
});

describe("a value remembered by a text", () => {
  it("is computed once, for the newest texts alone, and for none that is too long", () => {
    const make = vi.fn((text: string) => ({ text }));
    const known = remembered<{ readonly text: string }>(2, 3);
    const of = (text: string) => known(text, () => make(text));
    expect(of("a")).toBe(of("a"));
    expect([of("b"), of("c"), of("b"), of("a")].map(({ text }) => text)).toEqual(["b", "c", "b", "a"]);
    expect(make.mock.calls.flat()).toEqual(["a", "b", "c", "a"]);
    expect(of("long")).not.toBe(of("long"));
  });
});
