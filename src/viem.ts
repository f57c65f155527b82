/**
 * The pipeline as actions of a viem client.
 *
 * ```ts
 * const client = createPublicClient({ transport: http(url) }).extend(preflightActions())
 * const report = await client.preflight({ from, to, value: 1n })
 * const { requests } = await client.ready(report)
 * ```
 */
import * as Promises from "./promise/facade.js";
import * as Rpc from "./Rpc.js";
import type { Sender } from "./Transaction.js";

export type { Options } from "./preflight/prepare.js";
export type { Abortable, Actions, Defaults, RunOptions } from "./promise/facade.js";
export type { Log, LogEvent, ReportEvent, RequestEvent } from "./promise/log.js";

/** `preflight`, `scan`, `prove` and `settle`, as {@link preflightActions} adds them to a client. */
export type PreflightActions<sender extends Sender = "caller"> = Pick<
  Promises.Actions<sender>,
  "preflight" | "scan" | "prove" | "ready" | "settle"
>;

/**
 * For `client.extend`. Requests go through the client's own transport, its batching included; its
 * retries are off. Its chain and account are those of every transaction that names none; others are refused.
 * `defaults` are the options of every call that says nothing else, and who is told what happens.
 */
export const preflightActions =
  (defaults?: Promises.Defaults, rpc?: Rpc.Options) =>
  <client extends Rpc.ViemClient>(client: client): PreflightActions<Rpc.SenderOf<client>> => {
    const { preflight, scan, prove, ready, settle } = Promises.make(Rpc.layerClient(client, rpc), defaults);
    return { preflight, scan, prove, ready, settle };
  };
