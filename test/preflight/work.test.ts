/** What a proof works on, it works on once: what all runs say alike is decoded once, ABIs are indexed at the door. */
import { secp256k1 } from "@noble/curves/secp256k1";
import * as Effect from "effect/Effect";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { decodeLog, decodeResult, indexAbis } from "../rooms/abi.js";
import { emptyTape, layerRecorder, layerReplay, layerScripted } from "../../src/testing.js";
import type { Layer } from "effect/Layer";
import type { Rpc } from "../../src/Rpc.js";
import { ready } from "../../src/Preflight.js";
import { Token } from "../contracts/artifacts.js";
import { furnish } from "./furnished.js";
import { layerOf, other, owner, preflightOn, proveOn, scanOn, startAnvilScene, third, type Scene } from "./scene.js";

vi.mock("../../src/abi/abiIndex.js", async (original) => {
  const real = await original<typeof import("../../src/abi/abiIndex.js")>();
  return { ...real, indexAbis: vi.fn(real.indexAbis) };
});
vi.mock("../../src/abi/decodeLogs.js", async (original) => {
  const real = await original<typeof import("../../src/abi/decodeLogs.js")>();
  return { ...real, decodeLog: vi.fn(real.decodeLog), decodeResult: vi.fn(real.decodeResult) };
});

let scene: Scene;
let token: `0x${string}`;
beforeAll(async () => {
  ({ scene, token } = await furnish(startAnvilScene));
});
afterAll(() => scene.stop());
beforeEach(() => vi.clearAllMocks());

const transfer = () => ({
  ...{ from: owner.address, to: token, abi: Token.abi, functionName: "transfer", args: [other.address, 5n] },
});
/** How often what was done; the counts begin anew. */
const worked = () => {
  const counts = {
    results: vi.mocked(decodeResult).mock.calls.length,
    logs: vi.mocked(decodeLog).mock.calls.length,
    indices: vi.mocked(indexAbis).mock.calls.length,
  };
  vi.clearAllMocks();
  return counts;
};
const runsOf = (report: Awaited<ReturnType<typeof scanOn>>) =>
  report.ledger.requests.flatMap(({ run, method }) => (method === "eth_simulateV1" ? [run] : []));

describe("the work on a proven transfer of a token", () => {
  it("decodes results and events of all runs once, and indexes ABIs once", async () => {
    const report = await preflightOn(layerOf(scene.url), transfer());
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    expect([...runsOf(report)].sort()).toEqual(["ample", "exact", "next", "readerOnly"]);
    // bare, exact and next say the same; an index of the ABIs, and one of the item of the call
    expect(worked()).toEqual({ results: 1, logs: 1, indices: 2 });
  });

  it("is done once for each, scan and proof, when they are made apart", async () => {
    const scanned = await scanOn(layerOf(scene.url), transfer());
    // the item of the same ABI has been indexed
    expect(worked()).toEqual({ results: 1, logs: 1, indices: 1 });
    const proven = await proveOn(layerOf(scene.url), scanned);
    expect(proven.verdict).toBe("ready");
    // its runs, two of them in blocks between, say what the scan's have said
    expect(worked()).toEqual({ results: 0, logs: 0, indices: 0 });
  });

  it("is done again from a tape, and on a node without simulation", async () => {
    const tape = emptyTape();
    const recorded = await preflightOn(layerRecorder(layerOf(scene.url), tape), transfer());
    const first = worked();
    const replayed = await preflightOn(layerReplay(tape), transfer());
    expect(worked()).toEqual(first);
    expect(replayed.transactions).toEqual(recorded.transactions);
    const blunt: Layer<Rpc> = layerScripted({});
    expect((await preflightOn(blunt, transfer())).verdict).toBe("unknown");
    expect(worked()).toEqual({ results: 0, logs: 0, indices: 1 });
  });
});

it("a bundle of n calls decodes each call's results once, in one request per run", async () => {
  const bundle = Array.from({ length: 5 }, transfer);
  const report = await preflightOn(layerOf(scene.url), bundle);
  expect(report.verdict).toBe("ready");
  expect(worked()).toEqual({ results: 5, logs: 5, indices: 1 });
  expect(runsOf(report)).toHaveLength(4);
});

it("the signer of an authorisation is recovered once for a scan, its proof and its clearance", async () => {
  const authorization = await third.signAuthorization({ address: token, chainId: scene.chainId, nonce: 0 });
  const { yParity = 0, address, chainId, nonce, r, s } = authorization;
  const input = {
    ...{ from: owner.address, to: other.address, data: "0x" as const },
    authorizationList: [{ address, chainId, nonce, r, s, yParity }],
  };
  const recovered = vi.spyOn(secp256k1.Signature, "fromCompact");
  const scanned = await scanOn(layerOf(scene.url), input);
  const proven = await proveOn(layerOf(scene.url), scanned);
  await Effect.runPromise(Effect.exit(ready(proven)));
  expect(recovered).toHaveBeenCalledTimes(1);
  recovered.mockRestore();
});
