// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// Functions that no list of well-known ones names.
contract Rewards {
  mapping(address => mapping(uint256 => bool)) public claimed;

  function claimEpoch(uint256 epoch) external {
    claimed[msg.sender][epoch] = true;
  }

  function claimEpochFor(address account, uint256 epoch) external {
    claimed[account][epoch] = true;
  }
}

/// Answers as the Universal Resolver of ENS does, with the names that it was given.
contract StandInResolver {
  mapping(bytes => string) private names;

  function set(bytes calldata account, string calldata name) external {
    names[account] = name;
  }

  function reverseWithGateways(
    bytes calldata account,
    uint256,
    string[] calldata
  ) external view returns (string memory name, address resolver, address reverseResolver) {
    return (names[account], address(this), address(this));
  }
}
