/** Rights out of logs: Approval, ApprovalForAll, Permit2's Approval and Permit. Pure. */
import type { Address } from "../../errors/hex.js";
import type { Approval, OutcomeLog } from "../outputs.js";

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
  /** What the event or the calldata says: an amount, or 1 and 0. */
  readonly said: bigint;
  readonly transaction: number;
}

const topic: Readonly<Record<"approval" | "forAll" | "permit2Approval" | "permit2Permit", string>> = {
  // Approval(address,address,uint256)
  approval: "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",
  // ApprovalForAll(address,address,bool)
  forAll: "0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31",
  // Permit2 Approval(address,address,address,uint160,uint48)
  permit2Approval: "0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b",
  // Permit2 Permit(address,address,address,uint160,uint48,uint48)
  permit2Permit: "0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec",
};

const addressIn = (word: string): Address => `0x${word.slice(-40).toLowerCase()}` as Address;
const wordAt = (data: string, index: number): bigint | null => {
  const word = data.slice(2 + index * 64, 66 + index * 64);
  return word.length === 64 ? BigInt(`0x${word}`) : null;
};

const rightOf = ({ address, topics, data }: OutcomeLog, transaction: number): Right | null => {
  const token = address.toLowerCase() as Address;
  const [signature, first, second, third] = topics;
  if (first === undefined || second === undefined) return null;
  const [owner, spender] = [addressIn(first), addressIn(second)];
  const common = { token, owner, spender, transaction, tokenId: null, operator: false };
  switch (signature) {
    case topic.approval: {
      if (third !== undefined)
        return { ...common, standard: "erc721", tokenId: BigInt(third), said: BigInt(spender) === 0n ? 0n : 1n };
      const said = wordAt(data, 0);
      return said === null ? null : { ...common, standard: "erc20", said };
    }
    case topic.forAll: {
      const said = wordAt(data, 0);
      return said === null ? null : { ...common, standard: "erc1155", operator: true, said: said === 0n ? 0n : 1n };
    }
    case topic.permit2Approval:
    case topic.permit2Permit: {
      const said = wordAt(data, 0);
      if (third === undefined || said === null) return null;
      return { ...common, standard: "permit2", token: addressIn(second), spender: addressIn(third), said };
    }
    default:
      return null;
  }
};

/** The rights one transaction's logs tell of, in their order. */
export const rightsIn = (logs: ReadonlyArray<OutcomeLog>, transaction: number): ReadonlyArray<Right> =>
  logs.flatMap((log) => {
    const right = rightOf(log, transaction);
    return right === null ? [] : [right];
  });
