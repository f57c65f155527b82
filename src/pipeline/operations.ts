/**
 * The requests for a run's user operations (ERC-4337). JSON-RPC: `eth_simulateV1`, `debug_traceCall`, `eth_chainId`,
 * `eth_getCode`, `eth_call`.
 */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { dataAt, digitsAt, nobody } from "../abi/words.js";
import { frameOf } from "../effects/frames.js";
import { isRecord } from "../primitives/record.js";
import { callOf } from "../eth/call.js";
import * as Questions from "../eth/questions.js";
import { asked, one, sent, together, when } from "../eth/round.js";
import { isAddress, isBytes, isHash, type Address, type Hash, type Hex } from "../primitives/hex.js";
import type { Outcome } from "../report/parts.js";
import type { ReportOptions } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import * as Operations from "../signing/index.js";
import type { GasField, OpenSigning, OperationInput, PlacedSigning } from "../signing/index.js";
import { successOf } from "../steps/reading/askResult.js";
import { isLacking, learnUntraced, method } from "./extras/stateTraces.js";
import { suspectedLimitOf, resultIn, type Ran } from "./operationOutcome.js";
import type { LowGasLimit } from "./signings.js";
import { inRound } from "./rounds.js";
import { quantity } from "./wire.js";

/** Larger limits to simulate, in percent of the given one: one request each, all in one round. */
const shares = [110n, 125n, 150n, 200n, 300n, 400n, 600n, 800n, 1_200n, 2_000n, 4_000n, 10_000n];
/** The largest limit that is simulated: bundlers refuse a larger one. */
const mostLimit = 10_000_000n;

/** True if an operation with a larger limit gets past what failed. */
const getsPast = (answer: unknown, { input }: Pick<Ran, "input">, hash: Hash, field: GasField): boolean => {
  const [block] = Array.isArray(answer) ? answer.slice(-1) : [];
  const calls: unknown = isRecord(block) ? block["calls"] : null;
  const call: unknown = Array.isArray(calls) ? calls[0] : null;
  const logs: unknown = isRecord(call) ? call["logs"] : null;
  const read = (Array.isArray(logs) ? logs : []).flatMap((log: unknown) => {
    const { address: of, topics: words, data } = isRecord(log) ? log : {};
    return isAddress(of) && isBytes(data) && Array.isArray(words) && words.every(isHash)
      ? [{ address: of, topics: words, data, decoded: null }]
      : [];
  });
  const told = resultIn({ logs: read }, input.entryPoint, hash);
  return (
    told !== null && (told.success || field === "verificationGasLimit" || field === "paymasterVerificationGasLimit")
  );
};

/**
 * Finds the limit that is enough: simulates the operation with several larger limits, each with its own hash. If nothing runs
 * in front of the operation, also simulates it unchanged. JSON-RPC, in a round of its own: about twelve `eth_simulateV1`.
 */
