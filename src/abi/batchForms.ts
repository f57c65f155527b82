/** How calls hold calls: where each form keeps target, value, data and operation. Which function has which form stands in `known/batches.ts`. Pure and total. */
import type { Address, Hex } from "../primitives/hex.js";
import {
  addressAt,
  argumentsAt,
  bytesAt,
  countAt,
  dataAt,
  digitsAt,
  itemsAt,
  nobody,
  placeOf,
  pointedAt,
  wordAt,
  wordDigits,
} from "./words.js";

/** One call, from outside or from within a batch; its data in lower case. */
export interface PlainCall {
  readonly from: Address;
  /** The account whose code runs. */
  readonly to: Address;
  readonly data: Hex;
  /** The account in whose place the code runs (DELEGATECALL), the zero address where it comes into being; absent = `to` itself. */
  readonly as?: Address;
  /** True if it is made for the sake of what comes behind it, such as a router's permits. */
  readonly isMeans?: boolean;
}

/** A call as a batch holds it. */
export interface HeldCall extends PlainCall {
  /** Wei that goes with it; null = what the batch itself came with, or none. */
  readonly value: bigint | null;
  /** True if the batch goes on where this call fails: by its own flag, or by the batch's. */
  readonly mayFail: boolean;
  /** True if the batch names nobody: it calls itself. */
  readonly isOwn: boolean;
  /** True if other contracts run the same call as a DELEGATECALL: the function's selector does not tell. */
  readonly isEither?: boolean;
  /** The command by which a router makes the call; null = it is held as it is made. */
  readonly command: Command | null;
}

/** A command of Uniswap's Universal Router. */
export interface Command {
  /** Its number in two digits, with the flag that lets it fail. */
  readonly number: string;
  /** Its number without flags. */
  readonly type: number;
  readonly input: Hex;
  /** True if it is known to make one call, which is the one that holds it. */
  readonly isCall: boolean;
}

/** A call within another; null where one stands that cannot be read here: a decoder may follow pointers that no encoder writes. */
export type FoundCall = HeldCall | null;
/** Yields the calls that a function makes out of its arguments, one at a time: whoever has enough stops. */
export type Form = (call: PlainCall) => Iterable<FoundCall>;

/** The account whose storage and rights the code has. */
const selfOf = ({ to, as = to }: PlainCall): Address => as;

export const plain = { value: null, mayFail: false, isOwn: false, command: null } as const;
export const callTo = (call: PlainCall, to: Address, data: Hex, value: bigint | null = null): HeldCall => ({
  ...plain,
  ...{ from: selfOf(call), to, data, value },
});
/** `code` runs in the place of whoever runs the batch. */
const delegated = (call: PlainCall, code: Address, data: Hex, value: bigint | null = null): HeldCall => ({
  ...callTo(call, code, data, value),
  as: selfOf(call),
});
/** Nobody is the account itself. */
const orSelf = (call: HeldCall): HeldCall => (call.to === nobody ? { ...call, to: call.from, isOwn: true } : call);

/** The places of an inner call's fields, in words from its beginning. */
export interface CallPlaces {
  readonly to: number;
  /** Points to the data. */
  readonly data: number;
  /** Absent = none goes with it. */
  readonly value?: number;
  /** Says whether it is a DELEGATECALL, by any value but 0; absent = it is none. */
  readonly operation?: number;
  /** Says whether it may fail; absent = it may not. */
  readonly mayFail?: number;
}

/** The `bytes` that a word points to, of those from `at` on. */
const partAt = ({ data }: PlainCall, index: number, at: number | null): Hex | null =>
  bytesAt(data, pointedAt(data, placeOf(index, at), at));

