/** The answer of `eth_simulateV1`: one block per entry, each with the results of its calls. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { turn } from "../primitives/effects.js";
import type { Hex } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { judging, malformed, type Classify } from "../rpc/judging.js";
import { FullTransaction, headerFields, Log } from "./block.js";
import { checkBlooms } from "./bloom.js";
import type { CallRequest, Simulation } from "./parameters.js";
import {
  Anything,
  Bytes,
  decoder,
  either,
  Finite,
  isBytes,
  list,
  orNull,
  Quantity,
  Status,
  struct,
  Text,
  whole,
  Word,
} from "./shape.js";

const method = "eth_simulateV1";

const CallError = struct({
  code: orNull(Finite),
  message: orNull(Text),
  data: orNull(Anything),
});

const CallWire = struct({
  status: Status,
  gasUsed: Quantity,
  maxUsedGas: orNull(Quantity),
  returnData: Bytes,
  logs: list(Log),
  // whole: `classify` reads what no schema of ours names
  error: orNull(whole(either(Text, CallError))),
});

const SimulatedBlockWire = struct({
  ...headerFields,
  /** The hash of the simulated block, of no use outside. */
  hash: Word,
  /** Its transactions: hashes, or whole where they were asked for. */
  transactions: orNull(list(either(Word, FullTransaction))),
  calls: list(CallWire),
});

/** One call inside a simulated block. */
export interface CallResult {
  /** The outcome of the call. */
  readonly status: "success" | "failure";
  /** Gas that it used, refunds taken off. */
  readonly gasUsed: bigint;
  /** Gas at its highest, before refunds; what the gas limit must hold. */
  readonly maxUsedGas: bigint | null;
  /** As the node gave it; the revert data of a failed call may be in `failure` instead. */
  readonly returnData: Hex;
  /** Emitted logs, with those of ETH transfers when they were traced. */
  readonly logs: ReadonlyArray<Log>;
  /** The node's own words about a failed call. */
  readonly error: { readonly code: number | null; readonly message: string; readonly data: Hex | null } | null;
  /** Why the call failed; null when it succeeded. */
  readonly failure: Verdict | RpcError | null;
}

/** One simulated block, its header as far as the node fills it. */
export interface SimulatedBlock extends Omit<typeof SimulatedBlockWire.Type, "calls"> {
  /** Which entry of `blocks` it answers, from 0; null = none: the node fills a gap between two numbers with it. */
  readonly entry: number | null;
  /** The results of the transactions, in order. */
  readonly calls: ReadonlyArray<CallResult>;
}

const errorOf = (error: unknown): CallResult["error"] => {
  if (error === null || error === "") return null;
  if (typeof error === "string") return { code: null, message: error, data: null };
  const read = CallError.read(error, []);
  return read === undefined
    ? null
    : { code: read.code, message: read.message ?? "", data: isBytes(read.data) ? read.data : null };
};

const callResult = (call: typeof CallWire.Type, classify: Classify): CallResult => {
  const error = errorOf(call.error);
  const { status, returnData } = call;
  const words = error === null ? {} : { error: call.error };
  const failure = status === "success" ? null : classify({ method, scope: "call", returnData, ...words });
  return { ...call, error, failure };
};

/** The answer as the node gives it, before it is held against what was asked. */
export const SimulatedBlocks = list(SimulatedBlockWire);

const decodeBlocks = decoder(method, SimulatedBlocks);

/** Nethermind streams: what fails midway is an `{ error, errorCode }` where a block or call would be. */
const inlineError = (result: unknown, classify: Classify): RpcError | Verdict | null => {
  const block: unknown = Array.isArray(result) ? result.at(-1) : result;
  const call: unknown = isRecord(block) && Array.isArray(block["calls"]) ? block["calls"].at(-1) : null;
  const error = [block, call].find(
    (element) => isRecord(element) && element["error"] !== undefined && !("status" in element || "number" in element),
  );
  return error === undefined ? null : classify({ method, scope: "inline", error });
};

const bytesOf = (hex: string | null | undefined): string => (hex ?? "0x").toLowerCase();

/** True if two calls may be equal but for their senders. why: a nonce that is left out is the node's to fill */
const isSameCall = (a: CallRequest, b: CallRequest): boolean =>
  a.from !== b.from &&
  bytesOf(a.to) === bytesOf(b.to) &&
  bytesOf(a.data) === bytesOf(b.data) &&
  BigInt(a.value ?? 0) === BigInt(b.value ?? 0);

