/** The calls inside a transaction as a node's tracer shows them: in the report, held against the simulation, and said not to be seen where they are not. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MethodNotSupported, RpcError } from "../rooms/errors.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { Greedy, Reverter, Token, Vault } from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { layerOf, other, owner, scenesFor, severe, tampered, type Scene, type Tampering } from "./scene.js";

const method = "debug_traceCall";
const named = ({ findings }: Report.Report, code: string) =>
  findings
    .filter((one) => one.code === code)
    .map(({ numbers }) => Object.fromEntries(numbers.map(({ name, value }) => [name, value])));

describe.each(scenesFor("calls inside"))("the traced calls of a report on %s", (_, start) => {
  let scene: Scene;
  const at: Record<string, Hex> = {};
  beforeAll(async () => {
    scene = await start();
    at["outer"] = await scene.deploy(Reverter);
    at["inner"] = await scene.deploy(Reverter);
    at["vault"] = await scene.deploy(Vault);
    at["token"] = await scene.deploy(Token, ["Token", "TKN", 18]);
    await scene.send(owner, {
      to: at["token"],
      data: encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [owner.address, 100n] }),
    });
    await scene.mine();
  }, 60_000);
  afterAll(() => scene?.stop());

  const plain = encodeFunctionData({ abi: Reverter.abi, functionName: "plain", args: [7n] });
  const calling = (functionName: "bubble" | "swallow", target = "inner", data: Hex = plain) => ({
    ...{ from: owner.address, to: at["outer"], abi: Reverter.abi, functionName },
    args: [at[target], data],
  });
  const run = (call: object, tamper: Tampering = () => null, options: Preflight.Options = {}) =>
    Effect.runPromise(
      Preflight.preflight(call as never, { traceReverts: true, ...options }).pipe(
        Effect.provide(tampered(scene.url, tamper)),
      ),
    );
  const otherGas = (answer: unknown): unknown => ({ ...(answer as object), gasUsed: "0x64" });

  it("show a failure inside that the caller ignores, and a policy refuses it", async () => {
    const report = await run(calling("swallow"));
    const { trace, gasUsed } = report.transactions[0].outcome;
    expect(trace).toMatchObject({ contract: at["outer"]?.toLowerCase(), gasUsed, reason: null, more: 0 });
    expect(trace?.calls).toMatchObject([
      { kind: "call", contract: at["inner"]?.toLowerCase(), function: "plain(uint256)", isCause: false },
    ]);
    expect(report.verdict).toBe("caution");
    expect(named(report, "InnerCallFailed")).toMatchObject([
      {
        "made by": at["outer"]?.toLowerCase(),
        to: at["inner"]?.toLowerCase(),
        reason: expect.stringContaining("Plain"),
      },
    ]);
    expect(await Effect.runPromise(Report.fromJson(JSON.parse(JSON.stringify(report))))).toMatchObject({
      transactions: [{ outcome: { trace } }],
    });
    const held = await run(calling("swallow"), undefined, { policies: [Policy.noInnerFailures()] });
    const excused = Policy.noInnerFailures({ allow: [{ to: at["inner"] ?? "0x" }] });
    const allowed = await run(calling("swallow"), undefined, { policies: [excused] });
    expect([held.verdict, severe(allowed)]).toEqual(["blocked", ["ReturnedFalse/warning"]]);
  });

  it("name the contract that reverted, and the path to it", async () => {
    const report = await run(calling("bubble"));
    const { failure, trace } = report.transactions[0].outcome;
    expect(failure).toMatchObject({ _tag: "ExecutionReverted", contract: at["inner"]?.toLowerCase() });
    expect(named(report, "ExecutionReverted")).toMatchObject([{ "reverted in": at["inner"]?.toLowerCase() }]);
    expect(trace).toMatchObject({ isCause: false, calls: [{ isCause: true, contract: at["inner"]?.toLowerCase() }] });
    for (const text of [
      Report.toText(report, { trace: true }),
      Report.toMarkdown(report, { trace: true }),
      Report.toHtml(report, { trace: true }),
    ])
      expect(text).toMatch(/FAILED:\s+Plain\\?\(code: 7/);
    expect(Report.toText(report)).not.toContain("FAILED");
  });

  it("name the contract that halted", async () => {
    const greedy = await scene.deploy(Greedy);
    const report = await run({ from: owner.address, to: greedy, abi: Greedy.abi, functionName: "broken" });
    const { failure, trace } = report.transactions[0].outcome;
    expect(failure).toMatchObject({ _tag: expect.stringMatching(/VmHalt|OutOfGas/), contract: greedy.toLowerCase() });
    expect(named(report, failure?._tag ?? "")).toMatchObject([{ "halted in": greedy.toLowerCase() }]);
    expect(trace).toMatchObject({ isCause: true, contract: greedy.toLowerCase() });
    const silent = await run(
      { from: owner.address, to: greedy, abi: Greedy.abi, functionName: "broken" },
      ({ method }) =>
        method === "debug_traceCall" ? new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }) : null,
    );
    expect(silent.transactions[0].outcome.failure).not.toHaveProperty("contract");
  });

  it("name the token and the spender of an allowance that a contract behind another lacks", async () => {
    const pull = encodeFunctionData({
      ...{ abi: Vault.abi, functionName: "pull" },
      args: [at["token"] ?? "0x", owner.address, other.address, 5n],
    });
    expect(named(await run(calling("bubble", "vault", pull)), "TokenShortfall")).toEqual([
      {
        ...{ "too low": "allowance", token: at["token"]?.toLowerCase(), spender: at["vault"]?.toLowerCase() },
        ...{ has: 0n, needs: 5n, "short by": 5n },
      },
    ]);
  });

  it("show the same where the contract returns a time, which differs in each simulated block", async () => {
    // calls `inner`, passes over its failure, and returns TIMESTAMP
    const memory = `7f${plain.slice(2, 66)}5f527f${plain.slice(66).padEnd(64, "0")}602052`;
    const call = `5f5f60245f5f73${at["inner"]?.slice(2)}5af150`;
    const to = await scene.deploy({ abi: [], bytecode: creation(`${memory}${call}425f5260205ff3`) });
    const report = await run({ from: owner.address, to, data: "0x12345678" });
    expect([report.verdict, named(report, "InnerCallFailed").length]).toEqual(["caution", 1]);
    expect(report.transactions[0].outcome.trace).not.toBeNull();
  });

  it("are reported as not seen for the fifth of a bundle, which is not traced", async () => {
    const five = Array.from({ length: 5 }, () => calling("swallow"));
    expect(named(await run(five), "CallsNotSeen")).toHaveLength(1);
    expect(named(await run(five.slice(0, 4)), "CallsNotSeen")).toEqual([]);
  });

  const isOfCalls = (params: ReadonlyArray<unknown>) => JSON.stringify(params).includes("callTracer");
  it("are requested again where a tracer that has answered refused one transaction", async () => {
    let traces = 0;
    const refusal = new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) });
    const layer = tampered(scene.url, (one) =>
      one.method === method && isOfCalls(one.params) && traces++ === 1 ? refusal : null,
    );
    const asked = Preflight.preflight(calling("swallow") as never);
    const reports = await Effect.runPromise(Effect.all([asked, asked, asked]).pipe(Effect.provide(layer)));
    expect(reports.map((report) => named(report, "InnerCallFailed").length)).toEqual([1, 0, 1]);
  });

  it("change nothing else in the report, however long the trace takes", async () => {
    const slow = Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (node) =>
        Rpc.Rpc.of({
          ...node,
          request: (asked, params) =>
            asked === method && isOfCalls(params) ? Effect.never : node.request(asked, params),
        }),
      ),
    ).pipe(Layer.provide(layerOf(scene.url)));
    const report = await Effect.runPromise(Preflight.preflight(calling("swallow") as never).pipe(Effect.provide(slow)));
    expect([report.observed.traced, report.transactions[0].outcome.trace]).toEqual([1, null]);
  });

  it("are null, with a finding, where the trace has another gas, or there is no tracer", async () => {
    const refusal = new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) });
    for (const tamper of [otherGas, refusal] as const) {
      const on: Tampering = (one) => (one.method !== method ? null : typeof tamper === "function" ? tamper : refusal);
      const report = await run(calling("swallow"), on);
      expect([report.transactions[0].outcome.trace, named(report, "InnerCallFailed").length]).toEqual([null, 0]);
      expect([named(report, "CallsNotSeen").length, severe(report)]).toEqual([1, ["ReturnedFalse/warning"]]);
      expect((await run(calling("bubble"), on)).transactions[0].outcome.trace).toBeNull();
    }
    const data = encodeFunctionData({ abi: Token.abi, functionName: "transfer", args: [other.address, 5n] });
    const report = await run({ from: owner.address, to: at["token"], data }, (one) =>
      one.method === method ? refusal : null,
    );
    expect([named(report, "CallsNotSeen"), report.verdict]).toEqual([[], "ready"]);
  });
});
