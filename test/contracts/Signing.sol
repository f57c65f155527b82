// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "./Tokens.sol";

interface IERC1271 {
  function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// As DAI: a permit that grants everything or nothing, checked by `ecrecover` alone. Its `expiry` 0 is never, and
/// an allowance of everything stays what it is when it is spent.
contract DaiDouble {
  event Transfer(address indexed from, address indexed to, uint256 amount);
  event Approval(address indexed owner, address indexed spender, uint256 amount);

  bytes32 public constant PERMIT_TYPEHASH =
    keccak256("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");
  string public constant name = "Dai Stablecoin";
  string public constant symbol = "DAI";
  string public constant version = "1";
  uint8 public constant decimals = 18;
  bytes32 public immutable DOMAIN_SEPARATOR;
  uint256 public totalSupply;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  mapping(address => uint256) public nonces;

  constructor() {
    DOMAIN_SEPARATOR = keccak256(
      abi.encode(
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
        keccak256(bytes(name)),
        keccak256(bytes(version)),
        block.chainid,
        address(this)
      )
    );
  }

  function mint(address to, uint256 amount) external {
    balanceOf[to] += amount;
    totalSupply += amount;
    emit Transfer(address(0), to, amount);
  }

  function approve(address spender, uint256 amount) external returns (bool) {
    allowance[msg.sender][spender] = amount;
    emit Approval(msg.sender, spender, amount);
    return true;
  }

  function transfer(address to, uint256 amount) external returns (bool) {
    return transferFrom(msg.sender, to, amount);
  }

  function transferFrom(address from, address to, uint256 amount) public returns (bool) {
    require(balanceOf[from] >= amount, "Dai/insufficient-balance");
    if (from != msg.sender && allowance[from][msg.sender] != type(uint256).max) {
      require(allowance[from][msg.sender] >= amount, "Dai/insufficient-allowance");
      allowance[from][msg.sender] -= amount;
    }
    balanceOf[from] -= amount;
    balanceOf[to] += amount;
    emit Transfer(from, to, amount);
    return true;
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
    bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR, hash));
    require(holder != address(0), "Dai/invalid-address-0");
    require(holder == ecrecover(digest, v, r, s), "Dai/invalid-permit");
    require(expiry == 0 || block.timestamp <= expiry, "Dai/permit-expired");
    require(nonce == nonces[holder]++, "Dai/invalid-nonce");
    allowance[holder][spender] = allowed ? type(uint256).max : 0;
    emit Approval(holder, spender, allowance[holder][spender]);
  }
}

/// NFTs with the permit of ERC-4494: a nonce for each token, which grows with each transfer. The signature may be of
/// the owner or of who may move all that the owner has, by key or by ERC-1271.
contract NftPermitDouble {
  event Transfer(address indexed from, address indexed to, uint256 indexed id);
  event Approval(address indexed owner, address indexed approved, uint256 indexed id);
  event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

  bytes32 public constant PERMIT_TYPEHASH =
    keccak256("Permit(address spender,uint256 tokenId,uint256 nonce,uint256 deadline)");
  string public constant name = "Permitted Pictures";
  string public constant symbol = "PPIC";
  bytes32 public immutable DOMAIN_SEPARATOR;
  mapping(uint256 => address) public ownerOf;
  mapping(address => uint256) public balanceOf;
  mapping(uint256 => address) public getApproved;
  mapping(address => mapping(address => bool)) public isApprovedForAll;
  mapping(uint256 => uint256) public nonces;

  constructor() {
    DOMAIN_SEPARATOR = keccak256(
      abi.encode(
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
        keccak256(bytes(name)),
        keccak256("1"),
        block.chainid,
        address(this)
      )
    );
  }

  /// ERC-165, ERC-721 and ERC-4494.
  function supportsInterface(bytes4 id) external pure returns (bool) {
    return id == 0x01ffc9a7 || id == 0x80ac58cd || id == 0x5604e225;
  }

  function mint(address to, uint256 id) external {
    require(ownerOf[id] == address(0), "minted already");
    ownerOf[id] = to;
    balanceOf[to]++;
    emit Transfer(address(0), to, id);
  }

  function setApprovalForAll(address operator, bool approved) external {
    isApprovedForAll[msg.sender][operator] = approved;
    emit ApprovalForAll(msg.sender, operator, approved);
  }

  function approve(address to, uint256 id) external {
    address owner = ownerOf[id];
    require(msg.sender == owner || isApprovedForAll[owner][msg.sender], "not the owner");
    getApproved[id] = to;
    emit Approval(owner, to, id);
  }

  function transferFrom(address from, address to, uint256 id) external {
    require(ownerOf[id] == from && to != address(0), "not the owner");
    require(
      msg.sender == from || isApprovedForAll[from][msg.sender] || getApproved[id] == msg.sender,
      "not approved"
    );
    nonces[id]++;
    delete getApproved[id];
    balanceOf[from]--;
    balanceOf[to]++;
    ownerOf[id] = to;
    emit Transfer(from, to, id);
  }

  function permit(address spender, uint256 tokenId, uint256 deadline, bytes calldata signature) external {
    require(deadline >= block.timestamp, "permit expired");
    bytes32 hash = keccak256(abi.encode(PERMIT_TYPEHASH, spender, tokenId, nonces[tokenId], deadline));
    bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR, hash));
    address owner = ownerOf[tokenId];
    require(owner != address(0), "no such token");
    require(spender != owner, "to its owner");
    require(isSigned(owner, digest, signature), "invalid signature");
    getApproved[tokenId] = spender;
    emit Approval(owner, spender, tokenId);
  }

  function isSigned(address owner, bytes32 digest, bytes calldata signature) internal view returns (bool) {
    if (signature.length == 65) {
      address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
      if (signer != address(0) && (signer == owner || isApprovedForAll[owner][signer])) return true;
    }
    if (owner.code.length == 0) return false;
    (bool ok, bytes memory answer) = owner.staticcall(
      abi.encodeCall(IERC1271.isValidSignature, (digest, signature))
    );
    return ok && answer.length == 32 && abi.decode(answer, (bytes32)) == bytes32(IERC1271.isValidSignature.selector);
  }
}

