// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// Tokens that keep balances and allowances in one layout of storage each. The rest is the same, and as plain as can be.
abstract contract Layout {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  function balanceOf(address owner) public view virtual returns (uint256);
  function allowance(address owner, address spender) public view virtual returns (uint256);
  function _setBalance(address owner, uint256 amount) internal virtual;
  function _setAllowance(address owner, address spender, uint256 amount) internal virtual;

  function _move(address from, address to, uint256 amount) internal {
    _setBalance(from, balanceOf(from) - amount);
    _setBalance(to, balanceOf(to) + amount);
    emit Transfer(from, to, amount);
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    _move(msg.sender, to, amount);
    return true;
  }

  function transferFrom(address from, address to, uint256 amount) external returns (bool) {
    _setAllowance(from, msg.sender, allowance(from, msg.sender) - amount);
    _move(from, to, amount);
    return true;
  }
}

/// Where nothing but the slots differs.
abstract contract LayoutBySlot is Layout {
  function _balanceSlot(address owner) internal pure virtual returns (bytes32 slot);
  function _allowanceSlot(address owner, address spender) internal pure virtual returns (bytes32 slot);

  function _read(bytes32 slot) internal view returns (uint256 value) {
    assembly {
      value := sload(slot)
    }
  }

  function _write(bytes32 slot, uint256 value) internal {
    assembly {
      sstore(slot, value)
    }
  }

  function balanceOf(address owner) public view virtual override returns (uint256) {
    return _read(_balanceSlot(owner));
  }

  function allowance(address owner, address spender) public view virtual override returns (uint256) {
    return _read(_allowanceSlot(owner, spender));
  }

  function _setBalance(address owner, uint256 amount) internal virtual override {
    _write(_balanceSlot(owner), amount);
  }

  function _setAllowance(address owner, address spender, uint256 amount) internal virtual override {
    _write(_allowanceSlot(owner, spender), amount);
  }
}

/// Solidity's mappings, at the first slots.
contract LayoutFirst is Layout {
  mapping(address => uint256) internal balances;
  mapping(address => mapping(address => uint256)) internal allowances;

  function balanceOf(address owner) public view virtual override returns (uint256) {
    return balances[owner];
  }

  function allowance(address owner, address spender) public view virtual override returns (uint256) {
    return allowances[owner][spender];
  }

  function _setBalance(address owner, uint256 amount) internal virtual override {
    balances[owner] = amount;
  }

  function _setAllowance(address owner, address spender, uint256 amount) internal virtual override {
    allowances[owner][spender] = amount;
  }
}

contract NinePlaces {
  uint256[9] internal places;
}

contract Gap {
  uint256[51] internal first;
  uint256[50] internal second;
  uint256[50] internal third;
}

/// Behind nine other values, as USDC.
contract LayoutNinth is NinePlaces, LayoutFirst {}

/// Behind the gaps of three upgradeable contracts.
contract LayoutUpgradeable is Gap, LayoutFirst {}

/// Allowances by spender, then owner.
contract LayoutBySpender is LayoutFirst {
  function allowance(address owner, address spender) public view override returns (uint256) {
    return allowances[spender][owner];
  }

  function _setAllowance(address owner, address spender, uint256 amount) internal override {
    allowances[spender][owner] = amount;
  }
}

/// The balance is the first value of a struct.
contract LayoutInStruct is LayoutFirst {
  struct Account {
    uint256 balance;
    uint256 nonce;
  }
  mapping(address => Account) internal accounts;

  function balanceOf(address owner) public view override returns (uint256) {
    return accounts[owner].balance;
  }

  function _setBalance(address owner, uint256 amount) internal override {
    accounts[owner].balance = amount;
  }
}

/// Vyper hashes the slot first, then the key.
contract LayoutVyper is LayoutBySlot {
  function _hash(bytes32 first, bytes32 second) internal pure returns (bytes32 slot) {
    assembly {
      mstore(0x00, first)
      mstore(0x20, second)
      slot := keccak256(0x00, 0x40)
    }
  }

  function _key(address account) internal pure returns (bytes32) {
    return bytes32(uint256(uint160(account)));
  }

  function _balanceSlot(address owner) internal pure virtual override returns (bytes32) {
    return _hash(bytes32(uint256(5)), _key(owner));
  }

  function _allowanceSlot(address owner, address spender) internal pure virtual override returns (bytes32) {
    return _hash(_hash(bytes32(uint256(6)), _key(owner)), _key(spender));
  }
}

/// The same, allowances by spender first.
contract LayoutVyperBySpender is LayoutVyper {
  function _allowanceSlot(address owner, address spender) internal pure override returns (bytes32) {
    return _hash(_hash(bytes32(uint256(6)), _key(spender)), _key(owner));
  }
}

/// Solady's seeds, by its own assembly (src/tokens/ERC20.sol).
contract LayoutSolady is LayoutBySlot {
  uint256 private constant _BALANCE_SLOT_SEED = 0x87a211a2;
  uint256 private constant _ALLOWANCE_SLOT_SEED = 0x7f5e9f20;

  function _balanceSlot(address owner) internal pure override returns (bytes32 slot) {
    assembly {
      mstore(0x0c, _BALANCE_SLOT_SEED)
      mstore(0x00, owner)
      slot := keccak256(0x0c, 0x20)
    }
  }

  function _allowanceSlot(address owner, address spender) internal pure override returns (bytes32 slot) {
    assembly {
      let free := mload(0x40)
      mstore(0x20, spender)
      mstore(0x0c, _ALLOWANCE_SLOT_SEED)
      mstore(0x00, owner)
      slot := keccak256(0x0c, 0x34)
      mstore(0x40, free)
    }
  }
}

