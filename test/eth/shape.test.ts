/** Every shape reads what is right by it, with every field that it names, and says where something wrong stands. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  Account,
  Block,
  Bytes,
  decoder,
  FeeHistory,
  Flag,
  Index,
  list,
  Log,
  nullOr,
  Quantity,
  Receipt,
  SimulatedBlocks,
  Status,
  Word,
  type Shape,
} from "../rooms/eth.js";
import { recorded } from "../harness/replay.js";
import { type Fault, faultsOf, placesOf, rightBy, spoilt, wrongJson, wrongObjects } from "./wireAnswers.js";
import { runs } from "../harness/parts.js";

const shapes: Readonly<Record<string, Shape>> = {
  eth_simulateV1: SimulatedBlocks,
  eth_getBlockByNumber: Block,
  eth_getBlockReceipts: list(Receipt),
  eth_getTransactionReceipt: nullOr(Receipt),
  eth_feeHistory: FeeHistory,
  eth_getLogs: list(Log),
  eth_getBalance: Quantity,
  eth_getTransactionCount: Quantity,
  eth_estimateGas: Quantity,
  eth_chainId: Index,
  eth_call: Bytes,
  eth_getCode: Bytes,
  eth_sendRawTransaction: Word,
};

const sizeOf = (json: unknown): number => JSON.stringify(json).length;

/** The path of a place, as failures name it. */
const pathOf = (answer: unknown, place: ReadonlyArray<string>): string => {
  let [value, path] = [answer, "result"];
  for (const key of place) {
    path += Array.isArray(value) ? `[${key}]` : `.${key}`;
    value = Object(value)[key] as unknown;
  }
  return path;
};

/** Whether every field that the shape names is there, and nothing else. */
const isWhole = ({ parts }: Shape, read: unknown): boolean => {
  if (parts === undefined || read === null) return true;
  const { "*": item, ...fields } = parts;
  if (item !== undefined) return (read as ReadonlyArray<unknown>).every((one) => isWhole(item, one));
  const keys = Object.keys(fields);
  if (keys.every((key) => /^\d$/.test(key))) return Object.values(fields).some((way) => isWhole(way, read));
  const values = Object(read) as Readonly<Record<string, unknown>>;
  return (
    Object.keys(values).join() === keys.join() &&
    Object.entries(fields).every(([key, field]) => isWhole(field, values[key]))
  );
};

/** The path of what is wrong with an answer; null where nothing is, and every field is there. */
const wrongIn = (method: string, shape: Shape) => {
  const read = decoder(method, shape);
  return (answer: unknown): string | null => {
    const result = read(answer);
    if (Result.isSuccess(result)) {
      expect(isWhole(shape, result.success)).toBe(true);
      return null;
    }
    const { reason } = result.failure;
    return reason._tag === "MalformedResponse" ? reason.path : "?";
  };
};

describe.each(Object.entries(shapes))("the shape of %s", (method, shape) => {
  const right = rightBy(shape);
  const wrong = wrongIn(method, shape);

  it("reads a right answer", () => {
    fc.assert(fc.property(right, (answer) => void expect(wrong(answer)).toBe(null)));
  });

  it("reads an answer or refuses it at the fault or above, with anything at any one place", () => {
    const tried = new Set<string>();
    const bySize = fc.sample(right, { numRuns: 100, seed: 1 }).sort((a, b) => sizeOf(a) - sizeOf(b));
    for (const answer of bySize) {
      for (const place of placesOf(answer)) {
        const kind = place.map((key) => key.replace(/^\d+$/, "#")).join(".");
        if (tried.has(kind)) continue;
        tried.add(kind);
        const path = pathOf(answer, place);
        for (const fault of [...faultsOf(wrongJson), ...faultsOf(wrongObjects)]) {
          const found = wrong(spoilt(answer, place, fault));
          // the value may itself be a list or an object with something wrong inside
          if (found !== null)
            expect(found.startsWith(path) || path.startsWith(found), `${found} of ${path}`).toBe(true);
        }
      }
    }
  });

  it("gives one error for several faults, and never throws", () => {
    const fault = fc.oneof(
      fc.constantFrom(...faultsOf(wrongJson)),
      fc.jsonValue().map((value): Fault => ({ kind: "wrong", value })),
    );
    fc.assert(
      fc.property(right, fc.array(fc.tuple(fc.nat(), fault), { minLength: 1, maxLength: 3 }), (answer, faults) => {
        const spoil = (value: unknown, [at, inner]: readonly [number, Fault]): unknown => {
          const places = placesOf(value);
          return spoilt(value, places[at % places.length] ?? [], inner);
        };
        expect(wrong(faults.reduce(spoil, answer))).not.toBe("?");
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("a leaf of a shape", () => {
  const others = (kept: ReadonlyArray<unknown>) => wrongJson.filter((value) => !kept.includes(value));
  const digits = /^0x[0-9a-fA-F]*$/;
  const hexes = wrongJson.filter((value) => typeof value === "string" && digits.test(value)) as ReadonlyArray<string>;
  const sized = (size: number) => hexes.filter(({ length }) => length === size);
  const numbers = hexes.filter(({ length }) => length > 2 && length <= 66);
  it.each([
    ["Word", Word, sized(66)],
    ["Account", Account, sized(42)],
    ["Bytes", Bytes, hexes.filter(({ length }) => length % 2 === 0)],
    ["Quantity", Quantity, numbers],
    ["Index", Index, numbers.filter((text) => Number.isSafeInteger(Number(text)))],
    ["Status", Status, ["0x0", "0x1"]],
    ["Flag", Flag, [true, false]],
  ] as ReadonlyArray<[string, Shape, ReadonlyArray<unknown>]>)(
    "%s accepts its own kind, and nothing else",
    (_, leaf, kept) => {
      const read = decoder("eth_call", leaf);
      for (const value of kept) expect(Result.isSuccess(read(value)), String(value)).toBe(true);
      for (const value of others(kept)) expect(Result.isFailure(read(value)), String(value)).toBe(true);
      for (const value of wrongObjects) expect(Result.isFailure(read(value))).toBe(true);
    },
  );
});

describe("the shapes on geth's recorded answers", () => {
  it.each(recorded().filter(({ response }) => response.result !== undefined))("read $name", ({ method, response }) => {
    const shape = shapes[method];
    if (shape === undefined) throw new Error(`no shape for ${method}`);
    if (response.result !== null) expect(wrongIn(method, shape)(response.result)).toBe(null);
  });
});
