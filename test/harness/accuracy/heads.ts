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
  /** True if it goes back to a snapshot, and takes the base fee of its next block. */
  readonly isAnvil?: boolean;
}

/** One way of asking. */
export interface Manner {
  readonly block: "pending" | "latest";
  /** In which order the requests of a round reach the node. */
  readonly order: "forward" | "reverse" | "shuffled";
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
  return isTagged && !["eth_getCode", "eth_getBalance", "debug_traceCall", "eth_createAccessList"].includes(method);
};

/** One request at a time, those of a round in the order that is wanted, and `interrupt` in front of the one at `position`. */
class Turns {
  /** A header that some of the answers give although a block came behind it, drawn anew for each; null = none does. */
  stale: { readonly old: unknown; readonly lies: () => boolean } | null = null;
  /** Places of the requests that were answered so. */
  readonly lied = new Set<number>();
  position = Number.POSITIVE_INFINITY;
  interrupt: () => Promise<unknown> = () => Promise.resolve();
  readonly asked: Array<{ readonly method: string; readonly params: ReadonlyArray<unknown>; readonly run: string }> =
    [];
  private waiting: Array<{ readonly about: Turns["asked"][number]; readonly go: (release: () => void) => void }> = [];
  private isOpen = false;
  private readonly order: Manner["order"];
  private readonly random: () => number;
  constructor(order: Manner["order"], random: () => number = () => 0) {
    this.order = order;
    this.random = random;
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
      if (this.order === "reverse") round.reverse();
      if (this.order === "shuffled") round.sort(() => this.random() - 0.5);
      for (const { about, go } of round) {
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
            () =>
              Effect.map(node.request(method, params), (answer) => {
                if (method !== "eth_getBlockByNumber" || params[0] !== "latest" || turns.stale?.lies() !== true)
                  return answer;
                turns.lied.add(turns.asked.length - 1);
                return turns.stale.old;
              }),
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

/** Requests are answered one at a time, on machines that may be busy. */
const deadline = "1 minute" as const;

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
  return { url, input, moves, reset, holds, aheadMs, forget: () => nonces.clear() };
};

/**
 * A block at every place of one report, asked in one manner; at every `stride`th from `offset` on where there are too many;
 * `members` = endpoints of a quorum; `isStale` = the header stays that of before.
 */
export const everyPlace = async (
  ground: Ground,
  kind: MoveKind,
  { block, order, isFamiliar, by, confirmHead }: Manner,
  { stride = 1, offset = 0, members = 1, isStale = false } = {},
): Promise<ReadonlyArray<Placed>> => {
  const stage = await stageOn(ground);
  const speculate = by === "speculate";
  const options = { block: block === "pending" ? undefined : block, confirmHead, speculate, deadline } as const;
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
      const old = isStale ? await rawRequest(ground.url, "eth_getBlockByNumber", ["latest", false]) : null;
      turns.lied.clear();
      turns.interrupt = async () => {
        isMoved = true;
        await stage.moves[kind]();
        if (isStale) turns.stale = { old, lies: () => true };
      };
      const report = await run(
        scanned === null ? Preflight.preflight(stage.input, options) : Preflight.prove(scanned),
      ).finally(() => {
        turns.position = Number.POSITIVE_INFINITY;
        turns.stale = null;
      });
      if (!isMoved) return placed;
      const { verdict, findings, ledger } = report;
      placed.push({
        ...{ kind, position, verdict, rounds: ledger.rounds },
        codes: findings.map(({ code, severity }) => `${code}/${severity}`),
        isTold: turns.asked.some(
          ({ method, params }, place) => place >= position && !turns.lied.has(place) && isTelling(kind, method, params),
        ),
        isTrue: verdict === "ready" ? await stage.holds(report) : null,
        asked: turns.asked.map(({ method, params }) => `${method} ${JSON.stringify(params.at(-1))}`),
      });
    }
  } finally {
    await runtime.dispose();
  }
};

/** What random runs came to: reports, those in one round, `ready` ones, and those that were false, by whether an answer could tell. */
export interface RandomTally {
  readonly runs: number;
  readonly inOneRound: number;
  readonly ready: number;
  readonly falsely: number;
  readonly untold: number;
}

/**
 * Two reports of the same call, and a competitor's block between them or within the second: at a place, of a kind, in an order,
 * after a time and at a base fee that are drawn. Some nodes go on to show the old header for a while. Where `canRevert`, the
 * block may come in the place of another; where `canPrice`, base fees change by up to half from block to block.
 */
