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
import { isRecord } from "../../primitives/index.js";
import { version } from "../exit.js";
import { parseJson } from "../terminal.js";
import { textsOf, toolsOf } from "./tools.js";

const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };

const registered = (options: Options) =>
  Effect.gen(function* () {
    const server = yield* McpServer.McpServer;
    const rpc = yield* Rpc;
    for (const [name, { description, schema, isOpenWorld, run }] of Object.entries(toolsOf(options))) {
      const annotations = { ...hints, openWorldHint: isOpenWorld };
      const handle = Effect.fnUntraced(function* (args: unknown) {
        const answer = yield* Effect.provideService(run(args), Rpc, rpc);
        const content = textsOf(answer).map((text) => ({ type: "text" as const, text }));
        return new CallToolResult({ isError: answer.isError, structuredContent: answer.data, content });
      });
      const tool = new Tool({ name, description, inputSchema: schema, annotations });
      yield* server.addTool({ tool, annotations: Context.empty(), handle });
    }
  }).pipe(Layer.effectDiscard);

const refusalOf = (code: number, message: string, id: unknown = null): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });

/** True if JavaScript has the number that stands there, so that it can be written again. */
const isExact = (id: unknown): boolean =>
  typeof id !== "number" || (Number.isFinite(id) && (!Number.isInteger(id) || Number.isSafeInteger(id)));

/** Reads a line of JSON, with its numbers as the texts that stand there. */
const spelledIn = (line: string): unknown => {
  let isInText = false;
  const asTexts = line.replaceAll(/\\.|"|-?\d[\d.eE+-]*/gs, (part) => {
    if (part === '"') isInText = !isInText;
    return isInText || !/^[-\d]/.test(part) ? part : `"${part}"`;
  });
  return Result.getOrElse(parseJson(asTexts), () => null);
};

/** The answer that refuses a message; null where the protocol below answers it. `spelled` is the message of {@link spelledIn}. */
const refusalFor = (json: unknown, spelled: unknown): string | null => {
  if (!isRecord(json)) return refusalOf(-32700, "Parse error");
  const { jsonrpc, id = null } = json;
  if (!isExact(id) && isRecord(spelled))
    return refusalOf(-32600, "Invalid Request", 0).replace('"id":0', () => `"id":${String(spelled["id"])}`);
  const isId = id === null || typeof id === "string" || typeof id === "number";
  // why: the protocol below answers neither, and whoever asked would wait
  return isId && jsonrpc === "2.0" ? null : refusalOf(-32600, "Invalid Request", isId ? id : null);
};

/** The messages of a line, and the answers that refuse the others; null where none is left. */
const messagesOf = (line: string): { readonly refusals: ReadonlyArray<string>; readonly passed: string | null } => {
  const none = { refusals: [refusalOf(-32700, "Parse error")], passed: null };
  const json = Result.getOrElse(parseJson(line), () => undefined);
  if (json === undefined) return none;
  const entries: ReadonlyArray<unknown> = Array.isArray(json) ? json : [json];
  const spelled = entries.every((entry) => !isRecord(entry) || isExact(entry["id"])) ? null : spelledIn(line);
  const answers = entries.map((entry, index) => refusalFor(entry, Array.isArray(spelled) ? spelled[index] : spelled));
  const left = entries.filter((_, index) => answers[index] === null);
  const refusals = answers.filter((answer) => answer !== null);
  if (left.length === 0 && refusals.length > 0) return { refusals, passed: null };
  // why: what nests too deep to be written again would throw further down
  return Result.getOrElse(
    Result.try(() => ({ refusals, passed: JSON.stringify(Array.isArray(json) ? left : json) })),
    () => none,
  );
};

/**
 * stdin with only lines that hold a message; another one is refused. The protocol below would lose
 * everything that arrived with such a line.
 */
const messagesOnly = Layer.effect(
  Stdio.Stdio,
  Effect.map(Stdio.Stdio, (stdio) => {
    const refuse = (refusal: string) => Stream.run(Stream.make(`${refusal}\n`), stdio.stdout({ endOnDone: false }));
    const stdin = stdio.stdin.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.filter((line) => line.trim() !== ""),
      Stream.mapEffect((line) => {
        const { refusals, passed } = messagesOf(line);
        const message = passed === null ? "" : `${passed}\n`;
        return refusals.length === 0 ? Effect.succeed(message) : Effect.as(refuse(refusals.join("\n")), message);
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
