/** A logger for people without Effect: what has happened, as plain data. */
import * as Layer from "effect/Layer";
import type { KeepEvent } from "../nonces/protocol/reconcile.js";
import type { ReportEvent } from "../report/telemetry.js";
import { Listener } from "../primitives/telemetry.js";
import type { RequestEvent } from "../rpc/observe.js";

export type { KeepEvent, ReportEvent, RequestEvent };

/** What a {@link Log} is told: flat, with numbers and strings only, so that `JSON.stringify` takes it. */
export type LogEvent = RequestEvent | ReportEvent | KeepEvent;

/**
 * Told what happens, when it happens: `(event) => pino.info(event)`, or `console.log`. It is called in the midst
 * of a run, so it should be quick; what it throws or rejects with is dropped.
 */
export type Log = (event: LogEvent) => unknown;

/** Tells `log` of every request, every report and every failure of a kept lane, of the effects that are given this layer. */
export const layerLog = (log: Log): Layer.Layer<never> =>
  Layer.succeed(Listener, (event) => {
    // why: a promise takes both what is thrown and what is rejected, and runs its executor at once
    new Promise((done) => done(log(event as LogEvent))).catch(() => undefined);
  });
