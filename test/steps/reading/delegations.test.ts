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

describe("a delegation", () => {
  it("that holds gives its delegate everything, on the chain that it names or on every one", () => {
    const holds = inhabited({ [authority]: set, [token]: some });
    const [finding, ...none] = check(delegating, holds);
    expect(finding).toMatchObject({ code: "DelegationSet", severity: "warning", transaction: 1, evidence: "measured" });
    expect([finding?.numbers.at(-1)?.value, none]).toEqual(["on chain 1", []]);
    expect(check(everywhere, holds)[0]?.numbers.at(-1)?.value).toBe("on every chain");
  });
  it("to an address without code warns of that too", () =>
    expect(codes(check(delegating, inhabited({ [authority]: set })))).toEqual([
      "DelegationSet/warning",
      "DelegateWithoutCode/warning",
    ]));
  it("that nobody saw in place is estimated", () =>
    expect(check(delegating, unseen)).toMatchObject([{ code: "DelegationSet", evidence: "estimated" }]));
  it("that is not there at the end does not hold", () =>
    expect(codes(check(delegating, inhabited({ [token]: some })))).toEqual(["DelegationIneffective/warning"]));
  it("to nobody clears, where nothing is left", () => {
    expect(codes(check(clearing, inhabited({})))).toEqual(["DelegationCleared/info"]);
    expect(codes(check(clearing, inhabited({ [authority]: set })))).toEqual(["DelegationIneffective/warning"]);
  });
  it("for another chain, or that nobody signed, has no effect, and says why", () => {
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

it("the accounts that matter are those who sign and those they delegate to, nobody left out", () => {
  const forged = { ...delegating, r: `0x${"00".repeat(32)}` as never };
  expect(delegationAccounts(bundle({ authorizationList: [delegating, clearing, forged] }))).toEqual([
    ...[authority, token, authority, token],
  ]);
});
