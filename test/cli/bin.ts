/** The bin as users get it: bundled into one file, run as a process. */
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Bin {
  /** The bundle, for who starts it otherwise. */
  readonly file: string;
  /** A directory for files of a test; removed by `remove`. */
  readonly directory: string;
  readonly run: (
    args: ReadonlyArray<string>,
    options?: {
      readonly stdin?: string;
      readonly env?: Readonly<Record<string, string>>;
      /** A file that takes the place of the pipe. */
      readonly stdout?: string;
    },
  ) => Promise<Ended>;
  readonly remove: () => void;
}

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
  const { ETH_RPC_URL: _, ...environment } = process.env;
  return {
    file,
    directory,
    run: (args, { stdin = "", env = {}, stdout: path } = {}) =>
      new Promise((resolve, reject) => {
        const output = path === undefined ? "pipe" : openSync(path, "w");
        const child = spawn(process.execPath, [file, ...args], {
          ...{ env: { ...environment, ...env }, stdio: ["pipe", output, "pipe"] },
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
      }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
};
