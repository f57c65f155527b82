/** The functions that make calls out of their arguments, by selector: what is shown of calldata, and what is read for rights. */
import type { Address, Hex } from "../../primitives/hex.js";
import { each } from "../../primitives/record.js";
import {
  aggregated,
  byMode,
  either,
  type PlainCall,
  callTo,
  type Command,
  executions,
  type Form,
  type FoundCall,
  type HeldCall,
  lenient,
  proxySetup,
  many,
  singleCall,
  operations,
  own,
  packed,
  parallel,
  type CallPlaces,
  plain,
  request,
  requests,
  setup,
  setups,
} from "../batchForms.js";
import {
  argumentsAt,
  bytesAt,
  countAt,
  dataAt,
  itemsAt,
  placeOf,
  pointedAt,
  wordAt,
  wordDigits,
  wordsFrom,
} from "../words.js";

/** Calldata with another argument in front of those of `rest`, from whose beginning `pointers` count. */
const behind = (selector: Hex, first: Address, rest: Hex, pointers: ReadonlyArray<number>): Hex | null => {
  const heads = wordsFrom(rest, dataAt, Math.max(...pointers) + 1);
  const moved = heads.map((word, index) => (pointers.includes(index) ? BigInt.asUintN(256, word + 32n) : word));
  const words = [BigInt(first), ...moved].map((word) => word.toString(16).padStart(wordDigits, "0"));
  const isWhole = pointers.every((index) => index < heads.length);
  return isWhole ? `${selector}${words.join("")}${rest.slice(dataAt + heads.length * wordDigits)}` : null;
};

/** Uniswap's Permit2, at the same address on nearly every chain it is on; where nothing lives there, nothing answers. */
export const permit2: Address = "0x000000000022d473030f116ddee9f6b43ac78ba3";

/** Commands by which a router calls Permit2 for its caller, and which words of their inputs are pointers. */
const permits: Readonly<Record<number, readonly [selector: Hex, ...pointers: ReadonlyArray<number>]>> = {
  // PERMIT2_PERMIT_BATCH(PermitBatch,bytes), PERMIT2_PERMIT(PermitSingle,bytes)
  0x03: ["0x2a2d80d1", 0, 1],
  0x0a: ["0x2b67b570", 6],
};
/** EXECUTE_SUB_PLAN(bytes,bytes[]): Uniswap's, and that of earlier routers and of others'. */
const subPlans: ReadonlySet<number> = new Set([0x20, 0x21]);
/** The bits of a command that are its number; some routers take one bit more. */
const numberBits = 0x3f;

/** Returns the call that a router makes of a command. */
const commanded = (call: PlainCall, number: string, input: Hex): HeldCall => {
  const flags = Number.parseInt(number, 16);
  const command: Command = { number, type: flags & 0x7f, input, isCall: false };
  const held: HeldCall = { ...call, ...plain, data: input, isOwn: true, mayFail: flags >= 0x80, command };
  const [selector, ...pointers] = permits[flags & numberBits] ?? [null];
  const data = selector === null ? null : behind(selector, call.from, input, pointers);
  if (data === null) return held;
  const { mayFail } = held;
  return { ...callTo(call, permit2, data), mayFail, isMeans: true, command: { ...command, isCall: true } };
};

/** Numbers of commands, a byte each, and their inputs in a list, where arguments begin at `start`. */
const planAt = (start: number): Form =>
  function* (call) {
    const { data } = call;
    const numbers = bytesAt(data, pointedAt(data, start, start)) ?? "0x";
    let at = dataAt;
    for (const item of itemsAt(data, pointedAt(data, placeOf(1, start), start))) {
      const input = bytesAt(data, item);
      const number = numbers.slice(at, at + 2);
      at += 2;
      yield input === null || number === "" ? null : commanded(call, number, input);
    }
    if (at !== numbers.length) yield null;
  };

/** Uniswap's Universal Router: commands in place of calls. */
export const plan = planAt(argumentsAt);

