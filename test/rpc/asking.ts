/** Asking one question over HTTP and looking at everything that comes of it. */
import * as Effect from "effect/Effect";
import * as FetchHttpClient from "effect/http/FetchHttpClient";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import type { Failure } from "../../src/Eth.js";
import { Agent } from "undici";
import * as Rpc from "../../src/Rpc.js";
import { startServer, type Server } from "../harness/server.js";
import { CurrentRun, type RunContext } from "../rooms/rpc.js";
// why: what the first error loads takes longer on a busy machine than an error waits for it
import "../rooms/errors.js";

void globalThis.Headers; // Node brings its dispatcher along with the first of these
const builtIn = (globalThis as Record<symbol, unknown>)[Symbol.for("undici.globalDispatcher.1")] as NonNullable<
  Rpc.HttpOptions["dispatcher"]
>;

/** Options of a layer over HTTP; `httpClient` = `layerHttpClient`, on `fetch`. */
export interface WayOptions extends Rpc.HttpOptions {
  readonly httpClient?: true;
}

export const layerOf = (url: string, { httpClient, ...options }: WayOptions): Layer.Layer<Rpc.Rpc> =>
  httpClient === true
    ? Layer.provide(Rpc.layerHttpClient(url, options), FetchHttpClient.layer)
    : Rpc.layerHttp(url, options);

/** All ways over HTTP must behave alike. */
export const ways: ReadonlyArray<readonly [string, WayOptions]> = [
  ["node:http", {}],
  ["Node's own undici", { dispatcher: builtIn }],
  ["undici", { dispatcher: new Agent() }],
  ["fetch", { fetch: globalThis.fetch }],
  ["Effect's HttpClient", { httpClient: true }],
];

const quick: Rpc.HttpOptions = { retryBaseMs: 1 };
const stops: Array<() => Promise<void>> = [];
export const kept = async <S extends { readonly stop: () => Promise<void> }>(starting: Promise<S>): Promise<S> => {
  const server = await starting;
  stops.push(server.stop);
  return server;
};
export const stopAll = async () => {
  for (const stop of stops.splice(0)) await stop();
};

/** Answers the n-th request (from 1) with this body; the id is put where `ID` stands. */
export const answering = (
  answer: (nth: number) => {
    readonly status?: number;
    readonly body: string;
    readonly headers?: Record<string, string>;
  },
): Promise<Server & { readonly count: () => number }> => {
  let count = 0;
  return startServer((body, _request, response) => {
    const { status, body: text, headers } = answer(++count);
    const { id } = JSON.parse(body) as { readonly id: number };
    response.writeHead(status ?? 200, { "content-type": "application/json", ...headers });
    response.end(text.replace("ID", String(id)));
  }).then((server) => ({ ...server, count: () => count }));
};
export const ok = '{"jsonrpc":"2.0","id":ID,"result":"0x1"}';

/** A run of the first round without an end, whose requests are written down. */
export const recordedIn = (ledger: Array<Rpc.LedgerEntry>, run: Partial<RunContext> = {}): RunContext => ({
  ...{ round: 1, deadline: null, signal: null, record: (entry) => void ledger.push(entry) },
  ...run,
});

export const ask = (url: string, options: WayOptions, method = "eth_chainId", run: Partial<RunContext> = {}) => {
  const ledger: Array<Rpc.LedgerEntry> = [];
  return Effect.gen(function* () {
    const rpc = yield* Rpc.Rpc;
    return yield* Effect.result(rpc.request(method, []));
  }).pipe(
    Effect.provide(layerOf(url, { ...quick, ...options })),
    Effect.provideService(CurrentRun, recordedIn(ledger, run)),
    Effect.map((result) => ({ result, ledger })),
    Effect.runPromise,
  );
};

export const tagOfFailure = (failure: Failure): string =>
  failure._tag === "RpcError" ? failure.reason._tag : failure._tag;
export const tagOf = (result: Result.Result<unknown, Failure>): string =>
  Result.isSuccess(result) ? "success" : tagOfFailure(result.failure);
export const pathOf = (result: Result.Result<unknown, Failure>): string | null =>
  Result.isFailure(result) && result.failure._tag === "RpcError" && result.failure.reason._tag === "MalformedResponse"
    ? result.failure.reason.path
    : null;