/// OpenZeppelin's upgradeable ERC-20 from 5.0 on: a struct at an ERC-7201 namespace.
contract LayoutNamespaced is Layout {
  struct ERC20Storage {
    mapping(address => uint256) balances;
    mapping(address => mapping(address => uint256)) allowances;
    uint256 totalSupply;
  }

  function _storage() internal pure virtual returns (ERC20Storage storage $) {
    assembly {
      $.slot := 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00
    }
  }

  function balanceOf(address owner) public view override returns (uint256) {
    return _storage().balances[owner];
  }

  function allowance(address owner, address spender) public view override returns (uint256) {
    return _storage().allowances[owner][spender];
  }

  function _setBalance(address owner, uint256 amount) internal override {
    _storage().balances[owner] = amount;
  }

  function _setAllowance(address owner, address spender, uint256 amount) internal override {
    _storage().allowances[owner][spender] = amount;
  }
}

/// Solidstate's, as facets of diamonds have it.
contract LayoutDiamond is LayoutNamespaced {
  function _storage() internal pure override returns (ERC20Storage storage $) {
    bytes32 slot = keccak256("solidstate.contracts.storage.ERC20Base");
    assembly {
      $.slot := slot
    }
  }
}

/// The highest bit of a balance says that the account is barred, as in USDC.
contract LayoutFlagged is NinePlaces, LayoutFirst {
  uint256 internal constant flag = 1 << 255;

  function balanceOf(address owner) public view override returns (uint256) {
    return balances[owner] & ~flag;
  }

  function _setBalance(address owner, uint256 amount) internal override {
    require(balances[owner] < flag, "barred");
    balances[owner] = amount;
  }

  function bar(address owner) external {
    balances[owner] |= flag;
  }
}

/// Two amounts in one slot.
contract LayoutPacked is LayoutFirst {
  struct Account {
    uint128 balance;
    uint128 frozen;
  }
  mapping(address => Account) internal accounts;

  function balanceOf(address owner) public view override returns (uint256) {
    return accounts[owner].balance;
  }

  function _setBalance(address owner, uint256 amount) internal override {
    accounts[owner].balance = uint128(amount);
  }
}

/// Balances are shares of all there is; three units for each two shares.
contract LayoutShares is LayoutFirst {
  function balanceOf(address owner) public view virtual override returns (uint256) {
    return (balances[owner] * 3) / 2;
  }
}

/// The same, by half of a word at a time, so that nothing overflows.
contract LayoutWideShares is LayoutFirst {
  function balanceOf(address owner) public view override returns (uint256) {
    return (balances[owner] >> 1) + (balances[owner] >> 2);
  }
}

/// Balances with their history.
contract LayoutCheckpoints is LayoutFirst {
  struct Checkpoint {
    uint128 from;
    uint128 value;
  }
  mapping(address => Checkpoint[]) internal history;

  function balanceOf(address owner) public view override returns (uint256) {
    uint256 length = history[owner].length;
    return length == 0 ? 0 : history[owner][length - 1].value;
  }

  function _setBalance(address owner, uint256 amount) internal override {
    history[owner].push(Checkpoint(uint128(block.number), uint128(amount)));
  }
}

/// What is held and what is staked, in two mappings.
contract LayoutSum is LayoutFirst {
  mapping(address => uint256) internal staked;

  function balanceOf(address owner) public view override returns (uint256) {
    unchecked {
      return balances[owner] + staked[owner];
    }
  }
}

/// Only accounts that are left out of the sharing have a balance of their own; a probe that sets both mappings sees that.
contract LayoutReflected is LayoutFirst {
  mapping(address => uint256) internal leftOut;

  function balanceOf(address owner) public view override returns (uint256) {
    return leftOut[owner] != 0 ? balances[owner] : 7;
  }
}

/// Tells its storage only to callers without code or address, as a probe is.
contract LayoutTwoFaced is LayoutFirst {
  function balanceOf(address owner) public view override returns (uint256) {
    return msg.sender == address(0) ? balances[owner] : 7;
  }
}

/// Its balances are another contract's.
contract LayoutElsewhere is LayoutFirst {
  LayoutFirst internal immutable vault = new LayoutFirst();

  function balanceOf(address owner) public view override returns (uint256) {
    return vault.balanceOf(owner);
  }
}

/// Hashes something that no compiler hashes.
contract LayoutHidden is LayoutVyper {
  function _balanceSlot(address owner) internal pure override returns (bytes32) {
    return _hash(keccak256("hidden"), _key(owner));
  }

  function _allowanceSlot(address owner, address spender) internal pure override returns (bytes32) {
    return _hash(_hash(keccak256("hidden"), _key(owner)), _key(spender));
  }
}

/// Runs a token's code on its own storage.
contract LayoutProxy {
  address internal immutable target;

  constructor(address target_) {
    target = target_;
  }

  fallback() external payable {
    (bool done, bytes memory answer) = target.delegatecall(msg.data);
    assembly {
      if iszero(done) {
        revert(add(answer, 0x20), mload(answer))
      }
      return(add(answer, 0x20), mload(answer))
    }
  }
}
