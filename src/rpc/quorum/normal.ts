/** Answers without what honest clients say differently: block hashes, peaks of gas, words of errors, traces. Pure. */
import { isRecord } from "../../primitives/record.js";
import { decodeAnswers } from "../../witness/answers.js";
import { witnessBytecode } from "../../witness/bytecode.js";
import { decodeQueries, type Query } from "../../witness/queries.js";

/** A part of an answer by its path; two answers agree where every part does. */
export type Parts = ReadonlyMap<string, string>;

type Fields = Readonly<Record<string, unknown>>;

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []);
const lower = (value: unknown): string => (typeof value === "string" ? value.toLowerCase() : "none");

/** A quantity in one spelling. */
const quantity = (value: unknown): string =>
  typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? String(BigInt(value)) : lower(value);

/** Who tells of native movements: the trace of a simulation, and EIP-7708; which of the two a client has is its own matter. */
const reporters: ReadonlySet<string> = new Set([`0x${"ee".repeat(20)}`, `0x${"ff".repeat(19)}fe`]);

/** Where nobody told of native movements: as good as whatever another tells. */
const untold = "untold";

/**
 * Who paid whom how much, in any order: by the trace, else by EIP-7708, for a client may tell of the same movement by
 * both. What ends in no account of its own (a burn) and what is nothing is told by some clients only.
 */
const movementsOf = (call: unknown): string => {
  const logs = list(isRecord(call) ? call["logs"] : null).flatMap((log) => (isRecord(log) ? [log] : []));
  const told = [...reporters].map((reporter) =>
    logs.flatMap(({ address, topics, data }) => {
      const words = list(topics).map(lower);
      const isMovement = lower(address) === reporter && words.length === 3 && !/^0x0*$/.test(lower(data));
      return isMovement ? [[...words.slice(1), quantity(data)].join(" ")] : [];
    }),
  );
  return (
    told
      .find((movements) => movements.length > 0)
      ?.sort()
      .join(", ") ?? untold
  );
};

const logOf = (log: unknown): string =>
  isRecord(log) ? [lower(log["address"]), ...list(log["topics"]).map(lower), lower(log["data"])].join(" ") : "no log";

/** The logs of a simulated call, but for those of native movements. */
const logsOf = (call: Fields): ReadonlyArray<string> =>
  list(call["logs"]).flatMap((log) => (isRecord(log) && reporters.has(lower(log["address"])) ? [] : [logOf(log)]));

/** What a failed call returned, wherever the client puts it. */
const revertOf = ({ returnData, error }: Fields): string => {
  if (typeof returnData === "string" && returnData.length > 2) return returnData.toLowerCase();
  const data = isRecord(error) ? error["data"] : null;
  return typeof data === "string" && data.startsWith("0x") ? data.toLowerCase() : "0x";
};

const callParts = (call: unknown): ReadonlyArray<readonly [string, string]> => {
  if (!isRecord(call)) return [["", "no result"]];
  const isSuccess = call["status"] === "0x1";
  const logs = logsOf(call);
  return [
    ["status", lower(call["status"])],
    ["gasUsed", quantity(call["gasUsed"])],
    ["returnData", isSuccess ? lower(call["returnData"]) : revertOf(call)],
    ["logs", String(logs.length)],
    ...logs.map((log, index) => [`logs[${index}]`, log] as const),
  ];
};

/** How an answer is looked at. */
export interface Look {
  /** Whether the block's own values were the node's to choose, as on a tag. */
  readonly isOpen: boolean;
  /** Whether the block is another than that of the answer beside it. */
  readonly isMoved: boolean;
}

/** Of the block that the witness saw: what each client makes in its own way. */
const ofClient: ReadonlySet<string> = new Set(["parentHash", "gasLeft", "gasLimit", "fork"]);

const askedOf = (query: Query | undefined): string => {
  if (query === undefined || query.kind === "environment") return "block";
  return query.kind === "account" ? query.address : `${query.to} ${query.data.slice(0, 10)}`;
};

/**
 * What the witness read: all but what follows from the client (gas that was left, the hash of the parent, the gas limit
 * and the opcodes of a block that it makes itself), and the number where the block is another (`isMoved`). Of a block
 * whose values were the node's to choose (`isOpen`) the chain alone is left.
 */
const witnessParts = (
  data: string,
  call: unknown,
  { isOpen, isMoved }: Look,
): ReadonlyArray<readonly [string, string]> => {
  const { status, returnData } = isRecord(call) ? call : { status: "none", returnData: null };
  const queries = decodeQueries(data);
  const bytes = lower(returnData);
  const answers = queries === null || !bytes.startsWith("0x") ? null : decodeAnswers(queries, `0x${bytes.slice(2)}`);
  if (answers === null) return [["witness", `${lower(status)} ${bytes}`]];
  const told = answers.map((answer, index): readonly [string, string] => {
    const asked = askedOf(queries?.[index]);
    const values = Object.entries(answer).filter(
      ([name]) =>
        asked !== "block" || (isOpen ? name === "chainId" : !(ofClient.has(name) || (isMoved && name === "number"))),
    );
    return [`witness ${index} ${asked}`, values.map(([name, value]) => `${name} ${lower(String(value))}`).join(" ")];
  });
  return [["witness status", lower(status)], ...told];
};

