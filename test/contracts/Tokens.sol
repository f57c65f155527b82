// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

interface IERC20 {
  function balanceOf(address account) external view returns (uint256);
  function transfer(address to, uint256 amount) external returns (bool);
  function transferFrom(address from, address to, uint256 amount) external returns (bool);
  function approve(address spender, uint256 amount) external returns (bool);
  function allowance(address owner, address spender) external view returns (uint256);
}

/// A well-behaved ERC-20 with the errors of ERC-6093; anyone may mint.
contract Token {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
  error ERC20InvalidSender(address sender);
  error ERC20InvalidReceiver(address receiver);
  error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
  error ERC20InvalidSpender(address spender);

  string public name;
  string public symbol;
  uint8 public decimals;
  uint256 public totalSupply;
  mapping(address => uint256) internal balances;
  mapping(address => mapping(address => uint256)) public allowance;

  constructor(string memory name_, string memory symbol_, uint8 decimals_) {
    (name, symbol, decimals) = (name_, symbol_, decimals_);
  }

  function balanceOf(address account) public view virtual returns (uint256) {
    return balances[account];
  }

  function mint(address to, uint256 amount) public virtual {
    totalSupply += amount;
    balances[to] += amount;
    emit Transfer(address(0), to, amount);
  }

  function burn(uint256 amount) public virtual {
    _debit(msg.sender, amount);
    totalSupply -= amount;
    emit Transfer(msg.sender, address(0), amount);
  }

  function transfer(address to, uint256 amount) public virtual returns (bool) {
    _move(msg.sender, to, amount);
    return true;
  }

  function transferFrom(address from, address to, uint256 amount) public virtual returns (bool) {
    _spend(from, amount);
    _move(from, to, amount);
    return true;
  }

  function approve(address spender, uint256 amount) public virtual returns (bool) {
    if (spender == address(0)) revert ERC20InvalidSpender(spender);
    _approve(msg.sender, spender, amount);
    return true;
  }

  function increaseAllowance(address spender, uint256 added) external returns (bool) {
    _approve(msg.sender, spender, allowance[msg.sender][spender] + added);
    return true;
  }

  function decreaseAllowance(address spender, uint256 removed) external returns (bool) {
    _approve(msg.sender, spender, allowance[msg.sender][spender] - removed);
    return true;
  }

  function _approve(address owner, address spender, uint256 amount) internal {
    allowance[owner][spender] = amount;
    emit Approval(owner, spender, amount);
  }

  function _spend(address from, uint256 amount) internal {
    uint256 allowed = allowance[from][msg.sender];
    if (allowed == type(uint256).max) return;
    if (allowed < amount) revert ERC20InsufficientAllowance(msg.sender, allowed, amount);
    allowance[from][msg.sender] = allowed - amount;
  }

  function _debit(address from, uint256 amount) internal {
    if (from == address(0)) revert ERC20InvalidSender(from);
    uint256 held = balances[from];
    if (held < amount) revert ERC20InsufficientBalance(from, held, amount);
    balances[from] = held - amount;
  }

  function _move(address from, address to, uint256 amount) internal virtual {
    if (to == address(0)) revert ERC20InvalidReceiver(to);
    _debit(from, amount);
    balances[to] += amount;
    emit Transfer(from, to, amount);
  }
}

/// Takes 1 % of each transfer, and says in the event that all of it arrived.
contract FeeToken is Token("Fee Token", "FEE", 18) {
  address public constant collector = 0x00000000000000000000000000000000C0FfeE00;

  function _move(address from, address to, uint256 amount) internal override {
    _debit(from, amount);
    balances[to] += amount - amount / 100;
    balances[collector] += amount / 100;
    emit Transfer(from, to, amount);
  }
}

/// Balances are shares times an index that anyone may move without an event; every transfer moves it by 1 %.
contract RebasingToken is Token("Rebasing Token", "REB", 18) {
  uint256 public index = 1e18;

  function balanceOf(address account) public view override returns (uint256) {
    return (balances[account] * index) / 1e18;
  }

  function rebase(uint256 index_) external {
    index = index_;
  }

  function _move(address from, address to, uint256 amount) internal override {
    super._move(from, to, (amount * 1e18) / index);
    index += index / 100;
  }
}

