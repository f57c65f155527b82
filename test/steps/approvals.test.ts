/** Who gets rights over what, measured on both sides, and what they give away. */
import * as Result from "effect/Result";
import { encodeFunctionData, erc20Abi, keccak256, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { Address } from "../rooms/primitives.js";
import type { Right } from "../rooms/effects.js";
import { Approvals } from "../rooms/steps.js";
import type { Transaction } from "../../src/Transaction.js";
import {
  allowance,
  getApproved,
  isApprovedForAll,
  permit2Allowance,
  totalSupply,
  unseen,
  type View,
} from "../rooms/witness.js";
import {
  account,
  alice,
  answer,
  answered,
  bob,
  bundle,
  codes,
  environment,
  filled,
  hexOf,
  outcome,
  seeing,
  token,
  word,
} from "./parts.js";
import { at } from "./reading/arbitrary.js";

const right = (changed: Partial<Right> = {}): Right => ({
  ...{ standard: "erc20", token, owner: alice, spender: bob, tokenId: null, operator: false, keeper: token },
  ...{ open: null, claim: 9n, expiration: null, seen: "log", transaction: 0 },
  ...changed,
});
const lives = (code = "0x", address: Address = bob) => [{ kind: "account", address } as const, account(code)] as const;
const contract = `0x60${"00".repeat(30)}`;
const unread = { codes: new Map<Address, never>(), before: unseen, after: unseen };
type Views = Partial<Record<"before" | "after", View>>;
const read = (of: ReadonlyArray<Right>, { before = unseen, after = unseen }: Views = {}, standards = new Map()) =>
  Approvals.read(of, { before, after, standards });
const granted = (amount: bigint, changed: Partial<Right> = {}) =>
  read([right({ claim: amount, ...changed })], { after: seeing(lives(contract)) });
const check = (
  approvals: ReturnType<typeof read>,
  {
    inputs = [{}],
    before = unseen,
  }: { readonly inputs?: ReadonlyArray<Partial<Transaction>>; readonly before?: View } = {},
) => {
  const cases = bundle(...inputs).map((one) => filled(one, { outcome: outcome() }));
  return Approvals.check(approvals, cases, { before, after: unseen, chainId: 1 });
};

describe("an approval in the report", () => {
  const view = (amount: bigint, code = contract) =>
    seeing([allowance(token, alice, bob), answered(amount)], lives(code));
  it("is measured on both sides, else read from its event, else from the calldata", () => {
    expect(read([right()], { before: view(1n), after: view(5n) })).toMatchObject([
      { before: 1n, after: 5n, evidence: "measured", spenderKind: "contract" },
    ]);
    expect(read([right()])).toMatchObject([{ before: null, after: 9n, evidence: "logged", spenderKind: "unknown" }]);
    expect(read([right({ seen: "calldata" })])).toMatchObject([{ after: 9n, evidence: "estimated" }]);
  });
  it("that only the calldata asks for is none where the contract answers nothing like it", () => {
    const mute = seeing([allowance(token, alice, bob), answer("0x", false)]);
    expect(read([right({ seen: "calldata" })], { before: mute, after: mute })).toEqual([]);
    expect(read([right()], { before: mute, after: mute })).toHaveLength(1);
  });
  it("of a router's permit is none where its allowance did not change, or was not seen", () => {
    const means = right({ seen: "calldata", isMeans: true });
    expect(read([means], { before: view(5n), after: view(5n) })).toEqual([]);
    expect(read([means])).toEqual([]);
    expect(read([means], { before: view(1n), after: view(5n) })).toMatchObject([{ before: 1n, after: 5n }]);
  });
  it("has the kind of account at the spender, before and after", () => {
    const kind = (before: string | null, after: string) =>
      read([right()], {
        ...(before === null ? {} : { before: seeing(lives(before)) }),
        after: seeing(lives(after)),
      })[0]?.spenderKind;
    expect([kind("0x", "0x"), kind("0x", contract), kind(contract, contract), kind(null, contract)]).toEqual([
      ...["eoa", "created", "contract", "contract"],
    ]);
    expect(kind("0x", `0xef0100${token.slice(2)}`)).toBe("delegated");
  });
  it("is unlimited from the supply on, from where no supply reaches, and at a narrow token's maximum", () => {
    const unlimited = (said: bigint, changed: Partial<Right> = {}, views: Views = {}) =>
      read([right({ claim: said, ...changed })], views)[0]?.unlimited;
    const supply = (amount: bigint): View => seeing([totalSupply(token), answered(amount)]);
    const over = (after: View, ...amounts: ReadonlyArray<bigint>) =>
      amounts.map((said) => unlimited(said, {}, { after }));
    expect(over(supply(1000n), 999n, 1000n, 1001n, 2n ** 128n - 1n)).toEqual([false, true, true, true]);
    expect(over(supply(2n ** 127n), 2n ** 96n - 1n, 2n ** 96n, 2n ** 127n)).toEqual([true, false, true]);
    expect(over(supply(2n ** 256n - 1n), 2n ** 128n - 1n, 2n ** 128n)).toEqual([false, true]);
    for (const nothing of [supply(0n), unseen])
      expect(over(nothing, 0n, 5n, 2n ** 96n - 2n, 2n ** 96n - 1n, 2n ** 96n)).toEqual([
        false,
        false,
        false,
        true,
        true,
      ]);
    expect(unlimited(40n, {}, { before: supply(10n), after: supply(50n) })).toBe(false);
    expect(unlimited(40n, {}, { before: supply(10n) })).toBe(true);
    expect(unlimited(40n, { standard: "permit2" }, { after: supply(40n) })).toBe(true);
    expect(unlimited(1n, { operator: true, standard: "erc721" })).toBe(true);
    expect(unlimited(2n ** 200n, { tokenId: 5n, standard: "erc721" })).toBe(false);
  });
  it("of one NFT that is taken back shows the former spender", () => {
    const nobody = at("0");
    const back = right({ standard: "erc721", tokenId: 7n, open: 7n, spender: nobody, claim: 0n });
    const had = seeing([getApproved(token, 7n), answered(bob)]);
    const has = seeing([getApproved(token, 7n), answered(0n)]);
    expect(read([back], { before: had, after: has })).toMatchObject([
      { spender: bob, before: 1n, after: 0n, evidence: "measured" },
    ]);
    expect(read([back], { before: has, after: has })).toEqual([]);
  });
  it.each([
    ["runs on, is kept", 77n, 9n, 9n, 0],
    ["ends now, still runs", 0n, 9n, 9n, 1],
    ["ends later than before, is more", 76n, 9n, 9n, 1],
    ["ends sooner than before, is not", 78n, 9n, 9n, 0],
    ["had expired, and is renewed, is new", -1n, 9n, 0n, 1],
  ])("is handled for Permit2 that %s", (_, left, after, before, findings) => {
    const now = environment().timestamp;
    const permit2 = at("3");
    const kept = (amount: bigint, expiration: bigint) =>
      seeing(
        [permit2Allowance(permit2, alice, token, bob), answer(`0x${word(amount)}${word(expiration)}${word(0n)}`)],
        [{ kind: "environment" }, environment()],
        lives(contract),
      );
    const approvals = read([right({ standard: "permit2", keeper: permit2 })], {
      before: kept(9n, now + left),
      after: kept(after, now + 77n),
    });
    expect(approvals[0]?.extended).toBe(before > 0n && left < 77n);
    const means = right({ standard: "permit2", keeper: permit2, seen: "calldata", isMeans: true });
    const views = { before: kept(9n, now + left), after: kept(after, now + 77n) };
    expect(read([means], views)).toHaveLength(left < 77n ? 1 : 0);
    expect(approvals).toMatchObject([{ before, after: 9n, expiration: now + 77n, evidence: "measured" }]);
    expect(check(approvals, { inputs: [{}, {}] })).toHaveLength(findings);
  });
  it("of Permit2 is taken back where it is set to expire at once", () => {
    const permit2 = at("3");
    const now = environment().timestamp;
    const kept = (expiration: bigint) =>
      seeing(
        [permit2Allowance(permit2, alice, token, bob), answer(`0x${word(9n)}${word(expiration)}${word(0n)}`)],
        [{ kind: "environment" }, environment()],
      );
    expect(
      read([right({ standard: "permit2", keeper: permit2 })], { before: kept(now + 77n), after: kept(now - 1n) }),
    ).toMatchObject([{ before: 9n, after: 0n, evidence: "measured" }]);
  });
  it("of an operator and of Permit2 is read at its own place", () => {
    const all = seeing([isApprovedForAll(token, alice, bob), answered(1n)]);
    expect(read([right({ standard: "erc721", operator: true })], { after: all })).toMatchObject([
      { after: 1n, unlimited: true, evidence: "measured" },
    ]);
    const permit2 = at("3");
    const kept = seeing([permit2Allowance(permit2, alice, token, bob), answer(`0x${word(8n)}${word(77n)}${word(0n)}`)]);
    expect(read([right({ standard: "permit2", keeper: permit2 })], { after: kept })).toMatchObject([
      { after: 8n, expiration: 77n, evidence: "measured" },
    ]);
  });
  it("has the kind that the token turns out to have, once where two shapes are the same right", () => {
    const coin = right({ open: 9n });
    const single = right({ standard: "erc721", tokenId: 9n, open: 9n, claim: 1n });
    expect(read([coin, single], {}, new Map([[token, "erc20"]]))).toMatchObject([{ standard: "erc20", after: 9n }]);
  });
});

describe("the finding about an approval", () => {
  const approving = {
    to: token,
    data: hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, 9n] })),
  };
  it("is one: information for the purpose, left over otherwise, and worse without a limit", () => {
    expect(codes(check(granted(9n), { inputs: [approving] }))).toEqual(["ApprovalGranted/info"]);
    expect(codes(check(granted(9n)))).toEqual(["ApprovalLeftOver/warning"]);
    expect(codes(check(granted(9n), { inputs: [approving, {}] }))).toEqual(["ApprovalLeftOver/warning"]);
    // nothing but grants comes behind it: it is what the bundle is for
    const revoking = { to: token, data: hexOf(`${approving.data.slice(0, 74)}${word(0n)}`) };
    const granting = { to: token, data: hexOf(`${approving.data.slice(0, 10)}${word(token)}${word(9n)}`) };
    expect(codes(check(granted(9n), { inputs: [revoking, approving] }))).toEqual(["ApprovalGranted/info"]);
    expect(codes(check(granted(9n), { inputs: [approving, granting] }))).toContain("ApprovalGranted/info");
    expect(codes(check(granted(9n), { inputs: [{}, approving] }))).toEqual(["ApprovalGranted/info"]);
    expect(codes(check(granted(9n), { inputs: [approving, {}, granting] }))).toContain("ApprovalLeftOver/warning");
    const unlimited = check(granted(2n ** 255n), { inputs: [approving, {}] });
    expect(codes(unlimited)).toEqual(["ApprovalUnlimited/warning"]);
    expect(unlimited[0]?.numbers).toContainEqual({ name: "", unit: "text", value: "left over at the end" });
    expect(codes(check(granted(2n ** 255n), { inputs: [approving] }))).toEqual(["ApprovalUnlimited/warning"]);
  });
  it("is a warning for a person as spender, unless that sends the bundle", () => {
    const toEoa = read([right()], { after: seeing(lives()) });
    expect(codes(check(toEoa, { inputs: [approving] }))).toEqual(["ApprovalGranted/warning"]);
    expect(codes(check(toEoa, { inputs: [approving, { from: bob }] }))).toEqual(["ApprovalLeftOver/warning"]);
  });
  it("is absent where it shrinks, ends, or has ended already", () => {
    const shrinking = { before: seeing([allowance(token, alice, bob), answered(9n)]) };
    expect(check(read([right({ claim: 9n })], shrinking))).toEqual([]);
    expect(check(granted(0n))).toEqual([]);
    const past = { standard: "permit2", expiration: environment().timestamp - 1n } as const;
    const now = seeing(lives(contract), [{ kind: "environment" }, environment()]);
    expect(read([right(past)], { after: now })).toMatchObject([{ before: null, after: 0n, evidence: "logged" }]);
    expect(check(read([right(past)], { after: now }))).toEqual([]);
    expect(codes(check(granted(9n, past)))).toEqual(["ApprovalLeftOver/warning"]);
  });
  it("stands beside calldata that is read once, however many approvals there are", () => {
    const multicall = (count: number) => ({
      to: token,
      data: hexOf(
        encodeFunctionData({
          abi: parseAbi(["function multicall(bytes[] data)"]),
          functionName: "multicall",
          args: [Array.from({ length: count }, () => approving.data)],
        }),
      ),
    });
    const flood = granted(9n).flatMap((one) =>
      Array.from({ length: 4_000 }, (_, index) => ({
        ...one,
        spender: Address.make(`0x${word(BigInt(index)).slice(24)}`),
      })),
    );
    const started = performance.now();
    check(flood, { inputs: [multicall(120)] });
    expect(performance.now() - started).toBeLessThan(2_000);
    // nothing of what the calls ask for was seen to happen
    expect([...new Set(codes(check([], { inputs: [multicall(120)] })))]).toEqual(["RightUnexplained/info"]);
    const told = (count: number) => codes(Approvals.checkCalls(bundle(multicall(count)), unread));
    expect([told(120), told(300)]).toEqual([[], ["CalldataCut/warning"]]);
  });
  it("has the approval's evidence, and its transaction", () => {
    const [finding] = check(granted(9n, { transaction: 2, seen: "calldata" }));
    expect(finding).toMatchObject({ transaction: 2, evidence: "estimated", step: "approvals" });
    expect(finding?.numbers).toContainEqual({ name: "amount", unit: "units", value: 9n });
  });
});

