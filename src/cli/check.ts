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
import { layerHttp } from "../Rpc.js";
import { complaint, readInput, readOptions } from "./checkOptions.js";
import { codeOf, Exited, wrong, type WrongUsage } from "./exit.js";
import { writeText } from "./files.js";
import { optionFlags, text, toggle, transactionFlags } from "./flags.js";
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

const flags = {
  input: Argument.String("input").pipe(
    Argument.withDescription("JSON file with a transaction or an array of them; - for stdin; in place of the flags"),
    Argument.optional,
  ),
  rpcUrl,
  ...transactionFlags,
  ...optionFlags,
  json: toggle("json", "print the report as JSON"),
  markdown: toggle("markdown", "print it as Markdown"),
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
    // why: the pipeline checks every field itself; its overloads only help those who write calls by hand
    const report = yield* Preflight.preflight(input as ReadonlyArray<Preflight.RawCall>, options).pipe(
      Effect.provide(withProgress(layerHttp(url))),
      Effect.mapError((error) => complaint(given, error)),
    );
    if (Option.isSome(given.html)) yield* writeText(given.html.value, toHtml(report), "--html");
    yield* print(
      given.json
        ? JSON.stringify(toJson(report), null, 2)
        : given.markdown
          ? toMarkdown(report)
          : toText(report, yield* look),
    );
    return yield* new Exited({ code: codeOf(report) });
  }),
).pipe(
  Command.withDescription("Report what a transaction would do if it were sent now, and exactly what to sign"),
  Command.withExamples([
    {
      command: "evm-preflight check --rpc-url http://127.0.0.1:8545 --from 0x… --to 0x… --value 0.1ether",
      description: "A transfer",
    },
    {
      command: `evm-preflight check --from 0x… --to 0x… --abi "transfer(address,uint256)" --args '["0x…", "1000000"]'`,
      description: "A call through a signature, on ETH_RPC_URL",
    },
    { command: "evm-preflight check bundle.json --json", description: "A bundle from a file" },
  ]),
);
