/** Contracts that look at one value of their block, and give what they are sent back, or keep it. */
import type { Hex } from "viem";
import { creation } from "../harness/creation.js";

const operations: Readonly<Record<string, string>> = {
  ...{
    ADD: "01",
    MUL: "02",
    SUB: "03",
    MOD: "06",
    LT: "10",
    GT: "11",
    EQ: "14",
    ISZERO: "15",
    AND: "16",
    OR: "17",
    SHR: "1c",
  },
  ...{
    BALANCE: "31",
    ORIGIN: "32",
    CALLER: "33",
    CALLVALUE: "34",
    CALLDATALOAD: "35",
    GASPRICE: "3a",
    EXTCODESIZE: "3b",
  },
  ...{
    KECCAK256: "20",
    EXTCODEHASH: "3f",
    BLOCKHASH: "40",
    COINBASE: "41",
    TIMESTAMP: "42",
    NUMBER: "43",
    PREVRANDAO: "44",
  },
  ...{ GASLIMIT: "45", CHAINID: "46", SELFBALANCE: "47", BASEFEE: "48", BLOBBASEFEE: "4a", POP: "50", MLOAD: "51" },
  ...{ MSTORE: "52", SLOAD: "54", GAS: "5a", DUP1: "80", SWAP1: "90", STATICCALL: "fa" },
};

const push = (value: bigint): string =>
  value < 256n ? `60${value.toString(16).padStart(2, "0")}` : `7f${value.toString(16).padStart(64, "0")}`;

/** Names of operations and numbers to push, as bytecode; the last one stands on top. */
export const assemble = (source: string): string =>
  source
    .split(" ")
    .map((word) => operations[word] ?? push(BigInt(word)))
    .join("");

/** Init code of a contract that gives back what it is sent where `condition` leaves anything but zero. */
export const watcher = (condition: string): Hex => {
  const target = (condition.length / 2 + 4).toString(16).padStart(2, "0");
  return creation(`${condition}60${target}57005b5f5f5f5f34335af100`);
};

/** How the first rows of the table in docs/limits.md begin. */
export const limits = [
  "the parent's hash",
  "the beacon root (EIP-4788)",
  "the slot (EIP-7843)",
  "a number, time, gas limit, base fee or balance of the producer",
  "a value that is compared with one certain value",
] as const;
export type Limit = (typeof limits)[number];

/** The block that the worlds of a report are made from, and the one that is mined. */
export interface Head {
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  readonly baseFee: bigint;
  readonly miner: bigint;
}

type Field = "number" | "timestamp" | "gasLimit";

export interface Look {
  readonly code: (head: Head) => string;
  /** What may be ready and turn out otherwise, and why. */
  readonly limit?: Limit;
  /** What must be outside of both worlds where it does. */
  readonly field?: Field;
  /** Where alone it may: default everywhere. */
  readonly where?: "after another block" | "after another block, and on anvil";
}

const plain = (source: string, more: Omit<Look, "code"> = {}): Look => ({ code: () => source, ...more });
const outside = { limit: "a number, time, gas limit, base fee or balance of the producer" } as const;
const unordered = { limit: "a value that is compared with one certain value" } as const;
const parent = { limit: "the parent's hash", where: "after another block" } as const;
/** anvil keeps no history in the blocks that it simulates. */
const kept = { limit: "the parent's hash", where: "after another block, and on anvil" } as const;
/** The next block's base fee is known, and none after it. */
const later = { ...outside, where: "after another block" } as const;

/** Asks a system contract for a word. */
const asked = (contract: string, word: string): string =>
  `${word} 0 MSTORE 32 32 32 0 ${contract} GAS STATICCALL POP 32 MLOAD`;
const history = (word: string) => asked("0x0000f90827f1c53a10cb7a02335b175320002935", word);
const beacon = asked("0x000f3df6d732807ef1319fb7b8bb8522d0beac02", "TIMESTAMP");

const ether = (amount: bigint) => amount * 10n ** 18n;
const remainders = (value: string, ...moduli: ReadonlyArray<number>) =>
  Object.fromEntries(
    moduli.map((modulus) => [`${value} modulo ${modulus}`, plain(`${modulus} ${value} MOD`, unordered)]),
  );
/** Whether the value is more than `offset` above the head's own. */
const above = (value: string, field: Field, ...offsets: ReadonlyArray<bigint>) =>
  Object.fromEntries(
    offsets.map((offset): [string, Look] => [
      `${value} above the head's by more than ${offset}`,
      { code: (head) => `${head[field] + offset} ${value} GT`, field, ...outside },
    ]),
  );

