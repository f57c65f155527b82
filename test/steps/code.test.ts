/** Who lives at an address: what the witness read in the simulated state decides, and doubt is no answer. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { sent } from "../rooms/eth.js";
import { everyLook, everyStep } from "../rooms/pipeline.js";
import { describe, expect, it } from "vitest";
import { privateKeyToAccount } from "viem/accounts";
import { Address } from "../rooms/primitives.js";
import { Code, type Facts } from "../rooms/steps.js";
import type { Authorization } from "../rooms/transaction.js";
import { layerScripted, rpcError } from "../../src/testing.js";
import type { Transaction } from "../../src/Transaction.js";
import { unseen, type View } from "../rooms/witness.js";
import { accounts } from "../harness/anvil.js";
import { account, alice, bob, bundle, chain, codes, hexOf, inhabited, token, unanswered } from "./parts.js";

type Seen = Pick<Facts, "codes" | "before" | "after" | "met" | "chain">;
const failed = Result.fail(unanswered("eth_getCode"));
const said = (code: string) => Result.succeed(hexOf(code));
const none = "0x";
const some = `0x60${"00".repeat(30)}`;
const delegation = `0xef0100${token.slice(2)}`;

type Sight = Pick<Code.Sightings, "before" | "after" | "appears">;
const nobodyLooked: Sight = { before: null, after: null, appears: "after" };
const seen = (before: string, after: string, appears: Code.Sightings["appears"] = "after"): Sight => ({
  ...{ before: account(before), after: account(after), appears },
});

/** A bundle whose nonces are those of its places, unless others are named. */
const numbered = (
  inputs: ReadonlyArray<Partial<Transaction>>,
  valueOf: (one: ReturnType<typeof bundle>[number]) => number | null = ({ index }) => index,
) =>
  bundle(...inputs).map((one) => ({
    ...one,
    nonce: { value: valueOf(one), by: "us", evidence: "estimated" } as const,
  }));

describe("the kind of an account", () => {
  const kind = (asked: Code.Sightings["asked"], sight: Sight, address = bob) => {
    const { kind: found, evidence } = Code.decideAccount(address, { asked, ...sight });
    return `${found}/${evidence}`;
  };
  it("is the witness's, else the node's", () => {
    expect(kind(said(none), seen(none, none))).toBe("nobody/measured");
    expect(kind(said(some), seen(some, some))).toBe("contract/measured");
    expect(kind(failed, seen(some, some))).toBe("contract/measured");
    expect(kind(said(none), seen(some, some))).toBe("contract/measured");
    expect(kind(said(some), nobodyLooked)).toBe("contract/estimated");
    expect(kind(said(none), nobodyLooked)).toBe("nobody/estimated");
    expect(kind(said(delegation), seen(delegation, delegation))).toBe("delegated/measured");
    expect(kind(said(`${delegation}00`), seen(`${delegation}00`, none))).toBe("contract/measured");
  });
  it("is unknown without an answer, or where the node claims code that was not there", () => {
    expect(kind(failed, nobodyLooked)).toBe("unknown/unavailable");
    expect(kind(undefined, nobodyLooked)).toBe("unknown/unavailable");
    expect(kind(said(some), seen(none, none))).toBe("unknown/unavailable");
  });
  it("includes an account that the bundle creates, only from its creation on", () => {
    expect(kind(said(none), seen(none, some, "before"))).toBe("contract/measured");
    expect(kind(said(none), seen(none, some, "after"))).toBe("nobody/measured");
    expect(kind(said(none), seen(none, some, "unclear"))).toBe("unknown/unavailable");
  });
  it("is that of the later delegation where the bundle changes one, and of the earlier code where it does not", () => {
    const later = `0xef0100${bob.slice(2)}`;
    const delegateAt = (before: string, after: string) =>
      Code.decideAccount(alice, { asked: undefined, ...seen(before, after, "before") }).delegate;
    expect(delegateAt(delegation, later)).toBe(bob);
    expect(delegateAt(some, later)).toBeNull();
  });
  it("is a precompile by its number", () => {
    for (const number of ["01", "11"])
      expect(kind(said(none), seen(none, none), Address.make(`0x${"00".repeat(19)}${number}`))).toMatch(/^precompile/);
    expect(kind(said(none), seen(none, none), Address.make(`0x${"00".repeat(18)}0100`))).toMatch(/^precompile/);
    expect(kind(said(none), seen(none, none), Address.make(`0x${"00".repeat(19)}12`))).toMatch(/^nobody/);
  });
});