/** The calls of one entry that was asked for. */
interface Entry {
  readonly calls: ReadonlyArray<unknown>;
  readonly overrides: Fields;
}

const entriesOf = (params: ReadonlyArray<unknown>): ReadonlyArray<Entry> => {
  const [asked] = params;
  return list(isRecord(asked) ? asked["blockStateCalls"] : null).map((entry) => ({
    calls: list(isRecord(entry) ? entry["calls"] : null),
    overrides: isRecord(entry) && isRecord(entry["stateOverrides"]) ? entry["stateOverrides"] : {},
  }));
};

const addressOf = (call: unknown): string => (isRecord(call) ? lower(call["to"]) : "none");

/** The results of a simulation, by call. */
const simulationParts = (params: ReadonlyArray<unknown>, result: unknown, look: Look): Parts => {
  const entries = entriesOf(params);
  const witnesses = new Set(
    entries.flatMap(({ overrides }) =>
      Object.entries(overrides).flatMap(([address, override]) =>
        isRecord(override) && override["code"] === witnessBytecode ? [address.toLowerCase()] : [],
      ),
    ),
  );
  // why: a node may fill a gap between two numbers with blocks of its own, which have no calls
  const calls = entries.flatMap((entry) => entry.calls);
  const results = list(result).flatMap((block) => list(isRecord(block) ? block["calls"] : null));
  const parts = new Map<string, string>([["calls", String(results.length)]]);
  for (const [index, call] of calls.entries()) {
    const answer = results[index];
    const isWitness = witnesses.has(addressOf(call)) && isRecord(call);
    const told = isWitness ? witnessParts(lower(call["data"] ?? call["input"]), answer, look) : callParts(answer);
    for (const [name, value] of told) parts.set(`call ${index} ${name}`, value);
  }
  // why: last, for what they say otherwise is doubt, and no proof of a lie
  for (const index of calls.keys()) parts.set(`${movements} of call ${index}`, movementsOf(results[index]));
  return parts;
};

const quantities = (fields: Fields, names: ReadonlyArray<string>) =>
  names.map((name) => [name, quantity(fields[name])] as const);

const words = (fields: Fields, names: ReadonlyArray<string>) =>
  names.map((name) => [name, lower(fields[name])] as const);

/** Fields of a mined block, a transaction or a receipt that not every client tells: who leaves one out is no liar. */
const untoldByAll: ReadonlySet<string> = new Set([
  ...["extraData", "mixHash", "blobGasUsed", "excessBlobGas", "requestsHash", "blockAccessListHash", "slotNumber"],
  ...["type", "chainId", "contractAddress", "effectiveGasPrice", "l1Fee", "operatorFeeScalar", "operatorFeeConstant"],
  ...["cumulativeGasUsed", "daFootprintGasScalar"],
]);

/** The block that a transaction is in, by its hash. */
const inBlock = "block";
/** Of what waits in a pool. */
export const inPool = "the pool";
/** Of what the node has not. */
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

const hasBlobs = ({ type }: Fields): boolean => quantity(type) === "3";

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
    ...transactions.flatMap((one, index) => named(`transactions[${index}]`, transactionParts(one))),
  ]);
};

const receiptsParts = (receipts: unknown): Parts => {
  if (!Array.isArray(receipts)) return new Map([[inBlock, unknown]]);
  const told = list(receipts);
  const all = told.flatMap((one, index) => named(`receipts[${index}]`, receiptParts(one)));
  return new Map([[inBlock, "known"], ["receipts", String(told.length)], ...all]);
};

const movements = "native movements";

/** A part that two tell differently, and how. */
export type Difference = readonly [path: string, one: string, other: string];

/**
 * Whether honest clients differ so at times, though what differs there must not be relied on: anvil keeps what a
 * reverted call moved, and leaves out what SELFDESTRUCT does; one has not mined yet what another has.
 */
export const isDoubtOnly = ([path, one, other]: Difference): boolean =>
  path.startsWith(movements) ||
  path === inBlock ||
  ((one === "none" || other === "none") && untoldByAll.has(path.slice(path.lastIndexOf(" ") + 1)));

/** The parts of an answer that must be the same wherever it comes from. */
export const partsOf = (
  method: string,
  params: ReadonlyArray<unknown>,
  result: unknown,
  look: Look = { isOpen: false, isMoved: false },
): Parts => {
  if (method === "eth_simulateV1") return simulationParts(params, result, look);
  if (method.startsWith("eth_getBlockBy")) return headerParts(result);
  if (method === "eth_getBlockReceipts") return receiptsParts(result);
  if (method === "eth_getTransactionReceipt") return new Map(receiptParts(result));
  if (method === "eth_getTransactionByHash") return new Map(transactionParts(result));
  const value = method === "eth_getCode" || method === "eth_call" ? lower(result) : quantity(result);
  return new Map([["", value]]);
};

/** The first part that is not the same, with both values; null where there is none. */
export const differenceOf = (a: Parts, b: Parts): Difference | null => {
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    const [one, other] = [a.get(path) ?? "none", b.get(path) ?? "none"];
    const isUntold = path.startsWith(movements) && (one === untold || other === untold);
    // why: before there were types, there was none to tell
    const isLegacy = /(^| )type$/.test(path) && [one, other].every((type) => type === "none" || type === "0");
    if (one !== other && !isUntold && !isLegacy) return [path, one, other];
  }
  return null;
};
