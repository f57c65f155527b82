import * as Schema from "effect/Schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify, Reason, RpcError, Verdict, type ClassifyInput } from "../rooms/errors.js";
import { isVerdict } from "../../src/Errors.js";

const known: ReadonlySet<string> = new Set([...Verdict.members, ...Reason.members].map((member) => member.identifier));
const codec = Schema.toCodecJson(Schema.Union([Verdict, RpcError]));

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

describe("any JSON at all", () => {
  it("is exactly one tagged error that survives JSON, with a bounded message", () => {
    fc.assert(
      fc.property(input, (said) => {
        const answer = classify(said);
        expect(known).toContain(isVerdict(answer) ? answer._tag : answer.reason._tag);
        expect(answer.message.length).toBeLessThan(8192);
        // eslint-disable-next-line no-control-regex
        expect(answer.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
        const again = Schema.decodeUnknownSync(codec)(
          JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(answer))),
        );
        expect(Schema.encodeUnknownSync(codec)(again)).toEqual(Schema.encodeUnknownSync(codec)(answer));
      }),
      { numRuns: 400 },
    );
  });

  it("is classified alike every time", () => {
    fc.assert(fc.property(input, (said) => void expect(classify(said).message).toBe(classify(said).message)));
  });

  it("is no danger when it is no JSON: cycles, getters that throw, functions", () => {
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
      expect(known).toContain(
        ((answer) => (isVerdict(answer) ? answer._tag : answer.reason._tag))(classify({ method: "eth_call", error })),
      );
    }
    expect(classify({ method: "eth_call", error: cycle })).toMatchObject({ _tag: "ExecutionReverted" });
  });
});

describe("a contract's text", () => {
  const envelopes: ReadonlyArray<readonly [string, (reason: string) => ClassifyInput]> = [
    [
      "geth",
      (reason) => ({
        method: "eth_call",
        error: { code: 3, message: `execution reverted: ${reason}`, data: "0x08c379a0" },
      }),
    ],
    [
      "an old node",
      (reason) => ({ method: "eth_estimateGas", error: { code: -32000, message: `execution reverted: ${reason}` } }),
    ],
    [
      "geth with a prefix",
      (reason) => ({
        method: "eth_call",
        error: { code: -32000, message: `err: execution reverted: ${reason} (supplied gas 5)` },
      }),
    ],
    [
      "hardhat",
      (reason) => ({
        method: "eth_call",
        error: {
          code: -32603,
          message: `Error: VM Exception while processing transaction: reverted with reason string '${reason}'`,
          data: { message: reason, data: "0x08c379a0" },
        },
      }),
    ],
    [
      "nethermind",
      (reason) => ({
        method: "eth_call",
        error: { code: -32015, message: "VM execution error.", data: `revert: ${reason}` },
      }),
    ],
    [
      "metamask",
      (reason) => ({
        method: "eth_call",
        error: {
          code: -32603,
          message: "Internal JSON-RPC error.",
          data: { originalError: { code: 3, data: "0x08c379a0", message: `execution reverted: ${reason}` } },
        },
      }),
    ],
    [
      "a simulated call",
      (reason) => ({
        method: "eth_simulateV1",
        scope: "call",
        error: { code: -32000, message: `execution reverted: ${reason}` },
        returnData: "0x08c379a0",
      }),
    ],
    [
      "a JSON text",
      (reason) => ({
        method: "eth_call",
        httpStatus: 500,
        bodyText: JSON.stringify({ error: { code: 3, message: `execution reverted: ${reason}` } }),
      }),
    ],
  ];
  for (const [name, envelope] of envelopes) {
    it(`never steers the answer: ${name}`, () => {
      fc.assert(
        fc.property(text, (reason) => void expect(classify(envelope(reason))._tag).toBe("ExecutionReverted")),
        { numRuns: 200 },
      );
    });
  }
});
