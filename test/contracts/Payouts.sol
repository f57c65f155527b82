// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "./Tokens.sol";

/// Receives by an endless loop; fails by an old assert.
contract Greedy {
  receive() external payable {
    while (true) {}
  }

  function broken() external {
    assembly {
      invalid()
    }
  }
}

/// Goes on after calls that fail with all the gas they were given, and counts those that did not.
contract Payout {
  event Done(uint256 count);

  uint256 public count;
  uint256 public last;

  modifier told() {
    _;
    emit Done(count);
  }

  function pay(address payable[] calldata to) external payable told {
    for (uint256 i; i < to.length; i++) {
      (bool ok, ) = to[i].call{value: msg.value / to.length}("");
      if (ok) count++;
    }
  }

  function payCapped(address payable to, uint256 gas) external payable told {
    (bool ok, ) = to.call{value: msg.value, gas: gas}("");
    if (ok) count++;
  }

  function poke(address to) external told {
    (bool ok, ) = to.call(abi.encodeCall(Greedy.broken, ()));
    if (ok) count++;
  }

  /// A point that is not on the curve.
  function curve() external told {
    uint256[4] memory points = [uint256(1), 1, 1, 1];
    bool ok;
    assembly {
      ok := call(gas(), 6, 0, points, 128, points, 64)
    }
    if (ok) count++;
  }

  /// Where the contract is already, CREATE2 makes none.
  function make() external told {
    bytes memory code = type(Greedy).creationCode;
    address at;
    assembly {
      at := create2(0, add(code, 32), mload(code), 0)
    }
    if (at != address(0)) count++;
  }

  /// Honest: works without a word as long as there is gas.
  function work(uint256 left) external {
    while (gasleft() > left) last = uint256(keccak256(abi.encode(last)));
  }

  /// Honest: tells how far it came.
  function workAloud(uint256 left) external {
    uint256 rounds;
    while (gasleft() > left) {
      last = uint256(keccak256(abi.encode(last)));
      rounds++;
    }
    emit Done(rounds);
  }
}

/// Receives by filling slots, without a word.
contract Diligent {
  uint256[8] public slots;

  receive() external payable {
    for (uint256 i; i < slots.length; i++) slots[i] = block.number;
  }
}

/// Goes on after calls that burn their gas, and does something behind them without a word.
contract Cliff {
  uint256 public last = 1;

  function paySilently(address payable[] calldata to) external payable {
    for (uint256 i; i < to.length; i++) {
      (bool ok, ) = to[i].call{value: msg.value / to.length}("");
      ok;
    }
  }

  function noteGas(address to) external {
    (bool ok, ) = to.call(abi.encodeCall(Greedy.broken, ()));
    if (!ok) last = gasleft();
  }

  function note(address to, uint256 value) external {
    (bool ok, ) = to.call(abi.encodeCall(Greedy.broken, ()));
    if (!ok) last = value;
  }

  function clear() external {
    last = 0;
  }
}

/// Moves the tokens of others at the word of its market.
contract Conduit {
  function move(address token, address from, address to, uint256 amount) external {
    require(IERC20(token).transferFrom(from, to, amount));
  }
}

/// Sells by a conduit that its storage names, and by one that its code does.
contract ConduitMarket {
  Conduit public conduit;
  Conduit public immutable fixedConduit;

  constructor(Conduit conduit_, Conduit fixed_) {
    (conduit, fixedConduit) = (conduit_, fixed_);
  }

  function sell(address token, uint256 amount) external {
    conduit.move(token, msg.sender, address(this), amount);
  }

  function sellFixed(address token, uint256 amount) external {
    fixedConduit.move(token, msg.sender, address(this), amount);
  }

  function sellOwn(address token, uint256 amount) external {
    require(IERC20(token).transferFrom(msg.sender, address(this), amount));
  }
}
