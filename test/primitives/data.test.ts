/** Copies of data: nothing in them can be called, and whatever they are made of, they end. */
import { describe, expect, it } from "vitest";
import { dataOf } from "../rooms/primitives.js";

describe("a plain copy of untrusted data", () => {
  it("has no function, getter, symbol or prototype of its original", () => {
    class Wallet {
      readonly key = 1;
      sign = () => "raw";
      send(): string {
        return "raw";
      }
    }
    let reads = 0;
    const value = {
      ...{ a: 1n, b: [new Wallet(), () => 1, Symbol("x")], at: new Date(5), bytes: new Uint8Array([1, 2]) },
      get shifting() {
        return ++reads;
      },
      [Symbol("hidden")]: 1,
    };
    const copy = dataOf(value) as { readonly b: ReadonlyArray<object>; readonly at: Date };
    expect(copy).toEqual({
      ...{ a: 1n, b: [{ key: 1 }, undefined, undefined], at: new Date(5), bytes: new Uint8Array([1, 2]) },
    });
    expect([reads, Object.keys(copy).sort(), Reflect.ownKeys(copy).length]).toEqual([0, ["a", "at", "b", "bytes"], 4]);
    expect([Object.getPrototypeOf(copy.b[0]), Object.keys(copy.b[0] ?? {})]).toEqual([Object.prototype, ["key"]]);
    expect([copy.at === value.at, copy.at instanceof Date]).toEqual([false, true]);
  });

  it("has nothing of an object with a function `request`, at any depth", () => {
    class Provider {
      readonly mnemonic = "test test";
      request(): number {
        return 1;
      }
    }
    const proxy = new Proxy({ key: 1 }, { get: (_, name) => (name === "request" ? () => 1 : undefined) });
    const value = { a: { b: [{ c: new Provider() }, Object.create(new Provider())] }, proxy, request: "a word" };
    expect(dataOf(value)).toEqual({ a: { b: [{ c: undefined }, undefined] }, request: "a word" });
    expect(dataOf(new Provider())).toBe(undefined);
  });

  it("keeps the message and the data of an error", () => {
    const error = Object.assign(new TypeError("gone"), { code: 4900, data: { retry: () => 1, left: 2 } });
    const copy = dataOf(error) as Error;
    expect([copy.message, copy.name, { ...copy }]).toEqual(["gone", "Error", { code: 4900, data: { left: 2 } }]);
  });

  it("is complete for a cycle, a value met twice, and a field __proto__", () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle["self"] = [circle];
    const copy = dataOf(circle) as typeof circle;
    expect([(copy["self"] as ReadonlyArray<unknown>)[0] === copy, copy === circle]).toEqual([true, false]);
    const twice = { x: 1 };
    const { a, b } = dataOf({ a: twice, b: twice }) as { readonly a: object; readonly b: object };
    expect([a === b, a === twice]).toEqual([true, false]);
    const odd = dataOf(JSON.parse('{"__proto__":{"isAdmin":true}}')) as object;
    expect([Object.getPrototypeOf(odd) === Object.prototype, Object.keys(odd)]).toEqual([true, ["__proto__"]]);
  });

  it("ends for deep, wide and endless values, and for a proxy that throws", () => {
    let deep: object = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    let levels = 0;
    for (let at = dataOf(deep); typeof at === "object" && at !== null; at = Reflect.get(at, "deep")) levels++;
    expect(levels).toBe(33);
    expect(Object.keys(dataOf({ wide: Array.from({ length: 50_000 }, (_, index) => ({ index })) }) as object)).toEqual([
      "wide",
    ]);
    const { wide } = dataOf({ wide: Array.from({ length: 50_000 }, () => 1) }) as { readonly wide: Array<number> };
    expect(wide.length).toBeLessThanOrEqual(10_000);
    const endless = (): object =>
      new Proxy(
        {},
        {
          ownKeys: () => ["a", "b"],
          getOwnPropertyDescriptor: () => ({ value: endless(), enumerable: true, configurable: true }),
        },
      );
    expect(typeof dataOf(endless())).toBe("object");
    const liar = new Proxy(
      {
        length: 2 ** 31,
        *[Symbol.iterator]() {
          for (;;) yield 1;
        },
      },
      { getPrototypeOf: () => Uint8Array.prototype },
    );
    expect(typeof dataOf({ liar })).toBe("object");
    const throwing = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("x");
        },
      },
    );
    expect(dataOf({ throwing })).toBe(undefined);
    expect(dataOf({ big: new Uint8Array(2_000_000), small: new Uint8Array(2) })).toEqual({ small: new Uint8Array(2) });
  });
});
