// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

interface IReceiver {
  function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4);
}

/// ERC-721 with the errors of ERC-6093; anyone may mint.
contract Nft {
  event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
  event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
  event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

  error ERC721NonexistentToken(uint256 tokenId);
  error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner);
  error ERC721InsufficientApproval(address operator, uint256 tokenId);
  error ERC721InvalidReceiver(address receiver);

  string public constant name = "Collectible";
  string public constant symbol = "NFT";
  mapping(address => uint256) public balanceOf;
  mapping(uint256 => address) private owners;
  mapping(uint256 => address) private approved;
  mapping(address => mapping(address => bool)) public isApprovedForAll;

  function supportsInterface(bytes4 id) external pure returns (bool) {
    return id == 0x01ffc9a7 || id == 0x80ac58cd || id == 0x5b5e139f;
  }

  function ownerOf(uint256 tokenId) public view returns (address owner) {
    owner = owners[tokenId];
    if (owner == address(0)) revert ERC721NonexistentToken(tokenId);
  }

  function getApproved(uint256 tokenId) external view returns (address) {
    ownerOf(tokenId);
    return approved[tokenId];
  }

  function mint(address to, uint256 tokenId) external {
    if (owners[tokenId] != address(0)) revert ERC721IncorrectOwner(address(0), tokenId, owners[tokenId]);
    owners[tokenId] = to;
    balanceOf[to]++;
    emit Transfer(address(0), to, tokenId);
  }

  function burn(uint256 tokenId) external {
    address owner = _authorised(tokenId);
    delete approved[tokenId];
    delete owners[tokenId];
    balanceOf[owner]--;
    emit Transfer(owner, address(0), tokenId);
  }

  function approve(address to, uint256 tokenId) external {
    address owner = ownerOf(tokenId);
    if (msg.sender != owner && !isApprovedForAll[owner][msg.sender])
      revert ERC721InsufficientApproval(msg.sender, tokenId);
    approved[tokenId] = to;
    emit Approval(owner, to, tokenId);
  }

  function setApprovalForAll(address operator, bool allowed) external {
    isApprovedForAll[msg.sender][operator] = allowed;
    emit ApprovalForAll(msg.sender, operator, allowed);
  }

  function transferFrom(address from, address to, uint256 tokenId) public {
    if (to == address(0)) revert ERC721InvalidReceiver(to);
    address owner = _authorised(tokenId);
    if (owner != from) revert ERC721IncorrectOwner(from, tokenId, owner);
    delete approved[tokenId];
    owners[tokenId] = to;
    balanceOf[from]--;
    balanceOf[to]++;
    emit Transfer(from, to, tokenId);
  }

  function safeTransferFrom(address from, address to, uint256 tokenId) external {
    safeTransferFrom(from, to, tokenId, "");
  }

  function safeTransferFrom(address from, address to, uint256 tokenId, bytes memory data) public {
    transferFrom(from, to, tokenId);
    if (to.code.length == 0) return;
    bytes4 answer = IReceiver(to).onERC721Received(msg.sender, from, tokenId, data);
    if (answer != IReceiver.onERC721Received.selector) revert ERC721InvalidReceiver(to);
  }

  function _authorised(uint256 tokenId) private view returns (address owner) {
    owner = ownerOf(tokenId);
    if (msg.sender != owner && !isApprovedForAll[owner][msg.sender] && approved[tokenId] != msg.sender)
      revert ERC721InsufficientApproval(msg.sender, tokenId);
  }
}

/// ERC-1155, single and batch; anyone may mint.
contract Multi {
  event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);
  event TransferBatch(
    address indexed operator,
    address indexed from,
    address indexed to,
    uint256[] ids,
    uint256[] values
  );
  event ApprovalForAll(address indexed account, address indexed operator, bool approved);
  event URI(string value, uint256 indexed id);

  error ERC1155InsufficientBalance(address sender, uint256 balance, uint256 needed, uint256 tokenId);
  error ERC1155MissingApprovalForAll(address operator, address owner);
  error ERC1155InvalidArrayLength(uint256 idsLength, uint256 valuesLength);

  mapping(uint256 => mapping(address => uint256)) private balances;
  mapping(address => mapping(address => bool)) public isApprovedForAll;

  function supportsInterface(bytes4 id) external pure returns (bool) {
    return id == 0x01ffc9a7 || id == 0xd9b67a26;
  }

  function balanceOf(address account, uint256 id) public view returns (uint256) {
    return balances[id][account];
  }

  function balanceOfBatch(
    address[] calldata accounts,
    uint256[] calldata ids
  ) external view returns (uint256[] memory values) {
    if (accounts.length != ids.length) revert ERC1155InvalidArrayLength(ids.length, accounts.length);
    values = new uint256[](ids.length);
    for (uint256 i; i < ids.length; i++) values[i] = balances[ids[i]][accounts[i]];
  }

  function mint(address to, uint256 id, uint256 value) external {
    balances[id][to] += value;
    emit TransferSingle(msg.sender, address(0), to, id, value);
  }

  function burn(uint256 id, uint256 value) external {
    _debit(msg.sender, id, value);
    emit TransferSingle(msg.sender, msg.sender, address(0), id, value);
  }

  function setApprovalForAll(address operator, bool allowed) external {
    isApprovedForAll[msg.sender][operator] = allowed;
    emit ApprovalForAll(msg.sender, operator, allowed);
  }

  function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes calldata) external {
    _authorise(from);
    _debit(from, id, value);
    balances[id][to] += value;
    emit TransferSingle(msg.sender, from, to, id, value);
  }

  function safeBatchTransferFrom(
    address from,
    address to,
    uint256[] calldata ids,
    uint256[] calldata values,
    bytes calldata
  ) external {
    if (ids.length != values.length) revert ERC1155InvalidArrayLength(ids.length, values.length);
    _authorise(from);
    for (uint256 i; i < ids.length; i++) {
      _debit(from, ids[i], values[i]);
      balances[ids[i]][to] += values[i];
    }
    emit TransferBatch(msg.sender, from, to, ids, values);
  }

  function _authorise(address from) private view {
    if (msg.sender != from && !isApprovedForAll[from][msg.sender])
      revert ERC1155MissingApprovalForAll(msg.sender, from);
  }

  function _debit(address from, uint256 id, uint256 value) private {
    uint256 held = balances[id][from];
    if (held < value) revert ERC1155InsufficientBalance(from, held, value, id);
    balances[id][from] = held - value;
  }
}
