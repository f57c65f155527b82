/** Class 11: honest in the next block, and in every later one but those that keep what the next one has, as most do. */
import type { Hex } from "viem";
import { other } from "../../preflight/scene.js";
import { assemble, watcher } from "../../preflight/watchers.js";
import { creation } from "../creation.js";
import { wordsOf, type Dice, type Family, type Next } from "./kit.js";

const value = 10n ** 15n;
const kind = "11 recognisable blocks";
const [first, second] = ["0 CALLDATALOAD", "32 CALLDATALOAD"];
type Words = (dice: Dice, next: Next, slot: number) => ReadonlyArray<bigint | number>;

/** Gives back what it is sent where the condition holds, by words of calldata. */
const giving = (
  name: string,
  isHonest: boolean,
  honestWhere: string,
  words: Words,
  on: Family["on"] = () => true,
  code: Hex = watcher(assemble(honestWhere)),
): Family => ({
  ...{ kind, name, isHonest, on },
  prepare: async ({ put, slot }) => {
    const to = await put(code);
    return (dice, next) => ({ input: { from: other.address, to, value, data: wordsOf(...words(dice, next, slot)) } });
  },
});

/** Keeps the second word, and the first so many times the base fee; gives back all else. */
const charging = creation(`5f5f5f5f${assemble(`${first} BASEFEE MUL ${second} ADD CALLVALUE SUB`)}335af100`);

/** The time of the next block, or one of the slots behind it: later than that. */
const laterThan: Words = ({ below }, { time }, slot) => [time + (below(2) === 0 ? 0 : below(slot))];
/** Where every block is empty, the base fee falls until there is none to fall. */
const isFalling = (bed: string): boolean => bed !== "200 ms";

const traits: ReadonlyArray<readonly [name: string, is: string, word: (next: Next) => bigint, on?: Family["on"]]> = [
  ["the gas limit", `${second} GASLIMIT EQ`, ({ gasLimit }) => gasLimit],
  ["the producer", `${second} COINBASE EQ`, ({ producer }) => producer],
  ["the base fee", `${second} BASEFEE EQ`, ({ baseFee }) => baseFee],
  ["a base fee below its own", `${second} BASEFEE LT`, ({ baseFee }) => baseFee, isFalling],
];
export const blocks: ReadonlyArray<Family> = [
  ...(["TIMESTAMP", "NUMBER"] as const).flatMap((clock) =>
    traits.map(([name, is, word, on = () => true]) =>
      giving(
        `steals in later blocks with ${name} of the next one, by ${clock === "NUMBER" ? "number" : "time"}`,
        false,
        `${first} ${clock} GT ISZERO ${is} ISZERO OR`,
        (dice, next, slot) => [...(clock === "NUMBER" ? [next.number] : laterThan(dice, next, slot)), word(next)],
        on,
      ),
    ),
  ),
  giving(
    "steals in later blocks behind an empty one, by the base fee",
    false,
    `${first} NUMBER GT ISZERO ${second} BASEFEE GT OR`,
    (_, next) => [next.number, next.behindEmpty],
    isFalling,
  ),
  giving("reads gas limit, producer and base fee", true, "COINBASE GASLIMIT OR BASEFEE OR", ({ below }) => [
    below(1_000),
  ]),
  giving(
    "takes no base fee above several times the next one",
    true,
    `${first} BASEFEE LT ${second} OR`,
    ({ below }, { baseFee }) => [baseFee * BigInt(3 + below(5)) + 100n, 0],
  ),
  giving(
    "keeps a little by the base fee, and much more by itself",
    true,
    "",
    ({ below }, { baseFee }) => {
      const much = value / 2n + BigInt(below(1_000)) * 10n ** 9n;
      return [baseFee === 0n ? 0n : (much * BigInt(1 + below(4))) / 1_000n / baseFee, much];
    },
    () => true,
    charging,
  ),
  giving(
    "a quote that holds 60 to 120 s, at any base fee",
    true,
    `${first} TIMESTAMP LT BASEFEE OR`,
    ({ below }, { time }) => [time + 60 + below(60)],
  ),
];
