/** What `eth_simulateV1` answers: one block per entry, each with the results of its calls. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { classify } from "../errors/classify.js";
import type { Hex } from "../primitives/hex.js";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import type { Mapped } from "../primitives/rows.js";
import { fields, type Fields } from "../transaction/fields.js";
import { headerFields } from "./block.js";
import { decoder, malformed } from "./decode.js";
import { Log } from "./log.js";
import type { BlockStateCall } from "./parameters.js";
import { Account, Bytes, Index, orNull, Quantity, Status, TypeByte, Word } from "./wire.js";

const method = "eth_simulateV1";

/** A field of a transaction, as nodes answer it. */
interface Answered extends Struct.Lambda {
  (row: { readonly wire: keyof typeof readers }): (typeof readers)[keyof typeof readers];
  readonly "~lambda.out": this["~lambda.in"] extends { readonly wire: infer W extends keyof typeof readers }
    ? (typeof readers)[W]
    : never;
}
interface OrNull extends Struct.Lambda {
  <S extends Schema.Constraint>(schema: S): ReturnType<typeof orNull<S>>;
  readonly "~lambda.out": this["~lambda.in"] extends infer S extends Schema.Constraint
    ? ReturnType<typeof orNull<S>>
    : never;
}
const readers = { address: Account, bytes: Bytes, quantity: Quantity, hashes: Schema.Array(Word) };
const answered: Mapped<Omit<Fields, "data" | "accessList" | "authorizationList">, Answered> = Struct.map(
  Struct.omit(fields, ["data", "accessList", "authorizationList"]),
  Struct.lambda<Answered>(({ wire }) => readers[wire]),
);
type Certain = "from" | "nonce" | "gas" | "value";
const certain = ["from", "nonce", "gas", "value"] as const satisfies ReadonlyArray<Certain>;

type Beside = {
  /** The transaction's own, 32 bytes. */
  readonly hash: typeof Word;
  /** Calldata or initcode. */
  readonly input: typeof Bytes;
  /** EIP-2718 type. */
  readonly type: ReturnType<typeof orNull<typeof TypeByte>>;
  /** Its place in the block, from 0. */
  readonly transactionIndex: ReturnType<typeof orNull<typeof Index>>;
};

/** A simulated transaction in full, where `returnFullTransactions` asked for it. */
const SimulatedTransaction: Schema.Struct<
  Pick<typeof answered, Certain> & Mapped<Omit<typeof answered, Certain>, OrNull> & Beside
> = Schema.Struct({
  hash: Word,
  ...Struct.pick(answered, certain),
  ...Struct.map(Struct.omit(answered, certain), Struct.lambda<OrNull>(orNull)),
  input: Bytes,
  type: orNull(TypeByte),
  transactionIndex: orNull(Index),
});
export type SimulatedTransaction = typeof SimulatedTransaction.Type;

const CallResultWire = Schema.Struct({
  status: Status,
  gasUsed: Quantity,
  maxUsedGas: orNull(Quantity),
  returnData: Bytes,
  logs: Schema.Array(Log),
  error: orNull(
    Schema.Union([
      Schema.String,
      Schema.Struct({ code: orNull(Schema.Finite), message: orNull(Schema.String), data: orNull(Schema.Unknown) }),
    ]),
  ),
});

const SimulatedBlockWire = Schema.Struct({
  ...headerFields,
  hash: Word,
  transactions: orNull(Schema.Array(Schema.Union([Word, SimulatedTransaction]))),
  calls: Schema.Array(CallResultWire),
});
type SimulatedBlockWire = typeof SimulatedBlockWire.Type;

