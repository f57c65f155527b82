// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A small ERC-20 with the errors of ERC-6093.
contract Token {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
  error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);

  string public constant name = "Demo Dollar";
  string public constant symbol = "DUSD";
  uint8 public constant decimals = 6;
  uint256 public totalSupply;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  constructor(uint256 supply) {
    totalSupply = supply;
    balanceOf[msg.sender] = supply;
    emit Transfer(address(0), msg.sender, supply);
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    _move(msg.sender, to, amount);
    return true;
  }

  function transferFrom(address from, address to, uint256 amount) external returns (bool) {
    uint256 allowed = allowance[from][msg.sender];
    if (allowed < amount) revert ERC20InsufficientAllowance(msg.sender, allowed, amount);
    if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - amount;
    _move(from, to, amount);
    return true;
  }

  function approve(address spender, uint256 amount) external returns (bool) {
    allowance[msg.sender][spender] = amount;
    emit Approval(msg.sender, spender, amount);
    return true;
  }

  function _move(address from, address to, uint256 amount) private {
    uint256 balance = balanceOf[from];
    if (balance < amount) revert ERC20InsufficientBalance(from, balance, amount);
    balanceOf[from] = balance - amount;
    balanceOf[to] += amount;
    emit Transfer(from, to, amount);
  }
}
