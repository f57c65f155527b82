/** What the doors hand out, and how they are used: JSON, delivering, the most that can be sent, one line of an error. */
import * as Effect from "effect/Effect";
import { inspect } from "node:util";
import { deepStrictEqual } from "node:assert";
import { createPublicClient, http, encodeErrorResult, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Errors, Eth, Preflight, Report as Reports, Rpc, Step } from "../../src/index.js";
import { createPreflight, Report, type DeliverOptions, type PreflightClient, type Sign } from "../../src/promise.js";
import { preflightActions } from "../../src/viem.js";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";
import { optionNames } from "../rooms/primitives.js";

let node: Node;
let preflight: PreflightClient;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
});
beforeEach(async () => {
  await mineAnvil(node.url);
  preflight = createPreflight({ url: node.url });
});
afterAll(() => node.stop());

const [, alice, bob, carol] = accounts;
const transfer = { from: alice.address, to: bob.address, value: 1n };
const signer = privateKeyToAccount(alice.privateKey);
const sign: Sign = (request) => signer.signTransaction(request);
/** Warns of everything. */
const wary = () =>
  createPreflight({
    url: node.url,
    steps: [{ name: "acme/odd", check: () => [Step.warning("acme/Odd", "it is odd")] }],
  });

describe("JSON of the Promise entry", () => {
  it("is written of reports, clearances and errors of every entry, and read back", async () => {
    const client = createPublicClient({ transport: http(node.url) }).extend(preflightActions());
    const [byEffect, byPromise, byViem, scanned] = [
      await Effect.runPromise(Effect.provide(Preflight.preflight(transfer), Rpc.layerHttp(node.url))),
      await preflight.preflight(transfer),
      await client.preflight(transfer),
      await preflight.scan(transfer),
    ];
    for (const report of [byEffect, byPromise, byViem, scanned, await preflight.prove(scanned)]) {
      expect(JSON.parse(JSON.stringify({ report })).report).toEqual(Reports.toJson(report));
      const again = await Report.fromJson(JSON.parse(JSON.stringify(report)));
      deepStrictEqual(again, report);
      deepStrictEqual(JSON.parse(JSON.stringify(again)), Reports.toJson(report));
      expect(Object.keys(report)).not.toContain("toJSON");
      expect(() => JSON.stringify({ ...report })).toThrow(TypeError);
      expect(() => JSON.stringify(structuredClone(report))).toThrow(TypeError);
      expect(JSON.stringify(Report.toJson({ ...report }))).toBe(JSON.stringify(Report.toJson(report)));
    }
    for (const clearance of [
      await preflight.ready(byPromise),
      await client.ready(byViem),
      await Report.ready(byEffect),
    ])
      expect(JSON.parse(JSON.stringify(clearance))).toMatchObject({
        digest: clearance.digest,
        requests: [{ value: "1" }],
      });
    const poor = await preflight.preflight({ ...transfer, value: 10n ** 30n });
    const error = await preflight.ready(poor).catch((caught: unknown) => caught);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      ...{ _tag: "InsufficientFunds", message: (error as Error).message },
      want: String((error as Errors.InsufficientFunds).want),
    });
  });

  it("is written of a reverted report as the schemas read it", async () => {
    const report = await preflight.preflight({ ...transfer, value: 10n ** 30n });
    deepStrictEqual(await Report.fromJson(JSON.parse(JSON.stringify(report))), report);
  });
});

describe("Report of the Promise entry", () => {
  it("clears, reads and shows a report without Effect", async () => {
    const report = await preflight.preflight(transfer);
    expect((await Report.ready(report)).requests).toHaveLength(1);
    expect([Report.toText(report), Report.summary(report)]).toEqual([Reports.toText(report), Reports.summary(report)]);
    await expect(Report.fromJson({ version: 1 })).rejects.toBeInstanceOf(Errors.ReportVersion);
    await expect(Report.ready({} as never)).rejects.toBeInstanceOf(Errors.InvalidTransaction);
    await expect(Report.ready(await preflight.scan(transfer))).rejects.toBeInstanceOf(Errors.NotProven);
  });
});

