import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify, type ClassifyInput } from "../rooms/errors.js";
import { checkClassified, known, tagOf } from "./invariants.js";

/** Pieces of what nodes say, so that random texts reach deep into the rules. */
const phrase = fc.constantFrom(
  "execution reverted",
  "rate limit exceeded",
  "nonce too low",
  "insufficient funds for gas * price + value",
  "have 1 want 2",
  "block range",
  "limited to a 10,000 range",
  "header not found",
  "out of gas",
  "invalid opcode",
  "method not found",
  "Reverted 0x01020304",
  "0x08c379a0",
  '{"code":3,"message":"execution reverted"}',
  "pending",
  "not available",
  "max fee per gas",
  "gas required exceeds allowance (5)",
  "timeout",
  "intrinsic gas too low",
  "\u202e",
  "\u0000",
  "[0x1, 0x2]",
  "try again in 4ms",
);
const text = fc.oneof(
  fc.string(),
  fc.array(phrase, { maxLength: 6 }).map((parts) => parts.join(" ")),
  fc.string({ unit: "binary" }),
);
const code = fc.oneof(
  fc.integer(),
  fc.constantFrom(
    3,
    4,
    429,
    -32000,
    -32003,
    -32005,
    -32015,
    -32016,
    -32601,
    -32602,
    -32603,
    -38010,
    -38014,
    -38026,
    -3200,
    4444,
  ),
  fc.double(),
  fc.constantFrom("-32000", "CALL_EXCEPTION", null),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc.record(
      {
        code,
        message: text,
        data: fc.oneof(tie("tree"), text, fc.constant("0x08c379a0")),
        error: tie("tree"),
        cause: tie("tree"),
      },
      { requiredKeys: [] },
    ),
    fc.jsonValue(),
    text,
  ),
}));
const input: fc.Arbitrary<ClassifyInput> = fc.record(
  {
    method: fc.oneof(fc.constantFrom("eth_call", "eth_getLogs", "eth_simulateV1", "*"), fc.string()),
    httpStatus: fc.oneof(fc.constantFrom(200, 400, 401, 403, 413, 429, 500, 502, 503, 504), fc.integer()),
    headers: fc.dictionary(fc.oneof(fc.constant("Retry-After"), fc.string()), text),
    error: tree,
    bodyText: text,
    scope: fc.constantFrom("request", "call", "inline"),
    returnData: fc.oneof(text, fc.constant("0xdeadbeef")),
  },
  { requiredKeys: ["method"] },
);

describe("classify on any JSON", () => {
  it("gives exactly one tagged error that survives JSON, with a bounded message", () => {
    fc.assert(
      fc.property(input, (said) => {
        checkClassified(said);
      }),
      { numRuns: 400 },
    );
  });

  it("gives the same every time", () => {
    fc.assert(fc.property(input, (said) => void expect(classify(said).message).toBe(classify(said).message)));
  });

  it("survives values that are no JSON: cycles, getters that throw, functions", () => {
    const cycle: Record<string, unknown> = { code: 3 };
    cycle["data"] = cycle;
    const throwing = {
      get message(): string {
        throw new Error("no");
      },
    };
    for (const error of [
      cycle,
      throwing,
      () => 1,
      Symbol("x"),
      10n,
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("no");
          },
        },
      ),
    ]) {
      expect(known).toContain(tagOf(classify({ method: "eth_call", error })));
    }
    expect(classify({ method: "eth_call", error: cycle })).toMatchObject({ _tag: "ExecutionReverted" });
  });
});

describe("text that a contract chose", () => {
  const bytes = "0x08c379a0";
  const unrecognised = "VM Exception while processing transaction: reverted with reason string";
  const reverted = (reason: string) => ({ code: -32000, message: `execution reverted: ${reason}` });
  const called = (error: unknown): ClassifyInput => ({ method: "eth_call", error });
  const envelopes: Readonly<Record<string, (reason: string) => ClassifyInput>> = {
    geth: (reason) => called({ ...reverted(reason), code: 3, data: bytes }),
    "an old node": (reason) => ({ method: "eth_estimateGas", error: reverted(reason) }),
    "geth with a prefix": (reason) =>
      called({ code: -32000, message: `err: execution reverted: ${reason} (supplied gas 5)` }),
    hardhat: (reason) =>
      called({ code: -32603, message: `Error: ${unrecognised} '${reason}'`, data: { message: reason, data: bytes } }),
    nethermind: (reason) => called({ code: -32015, message: "VM execution error.", data: `revert: ${reason}` }),
    metamask: (reason) => {
      const originalError = { ...reverted(reason), code: 3, data: bytes };
      return called({ code: -32603, message: "Internal JSON-RPC error.", data: { originalError } });
    },
    "a simulated call": (reason) => ({
      ...{ method: "eth_simulateV1", scope: "call", error: reverted(reason), returnData: bytes },
    }),
    "a JSON text": (reason) => ({
      ...{ method: "eth_call", httpStatus: 500 },
      bodyText: JSON.stringify({ error: { ...reverted(reason), code: 3 } }),
    }),
  };
  for (const [name, envelope] of Object.entries(envelopes)) {
    it(`never changes the classification: ${name}`, () => {
      fc.assert(
        fc.property(text, (reason) => void expect(classify(envelope(reason))._tag).toBe("ExecutionReverted")),
        { numRuns: 200 },
      );
    });
  }
});
