/** The state that authorisations make before they are signed, by the rules of EIP-7702, and the calls that stand in for them. */
import { describe, expect, it } from "vitest";
import "../../harness/authorities.js";
import { assumed } from "../../rooms/pipeline.js";
import { addressOfKey, authorityOf, signAuthorization } from "../../rooms/transaction.js";

const addressBy = (byte: string) => `0x${byte.repeat(20)}` as const;
const [alice, bob, code, other] = [addressBy("a1"), addressBy("b0"), addressBy("c0"), addressBy("0e")];
const zero = `0x${"00".repeat(20)}` as const;
const delegationOf = (address: string) => `0xef0100${address.slice(2)}`;
const entry = (authority: string, nonce: number, address: string = code, chainId = 1) => ({
  ...{ authority, address, chainId: `0x${chainId.toString(16)}`, nonce: `0x${nonce.toString(16)}` },
});

interface Fact {
  readonly nonce: bigint;
  readonly code: string;
  readonly exists: boolean;
}
const plain: Fact = { nonce: 5n, code: "0x", exists: true };
const fresh: Fact = { nonce: 0n, code: "0x", exists: false };
const helper = (place: number) => `0x${String(place).repeat(2).padStart(40, "f")}`;

const run = (
  list: ReadonlyArray<object>,
  facts: Readonly<Record<string, Fact>>,
  {
    from = other,
    nonce,
    state = {},
  }: { from?: string; nonce?: string; state?: Readonly<Record<string, unknown>> } = {},
) =>
  assumed({ from, ...(nonce === undefined ? {} : { nonce }), authorizationList: list }, state, true, {
    chainId: 1,
    authorityAt: (account) => facts[account] ?? fresh,
    helperOf: (place) => ({
      address: helper(place) as `0x${string}`,
      sign: (signed) => ({ helper: place, ...signed }),
    }),
  });

describe("an authorisation that is not signed", () => {
  it.each([
    ["applies", [entry(alice, 5)], plain, { nonce: "0x6", code: delegationOf(code) }, [0]],
    ["is for every chain", [entry(alice, 5, code, 0)], plain, { nonce: "0x6", code: delegationOf(code) }, [0]],
    ["is for another chain", [entry(alice, 5, code, 2)], plain, undefined, [1]],
    ["has a nonce that is used", [entry(alice, 4)], plain, undefined, [1]],
    ["has a nonce that is to come", [entry(alice, 6)], plain, undefined, [1]],
    ["is of a contract", [entry(alice, 5)], { ...plain, code: "0x6001" }, undefined, [1]],
    ["clears", [entry(alice, 5, zero)], { ...plain, code: delegationOf(bob) }, { nonce: "0x6", code: "0x" }, [0]],
    [
      "comes twice, in order",
      [entry(alice, 5), entry(alice, 6, bob)],
      plain,
      { nonce: "0x7", code: delegationOf(bob) },
      [0, 0],
    ],
    [
      "comes twice with one nonce",
      [entry(alice, 5), entry(alice, 5, bob)],
      plain,
      { code: delegationOf(code) },
      [0, 1],
    ],
  ] as const)("that %s is read or refused", (_, list, fact, made, nonces) => {
    const { state, call } = run(list, { [alice]: fact });
    if (made === undefined) expect(state).not.toHaveProperty(alice);
    else expect(state[alice]).toMatchObject(made);
    expect((call["authorizationList"] as ReadonlyArray<{ nonce: number }>).map((each) => each.nonce)).toEqual(nonces);
  });

  it("gets a helper with code where its account exists, and with a delegation where that has one", () => {
    const delegated = { ...plain, code: delegationOf(bob) };
    expect(run([entry(alice, 5)], { [alice]: plain }).state[helper(0)]).toEqual({ balance: "0x1" });
    expect(run([entry(alice, 5)], { [alice]: delegated }).state[helper(0)]).toMatchObject({ code: delegated.code });
    const twice = run([entry(bob, 0), entry(bob, 1)], { [bob]: fresh }).state;
    expect([helper(0) in twice, twice[helper(1)]]).toEqual([false, { balance: "0x1", code: delegationOf(code) }]);
  });

  it("of the sender is due behind the transaction's own nonce, and both count", () => {
    const { state, call } = run([entry(alice, 6)], { [alice]: plain }, { from: alice, nonce: "0x5" });
    expect([state[alice], call["nonce"]]).toMatchObject([{ nonce: "0x6", code: delegationOf(code) }, "0x6"]);
    const early = run([entry(alice, 5)], { [alice]: plain }, { from: alice, nonce: "0x5" });
    expect([early.state, early.call["nonce"]]).toEqual([{}, "0x5"]);
  });

  it("keeps overrides that are there, in any letter case", () => {
    const key = alice.toUpperCase().replace("0X", "0x");
    const { state } = run(
      [entry(alice, 9)],
      { [alice]: plain },
      { state: { [key]: { nonce: "0x9", balance: "0x7" } } },
    );
    expect(state).toMatchObject({ [key]: { nonce: "0xa", balance: "0x7", code: delegationOf(code) } });
    expect(Object.keys(state)).not.toContain(alice);
  });

  it("leaves signed ones of others as they are, and replaces those of its own account", () => {
    const key = `0x${"11".repeat(32)}` as const;
    const mine = addressOfKey(key);
    const signed = (nonce: number, by: `0x${string}`) => {
      const { r, s, yParity } = signAuthorization(by, { address: bob, chainId: 1, nonce });
      const wire = { ...entry("", nonce, bob), r: `0x${r.toString(16)}`, s: `0x${s.toString(16)}` };
      const { authority: _, ...rest } = { ...wire, yParity: `0x${yParity}` };
      return rest;
    };
    const [own, strange] = [signed(5, key), signed(5, `0x${"22".repeat(32)}`)];
    const { state, call } = run([own, strange, entry(mine, 6)], { [mine]: plain });
    const list = call["authorizationList"] as ReadonlyArray<unknown>;
    expect(list[1]).toBe(strange);
    expect(list[0]).toMatchObject({ helper: 0, nonce: 0, address: bob });
    expect(state[mine]).toMatchObject({ nonce: "0x7", code: delegationOf(code) });
  });
});

it("signed here is of the key's account", () => {
  const key = `0x${"ab".repeat(32)}` as const;
  const said = { address: bob, chainId: 1, nonce: 3 };
  const { r, s, yParity } = signAuthorization(key, said);
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}` as const;
  expect(authorityOf({ ...said, r: word(r), s: word(s), yParity })).toBe(addressOfKey(key));
});
