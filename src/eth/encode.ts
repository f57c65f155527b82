/**
 * Typed parameters to the wire, a writer for each. What no wire can carry, or nobody would read, is collected by its path,
 * so that nothing wrong is sent and nothing is dropped in silence.
 */
import * as Rows from "effect/Record";
import { isHex, isQuantity, type Hash, type Hex } from "../primitives/hex.js";
import { didYouMean } from "../primitives/problem.js";
import { isRecord } from "../primitives/record.js";
import { fields as transactionFields, type AccessListEntry, type Authorization } from "../transaction/fields.js";
import {
  accountRows,
  blockRows,
  type BlockOverrides,
  type BlockParameter,
  type BlockStateCall,
  type CallRequest,
  type LogFilter,
  type Simulation,
  type StateOverrides,
} from "./parameters.js";
import { isBytes } from "./shape.js";

/** The paths of what a writer could not write. */
export type Faults = Array<string>;
/** Writes one value. */
type Writer = (value: never, path: string, faults: Faults) => unknown;

const limit = 1n << 256n;

export const quantity = (value: bigint | number, path: string, faults: Faults): string => {
  if (typeof value === "bigint" ? value >= 0n && value < limit : Number.isSafeInteger(value) && value >= 0)
    return `0x${value.toString(16)}`;
  faults.push(`${path}: not a quantity of 0 to 256 bits`);
  return "0x0";
};

/** Hex that `is` takes. */
const hex =
  (what: string, is: (value: unknown) => boolean) =>
  (value: string, path: string, faults: Faults): string => {
    if (is(value)) return value;
    faults.push(`${path}: not ${what}`);
    return "0x";
  };
const sized = (bytes: number) => (value: unknown) =>
  typeof value === "string" && value.length === 2 + 2 * bytes && isHex(value);

const bytes = hex("hex of whole bytes", isBytes);
export const address = hex("an address of 20 bytes", sized(20));
export const word = hex("hex of 32 bytes", sized(32));

export const flag = (value: boolean, path: string, faults: Faults): boolean => {
  if (typeof value !== "boolean") faults.push(`${path}: not a boolean`);
  return value === true;
};

const listOf =
  <A>(write: (value: A, path: string, faults: Faults) => unknown) =>
  (values: ReadonlyArray<A>, path: string, faults: Faults): unknown => {
    if (Array.isArray(values)) return values.map((value: A, index) => write(value, `${path}[${index}]`, faults));
    faults.push(`${path}: not a list`);
    return [];
  };

/** A number that a clock or a list can have. */
export const within =
  (what: string, most: number, is: (value: number) => boolean = Number.isFinite) =>
  (value: number, path: string, faults: Faults): number => {
    if (!is(value) || value < 0 || value > most) faults.push(`${path}: not ${what} of 0 to ${most}`);
    return value;
  };

/** A record by keys that are hex as well. */
const recordOf =
  <A>(writeKey: typeof bytes, write: (value: A, path: string, faults: Faults) => unknown) =>
  (record: Readonly<Record<string, A>>, path: string, faults: Faults): Record<string, unknown> => {
    if (!isRecord(record)) {
      faults.push(`${path}: not an object`);
      return {};
    }
    return Object.fromEntries(
      Object.entries(record).map(([key, value]) => {
        const at = `${path}[${key.slice(0, 80)}]`;
        return [writeKey(key, at, faults), write(value, at, faults)];
      }),
    );
  };

/** Two letters that were swapped are both off, in short names as well. */
const halfOff = (length: number): number => Math.min(2, length / 2);

export const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Writes the present fields of an object, in the writers' order. A field that nobody writes is a fault, and so is
 * one that stands under two names with two values.
 */
