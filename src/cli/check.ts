/** `evm-preflight check`: one transaction, bundle, batch of calls, user operation, Safe's transaction or signature, one report, one exit code. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Command from "effect/cli/Command";
import * as Preflight from "../Preflight.js";
import { plainJson } from "../primitives/index.js";
import { toHtml } from "../report/html.js";
import { toJson } from "../report/json.js";
import { toMarkdown } from "../report/markdown.js";
import { toText } from "../report/text.js";
import { ready, type Report, times } from "../report/index.js";
import { deadlineText, endpointFlags, nothingAnswered, readOwnConnection, whyDeaf, withProgress } from "./endpoint.js";
import { codeOf, Exited, withExitCodes, wrong } from "./exit.js";
import { checkFlags, complaint, currencyFlags, readChains, readInput, readOptions, text, toggle } from "./flags.js";
import { checkWritable, look, print, writeText } from "./terminal.js";

/** The endpoint as people may see it. */
const endpointOf = ({ ledger }: Report): string => ledger.requests[0]?.endpoint ?? "the endpoint";

/** The report, and where it clears its requests the clearance, and what is to be signed. */
const jsonOf = (report: Report): Effect.Effect<unknown> =>
  Effect.match(ready(report), {
    onFailure: () => toJson(report),
    onSuccess: (clearance) => plainJson({ ...report, clearance, requests: clearance.requests }),
  });

const flags = {
  ...endpointFlags,
  ...checkFlags,
  ...currencyFlags,
  json: toggle("json", "print the report as JSON"),
  markdown: toggle("markdown", "print it as Markdown"),
  full: toggle(
    "full",
    "print the technical part, too: every movement exact, each transaction, the state that was asked",
  ),
  trace: toggle("trace", "print every call inside, where the node has a tracer; the JSON has them anyway"),
  html: text("html", "also write it as a standalone HTML file"),
};

export const check = Command.make(
  "check",
  flags,
  Effect.fnUntraced(function* (values) {
    if (values.json && values.markdown) return yield* wrong("--json", "cannot be combined with --markdown");
    const connection = yield* readOwnConnection(values);
    const chains = yield* readChains(values);
    const input = yield* readInput(values);
    const options = yield* readOptions(values);
    if (Option.isSome(values.html)) yield* checkWritable(values.html.value, "--html");
    const answered = nothingAnswered();
    const deadlineMs = Duration.toMillis(options.deadline ?? times.deadline.absent);
    // why: the pipeline checks every field itself; its overloads only help those who write calls by hand
    const report = yield* Preflight.preflight(input as never, options).pipe(
      Effect.provide(Layer.merge(withProgress(connection, { deadlineMs, answered }), chains)),
      Effect.mapError((error) => complaint(values, error)),
    );
    const dead = answered.any ? null : answered.failure;
    yield* print(
      values.json
        ? JSON.stringify(yield* jsonOf(report), null, 2)
        : values.markdown
          ? toMarkdown(report, { full: values.full, trace: values.trace, requests: true })
          : dead !== null
            ? `UNKNOWN · ${endpointOf(report)} did not answer · ${whyDeaf(dead)}`
            : toText(report, { ...(yield* look), full: values.full, trace: values.trace, requests: true }),
    );
    const timing = report.verdict === "unknown" ? deadlineText(answered, deadlineMs) : "";
    if (timing !== "" && !values.json && !values.markdown) yield* print(`${dead === null ? "\n" : ""}${timing}`);
    // why: the report is out before anything can go wrong with its file
    if (Option.isSome(values.html))
      yield* writeText(values.html.value, toHtml(report, { trace: values.trace }), "--html");
    return yield* new Exited({ code: codeOf(report) });
  }),
).pipe(
  Command.withDescription(
    "Report what a transaction or a signature would do if it were used now, and exactly what to sign",
  ),
  withExitCodes("0 ready, 1 blocked, 2 caution, 3 unknown", "73 a file could not be written (the report was printed)"),
  Command.withExamples([
    {
      command: "evm-preflight check --rpc-url http://127.0.0.1:8545 --from 0x… --to 0x… --value 0.1ether",
      description: "A transfer",
    },
    {
      command: `evm-preflight check --from 0x… --to 0x… "transfer(address,uint256)" 0x… 1000000`,
      description: "A call by its signature, on ETH_RPC_URL",
    },
    {
      command: `evm-preflight check tx.json --policies policies.json --rpc-url https://your.node --header "authorization: Bearer …"`,
      description: "A file, under policies, at an endpoint that wants a key",
    },
    { command: "evm-preflight check bundle.json --json", description: "A bundle from a file" },
    {
      command: "evm-preflight check --calls calls.json --from 0x…",
      description: "A batch of calls, as a wallet is asked to send it",
    },
    {
      command: "evm-preflight check --user-operation operation.json --entry-point 0.8",
      description: "A user operation, before its account signs it",
    },
    {
      command: "evm-preflight check --safe transaction.json",
      description: "A Safe's transaction, before its owners sign",
    },
    {
      command: "evm-preflight check --typed-data permit.json --signer 0x…",
      description: "A signature: what whoever holds it may do",
    },
  ]),
);
