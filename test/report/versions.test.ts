/** Reports of the version before, and fields that came later: what is read, and what may be done with it. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import * as Policy from "../../src/Policy.js";
import { ReportVersion } from "../rooms/errors.js";
import { digestOf, reportVersion, upgrade } from "../rooms/report.js";
import { signingHash } from "../rooms/transaction.js";
import { later, whole, without, withValue } from "./later.js";
import { samples } from "./stored.js";
import { alice, granted, moved, report, transfer, usdc } from "./fixtures.js";

const wire = (json: unknown): unknown => JSON.parse(JSON.stringify(json));
const read = (json: unknown): Report.Report => Effect.runSync(Report.fromJson(json));
const readiness = (made: Report.Report) => Effect.runSync(Effect.result(Report.ready(made)));

const renderings = {
  text: Report.toText,
  markdown: Report.toMarkdown,
  html: Report.toHtml,
  svg: Report.toSvg,
  summary: Report.summary,
} as const;
const former = ["bare", "alone", "swap", "priced", "order", "apart"];

describe("a stored report of version 4", () => {
  it("has a sample of every kind", () => {
    expect(samples.map(({ report: { version } }) => version)).toEqual(samples.map(() => 4));
    expect(new Set(samples.map(({ report: { verdict } }) => verdict))).toEqual(
      new Set(["ready", "blocked", "caution", "unknown"]),
    );
    expect(samples.some(({ report: made }) => JSON.stringify(made).includes('"run":"order"'))).toBe(true);
  });

  it.each(samples)("$name is read, keeps its version, and goes to JSON and back", ({ report: json }) => {
    const made = read(json);
    expect(made.version).toBe(4);
    expect(wire(Report.toJson(made))).toEqual(whole(upgrade(json)));
    expect(read(wire(Report.toJson(made)))).toEqual(made);
    const runs = [...made.ledger.requests, ...made.observed.worlds].map(({ run }) => run as string);
    expect(runs.filter((run) => former.includes(run))).toEqual([]);
  });

  it.each(samples)("$name is shown and compared", ({ report: json }) => {
    const made = read(json);
    for (const render of Object.values(renderings)) expect(render(made)).not.toMatch(/undefined|NaN/);
    expect(Report.toText(made)).toContain(made.verdict.toUpperCase());
    expect(Report.diff(made, made)).toEqual([]);
    expect(Report.diff(made, report()).length).toBeGreaterThan(0);
  });

  it.each([{ toString: 1 }, ["bare"], [["bare"]], 1])("is refused by its field where a run is %j", (run) => {
    const json = samples[0]?.report ?? {};
    const ledger = { ...(json["ledger"] as object), requests: [{ run }] };
    const failure = Effect.runSync(Effect.flip(Report.fromJson({ ...json, ledger })));
    expect(failure).toMatchObject({ _tag: "SchemaError" });
  });

  it("is to be proven again, by its text, before it is signed", () => {
    for (const { report: json } of samples) {
      const text = Report.toText(read({ ...json, verdict: "ready", stage: "proven" }));
      expect(text).toContain("prove it again before you sign");
      expect(text).not.toContain("sign exactly");
    }
  });

  it.each(samples)("$name gets no clearance, whatever it says", ({ report: json }) => {
    const made = read(json);
    const fresh = { ...made, observed: { ...made.observed, at: Date.now(), until: null } };
    const result = readiness(fresh);
    expect(Result.isFailure(result) && result.failure).toBeInstanceOf(ReportVersion);
    expect(Result.isFailure(result) && result.failure).toMatchObject({ found: 4, supported: reportVersion });
    expect(Result.isFailure(result) && result.failure.message).toContain("prove it again");
    const relabelled = readiness({ ...fresh, version: 5 });
    expect(Result.isFailure(relabelled)).toBe(true);
  });

  it("has runs renamed in the ledger and among the blocks alone, once or twice the same", () => {
    const json = {
      version: 4,
      ledger: { requests: [{ run: "bare" }, { run: "exact" }, 7] },
      policies: [{ run: "bare" }],
    };
    const worlds = former.map((run) => ({ run }));
    const now = upgrade({ ...json, observed: { worlds } });
    expect(now).toEqual({
      ...json,
      ledger: { requests: [{ run: "ample" }, { run: "exact" }, 7] },
      observed: {
        worlds: ["ample", "readerOnly", "exactOnLatest", "atNextFee", "reordered", "oneBlockEach"].map((run) => ({
          run,
        })),
      },
    });
    expect(upgrade(now)).toEqual(now);
    for (const junk of [null, 1, "", [], { ledger: 1, observed: { worlds: {} } }]) expect(upgrade(junk)).toEqual(junk);
  });

  it("keeps a former name where a report of version 5 has it", () => {
    const stored = wire(Report.toJson(report())) as { readonly ledger: { readonly requests: ReadonlyArray<object> } };
    const ledger = { ...stored.ledger, requests: stored.ledger.requests.map((one) => ({ ...one, run: "bare" })) };
    expect(() => read({ ...stored, ledger })).toThrow(/run/);
    expect(read({ ...stored, version: 4, ledger }).ledger.requests[0]?.run).toBe("ample");
  });
});

/** Fields that a report of version 5 has had from the first, by the part that they are in: without one it is refused. */
const required: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": [
    ...["version", "verdict", "because", "stage", "chainId", "options", "steps", "observed", "transactions", "funds"],
    ...["transfers", "balanceChanges", "approvals", "tokens", "findings", "digest", "ledger"],
  ],
  steps: ["with", "without"],
  observed: [
    ...["blockTag", "baseNumber", "simulatedNumber", "parentHash", "timestamp", "baseFeePerGas", "gasLimit"],
    ...["latestNumber", "feeRecipient", "at", "freshness", "tier", "leftOut", "rules", "namedChainId", "worlds"],
  ],
  "transactions.*": ["input", "request", "code", "outcome", "gas", "nonce", "fee"],
  "approvals.*": [
    ...["standard", "token", "owner", "spender", "tokenId", "before", "after", "expiration", "unlimited"],
    ...["spenderKind", "transaction", "evidence"],
  ],
  "ledger.requests.*": ["method", "run", "step", "endpoint", "round", "because", "ms", "bytes", "tries"],
};

