/**
 * The pipeline as actions of a viem client.
 *
 * ```ts
 * const client = createPublicClient({ transport: http(url) }).extend(preflightActions())
 * const report = await client.preflight({ from, to, value: 1n })
 * const { requests } = await client.ready(report)
 * ```
 */
import type { Client } from "viem";
import { guardClient } from "./guard/client.js";
import { leases, rulesIn } from "./guard/provider.js";
import { memoryOf } from "./guard/held.js";
import { guarding } from "./guard/rules.js";
import { createPreflight, type Connection, type GuardOptions } from "./promise.js";
import * as Promises from "./promise/facade.js";
import { lazyImport } from "./primitives/effects.js";
import { defaultsGiven } from "./promise/given.js";
import { loadSettling } from "./promise/parts.js";
import type { Steps, WrittenSteps } from "./promise/steps.js";
import { isRecord } from "./primitives/index.js";
import type { BundleReport, Report } from "./Report.js";
import * as Rpc from "./Rpc.js";
import type { GivenSigning } from "./signing/index.js";
import type { CallBatch } from "./Transaction.js";

export type { PlainStep, Steps } from "./promise/steps.js";
export type { Defaults, Log, RunOptions } from "./promise/facade.js";

/** A signature whose signer the client's account is, where it names none. */
export type ClientsSigning<signing> = signing extends { readonly signer: unknown }
  ? Omit<signing, "signer"> & Partial<Pick<signing, "signer">>
  : never;

/** The verbs, as {@link preflightActions} adds them to a client; no interface, for `client.extend` takes none. */
export type PreflightActions<sender extends "caller" | "client" = "caller"> = Omit<
  Promises.Actions<sender>,
  "signature" | "callBatch" | "userOperation" | "safeTransaction"
> & {
  /** `Preflight.userOperation`. */
  preflightUserOperation: Promises.Actions["userOperation"];
  /** `Preflight.safeTransaction`. */
  preflightSafeTransaction: Promises.Actions["safeTransaction"];
  /** `Preflight.callBatch`; `from` is the client's account where it has one and none is named. */
  preflightCalls: (
    batch: sender extends "client" ? Omit<CallBatch, "from"> & Partial<Pick<CallBatch, "from">> : CallBatch,
    options?: Promises.RunOptions,
  ) => Promise<BundleReport>;
  /** `Preflight.signature`; `signer` is the client's account where it has one and none is named. */
  preflightSignature: (
    signing: sender extends "client" ? ClientsSigning<GivenSigning> : GivenSigning,
    options?: Promises.RunOptions,
  ) => Promise<Report>;
};

/**
 * For `client.extend`. Requests go through the client's own transport, its batching included; its retries are off. Its
 * chain and account are those of every transaction that names none; a transaction that names others is refused.
 *
 * `defaults` has the options of every call and the listeners, and for every verb `steps` of your own and `without`,
 * the built-in steps to leave out. Throws `InvalidStep` where something is not a step.
 *
 * @example
 * ```ts
 * import { createPublicClient, http } from "viem";
 * import { preflightActions } from "evm-preflight/viem";
 *
 * const client = createPublicClient({ transport: http("http://127.0.0.1:8545") }).extend(preflightActions());
 * const report = await client.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * });
 * console.log(report.verdict); // ready
 * ```
 */
export const preflightActions: {
  <A, B, C, D, E, F>(
    defaults: Promises.Defaults & WrittenSteps<A, B, C, D, E, F>,
    rpc?: Rpc.Options,
  ): <client extends Rpc.ViemClient>(client: client) => PreflightActions<Rpc.SenderOf<client>>;
  (
    defaults?: Promises.Defaults & Steps,
    rpc?: Rpc.Options,
  ): <client extends Rpc.ViemClient>(client: client) => PreflightActions<Rpc.SenderOf<client>>;
} =
  (given?: Promises.Defaults & Promises.GivenSteps, rpc?: Rpc.Options): ReturnType<typeof preflightActions> =>
  (client) => {
    const { steps, without, ...defaults } = defaultsGiven(given);
    const {
      effect: _,
      dispose: __,
      signature,
      callBatch,
      userOperation,
      safeTransaction,
      ...actions
    } = Promises.make(Rpc.layerClient(client, rpc), defaults, { steps, without }, lazyImport(loadSettling));
    const signer = client.account?.address;
    const isOfClient = (signing: unknown) => isRecord(signing) && signing["signer"] == null && signer !== undefined;
    return {
      ...actions,
      preflightUserOperation: userOperation,
      preflightSafeTransaction: safeTransaction,
      preflightCalls: (batch: object, options?: Promises.RunOptions) =>
        // the pipeline refuses what is no batch
        callBatch(
          (isRecord(batch) && batch["from"] == null && signer !== undefined
            ? { ...batch, from: signer }
            : batch) as CallBatch,
          options,
        ),
      preflightSignature: (signing: object, options?: Promises.RunOptions) =>
        // the pipeline refuses what is no signature
        signature((isOfClient(signing) ? { ...signing, signer } : signing) as GivenSigning, options),
    };
  };