describe("the findings about the two ends of a transaction", () => {
  const looked = (
    changed: Partial<Transaction>,
    {
      codes: found = {},
      nonce = 0,
      view = inhabited(found),
    }: {
      readonly codes?: Readonly<Record<string, string>>;
      readonly nonce?: number | null;
      readonly view?: View;
    } = {},
  ) => {
    const [one] = numbered([changed], () => nonce);
    if (one === undefined) throw new Error("no case");
    const answers: Seen = {
      codes: new Map(Object.entries(found).map(([address, code]) => [Address.make(address as Address), said(code)])),
      ...{ before: view, after: view, met: [], chain: chain() },
    };
    const code = Code.read(one, answers, [one]);
    const findings = Code.check({ ...one, code }, answers);
    return { code, codes: codes(findings), findings };
  };
  const data = hexOf("0x12345678");

  it("cover a contract as sender, no code, a delegate without code, and a precompile", () => {
    expect(looked({}, { codes: { [alice]: some } }).codes).toEqual(["SenderNotEoa/blocker"]);
    expect(looked({ data }).codes).toEqual(["NoCode/blocker"]);
    const mark = "8021".repeat(8);
    const thanks = `0x${Buffer.from("ありがとう, merci\r\n").toString("hex")}`;
    for (const note of ["0x7468616e6b20796f75", thanks, `0x626173650400${mark}`])
      expect(looked({ data: hexOf(note) }).codes).toEqual([]);
    const forged = `0xa9059cbb${"00".repeat(12)}${alice.slice(2)}${"5".padStart(64, "0")}4400${mark}`;
    for (const call of ["0x74686174", `0x12345678626173650400${mark}`, forged, `0xd0e30db00400${mark}`])
      expect(looked({ data: hexOf(call) }).codes).toEqual(["NoCode/blocker"]);
    expect(looked({ data }, { codes: { [bob]: some } }).codes).toEqual([]);
    expect(looked({}, { codes: { [alice]: delegation } }).codes).toEqual(["AccountDelegated/info"]);
    expect(looked({ data }, { codes: { [bob]: delegation } }).codes).toEqual(["DelegateWithoutCode/warning"]);
    expect(looked({ data }, { codes: { [bob]: delegation, [token]: some } }).codes).toEqual([]);
    expect(looked({ to: Address.make(`0x${"00".repeat(19)}04`), value: 1n }).codes).toEqual([
      "ValueToPrecompile/warning",
    ]);
  });

  it.each([
    ["the zero address", `0x${"00".repeat(20)}`],
    ["an address that people burn by", "0x000000000000000000000000000000000000dead"],
    ["a precompile", `0x${"00".repeat(18)}0100`],
    ["a system contract", `0x${"00".repeat(18)}1005`],
    ["whom simulations name for native moves", `0x${"e".repeat(40)}`],
    ["whom the chain calls as itself", `0x${"f".repeat(39)}e`],
    ["a precompile that is no small number", `0x02${"00".repeat(18)}05`],
    ["a system contract that is none", `0x42${"00".repeat(18)}16`],
    ["who deposits for a chain", `0x${"deaddead".repeat(4)}dead0001`],
    ["an address of one digit", `0x${"1".repeat(40)}`],
    ["a large number, still", `0x${"00".repeat(15)}0102030405`],
  ])("include a sender %s, whose key nobody has", (_, from) => {
    expect(looked({ from: Address.make(from as Address) }).codes).toEqual(["SenderWithoutKey/warning"]);
    expect(looked({ to: Address.make(from as Address) }).codes).toEqual([]);
  });

  it.each([
    `0x${"00".repeat(8)}5b38da6a701c568545dcfcb0`,
    `0x${"00".repeat(14)}010203040506`,
    `0x${"dead".repeat(5)}00112233445566778899`,
  ])("include a sender %s, which somebody may have searched for", (from) =>
    expect(looked({ from: Address.make(from as Address) }).codes).toEqual([]),
  );

  it("name the address and size of a deployment", () => {
    expect(looked({ to: null, data }).code.creates).toBe("0x5fbdb2315678afecb367f032d93f642f64180aa3");
    expect(looked({ to: null, data }, { nonce: null }).code.creates).toBeNull();
    const size = (bytes: number) => looked({ to: null, data: hexOf(`0x${"00".repeat(bytes)}`) }).codes;
    expect(size(49_152)).toEqual([]);
    expect(size(49_153)).toEqual(["InitCodeTooLarge/blocker"]);
  });

  it("say unknown where nobody could see the ends, once where both are one account", () => {
    expect(looked({}, { view: unseen }).codes).toEqual(["AccountUnknown/unavailable", "AccountUnknown/unavailable"]);
    expect(looked({ to: alice }, { view: unseen }).codes).toEqual(["AccountUnknown/unavailable"]);
    const [finding] = looked({ to: alice }, { view: unseen }).findings;
    expect(finding).toMatchObject({ evidence: "unavailable", numbers: [{ unit: "address", value: alice }] });
  });
});

