/** Events and calls that nothing explains: told where they name a sender and somebody else, in whatever order. */
import { encodeFunctionData, parseAbi, toFunctionSelector, toFunctionSignature, type Abi } from "viem";
import { describe, expect, it } from "vitest";
import type { Address } from "../../rooms/primitives.js";
import { declared, grants, handovers } from "../../rooms/abi.js";
import { checkUnexplained } from "../../rooms/steps.js";
import type { Approval, Transfer } from "../../../src/Report.js";
import type { Transaction } from "../../../src/Transaction.js";
import { alice, bob, bundle, codes, filled, hexOf, log, native, outcome, token, word } from "../parts.js";
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
  it("has a finding where it names a sender and another, indexed or not, in any order", () => {
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
  it("has none where only the sender, only others, its own contract, amounts or nobody are named", () => {
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
  it("has none where the kind is known, an ABI explains it, or it was reverted", () => {
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
    for (const [kind, source, to, codes] of [
      ["address", token, stranger, []],
      ["caller", null, token, []],
      // what another contract's ABI says of it says nothing of this one's
      ["caller", null, stranger, found],
      ["caller", stranger, token, found],
    ] as const) {
      const decoded = { name: "Entrusted", signature: "", args: [], provenance: [{ kind, source }] } as never;
      expect(check([{ ...one, decoded }], "success", { to })).toEqual(codes);
    }
    expect(check([one], "reverted")).toEqual([]);
  });
  it("has a finding for an address that begins with zeros, where it is indexed", () => {
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
      ...["TransferValue(uint256,uint256,uint256)", "AdoptionOffered(bytes5,uint256,address)"],
      "Confirmation(address,uint256)",
    ]) {
      const one = log(token, [kind(event), word(alice)], []);
      const decoded = { name: "", signature: "", args: [], provenance: [{ kind: "address", source: token }] } as never;
      for (const each of [one, { ...one, decoded }]) expect(check([each])).toEqual(["RightUnexplained/info"]);
    }
  });
  it("has a finding where it keeps 19 bytes of the sender's address, at any place", () => {
    const prefix = alice.slice(2, 40);
    const theirs = word(stranger);
    expect(check([log(token, [unknown, prefix.padEnd(64, "0"), theirs], [])])).toEqual(found);
    expect(check([log(token, [unknown, theirs], [`${"0".repeat(6)}${prefix}${"0".repeat(20)}`])])).toEqual(found);
    expect(check([log(token, [unknown, prefix.slice(0, 36).padEnd(64, "0"), theirs], [])])).toEqual([]);
  });
  it("has a finding where it names only whom the call asked for, and neither the called contract nor its own", () => {
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
  it("has a finding where the sender's own account emits it, whomever it names: a key needs no address", () => {
    expect(check([log(alice, [unknown, word(stranger)], [])])).toEqual(found);
    expect(check([log(alice, [unknown], [word(2n ** 255n)])])).toEqual(found);
    expect(check([log(alice, [kind("ModuleInstalled(uint256,address)")], [word(1n), word(stranger)])])).toEqual([]);
  });
  it("has one finding for each contract up to a budget, which names the cut", () => {
    const by = (contract: Address) => log(contract, [unknown, word(alice), word(stranger)], []);
    expect(check([by(token), by(token), by(at("5"))])).toEqual([...found, ...found]);
    const crowd = Array.from({ length: 99 }, (_, index) => by(`0x${word(BigInt(index + 1)).slice(24)}` as Address));
    expect(check(crowd)).toHaveLength(new Set(crowd.map(({ address }) => address)).size);
  });
});

/** A call with its arguments, from a signature. */
const made = (signature: string, ...args: ReadonlyArray<unknown>) =>
  hexOf(encodeFunctionData({ abi: parseAbi([`function ${signature}`] as never) as Abi, args: [...args] }));

describe("a right that only the calldata asks for", () => {
  const all = 2n ** 256n - 1n;
  const approving = (amount: bigint) => made("approve(address,uint256)", bob, amount);
  it("has a finding where no approval of the report is about it", () => {
    const asking = (amount: bigint) => ({ to: token, data: approving(amount) });
    expect(check([], "success", asking(5n))).toEqual(["RightUnexplained/info"]);
    expect(check([], "success", asking(0n))).toEqual([]);
    expect(check([], "reverted", asking(5n))).toEqual([]);
  });

  const [module, avatar] = [at("5"), at("6")];
  const level = (owner: Address, after: bigint): Approval => ({
    ...{ standard: "erc20", token, owner, spender: bob, tokenId: null, before: 0n, after, expiration: null },
    ...{ extended: false, unlimited: false, spenderKind: "eoa", transaction: 0, evidence: "measured" },
  });
  /** What is said of calls that a contract makes, with the approvals of the report, the logs and what moves. */
  const within = (
    calls: ReadonlyArray<ReturnType<typeof made>>,
    approvals: ReadonlyArray<Approval>,
    logs: ReadonlyArray<ReturnType<typeof log>> = [],
    transfers: ReadonlyArray<Transfer> = [],
  ) => {
    const batch = calls.map((data) => [token, 0n, data]);
    const ran = bundle({ to: module, data: made("executeBatch((address,uint256,bytes)[])", batch) }).map((one) =>
      filled(one, { outcome: outcome({ status: "success", logs }), transfers }),
    );
    return codes(checkUnexplained(ran, approvals));
  };
  it("has a finding where a contract gives it in its own name, and has less of it in the end", () => {
    expect(within([approving(all)], [level(module, 0n)])).toEqual(["RightUnexplained/info"]);
    expect(within([approving(all)], [level(module, 5n)])).toEqual(["RightUnexplained/info"]);
    const roles = made(
      "execTransactionWithRole(address,uint256,bytes,uint8,bytes32,bool)",
      ...[token, 0n, approving(all), 0, `0x${"00".repeat(32)}`, true],
    );
    const ran = bundle({ to: module, data: roles }).map((one) =>
      filled(one, { outcome: outcome({ status: "success", logs: [] }) }),
    );
    expect(codes(checkUnexplained(ran, [level(module, 0n)]))).toEqual(["RightUnexplained/info"]);
    expect(codes(checkUnexplained(ran, [level(module, all)]))).toEqual([]);
  });
  it("has none where it is there, was spent or taken back, or an event shows it", () => {
    const spend = { ...native(0, module, bob, 5n), standard: "erc20", token } as const;
    expect(within([approving(5n)], [level(module, 5n)])).toEqual([]);
    expect(within([approving(5n)], [level(module, 0n)], [], [spend])).toEqual([]);
    expect(within([approving(all), approving(0n)], [level(module, 0n)])).toEqual([]);
    const told = log(token, [topics.approval, word(avatar), word(bob)], [word(5n)]);
    expect(within([approving(5n)], [level(module, 0n), level(avatar, 0n)], [told])).toEqual([]);
    // less than was given
    expect(within([approving(6n)], [level(module, 0n)], [], [spend])).toEqual(["RightUnexplained/info"]);
    const operators = made("setApprovalForAll(address,bool)", bob, false);
    expect(within([approving(all), operators], [level(module, 0n)])).toEqual(["RightUnexplained/info"]);
    const less = made("decreaseAllowance(address,uint256)", bob, 1n);
    expect(within([approving(all), less], [level(module, 0n)])).toEqual(["RightUnexplained/info"]);
  });
  const [silently, row] = [["RightUnexplained/info"], level(module, 0n)];
  const operators = made("setApprovalForAll(address,bool)", bob, true);
  const ofId = (id: bigint, amount: bigint) => made("approve(address,uint256,uint256)", bob, id, amount);
  const moving = (standard: "erc721" | "erc1155" | "erc6909", tokenId: bigint, amount: bigint): Transfer => ({
    ...{ ...native(0, module, at("d"), amount), standard, token, tokenId },
  });
  const nft = (tokenId: bigint | null, after: bigint): Approval => ({
    ...level(module, after),
    standard: "erc721",
    tokenId,
  });
  const multi = (tokenId: bigint | null, after: bigint): Approval => ({ ...nft(tokenId, after), standard: "erc6909" });
  it("is matched only by its own kind: an operator's, the same id's, or an amount's", () => {
    expect(within([operators], [nft(null, 0n), nft(9n, 1n)])).toEqual(silently);
    expect(within([operators], [nft(null, 1n), nft(9n, 0n)])).toEqual([]);
    expect(within([ofId(1n, 5n)], [multi(1n, 0n), multi(2n, 5n)])).toEqual(silently);
    expect(within([ofId(1n, 5n)], [multi(1n, 5n), multi(2n, 0n)])).toEqual([]);
    expect(within([made("setOperator(address,bool)", bob, true)], [multi(null, 0n), multi(2n, 5n)])).toEqual(silently);
    // each number may be another id
    expect(within([approving(7n), approving(9n)], [nft(9n, 1n)])).toEqual(silently);
    expect(within([approving(5n)], [{ ...row, standard: "permit2", after: 5n }])).toEqual(silently);
  });
  it("is spent only where it is over an amount or an id, and of that id", () => {
    expect(within([operators], [nft(null, 0n)], [], [moving("erc1155", 77n, 5n)])).toEqual(silently);
    // of a token that has amounts as well (Comet): who may do everything has spent nothing of it
    const amount = { ...native(0, module, at("d"), 5n), standard: "erc20", token } as const;
    expect(within([operators], [nft(null, 0n)], [], [amount])).toEqual(silently);
    expect(within([approving(9n)], [nft(9n, 0n)], [], [moving("erc721", 77n, 1n)])).toEqual(silently);
    expect(within([approving(9n)], [nft(9n, 0n)], [], [moving("erc721", 9n, 1n)])).toEqual([]);
    expect(within([ofId(1n, 5n)], [multi(1n, 0n)], [], [moving("erc6909", 2n, 5n)])).toEqual(silently);
    expect(within([ofId(1n, 5n)], [multi(1n, 2n)], [], [moving("erc6909", 1n, 3n)])).toEqual([]);
  });
  it("is taken back only where it is measured at zero, by a call that cannot fail alone", () => {
    expect(within([approving(7n), approving(0n)], [nft(7n, 0n), nft(0n, 0n)])).toEqual(silently);
    expect(within([approving(all), approving(0n)], [{ ...row, evidence: "estimated" }])).toEqual(silently);
    expect(within([approving(all), approving(0n)], [{ ...row, before: null }])).toEqual(silently);
    expect(within([approving(0n), approving(all)], [row])).toEqual(silently);
    expect(within([ofId(1n, 5n), ofId(1n, 0n)], [multi(1n, 0n)])).toEqual([]);
    const lenient = made("aggregate3((address,bool,bytes)[])", [
      ...[
        [token, false, approving(all)],
        [token, true, approving(0n)],
      ],
    ]);
    const ran = bundle({ to: module, data: lenient }).map((one) => filled(one));
    expect(codes(checkUnexplained(ran, [row]))).toEqual(silently);
  });
  const telling = (owner: Address, amount: bigint, spender: Address = bob) =>
    log(token, [topics.approval, word(owner), word(spender)], [word(amount)]);
  it("is matched by an event only up to its amount, of the same kind and spender", () => {
    const rows = [row, level(avatar, 0n)];
    for (const [logs, said] of [
      ...([
        [[telling(avatar, all)], []],
        [[telling(avatar, 0n)], silently],
      ] as const),
      ...([
        [[telling(avatar, all - 2n ** 255n)], []],
        [[telling(avatar, all, at("c"))], silently],
      ] as const),
      ...([[[telling(at("c"), all)], silently]] as const),
    ])
      expect(within([approving(all)], rows, logs)).toEqual(said);
    expect(within([operators], [nft(null, 0n), level(avatar, 0n)], [telling(avatar, all)])).toEqual(silently);
  });
  it("is matched for the sender too only by a row of its kind", () => {
    const asking = (data: ReturnType<typeof made>, approval: Approval) =>
      codes(
        checkUnexplained(
          bundle({ to: token, data }).map((one) => filled(one)),
          [{ ...approval, owner: alice }],
        ),
      );
    expect(asking(ofId(1n, 5n), multi(2n, 0n))).toEqual(silently);
    expect(asking(ofId(1n, 5n), multi(1n, 0n))).toEqual([]);
    expect(asking(operators, row)).toEqual(silently);
    expect(asking(approving(9n), row)).toEqual([]);
    expect(asking(approving(9n), nft(9n, 0n))).toEqual([]);
  });
  /** What is said of a grant in bytes that nothing reads, with the events of the token and the rows of the report. */
  const unread = (data: string, logs: ReadonlyArray<ReturnType<typeof log>>, approvals: ReadonlyArray<Approval>) =>
    codes(
      checkUnexplained(
        bundle({ to: module, data: hexOf(data) }).map((one) =>
          filled(one, { outcome: outcome({ status: "success", logs }) }),
        ),
        approvals,
      ),
    );
  it("is matched in unread bytes by an event with as much of a token that they name", () => {
    const relayed = made(
      "multicall((address,bool,uint256,bytes)[],address,address)",
      ...[[[token, false, 0n, approving(5n)]], alice, alice],
    );
    expect(unread(relayed, [telling(module, 5n)], [row])).toEqual([]);
    expect(unread(relayed, [telling(module, 4n)], [row])).toEqual(silently);
    expect(unread(relayed, [telling(module, 5n, at("c"))], [row])).toEqual(silently);
    expect(unread(relayed, [telling(module, 5n)], [])).toEqual(silently);
    expect(unread(relayed, [], [row])).toEqual(silently);
    expect(unread(made("run(bytes)", approving(5n)), [telling(module, 5n)], [row])).toEqual(silently);
    // one that is told does not hide the next
    const two = made("run(address,bytes,bytes)", token, approving(5n), operators);
    expect(unread(two, [telling(module, 5n)], [row])).toEqual(silently);
  });
  it("is found in unread bytes for addresses that begin with zeros, and behind many harmless ones", () => {
    const mined = `0x00000000${"deadbeef".repeat(4)}`;
    expect(unread(made("run(bytes)", made("approve(address,uint256)", mined, all)), [], [])).toEqual(silently);
    expect(
      unread(
        made(
          "run(bytes[])",
          Array.from({ length: 200 }, () => approving(0n)),
        ),
        [],
        [],
      ),
    ).toEqual([]);
    expect(
      unread(
        made(
          "run(bytes[])",
          Array.from({ length: 300 }, () => approving(0n)),
        ),
        [],
        [],
      ),
    ).toEqual(silently);
  });
  it("is judged in time linear in their number", () => {
    const details = Array.from({ length: 4_000 }, (_, index) => [token, BigInt(index + 1), 9_999_999_999, 0]);
    const permits = "permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)";
    const logs = Array.from({ length: 8_000 }, (_, index) => telling(alice, BigInt(index), at("c")));
    const [one] = bundle({ to: at("9"), data: made(permits, module, [details, bob, 1n], "0x") });
    const ran = [filled(one, { outcome: outcome({ status: "success", logs }) })];
    const start = performance.now();
    expect(codes(checkUnexplained(ran, [{ ...row, standard: "permit2" }]))).toEqual(silently);
    expect(performance.now() - start).toBeLessThan(6_000);
  });
  it("has a finding in bytes that nothing reads as a call, packed or not, if it names somebody", () => {
    const inside = (data: string, to = module) => check([], "success", { to, data: hexOf(data) });
    for (const unread of [
      made("run(address,bytes)", token, approving(all)),
      made("run(bytes,uint256)", made("deeper(bytes)", approving(all)), 7n),
      made("pack(bytes)", `0x00${token.slice(2)}${approving(all).slice(2)}`),
      made("pack(bytes)", approving(all).slice(0, -2)),
      made("run(bytes)", `${approving(0n)}${approving(all).slice(2)}`),
    ])
      expect(inside(unread), unread).toEqual(["RightUnexplained/info"]);
    for (const harmless of [
      made("run(bytes)", approving(0n)),
      made("run(bytes)", made("transfer(address,uint256)", bob, 5n)),
      made("run(bytes4,uint256)", "0x095ea7b3", 5n),
      made("run(bytes)", made("approve(address,uint256)", at("0"), 5n)),
    ])
      expect(inside(harmless), harmless).toEqual([]);
  });
  it("has a finding where a contract lets somebody act for it and announces nothing", () => {
    const role = `0x${"00".repeat(32)}`;
    const handing = made("grantRole(bytes32,address)", role, bob);
    const granted = log(token, [kind("RoleGranted(bytes32,address,address)"), role.slice(2), word(bob), word(alice)]);
    expect(check([], "success", { to: token, data: handing })).toEqual(["RightUnexplained/info"]);
    expect(check([granted], "success", { to: token, data: handing })).toEqual([]);
    expect(check([], "success", { to: token, data: made("transferOwnership(address)", at("0")) })).toEqual([]);
  });
  it("has a row for every shown function that gives something", () => {
    const given = declared
      .split("\n")
      .flatMap((line) => (line.split("|")[1] ?? "").split(";"))
      .filter((text) => /approv|permit|allow|grant|owner|enable|^set[A-Z]|upgrade/i.test(text.split("(")[0] ?? ""))
      .map((text) => toFunctionSignature(`function ${text}`));
    const missing = given.filter((signature) => {
      const selector = toFunctionSelector(signature);
      return !(selector in grants || selector in handovers);
    });
    expect([...new Set(missing)].sort()).toEqual([
      // they take, tell or approve for the account that is called, or an event tells of them
      ...["acceptOwnership()", "allowance(address,address)", "approveHash(bytes32)", "getApproved(uint256)"],
      ...["isApprovedForAll(address,address)", "ownerOf(uint256)"],
      "permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)",
      "permitWitnessTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes32,string,bytes)",
      ...["removeOwner(address,address,uint256)", "renounceOwnership()"],
      "setup(address[],uint256,address,bytes,address,address,uint256,address)",
      "setup(address[],uint256,address,bytes,address,uint256,address)",
    ]);
  });
});