/** The call at `at`, whose pointers count from there. */
const callAt = (call: PlainCall, at: number | null, place: CallPlaces): FoundCall => {
  const { data } = call;
  const inner = partAt(call, place.data, at);
  const target = addressAt(data, placeOf(place.to, at));
  if (at === null || inner === null || target === null) return null;
  // why: what no word says lies behind all of them
  const from = (index: number = Number.POSITIVE_INFINITY) => at + index * wordDigits;
  // why: Solidity may look at the last byte alone of a word that is not zero
  const isSet = (start: number) => /[^0]/.test(data.slice(start, start + wordDigits));
  const make = isSet(from(place.operation)) ? delegated : callTo;
  const found = make(call, target, inner, wordAt(data, from(place.value)));
  return isSet(from(place.mayFail)) ? { ...found, mayFail: true } : found;
};

export const singleCall =
  (place: CallPlaces): Form =>
  (call) => [callAt(call, argumentsAt, place)];

/** The place that an argument points to. */
const argumentAt = ({ data }: PlainCall, index: number): number | null => pointedAt(data, placeOf(index), argumentsAt);

function* listed(call: PlainCall, list: number | null, place: CallPlaces): Generator<FoundCall> {
  for (const at of itemsAt(call.data, list)) yield callAt(call, at, place);
}

export const many =
  (index: number, place: CallPlaces): Form =>
  (call) =>
    listed(call, argumentAt(call, index), place);

/** Calldata for the contract itself, sender and all. */
export const own = (index: number): Form =>
  function* (call) {
    for (const at of itemsAt(call.data, argumentAt(call, index))) {
      const data = bytesAt(call.data, at);
      yield data && { ...call, ...plain, data, isOwn: true };
    }
  };

/** Targets, values and data in lists of their own, each by the number of its argument. */
export const parallel = (targets: number, datas: number, values: number = targets): Form =>
  function* (call) {
    const { data } = call;
    const [list, sums] = [argumentAt(call, targets), argumentAt(call, values)];
    const hasValues = values !== targets && countAt(data, sums) !== 0;
    let index = 0;
    for (const at of itemsAt(data, argumentAt(call, datas))) {
      const inner = bytesAt(data, at);
      const to = addressAt(data, placeOf(++index, list));
      const value = hasValues ? wordAt(data, placeOf(index, sums)) : null;
      yield inner && to && callTo(call, to, inner, value);
    }
    // why: what stands behind a list that is too short is another argument
    if (countAt(data, list) !== index || (hasValues && countAt(data, sums) !== index)) yield null;
  };

/** MultiSend: operation, address, value, length and data, packed. It runs while more than a word is left. */
export const packed: Form = function* (call) {
  const bytes = partAt(call, 0, argumentsAt) ?? "";
  let at = dataAt;
  while (at + wordDigits < bytes.length) {
    const end = at + 170 + 2 * (countAt(bytes, at + 106) ?? Number.NaN);
    // why: what lies behind the bytes is the memory of the contract
    if (!(end <= bytes.length)) break;
    const operation = Number.parseInt(bytes.slice(at, at + 2), 16);
    const make = operation === 0 ? callTo : delegated;
    const [target, data]: [Address, Hex] = [`0x${bytes.slice(at + 2, at + 42)}`, `0x${bytes.slice(at + 170, end)}`];
    const made = make(call, target, data, wordAt(bytes, at + 42));
    // why: to MultiSend 1.5.0 nobody is the Safe itself; what earlier ones send there is gone, and is shown as that
    yield data === "0x" ? made : orSelf(made);
    if (operation > 1) yield null;
    at = end;
  }
  if (at !== bytes.length) yield null;
};

export const executions: CallPlaces = { to: 0, value: 1, data: 2 };
const delegateMode = "ff";
const batchMode = "01";
/** CALL and STATICCALL. */
const singleModes: ReadonlySet<string> = new Set(["00", "fe"]);
/** ERC-7821: the calls of several batches. */
const batchesMode = "78210002";

