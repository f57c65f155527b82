// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20, Token, PermitToken, WETH9} from "./Tokens.sol";

/// A constant-product pair as Uniswap v2 writes it: a lock, reserves, a price summed up over time.
contract Pair is Token("Pair Share", "PAIR", 18) {
  event Mint(address indexed sender, uint256 amount0, uint256 amount1);
  event Swap(address indexed sender, uint256 in0, uint256 in1, uint256 out0, uint256 out1, address indexed to);
  event Sync(uint112 reserve0, uint112 reserve1);

  IERC20 public token0;
  IERC20 public token1;
  uint112 private reserve0;
  uint112 private reserve1;
  uint32 private timestampLast;
  uint256 public price0CumulativeLast;
  uint256 public price1CumulativeLast;
  uint256 private unlocked = 1;

  modifier lock() {
    require(unlocked == 1, "LOCKED");
    unlocked = 0;
    _;
    unlocked = 1;
  }

  constructor(IERC20 token0_, IERC20 token1_) {
    (token0, token1) = (token0_, token1_);
  }

  function getReserves() public view returns (uint112, uint112, uint32) {
    return (reserve0, reserve1, timestampLast);
  }

  function mint(address to) external lock returns (uint256 shares) {
    (uint256 held0, uint256 held1) = (token0.balanceOf(address(this)), token1.balanceOf(address(this)));
    (uint256 amount0, uint256 amount1) = (held0 - reserve0, held1 - reserve1);
    if (totalSupply == 0) shares = amount0 < amount1 ? amount0 : amount1;
    else {
      (uint256 by0, uint256 by1) = ((amount0 * totalSupply) / reserve0, (amount1 * totalSupply) / reserve1);
      shares = by0 < by1 ? by0 : by1;
    }
    mint(to, shares);
    _update(held0, held1);
    emit Mint(msg.sender, amount0, amount1);
  }

  function swap(uint256 out0, uint256 out1, address to) external lock {
    if (out0 > 0) token0.transfer(to, out0);
    if (out1 > 0) token1.transfer(to, out1);
    (uint256 held0, uint256 held1) = (token0.balanceOf(address(this)), token1.balanceOf(address(this)));
    uint256 in0 = held0 > reserve0 - out0 ? held0 - (reserve0 - out0) : 0;
    uint256 in1 = held1 > reserve1 - out1 ? held1 - (reserve1 - out1) : 0;
    require((held0 * 1000 - in0 * 3) * (held1 * 1000 - in1 * 3) >= uint256(reserve0) * reserve1 * 1e6, "K");
    _update(held0, held1);
    emit Swap(msg.sender, in0, in1, out0, out1, to);
  }

  function _update(uint256 held0, uint256 held1) private {
    uint32 elapsed = uint32(block.timestamp) - timestampLast;
    if (elapsed > 0 && reserve0 != 0 && reserve1 != 0) {
      price0CumulativeLast += ((uint256(reserve1) << 112) / reserve0) * elapsed;
      price1CumulativeLast += ((uint256(reserve0) << 112) / reserve1) * elapsed;
    }
    (reserve0, reserve1, timestampLast) = (uint112(held0), uint112(held1), uint32(block.timestamp));
    emit Sync(reserve0, reserve1);
  }
}

/// Trades, many calls at once, permits: as the periphery of Uniswap.
contract Router {
  error TransactionTooOld(uint256 deadline);
  error TooLittleReceived(uint256 received, uint256 minimum);

  WETH9 public weth;

  constructor(WETH9 weth_) {
    weth = weth_;
  }

  receive() external payable {}

  function multicall(bytes[] calldata data) external payable returns (bytes[] memory results) {
    results = new bytes[](data.length);
    for (uint256 i; i < data.length; i++) {
      (bool ok, bytes memory result) = address(this).delegatecall(data[i]);
      if (!ok) {
        assembly {
          revert(add(result, 32), mload(result))
        }
      }
      results[i] = result;
    }
  }

  function selfPermit(PermitToken token, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
    token.permit(msg.sender, address(this), value, deadline, v, r, s);
  }

  /// Sells token0 of the pair; with `value`, as WETH.
  function exactInput(
    Pair pair,
    uint256 amountIn,
    uint256 minimum,
    address to,
    uint256 deadline
  ) external payable returns (uint256 amountOut) {
    if (block.timestamp > deadline) revert TransactionTooOld(deadline);
    (uint112 reserveIn, uint112 reserveOut, ) = pair.getReserves();
    amountOut = (amountIn * 997 * reserveOut) / (uint256(reserveIn) * 1000 + amountIn * 997);
    if (amountOut < minimum) revert TooLittleReceived(amountOut, minimum);
    if (msg.value > 0) {
      weth.deposit{value: amountIn}();
      weth.transfer(address(pair), amountIn);
    } else pair.token0().transferFrom(msg.sender, address(pair), amountIn);
    pair.swap(0, amountOut, to);
  }

  function addLiquidity(Pair pair, uint256 amount0, uint256 deadline) external returns (uint256 shares) {
    if (block.timestamp > deadline) revert TransactionTooOld(deadline);
    (uint112 reserve0, uint112 reserve1, ) = pair.getReserves();
    pair.token0().transferFrom(msg.sender, address(pair), amount0);
    pair.token1().transferFrom(msg.sender, address(pair), (amount0 * reserve1) / reserve0);
    shares = pair.mint(msg.sender);
  }

  function refundETH() external payable {
    payable(msg.sender).transfer(address(this).balance);
  }
}

