// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

function u24(bytes memory data, uint256 at) pure returns (uint256 value) {
  assembly {
    let word := mload(add(add(data, 32), at))
    value := or(byte(0, word), or(shl(8, byte(1, word)), shl(16, byte(2, word))))
  }
}

/// Puts `value` into slot `hash` of a table of 16-bit numbers, and gives back what was there.
function swap(bytes memory table, uint256 hash, uint256 value) pure returns (uint256 before) {
  assembly {
    let slot := add(add(table, 32), shl(1, hash))
    before := shr(240, mload(slot))
    mstore8(slot, shr(8, value))
    mstore8(add(slot, 1), value)
  }
}

function hashOf(uint256 value) pure returns (uint256) {
  unchecked {
    return ((2654435769 * value) >> 19) & 0x1fff;
  }
}

function literals(uint256 count) pure returns (uint256) {
  unchecked {
    return (count / 32) * 33 + (count % 32 == 0 ? 0 : (count % 32) + 1);
  }
}

/// The length of FastLZ (level 1) output, by the rules that OP-stack chains fix since Fjord.
function compressedLength(bytes memory data) pure returns (uint256 length) {
  unchecked {
    uint256 limit = data.length < 13 ? 0 : data.length - 13;
    bytes memory table = new bytes(16384 + 32);
    uint256 anchor;
    uint256 at = 2;
    while (at < limit) {
      uint256 earlier;
      bool found;
      for (; at < limit; at++) {
        uint256 three = u24(data, at);
        earlier = swap(table, hashOf(three), at);
        if (at - earlier <= 8191 && u24(data, earlier) == three) {
          found = true;
          break;
        }
      }
      if (!found || at + 1 >= limit) break;
      length += literals(at - anchor);
      uint256 more;
      uint256 most = limit + 9 - (at + 3);
      while (more < most && data[earlier + 3 + more] == data[at + 3 + more]) more++;
      if (more < most) more++;
      length += ((more - 1) / 262) * 3 + ((more - 1) % 262 >= 6 ? 3 : 2);
      at += more;
      swap(table, hashOf(u24(data, at)), at);
      swap(table, hashOf(u24(data, at + 1)), at + 1);
      at += 2;
      anchor = at;
    }
    length += literals(data.length - anchor);
  }
}

/// GasPriceOracle with Fjord's formula over settings in storage; Isthmus and Jovian by flags. Install at 0x4200…000F.
contract FjordGasPriceOracle {
  uint256 public l1BaseFee;
  uint256 public blobBaseFee;
  uint32 public baseFeeScalar;
  uint32 public blobBaseFeeScalar;
  uint32 public operatorFeeScalar;
  uint64 public operatorFeeConstant;
  /// Added to every answer of getL1Fee, for an oracle that lies.
  int256 public skew;
  bool public isFjord;
  bool public isIsthmus;
  bool public isJovian;

  function set(
    uint256 l1BaseFee_,
    uint256 blobBaseFee_,
    uint32 baseFeeScalar_,
    uint32 blobBaseFeeScalar_,
    uint32 operatorFeeScalar_,
    uint64 operatorFeeConstant_,
    uint8 fork
  ) external {
    (l1BaseFee, blobBaseFee) = (l1BaseFee_, blobBaseFee_);
    (baseFeeScalar, blobBaseFeeScalar) = (baseFeeScalar_, blobBaseFeeScalar_);
    (operatorFeeScalar, operatorFeeConstant) = (operatorFeeScalar_, operatorFeeConstant_);
    (isFjord, isIsthmus, isJovian) = (fork > 0, fork > 1, fork > 2);
  }

  function setSkew(int256 skew_) external {
    skew = skew_;
  }

  function getL1Fee(bytes memory data) external view returns (uint256) {
    uint256 size = 836_500 * (compressedLength(data) + 68);
    size = size < 142_585_600 ? 100_000_000 : size - 42_585_600;
    uint256 price = uint256(baseFeeScalar) * 16 * l1BaseFee + uint256(blobBaseFeeScalar) * blobBaseFee;
    return uint256(int256((size * price) / 1e12) + skew);
  }

  function getOperatorFee(uint256 gas) external view returns (uint256) {
    if (!isIsthmus) return 0;
    if (isJovian) return gas * operatorFeeScalar * 100 + operatorFeeConstant;
    return (gas * operatorFeeScalar) / 1e6 + operatorFeeConstant;
  }
}

/// The part of OP-stack's L1Block that is asked: install at 0x4200…0015.
contract L1Block {
  uint16 public daFootprintGasScalar;

  function set(uint16 scalar) external {
    daFootprintGasScalar = scalar;
  }
}
