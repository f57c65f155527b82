/** What must be mined first, from a report alone. */
import type * as Arr from "effect/Array";
import { describe, expect, it } from "vitest";
import { privateKeyToAccount } from "viem/accounts";
import { Address } from "../rooms/primitives.js";
import { costUpTo, waitsOf, type Funds, type TransactionReport } from "../rooms/report.js";
import type { Authorization } from "../rooms/transaction.js";
import { alice, bob, report, transfer, usdc } from "./fixtures.js";

const key = privateKeyToAccount(`0x${"42".repeat(32)}`);
const signer = Address.make(key.address.toLowerCase() as `0x${string}`);

interface Row {
  readonly from?: Address;
  /** Nonce to sign, and the count on `latest`. */
  readonly nonce?: number;
  readonly latest?: number | null;
  readonly sender?: "delegated" | "nobody";
  readonly to?: "contract" | "nobody" | null;
  readonly authorizationList?: ReadonlyArray<Authorization>;
}
const row = ({ from = alice, nonce = 7, latest = 7, sender = "nobody", to = "nobody", ...own }: Row) => {
  const { code, request, input } = transfer;
  if (request === null || code.to === null) throw new Error("the fixture has both");
  const ends = { ...code, from: { ...code.from, account: from, kind: sender }, to: to && { ...code.to, kind: to } };
  const authorizationList = own.authorizationList ?? null;
  return {
    ...transfer,
    input: { ...input, from, authorizationList },
    request: { ...request, nonce },
    nonce: { ...transfer.nonce, value: nonce, latest },
    code: ends,
  } as TransactionReport;
};
const waits = (
  rows: Arr.NonEmptyReadonlyArray<Row>,
  funds: ReadonlyArray<Funds> = [],
  agrees: boolean | null = false,
) => {
  const [first, ...others] = rows.map(row);
  if (first === undefined) throw new Error("no transaction");
  const world = { run: "reordered" as const, state: "latest" as const, number: 1n, timestamp: 1n };
  const worlds = [{ ...world, feeRecipient: null, gasLimit: null, agrees }];
  const draft = report({ transactions: [first, ...others], funds });
  return waitsOf({ ...draft, observed: { ...draft.observed, worlds } }).map(
    ({ transaction, because, account, nonce }) => [transaction, because, account, nonce],
  );
};
const authorization = async (nonce: number): Promise<Authorization> => {
  const { v: _, yParity, ...signed } = await key.signAuthorization({ address: usdc, chainId: 1, nonce });
  return { ...signed, yParity: yParity ?? 0 } as unknown as Authorization;
};

describe("transactions that must wait for one in flight", () => {
  it("are the second of a delegated sender, and the first behind one in flight", () => {
    const sender = "delegated";
    expect(waits([{ sender }])).toEqual([]);
    expect(waits([{ sender }, { sender, nonce: 8 }])).toEqual([[1, "oneInFlight", alice, 8]]);
    expect(waits([{ sender, nonce: 8, latest: 7 }])).toEqual([[0, "oneInFlight", alice, 8]]);
    expect(waits([{ nonce: 8, latest: 7 }])).toEqual([]);
    // counts that nobody gave are told by the step that asked for them
    expect(waits([{ sender, nonce: 8, latest: null }])).toEqual([]);
  });
  it("are those of an account whose authorisation is carried, from there on", async () => {
    const own = await authorization(8);
    expect(waits([{ from: signer, authorizationList: [own] }])).toEqual([]);
    expect(
      waits([
        { from: signer, authorizationList: [own] },
        { from: signer, nonce: 9 },
      ]),
    ).toEqual([[1, "oneInFlight", signer, 9]]);
    const carried = { authorizationList: [own] };
    expect(waits([{ from: signer }, carried])).toEqual([[1, "oneInFlight", signer, 8]]);
    // of an account that sends nothing, nothing is known
    expect(waits([carried])).toEqual([]);
  });
});

describe("transactions that ran in another order", () => {
  const two = (first: NonNullable<Row["to"]>, second: "contract" | "nobody" | null) =>
    [{ to: first }, { from: bob, to: second }] as const;
  it("must wait where code runs and the other order did something else, or is unknown", () => {
    for (const ends of [two("nobody", "contract"), two("contract", "nobody"), two("nobody", null)])
      for (const agrees of [false, null]) expect(waits(ends, [], agrees)).toEqual([[1, "order", alice, 8]]);
    expect(waits(two("nobody", "nobody"))).toEqual([]);
    expect(waits(two("contract", "contract"), [], true)).toEqual([]);
    expect(waits([{ to: "contract" }, { to: "contract", nonce: 8 }])).toEqual([]);
  });
});

describe("transactions that depend on income", () => {
  const funds = (balance: bigint, account = bob): Funds => ({
    ...{ account, balance, required: 0n, expected: 0n, shortfall: 0n, evidence: "measured", queued: 0n, sealed: null },
    terms: [
      { transaction: 0, name: "received", amount: -50n },
      { transaction: 1, name: "value", amount: 20n },
      { transaction: 1, name: "gas", amount: 5n },
    ],
  });
  const paid = [{}, { from: bob }] as const;
  it("must wait for the payment, where the payer's own balance is not enough", () => {
    expect(costUpTo(funds(0n), 0)).toBe(0n);
    expect(costUpTo(funds(0n), 1)).toBe(25n);
    expect(waits(paid, [funds(24n)])).toEqual([[1, "income", alice, 8]]);
    expect(waits(paid, [funds(25n)])).toEqual([]);
    expect(waits([{}, { nonce: 8 }], [funds(0n, alice)])).toEqual([[1, "income", alice, 8]]);
  });
});
