/** Sets the stage: accounts with money, what each row does ahead, and a pool full of others. */
import type { Hex, TransactionSerializable } from "viem";
import * as artifacts from "../../contracts/artifacts.js";
import { until } from "../../harness/gethEngine.js";
import { calldata, type Call, type Scene } from "../scene.js";
import { sendingFrom } from "../troupe.js";
import { approve, deployAll, ether, mint, stranger, whoOf, type Rows, type Stage, type Who } from "./stage.js";

/** Signs and sends, from an account that nobody else uses. */
export const sendAll = async (
  scene: Scene,
  who: Who,
  calls: ReadonlyArray<Call & { readonly delegate?: Hex }>,
): Promise<ReadonlyArray<Hex>> => {
  const first = await scene.count(who.address);
  const hashes: Array<Hex> = [];
  for (const [index, { delegate, ...call }] of calls.entries()) {
    const nonce = first + index;
    const shared = {
      ...{ ...call, chainId: scene.chainId, nonce, gas: 600_000n },
      ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
    };
    const authorized = delegate && { address: delegate, chainId: scene.chainId, nonce: nonce + 1 };
    const transaction: TransactionSerializable = authorized
      ? { ...shared, type: "eip7702", authorizationList: [await who.signAuthorization(authorized)] }
      : { ...shared, type: "eip1559" };
    hashes.push(await scene.broadcast(await who.signTransaction(transaction)));
  }
  return hashes;
};

/** Mines until nothing is left in the pool. */
export const drain = async (scene: Scene): Promise<void> => {
  for (let tries = 0; tries < 40; tries++) {
    const pool = (await scene.ask("txpool_status", [])) as Readonly<Record<"pending" | "queued", Hex>>;
    // why: what came this moment is queued, and not yet pending
    if (BigInt(pool.pending) + BigInt(pool.queued) === 0n) return;
    await scene.mine();
  }
  throw new Error("the pool is never empty");
};

/** Gives each some ether, in as few transactions as go. */
const fund = async (stage: Stage, accounts: ReadonlyArray<Who>): Promise<void> => {
  const { send, mined } = await sendingFrom(stage.scene);
  for (let first = 0; first < accounts.length; first += 30) {
    const some = accounts.slice(first, first + 30).map(({ address }) => address);
    const data = calldata(artifacts.Till, "disperseEther", [some, some.map(() => 10n * ether)]);
    await send({ to: stage.at.till, data, value: BigInt(some.length) * 10n * ether });
  }
  await mined();
};

/** Others, whose transactions stay pending. */
const bystanders = Array.from({ length: 10 }, (_, index) => whoOf(`bystander ${index}`));

const untilPending = ({ scene }: Stage, hashes: ReadonlyArray<Hex>) =>
  until("the pending block has all of the others", async () => {
    const block = (await scene.ask("eth_getBlockByNumber", ["pending", false])) as {
      readonly transactions: ReadonlyArray<string>;
    };
    return hashes.every((hash) => block.transactions.includes(hash));
  });

/**
 * Forty transactions that have nothing to do with any row, but that they use the same tokens: transfers, trades in
 * another market, counters, collectibles. Beside them some in the very markets, auctions and factories of rows that say so.
 */
export const crowd = async (stage: Stage): Promise<void> => {
  const { scene, at, now } = stage;
  const trade = (pair: Hex, who: Who, amount: bigint) => ({
    to: at.router,
    data: calldata(artifacts.Router, "exactInput", [pair, amount, 1n, who.address, now + 3_600n]),
  });
  const hashes: Array<Hex> = [];
  for (const [index, who] of bystanders.entries()) {
    const calls: ReadonlyArray<Call> = [
      { to: bystanders[9 - index]?.address ?? stranger, value: 1n },
      trade(at.pond, who, BigInt(index + 1) * ether),
      { to: at.pastime, data: calldata(artifacts.Almanac, "post", ["0x00"]) },
      index % 2 === 0
        ? { to: at.nft, data: calldata(artifacts.Nft, "mint", [who.address, BigInt(9_000 + index)]) }
        : { to: at.gold, data: calldata(artifacts.Token, "transfer", [stranger, 5n]) },
      ...(index < 3 ? [trade(at.busy, who, 100n * ether)] : []),
      ...(index < 3 ? [{ to: at.range, data: calldata(artifacts.Range, "swap", [who.address, 10n ** 8n, 1n]) }] : []),
      ...(index === 4 ? [{ to: at.crowdedEnglish, data: calldata(artifacts.English, "bid"), value: ether }] : []),
      ...(index === 5 ? [{ to: at.crowdedFactory, data: calldata(artifacts.WalletFactory, "createNext") }] : []),
      ...(index === 3 ? [{ to: at.crowdedGallery, data: calldata(artifacts.Gallery, "buy"), value: ether / 10n }] : []),
    ];
    hashes.push(...(await sendAll(scene, who, calls)));
  }
  await untilPending(stage, hashes);
};

/** Deploys everything and lets each row's account do what it does ahead. */
export const prepare = async (scene: Scene, rows: Rows): Promise<Stage> => {
  const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly timestamp: Hex };
  const now = BigInt(head.timestamp);
  const at = await deployAll(scene, now);
  const stage: Stage = { scene, now, at };
  await fund(stage, [...Object.keys(rows).map(whoOf), ...bystanders]);
  // why: pools take one transaction at a time of an account that delegates
  for (const isDelegating of [false, true]) {
    for (const [name, { before }] of Object.entries(rows)) {
      const calls = before?.(stage, whoOf(name)).filter(({ delegate }) => isDelegating === (delegate !== undefined));
      if (calls !== undefined) await sendAll(scene, whoOf(name), calls);
    }
    await drain(scene);
  }
  for (const who of bystanders)
    await sendAll(scene, who, [mint(at.gold, who), approve(at.gold, at.router), approve(at.gold, at.range)]);
  await drain(scene);
  for (let blocks = 0; blocks < 3; blocks++) await scene.mine();
  return stage;
};
