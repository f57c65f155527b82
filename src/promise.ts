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
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Ref from "effect/Ref";
import type { Transport } from "viem";
import { InvalidTransaction } from "./errors/input.js";
import { gap, NotProven } from "./errors/verdicts.js";
import * as Eth from "./Eth.js";
import * as Nonces from "./Nonces.js";
import * as NonceStore from "./NonceStore.js";
import * as Preflight from "./Preflight.js";
import * as Promises from "./promise/facade.js";
import type { Options } from "./preflight/options.js";
import * as Report from "./Report.js";
import * as Rpc from "./Rpc.js";
import * as Transaction from "./Transaction.js";

export type { Abortable, Actions, Facade, RunOptions } from "./promise/facade.js";
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

/** Signs one cleared request; `index` is its place in the bundle. */
export type Sign = (request: Report.Request, index: number) => Promise<`0x${string}`>;

/** What was proven, signed and sent under reserved nonces, in the order of the bundle. */
export interface Delivered {
  readonly report: Report.Report;
  readonly sent: ReadonlyArray<Nonces.Sent>;
}

/** The pipeline on one connection. */
export interface PreflightClient extends Omit<Promises.Facade<NonceStore.NonceStore>, "preflight"> {
  /** Scan, then prove: two rounds, a proven report. Rejects with `InvalidTransaction` only. */
  readonly run: Promises.Facade["preflight"];
  /**
   * Scans, reserves nonces, proves with them, has the cleared requests signed, commits and sends them:
   * never the same nonce twice, whatever fails in between. Rejects with what stands against sending, and
   * with the errors of `Nonces`; nothing is sent then unless the error's `mayBeSent` is true.
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

/** Defaults of every call that says nothing else, and where nonces are kept. */
export interface Defaults extends Options {
  /** The store that `deliver` and `withNonce` reserve in; `NonceStore.layerMemory` of this process when left out. */
  readonly nonces?: Layer.Layer<NonceStore.NonceStore> | undefined;
}

/** Scan, reserve, prove, sign, commit, send; the nonces are free again unless they were committed. */
const deliverAll = (sign: Sign, input: unknown, options: Options) =>
  Effect.scoped(
    Effect.gen(function* () {
      const checked = yield* Transaction.check(input);
      const fixed = checked.transactions.findIndex(({ nonce }) => nonce !== null);
      if (fixed !== -1) {
        const field = Array.isArray(input) ? `[${fixed}].nonce` : "nonce";
        return yield* new InvalidTransaction({ field, problem: "is reserved by deliver, leave it out" });
      }
      const taken = yield* Ref.make<ReadonlyArray<Nonces.Lease>>([]);
      const reserve = Preflight.reserving((scanned) =>
        Effect.flatMap(Nonces.reserveAll(scanned), (reserved) =>
          Effect.as(
            Ref.set(
              taken,
              reserved.flatMap((lease) => lease ?? []),
            ),
            reserved.map((lease) => lease?.nonce ?? null),
          ),
        ),
      );
      // why: no form of input, but one that was checked already
      const report = yield* reserve(checked as never, options);
      const leases = yield* Ref.get(taken);
      const clearance = yield* Report.ready(report);
      const signed = yield* Effect.forEach(clearance.requests, (request, index) =>
        Effect.tryPromise({ try: () => sign(request, index), catch: (error) => error }),
      );
      if (!Report.matches(clearance, signed) || leases.length !== signed.length)
        return yield* new NotProven({ missing: [gap("SignedOtherwise", "what was signed is not what was cleared")] });
      const sent = yield* Effect.forEach(Arr.zip(leases, signed), ([lease, raw]) =>
        Nonces.deliver(lease, raw, (bytes) => Eth.sendRawTransaction({ serializedTransaction: bytes })),
      );
      return { report, sent };
    }),
  );

/**
 * The pipeline on one connection, as Promises. `defaults` are the options of every call that says
 * nothing else. Runs are independent of each other; `dispose` when done, or use `await using`.
 */
export const createPreflight = (connection: Connection, { nonces, ...defaults }: Defaults = {}): PreflightClient => {
  const layer = Layer.merge(layerOf(connection), nonces ?? NonceStore.layerMemory);
  const { preflight: run, ...facade } = Promises.make<NonceStore.NonceStore>(layer, defaults);
  const deliver =
    (sign: Sign) =>
    (input: unknown, options: Promises.RunOptions = {}) =>
      facade.effect(deliverAll(sign, input, { ...defaults, ...options }), options);
  const attempt = <A>(ask: () => Promise<A>) => Effect.tryPromise({ try: ask, catch: (error) => error });
  const withNonce: PreflightClient["withNonce"] = (lane, sign, send) =>
    facade.effect(
      Nonces.withNonce(
        lane,
        (nonce) => attempt(() => sign(nonce)),
        (raw): Effect.Effect<unknown, unknown, Rpc.Rpc> =>
          send === undefined ? Eth.sendRawTransaction({ serializedTransaction: raw }) : attempt(() => send(raw)),
      ),
    );
  return { ...facade, run, deliver, withNonce, [Symbol.asyncDispose]: facade.dispose };
};
