/** Whether an endpoint is there at all, so that one that is not costs the reader one line. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { statementText } from "../primitives/statement.js";
import { Rpc } from "../Rpc.js";

/** What became of the requests to an endpoint. */
export interface Answered {
  /** Whether a node answered any of them, be it with a refusal. */
  any: boolean;
  /** The first that none answered. */
  failure: RpcError | null;
}

/** Reasons that say nothing of a node: nobody is there, or whoever is lets nobody through. */
const deaf: ReadonlySet<RpcError["reason"]["_tag"]> = new Set([
  ...(["Transport", "Timeout", "AdmissionTimeout", "UpstreamUnavailable", "RateLimited"] as const),
  ...(["Unauthorized", "MethodNotPermitted", "MalformedResponse"] as const),
]);

const isDeaf = (failure: RpcError | Verdict): failure is RpcError =>
  failure._tag === "RpcError" && deaf.has(failure.reason._tag);

/** The same {@link Rpc}, with what became of its requests noted in `answered`. */
export const noting = <E, R>(rpc: Layer.Layer<Rpc, E, R>, answered: Answered): Layer.Layer<Rpc, E, R> =>
  Layer.effect(
    Rpc,
    Effect.map(Effect.service(Rpc), (inner) =>
      Rpc.of({
        ...inner,
        request: (method, params) =>
          inner.request(method, params).pipe(
            Effect.tapError((failure) =>
              Effect.sync(() => {
                if (isDeaf(failure)) answered.failure ??= failure;
                else answered.any = true;
              }),
            ),
            Effect.tap(() => Effect.sync(() => void (answered.any = true))),
          ),
      }),
    ),
  ).pipe(Layer.provide(rpc));

/** What a failure says of the endpoint, without the method that met it. */
export const whyDeaf = ({ reason }: RpcError): string => statementText(reason.statement);
