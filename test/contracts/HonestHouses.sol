// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20, Token} from "./Tokens.sol";

/// Collectibles with numbers in order: at a price that falls every second, with the rest given back, or by a draw.
contract Gallery {
  event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

  string public constant name = "Gallery";
  string public constant symbol = "GAL";
  uint256 public next = 1;
  uint256 public start;
  mapping(uint256 => address) public ownerOf;
  mapping(address => uint256) public balanceOf;

  constructor(uint256 start_) {
    start = start_;
  }

  function supportsInterface(bytes4 id) external pure returns (bool) {
    return id == 0x01ffc9a7 || id == 0x80ac58cd;
  }

  function price() public view returns (uint256) {
    uint256 fallen = (block.timestamp - start) * 1e12;
    return fallen > 0.9 ether ? 0.1 ether : 1 ether - fallen;
  }

  function buy() external payable returns (uint256 id) {
    uint256 due = price();
    require(msg.value >= due, "price");
    id = next++;
    _mint(msg.sender, id);
    if (msg.value > due) payable(msg.sender).transfer(msg.value - due);
  }

  function draw() external {
    uint256 id = 1_000 + (uint256(keccak256(abi.encode(block.prevrandao, msg.sender))) % 9_000);
    while (ownerOf[id] != address(0)) id++;
    _mint(msg.sender, id);
  }

  function _mint(address to, uint256 id) private {
    ownerOf[id] = to;
    balanceOf[to]++;
    emit Transfer(address(0), to, id);
  }
}

/// Pays the highest bid back when it is topped, and runs on when one comes late.
contract English {
  event Bid(address indexed bidder, uint256 amount, uint256 end);

  address public highest;
  uint256 public amount;
  uint256 public end = block.timestamp + 1 days;

  function bid() external payable {
    require(block.timestamp < end, "over");
    require(msg.value > amount + amount / 20, "low");
    (address last, uint256 back) = (highest, amount);
    (highest, amount) = (msg.sender, msg.value);
    if (end - block.timestamp < 15 minutes) end = block.timestamp + 15 minutes;
    if (back > 0) payable(last).transfer(back);
    emit Bid(msg.sender, msg.value, end);
  }
}

/// Work that is due once an interval, paid to whoever does it.
contract Upkeep {
  event Performed(address indexed keeper, uint256 at, uint256 round);

  error UpkeepNotNeeded(uint256 due);

  uint256 public last = block.timestamp;
  uint256 public interval;
  uint256 public round;

  constructor(uint256 interval_) {
    interval = interval_;
  }

  receive() external payable {}

  function performUpkeep(bytes calldata) external {
    if (block.timestamp - last < interval) revert UpkeepNotNeeded(last + interval);
    last = block.timestamp;
    emit Performed(msg.sender, block.timestamp, ++round);
    payable(msg.sender).transfer(0.01 ether);
  }

  /// Pays a relayer's gas back at the price of the block.
  function relay() external {
    uint256 before = gasleft();
    round++;
    payable(msg.sender).transfer((before - gasleft() + 40_000) * block.basefee);
  }
}

/// Money for several, and what each may take of it: as OpenZeppelin's PaymentSplitter and VestingWallet.
contract Shares {
  event PaymentReleased(address to, uint256 amount);
  event EtherReleased(uint256 amount);

  address[2] public payees;
  uint256 public start;
  uint256 public duration;
  uint256 public received;
  uint256 public vested;
  mapping(address => uint256) public released;

  constructor(address[2] memory payees_, uint256 start_, uint256 duration_) payable {
    (payees, start, duration) = (payees_, start_, duration_);
  }

  receive() external payable {}

  function release(address payable to) external {
    require(to == payees[0] || to == payees[1], "no shares");
    uint256 due = (address(this).balance + received) / 2 - released[to];
    released[to] += due;
    received += due;
    to.transfer(due);
    emit PaymentReleased(to, due);
  }

  function releaseVested() external {
    uint256 whole = address(this).balance + vested;
    uint256 elapsed = block.timestamp - start;
    uint256 due = (elapsed >= duration ? whole : (whole * elapsed) / duration) - vested;
    vested += due;
    payable(payees[0]).transfer(due);
    emit EtherReleased(due);
  }
}

