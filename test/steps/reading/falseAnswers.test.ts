/** Calls that answer `false`: told where nothing shows that what they ask for happened, and of no honest look-alike. */
import * as Result from "effect/Result";
import { encodeFunctionData, erc20Abi, keccak256, parseAbi, type Abi } from "viem";
import { describe, expect, it } from "vitest";
import { Address } from "../../rooms/primitives.js";
import type { OutcomeLog, Transfer } from "../../rooms/report.js";
import { FalseAnswers } from "../../rooms/steps.js";
import type { Transaction } from "../../../src/Transaction.js";
import { allowance, balanceOf, isApprovedForAll, unseen, type View } from "../../rooms/witness.js";
import { account, alice, answered, bob, bundle, hexOf, outcome, seeing, token, word } from "../parts.js";

const nobody = Address.make(`0x${"00".repeat(20)}`);
const carol = Address.make(`0x${"ca".repeat(20)}`);
const abi = parseAbi([
  "function increaseAllowance(address,uint256) returns (bool)",
  "function decreaseAllowance(address,uint256) returns (bool)",
  "function claim() returns (bool)",
  "function isOpen() view returns (bool)",
  "function redeem() returns (uint256)",
  "function transferAndCall(address,uint256,bytes) returns (bool)",
  "function transferFromAndCall(address,address,uint256) returns (bool)",
  "function approveAndCall(address,uint256) returns (bool)",
  "function burn(uint256) returns (bool)",
  "function burnFrom(address,uint256) returns (bool)",
  "function mint(address,uint256) returns (bool)",
  "function setApprovalForAll(address,bool) returns (bool)",
]);
const calling = (functionName: string, args: ReadonlyArray<unknown> = [], of: Abi = erc20Abi, isGiven = false) =>
  ({
    to: token,
    data: hexOf(encodeFunctionData({ abi: of, functionName, args } as never)),
    item: isGiven ? of.find((item) => "name" in item && item.name === functionName) : null,
  }) as Partial<Transaction>;
const no = hexOf(`0x${word(0n)}`);
const moved = (changed: Partial<Transfer> = {}): Transfer => ({
  ...{ standard: "erc20", token, from: alice, to: bob, amount: 5n, tokenId: null, transaction: 0, evidence: "logged" },
  ...changed,
});
const approved = (spender: string): OutcomeLog => ({
  address: token,
  topics: [
    "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",
    `0x${word(alice)}`,
    `0x${word(spender)}`,
  ].map(hexOf) as never,
  data: hexOf(`0x${word(1n)}`),
  decoded: null,
});

interface Told {
  readonly transfers?: ReadonlyArray<Transfer>;
  readonly logs?: ReadonlyArray<OutcomeLog>;
  readonly returns?: string;
  readonly before?: View;
  readonly after?: View;
  /** The code of the token, as `eth_getCode` and the witness tell it. */
  readonly code?: string;
}
/** The selectors of the reads of a token, as code compares them. */
const reads = `0x${["70a08231", "dd62ed3e", "e985e9c5"].map((selector) => `63${selector}1450`).join("")}00`;
/** Keeps nothing that is read. */
const registry = "0x5f5f5500";
const clone = `0x363d3d373d3d3d363d73${"ab".repeat(20)}5af43d82803e903d91602b57fd5bf3`;
const withCode = (view: View, code: string): View => ({
  ...view,
  account: (address) =>
    address === token ? { ...account(code), codeHash: keccak256(hexOf(code)) as never } : view.account(address),
});
const balances = (mine: bigint, theirs = 0n) =>
  seeing([balanceOf(token, alice), answered(mine)], [balanceOf(token, bob), answered(theirs)]);
const allowing = (amount: bigint) => seeing([allowance(token, alice, bob), answered(amount)]);

const check = (inputs: ReadonlyArray<Partial<Transaction>>, told: ReadonlyArray<Told>) => {
  const [{ before = balances(9n), after = before, code } = {}] = told;
  const ran = bundle(...inputs).map((entry, index) => ({
    ...entry,
    transfers: told[index]?.transfers ?? [],
    outcome: outcome({ returnData: hexOf(told[index]?.returns ?? no), logs: [...(told[index]?.logs ?? [])] }),
  }));
  const seen = (view: View) => (code === undefined ? view : withCode(view, code));
  const codes = new Map(code === undefined ? [] : [[token, Result.succeed(hexOf(code))] as const]);
  return FalseAnswers.checkFalse(ran, { before: seen(before), after: seen(after), codes });
};
const numbersOf = (findings: ReturnType<typeof check>) =>
  findings.map(({ severity, transaction, numbers }) => [
    severity,
    transaction,
    ...numbers.filter(({ unit }) => unit === "units" || unit === "text").map(({ name, value }) => `${name} ${value}`),
  ]);
