/** How batches hold their calls: a reader for each function that is known to make calls out of its arguments. Pure. */
import type { AbiParameter } from "abitype";
import { decodeAbiParameters, type DecodeAbiParametersReturnType } from "viem";
import { safely } from "../primitives/safely.js";
import { leavesOf } from "./layout.js";

/** A call as the arguments hold it. */
export interface Raw {
  readonly to: string | null;
  readonly value: bigint | null;
  readonly isDelegate: boolean;
  readonly mayFail: boolean;
  /** Calldata; of a command its input. */
  readonly data: string;
  /** The number of a router's command in hex, with the flag that lets it fail. */
  readonly command: string | null;
}

type Reader = (data: string) => ReadonlyArray<Raw>;

/** Values of parameters (`data` without selector), where the bytes are exactly an encoder's; null where they are not. */
export const valuesOf = <const P extends ReadonlyArray<AbiParameter>>(
  parameters: P,
  data: string,
): DecodeAbiParametersReturnType<P> | null =>
  leavesOf(parameters, data.slice(2), true) === null
    ? null
    : safely(() => decodeAbiParameters(parameters, data as `0x${string}`), null);

const reader =
  <const P extends ReadonlyArray<AbiParameter>>(
    parameters: P,
    read: (values: DecodeAbiParametersReturnType<P>) => ReadonlyArray<Raw>,
  ): Reader =>
  (data) => {
    const values = valuesOf(parameters, `0x${data.slice(10)}`);
    return values === null ? [] : read(values);
  };

const raw = (to: string | null, data: string, value: bigint | null = null, isDelegate = false): Raw => ({
  ...{ to, data, value, isDelegate },
  mayFail: false,
  command: null,
});

/** The calls, each with whether its batch lets it fail. */
const lenient = (calls: ReadonlyArray<Raw>, mayFail = true): ReadonlyArray<Raw> =>
  calls.map((call) => ({ ...call, mayFail }));

const [address, bool, uint, uint8, bytes] = [
  { type: "address" },
  { type: "bool" },
  { type: "uint256" },
  { type: "uint8" },
  { type: "bytes" },
] as const;
const pairs = { type: "tuple[]", components: [address, bytes] } as const;
const triples = { type: "tuple[]", components: [address, bool, bytes] } as const;
const quadruples = { type: "tuple[]", components: [address, bool, uint, bytes] } as const;
const list = { type: "bytes[]" } as const;
const bytes32 = { type: "bytes32" } as const;
const executions = { type: "tuple[]", components: [address, uint, bytes] } as const;
const [text, hashes] = [{ type: "string" }, { type: "bytes32[]" }] as const;
const [addresses, amounts] = [{ type: "address[]" }, { type: "uint256[]" }] as const;
const nobody = `0x${"0".repeat(40)}`;

const ofPairs = reader([pairs], ([calls]) => calls.map(([to, data]) => raw(to, data)));
const ofTried = reader([bool, pairs], ([isStrict, calls]) =>
  lenient(
    calls.map(([to, data]) => raw(to, data)),
    !isStrict,
  ),
);
const ofOwn = reader([uint, list], ([, calls]) => calls.map((data) => raw(null, data)));
/** A Safe's call, whatever stands behind it. */
const ofSafe = (...rest: ReadonlyArray<AbiParameter>): Reader =>
  reader([address, uint, bytes, uint8, ...rest] as const, ([to, value, data, operation]) => [
    raw(to as string, data as string, value as bigint, operation !== 0),
  ]);

/** A proposal that holds a Safe's call. */
const ofProposal = (...rest: ReadonlyArray<AbiParameter>): Reader =>
  reader([text, hashes, address, uint, bytes, uint8, ...rest] as const, ([, , to, value, data, operation]) => [
    raw(to as string, data as string, value as bigint, operation !== 0),
  ]);

/** Targets, values and data in lists of their own; none where they are not as many. */
const ofLists = (...rest: ReadonlyArray<AbiParameter>): Reader =>
  reader([addresses, amounts, list, ...rest] as const, (values) => {
    const [targets, sums, datas] = [values[0] as string[], values[1] as bigint[], values[2] as string[]];
    return targets.length === datas.length && (sums.length === 0 || sums.length === datas.length)
      ? datas.map((data, index) => raw(targets[index] ?? null, data, sums[index] ?? null))
      : [];
  });

const ofOne = reader([address, uint, bytes], ([to, value, data]) => [raw(to, data, value)]);
const ofExecutions = reader([executions], ([calls]) => calls.map(([to, value, data]) => raw(to, data, value)));

/** A role's call through a Safe; `role` is a number or 32 bytes. */
const ofRole = (role: typeof uint | typeof bytes32): Reader =>
  reader([address, uint, bytes, uint8, role, bool], ([to, value, data, operation, , isStrict]) =>
    lenient([raw(to, data, value, operation !== 0)], !isStrict),
  );

