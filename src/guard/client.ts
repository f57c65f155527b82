/** A viem client whose key signs only what was cleared. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { concat, createClient, publicActions, walletActions, type Client, type LocalAccount } from "viem";
import { sendTransaction, waitForTransactionReceipt } from "viem/actions";
import { InvalidConnection } from "../errors/input.js";
import { lazyImport } from "../primitives/effects.js";
import { isRecord } from "../primitives/record.js";
import { attempt } from "../promise/facade.js";
import { allowSignature, chainOf, guardRequest, type Asked, type Deliver } from "./requests.js";
import { clear, signed, type Guarding, type SignaturePayload } from "./rules.js";

/** What viem's transactions have beside the fields that are signed, what follows from them, and what a node's filled one has. */
const aside = [
  "account",
  "assertChainId",
  "blobs",
  "chain",
  "dataSuffix",
  "from",
  "kzg",
  "nonceManager",
  "sidecars",
  "type",
  ...["r", "s", "v", "yParity", "hash"],
];

/** As an input; what viem had a node fill in names both kinds of price, of which the type has one. */
const inputOf = (transaction: Readonly<Record<string, unknown>>, from: string): Record<string, unknown> => {
  const left = transaction["maxFeePerGas"] == null ? aside : [...aside, "gasPrice"];
  const kept = Object.entries(transaction).filter(([name, value]) => value != null && !left.includes(name));
  return { ...Object.fromEntries(kept), from };
};

const isLocal = (account: unknown): account is LocalAccount =>
  isRecord(account) && typeof account["signTransaction"] === "function" && typeof account["address"] === "string";

/** The account with every way to sign guarded; the one handed in stays as it is. */
const guardAccount = (guard: Guarding, account: LocalAccount): LocalAccount => {
  const { address } = account;
  const rule = <A>(kind: SignaturePayload["kind"], sign: ((content: never) => Promise<A>) | undefined) =>
    sign === undefined
      ? undefined
      : (content: unknown): Promise<A> =>
          guard.on.effect(
            Effect.andThen(
              allowSignature(guard, kind, { kind, address, content }),
              attempt(() => sign(content as never)),
            ),
          );
  const ruled = {
    sign: rule("hash", account.sign?.bind(account)),
    signMessage: rule("message", account.signMessage.bind(account)),
    signTypedData: rule("typedData", account.signTypedData.bind(account) as never),
    signAuthorization: rule("authorization", account.signAuthorization?.bind(account)),
  };
  const guarded: object = {
    ...account,
    ...Object.fromEntries(Object.entries(ruled).filter(([, sign]) => sign !== undefined)),
    signTransaction: (transaction: Readonly<Record<string, unknown>>, options: never) =>
      guard.on.effect(
        signed(guard, inputOf(transaction, address), (request) =>
          // why: blobs travel beside what is signed
          account.signTransaction(
            {
              ...request,
              ...(transaction["sidecars"] === undefined ? {} : { sidecars: transaction["sidecars"] }),
            } as never,
            options,
          ),
        ),
      ),
  };
  return guarded as LocalAccount;
};

/** The parameters of viem's `sendTransaction`, as far as they are looked at here. */
interface Parameters {
  readonly account?: unknown;
  readonly chain?: { readonly id: number } | null;
  readonly data?: `0x${string}`;
  readonly dataSuffix?: `0x${string}`;
  readonly [field: string]: unknown;
}

/** What only viem's own way to send knows: a nonce of the caller's, blobs, the receiver of an authorisation. */
const isOther = ({ nonce, blobs, to, authorizationList }: Parameters): boolean =>
  nonce !== undefined || blobs !== undefined || (to === undefined && authorizationList !== undefined);

const actionsOfOurs = ["preflight", "scan", "prove", "ready", "settle", "maxSendable"];

