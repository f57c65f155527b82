/**
 * The telemetry of every request, whatever carries it: a span (by OpenTelemetry's names for JSON-RPC
 * clients), metrics, and an event for a logger. Never the parameters, never more of the endpoint than
 * people may see.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { safely } from "../primitives/record.js";
import { counting, errorTypeOf, inSpan, isTraced, Listener, type Attributes } from "../primitives/telemetry.js";
import { CurrentRun, type LedgerEntry, type Rpc } from "./service.js";

/** A JSON-RPC request has ended, after all its tries: its line of the ledger, and how it went. */
export interface RequestEvent extends LedgerEntry {
  /** Always `request`. */
  readonly type: "request";
  /** The tag of the error or of its reason (`Timeout`, `ExecutionReverted`); `Interrupted`; null when answered. */
  readonly error: string | null;
}

/** The host and, where it is named, the port of an endpoint as people see it; its name where it is no URL. */
const serverOf = (endpoint: string): Attributes => {
  const { hostname, port } = safely(() => new URL(endpoint), { hostname: "", port: "" });
  return { "server.address": hostname || endpoint, "server.port": Number(port) || null };
};

/**
 * A node by its endpoint, whose requests are seen by whoever listens. A logger, and where metrics go, are those
 * in force where the node is made: to look them up in the context of every request would cost more than they do.
 */
export const observed = <Node extends Pick<Rpc["Service"], "request" | "memory">>(
  endpoint: string,
  node: Node,
): Effect.Effect<Node & { readonly endpoint: string }> =>
  Effect.map(Effect.context<never>(), (context) => {
    const server = serverOf(endpoint);
    const count = counting("request");
    const listener = Context.get(context, Listener);
    const clock = Context.get(context, Clock.Clock);

    const request: Rpc["Service"]["request"] = (method, params) =>
      Effect.withFiber((fiber) => {
        const started = clock.currentTimeMillisUnsafe();
        // why: a remembered refusal answers without asking
        const isSent = node.memory.refused(method) === null;
        let effect = node.request(method, params);
        let ended: LedgerEntry | null = null;
        if (listener !== null || isTraced(fiber)) {
          const run = fiber.getRef(CurrentRun);
          effect = inSpan(
            Effect.provideService(effect, CurrentRun, {
              ...run,
              record: (entry, turn) => {
                ended = entry;
                run.record(entry, turn);
              },
            }),
            method,
            () => ({
              "rpc.system.name": "jsonrpc",
              "rpc.method": method,
              ...server,
              "preflight.step": run.step,
              "preflight.run": run.run,
              "preflight.round": run.round,
            }),
            () => ({ "preflight.tries": ended?.tries, "preflight.bytes": ended?.bytes }),
            "client",
          );
        }
        return Effect.onExit(effect, (exit) => {
          const error = errorTypeOf(exit);
          if (isSent)
            count(
              `${method} ${error}`,
              () => ({ "rpc.method": method, ...server, "error.type": error }),
              clock.currentTimeMillisUnsafe() - started,
              context,
            );
          if (ended !== null) listener?.({ type: "request", ...ended, error } satisfies RequestEvent);
          return Effect.void;
        });
      });
    return { ...node, endpoint, request };
  });
