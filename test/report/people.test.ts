/** What a person reads first, and in which words: all of a holding, NFTs, look-alikes, worth, a sentence for each code. */
import { describe, expect, it } from "vitest";
import { address, count, text, units } from "../rooms/primitives.js";
import { codes, note } from "../harness/notes.js";
import {
  detailsOf,
  namesFor,
  sentencesByCode,
  summary,
  toHtml,
  toMarkdown,
  toSvg,
  toText,
  type Approval,
  type BundleReport,
} from "../rooms/report.js";
import { alice, bob, granted, moved, pool, report, usdc } from "./fixtures.js";
import { apes, moving, swap, tokenInfos, weth } from "./scenes.js";

const usd = "USDC (0xA0b8…eB48)";
type Row = NonNullable<BundleReport["exposure"]>["rows"][number];
const row = (given: Partial<Row>): Row => ({
  ...{ spender: pool, account: alice, token: usdc, tokenId: null, by: "allowance", amount: 1n, balance: 1n },
  ...{ evidence: "measured" },
  ...given,
});
const holding = (balance: bigint, given: Partial<Row> = {}): Pick<BundleReport, "exposure"> => ({
  exposure: { rows: [row({ balance, amount: balance, ...given })], pairs: 1, unread: 0 },
});

describe("a right over all of somebody's assets", () => {
  const all = 11_095_177_666n;
  const part = (after: bigint): Partial<Approval> => ({ unlimited: after >= all, after });
  it.each<[what: string, approval: Partial<Approval>, have: bigint, text: string]>([
    ["without a limit", {}, all, `spend all of your ${usd}: 11,095.177666 now, and what comes later.`],
    ["of more", part(30_000_000_000n), all, `spend all of your ${usd}: 11,095.177666 now, at most 30,000.`],
    ["of just as much", part(all), all, `spend all of your ${usd}: 11,095.177666.`],
    ["of less", part(all - 1n), all, `spend up to ≈11,095.2 ${usd} and`],
    ["of nothing that is there", {}, 0n, `spend unlimited ${usd} and`],
    ["of a debt", { standard: "aaveDebt" }, all, `borrow unlimited ${usd} in your name and`],
  ])("is named as such: %s", (_, approval, have, text) =>
    expect(summary(moving({ approvals: [granted(approval)], ...holding(have) }))).toContain(text),
  );

  it("is found by balances, too, and not where it is taken back", () => {
    const change = { account: alice, token: usdc, tokenId: null, before: 0n, after: 7_000_000n, delta: 7_000_000n };
    const balanceChanges = [{ ...change, evidence: "measured" as const }];
    expect(summary(moving({ approvals: [granted()], balanceChanges }))).toContain(`all of your ${usd}: 7 now`);
    const back = granted({ before: 5_000_000n, after: 0n, unlimited: false });
    expect(toText(moving({ approvals: [back], balanceChanges }))).toContain(`may no longer spend up to 5 ${usd}`);
  });

  it("counts the NFTs of an operator, as a right and no further exposure", () => {
    const approvals = [granted({ standard: "erc721", token: apes, after: 1n, unlimited: true })];
    const made = moving({ approvals, ...holding(2n, { token: apes, by: "operator" }) });
    expect(summary(made)).toContain("move all of your BAYC (0xBC4C…f13D): 2 now, and what comes later.");
    expect(toText(made)).not.toContain("What else contracts could take\n  you");
    expect(toSvg(made)).toContain(">all 2 BAYC<");
  });
});

