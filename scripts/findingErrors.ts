/** The errors of findings: what `docs/errors.md` says of each, and the names that examples use. */
import { encodeErrorResult } from "viem";
import { decodeRevert } from "../src/abi/table.js";
import type { Reason } from "../src/errors/rpc.js";
import type { Verdict } from "../src/errors/verdicts.js";
import { text } from "../src/primitives/statement.js";
import type { Severity } from "../src/report/finding.js";

/** The usual severity, then others with the case of each. */
export type Severities = ReadonlyArray<readonly [severity: Severity, where?: string]>;

/** The entry of an error. */
interface ErrorEntry {
  /** More than its sentence says, in whole sentences. */
  readonly means?: string;
  /** Its fields, as a report has them. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Absent: those of a failed request. */
  readonly severities?: Severities;
}

const alice = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const bob = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc";
const usdc = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
const pool = "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";
const sent = `0x${"5c".repeat(32)}`;
const gwei = 10n ** 9n;
const ether = 10n ** 18n;
/** A revert that says why: `Error(string)`. */
const reverted = encodeErrorResult({
  abi: [{ type: "error", name: "Error", inputs: [{ type: "string", name: "message" }] }],
  errorName: "Error",
  args: ["ERC20: transfer amount exceeds balance"],
});
/** The names in the `@figures` of a code's declaration. */
export const named = {
  alice,
  bob,
  usdc,
  pool,
  sent,
  gwei,
  ether,
  amounts: text("", "balance of 0x7099…79C8 in 0xA0b8…eB48: -1,000,000 and -1,004,000"),
};

const reply = { detail: "", httpStatus: null, code: null, raw: null };
const said = (code: number, detail: string) => ({ ...reply, code, detail });
const differences = [
  { kind: "status", transaction: 0, event: null, account: null, to: null, unit: null, what: "" },
].map((one) => ({ ...one, a: "success", b: "reverted", decides: true }));

const alone: Severities = [
  ["blocker"],
  ["warning", "where only the node's estimate says so"],
  ["unavailable", "where only the second simulation of the proof does"],
];

/** The severities of a failed request. */
export const ofRequest: Severities = [
  ["unavailable"],
  ["warning", "where one of two counts of the nonce is missing"],
  ["info", "where another answer stands in"],
];

