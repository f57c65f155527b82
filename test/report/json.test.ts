import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Schema from "effect/Schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Reason, ReportVersion, Verdict } from "../rooms/errors.js";
import { Revert, RevertLayer } from "../rooms/abi.js";
import { note } from "../harness/notes.js";
import { Finding, fromJson, Report, reportVersion, toJson } from "../rooms/report.js";
import { jsonOf, reportJson } from "./arbitrary.js";
import { alice, granted, moved, report, usdc } from "./fixtures.js";
import { later, whole } from "./later.js";
import { runs } from "../harness/parts.js";

const wire = (json: unknown): unknown => JSON.parse(JSON.stringify(json));
const same = Schema.toEquivalence(Report);
const randomJson = reportJson;
const read = (json: unknown): Report => Effect.runSync(fromJson(json));

describe("toJson and fromJson", () => {
  it("are inverse for random reports, through JSON text", () => {
    fc.assert(
      fc.property(randomJson, (json) => {
        const report = read(json);
        const back = read(wire(toJson(report)));
        // why: a field that is left out is decoded as its default
        expect(wire(toJson(report))).toEqual(whole(json));
        expect(same(report, back)).toBe(true);
        expect(wire(toJson(back))).toEqual(wire(toJson(report)));
      }),
      { numRuns: runs(150) },
    );
  });

  const where = Schema.encodeSync(Schema.toCodecJson(Finding))(
    note("OutcomeUnknown", "warning", { evidence: "measured" }),
  ) as object;
  it.each(["OfALaterEdition", "acme/Listed"])("read a finding with the code %s", (code) =>
    expect(Schema.decodeUnknownSync(Schema.toCodecJson(Finding))({ ...where, code }).code).toBe(code),
  );
  it.each(["", "toString", "Value burned", "Value<b>", "V".repeat(65), "a/b/c", 1, null])(
    "refuse the code %j",
    (code) => expect(() => Schema.decodeUnknownSync(Schema.toCodecJson(Finding))({ ...where, code })).toThrow(/code/),
  );
  it.each([...Verdict.members, ...Reason.members].map((member) => [member.identifier, member] as const))(
    "give a %s back as its class, with the message it had",
    (_, member) => {
      const codec = Schema.toCodecJson(Finding);
      const isReason = Reason.members.some((each) => each === member);
      fc.assert(
        fc.property(jsonOf(member), (json) => {
          const said = isReason ? { _tag: "RpcError", method: "eth_call", reason: json } : json;
          const finding = Schema.decodeUnknownSync(codec)({ ...where, error: said });
          const back = Schema.decodeUnknownSync(codec)(wire(Schema.encodeSync(codec)(finding))).error;
          for (const error of [finding.error, back]) {
            const kind = error?._tag === "RpcError" ? error.reason : error;
            expect(kind).toBeInstanceOf(member);
            expect(error).toBeInstanceOf(Error);
            expect(error?.message).toBe(finding.error?.message);
          }
        }),
        { numRuns: runs(30) },
      );
    },
  );

  it("keep every kind of revert", () => {
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

  it("fail with SchemaError on any JSON that is no report, and never die", () => {
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
      if (!later.some(([path]) => path.join(".") === key)) expect(judged(without), key).toBe(true);
      const malformed = key === "options" ? { deadlineMs: "never" } : { never: "this" };
      expect(judged({ ...valid, [key]: malformed }), key).toBe(true);
    }
    for (const other of [undefined, null, "", 1, [], {}, { version: reportVersion }]) expect(judged(other)).toBe(true);
    fc.assert(
      fc.property(randomJson, fc.nat(), fc.jsonValue({ maxDepth: 1 }), (json, at, value) => {
        const text = JSON.stringify(json);
        // why: a quote behind a backslash begins nothing
        const leaves = [...text.matchAll(/(?<!\\)"(?:0x[0-9a-f]*|\d+)"(?=[,\]}])/g)];
        const leaf = leaves[at % leaves.length];
        if (leaf?.index === undefined) return;
        const broken = `${text.slice(0, leaf.index)}${JSON.stringify(value)}${text.slice(leaf.index + leaf[0].length)}`;
        expect(["report", true]).toContain(judged(JSON.parse(broken)));
      }),
      { numRuns: runs(100) },
    );
  });

  it("refuse amounts below zero, by the name of their field, where none may be", () => {
    const fields = [
      ["transactions", 0, "fee", "maxFeePerGas"],
      ["transactions", 0, "fee", "gasPrice"],
      ["transactions", 0, "gas", "limit"],
      ["transactions", 0, "outcome", "gasUsed"],
      ["transactions", 0, "request", "value"],
      ["funds", 0, "required"],
      ["transfers", 0, "amount"],
      ["balanceChanges", 0, "before"],
      ["approvals", 0, "after"],
      ["observed", "baseFeePerGas"],
    ] as const;
    const change = { account: alice, token: usdc, tokenId: null, before: 1_000_000n, after: 0n, delta: -1_000_000n };
    const whole = wire(
      toJson(
        report({ transfers: [moved()], approvals: [granted()], balanceChanges: [{ ...change, evidence: "measured" }] }),
      ),
    );
    const judged = (path: ReadonlyArray<string | number>) => {
      const copy = structuredClone(whole) as Record<string | number, never>;
      const last = path.at(-1) ?? "";
      const parent = path.slice(0, -1).reduce((part, at): typeof copy => part[at] ?? {}, copy);
      expect(parent).toHaveProperty([last]);
      Object.assign(parent, { [last]: "-1" });
      return Effect.runSync(Effect.match(fromJson(copy), { onSuccess: () => "taken", onFailure: String }));
    };
    for (const path of fields) expect(judged(path)).toContain(path.map((at) => `[${JSON.stringify(at)}]`).join(""));
    for (const path of [
      ["balanceChanges", 0, "delta"],
      ["funds", 0, "terms", 0, "amount"],
    ])
      expect(judged(path)).toBe("taken");
  });

  it("fail with ReportVersion on a report of another version, whatever else is in it", () => {
    const [valid] = fc.sample(randomJson, { numRuns: 1, seed: 7 }) as [Record<string, unknown>];
    const failure = (json: unknown) => Effect.runSync(Effect.flip(fromJson(json)));
    for (const version of [0, 1, 2, 3, reportVersion + 1, -1, Number.MAX_SAFE_INTEGER])
      for (const json of [{ ...valid, version }, { version }, { version, findings: "of that time" }]) {
        const error = failure(json);
        expect(error).toBeInstanceOf(ReportVersion);
        expect(error).toMatchObject({ found: version, supported: reportVersion });
        expect(error.message).toContain(`found ${version}, needed ${reportVersion} · `);
        expect(error.message).toContain("scan again with this version");
      }
    for (const version of [null, "1", 1.5, [1], undefined, true, Number.NaN])
      expect(failure({ ...valid, version })).toBeInstanceOf(Schema.SchemaError);
  });

  it("refuse endless nesting instead of overflowing", () => {
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
