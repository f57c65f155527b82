/** A scene whose blocks follow from what was sent, never from how fast it was. */
import type { Scene } from "../preflight/scene.js";

/** Transactions after which a block is made: few enough that a busy machine fills it in the time it gets. */
const atMost = 8;
const patience = 200;

interface Pool {
  readonly pending: string;
}

/**
 * Mines only when the pool holds everything that was sent, and takes a block for good only when that is in it:
 * geth moves transactions into its pool, and fills a block, beside the answers it gives. A block more or less
 * would be another base fee, and other numbers in every report.
 */
export const steady = (scene: Scene): Scene => {
  let outstanding = 0;
  const pooled = async () => {
    for (let tries = 0; tries < patience; tries++) {
      const { pending } = (await scene.ask("txpool_status", [])) as Pool;
      if (Number(pending) === outstanding) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`the pool does not hold the ${outstanding} transactions that were sent`);
  };
  const mine = async () => {
    await pooled();
    await scene.mine();
    const { transactions } = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as {
      readonly transactions: ReadonlyArray<string>;
    };
    if (transactions.length !== outstanding)
      throw new Error(`a block with ${transactions.length} of ${outstanding} transactions`);
    outstanding = 0;
    await pooled();
  };
  const broadcast: Scene["broadcast"] = async (raw) => {
    const hash = await scene.broadcast(raw);
    outstanding++;
    if (outstanding === atMost) await mine();
    return hash;
  };
  return {
    ...scene,
    mine,
    broadcast,
    // these send by themselves, and are counted
    send: async (from, call) => {
      const hash = await scene.send(from, call);
      outstanding++;
      return hash;
    },
  };
};