/** True if an input is a plan: routers number their commands otherwise. */
const isPlan = ({ data }: PlainCall): boolean =>
  bytesAt(data, pointedAt(data, dataAt, dataAt)) !== null &&
  countAt(data, pointedAt(data, placeOf(1, dataAt), dataAt)) !== null;

/** The calls within a command. */
export const planWithin = (call: PlainCall, { type }: Command): Iterable<FoundCall> =>
  subPlans.has(type & numberBits) && isPlan(call) ? planAt(dataAt)(call) : [];

const isZeroAt = (index: number) => (data: string) => wordAt(data, placeOf(index)) === 0n;

const pair: CallPlaces = { to: 0, data: 1 };
const ofSafe = singleCall({ to: 0, value: 1, data: 2, operation: 3 });
const ofRoles = ["0x6928e74b", "0xb0c19912", "0xc6fe8747", "0x2b99e506"];
const ofRole = lenient(ofSafe, isZeroAt(5));
const ofProposal = singleCall({ to: 2, value: 3, data: 4, operation: 5 });
const ofArrays = parallel(0, 2, 1);
const ofMode = lenient(byMode, (data) => data.startsWith("01", argumentsAt + 2));

/** Those that pass over failures by their own arguments. */
export const lenientForms: Readonly<Record<string, Form>> = {
  // Multicall3 tryAggregate(bool,(address,bytes)[]), tryBlockAndAggregate
  ...each(lenient(many(1, pair), isZeroAt(0)), ["0xbce38bd7", "0x399542e9"]),
  // aggregate3((address,bool,bytes)[]), aggregate3Value((address,bool,uint256,bytes)[])
  "0x82ad56cb": many(0, { to: 0, mayFail: 1, data: 2 }),
  "0x174dea71": many(0, { to: 0, mayFail: 1, value: 2, data: 3 }),
  // ERC-7579 and ERC-7821 execute(bytes32,bytes), executeFromExecutor(bytes32,bytes)
  ...each(ofMode, ["0xe9ae5c53", "0xd691c964"]),
  // batch(bytes[],bool)
  "0xd2423b51": lenient(own(0), isZeroAt(1)),
  // ERC-2771 executeBatch, MinimalForwarder's execute
  "0xccf96b4a": lenient(requests, (data) => !isZeroAt(1)(data)),
  "0x47153f82": lenient(request, () => true),
  // Universal Router execute(bytes,bytes[]), execute(bytes,bytes[],uint256)
  ...each(plan, ["0x24856bc3", "0x3593564c"]),
};

