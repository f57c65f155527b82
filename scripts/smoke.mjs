// The built package through its own name, by import and by require, without any node.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as Effect from "effect/Effect";
import { Errors, Preflight, Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { layerScripted } from "evm-preflight/testing";
import { preflightActions } from "evm-preflight/viem";

// Node 20.19 and later, Bun and Deno load ES modules by require, as long as none of them awaits at its top level.
const require = createRequire(import.meta.url);
const { exports } = require("evm-preflight/package.json");
const doors = Object.keys(exports).filter((door) => door !== "./package.json");
for (const door of doors) {
  const name = `evm-preflight${door.slice(1)}`;
  const loaded = await import(name);
  assert.notEqual(Object.keys(loaded).length, 0, name);
  const same = Object.keys(require(name)).filter((key) => key !== "__esModule");
  assert.deepEqual(same.sort(), Object.keys(loaded).sort(), name);
  for (const key of Object.keys(loaded)) assert.equal(require(name)[key], loaded[key], `${name}: two of ${key}`);
}
for (const [name, namespace] of Object.entries(await import("evm-preflight")))
  assert.equal(await import(`evm-preflight/${name}`), namespace, `evm-preflight/${name} is ${name} of the main door`);

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

// An ES module with a layer that was required: there is one copy of everything.
const required = require("evm-preflight/testing").layerScripted({});
const mixed = await Effect.runPromise(Preflight.scan(transfer).pipe(Effect.provide(required)));
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
