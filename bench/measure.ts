/** Asking in turn, and what that took: medians, with the quartiles beside them as the noise. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** One way to ask. */
export interface Way {
  readonly name: string;
  /** What has to be there before it asks; not measured. */
  readonly prepare?: () => void;
  /** Asks once. */
  readonly ask: () => Promise<unknown>;
  /** Network rounds and verdict, where the answer says so. */
  readonly told?: (answer: unknown) => string;
}

/** The median of many samples, and the quartiles around it. */
export interface Spread {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

export interface Measured {
  readonly way: Way;
  /** ms until the answer was there. */
  readonly wall: Spread;
  /** ms of this process's CPU, its garbage collector and compiler included. */
  readonly cpu: Spread;
  /** What the last answer told. */
  readonly told: string | null;
}

const spreadOf = (samples: ReadonlyArray<number>): Spread => {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
  return { low: at(0.25), median: at(0.5), high: at(0.75) };
};

/** The spread in units of another's median. */
export const relative = (spread: Spread, unit: Spread): Spread => ({
  low: spread.low / unit.median,
  median: spread.median / unit.median,
  high: spread.high / unit.median,
});

const once = async (way: Way) => {
  way.prepare?.();
  const before = process.cpuUsage();
  const started = performance.now();
  const answer = await way.ask();
  const wall = performance.now() - started;
  // what a way leaves to be done after its answer is its own, not the next one's
  await nextTurn();
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / 1000, told: way.told?.(answer) ?? null };
};

/** Every way once per turn, in another order each time, so that drift and neighbours hit all alike. */
export const interleaved = async (
  ways: ReadonlyArray<Way>,
  turns: number,
  warmUp = 5,
): Promise<ReadonlyArray<Measured>> => {
  const samples = ways.map((way) => ({ way, taken: [] as Array<Awaited<ReturnType<typeof once>>> }));
  for (let turn = -warmUp; turn < turns; turn++) {
    const shuffled = samples.map((sample) => [Math.random(), sample] as const).sort(([one], [other]) => one - other);
    for (const [, { way, taken }] of shuffled) {
      const sample = await once(way);
      if (turn >= 0) taken.push(sample);
    }
  }
  return samples.map(({ way, taken }) => ({
    way,
    wall: spreadOf(taken.map(({ wall }) => wall)),
    cpu: spreadOf(taken.map(({ cpu }) => cpu)),
    told: taken.at(-1)?.told ?? null,
  }));
};

/** KiB that one ask leaves on the heap; three at once fit into the young generation of `npm run bench`. */
export const allocated = async ({ ask }: Way): Promise<number> => {
  const collect = (globalThis as { readonly gc?: () => void }).gc;
  if (collect === undefined) throw new Error("run with --expose-gc, as npm run bench does");
  const samples: Array<number> = [];
  for (let turn = 0; turn < 9; turn++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < 3; count++) await ask();
    samples.push((process.memoryUsage().heapUsed - before) / 3 / 1024);
  }
  return spreadOf(samples).median;
};
