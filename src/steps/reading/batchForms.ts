/** The forms of calls that hold calls, by selector: where each keeps target, data and operation. Pure and total. */
import type { Address, Hex } from "../../primitives/hex.js";

/** One call, from outside or from within a batch. */
export interface Call {
  readonly from: Address;
  /** Whose code runs. */
  readonly to: Address;
  readonly data: Hex;
  /** The account in whose place the code runs (DELEGATECALL), the zero address where it comes into being; absent = `to` itself. */
  readonly as?: Address;
}

/** A call within another; null where one stands that cannot be read here: a decoder may follow pointers that no encoder writes. */
type Found = Call | null;
type Form = (call: Call) => Iterable<Found>;

const nobody: Address = `0x${"0".repeat(40)}`;
const wordDigits = 64;
/** Digits of `0x` and the selector: the arguments begin behind them. */
const start = 10;

/** The account whose storage and rights the code has. */
export const selfOf = ({ to, as = to }: Call): Address => as;

/** The word at a digit as a count; null where it is outside, or more than there is of anything. */
const countAt = (data: Hex, at: number): number | null => {
  const word = data.slice(at, at + wordDigits);
  return word.length === wordDigits && word.startsWith("0".repeat(54)) ? Number.parseInt(word.slice(54), 16) : null;
};

/** The digit that the word at `at` points to, counted from `base`. */
const pointedAt = (data: Hex, at: number, base: number): number | null => {
  const offset = countAt(data, at);
  return offset === null ? null : base + offset * 2;
};

/** The `bytes` at a digit; null where they do not lie within the data. */
const bytesAt = (data: Hex, at: number | null): Hex | null => {
  const size = at === null ? null : countAt(data, at);
  if (at === null || size === null) return null;
  const end = at + wordDigits + size * 2;
  return end > data.length ? null : `0x${data.slice(at + wordDigits, end)}`;
};

const argument = (index: number): number => start + index * wordDigits;
const addressAt = (data: Hex, at: number): Address => `0x${data.slice(at + wordDigits - 40, at + wordDigits)}`;
/** Whether the word at a digit is none that stands for nothing; Solidity may look at its last byte alone. */
const isSet = (data: Hex, at: number): boolean => /[^0]/.test(data.slice(at, at + wordDigits));

/** `code` runs in the place of whoever runs the batch. */
const delegated = (call: Call, code: Address, data: Hex): Call => ({
  ...{ from: selfOf(call), to: code, data },
  as: selfOf(call),
});
const called = (call: Call, to: Address, data: Hex): Call => ({ from: selfOf(call), to, data });

/** Where a call keeps another, in words from its beginning. */
interface Place {
  readonly to: number;
  /** Points to the data. */
  readonly data: number;
  /** Says whether it is a DELEGATECALL, by any value but 0; absent = it is none. */
  readonly operation?: number;
}

/** The call at `at`, whose pointers count from there. */
const placed = (call: Call, at: number, { to, data: pointer, operation }: Place): Found => {
  const { data } = call;
  const inner = bytesAt(data, pointedAt(data, at + pointer * wordDigits, at));
  const target = addressAt(data, at + to * wordDigits);
  if (inner === null || target.length < 42) return null;
  const isDelegate = operation !== undefined && isSet(data, at + operation * wordDigits);
  return isDelegate ? delegated(call, target, inner) : called(call, target, inner);
};

const one =
  (place: Place): Form =>
  (call) => [placed(call, start, place)];

/** The digits at which the items of a list begin, that a word points to; one at a time, for there may be any number. Null where it cannot be read. */
function* itemsAt(data: Hex, list: number | null): Generator<number | null> {
  const length = list === null ? null : countAt(data, list);
  if (list === null || length === null) {
    yield null;
    return;
  }
  const first = list + wordDigits;
  const end = first + length * wordDigits;
  for (let head = first; head < end && head < data.length; head += wordDigits) yield pointedAt(data, head, first);
  if (end > data.length) yield null;
}

function* listed(call: Call, list: number | null, place: Place): Generator<Found> {
  for (const at of itemsAt(call.data, list)) yield at === null ? null : placed(call, at, place);
}

const many =
  (index: number, place: Place): Form =>
  (call) =>
    listed(call, pointedAt(call.data, argument(index), start), place);

/** Calldata for the contract itself, sender and all. */
const own = (index: number): Form =>
  function* (call) {
    for (const at of itemsAt(call.data, pointedAt(call.data, argument(index), start))) {
      const data = bytesAt(call.data, at);
      yield data === null ? null : { ...call, data };
    }
  };

