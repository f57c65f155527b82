/**
 * Nodes that simulate with no more than so much gas at once, and contracts that do something else, silently, where they
 * have less: whatever is `ready` is signed, mined, and must do what was said; what is blocked for its gas is mined as well.
 */
import { privateKeyToAccount } from "viem/accounts";
import type { Hex, TransactionSerializable } from "viem";
import type { Report } from "../../../src/Report.js";
import { owner, preflight, readiness, startGethScene, type Scene } from "../../preflight/scene.js";
import { accounts } from "../anvil.js";
import { creation } from "../creation.js";
import { seeded, type Random } from "./cases.js";

/** Purses, gas. */
export const purses = [10_000_000, 17_000_000, 30_000_000, 50_000_000, 100_000_000] as const;

const signer = privateKeyToAccount(accounts[0].privateKey);
/** Logs whether it has less gas than its second word, then uses as much as its first. */
export const brancher = creation("6020355a105f5fa15f355a035b805a11600c5700");

export const word = (value: bigint): string => value.toString(16).padStart(64, "0");

interface Drawn {
  readonly burnt: bigint;
  readonly gas: bigint | null;
  readonly data: Hex;
}

const anyOf = <A>(random: Random, values: ReadonlyArray<A>): A => values[random(values.length)] as A;
const million = 1_000_000n;

/** One to five calls that use much or little, at limits of ours or of the caller's, and ask for gas that is near what they have. */
const drawn = (random: Random): ReadonlyArray<Drawn> =>
  Array.from({ length: 1 + random(5) }, () => {
    const burnt = anyOf(random, [
      0n,
      0n,
      million / 2n,
      2n * million,
      5n * million,
      9n * million,
      12n * million,
      15n * million,
    ]);
    const ample = anyOf(random, [16n * million, 16_777_216n, burnt + million, burnt + 60_000n]);
    const gas = random(2) === 0 ? null : ample;
    const asked = gas ?? burnt + 50_000n + BigInt(random(2_000_000));
    const needed = anyOf(random, [0n, asked - 40_000n, asked - BigInt(random(Number(asked))), asked - 300_000n]);
    return { burnt, gas, data: `0x${word(burnt)}${word(needed > 0n ? needed : 0n)}` };
  });

const callsOf = (to: Hex, bundle: ReadonlyArray<Drawn>) =>
  bundle.map(({ data, gas }) => ({ from: owner.address, to, data, ...(gas === null ? {} : { gas }) }));

/** Signs and mines the requests; what each did, or null where it was not mined. */
const minedOf = async (scene: Scene, requests: ReadonlyArray<object>) => {
  const hashes: Array<Hex> = [];
  for (const request of requests)
    hashes.push(await scene.broadcast(await signer.signTransaction(request as TransactionSerializable)));
  const last = (await scene.count(owner.address)) + requests.length;
  for (let tries = 0; tries < 12 && (await scene.count(owner.address)) < last; tries++) await scene.mine();
  await scene.untilNext(owner.address, last);
  return Promise.all(hashes.map((hash) => scene.receipt(hash).catch(() => null)));
};

/** What a node with a purse said, and what came of it. */
export interface Tally {
  readonly inputs: number;
  readonly ready: number;
  readonly caution: number;
  readonly unknown: number;
  readonly blocked: number;
  /** Falsely ready: what was mined is not what was said. */
  readonly falseReady: ReadonlyArray<string>;
  /** Blocked for its gas, though all of it works when it is mined. */
  readonly falseBlocked: ReadonlyArray<string>;
  /** Blocked for anything else, and works: the contract did something else at another limit. */
  readonly doubted: ReadonlyArray<string>;
  /** Of one transaction that no node can fail to fit, not ready. */
  readonly lost: number;
}

const codesOf = ({ findings }: Report) => findings.map(({ code, severity }) => `${code}/${severity}`).join(" ");
const ofGas = /IntrinsicGasTooLow|OutOfGas|VmHalt|GasLimit|ExecutionReverted/;
const isOfGas = ({ findings }: Report) =>
  findings.some(({ code, severity }) => severity === "blocker" && ofGas.test(code));
const flat = (logs: ReadonlyArray<{ readonly topics: ReadonlyArray<string> }>) =>
  logs.map(({ topics }) => topics.join().toLowerCase()).join(";");

/** So many inputs on a geth with this purse. */
export const tallyOf = async (bin: string, purse: number, count: number, seed: number): Promise<Tally> => {
  const scene = await startGethScene(bin, { args: ["--rpc.gascap", String(purse)] });
  const random = seeded(seed + purse);
  const verdicts = { ready: 0, caution: 0, unknown: 0, blocked: 0 };
  const [falseReady, falseBlocked, doubted]: [Array<string>, Array<string>, Array<string>] = [[], [], []];
  let lost = 0;
  try {
    const to = await scene.deploy({ abi: [], bytecode: brancher });
    for (let index = 0; index < count; index++) {
      const bundle = drawn(random);
      const what = `${purse}: ${bundle.map(({ burnt, gas, data }) => `${burnt}@${gas ?? "ours"}<${BigInt(`0x${data.slice(66)}`)}`).join(" ")}`;
      const report = await preflight(scene.url, callsOf(to, bundle) as never, { deadline: 60_000 } as never);
      verdicts[report.verdict] += 1;
      if (report.verdict === "ready" || report.verdict === "caution") {
        const { _tag } = await readiness(report);
        if (_tag !== "Success") continue;
        const receipts = await minedOf(
          scene,
          report.transactions.map(({ request }) => request ?? {}),
        );
        const isAsSaid = receipts.every((receipt, place) => {
          const said = report.transactions[place]?.outcome;
          return (
            receipt !== null &&
            receipt.status === "0x1" &&
            said?.status === "success" &&
            flat(receipt.logs) === flat(said.logs)
          );
        });
        if (!isAsSaid) falseReady.push(`${what} · ${codesOf(report)}`);
        continue;
      }
      const fits = bundle.reduce((sum, { burnt, gas }) => sum + (gas ?? burnt + million), 0n) + million < BigInt(purse);
      if (fits && report.verdict === "unknown") lost += 1;
      if (report.verdict !== "blocked") continue;
      const nonce = await scene.count(owner.address);
      const fees = { maxFeePerGas: 40n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
      const receipts = await minedOf(
        scene,
        bundle.map(({ data, gas }, place) => ({
          ...{
            type: "eip1559",
            chainId: scene.chainId,
            to,
            data,
            nonce: nonce + place,
            gas: gas ?? 16_777_216n,
            ...fees,
          },
        })),
      );
      if (receipts.every((receipt) => receipt?.status === "0x1"))
        (isOfGas(report) ? falseBlocked : doubted).push(`${what} · ${codesOf(report)}`);
    }
  } finally {
    await scene.stop();
  }
  return { inputs: count, ...verdicts, falseReady, falseBlocked, doubted, lost };
};
