/** Reading JSON-RPC 2.0 answers: what is the result, and what kind of failure is anything else. */
import * as Result from "effect/Result";
import { InvalidParams, NodeLimitExceeded, RpcError, Transport } from "../errors/rpc.js";
import { isRecord, jsonIn } from "../primitives/record.js";
import { redactJson, type Endpoint } from "./endpoint.js";
import { malformed, type Unjudged } from "./judging.js";
import type { NoReply, Reply } from "./post.js";

/** One try of one request. */
export interface Try {
  /** A JSON-RPC or HTTP error is not judged yet. */
  readonly result: Result.Result<unknown, Unjudged>;
  readonly bytes: number;
  /** Epoch ms of the HTTP `Date`; null or absent where none is told. */
  readonly date?: number | null;
}

/** A request on its way; `text` is its JSON. */
export interface Outgoing {
  readonly id: number;
  readonly method: string;
  readonly text: string;
}

/** A request as text; fails on what JSON cannot carry. */
export const outgoing = (id: number, method: string, params: ReadonlyArray<unknown>) =>
  Result.try({
    try: () => ({ id, method, text: JSON.stringify({ jsonrpc: "2.0", id, method, params }) }),
    catch: (error) => {
      const detail = `the parameters are no JSON: ${error instanceof Error ? error.message : ""}`;
      return new RpcError({ method, reason: new InvalidParams({ detail }) });
    },
  });

export const noReply = (method: string, { kind, detail }: NoReply, endpoint: Endpoint): RpcError => {
  if (kind === "undecodable") return malformed(method, "", detail);
  if (kind === "too-large") return new RpcError({ method, reason: new NodeLimitExceeded({ detail }) });
  return new RpcError({ method, reason: new Transport({ detail: endpoint.redact(detail) }) });
};

/** One try that brought no answer. */
export const unanswered = (method: string, failure: NoReply, endpoint: Endpoint): Try => ({
  result: Result.fail(noReply(method, failure, endpoint)),
  bytes: failure.bytes,
});

const refusedByStatus = ({ status }: Reply): boolean => status < 200 || status > 299;

/** The HTTP side of an answer, for the classifier. */
const context = (reply: Reply) => ({
  httpStatus: reply.status,
  headers: { get: reply.header },
});

const maxBodyText = 4_096;

/** A reply that holds no answer at all. */
const unreadable = (method: string, reply: Reply, endpoint: Endpoint): Unjudged =>
  refusedByStatus(reply)
    ? { method, ...context(reply), bodyText: endpoint.redact(reply.text.slice(0, maxBodyText)) }
    : malformed(method, "", reply.text === "" ? "an empty body" : "no JSON", reply.status);

/** One answer object. An error may lack the id (it could not be read, or a gateway spoke); a result may not. */
const readOne = (answer: unknown, { id, method }: Outgoing, reply: Reply, endpoint: Endpoint) => {
  if (!isRecord(answer)) return Result.fail(unreadable(method, reply, endpoint));
  const { error } = answer;
  if (error !== undefined && error !== null) {
    const echoed = answer["id"];
    const foreign = echoed !== undefined && echoed !== null && echoed !== id;
    if (foreign && !refusedByStatus(reply)) return Result.fail(wrongId(method, reply));
    return Result.fail({ method, ...context(reply), error: redactJson(error, endpoint.redact) });
  }
  if (refusedByStatus(reply)) return Result.fail(unreadable(method, reply, endpoint));
  if (answer["id"] !== id) return Result.fail(wrongId(method, reply));
  if (answer["jsonrpc"] !== "2.0") return Result.fail(malformed(method, "jsonrpc", "not 2.0", reply.status));
  return "result" in answer
    ? Result.succeed(answer["result"])
    : Result.fail(malformed(method, "result", "neither result nor error", reply.status));
};

const wrongId = (method: string, reply: Reply): RpcError =>
  malformed(method, "id", "the answer belongs to another request", reply.status);

const httpDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/** Reads the time of the answerer's clock; null where it is not written as HTTP has it. */
const dateOf = ({ header }: Reply): number | null => {
  const text = header("date");
  const date = text !== null && httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : date;
};

/** The answer to a request that went out alone; `answer` is the reply's text, parsed. */
export const readSingle = (
  request: Outgoing,
  reply: Reply,
  endpoint: Endpoint,
  answer: unknown = jsonIn(reply.text),
) => ({
  result: readOne(answer, request, reply, endpoint),
  bytes: reply.bytes,
  date: dateOf(reply),
});

/** The answers to a batch in its order; null when the endpoint does not take batches. */
export const readBatch = (requests: ReadonlyArray<Outgoing>, reply: Reply, endpoint: Endpoint) => {
  const answers = jsonIn(reply.text);
  const date = dateOf(reply);
  const share = (index: number): number =>
    Math.floor(reply.bytes / requests.length) + (index === 0 ? reply.bytes % requests.length : 0);
  const each = (read: (request: Outgoing) => Result.Result<unknown, Unjudged>): ReadonlyArray<Try> =>
    requests.map((request, index) => ({ result: read(request), bytes: share(index), date }));
  if (!Array.isArray(answers)) {
    // a gateway in trouble says nothing about batches; an error object, or a plain refusal, does
    const passing = reply.status === 401 || reply.status === 429 || reply.status >= 500;
    return passing || (answers === undefined && !refusedByStatus(reply))
      ? each((request) => readOne(answers, request, reply, endpoint))
      : null;
  }
  const byId = new Map<unknown, unknown>();
  const twice = new Set<unknown>();
  for (const answer of answers as ReadonlyArray<unknown>) {
    const id = isRecord(answer) ? answer["id"] : undefined;
    if (byId.has(id)) twice.add(id);
    byId.set(id, answer);
  }
  if (!requests.some(({ id }) => byId.has(id))) return null;
  return each((request) =>
    byId.has(request.id) && !twice.has(request.id)
      ? readOne(byId.get(request.id), request, reply, endpoint)
      : Result.fail(wrongId(request.method, reply)),
  );
};
