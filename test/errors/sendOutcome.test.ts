import * as Schema from "effect/Schema";
import fc from "fast-check";
import { RpcRequestError, TransactionRejectedRpcError, NonceTooLowError } from "viem";
import { describe, expect, it } from "vitest";
import {
  classify,
  NodeLimitExceeded,
  NonceTooHigh,
  NonceTooLow,
  outcomeOf,
  RpcError,
  SenderNotEoa,
  SendOutcome,
  Timeout,
  Unauthorized,
} from "../rooms/errors.js";

const hash = `0x${"ab".repeat(32)}`;
const said = (message: string, code = -32000, data?: unknown) =>
  outcomeOf(
    classify({
      method: "eth_sendRawTransaction",
      error: { code, message, ...(data === undefined ? {} : { data }) },
    }),
  );

/** What nodes say to `eth_sendRawTransaction`, with the code they say it with. */
const words: Array<[kind: SendOutcome["kind"], message: string, code?: number]> = [
  ["alreadyKnown", "already known"],
  ["alreadyKnown", "ALREADY_EXISTS: already known"],
  ["alreadyKnown", "transaction already imported", -32003],
  ["alreadyKnown", "Known transaction", -32000],
  ["alreadyKnown", "known transaction: 0x5d1c"],
  ["alreadyKnown", "AlreadyKnown", -32010],
  ["alreadyKnown", "Transaction with the same hash was already imported.", -32010],
  ["alreadyKnown", "already known", 1000],
  ["alreadyKnown", "tx already exists in cache", -32603],
  ["alreadyKnown", "tx already in mempool"],
  ["tooLow", "nonce too low"],
  ["tooLow", "nonce too low: next nonce 5, tx nonce 4"],
  ["tooLow", "Nonce too low", -32001],
  ["tooLow", "OldNonce, Current nonce: 5, nonce of rejected tx: 4", -32010],
  ["underpriced", "replacement transaction underpriced"],
  ["underpriced", "Replacement transaction underpriced", -32000],
  ["underpriced", "transaction underpriced"],
  ["underpriced", "transaction underpriced: tip needed 1000000, tip permitted 1"],
  ["underpriced", "ReplacementNotAllowed", -32010],
  ["underpriced", "could not replace existing tx"],
  ["underpriced", "Tx with same nonce already inserted. to replace it, you need to specify a gas price > 5", -32602],
  ["tooHigh", "nonce too high"],
  ["tooHigh", "nonce too high: address 0xabc, tx: 9 state: 5"],
  ["tooHigh", "in-flight transaction limit reached for delegated accounts"],
  ["tooHigh", "gapped-nonce tx from delegated accounts"],
  ["tooHigh", "authority already reserved"],
  ["tooHigh", "future transaction tries to replace pending"],
  ["rejected", "insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1"],
  ["rejected", "intrinsic gas too low: gas 1, minimum needed 21000"],
  ["rejected", "exceeds block gas limit"],
  ["rejected", "max fee per gas less than block base fee: address 0xabc, maxFeePerGas: 1, baseFee: 7"],
  ["rejected", "transaction type not supported"],
  ["rejected", "invalid sender"],
  ["rejected", "rlp: value size exceeds available input length"],
  ["rejected", "only replay-protected (EIP-155) transactions allowed over RPC"],
  ["rejected", "tx fee (2.00 ether) exceeds the configured cap (1.00 ether)"],
  ["rejected", "gas limit too high"],
  ["unknown", "txpool is full"],
  ["unknown", "internal error"],
  ["unknown", "unknown transaction status"],
  ["unknown", "rate limit exceeded", -32005],
];

describe("the outcome of a send", () => {
  it.each(words.map(([kind, message, code]) => ({ kind, message, code })))(
    "is $kind: $message",
    ({ kind, message, code }) => expect(said(message, code).kind).toBe(kind),
  );
  it("is accepted with the hash, where the node gives one", () => {
    expect(outcomeOf(hash)).toEqual(new SendOutcome({ kind: "accepted", hash: hash as never }));
    expect(outcomeOf(hash).state).toBe("handed");
    expect(said("already known").state).toBe("seen");
    expect(said("nonce too low").state).toBeNull();
  });
  it("is read from a whole JSON-RPC answer", () => {
    expect(outcomeOf({ jsonrpc: "2.0", id: 1, result: hash })).toEqual(outcomeOf(hash));
    expect(outcomeOf({ error: null, result: hash }).kind).toBe("accepted");
    expect(outcomeOf({ error: { code: -32000, message: "nonce too low" }, result: hash }).kind).toBe("tooLow");
    expect(outcomeOf({ result: "0x12" }).kind).toBe("unknown");
  });
  it("is read from typed errors that carry no words", () => {
    const asked = (reason: RpcError["reason"]) => new RpcError({ method: "eth_sendRawTransaction", reason });
    expect(outcomeOf(new NonceTooLow({})).kind).toBe("tooLow");
    expect(outcomeOf(new NonceTooHigh({})).kind).toBe("tooHigh");
    expect(outcomeOf(new SenderNotEoa({})).kind).toBe("rejected");
    expect(outcomeOf(asked(new Timeout({ detail: "" }))).kind).toBe("unknown");
    expect(outcomeOf(asked(new Unauthorized({ detail: "" }))).kind).toBe("unknown");
    // what was not read for its size may be the hash; what a server has refused for its size is refused
    expect(outcomeOf(asked(new NodeLimitExceeded({ detail: "larger than 1 byte" }))).kind).toBe("unknown");
    expect(outcomeOf(asked(new NodeLimitExceeded({ detail: "", httpStatus: 413 }))).kind).toBe("rejected");
  });
  it("is read from a viem error by the node's words, where viem itself says nonce too low", () => {
    const answer = new RpcRequestError({
      body: {},
      error: { code: -32000, message: "already known" },
      url: "http://node",
    });
    expect(outcomeOf(answer).kind).toBe("alreadyKnown");
    expect(outcomeOf(new NonceTooLowError({ cause: answer as never, nonce: 5 })).kind).toBe("alreadyKnown");
    const replaced = new RpcRequestError({
      ...{ body: {}, url: "http://node" },
      error: { code: -32003, message: "replacement transaction underpriced" },
    });
    expect(outcomeOf(new TransactionRejectedRpcError(replaced)).kind).toBe("underpriced");
  });
  it("is defined for any value, and never accepted for a value that is no hash", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (anything) => {
        const outcome = outcomeOf(anything);
        expect(outcome.kind).not.toBe("accepted");
        expect(outcome.error).not.toBeNull();
      }),
    );
  });
  it("reads a bounded part of the answer", () => {
    const huge = "x".repeat(5_000_000);
    const began = performance.now();
    said(huge);
    said("bad", -32000, { nested: Array.from({ length: 100_000 }, () => ({ words: huge.slice(0, 50) })) });
    expect(performance.now() - began).toBeLessThan(2_000);
  });
  it("survives JSON", () => {
    const codec = Schema.toCodecJson(SendOutcome);
    for (const outcome of [outcomeOf(hash), said("nonce too low"), said("internal error")]) {
      const json = JSON.stringify(Schema.encodeSync(codec)(outcome));
      expect(Schema.decodeUnknownSync(codec)(JSON.parse(json))).toEqual(outcome);
    }
  });
});
