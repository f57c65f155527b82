/** Nonces of a bundle: chosen and checked out of two counts per signer. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { privateKeyToAccount } from "viem/accounts";
import { sent } from "../rooms/eth.js";
import { NonceTooHigh, NonceTooLow } from "../rooms/errors.js";
import type { PoolTransaction } from "../rooms/eth.js";
import type { Address } from "../rooms/primitives.js";
import type { By } from "../rooms/report.js";
import { Nonce, type Facts } from "../rooms/steps.js";
import { layerScripted } from "../../src/testing.js";
import type { Authorization, Transaction } from "../rooms/transaction.js";
import { accounts } from "../harness/anvil.js";
import { filled, alice, bob, bundle, fee, unanswered } from "./parts.js";

const failed = Result.fail(unanswered("eth_getTransactionCount"));
const counts = (of: Readonly<Record<string, readonly [latest: number | null, pending: number | null]>>): Counted =>
  new Map(
    Object.entries(of).map(([address, [latest, pending]]) => [
      address as Address,
      {
        latest: latest === null ? failed : Result.succeed(latest),
        pending: pending === null ? failed : Result.succeed(pending),
      },
    ]),
  );

type Counted = Facts["counts"];
const unread = { pools: new Map(), replacing: { priceBump: 10, isKnown: true } };
/** Chosen as a scan does it, or as given where an earlier report or a reservation chose. */
const decided = (
  cases: ReturnType<typeof bundle>,
  counted: Counted,
  given: ReadonlyArray<{ readonly value: number; readonly by: By }> = [],
) => {
  const numbered = cases.map((one) => {
    const fixed = given[one.index];
    const nonce =
      fixed === undefined
        ? Nonce.choose(one, { counts: counted }, cases)
        : ({ ...fixed, evidence: "assumed" } as const);
    return filled(one, { nonce, fee: fee(2n * 10n ** 9n) });
  });
  const answers = { ...unread, counts: counted };
  return {
    outputs: numbered.map((one) => Nonce.read(one, answers, numbered)),
    values: numbered.map(({ nonce }) => nonce.value),
    codes: numbered
      .flatMap((one) => Nonce.check(one, answers, numbered))
      .map(({ code, severity, transaction: at }) => `${at}:${code}/${severity}`),
  };
};

describe("the next nonce", () => {
  it("follows the pool, sender by sender", () => {
    const { values, codes, outputs } = decided(
      bundle({}, { from: bob }, {}, { from: bob }, {}),
      counts({ [alice]: [4, 6], [bob]: [0, 0] }),
    );
    expect([values, codes]).toEqual([[6, 0, 7, 1, 8], []]);
    expect(outputs[0]).toMatchObject({ next: 6, latest: 4, inFlight: 2, gap: 0, by: "us" });
  });

  it("rests on one count with a warning, and is unknown without any", () => {
    const one = decided(bundle({}), counts({ [alice]: [4, null] }));
    expect([one.values, one.codes, one.outputs[0]?.inFlight]).toEqual([[4], ["0:Transport/warning"], null]);
    const none = decided(bundle({}, {}), counts({ [alice]: [null, null] }));
    expect([none.values, none.codes]).toEqual([
      [null, null],
      ["0:Transport/unavailable", "0:Transport/unavailable"],
    ]);
    expect(none.outputs[0]).toMatchObject({ value: null, gap: null, evidence: "unavailable" });
    const backwards = decided(bundle({}), counts({ [alice]: [6, 4] }));
    expect([backwards.values, backwards.codes]).toEqual([[6], ["0:CountsDisagree/warning"]]);
    expect(backwards.outputs[0]?.inFlight).toBe(0);
    const flood = decided(bundle({}), counts({ [alice]: [0, 2 ** 40] }));
    expect(flood.codes).toEqual(["0:TooManyInFlight/unavailable"]);
  });
});