export { GuardRefused, NotCleared, SentByOther, Tampered, Unverified } from "./guard/failures.js";
export { releaseHeld } from "./guard/held.js";
export type { GuardOptions } from "./promise.js";

/**
 * With a JSON-RPC account a change by the wallet is detected, not prevented; with a local account it is prevented, because its key
 * signs only what was cleared.
 *
 * A new client of the same type. Of a local account every send is scanned, proven, signed, held to `Report.matches` and then
 * broadcast, under a nonce of the store (`nonces`). A wallet is given every field of what was cleared; what it sent is read back
 * by its hash and compared. Of the account only what viem's accounts have is kept, and of the transport only its data.
 *
 * It holds for the client's verbs, for viem's free actions on it, and for what extends it later. `signTransaction` fills what was
 * left out from the clearance and leases no nonce. Raw bytes pass only where this guard cleared them, and take their nonce in the
 * store: of two with one nonce the second is refused; a `nonce` in `client.sendTransaction` replaces. A node's refusal gives
 * the nonce back, but with viem's `fallback`, where another may have the bytes. Messages, typed data, bare hashes and
 * authorisations are refused unless `signatures` allows them. A serializer of the caller's or the chain's is not used.
 *
 * Another local account that is named in a call of the client's own verbs is guarded as well. viem's free actions sign with the
 * very account they are given: there the guard sees only the bytes, and does not send them. So hand out no account but
 * `client.account`.
 *
 * Rejects with `NotCleared` (the report is `blocked`, `unknown`, or a `caution` that `onCaution` does not accept; viem's verbs
 * have it as `cause`), `GuardRefused`, `InvalidTransaction`, and of a wallet with `Tampered` of what was sent changed, with `Unverified` of what nobody
 * shows and `SentByOther` of another's; these hold the account (`releaseHeld`). Throws
 * `InvalidConnection` of a wrong option, of a smart account, and of a client with actions of others: guard first, then extend.
 * JSON-RPC: as `createPreflight`, and `eth_chainId`, `eth_getTransactionByHash`, `eth_getTransactionCount`, `eth_sendRawTransaction`.
 *
 * @example
 * ```ts
 * import { createWalletClient, http } from "viem";
 * import { anvil } from "viem/chains";
 * import { guard } from "evm-preflight/viem";
 *
 * const wallet = guard(createWalletClient({ account: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", chain: anvil, transport: http("http://127.0.0.1:8545") }));
 * const sent = wallet.sendTransaction({ to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 10n ** 30n });
 * console.log(await sent.catch((error) => error.cause._tag)); // NotCleared
 * ```
 */
export const guard = <client extends Client>(client: client, options: GuardOptions = {}): client => {
  const { rules, others } = rulesIn(options);
  const { node, steps, without, nonces, log, ...runOptions } = others;
  const send = (raw: `0x${string}`) =>
    client.request({ method: "eth_sendRawTransaction", params: [raw] } as never, { retryCount: 0 });
  const connection = { ...(node ?? { client: { ...client, account: undefined } }), steps, without } as Connection &
    Steps;
  const on = createPreflight(connection, {
    ...runOptions,
    ...{ log, send, nonces: leases(nonces, client.transport["type"] !== "fallback") },
  });
  const memory = memoryOf(client.transport);
  return guardClient(client, guarding({ on, rules, options: runOptions, memory, isAlone: node == null }));
};
