/** Nonces of a bundle: pure decisions out of two counts per sender. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { privateKeyToAccount } from "viem/accounts";
import type { Address } from "../../src/primitives/hex.js";
import { RpcError, Transport } from "../../src/errors/rpc.js";
import * as Nonce from "../../src/steps/nonce.js";
import type { Authorization } from "../../src/transaction/schema.js";
import { accounts } from "../harness/anvil.js";
import { alice, bob, transaction } from "./parts.js";

const failed = Result.fail(new RpcError({ method: "eth_getTransactionCount", reason: new Transport({ detail: "" }) }));
const counts = (of: Readonly<Record<string, readonly [latest: number | null, pending: number | null]>>) =>
  new Map(
    Object.entries(of).map(([address, [latest, pending]]): [Address, Nonce.Counts] => [
      address as Address,
      {
        latest: latest === null ? failed : Result.succeed(latest),
        pending: pending === null ? failed : Result.succeed(pending),
      },
    ]),
  );
const codes = ({ findings }: Nonce.Decision) =>
  findings.map(({ code, severity, transaction: at }) => `${at}:${code}/${severity}`);
const values = ({ outputs }: Nonce.Decision) => outputs.map(({ value }) => value);

describe("the next nonce", () => {
  it("follows the pool, sender by sender", () => {
    const bundle = [{}, { from: bob }, {}, { from: bob }, {}].map(transaction);
    const decided = Nonce.decide(bundle, counts({ [alice]: [4, 6], [bob]: [0, 0] }));
    expect([values(decided), codes(decided)]).toEqual([[6, 0, 7, 1, 8], []]);
    expect(decided.outputs[0]).toMatchObject({ next: 6, latest: 4, inFlight: 2, gap: 0, fixed: false });
  });

  it("rests on one count with a warning, and on none not at all", () => {
    const one = Nonce.decide([transaction()], counts({ [alice]: [4, null] }));
    expect([values(one), codes(one), one.outputs[0]?.inFlight]).toEqual([[4], ["0:Transport/warning"], null]);
    const none = Nonce.decide([transaction(), transaction()], counts({ [alice]: [null, null] }));
    expect([values(none), codes(none)]).toEqual([
      [null, null],
      ["0:Transport/unavailable", "0:Transport/unavailable"],
    ]);
    const backwards = Nonce.decide([transaction()], counts({ [alice]: [6, 4] }));
    expect([values(backwards), codes(backwards)]).toEqual([[6], ["0:NodeDisagrees/warning"]]);
    const flood = Nonce.decide([transaction()], counts({ [alice]: [0, 2 ** 40] }));
    expect(codes(flood)).toEqual(["0:NodeDisagrees/unavailable"]);
  });
});

describe("the caller's own nonce", () => {
  const judged = (nonces: ReadonlyArray<number | null>, latest: number | null, pending: number | null) =>
    codes(
      Nonce.decide(
        nonces.map((nonce) => transaction({ nonce })),
        counts({ [alice]: [latest, pending] }),
      ),
    );

  it("is used, replaces, fits or leaves a gap", () => {
    expect(judged([3], 4, 6)).toEqual(["0:NonceTooLow/blocker"]);
    expect(judged([4], 4, 6)).toEqual(["0:ReplacesPending/warning"]);
    expect(judged([5], 4, 6)).toEqual(["0:ReplacesPending/warning"]);
    expect(judged([6], 4, 6)).toEqual([]);
    expect(judged([7], 4, 6)).toEqual(["0:NonceTooHigh/blocker"]);
    expect(judged([6, null], 4, 6)).toEqual([]);
  });

  it("cannot be taken twice in a bundle, whatever could be counted", () => {
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
    const fixed = [transaction({ nonce: 4 })];
    expect(codes(Nonce.decide(fixed, counts({ [alice]: [4, 5] }), [], [true]))).toEqual(["0:NonceTooLow/blocker"]);
    expect(codes(Nonce.decide(fixed, counts({ [alice]: [4, 4] }), [], [true]))).toEqual([]);
  });

  it("without a gap or an overlap is never a finding, at any place in any bundle", () => {
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.nat(5),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        (latest, flying, given) => {
          const pending = latest + flying;
          const bundle = given.map((own, index) => transaction(own ? { nonce: pending + index } : {}));
          const decided = Nonce.decide(bundle, counts({ [alice]: [latest, pending] }));
          expect([values(decided), codes(decided)]).toEqual([given.map((_, index) => pending + index), []]);
        },
      ),
    );
  });
});

describe("reserved nonces", () => {
  it("may run ahead of the node, with a warning", () => {
    const decided = Nonce.decide([transaction(), transaction()], counts({ [alice]: [4, 4] }), [9, 10]);
    expect([values(decided), codes(decided)]).toEqual([[9, 10], ["0:NonceUnderReservation/warning"]]);
    const used = Nonce.decide([transaction()], counts({ [alice]: [4, 4] }), [3]);
    expect(codes(used)).toEqual(["0:NonceTooLow/blocker"]);
  });
});

describe("EIP-7702 authorisations", () => {
  const signer = privateKeyToAccount(accounts[0].privateKey);
  const signed = async (nonce: number, chainId = 1): Promise<Authorization> => {
    const { yParity = 0, ...rest } = await signer.signAuthorization({ address: bob, chainId, nonce });
    return { ...rest, yParity } as Authorization;
  };
  const after = (list: ReadonlyArray<Authorization>, first: Parameters<typeof transaction>[0] = {}) =>
    values(
      Nonce.decide(
        [transaction({ chainId: 1, authorizationList: list, ...first }), transaction()],
        counts({ [alice]: [4, 4], [bob]: [0, 0] }),
      ),
    );

  it("take nonces of their authority, where they fit", async () => {
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
