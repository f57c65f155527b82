/** Names of the caller's own sources in every rendering: behind the caller's labels and the chain's own answers, and marked. */
import fc from "fast-check";
import { encodeFunctionData, parseAbi, type Hex as Bytes } from "viem";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { note } from "../harness/notes.js";
import { address, count } from "../rooms/primitives.js";
import {
  fromJson,
  summary,
  toHtml,
  toJson,
  toMarkdown,
  toSvg,
  toText,
  type BundleReport,
  type ReportNames,
} from "../rooms/report.js";
import { hostile } from "./arbitrary.js";
import { alice, bob, granted, moved, pool, report, transfer, usdc } from "./fixtures.js";
import { apes, moving, tokenInfos } from "./scenes.js";

const none: ReportNames = { labels: [], tokens: [], calls: [], described: [] };
const silent = "0x5afe5afe5afe5afe5afe5afe5afe5afe5afe5afe" as const;
const labelled = (label: string, whose = bob): ReportNames => ({ ...none, labels: [{ address: whose, label }] });
const told = (token: ReportNames["tokens"][number]): ReportNames => ({ ...none, tokens: [token] });
const legend = "† by your names, not by the chain.";
const wide = (made: BundleReport, options = {}) => toText(made, { width: 300, ...options });
const renderings = { summary, toText: wide, toMarkdown, toHtml, toSvg };

/** A call of the pool by these bytes. */
const calling = (data: Bytes, names?: ReportNames): BundleReport =>
  report({
    transactions: [{ ...transfer, input: { ...transfer.input, to: pool, value: 0n, data } }],
    ...{ transfers: [], balanceChanges: [] },
    ...(names && { names }),
  });
const claim = encodeFunctionData({ abi: parseAbi(["function claimAll(uint256 epoch)"]), args: [7n] });
type Reading = ReportNames["calls"][number]["functions"][number];
const reading: Reading = {
  ...{ function: "claimAll", signature: "claimAll(uint256)", by: "names", sources: [], moreArguments: 0 },
  arguments: [{ name: "epoch", type: "uint256", value: 7n, more: 0 }],
};
const readings = [reading];

describe("a label from a caller's source", () => {
  it.each(Object.entries(renderings))("is marked as the caller's by %s", (_, render) => {
    const text = render({ ...report(), names: labelled("bob.eth") });
    expect(text).toContain("bob.eth†");
    expect(text).toContain(legend);
  });

  it.each(Object.entries(renderings))("stands behind the caller's labels, of which %s marks none", (_, render) => {
    const text = render({ ...report(), names: labelled("bob.eth") }, { labels: { [bob]: "Bob" } });
    expect(text).toContain("Bob");
    expect(text).not.toContain("†");
    expect(text).not.toContain("bob.eth");
  });

  it("stands behind the symbol that a contract gives itself", () => {
    const names = labelled("Coin", usdc);
    const made = moving({ transfers: [moved({ to: usdc })], names });
    expect([wide(made).includes("Coin"), wide(made).includes("†")]).toEqual([false, false]);
    expect(wide({ ...made, tokens: [] })).toContain("Coin† (0xA0b8…eB48)");
    // one of symbol and name is enough
    for (const own of [
      { name: null, symbol: "USDC" },
      { name: "USD Coin", symbol: null },
    ])
      expect(wide({ ...made, tokens: [{ token: usdc, decimals: 6, ...own }] })).not.toContain("†");
  });

  it("is quoted where it is no plain word, and is never longer than a caller's label", () => {
    expect(wide({ ...report(), names: labelled("you (0xA0b8…eB48)") })).toContain('"you (0xA0b8…eB48)"† (0x7099…79C8)');
    expect(wide({ ...report(), names: labelled("a".repeat(200)) })).not.toContain("a".repeat(33));
  });

  it.each([
    ['a" (0x', '"a\\" (0x"†'],
    ['a\\" (0x', '"a\\\\\\" (0x"†'],
    ["a b\\", '"a b\\\\"†'],
  ])("%s closes no quotation mark", (label, shown) =>
    expect(wide({ ...report(), names: labelled(label) })).toContain(`to ${shown} (0x7099…79C8)`),
  );

  it("never reads as `you`", () => {
    expect(summary({ ...report(), names: labelled("You") })).toContain('to "You"† (0x7099…79C8)');
    expect(summary({ ...report(), names: labelled("you", alice) })).toMatch(/^You send/);
  });

  it("is dropped where it is empty", () =>
    expect(wide({ ...report(), names: labelled("") })).not.toContain("† (0x7099"));
});

