/** Who signed an authorisation is recovered by what is loaded with the first: where it does not come there is no report. */
import * as Effect from "effect/Effect";
import { afterEach, expect, it, vi } from "vitest";
import { layerScripted } from "../../src/testing.js";
import { alice, token } from "../steps/parts.js";

const zero = `0x${"00".repeat(32)}` as const;
const entry = { address: token, chainId: 1, nonce: 0, r: zero, s: zero, yParity: 0 } as const;
const carrying = { chainId: 1, from: alice, to: alice, authorizationList: [entry] } as const;

/** The library as in a page that has loaded nothing yet, and whose loading of the curve fails. */
const fresh = () => {
  vi.resetModules();
  vi.doMock("../../src/transaction/signer.js", () => Promise.reject(new Error("offline")));
};
afterEach(() => void vi.doUnmock("../../src/transaction/signer.js"));

it("a scan fails with the cause when signer recovery cannot be loaded, and runs without it if no authorisation is given", async () => {
  fresh();
  const { scan } = await import("../../src/Preflight.js");
  const run = (input: Parameters<typeof scan>[0]) =>
    Effect.runPromise(scan(input as never).pipe(Effect.provide(layerScripted({}))));
  await expect(run(carrying)).rejects.toMatchObject({ cause: { message: "offline" } });
  expect((await run({ chainId: 1, from: alice, to: alice })).verdict).toBe("unknown");
});

it("a reader of an authorisation before its signer was recovered fails, and does not take it for unsigned", async () => {
  fresh();
  const { bundleOf } = await import("../rooms/steps.js");
  expect(() => bundleOf([carrying as never])).toThrow(/before/);
});
