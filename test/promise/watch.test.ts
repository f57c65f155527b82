/** Following a chain with `for await`. */
import { webSocket, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPreflight, type PreflightClient, type Watched } from "../../src/promise.js";
import { Gate } from "../contracts/artifacts.js";
import { pause, until } from "../eth/watching.js";
import { socketUrl } from "../harness/socketUrl.js";
import { furnish, passing, transferOf, turn } from "../preflight/furnished.js";
import { calldata, other, owner, startAnvilScene, type AnyInput, type Scene } from "../preflight/scene.js";

let scene: Scene;
let token: Hex;
let gate: Hex;
beforeAll(async () => {
  ({ scene, token, gate } = await furnish(startAnvilScene));
  await turn({ scene, gate }, "open");
  await scene.mine();
});
afterAll(() => scene.stop());

const connect = (): PreflightClient => createPreflight({ url: scene.url }, { heads: { pollMs: 20 } });
const ready = async (preflight: PreflightClient, input: AnyInput = transferOf(token)) => {
  const report = await preflight.run(input as never);
  expect(report.verdict).toBe("ready");
  return report;
};
const soon = (work: () => Promise<unknown>) => void pause(100).then(work);

describe("watch", () => {
  it("gives the meaning of each head, and stops when its consumer does", async () => {
    await using preflight = connect();
    const report = await ready(preflight, passing(gate));
    const told: Array<Watched["_tag"]> = [];
    for await (const watched of preflight.watch(report)) {
      told.push(watched._tag);
      if (watched._tag === "Fresh") expect((await preflight.ready(watched.report)).digest).toBe(report.digest);
      if (watched._tag === "Lost") break;
      soon(async () => {
        if (told.length === 2) await turn({ scene, gate }, "close");
        await scene.mine();
      });
    }
    expect(told).toEqual(["Fresh", "Fresh", "Lost"]);
    await turn({ scene, gate }, "open");
    await scene.mine();
  });

  it("follows many reports by one stream of heads", async () => {
    await using preflight = connect();
    const reports = [await ready(preflight), await ready(preflight, transferOf(token, 9n))];
    const firsts = await Promise.all(
      reports.map(async (report) => {
        for await (const { _tag } of preflight.watch(report)) return _tag;
        return null;
      }),
    );
    expect(firsts).toEqual(["Fresh", "Fresh"]);
  });

  it(
    "takes one signal for many reports, without a warning of Node's, and releases all by it",
    { timeout: 90_000 },
    async () => {
      await using preflight = connect();
      const report = await ready(preflight);
      const warnings: Array<string> = [];
      const warned = ({ name }: Error) => void warnings.push(name);
      process.on("warning", warned);
      const controller = new AbortController();
      const { signal } = controller;
      let taken = 0;
      const follow = async (heads: AsyncIterable<unknown>) => {
        for await (const _ of heads) taken += 1;
      };
      const all = [
        ...Array.from({ length: 15 }, () => follow(preflight.watchHeads({ signal }))),
        ...Array.from({ length: 15 }, () => follow(preflight.watch(report, { signal }))),
      ].map((ended) => ended.then(() => null).catch((reason: unknown) => reason));
      const proofs = Array.from({ length: 15 }, () => preflight.prove(report, { signal }));
      await Promise.all(proofs);
      await until(() => taken >= 30, "a head of each", 30_000);
      await scene.mine();
      await until(() => taken >= 45, "others", 30_000);
      const reason = new Error("enough");
      controller.abort(reason);
      expect(new Set(await Promise.all(all)).size).toBe(1);
      await pause(50);
      process.off("warning", warned);
      expect(warnings).toEqual([]);
    },
  );

  it("rejects with the signal's reason, and with what is against the report", async () => {
    await using preflight = connect();
    const report = await ready(preflight);
    const aborting = new AbortController();
    const reason = new Error("enough");
    const through = async () => {
      for await (const _ of preflight.watch(report, { signal: aborting.signal }))
        soon(async () => aborting.abort(reason));
    };
    await expect(through()).rejects.toBe(reason);
    const scanned = await preflight.scan({ from: owner.address, to: gate, data: calldata(Gate, "open") });
    const iterator = preflight.watch(scanned)[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toMatchObject({ _tag: "NotProven" });
    expect(await iterator.next()).toMatchObject({ done: true });
  });

  it("ends with the connection", async () => {
    const preflight = connect();
    const iterator = preflight.watch(await ready(preflight))[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next().then(
      (next) => next.done,
      () => "rejected",
    );
    await preflight.dispose();
    expect([true, "rejected"]).toContain(await waiting);
  });
});

describe("watched heads and logs", () => {
  it("come over a socket, as plain data", async () => {
    await using preflight = createPreflight({
      transport: webSocket(socketUrl(scene.url), { reconnect: false }),
    });
    const numbers: Array<bigint> = [];
    for await (const { header, replaced, skipped } of preflight.watchHeads()) {
      numbers.push(header.number);
      expect([replaced, skipped]).toEqual([[], 0n]);
      if (numbers.length === 3) break;
      await scene.mine();
    }
    expect(numbers.map((number) => number - (numbers[0] ?? 0n))).toEqual([0n, 1n, 2n]);
    let isTold = false;
    // why: nobody says when the watching has begun
    const giving = (async () => {
      for (; !isTold; await pause(100)) {
        await scene.send(owner, {
          to: token,
          data: calldata({ abi: transferOf(token).abi }, "transfer", [other.address, 3n]),
        });
        await scene.mine();
      }
    })();
    for await (const log of preflight.watchLogs({ address: token })) {
      isTold = true;
      expect([log.address, BigInt(log.data)]).toEqual([token, 3n]);
      break;
    }
    await giving;
  });
});
