/**
 * evm-preflight without Effect: Promises that reject with the tagged errors themselves.
 *
 * ```ts
 * const preflight = createPreflight({ url: "http://127.0.0.1:8545" })
 * const report = await preflight.run({ from, to, value: 1n })
 * const { requests } = await preflight.ready(report)
 * await preflight.dispose()
 * ```
 */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { Transport } from "viem";
import type * as Nonces from "./Nonces.js";
import { layerMemory, type NonceStore } from "./nonces/service.js";
import type { Delivered, Sign } from "./promise/deliver.js";
import * as Promises from "./promise/facade.js";
import * as Rpc from "./Rpc.js";
import type * as Transaction from "./Transaction.js";

export type { Delivered, Sign } from "./promise/deliver.js";
export type { Abortable, Actions, Facade, RunOptions } from "./promise/facade.js";
export type { Log, LogEvent, ReportEvent, RequestEvent } from "./promise/log.js";
export type { Options } from "./preflight/prepare.js";

/**
 * The way to the node: a URL (with `Rpc.HttpOptions` beside it), a viem client, a viem transport, an
 * EIP-1193 provider, or a layer of one's own such as those of `evm-preflight/testing`.
 */
export type Connection =
  | ({ readonly url: string } & Rpc.HttpOptions)
  | ({
      readonly client: Rpc.Requester & { readonly transport?: unknown; readonly name?: string | undefined };
    } & Rpc.Options)
  | ({ readonly transport: Transport } & Rpc.Options)
  | ({ readonly provider: Rpc.Requester } & Rpc.Options)
  | { readonly layer: Layer.Layer<Rpc.Rpc> };

const layerOf = (connection: Connection): Layer.Layer<Rpc.Rpc> => {
  if ("url" in connection) return Rpc.layerHttp(connection.url, connection);
  if ("client" in connection) return Rpc.layerClient(connection.client, connection);
  if ("transport" in connection) return Rpc.layerTransport(connection.transport, connection);
  return "layer" in connection ? connection.layer : Rpc.layerProvider(connection.provider, connection);
};

/** The pipeline on one connection. */
export interface PreflightClient extends Omit<Promises.Facade<NonceStore>, "preflight"> {
  /** Scan, then prove: two rounds, a proven report. Rejects with `InvalidTransaction` only. */
  readonly run: Promises.Facade["preflight"];
  /**
   * Scans, reserves nonces, proves with them, has the cleared requests signed, commits and sends them:
   * never the same nonce twice, whatever fails in between. Rejects with what stands against sending, and
   * with the errors of `Nonces`; nothing is sent then unless the error's `mayBeSent` is true (`PartlySent` says what).
   *
   * A clearance that expired while it was signed is proven again before anything is committed: what then stands
   * against it rejects, also an outcome that changed. A request that waits for others (`Clearance.waits`) is committed
   * and sent when they are mined, after it was proven again with all behind it; each may wait as long as its nonce is
   * leased (60 s, `Nonces.Settings`), then it rejects with `NotProven` of `NotMined`.
   *
   * The caller leaves nonces out; `sign` must sign exactly what it is given.
   */
  readonly deliver: (sign: Sign) => Transaction.TakesInput<Promises.RunOptions, Promise<Delivered>>;
  /**
   * `Nonces.withNonce`: takes the lane's next nonce, has it signed, commits it and sends it (by
   * `eth_sendRawTransaction` when `send` is left out). For transactions that need no report.
   */
  readonly withNonce: (
    lane: Nonces.Lane,
    sign: (nonce: bigint) => Promise<`0x${string}`>,
    send?: (raw: `0x${string}`) => Promise<unknown>,
  ) => Promise<Nonces.Sent>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** Defaults of every call that says nothing else, who is told what happens, and where nonces are kept. */
export interface Defaults extends Promises.Defaults {
  /** The store that `deliver` and `withNonce` reserve in; `NonceStore.layerMemory` of this process when left out. */
  readonly nonces?: Layer.Layer<NonceStore> | undefined;
}

/**
 * The pipeline on one connection, as Promises. `defaults` are the options of every call that says
 * nothing else. Runs are independent of each other; `dispose` when done, or use `await using`.
 */
export const createPreflight = (
  connection: Connection,
  { nonces, log, ...defaults }: Defaults = {},
): PreflightClient => {
  const layer = Layer.merge(layerOf(connection), nonces ?? layerMemory);
  // why: a page loads the nonce protocol when somebody sends, not with the pipeline; nothing is reserved before
  const sending = Effect.tryPromise({ try: () => import("./promise/deliver.js"), catch: (error) => error });
  const { preflight: run, ...facade } = Promises.make<NonceStore>(layer, { ...defaults, log });
  const deliver =
    (sign: Sign) =>
    (input: unknown, options: Promises.RunOptions = {}) =>
      facade.effect(
        Effect.flatMap(sending, ({ deliverAll }) => deliverAll(sign, input, { ...defaults, ...options })),
        options,
      );
  const withNonce: PreflightClient["withNonce"] = (...given) =>
    facade.effect(Effect.flatMap(sending, ({ sendWithNonce }) => sendWithNonce(...given)));
  return { ...facade, run, deliver, withNonce, [Symbol.asyncDispose]: facade.dispose };
};
