/**
 * A bot that pays: one client and one nonce store for its life, a lane that is kept, and each payment sent as it was
 * proven, at the head at which it still does the same. What can go wrong is one table, which the compiler wants whole.
 *
 *     PRIVATE_KEY=0x… npx tsx examples/bot.ts http://127.0.0.1:8545 0xToken 0xRecipient 1000000
 */
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Eth, type Errors, type Report } from "evm-preflight";
import { createPreflight, type Defaults } from "evm-preflight/promise";
import type { Address, Hash, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Token } from "./contracts.js";

/** So much of the token to an account: the bot's own, or `from` another who allows it. */
export interface Payment {
  readonly to: Address;
  readonly amount: bigint;
  readonly from?: Address;
}

/** What became of a payment: sent once, or not at all, and then whether it may be tried again. */
export type Round = { readonly sent: Hash } | { readonly skipped: string; readonly tryAgain: boolean };

/** When a bot pays. */
export interface Timing {
  /** Called at every head at which the payment would do what it did when it was proven; at once when left out. */
  readonly isTime?: (head: Eth.Head) => boolean;
  /** Ms until it gives up; what was not sent by then never is. Default 60 s. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

export interface Bot extends AsyncDisposable {
  readonly pay: (payment: Payment, timing?: Timing) => Promise<Round>;
  /** Whether what was sent is mined and worked, once `depth` blocks stand on it; it is waited for through reorganisations. Where not, it may be paid again. */
  readonly isPaid: (
    hash: Hash,
    options?: { readonly depth?: bigint; readonly signal?: AbortSignal },
  ) => Promise<boolean>;
}

type Failure = Report.Blocker | Errors.NonceError | Errors.NonceForgotten | Errors.InvalidTransaction | Errors.Disposed;

/** `again`: a later block, or another answer of the node, may heal it. `anew`: another nonce does. `stop`: only a person can. */
const next: Readonly<Record<Failure["_tag"], "again" | "anew" | "stop">> = {
  // the state of one block: the next may have another
  ExecutionReverted: "again",
  VmHalt: "again",
  OutOfGas: "again",
  InsufficientFunds: "again",
  NoCode: "again",
  NonceTooLow: "anew",
  NonceTooHigh: "anew",
  FeeCapTooLow: "again",
  GasAllowanceExceeded: "again",
  BlockGasLimitExceeded: "again",
  OutcomeChanged: "again",
  SimulationDiverged: "again",
  WitnessesDisagree: "again",
  NotProven: "again",
  RpcError: "again",
  // the lane: `keep` makes room, and sends again what a reorganisation dropped
  NonceBusy: "again",
  LeaseLost: "again",
  NonceStoreError: "again",
  NonceImplausible: "again",
  NonceBurned: "again",
  ReplaceConflict: "again",
  ReplacementRefused: "again",
  SendRejected: "again",
  PartlySent: "again",
  NonceColdStart: "stop",
  NonceChainReset: "stop",
  NonceForgotten: "stop",
  // what no block changes: the payment, the account, the chain, a policy
  InvalidTransaction: "stop",
  InvalidLane: "stop",
  SignedMismatch: "stop",
  NonceOverflow: "stop",
  TipAboveFeeCap: "stop",
  IntrinsicGasTooLow: "stop",
  TxGasLimitTooHigh: "stop",
  GasUintOverflow: "stop",
  SenderNotEoa: "stop",
  UnknownDelegateCall: "stop",
  InitCodeTooLarge: "stop",
  ChainIdMismatch: "stop",
  PolicyViolation: "stop",
  ReportVersion: "stop",
  Disposed: "stop",
};

const isFailure = (error: unknown): error is Failure =>
  error instanceof Error && "_tag" in error && Object.hasOwn(next, String(error._tag));

/** The transaction that may yet be mined though sending it failed; null = none is. */
const inDoubt = (error: Failure): Hash | null => {
  if (!("mayBeSent" in error) || !error.mayBeSent) return null;
  if (error._tag === "PartlySent") return error.inDoubt?.hash ?? error.sent[0]?.hash ?? null;
  return "hash" in error ? error.hash : null;
};

/** The lane's next nonce is not the one that the payment was proven with. */
class OtherNonce extends Error {}
/** So much is in flight that the bot waits. */
class Crowded extends Error {}

/** More in flight than this, and the bot waits: what a reorganisation drops comes back in order, and soon. */
const mostInFlight = 8;
const pauseMs = 250;

/**
 * Starts a bot for one account. `defaults` are those of the client: a store that lasts (`nonces`), a relay (`send`), `log`.
 * Rejects with `NonceColdStart` where the store does not know the account and it has transactions in flight.
 */
