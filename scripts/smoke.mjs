// The built package through its own name, as ESM and as CommonJS, without any node.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as Effect from "effect/Effect";
import { Errors, Preflight, Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { layerScripted } from "evm-preflight/testing";
import { preflightActions } from "evm-preflight/viem";

const require = createRequire(import.meta.url);
const doors = ["", "/promise", "/viem", "/redis", "/postgres", "/testing"];
for (const door of doors) {
  const esm = await import(`evm-preflight${door}`);
  const cjs = require(`evm-preflight${door}`);
  assert.deepEqual(
    Object.keys(cjs)
      .filter((name) => name !== "__esModule")
      .sort(),
    Object.keys(esm)
      .filter((name) => name !== "default" && name !== "module.exports")
      .sort(),
    `evm-preflight${door}`,
  );
}

const transfer = {
  from: "0x00000000000000000000000000000000000000a1",
  to: "0x00000000000000000000000000000000000000b2",
  value: 1n,
};

// A node that supports nothing: the report says so, and never "ready".
const nothing = layerScripted({});
const report = await Effect.runPromise(Preflight.scan(transfer).pipe(Effect.provide(nothing)));
assert.equal(report.verdict, "unknown");
assert.equal(typeof Report.toText(report), "string");

// An ESM program with the CJS layer: the service's key is a string, so the two builds work together.
const cjsTesting = require("evm-preflight/testing");
const mixed = await Effect.runPromise(Preflight.scan(transfer).pipe(Effect.provide(cjsTesting.layerScripted({}))));
assert.equal(mixed.verdict, "unknown");

const preflight = createPreflight({ layer: nothing });
await assert.rejects(
  preflight.run({ ...transfer, to: "0x12" }),
  (error) => error instanceof Errors.InvalidTransaction && error.field === "to",
);
await assert.rejects(preflight.ready(await preflight.run(transfer)), (error) => error instanceof Errors.NotProven);
await preflight.dispose();
assert.equal(typeof preflightActions()({ request: () => Promise.reject(new Error("unused")) }).scan, "function");
process.exit(0);