const transfer = calling("transfer", [bob, 5n]);
const pull = calling("transferFrom", [bob, alice, 5n]);
const approve = calling("approve", [bob, 5n]);

const burn = calling("burn", [5n], abi);
const operate = calling("setApprovalForAll", [bob, true], abi);
const operating = (level: bigint) => seeing([isApprovedForAll(token, alice, bob), answered(level)]);

describe("a token call that returns false", () => {
  it("shows what was asked for and what moved, or is allowed", () => {
    expect(numbersOf(check([transfer], [{}]))).toEqual([["warning", 0, "function transfer", "asked for 5", "moved 0"]]);
    expect(numbersOf(check([pull], [{ before: balances(0n, 9n) }]))).toEqual([
      ["warning", 0, "function transferFrom", "asked for 5", "moved 0"],
    ]);
    expect(numbersOf(check([approve], [{ before: allowing(1n) }]))).toEqual([
      ["warning", 0, "function approve", "asked for 5", "allowed 1"],
    ]);
  });
  it.each<[string, Partial<Transaction>, Told, number]>([
    ["moves what was asked", transfer, { transfers: [moved()] }, 0],
    [
      "moves a fee alone, to another",
      transfer,
      { transfers: [moved({ to: carol, amount: 1n })], before: balances(9n), after: balances(8n) },
      1,
    ],
    ["moves less, for a fee", transfer, { transfers: [moved({ amount: 4n }), moved({ to: carol, amount: 1n })] }, 0],
    ["moves in silence", transfer, { before: balances(9n), after: balances(4n, 5n) }, 0],
    ["tells of another's movement alone", transfer, { transfers: [moved({ from: carol, to: carol })] }, 1],
    ["tells of a movement of nothing", transfer, { transfers: [moved({ amount: 0n })] }, 1],
    ["tells of another token's movement", transfer, { transfers: [moved({ token: carol })] }, 1],
    ["is asked for nothing", calling("transfer", [bob, 0n]), {}, 0],
    ["is asked to pay whoever asks", calling("transfer", [alice, 5n]), {}, 0],
    ["answers true", transfer, { returns: `0x${word(1n)}` }, 0],
    ["answers nothing", transfer, { returns: "0x" }, 0],
    ["answers a number that is no bool", transfer, { returns: `0x${word(2n)}` }, 1],
    ["answers less than a word", transfer, { returns: "0x00" }, 1],
    ["answers more than a word", transfer, { returns: `${no}00` }, 1],
    ["answers true, and more", transfer, { returns: `0x${word(1n)}00` }, 0],
    ["answers no bool, and moves", transfer, { returns: `0x${word(2n)}`, transfers: [moved()] }, 0],
    ["does not move before it calls", calling("transferAndCall", [bob, 5n, "0x"], abi), {}, 1],
    ["moves, and does not call", calling("transferAndCall", [bob, 5n, "0x"], abi), { transfers: [moved()] }, 0],
    ["does not pull before it calls", calling("transferFromAndCall", [bob, alice, 5n], abi), {}, 1],
    ["does not grant before it calls", calling("approveAndCall", [bob, 5n], abi), { before: allowing(1n) }, 1],
    ["answers no balance, as no token does", transfer, { before: unseen, code: registry }, 0],
    ["answers no balance, and has code that tells one", transfer, { before: unseen, code: reads }, 1],
    ["answers no balance, and was not read", transfer, { before: unseen }, 1],
    ["answers no balance, as another's clone", transfer, { before: unseen, code: clone }, 1],
    ["answers no balance, and moves", transfer, { before: unseen, code: reads, transfers: [moved()] }, 0],
    ["answers no balance, and says something", transfer, { before: unseen, code: clone, logs: [approved(carol)] }, 0],
    ["answers no balance, and a number", transfer, { before: unseen, code: reads, returns: `0x${word(7n)}` }, 0],
    [
      "answers no balance, and has an ABI that says bool",
      calling("transfer", [bob, 5n], erc20Abi, true),
      { before: unseen },
      1,
    ],
    ["has an ABI that says a number", calling("redeem", [], abi, true), {}, 0],
    ["only reads", calling("isOpen", [], abi, true), {}, 0],
    ["is the caller's own function", calling("claim", [], abi, true), {}, 1],
    ["is nobody's function", calling("claim", [], abi), {}, 0],
    ["tells of a grant, and sets nothing", approve, { logs: [approved(bob)], before: allowing(0n) }, 1],
    ["tells of a grant that nobody can read", approve, { logs: [approved(bob)], before: unseen, code: reads }, 0],
    [
      "tells of a grant that is spent",
      approve,
      { logs: [approved(bob)], before: allowing(0n), transfers: [moved()] },
      0,
    ],
    [
      "grants more than was there, with an event",
      approve,
      { logs: [approved(bob)], before: allowing(0n), after: allowing(4n) },
      0,
    ],
    ["grants to another with an event", approve, { logs: [approved(carol)], before: allowing(0n) }, 1],
    ["grants in silence", approve, { before: allowing(0n), after: allowing(5n) }, 0],
    ["finds the right there", approve, { before: allowing(5n) }, 0],
    ["is asked to revoke nothing", calling("approve", [bob, 0n]), { before: allowing(0n) }, 0],
    ["does not revoke", calling("approve", [bob, 0n]), { before: allowing(7n) }, 1],
    ["does not raise", calling("increaseAllowance", [bob, 5n], abi), { before: allowing(7n) }, 1],
    [
      "raises in silence",
      calling("increaseAllowance", [bob, 5n], abi),
      { before: allowing(7n), after: allowing(12n) },
      0,
    ],
    ["does not lower", calling("decreaseAllowance", [bob, 5n], abi), { before: allowing(7n) }, 1],
    ["is asked to lower nothing", calling("decreaseAllowance", [bob, 5n], abi), { before: allowing(0n) }, 0],
    ["keeps no allowances", approve, { before: unseen, code: registry }, 0],
    ["refuses to tell an allowance", approve, { before: unseen, code: reads }, 1],
    ["does not burn", burn, {}, 1],
    ["burns", burn, { transfers: [moved({ to: nobody })] }, 0],
    ["burns in silence", burn, { after: balances(4n) }, 0],
    ["does not burn for somebody", calling("burnFrom", [bob, 5n], abi), { before: balances(9n, 9n) }, 1],
    [
      "burns for somebody",
      calling("burnFrom", [bob, 5n], abi),
      { before: balances(9n, 9n), after: balances(9n, 4n) },
      0,
    ],
    ["does not mint", calling("mint", [bob, 5n], abi), { before: balances(9n, 9n) }, 1],
    ["mints", calling("mint", [bob, 5n], abi), { transfers: [moved({ from: nobody })] }, 0],
    ["burns nothing", calling("burn", [0n], abi), {}, 0],
    ["does not let an operator act", operate, { before: operating(0n) }, 1],
    ["lets an operator act in silence", operate, { before: operating(0n), after: operating(1n) }, 0],
    ["finds the operator there", operate, { before: operating(1n) }, 0],
    ["keeps no operators", operate, { before: unseen, code: registry }, 0],
    ["lets an operator act, and answers a number", operate, { before: operating(0n), returns: `0x${word(7n)}` }, 0],
  ])("is judged where %s", (_, input, told, count) => {
    expect(check([input], [told])).toHaveLength(count);
  });
  it("in a bundle is judged by itself, without another's movement or grant", () => {
    const after = balances(4n, 5n);
    const one = check(
      [transfer, transfer],
      [{ before: balances(9n), after }, { transfers: [moved({ transaction: 1 })] }],
    );
    expect(one.map(({ transaction }) => transaction)).toEqual([0]);
    const granted = { before: allowing(0n), logs: [approved(bob)] };
    const spends = (input: Partial<Transaction>) =>
      check([approve, input], [granted, { transfers: [moved({ transaction: 1 })], returns: `0x${word(1n)}` }]);
    expect(spends({ to: bob })).toEqual([]);
    expect(spends(transfer).map(({ transaction }) => transaction)).toEqual([0]);
    const raised = [
      { before: allowing(0n), after: allowing(3n) },
      { logs: [approved(bob)], returns: `0x${word(1n)}` },
    ];
    expect(check([approve, calling("approve", [bob, 3n])], raised).map(({ transaction }) => transaction)).toEqual([0]);
  });
  it("has both ends' balances read, and the allowance that it uses or sets", () => {
    expect(FalseAnswers.queries(bundle(transfer))).toEqual([balanceOf(token, alice), balanceOf(token, bob)]);
    expect(FalseAnswers.queries(bundle(pull))).toEqual([
      balanceOf(token, bob),
      balanceOf(token, alice),
      allowance(token, bob, alice),
    ]);
    expect(FalseAnswers.queries(bundle(approve))).toEqual([allowance(token, alice, bob)]);
    expect(FalseAnswers.queries(bundle(burn, operate))).toEqual([
      balanceOf(token, alice),
      isApprovedForAll(token, alice, bob),
    ]);
    expect(FalseAnswers.queries(bundle(calling("burnFrom", [bob, 5n], abi)))).toEqual([
      balanceOf(token, bob),
      allowance(token, bob, alice),
    ]);
    expect(FalseAnswers.queries(bundle(calling("claim", [], abi), { to: null }))).toEqual([]);
  });
});
