/** The bin `evm-preflight`: check, verify, doctor, decode, nonces. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { exitCodes } from "./cli/exit.js";
import { main } from "./cli/main.js";

// a reader that has seen enough, such as `head`, closes the pipe: no reason to fail loudly
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);

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
      if (exit._tag === "Success") return onExit(0);
      // 130: interrupted from the keyboard; a failure inside says nothing about the transaction
      return onExit(Cause.hasInterruptsOnly(exit.cause) ? 130 : exitCodes.unknown);
    },
  },
);
