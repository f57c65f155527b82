/** The program: as users get it, bundled into one file that a process runs, and inside this process, which is ten times as quick. */
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { build } from "esbuild";
import * as ConfigProvider from "effect/ConfigProvider";
import * as Console from "effect/Console";
import * as Effect from "effect/Effect";
import * as Sink from "effect/Sink";
import * as Stdio from "effect/Stdio";
import * as Stream from "effect/Stream";
import { isWhole } from "../harness/parts.js";
import { main } from "../rooms/cli.js";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a run is given beside its arguments. */
interface Surroundings {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A file that takes the place of the pipe. */
  readonly stdout?: string;
}

type Run = (args: ReadonlyArray<string>, surroundings?: Surroundings) => Promise<Ended>;

export interface Bin {
  /** The bundle, for who starts it otherwise. */
  readonly file: string;
  /** A directory for files of a test; removed by `remove`. */
  readonly directory: string;
  /** Runs the file as a process. */
  readonly start: Run;
  /** As `start`, and in `npm test` inside this process. */
  readonly run: Run;
  readonly remove: () => void;
}

const ownEnvironment = (): NodeJS.ProcessEnv => {
  const { ETH_RPC_URL: _, ...environment } = process.env;
  return environment;
};

/** Runs the program inside this process. */
export const inProcess: Run = async (args, { stdin = "", env = {} } = {}) => {
  const printed: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  const print =
    (to: keyof typeof printed) =>
    (...words: ReadonlyArray<unknown>) =>
      void (printed[to] += `${words.join(" ")}\n`);
  const taking = (to: keyof typeof printed) => () =>
    Sink.forEach((chunk: string | Uint8Array) =>
      Effect.sync(() => void (printed[to] += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk))),
    );
  const code = await main(args).pipe(
    Effect.provideService(Console.Console, {
      ...globalThis.console,
      log: print("stdout"),
      error: print("stderr"),
    }),
    Effect.provide(
      Stdio.layerTest({
        stdin: Stream.make(new TextEncoder().encode(stdin)),
        stdout: taking("stdout"),
        stderr: taking("stderr"),
      }),
    ),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ ...ownEnvironment(), ...env }))),
    Effect.provide(NodeServices.layer),
    Effect.scoped,
    Effect.runPromise,
  );
  return { code, ...printed };
};

/** Bundles `src/cli.ts` the way the package does; a process does so once, for all of its test files. */
const bundled = (() => {
  let bundle: Promise<string> | null = null;
  const make = async (): Promise<string> => {
    const folder = mkdtempSync(join(tmpdir(), "evm-preflight-bundle-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "evm-preflight.mjs");
    await build({
      entryPoints: [fileURLToPath(new URL("../../src/cli.ts", import.meta.url))],
      outfile: file,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "esm",
      minify: true,
      logLevel: "error",
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
    });
    return file;
  };
  return () => (bundle ??= make());
})();

export const buildBin = async (): Promise<Bin> => {
  const directory = mkdtempSync(join(tmpdir(), "evm-preflight-bin-"));
  const file = await bundled();
  const start: Run = (args, { stdin = "", env = {}, stdout: path } = {}) =>
    new Promise((resolve, reject) => {
      const output = path === undefined ? "pipe" : openSync(path, "w");
      const child = spawn(process.execPath, [file, ...args], {
        ...{ env: { ...ownEnvironment(), ...env }, stdio: ["pipe", output, "pipe"] },
      });
      let stdout = "";
      let stderr = "";
      child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      child.on("error", reject);
      child.on("close", (code) => {
        if (typeof output === "number") closeSync(output);
        resolve({ code, stdout, stderr });
      });
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(stdin);
    });
  const remove = () => rmSync(directory, { recursive: true, force: true });
  return { file, directory, start, run: isWhole ? start : inProcess, remove };
};
