// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A transaction guard of a Safe (1.3.0 to 1.5.0) that says no by its own rule.
abstract contract SafeGuardDouble {
  function check(uint256 value, bytes memory signatures, address sender) internal view virtual;

  function checkTransaction(
    address,
    uint256 value,
    bytes memory,
    uint8,
    uint256,
    uint256,
    uint256,
    address,
    address payable,
    bytes memory signatures,
    address sender
  ) external view {
    check(value, signatures, sender);
  }

  function checkAfterExecution(bytes32, bool) external view {}

  function supportsInterface(bytes4 id) external pure returns (bool) {
    return id == 0xe6d7a83a || id == 0x01ffc9a7;
  }
}

/// Allows everything.
contract AllowingGuard is SafeGuardDouble {
  function check(uint256, bytes memory, address) internal view override {}
}

/// Refuses more than one ether.
contract AmountGuard is SafeGuardDouble {
  function check(uint256 value, bytes memory, address) internal pure override {
    require(value <= 1 ether, "guard: too much");
  }
}

/// Takes signatures by keys alone.
contract KeyGuard is SafeGuardDouble {
  function check(uint256, bytes memory signatures, address) internal pure override {
    for (uint256 at = 64; at < signatures.length; at += 65)
      require(uint8(signatures[at]) >= 27, "guard: keys only");
  }
}

/// Code that a Safe runs as its own: sets a word of storage, as a makers' library would.
contract SlotWriter {
  function write(uint256 slot, uint256 value) external {
    assembly {
      sstore(slot, value)
    }
  }
}
