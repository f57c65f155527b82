/** The simulated chain over HTTP, single requests and batches. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeError, type SimulatedChain } from "../chain.js";

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
}

export const serve = (chain: SimulatedChain): Promise<{ readonly url: string; readonly stop: () => void }> =>
  new Promise((resolve) => {
    const replyTo = ({ id, method, params }: Asked) => {
      try {
        return { jsonrpc: "2.0", id, result: chain.answer(method, params) };
      } catch (error) {
        const { code, message } = error instanceof NodeError ? error : new NodeError(String(error), -32603);
        return { jsonrpc: "2.0", id, error: { code, message } };
      }
    };
    const server = createServer((asked, answer) => {
      const chunks: Array<Buffer> = [];
      asked.on("data", (chunk: Buffer) => chunks.push(chunk));
      asked.on("end", () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Asked | ReadonlyArray<Asked>;
        answer.setHeader("content-type", "application/json");
        answer.end(JSON.stringify("map" in body ? body.map(replyTo) : replyTo(body)));
      });
    });
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        stop: () => {
          server.closeAllConnections();
          server.close();
        },
      }),
    );
  });
