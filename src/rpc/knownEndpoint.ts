/**
 * What an endpoint was found to be, written down, so that a new connection need not find it out again. Whoever wrote it
 * may be wrong: only facts that every run checks anyway, or that cost no more than a request, are taken over.
 */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { MethodNotSupported, RpcError } from "../errors/rpc.js";
import { Address } from "../primitives/hex.js";
import { Fork } from "../primitives/names.js";
import type { Memory } from "./memory.js";

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
    /** Whether `eth_feeHistory` tells a tip; its next answer disproves it. */
    tellsTip: Schema.NullOr(Schema.Boolean),
    /** Whether an array of requests is answered. */
    takesBatches: Schema.NullOr(Schema.Boolean),
    /** A fee oracle's address at which nothing lives; the witness looks there in every run. */
    noFeeOracle: Schema.NullOr(Address),
    /** Methods that are refused, of those that no check needs. */
    refuses: Schema.Array(dispensable),
  }),
  /** By the opcodes that simulated blocks execute. */
  fork: Schema.NullOr(Fork),
  /** What `pending` is: `latest` = the same block. `guess` and `preconfirmed` by the table of chains. */
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
