/** Endpoints in front of a real node that refuse what theirs refuse. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Endpoint {
  readonly url: string;
  /** The methods asked, in order. */
  readonly asked: ReadonlyArray<string>;
  readonly stop: () => Promise<void>;
}

interface Request {
  readonly id: number;
  readonly method: string;
}

/** A refusal: an HTTP status with any body, or a JSON-RPC error. */
type Refusal = { readonly status: number; readonly body: string } | { readonly code: number; readonly message: string };

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** Passes to `target` what `refuse` gives no refusal for; null as method stands for a batch. */
export const startEndpoint = async (
  target: string,
  refuse: (method: string | null, headers: IncomingHttpHeaders) => Refusal | null,
): Promise<Endpoint> => {
  const asked: Array<string> = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const parsed = JSON.parse(body) as Request | ReadonlyArray<Request>;
    const single = Array.isArray(parsed) ? null : (parsed as Request);
    if (single !== null) asked.push(single.method);
    const refusal = refuse(single === null ? null : single.method, request.headers);
    if (refusal === null) {
      const passed = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body });
      response.writeHead(passed.status, { "content-type": "application/json" }).end(await passed.text());
    } else if ("status" in refusal) {
      response.writeHead(refusal.status, { "content-type": "text/html" }).end(refusal.body);
    } else {
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: single?.id ?? null, error: refusal }));
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export const sevenMethods = [
  "eth_getLogs",
  "eth_call",
  "eth_simulateV1",
  "eth_getBlockReceipts",
  "eth_estimateGas",
  "eth_getTransactionCount",
  "eth_getCode",
];

const notFound: Refusal = { code: -32601, message: "the method does not exist/is not available" };

/** Only the seven methods, no batches. */
export const strict = (target: string) =>
  startEndpoint(target, (method) => (method !== null && sevenMethods.includes(method) ? null : notFound));

export const withoutSimulate = (target: string) =>
  startEndpoint(target, (method) => (method === "eth_simulateV1" ? notFound : null));

/** Lets nobody through without this `authorization`, and repeats what it was given. */
export const guarded = (target: string, authorization: string) =>
  startEndpoint(target, (_, headers) =>
    headers.authorization === authorization
      ? null
      : { code: -32600, message: `the key ${headers.authorization} is not known` },
  );

/** Answers everything with HTTP 403 and a page. */
export const forbidden = () =>
  startEndpoint("", () => ({ status: 403, body: "<html><body>\u001b[31mForbidden\u001b[0m</body></html>" }));
