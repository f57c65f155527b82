// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// Where a chain says what it charges for the bytes of a transaction.
contract Oracle {
  uint256 public immutable weiPerByte;

  constructor(uint256 weiPerByte_) {
    weiPerByte = weiPerByte_;
  }
}
