/** Custom errors of published packages, in the order of their selectors. Written by `scripts/build-error-table.mjs`; do not edit. */
export const uniswap: ReadonlyArray<readonly [source: string, declarations: string]> = [
  [
    "@uniswap/v4-core@1.0.2",
    `InvalidPrice();AddLiquidityDirectToHook();HookNotImplemented();DelegateCallNotAllowed();LPFeeTooLarge(uint24 fee);
TickUpperOutOfBounds(int24 tickUpper);InvalidHookResponse();UnauthorizedDynamicLPFeeUpdate();NotEnoughLiquidity();
PoolNotInitialized();InvalidCaller();InvalidPriceOrLiquidity();AlreadyUnlocked();CurrencyNotSettled();
ManagerLocked();NoSwapOccurred();InvalidSqrtPrice(uint160 sqrtPriceX96);
CurrenciesOutOfOrderOrEqual(address currency0,address currency1);PoolAlreadyInitialized();
PriceLimitAlreadyExceeded(uint160 sqrtPriceCurrentX96,uint160 sqrtPriceLimitX96);InvalidTick(int24 tick);KeyNotSet();
WrappedError(address target,bytes4 selector,bytes reason,bytes details);SafeCastOverflow();InvalidFeeForExactOut();
PriceLimitOutOfBounds(uint160 sqrtPriceLimitX96);NoLiquidityToReceiveFees();ProtocolFeeTooLarge(uint24 fee);
HookCallFailed();CheckParameters();CannotUpdateEmptyPosition();NonzeroNativeValue();
TickSpacingTooLarge(int24 tickSpacing);TickLiquidityOverflow(int24 tick);MustClearExactPositiveDelta();
SwapAmountCannotBeZero();TicksMisordered(int24 tickLower,int24 tickUpper);ProtocolFeeCurrencySynced();
ActionNotSupported();TickMisaligned(int24 tick,int24 tickSpacing);TickLowerOutOfBounds(int24 tickLower);
HookAddressNotValid(address hooks);TickSpacingTooSmall(int24 tickSpacing);ERC20TransferFailed();
NativeTransferFailed();PriceOverflow();HookDeltaExceedsSwapAmount()`,
  ],
  [
    "@uniswap/v4-periphery@1.0.3",
    `CompetitionNotOver(uint256 currentTime,uint256 deadline);HookNotImplemented();ExactInputNotSupported();
NotApproved(address caller);DelegateCallNotAllowed();InvalidPoolFee();
MinimumAmountInsufficient(uint128 minimumAmount,uint128 amountReceived);
V4TooMuchRequested(uint256 maxAmountInRequested,uint256 amountRequested);NonceAlreadyUsed();
ExactOutputNotSupported();InvalidBytecode();NotSubscribed();AlreadySubscribed(uint256 tokenId,address subscriber);
WorseAddress(address newAddress,address bestAddress,uint256 newScore,uint256 bestScore);NotSelf();
UnauthorizedDynamicLPFeeUpdate();MaximumAmountExceeded(uint128 maximumAmount,uint128 amountRequested);
DeltaNotNegative(address currency);InvalidEthSender();SliceOutOfBounds();PoolNotInitialized();InvalidCaller();
InvalidSignatureLength();DeltaNotPositive(address currency);Create2EmptyBytecode();AlreadyUnlocked();
CurrencyNotSettled();ManagerLocked();SignatureDeadlineExpired();UnsupportedAction(uint256 action);
UnexpectedRevertBytes(bytes revertData);InvalidAddressLength(uint256 len);
CurrenciesOutOfOrderOrEqual(address currency0,address currency1);ContractLocked();Create2FailedDeployment();
LiquidityNotAllowed();NotEnoughLiquidity(bytes32 poolId);NoCodeSubscriber();NoSelfPermit();InvalidSigner();
SubscriptionReverted(address subscriber,bytes reason);Unauthorized();
V4TooLittleReceived(uint256 minAmountOutReceived,uint256 amountReceived);InvalidSignature();
InvalidSender(bytes32 salt,address sender);ProtocolFeeTooLarge(uint24 fee);InputLengthMismatch();
BurnNotificationReverted(address subscriber,bytes reason);NotPoolManager();
CompetitionOver(uint256 currentTime,uint256 deadline);InvalidContractSignature();NonzeroNativeValue();
TickSpacingTooLarge(int24 tickSpacing);MustClearExactPositiveDelta();SwapAmountCannotBeZero();
DeadlinePassed(uint256 deadline);NotAllowedToDeploy(address sender,address deployer);ProtocolFeeCurrencySynced();
PoolManagerMustBeLocked();InvalidPoolToken();InvalidBips();UnexpectedCallSuccess();
StringsInsufficientHexLength(uint256 value,uint256 length);
Create2InsufficientBalance(uint256 balance,uint256 needed);
ModifyLiquidityNotificationReverted(address subscriber,bytes reason);TickSpacingTooSmall(int24 tickSpacing);
QuoteSwap(uint256 amount);InvalidTokenId(uint256 tokenId);GasLimitTooLow();InsufficientBalance()`,
  ],
  [
    "@uniswap/universal-router@2.1.0",
    `ETHNotAccepted();V4TooMuchRequested(uint256 maxAmountInRequested,uint256 amountRequested);FailedInnerCall();
NonceAlreadyUsed();InvalidPath();ExecutionFailed(uint256 commandIndex,bytes message);StringTooLong(string str);
V3InvalidSwap();V3InvalidCaller();DeltaNotNegative(address currency);InvalidEthSender();V3TooLittleReceived();
SliceOutOfBounds();DeltaNotPositive(address currency);SafeERC20FailedOperation(address token);
TransactionDeadlinePassed();UnsupportedAction(uint256 action);OnlyMintAllowed();InsufficientToken();
InsufficientETH();ContractLocked();V3TooMuchRequested();InvalidReserves();V2TooLittleReceived();V2TooMuchRequested();
V4TooLittleReceived(uint256 minAmountOutReceived,uint256 amountReceived);InvalidHopSlippageLength();
AddressEmptyCode(address target);BalanceTooLow();
V4TooLittleReceivedPerHop(uint256 hopIndex,uint256 maxPrice,uint256 price);InputLengthMismatch();NotPoolManager();
V2InvalidPath();InvalidShortString();NotAuthorizedForToken(uint256 tokenId);UnsafeCast();
AddressInsufficientBalance(address account);V3InvalidAmountOut();InvalidCommandType(uint256 commandType);
ECDSAInvalidSignatureS(bytes32 s);InvalidBips();
V4TooMuchRequestedPerHop(uint256 hopIndex,uint256 maxPrice,uint256 price);FromAddressIsNotOwner();
UnsupportedProtocolError();InsufficientBalance();ECDSAInvalidSignature();InvalidAction(bytes4 action);
ECDSAInvalidSignatureLength(uint256 length);LengthMismatch()`,
  ],
];
