/** `evm-preflight nonces` on real stores and a real node. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import { createClient } from "redis";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import { layer as layerPostgres, migrate } from "../../src/postgres.js";
import { layerNodeRedis } from "../../src/redis.js";
import * as Rpc from "../../src/Rpc.js";
import { accounts, mineAnvil, rawRequest, startAnvil, type Node } from "../harness/anvil.js";
import { findPostgres, findRedis, freePort, startPostgres, startRedis } from "../nonces/servers.js";
import { buildBin, type Bin } from "./bin.js";
import { guarded } from "./endpoints.js";

const account = privateKeyToAccount(accounts[0].privateKey);
const gwei = 10n ** 9n;

/** A store as the flags name it, and as a layer. */
interface Storage {
  readonly flags: ReadonlyArray<string>;
  readonly layer: Layer.Layer<NonceStore>;
  readonly stop: () => Promise<void>;
}

const onRedis = async (bin: string): Promise<Storage> => {
  const server = await startRedis(bin);
  const client = await createClient({ socket: { path: server.socket, tls: false } }).connect();
  return {
    flags: ["--redis-url", `unix://${server.socket}`, "--prefix", "wallets"],
    layer: layerNodeRedis(client, { prefix: "wallets" }),
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
};

const onPostgres = async (bin: string): Promise<Storage> => {
  const port = await freePort();
  const server = await startPostgres(bin, { port });
  const url = `postgres://${server.user}@127.0.0.1:${port}/${server.database}`;
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 2 });
  await Effect.runPromise(migrate.pipe(Effect.provide(client)));
  return {
    flags: ["--postgres-url", url],
    layer: Layer.orDie(layerPostgres.pipe(Layer.provide(client))),
    stop: server.stop,
  };
};

const stores = [
  { name: "Redis", bin: findRedis("evm-preflight nonces on Redis"), start: onRedis },
  { name: "Postgres", bin: findPostgres("evm-preflight nonces on Postgres"), start: onPostgres },
] as const;

