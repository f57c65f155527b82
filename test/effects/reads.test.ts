/** A log and a call are looked up once: everything that compares runs, judges, measures and tells reads the rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { Token } from "../contracts/artifacts.js";
import { furnish } from "../preflight/furnished.js";
import { layerOf, other, owner, preflightOn, startAnvilScene, type Scene } from "../preflight/scene.js";

const { looked } = vi.hoisted(() => ({ looked: { events: 0, calls: 0, announced: 0, requested: 0 } }));
vi.mock("../../src/abi/known/events.js", async (original) => {
  const real = await original<typeof import("../../src/abi/known/events.js")>();
  return {
    knownEvents: new Proxy(real.knownEvents, {
      get: (rows, kind) => {
        looked.events += 1;
        return rows[String(kind)];
      },
    }),
  };
});
vi.mock("../../src/abi/known/calls.js", async (original) => {
  const real = await original<typeof import("../../src/abi/known/calls.js")>();
  return {
    callRowOf: (data: string) => {
      looked.calls += 1;
      return real.callRowOf(data);
    },
  };
});
vi.mock("../../src/effects/rights.js", async (original) => {
  const real = await original<typeof import("../../src/effects/rights.js")>();
  return {
    ...real,
    announcedBy: (...event: Parameters<typeof real.announcedBy>) => {
      looked.announced += 1;
      return real.announcedBy(...event);
    },
    requestedBy: (...call: Parameters<typeof real.requestedBy>) => {
      looked.requested += 1;
      return real.requestedBy(...call);
    },
  };
});

let scene: Scene;
let token: `0x${string}`;
beforeAll(async () => {
  ({ scene, token } = await furnish(startAnvilScene));
});
afterAll(() => scene.stop());
beforeEach(() => Object.assign(looked, { events: 0, calls: 0, announced: 0, requested: 0 }));

const calling = (functionName: string, amount: bigint) => ({
  ...{ from: owner.address, to: token, abi: Token.abi, functionName, args: [other.address, amount] },
});
const runsOf = ({ ledger }: Awaited<ReturnType<typeof preflightOn>>) =>
  ledger.requests.flatMap(({ run, method }) => (method === "eth_simulateV1" ? [run] : [])).sort();

describe("a preflight", () => {
  it.each([
    ["a transfer", ["transfer"]],
    ["an approval", ["approve"]],
    ["a bundle of three", ["transfer", "approve", "transfer"]],
  ])("of %s looks up each log once a run, and each call once for all runs", async (_, functions) => {
    const bundle = functions.map((name, place) => calling(name, BigInt(place + 5)));
    const report = await preflightOn(layerOf(scene.url), bundle);
    expect(runsOf(report)).toEqual(["ample", "exact", "next", "readerOnly"]);
    expect(report.transactions.map(({ outcome }) => outcome.logs.length)).toEqual(bundle.map(() => 1));
    // ample, exact and next have one log of each transaction; a scan and its proof share what they read of the calldata
    const [events, calls] = [3 * bundle.length, bundle.length];
    expect(looked).toEqual({ events, announced: events, calls, requested: calls });
  });
});
