import { describe, expect, it } from "vitest";
import { address } from "../rooms/primitives.js";
import { note } from "../harness/notes.js";
import { summary, toSvg, toText, type Approval, type Funds, type BundleReport } from "../rooms/report.js";
import { alice, bob, granted, moved, pool, report } from "./fixtures.js";
import { calls, moving, swap } from "./scenes.js";

const zero = "0x0000000000000000000000000000000000000000" as typeof alice;
const granting = (given: Partial<Approval>): BundleReport => moving({ approvals: [granted(given)] });

const fees = "pay at most 0.0000441 ETH in fees.";
const usd = "USDC (0xA0b8…eB48)";

describe("the summary of granted rights", () => {
  const part = { unlimited: false, after: 2_500_000n };
  const cases: ReadonlyArray<readonly [given: Partial<Approval>, text: string]> = [
    [{}, `let 0x88e6…5640 spend unlimited ${usd}`],
    [part, `let 0x88e6…5640 spend up to 2.5 ${usd}`],
    [{ ...part, before: 2_500_000n }, `let 0x88e6…5640 spend up to 2.5 ${usd} as before`],
    [{ ...part, before: 2_500_000n, extended: true }, `let 0x88e6…5640 spend up to 2.5 ${usd}`],
    [
      { ...part, standard: "permit2", expiration: 1_800_000_000n },
      `let 0x88e6…5640 spend up to 2.5 ${usd} until 2027-01-15T08:00:00Z`,
    ],
    [{ unlimited: false, after: null }, `let 0x88e6…5640 spend an amount not known of ${usd}`],
    [{ after: 0n, before: 5n, unlimited: false }, `take back what 0x88e6…5640 may do with ${usd}`],
    [{ standard: "erc721", after: 1n }, `let 0x88e6…5640 move all of your ${usd}`],
    [{ standard: "erc721", after: 1n, tokenId: 7n, unlimited: false }, `let 0x88e6…5640 take USDC #7 (0xA0b8…eB48)`],
    [{ standard: "aaveDebt" }, `let 0x88e6…5640 borrow unlimited ${usd} in your name`],
    [{ standard: "morpho", after: 1n }, `let 0x88e6…5640 manage your positions at ${usd}`],
    [
      { standard: "cryptopunks", after: 1n, tokenId: 8n, unlimited: false, spender: zero },
      `let anybody buy USDC #8 (0xA0b8…eB48)`,
    ],
    [
      { standard: "erc6909", after: 9n, tokenId: 8n, unlimited: false },
      `let 0x88e6…5640 spend up to 9 × USDC #8 (0xA0b8…eB48)`,
    ],
  ];
  it.each(cases.map(([given, text]) => [text, given] as const))("says: %s", (text, given) =>
    expect(summary(granting(given))).toBe(`You ${text} and ${fees}`),
  );

  it("names other owners who grant, and does not say that nothing moves", () =>
    expect(summary(granting({ owner: bob }))).toBe(
      `You call 0x88e6…5640 and ${fees} 0x7099…79C8 lets 0x88e6…5640 spend unlimited ${usd}.`,
    ));

  it.each<[why: string, given: Partial<Approval>]>([
    ["that had ended, and has", { ...part, before: 0n, after: 0n }],
    ["that was spent in part", { ...part, before: 9_000_000n }],
  ])("leaves out one %s", (_, given) =>
    expect(summary(granting(given))).toBe(`You call 0x88e6…5640 without moving anything and ${fees}`),
  );

  it("names the unlimited first", () => {
    const text = summary(swap());
    expect(text.indexOf("unlimited USDC")).toBeLessThan(text.indexOf("up to 2.5 WETH"));
    expect(text).not.toMatch(/115792/);
  });

  it("names who may act for an account", () => {
    const found = note(
      "DelegationSet",
      "warning",
      { evidence: "measured" },
      address("account", alice),
      address("delegate", pool),
    );
    expect(summary(moving({ findings: [found] }))).toContain("You let 0x88e6…5640 do anything in your name.");
    const others = note(
      "DelegationSet",
      "warning",
      { evidence: "measured" },
      address("account", bob),
      address("delegate", pool),
    );
    expect(summary(moving({ findings: [others] }))).toContain("0x7099…79C8 lets 0x88e6…5640 do anything in its name.");
  });
});

describe("the summary of several senders", () => {
  const [first] = calls(1);
  const second = { ...first, input: { ...first.input, from: bob } };
  const funds = report().funds.flatMap((one): ReadonlyArray<Funds> => [
    one,
    { ...one, account: bob, terms: [{ transaction: 1, name: "gas", amount: 10n ** 15n }] },
  ]);
  const both = moving({ transactions: [first, second], funds, transfers: [moved({ to: bob }), moved({ from: bob })] });

  it("has their addresses, and calls nobody `you`", () => {
    expect(summary(both)).toBe(
      `0xf39F…2266 sends 1 ${usd} to 0x7099…79C8 and pays at most 0.0000441 ETH in fees. 0x7099…79C8 sends 1 ${usd} to 0x88e6…5640. 0x7099…79C8 receives 1 ${usd} from 0xf39F…2266. 0x7099…79C8 pays at most 0.001 ETH in fees.`,
    );
    expect(toText(both)).not.toMatch(/\byou\b/i);
    expect(toSvg(both)).not.toMatch(/\bYou\b/);
  });

  it("counts them beyond three", () => {
    const senders = Array.from({ length: 5 }, (_, at) => ({
      ...first,
      input: { ...first.input, from: `0x${String(at + 1).repeat(40)}` as typeof alice },
    }));
    const [one, ...rest] = senders;
    if (one === undefined) throw new Error("no sender");
    expect(summary(moving({ transactions: [one, ...rest] }))).toContain("2 more senders are told of below.");
  });
});
