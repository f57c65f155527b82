// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A proxy's storage (ERC-1967) with every way to change it: told by the event of the standard, or in silence.
contract Slots {
  event Upgraded(address indexed implementation);

  bytes32 internal constant IMPLEMENTATION = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

  uint256 public count;

  constructor(address implementation) {
    write(IMPLEMENTATION, implementation);
  }

  function write(bytes32 slot, address value) public {
    assembly {
      sstore(slot, value)
    }
  }

  /// Nothing that anybody could mind.
  function work() external {
    count++;
  }

  function upgradeTo(address implementation) external {
    write(IMPLEMENTATION, implementation);
    emit Upgraded(implementation);
  }

  /// Tells of one implementation and takes another.
  function lie(address told, address taken) external {
    write(IMPLEMENTATION, taken);
    emit Upgraded(told);
  }

  /// In silence, in the blocks of one half of all seconds.
  function writeAt(uint256 parity, address implementation) external {
    if (block.timestamp % 2 == parity) write(IMPLEMENTATION, implementation);
  }

  /// A plain payment changes hands, too.
  receive() external payable {
    write(IMPLEMENTATION, msg.sender);
  }
}
