// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "./Tokens.sol";

/// As Uniswap's Permit2: allowances with an amount and an expiration, by call or by signature. No immutables,
/// so its code may stand at the canonical address.
contract Permit2 {
  event Approval(
    address indexed owner,
    address indexed token,
    address indexed spender,
    uint160 amount,
    uint48 expiration
  );
  event Permit(
    address indexed owner,
    address indexed token,
    address indexed spender,
    uint160 amount,
    uint48 expiration,
    uint48 nonce
  );
  event Lockdown(address indexed owner, address token, address spender);

  error AllowanceExpired(uint256 deadline);
  error InsufficientAllowance(uint256 amount);
  error SignatureExpired(uint256 signatureDeadline);
  error InvalidNonce();
  error InvalidSigner();

  struct PackedAllowance {
    uint160 amount;
    uint48 expiration;
    uint48 nonce;
  }
  struct PermitDetails {
    address token;
    uint160 amount;
    uint48 expiration;
    uint48 nonce;
  }
  struct PermitSingle {
    PermitDetails details;
    address spender;
    uint256 sigDeadline;
  }
  struct TokenSpenderPair {
    address token;
    address spender;
  }

  bytes32 private constant DETAILS =
    keccak256("PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)");
  bytes32 private constant SINGLE =
    keccak256(
      "PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)"
    );

  mapping(address => mapping(address => mapping(address => PackedAllowance))) public allowance;

  function DOMAIN_SEPARATOR() public view returns (bytes32) {
    bytes32 typeHash = keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
    return keccak256(abi.encode(typeHash, keccak256("Permit2"), block.chainid, address(this)));
  }

  function approve(address token, address spender, uint160 amount, uint48 expiration) external {
    PackedAllowance storage allowed = allowance[msg.sender][token][spender];
    allowed.amount = amount;
    allowed.expiration = expiration == 0 ? uint48(block.timestamp) : expiration;
    emit Approval(msg.sender, token, spender, amount, expiration);
  }

  function permit(address owner, PermitSingle calldata single, bytes calldata signature) external {
    if (block.timestamp > single.sigDeadline) revert SignatureExpired(single.sigDeadline);
    bytes32 details = keccak256(abi.encode(DETAILS, single.details));
    bytes32 hash = keccak256(abi.encode(SINGLE, details, single.spender, single.sigDeadline));
    bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), hash));
    address signer = ecrecover(
      digest,
      uint8(signature[64]),
      bytes32(signature[0:32]),
      bytes32(signature[32:64])
    );
    if (signer == address(0) || signer != owner) revert InvalidSigner();
    PackedAllowance storage allowed = allowance[owner][single.details.token][single.spender];
    if (allowed.nonce != single.details.nonce) revert InvalidNonce();
    allowed.nonce++;
    allowed.amount = single.details.amount;
    allowed.expiration = single.details.expiration == 0 ? uint48(block.timestamp) : single.details.expiration;
    emit Permit(
      owner,
      single.details.token,
      single.spender,
      single.details.amount,
      single.details.expiration,
      single.details.nonce
    );
  }

  function transferFrom(address from, address to, uint160 amount, address token) external {
    PackedAllowance storage allowed = allowance[from][token][msg.sender];
    if (block.timestamp > allowed.expiration) revert AllowanceExpired(allowed.expiration);
    if (allowed.amount != type(uint160).max) {
      if (amount > allowed.amount) revert InsufficientAllowance(allowed.amount);
      allowed.amount -= amount;
    }
    IERC20(token).transferFrom(from, to, amount);
  }

  function lockdown(TokenSpenderPair[] calldata approvals) external {
    for (uint256 i; i < approvals.length; i++) {
      delete allowance[msg.sender][approvals[i].token][approvals[i].spender].amount;
      emit Lockdown(msg.sender, approvals[i].token, approvals[i].spender);
    }
  }
}

/// Spends what Permit2 allows it.
contract Permit2Spender {
  function pull(Permit2 permit2, address from, address to, uint160 amount, address token) external {
    permit2.transferFrom(from, to, amount, token);
  }
}

/// OpenZeppelin's Ownable and its two-step form.
contract Owned {
  event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
  event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);

  error OwnableUnauthorizedAccount(address account);
  error OwnableInvalidOwner(address owner);

  address public owner;
  address public pendingOwner;

  constructor() {
    owner = msg.sender;
    emit OwnershipTransferred(address(0), msg.sender);
  }

  modifier onlyOwner() {
    if (msg.sender != owner) revert OwnableUnauthorizedAccount(msg.sender);
    _;
  }

  function transferOwnership(address to) external onlyOwner {
    if (to == address(0)) revert OwnableInvalidOwner(to);
    emit OwnershipTransferred(owner, to);
    owner = to;
  }

  function startTransfer(address to) external onlyOwner {
    pendingOwner = to;
    emit OwnershipTransferStarted(owner, to);
  }

  function renounceOwnership() external onlyOwner {
    emit OwnershipTransferred(owner, address(0));
    owner = address(0);
  }
}

