import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  InternalError,
  InvalidParams,
  NonceOverflow,
  RateLimited,
  RpcError,
  Timeout,
  Transport,
} from "../rooms/errors.js";
import { patience, pause } from "../rooms/rpc.js";

const method = "eth_call";
const transport = new RpcError({ method, reason: new Transport({ detail: "" }) });
const limited = (retryAfterMs: number | null) =>
  new RpcError({ method, reason: new RateLimited({ detail: "", retryAfterMs }) });

describe("the pause before a retry", () => {
  it("doubles, half of it random, up to the longest", () => {
    const options = { ...patience, retryTimes: 100 };
    expect([1, 2, 3].map((tries) => pause(transport, tries, 1, options))).toEqual([50, 100, 200]);
    expect([1, 2, 3].map((tries) => pause(transport, tries, 0, options))).toEqual([25, 50, 100]);
    expect(pause(transport, 3, 1, { ...options, retryBaseMs: 4_000 })).toBe(patience.retryMaxMs);
  });

  it("does not exist once the reason's retries, or ours, are used up", () => {
    expect(pause(transport, 4, 1, patience)).toBe(null);
    expect(pause(transport, 2, 1, { ...patience, retryTimes: 1 })).toBe(null);
    expect(pause(transport, 1, 1, { ...patience, retryTimes: 0 })).toBe(null);
    const once = new RpcError({ method, reason: new InternalError({ detail: "" }) });
    expect([1, 2].map((tries) => pause(once, tries, 1, patience))).toEqual([50, null]);
  });

  it("does not exist where a retry cannot help: a verdict, wrong parameters, our own deadline", () => {
    expect(pause(new NonceOverflow({}), 1, 1, patience)).toBe(null);
    expect(pause(new RpcError({ method, reason: new InvalidParams({ detail: "" }) }), 1, 1, patience)).toBe(null);
    expect(pause(new RpcError({ method, reason: new Timeout({ detail: "", afterMs: 5 }) }), 1, 1, patience)).toBe(null);
  });

  it("is at least what the node asked for, or does not exist", () => {
    fc.assert(
      fc.property(
        fc.nat(20_000),
        fc.integer({ min: 1, max: 3 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (after, tries, chance) => {
          const wait = pause(limited(after), tries, chance, patience);
          if (after > patience.retryMaxMs) expect(wait).toBe(null);
          else expect(wait).toBeGreaterThanOrEqual(after);
        },
      ),
    );
  });
});
