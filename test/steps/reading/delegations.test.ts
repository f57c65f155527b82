/** EIP-7702 delegations that transactions carry: whether they hold, and what they give away. */
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, it } from "vitest";
import { Address } from "../../rooms/primitives.js";
import { checkDelegations, delegationAccounts } from "../../rooms/steps.js";
import type { Authorization } from "../../rooms/transaction.js";
import { unseen, type View } from "../../rooms/witness.js";
import { accounts } from "../../harness/anvil.js";
import { bundle, codes, inhabited, token } from "../parts.js";
import { at } from "./arbitrary.js";

const signer = privateKeyToAccount(accounts[2].privateKey);
const authority = Address.make(signer.address.toLowerCase() as Address);
const nobody = at("0");
const some = `0x60${"00".repeat(30)}`;
const set = `0xef0100${token.slice(2)}`;

const sign = async (address: Address, chainId = 1): Promise<Authorization> => {
  const { yParity = 0, ...rest } = await signer.signAuthorization({ address, chainId, nonce: 0 });
  return { ...rest, yParity } as Authorization;
};
let delegating: Authorization;
let clearing: Authorization;
let everywhere: Authorization;
beforeAll(async () => {
  [delegating, clearing, everywhere] = await Promise.all([sign(token), sign(nobody), sign(token, 0)]);
});
const check = (entry: Authorization, after: View, chainId: number | null = 1) =>
  checkDelegations(bundle({}, { authorizationList: [entry] }), { after, chainId });

describe("the finding about a delegation", () => {
  it("gives the delegate everything where it holds, on its chain or on every one", () => {
    const holds = inhabited({ [authority]: set, [token]: some });
    const [finding, ...none] = check(delegating, holds);
    expect(finding).toMatchObject({ code: "DelegationSet", severity: "warning", transaction: 1, evidence: "measured" });
    expect([finding?.numbers.at(-1)?.value, none]).toEqual(["on chain 1", []]);
    expect(check(everywhere, holds)[0]?.numbers.at(-1)?.value).toBe("on every chain");
  });
  it("warns, too, of a delegate without code", () =>
    expect(codes(check(delegating, inhabited({ [authority]: set })))).toEqual([
      "DelegationSet/warning",
      "DelegateWithoutCode/warning",
    ]));
  it("is estimated where nobody saw it in place", () =>
    expect(check(delegating, unseen)).toMatchObject([{ code: "DelegationSet", evidence: "estimated" }]));
  it("is absent where it is not there at the end", () =>
    expect(codes(check(delegating, inhabited({ [token]: some })))).toEqual(["DelegationIneffective/warning"]));
  it("says that a delegation to the zero address clears", () => {
    expect(codes(check(clearing, inhabited({})))).toEqual(["DelegationCleared/info"]);
    expect(codes(check(clearing, inhabited({ [authority]: set })))).toEqual(["DelegationIneffective/warning"]);
  });
  it("gives the reason where one for another chain, or unsigned, has no effect", () => {
    const [elsewhere] = check(delegating, unseen, 5);
    expect(elsewhere).toMatchObject({ code: "DelegationIneffective", severity: "info" });
    expect(elsewhere?.numbers).toContainEqual({ name: "because", unit: "text", value: "it is for chain 1" });
    const forged = { ...delegating, r: `0x${"00".repeat(32)}` as never };
    expect(check(forged, unseen)[0]?.numbers).toContainEqual(
      expect.objectContaining({ name: "because", value: expect.stringContaining("its signature is none") }),
    );
    expect(codes(check(everywhere, unseen, 5))).toEqual(["DelegationSet/warning"]);
    expect(codes(check(delegating, unseen, null))).toEqual(["DelegationSet/warning"]);
  });
});

it("the accounts to look at are the signers and all their delegates", () => {
  const forged = { ...delegating, r: `0x${"00".repeat(32)}` as never };
  expect(delegationAccounts(bundle({ authorizationList: [delegating, clearing, forged] }))).toEqual([
    ...[authority, token, authority, token],
  ]);
});
