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
import type * as Layer from "effect/Layer";
import type { Transport } from "viem";
import * as Promises from "./preflight/promises.js";
import type { Options } from "./preflight/options.js";
import * as Rpc from "./Rpc.js";

export type { Abortable, RunOptions } from "./preflight/promises.js";
export type { Options } from "./preflight/options.js";

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
export interface PreflightClient extends Omit<Promises.Facade, "preflight"> {
  /** Scan, then prove: two rounds, a proven report. Rejects with `InvalidTransaction` only. */
  readonly run: Promises.Facade["preflight"];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * The pipeline on one connection, as Promises. `defaults` are the options of every call that says
 * nothing else. Runs are independent of each other; `dispose` when done, or use `await using`.
 */
export const createPreflight = (connection: Connection, defaults?: Options): PreflightClient => {
  const { preflight: run, ...facade } = Promises.make(layerOf(connection), defaults);
  return { ...facade, run, [Symbol.asyncDispose]: facade.dispose };
};
