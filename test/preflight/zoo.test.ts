/**
 * A zoo of watchers: contracts that look at one value of the block and give the money back, or keep it. Whatever they
 * look at, nothing is ready that turns out otherwise when it is mined: by another producer, at another time.
 */
import { readFileSync } from "node:fs";
import * as Arr from "effect/Array";
import {
  concatHex,
  getContractAddress,
  keccak256,
  numberToHex,
  size,
  type Hex,
  type TransactionSerializable,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../../src/Report.js";
import { nextBaseFee } from "../rooms/chains.js";
import type { Sealed } from "../harness/gethEngine.js";
import { cleared, codesOf, other, owner, preflight, scenesFor, spare, third, type Scene } from "./scene.js";
import { assemble, limits, looks, watcher, type Head } from "./watchers.js";

const rows = Object.entries(looks).flatMap(([name, look]) => [
  { name, look, end: "" },
  { name: `not: ${name}`, look, end: " ISZERO" },
]);

type Row = (typeof rows)[number];

/** One sender for each row, that no report has another's transaction in its pool. */
const senders = rows.map((_, index) => privateKeyToAccount(keccak256(numberToHex(index + 1))));

const value = 10n ** 16n;
const fortune = 10n * value;
const hex = (number: bigint | number, bytes: number) => numberToHex(number, { size: bytes }).slice(2);

/** Init code that pays every sender, and creates every contract; nonce `index + 1` of its own makes the addresses. */
const foundation = (contracts: ReadonlyArray<Hex>): Hex => {
  const pay = senders.map(({ address }) => `5f5f5f5f6f${hex(fortune, 16)}73${address.slice(2)}5af150`);
  const length = pay.join("").length / 2 + contracts.length * 13 + 1;
  let at = length;
  const create = contracts.map((code) => {
    const put = `60${hex(size(code), 1)}61${hex(at, 2)}5f3960${hex(size(code), 1)}5f5ff050`;
    at += size(code);
    return put;
  });
  return concatHex([`0x${pay.join("")}${create.join("")}00`, ...contracts]);
};

/** Who produces blocks with code: it takes what it is paid. */
const vault = "0x60015ff3";

interface Sealing extends Sealed {
  readonly name: string;
  /** The contract of the foundation produces. */
  readonly isVault?: boolean;
  /** An empty block comes in between. */
  readonly isLater?: boolean;
}

const odd = "0xa0cf798816d4b9b9866b5330eea46a18382f2511";
const sealings: ReadonlyArray<Sealing> = [
  { name: "the usual producer, by the clock" },
  { name: "the usual producer, 1 s later", after: 1 },
  { name: "another, 3 s later", after: 3, feeRecipient: third.address },
  { name: "one that never lived, 7 s later", after: 7, feeRecipient: "0x0000000000000000000000000000000000c0ffe1" },
  { name: "another, 12 s later", after: 12, feeRecipient: spare.address },
  { name: "a contract, 13 s later", after: 13, isVault: true },
  { name: "another, 24 s later", after: 24, feeRecipient: odd },
  { name: "another, 25 s later, after another block", after: 25, feeRecipient: third.address, isLater: true },
  { name: "another, 36 s later", after: 36, feeRecipient: other.address },
  { name: "another, 60 s later", after: 60, feeRecipient: odd },
];

/** A row that is ready, signed as it was cleared. */
interface Ready {
  readonly row: Row;
  readonly report: Report;
  readonly sender: Hex;
  readonly keeper: Hex;
  readonly raw: Hex;
}

/** What no block changes: always ready, or the zoo proves nothing. */
const steady = rows.flatMap(({ name }) =>
  /nothing|GAS above|CHAINID|ORIGIN the|SELFBALANCE/.test(name) ? [name] : [],
);

// what another block makes run out of gas fails later, and one value in two does
const allowed = /SimulationDiverged|ChanceDependent|PriceDependent|NotYet|OutcomeChanged|ClosesAt/;

/** Whether a row that is a limit may be one here: after another block. */
const isExcused = (
  { row: { look }, report }: Ready,
  mined: Head,
  { node, isLater }: { readonly node: string; readonly isLater: boolean },
): boolean => {
  const { limit, field, where } = look;
  if (limit === undefined) return false;
  if (field !== undefined) {
    const beyond = report.observed.worlds.map((world) => (world[field] ?? 0n) < mined[field]);
    return beyond.length >= 2 && beyond.every((isBelow) => isBelow === beyond[0]);
  }
  return where === undefined || isLater || (node === "anvil" && where === "after another block, and on anvil");
};

it("the table of docs/limits.md lists exactly the zoo's excused contracts", () => {
  const readme = readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8");
  const table = /## A contract that behaves differently[^]*?(\| -[^]*?)\n\n/.exec(readme)?.[1] ?? "";
  const rows = table.split("\n").flatMap((line) => /^\| (?!-)(.*?) *\|/.exec(line)?.[1] ?? []);
  // what comes behind is of other blocks, or of what others do
  const told = rows.slice(0, rows.indexOf("a block that was not simulated, between two that were"));
  expect(told).toHaveLength(limits.length);
  for (const [index, limit] of limits.entries()) expect(told[index]?.startsWith(limit), limit).toBe(true);
});

describe.each(scenesFor("the zoo", { args: ["--miner.gaslimit", "90000000"] }))("the zoo on %s", (node, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
    for (let blocks = 0; blocks < 3; blocks++) await scene.mine();
  });
  afterAll(() => scene?.stop());

  // anvil simulates with one base fee of blobs, whatever it is given
  const isUnvaried = ({ name }: Row) => node === "anvil" && name.includes("BLOBBASEFEE");

  const latest = async () => {
    const block = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
    const of = (name: string) => BigInt(block[name] ?? "0x0");
    const [number, timestamp, gasLimit, baseFee] = [of("number"), of("timestamp"), of("gasLimit"), of("baseFeePerGas")];
    const header = { baseFeePerGas: baseFee, gasLimit, gasUsed: of("gasUsed"), blobGasUsed: null };
    const next = nextBaseFee(header, { elasticity: 2n, denominator: 8n, minBaseFeePerGas: 0n }) ?? 0n;
    return { number, timestamp, gasLimit, baseFee, next, miner: of("miner") };
  };
  const sendNow = async (nonce: number, data: Hex, funds: bigint): Promise<Hex> =>
    scene.broadcast(
      await owner.signTransaction({
        ...{ type: "eip1559", chainId: scene.chainId, nonce, data, value: funds, gas: 16_000_000n },
        ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
      }),
    );

  /** Everything in one block, of which the watchers know before what it is going to be. */
  const found = async (): Promise<{ readonly keepers: ReadonlyArray<Hex>; readonly producer: Hex }> => {
    const [nonce, { number, timestamp, gasLimit, next, miner }] = [await scene.count(owner.address), await latest()];
    // as geth moves it to its target
    const moved = node === "geth" ? gasLimit + gasLimit / 1_024n - 1n : gasLimit;
    const head: Head = { number: number + 1n, timestamp: timestamp + 2n, gasLimit: moved, baseFee: next, miner };
    const contracts = rows.map(({ look, end }) => watcher(assemble(look.code(head) + end)));
    const funds = fortune * BigInt(senders.length);
    const hash = await sendNow(nonce, foundation([vault, ...contracts]), funds);
    await scene.seal({ after: 2, feeRecipient: `0x${hex(miner, 20)}` });
    expect((await scene.receipt(hash)).status).toBe("0x1");
    expect(await latest()).toMatchObject(head);
    const factory = getContractAddress({ from: owner.address, nonce: BigInt(nonce) });
    const [producer = "0x", ...keepers] = [vault, ...contracts].map((__, index) =>
      getContractAddress({ from: factory, nonce: BigInt(index + 1) }),
    );
    return { keepers, producer };
  };

  /** Whether something else became of the row than the report said. */
  const isBetrayed = async ({ report, sender, keeper, raw }: Ready): Promise<boolean> => {
    const { status } = await scene.receipt(keccak256(raw));
    const kept = await scene.balance(keeper);
    const told = report.balanceChanges.find(({ account, token }) => account === sender.toLowerCase() && token === null);
    return status !== "0x1" || (told?.delta ?? 0n) !== -kept;
  };

  it.each(sealings.filter((_, index) => node === "geth" || index % 2 === 0))(
    "are found out, or do as reported when mined by $name",
    { timeout: 180_000 },
    async ({ isVault, isLater = false, ...sealed }) => {
      const { keepers, producer } = await found();
      const { next } = await latest();
      const data = numberToHex(next, { size: 32 });
      const ready: Array<Ready> = [];
      const shy: Array<string> = [];
      for (const [row, [sender, keeper]] of Arr.zip(rows, Arr.zip(senders, keepers))) {
        const report = await preflight(scene.url, { from: sender.address, to: keeper, value, data });
        if (report.verdict === "ready") {
          const [request] = (await cleared(report)).requests;
          const raw = await sender.signTransaction(request as TransactionSerializable);
          ready.push({ row, report, sender: sender.address, keeper, raw });
        } else if (!codesOf(report).some((code) => allowed.test(code)) && !isUnvaried(row))
          shy.push(`${row.name}: ${codesOf(report).join()}`);
      }
      // never for nothing
      expect(shy).toEqual([]);
      const names = ready.map(({ row }) => row.name);
      expect(steady.filter((name) => !names.includes(name))).toEqual([]);
      if (isLater) await scene.seal({ after: 12 });
      for (const { raw } of ready) await scene.broadcast(raw);
      const feeRecipient = isVault ? { feeRecipient: producer } : {};
      await scene.seal({ ...sealed, ...feeRecipient, parentBeaconBlockRoot: keccak256(data) });
      const mined = await latest();
      const betrayed: Array<Ready> = [];
      for (const one of ready) if (await isBetrayed(one)) betrayed.push(one);
      const holes = betrayed.filter((one) => !isExcused(one, mined, { node, isLater }));
      expect(holes.map(({ row }) => row.name)).toEqual([]);
    },
  );

  it("are never ready where money goes another way because of somebody's pending transaction", async () => {
    // keeps what it is given until any calldata has set its first word
    const bait = await scene.deploy({ abi: [], bytecode: watcher("361561000b5760015f55005b5f54") });
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
