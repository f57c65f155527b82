/** A headless Chromium, where one is installed, driven over the DevTools protocol on a pipe. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { finding } from "./parts.js";

/** The Chromium to use; null where it is left out or not installed, and the tests that are skipped are named. */
export const findChromiumOrWarn = finding({
  variable: "CHROMIUM_BIN",
  names: ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"],
  hint: "install it",
});

/** One tab. */
export interface Tab {
  /** Loads a URL. */
  readonly goto: (url: string) => Promise<void>;
  /** What an expression is worth in the page, promises awaited; throws what it throws. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Waits until an expression is true; fails after `ms`. */
  readonly until: (expression: string, ms?: number) => Promise<void>;
  /** The size of the window, in CSS pixels. */
  readonly resize: (width: number, height: number) => Promise<void>;
  /** The medium and the colours that the reader prefers. */
  readonly emulate: (media: "screen" | "print", scheme: "light" | "dark") => Promise<void>;
  /** A script that runs in every page before its own. */
  readonly before: (script: string) => Promise<void>;
  /** Presses a key: `Tab`, `Enter`, `Space`, an arrow. */
  readonly press: (key: string) => Promise<void>;
  /** Types a text into what has the focus. */
  readonly type: (text: string) => Promise<void>;
  /** A PNG of the whole page. */
  readonly screenshot: () => Promise<Buffer>;
  /** Everything the page complained of: exceptions, errors of the console, refusals by its own policy. */
  readonly complaints: ReadonlyArray<string>;
}

export interface Chromium {
  readonly open: () => Promise<Tab>;
  /** Loads the extension in a folder, and gives its service worker, of which nothing complains here. */
  readonly extend: (folder: string) => Promise<Pick<Tab, "evaluate" | "until">>;
  readonly stop: () => Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

const keyCodes: Readonly<Record<string, number>> = { Tab: 9, Enter: 13, ArrowRight: 39, ArrowDown: 40 };

type Send = (method: string, params?: object, sessionId?: string) => Promise<Readonly<Record<string, unknown>>>;

/** Evaluates in a session; throws what the expression throws. */
const evaluating =
  (here: Send): Tab["evaluate"] =>
  async (expression) => {
    const { result, exceptionDetails } = await here("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  };

/** Waits until an expression is true; what fails says the complaints until then. */
const waiting =
  (evaluate: Tab["evaluate"], complaints: ReadonlyArray<string>): Tab["until"] =>
  async (expression, ms = 20_000) => {
    const end = Date.now() + ms;
    while ((await evaluate(expression)) !== true) {
      if (Date.now() > end) throw new Error(`never true: ${expression}\n${complaints.join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

/** The service worker of an extension, as soon as it runs. */
const workerOf = async (send: Send, folder: string): Promise<Pick<Tab, "evaluate" | "until">> => {
  const { id } = await send("Extensions.loadUnpacked", { path: folder });
  for (let tries = 0; tries < 200; tries++) {
    const { targetInfos } = (await send("Target.getTargets")) as {
      targetInfos: ReadonlyArray<{ targetId: string; type: string; url: string }>;
    };
    const worker = targetInfos.find(({ type, url }) => type === "service_worker" && url.includes(String(id)));
    if (worker !== undefined) {
      const { targetId } = worker;
      const { sessionId } = (await send("Target.attachToTarget", { targetId, flatten: true })) as { sessionId: string };
      const evaluate = evaluating((method, params = {}) => send(method, params, sessionId));
      return { evaluate, until: waiting(evaluate, []) };
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the extension has no service worker");
};

const tabOf = async (
  send: Send,
  listen: (sessionId: string, listener: (message: Message) => void) => void,
): Promise<Tab> => {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = (await send("Target.attachToTarget", { targetId, flatten: true })) as { sessionId: string };
  const complaints: Array<string> = [];
  let loaded = () => undefined as void;
  listen(sessionId, ({ method, params = {} }) => {
    if (method === "Page.loadEventFired") loaded();
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(params["exceptionDetails"]));
    const { type, args } = params as { type?: string; args?: ReadonlyArray<unknown> };
    if (method === "Runtime.consoleAPICalled" && type === "error") complaints.push(JSON.stringify(args));
    const { level, text } = (params["entry"] ?? {}) as { level?: string; text?: string };
    if (method === "Log.entryAdded" && level === "error") complaints.push(text ?? "");
  });
  const here: Send = (method, params = {}) => send(method, params, sessionId);
  for (const domain of ["Page", "Runtime", "Log"]) await here(`${domain}.enable`);
  const evaluate = evaluating(here);
  return {
    goto: async (url) => {
      const done = new Promise<void>((resolve) => (loaded = resolve));
      await here("Page.navigate", { url });
      await done;
    },
    evaluate,
    until: waiting(evaluate, complaints),
    resize: async (width, height) => {
      await here("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    },
    emulate: async (media, scheme) => {
      const features = [{ name: "prefers-color-scheme", value: scheme }];
      await here("Emulation.setEmulatedMedia", { media, features });
    },
    before: async (source) => {
      await here("Page.addScriptToEvaluateOnNewDocument", { source });
    },
    press: async (key) => {
      const [name, code, text] =
        key === "Space" ? [" ", 32, " "] : [key, keyCodes[key] ?? 0, key === "Enter" ? "\r" : ""];
      const event = { key: name, code: key, windowsVirtualKeyCode: code };
      await here("Input.dispatchKeyEvent", { type: text === "" ? "rawKeyDown" : "keyDown", ...event, text });
      await here("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    },
    type: async (text) => {
      await here("Input.insertText", { text });
    },
    screenshot: async () => {
      const { data } = await here("Page.captureScreenshot", { captureBeyondViewport: true });
      return Buffer.from(String(data), "base64");
    },
    complaints,
  };
};

/** Starts a browser with a profile of its own, which ends with it. */
export const startChromium = (bin: string): Chromium => {
  const profile = mkdtempSync(join(tmpdir(), "chromium-"));
  const child = spawn(
    bin,
    [
      ...[
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--hide-scrollbars",
      ],
      ...[
        "--enable-unsafe-extension-debugging",
        "--remote-debugging-pipe",
        `--user-data-dir=${profile}`,
        "about:blank",
      ],
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true },
  );
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const kill = () => {
    // why: its own processes outlive it, and go on writing into the profile
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      child.kill("SIGKILL");
    }
  };
  process.once("exit", kill);
  const [input, output] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  const asking = new Map<number, (message: Message) => void>();
  const listeners = new Map<string, (message: Message) => void>();
  let rest = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    const messages = (rest + chunk).split("\0");
    rest = messages.pop() ?? "";
    for (const text of messages) {
      const message = JSON.parse(text) as Message;
      if (message.id === undefined) listeners.get(message.sessionId ?? "")?.(message);
      else asking.get(message.id)?.(message);
    }
  });
  let last = 0;
  const send: Send = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      const timer = setTimeout(() => reject(new Error(`${method}: no answer in 30 s`)), 30_000);
      asking.set(id, ({ result, error }) => {
        clearTimeout(timer);
        asking.delete(id);
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  return {
    extend: (folder) => workerOf(send, folder),
    open: () => tabOf(send, (sessionId, listener) => void listeners.set(sessionId, listener)),
    stop: async () => {
      kill();
      await ended;
      process.off("exit", kill);
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
};
