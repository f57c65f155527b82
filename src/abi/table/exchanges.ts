/** Custom errors of published packages, in the order of their selectors. Written by `scripts/build-error-table.mjs`; do not edit. */
export const exchanges: ReadonlyArray<readonly [source: string, declarations: string]> = [
  [
    "@1inch/limit-order-protocol-contract@4.3.3",
    `OnlyWhitelistOrAccessToken();ERC1155ProxyBadSelector();InvalidMsgValue();SimulationResults(bool success,bytes res);
ArbitraryStaticCallFailed();DifferentOracleDecimals();InvalidPermit2Transfer();InvalidWhitelistDiscountNumerator();
TransferFromTakerToMakerFailed();MakingAmountTooLow();IOAccessDenied();AccessDenied();AdvanceEpochFailed();
ERC721ProxySafeBadSelector();BadSignature();ExistingOrder();InconsistentFee();EthTransferFailed();
TransferFromMakerToTakerFailed();UnexpectedOrderExtension();ERC721ProxyBadSelector();OrderNotExpired();
TakingAmountExceeded();IncorrectRange();OrderIsNotSuitableForMassInvalidation();PartialFillNotAllowed();
OffsetOutOfBounds();EpochManagerAndBitInvalidatorsAreIncompatible();BitInvalidatedOrder();StaleOraclePrice();
RemainingInvalidatedOrder();RewardIsTooBig();InvalidOrderHash();NotEnoughBalance();InvalidOrder();
ETHTransferFailed();MissingOrderExtension();PredicateIsNotTrue();AdvanceNonceFailed();InvalidIntegratorShare();
OrderExpired();ReentrancyDetected();OnlyLimitOrderProtocol();PrivateOrder();MismatchArraysLengths();
UnathorizedMaker();InvalidExtensionHash();Permit2WitnessProxyBadSelector();WrongSeriesNonce();InvalidatedOrder();
CancelOrderByResolverIsForbidden();TakingAmountTooHigh();SwapWithZeroAmount()`,
  ],
  [
    "@1inch/solidity-utils@6.9.16",
    `PopFromEmptyArray();ForceApproveFailed();EthDepositRejected();FromIsNotSender();MissingNonReentrantModifier();
WrongSignature();WrongRelayer();UnexpectedLock();ApproveCalledOnETH();IndexOutOfBounds();InvalidRevertReason();
DeadlineExceeded();ToIsNotThis();WrongNonceType();SafePermitBadLength();Permit2TransferAmountTooHigh();
SafeIncreaseAllowanceFailed();SafeDecreaseAllowanceFailed();MathOverflow();
Simulated(address delegatee,bytes data,bool success,bytes result);ETHTransferFailed();OutOfBounds();WrongNonce();
NotEnoughValue();SafeTransferFromFailed();InsufficientBalance();MathUnderflow();OutputArrayTooSmall();
SafeTransferFailed();UnexpectedUnlock()`,
  ],
  [
    "@0x/contracts-zero-ex@0.38.6",
    `OrderNotFillableError(address maker,uint256 nonce,uint8 orderStatus);
ERC20TokenMismatchError(address token1,address token2);
MetaTransactionInvalidSignatureError(bytes32 mtxHash,bytes signature,bytes errData);
MetaTransactionInsufficientEthError(bytes32 mtxHash,uint256 ethBalance,uint256 ethRequired);
OrderNotFillableBySenderError(bytes32 orderHash,address sender,address orderSender);
BatchFillIncompleteError(bytes32 orderHash,uint256 takerTokenFilledAmount,uint256 takerTokenFillAmount);
OnlyOwnerError(address sender,address owner);ERC721TokenMismatchError(address token1,address token2);
FillOrKillFailedError(bytes32 orderHash,uint256 takerTokenFilledAmount,uint256 takerTokenFillAmount);
NegativeSpreadError(uint256 sellOrderAmount,uint256 buyOrderAmount);
LiquidityProviderIncompleteSellError(address providerAddress,address makerToken,address takerToken,uint256 sellAmount,uint256 boughtAmount,uint256 minBuyAmount);
TokenIdMismatchError(uint256 tokenId,uint256 orderTokenId);
NegativeTransformERC20OutputError(address outputToken,uint256 outputTokenLostAmount);
PropertyValidationFailedError(address propertyValidator,address token,uint256 tokenId,bytes propertyData,bytes errorData);
OrderNotFillableError(bytes32 orderHash,uint8 orderStatus);
IncompleteFillBuyQuoteError(address buyToken,uint256 boughtAmount,uint256 buyAmount);
ExceedsRemainingOrderAmount(uint128 remainingOrderAmount,uint128 fillAmount);
SignatureValidationError(uint8 code,bytes32 hash,address signerAddress,bytes signature);
InvalidTransformDataError(uint8 errorCode,bytes transformData);
InvalidMetaTransactionsArrayLengthsError(uint256 mtxCount,uint256 signatureCount);
MetaTransactionUnsupportedFunctionError(bytes32 mtxHash,bytes4 selector);
OnlyCallableByDeployerError(address caller,address deployer);
OrderNotFillableByTakerError(bytes32 orderHash,address taker,address orderTaker);
WalletExecuteDelegateCallFailedError(address wallet,address callTarget,bytes callData,bytes errorData);
InvalidTakerFeeTokenError(address token);
MetaTransactionGasPriceError(bytes32 mtxHash,uint256 gasPrice,uint256 minGasPrice,uint256 maxGasPrice);
NotImplementedError(bytes4 selector);InvalidSignerError(address maker,address signer);
WalletExecuteCallFailedError(address wallet,address callTarget,bytes callData,uint256 callValue,bytes errorData);
OnlyOrderMakerAllowed(bytes32 orderHash,address sender,address maker);OnlyTakerError(address sender,address taker);
InsufficientEthAttachedError(uint256 ethAttached,uint256 ethNeeded);
IncompleteTransformERC20Error(address outputToken,uint256 outputTokenAmount,uint256 minOutputTokenAmount);
ERC1155TokenMismatchError(address token1,address token2);
NotInRollbackHistoryError(bytes4 selector,address targetImpl);
MetaTransactionWrongSenderError(bytes32 mtxHash,address sender,address expectedSender);
MetaTransactionCallFailedError(bytes32 mtxHash,bytes callData,bytes returnData);
InvalidDieCallerError(address actual,address expected);
IncompleteFillSellQuoteError(address sellToken,uint256 soldAmount,uint256 sellAmount);
CancelSaltTooLowError(uint256 minValidSalt,uint256 oldMinValidSalt);
InvalidExecutionContextError(address actualContext,address expectedContext);
InvalidBootstrapCallerError(address actual,address expected);
InsufficientTakerTokenError(uint256 tokenBalance,uint256 tokensNeeded);
ProtocolFeeRefundFailed(address receiver,uint256 refundAmount);
MetaTransactionExpiredError(bytes32 mtxHash,uint256 time,uint256 expirationTime);
OrderNotFillableByOriginError(bytes32 orderHash,address txOrigin,address orderTxOrigin);
IllegalReentrancyError(bytes4 selector,uint256 reentrancyFlags);
InsufficientProtocolFeeError(uint256 ethBalance,uint256 ethNeeded);
SellOrderFeesExceedSpreadError(uint256 sellOrderFees,uint256 spread);
BootstrapCallFailedError(address target,bytes resultData);InvalidERC20AssetDataError(bytes assetData);
InsufficientEthError(uint256 ethAvailable,uint256 orderAmount);TransferOwnerToZeroError();
OverspentEthError(uint256 ethSpent,uint256 ethAvailable);OnlyCallableBySelfError(address sender);
OrderNotSignedByMakerError(bytes32 orderHash,address signer,address maker);
SignatureValidationError(uint8 code,bytes32 hash);
TransformerFailedError(address transformer,bytes transformerData,bytes resultData);
MigrateCallFailedError(address target,bytes resultData);
MetaTransactionAlreadyExecutedError(bytes32 mtxHash,uint256 executedBlockNumber)`,
  ],
];
