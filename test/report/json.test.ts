import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Schema from "effect/Schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Reason, ReportVersion, RpcError, Verdict } from "../rooms/errors.js";
import { Revert, RevertLayer } from "../rooms/abi.js";
import { Finding, fromJson, Report, reportVersion, toJson } from "../rooms/report.js";
import { jsonOf, reportJson } from "./arbitrary.js";
import { runs } from "../harness/parts.js";

const wire = (json: unknown): unknown => JSON.parse(JSON.stringify(json));
const same = Schema.toEquivalence(Report);
const randomJson = reportJson;
const read = (json: unknown): Report => Effect.runSync(fromJson(json));

describe("toJson and fromJson", () => {
  it("are inverse on random reports, through JSON text", () => {
    fc.assert(
      fc.property(randomJson, (json) => {
        const report = read(json);
        const back = read(wire(toJson(report)));
        expect(wire(toJson(report))).toEqual(json);
        expect(same(report, back)).toBe(true);
        expect(wire(toJson(back))).toEqual(wire(toJson(report)));
      }),
      { numRuns: runs(150) },
    );
  });

  it("gives every kind of error back as its class, with the message it had", () => {
    const seen = new Set<string>();
    const codec = Schema.toCodecJson(Finding);
    fc.assert(
      fc.property(jsonOf(Finding), (json) => {
        const finding = Schema.decodeUnknownSync(codec)(json);
        const { error } = finding;
        if (error === null) return;
        seen.add(error._tag === "RpcError" ? `reason ${error.reason._tag}` : error._tag);
        expect(error).toBeInstanceOf(Error);
        const back = Schema.decodeUnknownSync(codec)(wire(Schema.encodeSync(codec)(finding))).error;
        expect(back?.message).toBe(error.message);
        expect(back?.constructor).toBe(error.constructor);
      }),
      { numRuns: runs(1_500) },
    );
    const known = [
      ...Verdict.members.map((member) => member.fields._tag.schema.literal),
      ...Reason.members.map((member) => `reason ${member.fields._tag.schema.literal}`),
    ];
    expect(known.length).toBe(25 + 19);
    expect([...seen].sort()).toEqual([...known].sort());
    expect(RpcError.fields.method).toBeDefined();
  });

  it("keeps every kind of revert", () => {
    const seen = new Set<string>();
    const codec = Schema.toCodecJson(Revert);
    fc.assert(
      fc.property(jsonOf(Revert), (json) => {
        const revert = Schema.decodeUnknownSync(codec)(json);
        for (const { layer } of revert.layers) seen.add(layer._tag);
        expect(wire(Schema.encodeSync(codec)(revert))).toEqual(json);
      }),
      { numRuns: runs(200) },
    );
    expect(seen.size).toBe(RevertLayer.members.length);
  });

  it("fails with SchemaError on any JSON that is no report, and never dies", () => {
    const judged = (json: unknown) => {
      const exit = Effect.runSyncExit(fromJson(json));
      if (Exit.isSuccess(exit)) return "report";
      return Cause.hasDies(exit.cause) ? "died" : Cause.squash(exit.cause) instanceof Schema.SchemaError;
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (json) => {
        expect(judged(json)).toBe(true);
      }),
    );
    const [valid] = fc.sample(randomJson, { numRuns: 1, seed: 7 }) as [Record<string, unknown>];
    for (const key of Object.keys(valid)) {
      const { [key]: _, ...without } = valid;
      expect(judged(without), key).toBe(true);
      expect(judged({ ...valid, [key]: { never: "this" } }), key).toBe(true);
    }
    for (const other of [undefined, null, "", 1, [], {}, { version: reportVersion }]) expect(judged(other)).toBe(true);
    fc.assert(
      fc.property(randomJson, fc.nat(), fc.jsonValue({ maxDepth: 1 }), (json, at, value) => {
        const text = JSON.stringify(json);
        const leaves = [...text.matchAll(/"(?:0x[0-9a-f]*|\d+)"(?=[,\]}])/g)];
        const leaf = leaves[at % leaves.length];
        if (leaf?.index === undefined) return;
        const broken = `${text.slice(0, leaf.index)}${JSON.stringify(value)}${text.slice(leaf.index + leaf[0].length)}`;
        expect(["report", true]).toContain(judged(JSON.parse(broken)));
      }),
      { numRuns: runs(100) },
    );
  });

  it("fails with ReportVersion on a report of another version, whatever else is in it", () => {
    const [valid] = fc.sample(randomJson, { numRuns: 1, seed: 7 }) as [Record<string, unknown>];
    const failure = (json: unknown) => Effect.runSync(Effect.flip(fromJson(json)));
    for (const version of [0, 1, 2, reportVersion + 1, -1, Number.MAX_SAFE_INTEGER])
      for (const json of [{ ...valid, version }, { version }, { version, findings: "of that time" }]) {
        const error = failure(json);
        expect(error).toBeInstanceOf(ReportVersion);
        expect(error).toMatchObject({ found: version, supported: reportVersion });
        expect(error.message).toContain(`found ${version}, read ${reportVersion} · `);
        expect(error.message).toContain("scan again with this version");
      }
    for (const version of [null, "1", 1.5, [1], undefined, true, Number.NaN])
      expect(failure({ ...valid, version })).toBeInstanceOf(Schema.SchemaError);
  });

  it("refuses nesting without end instead of overflowing", () => {
    let deep: unknown = null;
    for (let level = 0; level < 200_000; level++) deep = [deep];
    const [valid] = fc.sample(randomJson, { numRuns: 1, seed: 7 }) as [Record<string, Record<string, unknown>>];
    const exit = Effect.runSyncExit(fromJson({ ...valid, options: { ...valid["options"], policies: [deep] } }));
    expect(String(exit)).toContain("nested deeper than 256 levels");
    const loop: Record<string, unknown> = {};
    loop["a"] = loop;
    loop["b"] = [loop, loop];
    expect(Exit.isFailure(Effect.runSyncExit(fromJson(loop)))).toBe(true);
  });
});
