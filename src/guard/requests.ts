/** The JSON-RPC methods that sign or send, guarded; every other one passes as it is. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type * as Exit from "effect/Exit";
import { concat, numberToHex, zeroAddress } from "viem";
import { getTransactionReceipt } from "../eth/index.js";
import { copyOf, dataOf, isHash, isQuantity, type Hash, type Hex, isRecord, lazyImport } from "../primitives/index.js";
import { hashOf } from "../nonces/signed.js";
import { compareCalls, merged } from "../settle/compare.js";
import { gravest } from "../settle/settlement.js";
import { attempt, decides } from "../promise/facade.js";
import type { NonceStore } from "../NonceStore.js";
import { Rpc } from "../rpc/index.js";
import { isApart, isReplacement, mismatch, type BundleReport } from "../report/index.js";
import { capabilitiesIn, isActing, isJudged, paramsOf, readRequest, unreadable, type RpcRequest } from "./methods.js";
import { detailed, NotCleared, refused, Tampered } from "./failures.js";
import {
  allowSignature,
  chainOf,
  free,
  hold,
  inTurn,
  keep,
  originIn,
  payloadOf,
  preflight,
  preflightBatch,
  proveIn,
  renewed,
  type Guarding,
  type Pass,
} from "./rules.js";
import type { Sign } from "./proven.js";
import { areAsked, atOnce, verify } from "./sent.js";
import { signInProblem, textOfFields } from "../signing/signIn.js";
import { demandedIn, fieldsOfRequest, shownBy } from "../transaction/index.js";
import { check } from "../Transaction.js";
import { batchOf, callsOf, inputOf, strayIn, transactionOf } from "./wire.js";

export { guarding, type Pass } from "./rules.js";

/** A local account's own way to send a transaction or a batch; null for accounts whose key is the wallet's. */
export type Deliver = ((input: unknown) => Effect.Effect<ReadonlyArray<Hash>, unknown, Rpc | NonceStore>) | null;

const senderOf = (transaction: unknown): string | null =>
  isRecord(transaction) && typeof transaction["from"] === "string" ? transaction["from"] : null;

/** One send at a time of an account, through every guard of the wallet. */
const inTurnOf = <A, E, R>(guard: Guarding, request: unknown, send: Effect.Effect<A, E, R>) =>
  // why: a request that names no sender is proven, and sent, from the account of the node's client
  Rpc.use(({ defaults }) => inTurn(guard, (senderOf(request) ?? defaults?.from ?? "").toLowerCase(), send));

/** Names of the sender, and of what was sent already, that other libraries write, and no page. */
const otherMarks = ["account", "chain", ...shownBy, "blockNumber", "signature"];

/** A transaction that the wallet signs, and sends: every field of what was cleared is given to it. */
const send = (guard: Guarding, pass: Pass, rpcRequest: RpcRequest) => {
  const { method } = rpcRequest;
  const [transaction, ...others] = paramsOf(rpcRequest);
  const sending = Effect.gen(function* () {
    const stray = isRecord(transaction) ? otherMarks.find((name) => transaction[name] != null) : undefined;
    // guard: a sender by another name, and the marks of what was sent
    if (stray !== undefined) return yield* refused(stray, "is not a field of a transaction that is to be sent");
    const chainId = yield* chainOf(guard, pass, isRecord(transaction) ? transaction["chainId"] : null);
    const { report, clearance } = yield* preflight(guard, inputOf(transaction, chainId));
    const [request] = clearance.requests;
    const { from } = report.transactions[0].input;
    // guard: a wallet that was switched while it was proven
    yield* chainOf(guard, pass, chainId);
    // why: only a password stands behind a transaction
    const beside = method.startsWith("personal_") ? others.slice(0, 1) : [];
    const answer = yield* attempt(() => pass({ method, params: [copyOf(transactionOf(request, from)), ...beside] }));
    if (method.endsWith("signTransaction")) {
      const raw = String(isRecord(answer) ? answer["raw"] : answer);
      yield* hold(guard, report, clearance, raw);
      return answer;
    }
    yield* verify(guard, pass, report, request, answer);
    return answer;
  });
  return inTurnOf(guard, transaction, sending);
};

/**
 * Signed bytes sent under their nonce, taken in the store of the leases: two sends at once, or one beside a lease, never go out
 * with the same nonce, unless the report says that it replaces what is in flight.
 */
