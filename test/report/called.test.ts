/** What is called, who is named, and who is "you", in every rendering. */
import { encodeErrorResult, encodeFunctionData, erc20Abi, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import * as Errors from "../../src/Errors.js";
import { address, Hex, Statement } from "../rooms/primitives.js";
import { note, type NoteCode } from "../harness/notes.js";
import { fromError, summary, toHtml, toMarkdown, toSvg, toText, type BundleReport } from "../rooms/report.js";
import { alice, bob, granted, moved, pool, report, usdc } from "./fixtures.js";
import { calls, moving, tokenInfos } from "./scenes.js";

const abi = parseAbi([
  "function multicall(bytes[] data)",
  "function setPrice(uint256 price)",
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls)",
]);
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 1_000_000n] });
const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, 7n] });
const setPrice = encodeFunctionData({ abi, functionName: "setPrice", args: [5n] });
const multicall = encodeFunctionData({ abi, functionName: "multicall", args: [[transfer, setPrice]] });

const [call] = calls(1);
const calling = (data: string, given: Partial<BundleReport> = {}, to: typeof pool = pool): BundleReport =>
  moving({
    ...given,
    transactions: [{ ...call, input: { ...call.input, to, data: Hex.make(data as `0x${string}`) } }],
  });
const fees = "pay at most 0.0000441 ETH in fees.";
const { options } = report();
const plain = (text: string): string => text.replace(/<[^>]*>|\\/g, "").replace(/\s+/g, " ");
const renderings: ReadonlyArray<readonly [string, (made: BundleReport, options?: object) => string]> = [
  ["summary", summary],
  ["text", toText],
  ["Markdown", toMarkdown],
  ["HTML", toHtml],
  ["SVG", toSvg],
];

