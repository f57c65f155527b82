/** An EIP-1193 provider that sends only what was cleared; how it judges is loaded with the first request that it judges. */
import * as Effect from "effect/Effect";
import { lazyImport } from "../primitives/effects.js";
import type { Facade, RunOptions } from "../promise/facade.js";
import type { NonceStore } from "../NonceStore.js";
import { isJudged } from "./failures.js";
import type { Asked } from "./requests.js";
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
  const request = (asked: Asked): Promise<unknown> => {
    if (!isJudged(asked.method)) return provider.request(asked as never);
    const loaded = (loading ??= on.effect(judging));
    return loaded.then(
      (judged) => judged(asked),
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
  return new Proxy(provider, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      // why: methods of a provider with private fields work on that provider alone
      return guarded[name] ?? (value.bind(target) as unknown);
    },
  });
};