export const forms: Readonly<Record<string, Form>> = {
  ...lenientForms,
  // multicall(bytes[]), multicall(uint256,bytes[]), multicall(bytes32,bytes[])
  "0xac9650d8": own(0),
  ...each(own(1), ["0x5ae401dc", "0x1f0464d1"]),
  // aggregate((address,bytes)[]), blockAndAggregate
  ...each(many(0, pair), ["0x252dba42", "0xc3077fa9"]),
  // execute((address,uint256,bytes)[]), executeBatch of the same
  ...each(many(0, executions), ["0x3f707e6b", "0x34fcd5be"]),
  // executeCalls, batchCall and executeBatchCall of the same, execute((address,uint256,bytes)[],bytes)
  ...each(many(0, executions), ["0x1726fa81", "0x86df7292", "0xabc85c6b", "0x6171d1c9"]),
  // multicall((address,bytes)[]), executeWithoutChainIdValidation(bytes[])
  "0xcaa5c23f": many(0, pair),
  "0x2c2abd1e": own(0),
  // execute(address,uint256,bytes); a timelock's with (…,bytes32,bytes32)
  ...each(singleCall(executions), ["0xb61d27f6", "0x134008d3"]),
  // executeBatch(address[],uint256[],bytes[]), of a timelock with (…,bytes32,bytes32); a governor's execute; (address[],bytes[])
  ...each(ofArrays, ["0x47e1da2a", "0xe38335e5", "0x2656227d"]),
  "0x18dfb3c7": parallel(0, 1),
  // execute(address[],uint256[],bytes[])
  "0xa516a5bf": ofArrays,
  // Safe execTransaction, execTransactionFromModule, execTransactionFromModuleReturnData
  ...each(ofSafe, ["0x6a761202", "0x468721a7", "0x5229073f"]),
  // Zodiac roles: execTransactionWithRole and execTransactionWithRoleReturnData, (…,uint16,bool) and (…,bytes32,bool)
  ...each(ofRole, ofRoles),
  // Zodiac delay executeNextTx; reality executeProposal, executeProposalWithIndex
  "0xee072baf": ofSafe,
  ...each(ofProposal, ["0x2351a877", "0x14604b8c"]),
  // Safe4337Module executeUserOp(address,uint256,bytes,uint8), executeUserOpWithErrorString; Kernel's execute
  ...each(ofSafe, ["0x7bb37428", "0x541d63c8", "0x51945447"]),
  // execute(address,bytes): DSProxy's is a DELEGATECALL, AccessManager's is none
  "0x1cff79cd": either(pair),
  // Governor relay(address,uint256,bytes); EVC call(address,address,uint256,bytes), batch((address,address,uint256,bytes)[])
  "0xc28bc2fa": singleCall(executions),
  "0x1f8b5215": singleCall({ to: 0, value: 2, data: 3 }),
  "0xc16ae7a4": many(0, { to: 0, value: 2, data: 3 }),
  // Morpho Bundler3 multicall((address,bytes,uint256,bool,bytes32)[]), Ambire executeBySender((address,uint256,bytes)[])
  "0x374f435d": many(0, { to: 0, data: 1, value: 2, mayFail: 3 }),
  "0xabc5345e": many(0, executions),
  // Argent multiCall(wallet,(address,uint256,bytes)[]), which the wallet makes; Biconomy executeBatch_y6U, execute_ncC
  "0xa5efb235": many(1, executions),
  "0x00004680": ofArrays,
  "0x0000189a": singleCall(executions),
  // multicall(address[],bytes[])
  "0x63fb0b96": parallel(0, 1),
  // Safe multiSend(bytes)
  "0x8d80ff0a": packed,
  // what SafeL2 says that it executes: SafeMultiSigTransaction, SafeModuleTransaction, by the beginning of the event's name
  "0x66753cd2": ofSafe,
  "0xb648d364": singleCall({ to: 1, value: 2, data: 3, operation: 4 }),
  // EntryPoint handleOps and handleAggregatedOps, 0.6 and from 0.7 on
  ...each(operations, ["0x1fad948c", "0x765e827f"]),
  ...each(aggregated, ["0x4b1d7cf5", "0xdbed18e0"]),
  // ERC-2771 execute
  "0xdf905caf": request,
  // Safe setup, 1.1 and later, 1.0
  ...each(setup, setups),
  // createProxyWithNonce, createChainSpecificProxyWithNonce, both for L2, createProxyWithCallback, createProxy
  ...each(proxySetup, ["0x1688f0b9", "0xec9e80bb", "0x4662f9d6", "0x1a334b0b", "0xd18af54d", "0x61b69abd"]),
};

/** ERC-2771 executeBatch: it passes over requests that are no longer valid without an event. */
export const requestBatch = "0xccf96b4a";

/**
 * Functions of whose calls one kind of events tells, one each and in their order, by the functions of {@link forms}; the
 * others tell of no call by an event.
 */
export const families: Readonly<Record<string, "safe" | "module" | "operation" | "request" | "try">> = {
  "0x6a761202": "safe",
  ...each("module", ["0x468721a7", "0x5229073f", ...ofRoles]),
  ...each("operation", ["0x1fad948c", "0x765e827f", "0x4b1d7cf5", "0xdbed18e0"]),
  ...each("request", [requestBatch, "0xdf905caf"]),
  ...each("try", ["0xe9ae5c53", "0xd691c964"]),
};
