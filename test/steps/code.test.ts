/** Who lives at an address: what the witness read in the simulated state decides, and doubt is no answer. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { Address, Hex } from "../../src/primitives/hex.js";
import { RpcError, Transport } from "../../src/errors/rpc.js";
import * as Code from "../../src/steps/code.js";
import type { Answer } from "../../src/witness/answers.js";
import { alice, bob, chain, token, transaction } from "./parts.js";

const account = (code: string): Answer => ({
  ...{ kind: "account", balance: 0n, codeHash: `0x${"00".repeat(32)}` as never },
  codeSize: BigInt((code.length - 2) / 2),
  codePrefix: Hex.make(code.slice(0, 48) as `0x${string}`),
});
const failed = Result.fail(new RpcError({ method: "eth_getCode", reason: new Transport({ detail: "" }) }));
const said = (code: string) => Result.succeed(Hex.make(code as `0x${string}`));
const none = "0x";
const some = `0x60${"00".repeat(30)}`;
const delegation = `0xef0100${token.slice(2)}`;
const unseen: Code.Seen = { before: undefined, after: undefined, appears: "after" };
const seen = (before: string, after: string, appears: Code.Appearance = "after"): Code.Seen => ({
  ...{ before: account(before), after: account(after), appears },
});

describe("the kind of an account", () => {
  const kind = (answer: Parameters<typeof Code.decideAccount>[1], sight: Code.Seen, address = bob) => {
    const { kind: found, evidence } = Code.decideAccount(address, answer, sight);
    return `${found}/${evidence}`;
  };
  it("is what the witness saw, else what the node said", () => {
    expect(kind(said(none), seen(none, none))).toBe("nobody/measured");
    expect(kind(said(some), seen(some, some))).toBe("contract/measured");
    expect(kind(failed, seen(some, some))).toBe("contract/measured");
    expect(kind(said(none), seen(some, some))).toBe("contract/measured");
    expect(kind(said(some), unseen)).toBe("contract/estimated");
    expect(kind(said(none), unseen)).toBe("nobody/estimated");
    expect(kind(said(delegation), seen(delegation, delegation))).toBe("delegated/measured");
    expect(kind(said(`${delegation}00`), seen(`${delegation}00`, none))).toBe("contract/measured");
  });
  it("is unknown where nobody said, or where the node claims what was not there", () => {
    expect(kind(failed, unseen)).toBe("unknown/unavailable");
    expect(kind(undefined, unseen)).toBe("unknown/unavailable");
    expect(kind(said(some), seen(none, none))).toBe("unknown/unavailable");
  });
  it("counts what the bundle brings into being only where it came in time", () => {
    expect(kind(said(none), seen(none, some, "before"))).toBe("contract/measured");
    expect(kind(said(none), seen(none, some, "after"))).toBe("nobody/measured");
    expect(kind(said(none), seen(none, some, "unclear"))).toBe("unknown/unavailable");
  });
  it("is a precompile by its number", () => {
    for (const number of ["01", "11"])
      expect(kind(said(none), seen(none, none), Address.make(`0x${"00".repeat(19)}${number}`))).toMatch(/^precompile/);
    expect(kind(said(none), seen(none, none), Address.make(`0x${"00".repeat(18)}0100`))).toMatch(/^precompile/);
    expect(kind(said(none), seen(none, none), Address.make(`0x${"00".repeat(19)}12`))).toMatch(/^nobody/);
  });
});

describe("a transaction", () => {
  const decided = (
    changed: Parameters<typeof transaction>[0],
    codes: Readonly<Record<string, string>> = {},
    nonce: number | null = 0,
  ) => {
    const all = new Map(Object.entries(codes).map(([address, code]) => [address as Address, said(code)]));
    const see = (address: Address) => seen(codes[address] ?? none, codes[address] ?? none);
    const options = { nonce, chain: chain(), delegateHasCode: () => false };
    const { output, findings } = Code.decide(transaction(changed), 0, all, see, options);
    return { output, codes: findings.map(({ code, severity }) => `${code}/${severity}`) };
  };
  const data = Hex.make("0x12345678");

  it("from a contract, to nobody, to a delegate without code, to a precompile", () => {
    expect(decided({}, { [alice]: some }).codes).toEqual(["SenderNotEoa/blocker"]);
    expect(decided({ data }).codes).toEqual(["NoCode/blocker"]);
    expect(decided({ data }, { [bob]: some }).codes).toEqual([]);
    expect(decided({}, { [alice]: delegation }).codes).toEqual(["AccountDelegated/info"]);
    expect(decided({ data }, { [bob]: delegation }).codes).toEqual(["DelegateWithoutCode/warning"]);
    expect(decided({ to: Address.make(`0x${"00".repeat(19)}04`), value: 1n }).codes).toEqual([
      "ValueToPrecompile/warning",
    ]);
  });

  it("that deploys: where, and how much", () => {
    const first = decided({ to: null, data }, {}, 0).output.creates;
    expect(first).toBe("0x5fbdb2315678afecb367f032d93f642f64180aa3");
    expect(decided({ to: null, data }, {}, null).output.creates).toBeNull();
    const size = (bytes: number) => decided({ to: null, data: Hex.make(`0x${"00".repeat(bytes)}`) }).codes;
    expect(size(49_152)).toEqual([]);
    expect(size(49_153)).toEqual(["InitCodeTooLarge/blocker"]);
  });
});

describe("what a bundle brings into being", () => {
  it("is there for what comes after", () => {
    const bundle = [transaction({ to: null, data: Hex.make("0x00") }), transaction({ data: Hex.make("0x12") })];
    const makers = Code.makersOf(bundle, [0, 1]);
    const created = Address.make("0x5fbdb2315678afecb367f032d93f642f64180aa3");
    expect(Code.appearanceOf(created, 1, makers)).toBe("before");
    expect(Code.appearanceOf(created, 0, makers)).toBe("after");
    const turned = Code.makersOf([...bundle].reverse(), [0, 1]);
    expect(Code.appearanceOf(Address.make("0xe7f1725e7734ce288f8367e1bb143e90bb3f0512"), 0, turned)).toBe("after");
  });
});