/** Targets and data in lists of their own. */
const parallel = (targets: number, datas: number): Form =>
  function* (call) {
    const { data } = call;
    const list = pointedAt(data, argument(targets), start);
    let index = 0;
    for (const at of itemsAt(data, pointedAt(data, argument(datas), start))) {
      const inner = bytesAt(data, at);
      const to = list === null ? "" : addressAt(data, list + ++index * wordDigits);
      yield inner !== null && to.length === 42 ? called(call, to as Address, inner) : null;
    }
  };

/** MultiSend: operation, address, value, length and data, packed. It runs while more than a word is left. */
const packed: Form = function* (call) {
  const bytes = bytesAt(call.data, pointedAt(call.data, argument(0), start));
  if (bytes === null) {
    yield null;
    return;
  }
  for (let at = 2; at + wordDigits < bytes.length;) {
    const size = countAt(bytes, at + 106);
    const end = at + 170 + 2 * (size ?? Number.NaN);
    if (!(end <= bytes.length)) {
      // why: what lies behind the bytes is the memory of the contract
      yield null;
      return;
    }
    const target: Address = `0x${bytes.slice(at + 2, at + 42)}`;
    const data: Hex = `0x${bytes.slice(at + 170, end)}`;
    // why: to MultiSend 1.5.0 nobody is the Safe itself
    const to = target === nobody ? selfOf(call) : target;
    yield bytes.startsWith("00", at) ? called(call, to, data) : delegated(call, to, data);
    at = end;
  }
};

const executions: Place = { to: 0, data: 2 };
const delegateMode = "ff";
const batchMode = "01";
/** ERC-7821: the calls of several batches. */
const batchesMode = "78210002";

/** ERC-7579 and ERC-7821: `mode` says what the bytes are. */
const byMode: Form = function* (call) {
  const { data } = call;
  const mode = data.slice(start, start + wordDigits);
  const at = pointedAt(data, argument(1), start);
  const bytes = bytesAt(data, at);
  if (at === null || bytes === null) {
    yield null;
    return;
  }
  const base = at + wordDigits;
  const isTo = (address: string): Address => (address === nobody ? selfOf(call) : (address as Address));
  if (mode.startsWith(delegateMode)) {
    yield bytes.length >= 42 ? delegated(call, bytes.slice(0, 42) as Address, `0x${bytes.slice(42)}`) : null;
  } else if (!mode.startsWith(batchMode)) {
    yield bytes.length >= 106 ? called(call, bytes.slice(0, 42) as Address, `0x${bytes.slice(106)}`) : null;
  } else {
    const lists =
      mode.slice(12, 20) === batchesMode
        ? [...itemsAt(data, pointedAt(data, base, base))].map((item) => (item === null ? null : item + wordDigits))
        : [base];
    for (const within of lists)
      for (const found of listed(call, within === null ? null : pointedAt(data, within, within), executions))
        yield found === null ? null : { ...found, to: isTo(found.to) };
  }
};

/** `executeUserOp(userOp, hash)`: the account is handed the whole operation, and runs what stands behind the selector. */
const wholeOperation = "0x8dd7712f";

function* operationsAt(call: Call, list: number | null): Generator<Found> {
  const { data } = call;
  for (const at of itemsAt(data, list)) {
    const [making = null, inner = null] =
      at === null ? [] : [2, 3].map((index) => bytesAt(data, pointedAt(data, at + index * wordDigits, at)));
    if (at === null || making === null || inner === null) {
      yield null;
      continue;
    }
    if (making.length >= 42) yield called(call, making.slice(0, 42) as Address, `0x${making.slice(42)}`);
    const isWhole = inner.startsWith(wholeOperation);
    yield called(call, addressAt(data, at), isWhole ? `0x${inner.slice(start)}` : inner);
  }
}

const operations: Form = (call) => operationsAt(call, pointedAt(call.data, argument(0), start));
const aggregated: Form = function* (call) {
  for (const at of itemsAt(call.data, pointedAt(call.data, argument(0), start)))
    yield* operationsAt(call, at === null ? null : pointedAt(call.data, at, at));
};

/** A request to an ERC-2771 forwarder, which says behind the calldata whose it is: to who believes it, that is the caller. */
const forwarded = (call: Call, at: number | null): Found => {
  const found = at === null ? null : placed(call, at, { to: 1, data: 5 });
  const from = addressAt(call.data, at ?? start);
  return found && { ...found, from, data: `${found.data}${from.slice(2)}` };
};
const request: Form = (call) => [forwarded(call, pointedAt(call.data, argument(0), start))];
const requests: Form = function* (call) {
  for (const at of itemsAt(call.data, pointedAt(call.data, argument(0), start))) yield forwarded(call, at);
};

/** What a Safe runs while it is set up: nothing where nobody is named. */
const setup: Form = (call) => {
  const found = placed(call, start, { to: 2, data: 3, operation: 2 });
  return found !== null && found.as === undefined ? [] : [found];
};
const setups = ["0xb63e800d", "0xa97ab18a"];
const makings = ["0x1688f0b9", "0xec9e80bb", "0x4662f9d6", "0x1a334b0b", "0xd18af54d", "0x61b69abd"];

