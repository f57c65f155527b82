/**
 * Calls within a call: what multicalls, Safes and Uniswap's Universal Router are told to call, read out of their
 * arguments, and theirs in turn. Like every reading by a selector it tells what the bytes look like, and nothing is
 * decided by it. Bounded in depth and number; an encoding that is not exactly an encoder's is not looked into.
 */
import type { Address, Hex } from "../primitives/hex.js";
import { type Abis, type IndexedItem, itemOf } from "./abiIndex.js";
import type { Command, HeldCall } from "./batchForms.js";
import { callsWithin, isBatch, type Whole } from "./batches.js";
import { type CallOptions, functionsOf, wellKnown } from "./decodeCall.js";
import { most } from "./print.js";
import { argumentsAt, nobody } from "./words.js";

/**
 * The commands of Uniswap's Universal Router, by their number in hex: what `execute` is given in place of calls. Other
 * routers, and other versions of this one, use some numbers otherwise; a command is named where its input fits.
 */
export const commands = `00|V3_SWAP_EXACT_IN(address recipient,uint256 amountIn,uint256 amountOutMin,bytes path,bool payerIsUser)
01|V3_SWAP_EXACT_OUT(address recipient,uint256 amountOut,uint256 amountInMax,bytes path,bool payerIsUser)
02|PERMIT2_TRANSFER_FROM(address token,address recipient,uint160 amount)
03|PERMIT2_PERMIT_BATCH(((address token,uint160 amount,uint48 expiration,uint48 nonce)[] details,address spender,uint256 sigDeadline) permitBatch,bytes signature)
04|SWEEP(address token,address recipient,uint256 amountMin)
05|TRANSFER(address token,address recipient,uint256 value)
06|PAY_PORTION(address token,address recipient,uint256 bips)
08|V2_SWAP_EXACT_IN(address recipient,uint256 amountIn,uint256 amountOutMin,address[] path,bool payerIsUser)
09|V2_SWAP_EXACT_OUT(address recipient,uint256 amountOut,uint256 amountInMax,address[] path,bool payerIsUser)
0a|PERMIT2_PERMIT(((address token,uint160 amount,uint48 expiration,uint48 nonce) details,address spender,uint256 sigDeadline) permitSingle,bytes signature)
0b|WRAP_ETH(address recipient,uint256 amountMin)
0c|UNWRAP_WETH(address recipient,uint256 amountMin)
0d|PERMIT2_TRANSFER_FROM_BATCH((address from,address to,uint160 amount,address token)[] batchDetails)
0e|BALANCE_CHECK_ERC20(address owner,address token,uint256 minBalance)
10|V4_SWAP(bytes actions,bytes[] params)
21|EXECUTE_SUB_PLAN(bytes commands,bytes[] inputs)`;

/** Calls that are read of one calldata, all levels together. */
const mostCalls = 64;

/** One call within another. */
export interface InnerCall {
  /** The called account; null = the contract that reads it: a call to itself, or a command. */
  readonly to: string | null;
  /** Wei that goes with it; null = what the call itself came with, or none. */
  readonly value: bigint | null;
  /** True if the code of `to` runs in the caller's place (`delegatecall`), with all that is the caller's. */
  readonly isDelegate: boolean;
  /** Calldata; of a command its input. */
  readonly data: string;
  /** True if the batch goes on where this call fails: by its own flag, or by the batch's. */
  readonly mayFail: boolean;
  /** The command by which a router makes it; null = it stands in the batch as it is made. */
  readonly command: Command | null;
  /** The selector of the function that makes the calls within it; empty for a command's, null where there are none. */
  readonly form: string | null;
  /** The calls within it, in order. */
  readonly calls: ReadonlyArray<InnerCall>;
  /** How many more are within it, not read. */
  readonly more: number;
}

/** The calls within a call. */
export type InnerCallList = Pick<InnerCall, "calls" | "more" | "form">;

const named = new Map(
  commands.split("\n").map((line) => {
    const [number = "", declaration = ""] = line.split("|");
    return [Number.parseInt(number, 16), itemOf("function", "Uniswap Universal Router", declaration)] as const;
  }),
);

/** The declaration of a command, as far as its number tells. */
export const commandOf = ({ type }: Command): IndexedItem | null => named.get(type) ?? null;

/** The selector of what makes calls out of these bytes, where they are exactly an encoder's; null where there is none. */
const formOf = ({ data, command }: Whole, abis: Abis, address: string | null): string | null => {
  if (command != null) return "";
  if (!isBatch(data)) return null;
  const selector = data.slice(0, argumentsAt).toLowerCase();
  const items = wellKnown.functions(selector);
  const readings = functionsOf(data, abis, { address });
  return readings.some((reading) => items.some(({ signature }) => signature === reading.signature)) ? selector : null;
};

/** The calls within bytes, and the function that makes them; none where they are not as it would read them. */
const within = (whole: Whole, abis: Abis, self: string | null, depth: number, room: { calls: number }) => {
  const form = formOf(whole, abis, self);
  const calls = form === null ? [] : [...callsWithin({ ...whole, data: whole.data.toLowerCase() as Hex })];
  const held = calls.filter((call) => call !== null);
  if (held.length === 0 || held.length < calls.length) return { form: null, calls: [], more: 0 };
  const kept = depth >= most.depth ? [] : held.slice(0, room.calls);
  room.calls -= kept.length;
  return { form, calls: kept.map((call) => read(call, abis, self, depth + 1, room)), more: held.length - kept.length };
};

const read = (call: HeldCall, abis: Abis, self: string | null, depth: number, room: { calls: number }): InnerCall => {
  const { value, mayFail, as, isOwn, command } = call;
  const to = isOwn || command !== null ? null : call.to;
  const data = command?.input ?? call.data;
  const address = to ?? self;
  return {
    ...{ to, value, isDelegate: !isOwn && as !== undefined, data, mayFail, command },
    ...within(call, abis, address, depth, room),
  };
};

/** The calls within calldata for a contract (`address`), in order: up to four levels and `limit` calls of all, 64 by default. */
export const innerCalls = (
  data: string,
  abis: Abis = [],
  { address = null, limit = mostCalls }: CallOptions & { readonly limit?: number } = {},
): InnerCallList => {
  const to = (address ?? nobody).toLowerCase() as Address;
  return within({ from: nobody, to, data: data as Hex }, abis, address, 0, { calls: limit });
};
