/** Movements of tokens: the events that tell of them, and the functions that ask for them. A standard is a row. */
import type { Roles } from "../words.js";

type Role = "from" | "to" | "id" | "amount" | "ids" | "amounts";

/** What an event says of a movement; who is not named is nobody. */
export interface MovementRow {
  readonly standard: "erc20" | "erc1155" | "erc6909";
  readonly values: Roles<Role>;
  /** How many topics it has; absent = any number, and with all of them indexed it is one ERC-721. */
  readonly topics?: number;
  /** Where nothing stands behind the values, for other contracts' events are called the same: a WETH's. */
  readonly wraps?: boolean;
}

const wraps = { standard: "erc20", topics: 2, wraps: true } as const;

/** By the beginning of their topics. */
export const movementEvents: Readonly<Record<string, MovementRow>> = {
  // Transfer(address,address,uint256)
  "0xddf252ad1be2c89b": { standard: "erc20", values: ["from", "to", "amount"] },
  // TransferSingle(address,address,address,uint256,uint256)
  "0xc3d58168c5ae7397": { standard: "erc1155", topics: 4, values: [null, "from", "to", "id", "amount"] },
  // TransferBatch(address,address,address,uint256[],uint256[])
  "0x4a39dc06d4c0dbc6": { standard: "erc1155", topics: 4, values: [null, "from", "to", "ids", "amounts"] },
  // Transfer(address,address,address,uint256,uint256), ERC-6909: whoever asks for it is the one value not indexed but the amount
  "0x1b3d7edb2e9c0b0e": { standard: "erc6909", topics: 4, values: ["from", "to", "id", null, "amount"] },
  // Deposit(address,uint256), WETH9
  "0xe1fffcc4923d04b5": { ...wraps, values: ["to", "amount"] },
  // Withdrawal(address,uint256), WETH9
  "0x7fcf532c15f0a6db": { ...wraps, values: ["from", "amount"] },
};

/** Which arguments of a function are whose tokens move, who gets them and how many; absent = the caller's, or an id. */
export interface MoveRow {
  readonly from?: number;
  readonly to: number;
  readonly amount?: number;
}

/** By their selectors. */
export const moves: Readonly<Record<string, MoveRow>> = {
  // transfer(address,uint256), transferFrom(address,address,uint256)
  "0xa9059cbb": { to: 0, amount: 1 },
  "0x23b872dd": { from: 0, to: 1, amount: 2 },
  // ERC-6909 transfer(address,uint256,uint256), transferFrom(address,address,uint256,uint256)
  "0x095bcdb6": { to: 0 },
  "0xfe99049a": { from: 0, to: 1 },
  // safeTransferFrom of ERC-721, with and without data, and of ERC-1155
  "0x42842e0e": { from: 0, to: 1 },
  "0xb88d4fde": { from: 0, to: 1 },
  "0xf242432a": { from: 0, to: 1 },
};