describe("a function that is a call in some contracts, and a DELEGATECALL in others,", () => {
  const execute = encodeFunctionData({
    abi: parseAbi(["function execute(address,bytes)"]),
    args: [token, "0x12345678"],
  });
  const keeper = at("c");
  const at64 = (data: string) => hexOf(data.toLowerCase());
  /** `63 1cff79cd` and what it jumps to; the code ends in front of its metadata. */
  const dispatching = (instruction: string, metadata = "") =>
    hexOf(`0x5f3560e01c631cff79cd1460105700` + `5b${instruction}00fe${metadata}`);
  const seenAs = (code: string, hash = keccak256(hexOf(code))) =>
    seeing([
      { kind: "account", address: bob },
      { ...account(code), codeHash: hash as never },
    ]);
  const told = (
    code: string | null,
    {
      data = execute as string,
      before = seenAs(code ?? "0x"),
      after = before,
    }: { readonly data?: string; readonly before?: View; readonly after?: View } = {},
  ) => {
    const known = new Map(code === null ? [] : [[bob, Result.succeed(hexOf(code))] as const]);
    return Approvals.checkCalls(bundle({ data: at64(data) }), { codes: known, before, after });
  };

  it.each<[string, Parameters<typeof told>, string]>([
    ["that can only make calls", [dispatching("f1")], "warning"],
    ["whose metadata looks like DELEGATECALL", [dispatching("f1", "a264f4f4f2")], "warning"],
    ["that runs DELEGATECALL", [dispatching("f4")], "unavailable"],
    ["that runs CALLCODE", [dispatching("f2")], "unavailable"],
    // whoever it asks may do as well, and its own code need not hold the selector
    [
      "that is another's clone",
      [`0x363d3d373d3d3d363d73${"ab".repeat(20)}5af43d82803e903d91602b57fd5bf3`],
      "unavailable",
    ],
    ["that is a delegated account", [`0xef0100${"ab".repeat(20)}`], "unavailable"],
    ["that nobody read", [null], "unavailable"],
    ["without code, as far as is known", ["0x"], "unavailable"],
    ["of which the run saw other code", [dispatching("f1"), { before: seenAs(dispatching("f4")) }], "unavailable"],
    ["whose code changed", [dispatching("f1"), { after: seenAs(dispatching("f4")) }], "unavailable"],
    ["of which the run saw nothing", [dispatching("f1"), { before: unseen }], "unavailable"],
  ])("is judged in a contract %s", (_, [code, views], severity) => {
    const [finding, ...more] = told(code, views);
    expect([codes(finding === undefined ? [] : [finding]), more]).toEqual([[`CalldataCut/${severity}`], []]);
    expect(finding?.numbers[0]).toEqual({ name: "contract", unit: "address", value: bob });
  });
  it("is not read where its calldata is cut short, whatever contract is called", () => {
    expect(codes(told(dispatching("f1"), { data: execute.slice(0, 138) }))).toEqual(["CalldataCut/unavailable"]);
  });
  it("has one finding about the contract that makes the call", () => {
    const abi = parseAbi(["function execute(address,uint256,bytes)"]);
    const nested = encodeFunctionData({ abi, args: [keeper, 0n, execute] });
    const [finding] = told(dispatching("f1"), { data: nested });
    expect([finding?.severity, finding?.numbers[0]?.value]).toEqual(["unavailable", keeper]);
    const all = [execute, execute].map((data) => ({ data: at64(data) }));
    expect(Approvals.checkCalls(bundle(...all), unread).map(({ transaction }) => transaction)).toEqual([0, 1]);
  });
});
