// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "./Tokens.sol";

/// Balances are shares of a pot that grows: every movement is rounded, as stETH's are.
contract PotShares {
  event Transfer(address indexed from, address indexed to, uint256 value);

  uint8 public constant decimals = 18;
  string public constant symbol = "SHARE";
  string public constant name = "Shares";
  uint256 public pot;
  uint256 public totalShares;
  mapping(address => uint256) public sharesOf;
  /// Parts of a million that a transfer loses without a word.
  uint256 public toll;

  constructor(uint256 toll_) {
    toll = toll_;
    totalShares = 7e20;
    pot = 1e21 + 1234567;
    sharesOf[msg.sender] = 7e20;
  }

  function totalSupply() external view returns (uint256) {
    return pot;
  }

  function balanceOf(address account) public view returns (uint256) {
    return (sharesOf[account] * pot) / totalShares;
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    uint256 shares = (amount * totalShares) / pot;
    sharesOf[msg.sender] -= shares;
    sharesOf[to] += shares - (shares * toll) / 1e6;
    sharesOf[address(1)] += (shares * toll) / 1e6;
    emit Transfer(msg.sender, to, amount);
    return true;
  }
}

/// A supply that bears interest by the second: its events count the interest since the last one, as Aave's do.
contract LentShares {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Mint(address indexed caller, address indexed onBehalfOf, uint256 value, uint256 balanceIncrease, uint256 index);
  event Burn(address indexed from, address indexed target, uint256 value, uint256 balanceIncrease, uint256 index);

  uint8 public constant decimals = 6;
  string public constant symbol = "aUSD";
  string public constant name = "Lent";
  IERC20 public immutable asset;
  uint256 immutable start = block.timestamp;
  mapping(address => uint256) scaled;
  mapping(address => uint256) lastIndex;

  constructor(IERC20 asset_) {
    asset = asset_;
  }

  function index() public view returns (uint256) {
    return 1e27 + (block.timestamp - start + 1_000_000) * 1e19;
  }

  function balanceOf(address account) public view returns (uint256) {
    return (scaled[account] * index() + 5e26) / 1e27;
  }

  function _increase(address account) internal returns (uint256 increase) {
    increase = balanceOf(account) - (scaled[account] * lastIndex[account] + 5e26) / 1e27;
    lastIndex[account] = index();
  }

  function supply(uint256 amount) external {
    uint256 increase = _increase(msg.sender);
    scaled[msg.sender] += (amount * 1e27 + index() / 2) / index();
    asset.transferFrom(msg.sender, address(this), amount);
    emit Transfer(address(0), msg.sender, amount + increase);
    emit Mint(msg.sender, msg.sender, amount + increase, increase, index());
  }

  function withdraw(uint256 amount) external {
    uint256 increase = _increase(msg.sender);
    scaled[msg.sender] -= (amount * 1e27 + index() / 2) / index();
    if (increase > amount) emit Transfer(address(0), msg.sender, increase - amount);
    else emit Transfer(msg.sender, address(0), amount - increase);
    emit Burn(msg.sender, msg.sender, amount - increase, increase, index());
    asset.transfer(msg.sender, amount);
  }
}

/// A stake that answers for balances and announces none, as Synthetix's does; rewards come by the second.
contract QuietStake {
  event Staked(address indexed user, uint256 amount);
  event Withdrawn(address indexed user, uint256 amount);
  event RewardPaid(address indexed user, uint256 reward);

  IERC20 public immutable asset;
  mapping(address => uint256) public balanceOf;
  mapping(address => uint256) since;
  uint256 public totalSupply;

  constructor(IERC20 asset_) {
    asset = asset_;
  }

  function stake(uint256 amount) external {
    since[msg.sender] = block.timestamp;
    totalSupply += amount;
    balanceOf[msg.sender] += amount;
    asset.transferFrom(msg.sender, address(this), amount);
    emit Staked(msg.sender, amount);
  }

  function withdraw(uint256 amount) external {
    totalSupply -= amount;
    balanceOf[msg.sender] -= amount;
    asset.transfer(msg.sender, amount);
    emit Withdrawn(msg.sender, amount);
  }

  /// Ends a stake for nothing.
  function forfeit(uint256 amount) external {
    totalSupply -= amount;
    balanceOf[msg.sender] -= amount;
    emit Withdrawn(msg.sender, amount);
  }

  function getReward() external {
    uint256 reward = (block.timestamp - since[msg.sender]) * 1e6;
    since[msg.sender] = block.timestamp;
    asset.transfer(msg.sender, reward);
    emit RewardPaid(msg.sender, reward);
  }
}

/// Mints from its own address and burns to it, as Compound's second version does.
contract Compounding {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Mint(address minter, uint256 mintAmount, uint256 mintTokens);
  event Redeem(address redeemer, uint256 redeemAmount, uint256 redeemTokens);

  uint8 public constant decimals = 8;
  string public constant symbol = "cUSD";
  string public constant name = "Compounding";
  IERC20 public immutable asset;
  mapping(address => uint256) public balanceOf;
  uint256 public totalSupply;

  constructor(IERC20 asset_) {
    asset = asset_;
  }

  function mint(uint256 amount) external returns (uint256) {
    asset.transferFrom(msg.sender, address(this), amount);
    uint256 tokens = amount * 50;
    totalSupply += tokens;
    balanceOf[msg.sender] += tokens;
    emit Mint(msg.sender, amount, tokens);
    emit Transfer(address(this), msg.sender, tokens);
    return 0;
  }

  function redeem(uint256 tokens) external returns (uint256) {
    totalSupply -= tokens;
    balanceOf[msg.sender] -= tokens;
    asset.transfer(msg.sender, tokens / 50);
    emit Transfer(msg.sender, address(this), tokens);
    emit Redeem(msg.sender, tokens / 50, tokens);
    return 0;
  }
}
