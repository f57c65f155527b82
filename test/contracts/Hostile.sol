// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A token that transfers honestly (mint, transfer, events) while its reads misbehave as `mode` says.
contract HostileToken {
  enum Mode {
    Honest,
    Reverts, // with an error string
    BurnsAllGas, // loops
    Invalid, // INVALID opcode
    Megabyte, // returns 1 MB
    RevertsMegabyte, // reverts with 1 MB
    PerCaller, // a different answer for every caller
    Writes, // changes state: works only when CALLed
    SelfDestructs,
    CallsBack, // calls its caller with the very same data, then answers
    Reenters, // asks itself again and again
    Short, // returns 31 bytes
    Empty, // returns nothing
    PerGas, // answers with the gas it has left
    Maximum, // 2^256 - 1
    Logs, // emits a log: works only when CALLed
    Creates, // deploys: works only when CALLed
    PerOrigin // another answer when asked by a transaction of somebody else than the holder
  }

  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  Mode public mode;
  uint256 public writes;
  mapping(address => uint256) private balances;
  mapping(address => mapping(address => uint256)) private allowances;

  constructor(Mode mode_) {
    mode = mode_;
  }

  function setMode(Mode mode_) external {
    mode = mode_;
  }

  function mint(address to, uint256 amount) external {
    balances[to] += amount;
    emit Transfer(address(0), to, amount);
  }

  function approve(address spender, uint256 amount) external returns (bool) {
    allowances[msg.sender][spender] = amount;
    emit Approval(msg.sender, spender, amount);
    return true;
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    balances[msg.sender] -= amount;
    balances[to] += amount;
    emit Transfer(msg.sender, to, amount);
    return true;
  }

  /// Pays double once somebody has managed to make `balanceOf` write.
  function transferPrimed(address to, uint256 amount) external returns (bool) {
    balances[to] += amount * (writes + 1);
    emit Transfer(msg.sender, to, amount * (writes + 1));
    return true;
  }

  function balanceOf(address account) external returns (uint256) {
    return _answer(balances[account], account);
  }

  function allowance(address owner, address spender) external returns (uint256) {
    return _answer(allowances[owner][spender], owner);
  }

  function name() external returns (string memory) {
    _answer(0, address(0));
    return "Hostile";
  }

  function symbol() external returns (string memory) {
    _answer(0, address(0));
    return unicode"HOST\u202e\u0007";
  }

  function decimals() external returns (uint256) {
    return _answer(18, address(0));
  }

  function _answer(uint256 honest, address account) private returns (uint256) {
    Mode how = mode;
    if (how == Mode.Reverts) revert("balance? what balance");
    if (how == Mode.BurnsAllGas) for (uint256 i; ; i++) honest ^= i;
    if (how == Mode.Invalid)
      assembly {
        invalid()
      }
    if (how == Mode.Megabyte)
      assembly {
        mstore(0, honest)
        return(0, 1048576)
      }
    if (how == Mode.RevertsMegabyte)
      assembly {
        revert(0, 1048576)
      }
    if (how == Mode.PerCaller) return honest ^ uint160(msg.sender);
    if (how == Mode.Writes) writes++;
    if (how == Mode.SelfDestructs) selfdestruct(payable(account));
    if (how == Mode.CallsBack) {
      (bool success, bytes memory data) = msg.sender.call(msg.data);
      writes = success ? data.length : 1;
    }
    if (how == Mode.Reenters) {
      (bool success, ) = address(this).staticcall(msg.data);
      if (success) return honest;
    }
    if (how == Mode.Short)
      assembly {
        mstore(0, honest)
        return(0, 31)
      }
    if (how == Mode.Empty)
      assembly {
        return(0, 0)
      }
    if (how == Mode.PerGas) return gasleft();
    if (how == Mode.Maximum) return type(uint256).max;
    if (how == Mode.Logs) emit Transfer(account, account, honest);
    if (how == Mode.Creates)
      assembly {
        pop(create(0, 0, 0))
      }
    if (how == Mode.PerOrigin && tx.origin != account) return honest + 1;
    return honest;
  }
}

/// Metadata that lies about its own shape.
contract HostileMetadata {
  bytes public nameData;
  bytes public symbolData;
  uint256 public decimals;

  function set(bytes calldata name_, bytes calldata symbol_, uint256 decimals_) external {
    (nameData, symbolData, decimals) = (name_, symbol_, decimals_);
  }

  function name() external view {
    _return(nameData);
  }

  function symbol() external view {
    _return(symbolData);
  }

  function _return(bytes memory data) private pure {
    assembly {
      return(add(data, 32), mload(data))
    }
  }
}