export const randomRuns = async (
  ground: Ground,
  { runs, seed, speculate }: { readonly runs: number; readonly seed: number; readonly speculate: boolean },
  tell: (one: { readonly run: number; readonly kind: MoveKind; readonly asked: ReadonlyArray<string> }) => void,
): Promise<RandomTally> => {
  let state = seed;
  const random = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
  const pick = <A>(all: readonly [A, ...ReadonlyArray<A>]): A => all[Math.floor(random() * all.length)] ?? all[0];
  const { url, mine, isAnvil = false } = ground;
  const stage = await stageOn(ground);
  const ahead = { ms: 0 };
  let turns = new Turns("forward", random);
  const connect = () =>
    ManagedRuntime.make(Layer.provideMerge(layerOn(url, turns), Layer.succeed(Clock.Clock, clockAhead(ahead))));
  let runtime = connect();
  const tally = { runs: 0, inOneRound: 0, ready: 0, falsely: 0, untold: 0 };
  let baseFee = 1_000_000_000;
  try {
    for (let run = 0; run < runs; run++) {
      if (random() < 0.1) {
        await runtime.dispose();
        turns = new Turns(pick(["forward", "reverse", "shuffled"]), random);
        runtime = connect();
      }
      const kind = pick(moveKinds);
      const isReorg = isAnvil && random() < 1 / 3;
      const when = pick(["between", "within", "within", "within", "both", "never"]);
      await stage.reset();
      stage.forget();
      const snapshot = isAnvil ? await rawRequest(url, "evm_snapshot", []) : null;
      // the block in whose place another comes
      if (isReorg) await mine();
      const block = pick([undefined, undefined, undefined, "latest"] as const);
      if (isAnvil) {
        baseFee = Math.max(1_000, Math.min(2_000_000_000, Math.floor(baseFee * (0.6 + random()))));
        await rawRequest(url, "anvil_setNextBlockBaseFeePerGas", [numberToHex(baseFee)]);
        await mine();
      }
      const options = { block, confirmHead: random() < 0.1, speculate, deadline };
      ahead.ms = (await stage.aheadMs()) + Math.floor(random() * 8_000);
      await runtime.runPromise(Preflight.preflight(stage.input, options));
      const old = await rawRequest(url, "eth_getBlockByNumber", ["latest", false]);
      const isStale = random() < 0.25;
      turns.lied.clear();
      turns.asked.length = 0;
      let movedAt = Number.POSITIVE_INFINITY;
      const move = async (inPlace: boolean) => {
        if (inPlace) {
          await rawRequest(url, "evm_revert", [snapshot]);
          stage.forget();
        }
        await stage.moves[kind]();
        movedAt = turns.asked.length;
        if (isStale) turns.stale = { old, lies: () => random() < 0.5 };
      };
      if (when === "between" || when === "both") await move(isReorg);
      if (when === "within" || when === "both") {
        turns.position = Math.floor(random() * 14);
        turns.interrupt = () => move(when === "within" && isReorg);
      }
      ahead.ms += Math.floor(random() * 6_000);
      const report = await runtime.runPromise(Preflight.preflight(stage.input, options)).finally(() => {
        turns.position = Number.POSITIVE_INFINITY;
        turns.stale = null;
      });
      const isTold =
        movedAt === Number.POSITIVE_INFINITY ||
        turns.asked.some(
          ({ method, params }, place) => place >= movedAt && !turns.lied.has(place) && isTelling(kind, method, params),
        );
      const isReady = report.verdict === "ready";
      const isWrong = isReady && !(await stage.holds(report));
      tally.runs += 1;
      tally.inOneRound += report.ledger.rounds === 1 ? 1 : 0;
      tally.ready += isReady ? 1 : 0;
      tally.falsely += isWrong && isTold ? 1 : 0;
      tally.untold += isWrong && !isTold ? 1 : 0;
      const asked = turns.asked.map(({ method, params }) => `${method} ${JSON.stringify(params.at(-1))}`);
      if (isWrong && isTold) tell({ run, kind, asked });
    }
  } finally {
    await runtime.dispose();
  }
  return tally;
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
  return { ...node, chainId, mine: () => mineAnvil(node.url), isAnvil: true };
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