/// OpenZeppelin's AccessControl.
contract Roles {
  event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender);
  event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender);
  event RoleAdminChanged(bytes32 indexed role, bytes32 indexed previousAdminRole, bytes32 indexed newAdminRole);

  error AccessControlUnauthorizedAccount(address account, bytes32 neededRole);

  mapping(bytes32 => mapping(address => bool)) public hasRole;

  constructor() {
    hasRole[0][msg.sender] = true;
    emit RoleGranted(0, msg.sender, msg.sender);
  }

  modifier onlyAdmin() {
    if (!hasRole[0][msg.sender]) revert AccessControlUnauthorizedAccount(msg.sender, 0);
    _;
  }

  function grantRole(bytes32 role, address account) external onlyAdmin {
    hasRole[role][account] = true;
    emit RoleGranted(role, account, msg.sender);
  }

  function revokeRole(bytes32 role, address account) external onlyAdmin {
    hasRole[role][account] = false;
    emit RoleRevoked(role, account, msg.sender);
  }

  function setRoleAdmin(bytes32 role, bytes32 admin) external onlyAdmin {
    emit RoleAdminChanged(role, 0, admin);
  }
}

/// An ERC-1967 proxy whose implementation and admin anyone may change.
contract Proxy {
  event Upgraded(address indexed implementation);
  event AdminChanged(address previousAdmin, address newAdmin);
  event BeaconUpgraded(address indexed beacon);

  bytes32 private constant IMPLEMENTATION = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
  bytes32 private constant ADMIN = 0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103;
  bytes32 private constant BEACON = 0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50;

  constructor(address implementation) {
    _set(IMPLEMENTATION, implementation);
    emit Upgraded(implementation);
  }

  function upgradeTo(address implementation) external {
    _set(IMPLEMENTATION, implementation);
    emit Upgraded(implementation);
  }

  function changeAdmin(address admin) external {
    address before;
    assembly {
      before := sload(ADMIN)
    }
    _set(ADMIN, admin);
    emit AdminChanged(before, admin);
  }

  function upgradeBeacon(address beacon) external {
    _set(BEACON, beacon);
    emit BeaconUpgraded(beacon);
  }

  function _set(bytes32 slot, address value) private {
    assembly {
      sstore(slot, value)
    }
  }

  fallback() external payable {
    assembly {
      calldatacopy(0, 0, calldatasize())
      let success := delegatecall(gas(), sload(IMPLEMENTATION), 0, calldatasize(), 0, 0)
      returndatacopy(0, 0, returndatasize())
      switch success
      case 0 {
        revert(0, returndatasize())
      }
      default {
        return(0, returndatasize())
      }
    }
  }

  receive() external payable {}
}

/// Owner, module, guard and threshold events of Safe 1.3 (unindexed) and 1.4 (indexed).
contract Safe {
  event AddedOwner(address indexed owner);
  event RemovedOwner(address indexed owner);
  event ChangedThreshold(uint256 threshold);
  event EnabledModule(address indexed module);
  event DisabledModule(address indexed module);
  event ChangedGuard(address indexed guard);
  event ChangedFallbackHandler(address indexed handler);
  event ExecutionSuccess(bytes32 indexed txHash, uint256 payment);

  mapping(address => bool) public isOwner;
  mapping(address => bool) public isModuleEnabled;
  uint256 public getThreshold = 1;

  function addOwnerWithThreshold(address owner, uint256 threshold) external {
    isOwner[owner] = true;
    emit AddedOwner(owner);
    changeThreshold(threshold);
  }

  function removeOwner(address, address owner, uint256 threshold) external {
    isOwner[owner] = false;
    emit RemovedOwner(owner);
    changeThreshold(threshold);
  }

  function changeThreshold(uint256 threshold) public {
    if (threshold == getThreshold) return;
    getThreshold = threshold;
    emit ChangedThreshold(threshold);
  }

  function enableModule(address module) external {
    isModuleEnabled[module] = true;
    emit EnabledModule(module);
  }

  function disableModule(address, address module) external {
    isModuleEnabled[module] = false;
    emit DisabledModule(module);
  }

  function setGuard(address guard) external {
    emit ChangedGuard(guard);
  }

  function setFallbackHandler(address handler) external {
    emit ChangedFallbackHandler(handler);
  }

  /// The events of Safe 1.3 and older, whose addresses are not indexed.
  function legacyEvents(address account) external {
    bytes32 added = keccak256("AddedOwner(address)");
    bytes32 enabled = keccak256("EnabledModule(address)");
    assembly {
      mstore(0, account)
      log1(0, 32, added)
      log1(0, 32, enabled)
    }
  }
}
