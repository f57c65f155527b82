/** Custom errors of published packages, in the order of their selectors. Written by `scripts/build-error-table.mjs`; do not edit. */
export const tokens: ReadonlyArray<readonly [source: string, declarations: string]> = [
  [
    "solady@0.1.26",
    `AccountBalanceOverflow();TimedRoleHolderIsZeroAddress();RescueUnauthorizedOrLocked();DataTooShort();
SaltDoesNotStartWith();LazyShufflerAlreadyInitialized();AlreadyInitialized();ParsingFailed();InsufficientAllowance();
LnWadUndefined();ERC5805DelegateInvalidSignature();PermitExpired();LazyShufflerNotInitialized();
AccountCreationFailed();HexLengthInsufficient();MapFpToG1Failed();ProxyQueryFailed();OperationNotSupported();
ExceedsCapacity();SaltDoesNotStartWithCaller();DeploymentFailed();Permit2ApproveFailed();InvalidTimedRoleRange();
ERC5805DelegateSignatureExpired();RoyaltyOverflow();Overflow();BatchOfBatchesDecodingError();ArrayLengthsMismatch();
FnSelectorNotRecognized();ApproveFailed();Permit2AllowanceIsFixedAtInfinity();RedeemMoreThanMax();RPowOverflow();
NotOwnerNorApproved();PairingFailed();IndexOutOfBounds();LazyShuffleFinished();
TimelockInsufficientDelay(uint256 delay,uint256 minDelay);TotalSupplyQueryFailed();TimelockUnauthorized();
UpgradeFailed();RoleHoldersIndexOutOfBounds();ERC5805CheckpointValueUnderflow();TargetIsNotContract();
SDivWadFailed();G1MSMFailed();LazyShufflerGetOutOfBounds();WithdrawAllFailed();DivFailed();MintMoreThanMax();
Permit2Failed();NewImplementationHasNoCode();NoHandoverRequest();NewOwnerIsZeroAddress();TransferFromFailed();
MerkleTreeOutOfBoundsAccess();DivWadFailed();RescueTransferFailed();UnsupportedExecutionMode();InvalidTimedRole();
RoleHolderIsZeroAddress();Unauthorized();AllowanceUnderflow();InvalidInitialLazyShufflerLength();
ERC5805CheckpointIndexOutOfBounds();Permit2AmountOverflow();EnumerableMapKeyNotFound();MapFp2ToG2Failed();
BalanceOverflow();InvalidSignature();BalanceQueryForZeroAddress();TimelockUnexecutedPredecessor(bytes32 predecessor);
TransferFailed();WithdrawMoreThanMax();Permit2LockdownFailed();EnumerableRolesUnauthorized();
TransferToNonERC1155ReceiverImplementer();ERC5805CheckpointValueOverflow();ReceiveETH(uint256);
UnauthorizedCallContext();TransferFromIncorrectOwner();ExpOverflow();NoInitCodeHashFound();HeapIsEmpty();
Reentrancy();FactorialOverflow();MulDivFailed();FullMulDivFailed();SelfOwnDetected();TimedRolesUnauthorized();
ValueDoesNotExist();ETHTransferFailed();DepositMoreThanMax();RoyaltyReceiverIsZeroAddress();DecodingError();
MulWadFailed();ValueAlreadyExists();StackIsEmpty();InvalidNewLazyShufflerLength();TimelockAlreadyInitialized();
ChangeProxyAdminFailed();G2AddFailed();UpgradeProxyFailed();ValueIsEmpty();StringNot7BitASCII();TokenAlreadyExists();
PointerOutOfBounds();MantissaOverflow();TokenDoesNotExist();TransferToNonERC721ReceiverImplementer();
TimelockDelayOverflow();ReturnedAddressMismatch();TimelockInvalidOperation(bytes32 id,uint256 expectedStates);
G1AddFailed();NotInitializing();InvalidRole();InvalidPermit();InsufficientPermission();G2MSMFailed();
TotalSupplyOverflow();MerkleTreeLeavesEmpty();Base58DecodingError();MerkleTreeInvalidLeafIndices();
TransferToZeroAddress();TooBigForSmallString();TreeIsFull();SMulWadFailed();OutOfDomain();InsufficientBalance();
ValueIsZeroSentinel();AllowanceOverflow();InvalidInitialization();ERC5805FutureLookup()`,
  ],
  [
    "@uniswap/permit2-sdk@1.4.0",
    `SignatureExpired();InsufficientAllowance();ExcessiveInvalidation();InvalidAmount();AllowanceExpired();InvalidNonce();
InvalidSigner();InvalidSignature();InvalidContractSignature();NotSpender();LengthMismatch()`,
  ],
  [
    "@uniswap/v4-periphery@1.0.3",
    `ExcessiveInvalidation();InvalidAmount(uint256 maxAmount);InvalidSignatureLength();InvalidNonce();InvalidSigner();
InvalidSignature();InvalidContractSignature();UnsafeCast();SignatureExpired(uint256 signatureDeadline);
AllowanceExpired(uint256 deadline);InsufficientAllowance(uint256 amount);LengthMismatch()`,
  ],
];
