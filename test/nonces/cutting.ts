/** A proxy that loses replies after the server acted: it cuts the connection, at once or after a silence. */
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

export interface Cutting {
  readonly socket: string;
  /** Replies lost so far. */
  readonly cut: () => number;
  /** Cuts every connection. */
  readonly cutAll: () => void;
  /** Where new connections go from now on. */
  readonly lead: (target: string) => void;
  readonly stop: () => Promise<void>;
}

/** How long a silent connection stays open, ms. */
const silenceMs = 500;

/** `lose` is asked for every chunk that the server sends; unless it says no, the client sees nothing more on this connection. */
export const startCutting = (first: string, socket: string, lose: () => boolean | "silent"): Promise<Cutting> =>
  new Promise((resolve) => {
    let lost = 0;
    let target = first;
    const open = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(target);
      let isSilent = false;
      const end = () => {
        client.destroy();
        upstream.destroy();
        open.delete(client);
      };
      open.add(client);
      client.on("data", (chunk) => upstream.write(chunk));
      upstream.on("data", (chunk) => {
        const loss = isSilent || lose();
        if (loss === false) {
          client.write(chunk);
          return;
        }
        if (!isSilent) lost += 1;
        if (loss === "silent") {
          isSilent = true;
          setTimeout(end, silenceMs);
        } else if (!isSilent) end();
      });
      for (const each of [client, upstream]) each.on("error", end).on("close", end);
    });
    const cutAll = () => {
      for (const each of open) each.destroy();
    };
    server.listen(socket, () =>
      resolve({
        socket,
        cut: () => lost,
        cutAll,
        lead: (next) => {
          target = next;
        },
        stop: () =>
          new Promise((done) => {
            cutAll();
            server.close(() => {
              rmSync(socket, { force: true });
              done();
            });
          }),
      }),
    );
  });
