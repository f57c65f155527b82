/** The report after a real proof: what it clears, what it refuses to clear, and what counts as signed. */
import * as Effect from "effect/Effect";
import type { Hex, TransactionSerializable } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NotProven } from "./rooms/errors.js";
import * as Report from "../src/Report.js";
import { Gate } from "./contracts/artifacts.js";
import {
  cleared,
  other,
  owner,
  preflight,
  prove,
  refusedWith,
  scan,
  signAll,
  startAnvilScene,
  third,
  type Scene,
} from "./preflight/scene.js";
import { changes } from "./transaction/requests.js";

let scene: Scene;
let gate: Hex;
let report: Report.BundleReport;
let clearance: Report.Clearance;
let signed: ReadonlyArray<Hex>;
beforeAll(async () => {
  scene = await startAnvilScene();
  gate = await scene.deploy(Gate);
  const authorization = await third.signAuthorization({ address: gate, chainId: scene.chainId, nonce: 0 });
  report = await preflight(scene.url, [
    { from: owner.address, to: other.address, value: 1n },
    { from: other.address, to: gate, abi: Gate.abi, functionName: "open", gasPrice: 10n ** 10n },
    {
      from: owner.address,
      to: gate,
      abi: Gate.abi,
      functionName: "pass",
      accessList: [{ address: gate, storageKeys: [] }],
    },
    { from: owner.address, to: other.address, type: "eip2930", gasPrice: 10n ** 10n, accessList: [] },
    { from: other.address, to: owner.address, value: 2n, authorizationList: [authorization] },
  ]);
  clearance = await cleared(report);
  signed = await signAll(clearance);
});
afterAll(() => scene?.stop());

const withTransaction = (
  index: number,
  part: Partial<Report.BundleReport["transactions"][number]>,
): Report.BundleReport => {
  const [first, ...others] = report.transactions.map((one, at) => (at === index ? { ...one, ...part } : one));
  return { ...report, transactions: [first ?? expect.fail(), ...others] };
};
const missingIn = async (changed: Report.BundleReport): Promise<string> => {
  const blocker = await refusedWith(changed);
  if (!(blocker instanceof NotProven)) throw blocker;
  return blocker.missing.map(({ sentence }) => sentence).join("; ");
};

describe("a clearance", () => {
  it("hands out what viem signs, in order, with the senders, until the report is too old", () => {
    expect(clearance.requests.map(({ type }) => type)).toEqual(["eip1559", "legacy", "eip1559", "eip2930", "eip7702"]);
    expect(clearance.senders).toEqual([owner, other, owner, owner, other].map(({ address }) => address.toLowerCase()));
    expect(clearance.expiresAt).toBe(report.observed.at + 30_000);
    expect(clearance.digest).toBe(report.digest);
    expect(Report.matches(clearance, signed)).toBe(true);
  });

  it("is the same after JSON", async () => {
    const again = await Effect.runPromise(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(report)))));
    expect(again).toEqual(report);
    expect(Report.diff(report, again)).toEqual([]);
    const read = await Effect.runPromise(Report.ready(again));
    expect(read).toEqual(clearance);
    expect(Report.matches(read, signed)).toBe(true);
  });
});

