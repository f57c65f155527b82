/** `Panic(uint256)` codes as the Solidity documentation explains them. */
export const panicMeanings: ReadonlyMap<bigint, string> = new Map([
  [0x00n, "a panic inserted by the compiler"],
  [0x01n, "an assert failed"],
  [0x11n, "arithmetic overflow or underflow"],
  [0x12n, "division or modulo by zero"],
  [0x21n, "conversion to an enum of a value out of its range"],
  [0x22n, "access to an incorrectly encoded storage byte array"],
  [0x31n, "pop on an empty array"],
  [0x32n, "array index out of bounds"],
  [0x41n, "too much memory allocated, or an array too large"],
  [0x51n, "call of a zero-initialised internal function"],
]);
