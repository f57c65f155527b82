import { describe, expect, it } from "vitest";
import { note, type NoteCode } from "../harness/notes.js";
import {
  summary,
  toHtml,
  toMarkdown,
  toSvg,
  toText,
  type BalanceChange,
  type Funds,
  type Report,
} from "../rooms/report.js";
import { alice, blocked, bob, moved, pool, report, revert, unknown, usdc } from "./fixtures.js";
import { apes, calls, moving, swap, thirty, weth } from "./scenes.js";

const at = (digit: string) => `0x${digit.repeat(40)}` as typeof alice;
const zero = "0x0000000000000000000000000000000000000000" as typeof alice;

const changed = (delta: bigint, given: Partial<BalanceChange> = {}): BalanceChange => ({
  ...{ account: alice, token: usdc, tokenId: null, before: 10n ** 12n, after: 10n ** 12n + delta, delta },
  ...{ evidence: "measured" },
  ...given,
});

const fees = "pay at most 0.0000441 ETH in fees.";
const usd = "USDC (0xA0b8…eB48)";
const pay = `You ${fees}`;

describe("the summary of a requested transfer", () => {
  const word = (amount: bigint) => amount.toString(16).padStart(64, "0");
  const asking = (data: string, value: bigint, transfers: Report["transfers"]) => {
    const [call] = calls(1);
    const input = { ...call.input, data: `0xa9059cbb${data}` as const, value };
    return moving({ transactions: [{ ...call, input }], transfers });
  };
  const typed = 1_250_501_234n;
  it.each<[what: string, given: Report, text: string]>([
    ["is exact", asking(word(typed), 0n, [moved({ amount: typed })]), `You send 1,250.501234 ${usd}`],
    [
      "is exact for what comes",
      asking(word(typed), 0n, [moved({ from: pool, to: alice, amount: typed })]),
      `You receive 1,250.501234 ${usd}`,
    ],
    [
      "is exact for the sum of two",
      asking(word(typed), 0n, [moved({ amount: typed }), moved({ amount: typed })]),
      `You send 2,501.002468 ${usd}`,
    ],
    [
      "is rounded beside an unrequested transfer",
      asking(word(typed), 0n, [moved({ amount: typed }), moved({ amount: 1n })]),
      `You send ≈1,250.51 ${usd}`,
    ],
    [
      "is rounded for an amount that nobody asked for",
      asking(word(typed + 1n), 0n, [moved({ amount: typed })]),
      `You send ≈1,250.51 ${usd}`,
    ],
    [
      "is rounded for an amount that a fee reduced",
      {
        ...asking(word(typed), 0n, [moved({ from: pool, to: alice, amount: typed })]),
        balanceChanges: [changed(typed - 7n)],
      },
      `You receive ≈1,250.5 ${usd}`,
    ],
  ])("%s", (_, given, text) => expect(summary(given)).toContain(text));

  it("is exact in whole ETH", () => {
    const value = 100_000_000_020_000_000_000_000n;
    const native = moved({ standard: "native", token: null, to: bob, amount: value });
    expect(summary(asking("", value, [native]))).toContain("You send 100,000.00002 ETH to 0x7099…79C8");
  });

  it("says `claimed` where the balance does not grow", () => {
    const gift = moved({ from: pool, to: alice, amount: 5_000_000_000n });
    expect(summary(moving({ transfers: [gift], balanceChanges: [changed(0n)] }))).toContain(
      `It claims to give you 5,000 ${usd}. You get nothing.`,
    );
    expect(summary(moving({ transfers: [gift], balanceChanges: [changed(1n)] }))).not.toContain("claims");
  });
});

