/** Heads and pending state that move while a report is made: a part of the moving beds, and what decides on them. */
import * as Effect from "effect/Effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawRequest } from "../harness/anvil.js";
import * as Chains from "../../src/Chains.js";
import { BlockNotFound, RpcError, SimBlockOrder } from "../rooms/errors.js";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import { isLost, movingBeds, movingKinds, reportsOn } from "../harness/accuracy/moving.js";
import { findOpGethOrWarn, startOpGeth } from "../harness/opGeth.js";
import { furnish, passing, turn } from "./furnished.js";
import {
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  preflight,
  preflightOn,
  scenesFor,
  tampered,
  third,
  type Scene,
} from "./scene.js";

/** Of each kind. */
const some = 3;

const bounded = movingBeds.filter(([name]) => name.includes("300 ms") || name.startsWith("op-geth"));

describe.each(bounded)("reports while heads move, on %s", (_, start) => {
  it(`leave none of ${some} honest transactions of each kind unknown or blocked, within the deadline`, async () => {
    const on = await start();
    try {
      for (const kind of movingKinds) {
        const reports = await reportsOn(on, kind, some);
        const lost = reports.filter((report) => isLost(report) || report.verdict === "blocked");
        expect([kind, lost.map(codesOf)]).toEqual([kind, []]);
        // what names its block is of one that is named by its hash, or of what is not sealed yet
        for (const { params } of on.proxy.seen.filter((asked) => asked.method === "eth_simulateV1")) {
          const [{ blockStateCalls }, block] = params as [
            { blockStateCalls: ReadonlyArray<{ blockOverrides?: { number?: string } }> },
            unknown,
          ];
          if (block !== "pending" && blockStateCalls[0]?.blockOverrides?.number !== undefined)
            expect(block).toEqual({ blockHash: expect.any(String), requireCanonical: true });
        }
      }
    } finally {
      await on.stop();
    }
  }, 120_000);
});

const send = { from: owner.address, to: nobody, value: 1n } as const;
const statesOf = ({ observed }: Report) => observed.worlds.map(({ run, state }) => [run, state]);
const refusalOf = (reason: RpcError["reason"]) => new RpcError({ method: "eth_simulateV1", reason });