/// Emits a Transfer between strangers, and moves nothing, on `airdrop`; the rest is honest.
contract SpoofToken is Token("Spoof", "SPOOF", 18) {
  function airdrop(address from, address[] calldata to, uint256 amount) external {
    for (uint256 i; i < to.length; i++) emit Transfer(from, to[i], amount);
  }

  /// Says 1 token went, and takes all.
  function understate(address to) external {
    uint256 amount = balances[msg.sender];
    _debit(msg.sender, amount);
    balances[to] += amount;
    emit Transfer(msg.sender, to, 1);
  }

  /// An address topic with dirty upper bytes.
  function dirty(address to, uint256 amount) external {
    _debit(msg.sender, amount);
    balances[to] += amount;
    bytes32 topic = keccak256("Transfer(address,address,uint256)");
    uint256 from = uint256(uint160(msg.sender)) | (uint256(0xdeadbeef) << 224);
    uint256 receiver = uint256(uint160(to)) | (uint256(1) << 255);
    assembly {
      mstore(0, amount)
      log3(0, 32, topic, from, receiver)
    }
  }
}

/// Moves without saying so.
contract SilentToken {
  string public constant name = "Silent";
  string public constant symbol = "SHH";
  uint8 public constant decimals = 6;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  function mint(address to, uint256 amount) external {
    balanceOf[to] += amount;
  }

  function approve(address spender, uint256 amount) external returns (bool) {
    allowance[msg.sender][spender] = amount;
    return true;
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    balanceOf[msg.sender] -= amount;
    balanceOf[to] += amount;
    return true;
  }

  function transferFrom(address from, address to, uint256 amount) external returns (bool) {
    allowance[from][msg.sender] -= amount;
    balanceOf[from] -= amount;
    balanceOf[to] += amount;
    return true;
  }
}

/// As Maker's MKR and SAI: name and symbol are bytes32.
contract Bytes32Token {
  event Transfer(address indexed from, address indexed to, uint256 value);

  bytes32 public constant name = "Maker-like";
  bytes32 public constant symbol = "MKL";
  uint256 public constant decimals = 18;
  mapping(address => uint256) public balanceOf;

  function mint(address to, uint256 amount) external {
    balanceOf[to] += amount;
    emit Transfer(address(0), to, amount);
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    balanceOf[msg.sender] -= amount;
    balanceOf[to] += amount;
    emit Transfer(msg.sender, to, amount);
    return true;
  }
}

/// As USDT: transfer, transferFrom and approve return nothing; approving over an allowance reverts.
contract NoReturnToken {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  string public constant name = "Tether-like";
  string public constant symbol = "USDTL";
  uint8 public constant decimals = 6;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  function mint(address to, uint256 amount) external {
    balanceOf[to] += amount;
    emit Transfer(address(0), to, amount);
  }

  function approve(address spender, uint256 amount) external {
    require(amount == 0 || allowance[msg.sender][spender] == 0);
    allowance[msg.sender][spender] = amount;
    emit Approval(msg.sender, spender, amount);
  }

  function transfer(address to, uint256 amount) external {
    _move(msg.sender, to, amount);
  }

  function transferFrom(address from, address to, uint256 amount) external {
    allowance[from][msg.sender] -= amount;
    _move(from, to, amount);
  }

  function _move(address from, address to, uint256 amount) private {
    balanceOf[from] -= amount;
    balanceOf[to] += amount;
    emit Transfer(from, to, amount);
  }
}

/// An ERC-20 whose events look like ERC-721's: the value is indexed.
contract IndexedToken {
  event Transfer(address indexed from, address indexed to, uint256 indexed value);
  event Approval(address indexed owner, address indexed spender, uint256 indexed value);

  string public constant name = "Indexed";
  string public constant symbol = "IDX";
  uint8 public constant decimals = 8;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  function mint(address to, uint256 amount) external {
    balanceOf[to] += amount;
    emit Transfer(address(0), to, amount);
  }

  function approve(address spender, uint256 amount) external returns (bool) {
    allowance[msg.sender][spender] = amount;
    emit Approval(msg.sender, spender, amount);
    return true;
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    balanceOf[msg.sender] -= amount;
    balanceOf[to] += amount;
    emit Transfer(msg.sender, to, amount);
    return true;
  }
}

