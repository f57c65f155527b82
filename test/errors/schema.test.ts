import * as Schema from "effect/Schema";
import { describe, expect, it } from "vitest";
import { decodeRevert, Revert } from "../rooms/abi.js";
import * as Errors from "../../src/Errors.js";
import { NonceErrors, Reason, RpcError, Timeout, Verdict } from "../rooms/errors.js";
import { abi, address, bytes, inner, samplesOf } from "./samples.js";

const again = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: S["Type"]) => {
  const codec = Schema.toCodecJson(schema);
  const written = JSON.stringify(Schema.encodeUnknownSync(codec)(value));
  const read = Schema.decodeUnknownSync(codec)(JSON.parse(written));
  expect(JSON.stringify(Schema.encodeUnknownSync(codec)(read))).toBe(written);
  return read;
};

const hidden = /[\p{Cc}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u;

describe("every verdict survives JSON, and says what happened, the numbers and what to do", () => {
  for (const member of Verdict.members) {
    it(member.identifier, () => {
      const error = Schema.decodeUnknownSync(Schema.toType(member))(
        new (member as new (fields: object) => Verdict)(samplesOf(member.fields)),
      );
      const read = again(Verdict, error);
      expect(read).toBeInstanceOf(member);
      expect(read).toEqual(error);
      expect((read as Verdict).message).toBe(error.message);
      expect(error.statement.sentence).not.toBe("");
      expect(error.statement.remedy).not.toBe("");
      expect(error.message).toContain(error.statement.remedy);
      expect(error.message).not.toMatch(hidden);
    });
  }
});

describe("every reason survives JSON inside its RpcError, and advises on retries", () => {
  for (const member of Reason.members) {
    it(member.identifier, () => {
      const reason = new (member as new (fields: object) => Reason)(samplesOf(member.fields));
      const error = new RpcError({ method: "eth_call", reason });
      const read = again(RpcError, error) as RpcError;
      expect(read).toEqual(error);
      expect(read.reason).toBeInstanceOf(member);
      expect(error.message).toContain("eth_call");
      expect(error.statement.remedy).not.toBe("");
      expect(error.message).not.toMatch(hidden);
      expect(error.isRetryable).toBe(reason.advice.retryOn === "same");
      expect(reason.advice.isRetryable).toBe(reason.advice.retryTimes > 0);
    });
  }

  it("a deadline of ours is not retried, a node's timeout once", () => {
    expect(new Timeout({ detail: "" }).advice.retryTimes).toBe(1);
    expect(new Timeout({ detail: "", afterMs: 10_000 }).advice.isRetryable).toBe(false);
  });
});

describe("every error of a rejection says whether a transaction may be sent", () => {
  /** By their fields: below, and beside the failures of the nonce protocol. */
  const told = new Set(["RpcError", "Disposed", "NonceStoreError", "SendRejected", "PartlySent"]);
  const made = Object.entries({ ...Errors, ...NonceErrors }).flatMap(([name, member]) => {
    if (typeof member !== "function" || !(member.prototype instanceof Error)) return [];
    const isReason = Reason.members.some((one) => (one as unknown) === member);
    return isReason || told.has(name) ? [] : [[name, member as never] as const];
  });
  it.each(made)("%s says that none may be sent", (_, member: { readonly prototype: object }) => {
    expect(Reflect.get(member.prototype, "mayBeSent", {})).toBe(false);
  });
  it("RpcError says so by its method, Disposed by its time", () => {
    const reason = new Timeout({ detail: "" });
    const methods = ["eth_call", "eth_sendRawTransaction"];
    expect(methods.map((method) => new RpcError({ method, reason }).mayBeSent)).toEqual([false, true]);
    expect([true, false].map((isCut) => new Errors.Disposed({ isCut }).mayBeSent)).toEqual([true, false]);
    expect(made.length).toBeGreaterThan(30);
  });
});

it("a decoded revert has the same arguments after JSON", () => {
  const revert = decodeRevert(bytes, [abi], { address });
  const read = again(Revert, revert) as Revert;
  expect(read).toEqual(revert);
  const layers = read.layers.map(({ path, layer }) => [path, layer._tag === "Custom" ? layer.args : null]);
  expect(layers).toEqual([
    ["", [1n, "AA23\u202e", inner]],
    ["inner", [`0x${"ab".repeat(32)}`]],
  ]);
});
