/** Reports in a world that moves: told in this order, after everything that asks about a world that stands still. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { parseEther, parseUnits, type Hex } from "viem";
import * as examples from "../../../examples/contracts.js";
import * as Policy from "../../../src/Policy.js";
import * as Preflight from "../../../src/Preflight.js";
import type { Report } from "../../../src/Report.js";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata, layerOf, nobody, other, owner, prove, spare, third } from "../../preflight/scene.js";
import { patient, preflight, scan, story, type Case, type Input } from "../cases.js";
import { people, person, you, type Stage } from "../stage.js";
import { call } from "./movements.js";
import { creation } from "../../harness/creation.js";

/** The demo, with accounts that are the same in every run. */
const demo = async ({ scene, at }: Stage): Promise<ReadonlyArray<Report>> => {
  const token = at("dollars");
  const options = { abis: [examples.Token.abi] };
  const ask = (input: Input) => preflight(scene.url, input, options);
  const named = (from: Hex, functionName: string, args: ReadonlyArray<unknown>, to: Hex = token) => ({
    ...{ from, to, abi: examples.Token.abi, functionName, args },
  });
  const [alice, bob] = [other.address, third.address];
  const pay = named(alice, "transfer", [bob, parseUnits("25", 6)]);
  const first = await ask({ from: alice, to: bob, value: parseEther("1") });
  const second = await ask(pay);
  const payment = [alice, parseUnits("100", 6)] as const;
  await scene.send(owner, { to: token, data: calldata(examples.Token, "transfer", payment) });
  const third_ = await ask(pay);
  const fourth = await ask(named(alice, "transfer", [bob, parseUnits("25", 6)], people.fresh.address));
  const fifth = await ask({ from: people.scant.address, to: bob, value: parseEther("0.05") });
  const sixth = await ask([
    named(alice, "approve", [bob, parseUnits("40", 6)]),
    named(bob, "transferFrom", [alice, bob, parseUnits("40", 6)]),
  ]);
  await scene.mine();
  return [first, second, third_, fourth, fifth, sixth];
};

const again = async ({ scene, t }: Stage) => {
  const ask = call(t.token, artifacts.Token, "transfer", [you, 5n]);
  const scanned = await scan(scene.url, ask);
  const once = await prove(scene.url, scanned);
  const twice = await prove(scene.url, once);
  const limited = await prove(scene.url, once, { policies: [Policy.maxSpent(t.token, 4n)] });
  const refused = await prove(scene.url, once, { tolerance: 7 });
  return [scanned, once, twice, limited, refused, await prove(scene.url, refused)];
};

const nonceUsed = async ({ scene }: Stage) => {
  const report = await preflight(scene.url, { from: spare.address, to: other.address, value: 1n });
  await scene.send(spare, { to: other.address, value: 7n });
  const inFlight = await prove(scene.url, report);
  await scene.mine();
  return [report, inFlight, await prove(scene.url, report)];
};

const gateClosed = async ({ scene, at }: Stage) => {
  const pass = { from: other.address, to: at("gate"), abi: artifacts.Gate.abi, functionName: "pass" };
  const report = await preflight(scene.url, pass);
  await scene.send(owner, { to: at("gate"), data: calldata(artifacts.Gate, "close") });
  const closed = await prove(scene.url, report);
  await scene.send(owner, { to: at("gate"), data: calldata(artifacts.Gate, "open") });
  const open = await prove(scene.url, report);
  await scene.mine();
  return [report, closed, open];
};

const fundsGone = async ({ scene }: Stage) => {
  const half = ((await scene.balance(spare.address)) * 2n) / 3n;
  const report = await preflight(scene.url, { from: spare.address, to: other.address, value: half });
  await scene.send(spare, { to: owner.address, value: half });
  await scene.mine();
  return [report, await prove(scene.url, report)];
};

const rebased = async ({ scene, t }: Stage) => {
  const report = await preflight(scene.url, call(t.rebasing, artifacts.RebasingToken, "transfer", [you, 1000n]));
  const rebase = calldata(artifacts.RebasingToken, "rebase", [15n * 10n ** 17n]);
  await scene.send(other, { to: t.rebasing, data: rebase });
  await scene.mine();
  return [report, await prove(scene.url, report), await prove(scene.url, report, { tolerance: 0.9 })];
};

