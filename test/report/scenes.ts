/** Reports as a wallet meets them: a swap with an NFT and approvals, and a bundle of thirty. */
import { encodeFunctionData, parseAbi } from "viem";
import { ExecutionReverted, InsufficientFunds } from "../rooms/errors.js";
import { fromError, note, type Report, type TransactionReport } from "../rooms/report.js";
import { Address, address, Hex, units } from "../rooms/primitives.js";
import { alice, bob, granted, moved, pool, report, revert, transfer, usdc } from "./fixtures.js";

export const weth = Address.make("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2");
export const apes = Address.make("0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d");
const operator = Address.make("0x000000000022d473030f116ddee9f6b43ac78ba3");

/** Calls of the pool. */
export const calls = (count: number): Report["transactions"] => {
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

const feesOf = (count: number): Report["funds"] =>
  report().funds.map((funds) => ({
    ...funds,
    required: BigInt(count) * 68_123_456_789_012n,
    expected: BigInt(count) * 41_000_000_000_000n,
    terms: Array.from({ length: count }, (_, transaction) => ({
      ...{ transaction, name: "gas" as const, amount: 68_123_456_789_012n },
    })),
  }));

export const tokenInfos: Report["tokens"] = [
  { token: usdc, name: "USD Coin", symbol: "USDC", decimals: 6 },
  { token: weth, name: "Wrapped Ether", symbol: "WETH", decimals: 18 },
  { token: apes, name: "Bored Ape Yacht Club", symbol: "BAYC", decimals: null },
];

const measured = (transaction: number) => ({ transaction, evidence: "measured" }) as const;

/** Tokens swapped, an NFT and ether given away, three approvals, in five transactions. */
export const swap = (): Report =>
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
export const thirty = (): Report =>
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
export const moving = (given: Partial<Report>): Report =>
  report({ transactions: calls(1), transfers: [], balanceChanges: [], tokens: tokenInfos, ...given });

const everyday = parseAbi([
  "function transfer(address to, uint256 amount)",
  "function approve(address spender, uint256 amount)",
  "function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)",
  "function mint(uint256 quantity)",
  "function claim(address account, uint256 amount)",
]);

/** One call of a contract, with its calldata, and what it does. */
const everydayCall = (
  to: Address,
  functionName: "transfer" | "approve" | "swapExactTokensForTokens" | "mint" | "claim",
  args: ReadonlyArray<unknown>,
  given: Partial<Report> = {},
  value = 0n,
): Report => {
  const [call] = calls(1);
  const data = Hex.make(encodeFunctionData({ abi: everyday, functionName, args } as never));
  const code = {
    ...call.code,
    to: { account: to, kind: "contract", delegate: null, delegateHasCode: null, evidence: "measured" },
  } as const;
  return moving({
    ...{
      funds: feesOf(1),
      transactions: [{ ...call, code, input: { ...call.input, to, value, data }, ...failing(given) }],
    },
    ...given,
  });
};
const failing = ({ findings }: Partial<Report>): Partial<TransactionReport> => {
  const failure = findings?.map(({ error }) => error).find((error) => error?._tag === "ExecutionReverted");
  return failure?._tag === "ExecutionReverted"
    ? { outcome: { ...transfer.outcome, status: "reverted", failure, revert: failure.revert }, request: null }
    : {};
};
const sentWith = (amount: bigint) => moved({ standard: "native", token: null, to: apes, amount });
const empty = (shortfall: bigint): Report["funds"] =>
  feesOf(1).map((funds) => ({ ...funds, balance: 2n * 10n ** 16n, shortfall }));
const lookalike = Address.make("0x5fbdb2315678afecb367f032d93f642f64180aa3");

/** What wallets show most: each must fit a phone's first screen. */
export const everydays: ReadonlyArray<readonly [name: string, made: Report]> = [
  ["send", report()],
  [
    "token",
    everydayCall(usdc, "transfer", [bob, 1_250_501_234n], { transfers: [moved({ to: bob, amount: 1_250_501_234n })] }),
  ],
  [
    "swap",
    everydayCall(
      pool,
      "swapExactTokensForTokens",
      [1_250_500_001n, 49n * 10n ** 16n, [usdc, weth], alice, 1_900_000_000n],
      {
        transfers: [
          moved({ amount: 1_250_500_001n }),
          moved({ token: weth, from: pool, to: alice, amount: 498_123_456_789_012_345n }),
        ],
        findings: [note("DependsOnPending", "warning", measured(0))],
      },
    ),
  ],
  [
    "unlimited approval",
    everydayCall(usdc, "approve", [pool, 2n ** 256n - 1n], {
      approvals: [granted()],
      findings: [note("ApprovalUnlimited", "warning", measured(0), address("token", usdc), address("to", pool))],
    }),
  ],
  [
    "revert",
    everydayCall(usdc, "transfer", [bob, 1_000_000n], {
      digest: null,
      findings: [
        fromError(new ExecutionReverted({ data: revert.data, revert, to: usdc }), "blocker", {
          ...{ step: "simulate", transaction: 0, evidence: "measured" },
        }),
        note(
          "TokenShortfall",
          "warning",
          measured(0),
          address("token", usdc),
          units("has", 5n),
          units("needs", 1_000_000n),
          units("short by", 999_995n),
        ),
      ],
    }),
  ],
  [
    "no funds",
    report({
      ...{ digest: null, funds: empty(1_480_044_100_000_000_000n) },
      findings: [
        fromError(
          new InsufficientFunds({
            ...{ account: alice, have: 2n * 10n ** 16n, want: 1_500_044_100_000_000_000n },
            shortfall: 1_480_044_100_000_000_000n,
          }),
          "blocker",
          { step: "funds", evidence: "measured" },
        ),
      ],
    }),
  ],
  [
    "spoof",
    everydayCall(lookalike, "claim", [alice, 5_000n * 10n ** 6n], {
      tokens: [{ token: lookalike, name: "USD Coin", symbol: "USDС", decimals: 6 }],
      transfers: [
        moved({ token: lookalike, from: Address.make(`0x${"0".repeat(40)}`), to: alice, amount: 5_000_000_000n }),
      ],
      balanceChanges: [
        {
          ...{ account: alice, token: lookalike, tokenId: null, before: 0n, after: 0n, delta: 0n },
          evidence: "measured",
        },
      ],
      findings: [note("TransferMismatch", "warning", measured(0), address("token", lookalike), address("of", alice))],
    }),
  ],
  [
    "mint",
    everydayCall(
      apes,
      "mint",
      [2n],
      {
        transfers: [
          sentWith(8n * 10n ** 16n),
          ...[42n, 43n].map((tokenId) =>
            moved({
              standard: "erc721",
              token: apes,
              tokenId,
              amount: 1n,
              from: Address.make(`0x${"0".repeat(40)}`),
              to: alice,
            }),
          ),
        ],
      },
      8n * 10n ** 16n,
    ),
  ],
];
