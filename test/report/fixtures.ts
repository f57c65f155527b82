/** Reports written by hand, for what a rendering must say. */
import { encodeErrorResult, encodeFunctionData, erc20Abi, parseAbi, type Abi } from "viem";
import type * as Schema from "effect/Schema";
import { type AbiSources, callIn, DecodedResult, Revert, RevertCustom } from "../rooms/abi.js";
import { note } from "../harness/notes.js";
import {
  becauseOf,
  fromError,
  reportVersion,
  verdictOf,
  type Approval,
  type BundleReport,
  type Report,
  type TransactionReport,
  type Transfer,
} from "../rooms/report.js";
import { Address, address, Hash, Hex } from "../rooms/primitives.js";
import { outcome, parties, transaction } from "../steps/parts.js";
import { ExecutionReverted, InsufficientFunds, MethodNotSupported, RpcError } from "../rooms/errors.js";

export const alice = Address.make("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");
export const bob = Address.make("0x70997970c51812dc3a010c7d01b50e0d17dc79c8");
export const pool = Address.make("0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640");
export const usdc = Address.make("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");
const spender = Address.make("0x000000000022d473030f116ddee9f6b43ac78ba3");

const item = (abi: Abi, name: string): Schema.Json =>
  JSON.parse(JSON.stringify(abi.find((one) => "name" in one && one.name === name))) as Schema.Json;

const options: Report["options"] = {
  accounts: [],
  abis: [],
  block: null,
  pending: null,
  priceBump: null,
  stateOverrides: null,
  tokenOverrides: null,
  blockOverrides: null,
  policies: [],
  tolerance: 0.005,
  traceReverts: false,
  confirmHead: false,
  speculate: false,
  delegateTargets: [],
  knownAddresses: {},
  worlds: null,
  tokens: [],
  deadlineMs: 10_000,
  maxAgeMs: 30_000,
  feeHorizonSeconds: 60,
  feeLevel: "normal",
};

/** A plain transfer of 1.5 ETH that is ready. */
export const transfer: TransactionReport = {
  input: transaction({ from: alice, to: bob, value: 1_500_000_000_000_000_000n }),
  call: null,
  request: {
    type: "eip1559",
    chainId: 1,
    nonce: 7,
    to: bob,
    data: Hex.make("0x"),
    value: 1_500_000_000_000_000_000n,
    gas: 21_000n,
    maxFeePerGas: 2_100_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  },
  code: parties(transaction({ from: alice, to: bob })),
  outcome: outcome({ gasUsed: 21_000n, maxUsedGas: 21_000n }),
  gas: {
    estimate: 21_000n,
    used: 21_000n,
    peak: 21_000n,
    limit: 21_000n,
    cap: 16_777_216n,
    by: "us",
    refusal: null,
    evidence: "estimated",
  },
  nonce: { value: 7, next: 7, latest: 6, inFlight: 1, gap: 0, by: "us", evidence: "estimated" },
  fee: {
    baseFeePerGas: 500_000_000n,
    maxFeePerGas: 2_100_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    gasPrice: null,
    by: "us",
    tipNamed: null,
    tipSource: "feeHistory",
    horizonSeconds: 60,
    shortenedFrom: null,
    evidence: "estimated",
  },
};

/** 1 USDC from the sender to the pool, with some fields replaced. */
export const moved = (changed: Partial<Transfer> = {}): Transfer => ({
  ...{ standard: "erc20", token: usdc, from: alice, to: pool, amount: 1_000_000n },
  ...{ tokenId: null, transaction: 0, evidence: "logged" },
  ...changed,
});

/** All USDC of the sender for the pool, with some fields replaced. */
export const granted = (changed: Partial<Approval> = {}): Approval => ({
  ...{ standard: "erc20", token: usdc, owner: alice, spender: pool, tokenId: null },
  ...{ before: 0n, after: 2n ** 256n - 1n, expiration: null, extended: false, unlimited: true },
  ...{ spenderKind: "contract", transaction: 0, evidence: "measured" },
  ...changed,
});

type Request = Report["ledger"]["requests"][number];
const asked = (changed: Pick<Request, "method" | "step"> & Partial<Request>): Request => ({
  ...{ run: null, endpoint: "http://127.0.0.1:8545", round: 1, because: null, ms: 11, bytes: 900, tries: 1 },
  ...changed,
});

