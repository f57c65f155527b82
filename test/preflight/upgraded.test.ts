/** A stored report of version 4 on the node that it is about: proven, cleared, sent, and settled by what it said. */
import * as Effect from "effect/Effect";
import type { Hex } from "viem";
import { expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import { createPreflight } from "../../src/promise.js";
import { mineAnvil, rawRequest, startAnvil } from "../harness/anvil.js";
import { ReportVersion } from "../rooms/errors.js";
import { samples } from "../report/stored.js";
import { layerOf, refusedWith, signAll } from "./scene.js";

it("a stored report of version 4 is proven to one of version 5, cleared, and settled as reported", async () => {
  const node = await startAnvil();
  const on = <A, E>(effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof Preflight.scan>>>) =>
    Effect.runPromise(Effect.provide(effect, layerOf(node.url)));
  const stored = samples.find(({ name }) => name === "transfer")?.report;
  const report = await on(Report.fromJson(stored));
  expect(await refusedWith(report)).toBeInstanceOf(ReportVersion);
  const preflight = createPreflight({ url: node.url });
  await expect(preflight.ready(report)).rejects.toBeInstanceOf(ReportVersion);
  await preflight.dispose();

  const proven = await on(Preflight.prove(report));
  expect([proven.version, proven.stage, proven.verdict]).toEqual([5, "proven", "ready"]);
  expect(proven.transactions.map(({ request }) => request)).toEqual(report.transactions.map(({ request }) => request));
  expect(proven.digest).not.toBe(report.digest);
  const clearance = await on(Report.ready(proven));
  expect([clearance.signs, clearance.chainId]).toEqual([[], 31337]);
  const signed = await signAll(clearance);
  expect(Report.matches(clearance, signed)).toBe(true);
  const hashes: Array<Hex> = [];
  for (const raw of signed) hashes.push((await rawRequest(node.url, "eth_sendRawTransaction", [raw])) as Hex);
  await mineAnvil(node.url);
  const settled = await on(Preflight.settle(report, hashes));
  expect(settled.class).toBe("same");
  expect(Report.settledText(settled, report)).not.toContain("undefined");
  await node.stop();
});
