/** The bin `evm-preflight`: check, verify, doctor, decode, nonces, mcp. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { exitCodes } from "./cli/exit.js";
import { main } from "./cli/main.js";
import { escapeText } from "./primitives/text.js";
import { redactUrls } from "./rpc/index.js";

// a reader that has seen enough, such as `head`, closes the pipe: no reason to fail loudly
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code !== "EPIPE") process.exit(exitCodes.unprinted);
});
process.stderr.on("error", () => undefined);
// why: Node's own code for this is 1, which means blocked
process.on("uncaughtException", (error) => {
  process.stderr.write(`evm-preflight: ${escapeText(redactUrls(String(error)), 1_024)}\n`);
  process.exit(exitCodes.failed);
});

NodeRuntime.runMain(
  main(process.argv.slice(2)).pipe(
    Effect.provide(NodeServices.layer),
    Effect.tap((code) =>
      Effect.sync(() => {
        // why: exiting at once would cut what a pipe has not taken yet
        process.exitCode = code;
      }),
    ),
  ),
  {
    teardown: (exit, onExit) => {
      // why: `onExit(0)` would end with 0 where a signal came while the report was printed
      if (exit._tag === "Success") return;
      // 130: interrupted from the keyboard
      onExit(Cause.hasInterruptsOnly(exit.cause) ? 130 : exitCodes.failed);
    },
  },
);
