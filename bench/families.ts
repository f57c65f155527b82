/**
 * Contracts that are honest in some blocks and keep the money in others, or that hand control over without a word, and
 * honest ones that look alike: how many of each family are `ready`. Seeded; on anvil, and on geth where it is installed.
 *
 * Its results stand in docs/accuracy.md, written there by hand.
 *
 *     npm run accuracy:families         (FAMILIES_COUNT=n members of each, default 200; FAMILIES_SEED=n,
 *                                       FAMILIES_ONLY=text a part of the name)
 */
import { keccak256, numberToHex, type Hex } from "viem";
import { creation } from "../test/harness/creation.js";
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
  /** Init code of the contract. */
  readonly code: Hex;
  readonly words: (next: Next) => ReadonlyArray<bigint | number>;
  /** Wei that are sent along. */
  readonly value: bigint;
}

const [first, second] = ["0 CALLDATALOAD", "32 CALLDATALOAD"];
/** Whether it is outside of the two words. */
const outside = (what: string) => `${first} ${what} LT ${second} ${what} GT OR`;
interface Watching extends Pick<Family, "name"> {
  /** Whether the money is given back, from two words of calldata. */
  readonly honestWhere: string;
  readonly words: (next: Next) => readonly [bigint | number, bigint | number];
}
const hostile: ReadonlyArray<Watching> = [
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
const honest: ReadonlyArray<Watching> = [
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
/**
 * Keeps words without an event: of 64 bytes of calldata the second in the slot that is the first; of 96 bytes, in the slot
 * that is the first, an address that nobody named.
 */
const silent = creation(`36604014602f575f355f5260203560205260405f2073${"ff".repeat(20)}165f3555005b6020355f355500`);
/** Where owners and implementations stand: the first slots, EIP-1967's and the one of zeppelinos. */
const watched: ReadonlyArray<bigint> = [
  0n,
  1n,
  0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn,
  0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103n,
  0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3n,
];
const anyOf = <A>(list: ReadonlyArray<A>): A => list[draw(list.length)] as A;
const self = BigInt(other.address);
const rights: ReadonlyArray<Pick<Family, "name" | "isHonest" | "words">> = [
  {
    name: "hands what the sender controls to somebody whom nobody names, without an event",
    isHonest: false,
    words: () => [anyOf(watched), draw(1_000_000), 0],
  },
  {
    name: "honest: writes the sender where the sender stands already",
    isHonest: true,
    words: () => [anyOf(watched), self],
  },
  {
    name: "honest: keeps a number in the first slots of its own",
    isHonest: true,
    words: () => [2 + draw(1_000), draw(1_000_000)],
  },
  {
    name: "honest: keeps the sender in a mapping",
    isHonest: true,
    words: () => [BigInt(keccak256(numberToHex(draw(1_000_000), { size: 64 }))), self],
  },
];
const watching =
  (isHonest: boolean) =>
  (family: Watching): Family => ({
    ...family,
    ...{ isHonest, code: watcher(assemble(family.honestWhere)), value: 10n ** 15n },
  });
const families: ReadonlyArray<Family> = [
  ...hostile.map(watching(false)),
  ...honest.map(watching(true)),
  ...rights.map((family) => ({ ...family, code: silent, value: 0n })),
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

const only = process.env["FAMILIES_ONLY"] ?? "";
for (const [node, start] of scenesFor("families")) {
  const scene = await start();
  try {
    const places: Array<Hex> = [];
    for (const { code } of families) {
      const at = await scene.deploy({ abi: [], bytecode: code });
      await scene.mine();
      if (code === silent)
        for (const slot of watched) await scene.send(other, { to: at, data: `0x${[slot, self].map(wordOf).join("")}` });
      await scene.mine();
      places.push(at);
    }
    for (const [index, family] of families.entries()) {
      if (!family.name.includes(only)) continue;
      const to = places[index] ?? "0x";
      let ready = 0;
      let caution = 0;
      let known = await nextOn(scene, to);
      for (let member = 0; member < count; member++) {
        // a node that mines on demand gives the next block its own clock
        if (Date.now() - known.askedAt > 2_000) known = await nextOn(scene, to);
        const data: Hex = `0x${family.words(known.next).map(wordOf).join("")}`;
        const { verdict } = await preflight(scene.url, { from: other.address, to, value: family.value, data });
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
