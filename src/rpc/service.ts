/** The service that everything above asks through. */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import type { InputDefaults } from "../transaction/schema.js";
import type { Memory } from "./memory.js";
import type { Subscribe } from "./subscribe.js";

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
    /** What this endpoint was found to be, and which methods it refuses. */
    readonly memory: Memory;
    /**
     * Runs an effect once there is room for it (`maxInFlight`), first come, first served; requests outside
     * do so one by one. Where the room does not come in `maxWaitMs`, the effect runs all the same and each of
     * its requests fails with `AdmissionTimeout`. Within another admitted effect it does not wait again.
     */
    readonly admit: <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;
    /** Has the node tell by itself what is new, over a socket; left out where there is none. */
    readonly subscribe?: Subscribe | undefined;
    /** Whether several endpoints confirm what is measured (`Rpc.quorum`); what a call touches is then not relied on. */
    readonly isQuorum?: boolean | undefined;
    /** What transactions get that name no chain or sender; those that name another are refused. */
    readonly defaults?: InputDefaults | undefined;
  }
>()("evm-preflight/Rpc") {}
