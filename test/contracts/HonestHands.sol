// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20, Token} from "./Tokens.sol";

interface ICollectible {
  function transferFrom(address from, address to, uint256 id) external;
}

/// An airdrop by proof, as Uniswap's MerkleDistributor.
contract Drop {
  event Claimed(uint256 index, address account, uint256 amount);

  Token public token;
  bytes32 public root;
  mapping(uint256 => bool) public isClaimed;

  constructor(Token token_, bytes32 root_) {
    (token, root) = (token_, root_);
  }

  function claim(uint256 index, address account, uint256 amount, bytes32[] calldata proof) external {
    require(!isClaimed[index], "claimed");
    bytes32 node = keccak256(abi.encodePacked(index, account, amount));
    for (uint256 i; i < proof.length; i++)
      node = node < proof[i] ? keccak256(abi.encode(node, proof[i])) : keccak256(abi.encode(proof[i], node));
    require(node == root, "proof");
    isClaimed[index] = true;
    token.transfer(account, amount);
    emit Claimed(index, account, amount);
  }
}

/// A wallet for one owner, made in copies (ERC-1167) that are initialised once.
contract Wallet {
  event Executed(address indexed target, uint256 value, bytes data);

  error NotOwner(address caller);

  struct Call {
    address target;
    uint256 value;
    bytes data;
  }

  address public owner;
  uint256 public nonce;

  receive() external payable {}

  function initialise(address owner_) external payable {
    require(owner == address(0), "initialised");
    owner = owner_;
  }

  function execute(Call[] calldata calls) external payable {
    if (msg.sender != owner) revert NotOwner(msg.sender);
    for (uint256 i; i < calls.length; i++) {
      (bool ok, bytes memory data) = calls[i].target.call{value: calls[i].value}(calls[i].data);
      if (!ok) {
        assembly {
          revert(add(data, 32), mload(data))
        }
      }
      emit Executed(calls[i].target, calls[i].value, calls[i].data);
    }
    nonce++;
  }
}

contract WalletFactory {
  event Created(address indexed wallet, address indexed owner);

  address public template;
  mapping(address => uint256) public made;

  constructor(address template_) {
    template = template_;
  }

  function create() external payable returns (address at) {
    return _create(keccak256(abi.encode(msg.sender, made[msg.sender]++)), true);
  }

  /// At an address that follows how many there were before.
  function createNext() external payable returns (address at) {
    return _create(0, false);
  }

  /// At an address that follows the time.
  function createNow() external returns (address at) {
    return _create(keccak256(abi.encode(msg.sender, block.timestamp)), true);
  }

  function _create(bytes32 salt, bool isSalted) private returns (address at) {
    address from = template;
    assembly {
      mstore(0x00, or(shr(0xe8, shl(0x60, from)), 0x3d602d80600a3d3981f3363d3d373d3d3d363d73000000))
      mstore(0x20, or(shl(0x78, from), 0x5af43d82803e903d91602b57fd5bf3))
      switch isSalted
      case 0 {
        at := create(0, 0x09, 0x37)
      }
      default {
        at := create2(0, 0x09, 0x37, salt)
      }
    }
    require(at != address(0), "not created");
    Wallet(payable(at)).initialise{value: msg.value}(msg.sender);
    emit Created(at, msg.sender);
  }
}

/// Pays many, takes what is due each month, buys for somebody, lends for one call.
contract Till {
  event Charged(address indexed customer, uint256 amount, uint256 next);
  event Sold(address indexed seller, address indexed buyer, uint256 price, bytes32 order);
  event FlashLoan(address indexed borrower, uint256 amount, uint256 fee);

  Token public token;
  uint256 public period;
  mapping(address => uint256) public due;

  constructor(Token token_, uint256 period_) {
    (token, period) = (token_, period_);
  }

  function disperseEther(address payable[] calldata to, uint256[] calldata amounts) external payable {
    for (uint256 i; i < to.length; i++) to[i].transfer(amounts[i]);
    if (address(this).balance > 0) payable(msg.sender).transfer(address(this).balance);
  }

  function disperseToken(IERC20 which, address[] calldata to, uint256[] calldata amounts) external {
    uint256 total;
    for (uint256 i; i < to.length; i++) total += amounts[i];
    require(which.transferFrom(msg.sender, address(this), total));
    for (uint256 i; i < to.length; i++) require(which.transfer(to[i], amounts[i]));
  }

  function subscribe() external {
    due[msg.sender] = block.timestamp;
  }

  /// Anyone may call it; the merchant gets it.
  function charge(address customer, address merchant, uint256 amount) external {
    require(due[customer] != 0 && block.timestamp >= due[customer], "not due");
    due[customer] += period;
    token.transferFrom(customer, merchant, amount);
    emit Charged(customer, amount, due[customer]);
  }

  /// Sells what the seller has approved to this contract; a fortieth is the house's.
  function fulfil(ICollectible which, address seller, uint256 id, uint256 start, uint256 end) external payable {
    require(block.timestamp >= start && block.timestamp <= end, "order");
    uint256 fee = msg.value / 40;
    payable(seller).transfer(msg.value - fee);
    payable(address(0xFee)).transfer(fee);
    which.transferFrom(seller, msg.sender, id);
    emit Sold(seller, msg.sender, msg.value, keccak256(abi.encode(which, seller, id, msg.value, start, end)));
  }

  function flashLoan(address borrower, uint256 amount) external {
    uint256 before = token.balanceOf(address(this));
    token.transfer(borrower, amount);
    Borrower(borrower).onFlashLoan(token, amount, amount / 1000);
    require(token.balanceOf(address(this)) >= before + amount / 1000, "not paid back");
    emit FlashLoan(borrower, amount, amount / 1000);
  }
}

contract Borrower {
  function onFlashLoan(Token token, uint256 amount, uint256 fee) external {
    token.transfer(msg.sender, amount + fee);
  }
}

/// Many events of one call.
contract Chronicle {
  event Entry(uint256 indexed index, uint256 at, bytes32 hash);

  uint256 public entries;

  function record(uint256 count) external {
    for (uint256 i; i < count; i++) emit Entry(entries + i, block.timestamp, keccak256(abi.encode(i, msg.sender)));
    entries += count;
  }
}