const fields: BundleReport = {
  version: reportVersion,
  verdict: "ready",
  because: becauseOf([], "proven"),
  stage: "proven",
  chainId: 1,
  options,
  steps: { with: [], without: [] },
  observed: {
    blockTag: "pending",
    baseNumber: 100n,
    simulatedNumber: 101n,
    parentHash: Hash.make(`0x${"ab".repeat(32)}`),
    timestamp: 1_790_000_000n,
    baseFeePerGas: 500_000_000n,
    gasLimit: 45_000_000n,
    latestNumber: 100n,
    at: 1_790_000_000_000,
    freshness: "fresh",
    feeRecipient: null,
    tier: "simulate",
    leftOut: [],
    rules: {
      ...{ fork: "osaka", by: "executed", agrees: true, txGasCap: 16_777_216n },
      ...{ maxInitCodeSize: 49_152, nextFork: null },
    },
    namedChainId: 1,
    worlds: [],
    reads: [],
    traced: 0,
    named: [],
    until: null,
  },
  transactions: [transfer],
  carriers: [],
  signings: [],
  funds: [
    {
      account: alice,
      balance: 10_000_000_000_000_000_000n,
      required: 1_500_044_100_000_000_000n,
      expected: 1_500_031_500_000_000_000n,
      shortfall: 0n,
      queued: 0n,
      sealed: null,
      terms: [
        { transaction: 0, name: "value", amount: 1_500_000_000_000_000_000n },
        { transaction: 0, name: "gas", amount: 44_100_000_000_000n },
      ],
      evidence: "measured",
    },
  ],
  transfers: [moved({ standard: "native", token: null, to: bob, amount: 1_500_000_000_000_000_000n })],
  balanceChanges: [
    {
      account: alice,
      token: null,
      tokenId: null,
      before: 10_000_000_000_000_000_000n,
      after: 8_500_000_000_000_000_000n,
      delta: -1_500_000_000_000_000_000n,
      evidence: "measured",
    },
  ],
  approvals: [],
  exposure: null,
  payees: [],
  stateChanges: [],
  tokens: [],
  owned: [],
  findings: [],
  digest: Hash.make(`0x${"cd".repeat(32)}`),
  ledger: {
    rounds: 2,
    requests: [
      asked({ method: "eth_simulateV1", run: "ample", step: "simulate", ms: 12 }),
      asked({ method: "eth_getTransactionCount", step: "nonce", round: 2, because: "proof" }),
    ],
    ms: 25.4,
  },
};

/** A transaction with its calldata as data. */
const called = (one: TransactionReport, { abis }: Report["options"]): TransactionReport => {
  const { to: address, data, value, item } = one.input;
  const sources = abis.map(({ address: at, abi }) =>
    at === null ? abi : { address: at, abi },
  ) as unknown as AbiSources;
  return { ...one, call: address === null ? null : callIn(data, sources, { address, value, item }) };
};

/** The ready transfer with some fields replaced; verdict and reason are those of its findings. */
export const report = (changed: Partial<BundleReport> = {}): BundleReport => {
  const { findings, stage, transactions, options } = { ...fields, ...changed };
  const [first, ...others] = transactions.map((one) => called(one, options));
  return {
    ...{ ...fields, verdict: verdictOf(findings), because: becauseOf(findings, stage), ...changed },
    transactions: [first ?? transfer, ...others],
  };
};

const errors = parseAbi([
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "function transfer(address to, uint256 amount) returns (bool)",
]);
const revertData = Hex.make(
  encodeErrorResult({ abi: errors, errorName: "ERC20InsufficientBalance", args: [alice, 5n, 1_000_000n] }),
);
export const revert = new Revert({
  data: revertData,
  layers: [
    {
      path: "",
      layer: new RevertCustom({
        data: revertData,
        name: "ERC20InsufficientBalance",
        signature: "ERC20InsufficientBalance(address,uint256,uint256)",
        item: item(errors, "ERC20InsufficientBalance"),
        provenance: [{ kind: "address", source: usdc }],
      }),
    },
  ],
  address: usdc,
});

