/** What a lying endpoint may say of what is mined, one lie each: receipts, transactions, counts and final blocks. */
import type { Hex } from "viem";
import { nobody } from "../preflight/scene.js";
import { more, type Fields, type Lie } from "./lies.js";

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;

/** Of a receipt that is there. */
const receipt = (change: (receipt: Fields) => Fields | null): Lie => ({
  method: "eth_getTransactionReceipt",
  tell: (result) => (result === null ? null : change(result as Fields)),
});
const logs = (change: (logs: ReadonlyArray<Fields>) => ReadonlyArray<Fields>): Lie =>
  receipt((told) => ({ ...told, logs: change(told["logs"] as ReadonlyArray<Fields>) }));

/** Of a transaction that is there. */
const transaction = (change: (transaction: Fields) => Fields | null): Lie => ({
  method: "eth_getTransactionByHash",
  tell: (result) => (result === null ? null : change(result as Fields)),
});

/** Of the block that is asked for with its transactions. */
const block = (change: (transactions: ReadonlyArray<Fields>) => ReadonlyArray<Fields>): Lie => ({
  method: "eth_getBlockByHash",
  tell: (result) => ({
    ...(result as Fields),
    transactions: change((result as Fields)["transactions"] as ReadonlyArray<Fields>),
  }),
});

/** Of a transaction that was mined as it was said. */
export const liesAfterwards: Readonly<Record<string, Lie>> = {
  "it failed": receipt((told) => ({ ...told, status: "0x0", logs: [] })),
  "it is not mined": receipt(() => null),
  "it took more gas": receipt((told) => ({ ...told, gasUsed: more(told["gasUsed"], 999n) })),
  "it took less gas": receipt((told) => ({ ...told, gasUsed: more(told["gasUsed"], -999n) })),
  "it paid more": receipt((told) => ({ ...told, effectiveGasPrice: more(told["effectiveGasPrice"], 1n) })),
  "it paid for layer 1": receipt((told) => ({ ...told, l1Fee: "0x99" })),
  "it paid for the data of its layer 1 a hundredfold": receipt((told) => ({ ...told, daFootprintGasScalar: "0x1" })),
  "others took more gas before it": receipt((told) => ({
    ...told,
    cumulativeGasUsed: more(told["cumulativeGasUsed"], 1n),
  })),
  "no log": logs(() => []),
  "a log twice": logs((all) => [...all, ...all]),
  "another amount in the log": logs((all) => all.map((log) => ({ ...log, data: word(1n) }))),
  "another topic in the log": logs((all) => all.map((log) => ({ ...log, topics: [word(7n)] }))),
  "a contract was made": receipt((told) => ({ ...told, contractAddress: nobody })),
  "it is in another block": receipt((told) => ({ ...told, blockHash: word(8n) })),
  "it is in a later block": receipt((told) => ({ ...told, blockNumber: more(told["blockNumber"], 1n) })),
  "it stands elsewhere in its block": receipt((told) => ({ ...told, transactionIndex: "0x9" })),
  "nobody knows it": transaction(() => null),
  "it waits": transaction((told) => ({ ...told, blockHash: null, blockNumber: null, transactionIndex: null })),
  "it was signed with another value": transaction((told) => ({ ...told, value: more(told["value"], 1n) })),
  "its block is empty": block(() => []),
  "its block holds it with other bytes": block((all) => all.map((one) => ({ ...one, input: "0x01" }))),
  "its block holds it of another sender": block((all) => all.map((one) => ({ ...one, from: nobody }))),
  "its nonce is not used": {
    method: "eth_getTransactionCount",
    tell: (count) => more(count, -1n),
  },
  "it is another chain": { method: "eth_chainId", tell: () => "0x7" },
};

/** By which a nonce would be said to be used by somebody else for good: `own` is mined, or nothing of it is final. */
export const liesOfBurning = (
  own: Hex,
  latest: unknown,
): Readonly<Record<"no receipt" | "a receipt of another" | "a final head" | "a final count", Lie>> => ({
  "no receipt": receipt((told) => (told["transactionHash"] === own ? null : told)),
  "a receipt of another": receipt((told) =>
    told["transactionHash"] === own ? { ...told, transactionHash: word(9n) } : told,
  ),
  "a final head": {
    method: "eth_getBlockByNumber",
    tell: (told, [tag]) => (tag === "finalized" ? latest : told),
  },
  "a final count": {
    method: "eth_getTransactionCount",
    tell: (count, [, at]) => (at === "latest" || at === "pending" ? count : more(count, 1n)),
  },
});