describe("a token from a caller's source", () => {
  const amounts = [moved({ token: silent, amount: 1_500n })];

  it.each(Object.entries(renderings))(
    "has symbol and decimals where the token gives none, marked by %s",
    (_, render) => {
      const made = moving({ transfers: amounts, names: told({ token: silent, symbol: "CAT", decimals: 3 }) });
      const text = render(made);
      expect(text).toContain("1.5");
      expect(text).toContain("CAT†");
      expect(text).toContain(legend);
      expect(text).not.toContain("1,500 smallest units");
    },
  );

  it("is marked even with decimals alone", () => {
    const made = moving({ transfers: amounts, names: told({ token: silent, symbol: null, decimals: 3 }) });
    expect(wide(made)).toContain("1.5 token† (0x5afe…5AfE)");
    const own = { token: silent, name: null, symbol: "CAT", decimals: null };
    expect(wide({ ...made, tokens: [own] })).toContain("1.5 CAT† (0x5afe…5AfE)");
  });

  it("does not replace what the token says", () => {
    const names = told({ token: usdc, symbol: "SCAM", decimals: 0 });
    const made = moving({ transfers: [moved()], names });
    expect(wide(made)).toBe(wide(moving({ transfers: [moved()] })));
  });

  it("gives no decimals to an NFT, or where it changes its answer", () => {
    const names = told({ token: apes, symbol: null, decimals: 2 });
    const nft = moving({ transfers: [moved({ standard: "erc721", token: apes, tokenId: 7n, amount: 1n })], names });
    expect(wide(nft)).toContain("BAYC #7");
    expect(wide(nft)).not.toContain("†");
    const findings = [
      note("TokenChanges", "warning", { evidence: "measured" }, address("token", silent), count("decimals", 6)),
    ];
    const fickle = moving({ transfers: amounts, findings, names: told({ token: silent, symbol: "X", decimals: 3 }) });
    expect(wide(fickle)).toContain("1,500 smallest units");
    expect(wide(fickle)).not.toContain("†");
  });

  it("is not put in where nothing of it moves or is granted", () =>
    expect(wide({ ...report(), names: told({ token: silent, symbol: "CAT", decimals: 3 }) })).not.toContain("CAT"));
});

describe("a symbol that looks like a known token's", () => {
  it.each<[what: string, names: ReportNames, sentence: string]>([
    ["a symbol", told({ token: silent, symbol: "USDC", decimals: 6 }), "USDC† (0x5afe…5AfE) is not the USDC"],
    ["a symbol in other letters", told({ token: silent, symbol: "USDС", decimals: 6 }), "looks like USDC, and is not."],
    ["a label", labelled("WETH"), "WETH† (0x7099…79C8) is not the WETH that is known on Ethereum (0xC02a…6Cc2)."],
    ["a label in other letters", labelled("WЕTH"), "looks like WETH, and is not."],
    ["a label that is a name", labelled("USD Coin"), "is not the USDC that is known on Ethereum"],
  ])("gets the sentence of look-alikes: %s", (_, names, sentence) => {
    const made = moving({ transfers: [moved({ token: silent, to: bob })], names });
    for (const render of [summary, wide]) expect(render(made)).toContain(sentence);
  });

  it("gets none for the token itself, or behind the caller's label", () => {
    const made = moving({ tokens: [], transfers: [moved({ to: bob })], names: labelled("USDC", usdc) });
    expect(wide(made)).not.toMatch(/is not the|looks like/);
    expect(wide({ ...made, names: labelled("WETH") }, { labels: { [bob]: "Bob" } })).not.toContain("is not the");
  });
});

