/** Calldata and the values of events, errors and results beside viem's: the same wherever the bytes are an encoder's. */
import * as Result from "effect/Result";
import fc from "fast-check";
import {
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
  type Abi,
  type Hex,
} from "viem";
import { describe, expect, it } from "vitest";
import { strange } from "../transaction/strange.js";
import {
  decodeRevert,
  DecodedLog,
  DecodedResult,
  RevertCustom,
  encodeFunction,
  signatureOf,
  topicOf,
} from "../rooms/abi.js";
import { call } from "./typed.js";

const or = <A>(run: () => A, otherwise: A): A => {
  try {
    return run();
  } catch {
    return otherwise;
  }
};
const name = (field: string) => field;
/** Bytes of which most begin like text, some with NULs. */
const text = fc
  .oneof(
    fc.uint8Array({ maxLength: 70 }),
    fc
      .tuple(fc.nat(3), fc.string({ maxLength: 40 }), fc.nat(3))
      .map(([before, said, behind]) => Buffer.concat([Buffer.alloc(before), Buffer.from(said), Buffer.alloc(behind)])),
    fc.constantFrom(Buffer.from("efbbbf41", "hex"), Buffer.from("c3", "hex"), Buffer.from("eda080", "hex")),
  )
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
/** With names left out here and there. */
const inputsOf = (parameters: ReadonlyArray<object>, isNamed: boolean) =>
  parameters.map((parameter, index) => (isNamed || index !== 1 ? parameter : { ...parameter, name: "" }));

