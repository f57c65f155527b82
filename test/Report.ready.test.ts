/** What a report lacks for a clearance, as data; on a report written by hand, so that every gap can be made. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gap, InsufficientFunds, MethodNotSupported, NotProven, RpcError, type Gap } from "./rooms/errors.js";
import { count } from "./rooms/primitives.js";
import * as Report from "../src/Report.js";
import { note } from "./harness/notes.js";
import { becauseOf, digestOfReport, fromError, verdictOf } from "./rooms/report.js";
import { alice, report, transfer } from "./report/fixtures.js";
import { runs } from "./harness/parts.js";
import { RequestSchema } from "./rooms/transaction.js";
import { transaction } from "./steps/parts.js";
import { bytesByViem } from "./transaction/beside.js";
import { requestArbitrary } from "./transaction/requests.js";
import { fieldsOfType, placesOf, put, strange, without } from "./transaction/strange.js";

/** A report that clears, with some fields replaced and its digest made anew. */
const proven = (changed: Partial<Report.BundleReport> = {}): Report.BundleReport => {
  const draft = report({ ...changed, observed: { ...report().observed, at: Date.now(), ...changed.observed } });
  return { ...draft, digest: changed.digest === undefined ? digestOfReport(draft) : changed.digest };
};
const judged = (changed: Report.BundleReport) => Effect.runSync(Effect.result(Report.ready(changed)));
const gapsOf = (changed: Report.BundleReport): ReadonlyArray<Gap> => {
  const result = judged(changed);
  if (Result.isSuccess(result)) return [];
  if (!(result.failure instanceof NotProven)) throw result.failure;
  return result.failure.missing;
};
const reasonsOf = (changed: Report.BundleReport): ReadonlyArray<Gap["reason"]> =>
  gapsOf(changed).map(({ reason }) => reason);
const with0 = (part: Partial<Report.TransactionReport>): Partial<Report.BundleReport> => ({
  transactions: [{ ...transfer, ...part }],
});

const unavailable = note("OutcomeUnknown", "unavailable", { evidence: "unavailable" }, count("block", 7n));