describe("matches", () => {
  it("fails when any one field of any request differs, signed or promised", async () => {
    for (const [index, request] of clearance.requests.entries()) {
      const all = changes(request);
      expect(new Set(all.map(([field]) => field)).size).toBeGreaterThanOrEqual(Object.keys(request).length - 1);
      for (const [field, changed] of all) {
        const requests = clearance.requests.map((one, at) => (at === index ? changed : one));
        const promised = { ...clearance, requests: requests as unknown as Report.BundleClearance["requests"] };
        expect(Report.matches(promised, signed), `${field} of ${index}`).toBe(false);
        const key = clearance.senders[index] === owner.address.toLowerCase() ? owner : other;
        const raw = await key.signTransaction(changed as TransactionSerializable).catch(() => null);
        if (raw === null) continue;
        const resigned = signed.map((one, at) => (at === index ? raw : one));
        expect(Report.matches(clearance, resigned), `${field} of ${index}`).toBe(false);
        expect(Report.matches(promised, resigned), `${field} of ${index}`).toBe(false);
      }
    }
  });

  it("says which field differs, with both values, and of another key both accounts", async () => {
    const [first, ...rest] = signed as [Hex, ...Array<Hex>];
    const [request] = clearance.requests;
    const sign = (changed: object, key = owner) =>
      key.signTransaction({ ...request, ...changed } as TransactionSerializable);
    const said = (raws: ReadonlyArray<string>, of = clearance) => Report.mismatch(of, raws);
    expect(said(signed)).toBe(null);
    const wrongKey = said([await sign({}, other), ...rest]);
    expect(wrongKey).toMatchObject({
      ...{ _tag: "SignedMismatch", field: "[0].from", mayBeSent: false },
      expected: owner.address.toLowerCase(),
      actual: other.address.toLowerCase(),
    });
    expect(wrongKey?.message).toBe(
      `the transaction is signed by an account other than its sender · sender ${owner.address.toLowerCase()}, signed by ${other.address.toLowerCase()} · sign with the sender's key; nothing was sent`,
    );
    expect(said([await sign({ value: 77n }), ...rest])).toMatchObject({
      ...{ field: "[0].value", expected: String(request.value), actual: "77" },
    });
    expect(said([await sign({ nonce: request.nonce + 1 }), ...rest])).toMatchObject({
      ...{ field: "[0].nonce", expected: String(request.nonce), actual: String(request.nonce + 1) },
    });
    expect(said(["0x12", ...rest])).toMatchObject({ field: "[0].raw", actual: "0x12" });
    expect(said(rest)).toMatchObject({ field: "count", expected: "5", actual: "4" });
    const digest = `0x${"00".repeat(32)}` as const;
    expect(said(signed, { ...clearance, digest: digest as never })).toMatchObject({
      field: "digest",
      expected: digest,
    });
    expect(first).toBe(signed[0]);
  });

  it("fails for another key, another order, too few, too many, other bytes, and a changed clearance", async () => {
    const [first, second, ...rest] = signed as [Hex, Hex, ...Array<Hex>];
    const byOther = await other.signTransaction(clearance.requests[0] as TransactionSerializable);
    const not = (one: Report.Clearance, raws: ReadonlyArray<string>) => expect(Report.matches(one, raws)).toBe(false);
    not(clearance, [byOther, second, ...rest]);
    not(clearance, [second, first, ...rest]);
    not(clearance, [first, first, ...rest]);
    not(clearance, signed.slice(1));
    not(clearance, [...signed, first]);
    not(clearance, []);
    not(clearance, [`${first}00`, second, ...rest]);
    not(
      clearance,
      signed.map(() => "0x"),
    );
    not({ ...clearance, digest: `0x${"00".repeat(32)}` as never }, signed);
    const [sender = owner.address.toLowerCase() as `0x${string}`, ...senders] = clearance.senders;
    not({ ...clearance, senders: [other.address.toLowerCase() as typeof sender, ...senders] }, signed);
    not({ ...clearance, senders: [sender] }, signed);
    not({ ...clearance, senders: [...clearance.senders, sender] }, signed);
    const [request] = clearance.requests;
    not({ ...clearance, requests: [request] }, signed);
    not({ ...clearance, requests: [request], senders: [sender] }, [first]);
  });
});

describe("ready", () => {
  it("refuses a report that is not proven, and names what is missing", async () => {
    const scanned = await scan(scene.url, { from: owner.address, to: other.address, value: 1n });
    expect(scanned.verdict).toBe("ready");
    expect(await missingIn(scanned)).toBe("the report is only scanned, not proven");
  });

  it("refuses a pretended state", async () => {
    const call = { from: owner.address, to: gate, abi: Gate.abi, functionName: "pass" };
    const stateOverrides = { [gate]: { stateDiff: { [`0x${"00".repeat(32)}`]: `0x${"00".repeat(31)}01` } } } as const;
    const imagined = await preflight(scene.url, call, { stateOverrides });
    expect([imagined.verdict, imagined.stage]).toEqual(["caution", "proven"]);
    expect(await missingIn(imagined)).toBe("the report was made with state or block overrides");
  });

  it("refuses a report in which any field of a request, its input or the digest was changed", async () => {
    for (const [index, { request }] of report.transactions.entries()) {
      if (request === null) throw new Error("a hole");
      for (const [field, changed] of changes(request))
        expect(await missingIn(withTransaction(index, { request: changed })), field).toMatch(/digest/);
    }
    const { input } = report.transactions[0];
    for (const part of [
      { value: 7n },
      { data: "0x01" as never },
      { from: other.address.toLowerCase() as never },
      { gas: 1n },
      { chainId: 5 },
    ])
      expect(await missingIn(withTransaction(0, { input: { ...input, ...part } }))).toMatch(/digest/);
  });

  it("does not get what it refuses by proving it again", async () => {
    const { request, input } = report.transactions[0];
    if (request === null) throw new Error("a hole");
    const richer = withTransaction(0, { request: { ...request, value: 3n } as never });
    const proven = await prove(scene.url, richer);
    expect(proven.verdict).toBe("unknown");
    expect(await missingIn(proven)).toMatch(/not those of the report's inputs/);
    const elsewhere = withTransaction(0, { input: { ...input, to: third.address.toLowerCase() as never } });
    expect((await prove(scene.url, elsewhere)).verdict).toBe("unknown");
  });
});

describe("diff", () => {
  it("names what moved, in the report's order", async () => {
    const call = { from: owner.address, to: other.address, value: 5n };
    const before = await preflight(scene.url, call);
    await scene.send(owner, { to: other.address, value: 1n });
    const after = await preflight(scene.url, call);
    await scene.mine();
    const differences = Report.diff(before, after);
    expect(differences).toContainEqual(expect.objectContaining({ transaction: 0, what: "nonce value" }));
    expect(differences.map(({ what }) => what)).toContain("digest");
    const balance = differences.find(({ kind }) => kind === "holding");
    expect(BigInt(balance?.b ?? 0n) < BigInt(balance?.a ?? 0n)).toBe(true);
  });
});
