// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import "./Operations.sol";

/// A contract that those below look at, call and write to.
contract Bystander {
  uint256 public kept = 7;
  mapping(address => uint256) public heldBy;

  receive() external payable {}

  function keep(uint256 value) external {
    kept = value;
  }

  function burn() external pure {
    while (true) {}
  }

  function stop() external pure {
    assembly {
      invalid()
    }
  }

  function end() external {
    selfdestruct(payable(address(this)));
  }
}

/// Nothing but itself.
contract Bauble {}

/// Breaks a rule of bundlers, or none, as it is told.
abstract contract RuleBreaker {
  uint256 public immutable how;
  Bystander public immutable other;
  uint256 internal own;

  constructor(uint256 how_, Bystander other_) {
    how = how_;
    other = other_;
  }

  function sinks(uint256 value) private pure {
    require(value != 0xdead, "nobody has seen this");
  }

  function breakRule(address entryPoint, address sender) internal {
    uint256 seen = 1;
    bool isDone = true;
    if (how == 1) seen = block.timestamp;
    if (how == 2) seen = block.number;
    if (how == 3) seen = uint160(tx.origin);
    if (how == 4) seen = uint256(blockhash(1));
    if (how == 5) seen = uint160(address(new Bauble()));
    if (how == 6) seen = address(this).balance;
    if (how == 7) seen = entryPoint.balance;
    if (how == 8) seen = gasleft();
    if (how == 9) (isDone, ) = address(other).call{gas: 5_000}(abi.encodeCall(Bystander.burn, ()));
    if (how == 10) seen = other.kept();
    if (how == 11) other.keep(8);
    if (how == 12) seen = uint256(keccak256(address(0xdecade).code));
    if (how == 13) (isDone, ) = address(other).call{value: 1}("");
    if (how == 14) (isDone, ) = entryPoint.staticcall(abi.encodeWithSignature("balanceOf(address)", sender));
    if (how == 15) (isDone, ) = address(0x0b).staticcall(new bytes(256));
    if (how == 16) seen = block.prevrandao;
    if (how == 17) seen = uint160(address(block.coinbase));
    if (how == 18) seen = block.basefee;
    if (how == 19) seen = block.gaslimit;
    if (how == 20) seen = tx.gasprice;
    if (how == 21) seen = uint160(address(new Bauble{salt: bytes32(uint256(1))}()));
    if (how == 22) (isDone, ) = address(other).call{gas: 50_000}(abi.encodeCall(Bystander.stop, ()));
    if (how == 23) other.end();
    if (how == 24) seen = other.heldBy(sender);
    if (how == 25) (isDone, ) = entryPoint.call(abi.encodeWithSignature("depositTo(address)", sender));
    if (how == 26) seen = uint256(entryPoint.codehash);
    if (how == 27) own = 3;
    if (how == 28) seen = other.heldBy(address(this));
    sinks(seen);
    isDone;
  }
}

/// An account whose validation breaks a rule.
contract RuleAccount is RuleBreaker {
  address public immutable owner;

  constructor(address owner_, uint256 how_, Bystander other_) payable RuleBreaker(how_, other_) {
    owner = owner_;
  }

  receive() external payable {}

  function validateUserOp(
    PackedUserOperation calldata op,
    bytes32 hash,
    uint256 missing
  ) external returns (uint256) {
    breakRule(msg.sender, address(this));
    if (missing > 0) {
      (bool isPaid, ) = msg.sender.call{value: missing}("");
      isPaid;
    }
    bytes calldata signature = op.signature;
    bytes32 r = bytes32(signature[:32]);
    return ecrecover(hash, uint8(signature[64]), r, bytes32(signature[32:64])) == owner ? 0 : 1;
  }

  function execute(address to, uint256 value, bytes calldata data) external {
    (bool isDone, ) = to.call{value: value}(data);
    require(isDone);
  }
}

/// A contract with a stake in an EntryPoint, if it is told so.
abstract contract Stakes {
  receive() external payable {}

  function stake(address entryPoint) external payable {
    (bool isDone, ) = entryPoint.call{value: msg.value}(abi.encodeWithSignature("addStake(uint32)", 86_400));
    require(isDone);
  }
}

/// A factory that breaks a rule where it makes an account.
contract RuleFactory is RuleBreaker, Stakes {
  constructor(uint256 how_, Bystander other_) payable RuleBreaker(how_, other_) {}

  function make(address owner, uint256 ofAccount, address entryPoint) external returns (address) {
    address made = predict(owner, ofAccount);
    breakRule(entryPoint, made);
    return address(new RuleAccount{salt: bytes32(0)}(owner, ofAccount, other));
  }

  function predict(address owner, uint256 ofAccount) public view returns (address) {
    bytes memory code = abi.encodePacked(type(RuleAccount).creationCode, abi.encode(owner, ofAccount, other));
    bytes32 digest = keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), keccak256(code)));
    return address(uint160(uint256(digest)));
  }
}

/// A paymaster that pays for everybody, and breaks a rule.
contract RulePaymaster is RuleBreaker, Stakes {
  constructor(uint256 how_, Bystander other_) payable RuleBreaker(how_, other_) {}

  function validatePaymasterUserOp(
    PackedUserOperation calldata op,
    bytes32,
    uint256
  ) external returns (bytes memory context, uint256 validation) {
    breakRule(msg.sender, op.sender);
    return ("", 0);
  }
}
