// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Nft} from "./Nfts.sol";
import {IERC20} from "./Tokens.sol";

/// ERC-6909 as Uniswap's PoolManager keeps its claims; anyone may mint.
contract Claims {
  event OperatorSet(address indexed owner, address indexed operator, bool approved);
  event Approval(address indexed owner, address indexed spender, uint256 indexed id, uint256 amount);
  event Transfer(address caller, address indexed from, address indexed to, uint256 indexed id, uint256 amount);

  mapping(address => mapping(uint256 => uint256)) public balanceOf;
  mapping(address => mapping(address => bool)) public isOperator;
  mapping(address => mapping(address => mapping(uint256 => uint256))) public allowance;

  function mint(address to, uint256 id, uint256 amount) external {
    balanceOf[to][id] += amount;
    emit Transfer(msg.sender, address(0), to, id, amount);
  }

  function setOperator(address operator, bool approved) external {
    isOperator[msg.sender][operator] = approved;
    emit OperatorSet(msg.sender, operator, approved);
  }

  function approve(address spender, uint256 id, uint256 amount) external {
    allowance[msg.sender][spender][id] = amount;
    emit Approval(msg.sender, spender, id, amount);
  }

  function transfer(address to, uint256 id, uint256 amount) external {
    _move(msg.sender, to, id, amount);
  }

  function transferFrom(address from, address to, uint256 id, uint256 amount) external {
    if (from != msg.sender && !isOperator[from][msg.sender]) allowance[from][msg.sender][id] -= amount;
    _move(from, to, id, amount);
  }

  function _move(address from, address to, uint256 id, uint256 amount) private {
    balanceOf[from][id] -= amount;
    balanceOf[to][id] += amount;
    emit Transfer(msg.sender, from, to, id, amount);
  }
}

/// Rights by the functions and events of ERC-777, Aave's debt tokens and Morpho.
contract Grants {
  event AuthorizedOperator(address indexed operator, address indexed holder);
  event RevokedOperator(address indexed operator, address indexed holder);
  event BorrowAllowanceDelegated(
    address indexed fromUser,
    address indexed toUser,
    address indexed asset,
    uint256 amount
  );
  event SetAuthorization(
    address indexed caller,
    address indexed authorizer,
    address indexed authorized,
    bool newIsAuthorized
  );

  mapping(address => mapping(address => bool)) private operators;
  mapping(address => mapping(address => uint256)) public borrowAllowance;
  mapping(address => mapping(address => bool)) public isAuthorized;

  function isOperatorFor(address operator, address holder) external view returns (bool) {
    return operator == holder || operators[holder][operator];
  }

  function authorizeOperator(address operator) external {
    operators[msg.sender][operator] = true;
    emit AuthorizedOperator(operator, msg.sender);
  }

  function revokeOperator(address operator) external {
    operators[msg.sender][operator] = false;
    emit RevokedOperator(operator, msg.sender);
  }

  function approveDelegation(address delegatee, uint256 amount) external {
    borrowAllowance[msg.sender][delegatee] = amount;
    emit BorrowAllowanceDelegated(msg.sender, delegatee, address(this), amount);
  }

  function setAuthorization(address authorized, bool newIsAuthorized) external {
    isAuthorized[msg.sender][authorized] = newIsAuthorized;
    emit SetAuthorization(msg.sender, msg.sender, authorized, newIsAuthorized);
  }
}

/// Offers as CryptoPunks keeps them; anyone may take a punk that nobody has.
contract Punks {
  event PunkOffered(uint256 indexed punkIndex, uint256 minValue, address indexed toAddress);

  mapping(uint256 => address) public punkIndexToAddress;

  function getPunk(uint256 punkIndex) external {
    require(punkIndexToAddress[punkIndex] == address(0));
    punkIndexToAddress[punkIndex] = msg.sender;
  }

  function offerPunkForSale(uint256 punkIndex, uint256 minSalePriceInWei) external {
    emit PunkOffered(punkIndex, minSalePriceInWei, address(0));
  }

  function offerPunkForSaleToAddress(uint256 punkIndex, uint256 minSalePriceInWei, address toAddress) external {
    emit PunkOffered(punkIndex, minSalePriceInWei, toAddress);
  }
}

