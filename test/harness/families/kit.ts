/**
 * Families of attacks (`hostile`) and of honest transactions that look alike, by class: members are drawn by seed, and are
 * preflighted on real nodes. What an attacker may know (the next block, by an earlier report) its members know.
 */
import * as Layer from "effect/Layer";
import { numberToHex, type Hex } from "viem";
import * as Chains from "../../../src/Chains.js";
import type * as Preflight from "../../../src/Preflight.js";
import type { Report } from "../../../src/Report.js";
import type * as Rpc from "../../../src/Rpc.js";
import { nextBaseFee } from "../../rooms/chains.js";
import { classify, type RpcError } from "../../rooms/errors.js";
import { findOpGethOrWarn } from "../opGeth.js";
import {
  layerOf,
  other,
  preflightOn,
  scenesFor,
  startAnvilScene,
  startOpGethScene,
  tampered,
  type AnyInput,
  type Scene,
} from "../../preflight/scene.js";
import { assemble, watcher } from "../../preflight/watchers.js";

/** What is drawn, by seed. */
export interface Dice {
  /** A whole number below `most`. */
  readonly below: (most: number) => number;
  readonly of: <A>(list: ReadonlyArray<A>) => A;
  readonly address: () => Hex;
}

/** Mulberry32. */
export const diceOf = (seed: number): Dice => {
  let state = seed;
  const below = (most: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
  return {
    below,
    of: (list) => list[below(list.length)] as (typeof list)[number],
    address: () => `0x${Array.from({ length: 20 }, () => (1 + below(255)).toString(16).padStart(2, "0")).join("")}`,
  };
};

/** The block that comes next. */
export interface Next {
  readonly time: number;
  readonly number: number;
  readonly baseFee: bigint;
  /** The base fee of the block behind it, if it is empty, and if it is full. */
  readonly behindEmpty: bigint;
  readonly behindFull: bigint;
  readonly gasLimit: bigint;
  readonly producer: bigint;
}

/** A node with what was deployed on it; `slot` = seconds between blocks, as the attacker believes. */
export interface Stage {
  readonly bed: string;
  readonly scene: Scene;
  readonly slot: number;
  readonly layer: Layer.Layer<Rpc.Rpc>;
  /** Deploys, each code once. */
  readonly put: (bytecode: Hex) => Promise<Hex>;
}

export interface Member {
  readonly input: AnyInput;
  readonly options?: Preflight.Options;
  /** How the node is reached; by default as it is. */
  readonly layer?: Layer.Layer<Rpc.Rpc>;
  /** Of an attack: whether the report stops it; by default where it is not `ready`. */
  readonly isCaught?: (report: Report) => boolean | Promise<boolean>;
}

export const classes = [
  "1 between the samples",
  "1 steals for less than 13 s",
  "1 draws by randomness",
  "2 silent control",
  "3 stale and mixed",
  "3 one or two slots behind",
  "4 the pool",
  "5 the switch",
  "6 the witness",
  "7 asked in vain",
  "8 nobody one hop away",
  "9 failures inside",
  "10 swallowed grants",
  "11 recognisable blocks",
] as const;
export type Class = (typeof classes)[number];

export interface Family {
  readonly kind: Class;
  readonly name: string;
  readonly isHonest: boolean;
  /** Whether some members get through by chance, or for what nobody can know. */
  readonly isChancy?: boolean;
  /** The beds on which it means anything; default the two nodes without a pace. */
  readonly on?: (bed: string) => boolean;
  /** True if it is judged on nodes without debug methods, too. */
  readonly withoutDebug?: boolean;
  /** True if nothing but a tracer shows it: without debug methods it may get through. */
  readonly needsTrace?: boolean;
  /** Makes it ready on a node, then draws members. */
  readonly prepare: (stage: Stage) => Promise<(dice: Dice, next: Next) => Member | Promise<Member>>;
}

export const wordOf = (word: bigint | number): string => numberToHex(word, { size: 32 }).slice(2);
export const wordsOf = (...words: ReadonlyArray<bigint | number>): Hex => `0x${words.map(wordOf).join("")}`;

/** A bed: a node, and the pace that its chain is said to have. */
export interface Bed {
  readonly name: string;
  readonly start: () => Promise<Scene>;
  /** Milliseconds; null = nobody knows. */
  readonly paceMs: number | null;
  /** True if the node refuses debug methods. */
  readonly isBare: boolean;
}
const paced = (name: string, chainId: number, paceMs: number): Bed => ({
  ...{ name, paceMs, isBare: false, start: () => startAnvilScene(chainId) },
});
const opGethBeds = (): ReadonlyArray<Bed> => {
  const bin = findOpGethOrWarn("families on op-geth");
  return bin === null ? [] : [{ name: "op-geth", start: () => startOpGethScene(bin), paceMs: null, isBare: false }];
};
export const beds = (): ReadonlyArray<Bed> => [
  ...scenesFor("families").map(([name, start]) => ({ name, start, paceMs: null, isBare: false })),
  ...scenesFor("families").map(([name, start]) => ({ name: `${name}, no debug`, start, paceMs: null, isBare: true })),
  ...opGethBeds(),
  ...[paced("12 s", 424_212, 12_000), paced("2 s", 424_202, 2_000), paced("200 ms", 424_200, 200)],
];
export const isUnpaced = (bed: string): boolean => !/^\d/.test(bed);

const steady = watcher(assemble("TIMESTAMP"));
const noDebug = classify({
  method: "debug_traceCall",
  error: { code: -32601, message: "the method debug_traceCall does not exist/is not available" },
}) as RpcError;
export const stageOn = async ({ name, start, paceMs, isBare }: Bed): Promise<Stage> => {
  const scene = await start();
  const places = new Map<Hex, Promise<Hex>>();
  const put = (bytecode: Hex): Promise<Hex> => {
    const known = places.get(bytecode) ?? scene.deploy({ abi: [], bytecode });
    places.set(bytecode, known);
    return known;
  };
  const chain = paceMs === null ? Layer.empty : Chains.layerWith(scene.chainId, { blockTimeMs: paceMs });
  const bare = tampered(scene.url, ({ method }) => (method.startsWith("debug_") ? noDebug : null));
  const layer = Layer.merge(isBare ? bare : layerOf(scene.url), chain);
  // why: what 150 full blocks would make of a fee is another matter
  if (paceMs !== null && paceMs < 1_000) await scene.ask("anvil_setNextBlockBaseFeePerGas", ["0x7"]);
  return { bed: name, scene, slot: Math.ceil((paceMs ?? 12_000) / 1_000), layer, put };
};

/** How the base fee of a bed's blocks follows their gas (EIP-1559). */
const curveOf = (bed: string) =>
  bed.startsWith("op-geth")
    ? { elasticity: 6n, denominator: 250n, minBaseFeePerGas: 0n }
    : { elasticity: 2n, denominator: 8n, minBaseFeePerGas: 0n };

/** What a proof of now says of the next block. */
const nextOn = async ({ bed, scene, layer, put }: Stage): Promise<Next> => {
  await scene.mine();
  const to = await put(steady);
  const { observed } = await preflightOn(layer, { from: other.address, to, value: 1n });
  const world = observed.worlds.find(({ run }) => run === "next");
  const block = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
  const of = (name: string) => BigInt(block[name] ?? "0x0");
  const curve = curveOf(bed);
  const header = { baseFeePerGas: of("baseFeePerGas"), gasLimit: of("gasLimit"), gasUsed: of("gasUsed") };
  const fee = nextBaseFee({ ...header, blobGasUsed: null }, curve) ?? 0n;
  const step = fee / curve.denominator;
  const behind = { behindEmpty: fee - step, behindFull: fee + step * (curve.elasticity - 1n) };
  if (world === undefined) throw new Error(`no proof of the next block: ${observed.tier}`);
  return {
    ...{ time: Number(world.timestamp), number: Number(world.number) },
    ...{ baseFee: fee, ...behind, gasLimit: of("gasLimit"), producer: of("miner") },
  };
};

/** One member and what became of it. */
export interface Judged {
  readonly bed: string;
  readonly family: Family;
  readonly verdict: Report["verdict"];
  /** An attack that is stopped, an honest one that is `ready`. */
  readonly isRight: boolean;
  readonly codes: ReadonlyArray<string>;
}

/** So many members of each class on a bed, attacks and honest ones alike, drawn from its families in turn. */
export const judgeOn = async (
  bed: Bed,
  families: ReadonlyArray<Family>,
  count: number,
  seed: number,
): Promise<ReadonlyArray<Judged>> => {
  const fitting = families.filter(
    ({ on = isUnpaced, withoutDebug = false }) => on(bed.name) && (!bed.isBare || withoutDebug),
  );
  if (fitting.length === 0) return [];
  const stage = await stageOn(bed);
  const judged: Array<Judged> = [];
  try {
    let [next, askedAt] = [await nextOn(stage), Date.now()];
    // why: each class mines, and empty blocks leave no base fee that could fall
    for (const kind of [...classes.slice(-1), ...classes.slice(0, -1)])
      for (const isHonest of [false, true]) {
        const ours = fitting.filter((family) => family.kind === kind && family.isHonest === isHonest);
        const dice = diceOf(seed + classes.indexOf(kind) * 2 + Number(isHonest));
        for (const [index, family] of ours.entries()) {
          const draw = await family.prepare(stage);
          // why: what makes it ready is mined
          [next, askedAt] = [await nextOn(stage), Date.now()];
          for (let nth = index; nth < count; nth += ours.length) {
            // why: a node that mines on demand gives the next block its own clock
            if (Date.now() - askedAt > 1_500) [next, askedAt] = [await nextOn(stage), Date.now()];
            const { input, options, layer = stage.layer, isCaught } = await draw(dice, next);
            const report = await preflightOn(layer, input, options);
            const { verdict, findings } = report;
            const isRight = isHonest
              ? verdict === "ready"
              : isCaught === undefined
                ? verdict !== "ready"
                : await isCaught(report);
            judged.push({
              bed: bed.name,
              family,
              verdict,
              isRight,
              codes: [...new Set(findings.map(({ code }) => code))],
            });
          }
        }
      }
  } finally {
    await stage.scene.stop();
  }
  return judged;
};

const share = (part: number, of: number): string => (of === 0 ? "" : `${((100 * part) / of).toFixed(1)} %`);

/** How many are right, by class; beds where the same is missed share a row. */
export const tableOf = (judged: ReadonlyArray<Judged>): string => {
  const right = (all: ReadonlyArray<Judged>) => all.filter(({ isRight }) => isRight).length;
  const rows = new Map<string, { readonly cells: ReadonlyArray<string>; readonly beds: Map<string, Array<string>> }>();
  for (const kind of classes)
    for (const bed of new Set(judged.map((one) => one.bed))) {
      const ours = judged.filter((one) => one.family.kind === kind && one.bed === bed);
      if (ours.length === 0) continue;
      const attacks = ours.filter(({ family }) => !family.isHonest);
      const honest = ours.filter(({ family }) => family.isHonest);
      const missed = new Set(attacks.filter(({ isRight }) => !isRight).map(({ family }) => family.name));
      const cells = [String(attacks.length), String(honest.length), share(right(honest), honest.length)];
      const key = [kind, ...cells, ...missed].join("|");
      const row = rows.get(key) ?? { cells: [kind, ...cells, [...missed].join("; ")], beds: new Map() };
      const caught = share(right(attacks), attacks.length);
      row.beds.set(caught, [...(row.beds.get(caught) ?? []), bed]);
      rows.set(key, row);
    }
  return [
    "| class | attacks | caught | honest | `ready` | not all caught |",
    "| --- | --- | --- | --- | --- | --- |",
    ...[...rows.values()].map(({ cells: [kind, attacks, ...others], beds }) => {
      const caught = [...beds].map(([part, names]) => `${part} (${names.join("; ")})`).join(", ");
      return `| ${[kind, attacks, caught, ...others].join(" | ")} |`;
    }),
  ].join("\n");
};