/** Every verdict and every reason of a failed request. */
export const errors: Readonly<Record<Verdict["_tag"] | Reason["_tag"], ErrorEntry>> = {
  ExecutionReverted: {
    severities: alone,
    means: "The reason is decoded by your ABI, else by a table of known errors.",
    fields: { data: reverted, revert: decodeRevert(reverted), text: null, to: usdc, raw: null },
  },
  VmHalt: {
    severities: alone,
    means: "The EVM stops the call: an invalid opcode, a bad jump, a stack overflow.",
    fields: { halt: "invalid opcode: 0xfe", raw: null },
  },
  OutOfGas: {
    severities: alone,
    means: "The gas limit is used up before the call ends.",
    fields: { gasLimit: 50_000n, raw: null },
  },
  InsufficientFunds: {
    severities: [
      ["blocker"],
      ["unavailable", "where the node says so and our own sum does not"],
      ["info", "where the estimate alone says so"],
    ],
    means: "The balance does not cover value, the highest fees and, on a rollup, the L1 and operator fees.",
    fields: { account: alice, have: ether, want: 15n * 10n ** 17n, shortfall: ether / 2n, gas: null, raw: null },
  },
  NonceTooLow: {
    severities: alone,
    means: "A mined transaction of the sender has this nonce.",
    fields: { account: alice, nonce: 4n, next: 7n, raw: null },
  },
  NonceTooHigh: {
    severities: alone,
    means: "A node keeps the transaction in its queue until the lower nonces come.",
    fields: { account: alice, nonce: 9n, next: 7n, raw: null },
  },
  NonceOverflow: {
    severities: alone,
    means: "The nonce is 2^64 − 1, after which an account cannot send.",
    fields: { account: alice, raw: null },
  },
  ReplacementRefused: {
    severities: [["blocker"], ["unavailable", "where the rule of the chain's mempools is not known"]],
    means: "A mempool replaces a transaction only where every fee rises by its bump: 10 % mostly, 100 % for blobs.",
    fields: {
      ...{ account: alice, nonce: 7n, inFlight: sent, isOtherKind: false, raw: null },
      ...{ leastFeePerGas: 22n * gwei, leastPriorityFeePerGas: 2n * gwei, leastFeePerBlobGas: null },
    },
  },
  FeeCapTooLow: {
    severities: [["blocker"], ["warning", "where the lower of two base fees is covered"]],
    means: "The base fee of the next block is above `maxFeePerGas`. Nobody can include it.",
    fields: { account: alice, maxFeePerGas: 9n * gwei, baseFeePerGas: 12n * gwei, raw: null },
  },
  TipAboveFeeCap: {
    severities: alone,
    means: "`maxPriorityFeePerGas` exceeds `maxFeePerGas`, which makes the transaction invalid.",
    fields: { maxPriorityFeePerGas: 3n * gwei, maxFeePerGas: 2n * gwei, raw: null },
  },
  IntrinsicGasTooLow: {
    severities: alone,
    means: "The gas limit is below what calldata, access list and authorisations cost before any code runs.",
    fields: { have: 20_000n, want: 21_000n, raw: null },
  },
  GasAllowanceExceeded: {
    severities: [["blocker"], ["info", "where the estimate says so"]],
    means: "The estimate failed within the gas that the node, or the sender's balance, allows it.",
    fields: { allowance: 50_000_000n, raw: null },
  },
  BlockGasLimitExceeded: {
    severities: alone,
    means: "The gas limit is above that of a block.",
    fields: { gas: 80_000_000n, limit: 60_000_000n, raw: null },
  },
  TxGasLimitTooHigh: {
    severities: [["blocker"], ["warning", "where the chain's cap is not known"]],
    means: "Since Osaka one transaction may have 2^24 gas (EIP-7825).",
    fields: { gas: 20_000_000n, limit: 16_777_216n, raw: null },
  },
  GasUintOverflow: { severities: alone, means: "The intrinsic gas does not fit 64 bits.", fields: { raw: null } },
  SenderNotEoa: {
    severities: alone,
    means: "The sender has code that is no EIP-7702 delegation; no key can sign for it.",
    fields: { account: pool, raw: null },
  },
  InitCodeTooLarge: {
    severities: [["blocker"], ["warning", "where the chain's limit is not known"]],
    means: "The deployment's init code exceeds the chain's limit (EIP-3860, EIP-7954).",
    fields: { size: 60_000n, limit: 49_152n, raw: null },
  },
  NoCode: {
    severities: [["blocker"]],
    means:
      "Calldata goes to an address without code. It would succeed, cost gas and do nothing: often another chain's address.",
    fields: { account: pool, raw: null },
  },
  UnknownDelegateCall: {
    severities: [["blocker"]],
    means: "The account is mostly a Safe.",
    fields: { account: alice, target: pool },
  },
  ChainIdMismatch: {
    severities: [["blocker"]],
    means: "The transaction names another chain than the node serves.",
    fields: { expected: 1n, actual: 8453n, raw: null },
  },
  PolicyViolation: {
    severities: [["blocker"]],
    means: "The measured outcome breaks a policy of yours.",
    fields: { policy: "maxSpent", detail: "1,500 USDC leave, at most 1,000 may" },
  },
  SimulationDiverged: {
    severities: [["blocker"]],
    means: "What differs decides what you lose. Traps that detect a simulation look like this.",
    fields: { differences },
  },
  OutcomeChanged: {
    severities: [["warning"]],
    means: "The proof did something other than the report you showed.",
    fields: { differences },
  },
  WitnessesDisagree: {
    severities: [["blocker"]],
    means: "Endpoints contradict each other about a mined block. One of them is wrong.",
    fields: { method: "eth_simulateV1", differences: ["status: success, reverted"] },
  },
  NotProven: {
    severities: [["unavailable"]],
    means:
      "`ready` was called with a report that lacks something. Its `missing` says what, and the remedy is that of the first.",
    fields: { missing: [{ reason: "NotProven", sentence: "the report is a scan", code: null }] },
  },
  Unauthorized: { means: "The endpoint refused the API key.", fields: { ...reply, httpStatus: 401 } },
  MethodNotPermitted: {
    means: "The endpoint forbids this method.",
    fields: said(-32601, "the method is not available on this plan"),
  },
  MethodNotSupported: {
    means: "The node does not have this method.",
    fields: said(-32601, "the method eth_simulateV1 does not exist"),
  },
  RateLimited: {
    means: "The endpoint limits requests. The library waits as it asks to, within the deadline.",
    fields: { ...reply, httpStatus: 429, retryAfterMs: 1_500 },
  },
  LogRangeTooLarge: {
    means: "`eth_getLogs` covers more blocks or logs than the endpoint answers at once.",
    fields: { ...said(-32005, "query returned more than 10000 results"), suggested: null, max: 2_000n },
  },
  UpstreamUnavailable: { means: "A gateway has no healthy node.", fields: { ...reply, httpStatus: 503 } },
  PendingUnavailable: {
    means: "The node has no `pending` block.",
    fields: said(-32000, "pending state is not available"),
  },
  HistoryPruned: {
    means: "The node pruned the receipts or logs asked for.",
    fields: said(4444, "pruned history unavailable"),
  },
  NodeSyncing: { means: "The node is not at the head yet.", fields: said(-32000, "node is syncing") },
  Timeout: { means: "The deadline ended before the node answered.", fields: { ...reply, afterMs: 10_000 } },
  AdmissionTimeout: {
    means: "Too many of your own runs waited for the endpoint, so this one was never asked.",
    fields: { ...reply, maxInFlight: 256, afterMs: 5_000 },
  },
  SimBlockOrder: {
    means: "The node refuses simulated blocks that do not come after its head. Mostly the head moved meanwhile.",
    fields: said(-38020, "block numbers must be in order"),
  },
  NodeLimitExceeded: {
    means: "The simulation exceeds a limit of the node, such as its gas cap.",
    fields: said(-38015, "block gas limit reached"),
  },
  NodeGasCapExceeded: {
    means:
      "The node keeps one amount of gas for all that a simulation asks, and runs later calls with what is left. What ran with less than it asked for counts for nothing.",
    fields: { ...reply, cap: 50_000_000n, transaction: 4 },
  },
  OverrideIgnored: {
    means:
      "The node took the simulation, but executed another block or state than the one that was asked for. What the called code cannot read is information.",
    fields: { ...reply, overrides: ["prevRandao", "gasLimit"] },
  },
  DeploymentNotSimulated: {
    means:
      "`eth_simulateV1` of the node refuses calls without `to`, as anvil 1.7.1 does. The report shows what `eth_call` and `eth_estimateGas` tell, and nothing is proven.",
    fields: said(-32602, 'missing keys: ["to"]'),
  },
  StateUnavailable: {
    means: "The node no longer has the state of that block.",
    fields: said(-32000, "missing trie node"),
  },
  BlockNotFound: { means: "The node does not have that block.", fields: said(-32000, "header not found") },
  InvalidParams: {
    means: "The node rejects the form of the request.",
    fields: said(-32602, "unknown field validation"),
  },
  MalformedResponse: {
    means: "The answer does not have the form that the method promises.",
    fields: { ...reply, path: "result[0].calls[1].status" },
  },
  Transport: {
    means: "The connection failed: DNS, TLS, a closed socket.",
    fields: { ...reply, detail: "ECONNREFUSED" },
  },
  InternalError: { fields: said(-32603, "internal error") },
};
