// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20, PermitToken, Token, WETH9} from "./Tokens.sol";

/// Answers false where others revert: while it is paused, for who lacks the balance or the allowance, and for receivers it shuns.
contract ShyToken is Token("Shy Token", "SHY", 18) {
  bool public paused;
  mapping(address => bool) public shuns;

  function pause() external {
    paused = true;
  }

  function shun(address account) external {
    shuns[account] = true;
  }

  function transfer(address to, uint256 amount) public override returns (bool) {
    return _refuses(msg.sender, to, amount) ? false : super.transfer(to, amount);
  }

  function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
    bool isAllowed = allowance[from][msg.sender] >= amount;
    return !isAllowed || _refuses(from, to, amount) ? false : super.transferFrom(from, to, amount);
  }

  function approve(address spender, uint256 amount) public override returns (bool) {
    return paused || shuns[spender] ? false : super.approve(spender, amount);
  }

  function _refuses(address from, address to, uint256 amount) private view returns (bool) {
    return paused || shuns[to] || balances[from] < amount;
  }
}

/// Takes a share of each transfer, and tells of both parts.
contract TaxToken is Token("Tax Token", "TAX", 18) {
  address public constant treasury = 0x00000000000000000000000000000000C0FfeE00;
  uint256 public tax;

  constructor(uint256 tax_) {
    tax = tax_;
  }

  function _move(address from, address to, uint256 amount) internal override {
    uint256 taken = (amount * tax) / 10_000;
    super._move(from, to, amount - taken);
    if (taken > 0) super._move(from, treasury, taken);
  }
}

/// Balances are shares of a pool that grows, rounded down, as those of stETH.
contract PoolToken is Token("Pool Token", "POOL", 18) {
  uint256 public pool;

  function balanceOf(address account) public view override returns (uint256) {
    return totalSupply == 0 ? 0 : (balances[account] * pool) / totalSupply;
  }

  function mint(address to, uint256 amount) public override {
    uint256 shares = pool == 0 ? amount : (amount * totalSupply) / pool;
    totalSupply += shares;
    pool += amount;
    balances[to] += shares;
    emit Transfer(address(0), to, amount);
  }

  function grow(uint256 amount) external {
    pool += amount;
  }

  function _move(address from, address to, uint256 amount) internal override {
    uint256 shares = (amount * totalSupply) / pool;
    _debit(from, shares);
    balances[to] += shares;
    emit Transfer(from, to, amount);
  }
}

/// Takes what it is paid by any call, as wrapped currency does, and has no function of a grant.
contract Swallower {
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  event Deposit(address indexed from, uint256 amount);

  fallback() external payable {
    balanceOf[msg.sender] += msg.value;
    if (msg.value > 0) emit Deposit(msg.sender, msg.value);
  }

  receive() external payable {
    balanceOf[msg.sender] += msg.value;
  }
}

/// Takes tokens and does not look whether it got them, at any depth of calls to itself.
contract Stall {
  event Sold(address indexed customer, uint256 indexed item, uint256 price);

  mapping(address => uint256) public credit;

  function buy(IERC20 token, uint256 price, uint256 item) external {
    this.take(token, msg.sender, price, item % 4);
    credit[msg.sender] += price;
    emit Sold(msg.sender, item, price);
  }

  function buyTwice(IERC20 first, IERC20 second, uint256 price) external {
    this.take(first, msg.sender, price, 0);
    this.take(second, msg.sender, price, 1);
    emit Sold(msg.sender, price, 2 * price);
  }

  function payOut(IERC20 token, address to, uint256 amount) external {
    token.transfer(to, amount);
    emit Sold(to, 0, amount);
  }

  function lend(IERC20 token, address to, uint256 amount) external {
    token.approve(to, amount);
    emit Sold(to, 1, amount);
  }

  function take(IERC20 token, address from, uint256 amount, uint256 depth) external {
    require(msg.sender == address(this));
    if (depth > 0) this.take(token, from, amount, depth - 1);
    else token.transferFrom(from, address(this), amount);
  }

  /// As a router does before it takes: whoever has used the permit before, the right is there.
  function permitAndTake(PermitToken token, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
    try token.permit(msg.sender, address(this), amount, deadline, v, r, s) {} catch {}
    require(token.transferFrom(msg.sender, address(this), amount));
    credit[msg.sender] += amount;
  }

  /// As that, for what was allowed before, of whatever has a fallback.
  function permitAndBook(PermitToken token, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
    token.permit(msg.sender, address(this), amount, deadline, v, r, s);
    credit[msg.sender] += amount;
    emit Sold(msg.sender, deadline, amount);
  }
}

/// Calls of many contracts in one, as Multicall3.
contract Multicall3 {
  struct Call3 {
    address target;
    bool allowFailure;
    bytes callData;
  }
  struct Call3Value {
    address target;
    bool allowFailure;
    uint256 value;
    bytes callData;
  }
  struct Result {
    bool success;
    bytes returnData;
  }

  function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
    results = new Result[](calls.length);
    for (uint256 i; i < calls.length; i++) {
      (bool ok, bytes memory data) = calls[i].target.call(calls[i].callData);
      require(ok || calls[i].allowFailure, "Multicall3: call failed");
      results[i] = Result(ok, data);
    }
  }

  function aggregate3Value(Call3Value[] calldata calls) external payable returns (Result[] memory results) {
    results = new Result[](calls.length);
    for (uint256 i; i < calls.length; i++) {
      (bool ok, bytes memory data) = calls[i].target.call{value: calls[i].value}(calls[i].callData);
      require(ok || calls[i].allowFailure, "Multicall3: call failed");
      results[i] = Result(ok, data);
    }
  }
}

