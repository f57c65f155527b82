/** Answers without what honest clients say differently. Pure. */
import { isRecord } from "../../primitives/index.js";
import {
  list,
  logOf,
  lower,
  movements,
  quantity,
  simulationParts,
  untold,
  type Comparing,
  type Parts,
} from "./simulated.js";

export type { Comparing, Parts };

/** Some fields of an object, each in one spelling. */
const reading =
  (spelled: (value: unknown) => string) => (fields: Readonly<Record<string, unknown>>, names: ReadonlyArray<string>) =>
    names.map((name) => [name, spelled(fields[name])] as const);
const quantities = reading(quantity);
const words = reading(lower);

/** Fields of a mined block, a transaction or a receipt that not every client tells: who leaves one out is no liar. */
const untoldByAll: ReadonlySet<string> = new Set([
  ...["extraData", "mixHash", "blobGasUsed", "excessBlobGas", "requestsHash", "blockAccessListHash", "slotNumber"],
  ...["type", "chainId", "contractAddress", "effectiveGasPrice", "l1Fee", "operatorFeeScalar", "operatorFeeConstant"],
  ...["cumulativeGasUsed", "daFootprintGasScalar"],
]);

/** The block that a transaction is in, by its hash. */
const inBlock = "block";
/** The block of a transaction that waits in a pool. */
export const inPool = "the pool";
/** The block of what the node does not have. */
export const unknown = "unknown";

/** Entries of an access list, or of an authorisation list. */
const entriesIn = (entries: unknown): string =>
  list(entries)
    .map((entry) => {
      const { address, chainId, nonce, yParity, r, s, storageKeys } = isRecord(entry) ? entry : {};
      const signed = [chainId, nonce, yParity, r, s].map(quantity);
      return [lower(address), ...signed, ...list(storageKeys).map(lower)].join(" ");
    })
    .join(", ");

const hasBlobs = ({ type }: Readonly<Record<string, unknown>>): boolean => quantity(type) === "3";

/** A transaction: what was signed, by whom, and where it is. */
const transactionParts = (transaction: unknown): ReadonlyArray<readonly [string, string]> => {
  if (!isRecord(transaction)) return [[inBlock, typeof transaction === "string" ? lower(transaction) : unknown]];
  const { blockHash, maxFeePerGas } = transaction;
  return [
    [inBlock, blockHash == null ? inPool : lower(blockHash)],
    ...words(transaction, ["hash", "from", "to", "input"]),
    ...quantities(transaction, ["nonce", "value", "gas", "type", "chainId", "maxFeePerGas", "maxPriorityFeePerGas"]),
    // why: of these types it is what was signed, of others what came of it
    ...(maxFeePerGas == null ? quantities(transaction, ["gasPrice"]) : []),
    ["accessList", entriesIn(transaction["accessList"])],
    ["authorizationList", entriesIn(transaction["authorizationList"])],
    ["blobVersionedHashes", list(transaction["blobVersionedHashes"]).map(lower).join(" ")],
    ...(hasBlobs(transaction) ? quantities(transaction, ["maxFeePerBlobGas"]) : []),
    ...(blockHash == null ? [] : quantities(transaction, ["blockNumber", "transactionIndex"])),
  ];
};

const receiptParts = (receipt: unknown): ReadonlyArray<readonly [string, string]> => {
  if (!isRecord(receipt)) return [[inBlock, unknown]];
  const logs = list(receipt["logs"]).map(logOf);
  return [
    [inBlock, lower(receipt["blockHash"])],
    ...words(receipt, ["transactionHash", "root", "from", "to", "contractAddress"]),
    ...quantities(receipt, ["blockNumber", "transactionIndex", "status", "type", "gasUsed", "effectiveGasPrice"]),
    ...quantities(receipt, ["cumulativeGasUsed", "l1Fee", "operatorFeeScalar", "operatorFeeConstant"]),
    ...quantities(receipt, ["daFootprintGasScalar"]),
    // why: of others a client may tell what a blob would have cost, or what its own rollup counts
    ...(hasBlobs(receipt) ? quantities(receipt, ["blobGasUsed", "blobGasPrice"]) : []),
    ["logs", String(logs.length)],
    ...logs.map((log, index) => [`logs[${index}]`, log] as const),
  ];
};