describe("a report from outside", () => {
  it("holds no longer than the client's own `maxAge`, whatever it says", async () => {
    const made = await preflight.preflight(transfer);
    const posted = await Report.fromJson({
      ...(Report.toJson(made) as object),
      options: { ...(Report.toJson(made) as { options: object }).options, maxAgeMs: 1e12, isMaxAgeGiven: true },
    });
    const { at } = posted.observed;
    expect((await preflight.ready(posted)).expiresAt).toBe(at + 1e12);
    await using own = createPreflight({ url: node.url }, { maxAge: "20 seconds" });
    const client = createPublicClient({ transport: http(node.url) }).extend(preflightActions({ maxAge: 20_000 }));
    for (const door of [own, client]) {
      expect((await door.ready(posted)).expiresAt).toBe(at + 20_000);
      const old = { ...posted, observed: { ...posted.observed, at: Date.now() - 21_000 } };
      await expect(door.ready(old)).rejects.toMatchObject({
        missing: [{ reason: "Expired", sentence: "the report is older than 20000 ms" }],
      });
      const again = await door.prove(posted);
      expect([again.verdict, again.options.maxAgeMs]).toEqual(["ready", 20_000]);
      expect(JSON.parse(JSON.stringify(again))).toEqual(Reports.toJson(again));
      // the caller's own word of one call
      expect((await door.prove(posted, { maxAge: 40_000 })).options.maxAgeMs).toBe(40_000);
      const shorter = { ...posted, options: { ...posted.options, maxAgeMs: 5_000 } };
      expect((await door.ready(shorter)).expiresAt).toBe(at + 5_000);
      expect((await door.prove(shorter)).options.maxAgeMs).toBe(5_000);
    }
    for await (const seen of own.watch(posted)) {
      if (seen._tag !== "Fresh" && seen._tag !== "Moved") continue;
      expect(seen.report.options.maxAgeMs).toBe(20_000);
      break;
    }
    expect(posted.options.maxAgeMs).toBe(1e12);
    await expect(own.ready({} as never)).rejects.toBeInstanceOf(Errors.InvalidTransaction);
    await expect(own.prove(null as never)).rejects.toBeInstanceOf(Errors.InvalidTransaction);
  });
});

describe("maxSendable", () => {
  it("works at the Promise and viem entries, exact to the wei", async () => {
    const client = createPublicClient({ transport: http(node.url) }).extend(preflightActions());
    for (const door of [preflight, client]) {
      const { value, report } = await door.maxSendable(alice.address, bob.address);
      expect(report.verdict).toBe("ready");
      expect(value).toBeGreaterThan(0n);
      expect(report.funds[0]?.required).toBe(report.funds[0]?.balance);
    }
  });
});

describe("deliver", () => {
  it("accepts the transaction first, or the signer alone", async () => {
    const first = await preflight.deliver(transfer, sign);
    expect(first.sent).toHaveLength(1);
    await mineAnvil(node.url);
    const second = await preflight.deliver(sign)([transfer], {});
    expect(second.sent).toHaveLength(1);
    expect(await preflight.effect(Eth.getTransactionCount({ address: alice.address, block: "pending" }))).toBe(2n);
  });

  it("refuses caution unless it is told to send, and asks the caller's function", async () => {
    await using warning = wary();
    const signed: Array<unknown> = [];
    const recorded: Sign = (request, index) => (signed.push(request), sign(request, index));
    const deliver = (onCaution?: DeliverOptions["onCaution"]) => warning.deliver(transfer, recorded, { onCaution });
    for (const onCaution of [undefined, "refuse", () => false, async () => false, () => 1 as never] as const)
      await expect(deliver(onCaution)).rejects.toMatchObject({ _tag: "NotProven", missing: [{ reason: "Caution" }] });
    const down = new Error("nobody is there");
    await expect(deliver(() => Promise.reject(down))).rejects.toBe(down);
    await expect(deliver("maybe" as never)).rejects.toMatchObject({ field: "options.onCaution" });
    expect(signed).toEqual([]);
    const asked: Array<string> = [];
    await deliver(async (report) => asked.push(report.verdict) === 1);
    await mineAnvil(node.url);
    await deliver("send");
    expect([asked, signed.length]).toEqual([["caution"], 2]);
  });

  it("does not ask the caller about a ready report", async () => {
    const { report } = await preflight.deliver({ ...transfer, to: carol.address }, sign, { onCaution: () => false });
    expect(report.verdict).toBe("ready");
  });
});

describe("the method preflight", () => {
  it("has one name, and an alias", () => expect(preflight.run).toBe(preflight.preflight));
});

