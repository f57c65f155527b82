/** What a request asks of which state, and whether other endpoints can be held to the same answer. Pure. */
import { isRecord } from "../../primitives/record.js";

/**
 * `sealed`: a block that everybody has or has not. `latest`: each its own head. `pending`: each its own guess. `advice`:
 * what others paid, of which each tells in its own way.
 */
export type State = "sealed" | "latest" | "pending" | "advice";

/** Where the block stands among the parameters, of the methods that are asked of all; null = what no block moves. */
const blockAt: Readonly<Record<string, number | null>> = {
  eth_simulateV1: 1,
  eth_call: 1,
  eth_getCode: 1,
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_getBlockByNumber: 0,
  eth_getBlockByHash: 0,
  eth_getBlockReceipts: 0,
  eth_getLogs: 0,
  eth_getTransactionReceipt: null,
  eth_getTransactionByHash: null,
  eth_chainId: null,
};

const tags: ReadonlySet<unknown> = new Set([undefined, "latest", "safe", "finalized"]);

/** The state that is asked about; null = the method is asked of one endpoint alone. */
export const stateOf = (method: string, params: ReadonlyArray<unknown>): State | null => {
  if (method === "eth_feeHistory") return "advice";
  const place = blockAt[method];
  if (place === undefined) return null;
  const block = place === null ? null : params[place];
  // why: a range of blocks reaches as far as each has them
  if (method === "eth_getLogs") return isRecord(block) && block["blockHash"] !== undefined ? "sealed" : "latest";
  const state = block === "pending" ? "pending" : tags.has(block) && place !== null ? "latest" : "sealed";
  // why: what waits to be mined is of one pool
  if (method === "eth_getBlockByNumber" && state === "pending" && params[1] === true) return null;
  // why: nothing but a tip is read from the newest block's, which many refuse to tell
  return method === "eth_getBlockReceipts" && state !== "sealed" ? "advice" : state;
};

/** The tag of a question about a head, or about what one holds; null = it has none. */
export const tagOf = (method: string, params: ReadonlyArray<unknown>): string | null => {
  const place = blockAt[method] ?? null;
  const block = place === null ? null : (params[place] ?? "latest");
  return typeof block === "string" && tags.has(block) ? block : null;
};

/** The same question about the block of this hash. */
export const onBlock = (method: string, params: ReadonlyArray<unknown>, blockHash: string): ReadonlyArray<unknown> => {
  const place = blockAt[method] ?? null;
  if (place === null) return params;
  return [...params.slice(0, place), { blockHash }, ...params.slice(place + 1)];
};

/** What a node chooses for its block where it is not told, by the name of the override and of the header's field. */
const chosen = [
  ["number", "number"],
  ["time", "timestamp"],
  ["baseFeePerGas", "baseFeePerGas"],
  ["feeRecipient", "miner"],
  ["gasLimit", "gasLimit"],
] as const;

/** Whether two nodes made as many blocks of a simulation, and chose other values for them, as their answers say. */
export const choseOtherwise = (one: unknown, other: unknown): boolean => {
  const told = (result: unknown) =>
    JSON.stringify(
      (Array.isArray(result) ? result : []).map((block: unknown) =>
        chosen.map(([, field]) => (isRecord(block) ? String(block[field]).toLowerCase() : "none")),
      ),
    );
  const isAsLong = Array.isArray(one) && Array.isArray(other) && one.length === other.length;
  return isAsLong && told(one) !== told(other);
};

/** The same simulation with every value of its blocks that another node chose, as that node answered; null where its blocks are not those asked for. */
export const inBlocksOf = (params: ReadonlyArray<unknown>, result: unknown): ReadonlyArray<unknown> | null => {
  const [asked, ...rest] = params;
  if (!isRecord(asked) || !Array.isArray(asked["blockStateCalls"]) || !Array.isArray(result)) return null;
  const entries: ReadonlyArray<unknown> = asked["blockStateCalls"];
  const blocks: ReadonlyArray<unknown> = result;
  if (entries.length !== blocks.length) return null;
  const blockStateCalls = entries.map((entry, index) => {
    const block = blocks[index];
    if (!isRecord(entry) || !isRecord(block)) return entry;
    const told = chosen.flatMap(([name, field]) => (block[field] === undefined ? [] : [[name, block[field]]]));
    const own = isRecord(entry["blockOverrides"]) ? entry["blockOverrides"] : {};
    return { ...entry, blockOverrides: { ...Object.fromEntries(told), ...own } };
  });
  return [{ ...asked, blockStateCalls }, ...rest];
};

const shifted = (value: unknown, by: bigint): unknown =>
  typeof value === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(value) ? `0x${(BigInt(value) - by).toString(16)}` : value;

/** The same simulation with the numbers of its blocks as `numberOf` makes them of those asked for; undefined = the node's own. */
const renumbered = (params: ReadonlyArray<unknown>, numberOf: (asked: unknown) => unknown): ReadonlyArray<unknown> => {
  const [asked, ...rest] = params;
  if (!isRecord(asked) || !Array.isArray(asked["blockStateCalls"])) return params;
  const blockStateCalls = asked["blockStateCalls"].map((entry: unknown) => {
    if (!isRecord(entry) || !isRecord(entry["blockOverrides"])) return entry;
    const { number, ...others } = entry["blockOverrides"];
    const own = number === undefined ? undefined : numberOf(number);
    return { ...entry, blockOverrides: own === undefined ? others : { ...others, number: own } };
  });
  return [{ ...asked, blockStateCalls }, ...rest];
};

/** The same simulation on an earlier block: its own numbers so many lower, or they would leave a gap. */
export const movedTo = (params: ReadonlyArray<unknown>, blockHash: string, by: bigint): ReadonlyArray<unknown> => [
  ...renumbered(params, (number) => shifted(number, by)).slice(0, 1),
  { blockHash },
];

/** The same simulation after whatever block a node has. */
export const unnumbered = (params: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  renumbered(params, () => undefined);
