/** A viem client whose key signs only what was cleared. */
import * as Effect from "effect/Effect";
import * as Rows from "effect/Record";
import { concat, createClient, publicActions, serializeTransaction, walletActions } from "viem";
import type { Client, LocalAccount } from "viem";
import { sendTransaction as sendByViem, waitForTransactionReceipt } from "viem/actions";
import { InvalidConnection } from "../errors/index.js";
import type { Request } from "../report/index.js";
import { lazyImport, isRecord, safely } from "../primitives/index.js";
import { fail, GuardRefused, refused } from "./failures.js";
import { attempt } from "../promise/facade.js";
import { alsoKnownBy } from "./held.js";
import type { RpcRequest } from "./methods.js";
import type { Sign } from "./proven.js";
import { guardRequest, proving, type Deliver, type Pass } from "./requests.js";
import { withoutOpenType } from "./wire.js";
import {
  allowSignature,
  chainOf,
  clear,
  oneEach,
  payloadWith,
  proveIn,
  signed,
  type Guarding,
  type SignaturePayload,
} from "./rules.js";

/** Fields beside the signed ones: of viem's transactions, of a node's filled one, and those its token verbs leave. */
const aside = [
  ...["account", "assertChainId", "blobs", "chain", "dataSuffix", "from", "kzg", "nonceManager", "sidecars"],
  ...["r", "s", "v", "yParity", "hash", "amount", "spender", "token"],
];

/** As an input; what viem had a node fill in names both kinds of price, of which the type has one. */
const inputOf = (transaction: Readonly<Record<string, unknown>>, from: string): Record<string, unknown> => {
  const excluded = transaction["maxFeePerGas"] == null ? aside : [...aside, "gasPrice"];
  const entries = Object.entries(transaction).filter(([name, value]) => value != null && !excluded.includes(name));
  return { ...withoutOpenType(Object.fromEntries(entries)), from };
};

/** The ways in which viem's accounts sign what is no transaction. */
const kinds: Readonly<Record<string, SignaturePayload["kind"]>> = {
  sign: "hash",
  signMessage: "message",
  signTypedData: "typedData",
  signAuthorization: "authorization",
};

/** A proven signature as viem's accounts take it. */
const contentOf = (sign: Sign): unknown => {
  if (sign.kind === "typedData") return sign.typedData;
  if (sign.kind === "message") return { message: { raw: sign.message } };
  return sign.kind === "authorization"
    ? { chainId: sign.chainId, address: sign.address, nonce: sign.nonce }
    : { hash: sign.digest };
};

/** A guard is made where a program starts, and by its author: what is wrong with it is thrown. */
const refuse = (field: string, problem: string): never => fail(new InvalidConnection({ field, problem }));

/** True if an account signs by itself, in whichever way. */
const isLocal = (account: unknown): account is LocalAccount =>
  isRecord(account) &&
  ["signTransaction", ...Object.keys(kinds)].some((name) => typeof account[name] === "function") &&
  typeof account["address"] === "string";

/** Members of viem's accounts beside ways to sign; their own fields might hold a key, or another account. */
const ofAccounts = ["address", "nonceManager", "publicKey", "source", "type"];

/** Signs a cleared request as it is: a serializer of the caller's would have the key sign, and see signed, what it likes. */
const signing =
  (account: LocalAccount, beside: object = {}) =>
  (request: Request) =>
    account.signTransaction({ ...request, ...beside } as never, { serializer: serializeTransaction as never });

/**
 * The account with every way to sign guarded; the one handed in stays as it is. What else it can do, such as hand out the key
 * it is derived from, is refused.
 */