describe("the summary of movements", () => {
  const twin = moved({ to: bob });
  const cases: ReadonlyArray<readonly [what: string, given: Report, text: string]> = [
    ["a plain transfer", report(), `You send 1.5 ETH to 0x7099…79C8 and ${fees}`],
    ["nothing", moving({}), `You call 0x88e6…5640 without moving anything and ${fees}`],
    [
      "what leaves, rounded up",
      moving({ transfers: [moved({ amount: 1_234_567_891n })] }),
      `You send ≈1,234.57 ${usd} to 0x88e6…5640 and ${fees}`,
    ],
    [
      "what comes, rounded down",
      moving({ transfers: [moved({ from: pool, to: alice, amount: 1_234_567_891n })] }),
      `You receive ≈1,234.56 ${usd} from 0x88e6…5640 and ${fees}`,
    ],
    ["two parties", moving({ transfers: [moved(), twin] }), `You send 2 ${usd} to 2 addresses and ${fees}`],
    [
      "back and forth with one party, net",
      moving({ transfers: [moved({ amount: 5_000_000n }), moved({ from: pool, to: alice })] }),
      `You send 4 ${usd} to 0x88e6…5640 and ${fees}`,
    ],
    [
      "in from one and out to another, both",
      moving({ transfers: [moved({ from: pool, to: alice }), twin] }),
      `You send 1 ${usd} to 0x7099…79C8. You receive 1 ${usd} from 0x88e6…5640. ${pay}`,
    ],
    ["to itself", moving({ transfers: [moved({ to: alice })] }), `You send 1 ${usd} to yourself and ${fees}`],
    [
      "strangers' movements",
      moving({ transfers: [moved({ from: bob })] }),
      `You call 0x88e6…5640 and ${fees} 0x7099…79C8 pays 1 ${usd} to 0x88e6…5640.`,
    ],
    [
      "what the called account pays, first, and what is handed on, not",
      moving({
        transfers: [
          moved({ from: bob, to: weth }),
          moved({ from: pool, to: bob, amount: 7_000_000n }),
          moved({ from: pool, to: usdc, amount: 2_000_000n }),
        ],
      }),
      `You call 0x88e6…5640 and ${fees} 0x88e6…5640 pays 9 ${usd} to 2 addresses.`,
    ],
    [
      "what comes into being for others",
      moving({ transfers: [moved({ from: zero, to: bob })] }),
      `You call 0x88e6…5640 and ${fees} Minted: 1 ${usd} to 0x7099…79C8.`,
    ],
    [
      "more payers than a sentence names",
      moving({ transfers: ["1", "2", "3", "4", "5"].map((digit) => moved({ from: at(digit), to: pool })) }),
      `You call 0x88e6…5640 and ${fees} ${["1", "2", "3"].map((digit) => `0x${digit.repeat(4)}…${digit.repeat(4)} pays 1 ${usd} to 0x88e6…5640.`).join(" ")} 2 more accounts pay others.`,
    ],
    [
      "what is taken from a stranger beside what is sent, and nothing of a pool that gives and gets",
      moving({
        transfers: [
          moved(),
          moved({ from: weth, to: bob }),
          moved({ from: at("1"), to: at("2") }),
          moved({ from: at("2"), to: at("3"), token: weth }),
        ],
      }),
      `You send 1 ${usd} to 0x88e6…5640 and ${fees} 0xC02a…6Cc2 pays 1 ${usd} to 0x7099…79C8. 0x1111…1111 pays 1 ${usd} to 0x2222…2222.`,
    ],
    [
      "burned and minted",
      moving({ transfers: [moved({ to: zero }), moved({ token: weth, from: zero, to: alice, amount: 10n ** 18n })] }),
      `You send 1 ${usd} (burned). You receive 1 WETH (0xC02a…6Cc2) (minted). ${pay}`,
    ],
    [
      "an NFT, and several of one id",
      moving({
        transfers: [
          moved({ standard: "erc721", token: apes, tokenId: 7n, amount: 1n }),
          moved({ standard: "erc1155", token: weth, tokenId: 3n, amount: 4n }),
        ],
      }),
      `You send BAYC #7 (0xBC4C…f13D) to 0x88e6…5640 and 4 × WETH #3 (0xC02a…6Cc2) to 0x88e6…5640. ${pay}`,
    ],
    [
      "an id of 78 digits",
      moving({ transfers: [moved({ standard: "erc721", token: apes, tokenId: 2n ** 256n - 1n, amount: 1n })] }),
      `You send BAYC #11579…39935 (0xBC4C…f13D) to 0x88e6…5640 and ${fees}`,
    ],
    [
      "decimals that are not known",
      moving({ transfers: [moved()], tokens: [] }),
      `You send 1,000,000 smallest units of token 0xA0b8…eB48 (decimals not known) to 0x88e6…5640 and ${fees}`,
    ],
    [
      "no decimals",
      moving({
        transfers: [moved({ amount: 5n })],
        tokens: [{ token: usdc, name: null, symbol: "SEAT", decimals: 0 }],
      }),
      `You send 5 SEAT (0xA0b8…eB48) to 0x88e6…5640 and ${fees}`,
    ],
    [
      "more than there can be",
      moving({ transfers: [moved({ amount: 2n ** 256n - 1n })] }),
      `You send ≈1.15793 × 10^71 ${usd} to 0x88e6…5640 and ${fees}`,
    ],
    [
      "what balances tell and no event",
      moving({ balanceChanges: [changed(-2_000_000n)] }),
      `You send 2 ${usd} and ${fees}`,
    ],
    [
      "less than events say, by balances",
      moving({
        transfers: [moved({ from: pool, to: alice, amount: 100_000_000n })],
        balanceChanges: [changed(98_000_000n)],
      }),
      `You receive 98 ${usd} from 0x88e6…5640 and ${fees}`,
    ],
    [
      "more than events say, by balances",
      moving({ transfers: [moved()], balanceChanges: [changed(-7_000_000n)] }),
      `You send 7 ${usd} to 0x88e6…5640 and others. ${pay}`,
    ],
    [
      "an event that lies",
      moving({ transfers: [moved()], balanceChanges: [changed(0n)] }),
      `You call 0x88e6…5640 and ${fees}`,
    ],
    [
      "a balance that nobody read",
      moving({ transfers: [moved()], balanceChanges: [changed(-1n, { after: null, evidence: "logged" })] }),
      `You send 1 ${usd} to 0x88e6…5640 and ${fees}`,
    ],
    [
      "the value, where nothing was simulated",
      unknown(),
      "UNKNOWN: eth_simulateV1: the node does not support this method. You would send 1.5 ETH to 0x7099…79C8 and would pay at most 0.0000441 ETH in fees. What else moves or is granted is not known.",
    ],
  ];
  it.each(cases)("says %s", (_, given, text) => {
    const untold = given.observed.tier === "simulate" ? given : { ...given, transfers: [], balanceChanges: [] };
    expect(summary(untold)).toBe(text);
  });

  it("is exact on request, and uses the given currency", () => {
    const odd = moving({ transfers: [moved({ amount: 1_234_567_891n })] });
    expect(summary(odd, { exact: true })).toContain(`send 1234.567891 ${usd}`);
    expect(summary(report(), { symbol: "TEST" })).toBe(
      "You send 1.5 TEST to 0x7099…79C8 and pay at most 0.0000441 TEST in fees.",
    );
  });

  it("names three of many, and the number of the others", () => {
    const tokens = Array.from({ length: 6 }, (_, at) =>
      moved({ token: `0x${String(at + 1).repeat(40)}` as typeof usdc }),
    );
    expect(summary(moving({ transfers: tokens }))).toContain(" and 3 more things. You pay");
    expect(summary(thirty())).toContain("and 9 more rights");
    expect(summary(thirty()).length).toBeLessThan(600);
  });
});

