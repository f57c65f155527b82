/** `evm-preflight/testing`, built: a node by script, and a tape of a real one. */
import * as Effect from "effect/Effect";
import { Errors, Preflight, Report, Rpc } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import {
  emptyTape,
  layerRecorder,
  layerReplay,
  layerScripted,
  rpcError,
  silence,
  type Tape,
} from "evm-preflight/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";

let node: Node;
let tape: Tape;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  await mineAnvil(node.url);
  tape = emptyTape();
  await using preflight = createPreflight({ layer: layerRecorder(Rpc.layerHttp(node.url), tape) });
  await preflight.run(transfer);
});
afterAll(() => node.stop());

const transfer = { from: accounts[1].address, to: accounts[2].address, value: 1n };
const ask = (method: string, params: ReadonlyArray<unknown> = []) =>
  Effect.flatMap(Effect.service(Rpc.Rpc), (rpc) => rpc.request(method, params));

describe("layerScripted", () => {
  it("answers by the script, from the parameters and the number of calls so far", async () => {
    const layer = layerScripted({
      eth_chainId: "0x1",
      eth_getCode: ([address], before) => (address === "0xa" && before === 0 ? "0x6000" : "0x"),
    });
    const answers = Effect.all([ask("eth_chainId"), ask("eth_getCode", ["0xa"]), ask("eth_getCode", ["0xa"])]);
    expect(await Effect.runPromise(Effect.provide(answers, layer))).toEqual(["0x1", "0x6000", "0x"]);
  });

  it("classifies errors as those of a real node, passes typed ones on, and knows no other method", async () => {
    const typed = new Errors.RpcError({ method: "eth_call", reason: new Errors.NodeSyncing({ detail: "almost" }) });
    const layer = layerScripted({
      eth_getCode: rpcError({ code: -32000, message: "nonce too low: next nonce 5, tx nonce 2" }),
      eth_getLogs: rpcError({ code: -32000, message: "forbidden" }, { httpStatus: 403 }),
      eth_call: typed,
    });
    const failure = (method: string) => Effect.runPromise(Effect.provide(Effect.flip(ask(method)), layer));
    expect(await failure("eth_getCode")).toBeInstanceOf(Errors.NonceTooLow);
    expect(await failure("eth_getLogs")).toMatchObject({ reason: { _tag: "MethodNotPermitted" } });
    expect(await failure("eth_call")).toBe(typed);
    expect(await failure("eth_estimateGas")).toMatchObject({ reason: { _tag: "MethodNotSupported" } });
  });

  it("can stay silent until the deadline", async () => {
    await using preflight = createPreflight({ layer: layerScripted({ eth_simulateV1: silence }) });
    const report = await preflight.scan(transfer, { deadline: 100 });
    expect(report.verdict).toBe("unknown");
    expect(report.findings.map(({ code }) => code)).toContain("Timeout");
  });
});

describe("layerRecorder and layerReplay", () => {
  it("repeat a run without the node, with the same verdict, outcome and request", async () => {
    const copy = JSON.parse(JSON.stringify(tape)) as Tape;
    await using preflight = createPreflight({ layer: layerReplay(copy) });
    const report = await preflight.run(transfer);
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    expect(report.observed.freshness).toBe("fresh");
    expect(report.ledger.requests.length).toBe(tape.exchanges.length);
    expect(Report.toText(report)).toContain("READY");
  });

  it("keep a recorded report as fresh as it was, a year later", async () => {
    const old: Tape = { startedAt: (tape.startedAt ?? 0) - 365 * 86_400_000, exchanges: [] };
    const layer = layerReplay(old);
    const now = await Effect.runPromise(
      Effect.provide(
        Effect.clockWith((clock) => clock.currentTimeMillis),
        layer,
      ),
    );
    expect(Math.abs(now - (old.startedAt ?? 0))).toBeLessThan(5_000);
  });

  it("replay a run with one answer replaced by a failure", async () => {
    const layer = layerScripted(
      { eth_getTransactionCount: rpcError({ code: -32000, message: "boom" }) },
      layerReplay(tape),
    );
    const report = await Effect.runPromise(Preflight.preflight(transfer).pipe(Effect.provide(layer)));
    expect(report.verdict).not.toBe("ready");
  });

  it("replay failures, and fail when the tape is at its end", async () => {
    const failing = emptyTape();
    const real = layerScripted({ eth_call: rpcError({ code: 3, message: "execution reverted", data: "0x" }) });
    const first = await Effect.runPromise(Effect.flip(Effect.provide(ask("eth_call"), layerRecorder(real, failing))));
    const layer = layerReplay(JSON.parse(JSON.stringify(failing)) as Tape);
    const twice = Effect.all([Effect.flip(ask("eth_call")), Effect.flip(ask("eth_call"))]);
    const [again, end] = await Effect.runPromise(Effect.provide(twice, layer));
    expect(first).toBeInstanceOf(Errors.ExecutionReverted);
    expect(again).toEqual(first);
    expect(end).toMatchObject({ _tag: "RpcError", reason: { _tag: "Transport" } });
  });
});
