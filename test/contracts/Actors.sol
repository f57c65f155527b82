// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "./Tokens.sol";

/// Pulls tokens that were approved to it, and gives them back.
contract Vault {
  event Deposited(address indexed account, address indexed token, uint256 amount);
  event Withdrawn(address indexed account, address indexed token, uint256 amount);

  error NothingDeposited(address account, address token);

  mapping(address => mapping(address => uint256)) public deposits;

  function deposit(IERC20 token, uint256 amount) external {
    token.transferFrom(msg.sender, address(this), amount);
    deposits[msg.sender][address(token)] += amount;
    emit Deposited(msg.sender, address(token), amount);
  }

  function withdraw(IERC20 token) external {
    uint256 amount = deposits[msg.sender][address(token)];
    if (amount == 0) revert NothingDeposited(msg.sender, address(token));
    delete deposits[msg.sender][address(token)];
    token.transfer(msg.sender, amount);
    emit Withdrawn(msg.sender, address(token), amount);
  }

  /// Takes from anyone who has approved this contract, to anyone.
  function pull(IERC20 token, address from, address to, uint256 amount) external {
    token.transferFrom(from, to, amount);
  }
}

/// `pass` succeeds only after an earlier `open`.
contract Gate {
  event Opened(address indexed by);
  event Passed(address indexed by, uint256 count);

  error GateClosed(address caller, uint256 visits);

  bool public opened;
  uint256 public visits;

  function open() external {
    opened = true;
    emit Opened(msg.sender);
  }

  function close() external {
    opened = false;
  }

  function pass() external returns (uint256) {
    if (!opened) revert GateClosed(msg.sender, visits);
    emit Passed(msg.sender, ++visits);
    return visits;
  }
}

/// Holds one number; deployed by `Deployer`, and a target for plain deployments.
contract Box {
  error ZeroNotAllowed();

  uint256 public value;

  constructor(uint256 value_) payable {
    if (value_ == 0) revert ZeroNotAllowed();
    value = value_;
  }

  function set(uint256 value_) external {
    value = value_;
  }
}

/// Creates contracts by CREATE and CREATE2.
contract Deployer {
  event Deployed(address indexed at);

  function deploy(uint256 value) external payable returns (address at) {
    at = address(new Box{value: msg.value}(value));
    emit Deployed(at);
  }

  function deploy2(uint256 value, bytes32 salt) external payable returns (address at) {
    at = address(new Box{salt: salt, value: msg.value}(value));
    emit Deployed(at);
  }

  function create(bytes calldata code) external payable returns (address at) {
    bytes memory initCode = code;
    assembly {
      at := create(callvalue(), add(initCode, 32), mload(initCode))
      if iszero(at) {
        returndatacopy(0, 0, returndatasize())
        revert(0, returndatasize())
      }
    }
    emit Deployed(at);
  }
}

/// As Multicall3's aggregate3: an inner failure is swallowed where allowed, so too little gas looks like success (63/64).
contract Aggregator {
  error CallFailed(uint256 index, bytes reason);

  struct Call3 {
    address target;
    bool allowFailure;
    uint256 value;
    bytes callData;
  }
  struct Result {
    bool success;
    bytes returnData;
  }

  function aggregate(Call3[] calldata calls) external payable returns (Result[] memory results) {
    results = new Result[](calls.length);
    for (uint256 i; i < calls.length; i++) {
      (bool ok, bytes memory data) = calls[i].target.call{value: calls[i].value}(calls[i].callData);
      if (!ok && !calls[i].allowFailure) revert CallFailed(i, data);
      results[i] = Result(ok, data);
    }
  }

  receive() external payable {}
}

/// Needs far more gas while it runs than it is charged at the end: fills and clears storage.
contract StorageClearer {
  mapping(uint256 => uint256) public slots;
  uint256 public filled;

  function fill(uint256 count) external {
    for (uint256 i; i < count; i++) slots[filled + i] = 1;
    filled += count;
  }

  function clear(uint256 count) external {
    for (uint256 i; i < count; i++) delete slots[filled - 1 - i];
    filled -= count;
  }
}

/// Behaviour that depends on the gas given.
contract GasReader {
  event GasLeft(uint256 gas);

  error NotEnoughGas(uint256 left, uint256 needed);

  uint256 public last;

  function record() external returns (uint256) {
    emit GasLeft(gasleft());
    last = gasleft();
    return last;
  }

  function need(uint256 gas) external {
    if (gasleft() < gas) revert NotEnoughGas(gasleft(), gas);
    last = gas;
  }

  /// Does the work only if there is gas, and succeeds either way.
  function maybe(uint256 gas) external returns (bool done) {
    if (gasleft() >= gas) {
      last = gas;
      done = true;
    }
  }

  function burn(uint256 gas) external {
    uint256 stop = gasleft() - gas;
    while (gasleft() > stop) last = gasleft();
  }
}

/// Sends everything it holds by SELFDESTRUCT.
contract Destructor {
  constructor() payable {}

  receive() external payable {}

  function destroy(address payable to) external payable {
    selfdestruct(to);
  }
}

/// Creates a contract, funds it and lets it destroy itself in the same transaction.
contract DestructFactory {
  function run(address payable to) external payable {
    new Destructor{value: msg.value}().destroy(to);
  }
}

/// Ether on its way through internal calls.
contract Splitter {
  error TransferFailed(address to, uint256 amount);

  function split(address payable[] calldata to) external payable {
    uint256 share = msg.value / to.length;
    for (uint256 i; i < to.length; i++) {
      (bool ok, ) = to[i].call{value: share}("");
      if (!ok) revert TransferFailed(to[i], share);
    }
  }

  /// Sends, then lets an inner frame that also sent revert: that inner transfer never happened.
  function splitAndUndo(address payable to) external payable {
    (bool ok, ) = to.call{value: msg.value / 2}("");
    require(ok, "first transfer failed");
    try this.sendAndRevert(to, msg.value / 4) {} catch {}
  }

  function sendAndRevert(address payable to, uint256 amount) external {
    (bool ok, ) = to.call{value: amount}("");
    require(ok, "inner transfer failed");
    revert("undone");
  }

  function refund() external payable {
    payable(msg.sender).transfer(address(this).balance);
  }
}

/// Many movements of one token out of little calldata.
contract Payroll {
  /// `count` payments of one unit in turn to `parties` accounts, of which `first` is the first.
  function pay(IERC20 token, uint160 first, uint160 parties, uint160 count) external {
    for (uint160 i; i < count; i++) token.transfer(address(first + (i % parties)), 1);
  }
}

/// Code for delegated accounts (EIP-7702): runs a batch for its owner.
contract Delegate {
  error NotOwner(address caller);

  struct Call {
    address to;
    uint256 value;
    bytes data;
  }

  function execute(Call[] calldata calls) external payable {
    if (msg.sender != address(this)) revert NotOwner(msg.sender);
    for (uint256 i; i < calls.length; i++) {
      (bool ok, bytes memory data) = calls[i].to.call{value: calls[i].value}(calls[i].data);
      if (!ok) {
        assembly {
          revert(add(data, 32), mload(data))
        }
      }
    }
  }

  receive() external payable {}
}
