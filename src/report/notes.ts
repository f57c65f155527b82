/** The catalogue of notes: what each code of our own says and asks for, and which step says it. */
import { noted as of } from "../primitives/statement.js";

/** Every code that is no error of its own, in the order of the steps. */
export const notes = {
  /** Whether it is the newest state of one chain. */
  ...of("chain", {
    BlockNotNewest: ["the report is about a block other than the newest", "run it again without `block` to sign"],
    ChainIdDisagrees: ["the node gives two different chain ids", "use another endpoint"],
    ClockSkew: ["clocks are more than 15 s apart; the newest one is used", "check the local clock"],
    ForkAhead: ["a hard fork activates before a clearance would expire", "run `prove` again after the fork"],
    FreshnessUnknown: ["the age of the state is unknown", "use a node that gives block headers"],
    HeadOld: ["the latest block is older than expected", "ask again, or use another endpoint"],
    NodeNamedByPage: ["the page named the only node that was asked about this chain", "give the guard a `node`"],
    PendingStale: ["the state that was used is not the newest", "ask again, or use another block tag or endpoint"],
    RulesUncertain: [
      "the node's signs of the active fork contradict each other (opcodes, block header, `eth_config`)",
      "use another endpoint",
    ],
    StatePretended: ["the report was made with state or block overrides", "run it again without overrides to sign"],
  }),
  /** Who sends and who receives. */
  ...of("code", {
    AccountDelegated: ["the sender delegates to a contract (EIP-7702)"],
    AccountUnknown: [
      "whether the account has code is not known: the sources disagree or do not say",
      "ask again, or use another node",
    ],
    DelegateWithoutCode: [
      "an account delegates to an address without code; calls to it do nothing",
      "check the delegate; whoever deploys there later controls the account",
    ],
    SenderWithoutKey: ["nobody has the key of the sender", "give the account that will sign as `from`"],
    ValueBurned: ["value is sent to an address that nobody controls, where nobody can spend it", "check the receiver"],
    ValueToPrecompile: ["value is sent to a precompile and cannot be recovered", "check the receiver"],
  }),
  /** What the transactions do. */
  ...of("simulate", {
    AlreadySent: ["the same call is already in flight", "wait until that transaction is mined"],
    BlockNotPretended: ["the node does not support block overrides", "use a node that supports block overrides"],
    InnerCallFailed: [
      "the transaction succeeds, but a call inside it failed",
      "correct or remove that call; if it may fail, allow it in the policy `noInnerFailures`",
    ],
    NativeMovesUnseen: [
      "the node did not trace native transfers",
      "rely on the balances, or use a node that traces transfers",
    ],
    NotValidated: ["the node checked neither nonce nor fees nor funds", "use a node that simulates with validation"],
    OutcomeUnknown: ["the outcome is not known", "use a node that supports `eth_simulateV1`"],
    ReadOnlyCall: ["the function only reads, so it needs no transaction", "read it with `eth_call`"],
    ReturnedFalse: [
      "the call did not return true, and nothing shows that what it asks for happens",
      "do not rely on it; check why the contract refuses",
    ],
    RevertedInside: ["the node's trace shows which call inside failed; the verdict does not depend on it"],
    WitnessUnavailable: [
      "balances could not be measured inside the simulation",
      "use another node; the movements shown come from events alone",
    ],
  }),
  /** Whether the gas limit suffices, and whether it decides the outcome. */
  ...of("estimate", {
    GasBelowEstimate: ["the gas limit is below the node's estimate", "raise `gas`, or leave it out"],
    GasBufferCut: ["the gas limit is at the maximum for one transaction, so its buffer is smaller than usual"],
    GasDependent: [
      "what the transaction returns or emits depends on its gas limit",
      "expect this outcome only with exactly this gas limit",
    ],
    GasHeadroomThin: [
      "with more gas the transaction does something else; an inner call may run out of gas",
      "raise `gas`, or leave it out",
    ],
    GasLimitWidened: ["a tighter gas limit changed the outcome in simulation, so a wider one was chosen"],
    GasUnknown: ["the required gas is not known", "give `gas`, or use another node"],
    GasWitnessesDisagree: ["the node's gas estimate and the simulated gas are far apart"],
    ScanAgain: [
      "the gas limit is no longer enough: with more gas the transaction does something else",
      "run `preflight`, which chooses a wider limit and proves it",
    ],
  }),
  /** Whether the nonce is the next one. */
  ...of("nonce", {
    AuthorizationInFlight: [
      "the pending state has used this nonce, though the sender sent nothing with it: its authorisation (EIP-7702) is likely in flight",
      "wait until the authorisation is mined, then ask again",
    ],
    CountsDisagree: [
      "the node counts fewer pending than mined transactions",
      "ask again; the node's backends may be out of step",
    ],
    BehindInFlight: ["the sender's earlier transactions do not change the outcome; this one is mined after them"],
    NonceAssumed: [
      "the simulated state already has a transaction with this nonce, so the nonce was overridden",
      "use the next nonce, unless you mean to replace that transaction",
    ],
    NonceUnderReservation: ["the reserved nonce is ahead of the node's count", "send those with lower nonces first"],
    NonceUnknown: ["whether the nonce is already used is not known", "ask again, or use the next nonce"],
    OneInFlight: [
      "mempools take one transaction at a time from a delegated account (EIP-7702)",
      "send it after the earlier ones are mined",
    ],
    OrderNotHeld: [
      "another transaction of the bundle comes from another sender; mined in another order, this one may do something else",
      "send it after the earlier ones are mined",
    ],
    PredecessorsNotSimulated: [
      "a simulated state does not contain the sender's earlier transactions",
      "run `prove` again after they are mined",
    ],
    ReplacesPending: [
      "a transaction with this nonce is already in flight; this one would replace it",
      "use the next nonce, unless you mean to replace that transaction",
    ],
    TooManyInFlight: ["the node counts more in flight than any mempool keeps for one account", "use another node"],
  }),
  /** Whether the price holds. */
  ...of("fee", {
    BaseFeeDisagrees: ["the simulated base fee differs from the chain's formula; the larger one is used"],
    BaseFeeUnknown: ["the base fee of the next block is not known", "use a node that simulates or gives block headers"],
    FeeCapShort: [
      "the fee cap is below the base fee after one full block, so the transaction may wait long",
      "raise `maxFeePerGas` (or `gasPrice`), with room for the base fee to grow",
    ],
    FeeHorizonShort: [
      "the balance is too low for the usual fee cap, so a lower one was chosen",
      "send it soon, or fund the account",
    ],
    NodeMayRefuse: ["a node's own settings may refuse the transaction", "stay within the limit, or use another node"],
    TipLow: [
      "the tip is low, so block builders may leave the transaction out",
      "raise `maxPriorityFeePerGas`, and `maxFeePerGas` (or `gasPrice`) with it",
    ],
    TipCapped: [
      "the node suggests a tip above the most that is proposed on this chain; a lower one is used",
      "ask another node, or give `maxPriorityFeePerGas` yourself",
    ],
  }),
  /** What moves. */
  ...of("assets", {
    FindingsCut: [
      "the report is full; the least severe findings were left out",
      "sign only if you know why there are so many findings",
    ],
    BalanceUnconfirmed: [
      "a policy depends on a token balance that could be read in one way only",
      "fund the sender, so that a second reading can be paid, or check the token",
    ],
    PartiesCut: [
      "not all balances and approvals that are touched were measured",
      "send less at once, or trust the events for the others",
    ],
    TokenChanges: ["a token's decimals or symbol differ between simulated blocks", "check amounts in smallest units"],
    TokenLies: ["a token reports a different balance depending on who asks", "trust no amount of this token"],
    TokensStranded: [
      "tokens are sent to the token contract itself, where they are usually lost",
      "check the receiver: it is the token's own address",
    ],
    TransferMismatch: [
      "the events and the measured balances disagree",
      "trust the measured amount; the token may take a fee or rebase, or its events may be wrong",
    ],
  }),
  /** Who gets rights: over tokens, over the account itself, over contracts. */
  ...of("approvals", {
    ApprovalGranted: ["an approval is given", "check that the spender is the contract you mean"],
    ApprovalLeftOver: [
      "an approval made along the way remains at the end",
      "approve exactly what is spent, or revoke the rest in the same bundle",
    ],
    ApprovalUnlimited: [
      "an unlimited approval is given",
      "approve only what is needed, unless you trust the spender with all of these tokens",
    ],
    CalldataCut: [
      "not all calls in the calldata were read",
      "send fewer calls at once, or sign only if you know what all of them do",
    ],
    ContractControlChanged: [
      "a contract's code, or who controls it, changes",
      "sign only if you mean to change who controls it",
    ],
    DelegateCall: [
      "an account runs another contract's code as its own (DELEGATECALL)",
      "sign only if you know what that code does",
    ],
    DelegateCallUnread: [
      "the code that an account runs as its own (DELEGATECALL) was not read",
      "ask again, or use another node",
    ],
    DelegationCleared: ["the account's delegation is cleared"],
    DelegationIneffective: [
      "an authorisation (EIP-7702) has no effect at the end",
      "leave it out, or sign it again for this chain and with the nonce that the account will have",
    ],
    DelegationSet: [
      "an account lets a delegate contract do anything in its name (EIP-7702)",
      "sign only if you trust the delegate's code with everything the account holds",
    ],
    EventUnexplained: [
      "an event of an unknown kind may give somebody a right to act for the sender",
      "give the contract's ABI with its address, or check that nobody gets such a right",
    ],
    PaidToOther: [
      "assets or earnings of a sender, or of its Safe, go to another account",
      "sign only if you mean to pay that account",
    ],
    ContractsLeftOut: [
      "contracts are called that were not checked for who controls them",
      "send fewer calls at once, with a lower gas limit",
    ],
    ProxiesNotSeen: [
      "a contract may get another implementation, admin or owner without an event; that was not checked",
      "use a node that simulates several blocks in a row",
    ],
    OwnershipChanged: ["the owner of a contract changes", "sign only if you mean to change who controls it"],
    RightUnexplained: [
      "a right is announced or requested that the contract's getters do not show",
      "check in the contract who may act for the sender",
    ],
    RoleChanged: ["a role over a contract is given or taken away", "sign only if you mean to change who controls it"],
  }),
  /** Whether the payers can pay, and the tokens suffice. */
  ...of("funds", {
    FundsUnknown: ["whether the account can pay is not known", "ask again, or use another node"],
    IncomeNotMined: [
      "the transaction spends income that is not mined yet; mempools refuse that",
      "send it after the earlier ones are mined",
    ],
    L1FeeDisagrees: ["the chain's fee oracle and its formula give different L1 fees; the larger one is used"],
    L1FeeUnknown: [
      "the fee that the chain charges in addition to gas is not known",
      "use a node that simulates, or give the chain's fee model with the `Chains` service",
    ],
    QueuedCostTooHigh: [
      "the maximum cost of everything in flight, with this transaction, exceeds the balance",
      "send it after the earlier ones are mined, or lower the fee caps",
    ],
    QueuedCostUnknown: [
      "the cost of what is in flight is not fully known, so the required balance is a lower bound",
      "wait until they are mined",
    ],
    TokenShortfall: [
      "a token balance or allowance is too low for what the call tries to move",
      "lower the amount, obtain the tokens, or approve the amount first",
    ],
  }),
  /** What the caller demands of the report, and of the steps. */
  ...of("policy", {
    LeftOut: ["a step was left out of the pipeline", "check it with a pipeline that has the step before you sign"],
    PolicyLost: ["a policy of the report could not be evaluated again", "give it again in the options of `prove`"],
    PolicyUnknown: ["whether a policy holds is not known", "remove the cause that it names, and ask again"],
    StepUnavailable: ["a step of your own gave no answer", "repair the step, or run it again"],
  }),
  /** Whether the exact requests do the same wherever they run. */
  ...of("proof", {
    BaseNotComparable: ["the simulations of the proof could not be compared with each other", "run `prove` again"],
    DifficultyNotVaried: [
      "opcode 0x44 is the block's difficulty on this chain, which the simulations do not vary",
      "limit the loss with policies if the contract draws lots by it",
    ],
    FirstSeenInProof: ["the proof touched accounts or balances that the scan did not", "run `prove` again"],
    OptionsRefused: ["the options of `prove` are invalid and were not used", "correct them, then run `prove` again"],
    OutcomeNotCompared: ["the scan did not simulate, so the proof has no outcome to compare with", "run `prove` again"],
    BundleInOneBlock: [
      "the bundle was proven in one block only, but it may be mined in several",
      "send them one at a time, each after its own preflight",
    ],
    ChanceDependent: [
      "income, events or return values differ from block to block",
      "sign only if you expect that, as in a draw",
    ],
    BlocksNotSimulated: [
      "some blocks in which the clearance may be used were not simulated",
      "run `prove` again, or give a shorter `maxAge`",
    ],
    ClosesAt: ["the transaction succeeds in the next block but fails later", "send it before the clearance ends"],
    FollowsTime: ["amounts change gradually with time; the worse ones are shown", "limit them with a policy"],
    DependsOnPending: [
      "the outcome depends on transactions that are not mined yet",
      "wait until they are mined and run `prove` again, or limit the amounts with a policy",
    ],
    NotYet: [
      "the transaction succeeds in some of the next blocks and fails in others",
      "wait for the block or time that the contract requires, then run `prove` again",
    ],
    PendingMoved: [
      "the pending state kept changing while it was simulated",
      "run `prove` again if the sender has transactions in flight",
    ],
    PriceDependent: ["amounts depend on the gas price", "expect these amounts to change as the base fee does"],
    SealedStateUnseen: [
      "the node simulates on its pending state only, which may contain others' transactions",
      "use another endpoint, or limit the amounts with a policy",
    ],
    QuorumMissing: [
      "too few endpoints confirmed what was measured",
      "run `prove` again when all endpoints are at the newest block",
    ],
    RequestIncomplete: ["a request field is not known", "give nonce, gas, fees and chain id, or use another node"],
  }),
};
