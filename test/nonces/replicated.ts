/** A Redis with a replica behind a link that can be stalled, so that what was not waited for is lost by a failover. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { createClient } from "redis";
import { freePort, startRedis, type RedisServer } from "./servers.js";

export interface Replicated {
  /** Path of the primary's Unix socket: another one after each failover. */
  readonly socket: string;
  /** From now on the replica gets nothing, and does not know it. */
  readonly stall: () => void;
  /** Kills the primary, makes its replica the primary, and gives that a new replica. Answers once the new primary serves. */
  readonly failover: () => Promise<void>;
  /** Waits until a replica is connected. */
  readonly connected: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Link {
  readonly port: number;
  readonly stall: () => void;
  readonly cut: () => void;
}

const startLink = async (target: number): Promise<Link> => {
  const open = new Set<Socket>();
  let isStalled = false;
  const server = createServer((follower) => {
    const leader = connect(target, "127.0.0.1");
    const end = () => [follower, leader].forEach((each) => each.destroy());
    for (const each of [follower, leader]) {
      open.add(each);
      each.on("error", end).on("close", end);
    }
    follower.on("data", (chunk) => leader.write(chunk));
    leader.on("data", (chunk) => isStalled || follower.write(chunk));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stall: () => {
      isStalled = true;
    },
    cut: () => {
      for (const each of open) each.destroy();
      server.close();
    },
  };
};

/** One command on a connection of its own. */
export const command = async (path: string, ...words: ReadonlyArray<string>): Promise<unknown> => {
  const client = await createClient({ socket: { path, tls: false, reconnectStrategy: false } })
    .on("error", () => undefined)
    .connect();
  try {
    return await client.sendCommand([...words]);
  } finally {
    client.destroy();
  }
};

interface Node {
  readonly server: RedisServer;
  readonly port: number;
}

/** Both write to disk before they answer. */
export const startReplicated = async (bin: string): Promise<Replicated> => {
  const start = async (...more: ReadonlyArray<string>): Promise<Node> => {
    const port = await freePort();
    const args = ["--port", String(port), "--repl-diskless-sync-delay", "0", ...more];
    return { port, server: await startRedis(bin, { durable: true, args }) };
  };
  const follow = async ({ port }: Node) => {
    const link = await startLink(port);
    return { link, node: await start("--replicaof", "127.0.0.1", String(link.port)) };
  };
  let primary = await start();
  let second = await follow(primary);
  const connected = async () => {
    for (const until = performance.now() + 30_000; performance.now() < until;) {
      const role = await command(second.node.server.socket, "ROLE").catch(() => []);
      if (Array.isArray(role) && role.includes("connected")) return;
      await new Promise((done) => setTimeout(done, 20));
    }
    throw new Error("the replica does not connect");
  };
  await connected();
  return {
    get socket() {
      return primary.server.socket;
    },
    stall: () => second.link.stall(),
    failover: async () => {
      process.kill(primary.server.pid, "SIGKILL");
      second.link.cut();
      await primary.server.stop();
      primary = second.node;
      await command(primary.server.socket, "REPLICAOF", "NO", "ONE");
      second = await follow(primary);
    },
    connected,
    stop: async () => {
      second.link.cut();
      await Promise.all([primary.server.stop(), second.node.server.stop()]);
    },
  };
};
