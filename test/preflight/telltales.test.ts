/**
 * What a contract does in one simulated block alone, or leaves alone where a block shows that it is simulated: silent
 * control between the ends of the bracket, telltales of the last block, and bundles that are mined far apart.
 */
import { numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { creation } from "../harness/creation.js";
import { isWhole } from "../harness/parts.js";
import { nextBaseFee } from "../rooms/chains.js";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Chains from "../../src/Chains.js";
import * as Preflight from "../../src/Preflight.js";
import * as Step from "../../src/Step.js";
import { codesOf, layerOf, other, preflight, preflightOn, scenesFor, tampered, third, type Scene } from "./scene.js";
import { assemble, watcher } from "./watchers.js";

const word = (value: bigint | number) => numberToHex(value, { size: 32 }).slice(2);
const byte = (value: number) => value.toString(16).padStart(2, "0");
const value = 10n ** 16n;
const thief = `0x${"c38e1b27d9".repeat(4)}` as const;

interface Block {
  readonly blockOverrides?: { readonly time?: Hex; readonly beaconRoot?: Hex };
  readonly calls?: ReadonlyArray<{ readonly to?: Hex }>;
}
const timeOf = ({ blockOverrides }: Block): number => Number(blockOverrides?.time ?? 0);

/** Bytecode whose `@name` is the place of `name:`, both one byte. */
const placed = (source: string): string => {
  const parts = source.split(" ");
  let at = 0;
  const places = new Map<string, number>();
  for (const part of parts) {
    if (part.endsWith(":")) places.set(part.slice(0, -1), at);
    else at += part.startsWith("@") ? 1 : part.length / 2;
  }
  return parts
    .flatMap((part) => (part.endsWith(":") ? [] : part.startsWith("@") ? byte(places.get(part.slice(1)) ?? 0) : part))
    .join("");
};

/** Keeps the second word of calldata at the first; of three words it books the time, or hands `slot` over between the first two. */
const handsOver = (slot: string) =>
  creation(
    placed(
      `36 6040 14 60 @set 57 ${assemble("0 CALLDATALOAD TIMESTAMP LT 32 CALLDATALOAD TIMESTAMP GT OR")} 60 @honest 57 ` +
        `73 ${thief.slice(2)} ${slot} 55 00 honest: 5b 42 6005 55 00 set: 5b 6020 35 5f 35 55 00`,
    ),
  );

/**
 * A token that calls nobody. Pays one to the third word, or a stranger all that there is while `what` lies between the
 * first two; one word behind a selector is `balanceOf`, and one byte mints.
 */
const fickle = (what: string) =>
  creation(
    placed(
      [
        `36 6024 14 60 @balance 57 36 6001 14 60 @mint 57`,
        `${assemble(`0 CALLDATALOAD ${what} LT 32 CALLDATALOAD ${what} GT OR`)} 60 @honest 57`,
        `73 ${thief.slice(2)} 33 54 60 @move 56 honest: 5b 6040 35 6001`,
        // the caller's less, the other's more, and a Transfer of it
        "move: 5b 80 33 54 03 33 55 80 82 54 01 82 55 5f 52 33",
        "7f ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef 6020 5f a3 00",
        "mint: 5b 6103e8 33 55 00 balance: 5b 6004 35 54 5f 52 6020 5f f3",
      ].join(" "),
    ),
  );

describe.each(scenesFor("telltales"))("contracts that tell simulated blocks apart, on %s", (name, start) => {
  let scene: Scene;
  let steady: Hex;
  const put = async (bytecode: Hex): Promise<Hex> => {
    const at = await scene.deploy({ abi: [], bytecode });
    await scene.mine();
    return at;
  };
  beforeAll(async () => {
    scene = await start();
    steady = await put(watcher(assemble("TIMESTAMP")));
  });
  afterAll(() => scene?.stop());
  beforeEach(() => scene.mine());

  /** When the next block comes, by a proof of now. */
  const coming = async () => {
    const { observed } = await preflight(scene.url, { from: other.address, to: steady, value });
    return observed.worlds.find(({ run }) => run === "next")?.timestamp ?? 0n;
  };

  it.each([
    ["always", 0n, 100_000n],
    ["for some slots between the ends", 8n, 30n],
    ["at the far end", 30n, 90n],
    ["from some slot on", 20n, 90n],
  ])("are found where they give control to a stranger in silence %s", async (__, from, to) => {
    const at = await put(handsOver("5f"));
    for (const data of [word(0) + word(BigInt(other.address)), word(5) + word(1)]) {
      await scene.send(other, { to: at, data: `0x${data}` });
      await scene.mine();
    }
    const time = await coming();
    const data: Hex = `0x${word(time + from)}${word(time + to)}${word(0)}`;
    const report = await preflight(scene.url, { from: other.address, to: at, data });
    expect([report.verdict, codesOf(report).join()]).toEqual([
      "caution",
      expect.stringContaining("ContractControlChanged"),
    ]);
    expect(report.stateChanges).toMatchObject([{ account: at.toLowerCase(), slot: `0x${word(0)}` }]);
    const honest: Hex = `0x${word(time + 10_000n)}${word(time + 10_001n)}${word(0)}`;
    const still = await preflight(scene.url, { from: other.address, to: at, data: honest });
    expect([still.verdict, still.stateChanges]).toEqual(["ready", []]);
  });

  it("are judged by a caller's step in every simulated block", async () => {
    const deltas: Array<bigint> = [];
    const mine = Step.make({
      name: "acme/deltas",
      check: ({ stage, balanceChanges }) => {
        if (stage === "proven") deltas.push(balanceChanges.find(({ token }) => token === null)?.delta ?? 0n);
        return [];
      },
    });
    const { preflight: asked } = Preflight.make({ steps: [mine] });
    await Effect.runPromise(asked({ from: other.address, to: steady, value }).pipe(Effect.provide(layerOf(scene.url))));
    expect(deltas).toEqual([0n, 0n, 0n, 0n, 0n, 0n]);
  });

  const trials = isWhole ? 12 : 3;
  it.each([
    ["the producer has code", "COINBASE EXTCODESIZE"],
    ["the gas limit is odd", "1 GASLIMIT AND"],
    ["the gas limit is another remainder", "1024 GASLIMIT MOD 96 CALLDATALOAD EQ ISZERO"],
    ["the base fee is a sixteenth off", "64 CALLDATALOAD BASEFEE EQ 96 CALLDATALOAD BASEFEE EQ OR"],
    ["the producer has no bit of the usual one's first byte", "255 COINBASE 152 SHR 32 CALLDATALOAD ADD EQ"],
    ["the producer has no bit of the usual one's last byte", "255 255 COINBASE AND 64 CALLDATALOAD ADD EQ"],
  ])("are found where they steal in the last block of the bracket alone, unless %s", async (__, telltale) => {
    for (let trial = 0; trial < trials; trial++) {
      const time = await coming();
      const trap = await put(watcher(assemble(`0 CALLDATALOAD TIMESTAMP LT ${telltale} OR`)));
      const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as Record<
        "miner" | "baseFeePerGas" | "gasLimit",
        Hex
      >;
      const header = { baseFeePerGas: BigInt(head.baseFeePerGas), gasLimit: 2n, gasUsed: 0n, blobGasUsed: null };
      const next = nextBaseFee(header, { elasticity: 2n, denominator: 8n, minBaseFeePerGas: 0n }) ?? 0n;
      const step = (next / 16n) | 1n;
      // of so few wei a sixteenth is what some block has
      if (telltale.includes("BASEFEE") && next < 100_000n) return;
      const [first, last] = [BigInt(head.miner) >> 152n, BigInt(head.miner) & 255n];
      const words = telltale.includes("BASEFEE")
        ? [0n, next + step, next - step]
        : [first, last, BigInt(head.gasLimit) % 1_024n];
      const data: Hex = `0x${[time + 28n, ...words].map(word).join("")}`;
      const report = await preflight(scene.url, { from: other.address, to: trap, value, data });
      const producer = BigInt(report.observed.worlds.find(({ run }) => run === "exact")?.feeRecipient ?? 0n);
      // one producer in 256 is drawn with just the byte that stops the theft
      const isFirst = telltale.includes("COINBASE 152") && first + (producer >> 152n) === 255n;
      const isLast = telltale.includes("255 COINBASE AND") && last + (producer & 255n) === 255n;
      if (isFirst || isLast) continue;
      expect([report.verdict, codesOf(report).join()]).toEqual([
        "blocked",
        expect.stringContaining("SimulationDiverged"),
      ]);
    }
  });

  it.each(["BASEFEE", "GASPRICE", "ORIGIN BALANCE"])(
    "are found where they steal between the base fees of both ends without a call, by %s",
    async (what) => {
      const to = await put(fickle(what));
      await scene.send(other, { to, data: "0x01" });
      await scene.mine();
      const [gas, tip] = [200_000n, 10n ** 9n];
      const priced = { ...{ from: other.address, to, gas }, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: tip };
      const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as Record<
        "baseFeePerGas" | "gasLimit",
        Hex
      >;
      const header = { baseFeePerGas: BigInt(head.baseFeePerGas), gasLimit: 2n, gasUsed: 0n, blobGasUsed: null };
      const next = nextBaseFee(header, { elasticity: 2n, denominator: 8n, minBaseFeePerGas: 0n }) ?? 0n;
      const held = await scene.balance(other.address);
      /** What the contract sees at so many thousandths of the next base fee. */
      const seen = (share: bigint) => {
        const fee = (next * share) / 1_000n;
        return what === "BASEFEE" ? fee : what === "GASPRICE" ? fee + tip : held - gas * (fee + tip);
      };
      const told = async (low: bigint, high: bigint) => {
        const [from, to] = [seen(low), seen(high)].sort((a, b) => Number(a - b));
        const data: Hex = `0x${[from ?? 0n, to ?? 0n, BigInt(third.address)].map(word).join("")}`;
        return preflight(scene.url, { ...priced, data });
      };
      const [honest, hostile] = [await told(3_000n, 3_001n), await told(1_005n, 1_050n)];
      expect([honest.verdict, honest.observed.reads]).toEqual(["ready", ["basefee"]]);
      expect([hostile.verdict, codesOf(hostile).join()]).toEqual([
        "blocked",
        expect.stringContaining("SimulationDiverged"),
      ]);
    },
  );

  /** TIMESTAMP - SLOAD(0). */
  const gap = "5f544203";
  it.each([
    ["20 s and more", `6014 ${gap} 10`.replaceAll(" ", "")],
    ["12 s and more", `600c ${gap} 10`.replaceAll(" ", "")],
    ["a whole number of slots", `${assemble("12")}${gap}06${gap}1517`],
  ])("are found as a second transaction that steals %s behind the first", async (__, honest) => {
    const keeper = await put(
      creation(placed(`34 60 @paid 57 42 5f 55 00 paid: 5b ${honest} 60 @back 57 00 back: 5b 5f5f5f5f34335af1 00`)),
    );
    const report = await preflight(scene.url, [
      { from: other.address, to: keeper, data: "0x01" },
      { from: other.address, to: keeper, value },
    ]);
    expect([report.verdict, codesOf(report).join()]).toEqual([
      "blocked",
      expect.stringContaining("SimulationDiverged"),
    ]);
  });
  it("leave a bundle ready that books only when all of it is mined", async () => {
    const clock = await put(creation("425f524360205260405fa000"));
    const bundle = [0, 1].map((nonce) => ({ from: other.address, to: clock, data: `0x0${nonce + 1}` as const }));
    const report = await preflight(scene.url, bundle);
    expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
  });

  it("see one beacon root for each block of a simulation, and none behind the last of `exact`", async () => {
    const clock = await put(creation("425f524360205260405fa000"));
    const asked: Array<readonly [run: string, blocks: ReadonlyArray<Block>]> = [];
    const layer = tampered(scene.url, ({ method, purpose, params }) => {
      if (method === "eth_simulateV1")
        asked.push([purpose, (params[0] as { readonly blockStateCalls: ReadonlyArray<Block> }).blockStateCalls]);
      return null;
    });
    const call = (index: number) => ({ from: other.address, to: clock, data: `0x0${index}` as const });
    await preflightOn(layer, [call(1), call(2), call(3)]);
    const endOf = (name: string) =>
      Math.max(...asked.flatMap(([run, blocks]) => (run === name ? blocks.map(timeOf) : [])));
    expect(endOf("between")).toBeLessThanOrEqual(endOf("exact"));
    for (const [run, blocks] of asked.filter(([one]) => ["exact", "next", "between"].includes(one))) {
      const timed = blocks.filter(({ blockOverrides }) => blockOverrides?.time !== undefined);
      const roots = timed.map(({ blockOverrides }) => blockOverrides?.beaconRoot);
      expect([roots.includes(undefined), new Set(roots).size], run).toEqual([false, timed.length]);
      // three of them have no room for a wider spacing: but for `exact` they are mined together
      const mining = blocks.filter(({ calls = [] }) =>
        calls.some(({ to }) => to?.toLowerCase() === clock.toLowerCase()),
      );
      expect(mining, run).toHaveLength(run === "exact" ? 3 : 1);
    }
  });

  it.runIf(name === "geth")("are found where they steal with a beacon root", async () => {
    const beacon = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02";
    const now = `TIMESTAMP 0 MSTORE 32 32 32 0 ${beacon} GAS STATICCALL POP 32 MLOAD ISZERO`;
    const report = await preflight(scene.url, { from: other.address, to: await put(watcher(assemble(now))), value });
    // every world has one: it is told as it happens
    const lost = report.balanceChanges.find(({ account }) => account === other.address.toLowerCase());
    expect([report.verdict, lost?.delta]).toEqual(["ready", -value]);
    // of this node no block in front of the next has one
    const before = `12 TIMESTAMP SUB 0 MSTORE 32 32 32 0 ${beacon} GAS STATICCALL POP 32 MLOAD ISZERO`;
    const paced = Layer.merge(layerOf(scene.url), Chains.layerWith(scene.chainId, { blockTimeMs: 12_000 }));
    const to = await put(watcher(assemble(before)));
    expect((await preflightOn(paced, { from: other.address, to, value })).verdict).toBe("blocked");
  });
});
