/** Custom errors of published packages. Written by `scripts/build-error-table.mjs`; do not edit. */
export const sources: ReadonlyArray<string> = [
  "@openzeppelin/contracts@5.7.0",
  "solady@0.1.26",
  "@uniswap/permit2-sdk@1.4.0",
  "@uniswap/v4-periphery@1.0.3",
  "@account-abstraction/contracts@0.6.0",
  "@account-abstraction/contracts@0.7.0",
  "@account-abstraction/contracts@0.8.0",
  "@uniswap/v4-core@1.0.2",
  "@uniswap/universal-router@2.1.0",
  "@1inch/limit-order-protocol-contract@4.3.3",
  "@1inch/solidity-utils@6.9.16",
  "@0x/contracts-zero-ex@0.38.6",
];

/**
 * Groups of declarations without their last parenthesis, in the order of their selectors; each group begins with the
 * places in {@link sources} of the packages that declare its errors, one character each.
 */
export const declared = `0;ERC1155InvalidSender(address sender;
GovernorExceedRemainingWeight(address voter,uint256 usedVotes,uint256 remainingWeight;
EnumerableMapNonexistentKey(bytes32 key;
ERC1155InsufficientBalance(address sender,uint256 balance,uint256 needed,uint256 tokenId;
AccessManagedUnauthorized(address caller;GovernorInvalidVoteType(;
PaymasterERC20FailedRefund(address token,uint256 prefundAmount,uint256 actualAmount,bytes prefundContext;
AccessManagerInvalidInitialAdmin(address initialAdmin;MultiSignerERC7913InvalidSigner(bytes signer;
TrieProofTraversalError(uint8 err;ERC7579UninstalledModule(uint256 moduleTypeId,address module;
EnumerableMapNonexistentBytesKey(bytes key;ERC721InsufficientApproval(address operator,uint256 tokenId;
GovernorInvalidSuperQuorumTooSmall(uint256 superQuorumNumerator,uint256 quorumNumerator;
GovernorInvalidQuorumTooLarge(uint256 quorumNumerator,uint256 superQuorumNumerator;
ERC7579HookModuleAlreadyPresent(address hook;AccessManagerLockedRole(uint64 roleId;
AccessManagerNotReady(bytes32 operationId;
GovernorMismatchedNonce(uint256 proposalId,uint256 expectedNonce,uint256 actualNonce;
AccessControlEnforcedDefaultAdminDelay(uint48 schedule;ERC20ExceededSafeSupply(uint256 increasedSupply,uint256 cap;
ERC721ForbiddenBatchBurn(;StringsInvalidAddressFormat(;ERC1363TransferFailed(address receiver,uint256 value;
ERC7579UnsupportedExecType(bytes1 execType;
GovernorInvalidQuorumFraction(uint256 quorumNumerator,uint256 quorumDenominator;
SafeCastOverflowedUintToInt(uint256 value;CheckpointUnorderedInsertion(;MultiSignerERC7913AlreadyExists(bytes signer;
ERC4626ExceededMaxMint(address receiver,uint256 shares,uint256 max;InvalidBase64Char(bytes1;
GovernorUnexpectedProposalState(uint256 proposalId,uint8 current,bytes32 expectedStates;
AccessManagerUnauthorizedConsume(address target;SafeCastOverflowedIntDowncast(uint8 bits,int256 value;
PaymasterUnauthorized(address sender;MerkleProofInvalidMultiproof(;ERC20InvalidCap(uint256 cap;
ERC2771ForwarderNoRefundReceiver(;OutOfRangeAccess(;InvalidCliffDuration(uint64 cliffSeconds,uint64 durationSeconds;
FieldNotPresentInBlockHeader(uint8;ERC1155InvalidApprover(address approver;AccessControlEnforcedDefaultAdminRules(;
AccessManagerUnauthorizedCancel(address msgsender,address caller,address target,bytes4 selector;
MissingPrecompile(address;ERC20InvalidUnderlying(address token;
GovernorInvalidProposalLength(uint256 targets,uint256 calldatas,uint256 values;VotesExpiredSignature(uint256 expiry;
GovernorOnlyExecutor(address account;GovernorAlreadyInitializedLatestProposalId(;
ERC3009InvalidAuthorizationTime(uint256 validAfter,uint256 validBefore;
ERC2612InvalidSigner(address signer,address owner;ERC1363ApproveFailed(address spender,uint256 value;
ERC721ForbiddenBatchMint(;ERC1155InvalidReceiver(address receiver;
ERC6909InsufficientAllowance(address spender,uint256 allowance,uint256 needed,uint256 id;
ERC721EnumerableForbiddenBatchMint(;ERC1155InvalidArrayLength(uint256 idsLength,uint256 valuesLength;
ERC721InvalidOperator(address operator;CrosschainMultiTokenEmptyAddress(;
TimelockUnexpectedOperationState(bytes32 operationId,bytes32 expectedStates;AccessManagerBadConfirmation(;
AccessManagerNotScheduled(bytes32 operationId;ERC7579UnsupportedModuleType(uint256 moduleTypeId;
ERC2612ExpiredSignature(uint256 deadline;ERC1967InvalidAdmin(address admin;
GovernorPreventLateQuorumVoteExtensionTooLarge(uint256 newVoteExtension,uint256 maxVoteExtension;
ERC721IncorrectOwner(address sender,uint256 tokenId,address owner;ERC721InvalidReceiver(address receiver;
ERC1967InvalidBeacon(address beacon;AccessControlBadConfirmation(;ERC3156InvalidReceiver(address receiver;
GovernorNonexistentProposal(uint256 proposalId;SafeCastOverflowedUintDowncast(uint8 bits,uint256 value;
ERC2981InvalidDefaultRoyalty(uint256 numerator,uint256 denominator;ERC6909InvalidSpender(address spender;
ERC6372InconsistentClock(;InteroperableAddressEmptyReferenceAndAddress(;
ERC2771ForwarderMismatchedValue(uint256 requestedValue,uint256 msgValue;MultiSignerERC7913WeightedMismatchedLength(;
GovernorAlreadyCastVote(address voter;ERC721InvalidSender(address sender;
InvalidAccountNonce(address account,uint256 currentNonce;SignerP256InvalidPublicKey(bytes32 qx,bytes32 qy;
ERC3009InvalidSignature(;AccessManagerExpired(bytes32 operationId;
ERC4626ExceededMaxDeposit(address receiver,uint256 assets,uint256 max;LinkAlreadyRegistered(bytes chain;
AccountUnauthorized(address sender;CrosschainFungibleEmptyAddress(;ERC721NonexistentToken(uint256 tokenId;
AccessManagerAlreadyScheduled(bytes32 operationId;
AccessManagerUnauthorizedCall(address caller,address target,bytes4 selector;
MultiSignerERC7913UnreachableThreshold(uint64 signers,uint64 threshold;
BeaconInvalidImplementation(address implementation;GovernorInvalidVoteParams(;ERC721InvalidOwner(address owner;
ERC1363InvalidReceiver(address receiver;MultiSignerERC7913ZeroThreshold(;ExpectedPause(;
ERC721ExceededMaxBatchMint(uint256 batchSize,uint256 maxBatch;
ERC3009UsedAuthorization(address authorizer,bytes32 nonce;
ERC7579MismatchedModuleTypeId(uint256 moduleTypeId,address module;
GovernorUnableToCancel(uint256 proposalId,address account;TimelockUnexecutedPredecessor(bytes32 predecessorId;
CloneArgumentsTooLong(;GovernorInvalidSignature(address voter;StringsInvalidChar(;
ERC2771ForwarderExpiredRequest(uint48 deadline;ERC7579AlreadyInstalledModule(uint256 moduleTypeId,address module;
ERC2981InvalidTokenRoyaltyReceiver(uint256 tokenId,address receiver;InvalidBase58Char(bytes1;
ERC20ExceededCap(uint256 increasedSupply,uint256 cap;ERC6909InvalidSender(address sender;
ERC721OutOfBoundsIndex(address owner,uint256 index;RateLimitExceeded(;SafeCastOverflowedIntToUint(int256 value;
ERC721InvalidApprover(address approver;MultiSignerERC7913WeightedInvalidWeight(bytes signer,uint64 weight;
GovernorProposalQueueingFailed(uint256 proposalId;ERC721ForbiddenMint(;ERC7579MissingFallbackHandler(bytes4 selector;
AccessManagedRequiredDelay(address caller,uint32 delay;FailedDeployment(;
ERC6909InsufficientBalance(address sender,uint256 balance,uint256 needed,uint256 id;
ERC7579UnsupportedCallType(bytes1 callType;MultiSignerERC7913NonexistentSigner(bytes signer;
ERC1363TransferFromFailed(address sender,address receiver,uint256 value;ERC3156UnsupportedToken(address token;
ERC2981InvalidDefaultRoyaltyReceiver(address receiver;ERC6909InvalidReceiver(address receiver;
ERC4626ExceededMaxRedeem(address owner,uint256 shares,uint256 max;CrosschainNonFungibleEmptyAddress(;
InvalidBufferSize(;AccessControlInvalidDefaultAdmin(address defaultAdmin;AccessRestricted(;
GovernorInsufficientProposerVotes(address proposer,uint256 votes,uint256 threshold;ERC1967ProxyUninitialized(;
AccessManagedInvalidAuthority(address authority;ERC721UnsupportedToken(address token;
ERC2771ForwarderInvalidSigner(address signer,address from;ERC6909InvalidApprover(address approver;
ERC7786RecipientUnauthorizedGateway(address gateway,bytes sender;ERC1155InvalidOperator(address operator;
InsufficientBalance(uint256 balance,uint256 needed;ERC2771UntrustfulTarget(address target,address forwarder;
ProxyDeniedAdminAccess(;GovernorProposalQueueingNotRequired(uint256 proposalId;
GovernorInvalidSuperQuorumFraction(uint256 superQuorumNumerator,uint256 denominator;EnforcedPause(;
GovernorRestrictedProposer(address proposer;ERC5267ExtensionsNotSupported(;MerkleTreeUpdateInvalidProof(;
ERC1363InvalidSpender(address spender;
ERC2981InvalidTokenRoyalty(uint256 tokenId,uint256 numerator,uint256 denominator;
UnsupportedAttribute(bytes4 selector;ERC1155MissingApprovalForAll(address operator,address owner;
AccessControlUnauthorizedAccount(address account,bytes32 neededRole;TimelockUnauthorizedCaller(address caller;
GovernorLockedIgnore(;
SafeERC20FailedDecreaseAllowance(address spender,uint256 currentAllowance,uint256 requestedDecrease;
InteroperableAddressParsingError(bytes;GovernorDisabledDeposit(;ERC7579DecodingError(;
GovernorAlreadyOverriddenVote(address account;ERC5805FutureLookup(uint256 timepoint,uint48 clock;
AccessManagerUnauthorizedAccount(address msgsender,uint64 roleId;GovernorInvalidVotingPeriod(uint256 votingPeriod;
GovernorAlreadyQueuedProposal(uint256 proposalId;RLPInvalidEncoding(;AccessManagerLockedFunction(bytes4 selector;
MerkleTreeUpdateInvalidIndex(uint256 index,uint256 length;ERC7579CannotDecodeFallbackData(;Create3EmptyBytecode(;
ERC3156ExceededMaxLoan(uint256 maxLoan;GovernorUnmetDelay(uint256 proposalId,uint256 neededTimestamp;
ERC4626ExceededMaxWithdraw(address owner,uint256 assets,uint256 max;
TimelockInvalidOperationLength(uint256 targets,uint256 payloads,uint256 values|
0568;AddressEmptyCode(address target;ECDSAInvalidSignatureS(bytes32 s;ECDSAInvalidSignature(;
ECDSAInvalidSignatureLength(uint256 length|
06;FailedCall(|
056;OwnableUnauthorizedAccount(address account;OwnableInvalidOwner(address owner;ReentrancyGuardReentrantCall(;
ERC1967InvalidImplementation(address implementation;FailedOpWithRevert(uint256 opIndex,string reason,bytes inner;
UUPSUnsupportedProxiableUUID(bytes32 slot;ERC1967NonPayable(;UUPSUnauthorizedCallContext(|
058;SafeERC20FailedOperation(address token|
03;Create2EmptyBytecode(;StringsInsufficientHexLength(uint256 value,uint256 length|
068;StringTooLong(string str;InvalidShortString(|
05;ERC20InvalidSpender(address spender;ERC20InvalidSender(address sender;
ERC20InsufficientBalance(address sender,uint256 balance,uint256 needed;ERC20InvalidApprover(address approver;
ERC20InvalidReceiver(address receiver;ERC20InsufficientAllowance(address spender,uint256 allowance,uint256 needed|
01;TimelockInsufficientDelay(uint256 delay,uint256 minDelay;UnsupportedExecutionMode(|
07;WrappedError(address target,bytes4 selector,bytes reason,bytes details|
0456;FailedOp(uint256 opIndex,string reason|
0156;NotInitializing(;InvalidInitialization(|
13;Unauthorized(|
1;AccountBalanceOverflow(;TimedRoleHolderIsZeroAddress(;RescueUnauthorizedOrLocked(;DataTooShort(;
SaltDoesNotStartWith(;LazyShufflerAlreadyInitialized(;AlreadyInitialized(;ParsingFailed(;LnWadUndefined(;
ERC5805DelegateInvalidSignature(;PermitExpired(;LazyShufflerNotInitialized(;AccountCreationFailed(;
HexLengthInsufficient(;MapFpToG1Failed(;ProxyQueryFailed(;OperationNotSupported(;ExceedsCapacity(;
SaltDoesNotStartWithCaller(;DeploymentFailed(;Permit2ApproveFailed(;InvalidTimedRoleRange(;
ERC5805DelegateSignatureExpired(;RoyaltyOverflow(;Overflow(;BatchOfBatchesDecodingError(;ArrayLengthsMismatch(;
FnSelectorNotRecognized(;ApproveFailed(;Permit2AllowanceIsFixedAtInfinity(;RedeemMoreThanMax(;RPowOverflow(;
NotOwnerNorApproved(;PairingFailed(;LazyShuffleFinished(;TotalSupplyQueryFailed(;TimelockUnauthorized(;
UpgradeFailed(;RoleHoldersIndexOutOfBounds(;ERC5805CheckpointValueUnderflow(;TargetIsNotContract(;SDivWadFailed(;
G1MSMFailed(;LazyShufflerGetOutOfBounds(;WithdrawAllFailed(;DivFailed(;MintMoreThanMax(;Permit2Failed(;
NewImplementationHasNoCode(;NoHandoverRequest(;NewOwnerIsZeroAddress(;TransferFromFailed(;
MerkleTreeOutOfBoundsAccess(;DivWadFailed(;RescueTransferFailed(;InvalidTimedRole(;RoleHolderIsZeroAddress(;
AllowanceUnderflow(;InvalidInitialLazyShufflerLength(;ERC5805CheckpointIndexOutOfBounds(;Permit2AmountOverflow(;
EnumerableMapKeyNotFound(;MapFp2ToG2Failed(;BalanceOverflow(;BalanceQueryForZeroAddress(;
TimelockUnexecutedPredecessor(bytes32 predecessor;TransferFailed(;WithdrawMoreThanMax(;Permit2LockdownFailed(;
EnumerableRolesUnauthorized(;TransferToNonERC1155ReceiverImplementer(;ERC5805CheckpointValueOverflow(;
ReceiveETH(uint256;UnauthorizedCallContext(;TransferFromIncorrectOwner(;ExpOverflow(;NoInitCodeHashFound(;
HeapIsEmpty(;Reentrancy(;FactorialOverflow(;MulDivFailed(;FullMulDivFailed(;SelfOwnDetected(;TimedRolesUnauthorized(;
ValueDoesNotExist(;DepositMoreThanMax(;RoyaltyReceiverIsZeroAddress(;DecodingError(;MulWadFailed(;
ValueAlreadyExists(;StackIsEmpty(;InvalidNewLazyShufflerLength(;TimelockAlreadyInitialized(;ChangeProxyAdminFailed(;
G2AddFailed(;UpgradeProxyFailed(;ValueIsEmpty(;StringNot7BitASCII(;TokenAlreadyExists(;PointerOutOfBounds(;
MantissaOverflow(;TokenDoesNotExist(;TransferToNonERC721ReceiverImplementer(;TimelockDelayOverflow(;
ReturnedAddressMismatch(;TimelockInvalidOperation(bytes32 id,uint256 expectedStates;G1AddFailed(;InvalidRole(;
InvalidPermit(;InsufficientPermission(;G2MSMFailed(;TotalSupplyOverflow(;MerkleTreeLeavesEmpty(;Base58DecodingError(;
MerkleTreeInvalidLeafIndices(;TransferToZeroAddress(;TooBigForSmallString(;TreeIsFull(;SMulWadFailed(;OutOfDomain(;
ValueIsZeroSentinel(;AllowanceOverflow(;ERC5805FutureLookup(|
138a;InsufficientBalance(|
12;InsufficientAllowance(|
19a;ETHTransferFailed(|
123;InvalidSignature(|
1a;IndexOutOfBounds(|
2;SignatureExpired(;InvalidAmount(;AllowanceExpired(;NotSpender(|
23;ExcessiveInvalidation(;InvalidNonce(;InvalidSigner(;InvalidContractSignature(|
238;LengthMismatch(|
3;CompetitionNotOver(uint256 currentTime,uint256 deadline;ExactInputNotSupported(;NotApproved(address caller;
InvalidPoolFee(;MinimumAmountInsufficient(uint128 minimumAmount,uint128 amountReceived;ExactOutputNotSupported(;
InvalidBytecode(;NotSubscribed(;AlreadySubscribed(uint256 tokenId,address subscriber;
WorseAddress(address newAddress,address bestAddress,uint256 newScore,uint256 bestScore;NotSelf(;
MaximumAmountExceeded(uint128 maximumAmount,uint128 amountRequested;InvalidAmount(uint256 maxAmount;
InvalidSignatureLength(;SignatureDeadlineExpired(;UnexpectedRevertBytes(bytes revertData;
InvalidAddressLength(uint256 len;Create2FailedDeployment(;LiquidityNotAllowed(;NotEnoughLiquidity(bytes32 poolId;
NoCodeSubscriber(;NoSelfPermit(;SubscriptionReverted(address subscriber,bytes reason;
InvalidSender(bytes32 salt,address sender;BurnNotificationReverted(address subscriber,bytes reason;
CompetitionOver(uint256 currentTime,uint256 deadline;DeadlinePassed(uint256 deadline;
NotAllowedToDeploy(address sender,address deployer;SignatureExpired(uint256 signatureDeadline;
PoolManagerMustBeLocked(;AllowanceExpired(uint256 deadline;InvalidPoolToken(;UnexpectedCallSuccess(;
Create2InsufficientBalance(uint256 balance,uint256 needed;
ModifyLiquidityNotificationReverted(address subscriber,bytes reason;QuoteSwap(uint256 amount;
InvalidTokenId(uint256 tokenId;GasLimitTooLow(;InsufficientAllowance(uint256 amount|
38;V4TooMuchRequested(uint256 maxAmountInRequested,uint256 amountRequested;NonceAlreadyUsed(;
DeltaNotNegative(address currency;InvalidEthSender(;SliceOutOfBounds(;DeltaNotPositive(address currency;
UnsupportedAction(uint256 action;ContractLocked(;
V4TooLittleReceived(uint256 minAmountOutReceived,uint256 amountReceived;InputLengthMismatch(;NotPoolManager(;
UnsafeCast(;InvalidBips(|
4;
ExecutionResult(uint256 preOpGas,uint256 paid,uint48 validAfter,uint48 validUntil,bool targetSuccess,bytes targetResult;
ValidationResult((uint256 preOpGas,uint256 prefund,bool sigFailed,uint48 validAfter,uint48 validUntil,bytes paymasterContext) returnInfo,(uint256 stake,uint256 unstakeDelaySec) senderInfo,(uint256 stake,uint256 unstakeDelaySec) factoryInfo,(uint256 stake,uint256 unstakeDelaySec) paymasterInfo;
ValidationResultWithAggregation((uint256 preOpGas,uint256 prefund,bool sigFailed,uint48 validAfter,uint48 validUntil,bytes paymasterContext) returnInfo,(uint256 stake,uint256 unstakeDelaySec) senderInfo,(uint256 stake,uint256 unstakeDelaySec) factoryInfo,(uint256 stake,uint256 unstakeDelaySec) paymasterInfo,(address aggregator,(uint256 stake,uint256 unstakeDelaySec) stakeInfo) aggregatorInfo|
456;SenderAddressResult(address sender;SignatureValidationFailed(address aggregator|
56;DelegateAndRevert(bool success,bytes ret;PostOpReverted(bytes returnData|
58;FailedInnerCall(;AddressInsufficientBalance(address account|
6;ExecuteError(uint256 index,bytes error|
7;InvalidPrice(;AddLiquidityDirectToHook(;LPFeeTooLarge(uint24 fee;TickUpperOutOfBounds(int24 tickUpper;
InvalidHookResponse(;NotEnoughLiquidity(;InvalidPriceOrLiquidity(;NoSwapOccurred(;
InvalidSqrtPrice(uint160 sqrtPriceX96;PoolAlreadyInitialized(;
PriceLimitAlreadyExceeded(uint160 sqrtPriceCurrentX96,uint160 sqrtPriceLimitX96;InvalidTick(int24 tick;KeyNotSet(;
SafeCastOverflow(;InvalidFeeForExactOut(;PriceLimitOutOfBounds(uint160 sqrtPriceLimitX96;NoLiquidityToReceiveFees(;
HookCallFailed(;CheckParameters(;CannotUpdateEmptyPosition(;TickLiquidityOverflow(int24 tick;
TicksMisordered(int24 tickLower,int24 tickUpper;ActionNotSupported(;TickMisaligned(int24 tick,int24 tickSpacing;
TickLowerOutOfBounds(int24 tickLower;HookAddressNotValid(address hooks;ERC20TransferFailed(;NativeTransferFailed(;
PriceOverflow(;HookDeltaExceedsSwapAmount(|
73;HookNotImplemented(;DelegateCallNotAllowed(;UnauthorizedDynamicLPFeeUpdate(;PoolNotInitialized(;InvalidCaller(;
AlreadyUnlocked(;CurrencyNotSettled(;ManagerLocked(;CurrenciesOutOfOrderOrEqual(address currency0,address currency1;
ProtocolFeeTooLarge(uint24 fee;NonzeroNativeValue(;TickSpacingTooLarge(int24 tickSpacing;
MustClearExactPositiveDelta(;SwapAmountCannotBeZero(;ProtocolFeeCurrencySynced(;
TickSpacingTooSmall(int24 tickSpacing|
8;ETHNotAccepted(;InvalidPath(;ExecutionFailed(uint256 commandIndex,bytes message;V3InvalidSwap(;V3InvalidCaller(;
V3TooLittleReceived(;TransactionDeadlinePassed(;OnlyMintAllowed(;InsufficientToken(;InsufficientETH(;
V3TooMuchRequested(;InvalidReserves(;V2TooLittleReceived(;V2TooMuchRequested(;InvalidHopSlippageLength(;
BalanceTooLow(;V4TooLittleReceivedPerHop(uint256 hopIndex,uint256 maxPrice,uint256 price;V2InvalidPath(;
NotAuthorizedForToken(uint256 tokenId;V3InvalidAmountOut(;InvalidCommandType(uint256 commandType;
V4TooMuchRequestedPerHop(uint256 hopIndex,uint256 maxPrice,uint256 price;FromAddressIsNotOwner(;
UnsupportedProtocolError(;InvalidAction(bytes4 action|
9;OnlyWhitelistOrAccessToken(;ERC1155ProxyBadSelector(;InvalidMsgValue(;SimulationResults(bool success,bytes res;
ArbitraryStaticCallFailed(;DifferentOracleDecimals(;InvalidPermit2Transfer(;InvalidWhitelistDiscountNumerator(;
TransferFromTakerToMakerFailed(;MakingAmountTooLow(;IOAccessDenied(;AccessDenied(;AdvanceEpochFailed(;
ERC721ProxySafeBadSelector(;BadSignature(;ExistingOrder(;InconsistentFee(;EthTransferFailed(;
TransferFromMakerToTakerFailed(;UnexpectedOrderExtension(;ERC721ProxyBadSelector(;OrderNotExpired(;
TakingAmountExceeded(;IncorrectRange(;OrderIsNotSuitableForMassInvalidation(;PartialFillNotAllowed(;
OffsetOutOfBounds(;EpochManagerAndBitInvalidatorsAreIncompatible(;BitInvalidatedOrder(;StaleOraclePrice(;
RemainingInvalidatedOrder(;RewardIsTooBig(;InvalidOrderHash(;NotEnoughBalance(;InvalidOrder(;MissingOrderExtension(;
PredicateIsNotTrue(;AdvanceNonceFailed(;InvalidIntegratorShare(;OrderExpired(;ReentrancyDetected(;
OnlyLimitOrderProtocol(;PrivateOrder(;MismatchArraysLengths(;UnathorizedMaker(;InvalidExtensionHash(;
Permit2WitnessProxyBadSelector(;WrongSeriesNonce(;InvalidatedOrder(;CancelOrderByResolverIsForbidden(;
TakingAmountTooHigh(;SwapWithZeroAmount(|
a;PopFromEmptyArray(;ForceApproveFailed(;EthDepositRejected(;FromIsNotSender(;MissingNonReentrantModifier(;
WrongSignature(;WrongRelayer(;UnexpectedLock(;ApproveCalledOnETH(;InvalidRevertReason(;DeadlineExceeded(;
ToIsNotThis(;WrongNonceType(;SafePermitBadLength(;Permit2TransferAmountTooHigh(;SafeIncreaseAllowanceFailed(;
SafeDecreaseAllowanceFailed(;MathOverflow(;Simulated(address delegatee,bytes data,bool success,bytes result;
OutOfBounds(;WrongNonce(;NotEnoughValue(;SafeTransferFromFailed(;MathUnderflow(;OutputArrayTooSmall(;
SafeTransferFailed(;UnexpectedUnlock(|
b;OrderNotFillableError(address maker,uint256 nonce,uint8 orderStatus;
ERC20TokenMismatchError(address token1,address token2;
MetaTransactionInvalidSignatureError(bytes32 mtxHash,bytes signature,bytes errData;
MetaTransactionInsufficientEthError(bytes32 mtxHash,uint256 ethBalance,uint256 ethRequired;
OrderNotFillableBySenderError(bytes32 orderHash,address sender,address orderSender;
BatchFillIncompleteError(bytes32 orderHash,uint256 takerTokenFilledAmount,uint256 takerTokenFillAmount;
OnlyOwnerError(address sender,address owner;ERC721TokenMismatchError(address token1,address token2;
FillOrKillFailedError(bytes32 orderHash,uint256 takerTokenFilledAmount,uint256 takerTokenFillAmount;
NegativeSpreadError(uint256 sellOrderAmount,uint256 buyOrderAmount;
LiquidityProviderIncompleteSellError(address providerAddress,address makerToken,address takerToken,uint256 sellAmount,uint256 boughtAmount,uint256 minBuyAmount;
TokenIdMismatchError(uint256 tokenId,uint256 orderTokenId;
NegativeTransformERC20OutputError(address outputToken,uint256 outputTokenLostAmount;
PropertyValidationFailedError(address propertyValidator,address token,uint256 tokenId,bytes propertyData,bytes errorData;
OrderNotFillableError(bytes32 orderHash,uint8 orderStatus;
IncompleteFillBuyQuoteError(address buyToken,uint256 boughtAmount,uint256 buyAmount;
ExceedsRemainingOrderAmount(uint128 remainingOrderAmount,uint128 fillAmount;
SignatureValidationError(uint8 code,bytes32 hash,address signerAddress,bytes signature;
InvalidTransformDataError(uint8 errorCode,bytes transformData;
InvalidMetaTransactionsArrayLengthsError(uint256 mtxCount,uint256 signatureCount;
MetaTransactionUnsupportedFunctionError(bytes32 mtxHash,bytes4 selector;
OnlyCallableByDeployerError(address caller,address deployer;
OrderNotFillableByTakerError(bytes32 orderHash,address taker,address orderTaker;
WalletExecuteDelegateCallFailedError(address wallet,address callTarget,bytes callData,bytes errorData;
InvalidTakerFeeTokenError(address token;
MetaTransactionGasPriceError(bytes32 mtxHash,uint256 gasPrice,uint256 minGasPrice,uint256 maxGasPrice;
NotImplementedError(bytes4 selector;InvalidSignerError(address maker,address signer;
WalletExecuteCallFailedError(address wallet,address callTarget,bytes callData,uint256 callValue,bytes errorData;
OnlyOrderMakerAllowed(bytes32 orderHash,address sender,address maker;OnlyTakerError(address sender,address taker;
InsufficientEthAttachedError(uint256 ethAttached,uint256 ethNeeded;
IncompleteTransformERC20Error(address outputToken,uint256 outputTokenAmount,uint256 minOutputTokenAmount;
ERC1155TokenMismatchError(address token1,address token2;NotInRollbackHistoryError(bytes4 selector,address targetImpl;
MetaTransactionWrongSenderError(bytes32 mtxHash,address sender,address expectedSender;
MetaTransactionCallFailedError(bytes32 mtxHash,bytes callData,bytes returnData;
InvalidDieCallerError(address actual,address expected;
IncompleteFillSellQuoteError(address sellToken,uint256 soldAmount,uint256 sellAmount;
CancelSaltTooLowError(uint256 minValidSalt,uint256 oldMinValidSalt;
InvalidExecutionContextError(address actualContext,address expectedContext;
InvalidBootstrapCallerError(address actual,address expected;
InsufficientTakerTokenError(uint256 tokenBalance,uint256 tokensNeeded;
ProtocolFeeRefundFailed(address receiver,uint256 refundAmount;
MetaTransactionExpiredError(bytes32 mtxHash,uint256 time,uint256 expirationTime;
OrderNotFillableByOriginError(bytes32 orderHash,address txOrigin,address orderTxOrigin;
IllegalReentrancyError(bytes4 selector,uint256 reentrancyFlags;
InsufficientProtocolFeeError(uint256 ethBalance,uint256 ethNeeded;
SellOrderFeesExceedSpreadError(uint256 sellOrderFees,uint256 spread;
BootstrapCallFailedError(address target,bytes resultData;InvalidERC20AssetDataError(bytes assetData;
InsufficientEthError(uint256 ethAvailable,uint256 orderAmount;TransferOwnerToZeroError(;
OverspentEthError(uint256 ethSpent,uint256 ethAvailable;OnlyCallableBySelfError(address sender;
OrderNotSignedByMakerError(bytes32 orderHash,address signer,address maker;
SignatureValidationError(uint8 code,bytes32 hash;
TransformerFailedError(address transformer,bytes transformerData,bytes resultData;
MigrateCallFailedError(address target,bytes resultData;
MetaTransactionAlreadyExecutedError(bytes32 mtxHash,uint256 executedBlockNumber`;
