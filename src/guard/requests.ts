/** The JSON-RPC methods that sign or send, guarded; every other one passes as it is. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { concat, numberToHex } from "viem";
import { getTransaction } from "../eth/index.js";
import { isHash, type Hash } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { compareRequest } from "../postflight/compare.js";
import { attempt } from "../promise/facade.js";
import type { Rpc } from "../rpc/index.js";
import type { Report, Request } from "../report/schema.js";
import { GuardRefused, isJudged, Tampered } from "./failures.js";
import { allows, hold, keep, preflight, renewed, type Guarding, type SignaturePayload } from "./rules.js";
import { bundleOf, inputOf, transactionOf } from "./wire.js";

export { guarding } from "./rules.js";

/** One request, as EIP-1193 has it. */
export interface Asked {
  readonly method: string;
  readonly params?: unknown;
}

/** Sends a request on, to the wallet or the node behind the guard. */
export type Pass = (asked: Asked) => Promise<unknown>;

/** A local account's own way to send a bundle; null for accounts whose key is the wallet's. */
export type Deliver = ((bundle: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Hash>, unknown, never>) | null;

const paramsOf = ({ params }: Asked): ReadonlyArray<unknown> => (Array.isArray(params) ? params : []);

/** What a wallet's user may be allowed to change; everything else is another transaction. */
const changeable = ["nonce", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "maxFeePerBlobGas", "type"].map(
  (field) => `request ${field}`,
);

/** Between two looks for a transaction that a wallet sent, ms. */
const lookEveryMs = 250;

/** The chain of the wallet, which a request that names another is refused on. */
export const chainOf = (pass: Pass, wanted?: unknown) =>
  Effect.gen(function* () {
    const chainId = Number(yield* attempt(() => pass({ method: "eth_chainId" })));
    // why: a request for another chain than the wallet's
    if (wanted != null && Number(wanted) !== chainId)
      return yield* Effect.fail(
        new GuardRefused("chainId", `the wallet is on chain ${chainId}, the request is for ${Number(wanted)}`),
      );
    return chainId;
  });

/** What the wallet sent, held to what was cleared. */
const verify = Effect.fnUntraced(function* (
  { rules }: Guarding,
  report: Report,
  request: Request,
  from: string,
  hash: unknown,
) {
  const withinMs = report.options.deadlineMs;
  const started = yield* Clock.currentTimeMillis;
  const tell = (sent: unknown) => Effect.ignore(attempt(() => Promise.resolve(rules.onUnverified?.(sent as Hash))));
  if (!isHash(hash)) return yield* tell(hash);
  const look = Effect.orElseSucceed(getTransaction({ hash }), () => null);
  let sent = yield* look;
  while (sent === null && (yield* Clock.currentTimeMillis) - started < withinMs) {
    yield* Effect.sleep(lookEveryMs);
    sent = yield* look;
  }
  if (sent === null) return yield* tell(hash);
  const { differences } = compareRequest(0, from, request, sent, { class: "tampered", evidence: "logged" });
  if (differences.length === 0) return;
  const isFee = differences.every(({ what }) => changeable.includes(what ?? ""));
  // why: a change of the wallet's that nobody accepted
  if (isFee && (yield* allows(rules.onChanged, differences))) return;
  return yield* Effect.fail(new Tampered(hash, report, differences));
});

const senderOf = (transaction: unknown): string =>
  isRecord(transaction) && typeof transaction["from"] === "string" ? transaction["from"].toLowerCase() : "";

/** A transaction that the wallet signs, and sends: every field of what was cleared is given to it. */
const send = (guard: Guarding, pass: Pass, asked: Asked) =>
  guard.turn.withPermit(
    Effect.gen(function* () {
      const [transaction, ...others] = paramsOf(asked);
      const chainId = yield* chainOf(pass, isRecord(transaction) ? transaction["chainId"] : null);
      const { report, clearance } = yield* preflight(guard, inputOf(transaction, chainId));
      const [request] = clearance.requests;
      const written = transactionOf(request, senderOf(transaction));
      const answer = yield* attempt(() => pass({ ...asked, params: [written, ...others] }));
      if (asked.method === "eth_signTransaction") {
        const raw = String(isRecord(answer) ? answer["raw"] : answer);
        yield* hold(guard, report, clearance, raw);
        return answer;
      }
      yield* verify(guard, report, request, senderOf(transaction), answer);
      return answer;
    }),
  );

/** Signed bytes: only those that this guard cleared. */
const sendRaw = (guard: Guarding, pass: Pass, asked: Asked) =>
  Effect.gen(function* () {
    const [raw] = paramsOf(asked);
    const known = typeof raw === "string" ? guard.cleared.get(raw.toLowerCase()) : undefined;
    // why: raw bytes that nobody cleared
    if (known === undefined || typeof raw !== "string")
      return yield* Effect.fail(new GuardRefused(asked.method, "these bytes were not cleared by this guard"));
    keep(guard.cleared, raw.toLowerCase(), yield* renewed(guard, known.report, known, raw));
    return yield* attempt(() => pass(asked));
  });

/** Capabilities of an EIP-5792 request that are not `optional`: what they change is not in the proof. */
const demanded = (request: Readonly<Record<string, unknown>>, calls: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  [request, ...calls]
    .flatMap((part) => (isRecord(part) && isRecord(part["capabilities"]) ? Object.entries(part["capabilities"]) : []))
    .flatMap(([name, capability]) => (isRecord(capability) && capability["optional"] === true ? [] : [name]));

/** By this viem knows an id that consists of the hashes of transactions. */
const hashesMagic = `0x${"5792".repeat(16)}` as const;

/** Several calls, proven as one bundle from `from` and passed on unchanged; of a local account delivered in order. */
const sendCalls = (guard: Guarding, pass: Pass, asked: Asked, deliver: Deliver) =>
  Effect.gen(function* () {
    const [request] = paramsOf(asked);
    if (!isRecord(request) || !Array.isArray(request["calls"]) || request["calls"].length === 0)
      return yield* Effect.fail(new GuardRefused(asked.method, "has no calls"));
    const { calls, from } = request;
    const [unknown] = demanded(request, calls as ReadonlyArray<unknown>);
    // why: a capability that the proof knows nothing of
    if (unknown !== undefined)
      return yield* Effect.fail(new GuardRefused(unknown, "is no capability that a proof covers", 5700));
    const chainId = yield* chainOf(pass, request["chainId"]);
    const bundle = bundleOf(calls as ReadonlyArray<unknown>, from, chainId);
    if (deliver === null) {
      const { report } = yield* preflight(guard, bundle);
      const answer = yield* attempt(() => pass(asked));
      const id = isRecord(answer) ? answer["id"] : answer;
      if (typeof id === "string") keep(guard.calls, id, report);
      return answer;
    }
    if (request["atomicRequired"] === true || request["forceAtomic"] === true)
      return yield* Effect.fail(
        new GuardRefused("atomicRequired", "this account sends one transaction after the other", 5760),
      );
    const hashes = yield* deliver(bundle);
    return { id: concat([...hashes, numberToHex(chainId, { size: 32 }), hashesMagic]) };
  });

/** What became of calls that this guard passed on: told where each is a transaction of its own. */
const callsStatus = (guard: Guarding, pass: Pass, asked: Asked) =>
  Effect.gen(function* () {
    const answer = yield* attempt(() => pass(asked));
    const report = guard.calls.get(String(paramsOf(asked)[0]));
    const receipts = isRecord(answer) && Array.isArray(answer["receipts"]) ? answer["receipts"] : [];
    const hashes = receipts.flatMap((one) =>
      isRecord(one) && isHash(one["transactionHash"]) ? [one["transactionHash"]] : [],
    );
    const { onSettled } = guard.rules;
    if (report !== undefined && onSettled !== undefined && hashes.length === report.transactions.length)
      yield* Effect.ignore(attempt(() => guard.on.settle(report, hashes).then(onSettled)));
    return answer;
  });

/** Fails unless the rules let this be signed. */
export const allowSignature = (guard: Guarding, method: string, payload: SignaturePayload) =>
  Effect.flatMap(allows(guard.rules.signatures, payload), (isAllowed) =>
    // why: a signature of what is no transaction
    isAllowed
      ? Effect.void
      : Effect.fail(new GuardRefused(method, "signs what no simulation shows; `signatures` can allow it")),
  );

/** The account first, or last: `personal_sign` has the message in front. */
const payloadOf = (asked: Asked): SignaturePayload => {
  const [first, second] = paramsOf(asked);
  const isTyped = asked.method.includes("signTypedData");
  const [address, content] = asked.method === "personal_sign" ? [second, first] : [first, second];
  const kind = isTyped
    ? "typedData"
    : asked.method === "eth_sign"
      ? "hash"
      : asked.method === "personal_sign"
        ? "message"
        : "authorization";
  return { kind, address: typeof address === "string" ? address : null, content };
};

const signatures = ["personal_sign", "eth_sign", "wallet_signAuthorization", "eth_signAuthorization"];

/**
 * What becomes of a request. By name: what sends or signs in a form that is not known here is refused, whichever
 * namespace it is in; everything else passes.
 */
const judged = (
  guard: Guarding,
  pass: Pass,
  asked: Asked,
  deliver: Deliver,
): Effect.Effect<unknown, unknown, Rpc> | null => {
  const { method } = asked;
  if (!isJudged(method)) return null;
  const [, name = method] = method.split("_");
  if (name === "sendTransaction" || name === "signTransaction") return send(guard, pass, asked);
  if (name.startsWith("sendRawTransaction") || name === "sendPrivateRawTransaction") return sendRaw(guard, pass, asked);
  if (method === "wallet_sendCalls") return sendCalls(guard, pass, asked, deliver);
  if (method === "wallet_getCallsStatus") return callsStatus(guard, pass, asked);
  if (signatures.includes(method) || name.startsWith("signTypedData"))
    return Effect.andThen(
      allowSignature(guard, method, payloadOf(asked)),
      attempt(() => pass(asked)),
    );
  // why: a way to sign or send that is not known
  return Effect.fail(new GuardRefused(method, "signs or sends in a form that this guard cannot judge"));
};

/** `request` of a guarded client or provider. */
export const guardRequest =
  (guard: Guarding, pass: (asked: Asked, options?: unknown) => Promise<unknown>, deliver: Deliver = null) =>
  (asked: Asked, options?: unknown): Promise<unknown> => {
    // why: what signs or sends is never tried twice
    const once: Pass = (each) => pass(each, { retryCount: 0 });
    const judgement = judged(guard, once, asked, deliver);
    return judgement === null ? pass(asked, options) : guard.on.effect(judgement);
  };