describe("the caller's own nonce", () => {
  const judged = (nonces: ReadonlyArray<number | null>, latest: number | null, pending: number | null) =>
    decided(bundle(...nonces.map((nonce) => ({ nonce }))), counts({ [alice]: [latest, pending] })).codes;

  it("is next, replaces, is too low or leaves a gap", () => {
    expect(judged([3], 4, 6)).toEqual(["0:NonceTooLow/blocker"]);
    expect(judged([4], 4, 6)).toEqual(["0:ReplacesPending/info"]);
    expect(judged([5], 4, 6)).toEqual(["0:ReplacesPending/info"]);
    expect(judged([6], 4, 6)).toEqual([]);
    expect(judged([7], 4, 6)).toEqual(["0:NonceTooHigh/blocker"]);
    expect(judged([6, null], 4, 6)).toEqual([]);
  });

  it("that replaces is judged by the fees of the in-flight transaction, where they are known", () => {
    const old: PoolTransaction = {
      ...{ hash: `0x${"11".repeat(32)}`, from: alice, nonce: 4n, gas: 21_000n, value: 0n, gasPrice: null },
      ...{ maxFeePerGas: 100n, maxPriorityFeePerGas: 10n, maxFeePerBlobGas: null, blobVersionedHashes: null },
    };
    const pools = new Map([[alice, { transactions: new Map([[4, old]]), balance: null }]]);
    const said = (cap: bigint, tip: bigint, replacing = { priceBump: 10, isKnown: true }) => {
      const [one] = bundle({ nonce: 4 }).map((its) =>
        filled(its, {
          nonce: { value: 4, by: "caller", evidence: "assumed" },
          fee: fee(null, { value: { gasPrice: null, maxFeePerGas: cap, maxPriorityFeePerGas: tip } }),
        }),
      );
      if (one === undefined) throw new Error("no case");
      return Nonce.check(one, { counts: counts({ [alice]: [4, 6] }), pools, replacing }, [one]).map(
        ({ code, severity }) => `${code}/${severity}`,
      );
    };
    expect(said(110n, 11n)).toEqual(["ReplacesPending/info"]);
    expect(said(109n, 11n)).toEqual(["ReplacementRefused/blocker"]);
    expect(said(110n, 10n)).toEqual(["ReplacementRefused/blocker"]);
    expect(said(109n, 11n, { priceBump: 10, isKnown: false })).toEqual(["ReplacementRefused/unavailable"]);
    expect(said(109n, 11n, { priceBump: 5, isKnown: true })).toEqual(["ReplacesPending/info"]);
    expect(said(1n, 1n, { priceBump: 0, isKnown: true })).toEqual(["ReplacesPending/info"]);
  });

  it("below the pending count is not known to be free where nobody counted mined ones", () => {
    expect(judged([3], null, 6)).toEqual(["0:Transport/warning", "0:NonceUnknown/unavailable"]);
    expect(judged([6], null, 6)).toEqual(["0:Transport/warning"]);
  });

  it("cannot be used twice in a bundle, whatever could be counted", () => {
    for (const [latest, pending] of [
      [4, 4],
      [null, 4],
      [4, null],
    ] as const) {
      const found = judged([4, 4], latest, pending);
      expect(found).toContain("1:NonceTooLow/blocker");
      expect(judged([4, 6], latest, pending)).toContain("1:NonceTooHigh/blocker");
    }
  });

  it("that an earlier round chose is too low once somebody took it", () => {
    const chosen = [{ value: 4, by: "us" }] as const;
    expect(decided(bundle({}), counts({ [alice]: [4, 5] }), chosen).codes).toEqual(["0:NonceTooLow/blocker"]);
    expect(decided(bundle({}), counts({ [alice]: [4, 4] }), chosen).codes).toEqual([]);
  });

  it("is a replacement only where the pool holds it and the chain does not", () => {
    const replaces = (nonce: number | null, latest: number | null, pending: number | null) =>
      Nonce.replaces(bundle({ nonce }), { counts: counts({ [alice]: [latest, pending] }) });
    expect([3, 4, 5, 6].map((nonce) => replaces(nonce, 4, 6))).toEqual([false, true, true, false]);
    expect([replaces(null, 4, 6), replaces(4, null, 6), replaces(4, 4, null)]).toEqual([false, false, false]);
  });

  it("without a gap or an overlap has no finding, at any place in any bundle", () => {
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.nat(5),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        (latest, flying, given) => {
          const pending = latest + flying;
          const cases = bundle(...given.map((own, index) => (own ? { nonce: pending + index } : {})));
          const { values, codes } = decided(cases, counts({ [alice]: [latest, pending] }));
          expect([values, codes]).toEqual([given.map((_, index) => pending + index), []]);
        },
      ),
    );
  });
});

describe("reserved nonces", () => {
  it("may run ahead of the node, with a warning", () => {
    const reserved = (...values: ReadonlyArray<number>) => values.map((value) => ({ value, by: "reserved" }) as const);
    const ahead = decided(bundle({}, {}), counts({ [alice]: [4, 4] }), reserved(9, 10));
    expect([ahead.values, ahead.codes]).toEqual([[9, 10], ["0:NonceUnderReservation/warning"]]);
    expect(ahead.outputs[0]).toMatchObject({ gap: 5, by: "reserved", evidence: "assumed" });
    const used = decided(bundle({}), counts({ [alice]: [4, 4] }), reserved(3));
    expect(used.codes).toEqual(["0:NonceTooLow/blocker"]);
  });
});

