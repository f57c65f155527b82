/** The catalogue of notes: what each code of our own says and asks for, and which step says it. */
import { noted as of } from "../primitives/statement.js";

/** Every code that is no error of its own, in the order of the steps. */
export const notes = {
  /** Whether it is the newest state of one chain. */
  ...of("chain", {
    BlockNotNewest: ["the report speaks of another block than the newest", "leave `block` out before signing"],
    ChainIdDisagrees: ["the node names two chain ids", "use another endpoint"],
    ClockSkew: ["clocks are more than 15 s apart; the newest counts", "set the local clock right"],
    ForkAhead: ["a fork changes the chain's rules before a clearance expires", "run `prove` again when it is active"],
    FreshnessUnknown: ["how new the state is cannot be told", "use a node that gives block headers"],
    HeadOld: ["the latest block is older than it should be", "ask again, or use another endpoint"],
    PendingStale: ["the state asked is not the newest", "ask again, with another block tag, or use another endpoint"],
    RulesUncertain: ["what the block executes and its header are of different forks", "use another endpoint"],
    StatePretended: ["the report describes a pretended state", "leave the overrides out before signing"],
  }),
  /** Who sends and who receives. */
  ...of("code", {
    AccountDelegated: ["the sender delegates to a contract (EIP-7702)"],
    AccountUnknown: [
      "who lives at the address when it is called is not known: the sources disagree or do not say",
      "ask again, or another node",
    ],
    DelegateWithoutCode: [
      "an account delegates to an address without code; calls to it do nothing",
      "check the delegate; whoever deploys there later controls the account",
    ],
    ValueBurned: ["value is sent to an address that nobody controls, where nobody can spend it", "check the receiver"],
    ValueToPrecompile: ["value is sent to a precompile and cannot be recovered", "check the receiver"],
  }),
  /** What the transactions do. */
  ...of("simulate", {
    AlreadySent: ["the same call is in flight already", "wait until they are mined"],
    BlockNotPretended: ["nothing could be tried in another block", "use a node that takes block overrides"],
    InnerCallFailed: [
      "a call inside failed although the transaction succeeds",
      "correct or leave out the inner call, or name it in the policy `noInnerFailures` where it may fail",
    ],
    NativeMovesUnseen: [
      "events tell of no native movements",
      "go by the balances, or use a node that traces transfers",
    ],
    NotValidated: ["the node checked neither nonce nor price nor funds", "use a node that simulates with validation"],
    OutcomeUnknown: ["the outcome is not known", "use a node with eth_simulateV1"],
    ReadOnlyCall: ["the function only reads, so it needs no transaction", "read it with `eth_call`"],
    RevertedInside: ["a call inside the transaction failed, by the node's trace; no verdict rests on it"],
    WitnessUnavailable: [
      "balances could not be measured inside the simulation",
      "read the movements as what the events alone say",
    ],
  }),
  /** Whether the gas limit suffices, and whether it decides the outcome. */
  ...of("estimate", {
    GasBelowEstimate: ["the gas limit is below the node's estimate", "raise it, or leave `gas` out"],
    GasBufferCut: ["the gas limit is held at the most that one transaction may have; its buffer is cut"],
    GasDependent: [
      "what the transaction returns or emits follows the gas it is given",
      "read the outcome as that of exactly this gas limit",
    ],
    GasHeadroomThin: [
      "with more gas the transaction would do something else: an inner call may run out of it",
      "raise the gas limit, or leave `gas` out",
    ],
    GasLimitWidened: ["the tighter gas limit did not do the same in simulation; the wider one is handed out"],
    GasUnknown: ["the gas that is needed is not known", "give `gas` yourself, or use another node"],
    GasWitnessesDisagree: ["the node's estimate and the simulation are far apart; the larger one counts"],
    ScanAgain: [
      "the gas limit no longer suffices: with more gas the transaction does something else",
      "run `preflight`, which chooses a wider limit and proves it",
    ],
  }),
  /** Whether the nonce is the next one. */
  ...of("nonce", {
    CountsDisagree: [
      "the node counts fewer pending than mined transactions",
      "its backends may be out of step; ask again",
    ],
    BehindInFlight: ["earlier transactions of the sender make no difference", "it can be mined once they are"],
    NonceAssumed: [
      "the simulated state holds a transaction with this nonce already; the nonce was assumed",
      "use the next nonce, unless it shall be replaced",
    ],
    NonceUnderReservation: ["the reserved nonce is ahead of what the node knows", "send its predecessors first"],
    NonceUnknown: ["whether the nonce is mined already is not known", "ask again, or use the next nonce"],
    OneInFlight: [
      "pools take one transaction at a time of an account that delegates (EIP-7702)",
      "send it when the earlier ones are mined",
    ],
    OrderNotHeld: [
      "in another order of the senders it may do something else",
      "send it when the earlier ones are mined",
    ],
    PredecessorsNotSimulated: [
      "earlier transactions of the sender are not in the simulated state; the nonce was assumed",
      "prove again when they are mined",
    ],
    ReplacesPending: [
      "a transaction with this nonce is already in flight; this one would replace it",
      "use the next nonce where it shall not be replaced",
    ],
    TooManyInFlight: [
      "the node counts more transactions in flight than a pool keeps for one account",
      "use another node, or give the nonce yourself",
    ],
  }),
  /** Whether the price holds. */
  ...of("fee", {
    BaseFeeDisagrees: ["the simulated base fee is not what the chain's formula gives; the larger one is used"],
    BaseFeeUnknown: ["the base fee of the next block is not known", "use a node that simulates or gives block headers"],
    FeeCapShort: [
      "the fee cap is below the base fee that one full block leaves behind: it may wait for long",
      "raise maxFeePerGas (or gasPrice), with room for the base fee to grow",
    ],
    FeeHorizonShort: [
      "the balance does not carry a fee cap for the whole horizon; a lower one is handed out",
      "send it at once, or fund the account",
    ],
    NodeMayRefuse: ["a node's settings may refuse it", "stay within the limit, or use another node"],
    TipLow: [
      "block builders may leave it out for its tip",
      "raise maxPriorityFeePerGas, and maxFeePerGas (or gasPrice) with it",
    ],
    TipCapped: [
      "the node names a tip above what is ever proposed on this chain; it is not followed",
      "ask another node, or give `maxPriorityFeePerGas` yourself",
    ],
  }),
  /** What moves. */
  ...of("assets", {
    FindingsCut: [
      "there is more to tell of than a report holds; the worst is told",
      "sign only if you know why so much is granted or changes hands",
    ],
    BalanceUnconfirmed: ["a policy rests on a balance that the witness alone could read", "fund the sender"],
    PartiesCut: ["more parties and approvals are touched than are measured", "those rest on events alone"],
    TokenChanges: ["a token has other decimals or another symbol in another block", "go by smallest units"],
    TokenLies: ["a token tells the witness another balance than an account", "trust no amount of this token"],
    TokensStranded: [
      "tokens are sent to their own contract, where hardly anybody can move them again",
      "check the receiver: the token's address stands in its place",
    ],
    TransferMismatch: [
      "the events and the measured balances disagree",
      "trust the measured amount; the token takes a fee, rebases, or its events lie or are missing",
    ],
  }),
  /** Who gets rights: over tokens, over the account itself, over contracts. */
  ...of("approvals", {
    ApprovalGranted: ["an approval is given", "check that the spender is the contract you mean"],
    ApprovalLeftOver: [
      "an approval given on the way is left over at the end",
      "approve exactly what is spent, or take the rest back in the same bundle",
    ],
    ApprovalUnlimited: [
      "an unlimited approval is given",
      "approve only what is needed, or trust the spender with everything",
    ],
    CalldataCut: [
      "the calldata holds more calls than are read, or the same bytes many times over",
      "sign only if you know what all of them ask for; send fewer at once",
    ],
    ContractControlChanged: [
      "the code or the keepers of a contract change",
      "sign only if you mean to change who controls it",
    ],
    DelegateCall: [
      "an account runs the code of another contract in its own place (DELEGATECALL)",
      "sign only if you mean what it does",
    ],
    DelegateCallUnread: [
      "the code that an account runs in its own place (DELEGATECALL) was not read",
      "ask again, or another node",
    ],
    DelegationCleared: ["the account's delegation is cleared"],
    DelegationIneffective: [
      "an authorisation (EIP-7702) has no effect at the end",
      "leave it out, or sign it again for this chain and with the nonce that the account will have",
    ],
    DelegationSet: [
      "an account gives its delegate the right to do anything in its name (EIP-7702)",
      "sign only if you trust the delegate's code with everything the account holds",
    ],
    EventUnexplained: [
      "an event of an unknown kind names another account beside the sender or for the call, or is of the sender's own account",
      "give the contract's ABI, or check that nobody gets a right to act for the sender",
    ],
    PaidToOther: ["what a sender has or earns goes to another account", "sign only if that account shall have it"],
    ProxiesNotSeen: [
      "whether contracts get another implementation, admin or owner without an event was not seen",
      "use a node that simulates blocks on top of each other",
    ],
    OwnershipChanged: ["the owner of a contract changes", "sign only if you mean to change who controls it"],
    RightUnexplained: [
      "a right is given or asked for that its contract keeps in no known way",
      "check with the contract's own functions who may act for the sender",
    ],
    RoleChanged: ["who has a role over a contract changes", "sign only if you mean to change who controls it"],
  }),
  /** Whether the payers can pay, and the tokens suffice. */
  ...of("funds", {
    FundsUnknown: ["whether the account can pay is not known", "ask again, or use another node"],
    IncomeNotMined: [
      "it is paid with income that is not mined; pools refuse that",
      "send it when the earlier ones are mined",
    ],
    L1FeeDisagrees: ["the chain's oracle and the chain's formula name two L1 fees; the larger one is used"],
    L1FeeUnknown: [
      "what the chain charges beyond gas is not known",
      "use another node, one that simulates, or name the chain's fee model through the Chains service",
    ],
    QueuedCostTooHigh: [
      "pools reserve the most that what is in flight may cost; with this one it is more than the balance",
      "send it when the earlier ones are mined, or with lower fee caps",
    ],
    QueuedCostUnknown: [
      "pools also reserve the cost of what is in flight; what is required is a lower bound",
      "wait until they are mined",
    ],
    TokenShortfall: [
      "a token balance or allowance is below what the call tried to move",
      "lower the amount, obtain the tokens, or approve the amount first",
    ],
  }),
  /** What the caller demands of the report, and of the steps. */
  ...of("policy", {
    LeftOut: ["a step was left out of the pipeline", "use a pipeline with the step before signing"],
    PolicyLost: ["a policy of the report could not be evaluated again", "give the policies again as an option"],
    PolicyUnknown: ["whether a policy holds is not known", "remove the cause that it names, and ask again"],
    StepUnavailable: ["a step of your own gave no answer", "repair the step, or run it again"],
  }),
  /** Whether the exact requests do the same wherever they run. */
  ...of("proof", {
    BaseNotComparable: [
      "whether the contract does the same in every simulation could not be checked",
      "run `prove` again",
    ],
    FirstSeenInProof: ["parties appeared that the earlier run did not know", "run `prove` again to measure them too"],
    OptionsRefused: ["the options of the proof are wrong and were not used", "correct them and prove again"],
    OutcomeNotCompared: [
      "the earlier run learned no outcome that this one could be compared with",
      "run `prove` again",
    ],
    BundleInOneBlock: [
      "the bundle was proven in one block only; nothing keeps it together when it is mined",
      "send them one at a time, each after its own preflight",
    ],
    ChanceDependent: [
      "what comes in, or what is said, is otherwise when the block is another",
      "sign only if chance is meant to decide here, as in a draw",
    ],
    BlocksNotSimulated: [
      "not every block in which the clearance may be used was simulated",
      "run `prove` again, or give a shorter `maxAge`",
    ],
    ClosesAt: [
      "the transaction succeeds in the next block, and fails in a later one",
      "send it before the clearance ends",
    ],
    FollowsTime: [
      "amounts change with the time, little by little; the worse ones are shown",
      "bound them by a policy if they matter",
    ],
    DependsOnPending: [
      "the outcome depends on transactions that are not mined yet",
      "wait until they are mined and run `prove` again, or bound the amounts by a policy",
    ],
    NotYet: [
      "the transaction succeeds in one of the blocks that may come next, and fails in another",
      "wait for the block or the time that the contract asks for, and run `prove` again",
    ],
    PendingMoved: [
      "the pending state did not hold still while it was asked; what is told is of the sealed block before it",
      "run `prove` again where the sender has something in it",
    ],
    PriceDependent: [
      "amounts that move follow the gas price",
      "read them as those of this base fee; they will differ by as much as it moves",
    ],
    SealedStateUnseen: [
      "the node simulates on its pending state alone, others' transactions in it",
      "use another endpoint, or bound the amounts by a policy",
    ],
    QuorumMissing: [
      "fewer endpoints than are asked for confirmed what was measured",
      "run `prove` again when all of them answer on the newest block",
    ],
    RequestIncomplete: [
      "a field of the request is not known",
      "give nonce, gas, fees and chain id, or use another node",
    ],
  }),
};
