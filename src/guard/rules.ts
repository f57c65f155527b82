/** The rules of a guard, what they let pass, and the one place that turns an input into a clearance or a refusal. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import * as Duration from "effect/Duration";
import { BaseError } from "viem";
import { copyOf, type Difference, type Hash, isAddress, isRecord, safely } from "../primitives/index.js";
import { withViemCause } from "../promise/reverted.js";
import { attempt, decides, type Facade, type RunOptions } from "../promise/facade.js";
import type { Comparison, Settled } from "../settle/settlement.js";
import {
  isReservedAhead,
  mismatch,
  times,
  type BundleClearance,
  type BundleReport,
  type Clearance,
  type Report,
  type Request,
  namedByPage,
} from "../report/index.js";
import type { NonceStore } from "../nonces/service.js";
import { getTransactionCount } from "../eth/index.js";
import { isOneByFields } from "../transaction/index.js";
import { paramsOf, type RpcRequest } from "./methods.js";
import { beOfViem, type GuardRefused, NotCleared, refused } from "./failures.js";
import { heldKey, type Memory } from "./held.js";
import type { ProveRule, SignatureRules } from "./provable.js";
import { signInProblem, textOf } from "../signing/signIn.js";

/** A signature of something that is no transaction. */
export interface SignaturePayload {
  /**
   * `hash`: bare 32 bytes, which may be anything. `authorization`: EIP-7702, which gives the account away. `method`: a wallet's
   * method that the guard does not know; `content` is the request.
   */
  readonly kind: "message" | "typedData" | "hash" | "authorization" | "method";
  /** The account that is to sign; null where the request does not name it. */
  readonly address: string | null;
  /** The content that is to be signed, as the caller gave it. */
  readonly content: unknown;
  /** Typed data (EIP-712) as an object, of `content` that is such or its JSON text; absent of any other. */
  readonly typedData?: {
    readonly domain: Readonly<Record<string, unknown>>;
    readonly types: Readonly<Record<string, ReadonlyArray<{ readonly name: string; readonly type: string }>>>;
    readonly primaryType: string;
    readonly message: Readonly<Record<string, unknown>>;
  };
}

/**
 * Calls against what was said: their status and every event, for nonces, gas and fees are the wallet's. Of an atomic
 * batch all calls are compared as one, so that events of the wallet's own, such as an entry point's, are differences, too.
 */
export interface SettledCalls extends Comparison {
  /** `same`, or `unknown` where anything differs: the cause is not searched. */
  readonly class: Settled["class"];
  /** The transactions that hold the calls, by the wallet's word, none where it names more than calls; their receipts are the node's. */
  readonly hashes: ReadonlyArray<Hash>;
  /** The report that the calls are compared with. */
  readonly report: Report;
}

/** Rules of a guard: what a person or your code decides, within five minutes; who has not answered by then has not allowed it. */
export interface GuardRules {
  /** Rule for a report with warnings: if it is signed. Default `refuse`. A function that throws or rejects refuses. */
  readonly onCaution?: "refuse" | "send" | ((report: Report) => boolean | Promise<boolean>) | undefined;
  /**
   * Rule for messages, typed data, bare hashes, EIP-7702 authorisations, unknown methods of a wallet. Default `refuse`.
   * `signIn` lets pass only messages that sign the account in (ERC-4361) at `origin`, such as `https://app.example`, on the
   * wallet's chain and now. Its resources are links, and its statement speaks of no order. `prove` has typed data, sign-ins and
   * authorisations preflighted, and lets pass what a report clears: see {@link ProveRule}.
   */
  readonly signatures?:
    | "refuse"
    | "allow"
    | SignatureRules
    | ((payload: SignaturePayload) => boolean | Promise<boolean>)
    | undefined;
  /**
   * Rule for a nonce, gas limit or fee that the wallet's user changed: if it is accepted; default `reject`, with
   * `Tampered`. It is sent by then. Any other change always rejects.
   */
  readonly onChanged?: "reject" | ((differences: ReadonlyArray<Difference>) => boolean | Promise<boolean>) | undefined;
  /**
   * Rule for a hash of which neither the node nor the wallet shows the transaction, as behind a private relay: if it is
   * accepted; default `reject`, with `Unverified`, and the account is held. `accept` waits for the deadline alone; a
   * function is asked after 30 s, two blocks or the deadline, whichever is longest.
   */
  readonly onUnverified?: "reject" | "accept" | ((hash: Hash) => boolean | Promise<boolean>) | undefined;
  /**
   * Gets the outcome of calls that went through `wallet_sendCalls`, at each `wallet_getCallsStatus` to which the wallet
   * answers that they are done. Receipts that the node does not have yet are left out.
   */
  readonly onSettled?: ((settled: SettledCalls) => unknown) | undefined;
  /**
   * Names of further methods that pass as reads do, such as `eth_getFoo`. A method that signs, sends, or is judged by what it
   * asks for may not be among them.
   */
  readonly passes?: ReadonlyArray<string> | undefined;
}

