/**
 * A competitor's block at every place among the requests of a report, on what decides the outcome. Each `ready` is signed
 * and mined behind it, and false where it then does otherwise although a later request could have told of the block.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { numberToHex, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import * as Preflight from "../../../src/Preflight.js";
import type { BundleReport } from "../../../src/Report.js";
import * as Rpc from "../../../src/Rpc.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../anvil.js";
import { CurrentRun } from "../../rooms/rpc.js";
import { creation } from "../creation.js";
import { quorumOf } from "../pairs.js";
import { findGethOrWarn, startGethDev } from "../geth.js";
import { findOpGethOrWarn, startOpGeth } from "../opGeth.js";

const [owner, , sender, competitor] = accounts.map(({ privateKey }) => privateKeyToAccount(privateKey)) as [
  ...Array<ReturnType<typeof privateKeyToAccount>>,
] as unknown as readonly [Key, Key, Key, Key];
type Key = ReturnType<typeof privateKeyToAccount>;

/** Pays its caller what its slot 0 has, and reverts where that is nothing. A word as calldata is the slot's new value. */
const payer = "36602014601b575f548015601757" + "5f5f5f5f84335af100" + "5b5f5ffd" + "5b5f355f5500";
const price = 1_000n;

/** What the competitor's block does: the payer is emptied, pays less, the sender's nonce is used, or nothing that matters. */
export const moveKinds = ["emptied", "cheaper", "nonce", "idle"] as const;
export type MoveKind = (typeof moveKinds)[number];

/** A node that makes a block when it is told to. */
interface Ground {
  readonly url: string;
  readonly chainId: number;
  readonly mine: () => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/** One way of asking. */
export interface Manner {
  readonly block: "pending" | "latest";
  /** In which order the requests of a round reach the node. */
  readonly order: "forward" | "reverse";
  /** Whether the connection has made a report before. */
  readonly isFamiliar: boolean;
  /** `speculate`: a preflight that sends its proof beside its scan, behind another of the same call. */
  readonly by: "preflight" | "prove" | "speculate";
  readonly confirmHead: boolean;
}

/** What came of a block at one place. */
export interface Placed {
  readonly kind: MoveKind;
  readonly position: number;
  readonly verdict: BundleReport["verdict"];
  readonly codes: ReadonlyArray<string>;
  readonly rounds: number;
  /** Whether a later request could tell of the block. */
  readonly isTold: boolean;
  /** Whether what was mined is what was said; null = it was not `ready`. */
  readonly isTrue: boolean | null;
  readonly asked: ReadonlyArray<string>;
}

const word = (value: bigint): Hex => numberToHex(value, { size: 32 });
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Whether an answer hangs on which block is the latest. */
const isTelling = (kind: MoveKind, method: string, params: ReadonlyArray<unknown>): boolean => {
  const isTagged = params.includes("latest") || params.includes("pending");
  if (method === "eth_getTransactionCount") return kind === "nonce" && isTagged;
  // the gas is the same whatever the payer has
  if (method === "eth_estimateGas") return kind === "emptied" && isTagged;
  return isTagged && !["eth_getCode", "eth_getBalance", "debug_traceCall"].includes(method);
};

/** One request at a time, those of a round in the order that is wanted, and `interrupt` in front of the one at `position`. */
class Turns {
  position = Number.POSITIVE_INFINITY;
  interrupt: () => Promise<unknown> = () => Promise.resolve();
  readonly asked: Array<{ readonly method: string; readonly params: ReadonlyArray<unknown>; readonly run: string }> =
    [];
  private waiting: Array<{ readonly about: Turns["asked"][number]; readonly go: (release: () => void) => void }> = [];
  private isOpen = false;
  private readonly order: Manner["order"];
  constructor(order: Manner["order"]) {
    this.order = order;
  }

  take(about: Turns["asked"][number]): Promise<() => void> {
    return new Promise((resolve) => {
      this.waiting.push({ about, go: resolve });
      if (!this.isOpen) void this.pump();
    });
  }