const underItsNonce = Effect.fnUntraced(function* (
  guard: Guarding,
  raw: Hex,
  report: BundleReport,
  send: Effect.Effect<unknown, unknown>,
) {
  const Nonces = yield* attempt(() => import("../Nonces.js"));
  const [first] = report.transactions;
  // why: the nonce that would be due now, on counts of now
  const due = { ...first, input: { ...first.input, nonce: null }, nonce: { ...first.nonce, latest: null } };
  const [lease] = yield* Nonces.reserveAll({ ...report, transactions: [due] });
  if (lease == null) return yield* Effect.die(new Error("a cleared report has a chain, and its nonce was left open"));
  if (Number(lease.nonce) === first.nonce.value) {
    const answers: Array<Exit.Exit<unknown, unknown>> = [];
    const noting = Effect.tap(Effect.exit(send), (exit) => Effect.sync(() => answers.push(exit)));
    const delivered = yield* Effect.exit(Nonces.deliver(lease, raw, () => Effect.flatten(noting)));
    // why: what the node said is the caller's answer, not what the store makes of it
    return yield* answers[0] ?? delivered;
  }
  const { from } = first.input;
  const own = (yield* Nonces.committed(lease.lane)).filter(({ nonce }) => Number(nonce) === first.nonce.value);
  const isAgain = own.some(({ hash }) => hash === hashOf(raw));
  // why: viem counts before it is proven, so that what was sent meanwhile would seem to be replaced on purpose
  const isMeant = own.length === 0 || guard.named.has(`${from.toLowerCase()} ${first.nonce.value}`);
  const mayReplace = isMeant && report.findings.some(isReplacement);
  // guard: a nonce that another send took
  if (!mayReplace && !isAgain)
    return yield* refused("nonce", `${first.nonce.value} is no longer due: another send took it`);
  return yield* send;
}, Effect.scoped);

/** Signed bytes: only those that this guard cleared. */
const sendRaw = Effect.fnUntraced(function* (guard: Guarding, pass: Pass, rpcRequest: RpcRequest) {
  const [bytes] = paramsOf(rpcRequest);
  const raw = String(bytes).toLowerCase() as Hex;
  const known = guard.cleared.get(raw);
  // guard: raw bytes that nobody cleared
  if (known === undefined) return yield* refused(rpcRequest.method, "these bytes were not cleared by this guard");
  yield* free(guard, known.report);
  const cleared = yield* renewed(guard, known.report, known.expiresAt, (again) => mismatch(again, [raw]));
  keep(guard.cleared, raw, cleared);
  const passing = attempt(() => pass(rpcRequest));
  return yield* underItsNonce(guard, raw, cleared.report, passing);
});

/** By this viem knows an id that consists of the hashes of transactions. */
const hashesMagic = `0x${"5792".repeat(16)}` as const;

/** True of a report that is refused because its calls were not proven as one transaction. */
const isNotAtomic = (error: unknown): boolean => error instanceof NotCleared && error.report.findings.some(isApart);

/**
 * Several calls, proven as their account sends them and rebuilt of what was proven; of a local account delivered in order. Calls
 * that have to be one pass where a delegated account makes them in one transaction.
 */
const sendCalls = Effect.fnUntraced(function* (guard: Guarding, pass: Pass, rpcRequest: RpcRequest, deliver: Deliver) {
  const { method } = rpcRequest;
  const [request] = paramsOf(rpcRequest);
  const calls: unknown = isRecord(request) ? request["calls"] : null;
  if (!isRecord(request) || !Array.isArray(calls) || calls.length === 0) return yield* refused(method, "has no calls");
  // guard: a field of a call that the proof knows nothing of
  const stray = strayIn(calls);
  if (stray !== undefined) return yield* refused(stray, "is no field of a call that a proof covers");
  const other = Object.keys(request).find((name) => !fieldsOfRequest.includes(name));
  const [unknown = other] = [request, ...calls].flatMap((part: unknown) => demandedIn(part) ?? []);
  // guard: a capability that the proof knows nothing of
  if (unknown !== undefined) return yield* refused(unknown, "is not covered by a proof", 5700);
  const chains = [request, ...calls].map((part: unknown) => (isRecord(part) ? part["chainId"] : null));
  const chainId = yield* chainOf(guard, pass, ...chains);
  const batch = batchOf(request, calls, chainId);
  // guard: calls that have to be one, and are not proven as one
  const atomically = <A, E, R>(sending: Effect.Effect<A, E, R>) =>
    Effect.catchIf(sending, isNotAtomic, () =>
      refused("atomicRequired", "the account was not seen to make these calls in one transaction", 5760),
    );
  const handing = Effect.gen(function* () {
    const { defaults } = yield* Rpc;
    const { transactions } = yield* check(batch, defaults);
    const { report } = yield* atomically(preflightBatch(guard, batch));
    yield* chainOf(guard, pass, chainId);
    // guard: a sender whom the request does not name, and the node's client does
    const from = request["from"] ?? transactions[0].from;
    const rebuilt = { ...request, from, chainId: numberToHex(chainId), calls: callsOf(transactions, calls) };
    const answer = yield* attempt(() => pass({ method, params: [rebuilt] }));
    const id = isRecord(answer) ? answer["id"] : answer;
    if (typeof id === "string") keep(guard.calls, id, report);
    return answer;
  });
  // why: a payment that is looked for may hold the account
  if (deliver === null) return yield* inTurnOf(guard, request, handing);
  const hashes = yield* atomically(deliver(batch));
  return { id: concat([...hashes, numberToHex(chainId, { size: 32 }), hashesMagic]) };
});