/** ERC-7579 and ERC-7821: a mode, and the bytes of which it says what they are. */
export const byMode: Form = function* (call) {
  const { data } = call;
  const mode = digitsAt(data, argumentsAt) ?? "";
  const bytes = partAt(call, 1, argumentsAt);
  const base = placeOf(1, argumentAt(call, 1));
  const target = (bytes ?? "").slice(0, 42) as Address;
  if (bytes === null) yield null;
  else if (mode.startsWith(delegateMode))
    yield bytes.length < 42 ? null : delegated(call, target, `0x${bytes.slice(42)}`);
  else if (!mode.startsWith(batchMode))
    yield bytes.length < 106 || !singleModes.has(mode.slice(0, 2))
      ? null
      : callTo(call, target, `0x${bytes.slice(106)}`, wordAt(bytes, 42));
  else {
    const lists = mode.startsWith(batchesMode, 12)
      ? [...itemsAt(data, pointedAt(data, base, base))].map((item) => placeOf(1, item))
      : [base];
    for (const within of lists)
      for (const found of listed(call, pointedAt(data, within, within), executions)) yield found && orSelf(found);
  }
};

/** `executeUserOp(userOp, hash)`: the account is handed the whole operation, and runs what stands behind the selector. */
const wholeOperation = "0x8dd7712f";

/** User operations, and behind them the calls to factories: the n-th call is the n-th operation's. */
const operationsOf = (listsOf: (call: PlainCall) => Iterable<number | null>): Form =>
  function* (call) {
    const { data } = call;
    const operations: Array<number | null> = [];
    for (const list of listsOf(call))
      for (const at of itemsAt(data, list)) {
        const [account, inner] = [addressAt(data, at), partAt(call, 3, at)];
        operations.push(at);
        const isWhole = inner?.startsWith(wholeOperation) === true;
        yield account && inner && callTo(call, account, isWhole ? `0x${inner.slice(argumentsAt)}` : inner);
      }
    for (const at of operations) {
      const making = partAt(call, 2, at);
      if (making === null) yield null;
      else if (making.length >= 42) yield callTo(call, making.slice(0, 42) as Address, `0x${making.slice(42)}`);
    }
  };

export const operations = operationsOf((call) => [argumentAt(call, 0)]);
export const aggregated = operationsOf(function* (call) {
  for (const at of itemsAt(call.data, argumentAt(call, 0))) yield pointedAt(call.data, at, at);
});

/** A request to an ERC-2771 forwarder, which says behind the calldata whose it is: to who believes it, that is the caller. */
const forwarded = (call: PlainCall, at: number | null): FoundCall => {
  const found = callAt(call, at, { to: 1, value: 2, data: 5 });
  const from = addressAt(call.data, at);
  return found && from && { ...found, from, data: `${found.data}${from.slice(2)}` };
};
export const request: Form = (call) => [forwarded(call, argumentAt(call, 0))];
export const requests: Form = function* (call) {
  for (const at of itemsAt(call.data, argumentAt(call, 0))) yield forwarded(call, at);
};

/** Calls that a Safe makes while it is set up: none where nobody is named. */
export const setup: Form = (call) => {
  const found = callAt(call, argumentsAt, { to: 2, data: 3, operation: 2 });
  return found !== null && found.as === undefined ? [] : [found];
};
export const setups = ["0xb63e800d", "0xa97ab18a"];

/** The setup of a Safe that a factory makes. */
export const proxySetup: Form = (call) => {
  const data = partAt(call, 1, argumentsAt);
  const isSetup = setups.includes((data ?? "").slice(0, argumentsAt));
  return data === null ? [null] : isSetup ? setup({ ...call, data, as: nobody }) : [];
};

/** One call that some contracts make, and others as a DELEGATECALL: the selector does not tell. */
export const either =
  (place: CallPlaces): Form =>
  (call) => {
    const found = callAt(call, argumentsAt, place);
    return [found && { ...found, isEither: true }];
  };

/** A form whose calldata says for all its calls whether they may fail. */
export const lenient = (form: Form, mayFail: (data: Hex) => boolean): Form =>
  function* (call) {
    for (const found of form(call)) yield found && { ...found, mayFail: mayFail(call.data) };
  };
