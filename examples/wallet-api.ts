/**
 * What a wallet's app and its backend agree on: the routes, and the schemas of what goes in and comes out. The app
 * makes a typed client of it (`HttpApiClient.make`), the backend serves it, and both give it out as OpenAPI.
 */
import { pathToFileURL } from "node:url";
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api";
import * as Schema from "effect/Schema";
import { Errors, Report } from "evm-preflight";

const Hex = Schema.TemplateLiteral(["0x", Schema.String]);

/** What the user wants, before nonce, gas and fee are chosen. */
const Wish = Schema.Struct({
  from: Hex,
  to: Schema.optionalKey(Hex),
  /** wei, as a decimal string. */
  value: Schema.optionalKey(Schema.BigIntFromString),
  data: Schema.optionalKey(Hex),
}).annotate({ identifier: "Wish" });

/** Why there is no clearance: the first blocker as its own error, with its facts. */
const Blocker = Schema.Union([Errors.Verdict, Errors.RpcError, Errors.ReportVersion]).pipe(HttpApiSchema.status(409));

/** The wallet's API. */
export class WalletApi extends HttpApi.make("wallet")
  .add(
    HttpApiGroup.make("transactions", { topLevel: true })
      .add(
        HttpApiEndpoint.post("preflight", "/preflight", {
          payload: Wish,
          success: Report.Report,
          error: Errors.InvalidTransaction.pipe(HttpApiSchema.status(400)),
        }).annotate(OpenApi.Summary, "What will happen, cost and move"),
      )
      .add(
        HttpApiEndpoint.post("clear", "/clear", {
          payload: Report.Report,
          success: Report.Clearance,
          error: Blocker,
        }).annotate(OpenApi.Summary, "Permission to sign exactly what the report showed"),
      ),
  )
  .annotateMerge(OpenApi.annotations({ title: "Wallet", version: "1" })) {}

const main = () => {
  console.log("The routes of a wallet's backend, which wallet-backend.ts serves, as OpenAPI:");
  console.log(JSON.stringify(OpenApi.fromApi(WalletApi), null, 2));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main();