/** The setup of a Safe that a factory makes. */
const made: Form = (call) => {
  const data = bytesAt(call.data, pointedAt(call.data, argument(1), start));
  const isSetup = data !== null && setups.includes(data.slice(0, start));
  return data === null ? [null] : isSetup ? setup({ ...call, data, as: nobody }) : [];
};

const ofSafe = one({ to: 0, data: 2, operation: 3 });
const ofArrays = parallel(0, 2);

const forms: Readonly<Record<string, Form>> = {
  // multicall(bytes[]), multicall(uint256,bytes[]), multicall(bytes32,bytes[])
  "0xac9650d8": own(0),
  "0x5ae401dc": own(1),
  "0x1f0464d1": own(1),
  // Multicall3 aggregate3((address,bool,bytes)[]), aggregate3Value((address,bool,uint256,bytes)[])
  "0x82ad56cb": many(0, { to: 0, data: 2 }),
  "0x174dea71": many(0, { to: 0, data: 3 }),
  // aggregate((address,bytes)[]), blockAndAggregate, tryAggregate(bool,(address,bytes)[]), tryBlockAndAggregate
  "0x252dba42": many(0, { to: 0, data: 1 }),
  "0xc3077fa9": many(0, { to: 0, data: 1 }),
  "0xbce38bd7": many(1, { to: 0, data: 1 }),
  "0x399542e9": many(1, { to: 0, data: 1 }),
  // execute((address,uint256,bytes)[]), executeBatch of the same
  "0x3f707e6b": many(0, executions),
  "0x34fcd5be": many(0, executions),
  // execute(address,uint256,bytes); a timelock's with (…,bytes32,bytes32)
  "0xb61d27f6": one(executions),
  "0x134008d3": one(executions),
  // executeBatch(address[],uint256[],bytes[]), of a timelock with (…,bytes32,bytes32); a governor's execute; (address[],bytes[])
  "0x47e1da2a": ofArrays,
  "0xe38335e5": ofArrays,
  "0x2656227d": ofArrays,
  "0x18dfb3c7": parallel(0, 1),
  // Safe execTransaction, execTransactionFromModule, execTransactionFromModuleReturnData
  "0x6a761202": ofSafe,
  "0x468721a7": ofSafe,
  "0x5229073f": ofSafe,
  // Zodiac roles: execTransactionWithRole and execTransactionWithRoleReturnData, (…,uint16,bool) and (…,bytes32,bool)
  "0x6928e74b": ofSafe,
  "0xb0c19912": ofSafe,
  "0xc6fe8747": ofSafe,
  "0x2b99e506": ofSafe,
  // Zodiac delay executeNextTx; reality executeProposal, executeProposalWithIndex
  "0xee072baf": ofSafe,
  "0x2351a877": one({ to: 2, data: 4, operation: 5 }),
  "0x14604b8c": one({ to: 2, data: 4, operation: 5 }),
  // Safe4337Module executeUserOp(address,uint256,bytes,uint8), executeUserOpWithErrorString; Kernel's execute
  "0x7bb37428": ofSafe,
  "0x541d63c8": ofSafe,
  "0x51945447": ofSafe,
  // Safe multiSend(bytes)
  "0x8d80ff0a": packed,
  // what SafeL2 says that it executes: SafeMultiSigTransaction, SafeModuleTransaction, by the beginning of the event's name
  "0x66753cd2": ofSafe,
  "0xb648d364": one({ to: 1, data: 3, operation: 4 }),
  // ERC-7579 and ERC-7821 execute(bytes32,bytes), executeFromExecutor(bytes32,bytes)
  "0xe9ae5c53": byMode,
  "0xd691c964": byMode,
  // EntryPoint handleOps and handleAggregatedOps, 0.6 and from 0.7 on
  "0x1fad948c": operations,
  "0x765e827f": operations,
  "0x4b1d7cf5": aggregated,
  "0xdbed18e0": aggregated,
  // ERC-2771 execute, executeBatch; MinimalForwarder's execute
  "0xdf905caf": request,
  "0xccf96b4a": requests,
  "0x47153f82": request,
  // Safe setup, 1.1 and later, 1.0
  ...Object.fromEntries(setups.map((selector) => [selector, setup])),
  // createProxyWithNonce, createChainSpecificProxyWithNonce, both for L2, createProxyWithCallback, createProxy
  ...Object.fromEntries(makings.map((selector) => [selector, made])),
};

/** The calls right within a call, one at a time: whoever has enough stops. */
export const callsWithin = (call: Call): Iterable<Found> => forms[call.data.slice(0, start)]?.(call) ?? [];