describe("a field of the report", () => {
  const stored = wire(
    Report.toJson({
      ...report({ transfers: [moved()], approvals: [granted()], exposure: { rows: [], pairs: 3, unread: 0 } }),
      carriers: [transfer],
    }),
  );
  const other: Readonly<Record<string, unknown>> = {
    "options.worlds": 3,
    "options.feeLevel": "fast",
    "options.tokens": [usdc],
  };

  it.each(later.map(([path, absent]) => ({ name: path.join("."), path, absent })))(
    "$name came later, and decodes as its default where it is missing",
    ({ path, absent }) => {
      const given = Object.entries(other).reduce((json, [at, value]) => withValue(json, at.split("."), value), stored);
      const back = wire(Report.toJson(read(without(given, path))));
      const expected = absent === undefined ? without(given, path) : withValue(given, path, wire(absent));
      expect(back).toEqual(expected);
    },
  );

  it.each(
    Object.entries(required).flatMap(([part, names]) =>
      names.map((name) => ({ name: part === "" ? name : `${part}.${name}` })),
    ),
  )("$name was there from the first, and a report without it is refused", ({ name }) => {
    const path = name.split(".");
    expect(() => read(without(stored, path))).toThrow(Schema.SchemaError);
  });

  it("stands in one of the two lists", () => {
    const at = (path: ReadonlyArray<string>) =>
      path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name === "*" ? "0" : name], stored);
    for (const [part, names] of Object.entries(required)) {
      const path = part === "" ? [] : part.split(".");
      const added = later.map(([one]) => one).filter((one) => one.slice(0, -1).join(".") === part);
      const all = new Set([...names, ...added.map((one) => one.at(-1))]);
      expect(
        Object.keys(at(path) as object).filter((name) => !all.has(name)),
        part,
      ).toEqual([]);
    }
  });
});

