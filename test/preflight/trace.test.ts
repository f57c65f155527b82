/** Which call inside reverted: told on real nodes, never believed, and asked of nobody who has no answer. */
import * as Effect from "effect/Effect";
import { encodeFunctionData } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MethodNotSupported, RpcError, Timeout } from "../rooms/errors.js";
import * as Preflight from "../../src/Preflight.js";
import { innermost } from "../rooms/pipeline.js";
import type { Report } from "../../src/Report.js";
import type * as Transaction from "../../src/Transaction.js";
import { Reverter } from "../contracts/artifacts.js";
import { layerOf, owner, scenesFor, tampered, type Scene, type Tampering } from "./scene.js";

type Hex = `0x${string}`;
const method = "debug_traceCall";
/** What was traced for a failure, beside what every proof looks at. */
const asked = ({ ledger }: Report) => ledger.requests.filter((one) => one.method === method && one.because !== "proof");
const told = ({ findings }: Report) => findings.filter(({ code }) => code === "RevertedInside");
/** What a report says apart from the trace, and what it took. */
const rest = ({ verdict, because, stage, transactions, digest, findings }: Report) => ({
  ...{ verdict, because, stage, digest, requests: transactions.map(({ request }) => request) },
  findings: findings.filter(({ code }) => code !== "RevertedInside").map(({ code, severity }) => [code, severity]),
});

describe.each(scenesFor("traces of reverts"))("the trace of a revert on %s", (_, start) => {
  let scene: Scene;
  let [outer, inner]: [Hex, Hex] = ["0x", "0x"];
  beforeAll(async () => {
    scene = await start();
    outer = await scene.deploy(Reverter);
    inner = await scene.deploy(Reverter);
  });
  afterAll(() => scene.stop());

  const plain = encodeFunctionData({ abi: Reverter.abi, functionName: "plain", args: [7n] });
  const calling = (functionName: "bubble" | "wrap" | "swallow", data: Hex = plain) => ({
    from: owner.address,
    to: outer,
    abi: Reverter.abi,
    functionName,
    args: [inner, data] as const,
  });
  const run = (call: object, tamper: Tampering = () => null, traceReverts = true) =>
    Effect.runPromise(
      Preflight.preflight(call as ReadonlyArray<Transaction.RawCall>, { traceReverts }).pipe(
        Effect.provide(tampered(scene.url, tamper)),
      ),
    );

  it("names the innermost call with one request more, and changes nothing else", async () => {
    const twice = encodeFunctionData({ abi: Reverter.abi, functionName: "bubble", args: [inner, plain] });
    const report = await run(calling("wrap", twice));
    const without = await run(calling("wrap", twice), undefined, false);
    expect(report.verdict).toBe("blocked");
    expect(told(report)).toHaveLength(1);
    expect(
      Object.fromEntries(told(report).flatMap(({ numbers }) => numbers.map(({ name, value }) => [name, value]))),
    ).toEqual({
      "calls deep": 2n,
      from: inner,
      to: inner,
      call: "plain(code: 7) (by an ABI you gave)",
      reason: "Plain(code: 7) (by an ABI you gave)",
    });
    expect([asked(report).length, asked(without).length, told(without).length]).toEqual([1, 0, 0]);
    expect(report.ledger.requests).toHaveLength(without.ledger.requests.length + 1);
    expect(rest(report)).toEqual(rest(without));
  });

  it("says nothing where the transaction's own call reverts, and is not requested where none does", async () => {
    const own = await run({ from: owner.address, to: outer, data: plain });
    expect([own.verdict, asked(own).length, told(own).length]).toEqual(["blocked", 1, 0]);
    const fine = await run(calling("swallow"));
    expect([asked(fine).length, told(fine).length]).toEqual([0, 0]);
  });

  it("is ignored where it shows another outcome, or is malformed", async () => {
    const base = await run(calling("bubble"), undefined, false);
    const frame = { from: owner.address, to: outer, input: "0x", error: "execution reverted" };
    const returned = base.transactions[0].outcome.returnData;
    for (const answer of [
      ...[null, 3, "text", [], {}, { ...frame, output: "0x12", calls: [{ ...frame, to: inner }] }],
      { ...frame, output: returned, calls: [{ ...frame, to: inner, input: 5 }] },
      { ...frame, output: returned, calls: {} },
      { ...frame, error: undefined, output: returned, calls: [{ ...frame, to: inner }] },
    ]) {
      const report = await run(calling("bubble"), (one) => (one.method === method ? () => answer : null));
      expect([report.verdict, told(report)], JSON.stringify(answer)).toEqual(["blocked", []]);
      expect(rest(report)).toEqual(rest(base));
    }
  });

  it("is not requested again where it was refused, or never answered", async () => {
    for (const reason of [new MethodNotSupported({ detail: "" }), new Timeout({ detail: "", afterMs: 3_000 })]) {
      const layer = tampered(scene.url, (one) => (one.method === method ? new RpcError({ method, reason }) : null));
      const ask = Preflight.preflight(calling("bubble"), { traceReverts: true });
      const [first, second] = await Effect.runPromise(Effect.all([ask, ask]).pipe(Effect.provide(layer)));
      expect([first.verdict, told(first), second.verdict, asked(second)]).toEqual(["blocked", [], "blocked", []]);
    }
  });

  it("is not requested for a pretended state, or a call behind others", async () => {
    const first = { from: owner.address, to: inner, data: "0x" } as const;
    const pretended = await Effect.runPromise(
      Preflight.preflight(calling("bubble"), {
        traceReverts: true,
        stateOverrides: { [owner.address]: { balance: 10n ** 20n } },
      }).pipe(Effect.provide(layerOf(scene.url))),
    );
    expect(asked(pretended)).toEqual([]);
    const behind = await run([calling("swallow"), calling("bubble"), first].slice(0, 2));
    expect([behind.verdict, asked(behind)]).toEqual(["blocked", []]);
  });
});

describe("the innermost failed call", () => {
  const at = "0x00000000000000000000000000000000000000aa";
  const frame = (output: string, ...calls: ReadonlyArray<unknown>) => ({
    ...{ from: at, to: at, input: "0x", output, error: "execution reverted", calls },
  });
  const fine = { from: at, to: at, input: "0x", output: "0x" };
  it.each([
    ["the last call", frame("0xaa", fine, frame("0xbb")), 1],
    ["a call whose words are passed on after another", frame("0xaa", frame("0xaa"), fine), 1],
    ["none, where a failure was caught", frame("0xaa", frame("0xbb"), fine), null],
    ["none, where nothing was said twice", frame("0x", frame("0x"), fine), null],
    ["the deepest", frame("0xaa", frame("0xaa", frame("0xaa"))), 2],
  ])("is %s", (_, trace, depth) => {
    expect(innermost(trace, trace.output as Hex)?.depth ?? null).toBe(depth);
  });
  it("is found in an endless trace", () => {
    const endless: Record<string, unknown> = frame("0xaa");
    endless["calls"] = [endless];
    expect(innermost(endless, "0xaa")?.depth).toBe(1_024);
  });
});
