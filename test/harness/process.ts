/** Starting a node as a child process and being sure that it is gone afterwards. */
import { spawn, type ChildProcess } from "node:child_process";

const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

export interface Running {
  /** What `ready` matched. */
  readonly match: RegExpMatchArray;
  /** Everything written so far, for failures. */
  readonly output: () => string;
  /** Waits until it has written this; fails when it ends, or after 20 s. */
  readonly said: (what: RegExp) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Runs `bin` until its output matches `ready`; fails when it ends or is silent for `timeoutMs`. */
export const startProcess = (
  bin: string,
  args: ReadonlyArray<string>,
  ready: RegExp,
  timeoutMs = 20_000,
): Promise<Running> =>
  new Promise((resolve, reject) => {
    const child = spawn(bin, [...args], { stdio: ["ignore", "pipe", "pipe"] });
    alive.add(child);
    let text = "";
    let settled = false;
    const ended = new Promise<void>((done) =>
      child.once("close", () => {
        alive.delete(child);
        done();
      }),
    );
    const fail = (why: string) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`${bin} ${why}\n${text.slice(-4000)}`));
    };
    const timer = setTimeout(() => fail(`did not start in ${timeoutMs} ms`), timeoutMs);
    const listening = new Set<() => void>();
    const said = (what: RegExp) =>
      new Promise<void>((heard, missed) => {
        const end = (settle: () => void) => {
          listening.delete(listen);
          clearTimeout(late);
          settle();
        };
        const miss = (why: string) => () => missed(new Error(`${bin} ${why} ${String(what)}\n${text.slice(-4000)}`));
        const listen = () => {
          if (what.test(text)) end(heard);
        };
        const late = setTimeout(() => end(miss("did not write in 20 s")), 20_000);
        void ended.then(() => end(miss("ended without")));
        listening.add(listen);
        listen();
      });
    const read = (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-200_000);
      for (const listen of listening) listen();
      const match = settled ? null : ready.exec(text);
      if (match === null) return;
      settled = true;
      clearTimeout(timer);
      resolve({
        match,
        output: () => text,
        said,
        stop: async () => {
          if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
          const force = setTimeout(() => child.kill("SIGKILL"), 5_000);
          await ended;
          clearTimeout(force);
        },
      });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", (error) => fail(String(error)));
    child.once("exit", (code) => fail(`ended with ${code}`));
  });
