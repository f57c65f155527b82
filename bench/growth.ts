/** What large questions cost beside a tenth of them: this process's CPU for a whole preflight, in ms. */
import { createPreflight, type RunOptions } from "evm-preflight/promise";
import { concat, encodeFunctionData, parseAbi, size, type Abi, type Address, type Hex } from "viem";
import { SpoofToken } from "../test/contracts/artifacts.js";
import { atMost, medianAtMost, shown, type Goal } from "./goals.js";
import { interleaved, relative, type Way } from "./measure.js";
import type { Call, Scene } from "./scene.js";

interface Question {
  readonly input: Call | ReadonlyArray<Call>;
  readonly options?: RunOptions;
}

/** One kind of question, and the two sizes of it that are compared. */
interface Series {
  /** What `whole` counts. */
  readonly name: string;
  readonly tenth: number;
  readonly whole: number;
  /** ms of CPU that the whole may take, where there is a goal for it. */
  readonly limitMs?: number;
  /** Gives the question of this size, each time that it is asked. */
  readonly make: (count: number) => () => Question;
}

const listOf = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => make(index));
const account = (index: number): Address => `0x${(index + 1).toString(16).padStart(40, "a")}`;

/** 100 functions, events and errors whose names no other contract has. */
const abiOf = (contract: number): Abi =>
  parseAbi(
    listOf(100, (index) => {
      const kind = ["function", "event", "error"][index % 3];
      return `${kind} of${contract}At${index}(address account, uint256 amount)`;
    }),
  );

const seriesOn = ({ spoof, ethTransfer, tokenTransfer }: Scene): ReadonlyArray<Series> => {
  const { from, data } = tokenTransfer;
  const abis = listOf(200, abiOf);
  return [
    {
      name: "logs",
      tenth: 100,
      whole: 1_000,
      limitMs: 50,
      make: (count) => {
        const args = [account(10_000), listOf(count, account), 1n] as const;
        const airdrop = encodeFunctionData({ abi: SpoofToken.abi, functionName: "airdrop", args });
        return () => ({ input: { from, to: spoof, data: airdrop } });
      },
    },
    {
      name: "ABIs of 100 entries",
      tenth: 20,
      whole: 200,
      limitMs: 10,
      make: (count) => {
        const kept = abis.slice(0, count);
        return () => ({ input: tokenTransfer, options: { abis: kept } });
      },
    },
    {
      name: "ABIs of 100 entries, new ones each time",
      tenth: 20,
      whole: 200,
      make: (count) => () => ({
        input: tokenTransfer,
        options: { abis: structuredClone(abis.slice(0, count)) },
      }),
    },
    {
      name: "calls in a bundle",
      tenth: 6,
      whole: 64,
      make: (count) => {
        const input = listOf(count, (index) => ({ ...ethTransfer, to: account(index) }));
        return () => ({ input });
      },
    },
    {
      name: "bytes of calldata",
      tenth: 13_107,
      whole: 131_072,
      make: (count) => {
        // a token reads its two arguments, whatever follows them
        const rest: Hex = `0x${"5a".repeat(count - size(data))}`;
        return () => ({ input: { ...tokenTransfer, data: concat([data, rest]) } });
      },
    },
  ];
};

/** The goals for large questions. */
export const growthGoals = async (scene: Scene): Promise<ReadonlyArray<Goal>> => {
  const client = createPreflight({ url: scene.url });
  const wayOf = ({ name, make }: Series, count: number): Way => {
    const next = make(count);
    let question = next();
    return {
      name: `${count.toLocaleString("en")} ${name}`,
      prepare: () => {
        question = next();
      },
      ask: async () => {
        const { stage, findings } = await client.run(question.input, question.options);
        if (stage !== "proven") throw new Error(`${count} ${name}: ${findings.map(({ code }) => code).join(", ")}`);
      },
    };
  };
  const goals: Array<Goal> = [];
  for (const series of seriesOn(scene)) {
    const { tenth, whole, limitMs } = series;
    const [small, large] = await interleaved([wayOf(series, tenth), wayOf(series, whole)], 9, 3);
    if (small === undefined || large === undefined) throw new Error("nothing was measured");
    const title = "CPU of a proven report:";
    if (limitMs !== undefined) goals.push(medianAtMost(`${title} ${large.way.name}`, limitMs, " ms", large.cpu));
    const growth = relative(large.cpu, small.cpu);
    const name = `${title} from ${tenth.toLocaleString("en")} to ${large.way.name}`;
    goals.push(atMost(name, whole / tenth, " ×", growth.median, `${shown(growth)} ×, to ${shown(large.cpu)} ms`));
  }
  await client.dispose();
  return goals;
};
