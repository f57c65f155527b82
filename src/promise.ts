/** evm-preflight without Effect: Promises that reject with the tagged errors themselves. */
import { leases, guardedProvider, rulesIn, type Provider } from "./guard/provider.js";
import type { GuardRules } from "./guard/rules.js";
import { clientWith, type Connection, type Defaults, type PreflightClient } from "./promise/client.js";
import type * as Promises from "./promise/facade.js";
import { sending, settling, watching } from "./promise/parts.js";
import type { Steps, WrittenSteps } from "./promise/steps.js";
import type * as Rpc from "./Rpc.js";

export type { Connection, Defaults, Deliver, PreflightClient, SingleConnection } from "./promise/client.js";
export type { Delivered, DeliverOptions, Sign } from "./promise/deliver.js";
export type {
  Abortable,
  Actions,
  Facade,
  KeepEvent,
  Log,
  LogEvent,
  ReportEvent,
  RequestEvent,
  RunOptions,
} from "./promise/facade.js";
export type { NonceActions, Send } from "./promise/nonces.js";
export type { PlainStep, StepContext, Steps, WrittenSteps } from "./promise/steps.js";
export { GuardRefused, NotCleared, SentByOther, Tampered, Unverified } from "./guard/failures.js";
export { releaseHeld } from "./guard/held.js";
export type { Provider } from "./guard/provider.js";
export type { GuardRules, SettledCalls, SignaturePayload } from "./guard/rules.js";
export type { ProveRule, SignatureRules } from "./guard/provable.js";
export type {
  DescribedCall,
  DescriptorRenderer,
  NameContext,
  NameSources,
  Options,
  SourceAnswer,
  SourceOptions,
} from "./pipeline/index.js";
/** Reports without Effect: `ready` and `fromJson` as Promises, `toText`, `summary` and `toJson` as they are. */
export * as Report from "./promise/report.js";
export type { Watched } from "./watch/watch.js";

/**
 * The pipeline on one connection, as Promises. `defaults` are the options of every call that gives no others. `steps`
 * of your own, and `without` (built-in steps to leave out), stand beside the connection and hold for every verb.
 *
 * The pipeline itself is loaded (`import()`) as soon as a client is made: a page makes its client before it needs a report.
 * If it cannot be loaded, calls reject with what kept it from coming.
 * Runs are independent of each other. Call `dispose` when done, or use `await using`. Throws `InvalidConnection` where
 * the connection is wrong, and `InvalidStep` where a step is.
 *
 * @example
 * ```ts
 * import { createPreflight } from "evm-preflight/promise";
 *
 * const preflight = createPreflight({ url: "http://127.0.0.1:8545" }, { maxAge: "20 seconds" });
 * const report = await preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * });
 * const { requests } = await preflight.ready(report); // exactly this may be signed
 * await preflight.dispose();
 * console.log(report.verdict, requests[0].gas); // ready 21000n
 * ```
 */
export const createPreflight: {
  <client extends Rpc.ViemClient, A, B, C, D, E, F>(
    connection: Connection<client> & WrittenSteps<A, B, C, D, E, F>,
    defaults?: Defaults,
  ): PreflightClient<Rpc.SenderOf<client>>;
  <client extends Rpc.ViemClient = Rpc.ViemClient>(
    connection: Connection<client> & Steps,
    defaults?: Defaults,
  ): PreflightClient<Rpc.SenderOf<client>>;
} = <client extends Rpc.ViemClient>(
  connection: Connection<client> & Promises.GivenSteps,
  given?: Defaults,
): PreflightClient<Rpc.SenderOf<client>> => clientWith([sending, settling, watching], connection, given);

/**
 * Options of a guard: its rules, and those of every preflight. `nonces` is the store of local accounts; a JSON-RPC account sends one
 * at a time, without a lease.
 */
export interface GuardOptions extends GuardRules, Steps, Omit<Defaults, "send" | "heads"> {
  /**
   * The node that is asked everything, as {@link createPreflight}'s first argument; the provider itself when left out,
   * which mostly cannot simulate. A node of another chain is refused.
   */
  readonly node?: Connection | undefined;
}

/**
 * A change by the wallet is detected, not prevented, because the key is the wallet's. It gets every field of what was
 * cleared, one transaction at a time. What it sent is read back by its hash and compared (`Tampered`).
 *
 * The same provider with `eth_sendTransaction`, `eth_signTransaction`, `eth_sendRawTransaction` and `wallet_sendCalls`
 * guarded: they are scanned and proven first, and rejected with `NotCleared` where the report gives no clearance.
 * `wallet_sendCalls` is proven as one bundle and passed on with the values that were proven: a proof of its outcome, not of its
 * bytes; `onSettled` gets the outcome. Signatures of messages and typed data, and methods of a wallet that are not known
 * here, are refused unless `signatures` allows or proves them. A chain that the page adds is `unknown` from then on (`NodeNamedByPage`),
 * unless `node` is given. Any other request that signs, sends or grants rights is refused.
 * Reads pass. Event listeners get copies of data alone. Nothing has to be disposed of.
 *
 * It has the members of EIP-1193, of events and of connecting; any other function throws `GuardRefused`. Data such as
 * `session` is a copy, other objects and texts (`providers`, `signer`) are left out, and nothing can be set. The wallet that
 * you pass stays unguarded: keep it to yourself.
 *
 * Errors have `code` and `data` (EIP-1193): −32003 of `NotCleared`, 3 of one for a call that reverts, −32603 of `Tampered`
 * with `data.hash`, −32001 of `Unverified` and `SentByOther`, whose account is held (`releaseHeld`), 4100, 5700 and 5760 of `GuardRefused`. Throws `InvalidConnection`, which names the wrong option. JSON-RPC: as `createPreflight`, and
 * `eth_chainId`, `eth_getTransactionByHash`, `eth_getTransactionCount`.
 *
 * @example
 * ```ts
 * import { createClient, http } from "viem";
 * import { guardProvider } from "evm-preflight/promise";
 *
 * const { request } = createClient({ transport: http("http://127.0.0.1:8545") }); // in a page: window.ethereum
 * const wallet = guardProvider({ request });
 * const more = { from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: "0xd3c21bcecceda1000000" } as const;
 * const refused = await wallet.request({ method: "eth_sendTransaction", params: [more] }).catch((error) => error._tag);
 * console.log(refused); // NotCleared
 * ```
 */
export const guardProvider = <provider extends Provider>(provider: provider, options: GuardOptions = {}): provider => {
  const { rules, others } = rulesIn(options);
  const { node, steps, without, log, nonces: _, ...runOptions } = others;
  const connection = { ...(node ?? { provider }), steps, without } as Connection & Steps;
  const on = createPreflight(connection, { ...runOptions, log, nonces: leases() });
  return guardedProvider(provider, on, rules, runOptions, node == null);
};