/** The logs that each block's bloom stands for, and those that it may hold beside them. */
const bloomed = (
  blocks: ReadonlyArray<typeof SimulatedBlockWire.Type>,
  { blocks: entries }: Pick<Simulation, "blocks">,
): Parameters<typeof checkBlooms>[1] => {
  const asked = entries.flatMap(({ calls }) => calls ?? []);
  const before: Array<{ readonly call: CallRequest; readonly logs: ReadonlyArray<Log> }> = [];
  let at = 0;
  return blocks.map(({ logsBloom, calls }) => {
    const own = asked.slice(at, (at += calls.length));
    // why: geth keeps logs by a hash without the sender, so that another's equal call shows its own in a later bloom, too
    const also = before.flatMap(({ call, logs }) => (own.some((one) => isSameCall(one, call)) ? logs : []));
    own.forEach((call, index) => before.push({ call, logs: calls[index]?.logs ?? [] }));
    return { logsBloom, logs: calls.flatMap(({ logs }) => logs), also };
  });
};

/** The path in a block of what no node means, and why; null where there is nothing. */
const oddIn = ({ calls }: typeof SimulatedBlockWire.Type, asked: number): readonly [string, string] | null => {
  if (calls.length !== asked) return [".calls", "not as many results as calls"];
  for (const [index, { status, error, gasUsed }] of calls.entries()) {
    if (status !== "success") continue;
    if (errorOf(error) !== null) return [`.calls[${index}].error`, "a successful call with an error"];
    // why: whatever runs pays at least for being a transaction, on every chain that simulates
    if (gasUsed < 1n) return [`.calls[${index}].gasUsed`, "a successful call that used no gas"];
  }
  return null;
};

/**
 * One block per entry asked for; where wanted, those of the node's own as well, empty, with which it fills gaps
 * between overridden numbers. Anything else that does not match the request is malformed.
 */
const aligned = (
  blocks: ReadonlyArray<typeof SimulatedBlockWire.Type>,
  { blocks: blockStateCalls, fillers }: Pick<Simulation, "blocks" | "fillers">,
  classify: Classify,
): Result.Result<ReadonlyArray<SimulatedBlock>, RpcError> => {
  const matched: Array<SimulatedBlock> = [];
  let next = 0;
  const wrong = (path: string, detail: string) => Result.fail(malformed(method, `result[${next}]${path}`, detail));
  const keep = (block: (typeof blocks)[number], entry: number | null) =>
    matched.push({ ...block, entry, calls: block.calls.map((call) => callResult(call, classify)) });
  for (const [entry, { blockOverrides, calls }] of blockStateCalls.entries()) {
    const number = blockOverrides?.number ?? null;
    if (blocks.length > blockStateCalls.length && number !== null) {
      for (let filler = blocks[next]; filler !== undefined; filler = blocks[++next]) {
        if (filler.number === BigInt(number) || filler.calls.length > 0) break;
        if (fillers === true) keep(filler, null);
      }
    }
    const block = blocks[next];
    if (block === undefined) return wrong("", "fewer blocks than asked for");
    const odd = oddIn(block, calls?.length ?? 0);
    if (odd !== null) return wrong(...odd);
    keep(block, entry);
    next++;
  }
  return next === blocks.length ? Result.succeed(matched) : wrong("", "more blocks than asked for");
};

/** Reads the `result`, which must match the entries asked for. */
export const readSimulation = Effect.fnUntraced(function* (
  result: unknown,
  simulation: Pick<Simulation, "blocks" | "fillers">,
): Effect.fn.Return<ReadonlyArray<SimulatedBlock>, RpcError | Verdict> {
  // why: an answer of megabytes is parsed in one turn of the event loop, and read in another
  yield* turn;
  const decoded = decodeBlocks(result);
  const simulated = yield* judging((classify) =>
    Result.isSuccess(decoded)
      ? aligned(decoded.success, simulation, classify)
      : Result.fail(inlineError(result, classify) ?? decoded.failure),
  );
  const blocks = yield* Effect.fromResult(simulated);
  const wire = Result.getOrElse(decoded, () => []);
  yield* checkBlooms(method, bloomed(wire, simulation), (place) => `result[${place}]`);
  return blocks;
});
