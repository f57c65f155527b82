/** `evm-preflight doctor`: what an endpoint really supports. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Argument from "effect/cli/Argument";
import * as Command from "effect/cli/Command";
import * as Config from "effect/Config";
import { endpoint } from "./check.js";
import { readHeaders } from "./checkOptions.js";
import { diagnose, type Level } from "./doctor/doctor.js";
import { diagnosisText } from "./doctor/text.js";
import { Exited, exitCodes, type ExitCode } from "./exit.js";
import { header, toggle } from "./flags.js";
import { look, print } from "./terminal.js";

const codes: Readonly<Record<Level, ExitCode>> = {
  full: exitCodes.ready,
  reduced: exitCodes.caution,
  unknown: exitCodes.unknown,
};

const levels =
  "Exit codes: 0 full, 2 reduced, 3 unknown (reports from it are at most unknown, or it did not answer), 64 wrong usage";

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