/// Rewards for each block, shared by what is staked: as MasterChef.
contract Farm {
  event Deposit(address indexed user, uint256 amount);
  event Harvest(address indexed user, uint256 amount);

  Token public stake;
  Token public reward;
  uint256 public perBlock;
  uint256 public lastBlock;
  uint256 public accPerShare;
  uint256 public staked;
  mapping(address => uint256) public amounts;
  mapping(address => uint256) public debts;

  constructor(Token stake_, Token reward_, uint256 perBlock_) {
    (stake, reward, perBlock, lastBlock) = (stake_, reward_, perBlock_, block.number);
  }

  function deposit(uint256 amount) external {
    _harvest();
    stake.transferFrom(msg.sender, address(this), amount);
    staked += amount;
    amounts[msg.sender] += amount;
    debts[msg.sender] = (amounts[msg.sender] * accPerShare) / 1e12;
    emit Deposit(msg.sender, amount);
  }

  function harvest() external {
    _harvest();
    debts[msg.sender] = (amounts[msg.sender] * accPerShare) / 1e12;
  }

  function _harvest() private {
    if (staked > 0) accPerShare += ((block.number - lastBlock) * perBlock * 1e12) / staked;
    lastBlock = block.number;
    uint256 due = (amounts[msg.sender] * accPerShare) / 1e12 - debts[msg.sender];
    if (due == 0) return;
    reward.mint(msg.sender, due);
    emit Harvest(msg.sender, due);
  }
}

/// A price feed as Chainlink's, written by its operator.
contract Feed {
  event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

  int256 public answer;
  uint256 public updatedAt;
  uint80 public round;

  function submit(int256 answer_) external {
    (answer, updatedAt) = (answer_, block.timestamp);
    emit AnswerUpdated(answer_, ++round, block.timestamp);
  }

  function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
    return (round, answer, updatedAt, updatedAt, round);
  }
}

/// Lends against ether by a feed that must be fresh; debts grow every second.
contract Bank {
  event Borrowed(address indexed user, uint256 amount, uint256 index);
  event Repaid(address indexed user, uint256 amount, uint256 index);

  error StalePrice(uint256 updatedAt);
  error Undercollateralised(uint256 debt, uint256 collateral);

  Token public asset;
  Feed public feed;
  uint256 public index = 1e27;
  uint256 public lastAccrual;
  mapping(address => uint256) public collateral;
  mapping(address => uint256) public scaled;

  constructor(Token asset_, Feed feed_) {
    (asset, feed, lastAccrual) = (asset_, feed_, block.timestamp);
  }

  function accrue() public {
    // 5 % a year
    index += (index * (block.timestamp - lastAccrual) * 5) / 100 / 365 days;
    lastAccrual = block.timestamp;
  }

  function borrow(uint256 amount) external payable {
    accrue();
    collateral[msg.sender] += msg.value;
    scaled[msg.sender] += (amount * 1e27) / index;
    (, int256 price, , uint256 updatedAt, ) = feed.latestRoundData();
    if (block.timestamp - updatedAt > 1 hours) revert StalePrice(updatedAt);
    uint256 debt = (scaled[msg.sender] * index) / 1e27;
    if (debt * 3 > collateral[msg.sender] * uint256(price) * 2)
      revert Undercollateralised(debt, collateral[msg.sender]);
    asset.transfer(msg.sender, amount);
    emit Borrowed(msg.sender, amount, index);
  }

  function repayAll() external {
    accrue();
    uint256 debt = (scaled[msg.sender] * index) / 1e27 + 1;
    delete scaled[msg.sender];
    asset.transferFrom(msg.sender, address(this), debt);
    uint256 back = collateral[msg.sender];
    delete collateral[msg.sender];
    payable(msg.sender).transfer(back);
    emit Repaid(msg.sender, debt, index);
  }
}

/// An ERC-4626 vault whose assets earn interest every second.
contract Savings is Token("Savings", "sGLD", 18) {
  event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
  event Withdraw(
    address indexed sender,
    address indexed receiver,
    address indexed owner,
    uint256 assets,
    uint256 shares
  );

  Token public asset;
  uint256 public rate = 1e27;
  uint256 public lastDrip;

  constructor(Token asset_, uint256 lastDrip_) {
    (asset, lastDrip) = (asset_, lastDrip_);
  }

  function drip() public {
    rate += (rate * (block.timestamp - lastDrip) * 8) / 100 / 365 days;
    lastDrip = block.timestamp;
  }

  function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
    drip();
    shares = (assets * 1e27) / rate;
    asset.transferFrom(msg.sender, address(this), assets);
    mint(receiver, shares);
    emit Deposit(msg.sender, receiver, assets, shares);
  }

  function redeem(uint256 shares, address receiver, address owner) external returns (uint256 assets) {
    drip();
    if (msg.sender != owner) _spend(owner, shares);
    assets = (shares * rate) / 1e27;
    _debit(owner, shares);
    totalSupply -= shares;
    emit Transfer(owner, address(0), shares);
    asset.mint(address(this), assets - shares);
    asset.transfer(receiver, assets);
    emit Withdraw(msg.sender, receiver, owner, assets, shares);
  }
}
