/** A proxy that cuts the connection after the server acted and before its reply arrives. */
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

export interface Cutting {
  readonly socket: string;
  /** Replies lost so far. */
  readonly cut: () => number;
  readonly stop: () => Promise<void>;
}

/** `lose` is asked for every chunk that the server sends; true = the client never sees it. */
export const startCutting = (target: string, socket: string, lose: () => boolean): Promise<Cutting> =>
  new Promise((resolve) => {
    let lost = 0;
    const open = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(target);
      const end = () => {
        client.destroy();
        upstream.destroy();
        open.delete(client);
      };
      open.add(client);
      client.on("data", (chunk) => upstream.write(chunk));
      upstream.on("data", (chunk) => {
        if (!lose()) {
          client.write(chunk);
          return;
        }
        lost += 1;
        end();
      });
      for (const each of [client, upstream]) each.on("error", end).on("close", end);
    });
    server.listen(socket, () =>
      resolve({
        socket,
        cut: () => lost,
        stop: () =>
          new Promise((done) => {
            for (const each of open) each.destroy();
            server.close(() => {
              rmSync(socket, { force: true });
              done();
            });
          }),
      }),
    );
  });