/// Events as WETH9: Deposit and Withdrawal, no Transfer for either.
contract WETH9 {
  event Approval(address indexed src, address indexed guy, uint256 wad);
  event Transfer(address indexed src, address indexed dst, uint256 wad);
  event Deposit(address indexed dst, uint256 wad);
  event Withdrawal(address indexed src, uint256 wad);

  string public constant name = "Wrapped Ether";
  string public constant symbol = "WETH";
  uint8 public constant decimals = 18;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  receive() external payable {
    deposit();
  }

  function deposit() public payable {
    balanceOf[msg.sender] += msg.value;
    emit Deposit(msg.sender, msg.value);
  }

  function withdraw(uint256 wad) external {
    require(balanceOf[msg.sender] >= wad);
    balanceOf[msg.sender] -= wad;
    payable(msg.sender).transfer(wad);
    emit Withdrawal(msg.sender, wad);
  }

  function totalSupply() external view returns (uint256) {
    return address(this).balance;
  }

  function approve(address guy, uint256 wad) external returns (bool) {
    allowance[msg.sender][guy] = wad;
    emit Approval(msg.sender, guy, wad);
    return true;
  }

  function transfer(address dst, uint256 wad) external returns (bool) {
    return transferFrom(msg.sender, dst, wad);
  }

  function transferFrom(address src, address dst, uint256 wad) public returns (bool) {
    require(balanceOf[src] >= wad);
    if (src != msg.sender && allowance[src][msg.sender] != type(uint256).max) {
      require(allowance[src][msg.sender] >= wad);
      allowance[src][msg.sender] -= wad;
    }
    balanceOf[src] -= wad;
    balanceOf[dst] += wad;
    emit Transfer(src, dst, wad);
    return true;
  }
}

/// An ERC-20 with EIP-2612 permits.
contract PermitToken is Token("Permit Token", "PERM", 18) {
  error ERC2612ExpiredSignature(uint256 deadline);
  error ERC2612InvalidSigner(address signer, address owner);

  bytes32 public constant PERMIT_TYPEHASH =
    keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
  mapping(address => uint256) public nonces;

  function DOMAIN_SEPARATOR() public view returns (bytes32) {
    return
      keccak256(
        abi.encode(
          keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
          keccak256(bytes(name)),
          keccak256("1"),
          block.chainid,
          address(this)
        )
      );
  }

  function permit(
    address owner,
    address spender,
    uint256 value,
    uint256 deadline,
    uint8 v,
    bytes32 r,
    bytes32 s
  ) external {
    if (block.timestamp > deadline) revert ERC2612ExpiredSignature(deadline);
    bytes32 hash = keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, nonces[owner]++, deadline));
    address signer = ecrecover(keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), hash)), v, r, s);
    if (signer == address(0) || signer != owner) revert ERC2612InvalidSigner(signer, owner);
    _approve(owner, spender, value);
  }
}

/// An ERC-20 with DAI's permits: all or nothing.
contract DaiToken is Token("Dai-like", "DAIL", 18) {
  bytes32 public constant PERMIT_TYPEHASH =
    keccak256("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");
  mapping(address => uint256) public nonces;

  function DOMAIN_SEPARATOR() public view returns (bytes32) {
    return
      keccak256(
        abi.encode(
          keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
          keccak256(bytes(name)),
          keccak256("1"),
          block.chainid,
          address(this)
        )
      );
  }

  function permit(
    address holder,
    address spender,
    uint256 nonce,
    uint256 expiry,
    bool allowed,
    uint8 v,
    bytes32 r,
    bytes32 s
  ) external {
    bytes32 hash = keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, nonce, expiry, allowed));
    bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), hash));
    require(holder != address(0) && holder == ecrecover(digest, v, r, s), "Dai/invalid-permit");
    require(expiry == 0 || block.timestamp <= expiry, "Dai/permit-expired");
    require(nonce == nonces[holder]++, "Dai/invalid-nonce");
    _approve(holder, spender, allowed ? type(uint256).max : 0);
  }
}