it("a failed request for code has a finding, and costs only what the witness does not make up for", () => {
  const check = (view: View) => {
    const cases = numbered([{ to: alice }]);
    const answers: Seen = {
      ...{ codes: new Map([[alice, failed]]), before: view, after: view, met: [], chain: chain() },
    };
    return codes(cases.flatMap((one) => Code.check({ ...one, code: Code.read(one, answers, cases) }, answers)));
  };
  expect(check(inhabited({}))).toEqual(["Transport/info"]);
  expect(check(unseen)).toEqual(["Transport/unavailable"]);
});

it("every account is read once, and one failure leaves the others", async () => {
  const asked: Array<unknown> = [];
  const layer = layerScripted({
    eth_getCode: ([address]) => {
      asked.push(address);
      return address === bob ? rpcError({ code: -32005, message: "limit exceeded" }) : "0x";
    },
  });
  const ends = bundle({}, { to: token }, {}, { from: bob, to: alice }, { to: null });
  const answers = await Effect.runPromise(sent(Code.ask(ends, "latest")).pipe(Effect.provide(layer)));
  expect(asked).toEqual([alice, bob, token]);
  expect([...answers].map(([address, answer]) => [address, answer._tag])).toEqual([
    [alice, "Success"],
    [bob, "Failure"],
    [token, "Success"],
  ]);
  expect(everyLook(ends, everyStep)).toEqual([alice, bob, token].map((address) => ({ kind: "account", address })));
});

describe("code that exists only after the bundle", () => {
  const signer = privateKeyToAccount(accounts[2].privateKey);
  const authority = Address.make(signer.address.toLowerCase() as Address);
  const deployed = Address.make("0x5fbdb2315678afecb367f032d93f642f64180aa3");
  const authorisation = signer
    .signAuthorization({ address: token, chainId: 1, nonce: 0 })
    .then(({ yParity = 0, ...rest }) => ({ ...rest, yParity }) as Authorization);

  type Kind = "deploys" | "authorises" | "calls" | "pays";
  /** Per transaction: `deploys` or `authorises` the target, `calls` or `pays` somebody. */
  const appears = async (kinds: ReadonlyArray<Kind>, index: number) => {
    const list = [await authorisation];
    const inputs = kinds.map((kind) => {
      if (kind === "deploys") return { to: null, data: hexOf("0x00") };
      if (kind === "authorises") return { authorizationList: list };
      return kind === "calls" ? { data: hexOf("0x12345678") } : {};
    });
    // the deployment is the sender's first transaction, wherever it stands
    const cases = numbered(inputs, ({ input }) => (input.to === null ? 0 : 1));
    const one = cases[index];
    if (one === undefined) throw new Error("no such case");
    return Code.appearanceOf(kinds.includes("authorises") ? authority : deployed, one, cases);
  };

  it.each<[ReadonlyArray<Kind>, number, Code.Sightings["appears"]]>([
    [["deploys", "calls"], 1, "before"],
    [["calls", "deploys"], 0, "after"],
    [["pays", "calls", "deploys"], 1, "after"],
    [["authorises"], 0, "before"],
    [["calls", "authorises"], 0, "after"],
    // only a call before it can have been the factory
    [["calls", "calls"], 1, "before"],
    // a factory may be paid, and make something for it
    [["pays", "calls"], 1, "before"],
    // the factory may be the call before or the one after
    [["calls", "calls", "calls"], 1, "unclear"],
    [["calls", "calls", "pays"], 1, "unclear"],
  ])("was there where the bundle %j creates it, for call %i: %s", async (kinds, index, expected) => {
    expect(await appears(kinds, index)).toBe(expected);
  });

  it("is there for calls behind the deployment, by the chosen nonces", () => {
    const deploy = { to: null, data: hexOf("0x00") };
    const call = { data: hexOf("0x12") };
    const appearance = (address: Address, index: number, all: ReturnType<typeof numbered>) => {
      const one = all[index];
      return one === undefined ? null : Code.appearanceOf(address, one, all);
    };
    expect(appearance(deployed, 1, numbered([deploy, call]))).toBe("before");
    expect(appearance(deployed, 0, numbered([deploy, call]))).toBe("after");
    const second = Address.make("0xe7f1725e7734ce288f8367e1bb143e90bb3f0512");
    expect(appearance(second, 0, numbered([call, deploy]))).toBe("after");
  });
});

