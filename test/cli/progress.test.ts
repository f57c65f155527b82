import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Sink from "effect/Sink";
import * as Stdio from "effect/Stdio";
import * as Terminal from "effect/Terminal";
import { describe, expect, it } from "vitest";
import { withProgress } from "../rooms/cli.js";
import { memoryOf, Rpc } from "../../src/Rpc.js";

const node = Layer.succeed(
  Rpc,
  Rpc.of({
    endpoint: "http://node",
    request: (method) => Effect.succeed(`result of ${method}`),
    memory: memoryOf(() => 0, 0),
    admit: (run) => run,
  }),
);

const ask = async (isTerminal: boolean, columns = 100) => {
  const told: Array<string> = [];
  const stdio = Stdio.layerTest({
    stderrIsTerminal: Effect.succeed(isTerminal),
    stderr: () => Sink.forEach((chunk: string | Uint8Array) => Effect.sync(() => void told.push(String(chunk)))),
  });
  const terminal = Layer.mock(Terminal.Terminal)({
    "~effect/Terminal": "~effect/Terminal",
    columns: Effect.succeed(columns),
  });
  const program = Effect.flatMap(Rpc, (rpc) =>
    Effect.all([rpc.request("eth_getCode", []), rpc.request("eth_call", [])]),
  );
  const results = await Effect.runPromise(
    Effect.provide(program, Layer.provide(withProgress(node), Layer.merge(stdio, terminal))),
  );
  return { told: told.join(""), results };
};

describe("withProgress", () => {
  it("says on a terminal what is asked, and leaves a clean line", async () => {
    const { told, results } = await ask(true);
    expect(results).toEqual(["result of eth_getCode", "result of eth_call"]);
    expect(told).toContain("0 of 1 answered (eth_getCode) by http://node");
    expect(told).toContain("1 of 2 answered (eth_call) by http://node");
    expect(told.endsWith("\r\u001b[2K")).toBe(true);
  });
  it.each([10, 30, 50])("never wraps on a terminal of %i columns", async (columns) => {
    const { told } = await ask(true, columns);
    const lines = told.split("\r\u001b[2K").filter((line) => line !== "");
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line.length).toBeLessThan(columns);
  });
  it("is short where nobody says how wide the terminal is", async () => {
    const { told } = await ask(true, 0);
    for (const line of told.split("\r\u001b[2K")) expect(line.length).toBeLessThan(40);
  });
  it("says nothing in a pipe", async () => {
    const { told, results } = await ask(false);
    expect(results).toHaveLength(2);
    expect(told).toBe("");
  });
});