describe("ready", () => {
  it("clears a proven report, with warnings or without", () => {
    const one = proven();
    const result = judged(one);
    expect(Result.isSuccess(result) && result.success).toEqual({
      signs: [],
      requests: [transfer.request],
      senders: [alice],
      chainId: 1,
      digest: one.digest,
      expiresAt: one.observed.at + 30_000,
      waits: [],
    });
    expect(gapsOf(proven({ observed: { ...one.observed, at: Date.now() - 20_000 } }))).toEqual([]);
    const warning = note("TipCapped", "warning", { evidence: "assumed" });
    expect(gapsOf(proven({ findings: [warning] }))).toEqual([]);
  });

  it("fails with the first blocker's own error, and without one with its code", () => {
    const poor = new InsufficientFunds({ account: alice });
    const where = { step: "funds", evidence: "measured" } as const;
    const failed = judged(proven({ findings: [unavailable, fromError(poor, "blocker", where)] }));
    expect(Result.isFailure(failed) && failed.failure).toBe(poor);
    const nameless = { ...unavailable, severity: "blocker" } as const;
    expect(gapsOf(proven({ findings: [nameless] }))).toEqual([
      {
        ...{ reason: "Blocked", sentence: "the outcome is not known · block 7", code: "OutcomeUnknown" },
        remedy: "use a node that supports `eth_simulateV1`",
      },
    ]);
  });

  it("names each check that could not be made by the code of its finding", () => {
    const refused = new RpcError({ method: "eth_feeHistory", reason: new MethodNotSupported({ detail: "\u202eno" }) });
    const findings = [
      unavailable,
      fromError(refused, "unavailable", { step: "fee", evidence: "unavailable" as const }),
    ];
    expect(gapsOf(proven({ findings }))).toEqual([
      {
        ...{ reason: "CheckUnavailable", sentence: "the outcome is not known · block 7", code: "OutcomeUnknown" },
        remedy: "use a node that supports `eth_simulateV1`",
      },
      {
        reason: "CheckUnavailable",
        sentence: 'eth_feeHistory: the node does not support this method · "\\u{202e}no"',
        code: "MethodNotSupported",
        remedy: refused.statement.remedy,
      },
    ]);
  });

  it("names everything that the report itself lacks", () => {
    const { observed, options } = proven();
    const [funds] = report().funds;
    if (funds === undefined || transfer.request === null) throw new Error("the fixture has both");
    const cases: ReadonlyArray<readonly [Gap["reason"], Report.BundleReport]> = [
      ["NotProven", proven({ stage: "scanned" })],
      ["RequestIncomplete", proven(with0({ request: null }))],
      ["Altered", proven({ digest: null })],
      ["Altered", proven({ digest: `0x${"00".repeat(32)}` })],
      ["Altered", proven({ chainId: 5 })],
      ["Altered", proven({ chainId: null })],
      ["Altered", proven({ chainId: -1 })],
      ["Altered", proven(with0({ request: { ...transfer.request, value: 1n } as Report.Request }))],
      ["Altered", proven(with0({ input: { ...transfer.input, value: 1n } }))],
      ["Altered", proven({ verdict: "caution" })],
      ["StatePretended", proven({ options: { ...options, stateOverrides: {} } })],
      ["StatePretended", proven({ options: { ...options, blockOverrides: {} } })],
      ["NotSimulated", proven({ observed: { ...observed, tier: "call" } })],
      ["Expired", proven({ observed: { ...observed, at: Date.now() - 31_000 } })],
      ["Expired", proven({ observed: { ...observed, until: Date.now() - 1 } })],
      ["DatedInTheFuture", proven({ observed: { ...observed, at: Date.now() + 120_000 } })],
      ["NotSuccessful", proven(with0({ outcome: { ...transfer.outcome, status: "unknown" } }))],
      ["FundsUnknown", proven({ funds: [{ ...funds, shortfall: null }] })],
      ["FundsUnknown", proven({ funds: [{ ...funds, shortfall: 1n }] })],
      ["FundsUnknown", proven({ funds: [] })],
      ["Stale", proven({ observed: { ...observed, freshness: "stale" } })],
      ["BlockNotNewest", proven({ observed: { ...observed, blockTag: "safe" } })],
    ];
    for (const [reason, changed] of cases) expect(reasonsOf(changed)).toEqual([reason]);
    expect(reasonsOf(proven({ stage: "scanned", ...with0({ request: null }) }))).toEqual([
      "NotProven",
      "RequestIncomplete",
    ]);
  });

  it("names in its message the first missing check and the number of the others, and no outcome that nobody saw", () => {
    const other = note("GasUnknown", "unavailable", { evidence: "unavailable" });
    const blind = proven({
      stage: "scanned",
      findings: [unavailable, unavailable, other],
      verdict: "unknown",
      ...with0({ request: null, outcome: { ...transfer.outcome, status: "unknown" } }),
    });
    const result = judged(blind);
    expect(gapsOf(blind)).toHaveLength(6);
    expect(Result.isFailure(result) && result.failure.message).toBe(
      "the report does not allow signing · the outcome is not known · block 7, and 4 more in missing · use a node that supports `eth_simulateV1`",
    );
    expect(gapsOf(blind).at(-1)?.sentence).toBe("whether the transactions succeed is not known");
    const failed = proven(with0({ outcome: { ...transfer.outcome, status: "reverted" } }));
    expect(gapsOf(failed).map(({ sentence }) => sentence)).toEqual(["a transaction does not succeed"]);
  });

  it("says what to do about the first gap: what its finding says, or what the kind of gap asks for", () => {
    const remedyOf = (changed: Report.BundleReport) => {
      const result = judged(changed);
      return Result.isFailure(result) ? result.failure.message.split(" · ").at(-1) : null;
    };
    const silent = note("GasWitnessesDisagree", "unavailable", { evidence: "unavailable" });
    expect(remedyOf(proven({ findings: [unavailable], verdict: "unknown" }))).toBe(
      "use a node that supports `eth_simulateV1`",
    );
    expect(remedyOf(proven({ findings: [silent], verdict: "unknown" }))).toBe(
      "run `prove` on a node that can answer what is missing",
    );
    expect(remedyOf(proven({ stage: "scanned" }))).toBe("run `prove` before you sign");
    expect(remedyOf(proven({ digest: null }))).toBe("make the report again, and do not change it");
    const messages = (["Caution", "StepMissing", "NotMined", "StatePretended"] as const).map(
      (reason) => new NotProven({ missing: [gap(reason, "so it is")] }).statement.remedy,
    );
    expect(messages).toEqual([
      "read the warnings, then allow them with `onCaution`",
      "make the report with every step of this pipeline",
      "wait until the earlier transactions are mined",
      "make the report again without overrides",
    ]);
  });

  it("believes neither the verdict nor the reason that the report gives for it", () => {
    expect(gapsOf(proven({ because: "blocked by everything" }))).toEqual([]);
    const lied = proven({ findings: [unavailable], verdict: "ready", because: "every check was made" });
    expect(reasonsOf(lied)).toEqual(["CheckUnavailable", "Altered"]);
    expect([verdictOf(lied.findings), becauseOf(lied.findings, lied.stage)]).toEqual([
      "unknown",
      "the outcome is not known",
    ]);
  });
});