describe("EIP-7702 authorisations", () => {
  const signer = privateKeyToAccount(accounts[0].privateKey);
  const signed = async (nonce: number, chainId = 1): Promise<Authorization> => {
    const { yParity = 0, ...rest } = await signer.signAuthorization({ address: bob, chainId, nonce });
    return { ...rest, yParity } as Authorization;
  };
  const after = (list: ReadonlyArray<Authorization>, first: Partial<Transaction> = {}) =>
    decided(bundle({ chainId: 1, authorizationList: list, ...first }, {}), counts({ [alice]: [4, 4], [bob]: [0, 0] }))
      .values;

  it("use nonces of their authority, where they fit", async () => {
    expect(after([await signed(5)])).toEqual([4, 6]);
    expect(after([await signed(5, 0)])).toEqual([4, 6]);
    expect(after([await signed(5), await signed(6)])).toEqual([4, 7]);
    expect(after([await signed(6), await signed(5)])).toEqual([4, 6]);
    expect(after([await signed(4)])).toEqual([4, 5]);
    expect(after([await signed(5, 7)])).toEqual([4, 5]);
    expect(after([await signed(4)], { from: bob })).toEqual([0, 5]);
    expect(after([await signed(5)], { from: bob })).toEqual([0, 4]);
    const broken = { ...(await signed(5)), r: `0x${"00".repeat(32)}` as never };
    expect(after([broken])).toEqual([4, 5]);
  });
});

it("an impossible count is ignored, and a failed one leaves the other", async () => {
  const layer = layerScripted({
    eth_getTransactionCount: ([address, block]) =>
      address === bob ? "0x7" : block === "latest" ? "0x4" : `0x1${"0".repeat(14)}`,
  });
  const cases = bundle({}, { from: bob }, {});
  const asked = await Effect.runPromise(sent(Nonce.ask(cases)).pipe(Effect.provide(layer)));
  expect([...asked.keys()]).toEqual([alice, bob]);
  const { values, codes } = decided(cases, asked);
  expect([values, codes]).toEqual([[4, 7, 5], ["0:MalformedResponse/warning"]]);
});

describe("a nonce that the pending state has used,", () => {
  const refused = { account: alice, nonce: 4n, next: 5n, raw: null };
  it.each([
    ["that no count has reached is an authorisation's", {}, {}, true],
    ["whose account or nonce the node does not name, too", {}, { account: null, nonce: null }, true],
    ["is in the mempool", {}, { nonce: 3n, counted: [3, 4], given: 3 }, false],
    ["is mined", {}, { nonce: 3n, given: 3 }, false],
    ["is not counted", {}, { counted: [null, null] }, false],
    ["is another account's", {}, { account: bob }, false],
    ["is used in the mined state, too", { block: "latest" }, {}, false],
    ["is refused for another reason", { tag: "high" }, {}, false],
  ] as const)(
    "%s",
    (_, { block = "pending", tag = "low" }: { block?: "latest" | "pending"; tag?: string }, more, expected) => {
      const {
        counted = [4, 4],
        given = null,
        ...fields
      } = more as {
        readonly counted?: readonly [number | null, number | null];
        readonly given?: number | null;
      };
      const refusal = new (tag === "low" ? NonceTooLow : NonceTooHigh)({ ...refused, ...fields });
      const facts = { counts: counts({ [alice]: counted }), block };
      const cases = bundle({ nonce: given }).map((entry) => ({ ...entry, nonce: Nonce.choose(entry, facts, [entry]) }));
      expect(Nonce.isUsedByAuthorization(refusal, cases, facts)).toBe(expected);
    },
  );
  it("a nonce that pending state has used differs from one that a bundle's earlier transaction uses", () => {
    const facts = { counts: counts({ [alice]: [4, 4], [bob]: [9, 9] }), block: "pending" } as const;
    const isUsed = (nonce: bigint, ...nonces: ReadonlyArray<number>) =>
      Nonce.isUsedByAuthorization(
        new NonceTooLow({ ...refused, nonce }),
        bundle(...nonces.map((given) => ({ nonce: given })), { from: bob, nonce: 9 }),
        facts,
      );
    expect([isUsed(4n, 4, 5), isUsed(5n, 4, 5), isUsed(4n, 4, 4), isUsed(4n, 5, 4)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
