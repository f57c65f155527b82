/** Typed parameters to the wire, a writer for each. */
import * as Rows from "effect/Record";
import type { Hash, Hex } from "../primitives/hex.js";
import { given } from "../primitives/problem.js";
import { isRecord } from "../primitives/record.js";
import { fields as transactionFields } from "../transaction/fields.js";
import { AccessList, AuthorizationList, Withdrawal } from "./block.js";
import {
  accountRows,
  blockRows,
  type BlockOverrides,
  type BlockParameter,
  type CallRequest,
  type LogFilter,
  type Simulation,
  type StateOverrides,
} from "./parameters.js";
import { Account, Anything, Bytes, Flag, list, mapOf, Word, writtenBy, type Shape } from "./shape.js";
import { fields, quantity, type Writer } from "./write.js";

const writers = {
  address: Account.write,
  bytes: Bytes.write,
  word: Word.write,
  quantity,
  hashes: list(Word).write,
  slots: mapOf(Word, Word).write,
  accessList: AccessList.write,
  authorizationList: AuthorizationList.write,
};
/** The writers of a table's rows. */
const writersOf = <K extends string>(rows: Readonly<Record<K, { readonly wire: keyof typeof writers }>>) =>
  Rows.map(rows, ({ wire }): Writer => writers[wire]);

const callWriters = { ...writersOf(transactionFields), type: quantity };
const callNames = { also: { input: "data" } } as const;
const calls = list(writtenBy(fields<Omit<CallRequest, "input">>(callWriters, callNames), Anything)).write;
const stateOverrides = mapOf(
  Account,
  writtenBy(fields<StateOverrides[string]>(writersOf(accountRows)), Anything),
).write;
const blockOverrides = fields<Omit<BlockOverrides, "timestamp">>(
  { ...writersOf(blockRows), difficulty: quantity, beaconRoot: Word.write, withdrawals: list(Withdrawal).write },
  { also: { timestamp: "time" } },
);

const tags: ReadonlySet<unknown> = new Set(["latest", "pending", "safe", "finalized", "earliest"]);

/** A number or a tag. */
const heightOrTag: Writer = (block, path, faults) => {
  if (typeof block !== "string") return quantity(block, path, faults);
  if (!tags.has(block)) faults.push(`${path}: not a block number or tag`);
  return block;
};

const namedBlock = fields({ blockHash: Word.write, blockNumber: quantity, requireCanonical: Flag.write });

/** A number as the wire writes it, which the type of a hash takes as well. */
const wireNumber = /^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,15})$/;

const blockParameter: Writer = (block, path, faults) => {
  if (typeof block === "string")
    return tags.has(block) || wireNumber.test(block) ? block : Word.write(block, path, faults);
  if (!isRecord(block)) return quantity(block, path, faults);
  const named = namedBlock(block, path, faults);
  if ("blockHash" in named === "blockNumber" in named) faults.push(`${path}: either blockHash or blockNumber`);
  return named;
};

/** Names in the parameters beside the call itself, written by writers of their own. */
const beside = ["block", "stateOverrides", "blockOverrides"];
const calledWith = fields<Omit<CallRequest, "input">>(callWriters, { ...callNames, beside });

/** A call, its block, and the overrides behind it: positional, so nothing is written where nothing follows. */
export const call = (
  parameters: CallRequest & Omit<Simulation["blocks"][number], "calls">,
  block: unknown,
  faults: Array<string>,
): ReadonlyArray<unknown> => {
  if (!isRecord(parameters as unknown)) {
    faults.push("give { from, to, data, value, block }");
    return [];
  }
  const params: Array<unknown> = [calledWith(parameters, "call", faults)];
  if (given(block)) params.push(blockParameter(block, "block", faults));
  else faults.push("block: required");
  const { stateOverrides: state, blockOverrides: pretended } = parameters;
  if (given(pretended) || given(state)) params.push(stateOverrides(state ?? {}, "stateOverrides", faults));
  if (given(pretended)) params.push(blockOverrides(pretended ?? {}, "blockOverrides", faults));
  return params;
};

const simulated = fields<Simulation>(
  {
    blocks: list(writtenBy(fields<Simulation["blocks"][number]>({ calls, stateOverrides, blockOverrides }), Anything))
      .write,
    traceTransfers: Flag.write,
    validation: Flag.write,
    returnFullTransactions: Flag.write,
    fillers: Flag.write,
    block: blockParameter,
  },
  { required: ["blocks", "block"] },
);

/** Writes what `eth_simulateV1` simulates, and on which block. */
export const simulation = (parameters: Simulation, faults: Array<string>): ReadonlyArray<unknown> => {
  const { blocks, block, fillers: _, ...flags } = simulated(parameters, "", faults);
  return [{ blockStateCalls: blocks, ...flags }, block];
};

/** Parameters that are sent in the writers' order, none of which may be left out. */
const inOrder = <A extends object>(writers: { readonly [K in keyof A]-?: Writer }) => {
  const write = fields<A>(writers, { required: Object.keys(writers) as Array<Extract<keyof A, string>> });
  return (parameters: A) =>
    (faults: Array<string>): ReadonlyArray<unknown> =>
      Object.values(write(parameters, "", faults));
};
export const onBlock = inOrder<{ readonly block: BlockParameter }>({ block: blockParameter });
export const atAccount = inOrder<{ readonly address: string; readonly block: BlockParameter }>({
  address: Account.write,
  block: blockParameter,
});
export const atSlot = inOrder<{ readonly address: string; readonly slot: Hash; readonly block: BlockParameter }>({
  address: Account.write,
  slot: Word.write,
  block: blockParameter,
});
export const feeRange = inOrder({
  blockCount: quantity,
  newestBlock: heightOrTag,
  rewardPercentiles: list(Anything).write,
});
export const byHash = inOrder<{ readonly hash: Hash }>({ hash: Word.write });
export const sending = inOrder<{ readonly serializedTransaction: Hex }>({ serializedTransaction: Bytes.write });

/** One value, or a list of them. */
const oneOrMore = (one: Shape): Writer => {
  const many = list(one);
  return (value, path, faults) => (Array.isArray(value) ? many : one).write(value, path, faults);
};
const words = oneOrMore(Word);

const logWriters = {
  address: oneOrMore(Account),
  topics: list(writtenBy((topic, ...where) => (topic === null ? null : words(topic, ...where)), Anything)).write,
};

/** The filter of logs that are followed, which has no range. */
export const followedFilter = fields<Pick<LogFilter, "address" | "topics">>(logWriters);

const filtered = fields<LogFilter>({
  fromBlock: heightOrTag,
  toBlock: heightOrTag,
  blockHash: Word.write,
  ...logWriters,
});

/** The filter for one request; with `blockHash` the range stays behind. */
export const logFilter = (filter: LogFilter, path: string, faults: Array<string>): Record<string, unknown> => {
  const wire = filtered(filter, path, faults);
  const { fromBlock: _, toBlock: __, ...rest } = wire;
  return "blockHash" in rest ? rest : wire;
};
