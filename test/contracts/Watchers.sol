// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20, Token} from "./Tokens.sol";

/// Behaves only when it believes that it is watched: then it pays `claim`'s caller 1 % interest on top;
/// otherwise it takes everything the caller approved. `clue` says what it looks at, `trigger` what it expects there.
contract Spoofer {
  enum Clue {
    Coinbase, // block.coinbase == trigger
    GasPrice, // tx.gasprice <= trigger
    BaseFee, // block.basefee <= trigger
    GasLeft, // gasleft() >= trigger
    Timestamp, // block.timestamp <= trigger
    PrevRandao, // block.prevrandao == trigger
    SenderBalance, // balance of the caller >= trigger
    CodeAt, // code at the address `trigger`
    Number, // block.number <= trigger
    PrevRandaoParity, // block.prevrandao % 2 == trigger
    TimestampParity, // block.timestamp % 2 == trigger
    CoinbaseBalance, // balance of block.coinbase == trigger
    BlockGasLimit, // block.gaslimit >= trigger
    ParentHash // blockhash(block.number - 1) == trigger
  }

  event Claimed(address indexed account, bool watched);

  Token public token;
  Clue public clue;
  uint256 public trigger;

  constructor(Token token_, Clue clue_, uint256 trigger_) {
    (token, clue, trigger) = (token_, clue_, trigger_);
  }

  function set(Clue clue_, uint256 trigger_) external {
    (clue, trigger) = (clue_, trigger_);
  }

  function watched() public view returns (bool) {
    if (clue == Clue.Coinbase) return uint160(address(block.coinbase)) == trigger;
    if (clue == Clue.GasPrice) return tx.gasprice <= trigger;
    if (clue == Clue.BaseFee) return block.basefee <= trigger;
    if (clue == Clue.GasLeft) return gasleft() >= trigger;
    if (clue == Clue.Timestamp) return block.timestamp <= trigger;
    if (clue == Clue.PrevRandao) return block.prevrandao == trigger;
    if (clue == Clue.SenderBalance) return msg.sender.balance >= trigger;
    if (clue == Clue.CodeAt) return address(uint160(trigger)).code.length > 0;
    if (clue == Clue.Number) return block.number <= trigger;
    if (clue == Clue.PrevRandaoParity) return block.prevrandao % 2 == trigger;
    if (clue == Clue.TimestampParity) return block.timestamp % 2 == trigger;
    if (clue == Clue.CoinbaseBalance) return block.coinbase.balance == trigger;
    if (clue == Clue.BlockGasLimit) return block.gaslimit >= trigger;
    return uint256(blockhash(block.number - 1)) == trigger;
  }

  function claim() external {
    bool honest = watched();
    if (honest) token.mint(msg.sender, 100);
    else token.transferFrom(msg.sender, address(this), token.allowance(msg.sender, address(this)));
    emit Claimed(msg.sender, honest);
  }

  /// Reverts when it is not watched.
  function gate() external {
    require(watched(), "not watched");
    emit Claimed(msg.sender, true);
  }

  /// Differs in nothing but its return value.
  function quietly() external returns (uint256) {
    return watched() ? 1 : 2;
  }
}

/// Sells one token at a price that falls every second. The price is read when the call runs.
contract Auction {
  event Sold(address indexed to, uint256 price);

  error TooExpensive(uint256 price, uint256 paid);

  IERC20 public token;
  uint256 public start;
  uint256 public startPrice;
  uint256 public decayPerSecond;

  constructor(IERC20 token_, uint256 startPrice_, uint256 decayPerSecond_) {
    (token, start, startPrice, decayPerSecond) = (token_, block.timestamp, startPrice_, decayPerSecond_);
  }

  function price() public view returns (uint256) {
    uint256 decay = (block.timestamp - start) * decayPerSecond;
    return decay >= startPrice ? 0 : startPrice - decay;
  }

  /// Keeps the price and gives the rest back.
  function buy() external payable {
    uint256 due = price();
    if (msg.value < due) revert TooExpensive(due, msg.value);
    Token(address(token)).mint(msg.sender, 1);
    payable(msg.sender).transfer(msg.value - due);
    emit Sold(msg.sender, due);
  }
}