export const startBot = async (
  { url, key, token }: { readonly url: string; readonly key: Hex; readonly token: Address },
  { keepMs = 1_000, settleMs, ...defaults }: Defaults & { readonly keepMs?: number; readonly settleMs?: number } = {},
): Promise<Bot> => {
  const account = privateKeyToAccount(key);
  const preflight = createPreflight({ url }, { deadline: "5 seconds", heads: { pollMs: 250 }, ...defaults });
  const lane = { chainId: await preflight.effect(Eth.chainId), address: account.address };
  await preflight.nonces.bootstrap(lane, { settleMs });
  const keeping = await preflight.nonces.keep(lane, { everyMs: keepMs });

  const inputOf = ({ from, to, amount }: Payment) => {
    const call = { from: account.address, to: token, abi: Token.abi };
    return from === undefined
      ? ({ ...call, functionName: "transfer", args: [to, amount] } as const)
      : ({ ...call, functionName: "transferFrom", args: [from, to, amount] } as const);
  };

  /** Sends what was proven as it is; proves it again only where others of the bot's took its nonce. */
  const send = async (payment: Payment, report: Report.Report): Promise<Hash> => {
    const { committed } = await preflight.nonces.status(lane);
    if (committed.length >= mostInFlight) throw new Crowded(`${committed.length} are in flight`);
    const { requests } = await preflight.ready(report);
    try {
      const { hash } = await preflight.withNonce(lane, async (nonce) => {
        if (nonce !== BigInt(requests[0].nonce)) throw new OtherNonce();
        return account.signTransaction(requests[0]);
      });
      return hash;
    } catch (error) {
      if (!(error instanceof OtherNonce)) throw error;
      const deliver = preflight.deliver((request) => account.signTransaction(request));
      // its own payments in flight are a reason for caution
      const { sent } = await deliver(inputOf(payment), { onCaution: "send" });
      return sent[0]?.hash ?? "0x";
    }
  };

  let turn: Promise<unknown> = Promise.resolve();
  /** One payment at a time takes a nonce. */
  const inTurn = <A>(work: () => Promise<A>): Promise<A> => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };

  /** Whether a transaction whose commit has no answer is in the store, and so will be sent: known when no lease is left. */
  const isCommitted = async (hash: Hash): Promise<boolean> => {
    for (;;) {
      try {
        const { committed, settled, reserved } = await preflight.nonces.status(lane);
        if ([...committed, ...settled].some((one) => one.hash === hash)) return true;
        if (reserved.length === 0) return false;
      } catch (error) {
        // whoever gave up here would pay again what is sent once the store is back
        if (!isFailure(error) || next[error._tag] === "stop") throw error;
      }
      await sleep(pauseMs);
    }
  };

  /** Whether another's transaction is final in its place: it is never mined. */
  const isBurned = async (hash: Hash): Promise<boolean> => {
    const { settled } = await preflight.nonces.status(lane);
    return settled.some((one) => one.hash === hash && one.outcome === "burned");
  };

  const pay = async (payment: Payment, { isTime = () => true, patienceMs = 60_000, signal }: Timing = {}) => {
    const patience = AbortSignal.timeout(patienceMs);
    const until = { signal: signal === undefined ? patience : AbortSignal.any([signal, patience]) };
    let last = "no head came";
    for (;;) {
      try {
        const report = await preflight.run(inputOf(payment), until);
        for await (const state of preflight.watch(report, until)) {
          if (state._tag === "Lost") {
            last = state.reason.message;
            if (next[state.reason._tag] === "stop") throw state.reason;
            // what is watched keeps its nonce, and no block gives that back
            if (next[state.reason._tag] === "anew") break;
          } else if (state._tag === "Fresh" && isTime(state.head)) {
            return { sent: await inTurn(() => send(payment, state.report)) };
          }
        }
        await sleep(pauseMs, undefined, until);
      } catch (error) {
        const hash = isFailure(error) ? inDoubt(error) : null;
        if (hash !== null && (await isCommitted(hash))) return { sent: hash };
        if (signal?.aborted === true) throw signal.reason;
        if (isFailure(error)) {
          last = error.message;
          if (next[error._tag] === "stop") return { skipped: last, tryAgain: false };
        } else if (error instanceof Crowded) last = error.message;
        else if (!patience.aborted) throw error;
        if (patience.aborted) return { skipped: last, tryAgain: true };
        await sleep(pauseMs);
      }
    }
  };

  const isPaid: Bot["isPaid"] = async (hash, { depth = 3n, signal } = {}) => {
    for (;;) {
      signal?.throwIfAborted();
      try {
        const [receipt, head] = await Promise.all([
          preflight.effect(Eth.getTransactionReceipt({ hash })),
          preflight.effect(Eth.getBlock({ block: "latest" })),
        ]);
        if (receipt !== null && head.number !== null && head.number >= receipt.blockNumber + depth)
          return receipt.status === "success";
        if (receipt === null && (await isBurned(hash))) return false;
      } catch (error) {
        if (!isFailure(error) || next[error._tag] === "stop") throw error;
      }
      await sleep(pauseMs);
    }
  };

  return {
    ...{ pay, isPaid },
    [Symbol.asyncDispose]: async () => {
      await keeping.stop();
      await preflight.dispose();
    },
  };
};

const main = async () => {
  const [url = "http://127.0.0.1:8545", token, to, amount = "0"] = process.argv.slice(2);
  const key = process.env["PRIVATE_KEY"];
  if (token === undefined || to === undefined || key === undefined) {
    console.error(
      "A bot that pays in a token, each payment as it was proven. Usage: PRIVATE_KEY=0x… npx tsx bot.ts URL TOKEN RECIPIENT AMOUNT",
    );
    process.exitCode = 64;
    return;
  }
  await using bot = await startBot({ url, key: key as Hex, token: token as Address });
  const round = await bot.pay({ to: to as Address, amount: BigInt(amount) });
  console.log(round);
  process.exitCode = "sent" in round ? 0 : 1;
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
