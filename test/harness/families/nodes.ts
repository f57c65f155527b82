/** Classes 3 and 4: nodes that are behind, or are several; and what a pool does to a transaction that the chain would take. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { numberToHex, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import * as Chains from "../../../src/Chains.js";
import * as Rpc from "../../../src/Rpc.js";
import { layerOf, other, startAnvilScene } from "../../preflight/scene.js";
import { creation } from "../creation.js";
import { startProxy } from "../proxy.js";
import type { Class, Dice, Family, Member, Next, Stage } from "./kit.js";

const isAnvil = (bed: string): boolean => bed === "anvil";
const nobody: Hex = "0x00000000000000000000000000000000dead0001";

/** A node of a chain of 12 s whose head is so many seconds old, by the draw. */
const aged = (kind: Class, name: string, isHonest: boolean, age: (dice: Dice) => number): Family => ({
  ...{ kind, name, isHonest, on: isAnvil, isChancy: !isHonest },
  prepare: async ({ bed }) => {
    const chainId = 424_312;
    const begun = Math.floor(Date.now() / 1_000) - 10_000;
    const scene = await startAnvilScene(chainId, ["--timestamp", String(begun)]);
    // why: an endpoint says in its headers what time it is
    const proxy = await startProxy({ target: scene.url });
    open.set(bed, [...(open.get(bed) ?? []), proxy.stop, scene.stop]);
    const layer = Layer.merge(layerOf(proxy.url), Chains.layerWith(chainId, { blockTimeMs: 12_000 }));
    let kept = await scene.ask("evm_snapshot", []);
    return async (dice): Promise<Member> => {
      await scene.ask("evm_revert", [kept]);
      kept = await scene.ask("evm_snapshot", []);
      await scene.ask("evm_setNextBlockTimestamp", [Math.floor(Date.now() / 1_000) - age(dice)]);
      await scene.mine();
      proxy.reset();
      return { input: { from: other.address, to: nobody, value: BigInt(1 + dice.below(1_000)) }, layer };
    };
  },
});
const open = new Map<string, ReadonlyArray<() => Promise<void>>>();

/** Each request goes to one of two nodes. */
const spread = (urls: readonly [string, string], dice: Dice): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Effect.all([Layer.build(layerOf(urls[0])), Layer.build(layerOf(urls[1]))]), ([a, b]) => {
      const [one, two] = [Context.get(a, Rpc.Rpc), Context.get(b, Rpc.Rpc)];
      return Rpc.Rpc.of({
        ...one,
        request: (method, params) => (dice.below(2) === 0 ? one : two).request(method, params),
      });
    }),
  );
/** A gateway in front of two nodes: a call that works on the one fails on the other, which is some blocks ahead, or elsewhere. */
const gateway = (name: string, isHonest: boolean, isMixed: boolean): Family => ({
  ...{ kind: "3 stale and mixed", name, isHonest, on: isAnvil, isChancy: !isHonest && !isMixed },
  prepare: async ({ bed }) => {
    const scenes = [await startAnvilScene(424_400), await startAnvilScene(isMixed ? 424_401 : 424_400)] as const;
    open.set(bed, [...(open.get(bed) ?? []), ...scenes.map(({ stop }) => stop)]);
    const [to] = [
      await scenes[0].deploy({ abi: [], bytecode: creation("00") }),
      await scenes[1].deploy({ abi: [], bytecode: creation(isHonest ? "00" : "5f5ffd") }),
    ];
    return async (dice): Promise<Member> => {
      const urls = isHonest ? ([scenes[0].url, scenes[0].url] as const) : ([scenes[0].url, scenes[1].url] as const);
      await scenes[0].mine();
      for (let ahead = -1; ahead < dice.below(3); ahead++) await scenes[1].mine();
      return {
        input: { from: other.address, to, data: numberToHex(dice.below(1_000), { size: 32 }) },
        layer: spread(urls, dice),
      };
    };
  },
});
/** Stops the nodes that families of this bed started beside. */
export const stopBeside = async (bed: string): Promise<void> => {
  for (const stop of open.get(bed) ?? []) await stop();
  open.delete(bed);
};