interface ISignatureTransfer {
  struct TokenPermissions {
    address token;
    uint256 amount;
  }

  struct PermitTransferFrom {
    TokenPermissions permitted;
    uint256 nonce;
    uint256 deadline;
  }

  struct SignatureTransferDetails {
    address to;
    uint256 requestedAmount;
  }

  function permitWitnessTransferFrom(
    PermitTransferFrom calldata permit,
    SignatureTransferDetails calldata details,
    address owner,
    bytes32 witness,
    string calldata witnessType,
    bytes calldata signature
  ) external;
}

/// As x402's proxy for payments of at most an amount: its facilitator says how much the payee gets.
contract X402UptoDouble {
  event Settled();

  error AmountExceedsPermitted();
  error InvalidDestination();
  error PaymentTooEarly();
  error UnauthorizedFacilitator();

  struct Witness {
    address to;
    address facilitator;
    uint256 validAfter;
  }

  ISignatureTransfer public constant PERMIT2 = ISignatureTransfer(0x000000000022D473030F116dDEE9F6B43aC78BA3);
  bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,address facilitator,uint256 validAfter)");
  string public constant WITNESS_TYPE_STRING =
    "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

  function settle(
    ISignatureTransfer.PermitTransferFrom calldata permit,
    uint256 amount,
    address owner,
    Witness calldata witness,
    bytes calldata signature
  ) external {
    if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
    if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
    if (witness.to == address(0)) revert InvalidDestination();
    if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
    PERMIT2.permitWitnessTransferFrom(
      permit,
      ISignatureTransfer.SignatureTransferDetails(witness.to, amount),
      owner,
      keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.facilitator, witness.validAfter)),
      WITNESS_TYPE_STRING,
      signature
    );
    emit Settled();
  }
}

/// As x402's proxy for exact payments by Permit2: anyone may settle, the payee gets all of it.
contract X402ExactDouble {
  event Settled();

  error InvalidDestination();
  error PaymentTooEarly();

  struct Witness {
    address to;
    uint256 validAfter;
  }

  ISignatureTransfer public constant PERMIT2 = ISignatureTransfer(0x000000000022D473030F116dDEE9F6B43aC78BA3);
  bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");
  string public constant WITNESS_TYPE_STRING =
    "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";

  function settle(
    ISignatureTransfer.PermitTransferFrom calldata permit,
    address owner,
    Witness calldata witness,
    bytes calldata signature
  ) external {
    if (witness.to == address(0)) revert InvalidDestination();
    if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
    PERMIT2.permitWitnessTransferFrom(
      permit,
      ISignatureTransfer.SignatureTransferDetails(witness.to, permit.permitted.amount),
      owner,
      keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.validAfter)),
      WITNESS_TYPE_STRING,
      signature
    );
    emit Settled();
  }
}

/// Code for delegated accounts (EIP-7702) that sends on whatever comes in, and what was there.
contract SweepingDelegate {
  address payable public immutable thief;

  constructor(address payable to) {
    thief = to;
  }

  receive() external payable {
    (bool ok, ) = thief.call{value: address(this).balance}("");
    require(ok, "not swept");
  }
}

/// Code for delegated accounts (EIP-7702) whose calls anyone may order, one or many.
contract OpenExecutor {
  struct Call {
    address target;
    uint256 value;
    bytes data;
  }

  receive() external payable {}

  function execute(address target, uint256 value, bytes calldata data) external payable {
    run(target, value, data);
  }

  function executeBatch(Call[] calldata calls) external payable {
    for (uint256 i; i < calls.length; i++) run(calls[i].target, calls[i].value, calls[i].data);
  }

  function run(address target, uint256 value, bytes calldata data) internal {
    (bool ok, bytes memory answer) = target.call{value: value}(data);
    if (!ok) {
      assembly {
        revert(add(answer, 32), mload(answer))
      }
    }
  }
}
