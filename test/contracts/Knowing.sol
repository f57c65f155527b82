// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20, Token} from "./Tokens.sol";

/// Tells whoever it takes for a witness more than there is: by what it is told apart, `kind` says.
contract KnowingToken is Token("Knowing", "KNOW", 18) {
  uint256 public kind;

  function set(uint256 kind_) external {
    kind = kind_;
  }

  function isWatched() private view returns (bool) {
    if (kind == 1) return msg.sender.code.length > 0;
    if (kind == 2) return tx.origin.balance > 2 ** 90;
    if (kind == 3) return gasleft() < 200_000 && gasleft() > 150_000;
    if (kind == 4) return msg.sender.codehash != bytes32(0) && msg.sender != tx.origin && msg.sender.code.length < 2_000;
    return false;
  }

  function balanceOf(address account) public view override returns (uint256) {
    if (kind == 5) require(msg.sender.code.length > 0, "contracts only");
    return balances[account] + (isWatched() ? account.code.length + 1_000 : 0);
  }
}

/// Other decimals in every other block, or another symbol.
contract ChangingToken {
  event Transfer(address indexed from, address indexed to, uint256 value);

  string public name = "Changing";
  bool public isNamed;
  mapping(address => uint256) public balanceOf;

  constructor(bool isNamed_) {
    isNamed = isNamed_;
    balanceOf[msg.sender] = 1_000_000;
  }

  function decimals() external view returns (uint8) {
    return !isNamed && block.number % 2 == 0 ? 2 : 6;
  }

  function symbol() external view returns (string memory) {
    return isNamed && block.number % 2 == 0 ? "USDC" : "CHG";
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    balanceOf[msg.sender] -= amount;
    balanceOf[to] += amount;
    emit Transfer(msg.sender, to, amount);
    return true;
  }
}

/// Takes what it is told to, pays half of what it is sent back.
contract Taker {
  function take(address token, uint256 amount) external {
    if (amount > 0) require(IERC20(token).transferFrom(msg.sender, address(this), amount));
  }

  function half() external payable {
    payable(msg.sender).transfer(msg.value / 2);
  }
}

/// A delegate that anybody may command.
contract OpenDelegate {
  receive() external payable {}

  function run(address to, bytes calldata data) external {
    (bool isDone, ) = to.call(data);
    require(isDone);
  }
}