/// solmate's Auth.
contract Auth {
  event OwnerUpdated(address indexed user, address indexed newOwner);
  event AuthorityUpdated(address indexed user, address indexed newAuthority);

  address public owner = msg.sender;
  address public authority;

  function setOwner(address newOwner) external {
    require(msg.sender == owner);
    owner = newOwner;
    emit OwnerUpdated(msg.sender, newOwner);
  }

  function setAuthority(address newAuthority) external {
    require(msg.sender == owner);
    authority = newAuthority;
    emit AuthorityUpdated(msg.sender, newAuthority);
  }
}

/// A right of a kind of its own, and a deposit that names as many.
contract Unfamiliar {
  event Entrusted(uint256 kind, address indexed agent, address principal);
  event Deposited(address indexed account, address indexed vault, uint256 amount);

  mapping(address => mapping(address => bool)) public entrusted;

  function entrust(address agent) external {
    entrusted[msg.sender][agent] = true;
    emit Entrusted(7, agent, msg.sender);
  }

  function deposit(IERC20 token, address vault, uint256 amount) external {
    token.transferFrom(msg.sender, vault, amount);
    emit Deposited(msg.sender, vault, amount);
  }

  /// Takes id `gone` and gives id `given` of the same collection.
  function trade(Nft nft, uint256 gone, address from, uint256 given) external {
    nft.transferFrom(msg.sender, from, gone);
    nft.transferFrom(from, msg.sender, given);
  }
}

/// An ERC-20 as OpenZeppelin's fifth edition: an allowance is spent without an event.
contract QuietAllowance {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  uint8 public constant decimals = 18;
  uint256 public constant totalSupply = 1000;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  constructor() {
    balanceOf[msg.sender] = totalSupply;
    emit Transfer(address(0), msg.sender, totalSupply);
  }

  function approve(address spender, uint256 value) external returns (bool) {
    allowance[msg.sender][spender] = value;
    emit Approval(msg.sender, spender, value);
    return true;
  }

  function transfer(address to, uint256 value) external returns (bool) {
    return _move(msg.sender, to, value);
  }

  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    allowance[from][msg.sender] -= value;
    return _move(from, to, value);
  }

  function _move(address from, address to, uint256 value) private returns (bool) {
    balanceOf[from] -= value;
    balanceOf[to] += value;
    emit Transfer(from, to, value);
    return true;
  }
}

/// As Uniswap's Permit2, but it asks for no signature, and says nothing. No immutables.
contract MutePermit2 {
  struct Details {
    address token;
    uint160 amount;
    uint48 expiration;
    uint48 nonce;
  }
  struct Single {
    Details details;
    address spender;
    uint256 sigDeadline;
  }
  struct Batch {
    Details[] details;
    address spender;
    uint256 sigDeadline;
  }
  mapping(address => mapping(address => mapping(address => Details))) private _allowed;

  function allowance(address owner, address token, address spender) external view returns (uint160, uint48, uint48) {
    Details storage allowed = _allowed[owner][token][spender];
    return (allowed.amount, allowed.expiration, allowed.nonce);
  }

  function permit(address owner, Single calldata single, bytes calldata) external {
    _allowed[owner][single.details.token][single.spender] = single.details;
  }

  function permit(address owner, Batch calldata batch, bytes calldata) external {
    for (uint256 i; i < batch.details.length; i++)
      _allowed[owner][batch.details[i].token][batch.spender] = batch.details[i];
  }
}

/// What Uniswap's Universal Router makes of permits, and of plans within plans.
contract PlanRouter {
  MutePermit2 private constant PERMIT2 = MutePermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);
  address private _locker;

  error LengthMismatch();

  function execute(bytes calldata commands, bytes[] calldata inputs) public {
    if (commands.length != inputs.length) revert LengthMismatch();
    bool isOutermost = msg.sender != address(this);
    if (isOutermost) _locker = msg.sender;
    for (uint256 i; i < commands.length; i++) {
      uint8 command = uint8(commands[i]) & 0x3f;
      if (command == 0x0a) {
        (MutePermit2.Single memory single, bytes memory signature) = abi.decode(
          inputs[i],
          (MutePermit2.Single, bytes)
        );
        PERMIT2.permit(_locker, single, signature);
      } else if (command == 0x03) {
        (MutePermit2.Batch memory batch, bytes memory signature) = abi.decode(inputs[i], (MutePermit2.Batch, bytes));
        PERMIT2.permit(_locker, batch, signature);
      } else if (command == 0x21) {
        (bytes memory plan, bytes[] memory within) = abi.decode(inputs[i], (bytes, bytes[]));
        this.execute(plan, within);
      }
    }
    if (isOutermost) _locker = address(0);
  }
}