  private async pump(): Promise<void> {
    this.isOpen = true;
    while (this.waiting.length > 0) {
      for (let known = -1; known !== this.waiting.length;) {
        known = this.waiting.length;
        await sleep(3);
      }
      const round = this.waiting.splice(0);
      for (const { about, go } of this.order === "forward" ? round : round.reverse()) {
        if (this.asked.length === this.position) await this.interrupt();
        this.asked.push(about);
        await new Promise<void>((release) => go(release));
      }
    }
    this.isOpen = false;
  }
}

/** The node behind its turns. */
const layerOn = (url: string, turns: Turns): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) =>
      Rpc.Rpc.of({
        ...node,
        request: (method, params) =>
          Effect.acquireUseRelease(
            Effect.promise(() => turns.take({ method, params, run: "" })),
            () => node.request(method, params),
            (release) =>
              Effect.map(CurrentRun, ({ sighted }) => {
                // why: the node's own clock is the real one
                if (sighted) sighted.aheadMs = null;
                release();
              }),
          ),
      }),
    ),
  ).pipe(Layer.provide(Rpc.layerHttp(url, { retryTimes: 0 })));

const realClock = Effect.runSync(Effect.service(Clock.Clock));

/** Blocks are made on demand, at times of their own: a clock that is so many ms ahead of the real one. */
const clockAhead = (ahead: { ms: number }): Clock.Clock =>
  Object.assign(Object.create(realClock) as Clock.Clock, {
    currentTimeMillisUnsafe: () => realClock.currentTimeMillisUnsafe() + ahead.ms,
    currentTimeMillis: Effect.map(realClock.currentTimeMillis, (now) => now + ahead.ms),
  });

