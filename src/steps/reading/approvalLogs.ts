/** Rights out of logs, by the events of the standards and of the contracts that keep rights of their own. Pure. */
import type { Address } from "../../primitives/hex.js";
import type { Approval, OutcomeLog } from "../../report/parts.js";
import { eventOf, type Standards } from "./transferLogs.js";

/** One right to look at. */
export interface Right {
  readonly standard: Approval["standard"];
  readonly token: Address;
  /** Nobody where the event does not say: CryptoPunks. */
  readonly owner: Address;
  readonly spender: Address;
  /** For a single NFT or one id. */
  readonly tokenId: bigint | null;
  /** An operator of everything, as against one amount or one NFT. */
  readonly operator: boolean;
  /** Who keeps the right: the token itself, or a Permit2. */
  readonly keeper: Address;
  /** The amount or id, where the shape leaves open which of the two it is. */
  readonly open: bigint | null;
  /** What the event or the calldata says: an amount, or 1 and 0. */
  readonly said: bigint;
  /** Epoch seconds, as said. */
  readonly expiration: bigint | null;
  /** `call`: only the calldata tells of it. `spent`: nothing does, but it may have been used. */
  readonly source: "event" | "call" | "spent";
  readonly transaction: number;
}

/** What each value of an event is, in the order of the values. */
type Value = "owner" | "spender" | "token" | "id" | "amount" | "flag" | "expiration" | null;
interface Announced {
  readonly standard: Right["standard"];
  readonly values: ReadonlyArray<Value>;
  /** Where no value says it. */
  readonly said: bigint;
}

const announces =
  (standard: Right["standard"], said = 0n) =>
  (...values: ReadonlyArray<Value>): Announced => ({ standard, values, said });

/** Approval(address,address,uint256): an amount of an ERC-20, or one ERC-721. */
const approval = "0x8c5be1e5ebec7d5b";

const events: Readonly<Record<string, Announced>> = {
  [approval]: announces("erc20")("owner", "spender", "amount"),
  // ApprovalForAll(address,address,bool)
  "0x17307eab39ab6107": announces("erc721")("owner", "spender", "flag"),
  // Permit2 Approval(address,address,address,uint160,uint48)
  "0xda9fa7c1b00402c1": announces("permit2")("owner", "token", "spender", "amount", "expiration"),
  // Permit2 Permit(address,address,address,uint160,uint48,uint48)
  "0xc6a377bfc4eb1200": announces("permit2")("owner", "token", "spender", "amount", "expiration"),
  // Permit2 Lockdown(address,address,address)
  "0x89b1add15eff56b3": announces("permit2")("owner", "token", "spender"),
  // ERC-6909 OperatorSet(address,address,bool)
  "0xceb576d9f15e4e20": announces("erc6909")("owner", "spender", "flag"),
  // ERC-6909 Approval(address,address,uint256,uint256)
  "0xb3fd507183588756": announces("erc6909")("owner", "spender", "id", "amount"),
  // ERC-777 AuthorizedOperator(address,address)
  "0xf4caeb2d6ca8932a": announces("erc777", 1n)("spender", "owner"),
  // ERC-777 RevokedOperator(address,address)
  "0x50546e66e5f44d72": announces("erc777")("spender", "owner"),
  // Aave BorrowAllowanceDelegated(address,address,address,uint256)
  "0xda919360433220e1": announces("aaveDebt")("owner", "spender", null, "amount"),
  // Morpho SetAuthorization(address,address,address,bool)
  "0xd5e969f01efe921d": announces("morpho")(null, "owner", "spender", "flag"),
  // CryptoPunks PunkOffered(uint256,uint256,address): the price, which is not indexed, comes last
  "0x3c7b682d5da98001": announces("cryptopunks", 1n)("id", "spender", null),
};

/** Whether an event of this kind tells of a right. */
export const tellsOfRight = (signature: string): boolean => events[signature] !== undefined;

/** The first five values of a log, indexed or not: their order is the same. */
export const valuesOf = ({ topics, data }: OutcomeLog): ReadonlyArray<bigint> => {
  const values = topics.slice(1).map((word) => BigInt(word));
  for (let at = 2; at + 64 <= data.length && values.length < 5; at += 64)
    values.push(BigInt(`0x${data.slice(at, at + 64)}`));
  return values;
};

/** The low 20 bytes: the upper ones may be dirty. */
export const addressOf = (value: bigint): Address =>
  `0x${BigInt.asUintN(160, value).toString(16).padStart(40, "0")}` as Address;

const rightOf = (log: OutcomeLog, transaction: number): Right | null => {
  const signature = eventOf(log) ?? "";
  const announced = events[signature];
  const said = valuesOf(log);
  if (announced === undefined || said.length < announced.values.length) return null;
  const { standard, values } = announced;
  const valueAs = (value: Value): bigint | null =>
    values.includes(value) ? (said[values.indexOf(value)] ?? null) : null;
  const keeper = log.address.toLowerCase() as Address;
  const token = valueAs("token");
  const flag = valueAs("flag");
  const amount = valueAs("amount") ?? announced.said;
  const right: Right = {
    standard,
    token: token === null ? keeper : addressOf(token),
    keeper,
    owner: addressOf(valueAs("owner") ?? 0n),
    spender: addressOf(valueAs("spender") ?? 0n),
    tokenId: valueAs("id"),
    operator: flag !== null || standard === "erc777",
    open: null,
    said: flag === null ? amount : flag === 0n ? 0n : 1n,
    expiration: valueAs("expiration"),
    source: "event",
    transaction,
  };
  if (signature !== approval || log.topics.length === 3) return right;
  if (log.topics.length < 4) return { ...right, open: amount };
  return { ...right, standard: "erc721", tokenId: amount, open: amount, said: right.spender === nobody ? 0n : 1n };
};

/** Nobody: an NFT's approval is taken back by approving it. */
export const nobody = "0x0000000000000000000000000000000000000000" as Address;

/** The rights one transaction's logs tell of, in their order. */
export const rightsIn = (logs: ReadonlyArray<OutcomeLog>, transaction: number): ReadonlyArray<Right> =>
  logs.map((log) => rightOf(log, transaction)).filter((right) => right !== null);

/** The right by what its token answers, where the shape leaves it open. */
export const settleRight = (right: Right, standards: Standards): Right => {
  const answered = standards.get(right.token);
  if (answered === undefined || (right.standard !== "erc20" && right.standard !== "erc721")) return right;
  if (right.operator) return answered === "erc1155" ? { ...right, standard: "erc1155" } : right;
  if (right.open === null) return right;
  if (answered === "erc20") return { ...right, standard: "erc20", tokenId: null, said: right.open };
  return answered === "erc721"
    ? { ...right, standard: "erc721", tokenId: right.open, said: right.spender === nobody ? 0n : 1n }
    : right;
};
