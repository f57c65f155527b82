/** Sending under reserved nonces, as the Promise door does it. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidTransaction, PartlySent, type NonceError, gap, NotProven } from "../errors/index.js";
import { getTransactionCount } from "../eth/index.js";
import * as Nonces from "../Nonces.js";
import { besideLane } from "../nonces/lane.js";
import { broadcast } from "../nonces/protocol/chain.js";
import { prove, reserving } from "../Preflight.js";
import type { Options } from "../pipeline/index.js";
import { copyOf, escapeText } from "../primitives/index.js";
import {
  isReservedAhead,
  digestOfReport,
  mismatch,
  ready,
  type BundleClearance,
  type BundleReport,
  type Report,
  type Request,
  type Wait,
} from "../report/index.js";
import { attempt, decides, type RunOptions } from "./facade.js";
import { functionGiven } from "./given.js";
import { withViemCause } from "./reverted.js";
import { Rpc } from "../rpc/index.js";
import { check } from "../Transaction.js";
import { hasUnsigned } from "../transaction/index.js";

/** Signs one cleared request; `index` is its place in the bundle. */
export type Sign = (request: Request, index: number) => Promise<`0x${string}`>;

/** A delivered bundle: proven, signed and sent under reserved nonces, in its order. */
export interface Delivered {
  /** The proven report that was cleared. */
  readonly report: BundleReport;
  /** Transactions that were sent, in the order of the requests. */
  readonly sent: ReadonlyArray<Nonces.Sent>;
}

/** Options of one delivery. */
export interface DeliverOptions extends RunOptions {
  /**
   * How long each nonce waits while the account has as many transactions in flight as it may, ms; then `NonceBusy`.
   * Default 0.
   */
  readonly waitMs?: number | undefined;
  /**
   * How to treat a proven report that is `caution`. `refuse` (default) rejects with `NotProven` of `Caution`. `send`
   * signs and sends it like one that is `ready`. A function decides for each report, for example by asking a person:
   * true within five minutes sends.
   */
  readonly onCaution?: "refuse" | "send" | ((report: Report) => boolean | Promise<boolean>) | undefined;
  /** How long a nonce is kept for the signature, ms. Default 60 s (`Nonces.Settings`). */
  readonly ttl?: number | undefined;
  /**
   * Waits for the receipt in the same request where the node has `eth_sendRawTransactionSync` or
   * `realtime_sendRawTransaction`: `sent[].receipt`. `timeout` is how long the node waits, ms. Where no receipt comes in
   * time, the transaction is `handed` as without it. Of a bundle the last transaction waits. Not with a `send` of the
   * client. Default false; see `Nonces.sendSync`.
   */
  readonly sync?: boolean | Nonces.SyncOptions | undefined;
}

/** Between two looks at the chain, ms. */
const lookEveryMs = 500;

const isMined = ({ account, nonce }: Wait) =>
  Effect.match(getTransactionCount({ address: account, block: "latest" }), {
    // why: a node in trouble is asked again until the time is over
    onFailure: () => false,
    onSuccess: (count) => count >= BigInt(nonce),
  });

/** Until all of it is mined; fails with `NotProven` of `NotMined` when that takes longer than `withinMs`. */
const untilMined = Effect.fnUntraced(function* (waits: ReadonlyArray<Wait>, withinMs: number) {
  const from = yield* Clock.currentTimeMillis;
  while (!(yield* Effect.forEach(waits, isMined, { concurrency: "unbounded" })).every(Boolean)) {
    if ((yield* Clock.currentTimeMillis) - from > withinMs) {
      const sentence = `the earlier transactions are not mined after ${withinMs} ms`;
      return yield* new NotProven({ missing: [gap("NotMined", sentence)] });
    }
    yield* Effect.sleep(lookEveryMs);
  }
});

/** Returns the rest of a report from place `first` of its bundle on. */
const restOf = (report: BundleReport, first: number): BundleReport => {
  const [transaction, ...others] = report.transactions.slice(first);
  if (first === 0 || transaction === undefined) return report;
  const transactions = [transaction, ...others] as const;
  const nothing = { transfers: [], balanceChanges: [], approvals: [], exposure: null, stateChanges: [] };
  return { ...report, transactions, digest: digestOfReport({ ...report, transactions }), ...nothing };
};

