/** The server: one connection to the node, two tools, until stdin ends. It holds no key. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Logger from "effect/Logger";
import * as Result from "effect/Result";
import * as Stdio from "effect/Stdio";
import * as Stream from "effect/Stream";
import * as McpProtocol from "effect/ai/McpProtocol";
import { CallToolResult, Tool } from "effect/ai/McpSchema";
import * as McpServer from "effect/ai/McpServer";
import type { Options } from "../../Preflight.js";
import { Rpc } from "../../rpc/index.js";
import { version } from "../exit.js";
import { parseJson } from "../terminal.js";
import { textsOf, toolsOf } from "./tools.js";

const registered = (options: Options) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* McpServer.McpServer;
      const rpc = yield* Rpc;
      for (const [name, { description, schema, isOpenWorld, run }] of Object.entries(toolsOf(options)))
        yield* server.addTool({
          tool: new Tool({
            ...{ name, description, inputSchema: schema },
            annotations: {
              readOnlyHint: true,
              destructiveHint: false,
              idempotentHint: true,
              openWorldHint: isOpenWorld,
            },
          }),
          annotations: Context.empty(),
          handle: (given: unknown) =>
            Effect.map(
              Effect.provideService(run(given), Rpc, rpc),
              (answer) =>
                new CallToolResult({
                  isError: answer.isError,
                  structuredContent: answer.data,
                  content: textsOf(answer).map((text) => ({ type: "text" as const, text })),
                }),
            ),
        });
    }),
  );

const parseError = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });

/** A message that a line holds; null where it holds none. */
const messageOf = (line: string): string | null =>
  // why: what nests too deep to be written again would throw further down
  Result.getOrNull(
    Result.map(parseJson(line), (json) => (typeof json === "object" && json !== null ? json : null)).pipe(
      Result.flatMap((json) => (json === null ? Result.fail(null) : Result.try(() => JSON.stringify(json)))),
    ),
  );

/**
 * stdin with only lines that hold a message; another one is answered by a parse error. The protocol below would lose
 * everything that arrived with such a line.
 */
const messagesOnly = Layer.effect(
  Stdio.Stdio,
  Effect.map(Stdio.Stdio, (stdio) => {
    const refuse = Stream.run(Stream.make(`${parseError}\n`), stdio.stdout({ endOnDone: false }));
    const stdin = stdio.stdin.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.filter((line) => line.trim() !== ""),
      Stream.mapEffect((line) => {
        const message = messageOf(line);
        return message === null ? Effect.as(refuse, "") : Effect.succeed(`${message}\n`);
      }),
      Stream.filter((line) => line !== ""),
      Stream.encodeText,
    );
    return Stdio.Stdio.of({ ...stdio, stdin });
  }),
);

/** Answers calls on stdin by lines on stdout. Done when stdin has ended and every call is answered. */
export const serve = (options: Options) =>
  Effect.gen(function* () {
    const server = yield* Effect.forkChild(
      Layer.launch(
        McpServer.layerStdio({
          name: "evm-preflight",
          version,
          instructions: "Check every transaction with preflight before it is signed; sign only what is ready.",
          protocols: [
            McpProtocol.v2026_07_28,
            McpProtocol.v2025_11_25,
            McpProtocol.v2025_06_18,
            McpProtocol.v2025_03_26,
            McpProtocol.v2024_11_05,
          ],
          registrations: registered(options),
        }).pipe(Layer.provide(messagesOnly)),
      ),
    );
    // why: the server interrupts itself when stdin has ended
    yield* Fiber.await(server);
  }).pipe(Effect.provide(Logger.layer([])));
