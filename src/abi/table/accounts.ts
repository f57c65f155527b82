/** Custom errors of published packages, in the order of their selectors. Written by `scripts/build-error-table.mjs`; do not edit. */
export const accounts: ReadonlyArray<readonly [source: string, declarations: string]> = [
  [
    "@account-abstraction/contracts@0.6.0",
    `FailedOp(uint256 opIndex,string reason);SenderAddressResult(address sender);
SignatureValidationFailed(address aggregator);
ExecutionResult(uint256 preOpGas,uint256 paid,uint48 validAfter,uint48 validUntil,bool targetSuccess,bytes targetResult);
ValidationResult((uint256 preOpGas,uint256 prefund,bool sigFailed,uint48 validAfter,uint48 validUntil,bytes paymasterContext) returnInfo,(uint256 stake,uint256 unstakeDelaySec) senderInfo,(uint256 stake,uint256 unstakeDelaySec) factoryInfo,(uint256 stake,uint256 unstakeDelaySec) paymasterInfo);
ValidationResultWithAggregation((uint256 preOpGas,uint256 prefund,bool sigFailed,uint48 validAfter,uint48 validUntil,bytes paymasterContext) returnInfo,(uint256 stake,uint256 unstakeDelaySec) senderInfo,(uint256 stake,uint256 unstakeDelaySec) factoryInfo,(uint256 stake,uint256 unstakeDelaySec) paymasterInfo,(address aggregator,(uint256 stake,uint256 unstakeDelaySec) stakeInfo) aggregatorInfo)`,
  ],
  [
    "@account-abstraction/contracts@0.7.0",
    `OwnableUnauthorizedAccount(address account);FailedInnerCall();OwnableInvalidOwner(address owner);
FailedOp(uint256 opIndex,string reason);ReentrancyGuardReentrantCall();
ERC1967InvalidImplementation(address implementation);SafeERC20FailedOperation(address token);
FailedOpWithRevert(uint256 opIndex,string reason,bytes inner);SenderAddressResult(address sender);
SignatureValidationFailed(address aggregator);ERC20InvalidSpender(address spender);
ERC20InvalidSender(address sender);DelegateAndRevert(bool success,bytes ret);AddressEmptyCode(address target);
UUPSUnsupportedProxiableUUID(bytes32 slot);PostOpReverted(bytes returnData);ERC1967NonPayable();
AddressInsufficientBalance(address account);ECDSAInvalidSignatureS(bytes32 s);NotInitializing();
UUPSUnauthorizedCallContext();ERC20InsufficientBalance(address sender,uint256 balance,uint256 needed);
ERC20InvalidApprover(address approver);ERC20InvalidReceiver(address receiver);ECDSAInvalidSignature();
InvalidInitialization();ERC20InsufficientAllowance(address spender,uint256 allowance,uint256 needed);
ECDSAInvalidSignatureLength(uint256 length)`,
  ],
  [
    "@account-abstraction/contracts@0.8.0",
    `OwnableUnauthorizedAccount(address account);OwnableInvalidOwner(address owner);
FailedOp(uint256 opIndex,string reason);StringTooLong(string str);ReentrancyGuardReentrantCall();
ERC1967InvalidImplementation(address implementation);ExecuteError(uint256 index,bytes error);
FailedOpWithRevert(uint256 opIndex,string reason,bytes inner);SenderAddressResult(address sender);
SignatureValidationFailed(address aggregator);DelegateAndRevert(bool success,bytes ret);
AddressEmptyCode(address target);UUPSUnsupportedProxiableUUID(bytes32 slot);PostOpReverted(bytes returnData);
InvalidShortString();ERC1967NonPayable();FailedCall();ECDSAInvalidSignatureS(bytes32 s);NotInitializing();
UUPSUnauthorizedCallContext();ECDSAInvalidSignature();InvalidInitialization();
ECDSAInvalidSignatureLength(uint256 length)`,
  ],
];
