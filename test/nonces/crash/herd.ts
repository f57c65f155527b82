/** The workers: processes that are killed, paused and started again, and what they say. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { crashSettings, type WorkerOptions } from "./options.js";

export const bundleWorker = async (directory: string): Promise<string> => {
  const outfile = join(directory, "worker.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minify: true,
    logLevel: "error",
    conditions: ["@evm-preflight/source"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
  return outfile;
};

interface Said {
  readonly type: string;
  readonly payment?: string;
  readonly ms?: number;
  readonly tag?: string;
  readonly detail?: string;
}

/** The last line of a killed worker may be cut, and others are between them where it is a warning of the log. */
const saidOf = (line: string): Said | null => {
  try {
    return line.startsWith('{"type"') ? (JSON.parse(line) as Said) : null;
  } catch {
    return null;
  }
};

export class Herd {
  /** Payments that a worker was told are sent. */
  readonly sent = new Set<string>();
  /** How long a send took, ms. */
  readonly latencies: Array<number> = [];
  readonly failures: Record<string, number> = {};
  kills = 0;
  pauses = 0;
  wentBack = 0;
  replaced = 0;
  /** Payments that `keep` told are burned, or the reconciliations in the end. */
  burned = 0;
  /** Workers that ended by themselves, which none should. */
  broken = 0;
  private readonly alive = new Set<ChildProcess>();
  private readonly command: ReadonlyArray<string>;
  private over = false;
  constructor(worker: string, options: WorkerOptions) {
    this.command = [worker, JSON.stringify(options)];
  }

  private hear(said: Said): void {
    if (said.type === "sent" && said.payment !== undefined) this.sent.add(said.payment);
    if (said.ms !== undefined) this.latencies.push(said.ms);
    if (said.type === "replaced" && said.tag === undefined) this.replaced += 1;
    if (said.type === "burned") this.burned += 1;
    // A store that lost the whole lane refuses it as one that was never started
    if (said.detail?.includes("went back in time") === true || said.tag === "NonceColdStart") this.wentBack += 1;
    if (said.tag !== undefined) this.failures[said.tag] = (this.failures[said.tag] ?? 0) + 1;
  }

  start(): void {
    const child = spawn(process.execPath, [...this.command], { stdio: ["ignore", "pipe", "inherit"] });
    this.alive.add(child);
    createInterface({ input: child.stdout }).on("line", (line) => {
      const said = saidOf(line);
      if (said !== null) this.hear(said);
    });
    child.once("exit", (code) => {
      this.alive.delete(child);
      if (code !== null) this.broken += 1;
      if (!this.over && this.broken < 3) this.start();
    });
  }

  /** Kills one, or pauses it for longer than a lease. */
  disturb(): void {
    const herd = [...this.alive];
    const one = herd[Math.floor(Math.random() * herd.length)];
    if (one === undefined) return;
    if (Math.random() < 0.5) {
      this.kills += 1;
      one.kill("SIGKILL");
      return;
    }
    this.pauses += 1;
    one.kill("SIGSTOP");
    setTimeout(() => one.kill("SIGCONT"), (1.2 + Math.random() * 0.8) * crashSettings.ttlMs);
  }

  async stop(): Promise<void> {
    this.over = true;
    const ended = [...this.alive].map((child) => new Promise((done) => child.once("exit", done)));
    for (const child of this.alive) child.kill("SIGKILL");
    await Promise.all(ended);
  }
}