/** Sends a request on, to the wallet or the node behind the guard. */
export type Pass = (rpcRequest: RpcRequest, options?: unknown) => Promise<unknown>;

/** A guard's pipeline, rules and memory. */
export interface Guarding {
  readonly on: Facade<NonceStore>;
  readonly rules: GuardRules;
  readonly options: RunOptions;
  /** Signed bytes that this guard cleared, and until when, epoch ms. */
  readonly cleared: Map<string, { readonly report: BundleReport; readonly expiresAt: number }>;
  /** Senders and nonces that callers named just now, to replace what is in flight. */
  readonly named: Set<string>;
  /** Bundles that went through `wallet_sendCalls`, by the wallet's id. */
  readonly calls: Map<string, BundleReport>;
  readonly memory: Memory;
  /** True if the wallet's own node is the only one that is asked. */
  readonly isAlone: boolean;
}

export const guarding = (given: Pick<Guarding, "on" | "rules" | "options" | "memory" | "isAlone">): Guarding => ({
  ...{ ...given, cleared: new Map(), calls: new Map(), named: new Set() },
});

/** Entries that are remembered at most: the oldest goes first. */
const mostKept = 256;
export const keep = <A>(all: Map<string, A>, key: string, value: A): void => {
  const [oldest] = all.keys();
  if (all.size >= mostKept && oldest !== undefined) all.delete(oldest);
  all.set(key, value);
};

/** One at a time of a sender: a popup that nobody answers holds up no other account. */
export const inTurn = <A, E, R>({ memory: { turns } }: Guarding, from: string, send: Effect.Effect<A, E, R>) => {
  // guard: one account that waits for another
  const name = from;
  const turn = turns.get(name) ?? Semaphore.makeUnsafe(1);
  if (!turns.has(name)) keep(turns, name, turn);
  return turn.withPermit(send);
};

/** True if a rule lets something pass: its one word does, else only a `true` in time, and what it throws does not. */
export const allows = <A>(
  rule: string | object | ((about: A) => boolean | Promise<boolean>) | undefined,
  word: "send" | "allow" | "accept" | null,
  about: A,
): Effect.Effect<boolean> => {
  if (typeof rule !== "function") return Effect.succeed(word !== null && rule === word);
  return Effect.orElseSucceed(decides(rule as (about: A) => unknown, about), () => false);
};

/** The chain of the wallet, which a request that names another is refused on. */
export const chainOf = ({ options }: Guarding, pass: Pass, ...chainIds: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    // guard: a wallet that never says its chain
    const within = safely(() => Duration.toMillis(options.deadline ?? times.deadline.absent), times.deadline.absent);
    const mute = () => refused("eth_chainId", `the wallet did not answer within ${within} ms`);
    const asking = attempt(() => pass({ method: "eth_chainId" }));
    const chainId = Number(yield* Effect.timeoutOrElse(asking, { duration: within, orElse: mute }));
    const other = chainIds.find((named) => {
      // guard: a chain that wallets read otherwise than the guard
      const isExact = typeof named === "string" ? /^0x[\da-f]+$/i.test(named) : typeof named === "number";
      return named != null && !(isExact && Number(named) === chainId);
    });
    // guard: a request for another chain than the wallet's
    if (other !== undefined)
      return yield* refused("chainId", `the wallet is on chain ${chainId}, the request is for ${String(other)}`);
    return chainId;
  });

/** The origin of the rule about signing in; null of any other rule. */
export const originIn = ({ signatures }: GuardRules): string | null =>
  typeof signatures === "object" ? (signatures.signIn?.origin ?? null) : null;

/** The rule by which signatures are proven; null of any other rule. */
export const proveIn = ({ signatures }: GuardRules): ProveRule | null =>
  typeof signatures === "object" ? (signatures.prove ?? null) : null;

