/** A chain with one mempool that records every broadcast, and lies as nodes do. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Hex } from "../../src/primitives/hex.js";
import { Errors } from "../../src/index.js";
import { memoryOf, Rpc } from "../../src/Rpc.js";
import { readSigned } from "../../src/transaction/signed.js";
import { accounts } from "../harness/anvil.js";

export interface Broadcast {
  readonly from: string;
  readonly nonce: number;
  readonly hash: string;
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
  mined: Array<string>;
  readonly pool: Map<number, string>;
  /** Every distinct transaction ever offered for a nonce. */
  readonly offered: Map<number, Set<string>>;
}

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
  /** How many of an account's last transactions are not final. */
  unfinal = 0;
  /** Receipts are not there yet, whatever is mined. */
  receiptsLag = false;
  private readonly accounts = new Map<string, Account>();
  private readonly lies: Lies;
  readonly chainId: number;
  constructor(lies: Lies = {}, chainId = 31337) {
    this.lies = lies;
    this.chainId = chainId;
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

  private count(address: string, block: string): number {
    const { mined, pool } = this.account(address);
    if (block === "0x1") return this.final(mined).length;
    const latest = this.chance(this.lies.stale)
      ? Math.max(0, mined.length - 1 - Math.floor(Math.random() * 5))
      : mined.length;
    if (block !== "pending" || this.lies.blind === true) return latest;
    let next = latest;
    while (next < mined.length || pool.has(next)) next += 1;
    return next;
  }

  private final(mined: ReadonlyArray<string>): ReadonlyArray<string> {
    return mined.slice(0, Math.max(0, mined.length - this.unfinal));
  }

  send(raw: Hex): string {
    const signed = readSigned(raw);
    if (signed === null) throw new NodeError("rlp: expected input list");
    const { from, request } = signed;
    const { mined, pool, offered } = this.account(from);
    const { nonce } = request;
    const hash = keccak256(raw);
    this.broadcasts.push({ from: from.toLowerCase(), nonce, hash, at: performance.now() });
    offered.set(nonce, (offered.get(nonce) ?? new Set()).add(hash));
    const refusal = this.refusals.shift();
    if (refusal !== undefined) throw new NodeError(refusal);
    if (nonce < mined.length) throw new NodeError(`nonce too low: next nonce ${mined.length}, tx nonce ${nonce}`);
    const waiting = pool.get(nonce);
    if (waiting === hash) throw new NodeError("already known");
    if (waiting !== undefined) throw new NodeError("replacement transaction underpriced");
    if (!this.chance(this.lies.lost)) pool.set(nonce, hash);
    return hash;
  }

  /** Mines up to `most` of what can be mined of every account. */
  mine(most = 1_000): void {
    for (const { mined, pool } of this.accounts.values()) {
      for (let left = most; left > 0 && pool.has(mined.length); left -= 1) {
        const nonce = mined.length;
        mined.push(pool.get(nonce) ?? "");
        pool.delete(nonce);
      }
    }
  }

  /** Somebody else's transaction with the same key, mined at once. */
  mineForeign(address: string): void {
    const { mined, pool } = this.account(address);
    pool.delete(mined.length);
    mined.push(keccak256(`0x${Math.random().toString(16).slice(2).padStart(16, "0")}`));
  }

  /** Takes back the account's last transactions, which the pool forgets. */
  reorganise(address: string, depth: number): void {
    const { mined } = this.account(address);
    mined.splice(mined.length - depth, depth);
  }

  /** Nonces for which more than one transaction was offered. */
  duplicates(address: string): ReadonlyArray<number> {
    return [...this.account(address).offered].flatMap(([nonce, hashes]) => (hashes.size > 1 ? [nonce] : []));
  }

  answer(method: string, params: ReadonlyArray<unknown>): unknown {
    const [first, second] = params.map(String);
    switch (method) {
      case "eth_chainId":
        return `0x${this.chainId.toString(16)}`;
      case "eth_getTransactionCount":
        return `0x${this.count(first ?? "", second ?? "").toString(16)}`;
      case "eth_getBlockByNumber": {
        const word = `0x${"11".repeat(32)}`;
        const transactions = [...this.accounts.values()].flatMap(({ mined }) => this.final(mined));
        const numbers = { number: "0x1", timestamp: "0x1", gasLimit: "0x1", gasUsed: "0x0" };
        return { ...numbers, parentHash: word, hash: word, transactions };
      }
      case "eth_getCode":
        return this.codes.get(first?.toLowerCase() ?? "") ?? "0x";
      case "eth_sendRawTransaction":
        return this.send(first as Hex);
      case "eth_getTransactionReceipt": {
        const mined = [...this.accounts.values()].some((account) => account.mined.includes(first ?? ""));
        return mined && !this.receiptsLag
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
        endpoint: "simulated chain",
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
export const sign = (nonce: bigint, value: bigint = nonce, maxFeePerGas = 2_000_000_000n): Effect.Effect<Hex> =>
  Effect.promise(
    () =>
      sender.signTransaction({
        ...{ type: "eip1559", chainId: 31337, nonce: Number(nonce), gas: 21_000n, value },
        ...{ to: accounts[1].address, maxFeePerGas, maxPriorityFeePerGas: 1_000_000_000n },
      }) as Promise<Hex>,
  );
