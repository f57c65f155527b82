/** `evm-preflight mcp`: preflight and explain as tools of the Model Context Protocol, on stdin and stdout. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Struct from "effect/Struct";
import * as Command from "effect/cli/Command";
import { endpointFlags, readConnection } from "../endpoint.js";
import { Exited, exitCodes, withExitCodes, wrong } from "../exit.js";
import { currencyFlags, optionFlags, readChains, readRunOptions } from "../flags.js";

export const mcp = Command.make(
  "mcp",
  { ...endpointFlags, ...optionFlags, ...currencyFlags },
  Effect.fnUntraced(function* (flags) {
    for (const name of ["endpoint", "policies"] as const)
      if (Option.contains(flags[name], "-"))
        return yield* wrong(`--${name}`, "cannot be read from stdin, which carries the protocol");
    const connection = yield* readConnection(Struct.pick(flags, ["rpcUrl", "header", "endpoint"]));
    const chains = yield* readChains(flags);
    const options = yield* readRunOptions(flags);
    // why: the protocol weighs more than every other command together
    const { serve } = yield* Effect.promise(() => import("./server.js"));
    yield* serve(options).pipe(Effect.provide(Layer.merge(connection, chains)));
    return yield* new Exited({ code: exitCodes.ready });
  }),
).pipe(
  Command.withDescription("Serve preflight and explain to agents: Model Context Protocol on stdin and stdout"),
  withExitCodes("0 stdin has ended"),
  Command.withExamples([
    {
      command: "evm-preflight mcp --rpc-url https://your.node --policies policies.json",
      description: "A server for an agent's configuration; a caller's own policies are added to those of the file",
    },
  ]),
);
