/**
 * Contracts that are honest in some blocks and keep the money in others, and honest ones that look alike: how many of
 * each family are `ready`. Seeded; on anvil, and on geth where it is installed.
 *
 *     npm run accuracy:families         (FAMILIES_COUNT=n members of each, default 200; FAMILIES_SEED=n)
 */
import { numberToHex, type Hex } from "viem";
import { nextBaseFee } from "../test/rooms/chains.js";
import { other, preflight, scenesFor, type Scene } from "../test/preflight/scene.js";
import { assemble, watcher } from "../test/preflight/watchers.js";

const count = Number(process.env["FAMILIES_COUNT"] ?? 200);
let state = Number(process.env["FAMILIES_SEED"] ?? 1);
/** Mulberry32: a whole number below `most`. */
const draw = (most: number): number => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
};

/** The block that comes next. */
interface Next {
  readonly time: number;
  readonly number: number;
  readonly baseFee: bigint;
  readonly gasLimit: bigint;
}
interface Family {
  readonly name: string;
  readonly isHonest: boolean;
  /** Whether the money is given back, from two words of calldata. */
  readonly honestWhere: string;
  readonly words: (next: Next) => readonly [bigint | number, bigint | number];
}

const [first, second] = ["0 CALLDATALOAD", "32 CALLDATALOAD"];
/** Whether it is outside of the two words. */
const outside = (what: string) => `${first} ${what} LT ${second} ${what} GT OR`;
const hostile: ReadonlyArray<Omit<Family, "isHonest">> = [
  {
    name: "steals for 13 to 24 s, some time in the life of the clearance",
    honestWhere: outside("TIMESTAMP"),
    words: ({ time }) => {
      const from = time + 1 + draw(22);
      return [from, from + 13 + draw(12)];
    },
  },
  {
    name: "steals for 2 to 12 s, some time in the life of the clearance",
    honestWhere: outside("TIMESTAMP"),
    words: ({ time }) => {
      const from = time + 1 + draw(33);
      return [from, from + 2 + draw(11)];
    },
  },
  {
    name: "is honest up to a time in the life of the clearance, and steals from then on",
    honestWhere: `${first} TIMESTAMP LT`,
    // not before the next block, which tells it itself
    words: ({ time }) => [time + 4 + draw(32), 0],
  },
  {
    name: "steals in one of the next four blocks",
    honestWhere: outside("NUMBER"),
    words: ({ number }) => {
      const at = number + draw(4);
      return [at, at];
    },
  },
  {
    name: "is honest at exactly the next base fee, or for a producer with code",
    honestWhere: `BASEFEE ${first} EQ COINBASE EXTCODESIZE OR`,
    words: ({ baseFee }) => [baseFee, 0],
  },
  {
    name: "is honest at the parent's gas limit and off any whole step of it",
    honestWhere: `GASLIMIT ${first} EQ GASLIMIT ${second} ADD 2 SWAP1 MOD OR`,
    words: ({ gasLimit }) => [gasLimit, gasLimit % 2n],
  },
];
const honest: ReadonlyArray<Omit<Family, "isHonest">> = [
  { name: "honest: reads the time", honestWhere: `TIMESTAMP`, words: () => [draw(1_000), 0] },
  { name: "honest: reads the number", honestWhere: `NUMBER`, words: () => [draw(1_000), 0] },
  {
    name: "honest: reads producer, gas limit and base fee",
    honestWhere: "COINBASE GASLIMIT OR BASEFEE OR",
    words: () => [0, 0],
  },
  {
    name: "honest: a quote that holds 30 to 90 s, and gives back what comes later",
    honestWhere: `${first} TIMESTAMP LT 1 OR`,
    words: ({ time }) => [time + 30 + draw(60), 0],
  },
  {
    name: "honest: opened long ago, closes in hours",
    honestWhere: outside("TIMESTAMP").replace("OR", "OR ISZERO"),
    words: ({ time }) => [time - 3_600 - draw(10_000), time + 3_600 + draw(10_000)],
  },
];
const families: ReadonlyArray<Family> = [
  ...hostile.map((family) => ({ ...family, isHonest: false })),
  ...honest.map((family) => ({ ...family, isHonest: true })),
];

const wordOf = (word: bigint | number): string => numberToHex(word, { size: 32 }).slice(2);

const nextOn = async (scene: Scene, at: Hex): Promise<{ readonly next: Next; readonly askedAt: number }> => {
  const { observed } = await preflight(scene.url, {
    from: other.address,
    to: at,
    value: 1n,
    data: `0x${wordOf(1)}${wordOf(2)}`,
  });
  const world = observed.worlds.find(({ run }) => run === "next");
  const header = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
  const of = (name: string) => BigInt(header[name] ?? "0x0");
  const fee = nextBaseFee(
    { baseFeePerGas: of("baseFeePerGas"), gasLimit: of("gasLimit"), gasUsed: of("gasUsed"), blobGasUsed: null },
    { elasticity: 2n, denominator: 8n, minBaseFeePerGas: 0n },
  );
  return {
    askedAt: Date.now(),
    next: {
      time: Number(world?.timestamp),
      number: Number(world?.number),
      baseFee: fee ?? 0n,
      gasLimit: of("gasLimit"),
    },
  };
};

for (const [node, start] of scenesFor("families")) {
  const scene = await start();
  try {
    const places: Array<Hex> = [];
    for (const { honestWhere } of families) {
      places.push(await scene.deploy({ abi: [], bytecode: watcher(assemble(honestWhere)) }));
      await scene.mine();
    }
    for (const [index, family] of families.entries()) {
      const to = places[index] ?? "0x";
      let ready = 0;
      let caution = 0;
      let known = await nextOn(scene, to);
      for (let member = 0; member < count; member++) {
        // a node that mines on demand gives the next block its own clock
        if (Date.now() - known.askedAt > 2_000) known = await nextOn(scene, to);
        const data: Hex = `0x${family.words(known.next).map(wordOf).join("")}`;
        const { verdict } = await preflight(scene.url, { from: other.address, to, value: 10n ** 15n, data });
        if (verdict === "ready") ready += 1;
        if (verdict === "caution") caution += 1;
      }
      const share = (100 * ready) / count;
      console.log(`${node} | ${family.name} | ready ${ready} of ${count} (${share.toFixed(1)} %), caution ${caution}`);
    }
  } finally {
    await scene.stop();
  }
}