describe("the assets that leave", () => {
  const change = (after: bigint) => [
    { account: alice, token: usdc, tokenId: null, before: after + 5_000_000n, after, delta: -5_000_000n },
  ];
  const sent = (after: bigint) =>
    summary(
      moving({
        transfers: [moved({ amount: 5_000_000n, to: bob })],
        balanceChanges: change(after).map((one) => ({ ...one, evidence: "measured" as const })),
      }),
    );
  it("are named as all where nothing is left", () => {
    expect(sent(0n)).toContain(`You send all of your ${usd}, 5, to 0x7099…79C8 and`);
    expect(sent(1n)).toContain(`You send 5 ${usd} to 0x7099…79C8 and`);
  });

  it("have the value of the caller's prices, of tokens and of the currency, and no other", () => {
    const price = { currency: "USD", amount: "2500", tokens: { [usdc.toUpperCase().replace("0X", "0x")]: "0.999" } };
    const text = toText(swap(), { price, width: 200 });
    expect(text).toMatch(/≈-1,250\.51 +USDC \(0xA0b8…eB48\) +≈ 1249\.25 USD +to/);
    expect(text).toMatch(/-0\.25 +ETH +≈ 625 USD +to/);
    expect(text).toMatch(/\+0\.498123 +WETH \(0xC02a…6Cc2\) +from/);
    expect(toText(swap(), { width: 200 })).not.toContain("USD ");
    const wrong = { currency: "USD", amount: "x", tokens: { [usdc]: "-1" } };
    expect(toText(swap(), { price: wrong, width: 200 })).not.toContain("≈ ");
  });
});

describe("an NFT in a rendering", () => {
  it("is named by its id, several by their number, and never in smallest units", () => {
    const cats = [{ token: apes, name: "Cats", symbol: "CAT", decimals: null }];
    const change = { account: alice, token: apes, tokenId: null, before: 1n, after: 3n, delta: 2n };
    const made = moving({
      tokens: cats,
      transfers: [
        moved({ standard: "erc721", token: apes, tokenId: 5n, amount: 1n }),
        moved({ standard: "erc1155", token: weth, tokenId: 6n, amount: 3n, from: pool, to: alice }),
      ],
      balanceChanges: [{ ...change, evidence: "measured" }],
    });
    const text = summary({ ...made, tokens: [...cats, { token: weth, name: null, symbol: "DOG", decimals: null }] });
    expect(text).toContain("CAT #5 (0xBC4C…f13D) to");
    expect(text).toContain("3 × DOG #6 (0xC02a…6Cc2) from");
    expect(text).toContain("3 NFTs of CAT (0xBC4C…f13D)");
    for (const render of [toText, toHtml, toMarkdown, toSvg])
      expect(render(made, { full: true })).not.toContain("decimals not known");
  });
});

describe("a token that looks like a known one", () => {
  const fake = "0x00000000000000000000000000000000000000fa" as typeof usdc;
  const named = (symbol: string | null, given: Partial<BundleReport> = {}, name: string | null = null) =>
    summary(report({ tokens: [{ token: fake, name, symbol, decimals: 6 }], ...given }));
  const dev = { chainId: 31337 };
  it.each([
    ["by a Cyrillic letter", "USD\u0421", "USDC"],
    ["by a Greek one", "\u0395TH", "ETH"],
    ["by a stroke", "DAl", "DAI"],
    ["by a nought", "USDT0".replace("T0", "T\u200b"), "USDT"],
    ["by its case", "usdc", "USDC"],
    ["by what is invisible and escaped", "USDC\\u{200b}", "USDC"],
    ["by an accent", "W\u00c9TH", "WETH"],
  ])("has a sentence: %s", (_, symbol, like) => {
    expect(named(symbol)).toContain(`looks like ${like}, and is not.`);
  });

  it("has it on every chain where its letters are foreign, and in Latin letters only beside the known one", () => {
    expect(named("USD\u0421", dev)).toContain("looks like USDC, and is not.");
    for (const symbol of ["USDC", "usdc", "USD\u20ae", "ETH", "FOO", "", null, "\u0416\u0416\u0416"])
      expect(named(symbol, dev)).not.toMatch(/looks like|is not the/);
    for (const symbol of ["USDC", "USD\u20ae"])
      expect(named(symbol)).toMatch(/ is not the USD[CT] that is known on Ethereum \(0x\w{4}…\w{4}\)\./);
    expect(named("XYZ", {}, "USD Coin")).toContain("is not the USDC that is known on Ethereum (0xA0b8…eB48).");
    expect(named("XYZ", dev, "US\u0501 Coin")).toContain("looks like USDC, and is not.");
  });

  it("is not reported where it is the known one, or merely ends like it", () => {
    expect(summary(report({ tokens: tokenInfos }))).not.toMatch(/looks like|is not the/);
    for (const symbol of ["aUSDC", "LUSD", "USDX", "sUSDS", "PEPE", "stkAAVE"])
      expect(named(symbol)).not.toMatch(/looks like|is not the/);
  });
});

