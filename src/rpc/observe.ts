/**
 * The telemetry of every request, whatever carries it: a span (by OpenTelemetry's names for JSON-RPC
 * clients), metrics, and an event for a logger. Never the parameters, never more of the endpoint than
 * people may see.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { safely } from "../primitives/record.js";
import { counting, errorTypeOf, inSpan, isTraced, Listener, nameOf, type Attributes } from "../primitives/telemetry.js";
import { CurrentRun, sendOf, withSend, type LedgerEntry, type Rpc, type SendRound } from "./service.js";

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
export const observed = <
  Node extends Pick<Rpc["Service"], "request" | "memory"> & { readonly send?: SendRound | undefined },
>(
  endpoint: string,
  node: Node,
): Effect.Effect<Node & { readonly endpoint: string }> =>
  Effect.map(Effect.context<never>(), (context) => {
    const server = serverOf(endpoint);
    const count = counting("request");
    const listener = Context.get(context, Listener);
    const clock = Context.get(context, Clock.Clock);
    const countEnd = (method: string, error: string | null, started: number): void =>
      count(
        `${method} ${error}`,
        () => ({ "rpc.method": method, ...server, "error.type": error }),
        clock.currentTimeMillisUnsafe() - started,
        context,
      );

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
          if (isSent) countEnd(method, error, started);
          if (ended !== null) listener?.({ type: "request", ...ended, error } satisfies RequestEvent);
          return Effect.void;
        });
      });

    const sendCounted =
      (send: SendRound): SendRound =>
      (round, hear) => {
        const started = clock.currentTimeMillisUnsafe();
        const open = new Map(
          [...round.entries()].flatMap(([place, { method }]) =>
            node.memory.refused(method) === null ? [[place, method] as const] : [],
          ),
        );
        const end = (place: number, error: string | null): void => {
          const method = open.get(place);
          if (method === undefined) return;
          open.delete(place);
          countEnd(method, error, started);
        };
        const callOff = send(round, (place, answer) => {
          end(place, Result.isSuccess(answer) ? null : (nameOf(answer.failure) ?? "_OTHER"));
          hear(place, answer);
        });
        return () => {
          callOff();
          for (const place of open.keys()) end(place, "Interrupted");
        };
      };
    const own = sendOf({ request: node.request });
    // why: who listens is told of each request by itself
    return withSend(
      { ...node, endpoint, request },
      listener === null && own !== undefined ? sendCounted(own) : undefined,
    );
  });