export const askLimit = Effect.fnUntraced(function* (
  signing: PlacedSigning,
  outcome: Outcome,
  options: ReportOptions,
  rpc: Rpc["Service"],
  isFirst: boolean,
): Effect.fn.Return<LowGasLimit | null> {
  const { sign, stand, use } = signing;
  if (use.operation === undefined || sign.kind !== "userOperation" || use.operation.operation.authorization !== null)
    return null;
  const input = use.operation;
  const field = suspectedLimitOf(input, outcome, sign.digest);
  if (field === null) return null;
  const given = input.operation[field];
  const larger = shares.map((share) => (given * share) / 100n + 1_000n).filter((limit) => limit <= mostLimit);
  // why: where it calls the moved precompile, code in place of ECRECOVER uses more gas; on chain the limit may be enough
  const limits = isFirst ? [given, ...larger] : larger;
  const state = options.stateOverrides ?? {};
  const trials = limits.map((limit) => {
    const other = { ...input, operation: { ...input.operation, [field]: limit } };
    const facts = { chainId: sign.chainId, signer: sign.signer, delegate: sign.delegate ?? null };
    const { sign: its, use: itsUse } = Operations.operationSigning(other, facts, stand.paymaster);
    const [call] = itsUse.consume?.(stand) ?? [];
    const moved = `0xa5${stand.taker.slice(4)}` as const;
    const stateOverrides = {
      ...state,
      ...(limit === given
        ? {}
        : { [input.operation.sender]: { ...state[input.operation.sender], balance: quantity(2n ** 96n) } }),
      [Operations.ecrecover]: {
        movePrecompileToAddress: moved,
        code: Operations.shimCode(itsUse.assumes ?? [], moved),
      },
    };
    const { from, to, data = "0x", gas = 0n } = call ?? {};
    // why: with the moved precompile warm, the code in its place uses hardly more gas than ECRECOVER alone
    const accessList = [{ address: moved, storageKeys: [] }];
    const blockStateCalls = [{ stateOverrides, calls: [{ from, to, input: data, gas: quantity(gas), accessList }] }];
    return Effect.match(rpc.request("eth_simulateV1", [{ blockStateCalls }, options.block ?? "latest"]), {
      onFailure: () => false,
      onSuccess: (answer) => getsPast(answer, { input }, its.digest, field),
    });
  });
  const passed = yield* inRound("doubtfulLimit", Effect.all(trials, { concurrency: "unbounded" }));
  const enough = limits[passed.indexOf(true)];
  return enough === undefined ? null : { field, given, enough };
});

/** The tracer of validation; the connection remembers it apart from other tracers. */
const ruling = `${method} erc7562Tracer`;

/** Ms to wait for the first answer of this tracer, after another tracer has answered. */
const mostBehind = 400;

/**
 * Traces a bundler's call. `erc7562Tracer` also shows the opcodes and storage that bundlers' rules restrict; a node without it
 * runs the requested `callTracer`. JSON-RPC: `debug_traceCall` with `erc7562Tracer`, at first also with the requested tracer.
 */
export const traceBundlerCall = (
  rpc: Rpc["Service"],
  params: ReadonlyArray<unknown>,
): ReturnType<Rpc["Service"]["request"]> => {
  const { memory } = rpc;
  const plainly = rpc.request(method, params);
  if (memory.refused(ruling) !== null) return plainly;
  const [call, block, config] = params;
  const ruled = rpc.request(method, [call, block, { ...(isRecord(config) ? config : {}), tracer: "erc7562Tracer" }]);
  const heard = Effect.match(ruled, {
    onFailure: (failure) => {
      if (isLacking(failure)) learnUntraced(memory, ruling);
      return null;
    },
    onSuccess: (trace) => {
      // why: an answer in another form shows that the node does not have it
      if (frameOf(trace)?.to == null) {
        learnUntraced(memory, ruling);
        return null;
      }
      memory.heard(ruling, Result.succeed(null));
      memory.learn("rules", true);
      return trace;
    },
  });
  if (memory.recall("rules") === true)
    return Effect.flatMap(heard, (trace) => (trace === null ? plainly : Effect.succeed(trace)));
  return Effect.gen(function* () {
    const fiber = yield* Effect.forkScoped(heard);
    const trace = yield* plainly;
    const told = yield* Effect.timeoutOption(Fiber.join(fiber), mostBehind);
    // why: a node that takes too long does so the next time, too
    if (Option.isNone(told)) learnUntraced(memory, ruling);
    return Option.getOrNull(told) ?? trace;
  }).pipe(Effect.scoped);
};

/** The address in the first word of an answer; null if that word is no address, or is zero. */
const addressIn = (answer: Hex | null): Address | null => {
  const digits = answer === null ? null : digitsAt(answer, dataAt);
  const found = digits?.startsWith("0".repeat(24)) === true ? (`0x${digits.slice(24)}` as Address) : null;
  return found === nobody ? null : found;
};

/**
 * The facts that an operation's input leaves open. A hash may name the code that the sender delegates to, in the place of the
 * factory.
 */
