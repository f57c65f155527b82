/** The accounts that gain by a signature, which a guard's `spenders` has to name. */
import { describe, expect, it } from "vitest";
import { beneficiariesOf } from "../rooms/guard.js";
import { alice, bob, granted, pool, report, signing, stand, usdc } from "../report/fixtures.js";
import type { Report } from "../rooms/report.js";

type Signing = Report["signings"][number];
type Payee = Report["payees"][number];

const entryPoint = pool;
const operation: NonNullable<Signing["operation"]> = {
  ...{ entryPoint, version: "0.8", hash: signing().sign.digest, nonce: { key: 0n, sequence: 0n }, success: true },
  ...{ actualGasUsed: 90_000n, actualGasCost: 40n, prefund: 100n, payer: alice, deposit: 30n },
  ...{ validAfter: null, validUntil: null, validIn: null },
};
const operationOf = (changed: Partial<typeof operation> = {}): Signing =>
  signing({ kind: "userOperation", contract: entryPoint, usableBy: "anyone", operation: { ...operation, ...changed } });

const paid = (changed: Partial<Payee["receives"][number]> = {}, address = entryPoint): Payee => ({
  ...{ address, rights: [] },
  receives: [{ token: null, tokenId: null, amount: 70n, ...changed }],
});
const given = (kind: Payee["rights"][number]["kind"]): Payee => ({
  ...{ address: bob, receives: [] },
  rights: [{ kind, account: alice, token: null, tokenId: null, amount: null }],
});

describe("who gains by a signature", () => {
  it.each<readonly [says: string, report: Partial<Report>, gains: ReadonlyArray<string>]>([
    ["nobody, of an operation that pays its EntryPoint what is held back", { payees: [paid()] }, []],
    ["its EntryPoint, of one wei more than is held back", { payees: [paid({ amount: 71n })] }, [entryPoint]],
    ["its EntryPoint, of a token", { payees: [paid({ token: usdc, amount: 1n })] }, [entryPoint]],
    ["another account that is paid as much", { payees: [paid({}, bob)] }, [bob]],
    [
      "its EntryPoint, where a paymaster owes it",
      { payees: [paid()], signings: [operationOf({ payer: bob })] },
      [entryPoint],
    ],
    [
      "its EntryPoint, where nobody knows what it has there",
      { payees: [paid()], signings: [operationOf({ deposit: null })] },
      [entryPoint],
    ],
    [
      "another EntryPoint than its own",
      { payees: [paid()], signings: [operationOf({ entryPoint: usdc })] },
      [entryPoint],
    ],
    ["a spender that gets an allowance", { approvals: [granted({ spender: bob })] }, [bob]],
    ["nobody, of an allowance that shrinks", { approvals: [granted({ spender: bob, before: 9n, after: 2n })] }, []],
    ["whoever gets control", { payees: [given("control")] }, [bob]],
    ["whoever's code runs", { payees: [given("delegation")] }, [bob]],
    ["anyone, where a stranger is paid", { payees: [paid({}, stand.stranger)] }, ["anyone"]],
    [
      "not the account itself, nor the one that stands for a receiver",
      { payees: [paid({}, alice), paid({}, stand.taker)] },
      [],
    ],
  ])("is %s", (_, changed, gains) => {
    const { signings = [operationOf()], ...others } = changed;
    const found = beneficiariesOf({ ...report({ transfers: [] }), approvals: [], payees: [], ...others, signings });
    expect(found).toEqual(gains);
  });
});