/** A batch of ERC-7579 and ERC-7821, which may have further data behind the calls, and to which nobody is the account itself. */
const batchIn = (data: string): ReadonlyArray<Raw> => {
  const [calls] = valuesOf([executions], data) ?? valuesOf([executions, bytes], data) ?? [[]];
  return calls.map(([to, value, input]) => raw(to === nobody ? null : to, input, value));
};

/** ERC-7579: the first byte of a mode is the kind of call, the second whether failures are passed over. */
const ofMode = reader([bytes32, bytes], ([mode, data]): ReadonlyArray<Raw> => {
  const kind = mode.slice(2, 4);
  const mayFail = mode.slice(4, 6) === "01";
  const [to, rest] = [`0x${data.slice(2, 42)}`, data.slice(42)];
  if (kind === "00" && rest.length >= 64)
    return lenient([raw(to, `0x${rest.slice(64)}`, BigInt(`0x${rest.slice(0, 64)}`))], mayFail);
  if (kind === "ff" && to.length === 42) return lenient([raw(to, `0x${rest}`, null, true)], mayFail);
  if (kind !== "01") return [];
  // why: ERC-7821 has a mode for several batches
  const batches = mode.slice(14, 22) === "78210002" ? (valuesOf([list], data)?.[0] ?? []) : [data];
  return lenient(batches.flatMap(batchIn), mayFail);
});

/** User operations: what an EntryPoint calls of each account; a failure is passed over, and an event tells of it. */
const operation6 = [address, uint, bytes, bytes, uint, uint, uint, uint, uint, bytes, bytes] as const;
const operation7 = [address, uint, bytes, bytes, bytes32, uint, bytes32, bytes, bytes] as const;
/** Of `executeUserOp(userOp, hash)` the account runs what stands behind the selector. */
const ofOperation = ([sender, , , data]: Operation): Raw =>
  raw(sender, data.startsWith("0x8dd7712f") ? `0x${data.slice(10)}` : data);
type Operation = readonly [sender: string, nonce: bigint, init: string, data: string, ...rest: ReadonlyArray<unknown>];
const ofOperations = (components: typeof operation6 | typeof operation7): Reader =>
  reader([{ type: "tuple[]", components }, address], ([operations]) =>
    (operations as ReadonlyArray<Operation>).map(ofOperation),
  );
const ofAggregated = (components: typeof operation6 | typeof operation7): Reader =>
  reader([{ type: "tuple[]", components: [{ type: "tuple[]", components }, address, bytes] }, address], ([groups]) =>
    (groups as ReadonlyArray<readonly [ReadonlyArray<Operation>, ...ReadonlyArray<unknown>]>).flatMap(([operations]) =>
      operations.map(ofOperation),
    ),
  );

/** Requests to an ERC-2771 forwarder; it appends whose they are to the calldata. */
const request = {
  type: "tuple",
  components: [address, address, uint, uint, { type: "uint48" }, bytes, bytes],
} as const;
const requests = { ...request, type: "tuple[]" } as const;
const legacyRequest = { type: "tuple", components: [address, address, uint, uint, uint, bytes] } as const;
const forwarded = (from: string, to: string, value: bigint, data: string): Raw =>
  raw(to, `${data}${from.slice(2)}`.toLowerCase(), value);

/** Transactions of a Safe, packed: operation, address, value, length, data. */
const packed = (data: string): ReadonlyArray<Raw> => {
  const found: Array<Raw> = [];
  for (let at = 2; at < data.length;) {
    const [operation, to, value, size] = [
      data.slice(at, at + 2),
      data.slice(at + 2, at + 42),
      data.slice(at + 42, at + 106),
      data.slice(at + 106, at + 170),
    ];
    const end = at + 170 + (/^0{48}/.test(size) ? 2 * Number.parseInt(size, 16) : Number.NaN);
    // why: bytes that are no such list are not read at all
    if (!(end <= data.length) || (operation !== "00" && operation !== "01")) return [];
    found.push(raw(`0x${to}`, `0x${data.slice(at + 170, end)}`, BigInt(`0x${value}`), operation === "01"));
    at = end;
  }
  return found;
};

/** The commands of a router with their inputs; none where they are not as many. */
const commanded = (numbers: string, inputs: ReadonlyArray<string>): ReadonlyArray<Raw> => {
  const given = numbers.slice(2).match(/../g) ?? [];
  return given.length === inputs.length
    ? inputs.map((data, index) => {
        const command = given[index] ?? "";
        return { ...raw(null, data), command, mayFail: Number.parseInt(command, 16) >= 0x80 };
      })
    : [];
};

/** The commands of a plan within a command. */
export const planOf = (data: string): ReadonlyArray<Raw> => {
  const plan = valuesOf([bytes, list], data);
  return plan === null ? [] : commanded(...plan);
};

