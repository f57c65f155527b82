/** A chain with one mempool that records every broadcast, and lies as nodes do. */
import { randomUUID } from "node:crypto";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Hex } from "../rooms/primitives.js";
import { Errors } from "../../src/index.js";
import { Rpc } from "../../src/Rpc.js";
import { readSigned } from "../rooms/transaction.js";
import { accounts } from "../harness/anvil.js";
import { memoryOf } from "../rooms/rpc.js";

export interface Broadcast {
  readonly from: string;
  readonly nonce: number;
  readonly hash: string;
  /** What it pays, wei: a replacement pays the same. */
  readonly value: bigint;
  readonly at: number;
}

export interface Lies {
  /** How many counts of a hundred are older than the truth. */
  readonly stale?: number;
  /** How many transactions of a hundred the pool loses after taking them. */
  readonly lost?: number;
  /** `pending` does not count the mempool. */
  readonly blind?: boolean;
}

interface Account {
  readonly mined: Array<string>;
  readonly pool: Map<number, string>;
  /** Every distinct transaction ever offered for a nonce. */
  readonly offered: Map<number, Set<string>>;
}

/** What a chain reads of what it is sent. */
export type ReadSent = (raw: Hex) => {
  readonly from: string;
  readonly request: {
    readonly nonce: number;
    readonly value?: bigint | undefined;
    readonly maxFeePerGas?: bigint | undefined;
  };
} | null;

/** An error as a node gives it. */
export class NodeError extends Error {
  readonly code: number;
  constructor(message: string, code = -32000) {
    super(message);
    this.code = code;
  }
}

export class SimulatedChain {
  readonly broadcasts: Array<Broadcast> = [];
  readonly codes = new Map<string, string>();
  /** The next answers of `eth_sendRawTransaction`, instead of its own. */
  readonly refusals: Array<string> = [];
  /** How many of the last blocks are not final; block n holds every account's transaction with nonce n - 1. */
  unfinal = 0;
  /** How many of the last blocks the node that answers has not. */
  behind = 0;
  /** A byte that all its blocks' hashes are made of: another one after a reset. */
  identity = "11";
  /** Requests of each method. */
  readonly asked: Record<string, number> = {};
  /** Receipts are not there yet, whatever is mined. */
  receiptsLag = false;
  private readonly accounts = new Map<string, Account>();
  /** The block of each mined transaction. */
  private readonly blocks = new Map<string, number>();
  /** What the payments would have paid that the user's own wallet replaced, as text. */
  readonly displaced = new Set<string>();
  /** The accounts whose next payment it replaces. */
  private readonly rivals = new Set<string>();
  private readonly fees = new Map<string, bigint>();
  /** What was paid first at each nonce of each account. */
  private readonly firstPaid = new Map<string, bigint>();
  private paidDouble = false;
  private readonly lies: Lies;
  readonly chainId: number;
  /** Files share a process, which trusts an endpoint for some seconds to be of a lane's chain. */
  private readonly endpoint = `simulated chain ${randomUUID()}`;
  private readonly read: ReadSent;
  constructor(lies: Lies = {}, chainId = 31337, read: ReadSent = readSigned) {
    this.lies = lies;
    this.chainId = chainId;
    this.read = read;
  }

  account(address: string): Account {
    const key = address.toLowerCase();
    const found = this.accounts.get(key) ?? { mined: [], pool: new Map(), offered: new Map() };
    this.accounts.set(key, found);
    return found;
  }

  private chance(percent: number | undefined): boolean {
    return Math.random() * 100 < (percent ?? 0);
  }

  /** The last block of the node that answers. */
  private head(): number {
    return Math.max(0, Math.max(0, ...[...this.accounts.values()].map(({ mined }) => mined.length)) - this.behind);
  }

  private count(address: string, block: string): number {
    const { mined: all, pool } = this.account(address);
    const length = Math.min(all.length, this.head());
    if (block.startsWith("0x")) return Math.min(length, Number(block));
    const latest = this.chance(this.lies.stale) ? Math.max(0, length - 1 - Math.floor(Math.random() * 5)) : length;
    if (block !== "pending" || this.lies.blind === true) return latest;
    let next = latest;
    while (next < length || pool.has(next)) next += 1;
    return next;
  }

