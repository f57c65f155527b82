/**
 * Says which state a request asks about, and whether what endpoints answered is one answer: each beside the one that is
 * handed on; of advice, whether it is near enough. Pure.
 */
import * as BigInts from "effect/BigInt";
import * as Result from "effect/Result";
import type { RpcError, Verdict } from "../../errors/index.js";
import { escapeText, isQuantity, isRecord } from "../../primitives/index.js";
import type { Testimony } from "../index.js";
import { differenceOf, inPool, isDoubtOnly, partsOf, unknown, type Comparing } from "./normal.js";
import { entriesIn, list } from "./simulated.js";

/**
 * `sealed`: a block that everybody has or has not. `latest`: each its own head. `pending`: each its own guess. `advice`:
 * what others paid, of which each tells in its own way.
 */
export type State = "sealed" | "latest" | "pending" | "advice";

/** The place of the block among the parameters, of the methods that are asked of all; null = what no block moves. */
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

/** The values that a node chooses for its block by itself, by the name of the override and of the header's field. */
const choices = [
  ["number", "number"],
  ["time", "timestamp"],
  ["baseFeePerGas", "baseFeePerGas"],
  ["feeRecipient", "miner"],
  ["gasLimit", "gasLimit"],
] as const;

/** True if two nodes made as many blocks of a simulation, and chose other values for them, as their answers say. */
export const choseOtherwise = (one: unknown, other: unknown): boolean => {
  const choicesOf = (result: unknown) =>
    JSON.stringify(
      (Array.isArray(result) ? result : []).map((block: unknown) =>
        choices.map(([, field]) => (isRecord(block) ? String(block[field]).toLowerCase() : "none")),
      ),
    );
  const isAsLong = Array.isArray(one) && Array.isArray(other) && one.length === other.length;
  return isAsLong && choicesOf(one) !== choicesOf(other);
};

/** The same simulation with each of its entries as `change` makes it; null where it is none. */
const withEntries = (params: ReadonlyArray<unknown>, change: (entry: unknown, index: number) => unknown) => {
  const [simulation, ...rest] = params;
  if (!isRecord(simulation) || !Array.isArray(simulation["blockStateCalls"])) return null;
  return [{ ...simulation, blockStateCalls: simulation["blockStateCalls"].map(change) }, ...rest];
};

/** The same simulation with every value of its blocks that another node chose, as that node answered; null where its blocks are not those asked for. */
export const inBlocksOf = (params: ReadonlyArray<unknown>, result: unknown): ReadonlyArray<unknown> | null => {
  if (!Array.isArray(result) || entriesIn(params).length !== result.length) return null;
  return withEntries(params, (entry, index) => {
    const block: unknown = result[index];
    if (!isRecord(entry) || !isRecord(block)) return entry;
    const values = choices.flatMap(([name, field]) => (block[field] === undefined ? [] : [[name, block[field]]]));
    const own = isRecord(entry["blockOverrides"]) ? entry["blockOverrides"] : {};
    return { ...entry, blockOverrides: { ...Object.fromEntries(values), ...own } };
  });
};

const shifted = (value: unknown, by: bigint): unknown =>
  typeof value === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(value) ? `0x${(BigInt(value) - by).toString(16)}` : value;

/** The same simulation on an earlier block: its own numbers so many lower, or they would leave a gap. */
export const movedTo = (params: ReadonlyArray<unknown>, blockHash: string, by: bigint): ReadonlyArray<unknown> => {
  const moved = withEntries(params, (entry) => {
    if (!isRecord(entry) || !isRecord(entry["blockOverrides"])) return entry;
    const { number, ...others } = entry["blockOverrides"];
    return { ...entry, blockOverrides: number === undefined ? others : { ...others, number: shifted(number, by) } };
  });
  return [...(moved ?? params).slice(0, 1), { blockHash }];
};

export type MemberAnswer = Result.Result<unknown, RpcError | Verdict>;

/** The result of comparing another endpoint's answer with the first. */
export type Compared =
  | { readonly kind: "agreed" }
  | {
      readonly kind: "disagreed" | "pending" | "unconfirmed";
      readonly path: string;
      readonly values: readonly [string, string];
    };

export const agreed: Compared = { kind: "agreed" };

export const unconfirmed = (why: string): Compared => ({ kind: "unconfirmed", path: "", values: ["answered", why] });

/** Reads the parts of an answer; a verdict on the transaction is an answer, a failure to answer is none. */
const saidBy = (method: string, params: ReadonlyArray<unknown>, answer: MemberAnswer, look: Comparing) => {
  if (Result.isSuccess(answer)) return partsOf(method, params, answer.success, look);
  const { failure } = answer;
  return failure._tag === "RpcError" ? failure : new Map([["refused", failure._tag]]);
};

/** The kind that a difference is of, by what it is about. */
const kindOf = (state: State): Exclude<Compared["kind"], "agreed"> =>
  state === "sealed" ? "disagreed" : state === "pending" ? "pending" : "unconfirmed";