const openIn = (input: OperationInput, known: number | null) => {
  const { operation, signer, typedData, paymasterSigner } = input;
  const owner = signer === null && operation.authorization === null;
  const factory = typedData !== null && operation.factory !== null;
  const isNaming = Operations.namesDelegate(input) && Operations.delegateOf(operation) === null;
  const paymaster = paymasterSigner === null ? null : Operations.paymasterHashQuery(input);
  return { chainId: known === null, owner, factory, code: owner || factory || isNaming, paymaster };
};

/** Answers to the open facts; null = not asked, or no answer. */
interface Told {
  readonly chainId: number | null;
  readonly code: Hex | null;
  readonly owner: Hex | null;
  readonly paymaster: Hex | null;
}

/** The operation with the known facts. */
const operationBy = (
  { place, stand }: OpenSigning,
  input: OperationInput,
  { factory: isFactoryAsked }: ReturnType<typeof openIn>,
  { chainId, code, owner: answer, paymaster: digest }: Told,
): PlacedSigning => {
  const { operation, signer, paymasterSigner } = input;
  const own = code?.toLowerCase() ?? null;
  const delegate = own?.startsWith("0xef0100") === true ? (`0x${own.slice(8)}` as Address) : null;
  const owner = delegate === null ? addressIn(answer) : null;
  const isDelegated = isFactoryAsked && operation.factory === delegate;
  // why: the factory field of typed data may name a delegate; an authorisation would show that, and typed data has none
  const unread =
    !isFactoryAsked || isDelegated
      ? null
      : own === null
        ? "the account's code could not be read, which its hash may name"
        : delegate === null
          ? null
          : "its account delegates to other code than the operation may name";
  const isNaming = isDelegated || Operations.namesDelegate(input);
  const paymaster =
    paymasterSigner === null || digest?.length !== 66
      ? undefined
      : { digest: Operations.messageHash(digest), signer: paymasterSigner };
  const read = Operations.operationSigning(
    {
      ...input,
      ...(unread === null ? {} : { typedData: null }),
      ...(isDelegated ? { operation: { ...operation, factory: Operations.delegated } } : {}),
    },
    {
      // why: 0 marks an unknown hash: the chain, or the code that the hash names, is unknown
      chainId: unread === null ? (chainId ?? 0) : 0,
      signer: signer ?? owner ?? operation.sender,
      delegate: isNaming ? (Operations.delegateOf(operation) ?? delegate) : null,
    },
    paymaster,
  );
  return {
    ...{ ...read, use: { ...read.use, unread } },
    place,
    stand: { ...stand, ...(paymaster === undefined ? {} : { paymaster }) },
  };
};

/**
 * An operation with the facts of the chain that it needs. JSON-RPC, in a round before the scan, for facts that the input lacks:
 * `eth_chainId`; `eth_getCode` of the sender and `eth_call` of its `owner()`; `eth_call` of the paymaster's `getHash`.
 */
export const resolvedOperation = Effect.fnUntraced(function* (
  signing: OpenSigning,
  input: OperationInput,
  options: ReportOptions,
): Effect.fn.Return<PlacedSigning, never, Rpc> {
  const { memory } = yield* Rpc;
  const { sender: address } = input.operation;
  const block = options.block ?? "latest";
  const known = input.chainId ?? memory.recall("chainId");
  const open = openIn(input, known);
  const called = (to: Address, data: Hex) => one(callOf({ to, data, block }, false));
  const ask = together({
    chainId: when(open.chainId, one(Questions.chainId), null),
    code: when(open.code, one(Questions.code({ address, block })), null),
    owner: when(open.owner, called(address, "0x8da5cb5b"), null),
    paymaster: when(open.paymaster !== null, called(open.paymaster?.to ?? address, open.paymaster?.data ?? "0x"), null),
  });
  const isAsked = open.chainId || open.code || open.paymaster !== null;
  const facts = isAsked ? yield* inRound("unsigned", sent(asked({ step: "chain" }, ask))) : null;
  return operationBy(signing, input, open, {
    chainId: known ?? successOf(facts?.chainId ?? null),
    code: successOf(facts?.code ?? null),
    owner: successOf(facts?.owner ?? null),
    paymaster: successOf(facts?.paymaster ?? null),
  });
});