/** By name; each is tried as it is and the other way round. The calldata is the next block's base fee. */
export const looks: Readonly<Record<string, Look>> = {
  "NUMBER even": plain("1 NUMBER AND"),
  "NUMBER the next": { code: ({ number }) => `${number + 1n} NUMBER EQ` },
  "NUMBER the one after": { code: ({ number }) => `${number + 2n} NUMBER EQ` },
  ...above("NUMBER", "number", 1n, 2n, 3n),
  ...remainders("NUMBER", 3, 4, 8),
  "TIMESTAMP even": plain("1 TIMESTAMP AND"),
  "TIMESTAMP 12 s after the head": { code: ({ timestamp }) => `${timestamp + 12n} TIMESTAMP EQ`, ...unordered },
  ...above("TIMESTAMP", "timestamp", 1n, 6n, 11n, 12n, 20n, 59n),
  ...remainders("TIMESTAMP", 3, 5, 7, 12),
  "COINBASE the last one": { code: ({ miner }) => `${miner} COINBASE EQ` },
  "COINBASE even": plain("1 COINBASE AND"),
  "COINBASE with its highest bit": plain("COINBASE 159 SHR"),
  "COINBASE the caller": plain("CALLER COINBASE EQ", unordered),
  "COINBASE the watcher of last time": plain("0xfee01 COINBASE EQ", unordered),
  "COINBASE without money": plain("COINBASE BALANCE ISZERO"),
  "COINBASE with 1 ether": plain(`${ether(1n)} COINBASE BALANCE GT`, outside),
  "COINBASE with 1,000 ether": plain(`${ether(1_000n)} COINBASE BALANCE GT`, outside),
  "COINBASE with an even balance": plain("1 COINBASE BALANCE AND", unordered),
  "COINBASE that never lived": plain("COINBASE EXTCODEHASH ISZERO"),
  "COINBASE with code": plain("COINBASE EXTCODESIZE"),
  "COINBASE with the hash of no code": plain(
    "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470 COINBASE EXTCODEHASH EQ",
  ),
  "COINBASE the last one, or one without money": {
    code: ({ miner }) => `${miner} COINBASE EQ COINBASE BALANCE ISZERO OR`,
  },
  "GASLIMIT the head's": { code: ({ gasLimit }) => `${gasLimit} GASLIMIT EQ` },
  "GASLIMIT even": plain("1 GASLIMIT AND"),
  ...above("GASLIMIT", "gasLimit", 0n, 1_000n, -1_000n),
  ...remainders("GASLIMIT", 1024),
  "PREVRANDAO even": plain("1 PREVRANDAO AND"),
  "PREVRANDAO with its highest bit": plain("PREVRANDAO 255 SHR"),
  "PREVRANDAO with its middle bit": plain("1 PREVRANDAO 128 SHR AND"),
  "PREVRANDAO none": plain("PREVRANDAO ISZERO"),
  ...remainders("PREVRANDAO", 3, 5, 100),
  "a hash of PREVRANDAO even": plain("1 PREVRANDAO 0 MSTORE 32 0 KECCAK256 AND", unordered),
  "NUMBER and TIMESTAMP of one parity": plain("1 TIMESTAMP NUMBER ADD AND", unordered),
  "NUMBER and PREVRANDAO of one parity": plain("1 PREVRANDAO NUMBER ADD AND", unordered),
  "BASEFEE none": plain("BASEFEE ISZERO"),
  "BASEFEE even": plain("1 BASEFEE AND"),
  "BASEFEE the next": plain("0 CALLDATALOAD BASEFEE EQ"),
  "BASEFEE above the head's": { code: ({ baseFee }) => `${baseFee} BASEFEE GT`, ...later },
  "BASEFEE above the next": plain("0 CALLDATALOAD BASEFEE GT", later),
  "BASEFEE below the next": plain("0 CALLDATALOAD BASEFEE LT", later),
  "BASEFEE modulo 7": plain("7 BASEFEE MOD", { ...unordered, where: "after another block" }),
  "BLOBBASEFEE even": plain("1 BLOBBASEFEE AND"),
  "BLOBBASEFEE above 1 wei": plain("1 BLOBBASEFEE GT"),
  "GASPRICE none": plain("GASPRICE ISZERO"),
  "GASPRICE even": plain("1 GASPRICE AND"),
  "GASPRICE with a tip": plain("BASEFEE GASPRICE SUB"),
  "GASPRICE with an even tip": plain("1 BASEFEE GASPRICE SUB AND"),
  "the parent's hash even": plain("1 1 NUMBER SUB BLOCKHASH AND", parent),
  "the parent's hash with its highest bit": plain("1 NUMBER SUB BLOCKHASH 255 SHR", parent),
  "the parent's hash modulo 5": plain("5 1 NUMBER SUB BLOCKHASH MOD", parent),
  "the hash two before even": plain("1 2 NUMBER SUB BLOCKHASH AND", parent),
  "the hash 256 before known": plain("256 NUMBER SUB BLOCKHASH"),
  "the hash of its own block known": plain("NUMBER BLOCKHASH"),
  "the head's hash known": { code: ({ number }) => `${number} BLOCKHASH` },
  "the history's last hash even": plain(`1 ${history("1 NUMBER SUB")} AND`, kept),
  "the history's last hash known": plain(history("1 NUMBER SUB"), kept),
  "the beacon root even": plain(`1 ${beacon} AND`, { limit: "the beacon root (EIP-4788)" }),
  "the beacon root known": plain(beacon, { limit: "the beacon root (EIP-4788)" }),
  "GAS even": plain("1 GAS AND"),
  "GAS above 10,000": plain("10000 GAS GT"),
  "GAS above what a transfer leaves": plain("2300 GAS GT"),
  "CHAINID even": plain("1 CHAINID AND"),
  "ORIGIN the caller": plain("CALLER ORIGIN EQ"),
  "ORIGIN with code": plain("ORIGIN EXTCODESIZE"),
  "ORIGIN with an even balance": plain("1 ORIGIN BALANCE AND"),
  "SELFBALANCE what was sent": plain("CALLVALUE SELFBALANCE EQ"),
  nothing: plain("1"),
};
