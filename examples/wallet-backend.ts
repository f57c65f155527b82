/**
 * A wallet's backend: the app posts what the user wants, shows the report, and asks for the clearance with the
 * report it showed. That report comes from the app, so nothing in it is believed: it is proven again, on this
 * server's own terms.
 *
 *     npx tsx examples/wallet-backend.ts http://127.0.0.1:8545      needs @effect/platform-node
 *
 *     POST /preflight     what the user wants   → 200 report, 400 which field is wrong
 *     POST /clear         the report            → 200 clearance, 409 why not
 *     GET  /openapi.json  both, with their schemas
 */
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { NodeHttpServer } from "@effect/platform-node";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { HttpRouter, HttpServer } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import * as Layer from "effect/Layer";
import { Errors, Preflight, Report, Rpc } from "evm-preflight";
import { WalletApi } from "./wallet-api.js";

/** What this server insists on; a report brings its own options along, and the app may have changed them. */
const terms = {
  deadline: "8 seconds",
  maxAge: "30 seconds",
  tolerance: 0.005,
  policies: [],
  // what this server's node is, and what explains events, is not the app's to say either
  pending: "guess",
  abis: [],
} as const;

/** The clearance for a report that somebody posted. */
const clear = Effect.fnUntraced(function* (posted: Report.Report) {
  const proven = yield* Preflight.prove(posted, terms);
  if (proven.digest !== posted.digest)
    return yield* new Errors.NotProven({
      missing: [Errors.gap("Altered", "the report is not that of its requests")],
    });
  // The user agreed to another outcome: the app has to show the new one first.
  const changed = proven.findings.find(({ error }) => error instanceof Errors.OutcomeChanged);
  if (changed?.error) return yield* changed.error;
  return yield* Report.ready(proven);
});

const handlers = HttpApiBuilder.group(WalletApi, "transactions", (routes) =>
  Effect.map(Effect.context<Rpc.Rpc>(), (node) =>
    routes.handleAll({
      preflight: ({ payload }) => Effect.provide(Preflight.preflight(payload, terms), node),
      clear: ({ payload }) => Effect.provide(clear(payload), node),
    }),
  ),
);

/** The backend over one node, on a port of this machine; 0 takes a free one, which `HttpServer` tells. */
export const walletBackend = (url: string, port: number): Layer.Layer<HttpServer.HttpServer> =>
  HttpRouter.serve(
    HttpApiBuilder.layer(WalletApi, { openapiPath: "/openapi.json" }).pipe(
      Layer.provide(handlers),
      Layer.provide(Rpc.layerHttp(url)),
    ),
    { disableLogger: true, disableListenLog: true },
  ).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" })), Layer.orDie);

const main = async () => {
  const [url = "http://127.0.0.1:8545", port = "3000"] = process.argv.slice(2);
  const served = Layer.tap(walletBackend(url, Number(port)), (context) => {
    const address = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address);
    return Effect.sync(() =>
      console.log(`A wallet's backend: POST /preflight and /clear, GET /openapi.json on ${address}`),
    );
  });
  await Effect.runPromise(Layer.launch(served));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