const pool = (
  name: string,
  isHonest: boolean,
  draw: (dice: Dice, next: Next, sink: Hex) => object,
  isCaught?: Member["isCaught"],
): Family => ({
  ...{ kind: "4 the pool", name, isHonest },
  prepare: async ({ put }) => {
    const sink = await put(creation("00"));
    return (dice, next) => ({
      input: draw(dice, next, sink) as never,
      ...(isCaught === undefined ? {} : { isCaught }),
    });
  },
});
const from = other.address;
const bytes = (count: number): Hex => `0x${"ab".repeat(count)}`;
/** An account whose transaction in flight may cost far more than it does. */
const queued = (name: string, isHonest: boolean): Family => ({
  ...{ kind: "4 the pool", name, isHonest, on: isAnvil },
  prepare:
    async ({ scene }: Stage) =>
    async (dice, { baseFee }): Promise<Member> => {
      const account = privateKeyToAccount(numberToHex(1_000_000n + BigInt(dice.below(2 ** 31)), { size: 32 }));
      const [balance, reserved] = [10n ** 17n, 21_000n * 10n ** 12n];
      await scene.ask("anvil_setBalance", [account.address, numberToHex(balance)]);
      await scene.pool(account, { to: nobody, nonce: 0, gas: 21_000n, maxFeePerGas: 10n ** 12n, value: 1n });
      const fees = 21_000n * (3n * baseFee + 4n * 10n ** 9n);
      const room = (reserved - fees) / 1_000n;
      const short = BigInt(1 + dice.below(900)) * room;
      const value = isHonest ? balance - reserved - fees - short : balance - reserved + short - 1n;
      return { input: { from: account.address, to: nobody, value } };
    },
});

export const nodes: ReadonlyArray<Family> = [
  aged("3 stale and mixed", "a node three to eight slots behind", false, ({ below }) => 36 + below(72)),
  aged("3 one or two slots behind", "a node one or two slots behind", false, ({ below }) => 12 + below(24)),
  aged("3 stale and mixed", "a head of this slot or the one before", true, ({ below }) => below(24)),
  gateway("a gateway in front of two heads", false, false),
  gateway("a gateway in front of two chains", false, true),
  gateway("a gateway in front of one node", true, false),
  pool("calldata above 128 KiB", false, ({ below }, _, to) => ({ from, to, data: bytes(131_072 + below(30_000)) })),
  pool("a tip of nothing", false, ({ below }, { baseFee }, to) => {
    const maxFeePerGas = baseFee * BigInt(2 + below(3)) + BigInt(1 + below(1_000));
    return { from, to, data: "0x01", maxFeePerGas, maxPriorityFeePerGas: 0n };
  }),
  pool(
    "a fee cap that one full block ends",
    false,
    ({ below }, { baseFee, behindFull }, to) => {
      const maxFeePerGas = baseFee + ((behindFull - baseFee) * BigInt(below(80))) / 100n;
      return { from, to, data: "0x01", maxFeePerGas, maxPriorityFeePerGas: 1n + maxFeePerGas / 20n };
    },
    ({ verdict, findings }) => verdict !== "ready" || findings.some(({ code }) => code === "FeeCapShort"),
  ),
  queued("in front of it waits what may cost more than is left", false),
  pool("calldata of some KiB", true, ({ below }, _, to) => ({ from, to, data: bytes(1_024 + below(30_000)) })),
  pool("ordinary fees", true, ({ below }, { baseFee }, to) => {
    const tip = 10n ** 9n + BigInt(below(10 ** 9));
    return { from, to, data: "0x01", maxFeePerGas: baseFee * BigInt(2 + below(3)) + tip, maxPriorityFeePerGas: tip };
  }),
  queued("in front of it waits what leaves enough", true),
];