const guardAccount = (guard: Guarding, pass: Pass, account: LocalAccount): LocalAccount => {
  const { address } = account;
  const rule =
    (kind: SignaturePayload["kind"], sign: (content: never) => Promise<unknown>) =>
    (argument: unknown): Promise<unknown> =>
      Effect.gen(function* () {
        // guard: a message that is changed while it is judged
        const content = yield* attempt(() => Promise.resolve(structuredClone(argument)));
        const payload = payloadWith(kind, address, content);
        const by = (handed: unknown) => Promise.resolve(sign.call(account, handed as never));
        if (proveIn(guard.rules) !== null) {
          const { proven } = yield* proving;
          return yield* proven(guard, pass, kind, payload, (one) => by(contentOf(one)));
        }
        yield* allowSignature(guard, pass, kind, payload);
        return yield* attempt(() => by(content));
      }).pipe(guard.on.effect);
  const signTransaction = ({ sidecars, ...transaction }: Readonly<Record<string, unknown>>) =>
    Effect.gen(function* () {
      const hasBlobs = sidecars != null || transaction["blobs"] != null;
      // guard: blobs that nobody hashed
      if (hasBlobs && transaction["blobVersionedHashes"] == null)
        return yield* refused("blobs", "stand without `blobVersionedHashes` or `kzg`");
      const chainId = yield* chainOf(guard, pass, transaction["chainId"]);
      // why: blobs travel beside what is signed
      const beside = sidecars === undefined ? {} : { sidecars };
      return yield* signed(guard, { ...inputOf(transaction, address), chainId }, signing(account, beside));
    }).pipe(guard.on.effect);
  const names = new Set([...Object.keys(account), ...ofAccounts, "signTransaction", ...Object.keys(kinds)]);
  const guarded = [...names].flatMap((name) => {
    const value: unknown = Reflect.get(account, name);
    const kind = kinds[name];
    if (value === undefined) return [];
    if (name === "signTransaction") return [[name, signTransaction]];
    // guard: what an account holds beside its signatures
    const isKept = ofAccounts.includes(name);
    if (typeof value !== "function") return isKept ? [[name, value]] : [];
    const refusal = new GuardRefused(name, "is not a way to sign that a guard knows");
    return [[name, kind === undefined ? () => fail(refusal) : rule(kind, value as never)]];
  });
  return Object.fromEntries(guarded) as LocalAccount;
};

/** The parameters of viem's `sendTransaction`, as far as they are looked at here. */
interface Parameters {
  readonly account?: unknown;
  readonly chain?: { readonly id: number } | null;
  readonly data?: `0x${string}`;
  readonly dataSuffix?: `0x${string}`;
  readonly [field: string]: unknown;
}

/** True for what only viem's own sending knows: a nonce of the caller's, blobs, the receiver of an authorisation. */
const isOther = ({ nonce, blobs, to, authorizationList }: Parameters): boolean =>
  nonce !== undefined || blobs !== undefined || (to === undefined && authorizationList !== undefined);

const actionsOfOurs = ["preflight", "scan", "prove", "ready", "settle", "maxSendable"];

/** A transport by whose parts, too, nobody gets around the guard: those of a fallback, and what hands out the connection. */
const guardTransport = (transport: unknown, request: unknown): object => {
  const parts = Object.entries(isRecord(transport) ? transport : {}).flatMap(([name, value]: [string, unknown]) => {
    if (name === "request") return [[name, request]];
    if (name === "transports" && Array.isArray(value))
      return [[name, value.map((part) => guardTransport(part, request))]];
    if (name === "config" || name === "value") return [[name, guardTransport(value, request)]];
    // guard: what a transport holds beside its request
    if (name === "subscribe") return [[name, value]];
    // why: of an object of a class a copy has the data, and none of its methods
    const data: unknown =
      typeof value === "function" ? undefined : safely(() => structuredClone(value) as unknown, undefined);
    return data === undefined ? [] : [[name, data]];
  });
  return Object.fromEntries(parts) as object;
};

/** Sends a transaction or a batch by an account's own key, once it is cleared. */
const deliverBy =
  (guard: Guarding, account: LocalAccount): NonNullable<Deliver> =>
  (input) =>
    Effect.gen(function* () {
      const address = account.address.toLowerCase();
      // why: its key would sign for another's nonce
      if (isRecord(input) && String(input["from"]).toLowerCase() !== address)
        return yield* refused("from", "is another account than the one that is to sign");
      const { deliverAll } = yield* lazyImport(() => import("../promise/deliver.js"));
      const { sent } = yield* deliverAll(signing(account), input, guard.options, (report) => clear(guard, report));
      return sent.map(({ hash }) => hash);
    });

/** The calldata of viem's parameters, with the suffix that they or the client have. */
const dataIn = ({ data, dataSuffix }: Parameters, { dataSuffix: ofClient }: Client): `0x${string}` | undefined => {
  const suffix = dataSuffix ?? (isRecord(ofClient) ? ofClient["value"] : ofClient);
  return suffix === undefined ? data : concat([data ?? "0x", suffix as `0x${string}`]);
};

/** viem's verbs with their parameters guarded; some are in groups, and some of these have helpers of their own. */
const guardVerbs = (verb: unknown, withGuarded: (parameters: unknown) => unknown): unknown => {
  const parts = Rows.map({ ...(verb as object) }, (part: unknown) => guardVerbs(part, withGuarded));
  if (typeof verb !== "function") return isRecord(verb) ? parts : verb;
  return Object.assign(
    (...args: ReadonlyArray<unknown>): unknown => Reflect.apply(verb, null, args.map(withGuarded)),
    parts,
  );
};