describe("the called function in a rendered report", () => {
  it.each(renderings)("stands in %s, behind the movements", (_, render) => {
    const text = plain(render(calling(transfer, { transfers: [moved({ to: bob })] }, usdc)));
    const place = text.indexOf(
      "You call USDC (0xA0b8…eB48): transfer(to: 0x7099…79C8, amount: 1000000) (by selector: ERC-20).",
    );
    expect(place).toBeGreaterThan(-1);
    const moves = text.indexOf("You send 1 USDC");
    expect(moves).toBeGreaterThan(-1);
    expect(moves).toBeLessThan(place);
  });

  it("is named by the caller's ABI, by selector, or as not known", () => {
    expect(summary(calling(setPrice))).toBe(
      `You ${fees} You call 0x88e6…5640 without moving anything: selector 0x91b7f5ed, 36 bytes of data.`,
    );
    const mine = { ...options, abis: [{ address: null, abi: JSON.parse(JSON.stringify(abi)) as [] }] };
    expect(summary(calling(setPrice, { options: mine }))).toContain("setPrice(price: 5) (by an ABI you gave).");
  });

  it("has the wording of the standard that the contract turned out to have", () => {
    const nft = moved({ standard: "erc721", tokenId: 7n, amount: 1n });
    expect(summary(calling(approve, { transfers: [nft] }, usdc))).toContain("approve(to: 0x7099…79C8, tokenId: 7)");
    const allowed = granted({ spender: bob, unlimited: false, after: 7n });
    expect(summary(calling(approve, { approvals: [allowed] }, usdc))).toContain("amount: 7) (by selector: ERC-20)");
    expect(summary(calling(approve))).toContain("(by selector: ERC-20, ERC-721)");
  });

  it("includes the calls inside, and a receiver where nobody lives", () => {
    const nobody = { ...call.code, to: { ...call.code.to, account: pool, kind: "nobody" } } as typeof call.code;
    const made = calling(multicall);
    const text = summary({ ...made, transactions: [{ ...made.transactions[0], code: nobody }] });
    expect(text).toContain(
      "You call 0x88e6…5640, which is no contract, without moving anything: multicall(data: …) (by selector: Multicall).",
    );
    expect(text).toContain(
      "Inside: 1 transfer(to: 0x7099…79C8, amount: 1000000) (by selector: ERC-20); 2 selector 0x91b7f5ed, 36 bytes of data.",
    );
    for (const render of [toText, toMarkdown, toHtml])
      expect(plain(render(made))).toMatch(/Calls.*multicall\(data: \[0x/);
    expect(toSvg(made)).toContain("multicall (by selector), 2 calls inside");
  });

  it("has the amounts inside as they were typed", () => {
    const valued = parseAbi([
      "function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)",
      "function execute(address target, uint256 value, bytes data)",
      "function executeBatch((address target, uint256 value, bytes data)[] calls)",
    ]);
    const value = 100_000_000_020_000_000_003n;
    const one = { target: bob, allowFailure: false, value, callData: setPrice, data: setPrice };
    for (const data of [
      encodeFunctionData({ abi: valued, functionName: "aggregate3Value", args: [[one]] }),
      encodeFunctionData({ abi: valued, functionName: "execute", args: [bob, value, setPrice] }),
      encodeFunctionData({ abi: valued, functionName: "executeBatch", args: [[one]] }),
    ])
      expect(summary(calling(data))).toContain("Inside: 1 0x7099…79C8 with 100.000000020000000003 ETH: selector");
  });

  it("counts no argument as left out that stands inside", () => {
    const text = summary(calling(multicall));
    expect(text).toContain("multicall(data: …) (by selector: Multicall). Inside: 1 ");
    expect(text).not.toContain("more)");
  });

  it("counts what a sentence leaves out", () => {
    const six = encodeFunctionData({ abi, functionName: "multicall", args: [Array<Hex>(6).fill(Hex.make(transfer))] });
    expect(summary(calling(six))).toContain("; and 2 more.");
    const many = encodeFunctionData({
      abi,
      functionName: "multicall",
      args: [Array<Hex>(70).fill(Hex.make(transfer))],
    });
    expect(summary(calling(many))).toContain("; and 66 more.");
    const [one] = calling(transfer).transactions;
    const bundle = summary(moving({ transactions: [one, one, one, one, one] }));
    expect(bundle).toMatch(/Transaction 3 calls 0x88e6…5640: transfer\(.*2 more transactions call functions\./);
  });
});

describe("the sentence that nothing moves", () => {
  const still = "without moving anything";
  it("is written only where no assets of anybody move", () => {
    expect(summary(calling(setPrice))).toContain(still);
    for (const given of [
      { transfers: [moved({ from: bob, to: pool })] },
      { approvals: [granted({ owner: bob })] },
      { approvals: [granted({ owner: pool, before: 5n, after: 0n, unlimited: false })] },
      {
        balanceChanges: [
          { account: bob, token: usdc, tokenId: null, before: 5n, after: 4n, delta: -1n, evidence: "measured" },
        ],
      },
    ] as ReadonlyArray<Partial<BundleReport>>)
      expect(summary(calling(setPrice, given))).not.toContain(still);
  });

  it.each<NoteCode>([
    ...(["OwnershipChanged", "RoleChanged", "ContractControlChanged", "DelegationSet", "DelegationCleared"] as const),
    ...(["RightUnexplained", "EventUnexplained", "PartiesCut", "CalldataCut", "TransferMismatch"] as const),
  ])("is not written with %s", (code) => {
    for (const severity of ["info", "warning"] as const)
      expect(summary(calling(setPrice, { findings: [note(code, severity, { evidence: "logged" })] }))).not.toContain(
        still,
      );
  });
});

describe("a sentence that must not reassure", () => {
  const still = "without moving anything";
  it("is given for a token that is sent to oneself", () => {
    const text = summary(calling(transfer, { transfers: [moved({ to: alice })] }, usdc));
    expect(text).toContain("You send 1 USDC (0xA0b8…eB48) to yourself");
    expect(text).not.toContain(still);
  });

  it("is given for a call that fails", () => {
    const failing = (made: BundleReport): BundleReport => {
      const [one] = made.transactions;
      return { ...made, transactions: [{ ...one, outcome: { ...one.outcome, status: "reverted" } }] };
    };
    const text = summary(failing(calling(setPrice)));
    expect(text).toContain("It would fail.");
    expect(text).not.toContain(still);
    const [one] = failing(moving({})).transactions;
    const both = summary(moving({ transactions: [one, one] }));
    expect(both).toContain("Transactions 1 and 2 of 2 would fail.");
    expect(both).not.toMatch(/make 2 calls|without moving/);
  });
});

describe("a call of a view function", () => {
  it("is reported as one that needs no transaction, with its result", () => {
    const found = note("ReadOnlyCall", "info", { evidence: "measured" }, Statement.text("returns", "5\n\u202e"));
    expect(summary(calling(setPrice, { findings: [found] }))).toContain(
      "It only reads, and needs no transaction: it returns 5\\u{a}\\u{202e}.",
    );
    const bare = note("ReadOnlyCall", "info", { transaction: 0, evidence: "measured" });
    expect(summary(calling(setPrice, { findings: [bare] }))).toContain("It only reads, and needs no transaction.");
    const guessed = note("ReadOnlyCall", "info", { transaction: 0, evidence: "assumed" });
    expect(summary(calling(setPrice, { findings: [guessed] }))).toContain(
      "By its selector it only reads, and then needs no transaction.",
    );
    const [one] = calling(setPrice).transactions;
    expect(summary(moving({ transactions: [one, one], findings: [{ ...bare, transaction: 1 }] }))).toContain(
      "Transaction 2 only reads, and needs no transaction.",
    );
  });
});

describe("the amount that could also be taken", () => {
  const row = { spender: bob, account: alice, token: usdc, tokenId: null, by: "allowance", balance: null } as const;
  const exposed = (amount: bigint, given: Partial<BundleReport> = {}) =>
    moving({ exposure: { rows: [{ ...row, amount, evidence: "measured" }], pairs: 1, unread: 0 }, ...given });
  it("is a lower bound, and rounded as one", () => {
    expect(summary(exposed(1_500_001_234n))).toContain("0x7099…79C8 could take at least ≈1,500 USDC (0xA0b8…eB48)");
    expect(toText(exposed(1_500_001_234n), { full: false })).not.toContain("1,500.01");
    const typed = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, 1_500_001_234n] });
    expect(summary({ ...calling(typed), exposure: exposed(1_500_001_234n).exposure })).toContain(
      "could take at least 1,500.001234 USDC",
    );
  });
  it("is not repeated where a right shows it", () => {
    const limited = granted({ spender: bob, unlimited: false, after: 5_000_000n });
    expect(summary(exposed(5_000_000n, { approvals: [limited] }))).not.toContain("could take");
    expect(summary(exposed(5_000_000n, { approvals: [granted({ spender: bob })] }))).not.toContain("could take");
    for (const other of [
      { ...limited, after: 4_999_999n },
      { ...limited, spender: pool },
      { ...limited, token: pool },
      { ...limited, before: 9_000_000n, after: 0n },
    ])
      expect(summary(exposed(5_000_000n, { approvals: [other] }))).toContain("could take at least 5 USDC");
  });
});

