/** A logger for people without Effect: what has happened, as plain data. */
import * as Context from "effect/Context";
import * as Layer from "effect/Layer";
import { ReportListener, type ReportEvent } from "../preflight/telemetry.js";
import { RequestListener, type RequestEvent } from "../rpc/observe.js";

export type { ReportEvent, RequestEvent };

/** What a {@link Log} is told: flat, with numbers and strings only, so that `JSON.stringify` takes it. */
export type LogEvent = RequestEvent | ReportEvent;

/**
 * Told what happens, when it happens: `(event) => pino.info(event)`, or `console.log`. It is called in the midst
 * of a run, so it should be quick; what it throws or rejects with is dropped.
 */
export type Log = (event: LogEvent) => unknown;

/** Tells `log` of every request and every report of the effects that are given this layer. */
export const layerLog = (log: Log): Layer.Layer<never> => {
  // why: a promise takes both what is thrown and what is rejected, and runs its executor at once
  const tell = (event: LogEvent) => void new Promise((done) => done(log(event))).catch(() => undefined);
  return Layer.succeedContext(Context.make(RequestListener, tell).pipe(Context.add(ReportListener, tell)));
};
