/**
 * The bot of the examples in bad weather: a chain that loses up to three blocks at a time, and a competitor beside it.
 * `BOT_SECONDS` says for how long; three minutes are the long proof.
 */
import { describe, expect, it } from "vitest";
import { mineAnvil, rawRequest, startAnvil } from "./harness/anvil.js";
import { botStorm, type Sky } from "./harness/botStorm.js";
import { findGethOrWarn, startGethDev } from "./harness/geth.js";

const ms = Number(process.env["BOT_SECONDS"] ?? 20) * 1_000;
const geth = findGethOrWarn("the bot in reorganisations of geth");

/** The same numbers from the same seed. */
const randomFrom = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

const onAnvil = async (): Promise<Sky & { readonly stop: () => Promise<void> }> => {
  const { url, stop } = await startAnvil({ noMining: true });
  // why: it puts empty blocks in the place of those that it drops
  return { url, stop, mine: () => mineAnvil(url), drop: (depth) => rawRequest(url, "anvil_reorg", [depth, []]) };
};

const onGeth = async (): Promise<Sky & { readonly stop: () => Promise<void> }> => {
  const { url, stop, mine } = await startGethDev(geth ?? "", { age: 3_600 });
  const drop = async (depth: number) => {
    const head = BigInt((await rawRequest(url, "eth_blockNumber")) as string);
    await rawRequest(url, "debug_setHead", [`0x${(head - BigInt(depth)).toString(16)}`]);
    await new Promise((resolve) => setTimeout(resolve, 100));
  };
  return { url, stop, mine: () => mine(), drop };
};

describe("examples/bot.ts", () => {
  it.each([["anvil", onAnvil] as const, ...(geth === null ? [] : [["geth", onGeth] as const])])(
    "pays everything exactly once, however %s reorganises",
    async (_, start) => {
      const sky = await start();
      try {
        const landed = await botStorm(sky, ms, randomFrom(7));
        if (process.env["BOT_SECONDS"] !== undefined) console.log(JSON.stringify(landed));
        expect(landed.failed).toEqual([]);
        expect(landed.times).toEqual({ 1: landed.payments });
        expect(landed.payments).toBeGreaterThan(ms / 5_000);
        expect(landed.reorganisations).toBeGreaterThan(2);
        expect(landed.mostWaiting).toBeLessThan(16);
      } finally {
        await sky.stop();
      }
    },
    ms + 240_000,
  );
});
