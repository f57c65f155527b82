/** Every request of a run fails in turn, in every way: a report all the same, and never a `ready` without what it needs. */
import * as NodeWS from "@effect/platform-node/NodeWS";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Socket from "effect/socket/Socket";
import { webSocket } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import * as Rpc from "../../src/Rpc.js";
import { startBridge } from "../harness/bridge.js";
import { half, isWhole } from "../harness/parts.js";
import { faults, startProxy, type Fault, type Proxy } from "../harness/proxy.js";
import { other, owner, startAnvilScene, type Scene } from "./scene.js";

/** The connection is refused, as when nobody listens: closed before a byte of the answer. */
const walked: Readonly<Record<string, Fault>> = {
  refused: faults.drop,
  "403": faults.forbidden,
  "429": faults.rateLimited,
  "500 with HTML": faults.html500,
  "cut JSON": faults.cut,
  "wrong id": faults.wrongId,
  "null result": faults.nullResult,
  "empty array": faults.emptyArray,
  "wrong types": faults.wrongType,
  "a hang": faults.hang,
};

/** Without these there is no `ready`; everything else has another source, and costs a finding. */
const needed = new Set(["eth_simulateV1", "eth_getTransactionCount"]);

const input = { from: owner.address, to: other.address, value: 10n ** 15n } as const;

let scene: Scene;
beforeAll(async () => {
  scene = await startAnvilScene();
});
afterAll(() => scene.stop());

/** Soon tired of waiting, for hangs are walked too. */
const impatient = { deadline: 1_500, timeoutMs: 250 };

interface Walked extends Proxy {
  /** The same node through the proxy, over a WebSocket. */
  readonly socketUrl: string;
}

/** How requests go through the proxy. */
type Over = (walked: Walked, options: Rpc.Options) => Layer.Layer<Rpc.Rpc>;

const ways: Readonly<Record<string, Over>> = {
  HTTP: ({ url }, options) => Rpc.layerHttp(url, options),
  "a socket of viem": ({ socketUrl }, options) =>
    Rpc.layerTransport(webSocket(socketUrl, { reconnect: false, keepAlive: false }), options),
  "a socket of Effect": ({ socketUrl }, options) =>
    Rpc.layerSocket(options).pipe(
      Layer.provide(Layer.suspend(() => Socket.layerWebSocket(socketUrl))),
      Layer.provide(NodeWS.layerWebSocketConstructor),
    ),
};

const walker =
  (over: Over) =>
  (walked: Walked, options: { deadline: number; timeoutMs: number } = impatient) =>
    Effect.runPromise(
      Preflight.preflight(input, { deadline: options.deadline }).pipe(
        Effect.provide(over(walked, { retryTimes: 0, timeoutMs: options.timeoutMs })),
      ),
    );

const withProxy = async <A>(use: (walked: Walked) => Promise<A>): Promise<A> => {
  const proxy = await startProxy({ target: scene.url });
  const bridge = await startBridge(proxy.url);
  try {
    return await use({ ...proxy, socketUrl: bridge.url });
  } finally {
    await bridge.stop();
    await proxy.stop();
  }
};

/** The methods of an undisturbed run with how often each is asked. */
const undisturbed = (runOn: ReturnType<typeof walker>) =>
  withProxy(async (proxy) => {
    const report = await runOn(proxy, { deadline: 20_000, timeoutMs: 10_000 });
    expect(report.verdict).toBe("ready");
    const counts = new Map<string, number>();
    for (const { method } of proxy.seen) counts.set(method, (counts.get(method) ?? 0) + 1);
    return counts;
  });

describe.each(Object.entries(ways))("preflight over %s, with every request failing in turn", (way, over) => {
  const runOn = walker(over);
  for (const [[name, fault]] of half(Object.entries(walked), Object.keys(ways).indexOf(way))) {
    // why: each request alone over one of the two sockets is enough, and takes long
    it.skipIf(way === "a socket of Effect" || (way !== "HTTP" && !isWhole))(
      `gives a report with a finding when one request fails: ${name}`,
      async () => {
        const counts = await undisturbed(runOn);
        expect(counts.size).toBeGreaterThanOrEqual(7);
        const walks = [...counts].flatMap(([method, times]) =>
          Array.from({ length: times }, (_, position) => ({ method, position })),
        );
        for (let at = 0; at < walks.length; at += 8) {
          const reports = await Promise.all(
            walks.slice(at, at + 8).map(({ method, position }) =>
              withProxy(async (proxy) => {
                proxy.failAt(method, fault, position);
                return { where: `${name} of ${method} #${position}`, method, report: await runOn(proxy) };
              }),
            ),
          );
          for (const { where, method, report } of reports) {
            expect(["ready", "caution", "unknown", "blocked"], where).toContain(report.verdict);
            // what one request did not say another may have said; its failure is a finding, or a further round in the ledger
            const isTold = report.findings.some(({ error }) => error !== null) || report.ledger.rounds > 2;
            expect(isTold || isNoError(method, name), where).toBe(true);
          }
        }
      },
    );

    it(`gives a report when every request of one method fails: ${name}`, async () => {
      const counts = await undisturbed(runOn);
      const reports = await Promise.all(
        [...counts.keys()].map((method) =>
          withProxy(async (proxy) => {
            proxy.fail(method, fault, Number.MAX_SAFE_INTEGER);
            return [method, await runOn(proxy)] as const;
          }),
        ),
      );
      for (const [method, report] of reports) {
        if (needed.has(method)) expect(report.verdict, `${name} of every ${method}`).not.toBe("ready");
        else if (report.verdict === "ready" && method !== "eth_config")
          expect(report.findings, `${name} of every ${method}`).not.toEqual([]);
        // typed, never a defect: whatever failed stands in the findings with its error
        expect(
          report.findings.some(({ error }) => error !== null) || isNoError(method, name),
          `${name} of every ${method}`,
        ).toBe(true);
      }
    });
  }
});

/**
 * Answers that are right for the method: an empty block has no receipts, and so has a block that is not there. And what
 * only adds a warning where it is answered: nothing is said without `eth_config`.
 */
const isNoError = (method: string, name: string): boolean =>
  method === "eth_config" || (method === "eth_getBlockReceipts" && name === "empty array");