const named = (name: string, parts: ReadonlyArray<readonly [string, string]>) =>
  parts.map(([part, value]) => [`${name} ${part}`, value] as const);

/** A mined block, with its transactions: their hashes, or whole. */
const headerParts = (header: unknown): Parts => {
  if (!isRecord(header)) return new Map([[inBlock, unknown]]);
  const transactions = list(header["transactions"]);
  return new Map([
    [inBlock, "known"],
    ...quantities(header, ["number"]),
    ...words(header, ["hash", "parentHash"]),
    ...quantities(header, ["timestamp", "baseFeePerGas", "gasLimit"]),
    ...words(header, ["miner", "extraData", "mixHash", "requestsHash", "blockAccessListHash"]),
    ...quantities(header, ["gasUsed", "blobGasUsed", "excessBlobGas", "slotNumber"]),
    ["transactions", String(transactions.length)],
    ...transactions.flatMap((transaction, index) => named(`transactions[${index}]`, transactionParts(transaction))),
  ]);
};

/** Logs that were searched for, each with its place. */
const foundParts = (logs: unknown): Parts => {
  if (!Array.isArray(logs)) return new Map([[inBlock, unknown]]);
  const found = list(logs).map((log) => (isRecord(log) ? log : {}));
  const places = ["blockNumber", "transactionIndex", "logIndex"];
  const parts = found.flatMap((log, index) =>
    named(`logs[${index}]`, [
      ["", logOf(log)],
      ...words(log, ["blockHash", "transactionHash"]),
      ...quantities(log, places),
    ]),
  );
  return new Map([[inBlock, "known"], ["logs", String(found.length)], ...parts]);
};

const receiptsParts = (receipts: unknown): Parts => {
  if (!Array.isArray(receipts)) return new Map([[inBlock, unknown]]);
  const entries = list(receipts);
  const all = entries.flatMap((receipt, index) => named(`receipts[${index}]`, receiptParts(receipt)));
  return new Map([[inBlock, "known"], ["receipts", String(entries.length)], ...all]);
};

/**
 * True if honest clients differ so at times, though what differs there must not be relied on: anvil keeps what a
 * reverted call moved, and leaves out what SELFDESTRUCT does; one has not mined yet what another has.
 */
export const isDoubtOnly = ([path, mine, other]: readonly [path: string, one: string, other: string]): boolean =>
  path.startsWith(movements) ||
  path === inBlock ||
  ((mine === "none" || other === "none") && untoldByAll.has(path.slice(path.lastIndexOf(" ") + 1)));

/** The parts of an answer that must be the same wherever it comes from. */
export const partsOf = (
  method: string,
  params: ReadonlyArray<unknown>,
  result: unknown,
  look: Comparing = { isOpen: false, isMoved: false },
): Parts => {
  if (method === "eth_simulateV1") return simulationParts(params, result, look);
  if (method.startsWith("eth_getBlockBy")) return headerParts(result);
  if (method === "eth_getBlockReceipts") return receiptsParts(result);
  if (method === "eth_getLogs") return foundParts(result);
  if (method === "eth_getTransactionReceipt") return new Map(receiptParts(result));
  if (method === "eth_getTransactionByHash") return new Map(transactionParts(result));
  const value = method === "eth_getCode" || method === "eth_call" ? lower(result) : quantity(result);
  return new Map([["", value]]);
};

/** The first part that is not the same, with both values; null where there is none. */
export const differenceOf = (a: Parts, b: Parts): Parameters<typeof isDoubtOnly>[0] | null => {
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    const [mine, other] = [a.get(path) ?? "none", b.get(path) ?? "none"];
    const isUntold = path.startsWith(movements) && (mine === untold || other === untold);
    // why: before there were types, there was none to tell
    const isLegacy =
      [mine, other].every((type) => type === "none" || type === "0") && path.split(" ").at(-1) === "type";
    if (mine !== other && !isUntold && !isLegacy) return [path, mine, other];
  }
  return null;
};
