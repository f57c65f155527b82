import * as Effect from "effect/Effect";
import * as Logger from "effect/Logger";
import { createClient } from "redis";
import { describe, expect, it } from "vitest";
import { NonceStore } from "../../src/NonceStore.js";
import { forgetfulBy } from "../rooms/nonces.js";
import { layerNodeRedis, type NodeRedisClient, type Options } from "../../src/redis.js";
import { freshLane } from "./lanes.js";
import { findRedis, startRedis } from "./servers.js";

describe("the warning of a Redis that may forget", () => {
  const kept = ["appendonly", "yes", "appendfsync", "always"];
  const whole = ["maxmemory-policy", "noeviction"];
  const about = (answers: ReadonlyArray<unknown>, replicas = 0) =>
    forgetfulBy(answers, replicas).map((words) => words.split(" ")[0]);
  it.each([
    ["nothing, where all is kept", [kept, whole], 0, []],
    ["nothing that is known, where nobody says", [[], []], 0, []],
    ["nothing that is known, of no list", [null, "appendonly", 7], 0, []],
    ["all since a snapshot, without a log", [["appendonly", "no", "appendfsync", "always"], whole], 0, ["appendonly"]],
    ["the latest, where it is written later", [["appendonly", "yes", "appendfsync", "everysec"]], 0, ["appendfsync"]],
    ["lanes, where it evicts", [kept, ["maxmemory-policy", "allkeys-lru"]], 0, ["maxmemory-policy"]],
    ["what no replica has", [["appendonly", "no"], whole], 1, []],
    [
      "the same by the words of RESP3",
      [new Map([["appendonly", "no"]]), { "maxmemory-policy": "volatile-ttl" }],
      0,
      ["appendonly", "maxmemory-policy"],
    ],
    ["the same in bytes", [[Buffer.from("appendonly"), Buffer.from("no")]], 0, ["appendonly"]],
  ])("names %s", (_, answers, replicas, found) => expect(about(answers, replicas)).toEqual(found));
});

const bin = findRedis("what a Redis may forget");

describe.skipIf(bin === null)("the settings of a Redis server", () => {
  /** What is logged by two reads of one store. */
  const warnings = async (client: NodeRedisClient, options?: Options) => {
    const said: Array<string> = [];
    const logger = Logger.make<unknown, void>(({ message }) => void said.push(String(message)));
    const begin = Effect.flatMap(NonceStore, (store) =>
      // Nothing is started: a process may only read, and carry on
      Effect.forEach([1, 2], () => store.read(freshLane()), { discard: true }),
    );
    await Effect.runPromise(
      begin.pipe(Effect.provide(layerNodeRedis(client, options)), Effect.provide(Logger.layer([logger]))),
    );
    return said;
  };

  it.each([true, false])(
    "are read once by each process, whoever started its lanes, with a warning where they forget (durable: %s)",
    async (durable) => {
      const server = await startRedis(bin ?? "", { durable });
      const client = await createClient({ socket: { path: server.socket, tls: false } }).connect();
      const refusing: NodeRedisClient = {
        sendCommand: (args) => (args[0] === "CONFIG" ? Promise.reject(new Error("NOPERM")) : client.sendCommand(args)),
      };
      const told = [await warnings(client), await warnings(client, { replicas: 0 }), await warnings(refusing)];
      const expected = durable ? [] : [expect.stringContaining("appendonly is not yes")];
      expect(told).toEqual([expected, expected, []]);
      client.destroy();
      await server.stop();
    },
  );
});