describe("coding that must equal viem's", () => {
  it("encodes the same calldata", () =>
    fc.assert(
      fc.property(call, ([inputs, args]) => {
        const abi = [{ type: "function", name: "f", inputs, outputs: [], stateMutability: "view" }] as const;
        const encoded = encodeFunction(abi as never, "f", args, name);
        expect(Result.getOrThrow(encoded).data).toBe(encodeFunctionData({ abi: abi as Abi, functionName: "f", args }));
      }),
    ));

  it("chooses the same function of several with one name", () => {
    const abi = parseAbi([
      ...["function f()", "function f(uint8)", "function f(uint256)", "function f(address)", "function f(bytes20)"],
      ...["function f(string)", "function f(bytes)", "function f(uint256,bool)", "function f((uint8 a,bool b))"],
    ] as ReadonlyArray<string>);
    const account = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";
    const all: ReadonlyArray<ReadonlyArray<unknown>> = [
      ...[[], [1n], [300n], [-1n], [account], ["text"], ["0x1234"], [1n, true], [{ a: 1, b: true }], [[1, true]]],
      ...[[true], [null], [1n, 2n], [1n, true, 2n], [1.5]],
    ];
    for (const args of all) {
      const ours = encodeFunction(abi as never, "f", args, name);
      const theirs = or(() => encodeFunctionData({ abi: abi as Abi, functionName: "f", args }), null);
      expect([args, Result.isSuccess(ours) ? ours.success.data : null]).toEqual([args, theirs]);
      if (Result.isSuccess(ours)) expect(abi).toContainEqual(ours.success.item);
    }
  });

  it("requires a right checksum of an address with capital letters", () => {
    const abi = parseAbi(["function f(address)"]);
    const right = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";
    for (const [account, isRight] of [
      [right, true],
      [right.toLowerCase(), true],
      [`${right.slice(0, -1)}C2`.slice(0, 42), true],
      [right.replace("aaA", "AaA"), false],
      [right.slice(0, -1), false],
    ] as const)
      expect([account, Result.isSuccess(encodeFunction(abi as never, "f", [account], name))]).toEqual([
        account,
        isRight && or(() => encodeFunctionData({ abi, args: [account as Hex] }), null) !== null,
      ]);
  });

  it("decodes results, errors and events to the same values, by name and by position", () =>
    fc.assert(
      fc.property(
        call,
        fc.boolean(),
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        (drawn, isNamed, marks) => {
          const [parameters, args] = drawn;
          const inputs = inputsOf(parameters, isNamed) as typeof parameters;
          const data = encodeAbiParameters(inputs, args);
          const result = { type: "function", name: "f", inputs: [], outputs: inputs, stateMutability: "view" } as const;
          expect(new DecodedResult({ name: "f", item: result as never, data }).value).toEqual(
            or(() => decodeFunctionResult({ abi: [result] as Abi, data }), undefined),
          );
          const error = { type: "error", name: "E", inputs } as const;
          const thrown = encodeErrorResult({ abi: [error] as Abi, errorName: "E", args });
          const custom = { data: thrown, name: "E", signature: signatureOf("E", inputs), item: error as never };
          expect(new RevertCustom({ ...custom, provenance: [] }).args).toEqual(
            decodeErrorResult({ abi: [error] as Abi, data: thrown }).args ?? [],
          );
          // of another selector, and cut
          for (const other of [`0x00000000${thrown.slice(10)}`, thrown.slice(0, -64)] as ReadonlyArray<Hex>)
            if (other.length >= 10 && (other.startsWith("0x00000000") || inputs.length > 0))
              expect(new RevertCustom({ ...custom, data: other, provenance: [] }).args).toEqual([]);

          const marked = inputs.map((input, index) => ({ ...input, indexed: marks[index] === true && index < 3 }));
          const event = { type: "event", name: "L", inputs: marked } as const;
          const isPlain = (type: string) => !/^(string|bytes|tuple.*|.*\])$/.test(type);
          const topics = marked.flatMap((input, index): ReadonlyArray<Hex> =>
            input.indexed
              ? [isPlain(input.type) ? encodeAbiParameters([input], [args[index]]) : `0x${"ab".repeat(32)}`]
              : [],
          );
          const inData = marked.flatMap((input, index) => (input.indexed ? [] : [[input, args[index]] as const]));
          const log = encodeAbiParameters(
            inData.map(([input]) => input),
            inData.map(([, value]) => value),
          );
          const signature = signatureOf("L", marked);
          const about = { name: "L", signature, data: log, provenance: [] };
          const viems = or(
            () =>
              decodeEventLog({ abi: [event] as Abi, data: log, topics: [toEventSelector(signature), ...topics] }).args,
            undefined,
          );
          const named = new DecodedLog({ ...about, item: event as never, topics: [topicOf(signature), ...topics] });
          expect(named.args).toEqual(viems);
          if (viems !== undefined) expect(Object.keys(named.args as object)).toEqual(Object.keys(viems as object));
          const anonymous = { ...event, anonymous: true };
          expect(new DecodedLog({ ...about, item: anonymous as never, topics }).args).toEqual(viems);
          // of another event, or with a topic too few
          for (const fewer of [[`0x${"00".repeat(32)}`, ...topics], []] as ReadonlyArray<ReadonlyArray<Hex>>)
            expect(new DecodedLog({ ...about, item: event as never, topics: fewer }).args).toBeUndefined();
        },
      ),
      { numRuns: 300 },
    ));

  it("gives signatures the same hash", () => {
    for (const signature of [
      "a()",
      "transfer(address,uint256)",
      "f((uint8,bool)[2],bytes)",
      " f(uint8 )",
      "f(uint8",
      "",
    ])
      expect([signature, or(() => topicOf(signature), null)]).toEqual([
        signature,
        or(() => toEventSelector(signature), null),
      ]);
  });

  it("decodes the same text, with leading and trailing NULs, and of bytes that are no UTF-8", () =>
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 3 }), (one, two, more) => {
        const shape = (type: "string" | "bytes") =>
          [
            { name: "a", type },
            {
              name: "t",
              type: "tuple",
              components: [
                { name: "b", type },
                { name: "n", type: "uint8" },
              ],
            },
            {
              name: "u",
              type: "tuple[]",
              components: [
                { name: "", type },
                { name: "n", type },
              ],
            },
            { name: "l", type: `${type}[]` },
            { name: "m", type: `${type}[1][]` },
          ] as const;
        const values = [one, { b: two, n: 1 }, [[two, one]], more, more.map((each) => [each])];
        const data = encodeAbiParameters(shape("bytes") as never, values as never) as Hex;
        const item = {
          type: "function",
          name: "f",
          inputs: [],
          outputs: shape("string"),
          stateMutability: "view",
        } as const;
        const ours = new DecodedResult({ name: "f", item: item as never, data }).value;
        expect(ours).toEqual(decodeFunctionResult({ abi: [item] as unknown as Abi, data }));
      }),
    ));

  it("gives a revert the same reason, except for its length", () =>
    fc.assert(
      fc.property(text, (bytes) => {
        const data = `0x08c379a0${encodeAbiParameters([{ type: "bytes" }], [bytes]).slice(2)}` as const;
        const { layer } = decodeRevert(data, []).layers[0];
        expect(layer._tag === "Reason" ? layer.reason : layer).toBe(
          decodeErrorResult({ abi: parseAbi(["error Error(string)"]), data }).args[0],
        );
        const own = { type: "error", name: "E", inputs: [{ name: "why", type: "string" }] } as const;
        const thrown = `${toFunctionSelector("E(string)")}${data.slice(10)}` as const;
        const custom = { data: thrown, name: "E", signature: "E(string)", item: own as never, provenance: [] };
        expect(new RevertCustom(custom).args).toEqual(decodeErrorResult({ abi: [own], data: thrown }).args);
      }),
    ));

  it("decodes tuples whose components share a name to the same values", () => {
    for (const types of [
      ["string", "bytes"],
      ["bytes", "string"],
      ["string", "uint256"],
      ["uint256", "string"],
    ]) {
      const components = types.map((type) => ({ name: "x", type }));
      const outputs = [{ name: "t", type: "tuple", components }];
      const item = { type: "function", name: "f", inputs: [], outputs, stateMutability: "view" } as const;
      const values = types.map((type) => (type === "uint256" ? 5n : type === "bytes" ? "0x0041" : "\0A"));
      const positions = outputs.map((each) => ({ ...each, components: each.components.map(({ type }) => ({ type })) }));
      const data = encodeAbiParameters(positions as never, [values] as never) as Hex;
      expect([types, new DecodedResult({ name: "f", item: item as never, data }).value]).toEqual([
        types,
        decodeFunctionResult({ abi: [item] as unknown as Abi, data }),
      ]);
    }
  });

  it("refuses an argument of another kind than its parameter, or writes it as viem does", () => {
    const kinds = ["uint8", "uint256", "int16", "bool", "address", "bytes4", "bytes32", "bytes", "string"];
    const types = kinds.flatMap((kind) => [kind, `${kind}[]`, `${kind}[2]`]);
    for (const type of types)
      for (const value of strange)
        for (const arg of [value, [value], [value, value]]) {
          const abi = [
            { type: "function", name: "f", inputs: [{ type }], outputs: [], stateMutability: "view" },
          ] as const;
          const ours = or(() => Result.getOrNull(encodeFunction(abi as never, "f", [arg], name))?.data ?? null, null);
          const theirs = or(() => encodeFunctionData({ abi: abi as Abi, functionName: "f", args: [arg] }), null);
          if (ours !== null) expect([type, arg, ours]).toEqual([type, arg, theirs]);
        }
  });
});