/** A token transfer that reverts with a custom error, from a sender who cannot pay. */
export const blocked = (): BundleReport => {
  const reverted = new ExecutionReverted({ data: revertData, revert, to: usdc });
  const poor = new InsufficientFunds({ account: alice, have: 1n, want: 10n ** 18n + 1n, shortfall: 10n ** 18n });
  return report({
    digest: null,
    transfers: [],
    balanceChanges: [],
    transactions: [
      {
        ...transfer,
        request: null,
        input: {
          ...transfer.input,
          to: usdc,
          value: 0n,
          data: Hex.make(encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 1_000_000n] })),
          item: item(erc20Abi, "transfer"),
        },
        code: {
          ...transfer.code,
          to: { account: usdc, kind: "contract", delegate: null, delegateHasCode: null, evidence: "measured" },
        },
        outcome: { ...transfer.outcome, status: "reverted", revert, failure: reverted, returnData: revertData },
      },
    ],
    findings: [
      note("ReplacesPending", "warning", { evidence: "estimated" }),
      fromError(reverted, "blocker", { step: "simulate", transaction: 0, evidence: "measured" }),
      fromError(poor, "blocker", { step: "funds", evidence: "measured" }),
      note("AccountDelegated", "info", { evidence: "measured" }),
    ],
  });
};

/** A report on a node without `eth_simulateV1`. */
export const unknown = (): BundleReport =>
  report({
    digest: null,
    findings: [
      fromError(
        new RpcError({
          method: "eth_simulateV1",
          reason: new MethodNotSupported({ detail: "the method does not exist", code: -32601 }),
        }),
        "unavailable",
        { step: "simulate", evidence: "unavailable" },
      ),
    ],
    observed: { ...fields.observed, tier: "call", freshness: "unknown", latestNumber: null },
  });

/** Two transactions with tokens, NFTs and approvals. */
export const tokens = (): BundleReport => {
  const call: TransactionReport = {
    ...transfer,
    input: {
      ...transfer.input,
      to: usdc,
      value: 0n,
      data: Hex.make(encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 2n ** 256n - 1n] })),
      item: item(erc20Abi, "approve"),
    },
    outcome: {
      ...transfer.outcome,
      result: new DecodedResult({
        name: "approve",
        item: item(erc20Abi, "approve"),
        data: Hex.make(`0x${"0".repeat(63)}1`),
      }),
    },
  };
  return report({
    transactions: [call, transfer],
    tokens: [{ token: usdc, name: "USD Coin", symbol: "USDC", decimals: 6 }],
    transfers: [
      moved({ amount: 1_234_567n, to: bob }),
      moved({ standard: "erc721", token: spender, from: bob, to: alice, amount: 1n, tokenId: 42n, transaction: 1 }),
      moved({ standard: "native", token: null, to: bob, amount: 1n, transaction: 1, evidence: "measured" }),
    ],
    approvals: [
      granted({ spender }),
      granted({
        ...{ standard: "permit2", spender: bob, before: null, after: 2_500_000n, expiration: 1_800_000_000n },
        ...{ unlimited: false, spenderKind: "eoa", evidence: "logged" },
      }),
    ],
    findings: [note("ApprovalUnlimited", "warning", { transaction: 0, evidence: "measured" }, address("to", spender))],
  });
};

const [stranger, taker] = [
  "0x5a00000000000000000000000000000000000001",
  "0x5a00000000000000000000000000000000000002",
] as const;
/** The digest of what is signed. */
export const digest = Hash.make(`0x${"12".repeat(32)}`);
/** What nobody has given, in the calls of signatures. */
export const stand = { r: digest, s: digest, v: 27n, stranger, taker };

/** A permit of all USDC to the pool, until a day in 2026, with some fields replaced. */
export const signing = (changed: Partial<Report["signings"][number]> = {}): Report["signings"][number] => ({
  sign: {
    ...{ kind: "typedData", signer: alice, digest },
    typedData: { domain: { name: "USD Coin\u202e" }, message: { value: "1" } },
  },
  ...{
    kind: "erc2612",
    account: alice,
    usableBy: "anyone",
    contract: usdc,
    from: null,
    until: 1_790_000_600n,
    ends: null,
  },
  ...{ repeats: false, nonce: { value: 7n, used: false }, origin: null, assumed: "shim", evidence: "assumed" },
  ...{ place: 0, stand },
  ...changed,
});
