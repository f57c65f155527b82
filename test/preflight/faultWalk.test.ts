/** Every request of a run fails in turn, in every way: a report all the same, and never a `ready` without what it needs. */
import * as Effect from "effect/Effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
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

const runOn = (proxy: Proxy, { deadline, timeoutMs } = impatient): Promise<Report> =>
  Effect.runPromise(
    Preflight.preflight(input, { deadline }).pipe(
      Effect.provide(Rpc.layerHttp(proxy.url, { retryTimes: 0, timeoutMs })),
    ),
  );

const withProxy = async <A>(use: (proxy: Proxy) => Promise<A>): Promise<A> => {
  const proxy = await startProxy({ target: scene.url });
  try {
    return await use(proxy);
  } finally {
    await proxy.stop();
  }
};

/** The methods of an undisturbed run with how often each is asked. */
const undisturbed = () =>
  withProxy(async (proxy) => {
    const report = await runOn(proxy, { deadline: 20_000, timeoutMs: 10_000 });
    expect(report.verdict).toBe("ready");
    const counts = new Map<string, number>();
    for (const { method } of proxy.seen) counts.set(method, (counts.get(method) ?? 0) + 1);
    return counts;
  });

describe("preflight, with every request failing in turn", () => {
  for (const [name, fault] of Object.entries(walked)) {
    it(`is a report with a finding when one request fails: ${name}`, async () => {
      const counts = await undisturbed();
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
    });

    it(`fails a whole method at once: ${name}`, async () => {
      const counts = await undisturbed();
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
