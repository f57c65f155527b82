/** The form, the connection, and the report in its frame. */
import type { Rpc, Transaction } from "evm-preflight";
import { InvalidTransaction } from "evm-preflight/Errors";
import { createPreflight, type LogEvent } from "evm-preflight/promise";
import { toHtml, type Clearance, type Report } from "evm-preflight/Report";
import { pasted, written } from "./input.js";
import { tries } from "./tries.js";

const element = <E extends HTMLElement>(id: string): E => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as E;
};
const form = element<HTMLFormElement>("form");
const frame = element<HTMLIFrameElement>("report");
const stop = element<HTMLButtonElement>("stop");
const status = element("status");
const problem = element("problem");
const progress = element("progress");
const signing = element("signing");
const copied = element("copied");
const deadlineMs = 30_000;

/** The wallet that the browser has put into the page, if any. */
const wallet = (): Rpc.Requester | undefined => (window as { readonly ethereum?: Rpc.Requester }).ethereum;

const readInput = (text: (name: string) => string) =>
  text("kind") === "json"
    ? pasted(text("json"), text("chainId"))
    : written({
        from: text("from"),
        to: text("to"),
        value: text("value"),
        signature: text("signature"),
        args: text("args"),
        data: text("data"),
        chainId: text("chainId"),
      });

/** The frame as high as what it shows, so that only the page scrolls. */
const fit = () => {
  // why: `scrollHeight` is never less than the frame, which could then only grow
  frame.style.height = `${(frame.contentDocument?.documentElement.offsetHeight ?? 600) + 4}px`;
};
frame.addEventListener("load", () => {
  fit();
  signing.hidden = toSign === null;
  // what can be opened and closed makes the report longer and shorter
  frame.contentDocument?.addEventListener("toggle", fit, true);
  status.scrollIntoView();
});
window.addEventListener("resize", fit);

/** What may be signed, as JSON, and until when (ms since 1970); null where nothing may be. */
let toSign: { readonly text: string; readonly expiresAt: number } | null = null;

const types = { legacy: "0x0", eip2930: "0x1", eip1559: "0x2", eip4844: "0x3", eip7702: "0x4" } as const;
/** A request as JSON-RPC writes it, with its sender. */
const wireOf = (request: Clearance["requests"][number], from: string | undefined) =>
  JSON.parse(
    JSON.stringify({ from, ...request, type: types[request.type] }, (_, value: unknown) =>
      typeof value === "bigint" || typeof value === "number" ? `0x${value.toString(16)}` : value,
    ),
  ) as object;

const show = (report: Report, clearance: Clearance | null) => {
  const requests = [
    ...(clearance?.signs ?? []),
    ...(clearance?.requests ?? []).map((request, at) => wireOf(request, report.transactions[at]?.input.from)),
  ];
  const text = JSON.stringify(requests.length === 1 ? requests[0] : requests, null, 2);
  toSign = clearance === null || requests.length === 0 ? null : { text, expiresAt: clearance.expiresAt };
  element("request").textContent = text;
  const until = new Date(clearance?.expiresAt ?? 0).toLocaleTimeString();
  element("until").textContent = `Until ${until}, if the report says what you want. After that, show the report again.`;
  status.textContent = `${report.verdict}: ${report.because}`;
  // `allow-same-origin` lets this page read the height; without `allow-scripts` nothing runs in there
  frame.hidden = false;
  frame.srcdoc = toHtml(report);
};

/** One report from the form as it stands. */
const ask = async (signal: AbortSignal) => {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "");
  const input = readInput(text);
  const provider = text("connection") === "wallet" ? wallet() : undefined;
  const connection = provider === undefined ? { url: text("url").trim() } : { provider };
  const started = Date.now();
  let answers = 0;
  let last = "";
  const tell = () => {
    const seconds = Math.floor((Date.now() - started) / 1_000);
    const answered = answers === 0 ? "no answer yet" : `${answers} answers, the last to ${last}`;
    element("pace").textContent = `${seconds} of ${deadlineMs / 1_000} s · ${answered}`;
  };
  const log = (event: LogEvent) => {
    if (!("method" in event)) return;
    answers++;
    last = event.method;
  };
  await using preflight = createPreflight(connection, { deadline: deadlineMs, log });
  const ticking = setInterval(tell, 250);
  tell();
  try {
    // why: the input is known only when it is there; `preflight` checks every field of it
    const report = await preflight.preflight(input as Transaction.RawCall | ReadonlyArray<Transaction.RawCall>, {
      signal,
    });
    // why: what is blocked or not known clears nothing
    const clearance = await preflight.ready(report).catch(() => null);
    // why: somebody may have asked for another one meanwhile
    signal.throwIfAborted();
    show(report, clearance);
  } finally {
    clearInterval(ticking);
  }
};

let running: AbortController | null = null;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  running?.abort();
  const mine = new AbortController();
  running = mine;
  status.textContent = "asking the node …";
  problem.textContent = "";
  frame.hidden = true;
  signing.hidden = true;
  toSign = null;
  copied.textContent = "";
  stop.hidden = false;
  progress.hidden = false;
  ask(mine.signal)
    .catch((error: unknown) => {
      if (running !== mine) return;
      status.textContent = "";
      if (mine.signal.aborted) problem.textContent = "stopped";
      else if (error instanceof InvalidTransaction) problem.textContent = `${error.field}: ${error.problem}`;
      else problem.textContent = error instanceof Error ? error.message : String(error);
    })
    .finally(() => {
      if (running === mine) stop.hidden = progress.hidden = true;
    });
});
stop.addEventListener("click", () => running?.abort());

const copy = async () => {
  if (toSign === null || Date.now() >= toSign.expiresAt) return "too old: show the report again";
  if (navigator.clipboard === undefined) return "the browser lets no page copy here; select the text above";
  await navigator.clipboard.writeText(toSign.text);
  return "copied";
};
element("copy").addEventListener("click", () => {
  copy().then(
    (said) => void (copied.textContent = said),
    () => void (copied.textContent = "the browser refused; select the text above"),
  );
});

element("tries").append(
  ...tries.map(({ name, fields }) => {
    const button = document.createElement("button");
    button.textContent = name;
    button.addEventListener("click", () => {
      for (const field of ["from", "to", "value", "signature", "args", "data", "chainId", "json"])
        (form.elements.namedItem(field) as HTMLInputElement).value = fields[field] ?? "";
      (form.elements.namedItem("kind") as RadioNodeList).value = fields["kind"] ?? "fields";
      form.requestSubmit();
    });
    return button;
  }),
);

const walletChoice = form.querySelector<HTMLInputElement>("[value=wallet]");
/** Wallets appear when they like: some with the page, some after it. */
const findWallet = () => {
  if (walletChoice !== null && wallet() !== undefined) walletChoice.disabled = false;
};
findWallet();
window.addEventListener("ethereum#initialized", findWallet);
window.addEventListener("load", findWallet);