export const fields =
  <A extends object>(
    writers: { readonly [K in keyof A]-?: Writer },
    {
      required = [],
      also = {},
      beside = [],
    }: {
      /** Fields that must be there. */
      readonly required?: ReadonlyArray<Extract<keyof A, string>>;
      /** Other names of fields, which may be used in their place. */
      readonly also?: Readonly<Record<string, Extract<keyof A, string>>>;
      /** Fields that stand beside these in the same object, and are written elsewhere. */
      readonly beside?: ReadonlyArray<string>;
    } = {},
  ) =>
  (value: A, path: string, faults: Faults): Record<string, unknown> => {
    const output: Record<string, unknown> = {};
    if (!isRecord(value)) {
      const names = required.length > 0 ? required : [...Object.keys(writers), ...beside];
      faults.push(`${path === "" ? "" : `${path}: not an object; `}give { ${names.join(", ")} }`);
      return output;
    }
    const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
    // each writer belongs to its own key, which the mapped type above guarantees
    const write = (key: Extract<keyof A, string>, under: string) =>
      writers[key](value[under] as never, at(under.slice(0, 80)), faults);
    for (const key in writers) if (isPresent(value[key])) output[key] = write(key, key);
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(writers, key) || !isPresent(value[key]) || beside.includes(key)) continue;
      const name = Object.hasOwn(also, key) ? also[key] : undefined;
      if (name === undefined) {
        const names = [...Object.keys(writers), ...Object.keys(also), ...beside];
        faults.push(`${at(key.slice(0, 80))}: no such field${didYouMean(key, names, halfOff)}`);
      } else {
        const aliasValue = write(name, key);
        if (String(output[name] ?? aliasValue).toLowerCase() !== String(aliasValue).toLowerCase())
          faults.push(`${at(key)}: another value than ${name}`);
        output[name] = aliasValue;
      }
    }
    for (const key of required) if (!(key in output)) faults.push(`${at(key)}: required`);
    return output;
  };

const accessListEntry = fields<typeof AccessListEntry.Type>(
  { address, storageKeys: listOf(word) },
  { required: ["address", "storageKeys"] },
);

/** A word as the number it is: nodes refuse leading zeros in the `r` and `s` of a signature. */
const scalar = (value: string, path: string, faults: Faults): string =>
  isQuantity(value) ? quantity(BigInt(value), path, faults) : word(value, path, faults);

/** The parity, or the 27 and 28 that libraries write beside it. */
const parity = (value: bigint | number, path: string, faults: Faults): string =>
  quantity(value === 27 || value === 28 || value === 27n || value === 28n ? Number(value) - 27 : value, path, faults);

const authorizationEntry = fields<Omit<Authorization, "yParity"> & { readonly yParity?: number | undefined }>(
  { address, chainId: quantity, nonce: quantity, r: scalar, s: scalar, yParity: parity },
  { also: { v: "yParity" }, required: ["address", "chainId", "nonce", "r", "s", "yParity"] },
);

const writers = {
  address,
  bytes,
  word,
  quantity,
  hashes: listOf(word),
  slots: recordOf(word, word),
  accessList: listOf(accessListEntry),
  authorizationList: listOf(authorizationEntry),
};
/** The writers of a table's rows. */
const writersOf = <K extends string>(
  rows: Readonly<Record<K, { readonly wire: keyof typeof writers }>>,
): Readonly<Record<K, Writer>> => Rows.map(rows, ({ wire }): Writer => writers[wire]);

const callWriters = { ...writersOf(transactionFields), type: quantity };
const callNames = { also: { input: "data" } } as const;
const callRequest = fields<Omit<CallRequest, "input">>(callWriters, callNames);
const stateOverrides = recordOf(address, fields<StateOverrides[string]>(writersOf(accountRows)));
const blockOverrides = fields<Omit<BlockOverrides, "timestamp">>(
  {
    ...writersOf(blockRows),
    difficulty: quantity,
    beaconRoot: word,
    withdrawals: listOf(fields({ index: quantity, validatorIndex: quantity, address, amount: quantity })),
  },
  { also: { timestamp: "time" } },
);

const tags: ReadonlySet<unknown> = new Set(["latest", "pending", "safe", "finalized", "earliest"]);

/** A number or a tag. */
const heightOrTag = (block: bigint | number | string, path: string, faults: Faults): string => {
  if (typeof block !== "string") return quantity(block, path, faults);
  if (!tags.has(block)) faults.push(`${path}: not a block number or tag`);
  return block;
};

const namedBlock = fields<{
  blockHash?: string;
  blockNumber?: bigint | number;
  requireCanonical?: boolean | undefined;
}>({ blockHash: word, blockNumber: quantity, requireCanonical: flag });

/** A number as the wire writes it, which the type of a hash takes as well. */
const wireNumber = /^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,15})$/;

