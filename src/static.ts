/**
 * The Promise entry in one file that loads nothing later: for the service worker of a browser extension, where `import()`
 * is refused, and for phones. It has everything of `evm-preflight/promise` but several endpoints that must agree. A client
 * judges; it sends, settles and watches by the parts that are handed to it.
 *
 * Its classes are its own: tell its errors by `_tag`, and use one of the two entries in one program.
 */
import * as Result from "effect/Result";
import { InvalidConnection } from "./errors/index.js";
import { isRecord } from "./primitives/index.js";
import * as promise from "./promise.js";
import { clientWith } from "./promise/client.js";
import type { GivenSteps } from "./promise/facade.js";
import { defaultsGiven } from "./promise/given.js";
import { partsFit, type Part, type PartVerbs } from "./promise/parts.js";
import type * as Rpc from "./Rpc.js";

export * from "./promise.js";
export { sending, settling, watching, type Part, type PartVerbs } from "./promise/parts.js";

/** The way to the node; several endpoints that must agree (`endpoints`) are in `evm-preflight/promise` alone. */
export type Connection<client extends Rpc.ViemClient = Rpc.ViemClient> = promise.SingleConnection<client>;

/** Options of a guard, as in `evm-preflight/promise`. */
export interface GuardOptions extends Omit<promise.GuardOptions, "node"> {
  /** As in `evm-preflight/promise`, without several endpoints. */
  readonly node?: Connection | undefined;
}

/** Defaults of a client of one file, and the parts that it has. */
export interface Defaults<part extends keyof PartVerbs = never> extends promise.Defaults {
  /**
   * Parts in addition to the judging: `sending` (`deliver`, `withNonce`, `nonces`), `settling` (`settle`) and `watching` (`watch`,
   * `watchHeads`, `watchLogs`). A bundler leaves the others out of the app. None when left out.
   */
  readonly parts?: ReadonlyArray<Part<part>> | undefined;
}

/** The pipeline on one connection: its judging verbs, and those of the parts. */
export type PreflightClient<sender extends "caller" | "client" = "caller", part extends keyof PartVerbs = never> = Omit<
  promise.PreflightClient<sender>,
  PartVerbs[Exclude<keyof PartVerbs, part>]
>;

/** The connection, which is to one node: what asks several is left out of this entry's file. */
const single = <A>(connection: A, field: string): A =>
  isRecord(connection) && Object.hasOwn(connection, "endpoints")
    ? Result.getOrThrow(
        Result.fail(
          new InvalidConnection({ field, problem: "is not in evm-preflight/static; use evm-preflight/promise" }),
        ),
      )
    : connection;

/**
 * `createPreflight` of `evm-preflight/promise` that judges: `preflight`, `scan`, `prove`, `ready`, `maxSendable`, `signature`, `callBatch`, with the whole
 * pipeline loaded. `parts` adds the verbs that send, settle and watch; a verb whose part is not among them rejects with
 * `InvalidConnection`, which names the part. Throws `InvalidConnection` where the connection or `parts` is wrong, also for
 * `endpoints`, and `InvalidStep` where a step is.
 *
 * @example
 * ```ts
 * import { createPreflight, settling } from "evm-preflight/static";
 *
 * const preflight = createPreflight({ url: "http://127.0.0.1:8545" }, { parts: [settling] });
 * const report = await preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * });
 * await preflight.dispose();
 * console.log(report.verdict, typeof preflight.settle); // ready function
 * ```
 */
export const createPreflight: {
  <client extends Rpc.ViemClient, A, B, C, D, E, F, part extends keyof PartVerbs = never>(
    connection: Connection<client> & promise.WrittenSteps<A, B, C, D, E, F>,
    defaults?: Defaults<part>,
  ): PreflightClient<Rpc.SenderOf<client>, part>;
  <client extends Rpc.ViemClient = Rpc.ViemClient, part extends keyof PartVerbs = never>(
    connection: Connection<client> & promise.Steps,
    defaults?: Defaults<part>,
  ): PreflightClient<Rpc.SenderOf<client>, part>;
} = <client extends Rpc.ViemClient>(connection: Connection<client> & GivenSteps, given?: Defaults<keyof PartVerbs>) => {
  const { parts, ...defaults } = defaultsGiven(given, "defaults", { parts: partsFit });
  return clientWith(parts ?? [], single(connection, "endpoints"), defaults);
};

/** `guardProvider` of `evm-preflight/promise`. Throws `InvalidConnection`, which names the wrong option, also for `node.endpoints`. */
export const guardProvider = <provider extends promise.Provider>(
  provider: provider,
  options: GuardOptions = {},
): provider => {
  single(options?.node, "node.endpoints");
  return promise.guardProvider(provider, options);
};