describe("a report of signatures alone", () => {
  const base = report();
  const observed = { ...base.observed, at: Date.now() };
  const nothing: Report.Report = {
    ...{
      ...base,
      observed,
      transactions: [],
      funds: [],
      transfers: [],
      balanceChanges: [],
      approvals: [],
      digest: null,
    },
  };
  const carried: Report.Report = { ...nothing, carriers: [transfer], transfers: [moved()] };

  describe.each([
    ["without a carrier", nothing],
    ["with a carrier", carried],
  ])("%s", (_, made) => {
    it.each(Object.entries(renderings))("is shown as %s", (_name, render) => {
      const text = render(made);
      expect(text).not.toMatch(/undefined|NaN|sign exactly/);
    });
    it("is the same after JSON, and differs from one with a transaction", () => {
      const back = read(wire(Report.toJson(made)));
      expect(back).toEqual(made);
      expect(Report.diff(made, back)).toEqual([]);
      expect(Report.diff(made, base).length).toBeGreaterThan(0);
      expect(Report.diffText(Report.diff(made, base), made)).not.toContain("undefined");
    });
    it("gets no clearance without a signature", () => {
      for (const digest of [null, digestOf(reportVersion, 1, [])]) {
        const result = readiness({ ...made, digest });
        expect(Result.isFailure(result) && result.failure._tag).toBe("NotProven");
        expect(Result.isFailure(result) && JSON.stringify(result.failure)).toContain("the report has nothing to sign");
      }
    });
  });

  it("passes no policy on outcomes while nothing was simulated, or a carrier was not", () => {
    const unseen: Report.Report = {
      ...carried,
      carriers: [{ ...transfer, outcome: { ...transfer.outcome, status: "unknown" } }],
    };
    const policies = [Policy.noInnerFailures(), Policy.maxSpent("native", 10n ** 30n), Policy.onlyTouches([alice])];
    for (const policy of policies)
      for (const made of [nothing, unseen]) expect(policy.evaluate(made)._tag, policy.name).not.toBe("Pass");
    expect(Policy.noInnerFailures().evaluate(carried)._tag).toBe("Pass");
  });
});

describe("a clearance of signatures", () => {
  const digest = `0x${"11".repeat(32)}` as const;
  const sign = { kind: "hash", signer: alice, digest } as const;
  const { request } = transfer;
  if (request === null) throw new Error("a hole");
  const clearanceOf = (
    signs: ReadonlyArray<Report.Clearance["signs"][number]>,
    requests: ReadonlyArray<Report.Request>,
  ): Report.Clearance => {
    const signables = requests.map((each) => ({ from: alice, request: each }));
    const bound = digestOf(reportVersion, 1, signables, signs);
    const clearance = { signs, requests, senders: requests.map(() => alice), chainId: 1, expiresAt: 0, waits: [] };
    return { ...clearance, digest: bound } as never;
  };

  it("has at least one signature or request", () => {
    const codec = Schema.toCodecJson(Report.Clearance);
    const back = (json: unknown) => Schema.decodeUnknownSync(codec)(wire(json));
    const json = (signs: ReadonlyArray<Report.Clearance["signs"][number]>, requests: ReadonlyArray<Report.Request>) =>
      Schema.encodeSync(codec)(clearanceOf(signs, requests));
    for (const [signs, requests] of [
      [[sign], []],
      [[], [request]],
      [[sign], [request]],
    ] as const)
      expect(back(json(signs, requests))).toEqual(clearanceOf(signs, requests));
    expect(() => back({ ...(json([sign], []) as object), signs: [] })).toThrow(/something to sign/);
  });

  it("binds signatures and requests by its digest", () => {
    const whole = clearanceOf([sign], [request]);
    const others = [
      clearanceOf([], [request]),
      clearanceOf([sign], []),
      clearanceOf([sign, sign], [request]),
      clearanceOf([{ ...sign, digest: `0x${"22".repeat(32)}` }], [request]),
    ];
    expect(new Set([whole, ...others].map((each) => each.digest)).size).toBe(others.length + 1);
    for (const other of others)
      expect(Report.mismatch({ ...whole, digest: other.digest }, ["0x"])?.field).toBe("digest");
    expect(Report.matches(clearanceOf([sign], []), [])).toBe(true);
    expect(Report.matches({ ...clearanceOf([sign], []), signs: [] } as never, [])).toBe(false);
    expect(Report.mismatch(clearanceOf([], []), [])?.field).toBe("count");
  });

  it("is another where a request becomes a signature of its bytes, or a signature one of another kind", () => {
    const whole = clearanceOf([], [request, request]);
    const asSign = { kind: "message", signer: alice, digest: signingHash(request) ?? digest, message: "0x" } as const;
    const reshaped = { ...whole, signs: [asSign], requests: [request], senders: [alice] };
    expect(clearanceOf([asSign], [request]).digest).not.toBe(whole.digest);
    expect(Report.mismatch(reshaped as never, ["0x"])?.field).toBe("digest");
    expect(clearanceOf([{ ...sign, kind: "message", message: "0x" }], []).digest).not.toBe(
      clearanceOf([sign], []).digest,
    );
    expect(clearanceOf([{ ...sign, signer: "0x" }], []).digest).toBeNull();
  });
});
