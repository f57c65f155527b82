// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20, Token} from "./Tokens.sol";
import {Pair} from "./HonestMarkets.sol";

/// A market whose price stands in its event as a number of 160 bits, as Uniswap v3 writes it.
contract Range {
  event Swap(
    address indexed sender,
    address indexed recipient,
    int256 amount0,
    int256 amount1,
    uint160 sqrtPriceX96,
    uint128 liquidity,
    int24 tick
  );

  IERC20 public token0;
  IERC20 public token1;
  uint160 public sqrtPriceX96;
  uint128 public liquidity;

  constructor(IERC20 token0_, IERC20 token1_, uint160 sqrtPriceX96_, uint128 liquidity_) {
    (token0, token1, sqrtPriceX96, liquidity) = (token0_, token1_, sqrtPriceX96_, liquidity_);
  }

  function swap(address recipient, uint256 amountIn, uint256 minimum) external returns (uint256 amountOut) {
    uint256 scaled = uint256(liquidity) << 96;
    uint160 next = uint160(scaled / (scaled / sqrtPriceX96 + amountIn));
    amountOut = (uint256(liquidity) * (sqrtPriceX96 - next)) >> 96;
    require(amountOut >= minimum, "Too little received");
    sqrtPriceX96 = next;
    token1.transfer(recipient, amountOut);
    token0.transferFrom(msg.sender, address(this), amountIn);
    emit Swap(msg.sender, recipient, int256(amountIn), -int256(amountOut), next, liquidity, 0);
  }
}

/// The average price of a pair over a period, from what it has summed up.
contract Twap {
  event Updated(uint256 cumulative, uint256 average);

  Pair public pair;
  uint256 public cumulative;
  uint256 public last;

  constructor(Pair pair_) {
    pair = pair_;
  }

  function update() external {
    (uint112 reserve0, uint112 reserve1, uint32 at) = pair.getReserves();
    uint256 now_ = pair.price0CumulativeLast() + ((uint256(reserve1) << 112) / reserve0) * (block.timestamp - at);
    require(block.timestamp - last >= 2, "period");
    emit Updated(now_, last == 0 ? 0 : (now_ - cumulative) / (block.timestamp - last));
    (cumulative, last) = (now_, block.timestamp);
  }
}

/// Two signatures for each call.
contract Multisig {
  event ExecutionSuccess(bytes32 indexed txHash, uint256 nonce);

  address[2] public owners;
  uint256 public nonce;

  constructor(address[2] memory owners_) {
    owners = owners_;
  }

  receive() external payable {}

  function hashOf(address to, uint256 value, bytes calldata data, uint256 nonce_) public view returns (bytes32) {
    return keccak256(abi.encode(block.chainid, address(this), to, value, keccak256(data), nonce_));
  }

  function execTransaction(
    address to,
    uint256 value,
    bytes calldata data,
    uint8[2] calldata v,
    bytes32[2] calldata r,
    bytes32[2] calldata s
  ) external {
    bytes32 hash = hashOf(to, value, data, nonce++);
    for (uint256 i; i < 2; i++) require(ecrecover(hash, v[i], r[i], s[i]) == owners[i], "signature");
    (bool ok, ) = to.call{value: value}(data);
    require(ok, "failed");
    emit ExecutionSuccess(hash, nonce - 1);
  }
}

/// A launch that bots shall not have: people alone, no dear gas, once a block, so much in each block.
contract Sale is Token("Launch", "LCH", 18) {
  uint256 public start;
  uint256 public soldIn;
  uint256 public sold;
  mapping(address => uint256) public lastBlock;

  constructor(uint256 start_) {
    start = start_;
  }

  function buy() external payable {
    require(msg.sender == tx.origin, "people only");
    require(tx.gasprice <= 200 gwei, "dear gas");
    require(block.timestamp >= start && block.timestamp < start + 365 days, "closed");
    require(lastBlock[msg.sender] < block.number, "once a block");
    lastBlock[msg.sender] = block.number;
    if (soldIn != block.number) (soldIn, sold) = (block.number, 0);
    sold += msg.value;
    require(sold <= 100 ether, "sold out");
    mint(msg.sender, msg.value * 1000);
  }
}

/// Takes what is meant for another chain, and burns gas for the gas it buys there, as OptimismPortal.
contract Portal {
  event TransactionDeposited(address indexed from, address indexed to, uint256 indexed version, bytes opaqueData);

  uint128 public baseFee = 1 gwei;
  uint64 public bought;
  uint64 public last = uint64(block.number);

  function depositTransaction(address to, uint256 value, uint64 gasLimit, bytes calldata data) external payable {
    uint256 before = gasleft();
    emit TransactionDeposited(msg.sender, to, 0, abi.encodePacked(msg.value, value, gasLimit, false, data));
    if (uint64(block.number) > last) {
      uint128 lower = baseFee - baseFee / 8;
      (last, bought, baseFee) = (uint64(block.number), 0, lower > 1 gwei ? lower : 1 gwei);
    }
    bought += gasLimit;
    require(bought <= 20_000_000, "OutOfGas");
    uint256 cost = (uint256(gasLimit) * baseFee) / (block.basefee > 1 gwei ? block.basefee : 1 gwei);
    uint256 i;
    while (before - gasleft() < cost) i++;
  }
}
