/** `evm-preflight doctor`: what an endpoint really supports. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Argument from "effect/cli/Argument";
import * as Command from "effect/cli/Command";
import * as Config from "effect/Config";
import type { Tone } from "../../report/document.js";
import { painter } from "../../report/paint.js";
import { endpoint, header, readHeaders } from "../endpoint.js";
import { Exited, exitCodes, type ExitCode } from "../exit.js";
import { toggle } from "../flags.js";
import { look, print, type Look } from "../terminal.js";
import { diagnose, type Diagnosis, type Level } from "./doctor.js";
import type { Status } from "./probe.js";

const codes: Readonly<Record<Level, ExitCode>> = {
  full: exitCodes.ready,
  reduced: exitCodes.caution,
  unknown: exitCodes.unknown,
};

const levels =
  "Exit codes: 0 full, 2 reduced, 3 unknown (reports from it are at most unknown, or it did not answer), 64 wrong usage";

const tones: Readonly<Record<Level | Status, Tone>> = {
  full: "good",
  reduced: "warn",
  unknown: "warn",
  yes: "good",
  no: "bad",
};

/** The level first, then every answer in its group, then what it means. */
const diagnosisText = (diagnosis: Diagnosis, { color }: Look): string => {
  const paint = painter(color);
  const { endpoint, level, summary, findings, meaning } = diagnosis;
  const [only, ...others] = findings;
  if (only?.status === "unknown" && others.length === 0)
    return `${paint(level.toUpperCase(), tones[level], "strong")} · ${summary} · ${endpoint} · ${only.detail}`;
  const width = Math.max(...findings.map(({ name }) => name.length));
  const groups = [...new Set(findings.map(({ group }) => group))];
  return [
    `${paint(level.toUpperCase(), tones[level], "strong")} · ${summary}`,
    paint(endpoint, "dim"),
    ...groups.flatMap((group) => [
      "",
      paint(group, "strong"),
      ...findings
        .filter((finding) => finding.group === group)
        .map(({ name, status, detail }) =>
          `  ${paint(status.padEnd(7), tones[status])}  ${name.padEnd(width)}  ${paint(detail, "dim")}`.trimEnd(),
        ),
    ]),
    ...(meaning.length === 0 ? [] : ["", paint("What it means", "strong"), ...meaning.map((line) => `  - ${line}`)]),
    "",
  ].join("\n");
};

export const doctor = Command.make(
  "doctor",
  {
    url: Argument.String("url").pipe(
      Argument.withDescription("the node's HTTP endpoint (default: ETH_RPC_URL)"),
      Argument.withFallbackConfig(Config.String("ETH_RPC_URL")),
      Argument.optional,
    ),
    header,
    json: toggle("json", "print the answers as JSON, which check takes as --endpoint"),
  },
  Effect.fnUntraced(function* (given) {
    const url = yield* endpoint(
      Option.filter(given.url, (text) => text !== ""),
      "url",
    );
    const diagnosis = yield* diagnose(url, { headers: yield* readHeaders(given.header) });
    yield* print(given.json ? JSON.stringify(diagnosis, null, 2) : diagnosisText(diagnosis, yield* look));
    return yield* new Exited({ code: codes[diagnosis.level] });
  }),
).pipe(
  Command.withDescription(
    `Ask an endpoint what it really supports and how much it takes, and what that means for reports\n\n  ${levels}`,
  ),
  Command.withExamples([
    { command: "evm-preflight doctor http://127.0.0.1:8545", description: "Everything that reports need, probed" },
  ]),
);
