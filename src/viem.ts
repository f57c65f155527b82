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
import type { Steps, WrittenSteps } from "./promise/steps.js";
import * as Rpc from "./Rpc.js";
import type { Sender } from "./Transaction.js";

export type { PlainStep, StepContext, Steps, WrittenSteps } from "./promise/steps.js";
export type { Options } from "./pipeline/index.js";
export type {
  Abortable,
  Actions,
  Defaults,
  Log,
  LogEvent,
  ReportEvent,
  RequestEvent,
  RunOptions,
} from "./promise/facade.js";

/** `preflight`, `scan`, `prove` and `settle`, as {@link preflightActions} adds them to a client. */
export type PreflightActions<sender extends Sender = "caller"> = Pick<
  Promises.Actions<sender>,
  "preflight" | "scan" | "prove" | "ready" | "settle"
>;

/** The types of {@link preflightActions}, with steps of your own or without. */
export interface ActionsOf {
  <A, B, C, D, E, F>(
    defaults: Promises.Defaults & WrittenSteps<A, B, C, D, E, F>,
    rpc?: Rpc.Options,
  ): <client extends Rpc.ViemClient>(client: client) => PreflightActions<Rpc.SenderOf<client>>;
  (
    defaults?: Promises.Defaults & Steps,
    rpc?: Rpc.Options,
  ): <client extends Rpc.ViemClient>(client: client) => PreflightActions<Rpc.SenderOf<client>>;
}

/**
 * For `client.extend`. Requests go through the client's own transport, its batching included; its
 * retries are off. Its chain and account are those of every transaction that names none; others are refused.
 * `defaults` are the options of every call that says nothing else, who is told what happens, and `steps` of your own, and
 * `without` which of the built-in ones, for every verb. Throws `InvalidStep` of what is no step.
 */
export const preflightActions: ActionsOf =
  (
    { steps, without, ...defaults }: Promises.Defaults & Promises.GivenSteps = {},
    rpc?: Rpc.Options,
  ): ReturnType<ActionsOf> =>
  (client) => {
    const layer = Rpc.layerClient(client, rpc);
    const { preflight, scan, prove, ready, settle } = Promises.make(layer, defaults, { steps, without });
    return { preflight, scan, prove, ready, settle };
  };
