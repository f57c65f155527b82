/** An EIP-1193 provider that sends only what was cleared; how it judges is loaded with the first request that it judges. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { defaults, layerMemory, Settings, type NonceStore } from "../nonces/service.js";
import { InvalidConnection } from "../errors/index.js";
import { copyOf, dataOf, isRecord, lazyImport } from "../primitives/index.js";
import type { Facade, RunOptions } from "../promise/facade.js";
import { defaultsGiven } from "../promise/given.js";
import { areReads, isJudged, readRequest, unreadable, type RpcRequest } from "./methods.js";
import { fail, GuardRefused } from "./failures.js";
import { alsoKnownBy, memoryOf } from "./held.js";
import { ruleProblem } from "./provable.js";
import type { GuardRules } from "./rules.js";

const functionOr =
  (...words: ReadonlyArray<unknown>) =>
  (rule: unknown): boolean =>
    typeof rule === "function" || words.includes(rule);

const ofGuards = {
  onCaution: [functionOr("refuse", "send"), 'must be "refuse", "send" or a function'],
  signatures: [
    (rule: unknown) => functionOr("refuse", "allow")(rule) || isRecord(rule),
    'must be "refuse", "allow", a function or { signIn, prove }',
  ],
  onChanged: [functionOr("reject"), 'must be "reject" or a function'],
  onUnverified: [functionOr("reject", "accept"), 'must be "reject", "accept" or a function'],
  onSettled: [functionOr(), "must be a function"],
  passes: [areReads, "must be a list of methods, none of which signs, sends or is judged by what it asks for"],
} as const;

/** A guard's rules apart from what else its options hold; what is wrong, or cannot be read, is thrown, as `InvalidConnection`. */
export const rulesIn = <O extends GuardRules>(options: O) => {
  const given = defaultsGiven(options, "options", ofGuards);
  const { onCaution, signatures, onChanged, onUnverified, onSettled, passes, ...others } = given;
  const problem = isRecord(signatures) ? ruleProblem(signatures) : null;
  if (problem !== null) fail(new InvalidConnection(problem));
  // why: a list that its owner adds to later, or an origin that is changed
  const fixed = { signatures: copyOf(signatures), passes: copyOf(passes ?? []) };
  return { rules: { onCaution, onChanged, onUnverified, onSettled, ...fixed }, others };
};

/** Any EIP-1193 provider. */
export interface Provider {
  /** Sends one request, `{ method, params }`, and resolves with its result. */
  request(args: never): Promise<unknown>;
}

/** Members of a provider that events and connections need; whatever else it can do might sign. */
const members = [
  ...["on", "once", "off", "addListener", "prependListener", "prependOnceListener", "removeListener"],
  ...["removeAllListeners", "emit", "listenerCount", "eventNames", "setMaxListeners", "getMaxListeners"],
  ...["isConnected", "connect", "disconnect", "enable", "close", "hasOwnProperty", "toString", "valueOf"],
];

/** Members of a provider that tell in words or as data; others might be keys. */
const telling = ["accounts", "chainId", "icon", "name", "networkVersion", "rdns", "selectedAddress", "session", "uuid"];

/** Requests as they pass a guard, which is loaded with the first that it judges. */
const requesting = (
  provider: Provider,
  passes: GuardRules["passes"],
  judging: () => Promise<(rpcRequest: RpcRequest) => Promise<unknown>>,
) => {
  let loading: ReturnType<typeof judging> | null = null;
  return (original: RpcRequest): Promise<unknown> => {
    const rpcRequest = readRequest(original);
    if (rpcRequest === null) return Promise.reject(unreadable());
    // why: a wallet that throws rejects, as EIP-1193 has it
    if (!isJudged(rpcRequest, passes)) return new Promise((resolve) => resolve(provider.request(rpcRequest as never)));
    const loaded = (loading ??= judging());
    return loaded.then(
      (guardedRequest) => guardedRequest(rpcRequest),
      (error: unknown) => {
        // why: what did not load is tried again with the next request; nothing passes unjudged meanwhile
        if (loading === loaded) loading = null;
        return Promise.reject(error);
      },
    );
  };
};

