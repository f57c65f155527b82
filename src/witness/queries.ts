/**
 * Queries of the witness, and how they are put on the wire.
 *
 * The witness (`Witness.yul`) is a small contract injected by a state override and called in the same
 * simulated block as the user's transactions. It answers a list of queries in order, only reads, and
 * gives every call a gas cap and a return-data cap. `answers.ts` reads what it returns.
 */
import { memoize } from "effect/Function";
import { isHex, type Address, type Hex } from "../primitives/hex.js";

/** A call that changes nothing (STATICCALL). `gas` in gas, `returnCap` in bytes; both are limited to 32 bits on the wire. */
export interface CallQuery {
  /** The kind of query. */
  readonly kind: "call";
  /** The contract to call. */
  readonly to: Address;
  /** Its calldata. */
  readonly data: Hex;
  /** The most gas it may use. */
  readonly gas: number;
  /** The most bytes of its answer that are kept. */
  readonly returnCap: number;
}

/** One read of the witness before and after the transactions, in the same simulated block. */
export type Look = CallQuery | { readonly kind: "account"; readonly address: Address };

/** One question. */
export type Query = Look | { readonly kind: "environment" };

const limit32 = 0xffff_ffff;

/** Gas that the witness keeps before each query so that it can always return what it has. */
const reserve = 2000;

/**
 * A query on the wire, with the same numbers as in Witness.yul: its bytes, the work charged in advance, the most memory that it
 * may add, and the most bytes that it adds to the answer.
 */
export const costOf = (query: Query) => {
  if (query.kind === "environment") return { text: "01", bytes: 1, work: 2200, growth: 385, answer: 322 };
  if (query.kind === "account")
    return { text: `02${query.address.slice(2)}`, bytes: 21, work: 8000, growth: 192, answer: 92 };
  const length = (query.data.length - 2) >> 1;
  // why: the wire holds whole numbers within 32 bits, and nonsense asks for nothing
  const gas = Math.min(Math.max(query.gas, 0), limit32) >>> 0;
  const returnCap = Math.min(Math.max(query.returnCap, 0), limit32) >>> 0;
  let text = `03${query.to.slice(2)}`;
  // why: 2^32 in front keeps the zeros
  for (const value of [gas, returnCap, length]) text += (limit32 + 1 + value).toString(16).slice(1);
  return {
    text: text + query.data.slice(2),
    bytes: 33 + length,
    work: 10_000 + Math.floor((length + returnCap) / 8) + gas + Math.floor(gas / 63) + 1,
    growth: Math.max(length, returnCap) + 128,
    answer: 6 + returnCap,
  };
};

/**
 * Worked out once for a list, which every run asks: what it is on the wire, the gas that it takes, the most bytes that
 * each query adds to the answer, and that all of it has.
 */
export const costsOf = memoize((queries: ReadonlyArray<Query>) => {
  const answers: Array<number> = [];
  let [text, bytes, size, work] = ["", 0, 4, 1000 + reserve];
  for (const query of queries) {
    const cost = costOf(query);
    const words = Math.floor((size + 31) / 32);
    const grown = Math.floor((size + cost.growth + 31) / 32);
    // gas of EVM memory (Yellow Paper, appendix H): 3 per word plus words²/512
    work += cost.work + 3 * (grown - words) + Math.floor((grown * grown) / 512) - Math.floor((words * words) / 512);
    size += cost.answer;
    bytes += cost.bytes;
    work += 300;
    text += cost.text;
    answers.push(cost.answer);
  }
  const gas = BigInt(21_000 + Math.max(64 * bytes, 16 * bytes + work));
  return { data: `0x${text.toLowerCase()}` as Hex, gas, answers, most: size + 1 };
});

/** The calldata of the witness for these queries, in lower case. */
export const encodeQueries = (queries: ReadonlyArray<Query>): Hex => costsOf(queries).data;

/**
 * The gas limit (in gas) of a transaction to the witness with which every query can use its whole cap:
 * intrinsic gas (21,000 and 16 per byte of calldata; never below a floor of 64 per byte, which is above
 * EIP-7623's 40) and the witness's own work. What is not used is not charged, but a simulated block
 * must have room for it. With less, the last queries may come back `unavailable`, never wrong.
 */
