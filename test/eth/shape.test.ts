/** Plain code and the schema of one shape read alike: the same values, the same faults at the same paths. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  Block,
  Bytes,
  decoder,
  FeeHistory,
  Index,
  list,
  Log,
  nullOr,
  Quantity,
  Receipt,
  SimulatedBlocks,
  Word,
  type Shape,
} from "../rooms/eth.js";
import { recorded } from "../harness/replay.js";
import { type Fault, faultsOf, placesOf, rightBy, spoilt, wrongJson, wrongObjects } from "./wireAnswers.js";
import { runs } from "../harness/parts.js";

type AnyShape = Shape<Schema.ConstraintDecoder<unknown>>;

const shapes: Readonly<Record<string, AnyShape>> = {
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

/** As text, with the keys of objects in their order, which deep equality does not see. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? `${inner}n` : inner));

/** Holds both readings of one answer against each other: whether plain code took it, whether the schema did. */
const readings = (method: string, shape: AnyShape) => {
  const read = decoder(method, shape);
  const judge = decoder(method, { ...shape, read: () => undefined });
  return (answer: unknown): { readonly taken: boolean; readonly right: boolean } => {
    const [both, judged] = [read(answer), judge(answer)];
    expect(both).toStrictEqual(judged);
    expect(textOf(both)).toBe(textOf(judged));
    return { taken: shape.read(answer) !== undefined, right: Result.isSuccess(judged) };
  };
};

describe.each(Object.entries(shapes))("%s", (method, shape) => {
  const right = rightBy(shape.schema);
  const readBoth = readings(method, shape);
  /** Of JSON, plain code takes all that is right. */
  const judgedAlike = (json: unknown): void => {
    const { taken, right } = readBoth(json);
    expect(taken).toBe(right);
  };

  it("is read by plain code alone when it is right", () => {
    fc.assert(
      fc.property(right, (answer) => {
        expect(readBoth(answer)).toEqual({ taken: true, right: true });
      }),
    );
  });

  it("is judged alike with anything at any one place", () => {
    const tried = new Set<string>();
    const bySize = fc.sample(right, { numRuns: 100, seed: 1 }).sort((a, b) => sizeOf(a) - sizeOf(b));
    for (const answer of bySize) {
      for (const place of placesOf(answer)) {
        const kind = place.map((key) => key.replace(/^\d+$/, "#")).join(".");
        if (tried.has(kind)) continue;
        tried.add(kind);
        for (const fault of faultsOf(wrongJson)) judgedAlike(spoilt(answer, place, fault));
        for (const fault of faultsOf(wrongObjects)) readBoth(spoilt(answer, place, fault));
      }
    }
  });

  it("is judged alike with several faults", () => {
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
        judgedAlike(faults.reduce(spoil, answer));
      }),
      { numRuns: runs(200) },
    );
  });

  it("is judged alike when its fields are inherited", () => {
    for (const answer of fc.sample(right, { numRuns: 10, seed: 1 }))
      if (typeof answer === "object") readBoth(Object.create(answer));
  });
});

describe("the reference client's recorded answers", () => {
  it.each(recorded().filter(({ response }) => response.result !== undefined))(
    "$name is read by plain code alone",
    ({ method, response }) => {
      const shape = shapes[method];
      if (shape === undefined) throw new Error(`no shape for ${method}`);
      if (response.result !== null)
        expect(readings(method, shape)(response.result)).toEqual({ taken: true, right: true });
    },
  );
});
