// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// What Jovian adds to the predeploys of a network of Isthmus, which stay what they are and stand elsewhere:
/// no network's own genesis holds any of Jovian yet.
abstract contract Upgraded {
  function rest(address before, bytes memory data) internal {
    assembly {
      let ok := delegatecall(gas(), before, add(data, 32), mload(data), 0, 0)
      returndatacopy(0, 0, returndatasize())
      if iszero(ok) { revert(0, returndatasize()) }
      return(0, returndatasize())
    }
  }
}

/// L1Block whose attributes end in the scalar of the data footprint.
contract JovianL1Block is Upgraded {
  address constant isthmus = 0x00000000000000000000000000000000C0de0015;

  function daFootprintGasScalar() public view returns (uint16 scalar) {
    assembly { scalar := and(shr(96, sload(8)), 0xffff) }
  }
  /// As Isthmus has them, and two bytes more, packed.
  function setL1BlockValuesJovian() external {
    bytes memory attributes = abi.encodePacked(bytes4(0x098999be), msg.data[4:176]);
    (bool ok, ) = isthmus.delegatecall(attributes);
    require(ok);
    uint256 scalar = uint16(bytes2(msg.data[176:178]));
    assembly { sstore(8, or(sload(8), shl(96, scalar))) }
  }
  fallback() external {
    rest(isthmus, msg.data);
  }
}

interface OperatorParameters {
  function operatorFeeScalar() external view returns (uint32);
  function operatorFeeConstant() external view returns (uint64);
}

/// GasPriceOracle with Jovian's operator fee.
contract JovianGasPriceOracle is Upgraded {
  address constant isthmus = 0x00000000000000000000000000000000c0DE000F;
  OperatorParameters constant l1Block = OperatorParameters(0x4200000000000000000000000000000000000015);

  function isJovian() external pure returns (bool) {
    return true;
  }
  function getOperatorFee(uint256 gas) external view returns (uint256) {
    return gas * l1Block.operatorFeeScalar() * 100 + l1Block.operatorFeeConstant();
  }
  fallback() external {
    rest(isthmus, msg.data);
  }
}
