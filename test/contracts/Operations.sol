// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

struct PackedUserOperation {
  address sender;
  uint256 nonce;
  bytes initCode;
  bytes callData;
  bytes32 accountGasLimits;
  uint256 preVerificationGas;
  bytes32 gasFees;
  bytes paymasterAndData;
  bytes signature;
}

/// An account of EntryPoint 0.7 and later that answers as it is told: by its owner's signature, and by the rest.
contract AccountDouble {
  error Locked(uint256 until);
  error Refused(address to);

  address public immutable owner;
  /// 0: recovered by `ecrecover`; 1: by a code over a secret; 2: reverts; 3: pays nothing.
  uint256 public immutable mode;
  /// Times, as the EntryPoint takes them, without the lower 160 bits.
  uint256 public immutable times;
  bytes32 public immutable secret;

  constructor(address owner_, uint256 mode_, uint256 times_, bytes32 secret_) payable {
    owner = owner_;
    mode = mode_;
    times = times_;
    secret = secret_;
  }

  receive() external payable {}

  function validateUserOp(
    PackedUserOperation calldata op,
    bytes32 hash,
    uint256 missing
  ) external returns (uint256) {
    if (mode == 2) revert Locked(1_000_000);
    if (missing > 0 && mode != 3) {
      (bool isPaid, ) = msg.sender.call{value: missing}("");
      isPaid;
    }
    bool isGood = mode == 1
      ? keccak256(op.signature) == keccak256(abi.encode(keccak256(abi.encode(secret, hash))))
      : recovered(hash, op.signature) == owner;
    return times | (isGood ? 0 : 1);
  }

  function recovered(bytes32 hash, bytes calldata signature) private pure returns (address) {
    if (signature.length != 65) return address(0);
    bytes32 r = bytes32(signature[:32]);
    bytes32 s = bytes32(signature[32:64]);
    return ecrecover(hash, uint8(signature[64]), r, s);
  }

  function execute(address to, uint256 value, bytes calldata data) external {
    (bool isDone, ) = to.call{value: value}(data);
    if (!isDone) revert Refused(to);
  }

  function burn(uint256 rounds) external pure returns (bytes32 hash) {
    for (uint256 i = 0; i < rounds; i++) hash = keccak256(abi.encode(hash, i));
  }
}

/// A factory that does as it is told: reverts, names another account, or makes none.
contract FactoryDouble {
  function make(uint256 mode, address named) external pure returns (address) {
    require(mode != 0, "no more accounts");
    return named;
  }
}

/// A paymaster of EntryPoint 0.7 and later whose signer vouches for an operation, beside the account or before it.
contract PaymasterDouble {
  address public immutable signer;
  /// 0: honest; 1: its work afterwards reverts; 2: reverts.
  uint256 public immutable mode;

  constructor(address signer_, uint256 mode_) {
    signer = signer_;
    mode = mode_;
  }

  function deposit(address entryPoint) external payable {
    (bool isDone, ) = entryPoint.call{value: msg.value}(abi.encodeWithSignature("depositTo(address)", address(this)));
    require(isDone);
  }

  function getHash(PackedUserOperation calldata op, uint48 until, uint48 from) public view returns (bytes32) {
    return
      keccak256(
        abi.encode(op.sender, op.nonce, op.callData, op.accountGasLimits, op.gasFees, until, from, block.chainid)
      );
  }

  function validatePaymasterUserOp(
    PackedUserOperation calldata op,
    bytes32,
    uint256
  ) external view returns (bytes memory context, uint256 validation) {
    require(mode != 2, "out of business");
    bytes calldata data = op.paymasterAndData[52:];
    (uint48 until, uint48 from) = abi.decode(data[:64], (uint48, uint48));
    bytes32 digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", getHash(op, until, from)));
    bytes calldata signature = data[64:129];
    address found = ecrecover(
      digest,
      uint8(signature[64]),
      bytes32(signature[:32]),
      bytes32(signature[32:64])
    );
    validation = (found == signer ? 0 : 1) | (uint256(until) << 160) | (uint256(from) << 208);
    context = abi.encode(op.sender);
  }

  function postOp(uint8 how, bytes calldata, uint256, uint256) external view {
    require(mode != 1 || how == 2, "no thanks");
  }
}
