// The witness: answers a list of queries about the state it runs in, and can do nothing else.
//
// It holds no storage, makes no CALL, CREATE or SELFDESTRUCT, and asks only by STATICCALL, so it cannot
// change what it looks at. Each call has a gas cap and a return-data cap. A call is made only when its whole
// cap can be given and the reserve kept as well: an answer computed with less gas than asked for would be
// the token's behaviour under starvation, not its balance. When gas is short the witness writes `starved`
// and returns what it has.
//
// Calldata, one query after another:
//   01                                            environment
//   02 address(20)                                account
//   03 address(20) gas(4) cap(4) length(4) data   call
//   04, 05                                        opcode: the witness to itself; fails where the chain has it not
// Return data: magic(4), then for each query
//   01 chainId number blockhash(number-1) timestamp basefee coinbase prevrandao gaslimit gasprice gas opcodes(1)
//      10 words and a byte: bit 0 set where CLZ is an opcode (Osaka), bit 1 where SLOTNUM is (Amsterdam)
//   02 balance(32) codehash(32) codesize(4) first 23 bytes of code
//   03 success(1) size(4) data(min(size, cap))
// and at the end ff (all answered) or 00 (starved: this query and all after it are unavailable).
//
// The gas constants are repeated in queries.ts (`gasFor`); a test compares the two by running them.
object "Witness" {
  code {
    function memoryGas(size) -> cost {
      let words := shr(5, add(size, 31))
      cost := add(mul(3, words), shr(9, mul(words, words)))
    }

    function finish(out, tag) {
      mstore8(out, tag)
      return(0, add(out, 1))
    }

    // Ends the run unless `work` gas can be spent, memory grown from `out` by `size` bytes, and 2,000 gas kept.
    function afford(out, size, work) {
      let growth := sub(memoryGas(add(out, size)), memoryGas(out))
      if lt(gas(), add(add(work, growth), 2000)) { finish(out, 0x00) }
    }

    mstore(0, shl(224, 0x77697431))
    let out := 4
    let at := 0
    for { } lt(at, calldatasize()) { } {
      let head := calldataload(at)
      switch byte(0, head)
      case 1 {
        afford(out, 385, 2200)
        mstore8(out, 1)
        mstore(add(out, 1), chainid())
        mstore(add(out, 33), number())
        mstore(add(out, 65), blockhash(sub(number(), 1)))
        mstore(add(out, 97), timestamp())
        mstore(add(out, 129), basefee())
        mstore(add(out, 161), coinbase())
        mstore(add(out, 193), prevrandao())
        mstore(add(out, 225), gaslimit())
        mstore(add(out, 257), gasprice())
        mstore(add(out, 289), gas())
        // An opcode that is none takes all the gas it was given, so it is given little.
        mstore8(add(out, 322), 4)
        let opcodes := staticcall(400, address(), add(out, 322), 1, 0, 0)
        mstore8(add(out, 322), 5)
        opcodes := or(opcodes, shl(1, staticcall(400, address(), add(out, 322), 1, 0, 0)))
        mstore8(add(out, 321), opcodes)
        out := add(out, 322)
        at := add(at, 1)
      }
      // why: neither opcode is known to the compiler; what they say is not looked at
      case 4 {
        pop(verbatim_1i_1o(hex"1e", out))
        at := add(at, 1)
      }
      case 5 {
        pop(verbatim_0i_1o(hex"4b"))
        at := add(at, 1)
      }
      case 2 {
        // Four reads of one account: 2,600 + 3 * 100 today; the rest is room for repricing.
        afford(out, 192, 8000)
        let account := shr(96, shl(8, head))
        mstore8(out, 2)
        mstore(add(out, 1), balance(account))
        mstore(add(out, 33), extcodehash(account))
        mstore(add(out, 65), shl(224, extcodesize(account)))
        extcodecopy(account, add(out, 69), 0, 23)
        out := add(out, 92)
        at := add(at, 21)
      }
      case 3 {
        let tail := calldataload(add(at, 21))
        let allowance := shr(224, tail)
        let cap := and(shr(192, tail), 0xffffffff)
        let length := and(shr(160, tail), 0xffffffff)
        let larger := cap
        if gt(length, cap) { larger := length }
        // 10,000: a cold account and the cold target of its delegation are 5,200 today. Copies: 3 per word each.
        // One 64th of the gas stays behind at every call (EIP-150), so the cap needs its 63rd part on top.
        afford(out, add(larger, 128), add(add(10000, shr(3, add(cap, length))), add(allowance, add(div(allowance, 63), 1))))
        calldatacopy(add(out, 6), add(at, 33), length)
        let success := staticcall(allowance, shr(96, shl(8, head)), add(out, 6), length, 0, 0)
        let size := returndatasize()
        mstore8(out, 3)
        mstore8(add(out, 1), success)
        mstore(add(out, 2), shl(224, size))
        if gt(size, cap) { size := cap }
        returndatacopy(add(out, 6), 0, size)
        out := add(add(out, 6), size)
        at := add(add(at, 33), length)
      }
      default {
        finish(out, 0x00)
      }
    }
    finish(out, 0xff)
  }
}