describe("the numbers in a token's own error", () => {
  it("are also shown as its amounts, marked as a reading", () => {
    const abi = parseAbi(["error Over(uint256 cap, uint256 sum, uint256 deadline, uint256 tries)"]);
    const data = encodeErrorResult({ abi, errorName: "Over", args: [5_000_000n, 6_120_001n, 1_790_000_000n, 3n] });
    const found = (to: string): string => {
      const made = calling(setPrice, {}, usdc);
      const answer = { code: 3, message: "execution reverted", data };
      const error = Errors.classify({ method: "eth_call", error: answer, abis: abi, to });
      return summary({
        ...made,
        verdict: "blocked",
        because: error.statement.sentence,
        findings: [fromError(error, "blocker", { step: "simulate", transaction: 0, evidence: "measured" })],
      });
    };
    expect(found(usdc)).toContain(
      "Over(cap: 5000000, sum: 6120001, deadline: 1790000000, tries: 3), as amounts of USDC (0xA0b8…eB48): 5 and 6.120001.",
    );
    expect(found(pool)).not.toContain("as amounts of");
  });
});

describe("labels of addresses", () => {
  const labels = { [bob.toUpperCase().replace("0X", "0x")]: "Bob's vault", [alice]: "me", [pool]: "\u202eevil\n" };
  const given = calling(setPrice, { transfers: [moved({ to: bob })] });
  it.each(renderings)("name parties in %s, and never in place of their addresses", (name, render) => {
    const text = plain(render(given, { labels })).replace(/&#39;/g, "'");
    expect(text).toContain("Bob's vault");
    expect(text).toContain(name === "summary" ? "Bob's vault (0x7099…79C8)" : "0x7099");
    expect(text).not.toMatch(/[\u202e]/);
    expect(text).toMatch(/\\?u\{202e\}evil/);
    expect(plain(render(given))).not.toContain("vault");
  });
  it("never replace `you`, and stay short", () => {
    expect(summary(given, { labels })).toMatch(/^You send .* You call /);
    const long = summary(given, { labels: { [bob]: "x".repeat(500) } });
    expect(long).toContain(`${"x".repeat(32)}… (0x7099…79C8)`);
    expect(toSvg(given, { labels: { [bob]: "x".repeat(500) } })).toContain(">0x7099…79C8<");
  });
  it("stand beside the addresses of findings and rights", () => {
    const found = note("ApprovalUnlimited", "warning", { evidence: "measured" }, address("to", bob));
    const text = toText(moving({ findings: [found], approvals: [granted({ spender: bob })] }), { labels, width: 200 });
    expect(text.match(/Bob's vault \(0x7099\S+\)/g)?.length).toBeGreaterThan(2);
  });
});

describe("the accounts called `you`", () => {
  const safe = pool;
  const owned: BundleReport["owned"] = [{ account: safe, owner: alice, kind: "safe", evidence: "measured" }];
  const paying = { transfers: [moved({ from: safe, to: bob, amount: 500_000_000n })] };

  it("include a Safe that names the sender as an owner, where it pays", () => {
    expect(summary(calling(setPrice, paying))).toContain("0x88e6…5640 pays 500 USDC (0xA0b8…eB48) to 0x7099…79C8.");
    expect(summary(calling(setPrice, { ...paying, owned }))).toContain(
      "Your Safe (0x88e6…5640) pays 500 USDC (0xA0b8…eB48) to 0x7099…79C8.",
    );
    const account = owned.map((one) => ({ ...one, kind: "account" as const }));
    expect(summary(calling(setPrice, { ...paying, owned: account }))).toContain(
      "0x88e6…5640, which names you as its owner, pays 500",
    );
  });

  it("have what they get and grant shown, but a claim of ownership reassures nobody who pays", () => {
    const swapped = {
      transfers: [
        ...paying.transfers,
        moved({ from: usdc, to: safe, token: null, standard: "native", amount: 10n ** 18n }),
      ],
    };
    const text = summary(calling(setPrice, { ...swapped, owned, approvals: [granted({ owner: safe, spender: bob })] }));
    expect(text).toContain("Your Safe (0x88e6…5640) receives 1 ETH from 0xA0b8…eB48.");
    expect(text).toContain("Your Safe (0x88e6…5640) lets 0x7099…79C8 spend unlimited USDC (0xA0b8…eB48).");
    expect(summary(calling(setPrice, { transfers: [moved({ to: safe })], owned }))).not.toContain("our Safe");
  });

  it("include those that the caller names", () => {
    const mine = { ...options, accounts: [safe] };
    const made = calling(setPrice, { ...paying, options: mine });
    expect(summary(made)).toContain("You send 500 USDC (0xA0b8…eB48) to 0x7099…79C8 and pay at most");
    for (const render of [toText, toMarkdown, toHtml, toSvg]) expect(plain(render(made))).toMatch(/500/);
    const inside = calling(setPrice, { transfers: [moved({ from: safe, to: alice })], options: mine });
    expect(summary(inside)).not.toMatch(/send|receive|without moving/);
    const granting = { approvals: [granted({ owner: safe, spender: bob })], options: mine };
    expect(summary(calling(setPrice, granting))).toContain("You let 0x7099…79C8 spend unlimited");
  });

  it("include named ones beside several senders, who keep their addresses", () => {
    const [first] = calls(1);
    const second = { ...first, input: { ...first.input, from: bob } };
    const made = moving({
      ...{ transactions: [first, second], tokens: tokenInfos, options: { ...options, accounts: [safe] } },
      transfers: [moved({ from: safe, to: usdc })],
    });
    expect(summary(made)).toMatch(/You send 1 USDC .* to 0xA0b8…eB48\..*0xf39F…2266 .*pays/);
  });
});
