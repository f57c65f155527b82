/** Requests through what the user already has: a viem transport or client, or an EIP-1193 provider. */
import * as Result from "effect/Result";
import { NodeLimitExceeded, RpcError, Timeout, Transport } from "../errors/rpc.js";
import { isObject, isPlain, safely } from "../primitives/record.js";
import type { Try } from "./answer.js";
import { malformed, type Unjudged } from "./judging.js";
import { endpointOf, redactJson } from "./endpoint.js";
import { builtin, isNode } from "./node.js";
import type { Send } from "./requests.js";

const maxChain = 12;

/** The error and its causes, outermost first. */
const chainOf = (error: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const chain: Array<Readonly<Record<string, unknown>>> = [];
  let current = error;
  while (isObject(current) && chain.length < maxChain && !chain.includes(current)) {
    chain.push(current);
    current = current["cause"];
  }
  return chain;
};

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** `Retry-After` from a `Headers` or a plain record. */
const retryAfter = (headers: unknown): Readonly<Record<string, string>> => {
  if (!isObject(headers)) return {};
  const value = headers instanceof Headers ? headers.get("retry-after") : text(headers["retry-after"]);
  return value === null ? {} : { "retry-after": value };
};

/** The JSON-RPC error in it, as it came where that is known; null where nobody said one. */
const rpcErrorOf = (chain: ReadonlyArray<Readonly<Record<string, unknown>>>): unknown => {
  const reported = chain.find((link) => link["name"] === "RpcRequestError")?.["cause"];
  // why: a node's error may be a text, or lack its code
  if (typeof reported === "string" || isPlain(reported)) return reported;
  const coded = chain.filter(({ code }) => Number.isSafeInteger(code));
  const innermost =
    // why: viem calls what has no code -1
    coded.findLast(({ code }) => code !== -1) ??
    chain.findLast((link) => isPlain(link) && typeof link["message"] === "string") ??
    coded.at(-1);
  if (innermost === undefined || isPlain(innermost)) return innermost ?? null;
  const { code, message, details, data } = innermost;
  // viem's own message repeats the URL and the request; its `details` are the node's words
  return { code, message: text(details) ?? text(message) ?? "", ...(data === undefined ? {} : { data }) };
};

/** viem's and a wallet's errors as what the node said. */
const unwrap = (method: string, error: unknown, redact: (text: string) => string): Unjudged => {
  const chain = chainOf(error);
  const named = (name: string) => chain.find((link) => link["name"] === name);
  const rpcError = rpcErrorOf(chain);
  const http = chain.find(({ status }) => Number.isSafeInteger(status));
  const context =
    http === undefined ? {} : { httpStatus: Number(http["status"]), headers: retryAfter(http["headers"]) };
  if (rpcError !== null) return { method, ...context, error: redactJson(rpcError, redact) };
  const detail = redact(
    text(chain.findLast((link) => text(link["details"]) !== null)?.["details"]) ??
      text(chain[chain.length - 1]?.["message"]) ??
      text(error) ??
      "",
  );
  if (http !== undefined) return { method, ...context, bodyText: detail };
  if (named("TimeoutError") !== undefined) return new RpcError({ method, reason: new Timeout({ detail }) });
  if (named("ResponseBodyTooLargeError") !== undefined)
    return new RpcError({ method, reason: new NodeLimitExceeded({ detail }) });
  if (named("SyntaxError") !== undefined) return malformed(method, "", "no JSON");
  return new RpcError({ method, reason: new Transport({ detail }) });
};

/** Hides the secrets of the URLs that an error carries, which its words may repeat. */
const redactor = (error: unknown, known: (text: string) => string): ((text: string) => string) => {
  // why: what the node said is no library's, whatever its fields are called
  const links = chainOf(error).filter((link) => !isPlain(link));
  const urls = links.flatMap(({ url }) => (typeof url === "string" ? [endpointOf(url).redact] : []));
  return (words) => urls.reduce((clean, redact) => redact(clean), known(words));
};

/** Reads an error of viem's or a wallet's; returns a value, whatever it is. */
export const judgeForeign = (method: string, error: unknown, redact: (text: string) => string): Unjudged =>
  // what a wallet throws may have getters that throw themselves
  Result.getOrElse(
    Result.try(() => unwrap(method, error, redactor(error, redact))),
    () => malformed(method, "", "an error that cannot be read"),
  );

/** The names of viem's errors where the socket that it keeps has ended. */
const endings = new Set<unknown>(["SocketClosedError", "WebSocketRequestError"]);

/**
 * Sends through `request`, with the run's one signal (viem keys its batches by it, so a signal per
 * request would break them) and viem's own retries off. Sizes are not known here.
 */
export const sendForeign =
  (
    // viem takes the options; a wallet ignores them
    request: (
      args: { readonly method: string; readonly params: ReadonlyArray<unknown> },
      options: { readonly retryCount: 0; readonly signal?: AbortSignal },
    ) => Promise<unknown>,
    redact: (text: string) => string,
    letGo: () => void = () => undefined,
  ): Send =>
  (method, params, callback, { signal }) => {
    // why: viem hands the signal to `fetch` with every request, and Node warns of a leak from some on
    if (signal !== null && isNode) builtin("node:events").setMaxListeners(0, signal);
    let open = true;
    const finish = (result: Try["result"]) => {
      if (!open) return;
      open = false;
      callback({ result, bytes: 0 });
    };
    // inside `then`, so that a provider that throws is a rejection like any other
    Promise.resolve()
      .then(() => request({ method, params }, { retryCount: 0, ...(signal === null ? {} : { signal }) }))
      .then(
        (result) =>
          finish(
            result === undefined
              ? Result.fail(malformed(method, "result", "neither result nor error"))
              : Result.succeed(result),
          ),
        (error: unknown) => {
          if (safely(() => chainOf(error).some(({ name }) => endings.has(name)), false)) letGo();
          finish(Result.fail(judgeForeign(method, error, redact)));
        },
      );
    return () => {
      open = false;
    };
  };
