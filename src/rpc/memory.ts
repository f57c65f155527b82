/**
 * The facts known of an endpoint, so that it is not asked again: for how long each fact is believed, and what
 * disproves it sooner. One per connection, and gone with it.
 */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { MethodNotSupported, RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { Address, type Hash } from "../primitives/hex.js";
import { Fork, type unknownForks } from "../primitives/names.js";

/** Facts that are remembered of an endpoint, in addition to the methods that it refuses. */
export interface EndpointFacts {
  /**
   * By `eth_chainId`, asked again when its time is over. Disproved by the witness, which reads CHAINID in every run, and
   * by a latest header that is not the block which a run stood on.
   */
  readonly chainId: number;
  /** The latest block, and epoch ms when it was first seen to be that. Disproved by any other. */
  readonly head: { readonly number: bigint; readonly hash: Hash | null; readonly at: number };
  /** True if `eth_feeHistory` gives a tip; if so, no receipts are read. Disproved by its next answer. */
  readonly tellsTip: boolean;
  /**
   * Parts that its simulations refuse, each with the refusal; left out, and not tried while that is believed: parts
   * of ours, a state named by its block's `hash`, a further entry (`entries`), a base fee of nothing (`baseFeePerGas`),
   * the root of a beacon block (`beaconRoot`), a call without `to` (`deployment`), anything that we ask of them (`any`).
   */
  readonly lacks: ReadonlyMap<
    | "validation"
    | "traceTransfers"
    | "blockOverrides"
    | "hash"
    | "entries"
    | "baseFeePerGas"
    | "beaconRoot"
    | "deployment"
    | "any",
    RpcError
  >;
  /** True if the endpoint answers an array of requests. A refusal is remembered for a while. */
  readonly takesBatches: boolean;
  /** Most gas that one simulation gets, as one was seen that got no more. Every run shows again what it ran with. */
  readonly gasCap: bigint;
  /** The forks by `eth_config`; nothing, where it is refused in whatever way. What executes is believed before it. */
  readonly forks: typeof unknownForks;
  /**
   * For endpoints whose opcodes and headers are of two forks: `codes` says by its hash if code does something else under the
   * later one, `reached` which accounts a contract reached when it was called. The witness reads the hash of each in every run.
   */
  readonly forkUse: {
    readonly codes: ReadonlyMap<Hash, boolean>;
    readonly reached: ReadonlyMap<Address, ReadonlyArray<Address>>;
  };
  /** True if a tracer told which slots a call changes; then no access list is asked for their names. */
  readonly traces: boolean;
  /** True if a tracer told what the rules of bundlers hang on. A failure asks for the calls alone. */
  readonly rules: boolean;
  /** False if its simulations do not let code replace a precompile that was moved, so that no signature can be taken for given. */
  readonly assumes: boolean;
  /** A fee oracle's address at which nothing lives. Disproved by the witness, which looks there in every run. */
  readonly noFeeOracle: Address;
}

/** For how long a fact is believed, ms. */
const believedMs = (fact: keyof EndpointFacts): number => (fact === "tellsTip" ? 60_000 : 10 * 60_000);

/** Notes that an endpoint's simulations do not take something. */
export const learnLack = (memory: Memory, part: Parameters<EndpointFacts["lacks"]["get"]>[0], refusal: RpcError) =>
  memory.learn("lacks", new Map([...(memory.recall("lacks") ?? []), [part, refusal]]));

/** The memory of one connection. */
export interface Memory {
  /** A fact, while it is believed; else null. */
  readonly recall: <K extends keyof EndpointFacts>(fact: K) => EndpointFacts[K] | null;
  /** Keeps a fact, as long as such facts are believed. */
  readonly learn: <K extends keyof EndpointFacts>(fact: K, value: EndpointFacts[K]) => void;
  /** Drops every fact and every refusal: another node, or another chain, answers here. */
  readonly forget: () => void;
  /** The refusal (`MethodNotSupported`, `MethodNotPermitted`) given for a method before, while remembered; else null. */
  readonly refused: (method: string) => RpcError | null;
  /** Records how a request of this method ended. */
  readonly heard: (method: string, result: Result.Result<unknown, RpcError | Verdict>) => void;
}

/** Methods beyond this many are not remembered: a caller may ask any name. */
const mostMethods = 256;

const isRefusal = (failure: RpcError | Verdict): failure is RpcError =>
  failure._tag === "RpcError" &&
  (failure.reason._tag === "MethodNotSupported" || failure.reason._tag === "MethodNotPermitted");

/** An empty memory; `now` gives epoch ms, and refusals are remembered for `refusalMs`. */
export const memoryOf = (now: () => number, refusalMs: number): Memory => {
  // epoch ms until which each is believed
  let facts: { readonly [K in keyof EndpointFacts]?: { readonly value: EndpointFacts[K]; readonly until: number } } =
    {};
  const refusals = new Map<string, { readonly value: RpcError; readonly until: number }>();
  const answered = new Set<string>();
  return {
    recall: (fact) => {
      const known = facts[fact];
      return known !== undefined && now() < known.until ? known.value : null;
    },
    learn: (fact, value) => {
      facts = { ...facts, [fact]: { value, until: now() + believedMs(fact) } };
    },
    forget: () => {
      facts = {};
      refusals.clear();
      answered.clear();
    },
    refused: (method) => {
      const refusal = refusals.get(method);
      if (refusal === undefined) return null;
      if (now() < refusal.until) return refusal.value;
      refusals.delete(method);
      return null;
    },
    heard: (method, result) => {
      // why: a method that has answered before was refused for this one request, not as such
      if (Result.isSuccess(result)) {
        if (answered.size < mostMethods) answered.add(method);
      } else if (isRefusal(result.failure) && !answered.has(method) && refusals.size < mostMethods)
        refusals.set(method, { value: result.failure, until: now() + refusalMs });
    },
  };
};

/*
 * The facts known of an endpoint, written down, so that a new connection need not find it out again. Whoever wrote it
 * may be wrong: only facts that every run checks anyway, or that cost no more than a request, are taken over.
 */

/** Methods without which a report says the same, or less. */
const dispensable = Schema.Literals(["eth_feeHistory", "eth_getBlockReceipts", "debug_traceCall"]);

const positive = Schema.Int.check(Schema.isGreaterThan(0));

/** The format of {@link KnownEndpoint}. */
export const knownEndpointFormat = "evm-preflight endpoint 1";

/** An endpoint as `evm-preflight doctor --json` describes it; null = not known. Other fields are ignored. */
export const KnownEndpoint = Schema.Struct({
  /** The version of this shape. */
  format: Schema.Literal(knownEndpointFormat),
  /** Believed by a new connection, each for as long as if it had been asked. */
  facts: Schema.Struct({
    /** The witness reads it in every run. */
    chainId: Schema.NullOr(positive),
    /** True if `eth_feeHistory` tells a tip; its next answer disproves it. */
    tellsTip: Schema.NullOr(Schema.Boolean),
    /** True if an array of requests is answered. */
    takesBatches: Schema.NullOr(Schema.Boolean),
    /** A fee oracle's address at which nothing lives; the witness looks there in every run. */
    noFeeOracle: Schema.NullOr(Address),
    /** Methods that are refused, of those that no check needs. */
    refuses: Schema.Array(dispensable),
  }),
  /** By the opcodes that simulated blocks execute. */
  fork: Schema.NullOr(Fork),
  /** The kind of `pending`: `latest` = the same block. `guess` and `preconfirmed` by the table of chains. */
  pending: Schema.NullOr(Schema.Literals(["guess", "preconfirmed", "latest", "refused"])),
});
export interface KnownEndpoint extends Schema.Schema.Type<typeof KnownEndpoint> {}

const isKnownEndpoint = Schema.is(KnownEndpoint);

/** Begins a memory with what is known of its endpoint; what is no such description is not taken over. */
export const believe = (memory: Memory, endpoint: unknown): void => {
  if (!isKnownEndpoint(endpoint)) return;
  const { chainId, tellsTip, takesBatches, noFeeOracle, refuses } = endpoint.facts;
  if (chainId !== null) memory.learn("chainId", chainId);
  if (tellsTip !== null) memory.learn("tellsTip", tellsTip);
  if (takesBatches === false) memory.learn("takesBatches", false);
  if (noFeeOracle !== null) memory.learn("noFeeOracle", noFeeOracle);
  for (const method of refuses) {
    const reason = new MethodNotSupported({ detail: "by the description of the endpoint" });
    memory.heard(method, Result.fail(new RpcError({ method, reason })));
  }
};