describe("the message of an error", () => {
  const lines = (error: unknown) =>
    [inspect(error), (error as Error).message, String(error)].map((text) => text.split("\n").length);

  it("is one line for an unproven report, a closed client and a dead endpoint", async () => {
    const dead = createPreflight({ url: "http://127.0.0.1:9" });
    const report = await dead.preflight(transfer);
    const closed = createPreflight({ layer: Rpc.layerHttp(node.url) });
    await closed.dispose();
    const errors = await Promise.all(
      [
        preflight.scan(transfer).then(preflight.ready),
        dead.ready(report),
        Report.ready(report),
        Effect.runPromise(Reports.ready(report)),
        dead.effect(Eth.chainId),
        closed.preflight(transfer),
      ].map((promise) =>
        promise.then(
          () => null,
          (error: unknown) => error,
        ),
      ),
    );
    expect(errors.map(lines)).toEqual(errors.map(() => [1, 1, 1]));
    expect(String(errors[1])).toMatch(/^NotProven: .*could not be reached.* and \d+ more in missing/);
  });
});

describe("a revert in a single call", () => {
  const abi = parseAbi(["error Nope(uint256 left)", "error Error(string)"]);
  const custom = encodeErrorResult({ abi, errorName: "Nope", args: [7n] });
  const reason = encodeErrorResult({ abi, errorName: "Error", args: ["nope"] });
  /** Reverts with the calldata. */
  const echo = "0x3660006000373660 00fd".replace(" ", "") as `0x${string}`;
  const to = carol.address;
  const stateOverrides = { [to]: { code: echo } };

  it.each(["call", "estimateGas"] as const)("is decoded by Eth.%s", async (name) => {
    const asked = { from: alice.address, to, data: custom, block: "latest", stateOverrides, abis: [abi] } as const;
    const ask: Effect.Effect<unknown, Eth.Failure, Rpc.Rpc> =
      name === "call" ? Eth.call(asked) : Eth.estimateGas(asked);
    const error = await preflight.effect(ask).catch((caught: unknown) => caught);
    expect(String(error)).toContain("Nope(left: 7)");
  });

  it("is decoded by Errors.classify, also under -32000", () => {
    const said = (data: string, message: string, abis?: ReadonlyArray<typeof abi>) =>
      Errors.classify({ method: "eth_call", error: { code: -32000, message, data }, abis, to });
    expect(said(custom, "execution reverted", [abi]).message).toContain("Nope(left: 7)");
    expect(said(reason, "execution reverted").message).toContain('"nope"');
    expect(said(reason, "it failed").message).toContain('"nope"');
    expect(said(custom, "execution reverted", "no list" as never)._tag).toBe("ExecutionReverted");
    expect(said("0x1234", "it failed")._tag).toBe("RpcError");
  });
});

describe("the hint of an input error", () => {
  const client = () =>
    createPreflight({ client: { ...createPublicClient({ transport: http(node.url) }), account: signer } });
  it.each([
    [{ sender: alice.address, to: bob.address }, "sender: is not a field of a transaction; say from"],
    [{ from: alice.address, address: bob.address }, "address: is not a field of a transaction; say to"],
    ...optionNames.map((name): [object, string] => [
      { ...transfer, [name]: [] },
      `${name}: is not a field of a transaction; options are the second argument`,
    ]),
    [
      [transfer, { ...transfer, maxAge: 1 }],
      "[1].maxAge: is not a field of a transaction; options are the second argument",
    ],
  ])("is given for %o", async (input, words) => {
    await expect(preflight.preflight(input as never)).rejects.toThrow(words);
  });

  it.each([
    ["5s", "5 seconds"],
    ["250ms", "250 millis"],
    ["2 min", "2 minutes"],
  ])("shows how to write the time %s", async (deadline, words) => {
    await expect(preflight.preflight(transfer, { deadline: deadline as never })).rejects.toThrow(`; say "${words}"`);
    expect((await preflight.scan(transfer, { deadline: words as never })).verdict).toBe("ready");
  });

  it("says that a client's account is enough", async () => {
    const input = { sender: alice.address, to: bob.address };
    await expect(client().preflight(input as never)).rejects.toThrow("the client's account sends: leave it out");
    expect((await client().preflight({ account: alice.address, to: bob.address, value: 1n })).verdict).toBe("ready");
    expect((await client().preflight({ to: bob.address, value: 1n })).verdict).toBe("ready");
  });
});
