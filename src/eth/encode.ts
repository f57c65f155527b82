/** Typed parameters to the wire. What no wire can carry is collected, so that nothing wrong is sent. */
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import { isRecord } from "../primitives/record.js";
import { InvalidParams, RpcError } from "../errors/rpc.js";
import { fields as transactionFields } from "../transaction/fields.js";
import { accountRows, blockRows } from "./overrides.js";
import type {
  AccessListEntry,
  AccountOverride,
  AuthorizationEntry,
  BlockOverrides,
  BlockParameter,
  BlockStateCall,
  CallRequest,
  LogFilter,
  StateOverrides,
  Withdrawal,
} from "./parameters.js";
import { isHex } from "./wire.js";

/** Where a writer notes the paths of what it could not write. */
export type Faults = Array<string>;
type Writer = (value: never, path: string, faults: Faults) => unknown;
type Maybe<A> = A | null | undefined;

const limit = 1n << 256n;

export const quantity = (value: bigint | number, path: string, faults: Faults): string => {
  if (typeof value === "bigint" ? value >= 0n && value < limit : Number.isSafeInteger(value) && value >= 0)
    return `0x${value.toString(16)}`;
  faults.push(`${path}: not a quantity of 0 to 256 bits`);
  return "0x0";
};

export const bytes = (value: string, path: string, faults: Faults): string => {
  if (isHex(value)) return value;
  faults.push(`${path}: not hex`);
  return "0x";
};

const listOf =
  <A>(write: (value: A, path: string, faults: Faults) => unknown) =>
  (values: ReadonlyArray<A>, path: string, faults: Faults): unknown => {
    if (Array.isArray(values)) return values.map((value: A, index) => write(value, `${path}[${index}]`, faults));
    faults.push(`${path}: not a list`);
    return [];
  };

/** Writes the present fields of an object, in the writers' order. */
const fields =
  <A extends object>(writers: { readonly [K in keyof A]-?: Writer }) =>
  (value: A, path: string, faults: Faults): Record<string, unknown> => {
    const written: Record<string, unknown> = {};
    if (!isRecord(value)) {
      faults.push(`${path}: not an object`);
      return written;
    }
    for (const key in writers) {
      const field = value[key];
      // each writer belongs to its own key, which the mapped type above guarantees
      if (field !== undefined && field !== null) written[key] = writers[key](field as never, `${path}.${key}`, faults);
    }
    return written;
  };

const recordOf =
  <A>(write: (value: A, path: string, faults: Faults) => unknown) =>
  (record: Readonly<Record<string, A>>, path: string, faults: Faults): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(record).map(([key, value]) => {
        const at = `${path}[${key.slice(0, 80)}]`;
        return [bytes(key, at, faults), write(value, at, faults)];
      }),
    );

const flag = (value: boolean, path: string, faults: Faults): boolean => {
  if (typeof value !== "boolean") faults.push(`${path}: not a boolean`);
  return value === true;
};

const accessListEntry = fields<AccessListEntry>({
  address: bytes,
  storageKeys: listOf(bytes),
});

/** A word as the number it is: nodes refuse leading zeros in the `r` and `s` of a signature. */
const scalar = (value: string, path: string, faults: Faults): string =>
  typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value)
    ? quantity(BigInt(value), path, faults)
    : bytes(value, path, faults);

const authorizationEntry = fields<AuthorizationEntry>({
  address: bytes,
  chainId: quantity,
  nonce: quantity,
  r: scalar,
  s: scalar,
  yParity: quantity,
});

const writers = {
  address: bytes,
  bytes,
  quantity,
  hashes: listOf(bytes),
  slots: recordOf(bytes),
  accessList: listOf(accessListEntry),
  authorizationList: listOf(authorizationEntry),
};
/** The writers of a table's rows. */
const written = <K extends string>(
  rows: Readonly<Record<K, { readonly wire: keyof typeof writers }>>,
): Readonly<Record<K, Writer>> => Rows.map(rows, ({ wire }): Writer => writers[wire]);

export const callRequest = fields<CallRequest>({ ...written(transactionFields), type: quantity });
export const stateOverrides = recordOf<StateOverrides[string]>(fields<AccountOverride>(written(accountRows)));
export const blockOverrides = fields<BlockOverrides>({
  ...written(blockRows),
  difficulty: quantity,
  beaconRoot: bytes,
  withdrawals: listOf(
    fields<Withdrawal>({ index: quantity, validatorIndex: quantity, address: bytes, amount: quantity }),
  ),
});

const blockStateCall = fields<BlockStateCall>({ calls: listOf(callRequest), stateOverrides, blockOverrides });

/** What `eth_simulateV1` simulates. */
export interface SimulationPayload {
  readonly blockStateCalls: ReadonlyArray<BlockStateCall>;
  readonly traceTransfers?: Maybe<boolean>;
  readonly validation?: Maybe<boolean>;
  readonly returnFullTransactions?: Maybe<boolean>;
}
export const simulationPayload = fields<SimulationPayload>({
  blockStateCalls: listOf(blockStateCall),
  traceTransfers: flag,
  validation: flag,
  returnFullTransactions: flag,
});

const tags: ReadonlySet<unknown> = new Set(["latest", "pending", "safe", "finalized", "earliest"]);

/** A number or a tag. */
export const heightOrTag = (block: bigint | number | string, path: string, faults: Faults): string => {
  if (typeof block !== "string") return quantity(block, path, faults);
  if (!tags.has(block)) faults.push(`${path}: not a block number or tag`);
  return block;
};

const namedBlock = fields<{
  blockHash?: string;
  blockNumber?: bigint | number;
  requireCanonical?: boolean | undefined;
}>({ blockHash: bytes, blockNumber: quantity, requireCanonical: flag });

export const blockParameter = (block: BlockParameter, path: string, faults: Faults): unknown => {
  if (typeof block === "string") return tags.has(block) ? block : bytes(block, path, faults);
  if (!isRecord(block)) return quantity(block as bigint, path, faults);
  return namedBlock(block, path, faults);
};

const topic = (position: string | ReadonlyArray<string> | null, path: string, faults: Faults): unknown =>
  position === null
    ? null
    : typeof position === "string"
      ? bytes(position, path, faults)
      : listOf(bytes)(position, path, faults);

const criteria = fields<Pick<LogFilter, "address" | "topics">>({
  address: (value: string | ReadonlyArray<string>, path: string, faults: Faults) =>
    typeof value === "string" ? bytes(value, path, faults) : listOf(bytes)(value, path, faults),
  topics: listOf(topic),
});

const range = fields<Pick<LogFilter, "fromBlock" | "toBlock">>({ fromBlock: heightOrTag, toBlock: heightOrTag });

/** The filter for one request; with `blockHash` the range stays behind. */
export const logFilter = (filter: LogFilter, path: string, faults: Faults): Record<string, unknown> => ({
  ...(filter.blockHash === undefined || filter.blockHash === null
    ? range(filter, path, faults)
    : { blockHash: bytes(filter.blockHash, `${path}.blockHash`, faults) }),
  ...criteria(filter, path, faults),
});

/** The parameters written by `write`, or `InvalidParams` with what could not be written. */
export const encoded = <A>(method: string, write: (faults: Faults) => A): Result.Result<A, RpcError> => {
  const faults: Faults = [];
  const written = write(faults);
  return faults.length === 0
    ? Result.succeed(written)
    : Result.fail(new RpcError({ method, reason: new InvalidParams({ detail: faults.slice(0, 8).join("; ") }) }));
};