/** Returns what may yet be mined though its delivery failed. */
const heldBy = ({ lane, nonce }: Nonces.Lease, error: NonceError) =>
  error.mayBeSent && "hash" in error && error.hash !== null ? { lane: lane.id, nonce, hash: error.hash } : null;

const cautionGiven = (onCaution: unknown) =>
  onCaution === "refuse" || onCaution === "send"
    ? Result.void
    : Result.mapError(
        functionGiven("options.onCaution", onCaution),
        ({ field }) => new InvalidTransaction({ field, problem: 'must be "refuse", "send" or a function' }),
      );

/** The codes that a report warns by, but for that of a reservation: what is ahead of it is in the same store, and is sent. */
const warningsOf = ({ findings }: Report): ReadonlyArray<string> =>
  findings.flatMap((finding) => (finding.severity === "warning" && !isReservedAhead(finding) ? [finding.code] : []));

/** Fails where a report warns of what nobody agreed to; `agreed` are the codes of warnings that somebody did. */
const admit = Effect.fnUntraced(function* (
  report: Report,
  onCaution: NonNullable<DeliverOptions["onCaution"]>,
  agreed: Set<string>,
) {
  const warnings = warningsOf(report);
  if (warnings.every((code) => agreed.has(code))) return;
  const isSent = onCaution === "send" || (onCaution !== "refuse" && (yield* decides(onCaution, report)));
  if (!isSent)
    return yield* new NotProven({
      missing: [
        gap("Caution", `the verdict is caution, and \`onCaution\` does not allow it: ${escapeText(report.because)}`),
      ],
    });
  for (const code of warnings) agreed.add(code);
});

/** `Report.ready`, of reports whose warnings somebody agreed to; nothing is sent where it fails. */
const clearsBy = (onCaution: NonNullable<DeliverOptions["onCaution"]>) => {
  const agreed = new Set<string>();
  return (report: BundleReport): Effect.Effect<BundleClearance, unknown, Rpc> =>
    Effect.tap(
      Effect.mapError(ready(report), (error) => withViemCause(error, report)),
      () => admit(report, onCaution, agreed),
    );
};

/** Clears again what was signed from place `first` on, or fails with what now stands against it. */
const clearAgain = Effect.fnUntraced(function* (
  report: BundleReport,
  first: number,
  signed: ReadonlyArray<string>,
  { policies, descriptors }: Options,
  clears: ReturnType<typeof clearsBy>,
) {
  const again = yield* prove(restOf(report, first), { ...(policies && { policies }), descriptors });
  const clearance = yield* clears(again);
  // why: nobody sees the new outcome; of a part of the bundle there is no earlier one
  const changed = again.findings.find(({ code }) => first === 0 && code === "OutcomeChanged");
  if (changed?.error != null) return yield* changed.error;
  const wrong = mismatch(clearance, signed.slice(first));
  if (wrong !== null) return yield* wrong;
  return { again, expiresAt: clearance.expiresAt };
});

/** The input, checked; its nonces are reserved, so that it must have none. */
const withoutNonces = Effect.fnUntraced(function* (input: unknown) {
  const checked = yield* Rpc.use(({ defaults }) => check(input, defaults));
  if (hasUnsigned(checked.transactions[0]))
    return yield* new InvalidTransaction({
      field: "authorizationList",
      problem: "has an authorisation that is not signed, and deliver signs transactions alone",
    });
  const fixed = checked.transactions.findIndex(({ nonce }) => nonce !== null);
  if (fixed === -1) return checked;
  const field = Array.isArray(input) ? `[${fixed}].nonce` : "nonce";
  return yield* new InvalidTransaction({ field, problem: "is reserved by deliver, leave it out" });
});

