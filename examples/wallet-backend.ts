/**
 * A wallet's backend: the app posts what the user wants, shows the report, and asks for the clearance
 * with the report it showed. That report comes from the app, so nothing in it is believed: it is proven
 * again, on this server's own terms.
 *
 *     POST /preflight  { "from": "0x…", "to": "0x…", "value": "1", "data": "0x…" }   → 200 report
 *     POST /clear      the report                                                    → 200 clearance, 409 why not
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Errors, Report } from "evm-preflight";
import { createPreflight, type PreflightClient } from "evm-preflight/promise";
import { SchemaError } from "effect/Schema";
import type { Address, Hex } from "viem";

const body = async (request: IncomingMessage): Promise<unknown> => {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > 4_000_000) throw new SyntaxError("the body is too large");
  }
  return JSON.parse(text);
};

const answer = (response: ServerResponse, status: number, value: unknown) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value, (_, item) => (typeof item === "bigint" ? String(item) : item)));
};

interface Wish {
  readonly from: Address;
  readonly to?: Address;
  readonly value?: string;
  readonly data?: Hex;
}

/** What this server insists on; a report brings its own options along, and the app may have changed them. */
const terms = { deadline: "8 seconds", maxAge: "30 seconds", tolerance: 0.005, policies: [] } as const;

/** The clearance for a report that somebody posted. */
const clear = async (preflight: PreflightClient, input: unknown, signal: AbortSignal): Promise<Report.Clearance> => {
  const posted = await preflight.effect(Report.fromJson(input));
  const proven = await preflight.prove(posted, { ...terms, signal });
  if (proven.digest !== posted.digest)
    throw new Errors.NotProven({ missing: [Errors.gap("Altered", "the report is not that of its requests")] });
  // The user agreed to another outcome: the app has to show the new one first.
  const changed = proven.findings.find(({ error }) => error instanceof Errors.OutcomeChanged);
  if (changed?.error) throw changed.error;
  return preflight.ready(proven);
};

/** The handler over one node. Close the server to let go of it. */
export const walletBackend = (url: string): Server => {
  const preflight = createPreflight({ url }, terms);
  const routes: Readonly<Record<string, (input: unknown, signal: AbortSignal) => Promise<unknown>>> = {
    "/preflight": async (input, signal) => {
      const { from, to, value, data } = input as Wish;
      const wish = { from, to, data, value: value === undefined ? undefined : BigInt(value) };
      return Report.toJson(await preflight.run(wish, { signal }));
    },
    "/clear": (input, signal) => clear(preflight, input, signal),
  };
  const server = createServer((request, response) => {
    const route = routes[request.url ?? ""];
    if (request.method !== "POST" || route === undefined) return answer(response, 404, { error: "no such route" });
    // A user who closes the app need not be answered: the requests to the node are aborted with it.
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("the client went away")));
    body(request)
      .then((input) => route(input, gone.signal))
      .then((value) => answer(response, 200, value))
      .catch((error: unknown) => {
        if (gone.signal.aborted) return undefined;
        if (error instanceof Errors.InvalidTransaction)
          return answer(response, 400, { error: error.problem, field: error.field });
        if (Errors.isVerdict(error)) return answer(response, 409, { error: error.message, code: error._tag });
        if (error instanceof SyntaxError || error instanceof SchemaError || error instanceof Errors.ReportVersion)
          return answer(response, 400, { error: error.message });
        return answer(response, 500, { error: "something broke" });
      });
    return undefined;
  });
  server.once("close", () => void preflight.dispose());
  return server;
};