  /** A block by its number, or the final one; with its transactions in full, or their hashes. */
  private block(named: string, isFull: boolean): unknown {
    const last = named === "finalized" ? Math.max(0, this.head() - this.unfinal) : this.head();
    const number = named.startsWith("0x") ? Number(named) : last;
    if (number > this.head()) return null;
    const word = `0x${this.identity.repeat(32)}`;
    const held = [...this.accounts].flatMap(([from, { mined }]) => {
      const hash = mined[number - 1];
      const values = { gas: "0x5208", value: "0x0", input: "0x" };
      return hash === undefined ? [] : [{ hash, from, nonce: `0x${(number - 1).toString(16)}`, ...values }];
    });
    const numbers = { number: `0x${number.toString(16)}`, timestamp: "0x1", gasLimit: "0x1", gasUsed: "0x0" };
    return { ...numbers, parentHash: word, hash: word, transactions: isFull ? held : held.map(({ hash }) => hash) };
  }

  /** Pools take a replacement that pays a tenth more. */
  private isDearer(hash: string, waiting: string): boolean {
    return (this.fees.get(hash) ?? 0n) * 10n >= (this.fees.get(waiting) ?? 0n) * 11n;
  }

  send(raw: Hex): string {
    const signed = this.read(raw);
    if (signed === null) throw new NodeError("rlp: expected input list");
    const { from, request } = signed;
    const { mined, pool, offered } = this.account(from);
    const { nonce, value = 0n } = request;
    const hash = keccak256(raw);
    this.broadcasts.push({ from: from.toLowerCase(), nonce, hash, value, at: performance.now() });
    const place = `${from.toLowerCase()}:${nonce}`;
    this.paidDouble ||= (this.firstPaid.get(place) ?? value) !== value;
    this.firstPaid.set(place, this.firstPaid.get(place) ?? value);
    this.fees.set(hash, request.maxFeePerGas ?? 0n);
    offered.set(nonce, (offered.get(nonce) ?? new Set()).add(hash));
    const refusal = this.refusals.shift();
    if (refusal !== undefined) throw new NodeError(refusal);
    if (nonce < mined.length) throw new NodeError(`nonce too low: next nonce ${mined.length}, tx nonce ${nonce}`);
    const waiting = pool.get(nonce);
    if (waiting === hash) throw new NodeError("already known");
    if (waiting !== undefined && !this.isDearer(hash, waiting))
      throw new NodeError("replacement transaction underpriced");
    if (!this.chance(this.lies.lost)) pool.set(nonce, hash);
    return hash;
  }

  /** Mines up to `most` of what can be mined of every account. */
  mine(most = 1_000): void {
    for (const [address, { mined, pool }] of this.accounts) {
      if (this.rivals.has(address) && pool.has(mined.length)) this.displaceNow(address);
      for (let left = most; left > 0 && pool.has(mined.length); left -= 1) {
        const nonce = mined.length;
        const hash = pool.get(nonce) ?? "";
        this.blocks.set(hash, mined.push(hash));
        pool.delete(nonce);
      }
    }
  }

  /** Somebody else's transaction with the same key, mined at once. */
  mineForeign(address: string): void {
    const { mined, pool } = this.account(address);
    pool.delete(mined.length);
    const hash = keccak256(`0x${Math.random().toString(16).slice(2).padStart(16, "0")}`);
    this.blocks.set(hash, mined.push(hash));
  }

  /** The user's own wallet replaces the payment that would be mined next, now or once there is one: few wait for long. */
  displace(address: string): void {
    this.rivals.add(address.toLowerCase());
  }

  private displaceNow(address: string): void {
    this.rivals.delete(address);
    const { mined, pool } = this.account(address);
    const hash = pool.get(mined.length);
    const payment = this.broadcasts.find((each) => each.hash === hash)?.value;
    if (payment !== undefined) this.displaced.add(String(payment));
    this.mineForeign(address);
  }

