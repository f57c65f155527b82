/** The service that everything above asks through, and the run that its requests belong to. */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type * as Fiber from "effect/Fiber";
import type * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import type { AdmissionTimeout, RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import type { askRules, AskRule, RunName, StepName } from "../primitives/names.js";
import type { Address } from "../primitives/hex.js";
import type { InputDefaults } from "../transaction/fields.js";
import type { Memory } from "./memory.js";

/** JSON-RPC 2.0 requests to one endpoint. */
export class Rpc extends Context.Service<
  Rpc,
  {
    /** The endpoint without credentials, for people. */
    readonly endpoint: string;
    /**
     * One request. Succeeds with the `result` as it came; fails with the classified error, after
     * the retries that its reason allows within the run's deadline.
     */
    readonly request: (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, RpcError | Verdict>;
    /**
     * Sends the requests of a round together, and calls `hear` once for each, with its place and what {@link request} would
     * have given; returns how to call off those that have not ended. For a layer of one's own: absent = each is sent by
     * `request`. Layers of this package send together as long as nobody puts another `request` in the place of theirs.
     */
    readonly send?:
      | ((
          requests: ReadonlyArray<{ readonly method: string; readonly params: ReadonlyArray<unknown> }>,
          hear: (place: number, answer: Result.Result<unknown, RpcError | Verdict>) => void,
        ) => () => void)
      | undefined;
    /** The facts known of this endpoint, and the methods that it refuses. */
    readonly memory: Memory;
    /**
     * Runs an effect once there is room for it (`maxInFlight`), first come, first served; requests outside
     * do so one by one. Where the room does not come in `maxWaitMs`, the effect runs all the same and each of
     * its requests fails with `AdmissionTimeout`. Within another admitted effect it does not wait again.
     */
    readonly admit: <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;
    /**
     * Has the node tell by itself what is new, over a socket, until the scope ends; left out where there is none. `hear`
     * gets every notification's `result` as it came. Fails where the node does not take the subscription, or no answer
     * comes in time. JSON-RPC: `eth_subscribe`, `eth_unsubscribe`.
     */
    readonly subscribe?:
      | ((
          params: ReadonlyArray<unknown>,
          hear: (result: unknown) => void,
        ) => Effect.Effect<
          {
            /** Fails once the socket has. */
            readonly lost: Effect.Effect<never, RpcError>;
            /** Closes a socket that went silent without an end; the next subscription opens another. */
            readonly abandon: Effect.Effect<void>;
          },
          RpcError | Verdict,
          Scope.Scope
        >)
      | undefined;
    /** True if several endpoints confirm what is measured (`Rpc.quorum`); what a call touches is then not relied on. */
    readonly isQuorum?: boolean | undefined;
    /** The defaults for transactions that name no chain or sender; those that name another are refused. */
    readonly defaults?: InputDefaults | undefined;
    /** The viem definition of the chain with this id; it goes before the `Chains` layer. */
    readonly chain?:
      | {
          readonly id: number;
          /** A field that is left out is what the `Chains` layer says; see `Chains.Chain`. */
          readonly described: {
            readonly name?: string;
            readonly symbol?: string;
            readonly decimals?: number;
            readonly blockTimeMs?: number;
            readonly paceKnown?: true;
            readonly gasPriceOracle?: Address;
          };
        }
      | undefined;
  }
>()("evm-preflight/Rpc") {}

/** One line of a report's ledger: one JSON-RPC request, all its tries. */
export interface LedgerEntry {
  /** The JSON-RPC method. */
  readonly method: string;
  /** The endpoint without credentials. */
  readonly endpoint: string;
  /** The step that asked; null outside the pipeline. */
  readonly step: StepName | null;
  /** Which simulated run it was; null for other methods than `eth_simulateV1`. */
  readonly run: RunName | null;
  /** The network round it went out in, from 1. */
  readonly round: number;
  /** The rule that asked it; null for what is asked at first. */
  readonly because: (typeof askRules)[number] | null;
  /** Wall time over all tries, ms. */
  readonly ms: number;
  /** Bytes of the answers' bodies; 0 where a foreign transport does not say, a share of the whole in a batch. */
  readonly bytes: number;
  /** 1 when the node answered at the first try; 0 when a remembered refusal answered without asking. */
  readonly tries: number;
}

/**
 * The result of asking other endpoints the same. `disagreed`: another answer where there is only one that is right.
 * `pending`: another answer about state that is not sealed. `unconfirmed`: fewer endpoints than are needed answered.
 * `confirmed`: as many as are needed said the same in a simulation on a sealed block.
 */
export interface Testimony {
  /** The result, see above. */
  readonly kind: "disagreed" | "pending" | "unconfirmed" | "confirmed";
  /** True if it is about a block that everybody has or has not. */
  readonly isSealed: boolean;
  /** The JSON-RPC method. */
  readonly method: string;
  /** The run that it was asked for; null where it belongs to none. */
  readonly run: RunName | null;
  /** One per endpoint, with what it said; escaped and bounded. */
  readonly lines: ReadonlyArray<string>;
}

/** The newest block and the time, by the answers of one run: the greatest of each, in whatever order they come. */
export interface HeadSighting {
  /** The highest block that any named; null = none did. */
  block: bigint | null;
  /** The highest that is mined by what any answer says, by itself; none = none did. */
  sealed?: bigint;
  /** The highest that was shown as the latest block; none = none was. */
  header?: bigint;
  /** Ms by which an HTTP `Date` was ahead of the local clock; null = there was none. */
  aheadMs: number | null;
  /** Ms for which answers of this connection have shown the same latest block; none = it was seen for the first time. */
  heldMs?: number;
  /** True if another endpoint has the same latest block; absent = none was asked, or it does not. */
  isShared?: boolean;
  /** Answers of other endpoints to the same question, where they did not all agree. */
  readonly testimonies: Array<Testimony>;
}

/** The state that the requests of one run share. */
export interface RunContext {
  /** The round that requests sent now belong to, from 1. */
  readonly round: number;
  /** The last round that was begun, for whoever begins the next; absent = rounds are not counted. */
  readonly rounds?: { last: number };
  /** The rule by which they are asked; none = they are asked at first. */
  readonly because?: AskRule | null;
  /** The step that asks now, and the simulated run it asks for. */
  readonly step?: StepName | null;
  /** The run that the request belongs to; null where it belongs to none. */
  readonly run?: RunName | null;
  /** Epoch ms after which every request fails with `Timeout`; null = none. */
  readonly deadline: number | null;
  /** Bytes that its answers may still hold together; none = each is bounded for itself alone. */
  readonly answers?: { left: number } | null;
  /** Keeps what its answers say of the newest block and of the time; none = nothing is kept. */
  readonly sighted?: HeadSighting | null;
  /** Called once per request, when it has ended, with its `turn`. */
  readonly record: (entry: LedgerEntry, turn: number) => void;
  /** The place of a request among those of the run, called when it is sent out; none = whatever ends first is first. */
  readonly turn?: () => number;
  /** Aborts all requests of the run. One per run, or viem's batching is lost. */
  readonly signal: AbortSignal | null;
}

/**
 * The admission that a fiber runs under: what came of waiting at a gate, and whether the run that waited has ended. A run waits once, where it begins: whoever is in never waits for another,
 * at any gate. That holds for the fibers of one run; what a run starts as a program of its own (a Promise of the same
 * client, within `take` of `Preflight.reserving`) waits as anybody does, and may wait for the run itself.
 */
export const Admission = Context.Reference<{ readonly came: "admitted" | AdmissionTimeout; isOver: boolean } | null>(
  "evm-preflight/Rpc/Admission",
  { defaultValue: () => null },
);

/** Returns the result of the waiting that a fiber did; null = did not wait, or what it waited for has ended. */
export const admissionOf = (fiber: Fiber.Fiber<unknown, unknown>): "admitted" | AdmissionTimeout | null => {
  const admission = fiber.getRef(Admission);
  return admission === null || admission.isOver ? null : admission.came;
};

/** One request of a round. */
export interface RoundRequest {
  /** The JSON-RPC method. */
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  /** The run that it belongs to, which ends it and keeps its line of the ledger. */
  readonly run: RunContext;
}

/** Sends a round together, each request for its run. */
export type SendRound = (
  requests: ReadonlyArray<RoundRequest>,
  hear: Parameters<NonNullable<Rpc["Service"]["send"]>>[1],
) => () => void;

/** How the requests of a round are sent together, by the `request` that would send each. */
const sends = new WeakMap<Rpc["Service"]["request"], SendRound>();

/** Notes that a service sends rounds together: for its own `request` alone, so that whoever puts another in its place is not passed by. */
export const withSend = <Node extends Pick<Rpc["Service"], "request">>(
  node: Node,
  send: SendRound | undefined,
): Node => {
  if (send !== undefined) sends.set(node.request, send);
  return node;
};

/** Returns how a service sends a round together; none = request by request. */
export const sendOf = ({ request, send }: Pick<Rpc["Service"], "request" | "send">): SendRound | undefined =>
  send ?? sends.get(request);

/**
 * The bytes that every run begins with: three simulations of 6,000 events. Reading an answer takes up to twenty times
 * its bytes of memory. A proof may hold more where its report tells of many events: see `withRoomFor`.
 */
export const mostRunBytes = 12 * 1_048_576;

/** The current run; by default round 1, no deadline, nothing recorded. */
export const CurrentRun: Context.Reference<RunContext> = Context.Reference("evm-preflight/Rpc/CurrentRun", {
  defaultValue: (): RunContext => ({ round: 1, deadline: null, record: () => undefined, signal: null }),
});