/// A token that counts votes at blocks, as ERC20Votes; and proposals over it, as Governor.
contract Chamber is Token("Votes", "VOTE", 18) {
  event DelegateVotesChanged(address indexed delegate, uint256 previousVotes, uint256 newVotes);
  event ProposalCreated(uint256 id, address proposer, uint256 voteStart, uint256 voteEnd, string description);
  event VoteCast(address indexed voter, uint256 id, uint8 support, uint256 weight);

  struct Checkpoint {
    uint48 at;
    uint208 votes;
  }
  mapping(address => Checkpoint[]) public checkpoints;
  mapping(uint256 => uint256) public snapshots;
  mapping(uint256 => mapping(address => bool)) public hasVoted;
  mapping(uint256 => uint256[3]) public tally;

  function mint(address to, uint256 amount) public override {
    super.mint(to, amount);
    _checkpoint(to);
  }

  function _move(address from, address to, uint256 amount) internal override {
    super._move(from, to, amount);
    _checkpoint(from);
    _checkpoint(to);
  }

  function _checkpoint(address account) private {
    Checkpoint[] storage list = checkpoints[account];
    uint256 before = list.length == 0 ? 0 : list[list.length - 1].votes;
    uint208 votes = uint208(balances[account]);
    if (list.length > 0 && list[list.length - 1].at == block.number) list[list.length - 1].votes = votes;
    else list.push(Checkpoint(uint48(block.number), votes));
    emit DelegateVotesChanged(account, before, votes);
  }

  function getPastVotes(address account, uint256 at) public view returns (uint256) {
    require(at < block.number, "future lookup");
    Checkpoint[] storage list = checkpoints[account];
    for (uint256 i = list.length; i > 0; i--) if (list[i - 1].at <= at) return list[i - 1].votes;
    return 0;
  }

  function propose(string calldata description) external returns (uint256 id) {
    id = uint256(keccak256(abi.encode(msg.sender, description)));
    snapshots[id] = block.number + 1;
    emit ProposalCreated(id, msg.sender, block.number + 1, block.number + 50_400, description);
  }

  function castVote(uint256 id, uint8 support) external returns (uint256 weight) {
    require(!hasVoted[id][msg.sender], "voted");
    hasVoted[id][msg.sender] = true;
    weight = getPastVotes(msg.sender, snapshots[id]);
    tally[id][support] += weight;
    emit VoteCast(msg.sender, id, support, weight);
  }
}

/// Calls that wait, secrets that are shown later, money that waits for a word, names for rent.
contract Patience {
  event CallScheduled(bytes32 indexed id, address target, uint256 value, bytes data, uint256 eta);
  event CallExecuted(bytes32 indexed id, address target, uint256 value, bytes data);
  event Committed(address indexed by, bytes32 indexed secret, uint256 blockNumber);
  event Revealed(address indexed by, uint256 value);
  event Released(address indexed payee, uint256 amount);
  event NameRegistered(string name, address indexed owner, uint256 cost, uint256 expires);

  mapping(bytes32 => uint256) public eta;
  mapping(address => bytes32) public commitments;
  mapping(address => uint256) public committedAt;
  mapping(address => address) public payees;
  mapping(address => uint256) public deposits;

  function schedule(address target, uint256 value, bytes calldata data, uint256 delay) external returns (bytes32 id) {
    id = keccak256(abi.encode(target, value, data, block.timestamp));
    eta[id] = block.timestamp + delay;
    emit CallScheduled(id, target, value, data, eta[id]);
  }

  function execute(address target, bytes calldata data, uint256 scheduledAt) external payable {
    bytes32 id = keccak256(abi.encode(target, msg.value, data, scheduledAt));
    require(eta[id] != 0 && block.timestamp >= eta[id], "not ready");
    delete eta[id];
    (bool ok, ) = target.call{value: msg.value}(data);
    require(ok, "failed");
    emit CallExecuted(id, target, msg.value, data);
  }

  function commit(bytes32 secret) external {
    (commitments[msg.sender], committedAt[msg.sender]) = (secret, block.number);
    emit Committed(msg.sender, secret, block.number);
  }

  function reveal(uint256 value, bytes32 salt) external {
    require(commitments[msg.sender] == keccak256(abi.encode(value, salt)), "not what was committed");
    require(block.number > committedAt[msg.sender], "same block");
    delete commitments[msg.sender];
    emit Revealed(msg.sender, value);
  }

  function deposit(address payee) external payable {
    (payees[msg.sender], deposits[msg.sender]) = (payee, deposits[msg.sender] + msg.value);
  }

  function release() external {
    uint256 amount = deposits[msg.sender];
    delete deposits[msg.sender];
    payable(payees[msg.sender]).transfer(amount);
    emit Released(payees[msg.sender], amount);
  }

  /// Five dollars a year; what is too much goes back.
  function register(string calldata name, uint256 duration) external payable {
    uint256 cost = (duration * 0.002 ether) / 365 days;
    require(msg.value >= cost, "too little");
    emit NameRegistered(name, msg.sender, cost, block.timestamp + duration);
    if (msg.value > cost) payable(msg.sender).transfer(msg.value - cost);
  }
}

/// What is written down of the block, as a number or as a hash, and given to its producer.
contract Almanac {
  event Written(uint256 timestamp, uint256 number, uint256 baseFee, bytes32 indexed parent, uint256 randomness);
  event Message(uint256 indexed nonce, address indexed sender, bytes32 hash);

  uint256 public timestamp;
  uint256 public number;
  uint256 public randomness;
  uint256 public nonce;

  function write() external returns (uint256) {
    (timestamp, number, randomness) = (block.timestamp, block.number, block.prevrandao);
    emit Written(timestamp, number, block.basefee, blockhash(block.number - 1), randomness);
    return timestamp;
  }

  function post(bytes calldata body) external payable {
    emit Message(nonce, msg.sender, keccak256(abi.encode(nonce, body, block.number)));
    nonce++;
  }

  /// Does the work, then tips whoever produces the block.
  function tip() external payable {
    nonce++;
    payable(block.coinbase).transfer(msg.value);
  }
}
