/** The nodes on which the accuracy is measured, each a chain of one fork or of two. */
import type { Hex } from "viem";
import { accounts, mineAnvil, rawRequest, startAnvil, type Node } from "../anvil.js";
import { findGethOrWarn, startGethAsIs, startGethDev, type Forks } from "../geth.js";
import { findOpGethOrWarn, startOpGeth, type Generation } from "../opGeth.js";
import { setStage, type Stage } from "./cases.js";
import { sceneOn } from "../../witness/scene.js";

export interface Bed {
  readonly url: string;
  readonly chainId: number;
  readonly stage: Stage;
  /** By the rules of `fork`, where there is more than one. */
  readonly mine: (fork?: string | null) => Promise<unknown>;
  /** After what was mined, and before the next is drawn. */
  readonly rewind: () => Promise<unknown>;
  /** Whether it is of no more use, so that another is to be started. */
  readonly isSpent: () => boolean;
  readonly stop: () => Promise<void>;
}

const bed = async (node: Node, chainId: number, mine: () => Promise<unknown>): Promise<Bed> => ({
  ...{ url: node.url, chainId, mine, stop: node.stop, rewind: () => Promise.resolve(), isSpent: () => false },
  stage: await setStage(sceneOn(node.url, chainId, mine), chainId, accounts[0].address),
});

const onAnvil = async (): Promise<Bed> => {
  const node = await startAnvil({ noMining: true, args: ["--enable-tx-gas-limit"] });
  return bed(node, 31337, () => mineAnvil(node.url));
};

const onGeth = (bin: string, forks: Forks) => async (): Promise<Bed> => {
  const node = await startGethDev(bin, { forks });
  return bed(node, 1337, () => node.mine());
};

/** Until the pool has taken note of the head: as many of the sender's are pending as it tells of. Answers how many it holds. */
const untilNoted = async (url: string): Promise<number> => {
  const count = async (tag: string) =>
    Number(await rawRequest(url, "eth_getTransactionCount", [accounts[0].address, tag]));
  for (;;) {
    const { pending, queued } = (await rawRequest(url, "txpool_status")) as Record<"pending" | "queued", Hex>;
    if ((await count("pending")) - (await count("latest")) === Number(pending)) return Number(pending) + Number(queued);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

/** Until nothing of the sender's is pending. */
const untilMined = async (url: string): Promise<void> => {
  const count = (tag: string) => rawRequest(url, "eth_getTransactionCount", [accounts[0].address, tag]);
  while ((await count("latest")) !== (await count("pending"))) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** The client's own `--dev`, which mines what comes: the opcodes of one fork in the blocks of another. */
const onGethAsIs = (bin: string) => async (): Promise<Bed> => {
  const { account, ...node } = await startGethAsIs(bin, ["--dev.gaslimit", "60000000"]);
  const { address } = accounts[0];
  const give = () =>
    rawRequest(node.url, "eth_sendTransaction", [
      { from: account, to: address, value: `0x${(10n ** 22n).toString(16)}` },
    ]);
  const isThere = async () => ((await rawRequest(node.url, "eth_getBalance", [address, "latest"])) as Hex) !== "0x0";
  // why: what comes before the node listens to its own pool is mined with the next that comes
  for (let tries = 0; !(await isThere()); tries++) {
    if (tries % 100 === 0) await give();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return bed(node, 1337, () => untilMined(node.url));
};

/** Seconds from the genesis to the fork; its time has come eighteen seconds after the start. */
const [age, crossing] = [60, 78];

/**
 * Shortly before Amsterdam, and after every transaction there again: every other one is mined after the fork, the rest
 * before it; a while later, when the node's own clock is past the fork, too.
 */
const acrossAmsterdam = (bin: string) => async (): Promise<Bed> => {
  const began = Date.now();
  // why: after ten seconds, and after every minute, a node would send again what its callers sent and a rewind took
  const args = ["--txpool.nolocals"];
  const node = await startGethDev(bin, { age, forks: { osakaTime: 0, amsterdamTime: crossing }, args });
  const on = await bed(node, 1337, () => node.mine());
  const head = await rawRequest(node.url, "eth_blockNumber");
  let [isAfter, isStuck] = [false, false];
  return {
    ...on,
    mine: (fork = null) => {
      isAfter = fork === null ? !isAfter : fork === "amsterdam";
      return node.seal({ after: isAfter ? age : 1 });
    },
    rewind: async () => {
      await rawRequest(node.url, "debug_setHead", [head]);
      isStuck = (await untilNoted(node.url)) > 0;
    },
    isSpent: () => isStuck || Date.now() - began > (crossing - age + 20) * 1000,
  };
};

const operatorFee = { operatorFeeScalar: 400_000_000, operatorFeeConstant: 900_000_000n };
const onOpGeth = (bin: string, generation: Generation) => async (): Promise<Bed> => {
  const node = await startOpGeth(bin, {
    generation,
    l1: {
      ...{ baseFee: 99_720_435n, blobBaseFee: 5_690_171n, baseFeeScalar: 2_269, blobBaseFeeScalar: 1_055_762 },
      ...(generation === "jovian" ? { ...operatorFee, operatorFeeScalar: 3_000, minBaseFee: 2_000_000 } : {}),
      ...(generation === "isthmus" ? operatorFee : {}),
    },
  });
  await node.mine();
  return bed(node, node.chainId, () => node.mine());
};

const geth = findGethOrWarn("accuracy on geth") ?? "";
const opGeth = findOpGethOrWarn("accuracy on the OP stack") ?? "";

/** Every bed by client and fork; null where its node is not installed. */
export const beds = {
  "anvil, Osaka": onAnvil,
  "geth, before Osaka": geth && onGeth(geth, {}),
  "geth, Osaka": geth && onGeth(geth, { osakaTime: 0 }),
  "geth, Amsterdam": geth && onGeth(geth, { osakaTime: 0, amsterdamTime: 0 }),
  "geth, Osaka to Amsterdam": geth && acrossAmsterdam(geth),
  "geth --dev": geth && onGethAsIs(geth),
  "op-geth, Fjord": opGeth && onOpGeth(opGeth, "fjord"),
  "op-geth, Isthmus": opGeth && onOpGeth(opGeth, "isthmus"),
  "op-geth, Jovian": opGeth && onOpGeth(opGeth, "jovian"),
} as const;

export type BedName = keyof typeof beds;

/** Those of `names` whose node is installed. */
export const bedsOf = (names: ReadonlyArray<BedName>): ReadonlyArray<readonly [BedName, () => Promise<Bed>]> =>
  names.flatMap((name) => {
    const start = beds[name];
    return start === "" ? [] : [[name, start] as const];
  });

/** Whose accuracy is measured at length. */
export const measured: ReadonlyArray<BedName> = [
  ...(["anvil, Osaka", "geth, Osaka", "geth, Amsterdam", "geth, Osaka to Amsterdam", "op-geth, Jovian"] as const),
];

/** Where one fork is in force, for the rules of it. */
export const ruled: ReadonlyArray<BedName> = [
  ...(["anvil, Osaka", "geth, before Osaka", "geth, Osaka", "geth, Amsterdam", "geth --dev"] as const),
  ...(["op-geth, Fjord", "op-geth, Isthmus", "op-geth, Jovian"] as const),
];
