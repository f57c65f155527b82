/** What every code of a finding means, with numbers such as it has: what `docs/errors.md` adds to the catalogue's words. */
import { encodeErrorResult } from "viem";
import { decodeRevert } from "../src/abi/table.js";
import type { FindingCode, NoteCode, OwnName } from "../src/report/finding.js";
import {
  address,
  count,
  gas,
  hash,
  seconds,
  text,
  units,
  wei,
  weiPerGas,
  type Figure,
} from "../src/primitives/statement.js";

/** A code in a reader's words. */
export interface Meaning {
  /** What its sentence does not say, in whole sentences. */
  readonly means?: string;
  /** Numbers as a report has them. */
  readonly numbers?: ReadonlyArray<Figure | null>;
  /** Fields of the error behind it, as a report has them. */
  readonly fields?: Readonly<Record<string, unknown>>;
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
const amounts = text("", "balance of 0x7099…79C8 in 0xA0b8…eB48: -1,000,000 and -1,004,000");

const notes: Readonly<Record<NoteCode, Meaning>> = {
  BlockNotNewest: {
    means: "You asked about a block other than the newest. What was true there may no longer be true.",
    numbers: [text("block", "23000000")],
  },
  ChainIdDisagrees: {
    means: "`eth_chainId` and the chain id inside the simulation differ, so the endpoint mixes chains.",
    numbers: [count("eth_chainId", 1), count("CHAINID", 8453)],
  },
  ClockSkew: {
    means: "The local clock, the node's clock and HTTP `Date` headers differ. The newest one is used to judge age.",
    numbers: [seconds("the head is ahead by", 22)],
  },
  ForkAhead: {
    means: "A hard fork activates before the clearance expires. Gas and limits may differ on the other side of it.",
    numbers: [count("activates at", 1_796_291_351)],
  },
  FreshnessUnknown: { means: "The node gave no block header." },
  HeadOld: {
    means: "The endpoint may be stuck, or the chain itself stands still.",
    numbers: [seconds("age of the head", 41)],
  },
  NodeNamedByPage: {
    means:
      "The page added the chain to the wallet (`wallet_addEthereumChain`), and a guard without a `node` asks only the node that the page named.",
  },
  PendingStale: {
    means: "An answer names a newer block, or the latest block is too old.",
    numbers: [count("base block", 22_999_996), count("latest block", 22_999_996), count("highest block", 23_000_000)],
  },
  RulesUncertain: {
    means: "What the chain allows, such as the gas of one transaction, depends on the fork.",
    numbers: [text("executed", "Amsterdam")],
  },
  StatePretended: {
    means: "It describes a block that will not exist.",
  },
  AccountDelegated: {
    means: "The sender is an EIP-7702 account: calls to it run its delegate's code.",
    numbers: [address("delegate", pool)],
  },
  AccountUnknown: {
    means: "A call to an account without code silently does nothing.",
    numbers: [address("", pool)],
  },
  DelegateWithoutCode: {
    numbers: [address("delegate", bob)],
  },
  SenderWithoutKey: {
    means:
      "It is the zero address, another address that people burn by, or a precompile's. A simulation can send from it; nobody can sign for it.",
    numbers: [address("", "0x000000000000000000000000000000000000dEaD")],
  },
  ValueBurned: {
    means:
      "The receiver is the zero address or another address that people burn by. Nobody has its key, so the value is lost.",
    numbers: [wei("value", ether)],
  },
  ValueToPrecompile: {
    numbers: [address("", "0x0000000000000000000000000000000000000002")],
  },
  AlreadySent: {
    means: "This one reverts, and the other is in the node's pending block: it was probably sent twice.",
    numbers: [hash("in flight", sent)],
  },
  BlockNotPretended: {
    means: "The transaction was simulated in one block only, so nothing is proven.",
  },
  InnerCallFailed: {
    means: "For example a Safe's transaction, a user operation, or one call of a multicall.",
    numbers: [address("made by", pool), count("call", 2), address("to", usdc), text("function", "transfer")],
  },
  NativeMovesUnseen: {
    means: "The node did not apply `traceTransfers`. Native amounts are known from balances only.",
  },
  NotValidated: {
    means: "The node did not apply `validation`. The library's own rules decided nonce, fees and funds.",
  },
  OutcomeUnknown: { means: "No simulation shows whether the transaction succeeds." },
  ReadOnlyCall: {
    means: "The function is `view` or `pure`, so a transaction only costs gas. Its result is shown.",
    numbers: [text("function", "balanceOf"), text("returns", "25000000")],
  },
  ReturnedFalse: {
    means:
      "The transaction succeeds on the chain and does nothing: a token that is paused, or lacks the balance or the allowance, may answer `false` where others revert. So is any other answer that is not `true`. A token that moves or grants what was asked is not told of, whatever it answers, nor one that answers nothing.",
    numbers: [text("function", "transfer"), address("token", usdc), units("asked for", 5_000_000n), units("moved", 0n)],
  },
  RevertedInside: {
    means: "It explains a revert.",
    numbers: [
      count("calls deep", 3),
      address("from", pool),
      address("to", usdc),
      text("reason", "transfer amount exceeds balance"),
    ],
  },
  WitnessUnavailable: {
    means: "The contract that reads balances inside the simulation did not answer.",
  },
  GasBelowEstimate: {
    means: "You fixed the gas limit.",
    numbers: [gas("limit", 50_000n), gas("estimate", 61_400n)],
  },
  GasBufferCut: {
    means: "One transaction may have as much gas as EIP-7825 and the block allow.",
    numbers: [gas("limit", 16_777_216n), gas("with the whole buffer", 18_400_000n)],
  },
  GasDependent: {
    means: "`gasleft()` is an example.",
    numbers: [gas("limit", 61_400n), gas("compared with", 97_015n)],
  },
  GasHeadroomThin: {
    means: "Contracts that catch failures may hide that an inner call ran out of gas.",
    numbers: [gas("limit", 120_000n), gas("compared with", 2_000_000n)],
  },
  GasLimitWidened: {},
  GasUnknown: { means: "Neither the estimate nor the simulation shows it." },
  GasWitnessesDisagree: {
    means: "Where the library chooses the limit, it uses the larger one.",
    numbers: [gas("estimate", 210_000n), gas("from the simulation", 64_000n)],
  },
  ScanAgain: {
    means: "State moved since the scan. A proof never changes the gas limit.",
    numbers: [gas("gas that holds", 74_000n)],
  },
  AuthorizationInFlight: {
    means:
      "Another account's transaction carries it. Only one of the two can use the nonce, so this one may never be mined.",
    numbers: [count("nonce", 4), count("next", 5), address("account", alice)],
  },
  CountsDisagree: {
    means: "That is impossible on one node.",
    numbers: [count("pending", 7), count("latest", 9)],
  },
  BehindInFlight: {
    numbers: [count("in flight", 2)],
  },
  NonceAssumed: {},
  NonceUnderReservation: {
    means: "The nonce store reserved it, and transactions with lower nonces are not sent yet.",
    numbers: [count("nonce", 12), count("next free", 10)],
  },
  NonceUnknown: {
    means: "The node gave no count of mined transactions for the sender.",
    numbers: [count("nonce", 12), count("next free", 13)],
  },
  OneInFlight: {
    numbers: [address("of", alice), count("nonces mined", 12)],
  },
  OrderNotHeld: {
    means: "No simulation showed that the order makes no difference.",
    numbers: [address("of", alice), count("nonces mined", 12)],
  },
  PredecessorsNotSimulated: {
    means: "The outcome may change once they are mined.",
    numbers: [count("in flight", 2)],
  },
  ReplacesPending: {
    numbers: [count("nonce", 12), count("next free", 13), hash("in flight", sent)],
  },
  TooManyInFlight: {
    means: "Such a count is not believed.",
    numbers: [count("pending", 9_000), count("latest", 12)],
  },
  BaseFeeDisagrees: {
    means: "The formula is that of EIP-1559, or of the chain's entry, from the parent block.",
    numbers: [weiPerGas("simulated", 12n * gwei), weiPerGas("computed", 11n * gwei)],
  },
  BaseFeeUnknown: { means: "The fee cap could not be judged." },
  FeeCapShort: {
    means: "The fee cap is yours, and covers the next block.",
    numbers: [weiPerGas("max fee", 11n * gwei), weiPerGas("after one full block", 12n * gwei)],
  },
  FeeHorizonShort: {
    means: "A usual fee cap outlives several full blocks.",
    numbers: [
      seconds("holds through full blocks for", 24),
      seconds("instead of", 72),
      weiPerGas("at most", 14n * gwei),
      weiPerGas("instead of", 25n * gwei),
    ],
  },
  NodeMayRefuse: {
    means: "The protocol allows it. Nodes limit the fee, the size and the least tip.",
    numbers: [wei("gas limit × max fee", 2n * ether), wei("at most", ether)],
  },
  TipLow: {
    means: "It is below what blocks of this chain have included lately.",
    numbers: [weiPerGas("tip in the next block", 1n), weiPerGas("at least", gwei)],
  },
  TipCapped: {
    numbers: [weiPerGas("named", 900n * gwei), weiPerGas("proposed", 5n * gwei)],
  },
  BalanceUnconfirmed: {
    means:
      "An account's own call must confirm what was read inside the simulation, and it failed or could not be paid.",
    numbers: [address("token", usdc), address("of", alice)],
  },
  TokenChanges: {
    means: "Amounts cannot be shown in whole tokens.",
    numbers: [address("token", usdc), count("decimals", 6), count("decimals elsewhere", 18)],
  },
  TokenLies: {
    means: "The token may detect simulations.",
    numbers: [
      address("token", usdc),
      address("of", alice),
      units("to the witness", 5_000_000n),
      units("to an account", 0n),
    ],
  },
  FindingsCut: {
    means: "A report holds 256 findings.",
    numbers: [count("left out", 38)],
  },
  PartiesCut: {
    means: "One simulation can measure only so many. The others are known from events.",
    numbers: [count("not measured", 112)],
  },
  TokensStranded: {
    numbers: [address("token", usdc), units("amount", 25_000_000n)],
  },
  TransferMismatch: {
    numbers: [
      address("token", usdc),
      address("of", alice),
      units("events say", 1_000_000n),
      units("measured", 990_000n),
    ],
  },
  ApprovalGranted: {
    means: "It lets somebody move tokens, up to a limit.",
    numbers: [address("token", usdc), address("of", alice), address("to", pool), units("amount", 25_000_000n)],
  },
  ApprovalLeftOver: {
    means: "What is left can be taken later.",
    numbers: [address("token", usdc), address("of", alice), address("to", pool), units("amount", 5_000_000n)],
  },
  ApprovalUnlimited: {
    means: "The spender can take the whole balance of this token, now and later.",
    numbers: [address("token", usdc), address("of", alice), address("to", pool)],
  },
  CalldataCut: {
    means:
      "They are nested too deep, too many, or not encoded as usual, and approvals in the rest are not shown. Or a function such as `execute(address,bytes)` is called, which makes a call in some contracts and runs the called code as its own (DELEGATECALL) in others: a warning where the contract's code can only make calls.",
    numbers: [count("calls read", 512)],
  },
  ContractControlChanged: {
    means: "It gets another implementation, admin, owner, module or key.",
    numbers: [
      text("", "implementation, without an event"),
      address("contract", pool),
      address("from", usdc),
      address("to", bob),
    ],
  },
  DelegateCall: {
    means: "The code is known, such as that of a Safe's MultiSend.",
    numbers: [address("account", alice), text("known as", "MultiSendCallOnly 1.4.1")],
  },
  DelegateCallUnread: {
    means: "Such code can do anything with the account.",
    numbers: [address("account", alice), address("code", pool)],
  },
  DelegationCleared: {
    numbers: [address("account", alice)],
  },
  DelegationIneffective: {
    means: "It is for another chain or nonce, or a later one replaces it.",
    numbers: [address("account", alice), address("delegate", pool), text("because", "it is for chain 10")],
  },
  DelegationSet: {
    numbers: [address("account", alice), address("delegate", pool), text("", "on chain 1")],
  },
  EventUnexplained: {
    means: "It concerns the sender, one of its accounts, or an account in the calldata.",
    numbers: [address("contract", pool), hash("event", sent), address("beside", bob)],
  },
  PaidToOther: {
    means: "The calldata names another receiver for a withdrawal or for rewards.",
    numbers: [address("contract", pool), address("of", alice), address("to", bob)],
  },
  ContractsLeftOut: {
    means:
      "A proof checks 24 contracts, in the order of the calls. Contracts that are only paid, or asked to transfer or approve tokens, are checked where there are fewer than eight others. One that could not be asked, because the calls or other contracts took the gas for it, is not checked, either.",
    numbers: [count("not checked", 3), address("", pool)],
  },
  ProxiesNotSeen: {
    means: "The node cannot simulate a further block.",
  },
  OwnershipChanged: {
    means: "The contract announces a new owner.",
    numbers: [address("contract", pool), address("from", alice), address("to", bob)],
  },
  RightUnexplained: {
    means:
      "The contract may keep rights that it does not tell, the call may be made by an account behind the one that is read to make it, or it stands in bytes that no known function reads as a call.",
    numbers: [address("contract", pool), address("of", alice), address("to", bob), units("amount", 5n)],
  },
  RoleChanged: {
    means: "An example is a role of OpenZeppelin's AccessControl.",
    numbers: [address("contract", pool), address("to", bob)],
  },
  FundsUnknown: {
    means: "The balance of a payer, or a part of the cost, is missing.",
    numbers: [address("account", alice), text("not known", "its cost")],
  },
  IncomeNotMined: {
    means: "Mempools judge each transaction by the balance on the latest block.",
    numbers: [
      wei("has", ether / 10n),
      wei("required without income", ether / 5n),
      address("of", bob),
      count("nonces mined", 12),
    ],
  },
  L1FeeDisagrees: {
    numbers: [wei("oracle", 3n * 10n ** 12n), wei("formula", 28n * 10n ** 11n)],
  },
  L1FeeUnknown: {
    means: "Rollups charge an L1 fee or an operator fee, and its oracle did not answer.",
    numbers: [text("because", "the oracle reverts"), address("oracle", "0x420000000000000000000000000000000000000f")],
  },
  QueuedCostTooHigh: {
    means: "Mempools reserve that cost, and refuse what goes beyond.",
    numbers: [
      count("in flight", 2),
      wei("balance", ether),
      wei("kept for them", ether / 2n),
      wei("required", (6n * ether) / 10n),
    ],
  },
  QueuedCostUnknown: {
    means: "Mempools reserve that cost, too.",
    numbers: [count("in flight", 2), wei("left for them", ether / 2n)],
  },
  TokenShortfall: {
    means: "The call reverts.",
    numbers: [
      text("too low", "allowance"),
      address("token", usdc),
      address("spender", pool),
      units("has", 0n),
      units("needs", 25_000_000n),
      units("short by", 25_000_000n),
    ],
  },
  LeftOut: {
    means: "Nothing of that step was checked.",
    numbers: [text("step", "approvals")],
  },
  PolicyLost: {
    means: "A function decides the policy, and the function was not given to the proof.",
    numbers: [text("policy", "acme/limit")],
  },
  PolicyUnknown: {
    means: "What the policy is about was not measured, so it does not count as fulfilled.",
    numbers: [text("policy", "maxSpent"), text("because", "the report was made without the step assets")],
  },
  StepUnavailable: {
    means: "It failed, threw or did not answer in time. That never counts as a pass.",
    numbers: [text("because", "no answer in time")],
  },
  BaseNotComparable: {
    numbers: [text("because", "the witness did not answer")],
  },
  DifficultyNotVaried: {
    means:
      "The chain does not have EIP-4399 (BNB Smart Chain, for example): code sees the difficulty in place of randomness, and the simulations have that of the latest block.",
  },
  FirstSeenInProof: {
    means: "Their balances were not measured.",
    numbers: [address("", bob)],
  },
  OptionsRefused: {
    means: "The proof was made without them.",
    numbers: [text("", "maxAge: not a duration")],
  },
  OutcomeNotCompared: {},
  BundleInOneBlock: {
    means: "The node could not simulate the bundle in several blocks.",
  },
  ChanceDependent: {
    means: "Block time, block number or randomness decides.",
    numbers: [text("", "token id of 0x88e6…5640: #17 and #402")],
  },
  BlocksNotSimulated: {
    means:
      "The node gave no answer for one of the blocks between the next one and the last that the clearance allows. Or more blocks come in that time than one simulation has, and the called code may tell them apart; unless you gave a `maxAge`, the clearance then ends with the last block that was simulated.",
    numbers: [count("blocks while the clearance holds", 120), count("simulated up to", 64)],
  },
  ClosesAt: {
    means:
      "Quotes and auctions close like that. The clearance ends three slots before the last block in which the transaction succeeded, but not before half of that time is over. The finding is a warning where it succeeded in the next block only.",
    numbers: [count("ran in a block of the time", 1_767_225_623), count("failed in one of", 1_767_225_635)],
  },
  FollowsTime: {
    means:
      "Interest, vesting and slow auctions do that. From the next block to the end of the clearance the amounts differ by more than the tolerance, from one simulated block to the next by less.",
    numbers: [amounts],
  },
  DependsOnPending: {
    means: "The pending state and the latest block give different outcomes.",
    numbers: [amounts],
  },
  NotYet: {
    means: "A time lock is an example.",
    numbers: [
      count("block of exact", 23_000_004),
      count("its time", 1_767_225_659),
      count("block of next", 23_000_001),
      count("its time", 1_767_225_623),
    ],
  },
  PendingMoved: {
    means: "Either the latest block was used instead, or the outcome is not certain.",
  },
  PriceDependent: {
    means: "A refund of gas is an example.",
    numbers: [wei("", 10n ** 14n)],
  },
  SealedStateUnseen: {
    means: "The outcome without others' transactions was not simulated.",
  },
  QuorumMissing: {
    means: "Too few of several endpoints gave the same answer in time.",
    numbers: [text("eth_simulateV1", "1 of 2")],
  },
  RequestIncomplete: { means: "Nonce, gas, a fee or the chain id is missing, so there is nothing exact to sign." },
};

const reply = { detail: "", httpStatus: null, code: null, raw: null };
const said = (code: number, detail: string) => ({ ...reply, code, detail });
const differences = [
  { kind: "status", transaction: 0, event: null, account: null, to: null, unit: null, what: "" },
].map((one) => ({ ...one, a: "success", b: "reverted", decides: true }));

type ErrorCode = Exclude<FindingCode, NoteCode | OwnName>;
const errors: Readonly<Record<ErrorCode, Meaning>> = {
  ExecutionReverted: {
    means: "The reason is decoded by your ABI, else by a table of known errors.",
    fields: { data: reverted, revert: decodeRevert(reverted), text: null, to: usdc, raw: null },
  },
  VmHalt: {
    means: "The EVM stops the call: an invalid opcode, a bad jump, a stack overflow.",
    fields: { halt: "invalid opcode: 0xfe", raw: null },
  },
  OutOfGas: { means: "The gas limit is used up before the call ends.", fields: { gasLimit: 50_000n, raw: null } },
  InsufficientFunds: {
    means: "The balance does not cover value, the highest fees and, on a rollup, the L1 and operator fees.",
    fields: { account: alice, have: ether, want: 15n * 10n ** 17n, shortfall: ether / 2n, gas: null, raw: null },
  },
  NonceTooLow: {
    means: "A mined transaction of the sender has this nonce.",
    fields: { account: alice, nonce: 4n, next: 7n, raw: null },
  },
  NonceTooHigh: {
    means: "A node keeps the transaction in its queue until the lower nonces come.",
    fields: { account: alice, nonce: 9n, next: 7n, raw: null },
  },
  NonceOverflow: {
    means: "The nonce is 2^64 − 1, after which an account cannot send.",
    fields: { account: alice, raw: null },
  },
  ReplacementRefused: {
    means: "A mempool replaces a transaction only where every fee rises by its bump: 10 % mostly, 100 % for blobs.",
    fields: {
      ...{ account: alice, nonce: 7n, inFlight: sent, isOtherKind: false, raw: null },
      ...{ leastFeePerGas: 22n * gwei, leastPriorityFeePerGas: 2n * gwei, leastFeePerBlobGas: null },
    },
  },
  FeeCapTooLow: {
    means: "The base fee of the next block is above `maxFeePerGas`. Nobody can include it.",
    fields: { account: alice, maxFeePerGas: 9n * gwei, baseFeePerGas: 12n * gwei, raw: null },
  },
  TipAboveFeeCap: {
    means: "`maxPriorityFeePerGas` exceeds `maxFeePerGas`, which makes the transaction invalid.",
    fields: { maxPriorityFeePerGas: 3n * gwei, maxFeePerGas: 2n * gwei, raw: null },
  },
  IntrinsicGasTooLow: {
    means: "The gas limit is below what calldata, access list and authorisations cost before any code runs.",
    fields: { have: 20_000n, want: 21_000n, raw: null },
  },
  GasAllowanceExceeded: {
    means: "The estimate failed within the gas that the node, or the sender's balance, allows it.",
    fields: { allowance: 50_000_000n, raw: null },
  },
  BlockGasLimitExceeded: {
    means: "The gas limit is above that of a block.",
    fields: { gas: 80_000_000n, limit: 60_000_000n, raw: null },
  },
  TxGasLimitTooHigh: {
    means: "Since Osaka one transaction may have 2^24 gas (EIP-7825).",
    fields: { gas: 20_000_000n, limit: 16_777_216n, raw: null },
  },
  GasUintOverflow: { means: "The intrinsic gas does not fit 64 bits.", fields: { raw: null } },
  SenderNotEoa: {
    means: "The sender has code that is no EIP-7702 delegation; no key can sign for it.",
    fields: { account: pool, raw: null },
  },
  InitCodeTooLarge: {
    means: "The deployment's init code exceeds the chain's limit (EIP-3860, EIP-7954).",
    fields: { size: 60_000n, limit: 49_152n, raw: null },
  },
  NoCode: {
    means:
      "Calldata goes to an address without code. It would succeed, cost gas and do nothing: often another chain's address.",
    fields: { account: pool, raw: null },
  },
  UnknownDelegateCall: {
    means: "The account is mostly a Safe.",
    fields: { account: alice, target: pool },
  },
  ChainIdMismatch: {
    means: "The transaction names another chain than the node serves.",
    fields: { expected: 1n, actual: 8453n, raw: null },
  },
  PolicyViolation: {
    means: "The measured outcome breaks a policy of yours.",
    fields: { policy: "maxSpent", detail: "1,500 USDC leave, at most 1,000 may" },
  },
  SimulationDiverged: {
    means: "What differs decides what you lose. Traps that detect a simulation look like this.",
    fields: { differences },
  },
  OutcomeChanged: { means: "The proof did something other than the report you showed.", fields: { differences } },
  WitnessesDisagree: {
    means: "Endpoints contradict each other about a mined block. One of them is wrong.",
    fields: { method: "eth_simulateV1", differences: ["status: success, reverted"] },
  },
  NotProven: {
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

/** Every code of the library's own. */
export const meanings: Readonly<Record<Exclude<FindingCode, OwnName>, Meaning>> = { ...notes, ...errors };
