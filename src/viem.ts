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

export type { Options } from "./preflight/prepare.js";
export type { Abortable, Actions, Defaults, RunOptions } from "./promise/facade.js";
export type { Log, LogEvent, ReportEvent, RequestEvent } from "./promise/log.js";

/** `preflight`, `scan`, `prove` and `ready`, as {@link preflightActions} adds them to a client. */
export type PreflightActions = Pick<Promises.Actions, "preflight" | "scan" | "prove" | "ready">;

/**
 * For `client.extend`. Requests go through the client's own transport, its batching included; its
 * retries are off. `defaults` are the options of every call that says nothing else, and who is told what happens.
 */
export const preflightActions =
  (defaults?: Promises.Defaults, rpc?: Rpc.Options) =>
  (client: Rpc.Requester & { readonly transport?: unknown; readonly name?: string | undefined }): PreflightActions => {
    const { preflight, scan, prove, ready } = Promises.make(Rpc.layerClient(client, rpc), defaults);
    return { preflight, scan, prove, ready };
  };