/** The stage on one node: the payer, and who changes it. */
const stageOn = async ({ url, chainId, mine }: Ground) => {
  const nonces = new Map<Key, number>();
  const send = async (from: Key, call: { to?: Hex; data?: Hex; value?: bigint }) => {
    const nonce =
      nonces.get(from) ?? Number(await rawRequest(url, "eth_getTransactionCount", [from.address, "latest"]));
    nonces.set(from, nonce + 1);
    const raw = await from.signTransaction({
      ...{ type: "eip1559", chainId, nonce, gas: 300_000n, ...call },
      ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000n },
    });
    return (await rawRequest(url, "eth_sendRawTransaction", [raw])) as Hex;
  };
  const receiptOf = async (hash: Hex) =>
    (await rawRequest(url, "eth_getTransactionReceipt", [hash])) as { status: Hex; contractAddress: Hex } | null;
  const deployed = await send(owner, { data: creation(payer) });
  await mine();
  const at = (await receiptOf(deployed))?.contractAddress;
  if (at === undefined) throw new Error("the payer was not deployed");
  const held = async () => BigInt((await rawRequest(url, "eth_getStorageAt", [at, word(0n), "latest"])) as Hex);
  const set = async (value: bigint, paid = 0n) => {
    await send(competitor, { to: at, data: word(value), value: paid });
    await mine();
    if ((await held()) !== value) throw new Error("the competitor's transaction was not mined");
  };
  await set(price, 10n ** 18n);
  const input = { from: sender.address, to: at, data: "0x12345678" } as const;
  const moves: Readonly<Record<MoveKind, () => Promise<unknown>>> = {
    emptied: () => set(0n),
    cheaper: () => set(10n),
    nonce: async () => {
      nonces.delete(sender);
      await send(sender, { to: owner.address, value: 1n });
      await mine();
    },
    idle: async () => {
      await send(competitor, { to: owner.address, value: 1n });
      await mine();
    },
  };
  const reset = async () => {
    if ((await held()) !== price) await set(price);
  };
  /** Whether what is signed and mined now does what the report says. */
  const holds = async ({ transactions: [{ request }], transfers }: BundleReport): Promise<boolean> => {
    if (request === null) return false;
    const pays = await held();
    const { from: _, ...rest } = request as typeof request & { from?: unknown };
    const raw = await sender.signTransaction(rest as never);
    const hash = await rawRequest(url, "eth_sendRawTransaction", [raw]).catch(() => null);
    if (hash === null) return false;
    await mine();
    const receipt = await receiptOf(hash as Hex);
    return (
      receipt?.status === "0x1" &&
      transfers.some(({ to, amount }) => to.toLowerCase() === sender.address.toLowerCase() && amount === pays)
    );
  };
  const aheadMs = async () => {
    const { timestamp } = (await rawRequest(url, "eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
    return Number(timestamp) * 1_000 + 2_000 - Date.now();
  };
  return { url, input, moves, reset, holds, aheadMs };
};

/** A block at every place of one report, asked in one manner; at every `stride`th from `offset` on where there are too many; `members` = endpoints of a quorum. */
export const everyPlace = async (
  ground: Ground,
  kind: MoveKind,
  { block, order, isFamiliar, by, confirmHead }: Manner,
  { stride = 1, offset = 0, members = 1 } = {},
): Promise<ReadonlyArray<Placed>> => {
  const stage = await stageOn(ground);
  const speculate = by === "speculate";
  const options = { block: block === "pending" ? undefined : block, confirmHead, speculate } as const;
  let turns = new Turns(order);
  const ahead = { ms: 0 };
  // why: the connection's own clock is that of its requests, or their deadlines have passed
  const connect = () => {
    const asked = Array.from({ length: members }, () => Layer.fresh(layerOn(ground.url, turns)));
    const layer = members === 1 ? layerOn(ground.url, turns) : quorumOf(asked);
    return ManagedRuntime.make(Layer.provideMerge(layer, Layer.succeed(Clock.Clock, clockAhead(ahead))));
  };
  let runtime = connect();
  const run = async <A>(ask: Effect.Effect<A, unknown, Rpc.Rpc>): Promise<A> => {
    ahead.ms = await stage.aheadMs();
    return runtime.runPromise(ask);
  };
  const placed: Array<Placed> = [];
  try {
    if (isFamiliar) await run(Preflight.preflight(stage.input, options));
    for (let position = offset; ; position += stride) {
      if (!isFamiliar) {
        await runtime.dispose();
        turns = new Turns(order);
        runtime = connect();
      }
      await stage.reset();
      const scanned = by === "prove" ? await run(Preflight.scan(stage.input, options)) : null;
      if (speculate) await run(Preflight.preflight(stage.input, options));
      turns.asked.length = 0;
      let isMoved = false;
      turns.position = position;
      turns.interrupt = async () => {
        isMoved = true;
        await stage.moves[kind]();
      };
      const report = await run(
        scanned === null ? Preflight.preflight(stage.input, options) : Preflight.prove(scanned),
      ).finally(() => {
        turns.position = Number.POSITIVE_INFINITY;
      });
      if (!isMoved) return placed;
      const { verdict, findings, ledger } = report;
      placed.push({
        ...{ kind, position, verdict, rounds: ledger.rounds },
        codes: findings.map(({ code, severity }) => `${code}/${severity}`),
        isTold: turns.asked.slice(position).some(({ method, params }) => isTelling(kind, method, params)),
        isTrue: verdict === "ready" ? await stage.holds(report) : null,
        asked: turns.asked.map(({ method, params }) => `${method} ${JSON.stringify(params.at(-1))}`),
      });
    }
  } finally {
    await runtime.dispose();
  }
};

/** `ready`, and otherwise, although an answer could tell. */
export const isFalse = ({ isTold, isTrue }: Placed): boolean => isTold && isTrue === false;

const geth = findGethOrWarn("heads that move on geth");
const opGeth = findOpGethOrWarn("heads that move on the OP stack");

const gethOf = (bin: string, chainId: number) => async (): Promise<Ground> => {
  const node = await startGethDev(bin, { chainId });
  return { url: node.url, chainId, mine: () => node.mine(), stop: node.stop };
};

const anvilOf = (chainId: number) => async (): Promise<Ground> => {
  const node = await startAnvil({ noMining: true, chainId });
  return { ...node, chainId, mine: () => mineAnvil(node.url) };
};

/** Every bed whose node is installed, by name. */
export const headBeds: ReadonlyArray<readonly [name: string, start: () => Promise<Ground>]> = [
  ["anvil", anvilOf(31337)],
  // whose pace is known, so that a proof stands on the last head of its connection
  ["anvil, chain 1", anvilOf(1)],
  ...(geth === null
    ? []
    : [1, 1337, 43114].map((chainId) => [`geth, chain ${chainId}`, gethOf(geth, chainId)] as const)),
  ...(opGeth === null
    ? []
    : [901, 8453].map(
        (chainId) =>
          [
            `op-geth, chain ${chainId}`,
            () => startOpGeth(opGeth, { generation: "isthmus", computesPending: true, chainId }),
          ] as const,
      )),
];

/** Every way of asking. */
export const manners: ReadonlyArray<Manner> = (["pending", "latest"] as const).flatMap((block) =>
  (["forward", "reverse"] as const).flatMap((order) =>
    [false, true].flatMap((isFamiliar) => [
      { block, order, isFamiliar, by: "preflight" as const, confirmHead: false },
      { block, order, isFamiliar, by: "preflight" as const, confirmHead: true },
      ...(["prove", "speculate"] as const)
        .filter(() => isFamiliar)
        .map((by) => ({ block, order, isFamiliar, by, confirmHead: false })),
    ]),
  ),
);