describe.each(scenesFor("ground that moves"))("runs on a head that moves, on %s", (name, start) => {
  let scene: Scene;
  let gate: `0x${string}`;
  beforeAll(async () => {
    ({ scene, gate } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  const latest = async () => BigInt((await scene.ask("eth_blockNumber", [])) as string);

  it("both stand on the latest block of a header read after the head moved", async () => {
    // the proof's own runs, refused for a head that is no more
    const refused = tampered(scene.url, ({ purpose, before: times, params }) =>
      purpose === "exact" && times === 0 && params[1] === "pending"
        ? refusalOf(new SimBlockOrder({ detail: "" }))
        : null,
    );
    const moved = await preflightOn(refused, send);
    const head = moved.observed.latestNumber;
    expect([moved.verdict, codesOf(moved).filter((code) => code.startsWith("Pending")), statesOf(moved)]).toEqual([
      "ready",
      ["PendingMoved/info"],
      [
        ["exact", head],
        ["next", head],
      ],
    ]);
    // by the scan, beside the runs, behind the move, and beside the runs on what that shows
    const headers = moved.ledger.requests.filter(({ method }) => method === "eth_getBlockByNumber");
    expect(headers.map(({ round }) => round)).toEqual([1, 2, 3, 4]);
    expect(moved.ledger.rounds).toBe(4);
  });

  it("are not confirmed where the head is gone behind them; a lagging node is outvoted", async () => {
    await scene.mine();
    const earlier = await scene.ask("eth_getBlockByNumber", [`0x${((await latest()) - 1n).toString(16)}`, false]);
    // by the scan, beside the runs, and behind them: once, and of several nodes
    const shown = async (...places: ReadonlyArray<number>) => {
      const asked = tampered(scene.url, ({ method, before: times }) =>
        method === "eth_getBlockByNumber" && places.includes(times) ? () => earlier : null,
      );
      return preflightOn(asked, send, { confirmHead: true });
    };
    const gone = await shown(2, 3, 4, 5, 6);
    expect([gone.verdict, codesOf(gone)]).toEqual([
      "unknown",
      expect.arrayContaining(["BaseNotComparable/unavailable"]),
    ]);
    expect((await shown(2, 3, 4, 6)).verdict).toBe("ready");
  });

  it("clear on the latest block, and refuse nothing for what only pending state has", async () => {
    await turn({ scene, gate }, "open");
    const refused = tampered(scene.url, ({ purpose, params }) =>
      purpose === "exact" && params[1] === "pending" ? refusalOf(new SimBlockOrder({ detail: "" })) : null,
    );
    const report = await preflightOn(refused, passing(gate));
    expect(report.verdict).toBe("unknown");
    expect(codesOf(report)).toContain("PendingMoved/unavailable");
    await scene.mine();
  });

  it("use another block where their node no longer knows theirs", async () => {
    const unknown = tampered(scene.url, ({ purpose, before: times }) =>
      purpose === "next" && times === 0 ? refusalOf(new BlockNotFound({ detail: "" })) : null,
    );
    const report = await preflightOn(unknown, send);
    expect([report.verdict, statesOf(report).map(([, state]) => state)]).toEqual([
      "ready",
      [report.observed.latestNumber, report.observed.latestNumber],
    ]);
  });

  it("show a gateway that ignores the pinned block, and give no ready report on it", async () => {
    if (name !== "geth") return;
    await scene.mine();
    // by the block before, whose hash the witness reads
    const head = await latest();
    const parent = (await scene.ask("eth_getBlockByNumber", [`0x${(head - 1n).toString(16)}`, false])) as {
      hash: string;
    };
    const other = parent.hash.slice(2);
    const swap = (result: unknown) => {
      const [block] = result as ReadonlyArray<{ parentHash: string }>;
      const hash = (block?.parentHash ?? "").slice(2);
      return JSON.parse(JSON.stringify(result).replaceAll(hash, other)) as unknown;
    };
    const swapped = tampered(scene.url, ({ purpose }) => (purpose === "next" || purpose === "exact" ? swap : null));
    const report = await preflightOn(swapped, send, { block: "latest" });
    expect(report.verdict).toBe("unknown");
    expect(report.ledger.requests.filter(({ run }) => run === "next")).toHaveLength(8);
    expect(codesOf(report)).toContain("BaseNotComparable/unavailable");
    // whatever it refuses beside
    const refusing = tampered(scene.url, ({ purpose, params }) =>
      purpose === "next" || purpose === "exact"
        ? swap
        : purpose === "ample" && typeof params[1] === "object"
          ? refusalOf(new BlockNotFound({ detail: "" }))
          : null,
    );
    const beside = await preflightOn(refusing, { ...send, gas: 21_000n }, { block: "latest" });
    expect(codesOf(beside)).toContain("BaseNotComparable/unavailable");
  });

  it("show a gateway that runs on the block before, though contracts there have no name for it", async () => {
    const zeroed = tampered(scene.url, ({ purpose }) =>
      purpose === "next"
        ? (result) => {
            const [block] = result as ReadonlyArray<{ parentHash: string }>;
            const hash = (block?.parentHash ?? "").slice(2);
            const [first, ...rest] = JSON.parse(
              JSON.stringify(result).replaceAll(hash, "0".repeat(64)),
            ) as ReadonlyArray<object>;
            return [{ ...first, parentHash: `0x${"12".repeat(32)}` }, ...rest];
          }
        : null,
    );
    if (name !== "geth") return;
    const report = await preflightOn(zeroed, send, { block: "latest" });
    expect([report.verdict, codesOf(report).includes("BaseNotComparable/unavailable")]).toEqual(["unknown", true]);
  });

  it("make a proof void when the sender's transaction is mined meanwhile", async () => {
    const count = await scene.count(third.address);
    const rising = tampered(scene.url, ({ purpose, before: times }) =>
      purpose === "latest count" && times === 1 ? () => `0x${(count + 1).toString(16)}` : null,
    );
    const report = await preflightOn(rising, { from: third.address, to: nobody, value: 1n });
    expect(report.ledger.requests.filter(({ run }) => run === "next")).toHaveLength(2);
    expect(report.ledger.requests.filter(({ method }) => method === "eth_getBlockByNumber").length).toBeGreaterThan(1);
  });

  it("are checked against the chain id that the witness reads in each", async () => {
    const chainId = BigInt(scene.chainId).toString(16).padStart(64, "0");
    const elsewhere = 424_242n.toString(16).padStart(64, "0");
    for (const run of ["ample", "readerOnly", "exact", "next"]) {
      const layer = tampered(scene.url, ({ purpose }) =>
        purpose === run
          ? (result) => JSON.parse(JSON.stringify(result).replaceAll(chainId, elsewhere)) as unknown
          : null,
      );
      const report = await preflightOn(layer, { ...send, chainId: scene.chainId });
      expect([run, report.verdict === "blocked" || report.verdict === "unknown"]).toEqual([run, true]);
      expect([run, codesOf(report)]).toEqual([run, expect.arrayContaining(["ChainIdMismatch/blocker"])]);
    }
    // in an attempt that did not stand, too
    const once = tampered(scene.url, ({ purpose, before: times }) =>
      purpose === "exact" && times === 0
        ? refusalOf(new BlockNotFound({ detail: "" }))
        : purpose === "next" && times === 0
          ? (result) => JSON.parse(JSON.stringify(result).replaceAll(chainId, elsewhere)) as unknown
          : null,
    );
    const again = await preflightOn(once, { ...send, chainId: scene.chainId });
    expect(again.ledger.requests.filter(({ run }) => run === "next")).toHaveLength(2);
    expect(codesOf(again)).toContain("ChainIdMismatch/blocker");
    expect((await preflight(scene.url, { from: other.address, to: nobody, value: 1n })).verdict).toBe("ready");
  });
});

const opGeth = findOpGethOrWarn("the pace of chains");

describe.skipIf(opGeth === null)("the pace of a known chain, whatever interval the node reports,", () => {
  it.each([
    ["Base", 8453, 1n],
    ["Polygon", 137, 2n],
    ["BNB Smart Chain", 56, 1n],
    ["Avalanche", 43114, 2n],
  ])("is the table's on %s", async (_, chainId, slot) => {
    const node = await startOpGeth(opGeth ?? "", { generation: "isthmus", chainId });
    try {
      await node.mine();
      for (const known of [Chains.lookup(chainId), { ...Chains.lookup(chainId), feeModel: "opstack" as const }]) {
        const report = await Effect.runPromise(
          Preflight.preflight({ ...send, chainId }).pipe(
            Effect.provide(layerOf(node.url)),
            Effect.provide(Chains.layerWith(chainId, known)),
          ),
        );
        const head = report.observed.worlds.find(({ run }) => run === "next");
        const { timestamp } = (await rawRequest(node.url, "eth_getBlockByNumber", ["latest", false])) as {
          readonly timestamp: string;
        };
        expect([head?.timestamp, head?.state]).toEqual([BigInt(timestamp) + slot, report.observed.latestNumber]);
      }
    } finally {
      await node.stop();
    }
  });
});
