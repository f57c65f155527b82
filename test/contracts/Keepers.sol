// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// An owner in the first slot, packed beside a flag; changed with an event, or without one.
contract Keeper {
  event OwnershipTransferred(address indexed previous, address indexed next);
  event Seen(address indexed previous, address indexed next);

  bool internal isOpen = true;
  address internal keeper;
  address internal constant THIEF = address(uint160(uint256(keccak256("thief"))));

  constructor(address first) {
    keeper = first;
  }

  function setOwner(address next) external {
    keeper = next;
  }

  /// Nothing in the calldata tells to whom.
  function claim() external {
    keeper = THIEF;
  }

  /// An event of an unknown kind quiets nothing.
  function claimSeen() external {
    emit Seen(keeper, THIEF);
    keeper = THIEF;
  }

  function transferOwnership(address next) external {
    emit OwnershipTransferred(keeper, next);
    keeper = next;
  }
}

/// A governor behind some other slots, which only its getter tells of.
contract Governed {
  uint256[7] internal gap;
  address public governance;

  constructor(address first) {
    governance = first;
  }

  function setGovernance(address next) external {
    governance = next;
  }

  function claim() external {
    governance = address(uint160(uint256(keccak256("thief"))));
  }

  function work() external {
    gap[0]++;
  }
}

/// Who leads is paid back when another bids more.
contract Bids {
  address internal leader;
  uint256 internal best;

  function bid() external payable {
    require(msg.value > best);
    if (leader != address(0)) payable(leader).transfer(best);
    leader = msg.sender;
    best = msg.value;
  }
}

/// Remembers in its first slot which contract it called last: no proxy.
contract Rememberer {
  address internal last;

  function remember(address next) external {
    last = next;
  }
}

/// A proxy with its implementation in the slot that is named.
contract FirstSlotProxy {
  constructor(uint256 slot, address implementation) {
    assembly {
      sstore(slot, implementation)
    }
  }

  function upgrade(uint256 slot, address implementation) external {
    assembly {
      sstore(slot, implementation)
    }
  }

  fallback() external payable {
    assembly {
      calldatacopy(0, 0, calldatasize())
      let ok := delegatecall(gas(), sload(0), 0, calldatasize(), 0, 0)
      returndatacopy(0, 0, returndatasize())
      if iszero(ok) { revert(0, returndatasize()) }
      return(0, returndatasize())
    }
  }
}

contract InnerBeacon {
  address public implementation;

  function set(address next) external {
    implementation = next;
  }
}

/// A beacon that asks another one.
contract OuterBeacon {
  uint256[9] internal gap;
  InnerBeacon internal inner;

  constructor(InnerBeacon inner_) {
    inner = inner_;
    inner_.set(address(this));
  }

  function implementation() external view returns (address) {
    return inner.implementation();
  }
}

contract TwiceBeaconProxy {
  constructor(address beacon) {
    assembly {
      sstore(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50, beacon)
    }
  }

  function twist(InnerBeacon inner, address next) external {
    inner.set(next);
  }

  function work() external {}
}

/// A diamond as far as its loupe goes.
contract Facets {
  uint256[3] internal gap;
  address[] internal facets;

  constructor(address first) {
    facets.push(first);
  }

  function facetAddresses() external view returns (address[] memory) {
    return facets;
  }

  function swap(address next) external {
    facets[0] = next;
  }

  function work() external {
    gap[0]++;
  }
}

/// An account by EIP-7702 that takes ERC-7821 batches of itself, and keeps its keys where nobody looks.
contract KeyAccount {
  struct Call {
    address to;
    uint256 value;
    bytes data;
  }

  mapping(bytes32 => mapping(address => bool)) internal keys;
  uint256 internal count;

  receive() external payable {}

  function execute(bytes32, bytes calldata data) external payable {
    require(msg.sender == address(this));
    Call[] memory calls = abi.decode(data, (Call[]));
    for (uint256 i = 0; i < calls.length; i++) {
      address to = calls[i].to == address(0) ? address(this) : calls[i].to;
      (bool ok, ) = to.call{value: calls[i].value}(calls[i].data);
      require(ok);
    }
  }

  function addKey(address key) external {
    require(msg.sender == address(this));
    keys["keys"][key] = true;
  }

  function bump() external {
    count++;
  }
}

/// Who is paid for each account, and an owner packed behind other slots: both go to another, and nothing tells of it.
contract Payee {
  uint256[6] internal gap;
  uint64 internal packed = 7;
  address internal owner;
  mapping(address => address) internal beneficiary;
  address internal constant THIEF = address(uint160(uint256(keccak256("thief"))));
  event OwnershipTransferred(address indexed previous, address indexed next);
  event Transfer(address indexed from, address indexed to, uint256 amount);
  event DelegateChanged(address indexed account, address indexed from, address indexed to);

  constructor(address first) {
    owner = first;
  }

  function enrol() external {
    beneficiary[msg.sender] = msg.sender;
  }

  function claim() external {
    beneficiary[msg.sender] = THIEF;
  }

  function claimOwner() external {
    owner = THIEF;
  }

  /// The word of a movement that moves nothing quiets nothing.
  function claimFeigned() external {
    beneficiary[msg.sender] = THIEF;
    emit Transfer(msg.sender, THIEF, 0);
  }

  function transferOwnership(address next) external {
    emit OwnershipTransferred(owner, next);
    owner = next;
  }

  function delegate(address to) external {
    emit DelegateChanged(msg.sender, beneficiary[msg.sender], to);
    beneficiary[msg.sender] = to;
  }

  function work() external {
    gap[3]++;
  }
}

/// Calls another, so that what changes is two calls deep.
contract Passing {
  mapping(address => address) internal heir;

  function enrol() external {
    heir[tx.origin] = tx.origin;
  }

  function pass(Passing next) external {
    next.take();
  }

  function take() external {
    heir[tx.origin] = address(uint160(uint256(keccak256("thief"))));
  }

  function make() external {
    new Keeper(msg.sender).claim();
  }
}