export const gasFor = (queries: ReadonlyArray<Query>): bigint => costsOf(queries).gas;

/** Queries are allowed a multiple of what honest tokens take; asked for are more than fit if all took it. */
const overcommitted = 6n;

/** Gas of the queries' bytes alone, which must be there before the witness runs: 21,000 and at most 64 per byte. */
const calldataGas = (queries: ReadonlyArray<Query>): bigint =>
  21_000n + 32n * BigInt(encodeQueries(queries).length - 2);

/** As many queries, in their order, as may fit `room` gas. What does not in the end is not known. */
export const fit = (queries: ReadonlyArray<Query>, room: bigint): ReadonlyArray<Query> => {
  const isTooMuch = (kept: ReadonlyArray<Query>) =>
    gasFor(kept) > room && (gasFor(kept) > room * overcommitted || 2n * calldataGas(kept) > room);
  let fitting = queries;
  while (fitting.length > 0 && isTooMuch(fitting)) fitting = fitting.slice(0, Math.floor(fitting.length * 0.8));
  return fitting;
};

// The gas caps are several times what real contracts need (a proxied, rebasing `balanceOf` stays under
// 100,000 gas), so that a token which burns its cap costs the block little.

/** Gas cap of a read of one balance, allowance or owner, in gas. */
export const readGas = 200_000;
/** Gas cap of `name`, `symbol` and `decimals`, in gas. */
export const metadataGas = 100_000;
/** Return cap of a string, in bytes: offset, length and up to 256 bytes of text. */
export const stringCap = 320;

/** A STATICCALL of `to` with `data`; `gas` in gas, `returnCap` in bytes: by default enough for one word of any view. */
export const staticCall = (to: Address, data: Hex, gas: number = readGas, returnCap: number = 32): CallQuery => ({
  kind: "call",
  to,
  data,
  gas,
  returnCap,
});

const uint = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, "0");

const word = (value: Address | bigint): string =>
  typeof value === "bigint" ? uint(value) : value.slice(2).toLowerCase().padStart(64, "0");

/** A getter of a contract by its selector, whose arguments are a word each. */
const getter =
  <Arguments extends ReadonlyArray<Address | bigint>>(selector: Hex, returnCap?: number) =>
  (contract: Address, ...values: Arguments): CallQuery => {
    const data = values.reduce<Hex>((given, value) => `${given}${word(value)}`, selector);
    return staticCall(contract, data, readGas, returnCap);
  };

/** `balanceOf(address)` of an ERC-20 or ERC-721: a uint256. */
export const balanceOf = (token: Address, account: Address): CallQuery =>
  staticCall(token, `0x70a08231${word(account)}`);

/** `balanceOf(address,uint256)` of an ERC-1155 or ERC-6909: a uint256. */
export const balanceOf1155 = getter<[account: Address, id: bigint]>("0x00fdd58e");

/** `ownerOf(uint256)` of an ERC-721: an address; reverts when there is no such token. */
export const ownerOf = getter<[id: bigint]>("0x6352211e");

/** `allowance(address,address)` of an ERC-20: a uint256. */
export const allowance = getter<[owner: Address, spender: Address]>("0xdd62ed3e");

/** `totalSupply()` of an ERC-20: a uint256. */
export const totalSupply = (token: Address): CallQuery => staticCall(token, "0x18160ddd");

/** `isApprovedForAll(address,address)` of an ERC-721 or ERC-1155: a bool. */
export const isApprovedForAll = getter<[owner: Address, operator: Address]>("0xe985e9c5");

/** `getApproved(uint256)` of an ERC-721: an address, zero when nobody is. */
export const getApproved = getter<[id: bigint]>("0x081812fc");

/** Permit2 `allowance(address user,address token,address spender)`: see `readPermit2Allowance`. */
export const permit2Allowance = getter<[owner: Address, token: Address, spender: Address]>("0x927da105", 96);

