/** Class 1: honest in what is simulated, and otherwise in the block that mines it. */
import { numberToHex, type Hex } from "viem";
import type { Report } from "../../../src/Report.js";
import { other } from "../../preflight/scene.js";
import { assemble, watcher } from "../../preflight/watchers.js";
import { creation } from "../creation.js";
import { isUnpaced, wordsOf, type Class, type Dice, type Family, type Next } from "./kit.js";

const [first, second, third] = ["0 CALLDATALOAD", "32 CALLDATALOAD", "64 CALLDATALOAD"];
/** Whether it is outside of the two words. */
const outside = (what: string) => `${first} ${what} LT ${second} ${what} GT OR`;
const value = 10n ** 15n;
type Words = (dice: Dice, next: Next, slot: number) => ReadonlyArray<bigint | number>;

/** Gives back what it is sent where the condition holds, by words of calldata. */
const watching = (
  kind: Class,
  isHonest: boolean,
  name: string,
  honestWhere: string,
  words: Words,
  on: Family["on"] = () => true,
): Family => ({
  ...{ kind, name, isHonest, on, isChancy: kind !== "1 between the samples" },
  prepare: async ({ put, slot }) => {
    const to = await put(watcher(assemble(honestWhere)));
    return (dice, next) => ({ input: { from: other.address, to, value, data: wordsOf(...words(dice, next, slot)) } });
  },
});
const hostile = (name: string, honestWhere: string, words: Words, on?: Family["on"]) =>
  watching("1 between the samples", false, name, honestWhere, words, on);
const honest = (name: string, honestWhere: string, words: Words) =>
  watching("1 between the samples", true, name, honestWhere, words);
const isNoGeth = (bed: string): boolean => bed !== "geth";
const isSlow = (bed: string): boolean => isUnpaced(bed) || bed === "12 s";

/** Thirteen to 24 seconds, some time in the life of the clearance. */
const long: Words = ({ below }, { time }) => {
  const from = time + 1 + below(16);
  return [from, from + 13 + below(12)];
};

/** By what the head's own traits tell a pretended block, beside a time. */
const traits: ReadonlyArray<readonly [name: string, trait: string, word: (next: Next) => bigint]> = [
  ["the exact base fee", `BASEFEE ${third} EQ`, ({ baseFee }) => baseFee],
  ["the parent's gas limit", `GASLIMIT ${third} EQ`, ({ gasLimit }) => gasLimit],
  ["a producer with code", "COINBASE EXTCODESIZE", () => 0n],
  ["a producer without money", "COINBASE BALANCE ISZERO", () => 0n],
  ["no gas price", "GASPRICE ISZERO", () => 0n],
  ["no randomness", "PREVRANDAO ISZERO", () => 0n],
];

/** Keeps the time at first; of more calldata, as {@link watcher} by the seconds since. */
const later = (): Hex => {
  const condition = assemble(outside("0 SLOAD TIMESTAMP SUB"));
  const target = (condition.length / 2 + 13).toString(16).padStart(2, "0");
  return creation(`36600857425f55005b${condition}60${target}57005b5f5f5f5f34335af100`);
};
const apart = (name: string, isHonest: boolean, words: Words): Family => ({
  ...{ kind: "1 between the samples", name, isHonest, on: isSlow, isChancy: !isHonest },
  prepare: async ({ put, slot }) => {
    const to = await put(later());
    return (dice, next) => ({
      input: [
        { from: other.address, to },
        { from: other.address, to, value, data: wordsOf(...words(dice, next, slot)) },
      ],
    });
  },
});

/** Works the longer the later it is: so many rounds for each second since the first word. */
const growing = creation("5f35420360203502" + "5b8015601a5760205f205060019003600856" + "5b00");
const gasFamily = (name: string, isHonest: boolean, words: Words): Family => ({
  ...{ kind: "1 between the samples", name, isHonest, on: isSlow },
  prepare: async ({ put, scene, slot }) => {
    const to = await put(growing);
    return (dice, next) => {
      const data = wordsOf(...words(dice, next, slot));
      /** Whether the limit that is signed is enough in the last block that may take it. */
      const suffices = async (report: Report): Promise<boolean> => {
        if (report.verdict !== "ready") return true;
        const last = report.observed.worlds.reduce((most, { timestamp }) => Math.max(most, Number(timestamp)), 0);
        const call = { from: other.address, to, data, gas: numberToHex(report.transactions[0]?.request?.gas ?? 0n) };
        const block = { blockOverrides: { time: numberToHex(last) }, calls: [call] };
        const [made] = (await scene.ask("eth_simulateV1", [{ blockStateCalls: [block] }, "latest"])) as ReadonlyArray<{
          readonly calls: ReadonlyArray<{ readonly status: string }>;
        }>;
        return made?.calls[0]?.status === "0x1";
      };
      return { input: { from: other.address, to, data }, isCaught: suffices };
    };
  },
});

