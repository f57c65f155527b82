/**
 * Decodes the witness's answers. Total: any bytes give a value, never an exception, and its size is bounded by the
 * number of queries.
 */
import { hexToBytes } from "../primitives/bytes.js";
import { dataAt, digitsAt, wordAt, wordsFrom } from "../abi/words.js";
import { isHex, type Address, type Hash, type Hex } from "../primitives/hex.js";
import type { Fork } from "../primitives/names.js";
import { costsOf, type Query } from "./queries.js";

/**
 * One answer, of the kinds that `Kind` names; `unavailable`: no gas was left for this query, so nothing is known, which is
 * not zero.
 */
export type WitnessAnswer<Kind extends string = string> = Extract<
  /** The executed block, and the price of the witness's transaction in it. */
  | {
      readonly kind: "environment";
      /** CHAINID. */
      readonly chainId: bigint;
      /** NUMBER. */
      readonly number: bigint;
      /** BLOCKHASH of the block before. */
      readonly parentHash: Hash;
      /** Seconds. */
      readonly timestamp: bigint;
      /** Wei per gas. */
      readonly baseFeePerGas: bigint;
      /** COINBASE. */
      readonly feeRecipient: Address;
      /** PREVRANDAO. */
      readonly prevRandao: Hash;
      /** GASLIMIT, gas. */
      readonly gasLimit: bigint;
      /** Wei per gas, of the witness's own transaction. */
      readonly gasPrice: bigint;
      /** Gas that the witness had left when it ran. */
      readonly gasLeft: bigint;
      /** The latest fork whose opcodes the block executes. */
      readonly fork: typeof Fork.Type;
    }
  /** One account. */
  | {
      readonly kind: "account";
      /** Wei. */
      readonly balance: bigint;
      /** Zero where no account exists (EIP-1052). */
      readonly codeHash: Hash;
      /** Bytes. */
      readonly codeSize: bigint;
      /** At most the first 23 bytes: enough for an EIP-7702 delegation. */
      readonly codePrefix: Hex;
    }
  /** The answer to a STATICCALL. */
  | {
      readonly kind: "call";
      /** True if the call succeeded. */
      readonly success: boolean;
      /** Bytes returned, before the cap. */
      readonly size: bigint;
      /** The bytes returned, cut at the query's `returnCap`. */
      readonly data: Hex;
    }
  | { readonly kind: "unavailable" },
  { readonly kind: Kind }
>;

const magic = "77697431";
/** In front of an address in its word. */
const padding: string = `0x${"0".repeat(24)}`;
const answered = "ff";
const starved = "00";
const unavailable: WitnessAnswer = { kind: "unavailable" };

const forkOf = (opcodes: number): Fork =>
  (opcodes & 2) !== 0 ? "amsterdam" : (opcodes & 1) !== 0 ? "osaka" : "beforeOsaka";

const environmentAt = (hex: string, at: number) => {
  const next = at + 644;
  if (next > hex.length || hex.slice(at, at + 2) !== "01") return null;
  const word = (index: number): Hash => `0x${hex.slice(at + 2 + index * 64, at + 66 + index * 64)}`;
  const feeRecipient = word(5);
  if (!feeRecipient.startsWith(padding)) return null;
  const answer: WitnessAnswer = {
    kind: "environment",
    chainId: BigInt(word(0)),
    number: BigInt(word(1)),
    parentHash: word(2),
    timestamp: BigInt(word(3)),
    baseFeePerGas: BigInt(word(4)),
    feeRecipient: `0x${feeRecipient.slice(26)}`,
    prevRandao: word(6),
    gasLimit: BigInt(word(7)),
    gasPrice: BigInt(word(8)),
    gasLeft: BigInt(word(9)),
    fork: forkOf(Number.parseInt(hex.slice(next - 2, next), 16)),
  };
  return { answer, next };
};

const accountAt = (hex: string, at: number) => {
  const next = at + 184;
  if (next > hex.length || hex.slice(at, at + 2) !== "02") return null;
  const codeSize = Number.parseInt(hex.slice(at + 130, at + 138), 16);
  const answer: WitnessAnswer = {
    kind: "account",
    balance: BigInt(`0x${hex.slice(at + 2, at + 66)}`),
    codeHash: `0x${hex.slice(at + 66, at + 130)}`,
    codeSize: BigInt(codeSize),
    codePrefix: `0x${hex.slice(at + 138, at + 138 + Math.min(codeSize, 23) * 2)}`,
  };
  return { answer, next };
};

const readers = { environment: environmentAt, account: accountAt };