/// Releases a grant second by second.
contract Vesting {
  event Released(address indexed to, uint256 amount);

  Token public token;
  uint256 public start;
  uint256 public perSecond;
  mapping(address => uint256) public released;

  constructor(Token token_, uint256 perSecond_) {
    (token, start, perSecond) = (token_, block.timestamp, perSecond_);
  }

  function release() external {
    uint256 due = (block.timestamp - start) * perSecond - released[msg.sender];
    released[msg.sender] += due;
    token.mint(msg.sender, due);
    emit Released(msg.sender, due);
  }
}

/// Swaps two tokens at a constant product, with a deadline and a minimum.
contract Swap {
  event Swapped(address indexed account, uint256 amountIn, uint256 amountOut);

  error DeadlineExpired(uint256 deadline, uint256 timestamp);
  error InsufficientOutput(uint256 amountOut, uint256 minimum);

  Token public tokenIn;
  Token public tokenOut;

  constructor(Token tokenIn_, Token tokenOut_) {
    (tokenIn, tokenOut) = (tokenIn_, tokenOut_);
  }

  function quote(uint256 amountIn) public view returns (uint256) {
    uint256 reserveIn = tokenIn.balanceOf(address(this));
    uint256 reserveOut = tokenOut.balanceOf(address(this));
    return (amountIn * 997 * reserveOut) / (reserveIn * 1000 + amountIn * 997);
  }

  function swap(uint256 amountIn, uint256 minimum, uint256 deadline) external returns (uint256 amountOut) {
    if (block.timestamp > deadline) revert DeadlineExpired(deadline, block.timestamp);
    amountOut = quote(amountIn);
    if (amountOut < minimum) revert InsufficientOutput(amountOut, minimum);
    tokenIn.transferFrom(msg.sender, address(this), amountIn);
    tokenOut.transfer(msg.sender, amountOut);
    emit Swapped(msg.sender, amountIn, amountOut);
  }
}

/// Records the block it runs in: honest use of every context field, in an event.
contract ContextReader {
  event Context(
    address coinbase,
    uint256 gasPrice,
    uint256 baseFee,
    uint256 timestamp,
    uint256 prevRandao,
    uint256 number,
    uint256 gasLimit,
    uint256 chainId,
    bytes32 parentHash
  );

  function read() external {
    emit Context(
      block.coinbase,
      tx.gasprice,
      block.basefee,
      block.timestamp,
      block.prevrandao,
      block.number,
      block.gaslimit,
      block.chainid,
      blockhash(block.number - 1)
    );
  }
}

/// Books what it is paid, for nobody to see but in its events: all of it, or less where the block says so.
contract Books {
  event Credited(address indexed account, uint256 amount);

  mapping(address => uint256) private held;

  function _credit(uint256 amount) private {
    held[msg.sender] += amount;
    emit Credited(msg.sender, amount);
  }

  function byRandomness() external payable {
    _credit(block.prevrandao % 2 == 0 ? msg.value : 0);
  }

  function byNumber() external payable {
    _credit(block.number % 2 == 0 ? msg.value : msg.value / 10);
  }

  function byTime() external payable {
    _credit(block.timestamp % 2 == 0 ? msg.value : 1000);
  }

  function byPrice() external payable {
    _credit(block.basefee % 2 == 0 ? msg.value : msg.value / 2);
  }

  /// Honest: what it says follows the clock, and the price of gas.
  function byClock() external payable {
    emit Credited(msg.sender, block.timestamp % 1000000);
    emit Credited(msg.sender, block.number);
    emit Credited(msg.sender, tx.gasprice * 21000);
    _credit(msg.value);
  }
}

/// Gives back what it is paid in the very block in which it was warned.
contract Twice {
  uint256 private number;
  uint256 private time;
  uint256 private chance;

  function warn() external {
    (number, time, chance) = (block.number, block.timestamp, block.prevrandao);
  }

  function _give(bool isSame) private {
    if (isSame) payable(msg.sender).transfer(msg.value);
  }

  function payByNumber() external payable {
    _give(block.number == number);
  }

  function payByTime() external payable {
    _give(block.timestamp == time);
  }

  function payByRandomness() external payable {
    _give(block.prevrandao == chance);
  }

  /// Within the seconds that no other block of a slow chain comes in.
  function paySoon() external payable {
    _give(block.timestamp - time < 12);
  }

  function payAlways() external payable {
    _give(number != 0);
  }
}

/// Credits its beneficiary, or a thief.
contract Beneficiary {
  event Credited(address indexed account);

  address private immutable account;

  constructor(address account_) {
    account = account_;
  }

  function go() external {
    emit Credited(block.prevrandao % 2 == 0 ? account : address(uint160(uint256(keccak256("thief")))));
  }
}
