/**
 * What a rendering costs grows with the report, and not with its square: work is counted, not time. The project `counted`
 * interprets all code, for V8 counts no call of a function that its compilers have put into another.
 */
import { Session } from "node:inspector/promises";
import { describe, expect, it } from "vitest";
import { summary, toHtml, toJson, toMarkdown, toSvg, toText, type Report } from "../rooms/report.js";
import { Address, Hex } from "../rooms/primitives.js";
import { alice, bob, granted, moved, report, transfer, usdc } from "./fixtures.js";

const at = (prefix: string, index: number) => Address.make(`0x${prefix}${index.toString(16).padStart(38, "0")}`);
const amountOf = (index: number) => 10n ** 12n + BigInt(index) * 1_000_003n;

/** As many movements, balances, approvals, tokens and parties; the calldata names every amount. */
const wide = (count: number): Report => {
  const all = Array.from({ length: count }, (_, index) => index);
  const words = all.map((index) => amountOf(index).toString(16).padStart(64, "0"));
  const measured = { tokenId: null, evidence: "measured" } as const;
  return report({
    transactions: [
      { ...transfer, input: { ...transfer.input, to: usdc, data: Hex.make(`0x12345678${words.join("")}`) } },
    ],
    tokens: all.map((index) => ({ token: at("aa", index), name: null, symbol: `T${index}`, decimals: 6 })),
    transfers: all.map((index) =>
      moved({
        ...{ token: at("aa", index % 97), amount: amountOf(index), to: at("bb", index) },
        ...{ from: [alice, at("cc", index), at("bb", index)][index % 3] ?? alice },
      }),
    ),
    balanceChanges: all.map((index) => ({
      ...{ account: [alice, at("bb", index)][index % 2] ?? alice, token: at("aa", index), ...measured },
      ...{ before: 5n, after: 9n, delta: index % 5 === 0 ? -4n : 4n },
    })),
    approvals: all.map((index) =>
      granted({
        ...{ spender: at("dd", index), token: at("aa", index), owner: [alice, bob][index % 2] ?? alice },
        ...{ unlimited: false, after: amountOf(index) },
      }),
    ),
    exposure: {
      ...{ pairs: count, unread: 0 },
      rows: all.map((index) => ({
        ...{ spender: at("dd", index), account: alice, token: null, ...measured },
        ...{ by: "value" as const, amount: 10n, balance: null },
      })),
    },
  });
};

/** Calls within effect and our sources, and how much the searches of arrays and strings went through at most. */
const workOf = async (run: () => unknown): Promise<number> => {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  let searched = 0;
  const searches = [
    [Array.prototype, "includes"],
    [Array.prototype, "indexOf"],
    [String.prototype, "includes"],
  ] as const;
  const kept = searches.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name));
  try {
    for (const [index, [owner, name]] of searches.entries())
      Object.defineProperty(owner, name, {
        ...kept[index],
        value(this: { readonly length: number }, ...args: ReadonlyArray<unknown>) {
          searched += this.length;
          return Reflect.apply(kept[index]?.value as (...args: ReadonlyArray<unknown>) => unknown, this, args);
        },
      });
    await session.post("Profiler.takePreciseCoverage");
    run();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    return result
      .filter(({ url }) => /\/src\/|\/effect\//.test(url))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)))
      .reduce((sum, count) => sum + count, searched);
  } finally {
    for (const [index, [owner, name]] of searches.entries())
      Object.defineProperty(owner, name, kept[index] as PropertyDescriptor);
    await session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
  }
};

const renderings: ReadonlyArray<readonly [name: string, render: (of: Report) => unknown]> = [
  ["summary", summary],
  ["toText", toText],
  ["toText, full", (one) => toText(one, { full: true })],
  ["toHtml", toHtml],
  ["toMarkdown", toMarkdown],
  ["toSvg", toSvg],
  ["toJson", toJson],
];

describe("the work on a report of twice the size", () => {
  const [small, large] = [wide(400), wide(800)];
  it("is counted, and quadratic work is noticed", async () => {
    const pairs = (count: number) => () => small.transfers.slice(0, count).filter((one, _, all) => all.includes(one));
    expect(await workOf(pairs(200))).toBeGreaterThan(3 * (await workOf(pairs(100))));
  });
  it.each(renderings)("is twice as much: %s", async (_, render) => {
    // why: what is made at the first use is no work of the report's
    render(small);
    const [one, two] = [await workOf(() => render(small)), await workOf(() => render(large))];
    expect(one).toBeGreaterThan(400);
    expect(two / one).toBeLessThan(2.6);
  });
});

/** So many ids of one token that come, each from somebody else, and are measured. */
const ids = (count: number): Report => {
  const all = Array.from({ length: count }, (_, index) => 2n ** 159n + BigInt(index) * 1_000_003n);
  const one = { token: usdc, evidence: "measured" } as const;
  return report({
    transfers: all.map((tokenId, index) =>
      moved({ ...one, standard: "erc721", tokenId, amount: tokenId, from: at("bb", index), to: alice }),
    ),
    balanceChanges: all.map((tokenId) => ({ ...one, account: alice, tokenId, before: 0n, after: 1n, delta: 1n })),
  });
};

describe("the work on 5,200 ids", () => {
  const [half, all] = [ids(2_600), ids(5_200)];
  // why: a rendering is one stretch of the event loop. 118 calls for each at most, more where flows are summed per part
  it.each(renderings)("is twice that on half of them, and 150 calls each at most: %s", async (_, render) => {
    render(half);
    const [one, two] = [await workOf(() => render(half)), await workOf(() => render(all))];
    expect(two / one).toBeLessThan(2.6);
    expect(two).toBeLessThan(150 * 5_200);
  });
});
