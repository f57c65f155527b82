/** `evm-preflight verify`: what a report said against what the chain did. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Argument from "effect/cli/Argument";
import * as Command from "effect/cli/Command";
import * as Flag from "effect/cli/Flag";
import * as Preflight from "../Preflight.js";
import { type Hash, escapeText } from "../primitives/index.js";
import { fromJson } from "../report/json.js";
import { settledText } from "../settle/text.js";
import type { Settled } from "../settle/settlement.js";
import { deadlineText, endpointFlags, nothingAnswered, readOwnConnection, withProgress } from "./endpoint.js";
import { Exited, exitCodes, withExitCodes, wrong, type ExitCode } from "./exit.js";
import { readFlag, text, toggle } from "./flags.js";
import { duration } from "./quantity.js";
import { jsonText, kindOf, parseJson, print, readText } from "./terminal.js";

/** 0 as said, 1 not found, something else was mined or the simulation was wrong, 2 the chain moved or nothing was done, 3 not known. */
const codes: Readonly<Record<Settled["class"], ExitCode>> = {
  same: exitCodes.ready,
  priceMoved: exitCodes.caution,
  unfulfilled: exitCodes.caution,
  ordering: exitCodes.caution,
  contextDependent: exitCodes.caution,
  replaced: exitCodes.blocked,
  tampered: exitCodes.blocked,
  simulatorWrong: exitCodes.blocked,
  unknown: exitCodes.unknown,
};

const readReport = Effect.fnUntraced(function* (path: string) {
  const json = parseJson(yield* readText(path, "--report"));
  const noReport = (what: string, detail: string) =>
    wrong("--report", `is ${what}; check --json writes one${detail === "" ? "" : ` (${oneLine(detail)})`}`);
  if (Result.isFailure(json)) return yield* noReport("no report", `it ${json.failure}`);
  const kind = kindOf(json.success);
  if (kind !== null && kind !== "a report") return yield* noReport(`${kind}, no report`, "");
  return yield* Effect.mapError(fromJson(json.success), ({ message }) =>
    kind === null ? noReport("no report", message) : wrong("--report", escapeText(message, 400)),
  );
});

const oneLine = (text: string): string => escapeText(text.replace(/\s+/g, " "), 400);

/** As `Preflight.settle` has it. */
const defaultDeadlineMs = 30_000;

const flags = {
  hashes: Argument.String("txhash").pipe(
    Argument.withDescription("the hash that was sent; for a bundle one for each transaction, in its order"),
    Argument.variadic({ min: 1 }),
  ),
  report: Flag.String("report").pipe(Flag.withDescription("the report as JSON (check --json); - for stdin")),
  ...endpointFlags,
  deadline: text("deadline", "time for the whole run: 500ms, 10s, 1m (default 30s)"),
  json: toggle("json", "print the differences as JSON; amounts are decimal strings"),
};

export const verify = Command.make(
  "verify",
  flags,
  Effect.fnUntraced(function* (input) {
    const connection = yield* readOwnConnection(input);
    const deadline = yield* readFlag("--deadline", input.deadline, duration);
    const deadlineMs = deadline ?? defaultDeadlineMs;
    const answered = nothingAnswered();
    const report = yield* readReport(input.report);
    const answer = yield* Effect.result(
      Preflight.settle(report, input.hashes as ReadonlyArray<Hash>, { deadline }).pipe(
        Effect.provide(withProgress(connection, { deadlineMs, answered })),
      ),
    );
    if (Result.isFailure(answer)) {
      const { failure } = answer;
      if (failure._tag === "InvalidTransaction")
        return yield* wrong(failure.field.replace("hashes", "txhash"), failure.problem);
      yield* print(
        input.json
          ? JSON.stringify({ error: failure.message })
          : `${failure.message}\n${deadlineText(answered, deadlineMs)}`,
      );
      return yield* new Exited({ code: exitCodes.unknown });
    }
    yield* print(input.json ? jsonText(answer.success) : settledText(answer.success, report));
    const { class: outcome, transactions } = answer.success;
    // why: a hash that is not the mined one is not what happened, whatever stands in its place
    const isOther = outcome !== "unknown" && transactions.some((one) => "sent" in one);
    const isAbsent = transactions.some(({ state }) => state === "dropped");
    return yield* new Exited({ code: isOther || isAbsent ? exitCodes.blocked : codes[outcome] });
  }),
).pipe(
  Command.withDescription("Compare a report with what was mined, and explain each difference"),
  withExitCodes(
    "0 it happened as the report said, 1 not found, something else was mined, or under another hash, or the simulation was wrong, 2 the chain moved in between, 3 not mined yet, or not known",
  ),
  Command.withExamples([{ command: "evm-preflight verify 0x… --report report.json", description: "On ETH_RPC_URL" }]),
);
