/**
 * A chain in bad weather: random writers, gates, reorganisations and cut sockets, block after block, while reports on it
 * are watched. After every block each `Fresh` is held against a proof at the same head.
 */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { webSocket, type Hex } from "viem";
import * as Preflight from "../../src/Preflight.js";
import * as Rpc from "../../src/Rpc.js";
import { essentialDiff } from "../rooms/watch.js";
import { Gate, Swap, Token } from "../contracts/artifacts.js";
import { startLine } from "../harness/line.js";
import { furnish, passing, transferOf } from "../preflight/furnished.js";
import {
  calldata,
  layerOf,
  nobody,
  other,
  owner,
  preflightOn,
  spare,
  startAnvilScene,
  third,
} from "../preflight/scene.js";
import { counted, watching } from "./watched.js";

/**
 * How the reports' node is reached through the line that is cut: `http` and `socket` for everything, heads included;
 * `mixed` for heads alone, over a socket.
 */
export type Over = "http" | "socket" | "mixed";

export interface StormOptions {
  readonly over: Over;
  readonly blocks: number;
  /** Each Fresh of every so manieth block is held against a proof. */
  readonly everyBlocks: number;
  readonly seed: number;
  /** How often each of four reports is watched; default 1. */
  readonly copies?: number;
  readonly onBlock?: (block: number) => void;
}

export interface Storm {
  readonly told: { readonly fresh: number; readonly moved: number; readonly lost: number };
  /** What a proof says otherwise of a `Fresh`. */
  readonly wrong: ReadonlyArray<string>;
  readonly proofsHeldAgainst: number;
  readonly reorganisations: number;
  readonly cuts: number;
  /** Ms from a block, asked for, to the last word on it, ascending; reorganisations left out. */
  readonly lags: ReadonlyArray<number>;
  /** Ms from a head, told to the watchers, to the last word on it, ascending. */
  readonly judged: ReadonlyArray<number>;
}

/** Numbers below `below`, by a seed (mulberry32). */
const chance = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

export const storm = async ({ over, blocks, everyBlocks, seed, copies = 1, onBlock }: StormOptions): Promise<Storm> => {
  const { scene, token, gate } = await furnish(startAnvilScene);
  const line = await startLine(scene.url);
  const roll = chance(seed);
  const mint = (to: string, amount: bigint) => ({ to: token, data: calldata(Token, "mint", [to, amount]) });
  let isOpen = true;
  const flip = () => {
    isOpen = !isOpen;
    return scene.send(third, { to: gate, data: calldata(Gate, isOpen ? "open" : "close") });
  };
  const pool = await scene.deploy(Swap, [token, token]);
  await scene.send(owner, mint(other.address, 5n));
  await scene.send(owner, mint(pool, 10n ** 9n));
  await scene.send(owner, mint(spare.address, 10n ** 9n));
  await scene.send(spare, { to: token, data: calldata(Token, "approve", [pool, 10n ** 9n]) });
  await scene.send(third, { to: gate, data: calldata(Gate, "open") });
  await scene.mine();
  const direct = layerOf(scene.url);
  const inputs = [
    transferOf(token),
    transferOf(token, 10n ** 24n),
    passing(gate),
    { from: spare.address, to: pool, data: calldata(Swap, "swap", [1_000n, 1n, 2n ** 40n]) },
  ];
  const reports: Array<Awaited<ReturnType<typeof preflightOn>>> = [];
  for (const input of inputs) reports.push(await preflightOn(direct, input, { maxAge: "10 minutes" }));
  const watched = Array.from({ length: copies }, () => reports).flat();
  const socket = Rpc.layerTransport(webSocket(line.url, { reconnect: false }));
  const mixed = Layer.effect(
    Rpc.Rpc,
    Effect.gen(function* () {
      const [http, ws] = [yield* Effect.provide(Rpc.Rpc, direct), yield* Effect.provide(Rpc.Rpc, socket)];
      return Rpc.Rpc.of({ ...http, subscribe: ws.subscribe });
    }),
  );
  const ways = { mixed, socket, http: Rpc.layerHttp(line.url.replace("ws", "http")) };
  const running = watching(watched, counted(ways[over]).layer, { deadline: "20 seconds" });
  const heardAt = running[0]?.heardAt;
  const headOf = async () => (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { hash: Hex };
  const isToldOf = (hash: Hex) => running.every(({ told }) => told.at(-1)?.head?.header.hash === hash);
  const untilTold = async (hash: Hex) => {
    for (let waited = 0; !isToldOf(hash); waited++) {
      if (waited > 20_000) throw new Error(`no word on ${hash}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const wrong: Array<string> = [];
  const lags: Array<number> = [];
  const judged: Array<number> = [];
  let [proofsHeldAgainst, reorganisations, cuts] = [0, 0, 0];
  try {
    await untilTold((await headOf()).hash);
    for (let block = 0; block < blocks; block++) {
      const weather = roll(12);
      if (weather === 0) await scene.send(third, mint(owner.address, BigInt(roll(1_000))));
      else if (weather === 1) await scene.send(third, mint(pool, BigInt(roll(10 ** 6))));
      else if (weather === 2) await flip();
      else if (weather === 3) await scene.send(third, { to: owner.address, value: BigInt(roll(1_000)) });
      else if (weather < 8) await scene.send(third, { to: nobody, value: 1n });
      if (roll(40) === 0) {
        cuts += 1;
        line.cut();
      }
      const isReorganised = roll(25) === 0;
      if (isReorganised) {
        reorganisations += 1;
        await scene.mine();
        await scene.ask("anvil_reorg", [1 + roll(2), []]);
        const opened = await scene.ask("eth_call", [{ to: gate, data: calldata(Gate, "opened") }, "latest"]);
        isOpen = BigInt(String(opened)) !== 0n;
      }
      const mined = performance.now();
      await scene.mine();
      const { hash } = await headOf();
      await untilTold(hash);
      const told = performance.now();
      if (!isReorganised) lags.push(told - mined);
      judged.push(told - (heardAt?.get(hash) ?? mined));
      onBlock?.(block);
      if (block % everyBlocks !== 0) continue;
      for (const [index, { told }] of running.slice(0, reports.length).entries()) {
        const word = told.at(-1);
        if (word?._tag !== "Fresh") continue;
        proofsHeldAgainst += 1;
        const proven = await Effect.runPromise(Preflight.prove(word.report).pipe(Effect.provide(direct)));
        const differences = essentialDiff(word.report, proven);
        if (differences.length > 0 || !["ready", "caution"].includes(proven.verdict))
          wrong.push(
            `block ${block}, report ${index}: ${proven.verdict} ${differences.map(({ kind, what, a, b }) => `${what ?? kind} ${a} ${b}`).join("; ")}`,
          );
      }
    }
  } finally {
    for (const one of running) await one.stop();
    await line.stop();
    await scene.stop();
  }
  const words = running.flatMap(({ told }) => told);
  const count = (tag: Preflight.Watched["_tag"]) => words.filter(({ _tag }) => _tag === tag).length;
  return {
    told: { fresh: count("Fresh"), moved: count("Moved"), lost: count("Lost") },
    ...{ wrong, proofsHeldAgainst, reorganisations, cuts },
    ...{ lags: lags.sort((one, two) => one - two), judged: judged.sort((one, two) => one - two) },
  };
};