describe("the summary of failures and doubts", () => {
  it("gives the reason, and the cost of a failure", () => {
    expect(summary(blocked())).toBe(
      "BLOCKED: the call reverts with ERC20InsufficientBalance(sender: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, balance: 5, needed: 1000000). It would fail. You would pay at most 0.0000441 ETH in fees. You would call 0xA0b8…eB48: transfer(recipient: 0x7099…79C8, amount: 1000000) (by an ABI you gave).",
    );
  });

  it("names the transactions of a bundle that fail", () => {
    const [call] = calls(1);
    const failing = { ...call, outcome: { ...call.outcome, status: "reverted", revert } } as const;
    expect(summary(moving({ transactions: [call, failing, failing] }))).toContain(
      "Transactions 2 and 3 of 3 would fail.",
    );
  });

  it("names the missing checks", () => {
    const funds = report().funds.map((one): Funds => ({ ...one, shortfall: 5n * 10n ** 17n }));
    expect(summary(moving({ funds }))).toContain("You lack 0.5 ETH.");
  });

  it("says that fees are not known, or not all of them", () => {
    const funds = report().funds.map((one): Funds => ({ ...one, terms: [] }));
    expect(summary(moving({ funds }))).toMatch(/pay at most [0-9.]+ gwei per gas, how much gas is not known\./);
    const open = note("L1FeeUnknown", "unavailable", { evidence: "unavailable" });
    expect(summary(moving({ findings: [open] }))).toContain("pay 0.0000441 ETH in fees and what is not known beside.");
  });

  it.each<[code: NoteCode, text: string]>([
    ["PartiesCut", "There are more movements or approvals than could be measured or shown here."],
    ["FindingsCut", "There are more movements or approvals than could be measured or shown here."],
    ["CalldataCut", "There are more movements or approvals than could be measured or shown here."],
    ["FirstSeenInProof", "There are more movements or approvals than could be measured or shown here."],
    ["TransferMismatch", "Events and measured balances disagree; the measured amounts are shown."],
    ["RightUnexplained", "A right may be granted that could not be read."],
    ["DependsOnPending", "Amounts may turn out different."],
    ["WitnessUnavailable", "Amounts come from events; balances were not measured."],
    ["NativeMovesUnseen", "Native amounts are known from balances only."],
    ["StatePretended", "State or block were overridden, so none of this is certain."],
    ["OwnershipChanged", "Who controls a contract changes."],
  ])("with %s says so", (code, text) => {
    expect(summary(report({ findings: [note(code, "warning", { evidence: "measured" })] }))).toContain(text);
    expect(summary(report())).not.toContain(text);
  });
});

