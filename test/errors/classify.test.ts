import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  HttpRequestError,
  InternalRpcError,
  RpcRequestError,
  SocketClosedError,
  TimeoutError,
  UnknownRpcError,
  type Abi,
} from "viem";
import { looksLikeRevert } from "../rooms/abi.js";
import { classify, refusedPart, type ClassifyInput, type RpcError, type Verdict } from "../rooms/errors.js";
import { classify as explained, isVerdict } from "../../src/Errors.js";
import { tagOf } from "./invariants.js";

const rows = <A>(name: string): ReadonlyArray<A> =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as A);

const evidenceOf = (error: RpcError | Verdict): object => (isVerdict(error) ? error : error.reason);

/** As JSON with bigints as decimals and addresses in lower case, to compare with a fixture. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, field: unknown) =>
      typeof field === "bigint" ? field.toString() : field,
    ).toLowerCase(),
  );

interface Row extends ClassifyInput {
  readonly expect: string;
  readonly error: unknown;
}

interface Recorded extends Row {
  readonly node: string;
  readonly source: string;
  readonly inlineResultElement?: unknown;
  readonly retryAfterMs?: number;
  readonly suggested?: unknown;
}

const recorded = rows<Recorded>("dialects.jsonl");
const families = [...new Set(recorded.map(({ node }) => node))];

describe("classify on errors recorded from nodes", () => {
  for (const family of families) {
    describe(family, () => {
      for (const row of recorded.filter(({ node }) => node === family)) {
        const words = JSON.stringify(row.bodyText ?? row.error).slice(0, 90);
        it(`${row.method} ${words} is ${row.expect} (${row.source.slice(0, 60)})`, () => {
          const { expect: expected, error, inlineResultElement, retryAfterMs, suggested, ...input } = row;
          const answers = [classify({ ...input, error })];
          if (inlineResultElement !== undefined) answers.push(classify({ ...input, error: inlineResultElement }));
          if (row.bodyText !== undefined) answers.push(classify({ ...input }));
          for (const answer of answers) {
            expect(tagOf(answer)).toBe(expected);
            if (retryAfterMs !== undefined) expect(evidenceOf(answer)).toMatchObject({ retryAfterMs });
            if (suggested !== undefined)
              expect(plain(evidenceOf(answer))).toMatchObject({ suggested: plain(suggested) });
            expect(evidenceOf(answer)).toHaveProperty(
              "raw",
              inlineResultElement !== undefined && answer === answers[1] ? inlineResultElement : expect.anything(),
            );
          }
        });
      }
    });
  }
});

describe("classify on other values and wordings of the same families", () => {
  for (const { expect: expected, fields, ...input } of rows<Row & { readonly fields?: object }>("wordings.jsonl")) {
    const { method: _method, ...said } = input;
    it(`${input.method} ${JSON.stringify(said).slice(0, 110)} is ${expected}`, () => {
      const answer = classify(input);
      expect(tagOf(answer)).toBe(expected);
      if (fields !== undefined) expect(plain(evidenceOf(answer))).toMatchObject(plain(fields) as object);
    });
  }
});

describe("an unnamed method", () => {
  it("is not mentioned in the message", () =>
    expect(classify({ method: "", error: { code: -32603, message: "Internal error" } }).message).toMatch(/^[a-z]/));
});

describe("the failure of a gateway", () => {
  const data =
    "0x08c379a0000000000000000000000000000000000000000000000000000000000000002000000000000000000000000000000000000000000000000000000000000000016100000000000000000000000000000000000000000000000000000000000000";
  const error = { code: -32603, message: "Internal error", data };
  it("with revert bytes is a revert of a call, and an InternalError of a send, for the bytes may have been passed on", () => {
    expect(classify({ method: "eth_call", error })._tag).toBe("ExecutionReverted");
    expect(classify({ method: "eth_sendRawTransaction", error })).toMatchObject({ reason: { _tag: "InternalError" } });
  });
});

describe("an HTTP answer that is no JSON", () => {
  it("has Retry-After as a date read against its own Date, with Headers or a record of any case", () => {
    const until = "Wed, 21 Oct 2026 07:28:30 GMT";
    const date = "Wed, 21 Oct 2026 07:28:00 GMT";
    const headers = [new Headers({ "retry-after": until, date }), { "RETRY-AFTER": until, Date: date }];
    for (const each of headers) {
      const answer = classify({ method: "eth_call", httpStatus: 429, headers: each, bodyText: "slow down" });
      expect(answer).toMatchObject({ reason: { _tag: "RateLimited", retryAfterMs: 30_000 } });
    }
  });

  it("gives no delay for a date without its own Date, and never a negative or endless one", () => {
    const delay = (headers: Record<string, string>) => {
      const answer = classify({ method: "eth_call", httpStatus: 429, headers });
      return isVerdict(answer) || answer.reason._tag !== "RateLimited" ? undefined : answer.reason.retryAfterMs;
    };
    const date = "Wed, 21 Oct 2026 07:28:00 GMT";
    expect(delay({ "retry-after": date })).toBeNull();
    expect(delay({ "retry-after": "Wed, 21 Oct 2020 07:28:00 GMT", date })).toBe(0);
    expect(delay({ "retry-after": "999999999" })).toBe(86_400_000);
    expect(delay({ "retry-after": "-5" })).toBeNull();
    expect(delay({ "retry-after": "soon" })).toBeNull();
  });

  it("tells a failed connection from one that was cut for time", () => {
    const tag = (error: unknown) => tagOf(classify({ method: "eth_call", error }));
    expect(tag(new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }))).toBe(
      "Transport",
    );
    expect(tag(Object.assign(new Error("x"), { code: "ECONNRESET" }))).toBe("Transport");
    expect(tag(new DOMException("The operation was aborted", "AbortError"))).toBe("Timeout");
  });
});

describe("errors that libraries throw", () => {
  const body = { method: "eth_call", params: [{ data: "rate limit exceeded" }] };
  const url = "https://node.example";
  const tag = (error: unknown) => tagOf(classify({ method: "eth_call", error }));

  it("are viem's, read without the request that they quote", () => {
    const reverted = { code: 3, message: "execution reverted: timeout", data: "0x08c379a0" };
    const request = new RpcRequestError({ body, url, error: reverted });
    for (const error of [request, new InternalRpcError(request), new UnknownRpcError(request)]) {
      expect(classify({ method: "eth_call", error })).toMatchObject({ _tag: "ExecutionReverted", data: "0x08c379a0" });
    }
    expect(tag(new RpcRequestError({ body, url, error: { code: -32000, message: "who knows" } }))).toBe(
      "InternalError",
    );
    expect(tag(new TimeoutError({ body, url }))).toBe("Timeout");
    expect(tag(new SocketClosedError({ url }))).toBe("Transport");
    expect(tag(new HttpRequestError({ body, url, details: "fetch failed" }))).toBe("Transport");
    expect(tag(new HttpRequestError({ body, url, status: 503, details: "x" }))).toBe("UpstreamUnavailable");
    const headers = new Headers({ "Retry-After": "3" });
    expect(
      classify({ method: "eth_call", error: new HttpRequestError({ body, url, status: 429, headers }) }),
    ).toMatchObject({
      reason: { _tag: "RateLimited", retryAfterMs: 3000 },
    });
    const answered = '{"error":{"code":-32000,"message":"header not found"}}';
    expect(
      classify({ method: "eth_call", error: new HttpRequestError({ body, url, status: 500, details: answered }) }),
    ).toMatchObject({
      reason: { _tag: "BlockNotFound", detail: "header not found", httpStatus: 500 },
    });
  });

  it("are ethers', read where they keep the node's error", () => {
    const node = { code: 3, message: "execution reverted", data: "0xdeadbeef" };
    expect(tag({ code: "CALL_EXCEPTION", shortMessage: "missing revert data", info: { error: node } })).toBe(
      "ExecutionReverted",
    );
    expect(
      tag({ code: "SERVER_ERROR", reason: "cannot estimate gas", error: { body: JSON.stringify({ error: node }) } }),
    ).toBe("ExecutionReverted");
  });
});

describe("revert bytes in a node's error", () => {
  const dataOf = (input: Omit<ClassifyInput, "method">) => {
    const answer = classify({ method: "eth_call", ...input });
    return answer._tag === "ExecutionReverted" ? answer.data : answer;
  };
  const bytes = "0x08c379a0";

  it("are found in every place where nodes put them", () => {
    const error = { code: 3, message: "execution reverted" };
    expect(dataOf({ error: { ...error, data: bytes } })).toBe(bytes);
    expect(dataOf({ error, returnData: bytes })).toBe(bytes);
    expect(dataOf({ error: { ...error, data: "0x" }, returnData: bytes })).toBe(bytes);
    expect(dataOf({ error: { ...error, data: "0x" } })).toBe("0x");
    expect(dataOf({ error: { code: -32603, message: "x", data: { originalError: { ...error, data: bytes } } } })).toBe(
      bytes,
    );
    expect(dataOf({ error: { code: -32015, message: `Reverted ${bytes}` } })).toBe(bytes);
    expect(
      dataOf({ error: { code: -32015, message: "VM execution error.", data: `err: ${bytes} (supplied gas 5)` } }),
    ).toBe(bytes);
    expect(dataOf({ error: { code: -32603, message: `bad: ${JSON.stringify({ ...error, data: bytes })}` } })).toBe(
      bytes,
    );
    expect(
      dataOf({
        error: {
          code: -32000,
          message: `VM Exception while processing transaction: reverted with an unrecognized custom error (return data: ${bytes})`,
        },
      }),
    ).toBe(bytes);
  });

  it("are null, and not made up, where the node lost them", () => {
    expect(dataOf({ error: { code: 3, message: "execution reverted" } })).toBeNull();
    expect(dataOf({ error: { code: 3, message: "execution reverted", data: "transaction failed" } })).toBeNull();
    expect(dataOf({ error: { code: 3, message: "execution reverted", data: "0x123" } })).toBeNull();
  });

  it("are not taken from a transaction hash or a word", () => {
    const hash = `0x${"2f".repeat(32)}`;
    const error = {
      code: -32000,
      message: "VM Exception while processing transaction: revert",
      data: { [hash]: { error: "revert", return: bytes } },
    };
    expect(dataOf({ error })).toBe(bytes);
    expect(
      tagOf(
        classify({ method: "eth_sendRawTransaction", error: { code: 4, message: "not processed in 2s", data: hash } }),
      ),
    ).toBe("Timeout");
    expect(
      tagOf(
        classify({
          method: "eth_call",
          error: { code: -32000, message: "transaction indexing is in progress", data: hash },
        }),
      ),
    ).toBe("NodeSyncing");
  });

  it("are never taken from a contract's own words", () => {
    expect(dataOf({ error: { code: -32000, message: "execution reverted: Reverted 0xdeadbeef" } })).toBeNull();
    expect(
      dataOf({ error: { code: -32000, message: `execution reverted: {"code":3,"data":"0xdeadbeef"}` } }),
    ).toBeNull();
    expect(
      dataOf({
        error: {
          code: -32000,
          message: "VM Exception while processing transaction: reverted with reason string '(return data: 0xdeadbeef)'",
        },
      }),
    ).toBeNull();
  });
});

describe("looksLikeRevert", () => {
  const reason = "0x08c379a0" + "20".padStart(64, "0") + "05".padStart(64, "0") + "68656c6c6f".padEnd(64, "0");

  it("recognises Error(string) and Panic(uint256) that came back as a success", () => {
    expect(looksLikeRevert(reason)).toBe(true);
    expect(looksLikeRevert("0x4e487b71" + "11".padStart(64, "0"))).toBe(true);
  });

  it("recognises nothing else", () => {
    for (const data of [
      "0x",
      "0x08c379a0",
      reason.slice(0, -2),
      `${reason}00`,
      "0x4e487b71" + "f".repeat(64),
      "0x" + reason.slice(10),
      reason.replace("20", "40"),
    ]) {
      expect(looksLikeRevert(data)).toBe(false);
    }
  });
});

it("classify leaves Error.stackTraceLimit as it was", () => {
  const before = Error.stackTraceLimit;
  classify({ method: "eth_call", error: { code: 3 } });
  expect(Error.stackTraceLimit).toBe(before);
});

describe("the codes for a missing method (-32601, and -32004 of EIP-1474)", () => {
  const tags = (method: string, message: string) =>
    [-32_000, -32_004, -32_601].map((code) => tagOf(classify({ method, error: { code, message } })));

  it.each(["not available", "not supported", "", "unavailable", "this feature is not supported", "nope"])(
    "are believed whatever the message says: %j",
    (message) => {
      for (const method of ["eth_simulateV1", "eth_getBlockReceipts", "eth_call"])
        expect(tags(method, message).slice(1)).toEqual(["MethodNotSupported", "MethodNotSupported"]);
      const inner = { code: -32_603, message: "Internal error", data: { code: -32_004, message } };
      expect(tagOf(classify({ method: "eth_simulateV1", error: inner }))).toBe("MethodNotSupported");
    },
  );

  const said = [...recorded, ...rows<Row>("wordings.jsonl")].flatMap(({ method, error }) => {
    const message = typeof error === "object" && error !== null && "message" in error ? error.message : null;
    return typeof message === "string" ? [{ method, message }] : [];
  });
  it("give way to a message with a reason of its own, in every dialect", () => {
    expect(said.length).toBeGreaterThan(100);
    for (const { method, message } of said) {
      const [byWords, ...byBoth] = tags(method, message);
      const expected = byWords === "InternalError" ? "MethodNotSupported" : byWords;
      expect([message, ...byBoth]).toEqual([message, expected, expected]);
    }
  });
});

describe("a refusal that names a part of a simulation", () => {
  const method = "eth_simulateV1";
  // a relay, a client in Lisp, serde, Go's decoder, joi; anvil for the deployment
  it.each([
    ["strato_simulateV1: validation is not supported", "validation"],
    ["eth_simulateV1 traceTransfers is not supported", "traceTransfers"],
    ["unknown field `traceTransfers`, expected one of `blockStateCalls`, `validation`", "traceTransfers"],
    ['json: unknown field "blockOverrides"', "blockOverrides"],
    ['"validation" is not allowed', "validation"],
    ["validation=true is not yet supported", "validation"],
    ["block overrides are not supported", "blockOverrides"],
    ["unsupported parameter: validation", "validation"],
    ["this node does not support traceTransfers", "traceTransfers"],
    ["`traceTransfers` not supported", "traceTransfers"],
    ["validation: not available", "validation"],
    ["invalid transaction: validation failed", null],
    ["block validation error: unknown transaction type", null],
    ["unknown field `prevRandao`", null],
    ["blockHash is not supported", null],
    ["not supported", null],
    ['can\'t be built due to missing keys: ["to"]', "deployment"],
    ["missing field `to` at line 1 column 80", "deployment"],
    ["missing field `token`", null],
    ["missing keys to sign with", null],
  ])("is classified by that part: %j is %s", (message, part) => {
    for (const code of [-32_602, -32_601, -32_004, -32_000]) {
      const failure = classify({ method, error: { code, message } });
      if (part !== null && part !== "deployment") expect(tagOf(failure)).toBe("InvalidParams");
      expect(refusedPart(failure)).toBe(tagOf(failure) === "InvalidParams" ? part : null);
    }
  });
  it("may name the hash of a block, but not an unknown block", () => {
    const said = (message: string) => tagOf(classify({ method, error: { code: -32_004, message } }));
    expect(["blockHash is not supported", "{ blockHash } parameters are not supported"].map(said)).toEqual(
      Array(2).fill("InvalidParams"),
    );
    expect(said("unknown block hash")).not.toBe("InvalidParams");
  });
  it("is not read from other methods' errors, or from contracts", () => {
    const message = "validation is not supported";
    expect(tagOf(classify({ method: "eth_call", error: { code: -32_601, message } }))).toBe("MethodNotSupported");
    const reverted = classify({ method, error: { code: 3, message: `execution reverted: ${message}`, data: "0x" } });
    expect([tagOf(reverted), refusedPart(reverted)]).toEqual(["ExecutionReverted", null]);
  });
});

describe("revert data that fits errors of two contracts", () => {
  // why: two signatures with the selector 0x42966c68, and a word that is a number as well as 16 bytes
  const data = `0x42966c68${"01".padStart(32, "0").padEnd(64, "0")}`;
  const [burning, other] = [`0x${"aA".repeat(20)}`, `0x${"bB".repeat(20)}`];
  const errorOf = (name: string, type: string) =>
    [{ type: "error", name, inputs: [{ name: "value", type }] }] as const satisfies Abi;
  const abis = [
    { address: burning, abi: errorOf("burn", "uint256") },
    { address: other, abi: errorOf("collate_propagate_storage", "bytes16") },
  ];
  const answer = (code: number, to?: string) =>
    ({ method: "eth_call", error: { code, message: "VM error", data }, abis, to }) satisfies ClassifyInput;

  it("is a revert under a code for anything where the called contract's ABI has it", () => {
    const tags = [burning, other, `0x${"cc".repeat(20)}`, undefined].map((to) => tagOf(classify(answer(-32_000, to))));
    expect(tags.slice(0, 2)).toEqual(["ExecutionReverted", "ExecutionReverted"]);
    expect(tags.slice(2)).not.toContain("ExecutionReverted");
  });

  it("is read by the ABI of the called contract", () => {
    const layerIn = (to?: string) => {
      const error = explained(answer(3, to));
      const layer = error._tag === "ExecutionReverted" ? error.revert?.layers[0]?.layer : undefined;
      return layer?._tag === "Custom" ? layer.name : layer?._tag;
    };
    expect([burning, other, undefined].map(layerIn)).toEqual(["burn", "collate_propagate_storage", "Ambiguous"]);
  });
});
