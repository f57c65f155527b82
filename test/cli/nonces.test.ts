/** `evm-preflight nonces` on a real store and a real node. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { createClient } from "redis";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Nonces from "../../src/Nonces.js";
import { layerNodeRedis } from "../../src/redis.js";
import * as Rpc from "../../src/Rpc.js";
import { accounts, startAnvil, type Node } from "../harness/anvil.js";
import { findRedis, startRedis, type RedisServer } from "../nonces/servers.js";
import { buildBin, type Bin } from "./bin.js";

const server = findRedis("evm-preflight nonces");
const sender = privateKeyToAccount(accounts[0].privateKey);

describe.skipIf(server === null)("evm-preflight nonces", () => {
  let redis: RedisServer;
  let node: Node;
  let bin: Bin;
  beforeAll(async () => {
    [redis, node, bin] = await Promise.all([startRedis(server ?? ""), startAnvil({ noMining: true }), buildBin()]);
  });
  afterAll(async () => {
    await Promise.all([redis.stop(), node.stop()]);
    bin.remove();
  });

  const run = (...args: ReadonlyArray<string>) =>
    bin.run(["nonces", "--redis-url", `unix://${redis.socket}`, "--rpc-url", node.url, ...args]);

  it("shows what is reserved, committed and settled, and ends with its health", async () => {
    expect(await run()).toMatchObject({ code: 0, stdout: "no lanes\n" });
    const client = createClient({ socket: { path: redis.socket, tls: false } });
    await client.connect();
    const lane = { chainId: 31337, address: sender.address };
    const send = Effect.gen(function* () {
      yield* Nonces.bootstrap(lane, { settleMs: 1 });
      return yield* Nonces.withNonce(lane, (nonce) =>
        Effect.promise(() =>
          sender.signTransaction({
            type: "eip1559",
            chainId: 31337,
            nonce: Number(nonce),
            gas: 21_000n,
            maxFeePerGas: 10n ** 10n,
            maxPriorityFeePerGas: 1n,
            to: sender.address,
          }),
        ),
      );
    });
    const sent = await Effect.runPromise(
      send.pipe(Effect.provide(Layer.merge(layerNodeRedis(client), Rpc.layerHttp(node.url)))),
    );
    client.destroy();
    const all = await run();
    expect(all.code).toBe(0);
    expect(all.stdout).toContain(`lane 31337:${sender.address.toLowerCase()}:0`);
    expect(all.stdout).toContain(`committed  0, ${sent.hash}`);
    const json = await run("--json", "--lane", `31337:${sender.address}`);
    expect(JSON.parse(json.stdout)).toMatchObject({
      lanes: [{ committed: [{ nonce: "0", hash: sent.hash }], gaps: [], violations: [] }],
      failures: [],
    });
  });

  it("ends with 3 for a lane that the store does not know, and 64 for wrong usage", async () => {
    expect((await run("--lane", `1:${accounts[1].address}`)).code).toBe(3);
    expect((await run("--lane", "nonsense")).code).toBe(64);
    expect((await bin.run(["nonces", "--rpc-url", node.url])).code).toBe(64);
    const absent = await bin.run(["nonces", "--redis-url", "redis://127.0.0.1:1", "--rpc-url", node.url]);
    expect(absent.code).toBe(64);
    expect(absent.stderr).toContain("cannot be reached");
  });
});