describe("the code that a later transaction calls", () => {
  const made = Address.make(`0x${"3b".repeat(20)}`);
  const [factory, call] = [
    { to: token, data: hexOf("0x01") },
    { to: made, data: hexOf("0x02") },
  ];
  const [empty, there] = [inhabited({ [token]: some }), inhabited({ [token]: some, [made]: some })];
  const found = (inputs: ReadonlyArray<Partial<Transaction>>, seen: Partial<Seen>) => {
    const cases = numbered(inputs);
    const none = new Map([[made, said("0x")]]);
    const answers = { codes: none, before: empty, after: unseen, met: [], chain: chain(), ...seen };
    return cases.map((one) => {
      const code = Code.read(one, answers, cases);
      return [code.to?.kind, codes(Code.check({ ...one, code }, answers)).join()];
    });
  };
  const isContract = ["contract", ""];
  const isNobody = ["nobody", "NoCode/blocker"];
  const isUnknown = ["unknown", "AccountUnknown/unavailable"];

  it("is what the witness saw just before it, whatever was there before or after the bundle", () => {
    const three = [factory, call, call];
    expect(found(three, { after: there, met: [empty, there, there] })).toEqual([isContract, isContract, isContract]);
    expect(found(three, { after: there, met: [empty, empty, there] })).toEqual([isContract, isNobody, isContract]);
    expect(found(three, { after: empty, met: [empty, empty, empty] })).toEqual([isContract, isNobody, isNobody]);
    expect(found([call, factory, call], { after: there, met: [empty, unseen, there] })).toEqual([
      ...[isNobody, isContract, isContract],
    ]);
  });

  it("is unknown where nobody looked between, and an earlier one may have deployed code there", () => {
    expect(found([factory, call, call], { after: there })).toEqual([isContract, isUnknown, isContract]);
    expect(found([factory, call], {})).toEqual([isContract, isUnknown]);
    expect(found([{ to: null, data: hexOf("0x00") }, call], {})[1]).toEqual(isUnknown);
    expect(found([call, factory], {})).toEqual([isNobody, isContract]);
    expect(found([{ to: bob, value: 1n }, call], { codes: new Map([[made, said("0x")]]) })[1]).toEqual(isUnknown);
  });

  it("stays unknown where the node says otherwise than the simulation", () => {
    const codes = new Map([[made, said(some)]]);
    expect(found([factory, call, call], { codes, after: empty, met: [empty, empty, empty] })[1]?.[0]).toBe("unknown");
  });

  it("is read again wherever others come before it", () => {
    const looked = (...inputs: ReadonlyArray<Partial<Transaction>>) =>
      inputs.map((_, place) => Code.queriesBetween(bundle(...inputs), place).length);
    expect(looked(factory, call, { to: null, data: hexOf("0x00") }, { to: bob })).toEqual([0, 1, 0, 1]);
    expect(looked({ to: bob, value: 1n }, call)).toEqual([0, 1]);
  });
});