/** Fails unless the rules let this be signed. */
export const allowSignature = (guard: Guarding, pass: Pass, method: string, payload: SignaturePayload) =>
  Effect.gen(function* () {
    // guard: a signature of what is no transaction
    if (yield* allows(guard.rules.signatures, "allow", payload)) return;
    const origin = originIn(guard.rules);
    const { kind, address, content } = payload;
    const text = kind === "message" ? textOf(content) : null;
    if (origin === null || address === null || text === null)
      return yield* refused(
        method,
        "signs something that no simulation shows; allow it with `signatures` if you mean to",
      );
    const chainId = yield* chainOf(guard, pass);
    const problem = signInProblem(text, { origin, address, chainId, now: yield* Clock.currentTimeMillis });
    // guard: a message that is more than a sign-in
    if (problem !== null) return yield* refused(method, `signs a message that is no sign-in: ${problem}`);
  });

/** Messages, typed data, bare hashes, authorisations, and connecting with a sign-in. */
const kinds: ReadonlyArray<readonly [RegExp, SignaturePayload["kind"]]> = [
  [/^(personal_sign|wallet_connect)$/, "message"],
  [/^\w+_signTypedData\w*$/, "typedData"],
  [/^eth_sign$/, "hash"],
  [/^(eth|wallet)_signAuthorization$/, "authorization"],
];

/** Typed data as an object. */
const typedDataIn = (content: unknown): Pick<SignaturePayload, "typedData"> => {
  const read: unknown = typeof content === "string" ? safely(() => JSON.parse(content) as unknown, null) : content;
  if (!isRecord(read)) return {};
  const { domain = {}, types, primaryType, message } = read;
  const isField = (field: unknown) =>
    isRecord(field) && typeof field["name"] === "string" && typeof field["type"] === "string";
  const isTyped =
    isRecord(types) && Object.values(types).every((struct) => Array.isArray(struct) && struct.every(isField));
  if (!isTyped || typeof primaryType !== "string" || !isRecord(domain) || !isRecord(message)) return {};
  return { typedData: { domain, types: types as never, primaryType, message } };
};

/** Returns what is to be signed, for the rules. */
export const payloadWith = (
  kind: SignaturePayload["kind"],
  address: string | null,
  content: unknown,
): SignaturePayload => ({ kind, address, content, ...(kind === "typedData" ? typedDataIn(content) : {}) });

/** The account first, or last: `personal_sign` has the message in front, and wallets take both in any order. */
export const payloadOf = (rpcRequest: RpcRequest): SignaturePayload => {
  const [first, second] = paramsOf(rpcRequest);
  const [, kind] = kinds.find(([pattern]) => pattern.test(rpcRequest.method)) ?? [];
  if (kind === undefined) return { kind: "method", address: null, content: rpcRequest };
  const [front, another] = rpcRequest.method === "personal_sign" ? [second, first] : [first, second];
  const [address, content] = !isAddress(front) && isAddress(another) ? [another, front] : [front, another];
  return isAddress(address) ? payloadWith(kind, address, content) : payloadWith(kind, null, rpcRequest.params);
};

/** True if a report warns of more than a reservation of the same store, whose predecessors are sent, too. */
const isWarned = ({ verdict, findings }: Report): boolean =>
  verdict === "caution" && findings.some((finding) => finding.severity === "warning" && !isReservedAhead(finding));

/** Fails while a sender may have something in flight: until it is shown, its nonce is passed, or it is released. */
export const free = Effect.fnUntraced(function* ({ memory: { held } }: Guarding, { chainId, transactions }: Report) {
  for (const from of new Set(transactions.map(({ input }) => input.from))) {
    const key = heldKey(chainId, from);
    const last = held.get(key);
    if (last === undefined) continue;
    const counting = getTransactionCount({ address: from, block: "latest" });
    const isPassed = (yield* Effect.orElseSucceed(counting, () => 0n)) > BigInt(last.nonce);
    const what = last.hash ?? "a transaction of which it told no hash";
    // why: a second payment while the first may be in flight
    if (!isPassed && !(yield* last.isShown))
      return yield* refused(
        "from",
        `one may be in flight: the wallet was handed ${what}, and nobody shows it; do not send again, or call \`releaseHeld\``,
      );
    held.delete(key);
  }
});

