/** Differences for people: amounts by symbol and decimals, never so rounded that two read the same; exact in data. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SimulationDiverged } from "../rooms/errors.js";
import { differenceText, nothing, type Address } from "../rooms/primitives.js";
import { diff, diffText, settledText, toText, type BalanceChange, type BundleReport } from "../../src/Report.js";
import { note } from "../harness/notes.js";
import { fromError } from "../rooms/report.js";
import { compareEffects, type Effects } from "../rooms/steps.js";
import { log, word } from "../steps/parts.js";
import { alice, bob, granted, moved, report, tokens, usdc } from "./fixtures.js";

const told = "USDC (0xA0b8…eB48)";
const change = (delta: bigint, token: Address | null = usdc, tokenId: bigint | null = null): BalanceChange => ({
  ...{ account: alice, token, tokenId, before: null, after: null, delta, evidence: "measured" },
});
const known = tokens().tokens;
const linesOf = (before: Partial<BundleReport>, after: Partial<BundleReport>, exact = false) => {
  const [one, other] = [report({ tokens: known, ...before }), report({ tokens: known, ...after })];
  return diffText(diff(one, other), other, { exact }).split("\n");
};

describe("diffText", () => {
  it("shows token amounts by symbol and decimals, while the data stay exact", () => {
    const [before, after] = [
      { balanceChanges: [change(-1_250_500_000n)] },
      { balanceChanges: [change(-1_300_000_001n)] },
    ];
    expect(linesOf(before, after)).toEqual([
      `the change of your balance in 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48: -1,250.5 ${told} → ≈-1,300.01 ${told}`,
    ]);
    expect(linesOf(before, after, true)[0]).toContain(`-1250.5 ${told} → -1300.000001 ${told}`);
    expect(diff(report(before), report(after))).toEqual([
      {
        ...{ ...nothing, kind: "balance", account: alice, unit: { token: usdc, tokenId: null } },
        ...{ a: -1_250_500_000n, b: -1_300_000_001n },
      },
    ]);
  });

  it("identifies each event and each finding", () => {
    const [one] = report().transactions;
    const logs = (...topics: ReadonlyArray<bigint>) =>
      topics.map((topic) => ({ ...log(usdc, [word(topic)], []), decoded: null }));
    const told = (...topics: ReadonlyArray<bigint>): Partial<BundleReport> => ({
      transactions: [{ ...one, outcome: { ...one.outcome, logs: logs(...topics) } }],
    });
    expect(linesOf(told(1n, 2n), told(3n, 2n))).toEqual([expect.stringMatching(/^transaction 1, event 1: /)]);
    const finding = note("ApprovalLeftOver", "warning", { transaction: 0, evidence: "measured" });
    expect(linesOf({}, { findings: [finding] })).toEqual([
      "verdict: ready → caution",
      "transaction 1, finding ApprovalLeftOver (approvals): none → warning",
    ]);
  });

  it("does not round amounts that would then look the same", () => {
    const lines = linesOf({ balanceChanges: [change(1_250_500_001n)] }, { balanceChanges: [change(1_250_500_002n)] });
    expect(lines[0]).toContain(`1250.500001 ${told} → 1250.500002 ${told}`);
  });

  it("shows wei, prices, gas, rights, findings and places as a report does", () => {
    const [funds] = report().funds;
    const [one] = report().transactions;
    if (funds === undefined) throw new Error("no funds");
    const right = tokens()
      .approvals.filter(({ token }) => token === usdc)
      .slice(0, 1);
    const lines = linesOf(
      { approvals: right.map((approval) => ({ ...approval, after: 5_000_000n })) },
      {
        approvals: right.map((approval) => ({ ...approval, after: 2n ** 256n - 1n })),
        funds: [{ ...funds, balance: 10n ** 19n - 1n }],
        observed: { ...report().observed, baseFeePerGas: 600_000_000n },
        transactions: [{ ...one, gas: { ...one.gas, limit: 30_000n }, request: null }],
        balanceChanges: [change(5n, bob, 7n)],
        findings: [
          fromError(new SimulationDiverged({ differences: [] }), "blocker", { step: "proof", evidence: "measured" }),
        ],
      },
    );
    expect(lines).toEqual([
      "verdict: ready → blocked",
      "observed base fee per gas: 0.5 gwei per gas → 0.6 gwei per gas",
      "transaction 1, gas limit: 21,000 gas → 30,000 gas",
      "funds balance of you: 10 ETH → ≈9.99999 ETH",
      "the change of your balance in ETH: -1.5 ETH → none",
      expect.stringMatching(/^approval of erc20 0xA0b8\S+ by you to 0x\S+: 5 USDC \(0xA0b8…eB48\) → unlimited$/),
      "the change of your balance in 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 id 7: none → 5",
      "finding SimulationDiverged (proof): none → blocker",
    ]);
  });

  it("is harmless and bounded for any input", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.string({ unit: "binary" }),
        fc.string(),
        (what, before, after) => {
          const unit = { token: what as Address, tokenId: null };
          for (const kind of ["balance", "approval", "holding", "fact", "finding", "log", "most"] as const) {
            const of = { ...nothing, kind, account: what as Address, to: what as Address, what, unit };
            const text = diffText([{ ...of, a: before, b: after }], report());
            expect(text.length).toBeLessThan(8_000);
            expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
          }
        },
      ),
    );
    expect(
      Math.max(
        ...["9".repeat(5_000), 9n ** 5_000n].map((before) => {
          const of = {
            ...nothing,
            kind: "holding",
            what: "funds balance",
            unit: "wei",
          } as const;
          return diffText([{ ...of, account: alice, a: before, b: 1n }], report()).length;
        }),
      ),
    ).toBeLessThan(700);
  });
});

describe("the differences of a finding", () => {
  const effects = (delta: bigint, token: Address | null = usdc): Effects => ({
    ...{ outcomes: [], producer: null, approvals: [{ ...right, token: token ?? usdc, after: -delta }] },
    transfers: [moved({ token, to: bob, amount: -delta })],
    balanceChanges: [change(delta, token)],
  });
  const right = granted({ spender: bob, after: 0n, unlimited: false, spenderKind: "eoa" });
  const textOf = (one: Effects, other: Effects) => {
    const terms = { tolerance: 0, whose: new Set<string>(), concerned: new Set<string>(), numbers: null };
    const differences = compareEffects(one, other, terms);
    const lines = differences.map((difference) => differenceText(difference));
    const finding = fromError(new SimulationDiverged({ differences }), "blocker", {
      step: "proof",
      evidence: "measured",
    });
    return { lines, text: toText(report({ tokens: known, findings: [finding] }), { width: 1_000 }) };
  };

  it("have the token's own units, and are exact in the error", () => {
    const { lines, text } = textOf(effects(-5_000_000n), effects(-7_000_001n));
    expect(lines).toEqual([
      `movement of ${usdc} from ${alice} to ${bob}: 5000000 and 7000001`,
      `balance change of ${alice} in ${usdc}: -5000000 and -7000001`,
      `approval of erc20 ${usdc} by ${alice} to ${bob}: 5000000 and 7000001`,
    ]);
    expect(text).toContain(`from you to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8: 5 ${told} and ≈7.00001 ${told}`);
    expect(text).toContain(`: -5 ${told} and ≈-7.00001 ${told}`);
    expect(text).toContain(`79C8: 5 ${told} and ≈7.00001 ${told}`);
    expect(text).not.toContain("5000000");
  });

  it("have native currency in its own unit, and name smallest units of a token without decimals", () => {
    const { text } = textOf(effects(-(10n ** 18n), null), effects(-(2n * 10n ** 18n), null));
    expect(text).toContain("movement of ETH from you");
    expect(text).toContain(": 1 ETH and 2 ETH");
    expect(textOf(effects(-5n, bob), effects(-6n, bob)).text).toContain(
      ": 5 smallest units of token 0x7099…79C8 (decimals not known) and 6 ",
    );
  });
});

describe("settledText", () => {
  it("shows the forecast and the result in the units of the report", () => {
    const difference = { class: "ordering", evidence: "measured" } as const;
    const text = settledText(
      {
        ...{ class: "ordering", transactions: [], balancesUntold: null, ledger: report().ledger },
        balances: {
          ...{ compared: 2, uncompared: [] },
          differences: [
            {
              ...{ ...nothing, kind: "balance", account: alice, unit: { token: usdc, tokenId: null } },
              ...{ a: -1_250_500_000n, b: -1_300_000_000n, ...difference },
            },
            {
              ...{ ...nothing, kind: "most", what: "cost", unit: "wei" },
              ...{ a: 44_100_000_000_000n, b: 44_100_000_021_000n, ...difference },
            },
          ],
        },
      },
      report({ tokens: known, balanceChanges: [change(-1_250_500_000n)] }),
    );
    expect(text).toContain(
      "the change of your balance in 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48: ordering [measured]",
    );
    expect(text).toContain(`said      -1,250.5 ${told}\n    happened  -1,300 ${told}`);
    expect(text).toContain("said      ≤ 0.0000441 ETH\n    happened  ≈0.0000441001 ETH");
  });
});
