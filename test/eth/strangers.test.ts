/** A call that fails for another transaction of the block that the node builds for it: it has no answer, and no verdict. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import { Rpc } from "../../src/Rpc.js";
import { classify } from "../rooms/errors.js";
import { memoryOf } from "../rooms/rpc.js";

const [ours, theirs] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as const;
const nonceWords = "the tx doesn't have the correct nonce. account has nonce of: 4 tx has nonce of: 5";
const poorWords = (account: string) => `insufficient funds for gas * price + value: address ${account} have 0 want 7`;

/** The tag of the failure, its reason's, and the node's words, where every request fails by these. */
const failing = (ask: Effect.Effect<unknown, Eth.Failure, Rpc>, message: string) => {
  const rpc = Rpc.of({
    endpoint: "",
    request: (method) => Effect.fail(classify({ method, error: { code: -32000, message } })),
    memory: memoryOf(() => 0, 0),
    admit: (run) => run,
  });
  const result = Effect.runSync(Effect.result(Effect.provideService(ask, Rpc, rpc)));
  if (Result.isSuccess(result)) throw new Error("a success");
  const { failure } = result;
  return failure._tag === "RpcError" ? [failure.reason._tag, failure.reason.detail] : [failure._tag];
};

const request = { from: ours, to: theirs } as const;
const simulated = (nonce?: bigint) =>
  Eth.simulateV1({
    blocks: [{ calls: [{ ...request, ...(nonce === undefined ? {} : { nonce }) }] }],
    block: "pending",
  });

describe("a failure that names a nonce", () => {
  it("is no answer to a request without a nonce: PendingUnavailable on pending, InternalError elsewhere", () => {
    for (const method of [Eth.call, Eth.estimateGas]) {
      expect(failing(method({ ...request, block: "pending" }), nonceWords)).toEqual(["PendingUnavailable", nonceWords]);
      expect(failing(method({ ...request, block: "latest" }), nonceWords)).toEqual(["InternalError", nonceWords]);
    }
    expect(failing(simulated(), nonceWords)).toEqual(["PendingUnavailable", nonceWords]);
  });
  it("is the answer of a request with that nonce", () => {
    expect(failing(Eth.call({ ...request, nonce: 5n, block: "pending" }), nonceWords)).toEqual(["NonceTooHigh"]);
    expect(failing(simulated(5n), nonceWords)).toEqual(["NonceTooHigh"]);
    expect(failing(Eth.sendRawTransaction({ serializedTransaction: "0x02" }), nonceWords)).toEqual(["NonceTooHigh"]);
  });
});

describe("a failure that names an account", () => {
  it("is no answer where no call is from that account, whatever the case of its letters", () => {
    const poor = (account: string) => failing(Eth.call({ ...request, block: "pending" }), poorWords(account));
    expect(poor(theirs)[0]).toBe("PendingUnavailable");
    expect(poor(`0x${ours.slice(2).toUpperCase()}`)).toEqual(["InsufficientFunds"]);
    expect(failing(simulated(), poorWords(theirs))[0]).toBe("PendingUnavailable");
  });
});
