/** An EIP-1193 provider that sends only what was cleared; how it judges is loaded with the first request that it judges. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { defaults, layerMemory, Settings, type NonceStore } from "../nonces/service.js";
import { lazyImport } from "../primitives/index.js";
import type { Facade, RunOptions } from "../promise/facade.js";
import { isJudged, snapshot, type Asked } from "./asked.js";
import type { GuardRules } from "./rules.js";

/** Any EIP-1193 provider. */
export interface Provider {
  /** Sends one request, `{ method, params }`, and resolves with its result. */
  request(args: never): Promise<unknown>;
}

type Callback = (error: unknown, response?: unknown) => void;

/** See `guardProvider` of `evm-preflight/promise`. */
export const guardedProvider = <provider extends Provider>(
  provider: provider,
  on: Facade<NonceStore>,
  rules: GuardRules,
  options: RunOptions,
): provider => {
  const judging = Effect.map(
    lazyImport(() => import("./requests.js")),
    ({ guardRequest, guarding }) =>
      guardRequest(guarding(on, rules, options), (asked) => provider.request(asked as never)),
  );
  let loading: Promise<(asked: Asked) => Promise<unknown>> | null = null;
  const request = (given: Asked): Promise<unknown> => {
    // why: what is looked at is what is passed on, whatever a getter says the next time
    const asked: Asked = { ...given };
    if (typeof asked.method === "string" && !isJudged(asked)) return provider.request(asked as never);
    const kept = snapshot(asked);
    const loaded = (loading ??= on.effect(judging));
    return loaded.then(
      (judged) => judged(kept),
      (error: unknown) => {
        // why: what did not load is tried again with the next request; nothing passes unjudged meanwhile
        if (loading === loaded) loading = null;
        return Promise.reject(error);
      },
    );
  };
  /** The forms from before EIP-1193, which old wallets still have. */
  const sendAsync = (payload: Asked & { readonly id?: unknown }, hear: Callback): void =>
    void request(payload).then(
      (result) => hear(null, { id: payload.id, jsonrpc: "2.0", result }),
      (error: unknown) => hear(error),
    );
  const send = (first: string | (Asked & { readonly id?: unknown }), second?: unknown): unknown => {
    if (typeof first === "string") return request({ method: first, params: second ?? [] });
    return typeof second === "function" ? sendAsync(first, second as Callback) : request(first);
  };
  const guarded: Readonly<Record<PropertyKey, unknown>> = { request, send, sendAsync };
  // why: a proxy of a frozen provider would have to show the provider's own `request`
  const proxy: provider = new Proxy(Object.create(Object.getPrototypeOf(provider) as object | null) as provider, {
    has: (_, name) => name in provider,
    set: (_, name, value) => Reflect.set(provider, name, value),
    get: (_, name) => {
      const value: unknown = Reflect.get(provider, name);
      if (typeof value !== "function") return value;
      return (
        guarded[name] ??
        // why: methods of a provider with private fields work on that provider alone; `on` answers with it
        ((...given: ReadonlyArray<unknown>): unknown => {
          const answer: unknown = Reflect.apply(value, provider, given);
          return answer === provider ? proxy : answer;
        })
      );
    },
  });
  return proxy;
};

/**
 * The store of the leases, with a nonce given back where the node refused its transaction for good: an account would stand
 * still behind it, for nobody keeps its lane. Only where one endpoint is asked: of several, another may have the bytes.
 */
export const leases = (nonces: Layer.Layer<NonceStore> = layerMemory, isSingle = true): Layer.Layer<NonceStore> =>
  isSingle ? Layer.merge(Layer.succeed(Settings, { ...defaults, recycleRejected: true }), nonces) : nonces;