/** By the signature of the function. */
export const readers: Readonly<Record<string, Reader>> = {
  "aggregate((address,bytes)[])": ofPairs,
  "blockAndAggregate((address,bytes)[])": ofPairs,
  "tryAggregate(bool,(address,bytes)[])": ofTried,
  "tryBlockAndAggregate(bool,(address,bytes)[])": ofTried,
  "aggregate3((address,bool,bytes)[])": reader([triples], ([calls]) =>
    calls.map(([to, mayFail, data]) => ({ ...raw(to, data), mayFail })),
  ),
  "aggregate3Value((address,bool,uint256,bytes)[])": reader([quadruples], ([calls]) =>
    calls.map(([to, mayFail, value, data]) => ({ ...raw(to, data, value), mayFail })),
  ),
  "multicall(bytes[])": reader([list], ([calls]) => calls.map((data) => raw(null, data))),
  "multicall(uint256,bytes[])": ofOwn,
  "multicall(bytes32,bytes[])": ofOwn,
  "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)": ofSafe(
    ...[uint, uint, uint, address, address, bytes],
  ),
  "execTransactionFromModule(address,uint256,bytes,uint8)": ofSafe(),
  "execTransactionFromModuleReturnData(address,uint256,bytes,uint8)": ofSafe(),
  "executeNextTx(address,uint256,bytes,uint8)": ofSafe(),
  "executeUserOp(address,uint256,bytes,uint8)": ofSafe(),
  "executeUserOpWithErrorString(address,uint256,bytes,uint8)": ofSafe(),
  "execute(address,uint256,bytes,uint8)": ofSafe(),
  "executeProposal(string,bytes32[],address,uint256,bytes,uint8)": ofProposal(),
  "executeProposalWithIndex(string,bytes32[],address,uint256,bytes,uint8,uint256)": ofProposal(uint),
  "setup(address[],uint256,address,bytes,address,address,uint256,address)": reader(
    [addresses, uint, address, bytes, address, address, uint, address],
    ([, , to, data]) => (to === nobody ? [] : [raw(to, data, null, true)]),
  ),
  "execTransactionWithRole(address,uint256,bytes,uint8,bytes32,bool)": ofRole(bytes32),
  "execTransactionWithRole(address,uint256,bytes,uint8,uint16,bool)": ofRole(uint),
  "execTransactionWithRoleReturnData(address,uint256,bytes,uint8,bytes32,bool)": ofRole(bytes32),
  "execTransactionWithRoleReturnData(address,uint256,bytes,uint8,uint16,bool)": ofRole(uint),
  "handleOps((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address)":
    ofOperations(operation6),
  "handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)": ofOperations(operation7),
  "handleAggregatedOps(((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address,bytes)[],address)":
    ofAggregated(operation6),
  "handleAggregatedOps(((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address,bytes)[],address)":
    ofAggregated(operation7),
  "execute(address,uint256,bytes)": ofOne,
  "execute(address,uint256,bytes,bytes32,bytes32)": reader(
    [address, uint, bytes, bytes32, bytes32],
    ([to, value, data]) => [raw(to, data, value)],
  ),
  "executeBatch(address[],uint256[],bytes[])": ofLists(),
  "executeBatch(address[],uint256[],bytes[],bytes32,bytes32)": ofLists(bytes32, bytes32),
  "execute(address[],uint256[],bytes[],bytes32)": ofLists(bytes32),
  "executeBatch(address[],bytes[])": reader([addresses, list], ([targets, datas]) =>
    targets.length === datas.length ? datas.map((data, index) => raw(targets[index] ?? null, data)) : [],
  ),
  "execute((address,uint256,bytes)[])": ofExecutions,
  "executeBatch((address,uint256,bytes)[])": ofExecutions,
  "execute(bytes32,bytes)": ofMode,
  "executeFromExecutor(bytes32,bytes)": ofMode,
  "execute((address,address,uint256,uint256,uint48,bytes,bytes))": reader(
    [request],
    ([[from, to, value, , , data]]) => [forwarded(from, to, value, data)],
  ),
  "executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)": reader(
    [requests, address],
    ([calls, refunds]) =>
      lenient(
        calls.map(([from, to, value, , , data]) => forwarded(from, to, value, data)),
        BigInt(refunds) !== 0n,
      ),
  ),
  "execute((address,address,uint256,uint256,uint256,bytes),bytes)": reader(
    [legacyRequest, bytes],
    ([[from, to, value, , , data]]) => lenient([forwarded(from, to, value, data)]),
  ),
  "multiSend(bytes)": reader([bytes], ([transactions]) => packed(transactions)),
  "execute(bytes,bytes[])": reader([bytes, list], ([numbers, inputs]) => commanded(numbers, inputs)),
  "execute(bytes,bytes[],uint256)": reader([bytes, list, uint], ([numbers, inputs]) => commanded(numbers, inputs)),
};
