/** Events and calls that nothing explains: told where they name a sender and somebody else, in whatever order. */
import { encodeFunctionData, erc20Abi } from "viem";
import { describe, expect, it } from "vitest";
import type { Address } from "../../rooms/primitives.js";
import { checkUnexplained } from "../../rooms/steps.js";
import type { Transaction } from "../../../src/Transaction.js";
import { alice, bob, bundle, codes, filled, hexOf, log, outcome, token, word } from "../parts.js";
import { at, kind, topics } from "./arbitrary.js";

const stranger = at("7");
const unknown = kind("Entrusted(address,address)");
const check = (
  logs: ReadonlyArray<ReturnType<typeof log>>,
  status: "success" | "reverted" = "success",
  input: Partial<Transaction> = {},
) =>
  codes(
    checkUnexplained(
      bundle(input).map((one) => filled(one, { outcome: outcome({ status, logs }) })),
      [],
    ),
  );
const found = ["EventUnexplained/info"];

describe("an event of an unknown kind", () => {
  it("is told where it names a sender and another, indexed or not, in any order, among other values", () => {
    const [mine, theirs] = [word(alice), word(stranger)];
    const values = [
      ...[
        [mine, theirs],
        [theirs, mine],
        [word(7n), theirs, mine],
        [theirs, word(2n ** 100n), mine, word(1n)],
      ],
      ...[[...Array.from({ length: 40 }, () => word(3n)), mine, theirs]],
    ];
    for (const all of values)
      for (const indexed of [0, 1, 2])
        expect(check([log(token, [unknown, ...all.slice(0, indexed)], all.slice(indexed))])).toEqual(found);
    expect(check([log(token, [mine], [theirs])])).toEqual(found);
    expect(check([log(token, [], [mine, theirs])])).toEqual(found);
  });
  it("is none where only the sender, only others, its own contract, amounts or nobody are named", () => {
    for (const all of [
      ...[[word(alice)], [word(stranger), word(bob)], [word(alice), word(token)], [word(alice), word(2n ** 127n)]],
      ...[
        [word(alice), word(0n)],
        [word(alice), word(2n ** 255n)],
        [word(alice), word(alice)],
      ],
    ])
      expect(check([log(token, [unknown, ...all.slice(0, 1)], all.slice(1))])).toEqual([]);
  });
  it("is none where the kind is known, an ABI explains it, or it was reverted", () => {
    const parties = [word(alice), word(stranger)];
    for (const known of [
      ...[topics.transfer, topics.approval, topics.ownership],
      ...["Swap(address,uint256,uint256,uint256,uint256,address)", "Deposit(address,address,uint256,uint256)"].map(
        kind,
      ),
      ...["Supply(address,address,address,uint256,uint16)", "OperatorSet(address,address,bool)"].map(kind),
    ])
      expect(check([log(token, [known, ...parties], [word(5n)])])).toEqual([]);
    const one = log(token, [unknown, ...parties], []);
    const decoded = { name: "Entrusted", signature: "", args: [], provenance: [] } as never;
    expect(check([{ ...one, decoded }])).toEqual([]);
    expect(check([one], "reverted")).toEqual([]);
  });
  it("is told of an address that begins with zeros, where it is indexed", () => {
    const mined = word(`0x00000000f68f116a894984e2db1123eb39500001`);
    expect(check([log(token, [unknown, word(alice), mined], [])])).toEqual(found);
    expect(check([log(token, [unknown, word(alice)], [mined])])).toEqual([]);
  });
  it("is a right where its kind is known to give one, whomever it names", () => {
    for (const event of [
      "ApproveHash(bytes32,address)",
      "PreSignature(address,bytes,bool)",
      "Transfer(bytes32,address)",
      "OrderValidated(bytes32,address,address)",
    ])
      expect(check([log(token, [kind(event), word(alice)], [])])).toEqual(["RightUnexplained/info"]);
  });
  it("is told where it keeps 19 bytes of the sender's address, at any place", () => {
    const prefix = alice.slice(2, 40);
    const theirs = word(stranger);
    expect(check([log(token, [unknown, prefix.padEnd(64, "0"), theirs], [])])).toEqual(found);
    expect(check([log(token, [unknown, theirs], [`${"0".repeat(6)}${prefix}${"0".repeat(20)}`])])).toEqual(found);
    expect(check([log(token, [unknown, prefix.slice(0, 36).padEnd(64, "0"), theirs], [])])).toEqual([]);
  });
  it("is told where it names only whom the call asked for, and neither the called contract nor its own", () => {
    const asking = (...words: ReadonlyArray<string>) => ({ to: bob, data: hexOf(`0xa3b22fc4${words.join("")}`) });
    const naming = (account: Address) => [log(token, [unknown, word(7n), word(account)], [])];
    expect(check(naming(stranger), "success", asking(word(7n), word(stranger)))).toEqual(found);
    expect(check(naming(stranger), "success", asking(word(7n)))).toEqual([]);
    expect(check(naming(bob), "success", asking(word(bob)))).toEqual([]);
    expect(check(naming(token), "success", asking(word(token)))).toEqual([]);
    // a name in front does not hide it
    const both = [log(token, [unknown, word(at("5")), word(stranger)], [])];
    expect(check(both, "success", asking(word(stranger)))).toEqual(found);
    for (const harmless of ["ReserveDataUpdated(address,uint256,uint256,uint256,uint256,uint256)"])
      expect(check([log(token, [kind(harmless), word(stranger)], [])], "success", asking(word(stranger)))).toEqual([]);
  });
  it("is told where the sender's own account emits it, whomever it names: a key needs no address", () => {
    expect(check([log(alice, [unknown, word(stranger)], [])])).toEqual(found);
    expect(check([log(alice, [unknown], [word(2n ** 255n)])])).toEqual(found);
    expect(check([log(alice, [kind("ModuleInstalled(uint256,address)")], [word(1n), word(stranger)])])).toEqual([]);
  });
  it("is told once for each contract, however many: the report holds to a budget, and says what it cuts", () => {
    const by = (contract: Address) => log(contract, [unknown, word(alice), word(stranger)], []);
    expect(check([by(token), by(token), by(at("5"))])).toEqual([...found, ...found]);
    const crowd = Array.from({ length: 99 }, (_, index) => by(`0x${word(BigInt(index + 1)).slice(24)}` as Address));
    expect(check(crowd)).toHaveLength(new Set(crowd.map(({ address }) => address)).size);
  });
});

describe("a right that only the calldata asks for", () => {
  const approving = (amount: bigint) => ({
    to: token,
    data: hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, amount] })),
  });
  it("is told where no approval of the report is about it", () => {
    expect(check([], "success", approving(5n))).toEqual(["RightUnexplained/info"]);
    expect(check([], "success", approving(0n))).toEqual([]);
    expect(check([], "reverted", approving(5n))).toEqual([]);
  });
});