/** True if a wallet says that it is done with the calls, whatever became of them (EIP-5792, and as it was before). */
const isDone = (answer: Readonly<Record<string, unknown>>): boolean =>
  Number(answer["status"]) >= 200 || answer["status"] === "CONFIRMED";

/** The transactions that a wallet names for calls; none where it names more than there can be. */
const hashesIn = ({ receipts }: Readonly<Record<string, unknown>>, most: number): ReadonlyArray<Hash> => {
  const named: ReadonlyArray<unknown> = Array.isArray(receipts) ? receipts : [];
  const hashes = named.map((receipt) => (isRecord(receipt) ? receipt["transactionHash"] : null)).filter(isHash);
  const distinct = [...new Set(hashes)];
  return distinct.length > most ? [] : distinct;
};

/** Reads what became of calls that this guard passed on, by the node's receipts: the wallet's is its own word. */
const callsStatus = Effect.fnUntraced(function* (guard: Guarding, pass: Pass, rpcRequest: RpcRequest) {
  const answer = yield* attempt(() => pass(rpcRequest));
  const report = guard.calls.get(String(paramsOf(rpcRequest)[0]));
  const { onSettled } = guard.rules;
  if (report === undefined || onSettled === undefined || !isRecord(answer) || !isDone(answer)) return answer;
  const hashes = hashesIn(answer, report.transactions.length);
  const asking = Effect.forEach(hashes, (hash) => getTransactionReceipt({ hash }), atOnce);
  const receipts = yield* Effect.orElseSucceed(asking, () => []);
  const known = receipts.flatMap((receipt) => receipt ?? []);
  const isKnown = known.length === hashes.length;
  const comparison = hashes.length === 0 ? merged() : isKnown ? compareCalls(report, known) : null;
  if (comparison === null) return answer;
  const found = gravest(comparison.differences.map((difference) => difference.class));
  // why: receipts of what others asked for
  const name = hashes.length > 0 && (yield* areAsked(report, hashes)) ? found : "unknown";
  yield* Effect.ignore(decides(onSettled, { ...comparison, class: name, hashes, report }));
  return answer;
});

/**
 * Connecting with a sign-in, and with nothing else that a wallet may sign or send for it. What it signed is held to the rule
 * about signing in before it is handed out.
 */
const connect = Effect.fnUntraced(function* (guard: Guarding, pass: Pass, rpcRequest: RpcRequest) {
  const { method } = rpcRequest;
  const { signInWithEthereum, ...others } = capabilitiesIn(rpcRequest) ?? { unknown: true };
  const [stray] = Object.keys(others);
  // guard: what a wallet does for a page that connects
  if (stray !== undefined) return yield* refused(method, "carries something other than a sign-in", 5700);
  const passing = attempt(() => pass(rpcRequest));
  const origin = originIn(guard.rules);
  if (origin === null)
    return yield* Effect.andThen(allowSignature(guard, pass, method, payloadOf(rpcRequest)), passing);
  const chainId = yield* chainOf(guard, pass);
  const where = { origin, chainId, now: yield* Clock.currentTimeMillis };
  const text = textOfFields(signInWithEthereum, where);
  const problem = text === null ? "not fields of ERC-4361" : signInProblem(text, { ...where, address: zeroAddress });
  if (problem !== null) return yield* refused(method, `signs a message that is no sign-in: ${problem}`);
  const answer = dataOf(yield* passing);
  const accounts = isRecord(answer) && Array.isArray(answer["accounts"]) ? answer["accounts"] : [];
  const at = yield* Clock.currentTimeMillis;
  for (const account of accounts as ReadonlyArray<unknown>) {
    const { address, capabilities } = isRecord(account) ? account : {};
    const { signInWithEthereum: signed } = isRecord(capabilities) ? capabilities : {};
    const { message } = isRecord(signed) ? signed : {};
    if (signed === undefined) continue;
    const wrong = signInProblem(String(message), { origin, chainId, now: at, address: String(address) });
    // guard: a wallet that signed something other than the sign-in
    if (wrong !== null) return yield* refused(method, `the wallet signed a message that is no sign-in: ${wrong}`);
  }
  return answer;
});