/** `isOperator(address,address)` of an ERC-6909: a bool. */
export const isOperator = getter<[owner: Address, spender: Address]>("0xb6363cf2");

/** `allowance(address,address,uint256)` of an ERC-6909: a uint256. */
export const allowance6909 = getter<[owner: Address, spender: Address, id: bigint]>("0x598af9e7");

/** `isOperatorFor(address operator,address holder)` of an ERC-777: a bool. */
export const isOperatorFor = getter<[operator: Address, holder: Address]>("0xd95b6371");

/** `borrowAllowance(address,address)` of an Aave debt token: a uint256. */
export const borrowAllowance = getter<[owner: Address, borrower: Address]>("0x6bd76d24");

/** `isAuthorized(address,address)` of Morpho: a bool. */
export const isAuthorized = getter<[authorizer: Address, authorized: Address]>("0x65e4ad9e");

/** ERC-165 `supportsInterface(bytes4)`: a bool. */
export const supportsInterface = (contract: Address, interfaceId: Hex): CallQuery =>
  staticCall(contract, `0x01ffc9a7${interfaceId.slice(2, 10).toLowerCase().padEnd(64, "0")}`);

/** `name()`: an ABI string, or bytes32 on old tokens. */
export const name = (token: Address): CallQuery => staticCall(token, "0x06fdde03", metadataGas, stringCap);

/** `symbol()`: an ABI string, or bytes32 on old tokens. */
export const symbol = (token: Address): CallQuery => staticCall(token, "0x95d89b41", metadataGas, stringCap);

/** `decimals()`: a uint8. */
export const decimals = (token: Address): CallQuery => staticCall(token, "0x313ce567", metadataGas);

/** The OP-stack predeploy `GasPriceOracle`. */
export const gasPriceOracle = "0x420000000000000000000000000000000000000F";

/**
 * `GasPriceOracle.getL1Fee(bytes)`: wei for an unsigned serialised transaction (the oracle adds what the
 * signature takes). Since Fjord it compresses the bytes in Solidity, so the cap grows with them.
 */
export const getL1Fee = (transaction: Hex, oracle: Address = gasPriceOracle): CallQuery => {
  const length = (transaction.length - 2) >> 1;
  const padded = transaction
    .slice(2)
    .toLowerCase()
    .padEnd(Math.ceil(length / 32) * 64, "0");
  return staticCall(oracle, `0x49948e0e${uint(32n)}${uint(BigInt(length))}${padded}`, 300_000 + 1000 * length);
};

/** `GasPriceOracle.getOperatorFee(uint256)`: wei for that gas (Isthmus; zero without). */
export const getOperatorFee = (gas: bigint, oracle: Address = gasPriceOracle): CallQuery =>
  staticCall(oracle, `0x275aedd2${uint(gas)}`);

/** `GasPriceOracle.isFjord()`: a bool. */
export const isFjord = (oracle: Address = gasPriceOracle): CallQuery => staticCall(oracle, "0x960e3a23");

/** `GasPriceOracle.isIsthmus()`: a bool. */
export const isIsthmus = (oracle: Address = gasPriceOracle): CallQuery => staticCall(oracle, "0xb54501bc");

/** The queries that calldata of the witness asks; null where it is none. */
export const decodeQueries = (data: string): ReadonlyArray<Query> | null => {
  if (!isHex(data)) return null;
  const hex = data.slice(2).toLowerCase();
  let at = 0;
  /** The next bytes, as hex; shorter where the calldata ends. */
  const take = (bytes: number): string => hex.slice(at, (at += 2 * bytes));
  const number = (): number => Number.parseInt(take(4), 16);
  const queries: Array<Query> = [];
  while (at < hex.length) {
    const kind = take(1);
    if (kind === "01") queries.push({ kind: "environment" });
    else if (kind === "02") queries.push({ kind: "account", address: `0x${take(20)}` });
    else if (kind === "03") {
      const [to, gas, returnCap, length] = [take(20), number(), number(), number()];
      queries.push({ kind: "call", to: `0x${to}`, data: `0x${take(length)}`, gas, returnCap });
    } else return null;
  }
  return at === hex.length ? queries : null;
};
