/** Transactions as cases: each with its place, its signer, and who authorised what. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { privateKeyToAccount } from "viem/accounts";
import { signers } from "../../rooms/steps.js";
import type { Authorization } from "../../rooms/transaction.js";
import { accounts } from "../../harness/anvil.js";
import { alice, bob, bundle, token } from "../parts.js";

describe("a bundle", () => {
  it("has a case per transaction, in its order, for any number", () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom(alice, bob), { minLength: 1, maxLength: 64 }), (senders) => {
        const cases = bundle(...senders.map((from, index) => ({ from, value: BigInt(index) })));
        expect(cases.map(({ index, signer, input }) => [index, signer, input.value])).toEqual(
          senders.map((from, index) => [index, from, BigInt(index)]),
        );
        expect(signers(cases)).toEqual([...new Set(senders)]);
      }),
    ));
  it("knows who signed each authorisation, and keeps unsigned ones", async () => {
    const key = privateKeyToAccount(accounts[2].privateKey);
    const { yParity = 0, ...rest } = await key.signAuthorization({ address: token, chainId: 1, nonce: 0 });
    const entry = { ...rest, yParity } as Authorization;
    const forged = { ...entry, r: `0x${"00".repeat(32)}` as never };
    const [plain, carrying] = bundle({}, { authorizationList: [entry, forged] });
    expect(plain.authorizations).toEqual([]);
    expect(carrying?.authorizations).toEqual([
      { entry, authority: key.address.toLowerCase() },
      { entry: forged, authority: null },
    ]);
  });
});
