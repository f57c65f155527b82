/** The form, the connection, and the report in its frame. */
import { Errors, Report, type Rpc, type Transaction } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
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
  // what can be opened and closed makes the report longer and shorter
  frame.contentDocument?.addEventListener("toggle", fit, true);
  status.scrollIntoView();
});
window.addEventListener("resize", fit);

const show = (report: Report.Report) => {
  status.textContent = `${report.verdict}: ${report.because}`;
  // `allow-same-origin` lets this page read the height; without `allow-scripts` nothing runs in there
  frame.hidden = false;
  frame.srcdoc = Report.toHtml(report);
};

/** One report from the form as it stands. */
const ask = async (signal: AbortSignal) => {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "");
  const input = readInput(text);
  const provider = text("connection") === "wallet" ? wallet() : undefined;
  const connection = provider === undefined ? { url: text("url").trim() } : { provider };
  await using preflight = createPreflight(connection, { deadline: "20 seconds" });
  // why: the input is known only when it is there; `run` checks every field of it
  show(await preflight.run(input as Transaction.RawCall | ReadonlyArray<Transaction.RawCall>, { signal }));
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
  stop.hidden = false;
  ask(mine.signal)
    .catch((error: unknown) => {
      if (running !== mine) return;
      status.textContent = "";
      if (mine.signal.aborted) problem.textContent = "stopped";
      else if (error instanceof Errors.InvalidTransaction) problem.textContent = `${error.field}: ${error.problem}`;
      else problem.textContent = error instanceof Error ? error.message : String(error);
    })
    .finally(() => {
      if (running === mine) stop.hidden = true;
    });
});
stop.addEventListener("click", () => running?.abort());

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