/** The report of an input whose nonces are reserved, with the leases of them. */
const reservedFor = Effect.fnUntraced(function* (
  input: unknown,
  { waitMs, ttl }: { readonly waitMs: number; readonly ttl: number | undefined },
  options: Options,
) {
  let leases: ReadonlyArray<Nonces.Lease> = [];
  const reserve = reserving((scanned) =>
    Effect.map(Nonces.reserveAll(scanned, { waitMs, ...(ttl === undefined ? {} : { ttl }) }), (grants) => {
      leases = grants.flatMap((lease) => lease ?? []);
      return grants.map((lease) => lease?.nonce ?? null);
    }),
  );
  // why: no form of input, but one that was checked already
  const report = yield* reserve((yield* withoutNonces(input)) as never, options);
  return { report, leases };
});

/** The signed transactions of a clearance, in order, each exactly its request. */
const signedBy = Effect.fnUntraced(function* (sign: Sign, clearance: BundleClearance) {
  const signed = yield* Effect.forEach(clearance.requests, (request, index) =>
    attempt(() => sign(copyOf(request), index)),
  );
  const wrong = mismatch(clearance, signed);
  return wrong === null ? signed : yield* wrong;
});

/**
 * Scan, reserve, prove, sign, commit, send; the nonces are free again unless they were committed. A clearance that
 * expired before one of them is committed, while it was signed or those before it were sent, is proven again for it and
 * what is behind it. What waits for others to be mined (see
 * `Clearance.waits`) is committed and sent when they are, and when it was proven again then.
 */
export const deliverAll = Effect.fnUntraced(function* (
  sign: Sign,
  input: unknown,
  { waitMs = 0, ttl, sync, onCaution = "refuse", ...options }: DeliverOptions,
  clears: ReturnType<typeof clearsBy> = clearsBy(onCaution),
) {
  yield* Effect.fromResult(functionGiven("sign", sign));
  yield* Effect.fromResult(cautionGiven(onCaution));
  const given = yield* Effect.fromResult(besideLane({ waitMs, ttl, sync }, ["waitMs", "ttl", "sync"]));
  const sendLast = given.sync ? Nonces.sendSync(given.sync) : broadcast;
  const { report, leases } = yield* reservedFor(input, { waitMs, ttl }, options);
  const clearance = yield* clears(report);
  const signed = yield* signedBy(sign, clearance);
  if (leases.length !== signed.length)
    return yield* new NotProven({ missing: [gap("RequestIncomplete", "a transaction has no nonce of its own")] });
  let lastReport = report;
  let { expiresAt } = clearance;
  const sent: Array<Nonces.Sent> = [];
  let inDoubt: typeof PartlySent.Type.inDoubt = null;
  const deliver = Effect.fnUntraced(function* (lease: Nonces.Lease, index: number) {
    const waits = clearance.waits.filter(({ transaction }) => transaction === index);
    if (waits.length > 0) yield* untilMined(waits, lease.leaseMs);
    // why: those before it took their time too, or its store and node did
    if (waits.length > 0 || (yield* Clock.currentTimeMillis) > expiresAt) {
      const cleared = yield* clearAgain(lastReport, index, signed, options, clears);
      ({ expiresAt } = cleared);
      if (index === 0) lastReport = cleared.again;
    }
    // why: the others would wait for a block each, and what was proven of those behind them would grow old
    const send = index === leases.length - 1 ? sendLast : broadcast;
    const result = yield* Effect.result(Nonces.deliver(lease, signed[index] ?? "0x", send));
    if (result._tag === "Success") return void sent.push(result.success);
    inDoubt = heldBy(lease, result.failure);
    return yield* result.failure;
  });
  yield* Effect.mapError(Effect.forEach(leases, deliver, { discard: true }), (error) =>
    sent.length === 0
      ? error
      : new PartlySent({
          sent: sent.map(({ lane, nonce, hash }) => ({ lane: lane.id, nonce, hash })),
          inDoubt,
          left: leases.length - sent.length - (inDoubt === null ? 0 : 1),
          detail: error instanceof Error ? error.message : String(error),
        }),
  );
  return { report: lastReport, sent };
}, Effect.scoped);
