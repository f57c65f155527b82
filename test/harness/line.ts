/** The line to a node's sockets: it can be cut, or go silent without a word. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { socketUrl } from "./socketUrl.js";

export interface Line {
  /** With `ws:`, and of this line alone. */
  readonly url: string;
  /** Ends every connection. */
  readonly cut: () => void;
  /** While silent nothing that the node says arrives, on connections that are open now; new ones are heard. */
  readonly silence: () => void;
  /** While down nobody gets through. */
  readonly setDown: (isDown: boolean) => void;
  /** Bytes that clients have sent so far. */
  readonly sent: () => number;
  /** Connections opened so far. */
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
}

/** A line to the node at `target`, an HTTP URL. */
export const startLine = (target: string): Promise<Line> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(target);
    const pairs = new Set<{ readonly client: Socket; readonly node: Socket; isSilent: boolean }>();
    let isDown = false;
    let connections = 0;
    let sent = 0;
    const server = createServer((client) => {
      connections += 1;
      if (isDown) return void client.destroy();
      const node = connect(Number(port), hostname);
      const pair = { client, node, isSilent: false };
      pairs.add(pair);
      const end = () => {
        client.destroy();
        node.destroy();
        pairs.delete(pair);
      };
      client.on("data", (chunk: Buffer) => {
        sent += chunk.length;
        node.write(chunk);
      });
      node.on("data", (chunk) => {
        if (!pair.isSilent) client.write(chunk);
      });
      for (const each of [client, node]) each.on("error", end).on("close", end);
    });
    const cut = () => {
      for (const { client, node } of pairs) {
        client.destroy();
        node.destroy();
      }
    };
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: socketUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
        cut,
        silence: () => {
          for (const pair of pairs) pair.isSilent = true;
        },
        setDown: (down) => {
          isDown = down;
          if (down) cut();
        },
        connections: () => connections,
        sent: () => sent,
        stop: () =>
          new Promise((done) => {
            cut();
            server.close(() => done());
          }),
      }),
    );
  });