describe("the beginning of every rendering", () => {
  const plain = (text: string): string => text.replace(/\s+/g, " ");
  const scenes: ReadonlyArray<readonly [name: string, made: Report]> = [
    ["ready", report()],
    ["caution", swap()],
    ["blocked", blocked()],
    ["unknown", unknown()],
  ];
  it.each(scenes)("of %s is verdict, reason and summary", (_, made) => {
    const said = summary(made).toLowerCase();
    const why = `${made.verdict}: ${made.because.toLowerCase()}. `;
    const sentences = said.startsWith(why) ? said.slice(why.length) : said;
    const shown = [
      toText(made),
      toMarkdown(made).replace(/^# \S+ |\*\*|\\/gm, ""),
      toHtml(made)
        .replace(/^[^]*<body>/, "")
        .replace(/<[^>]*>/g, ""),
    ].map((text) => plain(text).trim().toLowerCase());
    for (const text of shown) {
      expect(text.startsWith(made.verdict)).toBe(true);
      expect(text.indexOf(made.because.toLowerCase())).toBeLessThan(made.verdict.length + 4);
      const end = text.indexOf(sentences) + sentences.length;
      expect([text.includes(sentences), text.slice(0, end).length]).toEqual([
        true,
        expect.toSatisfy((length: number) => length < made.because.length + sentences.length + 60),
      ]);
    }
  });
  it("is the same for the same report", () => {
    for (const render of [summary, toText, toMarkdown, toHtml, toSvg]) expect(render(swap())).toBe(render(swap()));
  });
});