/** The forms from before EIP-1193, which old pages still call: a method and its parameters, or a request and a listener. */
const sendingBy =
  (request: (original: RpcRequest) => Promise<unknown>) =>
  (first: string | (RpcRequest & { readonly id?: unknown }), second?: unknown): unknown => {
    if (typeof first === "string") return request({ method: first, params: second ?? [] });
    if (typeof second !== "function") return request(first);
    return void request(first).then(
      (result) => second(null, { id: first.id, jsonrpc: "2.0", result }),
      (error: unknown) => second(error),
    );
  };

/** A provider with these members in place of its own: of everything else only what tells and what listens. */
const proxyOf = <provider extends Provider>(provider: provider, own: ReadonlyMap<PropertyKey, unknown>): provider => {
  /** Data as a copy, and nothing of an object that may have ways to sign, such as another provider. */
  const shown = (value: unknown): unknown => {
    if (value === provider) return proxy;
    // why: a promise of another realm, or of a library, is no instance of ours
    const isLater = isRecord(value) && typeof value["then"] === "function";
    return isLater ? Promise.resolve(value).then(shown) : dataOf(value);
  };
  const wrappers = new WeakMap<object, unknown>();
  /** The same listener, always by the same wrapper, so that it can be removed. */
  const wrapped = (listener: unknown): unknown => {
    if (typeof listener !== "function") return listener;
    // guard: a listener that gets hold of the provider
    const wrapper =
      wrappers.get(listener) ??
      ((...args: ReadonlyArray<unknown>): unknown => Reflect.apply(listener, proxy, args.map(dataOf)));
    wrappers.set(listener, wrapper);
    return wrapper;
  };
  // why: neither the provider nor its prototype, which would show the provider's own `request`
  const proxy: provider = new Proxy({} as provider, {
    has: (_, name) => name in provider,
    // guard: a provider that is changed through its guard
    set: () => false,
    get: (_, name) => {
      const value: unknown = Reflect.get(provider, name);
      if (typeof value !== "function") {
        const isTold = telling.includes(String(name)) || !["object", "string"].includes(typeof value);
        // guard: what a provider holds beside its members
        return isTold ? shown(value) : undefined;
      }
      if (own.has(name)) return own.get(name);
      // guard: a member that may sign
      const isMember = members.includes(String(name));
      if (!isMember) return () => fail(new GuardRefused(String(name), "is no member of a provider that a guard knows"));
      // why: methods of a provider with private fields work on that provider alone; `on` answers with it
      return (...args: ReadonlyArray<unknown>): unknown => shown(Reflect.apply(value, provider, args.map(wrapped)));
    },
  });
  return proxy;
};

/** See `guardProvider` of `evm-preflight/promise`; `isAlone`: the wallet's own node is the only one that is asked. */
export const guardedProvider = <provider extends Provider>(
  provider: provider,
  on: Facade<NonceStore>,
  rules: GuardRules,
  options: RunOptions,
  isAlone: boolean,
): provider => {
  const memory = memoryOf(provider);
  const judging = Effect.map(
    lazyImport(() => import("./requests.js")),
    ({ guardRequest, guarding }) =>
      guardRequest(guarding({ on, rules, options, memory, isAlone }), (rpcRequest) =>
        provider.request(rpcRequest as never),
      ),
  );
  const request = requesting(provider, rules.passes, () => on.effect(judging));
  const proxy = proxyOf(provider, new Map(Object.entries({ request, send: sendingBy(request) })));
  alsoKnownBy(proxy, memory);
  return proxy;
};

/**
 * The store of the leases, with a nonce given back where the node refused its transaction for good: an account would stand
 * still behind it, for nobody keeps its lane. Only where one endpoint is asked: of several, another may have the bytes.
 */
export const leases = (nonces: Layer.Layer<NonceStore> = layerMemory, isSingle = true): Layer.Layer<NonceStore> =>
  isSingle ? Layer.merge(Layer.succeed(Settings, { ...defaults, recycleRejected: true }), nonces) : nonces;