describe("a request that was changed after its proof", () => {
  /** A proven report of a request, of which nothing was left open. */
  const provenOf = (request: Report.Request): Report.BundleReport =>
    proven({
      chainId: request.chainId,
      ...with0({ input: { ...transfer.input, ...transaction({ to: null, ...request }), from: alice }, request }),
    });
  const cleared = async (one: Report.BundleReport, request: unknown): Promise<boolean> => {
    const part = { input: one.transactions[0]?.input as never, request: request as Report.Request };
    return Result.isSuccess(await Effect.runPromise(Effect.result(Report.ready({ ...one, ...with0(part) }))));
  };
  const isTyped = (request: Report.Request): boolean => Schema.is(RequestSchema)(fieldsOfType(request));

  it("is not cleared, whichever field was changed", () =>
    fc.assert(
      fc.asyncProperty(requestArbitrary, fc.nat(), async (request, seed) => {
        const one = provenOf(request);
        const bytes = bytesByViem(request);
        expect(await cleared(one, request)).toBe(true);
        const places = placesOf(request);
        for (const path of [places[seed % places.length] ?? [], ["value"], ["maxFeePerGas"], ["gasPrice"], ["nonce"]])
          for (const value of strange) {
            const changed = put(request, path, value);
            if (!(await cleared(one, changed))) continue;
            // only the same request is, and only of the very types that were proven
            expect([path, value, bytesByViem(changed)]).toEqual([path, value, bytes]);
            expect([path, value, isTyped(changed as Report.Request)]).toEqual([path, value, true]);
          }
        for (const name of Object.keys(request))
          expect([name, await cleared(one, without(request, name))]).toEqual([
            name,
            name === "accessList" && request.accessList?.length === 0,
          ]);
      }),
      { numRuns: runs(25) },
    ));

  it.each<[what: string, change: object]>([
    ["digits in place of a number", { value: "5" }],
    ["hex in place of a number", { value: "0x5" }],
    ["hex with zeros in front", { value: "0x05" }],
    ["a number", { value: 5 }],
    ["a negative amount", { value: -5n }],
    ["no tip, which a wallet would choose", { maxPriorityFeePerGas: undefined }],
    ["no value", { value: undefined }],
    ["no nonce, which a wallet would choose", { nonce: null }],
    ["a nonce of another type", { nonce: 0n }],
    ["data that is a list", { data: ["0x"] }],
    ["half a byte of data", { data: "0x0" }],
    ["a signature", { r: `0x${"11".repeat(32)}`, s: `0x${"11".repeat(32)}`, yParity: 1 }],
    ["blobs", { blobs: [] }],
    ["authorisations in a type without them", { authorizationList: [] }],
    ["the price of another type", { gasPrice: 1n }],
    ["blobs' hashes in a type without them", { blobVersionedHashes: [`0x01${"11".repeat(31)}`] }],
    ["a list that reads as a type", { type: ["eip1559"] }],
    ["a type that it inherits", { type: "constructor" }],
  ])("to %s is not cleared", async (_, change) => {
    const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 0n };
    const request = {
      type: "eip1559",
      to: alice,
      chainId: 1,
      nonce: 0,
      gas: 21_000n,
      data: "0x",
      value: 5n,
      ...fees,
    } as const;
    for (const value of [5n, 0n]) {
      const one = provenOf({ ...request, value });
      expect(await cleared(one, { ...request, value })).toBe(true);
      expect(await cleared(one, { ...request, value, ...change })).toBe(false);
    }
  });
});
