/** The stack of a rejection names the line that called. */
import { createPreflight } from "evm-preflight/promise";
import { createPublicClient, http } from "viem";
import { describe, expect, it } from "vitest";
import { withCallSite } from "../rooms/promise.js";
import { preflightActions } from "../../src/viem.js";

/** Nothing listens there. */
const url = "http://127.0.0.1:1";
const here = /callSite\.test\.ts:\d+:\d+/;
const stackOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no rejection",
    (error: unknown) => (error instanceof Error ? (error.stack ?? "no stack") : "no error"),
  );

describe("the stack of a rejected promise", () => {
  it("names the caller, for every method that rejects, and keeps its message", async () => {
    const preflight = createPreflight({ url });
    const wrong = { from: "0x12" } as never;
    const lane = { chainId: 1, address: "0x12" } as never;
    const client = createPublicClient({ transport: http(url) }).extend(preflightActions());
    const given = new AbortController();
    const report = await preflight.scan({ from: `0x${"11".repeat(20)}`, to: `0x${"22".repeat(20)}`, value: 1n });
    for (const call of [
      () => preflight.run(wrong),
      () => preflight.scan(wrong, { signal: given.signal }),
      () => client.preflight(wrong),
      () => preflight.ready(report),
      () => preflight.withNonce(lane, () => Promise.resolve("0x")),
      () => preflight.deliver(() => Promise.resolve("0x"))(wrong),
      () => preflight.nonces.status(lane),
    ]) {
      const stack = await stackOf(call());
      expect(stack, String(call)).toMatch(here);
      expect(stack, String(call)).toMatch(/^\w+(?:: |\n)/);
      expect(stack).not.toContain("Error: called");
    }
  });

  it("names one call only, where one error ends several", () => {
    const error = new Error("shared");
    const own = error.stack ?? "";
    const called = (frame: string) => Object.assign(new Error("called"), { stack: `Error: called\n    at ${frame}` });
    withCallSite(error, called("one (a.js:1:2)"));
    withCallSite(error, called("other (b.js:3:4)"));
    expect(error.stack).toBe(`${own}\n    at other (b.js:3:4)`);
  });

  it("is read in other engines' formats, and unchangeable or other values stay", () => {
    const error = new Error("x");
    const own = error.stack ?? "";
    withCallSite(
      error,
      Object.assign(new Error("called"), { stack: "run@https://a.example/x.js:1:2\n@https://b.example/y.js:3:4\n" }),
    );
    expect(error.stack).toBe(`${own}\nrun@https://a.example/x.js:1:2\n@https://b.example/y.js:3:4`);
    const frozen = Object.freeze(new Error("frozen"));
    expect(withCallSite(frozen, new Error("called"))).toBe(frozen);
    expect(withCallSite("text", new Error("called"))).toBe("text");
  });
});
