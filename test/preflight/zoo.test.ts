/**
 * A zoo of watchers: contracts that look at one value of the block and give the money back, or keep it. Whatever they
 * look at, nothing is ready that turns out otherwise when it is mined.
 */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleared, codesOf, other, preflight, scenesFor, signAll, spare, third, type Scene } from "./scene.js";

/** Gives the value back where `condition` leaves something on the stack, else keeps it. */
const watcher = (condition: string): Hex => {
  const target = (condition.length / 2 + 4).toString(16).padStart(2, "0");
  const runtime = `${condition}60${target}57005b5f5f5f5f34335af100`;
  const size = (runtime.length / 2).toString(16).padStart(2, "0");
  return `0x60${size}600a5f3960${size}5ff3${runtime}`;
};

const push = (value: bigint): string => `7f${value.toString(16).padStart(64, "0")}`;

interface Seen {
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  readonly baseFee: bigint;
  readonly miner: bigint;
}

/** What is looked at, by the latest block; each is tried as it is and the other way round. */
const looks: Readonly<Record<string, (latest: Seen) => string>> = {
  "whether the number is even": () => "43600116",
  "whether the number is the next": ({ number }) => `43${push(number + 1n)}14`,
  "whether the number is beyond the next": ({ number }) => `${push(number + 1n)}4311`,
  "the number modulo 4": () => "4360031615",
  "whether the time is even": () => "42600116",
  "whether the time is a slot or more after the last": ({ timestamp }) => `${push(timestamp + 11n)}4211`,
  "whether the time is two slots after the last": ({ timestamp }) => `${push(timestamp + 20n)}4211`,
  "whether the last producer produces": ({ miner }) => `41${push(miner)}14`,
  "whether the producer has money": () => "413115",
  "whether the producer ever lived": () => "413f15",
  "whether the last producer produces, or one without money": ({ miner }) => `41${push(miner)}1441311517`,
  "whether the gas limit is the last one's": ({ gasLimit }) => `45${push(gasLimit)}14`,
  "whether the gas limit is above the last one's": ({ gasLimit }) => `${push(gasLimit)}4511`,
  "whether the randomness is even": () => "44600116",
  "whether the randomness has its highest bit": () => "4460ff1c",
  "whether there is a base fee": () => "4815",
  "whether the base fee is above the last one's": ({ baseFee }) => `${push(baseFee)}4811`,
  "whether gas has a price": () => "3a15",
};

describe.each(scenesFor("a zoo of watchers"))("on %s", (node, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
    for (let blocks = 0; blocks < 3; blocks++) await scene.mine();
  });
  afterAll(() => scene?.stop());

  const latest = async (): Promise<Seen> => {
    const block = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
    const of = (name: string) => BigInt(block[name] ?? "0x0");
    const [number, timestamp, gasLimit] = [of("number"), of("timestamp"), of("gasLimit")];
    return { number, timestamp, gasLimit, baseFee: of("baseFeePerGas"), miner: of("miner") };
  };
  const value = 10n ** 18n;

  it.each(
    Object.entries(looks).flatMap(([name, look]) => [
      [name, look, false] as const,
      [`not ${name}`, look, true] as const,
    ]),
  )("%s: is found out, or kept", async (_name, look, isReversed) => {
    // the deployment is one more block
    const seen = await latest();
    const condition = look({ ...seen, number: seen.number + 1n });
    const code = watcher(isReversed ? `${condition}15` : condition);
    const keeper = await scene.deploy({ abi: [], bytecode: code });
    const report = await preflight(scene.url, { from: other.address, to: keeper, value });
    if (report.verdict !== "ready") {
      // never for nothing
      expect(
        codesOf(report).some((told) => /SimulationDiverged|ChanceDependent|PriceDependent|NotYet/.test(told)),
      ).toBe(true);
      return;
    }
    const before = await scene.balance(keeper);
    const [raw] = await signAll(await cleared(report));
    const hash = await scene.broadcast(raw ?? "0x");
    // by another producer than of the block before
    const { miner } = await latest();
    const another = miner === BigInt(third.address) ? spare : third;
    if (node === "anvil") await scene.ask("anvil_setCoinbase", [another.address]);
    await scene.mine();
    expect((await scene.receipt(hash)).status).toBe("0x1");
    const kept = (await scene.balance(keeper)) - before;
    const told = report.balanceChanges.find(
      ({ account, token }) => account === other.address.toLowerCase() && token === null,
    );
    expect(told?.delta ?? 0n).toBe(-kept);
  });

  it("money that goes another way for somebody's pending transaction is never ready", async () => {
    // keeps what it is given until any calldata has set its first word
    const bait = await scene.deploy({
      abi: [],
      bytecode: watcher("361561000b5760015f55005b5f54"),
    });
    await scene.send(third, { to: bait, data: "0x01" });
    const report = await preflight(scene.url, { from: other.address, to: bait, value });
    expect(report.verdict).not.toBe("ready");
    expect(codesOf(report).join()).toMatch(/SimulationDiverged|DependsOnPending/);
    await scene.mine();
    // what was pending is mined, and the same call is honest
    const later = await preflight(scene.url, { from: other.address, to: bait, value });
    expect(later.verdict).toBe("ready");
  });
});