describe.each(stores)("evm-preflight nonces on $name", ({ bin: server, start }) => {
  describe.skipIf(server === null)("on a store that is installed", { timeout: 90_000 }, () => {
    let storage: Storage;
    let node: Node;
    let bin: Bin;
    /** The account's count when a test begins: its lane is then started there. */
    let first: bigint;
    beforeAll(async () => {
      [storage, node, bin] = await Promise.all([start(server ?? ""), startAnvil({ noMining: true }), buildBin()]);
    });
    afterAll(async () => {
      await Promise.all([storage?.stop(), node?.stop()]);
      bin?.remove();
    });

    const run = (...args: ReadonlyArray<string>) => bin.run(["nonces", ...args, ...storage.flags]);
    const withNode = (...args: ReadonlyArray<string>) => run(...args, "--rpc-url", node.url);
    const lane = { chainId: 31337, address: account.address };
    const ofLane = ["--chain-id", "31337", "--address", account.address];
    const sign = (
      nonce: bigint,
      { value = 5n, maxFeePerGas = 10n * gwei, to = accounts[1].address as `0x${string}` } = {},
    ) =>
      account.signTransaction({
        ...{ type: "eip1559", chainId: 31337, nonce: Number(nonce), gas: 21_000n, value, to },
        ...{ maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas / 10n },
      });
    const effect = <A, E>(asked: Effect.Effect<A, E, NonceStore | Rpc.Rpc>) =>
      Effect.runPromise(asked.pipe(Effect.provide(Layer.merge(storage.layer, Rpc.layerHttp(node.url)))));
    const send = (given: Parameters<typeof sign>[1] = {}) =>
      Nonces.withNonce(lane, (nonce) => Effect.promise(() => sign(nonce, given)));
    const refusing = () => Effect.fail({ code: -32000, message: "insufficient funds for gas * price + value" });
    const mined = async (hash: string) => {
      await mineAnvil(node.url);
      return rawRequest(node.url, "eth_getTransactionReceipt", [hash]);
    };

    it("ends with 3 for a store without lanes and an unknown lane, 64 for wrong usage, 69 without a store", async () => {
      expect(await withNode()).toMatchObject({ code: 3, stdout: expect.stringContaining("no accounts") });
      expect(await run("check")).toMatchObject({ code: 3, stdout: expect.stringContaining("no accounts") });
      expect((await run("status", ...ofLane)).code).toBe(3);
      expect((await run("check", ...ofLane)).code).toBe(3);
      for (const verb of ["resend", "cancel", "replace", "fill"])
        expect(await run(verb, ...ofLane)).toMatchObject({ code: 3, stdout: expect.stringContaining("knows nothing") });
      const wrongs: ReadonlyArray<readonly [args: ReadonlyArray<string>, says: string]> = [
        [["status", "--chain-id", "1"], "--address"],
        [["status", "--address", account.address], "--chain-id"],
        [["status", "--chain-id", "x", "--address", account.address], "--chain-id"],
        [["status", "--chain-id", "1", "--address", "0x12"], "--address"],
        [["resend"], "--chain-id"],
        [["status", "--old-after", "soon"], "--old-after"],
        [["explode"], ""],
      ];
      for (const [args, says] of wrongs) {
        const { code, stderr } = await run(...args);
        expect([args, code]).toEqual([args, 64]);
        expect(stderr).toContain(says);
      }
      const none = await bin.run(["nonces", "--rpc-url", node.url]);
      expect([none.code, none.stderr]).toEqual([64, expect.stringContaining("--redis-url: is missing")]);
      const absent = await bin.run(["nonces", "--redis-url", "redis://127.0.0.1:1"]);
      expect([absent.code, absent.stderr]).toEqual([69, expect.stringContaining("cannot be reached")]);
      const gone = await bin.run(["nonces", "--postgres-url", "postgres://nobody@127.0.0.1:1/none"]);
      expect([gone.code, gone.stderr]).toEqual([69, expect.stringContaining("cannot be reached")]);
    });

    it("takes headers and what doctor wrote of the endpoint", async () => {
      const endpoint = await guarded(node.url, "Bearer sesame-open");
      try {
        const stranger = ["--chain-id", "31337", "--address", accounts[3].address, "--rpc-url", endpoint.url];
        const known = ["--endpoint", join(bin.directory, "endpoint.json")];
        writeFileSync(known[1] ?? "", (await bin.run(["doctor", node.url, "--json"])).stdout);
        const key = (word: string) => ["--header", `authorization: Bearer ${word}`];
        const refused = await run("adopt", ...stranger, ...known, ...key("wrong-word"));
        expect([refused.code, `${refused.stdout}${refused.stderr}`]).toEqual([
          3,
          expect.not.stringContaining("wrong-word"),
        ]);
        const told = await run("adopt", ...stranger, ...known, ...key("sesame-open"));
        expect([told.code, told.stdout]).toEqual([3, expect.stringContaining("the chain is at 0")]);
        const wrong = await run("adopt", ...stranger, "--endpoint", "/nowhere.json");
        expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("--endpoint: /nowhere.json")]);
      } finally {
        await endpoint.stop();
      }
    });

    it("adopts a lane at the chain's counts and forgets it, only with --yes", async () => {
      const stranger = ["--chain-id", "31337", "--address", accounts[3].address];
      await rawRequest(node.url, "anvil_setNonce", [accounts[3].address, "0x7"]);
      expect((await run("adopt", ...stranger)).stderr).toContain("--rpc-url");
      const dry = await withNode("adopt", ...stranger);
      expect([dry.code, dry.stdout]).toEqual([3, expect.stringContaining("the chain is at 7")]);
      expect((await run("status", ...stranger)).code).toBe(3);
      const done = await withNode("adopt", ...stranger, "--yes", "--json");
      expect([done.code, JSON.parse(done.stdout)]).toMatchObject([0, { done: true, failed: null, health: [] }]);
      expect((await run("status", ...stranger)).stdout).toContain("from 7 to before 7");
      const again = await withNode("adopt", ...stranger, "--yes");
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("nothing to adopt")]);
      expect((await withNode("adopt", ...stranger, "--key", "1", "--yes")).code).toBe(64);
      await rawRequest(node.url, "anvil_setNonce", [accounts[3].address, "0x9"]);
      expect((await withNode("adopt", ...stranger)).stdout).toContain("the store is at 7, the chain at 9");
      expect((await withNode("adopt", ...stranger, "--yes")).code).toBe(0);
      expect((await run("status", ...stranger)).stdout).toContain("from 9 to before 9");
      expect((await run("forget", ...stranger)).stdout).toContain("--yes does it");
      expect((await run("status", ...stranger)).code).toBe(0);
      expect(await withNode("forget", ...stranger, "--yes")).toMatchObject({
        ...{ code: 0, stdout: expect.stringContaining("nothing is in flight") },
      });
      expect(await withNode("forget", ...stranger, "--yes")).toMatchObject({ code: 3 });
      expect((await run("status", ...stranger)).code).toBe(3);
    });

    describe("with a started lane", () => {
      beforeEach(async () => {
        await mineAnvil(node.url);
        first = BigInt((await rawRequest(node.url, "eth_getTransactionCount", [account.address, "latest"])) as string);
        await effect(Effect.ignore(Nonces.adopt(lane)));
        await effect(Nonces.reconcile(lane));
      });

      it("shows what is in flight, asks the chain only if told to, and finds the lane healthy", async () => {
        const sent = await effect(send());
        const all = await withNode();
        expect([all.code, all.stdout]).toEqual([
          0,
          expect.stringContaining(`account ${account.address.toLowerCase()} on chain 31337`),
        ]);
        expect(all.stdout).toContain(`committed  ${sent.nonce}, ${sent.hash}`);
        expect(all.stdout).toContain("healthy");
        expect(all.stdout).toContain(`latest ${sent.nonce}`);
        const offline = await run("status", ...ofLane);
        expect([offline.code, offline.stdout]).toEqual([0, expect.stringContaining("chain      unavailable")]);
        const json = await withNode("--json", ...ofLane);
        expect(JSON.parse(json.stdout)).toMatchObject({
          lanes: [
            { committed: [{ nonce: String(sent.nonce), hash: sent.hash, state: "next" }], health: [], violations: [] },
          ],
          failures: [],
        });
        const stateOffline = async () =>
          JSON.parse((await run("--json", ...ofLane)).stdout).lanes[0].committed[0].state;
        // why: a hash in answer is no place in a pool; only a node that knows the bytes shows that
        expect([sent.outcome.state, await stateOffline()]).toEqual(["handed", "handed"]);
        await withNode("resend", ...ofLane, "--yes");
        expect(await stateOffline()).toBe("seen");
        expect(await run("check")).toMatchObject({ code: 0, stdout: expect.stringContaining("sound") });
        const old = await run("status", "--old-after", "1ms");
        expect([old.code, old.stdout]).toEqual([2, expect.stringContaining("is not mined after")]);
      });

      it("sends again what the pool lost, only with --yes", async () => {
        const sent = await effect(send());
        await rawRequest(node.url, "anvil_dropAllTransactions", []);
        const dry = await run("resend", ...ofLane);
        expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining(`nonce ${sent.nonce}, ${sent.hash}`)]);
        expect(dry.stdout).toContain("--yes does it");
        expect(await mined(sent.hash)).toBeNull();
        const done = await withNode("resend", ...ofLane, "--yes", "--json");
        expect(JSON.parse(done.stdout)).toMatchObject({
          ...{ done: true, failed: null, health: [] },
          sent: [{ nonce: String(sent.nonce), hash: sent.hash, outcome: "accepted" }],
        });
        expect(done.code).toBe(0);
        expect(await mined(sent.hash)).toMatchObject({ status: "0x1" });
        expect((await run("resend", ...ofLane, "--yes")).code).toBe(64);
      });

      it("cancels what a node refused: prints what to sign, checks what was signed, then sends it", async () => {
        const refused = await effect(
          Effect.flip(Nonces.withNonce(lane, (nonce) => Effect.promise(() => sign(nonce)), refusing)),
        );
        expect(refused).toMatchObject({ _tag: "SendRejected", nonce: first });
        const behind = await effect(send());
        const sick = await withNode();
        expect([sick.code, sick.stdout]).toEqual([2, expect.stringContaining(`nonce ${first} was refused`)]);
        expect(sick.stdout).toContain("rejected (insufficient funds for gas * price + value)");
        const asked = await withNode("cancel", ...ofLane, "--json");
        expect(asked.code).toBe(2);
        const told = JSON.parse(asked.stdout);
        expect(told).toMatchObject({
          ...{ done: false, failed: null },
          request: {
            ...{ type: "eip1559", chainId: 31337, nonce: Number(first), to: account.address.toLowerCase() },
            ...{ value: "0", data: "0x", gas: "21000" },
          },
        });
        expect(BigInt(told.request.maxFeePerGas)).toBeGreaterThanOrEqual(11n * gwei);
        expect(BigInt(told.request.maxPriorityFeePerGas)).toBeGreaterThanOrEqual((11n * gwei) / 10n);
        const words = await withNode("cancel", ...ofLane, "--nonce", String(first));
        expect(words.stdout).toContain("which a node called rejected");
        expect(words.stdout).toContain("by --raw");
        const noop = await sign(first, { value: 0n, to: account.address, maxFeePerGas: 11n * gwei });
        const wrongs: ReadonlyArray<readonly [args: ReadonlyArray<string>, says: string]> = [
          [["--raw", await sign(first)], "does more than use up its nonce"],
          [["--raw", await sign(first + 9n, { value: 0n, to: account.address })], "different nonce"],
          [["--raw", "0x02c0"], "--raw"],
          [["--nonce", String(first + 40n)], "no transaction is committed"],
        ];
        for (const [args, says] of wrongs) {
          const { code, stderr } = await withNode("cancel", ...ofLane, ...args, "--yes");
          expect([code, stderr]).toEqual([64, expect.stringContaining(says)]);
        }
        const dry = await run("cancel", ...ofLane, "--raw", noop);
        expect([dry.code, dry.stdout]).toEqual([2, expect.stringContaining("would record")]);
        const done = await withNode("cancel", ...ofLane, "--raw", noop, "--yes", "--json");
        expect(JSON.parse(done.stdout)).toMatchObject({ done: true, sent: [{ outcome: "accepted" }], health: [] });
        expect(done.code).toBe(0);
        expect(await mined(behind.hash)).toMatchObject({ status: "0x1" });
      });

      it("replaces an underpriced transaction by the same with higher fees, and refuses fees that pools would refuse", async () => {
        const sent = await effect(send({ maxFeePerGas: 5n * gwei }));
        const asked = JSON.parse((await run("replace", ...ofLane, "--json")).stdout);
        expect(asked.request).toMatchObject({
          ...{ nonce: Number(first), value: "5", to: accounts[1].address.toLowerCase() },
          ...{ maxFeePerGas: String((11n * gwei) / 2n), maxPriorityFeePerGas: String((11n * gwei) / 20n) },
        });
        const cheap = await withNode(
          "replace",
          ...ofLane,
          "--raw",
          await sign(first, { maxFeePerGas: 5n * gwei + 1n }),
          "--yes",
        );
        expect([cheap.code, cheap.stderr]).toEqual([64, expect.stringContaining("pools take no less than")]);
        const raw = await sign(first, { maxFeePerGas: (11n * gwei) / 2n });
        const done = await withNode("replace", ...ofLane, "--raw", raw, "--yes");
        expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("accepted")]);
        expect(await mined(sent.hash)).toBeNull();
        expect(await effect(Nonces.reconcile(lane))).toMatchObject({ floor: first + 1n });
      });

      it("says that a node refused the replacement, which stays in the original's place, and ends with 1", async () => {
        await effect(Effect.ignore(Nonces.withNonce(lane, (nonce) => Effect.promise(() => sign(nonce)), refusing)));
        const dear = await sign(first, { value: 10n ** 30n, maxFeePerGas: 20n * gwei });
        const refused = await withNode("replace", ...ofLane, "--raw", dear, "--yes", "--json");
        expect(refused.code).toBe(1);
        expect(JSON.parse(refused.stdout)).toMatchObject({
          done: true,
          failed: "SendRejected",
          health: [{ kind: "rejected" }],
        });
        const noop = await sign(first, { value: 0n, to: account.address, maxFeePerGas: 11n * gwei });
        expect((await withNode("cancel", ...ofLane, "--raw", noop, "--yes")).code).toBe(0);
      });

      it("names what forgetting leaves behind, and lists already used nonces apart from those in flight", async () => {
        const [one, two] = [await effect(send()), await effect(send())];
        await rawRequest(node.url, "anvil_dropTransaction", [two.hash]);
        await mineAnvil(node.url);
        const dry = await withNode("forget", ...ofLane);
        expect(dry.stdout).toContain(`mined, or another transaction was in its place: nonce ${one.nonce}, ${one.hash}`);
        expect(dry.stdout).toContain(`but may still be mined: nonce ${two.nonce}, ${two.hash}`);
        expect((await run("forget", ...ofLane)).stdout).toContain("without --rpc-url it is not known");
        // of what was passed nothing is sent, and nothing is said to be
        const named = (await withNode("resend", ...ofLane)).stdout;
        expect([named.includes(one.hash), named.includes(two.hash)]).toEqual([false, true]);
        const resent = await withNode("resend", ...ofLane, "--yes");
        expect(resent.stdout).not.toContain(one.hash);
        const again = await withNode("resend", ...ofLane, "--yes");
        expect(again.stdout).toContain("already in the node's pool");
        expect((await withNode("forget", ...ofLane, "--yes")).code).toBe(0);
        await mineAnvil(node.url);
      });

      it.each(["replace", "cancel"])(
        "%s refuses an already used nonce, and status does not call it unmined",
        async (verb) => {
          const sent = await effect(send());
          await mineAnvil(node.url);
          const shown = await withNode("status", ...ofLane, "--old-after", "1ms");
          expect([shown.code, shown.stdout]).toEqual([
            2,
            expect.stringContaining("and no process watches this account"),
          ]);
          expect(shown.stdout).toMatch(/committed .*, mined\n/);
          expect(shown.stdout).not.toMatch(/not mined|replace it|resend/);
          const named = await withNode(verb, ...ofLane, "--nonce", String(sent.nonce));
          expect([named.code, named.stdout, named.stderr]).toEqual([
            64,
            "",
            expect.stringContaining("was passed by the"),
          ]);
          const first = await withNode(verb, ...ofLane);
          expect([first.code, first.stdout, first.stderr]).toEqual([
            64,
            "",
            expect.stringContaining("nothing is in flight"),
          ]);
          const next = await effect(send());
          const asked = JSON.parse((await withNode(verb, ...ofLane, "--json")).stdout);
          expect(asked.request.nonce).toBe(Number(next.nonce));
          await mined(next.hash);
        },
      );

      it("fills a gap with a transaction signed for it", async () => {
        const above = await effect(Effect.scoped(Effect.andThen(Nonces.reserve(lane), send())));
        const sick = await run("status");
        expect([sick.code, sick.stdout]).toEqual([2, expect.stringContaining(`nonce ${first} is a gap`)]);
        const asked = await withNode("fill", ...ofLane, "--json");
        const { request } = JSON.parse(asked.stdout);
        expect(request).toMatchObject({ nonce: Number(first), value: "0", to: account.address.toLowerCase() });
        expect(BigInt(request.maxFeePerGas)).toBeGreaterThan(0n);
        const noop = await sign(first, { value: 0n, to: account.address });
        expect(await run("fill", ...ofLane, "--raw", noop)).toMatchObject({
          ...{ code: 2, stdout: expect.stringContaining("would take it") },
        });
        expect((await withNode("fill", ...ofLane, "--raw", await sign(first + 1n), "--yes")).code).toBe(64);
        const done = await withNode("fill", ...ofLane, "--raw", noop, "--yes");
        expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("accepted")]);
        expect(await mined(above.hash)).toMatchObject({ status: "0x1" });
        expect(await run("fill", ...ofLane)).toMatchObject({ code: 0, stdout: expect.stringContaining("no gap") });
      });
    });
  });
});