/** All verbs of a client; of a group both actions have a part. */
const verbsOf = (client: Client): Readonly<Record<string, unknown>> => {
  const reads: Readonly<Record<string, unknown>> = { ...publicActions(client as never) };
  return Object.entries<unknown>(walletActions(client as never)).reduce(
    (all, [name, verb]) => ({
      ...all,
      [name]: isRecord(verb) ? { ...(all[name] as object | undefined), ...verb } : verb,
    }),
    reads,
  );
};

/** The keys of one client: each is guarded once, and its original found again. */
const keysOf = (guard: Guarding, pass: Pass) => {
  const originals = new WeakMap<object, LocalAccount>();
  const guarded = (account: LocalAccount) => {
    // why: callers name `client.account`, which is guarded already
    if (originals.has(account)) return account;
    const guardedAccount = guardAccount(guard, pass, account);
    originals.set(guardedAccount, account);
    return guardedAccount;
  };
  /** The same parameters, a key among them guarded as well. */
  const withGuarded = (parameters: unknown): unknown =>
    isRecord(parameters) && isLocal(parameters["account"])
      ? { ...parameters, account: guarded(parameters["account"]) }
      : parameters;
  /** The key itself; null where it is none. */
  const original = (account: unknown): LocalAccount | null =>
    isLocal(account) ? (originals.get(account) ?? account) : null;
  return { guarded, withGuarded, original };
};

/** viem's `sendTransaction` and `sendTransactionSync` by a key that is guarded. */
const sendingBy = (guard: Guarding, pass: Pass, client: Client, base: Client, keys: ReturnType<typeof keysOf>) => {
  const sendTransaction = (parameters: Parameters): Promise<unknown> => {
    const { account: named = client.account, chain = client.chain } = parameters;
    const account = keys.original(named);
    if (account === null || isOther(parameters)) {
      const name = `${account?.address.toLowerCase()} ${Number(parameters["nonce"])}`;
      guard.named.add(name);
      return sendByViem(base, keys.withGuarded(parameters) as never).finally(() => guard.named.delete(name));
    }
    const data = dataIn(parameters, client);
    return Effect.gen(function* () {
      const chainId = yield* chainOf(guard, pass, chain?.id);
      const input = { ...inputOf(parameters, account.address), chainId, ...(data === undefined ? {} : { data }) };
      yield* oneEach([input]);
      const [hash] = yield* deliverBy(guard, account)(input);
      return hash;
    }).pipe(guard.on.effect);
  };
  const sendTransactionSync = ({ throwOnReceiptRevert, timeout, pollingInterval, ...parameters }: Parameters) =>
    sendTransaction(parameters).then((hash) =>
      waitForTransactionReceipt(base, { hash, timeout, pollingInterval } as never).then((receipt) =>
        receipt.status === "reverted" && throwOnReceiptRevert === true
          ? Promise.reject(new Error(`the transaction ${receipt.transactionHash} reverted`))
          : receipt,
      ),
    );
  return { sendTransaction, sendTransactionSync };
};

/** See `guard` of `evm-preflight/viem`. */
export const guardClient = <client extends Client>(client: client, guard: Guarding): client => {
  if (client.account?.type === "smart") refuse("client.account", "is a smart account, which signs user operations");
  const own = isLocal(client.account) ? client.account : null;
  const pass = (rpcRequest: RpcRequest, options?: unknown) => client.request(rpcRequest as never, options as never);
  const keys = keysOf(guard, pass);
  const request = guardRequest(guard, pass, own === null ? null : deliverBy(guard, own));
  const { account: _, uid: __, ...config } = client;
  const transport = guardTransport(client.transport, request);
  const base = createClient({
    ...(config as object),
    ...(client.account === undefined ? {} : { account: own === null ? client.account.address : keys.guarded(own) }),
    transport: () => ({ config: transport as never, request: request as never, value: {} }),
  });
  alsoKnownBy(base.transport, guard.memory);
  // why: viem's other verbs, such as `writeContract`, look for these on the very client that they were made for
  Object.assign(base, sendingBy(guard, pass, client, base as never, keys));
  const known: Readonly<Record<string, unknown>> = {
    ...(guardVerbs(verbsOf(base as never), keys.withGuarded) as object),
    ...base,
  };
  const names = Object.keys(client).filter((name) => !(name in base));
  // guard: an action that was added before the guard
  const stranger = names.find((name) => !(name in known) && !actionsOfOurs.includes(name));
  const late = "was added before the guard and would not pass it: guard the client first, then extend it";
  if (stranger !== undefined) refuse(`client.${stranger}`, late);
  const rebuilt = Object.fromEntries(names.map((name) => [name, known[name] ?? Reflect.get(client, name)]));
  return base.extend(() => rebuilt) as never;
};
