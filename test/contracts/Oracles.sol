// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// The parts of OP-stack's GasPriceOracle that are asked: install at 0x4200…000F by a code override; settings in storage.
contract GasPriceOracle {
  uint256 public perByte;
  uint256 public base;
  uint256 public operatorFeeScalar;
  uint256 public operatorFeeConstant;
  bool public isEcotone;
  bool public isFjord;
  bool public isIsthmus;
  bool public isJovian;

  function set(uint256 perByte_, uint256 base_, uint256 scalar, uint256 constant_, uint8 fork) external {
    (perByte, base, operatorFeeScalar, operatorFeeConstant) = (perByte_, base_, scalar, constant_);
    (isEcotone, isFjord, isIsthmus, isJovian) = (fork > 0, fork > 1, fork > 2, fork > 3);
  }

  /// Wei for an unsigned transaction; 68 bytes for the signature are added, as the real one does.
  function getL1Fee(bytes calldata data) external view returns (uint256) {
    return base + perByte * (data.length + 68);
  }

  function getL1FeeUpperBound(uint256 size) external view returns (uint256) {
    return base + perByte * (size + 68);
  }

  function getOperatorFee(uint256 gasUsed) external view returns (uint256) {
    if (!isIsthmus) return 0;
    if (isJovian) return gasUsed * operatorFeeScalar * 100 + operatorFeeConstant;
    return (gasUsed * operatorFeeScalar) / 1e6 + operatorFeeConstant;
  }

  function l1BaseFee() external view returns (uint256) {
    return base;
  }
}

/// Knows getL1Fee only, as before Isthmus: no fallback, so everything else reverts.
contract OldGasPriceOracle {
  uint256 public perByte;

  function set(uint256 perByte_) external {
    perByte = perByte_;
  }

  function getL1Fee(bytes calldata data) external view returns (uint256) {
    return perByte * (data.length + 68);
  }
}

/// Fails at every question.
contract RevertingGasPriceOracle {
  fallback() external {
    revert("GasPriceOracle: not here");
  }
}

/// Answers every question with nonsense: 2^256 - 1, which is neither a fee nor a bool.
contract GarbageGasPriceOracle {
  fallback() external {
    assembly {
      mstore(0, not(0))
      return(0, 32)
    }
  }
}

/// Answers every question with too few bytes.
contract ShortGasPriceOracle {
  fallback() external {
    assembly {
      mstore(0, not(0))
      return(0, 7)
    }
  }
}
