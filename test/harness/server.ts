/** A real HTTP server on a free port whose connections do not outlive the test. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Server {
  readonly url: string;
  /** Connections opened so far. */
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
}

/** Serves `handle`, which gets the whole body. */
export const startServer = (
  handle: (body: string, request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> =>
  new Promise((resolve, reject) => {
    let connections = 0;
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => handle(Buffer.concat(chunks).toString(), request, response));
    });
    server.on("connection", () => connections++);
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        connections: () => connections,
        stop: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      }),
    );
  });

/** A JSON-RPC request as it arrived. */
export interface Asked {
  readonly id: unknown;
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
}

/** Answers every request, alone or in a batch, with what `answer` gives beside `jsonrpc` and `id`. */
export const startNode = (answer: (asked: Asked) => object): Promise<Server & { readonly asked: Array<Asked> }> => {
  const asked: Array<Asked> = [];
  const one = (request: Asked) => {
    asked.push(request);
    return { jsonrpc: "2.0", id: request.id, ...answer(request) };
  };
  return startServer((body, _request, response) => {
    const requests = JSON.parse(body) as Asked | ReadonlyArray<Asked>;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(Array.isArray(requests) ? requests.map(one) : one(requests as Asked)));
  }).then((server) => ({ ...server, asked }));
};