  /** Takes back the account's last transactions, which the pool forgets. */
  reorganise(address: string, depth: number): void {
    const { mined } = this.account(address);
    for (const hash of mined.splice(mined.length - depth, depth)) this.blocks.delete(hash);
  }

  /** Whether two transactions that pay differently were offered for any nonce. */
  isPaidDouble(): boolean {
    return this.paidDouble;
  }

  /** Nonces for which more than one transaction was offered. */
  duplicates(address: string): ReadonlyArray<number> {
    return [...this.account(address).offered].flatMap(([nonce, hashes]) => (hashes.size > 1 ? [nonce] : []));
  }

  answer(method: string, params: ReadonlyArray<unknown>): unknown {
    const [first, second] = params.map(String);
    this.asked[method] = (this.asked[method] ?? 0) + 1;
    switch (method) {
      case "eth_chainId":
        return `0x${this.chainId.toString(16)}`;
      case "eth_getTransactionCount":
        return `0x${this.count(first ?? "", second ?? "").toString(16)}`;
      case "eth_getBlockByNumber":
        return this.block(first ?? "", params[1] === true);
      case "eth_getCode":
        return this.codes.get(first?.toLowerCase() ?? "") ?? "0x";
      case "eth_sendRawTransaction":
        return this.send(first as Hex);
      case "eth_getTransactionReceipt": {
        const number = this.blocks.get(first ?? "");
        return number !== undefined && number <= this.head() && !this.receiptsLag
          ? { transactionHash: first, blockNumber: "0x1", gasUsed: "0x5208", logs: [], status: "0x1" }
          : null;
      }
      default:
        throw new NodeError(`the method ${method} does not exist/is not available`, -32601);
    }
  }

  /** The chain as an endpoint; `before` runs before and after every request. */
  layer(before: Effect.Effect<void> = Effect.void): Layer.Layer<Rpc> {
    return Layer.succeed(
      Rpc,
      Rpc.of({
        endpoint: this.endpoint,
        memory: memoryOf(() => 0, 0),
        admit: (run) => run,
        request: (method, params) =>
          Effect.try({
            try: () => this.answer(method, params),
            catch: (error) =>
              Errors.classify({
                method,
                error: error instanceof NodeError ? { code: error.code, message: error.message } : error,
              }),
          }).pipe((asked) =>
            Effect.andThen(
              before,
              Effect.tap(asked, () => before),
            ),
          ),
      }),
    );
  }
}

/** The shared sender of the tests. */
export const sender = privateKeyToAccount(accounts[0].privateKey);
export const lane = { chainId: 31337, address: sender.address } as const;

/** Signs a transfer with the nonce; distinct `value`s make distinct transactions. */
export const signBy =
  (account: Pick<typeof sender, "signTransaction">, to: Hex = accounts[1].address) =>
  (nonce: bigint, value: bigint = nonce, maxFeePerGas = 2_000_000_000n): Effect.Effect<Hex> =>
    Effect.promise(
      () =>
        account.signTransaction({
          ...{ type: "eip1559", chainId: 31337, nonce: Number(nonce), gas: 21_000n, value },
          ...{ to, maxFeePerGas, maxPriorityFeePerGas: 1_000_000_000n },
        }) as Promise<Hex>,
    );
export const sign = signBy(sender);
/** Signs an authorisation of the sender itself, which uses the next nonce as well. */
export const signPair = (nonce: bigint): Effect.Effect<Hex> =>
  Effect.promise(async () => {
    const delegate = { address: accounts[2].address, chainId: 31337, nonce: Number(nonce) + 1 };
    const authorizationList = [await sender.signAuthorization(delegate)];
    return sender.signTransaction({
      ...{ type: "eip7702", chainId: 31337, nonce: Number(nonce), gas: 100_000n, to: accounts[1].address },
      ...{ maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n, authorizationList },
    });
  });