/** The report, which is `unknown` where a page named the only node that was asked. */
const doubted = <R extends Report>({ memory, isAlone }: Guarding, report: R): R => {
  const isNamed = isAlone && report.chainId !== null && memory.pageChains.has(report.chainId);
  // guard: a proof by a node that the page named
  return isNamed ? namedByPage(report) : report;
};

/** The refusal of a report, with viem's error behind a call that reverts. */
const notCleared = (report: Report, cause: unknown): NotCleared => {
  beOfViem(BaseError);
  return new NotCleared(report, withViemCause(cause, report));
};

/** The clearance of a report, under the rules; fails with `NotCleared`, or `GuardRefused` of an account that is held. */
export const clear = Effect.fnUntraced(function* <R extends Report>(guard: Guarding, made: R) {
  const { on, rules } = guard;
  const report = doubted(guard, made);
  yield* free(guard, report);
  const clearance = yield* Effect.mapError(
    attempt(() => on.ready(report)),
    (cause) => notCleared(report, cause),
  );
  // guard: an authorisation that nobody has signed
  if (report.transactions.length > 0 && clearance.signs.length > 0)
    return yield* refused("authorizationList", "has an authorisation that is not signed: sign it first");
  // guard: a caution that nobody accepted
  if (isWarned(report) && !(yield* allows(rules.onCaution, "send", report)))
    return yield* Effect.fail(notCleared(report, undefined));
  return clearance;
});

/** Refuses inputs that are not the fields of one transaction each. */
export const oneEach = (inputs: ReadonlyArray<unknown>): Effect.Effect<void, GuardRefused> =>
  // guard: bytes, or several transactions, where one is signed
  inputs.every(isOneByFields) ? Effect.void : refused("transaction", "must be the fields of one transaction");

/** Scan, proof and clearance of an input; fails with `InvalidTransaction` or `NotCleared`. */
export const preflight = Effect.fnUntraced(function* (guard: Guarding, input: unknown) {
  yield* oneEach(Array.isArray(input) ? input : [input]);
  return yield* preflightBatch(guard, input);
});

/** The same of a batch of calls, whose fields were judged. */
export const preflightBatch = Effect.fnUntraced(function* (guard: Guarding, batch: unknown) {
  const report = yield* attempt(() => guard.on.preflight(batch as never));
  return { report, clearance: yield* clear(guard, report) };
});

/**
 * The cleared request, signed: the bytes are held to the clearance, and where it expired meanwhile, the report is proven
 * again before they are handed out.
 */
export const signed = (guard: Guarding, input: unknown, sign: (request: Request) => Promise<`0x${string}`>) =>
  Effect.gen(function* () {
    const { report, clearance } = yield* preflight(guard, input);
    const raw = yield* attempt(() => sign(copyOf(clearance.requests[0])));
    yield* hold(guard, report, clearance, raw);
    return raw;
  });

/** Signed bytes held to their clearance, and remembered as those that may be sent. */
export const hold = (guard: Guarding, report: BundleReport, clearance: BundleClearance, raw: string) =>
  Effect.gen(function* () {
    // guard: signed bytes that are not the cleared request
    const wrong = mismatch(clearance, [raw]);
    if (wrong !== null) return yield* Effect.fail(wrong);
    const isOther = (again: BundleClearance) => mismatch(again, [raw]);
    keep(guard.cleared, raw.toLowerCase(), yield* renewed(guard, report, clearance.expiresAt, isOther));
  });

/** Returns the clearance by which what was signed may be given out now: proven again where it has expired. */
export const renewed = Effect.fnUntraced(function* <R extends Report>(
  guard: Guarding,
  report: R,
  until: number,
  wrongIn: (clearance: R extends BundleReport ? BundleClearance : Clearance, report: R) => Error | null,
  options: RunOptions = {},
) {
  // guard: a clearance that expired while it was signed
  if ((yield* Clock.currentTimeMillis) <= until) return { report, expiresAt: until };
  const again = yield* attempt(() => guard.on.prove(report, options));
  const clearance = yield* clear(guard, again);
  // guard: an outcome that changed while it was signed
  const changed = again.findings.find(({ code }) => code === "OutcomeChanged");
  if (changed !== undefined) return yield* Effect.fail(notCleared(again, changed.error));
  const wrong = wrongIn(clearance, again);
  return wrong === null ? { report: again, expiresAt: clearance.expiresAt } : yield* Effect.fail(wrong);
});