/** Adding a chain, whose node the page names: from then on a proof by the wallet's node on it is doubted. */
const addChain = Effect.fnUntraced(function* (guard: Guarding, pass: Pass, rpcRequest: RpcRequest) {
  const { method } = rpcRequest;
  const [chain, ...others] = paramsOf(rpcRequest);
  const named = isRecord(chain) ? chain["chainId"] : null;
  // guard: a chain of which nobody knows which one a wallet reads
  if (!isQuantity(named) || others.length > 0) return yield* refused("chainId", "is no number in hex of one chain");
  const chainId = Number(named);
  // guard: a node that a page names for the chain in use
  if (chainId === (yield* chainOf(guard, pass)))
    return yield* refused(method, `the wallet is on chain ${chainId}, whose node a page may not name`);
  guard.memory.pageChains.add(chainId);
  return yield* attempt(() => pass(rpcRequest));
});

// why: a guard without that rule never loads it
export const proving = lazyImport(() => import("./proven.js"));

/** Methods whose content can be proven; older ones hash typed data in their own ways. */
const provenMethods = ["eth_signTypedData_v4", "personal_sign"];

/** The request that hands a proven signature to a wallet, which reads typed data as JSON. */
const requestOf = (sign: Sign): RpcRequest =>
  sign.kind === "typedData"
    ? { method: "eth_signTypedData_v4", params: [sign.signer, JSON.stringify(sign.typedData)] }
    : { method: "personal_sign", params: [sign.kind === "message" ? sign.message : sign.digest, sign.signer] };

/** Decides what becomes of a request; null where it passes as it is. */
const judge = (guard: Guarding, pass: Pass, rpcRequest: RpcRequest, deliver: Deliver) => {
  const { method } = rpcRequest;
  if (!isJudged(rpcRequest, guard.rules.passes)) return null;
  if (/(^|_)(send|sign)Transaction$/.test(method)) return send(guard, pass, rpcRequest);
  if (/(^|_)send(RawTransaction|PrivateRawTransaction$)/.test(method)) return sendRaw(guard, pass, rpcRequest);
  if (method === "wallet_sendCalls") return sendCalls(guard, pass, rpcRequest, deliver);
  if (method === "wallet_getCallsStatus") return callsStatus(guard, pass, rpcRequest);
  if (method === "wallet_connect") return connect(guard, pass, rpcRequest);
  if (method === "wallet_addEthereumChain") return addChain(guard, pass, rpcRequest);
  const payload = payloadOf(rpcRequest);
  // guard: a way to sign or send that is not known
  if (payload.kind === "method" && isActing(rpcRequest))
    return refused(method, "signs or sends in a form that this guard cannot judge");
  if (proveIn(guard.rules) !== null && provenMethods.includes(method))
    return Effect.flatMap(proving, ({ proven }) =>
      proven(guard, pass, method, payload, (sign) => pass(requestOf(sign))),
    );
  const passing = attempt(() => pass(rpcRequest));
  return Effect.andThen(allowSignature(guard, pass, method, payload), passing);
};

/** For how long a request that the wallet changed is not asked again, ms: viem tries −32603 three times within two seconds. */
const remembersMs = 10_000;

/** `request` of a guarded client or provider. */
export const guardRequest = (guard: Guarding, pass: Pass, deliver: Deliver = null): Pass => {
  const changed = new Map<string, { readonly error: Tampered; readonly until: number }>();
  return (original, options) => {
    const rpcRequest = readRequest(original);
    if (rpcRequest === null) return Promise.reject(detailed(unreadable()));
    // guard: a send that a transport would try twice
    const once: Pass = (each) => pass(each, { retryCount: 0 });
    const judgement = judge(guard, once, rpcRequest, deliver);
    if (judgement === null) return pass(rpcRequest, options);
    const key = JSON.stringify([rpcRequest.method, rpcRequest.params]);
    const judging = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis;
      for (const [old, { until }] of changed) if (until <= now) changed.delete(old);
      const before = changed.get(key);
      // why: whoever hears of it may try again, and the wallet would send twice
      if (before !== undefined) return yield* Effect.fail(before.error);
      return yield* Effect.tapError(judgement, (error) =>
        Effect.map(Clock.currentTimeMillis, (at) => {
          if (error instanceof Tampered) changed.set(key, { error, until: at + remembersMs });
        }),
      );
    });
    return guard.on.effect(judging).catch((error: unknown) => Promise.reject(detailed(error)));
  };
};
