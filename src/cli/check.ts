/** `evm-preflight check`: one transaction or bundle, one report, one exit code. */
import * as Config from "effect/Config";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Argument from "effect/cli/Argument";
import * as Command from "effect/cli/Command";
import * as Flag from "effect/cli/Flag";
import * as Preflight from "../Preflight.js";
import { toHtml } from "../report/html.js";
import { toJson } from "../report/json.js";
import { toMarkdown } from "../report/markdown.js";
import { toText } from "../report/text.js";
import type { Report } from "../report/schema.js";
import { layerHttp } from "../Rpc.js";
import { noting, whyDeaf, type Answered } from "./alive.js";
import { complaint, readEndpoint, readHeaders, readInput, readOptions } from "./checkOptions.js";
import { codeOf, Exited, exitCodesText, wrong, type WrongUsage } from "./exit.js";
import { checkWritable, writeText } from "./files.js";
import { header, optionFlags, text, toggle, transactionFlags } from "./flags.js";
import { withProgress } from "./progress.js";
import { look, print } from "./terminal.js";

/** The endpoint: a flag, else `ETH_RPC_URL`. */
export const rpcUrl = Flag.String("rpc-url").pipe(
  Flag.withDescription("the node's HTTP endpoint (default: ETH_RPC_URL)"),
  Flag.withFallbackConfig(Config.String("ETH_RPC_URL")),
  Flag.optional,
);

/** An http(s) URL, or wrong usage; the URL itself is never shown. */
export const endpoint = (url: Option.Option<string>, name: string): Effect.Effect<string, WrongUsage> => {
  if (Option.isNone(url) || url.value === "") return Effect.fail(wrong(name, "is missing (or set ETH_RPC_URL)"));
  return /^https?:\/\/[^/?#]/i.test(url.value) && URL.canParse(url.value)
    ? Effect.succeed(url.value)
    : Effect.fail(wrong(name, "must be an http or https URL"));
};

/** The endpoint as people may see it. */
const endpointOf = ({ ledger }: Report): string => ledger.requests[0]?.endpoint ?? "the endpoint";

const flags = {
  input: Argument.String("input").pipe(
    Argument.withDescription("JSON file with a transaction or an array of them; - for stdin; in place of the flags"),
    Argument.optional,
  ),
  rpcUrl,
  header,
  endpoint: text("endpoint", "what doctor --json wrote of this endpoint, so that less of it is asked again"),
  ...transactionFlags,
  ...optionFlags,
  json: toggle("json", "print the report as JSON"),
  markdown: toggle("markdown", "print it as Markdown"),
  full: toggle(
    "full",
    "print the technical part, too: every movement exact, each transaction, the state that was asked",
  ),
  html: text("html", "also write it as a standalone HTML file"),
};

export const check = Command.make(
  "check",
  flags,
  Effect.fnUntraced(function* (given) {
    if (given.json && given.markdown) return yield* wrong("--json", "cannot stand together with --markdown");
    const url = yield* endpoint(given.rpcUrl, "--rpc-url");
    const input = yield* readInput(given);
    const options = yield* readOptions(given);
    const headers = yield* readHeaders(given.header);
    const known = yield* readEndpoint(given.endpoint);
    if (Option.isSome(given.html)) yield* checkWritable(given.html.value, "--html");
    const answered: Answered = { any: false, failure: null };
    // why: the pipeline checks every field itself; its overloads only help those who write calls by hand
    const report = yield* Preflight.preflight(input as ReadonlyArray<Preflight.RawCall>, options).pipe(
      Effect.provide(withProgress(noting(layerHttp(url, { headers, ...known }), answered))),
      Effect.mapError((error) => complaint(given, error)),
    );
    const dead = answered.any ? null : answered.failure;
    yield* print(
      given.json
        ? JSON.stringify(toJson(report), null, 2)
        : given.markdown
          ? toMarkdown(report, { full: given.full })
          : dead !== null
            ? `UNKNOWN · ${endpointOf(report)} did not answer · ${whyDeaf(dead)}`
            : toText(report, { ...(yield* look), full: given.full }),
    );
    // why: the report is out before anything can go wrong with its file
    if (Option.isSome(given.html)) yield* writeText(given.html.value, toHtml(report), "--html");
    return yield* new Exited({ code: codeOf(report) });
  }),
).pipe(
  Command.withDescription(
    `Report what a transaction would do if it were sent now, and exactly what to sign\n\n  ${exitCodesText}`,
  ),
  Command.withExamples([
    {
      command: "evm-preflight check --rpc-url http://127.0.0.1:8545 --from 0x… --to 0x… --value 0.1ether",
      description: "A transfer",
    },
    {
      command: `evm-preflight check --from 0x… --to 0x… --abi "transfer(address,uint256)" --args '["0x…", "1000000"]'`,
      description: "A call through a signature, on ETH_RPC_URL",
    },
    {
      command: `evm-preflight check tx.json --policies policies.json --rpc-url https://your.node --header "authorization: Bearer …"`,
      description: "A file, under policies, at an endpoint that wants a key",
    },
    { command: "evm-preflight check bundle.json --json", description: "A bundle from a file" },
  ]),
);
