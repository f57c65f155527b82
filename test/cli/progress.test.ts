import * as ConfigProvider from "effect/ConfigProvider";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Sink from "effect/Sink";
import * as Stdio from "effect/Stdio";
import * as Terminal from "effect/Terminal";
import * as TestClock from "effect/testing/TestClock";
import { describe, expect, it } from "vitest";
import { deadlineText, nothingAnswered, withProgress } from "../rooms/cli.js";
import { Rpc } from "../../src/Rpc.js";
import { memoryOf } from "../rooms/rpc.js";

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
  it("shows on a terminal which requests are answered, and leaves a clean line", async () => {
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
  it("writes short lines where the terminal tells no width", async () => {
    const { told } = await ask(true, 0);
    for (const line of told.split("\r\u001b[2K")) expect(line.length).toBeLessThan(40);
  });
  it("writes nothing into a pipe", async () => {
    const { told, results } = await ask(false);
    expect(results).toHaveLength(2);
    expect(told).toBe("");
  });
});

describe("withProgress over a long request", () => {
  /** What stderr gets while a request takes `ms` of the test's clock. */
  const over = (ms: number, isTerminal: boolean, options: Parameters<typeof withProgress>[1], term = "xterm") =>
    Effect.gen(function* () {
      const lines: Array<string> = [];
      const stdio = Stdio.layerTest({
        stderrIsTerminal: Effect.succeed(isTerminal),
        stderr: () => Sink.forEach((chunk: string | Uint8Array) => Effect.sync(() => void lines.push(String(chunk)))),
      });
      const terminal = Layer.mock(Terminal.Terminal)({
        "~effect/Terminal": "~effect/Terminal",
        columns: Effect.succeed(100),
      });
      const slow = Layer.succeed(
        Rpc,
        Rpc.of({
          endpoint: "http://node",
          request: () => Effect.sleep(ms),
          memory: memoryOf(() => 0, 0),
          admit: (run) => run,
        }),
      );
      const program = Rpc.use(({ request }) => request("eth_call", []));
      const running = yield* Effect.forkChild(
        Effect.provide(program, Layer.provide(withProgress(slow, options), Layer.merge(stdio, terminal))),
      );
      yield* TestClock.adjust(ms);
      yield* Fiber.join(running);
      return lines;
    }).pipe(
      Effect.provide(Layer.merge(TestClock.layer(), ConfigProvider.layer(ConfigProvider.fromUnknown({ TERM: term })))),
      Effect.runPromise,
    );

  it("counts the seconds of the deadline, and leaves a clean line", async () => {
    const lines = await over(3_500, true, { deadlineMs: 10_000 });
    for (const second of [0, 1, 2, 3])
      expect(lines).toContain(`\r\u001b[2K${second} of 10 s · 0 of 1 answered (eth_call) by http://node`);
    expect(lines.at(-1)).toBe("\r\u001b[2K");
  });
  it("writes a line at intervals about a long request, on a dumb terminal or none", async () => {
    const line = "5 s · 0 of 1 answered (eth_call) by http://node\n";
    for (const [isTerminal, term] of [
      [false, "xterm"],
      [true, "dumb"],
    ] as const) {
      expect(await over(7_000, isTerminal, { isLong: true }, term)).toEqual([line]);
      expect(await over(4_000, isTerminal, { isLong: true }, term)).toEqual([]);
      expect(await over(7_000, isTerminal, { deadlineMs: 10_000 }, term)).toEqual([]);
    }
  });
});

describe("deadlineText", () => {
  const deadline = { ...nothingAnswered(), any: true };
  it("names each round's requests: the slowest, those without an answer, those not sent", () => {
    const text = deadlineText(
      {
        ...deadline,
        ended: [
          { name: "eth_getCode", round: 1, ms: 40, late: null },
          { name: "eth_simulateV1 (bare)", round: 1, ms: 5_020, late: null },
          { name: "eth_simulateV1 (exact)", round: 2, ms: 4_960, late: "unanswered" },
          { name: "eth_simulateV1 (alone)", round: 3, ms: 0, late: "unsent" },
        ],
      },
      10_000,
    );
    expect(text.split("\n")).toEqual([
      "What used the deadline of 10.0 s",
      "  round 1: eth_simulateV1 (bare) was answered after 5.0 s",
      "  round 2: eth_simulateV1 (exact) had no answer after 5.0 s",
      "  round 3: eth_simulateV1 (alone) was not sent: no time was left",
    ]);
  });
  it("is empty where everything was answered", () => {
    expect(deadlineText({ ...deadline, ended: [{ name: "eth_call", round: 1, ms: 9, late: null }] }, 10)).toBe("");
    expect(deadlineText(nothingAnswered(), 10)).toBe("");
  });
});
