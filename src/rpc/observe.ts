/**
 * What others see of every request, whatever carries it: a span (by OpenTelemetry's names for JSON-RPC
 * clients), metrics, and an event for a logger. Never the parameters, never more of the endpoint than
 * people may see.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { RpcError } from "../errors/rpc.js";
import { safely } from "../primitives/safely.js";
import { counting, errorTypeOf, inSpan, isTraced, Listener, type Attributes } from "../primitives/telemetry.js";
import type { Failure } from "./answer.js";
import { CurrentRun, type LedgerEntry } from "./run.js";

/** A JSON-RPC request has ended, after all its tries: its line of the ledger, and how it went. */
export interface RequestEvent extends LedgerEntry {
  readonly type: "request";
  /** The tag of the error or of its reason (`Timeout`, `ExecutionReverted`); `Interrupted`; null when answered. */
  readonly error: string | null;
}

type Request = (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, Failure>;

/** The host and, where it is named, the port of an endpoint as people see it; its name where it is no URL. */
const serverOf = (endpoint: string): Attributes => {
  const { hostname, port } = safely(() => new URL(endpoint), { hostname: "", port: "" });
  return { "server.address": hostname || endpoint, "server.port": Number(port) || null };
};

/** A node by its endpoint, whose requests are seen by whoever listens. */
export const observed = <
  Node extends { readonly request: Request; readonly refused: (method: string) => RpcError | null },
>(
  endpoint: string,
  node: Node,
): Node & { readonly endpoint: string } => {
  const server = serverOf(endpoint);
  const count = counting("request");

  const request: Request = (method, params) =>
    Effect.withFiber((fiber) => {
      const run = fiber.getRef(CurrentRun);
      const listener = fiber.getRef(Listener);
      const clock = fiber.getRef(Clock.Clock);
      const started = clock.currentTimeMillisUnsafe();
      // why: a remembered refusal answers without asking
      const isSent = node.refused(method) === null;
      let ended: LedgerEntry | null = null;
      const record = (entry: LedgerEntry): void => {
        ended = entry;
        run.record(entry);
      };
      const asked = node.request(method, params);
      const noted =
        listener !== null || isTraced(fiber) ? Effect.provideService(asked, CurrentRun, { ...run, record }) : asked;
      return inSpan(
        noted,
        method,
        () => ({
          "rpc.system.name": "jsonrpc",
          "rpc.method": method,
          ...server,
          "preflight.step": run.step ?? null,
          "preflight.run": run.run ?? null,
          "preflight.round": run.round,
        }),
        () => ({ "preflight.tries": ended?.tries ?? null, "preflight.bytes": ended?.bytes ?? null }),
        "client",
      ).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            const error = errorTypeOf(exit);
            if (isSent)
              count(
                `${method} ${error}`,
                { "rpc.method": method, ...server, "error.type": error },
                clock.currentTimeMillisUnsafe() - started,
                fiber.context,
              );
            if (ended !== null) listener?.({ type: "request", ...ended, error } satisfies RequestEvent);
          }),
        ),
      );
    });
  return { ...node, endpoint, request };
};