/// An account of modules (ERC-7579) that its owner calls.
contract ModularAccount {
  struct Execution {
    address target;
    uint256 value;
    bytes callData;
  }

  address public owner = msg.sender;

  receive() external payable {}

  function execute(bytes32 mode, bytes calldata data) external payable {
    require(msg.sender == owner);
    if (mode[0] == 0x01) {
      Execution[] memory calls = abi.decode(data, (Execution[]));
      for (uint256 i; i < calls.length; i++) _run(calls[i].target, calls[i].value, calls[i].callData);
    } else _run(address(bytes20(data[:20])), uint256(bytes32(data[20:52])), data[52:]);
  }

  function _run(address target, uint256 value, bytes memory data) private {
    (bool ok, bytes memory why) = target.call{value: value}(data);
    if (!ok) {
      assembly {
        revert(add(why, 32), mload(why))
      }
    }
  }
}

/// Names the code of proxies.
contract Beacon {
  address public implementation;

  constructor(address implementation_) {
    implementation = implementation_;
  }
}

/// A proxy that asks a beacon for its code (EIP-1967).
contract BeaconProxy {
  constructor(address beacon) {
    assembly {
      sstore(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50, beacon)
    }
  }

  fallback() external payable {
    assembly {
      mstore(0, 0x5c60da1b00000000000000000000000000000000000000000000000000000000)
      if iszero(
        staticcall(gas(), sload(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50), 0, 4, 0, 32)
      ) {
        revert(0, 0)
      }
      let code := mload(0)
      calldatacopy(0, 0, calldatasize())
      let ok := delegatecall(gas(), code, 0, calldatasize(), 0, 0)
      returndatacopy(0, 0, returndatasize())
      if iszero(ok) {
        revert(0, returndatasize())
      }
      return(0, returndatasize())
    }
  }

  receive() external payable {}
}

/// Keeps a number, and what it is paid.
contract Ledger {
  event Entered(uint256 entry);

  uint256 public entry;

  function enter(uint256 value) external payable {
    entry = value;
    emit Entered(value);
  }

  function set(uint256 value) external payable {
    entry = value;
  }
}

/// Takes nothing.
contract Closed {
  function work() external pure {}
}

/// Its making fails while it is paid less than it asks for.
contract Stubborn {
  constructor(uint256 least) payable {
    require(msg.value >= least, "too little");
  }

  function begin() external {}
}

/// Pays, makes and tries, and passes over what fails.
contract Giver {
  event Done(uint256 count);

  receive() external payable {}

  function byCall(address payable[] calldata to, uint256 amount, uint256 depth) external payable {
    if (depth > 0) this.byCall{value: msg.value}(to, amount, depth - 1);
    else
      for (uint256 i; i < to.length; i++) {
        (bool ok, ) = to[i].call{value: amount}("");
        ok;
      }
  }

  function bySend(address payable[] calldata to, uint256 amount) external payable {
    for (uint256 i; i < to.length; i++) to[i].send(amount);
    emit Done(to.length);
  }

  function byTry(address payable[] calldata to, uint256 amount) external payable {
    for (uint256 i; i < to.length; i++) try this.one{value: amount}(to[i]) {} catch {}
    emit Done(to.length);
  }

  function one(address payable to) external payable {
    (bool ok, ) = to.call{value: msg.value}("");
    require(ok, "refused");
  }

  /// Collects from each; who has not allowed it is passed over.
  function collect(IERC20 token, address[] calldata from, uint256 amount) external {
    for (uint256 i; i < from.length; i++)
      try token.transferFrom(from[i], address(this), amount) returns (bool) {} catch {}
    emit Done(from.length);
  }

  /// Makes a contract with what it is paid; where that fails, the payment stays here.
  function make(uint256 least) external payable {
    try new Stubborn{value: msg.value}(least) {} catch {}
    emit Done(least);
  }

  function makeAndBegin(uint256 least) external payable {
    new Stubborn{value: msg.value}(least).begin();
    emit Done(least);
  }
}

/// Wraps what it is paid and hands it on; takes and hands back; asks for all there is.
contract Courier {
  function wrapTo(WETH9 weth, address to) external payable {
    weth.deposit{value: msg.value}();
    require(weth.transfer(to, msg.value));
  }

  function roundTrip(IERC20 token, uint256 amount) external {
    require(token.transferFrom(msg.sender, address(this), amount));
    require(token.transfer(msg.sender, amount));
  }

  function forward(IERC20 token, address to, uint256 amount) external {
    require(token.transferFrom(msg.sender, address(this), amount));
    require(token.transfer(to, token.balanceOf(address(this))));
  }

  function refund(address payable to, uint256 amount) external payable {
    to.transfer(amount);
    payable(msg.sender).transfer(address(this).balance);
  }
}