/** A guard is made where a program starts, and by its author: what is wrong with it is thrown. */
const refuse = (problem: ConstructorParameters<typeof InvalidConnection>[0]): never =>
  Result.getOrThrowWith(Result.fail(problem), (known) => new InvalidConnection(known));

/** See `guard` of `evm-preflight/viem`. */
export const guardClient = <client extends Client>(client: client, guard: Guarding): client => {
  if (client.account?.type === "smart")
    refuse({
      field: "client.account",
      problem: "is a smart account, which signs user operations",
    });
  const own = isLocal(client.account) ? client.account : null;
  const pass = (asked: Asked, options?: unknown) => client.request(asked as never, options as never);
  const deliverBy =
    (account: LocalAccount): NonNullable<Deliver> =>
    (bundle) =>
      attempt(() =>
        guard.on.effect(
          Effect.flatMap(
            lazyImport(() => import("../promise/deliver.js")),
            ({ deliverAll }) =>
              Effect.map(
                deliverAll(
                  (request) => account.signTransaction(request as never),
                  bundle.length === 1 ? bundle[0] : bundle,
                  guard.options,
                  (report) => clear(guard, report),
                ),
                ({ sent }) => sent.map(({ hash }) => hash),
              ),
          ),
        ),
      );
  const request = guardRequest(guard, pass, own === null ? null : deliverBy(own));
  const { transport, account: _, uid: __, ...config } = client;
  const base = createClient({
    ...(config as object),
    ...(client.account === undefined ? {} : { account: own === null ? client.account : guardAccount(guard, own) }),
    transport: () => ({ config: { ...transport, request } as never, request: request as never, value: {} }),
  });
  const send = (parameters: Parameters): Promise<unknown> => {
    const given = parameters.account ?? client.account;
    const account = isLocal(given) ? given : null;
    if (account === null || isOther(parameters))
      return sendTransaction(base, {
        ...parameters,
        ...(account === null || account === own ? {} : { account: guardAccount(guard, account) }),
      } as never);
    const suffix =
      parameters.dataSuffix ?? (isRecord(client.dataSuffix) ? client.dataSuffix["value"] : client.dataSuffix);
    const data = suffix === undefined ? parameters.data : concat([parameters.data ?? "0x", suffix as `0x${string}`]);
    const chain = parameters.chain === undefined ? client.chain : parameters.chain;
    return guard.on
      .effect(chainOf((asked) => pass(asked), chain?.id))
      .then((chainId) => {
        const input = { ...inputOf(parameters, account.address), chainId, ...(data === undefined ? {} : { data }) };
        return guard.on.effect(deliverBy(account)([input]));
      })
      .then(([hash]) => hash);
  };
  const sendSync = ({ throwOnReceiptRevert, timeout, pollingInterval, ...parameters }: Parameters): Promise<unknown> =>
    send(parameters).then((hash) =>
      waitForTransactionReceipt(base, { hash, timeout, pollingInterval } as never).then((receipt) =>
        receipt.status === "reverted" && throwOnReceiptRevert === true
          ? Promise.reject(new Error(`the transaction ${receipt.transactionHash} reverted`))
          : receipt,
      ),
    );
  // why: viem's other verbs, such as `writeContract`, look for these on the very client that they were made for
  Object.assign(base, { sendTransaction: send, sendTransactionSync: sendSync });
  const known: Readonly<Record<string, unknown>> = {
    ...publicActions(base as never),
    ...walletActions(base as never),
    ...base,
  };
  const names = Object.keys(client).filter((name) => !(name in base));
  const stranger = names.find((name) => !(name in known) && !actionsOfOurs.includes(name));
  if (stranger !== undefined)
    refuse({
      field: `client.${stranger}`,
      problem: "was added before the guard and would not pass it: guard the client first, then extend it",
    });
  const given: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(client));
  const rebuilt = Object.fromEntries(names.map((name) => [name, known[name] ?? given[name]]));
  return base.extend(() => rebuilt) as never;
};
