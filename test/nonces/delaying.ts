/** A proxy that is far away: what it is sent, and what it answers, takes its time. */
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

/** `wayMs` is the time each way takes: what goes to the server and what comes back. */
export const startDelaying = (target: string, socket: string, wayMs: number): Promise<() => void> =>
  new Promise((resolve) => {
    const open = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(target);
      const late = (to: Socket) => (chunk: Buffer) => setTimeout(() => to.destroyed || to.write(chunk), wayMs);
      const end = () => [client, upstream].forEach((each) => each.destroy());
      client.on("data", late(upstream));
      upstream.on("data", late(client));
      for (const each of [client, upstream]) {
        open.add(each);
        each.on("error", end).on("close", end);
      }
    });
    server.listen(socket, () =>
      resolve(() => {
        for (const each of open) each.destroy();
        server.close();
        rmSync(socket, { force: true });
      }),
    );
  });
