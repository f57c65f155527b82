/** Reports as a wallet meets them: a swap with an NFT and approvals, and a bundle of thirty. */
import { note } from "../harness/notes.js";
import { type BundleReport, type TransactionReport } from "../rooms/report.js";
import { Address, address, units } from "../rooms/primitives.js";
import { alice, bob, granted, moved, pool, report, transfer, usdc } from "./fixtures.js";

export const weth = Address.make("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2");
export const apes = Address.make("0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d");
const operator = Address.make("0x000000000022d473030f116ddee9f6b43ac78ba3");

/** Calls of the pool. */
export const calls = (count: number): BundleReport["transactions"] => {
  const call: TransactionReport = {
    ...transfer,
    input: { ...transfer.input, to: pool, value: 0n },
    code: {
      ...transfer.code,
      to: { account: pool, kind: "contract", delegate: null, delegateHasCode: null, evidence: "measured" },
    },
  };
  return [call, ...Array.from({ length: count - 1 }, () => call)];
};

const feesOf = (count: number): BundleReport["funds"] =>
  report().funds.map((funds) => ({
    ...funds,
    required: BigInt(count) * 68_123_456_789_012n,
    expected: BigInt(count) * 41_000_000_000_000n,
    terms: Array.from({ length: count }, (_, transaction) => ({
      ...{ transaction, name: "gas" as const, amount: 68_123_456_789_012n },
    })),
  }));

export const tokenInfos: BundleReport["tokens"] = [
  { token: usdc, name: "USD Coin", symbol: "USDC", decimals: 6 },
  { token: weth, name: "Wrapped Ether", symbol: "WETH", decimals: 18 },
  { token: apes, name: "Bored Ape Yacht Club", symbol: "BAYC", decimals: null },
];

const measured = (transaction: number) => ({ transaction, evidence: "measured" }) as const;

/** Tokens swapped, an NFT and ether given away, three approvals, in five transactions. */
export const swap = (): BundleReport =>
  report({
    transactions: calls(5),
    funds: feesOf(5),
    tokens: tokenInfos,
    transfers: [
      moved({ amount: 1_250_500_001n }),
      moved({ token: weth, from: pool, to: alice, amount: 498_123_456_789_012_345n }),
      moved({ standard: "erc721", token: apes, tokenId: 7n, amount: 1n, to: bob }),
      moved({ standard: "native", token: null, amount: 250_000_000_000_000_000n, to: bob }),
    ],
    balanceChanges: [],
    approvals: [
      granted({ token: weth, unlimited: false, after: 2_500_000_000_000_000_000n, spender: bob, spenderKind: "eoa" }),
      granted(),
      granted({ standard: "erc721", token: apes, after: 1n, spender: operator, transaction: 3 }),
    ],
    findings: [
      note("ApprovalUnlimited", "warning", measured(0), address("token", usdc), address("to", pool)),
      note("ApprovalUnlimited", "warning", measured(3), address("token", apes), address("to", operator)),
      note("ApprovalLeftOver", "warning", measured(0), address("token", weth), units("amount", 25n * 10n ** 17n)),
      note("EventUnexplained", "info", measured(2), address("contract", pool)),
    ],
  });

const numbered = (prefix: string, index: number) => Address.make(`0x${String(index + 1).padStart(40, prefix)}`);

/** Thirty payments with twelve approvals, most of them a warning. */
export const thirty = (): BundleReport =>
  report({
    transactions: calls(30),
    funds: feesOf(30),
    tokens: tokenInfos,
    transfers: Array.from({ length: 30 }, (_, transaction) =>
      moved({ amount: BigInt(transaction + 1) * 1_000_001n, transaction, to: numbered("7", transaction) }),
    ),
    balanceChanges: [],
    approvals: Array.from({ length: 12 }, (_, transaction) =>
      granted({ spender: numbered("9", transaction), transaction }),
    ),
    findings: [
      ...Array.from({ length: 12 }, (_, index) =>
        note("ApprovalUnlimited", "warning", measured(index), address("to", numbered("9", index))),
      ),
      ...Array.from({ length: 18 }, (_, index) =>
        note("ApprovalLeftOver", "warning", measured(index + 12), address("to", numbered("8", index))),
      ),
    ],
  });

/** A call of the pool that moves these and nothing else. */
export const moving = (given: Partial<BundleReport>): BundleReport =>
  report({ transactions: calls(1), transfers: [], balanceChanges: [], tokens: tokenInfos, ...given });
