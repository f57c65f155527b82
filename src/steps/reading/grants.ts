/** Rights out of logs and out of calldata, which a token may keep silent about, by the rows of `abi/known/rights`. Pure and total. */
import type { Call } from "../../abi/batches.js";
import {
  eventOf,
  valueBy,
  valuesOf,
  addressOf,
  argumentsAt,
  countAt,
  nobody,
  placeOf,
  pointedAt,
  wordAt,
  wordsFrom,
} from "../../abi/words.js";
import { everything, grants, rightEvents, type RightRow } from "../../abi/known/rights.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { Approval, OutcomeLog } from "../../report/parts.js";
import type { Standards } from "./transferLogs.js";

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
  /** Whether the call that tells of it is made by a router, which does not say who keeps it. */
  readonly isMeans?: boolean;
  readonly transaction: number;
}

/** Who gives and gets a right over what where no value says it, and by what it is known. */
type Whose = Pick<Right, "keeper" | "owner" | "spender" | "source" | "transaction">;

/** The right that values tell of; null where there are too few. */
const rightOf = (
  { standard, values: roles, said }: RightRow,
  values: ReadonlyArray<bigint>,
  whose: Whose,
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
  return {
    ...whose,
    ...{ standard, token, owner: partyAs("owner", whose.owner), spender: partyAs("spender", whose.spender) },
    keeper: standard === "permit2" ? whose.keeper : token,
    tokenId: valueAs("id"),
    operator: flag !== null || standard === "erc777",
    open,
    said: open ?? valueAs("amount") ?? (set === null ? said : set === 0n ? 0n : flag === null ? everything : 1n),
    expiration: valueAs("expiration"),
  };
};

/** What the topics of Approval(address,address,uint256) leave open: an ERC-20 indexes two values, an ERC-721 three. */
const settled = (right: Right | null, { topics }: OutcomeLog): Right | null => {
  if (right === null || right.open === null || topics.length < 3) return right;
  return topics.length === 3 ? { ...right, open: null } : asNft(right, right.open);
};

const asNft = (right: Right, id: bigint): Right => ({
  ...{ ...right, standard: "erc721", tokenId: id, said: BigInt(right.spender !== nobody) },
});

/** The rights one transaction's logs tell of, in their order. */
export const rightsIn = (logs: ReadonlyArray<OutcomeLog>, transaction: number): ReadonlyArray<Right> =>
  logs.flatMap((log) => {
    const row = rightEvents[eventOf(log) ?? ""];
    if (row === undefined) return [];
    const keeper = log.address.toLowerCase() as Address;
    const whose: Whose = { keeper, owner: nobody, spender: nobody, source: "event", transaction };
    return settled(rightOf(row, valuesOf(log, row.values.length), whose), log) ?? [];
  });

/** Whether an event of this kind tells of a right. */
export const tellsOfRight = (signature: string): boolean => rightEvents[signature] !== undefined;

/** How many grants of one Permit2 batch are read. */
const mostGrants = 256;

/** Where the values of rights stand that a Permit2 batch gives, behind its owner and its list, and to whom it does. */
const batchIn = (data: Hex) => {
  const batch = pointedAt(data, placeOf(1), argumentsAt);
  const list = pointedAt(data, batch, batch);
  const [owner, spender] = [wordAt(data, placeOf(0)), wordAt(data, placeOf(1, batch))];
  const length = spender === null ? 0 : Math.min(countAt(data, list) ?? 0, mostGrants);
  const places = Array.from({ length }, (_, index) => placeOf(1 + index * 4, list) ?? data.length);
  return { places, owner: addressOf(owner ?? 0n), spender: addressOf(spender ?? 0n) };
};

/** What one call says that it grants, by its selector. */
const grantsOf = ({ from, to, data, isMeans }: Call, transaction: number): ReadonlyArray<Right> => {
  const row = grants[data.slice(0, argumentsAt)];
  if (row === undefined) return [];
  const own = { places: [argumentsAt], owner: from, spender: row.isTaken === true ? to : nobody };
  const { places, owner, spender } = row.isList === true ? batchIn(data) : own;
  return places.flatMap((at) => {
    const values = wordsFrom(data, at, row.values.length);
    const right = rightOf(row, values, { keeper: to, owner, spender, source: "call", transaction });
    return right === null ? [] : isMeans === true ? { ...right, isMeans } : right;
  });
};

/** Whether calldata is a signed permit: anybody may have used it before. */
export const isPermit = (data: Hex): boolean => grants[data.slice(0, argumentsAt).toLowerCase()]?.isPermit === true;

/** The rights that calls ask for, as their calldata says. */
export const rightsAsked = (calls: ReadonlyArray<Call>, transaction: number): ReadonlyArray<Right> =>
  calls.flatMap((call) => grantsOf(call, transaction));

/** The right by what its token answers, where the shape leaves it open. */
export const settleRight = (right: Right, standards: Standards): Right => {
  const answered = standards.get(right.token);
  if (answered === undefined || (right.standard !== "erc20" && right.standard !== "erc721")) return right;
  if (right.operator) return answered === "erc1155" ? { ...right, standard: "erc1155" } : right;
  if (right.open === null) return right;
  if (answered === "erc20") return { ...right, standard: "erc20", tokenId: null, said: right.open };
  return answered === "erc721" ? asNft(right, right.open) : right;
};