export const between: ReadonlyArray<Family> = [
  hostile("steals for 13 to 24 s", outside("TIMESTAMP"), long),
  hostile("is honest up to a time, and steals from then on", `${first} TIMESTAMP LT`, ({ below }, { time }, slot) => {
    // not before the next block, which tells it itself
    return [time + 1 + below(Math.max(slot * 3, 24) - 1)];
  }),
  hostile(
    "steals in one of the next four blocks",
    outside("NUMBER"),
    ({ below }, { number }) => {
      const at = number + below(4);
      return [at, at];
    },
    isSlow,
  ),
  hostile(
    "steals in slot two or three, or both",
    outside("TIMESTAMP"),
    ({ below }, { time }, slot) => {
      const from = time + slot * (1 + below(2));
      return [from - below(slot), from + slot * below(2)];
    },
    (bed) => bed === "12 s",
  ),
  hostile(
    "is honest at exactly the next base fee, or for a producer with code",
    `BASEFEE ${first} EQ COINBASE EXTCODESIZE OR`,
    (_, { baseFee }) => [baseFee],
  ),
  hostile(
    "is honest at the parent's gas limit and off any whole step of it",
    `GASLIMIT ${first} EQ GASLIMIT ${second} ADD 2 SWAP1 MOD OR`,
    (_, { gasLimit }) => [gasLimit, gasLimit % 2n],
  ),
  ...traits.map(([name, trait, word]): Family => ({
    ...hostile(`steals for 13 to 24 s, but for ${name}`, `${outside("TIMESTAMP")} ${trait} OR`, (dice, next, slot) => [
      ...long(dice, next, slot),
      word(next),
    ]),
    isChancy: true,
  })),
  apart("a bundle that steals when mined some slots apart", false, ({ below }, _, slot) => {
    const from = 1 + below(slot * 2);
    return [from, from + slot + below(slot)];
  }),
  gasFamily("takes more gas by the second, up to dry", false, ({ below }, { time }) => [time - 1, 20 + below(400)]),
  honest("reads the time", "TIMESTAMP", ({ below }) => [below(1_000)]),
  honest("reads the number", "NUMBER", ({ below }) => [below(1_000)]),
  honest("reads producer, gas limit and base fee", "COINBASE GASLIMIT OR BASEFEE OR", ({ below }) => [below(1_000)]),
  honest(
    "a quote that holds 60 to 120 s, and gives back what comes later",
    `${first} TIMESTAMP LT 1 OR`,
    ({ below }, { time }) => [time + 60 + below(60)],
  ),
  honest("opened long ago, closes in hours", outside("TIMESTAMP").replace("OR", "OR ISZERO"), ({ below }, { time }) => [
    time - 3_600 - below(10_000),
    time + 3_600 + below(10_000),
  ]),
  apart("a bundle that may be mined hours apart", true, ({ below }) => [3_600 + below(3_600), 10_000]),
  gasFamily("takes a little more gas by the hour", true, ({ below }, { time }) => [time - 3_600 - below(3_600), 1]),
  watching(
    "1 steals for less than 13 s",
    false,
    "steals for 2 to 12 s, some time in the life of the clearance",
    outside("TIMESTAMP"),
    ({ below }, { time }) => {
      const from = time + 1 + below(28);
      return [from, from + 1 + below(11)];
    },
    // Where a slot takes 12 s, such a time has a slot, which is simulated, or none
    (bed) => isNoGeth(bed) && bed !== "12 s",
  ),
  ...(["PREVRANDAO", "the hash"] as const).map((how) => {
    const source = how === "PREVRANDAO" ? "PREVRANDAO" : "PREVRANDAO 0 MSTORE 32 0 KECCAK256";
    return watching(
      "1 draws by randomness",
      false,
      `steals in one draw of four to eight, by ${how === "PREVRANDAO" ? "randomness" : "a hash of randomness"}`,
      `${first} ${source} AND ${second} EQ ISZERO`,
      ({ below }) => {
        const bits = 2 + below(2);
        return [2 ** bits - 1, below(2 ** bits)];
      },
      isNoGeth,
    );
  }),
];
