/** Rights out of logs: Approval, ApprovalForAll, and Permit2's own events. Pure. */
import type { Address } from "../../primitives/hex.js";
import type { Approval, OutcomeLog } from "../../report/parts.js";
import { eventOf, type Standards } from "./transferLogs.js";

/** One right to look at. */
export interface Right {
  readonly standard: Approval["standard"];
  readonly token: Address;
  readonly owner: Address;
  readonly spender: Address;
  /** For a single NFT. */
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
  /** `call`: only the calldata tells of it. */
  readonly source: "event" | "call";
  readonly transaction: number;
}

const topic: Readonly<Record<"approval" | "forAll" | "permit2Approval" | "permit2Permit" | "permit2Lockdown", string>> =
  {
    // Approval(address,address,uint256)
    approval: "0x8c5be1e5ebec7d5b",
    // ApprovalForAll(address,address,bool)
    forAll: "0x17307eab39ab6107",
    // Permit2 Approval(address,address,address,uint160,uint48)
    permit2Approval: "0xda9fa7c1b00402c1",
    // Permit2 Permit(address,address,address,uint160,uint48,uint48)
    permit2Permit: "0xc6a377bfc4eb1200",
    // Permit2 Lockdown(address,address,address)
    permit2Lockdown: "0x89b1add15eff56b3",
  };

const signatures: ReadonlySet<string> = new Set(Object.values(topic));

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
  const signature = eventOf(log);
  if (signature === undefined || !signatures.has(signature)) return null;
  const [first, second, third, fourth, fifth] = valuesOf(log);
  if (first === undefined || second === undefined || third === undefined) return null;
  const emitter = log.address.toLowerCase() as Address;
  const owner = addressOf(first);
  const base = { token: emitter, keeper: emitter, owner, transaction, source: "event" } as const;
  const plain = { ...base, spender: addressOf(second), tokenId: null, operator: false, open: null, expiration: null };
  switch (signature) {
    case topic.approval:
      return log.topics.length === 4
        ? { ...plain, standard: "erc721", tokenId: third, open: third, said: plain.spender === nobody ? 0n : 1n }
        : { ...plain, standard: "erc20", open: log.topics.length === 3 ? null : third, said: third };
    case topic.forAll:
      return { ...plain, standard: "erc721", operator: true, said: third === 0n ? 0n : 1n };
    case topic.permit2Approval:
    case topic.permit2Permit:
      if (fourth === undefined || fifth === undefined) return null;
      return {
        ...plain,
        standard: "permit2",
        token: addressOf(second),
        spender: addressOf(third),
        said: fourth,
        expiration: fifth,
      };
    default:
      return { ...plain, standard: "permit2", token: addressOf(second), spender: addressOf(third), said: 0n };
  }
};

/** Nobody: an NFT's approval is taken back by approving it. */
export const nobody = "0x0000000000000000000000000000000000000000" as Address;

/** The rights one transaction's logs tell of, in their order. */
export const rightsIn = (logs: ReadonlyArray<OutcomeLog>, transaction: number): ReadonlyArray<Right> =>
  logs.map((log) => rightOf(log, transaction)).filter((right) => right !== null);

/** The right by what its token answers, where the shape leaves it open. */
export const settleRight = (right: Right, standards: Standards): Right => {
  const answered = standards.get(right.token);
  if (answered === undefined || right.standard === "permit2") return right;
  if (right.operator) return answered === "erc1155" ? { ...right, standard: "erc1155" } : right;
  if (right.open === null) return right;
  if (answered === "erc20") return { ...right, standard: "erc20", tokenId: null, said: right.open };
  return answered === "erc721"
    ? { ...right, standard: "erc721", tokenId: right.open, said: right.spender === nobody ? 0n : 1n }
    : right;
};