/** One call inside a simulated block. */
export interface CallResult {
  readonly status: "success" | "failure";
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
export interface SimulatedBlock extends Omit<SimulatedBlockWire, "calls"> {
  readonly calls: ReadonlyArray<CallResult>;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const errorOf = (error: SimulatedBlockWire["calls"][number]["error"]): CallResult["error"] => {
  if (error === null || error === "") return null;
  if (typeof error === "string") return { code: null, message: error, data: null };
  const data = Schema.decodeUnknownOption(Bytes)(error.data);
  return { code: error.code, message: error.message ?? "", data: data._tag === "Some" ? data.value : null };
};

const callResult = (wire: SimulatedBlockWire["calls"][number], raw: unknown): CallResult => {
  const error = errorOf(wire.error);
  const { status, gasUsed, maxUsedGas, returnData, logs } = wire;
  const said = isObject(raw) && error !== null ? { error: raw["error"] } : {};
  const failure = status === "success" ? null : classify({ method, scope: "call", returnData, ...said });
  return { status, gasUsed, maxUsedGas, returnData, logs, error, failure };
};

const decodeBlocks = decoder(method, Schema.Array(SimulatedBlockWire));

/** Nethermind streams: what fails midway is an `{ error, errorCode }` where a block or call would be. */
const inlineError = (result: unknown): RpcError | Verdict | null => {
  const blocks = Array.isArray(result) ? result : [result];
  const last: unknown = blocks[blocks.length - 1];
  const calls = isObject(last) && Array.isArray(last["calls"]) ? last["calls"] : [];
  for (const element of [last, calls[calls.length - 1]] as ReadonlyArray<unknown>) {
    if (isObject(element) && element["error"] !== undefined && !("status" in element) && !("number" in element)) {
      return classify({ method, scope: "inline", error: element });
    }
  }
  return null;
};

/**
 * One block per entry asked for. Nodes fill gaps between overridden numbers with empty blocks of
 * their own; those are left out. Anything else that does not match the request is malformed.
 */
const aligned = (
  blocks: ReadonlyArray<SimulatedBlockWire>,
  asked: ReadonlyArray<BlockStateCall>,
): Result.Result<ReadonlyArray<number>, RpcError> => {
  const positions: Array<number> = [];
  let next = 0;
  for (const entry of asked) {
    const number = entry.blockOverrides?.number;
    if (blocks.length > asked.length && number !== undefined && number !== null) {
      while (next < blocks.length && blocks[next]?.number !== BigInt(number) && blocks[next]?.calls.length === 0)
        next++;
    }
    const block = blocks[next];
    if (block === undefined) return Result.fail(malformed(method, `result[${next}]`, "fewer blocks than asked for"));
    if (block.calls.length !== (entry.calls?.length ?? 0)) {
      return Result.fail(malformed(method, `result[${next}].calls`, "not as many results as calls"));
    }
    for (const [index, { status, error }] of block.calls.entries()) {
      if (status === "success" && errorOf(error) !== null) {
        return Result.fail(
          malformed(method, `result[${next}].calls[${index}].error`, "a successful call with an error"),
        );
      }
    }
    positions.push(next++);
  }
  return next === blocks.length
    ? Result.succeed(positions)
    : Result.fail(malformed(method, `result[${next}]`, "more blocks than asked for"));
};

/** Reads the `result`, which must match the entries asked for. */
export const readSimulation = (
  result: unknown,
  asked: ReadonlyArray<BlockStateCall>,
): Result.Result<ReadonlyArray<SimulatedBlock>, RpcError | Verdict> => {
  const inline = inlineError(result);
  if (inline !== null) return Result.fail(inline);
  return Result.flatMap(decodeBlocks(result), (blocks) =>
    Result.map(aligned(blocks, asked), (positions) =>
      positions.flatMap((position) => {
        const block = blocks[position];
        if (block === undefined) return [];
        const raw: unknown = Array.isArray(result) ? result[position] : undefined;
        const rawCalls: unknown = isObject(raw) ? raw["calls"] : undefined;
        const calls = block.calls.map((call, index) =>
          callResult(call, Array.isArray(rawCalls) ? rawCalls[index] : null),
        );
        return [{ ...block, calls }];
      }),
    ),
  );
};