describe("a function name from a caller's source", () => {
  it.each(Object.entries(renderings))("names a call that nothing else names, and %s marks its source", (_, render) => {
    const text = render(calling(claim, { ...none, calls: [{ place: "1", functions: readings }] }));
    expect(text).toContain("claimAll");
    expect(text).toContain("(by your names)");
  });

  it("stands behind every other name, and in its own place alone", () => {
    const names = { ...none, calls: [{ place: "1", functions: readings }] };
    const known = encodeFunctionData({
      abi: parseAbi(["function approve(address spender,uint256 amount)"]),
      args: [bob, 1n],
    });
    expect(wide(calling(known, names))).toBe(wide(calling(known)));
    expect(wide(calling(claim, { ...none, calls: [{ place: "1.1", functions: readings }] }))).toBe(
      wide(calling(claim)),
    );
  });

  it("names calls inside a batch by their place", () => {
    const abi = parseAbi(["function multicall(bytes[] data)"]);
    const batch = encodeFunctionData({ abi, args: [["0x12345678", claim]] });
    const text = wide(calling(batch, { ...none, calls: [{ place: "1.2", functions: readings }] }));
    expect(text).toContain("2 claimAll(epoch: 7) (by your names)");
    expect(text).toContain("1 selector 0x12345678");
  });
});

describe("the text of a descriptor", () => {
  const names: ReportNames = {
    ...none,
    described: [{ transaction: 0, intent: "Claim 5 CAT", fields: [{ label: "Amount", value: "5 CAT" }] }],
  };

  it.each(Object.entries(renderings))("is marked as the caller's by %s", (_, render) => {
    // why: quotation marks are escaped in HTML and SVG
    const text = render(calling(claim, names)).replaceAll("&#34;", '"').replaceAll("\\", "");
    expect(text).toContain('Your descriptors say: "Claim 5 CAT".');
  });

  it("has a section with its fields", () =>
    expect(wide(calling(claim, names))).toMatch(/By your descriptors\n +intent +Claim 5 CAT\n +Amount +5 CAT\n/));
});

describe("the names in a report", () => {
  const texts = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.constantFrom(...hostile));
  const rows = fc.record({
    labels: fc.array(fc.record({ address: fc.constantFrom(alice, bob, pool, usdc), label: texts }), { maxLength: 4 }),
    tokens: fc.array(
      fc.record({
        token: fc.constantFrom(usdc, apes, silent),
        symbol: fc.option(texts),
        decimals: fc.option(fc.integer({ min: -300, max: 300 })),
      }),
      { maxLength: 3 },
    ),
    calls: fc.array(
      fc.record({
        place: fc.constantFrom("1", "1.1", "2", "__proto__"),
        functions: fc.array(
          texts.map((text) => ({ ...reading, function: text, signature: text })),
          { maxLength: 3 },
        ),
      }),
      { maxLength: 3 },
    ),
    described: fc.array(
      fc.record({
        transaction: fc.constantFrom(0, 1, -1, 2 ** 40),
        intent: texts,
        fields: fc.array(fc.record({ label: texts, value: texts }), { maxLength: 4 }),
      }),
      { maxLength: 2 },
    ),
  }) as fc.Arbitrary<ReportNames>;

  it("break no rendering, whatever they contain", () => {
    const made = moving({
      tokens: tokenInfos.slice(1),
      transfers: [moved({ token: silent }), moved({ to: bob })],
      approvals: [granted()],
    });
    fc.assert(
      fc.property(rows, (names) => {
        for (const base of [made, calling(claim)]) {
          for (const text of [wide({ ...base, names }), summary({ ...base, names })])
            // oxlint-disable-next-line no-control-regex
            expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
          for (const text of [toHtml({ ...base, names }), toSvg({ ...base, names })])
            expect(text).not.toMatch(/<script|<img/);
          expect(toMarkdown({ ...base, names })).not.toMatch(/\[click\]\(|<script/);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("are JSON, and the same after it", async () => {
    const names: ReportNames = {
      ...labelled("bob.eth"),
      tokens: [{ token: silent, symbol: "CAT", decimals: null }],
      calls: [{ place: "1", functions: readings }],
      described: [{ transaction: 0, intent: "Claim", fields: [{ label: "Epoch", value: "7" }] }],
    };
    const made = calling(claim, names);
    const again = await Effect.runPromise(fromJson(JSON.parse(JSON.stringify(toJson(made)))));
    expect(again.names).toEqual(names);
    expect(toText(again)).toBe(toText(made));
    expect("names" in (await Effect.runPromise(fromJson(toJson(report()))))).toBe(false);
  });
});
