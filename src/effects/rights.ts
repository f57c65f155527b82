/** Rights over assets as rows: what an event announces, and what a call asks for, by `abi/known`. Pure. */
import { everything, type RightRow } from "../abi/known/rights.js";
import type { CallRow } from "../abi/known/calls.js";
import type { PlainCall } from "../abi/batches.js";
import {
  nobody,
  valueBy,
  valuesOf,
  addressOf,
  argumentsAt,
  countAt,
  padded,
  placeOf,
  pointedAt,
  wordAt,
  wordDigits,
  wordsFrom,
} from "../abi/words.js";
import type { Address, Hex } from "../primitives/hex.js";
import type { Approval } from "../report/parts.js";
import type { Event } from "./events.js";
import type { Standards } from "./movements.js";

/** One right to look at; `owner`: nobody where the event does not say (CryptoPunks), `expiration`: as said. */
export interface Right extends Pick<
  Approval,
  "standard" | "token" | "owner" | "spender" | "tokenId" | "expiration" | "transaction"
> {
  /** An operator of everything, as against one amount or one NFT. */
  readonly operator: boolean;
  /** The keeper of the right: the token itself, or a Permit2. */
  readonly keeper: Address;
  /** The amount or id, where the shape leaves open which of the two it is. */
  readonly open: bigint | null;
  /** The value in the event or the calldata: an amount, or 1 and 0. */
  readonly claim: bigint;
  /** `nowhere`: nothing tells of it, but it may have been used. */
  readonly seen: "log" | "calldata" | "nowhere";
  /** True if the call that tells of it is made by a router, which does not say who keeps it. */
  readonly isMeans?: boolean;
}

/**
 * The right that values tell of; null where there are too few. `whose`: who gives and gets it over what where no value
 * says it, and by what it is known.
 */
const rightOf = (
  { standard, values: roles, said }: RightRow,
  values: ReadonlyArray<bigint>,
  whose: Pick<Right, "keeper" | "owner" | "spender" | "seen" | "transaction">,
): Right | null => {
  if (values.length < roles.length) return null;
  const valueAs = valueBy(roles, values);
  const partyAs = (role: "owner" | "spender" | "token", otherwise: Address): Address => {
    const value = valueAs(role);
    return value === null ? otherwise : addressOf(value);
  };
  const [flag, open] = [valueAs("flag"), valueAs("open")];
  const set = flag ?? valueAs("all");
  const token = partyAs("token", whose.keeper);
  const { seen, transaction } = whose;
  // why: written out, for of thousands the spreading of objects is what takes time
  return {
    standard,
    token,
    owner: partyAs("owner", whose.owner),
    spender: partyAs("spender", whose.spender),
    seen,
    transaction,
    keeper: standard === "permit2" ? whose.keeper : token,
    tokenId: valueAs("id"),
    operator: flag !== null || standard === "erc777",
    open,
    claim: open ?? valueAs("amount") ?? (set === null ? said : set === 0n ? 0n : flag === null ? everything : 1n),
    expiration: valueAs("expiration"),
  };
};

const asNft = (right: Right, id: bigint): Right => ({
  ...{ ...right, standard: "erc721", tokenId: id, claim: BigInt(right.spender !== nobody) },
});

/** The right that an event announces; null where it announces none. */
export const announcedBy = ({ log, contract, row }: Event, transaction: number): Right | null => {
  if (row.right === undefined) return null;
  const whose = { keeper: contract, owner: nobody, spender: nobody, seen: "log", transaction } as const;
  const right = rightOf(row.right, valuesOf(log, row.right.values.length), whose);
  // why: of Approval(address,address,uint256) an ERC-20 indexes two, an ERC-721 three
  if (right === null || right.open === null || log.topics.length < 3) return right;
  return log.topics.length === 3 ? { ...right, open: null } : asNft(right, right.open);
};

/** Digits of one grant of a Permit2 batch. */
const grantDigits = 4 * wordDigits;

/** Finds the values of a Permit2 batch's rights, behind its owner and its list, with the owner and the spender. */
const batchIn = (data: Hex) => {
  const batch = pointedAt(data, placeOf(1), argumentsAt);
  const list = pointedAt(data, batch, batch);
  const [owner, spender] = [wordAt(data, placeOf(0)), wordAt(data, placeOf(1, batch))];
  const first = placeOf(1, list) ?? data.length;
  // why: a list that is longer than the calldata is refused
  const room = Math.max(0, Math.floor((data.length - first) / grantDigits));
  const length = spender === null ? 0 : Math.min(countAt(data, list) ?? 0, room);
  const places = Array.from({ length }, (_, index) => first + index * grantDigits);
  return { places, owner: addressOf(owner ?? 0n), spender: addressOf(spender ?? 0n) };
};

/** The rights that one call asks for, by the row of its function. */
export const requestedBy = ({ from, to, data, isMeans }: PlainCall, { grant: row }: CallRow, transaction: number) => {
  if (row === undefined) return [];
  const own = { places: [argumentsAt], owner: from, spender: row.isTaken === true ? to : nobody };
  const isList = row.isList === true;
  const { places, owner, spender } = isList ? batchIn(data) : own;
  const whole = isList ? data : padded(data, row.values.length);
  return places.flatMap((at) => {
    const values = wordsFrom(whole, at, row.values.length);
    const right = rightOf(row, values, { keeper: to, owner, spender, seen: "calldata", transaction });
    return right === null ? [] : isMeans === true ? { ...right, isMeans } : right;
  });
};

/** The right by what its token answers, where the shape leaves it open. */
export const settleRight = (right: Right, standards: Standards): Right => {
  const standard = standards.get(right.token);
  if (standard === undefined || (right.standard !== "erc20" && right.standard !== "erc721")) return right;
  if (right.operator) return standard === "erc1155" ? { ...right, standard: "erc1155" } : right;
  if (right.open === null) return right;
  if (standard === "erc20") return { ...right, standard: "erc20", tokenId: null, claim: right.open };
  return standard === "erc721" ? asNft(right, right.open) : right;
};