describe("the sentence of a finding's code", () => {
  const names = namesFor(moving({}), {});
  const said = (finding: ReturnType<typeof note>, lead = "") => detailsOf(finding, names, lead);
  const at = { evidence: "measured" } as const;
  const right = [address("token", usdc), address("of", alice), address("to", pool)];
  const whole = "0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640";
  it.each([
    [
      `${whole} may take all of your USDC (0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48), now and later.`,
      note("ApprovalUnlimited", "warning", at, ...right),
    ],
    [
      `${whole}, an account without code, may take 3 ${usd} from you.`,
      note(
        "ApprovalGranted",
        "warning",
        at,
        ...right,
        text("", "an account without code"),
        units("amount", 3_000_000n),
      ),
    ],
    [
      `${whole} may take USDC #5 (0xA0b8…eB48) from you.`,
      note("ApprovalGranted", "info", at, ...right, count("id", 5), units("amount", 1n)),
    ],
    [
      "Your balance of USDC (0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48) changes by 0 USDC, and the events say 5 USDC.",
      note(
        ...(["TransferMismatch", "warning", at, address("token", usdc), address("of", alice)] as const),
        ...[units("events say", 5_000_000n), units("measured", 0n)],
      ),
    ],
    [
      `The owner of ${whole} changes to you.`,
      note("OwnershipChanged", "info", at, address("contract", pool), address("to", alice)),
    ],
    [`It goes to ${whole}.`, note("ApprovalUnlimited", "warning", at, address("to", pool))],
  ])("is: %s", (sentence, finding) => {
    expect(said(finding)).toBe(sentence);
    expect(said(finding, "Transaction 1")).toMatch(/^Transaction 1: /);
  });

  it("adds what it does not name behind it, and leaves nothing out", () => {
    const finding = note("ApprovalGranted", "info", at, ...right, units("amount", 1_000_000n), text("because", "of X"));
    expect(said(finding)).toBe(`${whole} may take 1 ${usd} from you. The reason is: of X.`);
  });

  it("has its brackets and braces in pairs, for all codes", () => {
    for (const template of Object.values(sentencesByCode as Record<string, string>))
      expect(template.replace(/\[[^[\]]*\]/g, "").replace(/\{[^{}]*\}/g, "")).not.toMatch(/[[\]{}]/);
    expect(Object.keys(sentencesByCode).length).toBeGreaterThan(40);
    expect(Object.keys(sentencesByCode).some((code) => code in codes)).toBe(true);
  });
});

describe("the order of a rendering", () => {
  it("begins with the verdict, then movements, rights, cost and the call", () => {
    const made = swap();
    const plain = (rendered: string) => rendered.replace(/<[^>]*>|\\/g, "");
    for (const render of [toText, toMarkdown, toHtml]) {
      const rendered = plain(render(made, { width: 1_000 } as object));
      const places = ["CAUTION", "You send", "You receive", "You let", "You pay"].map((part) => rendered.indexOf(part));
      expect(places).not.toContain(-1);
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
    expect(toSvg(made)).toMatch(/>CAUTION<[^]*unlimited USDC/);
    expect(toHtml(made)).not.toMatch(/<svg[^]*>CAUTION<[^]*<\/svg>/);
  });
});