const blockParameter = (block: unknown, path: string, faults: Faults): unknown => {
  if (typeof block === "string") return tags.has(block) || wireNumber.test(block) ? block : word(block, path, faults);
  if (!isRecord(block)) return quantity(block as bigint, path, faults);
  const named = namedBlock(block, path, faults);
  if ("blockHash" in named === "blockNumber" in named) faults.push(`${path}: either blockHash or blockNumber`);
  return named;
};

/** Names in the parameters beside the call itself, written by writers of their own. */
const beside = ["block", "stateOverrides", "blockOverrides"];
const calledWith = fields<Omit<CallRequest, "input">>(callWriters, { ...callNames, beside });

/** A call, its block, and the overrides behind it: positional, so nothing is written where nothing follows. */
export const call = (
  parameters: CallRequest & Omit<BlockStateCall, "calls">,
  block: unknown,
  faults: Faults,
): ReadonlyArray<unknown> => {
  if (!isRecord(parameters as unknown)) {
    faults.push("give { from, to, data, value, block }");
    return [];
  }
  const params: Array<unknown> = [calledWith(parameters, "call", faults)];
  if (isPresent(block)) params.push(blockParameter(block, "block", faults));
  else faults.push("block: required");
  const { stateOverrides: state, blockOverrides: pretended } = parameters;
  if (isPresent(pretended) || isPresent(state)) params.push(stateOverrides(state ?? {}, "stateOverrides", faults));
  if (isPresent(pretended)) params.push(blockOverrides(pretended ?? {}, "blockOverrides", faults));
  return params;
};

const simulated = fields<Simulation>(
  {
    blocks: listOf(fields<BlockStateCall>({ calls: listOf(callRequest), stateOverrides, blockOverrides })),
    traceTransfers: flag,
    validation: flag,
    returnFullTransactions: flag,
    fillers: flag,
    block: blockParameter,
  },
  { required: ["blocks", "block"] },
);

/** Writes what `eth_simulateV1` simulates, and on which block. */
export const simulation = (parameters: Simulation, faults: Faults): ReadonlyArray<unknown> => {
  const { blocks, block, fillers: _, ...flags } = simulated(parameters, "", faults);
  return [{ blockStateCalls: blocks, ...flags }, block];
};

/** Parameters that are sent in the writers' order, none of which may be left out. */
const inOrder = <A extends object>(writers: { readonly [K in keyof A]-?: Writer }) => {
  const write = fields<A>(writers, { required: Object.keys(writers) as Array<Extract<keyof A, string>> });
  return (parameters: A) =>
    (faults: Faults): ReadonlyArray<unknown> =>
      Object.values(write(parameters, "", faults));
};
export const onBlock = inOrder<{ readonly block: BlockParameter }>({ block: blockParameter });
export const atAccount = inOrder<{ readonly address: string; readonly block: BlockParameter }>({
  address,
  block: blockParameter,
});
export const feeRange = inOrder({
  blockCount: quantity,
  newestBlock: heightOrTag,
  rewardPercentiles: listOf((value: number) => value),
});
export const byHash = inOrder<{ readonly hash: Hash }>({ hash: word });
export const sending = inOrder<{ readonly serializedTransaction: Hex }>({ serializedTransaction: bytes });

const oneOrMore =
  (write: Writer) =>
  (value: string | ReadonlyArray<string> | null, path: string, faults: Faults): unknown =>
    Array.isArray(value) ? listOf(write as typeof word)(value, path, faults) : write(value as never, path, faults);

const logWriters = {
  address: oneOrMore(address),
  topics: listOf((topic: string | ReadonlyArray<string> | null, path: string, faults: Faults) =>
    topic === null ? null : oneOrMore(word)(topic, path, faults),
  ),
};

/** The filter of logs that are followed, which has no range. */
export const followedFilter = fields<Pick<LogFilter, "address" | "topics">>(logWriters);

const filtered = fields<LogFilter>({ fromBlock: heightOrTag, toBlock: heightOrTag, blockHash: word, ...logWriters });

/** The filter for one request; with `blockHash` the range stays behind. */
export const logFilter = (filter: LogFilter, path: string, faults: Faults): Record<string, unknown> => {
  const wire = filtered(filter, path, faults);
  const { fromBlock: _, toBlock: __, ...rest } = wire;
  return "blockHash" in rest ? rest : wire;
};
