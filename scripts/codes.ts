/** What every code of a finding means, with numbers such as it has: what `docs/errors.md` adds to the catalogue's words. */
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
  /** What it means, in whole sentences. */
  readonly means: string;
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
const amounts = text("", "balance of 0x7099…79C8 in 0xA0b8…eB48: -1,000,000 and -1,004,000");

const notes: Readonly<Record<NoteCode, Meaning>> = {
  BlockNotNewest: {
    means: "You asked about a block other than the newest. What was true there may no longer be true.",
    numbers: [text("block", "23000000")],
  },
  ChainIdDisagrees: {
    means: "`eth_chainId` and the chain id inside the simulation differ, so the endpoint mixes chains.",
    numbers: [count("eth_chainId", 1), count("simulated", 8453)],
  },
  ClockSkew: {
    means: "The local clock, the node's clock and HTTP `Date` headers differ. The newest one is used to judge age.",
    numbers: [seconds("the head is ahead by", 22)],
  },
  ForkAhead: {
    means: "A hard fork activates before the clearance expires. Gas and limits may differ on the other side of it.",
    numbers: [text("at", "2026-12-03T21:49:11Z")],
  },
  FreshnessUnknown: { means: "The node gave no block header, so the age of its state could not be judged." },
  HeadOld: {
    means: "The newest block of this endpoint is older than the chain's pace allows. The endpoint may be stuck.",
    numbers: [seconds("age", 41)],
  },
  PendingStale: {
    means: "The state that was simulated is behind the newest block that any answer mentions.",
    numbers: [count("block asked", 22_999_996), count("highest block", 23_000_000)],
  },
  RulesUncertain: {
    means: "Opcodes that run in the simulation belong to one fork, the header's fields to another.",
    numbers: [text("executed", "Amsterdam"), text("header", "Osaka")],
  },
  StatePretended: {
    means: "The report was made with state or block overrides, so it describes a block that will not exist.",
  },
  AccountDelegated: {
    means: "The sender is an EIP-7702 account: calls to it run its delegate's code.",
    numbers: [address("delegate", pool)],
  },
  AccountUnknown: {
    means: "Whether the receiver has code could not be established. Without that, a call may silently do nothing.",
    numbers: [address("", pool)],
  },
  DelegateWithoutCode: {
    means: "An account delegates (EIP-7702) to an address without code. Calls to it succeed and do nothing.",
    numbers: [address("delegate", bob)],
  },
  ValueBurned: {
    means: "The receiver is the zero address. Nobody has its key, so the value is lost.",
    numbers: [wei("value", ether)],
  },
  ValueToPrecompile: {
    means: "The receiver is a precompile, from which nobody can take the value back.",
    numbers: [address("", "0x0000000000000000000000000000000000000002")],
  },
  AlreadySent: {
    means: "The call reverts, and the same call of the sender is already in the mempool: it was probably sent twice.",
    numbers: [hash("in flight", sent)],
  },
  BlockNotPretended: {
    means: "The node ignores block overrides, so the transaction was seen in one block only and nothing is proven.",
  },
  InnerCallFailed: {
    means:
      "The transaction succeeds, but a call inside it failed: a Safe's transaction, a user operation, one call of a multicall.",
    numbers: [address("made by", pool), count("call", 2), address("to", usdc), text("function", "transfer")],
  },
  NativeMovesUnseen: {
    means: "The node ignored `traceTransfers`. Native amounts are known from balances only.",
  },
  NotValidated: {
    means: "The node ignored `validation`. Nonce, price and funds were decided by the library's own rules alone.",
  },
  OutcomeUnknown: { means: "No simulation told whether the transaction succeeds." },
  ReadOnlyCall: {
    means:
      "The function is `view` or `pure`: it changes nothing, so a transaction only costs gas. Its result is shown.",
    numbers: [text("function", "balanceOf"), text("returns", "25000000")],
  },
  RevertedInside: {
    means: "The tracer names the innermost call that failed. It explains a revert; no verdict rests on it.",
    numbers: [count("calls deep", 3), address("to", usdc), text("reason", "transfer amount exceeds balance")],
  },
  WitnessUnavailable: {
    means:
      "The contract that reads balances inside the simulation did not answer, so movements come from events alone.",
  },
  GasBelowEstimate: {
    means: "You fixed a gas limit below the node's estimate.",
    numbers: [gas("limit", 50_000n), gas("estimate", 61_400n)],
  },
  GasBufferCut: {
    means:
      "The chosen limit would exceed what one transaction may have (EIP-7825), so its margin is smaller than usual.",
    numbers: [gas("limit", 16_777_216n)],
  },
  GasDependent: {
    means: "What the transaction returns or emits changes with the gas it is given, as `gasleft()` does.",
    numbers: [text("", "event 1 of 0x88e6…5640: 41,220 and 97,015")],
  },
  GasHeadroomThin: {
    means: "With more gas the transaction does something else: an inner call may be running out of gas unnoticed.",
    numbers: [gas("limit", 120_000n)],
  },
  GasLimitWidened: { means: "A tighter limit changed the outcome in the simulation, so a wider one was chosen." },
  GasUnknown: { means: "Neither the estimate nor the simulation told how much gas is needed." },
  GasWitnessesDisagree: {
    means: "The node's estimate and the simulated peak of gas are far apart. The larger one was used.",
    numbers: [gas("estimate", 210_000n), gas("simulated", 64_000n)],
  },
  ScanAgain: {
    means: "State moved since the scan: the chosen gas limit is no longer enough. A proof never changes it.",
    numbers: [gas("limit", 61_400n)],
  },
  CountsDisagree: {
    means: "The node counts fewer pending than mined transactions, which cannot be: its backends are out of step.",
    numbers: [count("pending", 7), count("latest", 9)],
  },
  BehindInFlight: {
    means: "Earlier transactions of the sender are in flight. They change nothing about this one but its place.",
    numbers: [count("in flight", 2)],
  },
  NonceAssumed: {
    means: "The simulated state already contains a transaction with this nonce, so the nonce was overridden.",
  },
  NonceUnderReservation: {
    means: "The nonce was reserved by the nonce store, and those before it are not sent yet.",
    numbers: [count("nonce", 12), count("next", 10)],
  },
  NonceUnknown: {
    means: "The node gave no count of mined transactions for the sender.",
    numbers: [count("nonce", 12)],
  },
  OneInFlight: {
    means: "Mempools accept one transaction in flight of an account that delegates (EIP-7702).",
    numbers: [count("in flight", 1)],
  },
  OrderNotHeld: {
    means: "The bundle has several senders. Mined in another order, it does something else.",
    numbers: [amounts],
  },
  PredecessorsNotSimulated: {
    means: "The sender has transactions in flight that the simulated state does not contain.",
    numbers: [count("in flight", 2)],
  },
  ReplacesPending: {
    means: "The sender already has a transaction with this nonce in the mempool. This one would replace it.",
    numbers: [count("nonce", 12), hash("in flight", sent)],
  },
  TooManyInFlight: {
    means: "The count of pending transactions is higher than any mempool keeps for one account.",
    numbers: [count("pending", 9_000), count("latest", 12)],
  },
  BaseFeeDisagrees: {
    means: "The base fee that the node simulates is not what EIP-1559 gives from the parent block.",
    numbers: [weiPerGas("simulated", 12n * gwei), weiPerGas("computed", 11n * gwei)],
  },
  BaseFeeUnknown: { means: "No answer told the next block's base fee, so the fee cap could not be judged." },
  FeeCapShort: {
    means: "Your fee cap covers the next block, but not the one after a full block.",
    numbers: [weiPerGas("max fee", 11n * gwei), weiPerGas("after one full block", 12n * gwei)],
  },
  FeeHorizonShort: {
    means: "The sender cannot afford a fee cap that outlives several full blocks. A lower cap was chosen.",
    numbers: [seconds("holds through full blocks for", 24), seconds("instead of", 72)],
  },
  NodeMayRefuse: {
    means: "The protocol allows the transaction; common node settings do not (fee cap, size, minimum tip).",
    numbers: [wei("fees at most", 2n * ether), wei("limit", ether)],
  },
  TipLow: {
    means: "The tip is below what blocks of this chain have included lately.",
    numbers: [weiPerGas("tip in the next block", 1n), weiPerGas("at least", gwei)],
  },
  TipCapped: {
    means: "The endpoint suggested a tip far above the chain's usual ones. It was not used.",
    numbers: [weiPerGas("named", 900n * gwei), weiPerGas("proposed", 5n * gwei)],
  },
  BalanceUnconfirmed: {
    means:
      "A policy rests on a token whose `balanceOf` fails when an account without code asks. Only the witness could read it.",
    numbers: [address("token", usdc), address("of", alice)],
  },
  TokenChanges: {
    means:
      "Name or decimals of a token differ between the simulated blocks, so amounts cannot be shown in whole tokens.",
    numbers: [address("token", usdc)],
  },
  TokenLies: {
    means: "The token reports one balance to the witness and another to the account itself. It detects simulations.",
    numbers: [address("token", usdc), units("witness", 5_000_000n), units("account", 0n)],
  },
  FindingsCut: {
    means: "The report holds the 256 worst findings. The number of the others is given.",
    numbers: [count("left out", 38)],
  },
  PartiesCut: {
    means: "More accounts and tokens are touched than one simulation can measure. The others are known by events only.",
    numbers: [count("not measured", 112)],
  },
  TokensStranded: {
    means: "The receiver of a token transfer is the token itself. Hardly any token lets those be recovered.",
    numbers: [address("token", usdc), units("amount", 25_000_000n)],
  },
  TransferMismatch: {
    means:
      "Events and measured balances give different amounts: a token with a fee, a rebasing token, or false events.",
    numbers: [address("of", alice), units("events say", 1_000_000n), units("measured", 990_000n)],
  },
  ApprovalGranted: {
    means: "The transaction lets somebody move tokens. The amount is limited.",
    numbers: [address("token", usdc), address("spender", pool), units("amount", 25_000_000n)],
  },
  ApprovalLeftOver: {
    means: "The bundle approves more than it spends. What is left can be taken later.",
    numbers: [address("spender", pool), units("left", 5_000_000n)],
  },
  ApprovalUnlimited: {
    means: "The spender can take the whole balance of this token, now and later.",
    numbers: [address("token", usdc), address("spender", pool)],
  },
  CalldataCut: {
    means: "The calldata nests more calls than are read, so rights asked for in the rest are not shown.",
    numbers: [count("calls read", 512)],
  },
  ContractControlChanged: {
    means: "A contract gets another implementation, admin, owner or module in this transaction.",
    numbers: [text("", "implementation, without an event"), address("contract", pool), address("to", bob)],
  },
  DelegateCall: {
    means: "An account runs known code in its own place, such as a Safe its MultiSend.",
    numbers: [address("account", alice), text("known as", "MultiSendCallOnly 1.4.1")],
  },
  DelegateCallUnread: {
    means: "An account runs code in its own place, and that code could not be read.",
    numbers: [address("account", alice), address("code", pool)],
  },
  DelegationCleared: {
    means: "An EIP-7702 authorisation removes the account's delegate.",
    numbers: [address("account", alice)],
  },
  DelegationIneffective: {
    means: "An EIP-7702 authorisation is for another chain or nonce and changes nothing.",
    numbers: [address("account", alice), address("delegate", pool), text("because", "it is of another nonce")],
  },
  DelegationSet: {
    means: "After this transaction the delegate's code can do anything with the account.",
    numbers: [address("account", alice), address("delegate", pool)],
  },
  EventUnexplained: {
    means: "A contract emits an event that the library does not know and that names the sender. It may give a right.",
    numbers: [address("contract", pool)],
  },
  PaidToOther: {
    means: "The calldata pays what is the sender's to somebody else: a withdrawal or rewards with another receiver.",
    numbers: [address("contract", pool), address("of", alice), address("to", bob)],
  },
  ProxiesNotSeen: {
    means: "The node cannot simulate a further block, so silent changes of proxies were not looked for.",
  },
  OwnershipChanged: {
    means: "A contract announces a new owner.",
    numbers: [address("contract", pool), address("from", alice), address("to", bob)],
  },
  RightUnexplained: {
    means: "A right is asked for or announced that could not be found in the contract's own getters.",
    numbers: [address("contract", pool), address("of", alice), address("to", bob)],
  },
  RoleChanged: {
    means: "A contract gives or takes a role, for example of its access control.",
    numbers: [address("contract", pool), address("to", bob)],
  },
  FundsUnknown: {
    means: "The balance of a payer, or a part of the cost, is not known.",
    numbers: [address("account", alice)],
  },
  IncomeNotMined: {
    means: "A later transaction of the bundle spends what an earlier one brings. Mempools judge each one by itself.",
    numbers: [address("account", bob), wei("short by", ether / 10n)],
  },
  L1FeeDisagrees: {
    means: "The rollup's fee oracle and its formula give different L1 fees. The larger one was used.",
    numbers: [wei("oracle", 3n * 10n ** 12n), wei("formula", 28n * 10n ** 11n)],
  },
  L1FeeUnknown: {
    means: "The chain charges an L1 or operator fee, and its oracle did not answer.",
    numbers: [text("because", "the oracle reverts")],
  },
  QueuedCostTooHigh: {
    means: "Mempools reserve the maximum cost of everything in flight. With this transaction it exceeds the balance.",
    numbers: [count("in flight", 2), wei("reserved", ether), wei("balance", ether)],
  },
  QueuedCostUnknown: {
    means:
      "The cost of the sender's transactions in flight could not be read, so the required balance is a lower bound.",
    numbers: [count("in flight", 2)],
  },
  TokenShortfall: {
    means: "The call reverts, and a token balance or allowance is too small for what it tries to move.",
    numbers: [text("too low", "allowance"), units("has", 0n), units("needs", 25_000_000n)],
  },
  LeftOut: {
    means: "The pipeline was made without this built-in step, so nothing of it was checked.",
    numbers: [text("step", "approvals")],
  },
  PolicyLost: {
    means: "The report was made under a policy that a function decides, and the function was not given to the proof.",
    numbers: [text("policy", "acme/limit")],
  },
  PolicyUnknown: {
    means: "What the policy speaks of was not measured, so it does not count as fulfilled.",
    numbers: [text("policy", "maxSpent")],
  },
  StepUnavailable: {
    means: "A step of your own failed, threw or did not answer in time. That never counts as a pass.",
    numbers: [text("because", "no answer in time")],
  },
  BaseNotComparable: {
    means: "The simulations of the proof could not be compared with each other.",
    numbers: [text("because", "the witness did not answer")],
  },
  FirstSeenInProof: {
    means: "The proof touched accounts or tokens that the scan had not seen; their balances were not measured.",
    numbers: [address("", bob)],
  },
  OptionsRefused: {
    means: "The options given to `prove` are invalid, and the proof was made without them.",
    numbers: [text("", "maxAge: not a duration")],
  },
  OutcomeNotCompared: { means: "The scan could not simulate the outcome, so the proof has nothing to compare with." },
  BundleInOneBlock: {
    means: "The node could not simulate the bundle in several blocks, though nothing keeps it in one when it is mined.",
  },
  ChanceDependent: {
    means:
      "What comes in, or what events say, differs between the simulated blocks: time, number or randomness decides.",
    numbers: [text("", "token id of 0x88e6…5640: #17 and #402")],
  },
  BlocksNotSimulated: {
    means:
      "The node gave no answer for one of the blocks between the next one and the last that the clearance allows. Or more blocks come in that time than one simulation has, and the called code may tell them apart; unless you gave a `maxAge`, the clearance then ends with the last block that was simulated.",
    numbers: [count("", 1)],
  },
  ClosesAt: {
    means:
      "The contract closes soon, as a quote or an auction does. The clearance ends three slots before the last block in which it ran, but not before half of that time is over. It is a warning where it ran in the next block alone.",
    numbers: [count("ran in a block of the time", 1_767_225_623), count("failed in one of", 1_767_225_635)],
  },
  FollowsTime: {
    means:
      "Amounts at the end of the clearance differ from those of the next block by more than the tolerance, and from one simulated block to the next by less: interest, vesting or a slow auction.",
    numbers: [amounts],
  },
  DependsOnPending: {
    means: "The outcome differs between the pending state and the latest block: other transactions decide it.",
    numbers: [amounts],
  },
  NotYet: {
    means: "The transaction fails in the next block and succeeds in a later one, or the reverse: a time lock.",
    numbers: [count("block of next", 23_000_001), count("block of exact", 23_000_002)],
  },
  PendingMoved: {
    means: "The pending state changed between the simulations each time, so the latest block was used instead.",
  },
  PriceDependent: {
    means: "Amounts follow the base fee, as a refund of gas does.",
    numbers: [wei("", 10n ** 14n)],
  },
  SealedStateUnseen: {
    means: "The node simulates on `pending` only, so the outcome without others' transactions was not seen.",
  },
  QuorumMissing: {
    means: "Of several endpoints, too few gave the same answer in time.",
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
    means: "A contract reverts. The reason is decoded by your ABI, else by a table of known errors.",
    fields: { data: null, revert: null, text: "transfer amount exceeds balance", to: usdc, raw: null },
  },
  VmHalt: {
    means: "The EVM stops the call: an invalid opcode, a bad jump, a stack overflow.",
    fields: { halt: "InvalidFEOpcode", raw: null },
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
    means: "Transactions with lower nonces are missing. A node would keep this one in its queue.",
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
    means: "An account, mostly a Safe, would run unknown code with its own storage: the code can replace the account.",
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
    means:
      "The same request did different things in two simulated blocks, and what differs decides what you lose. Traps that detect a simulation look like this.",
    fields: { differences },
  },
  OutcomeChanged: { means: "The proof did something other than the report you showed.", fields: { differences } },
  WitnessesDisagree: {
    means: "Endpoints contradict each other about a mined block. One of them is wrong.",
    fields: { method: "eth_simulateV1", differences: ["status: success, reverted"] },
  },
  NotProven: {
    means: "`ready` was called with a report that a proof is missing for. Its `missing` says what.",
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
    means: "The node refuses simulated blocks that do not come after its head: mostly, the head moved meanwhile.",
    fields: said(-38020, "block numbers must be in order"),
  },
  NodeLimitExceeded: {
    means: "The simulation exceeds a limit of the node, such as its gas cap.",
    fields: said(-38015, "block gas limit reached"),
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
  InternalError: { means: "The node failed while it answered.", fields: said(-32603, "internal error") },
};

/** Every code of the library's own. */
export const meanings: Readonly<Record<Exclude<FindingCode, OwnName>, Meaning>> = { ...notes, ...errors };