/** One answer beside the first, about a state. The first is an answer. */
export const compareAnswers = (
  question: { readonly method: string; readonly params: ReadonlyArray<unknown>; readonly state: State },
  first: MemberAnswer,
  other: MemberAnswer,
  isMoved = false,
): Compared => {
  const { method, params, state } = question;
  const look = { isOpen: state !== "sealed", isMoved };
  const [mine, theirs] = [saidBy(method, params, first, look), saidBy(method, params, other, look)];
  if ("_tag" in theirs) return unconfirmed(`${theirs.reason._tag} ${theirs.reason.detail}`.trim());
  if ("_tag" in mine) return unconfirmed("no answer to compare with");
  const different = differenceOf(mine, theirs);
  if (different === null) return agreed;
  const [path, one, two] = different;
  // why: a transaction that waits need not be told to everybody, and that it waits promises nothing
  if (one === inPool && two === unknown) return agreed;
  const kind = kindOf(state);
  return { kind: kind === "disagreed" && isDoubtOnly(different) ? "unconfirmed" : kind, path, values: [one, two] };
};

export const hashIn = (block: unknown, field: "hash" | "parentHash"): string | null => {
  const hash = isRecord(block) ? block[field] : null;
  return typeof hash === "string" && hash.length === 66 && !/^0x0*$/.test(hash) ? hash : null;
};

/** The number of a block; null where there is none. */
export const numberIn = (block: unknown): bigint | null => {
  const number = isRecord(block) ? block["number"] : null;
  return typeof number === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(number) ? BigInt(number) : null;
};

/** Two answers about one block; two blocks of one number are two branches, of which one will not stay. */
export const compareBlocks = (first: MemberAnswer, other: MemberAnswer): Compared => {
  const finding = compareAnswers({ method: "eth_getBlockByNumber", params: [], state: "sealed" }, first, other);
  return finding.kind === "disagreed" && finding.path === "hash" ? { ...finding, kind: "unconfirmed" } : finding;
};

const quantityIn = (value: unknown): bigint | null => (isQuantity(value) ? BigInt(value) : null);

const fieldOf = (object: unknown, field: string): bigint | null =>
  isRecord(object) ? quantityIn(object[field]) : null;

/** A quantity that was answered; null where none was. */
export const quantityOf = (answer: MemberAnswer): bigint | null =>
  Result.isSuccess(answer) ? quantityIn(answer.success) : null;

/** True if a value can have become another in so many blocks, in each of which it moves by at most a part of itself. */
const isReachable = (from: bigint | null, to: bigint | null, part: bigint, blocks: bigint): boolean => {
  if (from === null || to === null) return from === to;
  let [least, greatest] = [from, from];
  for (let passed = 0n; passed < blocks; passed++) {
    least -= least / part + 1n;
    greatest += greatest / part + 1n;
  }
  return to >= least && to <= greatest;
};

/**
 * True if a head can follow an earlier one, by the rules that bind every block: nobody but its teller has seen it, and
 * what it says of price, room and time is bounded by what both have seen.
 */
export const canFollow = (earlier: MemberAnswer, head: MemberAnswer, blocks: bigint): boolean => {
  if (Result.isFailure(earlier) || Result.isFailure(head)) return false;
  const both = (field: string) => [fieldOf(earlier.success, field), fieldOf(head.success, field)] as const;
  const [before, after] = both("timestamp");
  return (
    before !== null &&
    after !== null &&
    after >= before &&
    isReachable(...both("baseFeePerGas"), 8n, blocks) &&
    isReachable(...both("gasLimit"), 1_024n, blocks)
  );
};

const most = 240;

/** A finding in words, by the names of both. */
export const testimonyOf = (
  { method, run, isSealed }: Pick<Testimony, "method" | "run" | "isSealed">,
  finding: Exclude<Compared, { readonly kind: "agreed" }>,
  names: readonly [string, string],
): Testimony => {
  const about = [run === null ? method : `${method} (${run})`, finding.path].filter((part) => part !== "").join(", ");
  return {
    ...{ kind: finding.kind, isSealed, method, run },
    lines: names.map((name, index) => escapeText(`${name}: ${about}: ${finding.values[index]}`, most)),
  };
};

/** How many times what the other tells may be told. */
const far = 4n;

const median = (values: ReadonlyArray<bigint | null>): bigint => {
  const known = values.filter((value) => value !== null).sort(BigInts.Order);
  return known[known.length >> 1] ?? 0n;
};

/** Per column of a fee history, and of the receipts of a block, what is paid in the middle, wei per gas. */
const pricesIn = (answer: unknown): ReadonlyArray<bigint> => {
  if (Array.isArray(answer)) return [median(list(answer).map((receipt) => fieldOf(receipt, "effectiveGasPrice")))];
  const rows = list(isRecord(answer) ? answer["reward"] : null).map((row) => list(row));
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  return Array.from({ length: columns }, (_, column) =>
    median(rows.map((row) => quantityIn(row[column])).filter((tip) => tip !== 0n)),
  );
};

/** One endpoint's advice beside another's: what is much dearer than there is nobody's but its own. Low prices harm nobody. */
export const compareAdvice = (first: MemberAnswer, other: MemberAnswer): Compared => {
  if (Result.isFailure(first)) return unconfirmed("no answer to compare with");
  const theirs = Result.isSuccess(other) ? pricesIn(other.success) : [];
  const dear = pricesIn(first.success).findIndex((price, column) => price > far * (theirs[column] ?? 0n));
  return dear === -1 ? agreed : unconfirmed(`says ${theirs[dear] ?? "nothing of what is paid"}`);
};