/** A balance between the price of the next block and that of the whole horizon. */
const horizon = async ({ scene }: Stage) => {
  const ask = { to: nobody, value: 1n } as const;
  const full = await preflight(scene.url, { ...ask, from: third.address });
  const account = person("thin");
  const latest = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly baseFeePerGas: Hex };
  const price = 1_000_000_000n + (BigInt(latest.baseFeePerGas) * 13n) / 10n;
  await scene.send(owner, { to: account.address, value: 1n + 21_000n * price });
  await scene.mine();
  return [full, await preflight(scene.url, { ...ask, from: account.address })];
};

/** Pays its caller by the price of gas, and by the square of the base fee. */
const payouts = async ({ scene }: Stage) => {
  const reports: Array<Report> = [];
  for (const runtime of ["5f5f5f5f3a61c35002335af100", "5f5f5f5f484802620f42409004335af100"]) {
    const keeper = await scene.deploy({ abi: [], bytecode: creation(runtime) });
    await scene.send(third, { to: keeper, value: parseEther("1") });
    await scene.mine();
    reports.push(await preflight(scene.url, { from: owner.address, to: keeper, data: "0x12345678" }));
  }
  return reports;
};

/** A scan with nonces taken before the proof: the next one, one ahead, none. */
const reserved = (stage: Stage) =>
  Promise.all(
    [0n, 1n, null].map(async (ahead) => {
      const next = BigInt(Number(await stage.scene.ask("eth_getTransactionCount", [third.address, "latest"])));
      const run = Preflight.reserving(() => Effect.succeed([ahead === null ? null : next + ahead]));
      return Effect.runPromise(
        run({ from: third.address, to: other.address, value: 1n }, patient).pipe(
          Effect.provide(layerOf(stage.scene.url)),
        ),
      );
    }),
  );

const most = async ({ scene, t }: Stage) => {
  const reports: Array<Report> = [];
  for (const to of [nobody, t.aggregator, t.vault] as const) {
    const asked = Preflight.maxSendable(people.plain.address, to, patient).pipe(Effect.provide(layerOf(scene.url)));
    reports.push((await Effect.runPromise(asked)).report);
  }
  return reports;
};

const narrow = async ({ scene, t }: Stage) => {
  const limits = Layer.succeed(Preflight.MeasureLimits, { holdings: 1, rights: 1, tokens: 1 });
  const asked = Preflight.preflight(call(t.token, artifacts.Token, "transfer", [you, 4n]) as never, patient);
  return [await Effect.runPromise(asked.pipe(Effect.provide(Layer.merge(layerOf(scene.url), limits))))];
};

const quiet = async ({ scene }: Stage) => {
  await scene.mine();
  return [await preflight(scene.url, { from: people.busy.address, to: other.address, value: 2n })];
};

export const stories: ReadonlyArray<Case> = [
  ...story("reserved", ["the next nonce", "one ahead of it", "none"], reserved),
  ...story("the most that can be sent", ["to nobody", "to a contract", "to one that takes nothing"], most),
  ...story("limits", ["of what is measured"], narrow),
  ...story(
    "again",
    ["scanned", "proven", "proven twice", "with a policy", "with wrong options", "without them"],
    again,
  ),
  ...story("mined", ["what was in flight"], quiet),
  ...story(
    "demo",
    ["1. ether", "2. a revert", "3. a payment on its way", "4. nobody", "5. too poor", "6. two steps"],
    demo,
  ),
  ...story("its nonce", ["free", "in flight meanwhile", "used meanwhile"], nonceUsed),
  ...story("its outcome", ["at first", "closed meanwhile", "open again"], gateClosed),
  ...story("its funds", ["there", "gone meanwhile"], fundsGone),
  ...story("its amounts", ["at first", "moved meanwhile", "moved within the tolerance"], rebased),
  ...story("its horizon", ["carried by the balance", "shorter than asked"], horizon),
  ...story("its payout", ["follows the gas price", "follows the base fee by its square"], payouts),
];
