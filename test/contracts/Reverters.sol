// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// One way to fail per function.
contract Reverter {
  struct Limit {
    address asset;
    uint256 amount;
  }
  enum Side {
    Buy,
    Sell
  }

  error Empty();
  error Plain(uint256 code);
  error Many(address who, uint256[] amounts, string note, Limit limit, Side side);
  error Wrapped(address target, bytes4 selector, bytes reason, bytes details);
  error CallFailed(bytes reason);
  error FailedOp(uint256 opIndex, string reason);

  uint256 public counter;
  uint256[] private list;
  bytes private corrupt;

  function ok() external returns (uint256) {
    return ++counter;
  }

  function reason(string calldata text) external pure {
    revert(text);
  }

  function requireFalse() external pure {
    require(false);
  }

  function nothing() external pure {
    assembly {
      revert(0, 0)
    }
  }

  function raw(bytes calldata data) external pure {
    bytes memory copy = data;
    assembly {
      revert(add(copy, 32), mload(copy))
    }
  }

  /// Reverts with that many zero bytes.
  function flood(uint256 size) external pure {
    assembly {
      revert(0, size)
    }
  }

  function empty() external pure {
    revert Empty();
  }

  function plain(uint256 code) external pure {
    revert Plain(code);
  }

  function many() external view {
    uint256[] memory amounts = new uint256[](3);
    (amounts[0], amounts[1], amounts[2]) = (1, 2, type(uint256).max);
    revert Many(msg.sender, amounts, unicode"naïve \u202e note", Limit(address(this), 7), Side.Sell);
  }

  /// An error inside an error inside an error.
  function nested() external view {
    bytes memory inner = abi.encodeWithSelector(Plain.selector, 42);
    bytes memory middle = abi.encodeWithSelector(CallFailed.selector, inner);
    revert Wrapped(address(this), this.nested.selector, middle, "");
  }

  function failedOp() external pure {
    revert FailedOp(0, "AA21 didn't pay prefund");
  }

  /// Passes on what an inner call failed with.
  function bubble(address target, bytes calldata data) external payable returns (bytes memory) {
    (bool success, bytes memory result) = target.call{value: msg.value}(data);
    if (success) return result;
    assembly {
      revert(add(result, 32), mload(result))
    }
  }

  /// Wraps what an inner call failed with.
  function wrap(address target, bytes calldata data) external payable returns (bytes memory) {
    (bool success, bytes memory result) = target.call{value: msg.value}(data);
    if (!success) revert CallFailed(result);
    return result;
  }

  /// Counts, whatever the inner call does.
  function swallow(address target, bytes calldata data) external payable returns (bool success) {
    (success, ) = target.call{value: msg.value}(data);
    counter++;
  }

  function panicGeneric() external pure {
    assembly {
      mstore(0, shl(224, 0x4e487b71))
      mstore(4, 0)
      revert(0, 36)
    }
  }

  function panicAssert() external pure {
    assert(false);
  }

  function panicArithmetic(uint256 value) external pure returns (uint256) {
    return value - 1 - value;
  }

  function panicDivision(uint256 value) external pure returns (uint256) {
    return 1 / (value - value);
  }

  function panicEnum(uint256 value) external pure returns (Side) {
    return Side(value + 2);
  }

  function panicStorageBytes() external returns (bytes memory) {
    assembly {
      sstore(corrupt.slot, 0x01)
    }
    return corrupt;
  }

  function panicPop() external {
    list.pop();
  }

  function panicIndex(uint256 index) external view returns (uint256) {
    return list[index];
  }

  function panicMemory() external pure returns (uint256[] memory) {
    return new uint256[](type(uint256).max);
  }

  function panicFunction() external pure returns (uint256) {
    function() internal pure returns (uint256) none;
    return none();
  }

  function invalid() external pure {
    assembly {
      invalid()
    }
  }

  function loop() external {
    while (true) counter++;
  }

  /// Fails in the callee's own call to itself, too deep.
  function recurse() external {
    this.recurse();
  }

  function stackUnderflow() external returns (bool success) {
    bytes memory code = hex"6001600055505050"; // init code that pops from an empty stack
    address at;
    assembly {
      at := create(0, add(code, 32), mload(code))
    }
    success = at != address(0);
  }

  function writeInStatic() external view returns (bool success) {
    (success, ) = address(this).staticcall(abi.encodeWithSelector(this.ok.selector));
  }

  receive() external payable {
    revert("no ether, please");
  }
}
