/** Policies: pass, fail or unknown on reports made up for it; written down and read again. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import fc from "fast-check";
import { keccak256, pad, toHex } from "viem";
import { describe, expect, it } from "vitest";
import { note } from "./harness/notes.js";
import { Address, Hash, hash, Hex, units } from "./rooms/primitives.js";
import * as Policy from "../src/Policy.js";
import type { BundleReport } from "../src/Report.js";
import { alice, report, tokens, transfer, unknown, usdc } from "./report/fixtures.js";

const bob = report().transfers[0]?.to ?? alice;
const stranger = Address.make(`0x${"77".repeat(20)}`);

type Change = BundleReport["balanceChanges"][number];
type Approval = BundleReport["approvals"][number];

const change = (changed: Partial<Change>): Change => ({
  ...{ account: alice, token: usdc, tokenId: null, before: 1000n, after: 900n, delta: -100n, evidence: "measured" },
  ...changed,
});
const moving = (...balanceChanges: ReadonlyArray<Change>): BundleReport =>
  report({
    balanceChanges,
    transfers: balanceChanges.map(({ account, token, tokenId, delta }) => ({
      ...{ standard: tokenId === null ? ("erc20" as const) : ("erc721" as const), token, tokenId, transaction: 0 },
      ...(delta < 0n
        ? { from: account, to: stranger, amount: -delta }
        : { from: stranger, to: account, amount: delta }),
      evidence: "logged" as const,
    })),
  });
const granting = (changed: Partial<Approval>): BundleReport => {
  const [first] = tokens().approvals;
  if (first === undefined) throw new Error("no approval");
  return report({ approvals: [{ ...first, before: 0n, after: 5n, unlimited: false, ...changed }] });
};
const tag = (policy: Policy.Policy, on: BundleReport): string => policy.evaluate(on)._tag;

describe("policies on what leaves and what arrives", () => {
  it("judge measured amounts", () => {
    expect(tag(Policy.maxSpent(usdc, 100n), moving(change({})))).toBe("Pass");
    expect(tag(Policy.maxSpent(usdc, 99n), moving(change({})))).toBe("Fail");
    expect(tag(Policy.maxSpent(usdc, 0n), moving(change({ delta: 5n })))).toBe("Pass");
    expect(tag(Policy.maxSpent("native", 15n * 10n ** 17n), report())).toBe("Pass");
    expect(tag(Policy.maxSpent("native", 15n * 10n ** 17n - 1n), report())).toBe("Fail");
    expect(tag(Policy.minReceived(usdc, 7n), moving(change({ delta: 7n })))).toBe("Pass");
    expect(tag(Policy.minReceived(usdc, 8n), moving(change({ delta: 7n })))).toBe("Fail");
    expect(tag(Policy.minReceived(usdc, 7n, bob), moving(change({ account: bob, delta: 7n })))).toBe("Pass");
  });

  it("give amounts in the units of the token and the chain, with the limit beside", () => {
    const detail = (policy: Policy.Policy, on: BundleReport) => Object(policy.evaluate(on)).detail;
    const named = { ...moving(change({ delta: -2_500_000n })), tokens: tokens().tokens };
    expect(detail(Policy.maxSpent(usdc, 1n), named)).toMatch(
      /^the senders spend 2\.5 USDC \(2500000 raw units of 0x\w{40}\), measured; at most 0\.000001 USDC/,
    );
    expect(detail(Policy.maxSpent(usdc, 1n), { ...named, tokens: [] })).toMatch(/spend 2500000 raw units of 0x/);
    expect(detail(Policy.maxSpent("native", 1n), report())).toContain(
      "spend 1.5 ETH, measured; at most 0.000000000000000001 ETH",
    );
    expect(detail(Policy.maxFee(1n), report())).toMatch(/^fees of up to [\d.]+ (gwei|ETH), at most [\d.]+ \1$/);
  });

  it("never pass on events alone, on nothing, or where events and balances disagree", () => {
    const logged = change({ evidence: "logged", before: null, after: null });
    expect(tag(Policy.maxSpent(usdc, 100n), moving(logged))).toBe("Unknown");
    expect(tag(Policy.maxSpent(usdc, 99n), moving(logged))).toBe("Fail");
    expect(tag(Policy.maxSpent(usdc, 100n), moving())).toBe("Unknown");
    expect(tag(Policy.maxSpent(usdc, 100n), moving(change({ evidence: "assumed" })))).toBe("Unknown");
    expect(tag(Policy.minReceived(usdc, 1n), moving(change({ ...logged, delta: 5n })))).toBe("Unknown");
    expect(tag(Policy.maxSpent("native", 10n ** 30n), unknown())).toBe("Unknown");
    const lying = report({ ...moving(change({ delta: -500n })), balanceChanges: [change({ delta: -100n })] });
    expect(tag(Policy.maxSpent(usdc, 200n), lying)).toBe("Unknown");
    expect(tag(Policy.maxSpent(usdc, 50n), lying)).toBe("Fail");
    expect(tag(Policy.maxSpent(usdc, 500n), lying)).toBe("Pass");
    const boasting = report({ ...moving(change({ delta: 100n })), balanceChanges: [change({ delta: 500n })] });
    expect(tag(Policy.minReceived(usdc, 200n), boasting)).toBe("Unknown");
    expect(tag(Policy.minReceived(usdc, 100n), boasting)).toBe("Pass");
    const leaving = report({ ...moving(change({ delta: -5n })), balanceChanges: [change({ delta: 500n })] });
    expect(tag(Policy.minReceived(usdc, 200n), leaving)).toBe("Unknown");
    const booked = report({ transfers: [], balanceChanges: [change({ delta: 500n })] });
    expect(tag(Policy.minReceived(usdc, 200n), booked)).toBe("Pass");
  });

  it("count the ids of an ERC-721, each of them measured", () => {
    const ids = [change({ tokenId: 1n, delta: -1n }), change({ tokenId: 2n, delta: -1n })];
    expect(tag(Policy.maxSpent(usdc, 2n), moving(...ids))).toBe("Pass");
    expect(tag(Policy.maxSpent(usdc, 1n), moving(...ids))).toBe("Fail");
    expect(tag(Policy.maxSpent(usdc, 2n), moving(...ids, change({ tokenId: 3n, delta: 1n, evidence: "logged" })))).toBe(
      "Unknown",
    );
  });

  it("do not offset one id by another, whatever the count of all says", () => {
    const gone = change({ tokenId: 1n, delta: -1n });
    const trash = change({ tokenId: 2n, delta: 1n });
    const count = change({ tokenId: null, delta: 0n });
    for (const rows of [
      [gone, trash],
      [trash, gone],
      [count, gone, trash],
      [gone, change({ tokenId: 2n, delta: 100n })],
    ]) {
      expect(tag(Policy.maxSpent(usdc, 0n), moving(...rows))).toBe("Fail");
      expect(tag(Policy.maxSpent(usdc, 1n), moving(...rows))).toBe("Pass");
    }
    expect(tag(Policy.maxSpent(usdc, 0n), moving(count, trash))).toBe("Pass");
    expect(tag(Policy.maxSpent(usdc, 1n), moving(change({ tokenId: null, delta: -2n }), gone))).toBe("Fail");
    const swapped = moving(gone, trash).transfers;
    expect(tag(Policy.maxSpent(usdc, 0n), report({ transfers: swapped, balanceChanges: [count] }))).toBe("Unknown");
    expect(tag(Policy.maxSpent(usdc, 1n), moving(count, { ...trash, evidence: "logged" }))).toBe("Unknown");
    const stays = swapped.flatMap((moved) => [moved, { ...moved, from: moved.to, to: moved.from }]);
    expect(tag(Policy.maxSpent(usdc, 0n), report({ transfers: stays, balanceChanges: [count] }))).toBe("Pass");
  });

  it("decide alike for every pair of amounts", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1000n }), fc.bigInt({ min: 0n, max: 1000n }), (spent, limit) => {
        const on = moving(change({ delta: -spent }));
        expect(tag(Policy.maxSpent(usdc, limit), on)).toBe(spent <= limit ? "Pass" : "Fail");
        const back = moving(change({ delta: spent }));
        expect(tag(Policy.minReceived(usdc, limit), back)).toBe(spent >= limit ? "Pass" : "Fail");
      }),
    ));
});

describe("policies on rights", () => {
  it("fail a new approval, are unknown on an unmeasured one, and pass one that shrinks", () => {
    expect(tag(Policy.noNewApprovals, report())).toBe("Pass");
    expect(tag(Policy.noNewApprovals, granting({}))).toBe("Fail");
    expect(tag(Policy.noNewApprovals, granting({ before: 5n }))).toBe("Pass");
    expect(tag(Policy.noNewApprovals, granting({ before: 9n }))).toBe("Pass");
    expect(tag(Policy.noNewApprovals, granting({ before: 9n, extended: true }))).toBe("Fail");
    expect(tag(Policy.noNewApprovals, granting({ after: 0n }))).toBe("Pass");
    expect(tag(Policy.noNewApprovals, granting({ after: 0n, evidence: "logged" }))).toBe("Unknown");
    expect(tag(Policy.noNewApprovals, granting({ before: null, evidence: "logged" }))).toBe("Unknown");
    expect(tag(Policy.noNewApprovals, unknown())).toBe("Unknown");
    for (const code of ["CalldataCut", "FindingsCut", "FirstSeenInProof", "PartiesCut"] as const) {
      const cut = report({
        findings: [note(code, "warning", { evidence: "assumed" })],
      });
      expect(tag(Policy.noNewApprovals, cut)).toBe("Unknown");
    }
  });

  it("are unknown, if only on new rights, for an event of an unknown kind, or of one that gives a right", () => {
    for (const code of ["EventUnexplained", "RightUnexplained"] as const) {
      const findings = [note(code, "info", { evidence: "logged" }, hash("event", `0x${"ab".repeat(32)}`))];
      expect(tag(Policy.noNewApprovals, report({ findings }))).toBe("Unknown");
      expect(tag(Policy.noNewApprovals, { ...granting({}), findings })).toBe("Fail");
      expect(tag(Policy.noUnlimitedApprovals, report({ findings }))).toBe("Pass");
    }
  });

  it("are unknown for an unlimited right that calldata asks for and nobody measured", () => {
    const asking = (amount: bigint | null) =>
      report({ findings: [note("RightUnexplained", "info", { evidence: "estimated" }, units("amount", amount))] });
    for (const amount of [2n ** 256n - 1n, 2n ** 256n - 2n ** 8n, 2n ** 96n - 1n, null])
      expect(tag(Policy.noUnlimitedApprovals, asking(amount))).toBe("Unknown");
    expect(tag(Policy.noUnlimitedApprovals, asking(5n))).toBe("Pass");
  });

  it("fail an unlimited approval, measured or not, unless it is only being spent", () => {
    const all = 2n ** 256n - 1n;
    expect(tag(Policy.noUnlimitedApprovals, granting({ after: all, unlimited: true }))).toBe("Fail");
    expect(tag(Policy.noUnlimitedApprovals, granting({ after: all, unlimited: true, evidence: "logged" }))).toBe(
      "Fail",
    );
    expect(tag(Policy.noUnlimitedApprovals, granting({ before: all, after: all - 5n, unlimited: true }))).toBe("Pass");
    const longer = { before: all, after: all - 5n, unlimited: true, extended: true };
    expect(tag(Policy.noUnlimitedApprovals, granting(longer))).toBe("Fail");
    expect(tag(Policy.noUnlimitedApprovals, granting({}))).toBe("Pass");
    expect(tag(Policy.noUnlimitedApprovals, granting({ evidence: "logged" }))).toBe("Unknown");
  });

  it("demand that everyone but the senders is among those allowed", () => {
    expect(tag(Policy.onlyTouches([bob]), report())).toBe("Pass");
    expect(tag(Policy.onlyTouches([]), report())).toBe("Fail");
    // by each log as it is now, and by as many as there are
    const loud = structuredClone(report());
    const [{ outcome }] = loud.transactions as never as [{ outcome: { logs: Array<object> } }];
    const log = { address: bob, topics: [], data: "0x", decoded: null };
    outcome.logs = [log, ...Array.from({ length: 150_000 }, () => log)];
    expect(tag(Policy.onlyTouches([bob]), loud)).toBe("Pass");
    log.address = usdc as never;
    expect(tag(Policy.onlyTouches([bob]), loud)).toBe("Fail");
    // OwnershipTransferred
    const kind = "0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0";
    const given = { ...log, address: bob, topics: [kind, pad(bob), pad(bob)] };
    outcome.logs = [given];
    expect(tag(Policy.onlyTouches([bob]), loud)).toBe("Pass");
    given.topics[2] = pad(usdc);
    expect(tag(Policy.onlyTouches([bob]), loud)).toBe("Fail");
    expect(tag(Policy.onlyTouches([bob]), tokens())).toBe("Fail");
    expect(tag(Policy.onlyTouches([bob]), unknown())).toBe("Unknown");
  });

  it("demand that every native movement is seen, because the rest could be anywhere", () => {
    const where = { evidence: "measured" } as const;
    const native = note("TransferMismatch", "info", where, { name: "", unit: "text", value: "native currency" });
    const rounded = note("TransferMismatch", "info", where, { name: "token", unit: "address", value: usdc });
    expect(tag(Policy.onlyTouches([bob]), report({ findings: [native] }))).toBe("Unknown");
    expect(tag(Policy.onlyTouches([bob]), report({ findings: [rounded] }))).toBe("Pass");
  });

  it("count as party whoever gets control of a contract", () => {
    const topics = [keccak256(toHex("OwnershipTransferred(address,address)")), pad(alice), pad(stranger)];
    const log = { address: bob, topics: topics.map((topic) => Hash.make(topic)), data: Hex.make("0x"), decoded: null };
    const given = { ...transfer, outcome: { ...transfer.outcome, logs: [log] } };
    expect(tag(Policy.onlyTouches([bob]), report({ transactions: [given] }))).toBe("Fail");
    expect(tag(Policy.onlyTouches([bob, stranger]), report({ transactions: [given] }))).toBe("Pass");
  });

  it("count the zero address as party where money goes there, and not where tokens are minted or burned", () => {
    const nobody = Address.make(`0x${"0".repeat(40)}`);
    const paid = report().transfers.map((one) => ({ ...one, to: nobody }));
    const burned = paid.map((one) => ({ ...one, standard: "erc20" as const, token: usdc }));
    expect(tag(Policy.onlyTouches([usdc, bob]), report({ transfers: burned }))).toBe("Pass");
    expect(tag(Policy.onlyTouches([usdc, bob]), report({ transfers: paid }))).toBe("Fail");
    const sent = { ...transfer, input: { ...transfer.input, to: nobody } };
    expect(tag(Policy.onlyTouches([bob]), report({ transactions: [sent] }))).toBe("Fail");
    expect(tag(Policy.onlyTouches([bob, nobody]), report({ transactions: [sent] }))).toBe("Pass");
  });

  it("deny delegated accounts in every role", () => {
    expect(tag(Policy.denyDelegated, report())).toBe("Pass");
    const account = {
      account: alice,
      kind: "delegated",
      delegate: stranger,
      delegateHasCode: true,
      evidence: "measured",
    } as const;
    const sender = { ...transfer, code: { ...transfer.code, from: account } };
    expect(tag(Policy.denyDelegated, report({ transactions: [sender] }))).toBe("Fail");
    const nobodyKnows = {
      ...transfer,
      code: { ...transfer.code, to: { ...account, kind: "unknown", delegate: null } as const },
    };
    expect(tag(Policy.denyDelegated, report({ transactions: [nobodyKnows] }))).toBe("Unknown");
    expect(tag(Policy.denyDelegated, granting({ spenderKind: "delegated" }))).toBe("Fail");
  });
});

describe("policies on costs", () => {
  it("judge fees and gas limits at their maximum", () => {
    expect(tag(Policy.maxFee(44_100_000_000_000n), report())).toBe("Pass");
    expect(tag(Policy.maxFee(44_100_000_000_000n - 1n), report())).toBe("Fail");
    expect(tag(Policy.maxFee(10n ** 30n), report({ funds: [] }))).toBe("Unknown");
    const gas = transfer.request?.gas ?? 0n;
    expect(tag(Policy.maxGas(gas), report())).toBe("Pass");
    expect(tag(Policy.maxGas(gas - 1n), report())).toBe("Fail");
    expect(tag(Policy.maxGas(2n * gas - 1n), report({ transactions: [transfer, transfer] }))).toBe("Fail");
    const open = { ...transfer, request: null, gas: { ...transfer.gas, limit: null } };
    expect(tag(Policy.maxGas(10n ** 9n), report({ transactions: [open] }))).toBe("Unknown");
    expect(Policy.maxGas(10n ** 9n).evaluate(report({ transactions: [transfer, open] }))).toMatchObject({
      reason: "the gas limit of transaction 2 is not known",
    });
  });
});

describe("a caller's own policy", () => {
  it.each<[what: string, evaluate: () => Policy.PolicyResult, expected: string]>([
    ["passes", () => Policy.pass, "Pass"],
    ["fails", () => Policy.fail("no"), "Fail"],
    ["says nothing", () => undefined as never, "Unknown"],
    ["talks nonsense", () => ({ _tag: "Sure" }) as never, "Unknown"],
  ])("gives the result of an evaluation that %s", (_, evaluate, expected) =>
    expect(tag(Policy.make("a", evaluate), report())).toBe(expected),
  );
  it("is unknown where it throws, and says why", () => {
    const throwing = Policy.make("a", () => {
      throw new Error("boom");
    });
    expect(throwing.evaluate(report())).toEqual(Policy.unknown(expect.stringContaining("boom") as never));
  });
});

describe("combined policies", () => {
  const answers = { Pass: Policy.pass, Fail: Policy.fail("no"), Unknown: Policy.unknown("who knows") };
  const of = (name: keyof typeof answers) => Policy.make(name, () => answers[name]);
  const name = fc.constantFrom(...(Object.keys(answers) as ReadonlyArray<keyof typeof answers>));

  it("pass with `all` only when all pass, and fail with `any` only when all fail", () =>
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (names) => {
        const every = tag(Policy.all(...names.map(of)), report());
        const some = tag(Policy.any(...names.map(of)), report());
        expect(every).toBe(names.includes("Fail") ? "Fail" : names.includes("Unknown") ? "Unknown" : "Pass");
        expect(some).toBe(names.includes("Pass") ? "Pass" : names.includes("Unknown") ? "Unknown" : "Fail");
      }),
    ));
  it("fail when there is nothing to choose from", () => expect(tag(Policy.any(), report())).toBe("Fail"));
});

describe("policies as JSON", () => {
  const address = fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => `0x${Buffer.from(bytes).toString("hex")}` as const);
  const token = fc.oneof(address, fc.constant("native" as const));
  const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  const flat: fc.Arbitrary<Policy.Policy> = fc.oneof(
    fc.tuple(token, amount, fc.option(address, { nil: undefined })).map((given) => Policy.maxSpent(...given)),
    fc.tuple(token, amount, fc.option(address, { nil: undefined })).map((given) => Policy.minReceived(...given)),
    fc.constantFrom(Policy.noNewApprovals, Policy.noUnlimitedApprovals, Policy.denyDelegated),
    fc.array(address).map(Policy.onlyTouches),
    amount.map(Policy.maxFee),
    amount.map(Policy.maxGas),
  );
  const policy = fc.oneof(
    flat,
    fc.array(flat, { maxLength: 3 }).map((list) => Policy.all(...list, Policy.any(...list))),
  );

  it("are the same when they are read again", () =>
    fc.assert(
      fc.property(policy, (given) => {
        const data = JSON.parse(JSON.stringify(given.data)) as Schema.Json;
        const read = Policy.fromData(data);
        expect([read?.name, read?.data, read?.balances]).toEqual([given.name, given.data, given.balances]);
        for (const on of [report(), tokens(), unknown()]) expect(read?.evaluate(on)).toEqual(given.evaluate(on));
      }),
    ));

  it("are refused in any other shape", () => {
    const none: ReadonlyArray<unknown> = [
      ...[null, 1, "noNewApprovals", [], {}, { policy: "custom", name: "mine" }, { policy: "later" }],
      { policy: "noNewApprovals", strict: true },
      { policy: "maxSpent", token: "native" },
      { policy: "maxSpent", token: "native", amount: "-1" },
      { policy: "maxSpent", token: "native", amount: "0x10" },
      { policy: "maxSpent", token: "native", amount: 1.5 },
      { policy: "maxSpent", token: "native", amount: 2 ** 60 },
      { policy: "maxSpent", token: "0x12", amount: "1" },
      { policy: "maxSpent", token: "native", amount: "1", account: null },
      { policy: "onlyTouches", addresses: ["vitalik.eth"] },
      { policy: "all", policies: [{ policy: "noNewApprovals" }, { policy: "custom", name: "mine" }] },
    ];
    for (const data of none) expect(Policy.fromData(data as Schema.Json), JSON.stringify(data)).toBeNull();
    expect(Policy.fromData({ policy: "maxGas", gas: 21_000 })?.data).toEqual({ policy: "maxGas", gas: "21000" });
    let deep: Schema.Json = { policy: "noNewApprovals" };
    for (let depth = 0; depth < 10_000; depth++) deep = { policy: "all", policies: [deep] };
    expect(Policy.fromData(deep)).toBeNull();
  });

  it("are read from a list of any length", () => {
    const policies = Array.from({ length: 300_000 }, () => ({ policy: "noNewApprovals" }));
    for (const name of ["all", "any"]) expect(Policy.fromData({ policy: name, policies })?.name).toMatch(/^a/);
  });

  it("never throw on JSON of any shape", () =>
    fc.assert(fc.property(fc.jsonValue(), (data) => void Policy.fromData(data as Schema.Json))));

  it("are read from a file whole or not at all", async () => {
    const read = (json: unknown) => Effect.runPromise(Effect.result(Policy.fromJson(json)));
    const good = await read([{ policy: "noNewApprovals" }, { policy: "maxFee", wei: "5" }]);
    expect(Result.isSuccess(good) ? good.success.map(({ name }) => name) : []).toEqual(["noNewApprovals", "maxFee"]);
    const bad = await read([{ policy: "noNewApprovals" }, { policy: "nope" }]);
    expect(Result.isFailure(bad) ? bad.failure : null).toMatchObject({
      _tag: "InvalidTransaction",
      field: "policies[1].policy",
    });
    const short = await read([{ policy: "maxFee" }]);
    expect(Result.isFailure(short) ? short.failure : null).toMatchObject({
      field: "policies[0].wei",
      problem: "is missing",
    });
    expect(Result.isFailure(await read({ policy: "noNewApprovals" }))).toBe(true);
  });
});