/** `most`: the bytes that it has with as much data as was asked for. */
const callAt = (hex: string, at: number, most: number) => {
  if (at + 12 > hex.length || hex.slice(at, at + 2) !== "03") return null;
  const success = hex.slice(at + 2, at + 4);
  if (success !== "00" && success !== "01") return null;
  const size = Number.parseInt(hex.slice(at + 4, at + 12), 16);
  const next = at + 12 + Math.min(size, most - 6) * 2;
  if (next > hex.length) return null;
  const answer: WitnessAnswer = {
    kind: "call",
    success: success === "01",
    size: BigInt(size),
    data: `0x${hex.slice(at + 12, next)}`,
  };
  return { answer, next };
};

/**
 * The answers to `queries`, one for each and in their order, out of what the witness returned; `null`
 * when the bytes are not an answer of the witness to these queries (no witness there, cut, altered).
 */
export const decodeAnswers = (queries: ReadonlyArray<Query>, returnData: Hex): ReadonlyArray<WitnessAnswer> | null => {
  const costs = costsOf(queries);
  if (typeof returnData !== "string" || returnData.length - 2 > 2 * costs.most) return null;
  if (returnData.length % 2 !== 0 || !isHex(returnData)) return null;
  const hex = returnData.slice(2).toLowerCase();
  if (!hex.startsWith(magic)) return null;
  const answers: Array<WitnessAnswer> = [];
  let at = magic.length;
  for (const { kind } of queries) {
    if (hex.length === at + 2 && hex.endsWith(starved))
      return [...answers, ...queries.slice(answers.length).map(() => unavailable)];
    const read = kind === "call" ? callAt(hex, at, costs.answers[answers.length] ?? 0) : readers[kind](hex, at);
    if (read === null) return null;
    answers.push(read.answer);
    at = read.next;
  }
  return hex.slice(at) === answered ? answers : null;
};

/** The data of a successful call; none of any other answer. */
const dataOf = (answer: WitnessAnswer | null | undefined): string =>
  answer?.kind === "call" && answer.success ? answer.data : "";

/** A uint256; null when unavailable, failed or short. Longer data is tolerated, as Solidity does. */
export const readUint256 = (answer: WitnessAnswer | null | undefined): bigint | null =>
  answer?.kind === "call" && answer.success ? wordAt(answer.data, dataAt) : null;

/** A uint8 such as `decimals()`; null when it does not fit, as Solidity would revert. */
export const readUint8 = (answer: WitnessAnswer | null | undefined): number | null => {
  const value = readUint256(answer);
  return value === null || value > 255n ? null : Number(value);
};

/** A bool; null for anything but 0 and 1, as Solidity would revert. */
export const readBool = (answer: WitnessAnswer | null | undefined): boolean | null => {
  const value = readUint256(answer);
  return value === 0n ? false : value === 1n ? true : null;
};

/** An address; null with dirty upper bytes, as Solidity would revert. */
export const readAddress = (answer: WitnessAnswer | null | undefined): Address | null => {
  const digits = digitsAt(dataOf(answer), dataAt);
  return digits?.startsWith("0".repeat(24)) === true ? `0x${digits.slice(24)}` : null;
};

/**
 * The three values of Permit2 `allowance(address,address,address)`: `amount` in token units, `expiration` in seconds,
 * `nonce` of the next permit; null when one is out of its range.
 */
export const readPermit2Allowance = (answer: WitnessAnswer | null | undefined) => {
  const [amount, expiration, nonce] = wordsFrom(dataOf(answer), dataAt, 3);
  if (amount === undefined || expiration === undefined || nonce === undefined) return null;
  return amount >> 160n !== 0n || expiration >> 48n !== 0n || nonce >> 48n !== 0n
    ? null
    : { amount, expiration, nonce };
};

const utf8 = (hex: string): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(hexToBytes(`0x${hex}`));

/**
 * Text of a `name()` or `symbol()`: an ABI string, or a bytes32 padded with zeros (exactly one word).
 * At most `limit` bytes of it; null when unavailable, failed, empty or neither of the two. Raw: what is
 * not UTF-8 becomes U+FFFD, control characters stay; show it through `escapeText`.
 */
export const readString = (answer: WitnessAnswer | null | undefined, limit: number = 128): string | null => {
  const hex = dataOf(answer).slice(dataAt);
  const offset = wordAt(hex, 0);
  if (offset === null || answer?.kind !== "call") return null;
  if (answer.size === 32n) {
    const text = hex.replace(/(?:00)+$/, "");
    return text === "" || text.startsWith("00") ? null : utf8(text.slice(0, limit * 2));
  }
  if (hex.length < 128 || offset + 32n > BigInt(hex.length >> 1)) return null;
  const start = Number(offset) + 32;
  const length = wordAt(hex, Number(offset) * 2);
  // The declared length must lie within what the token really returned, even where the cap cut it.
  if (length === null || length === 0n || BigInt(start) + length > answer.size) return null;
  const end = start + Math.min(Number(length), limit);
  return end * 2 > hex.length ? null : utf8(hex.slice(start * 2, end * 2));
};
