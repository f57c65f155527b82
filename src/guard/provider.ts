/** An EIP-1193 provider that sends only what was cleared. */
import { guardRequest, type Asked } from "./requests.js";
import type { Guarding } from "./rules.js";

/** Any EIP-1193 provider. */
export interface Provider {
  /** Sends one request, `{ method, params }`, and resolves with its result. */
  request(args: never): Promise<unknown>;
}

type Callback = (error: unknown, response?: unknown) => void;

/** See `guardProvider` of `evm-preflight/promise`. */
export const guardedProvider = <provider extends Provider>(provider: provider, guard: Guarding): provider => {
  const request = guardRequest(guard, (asked: Asked) => provider.request(asked as never));
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
