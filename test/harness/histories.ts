/** Histories of transactions, made so that what was said and what happened differ in one known way. */
import * as Effect from "effect/Effect";
import type { Hex, TransactionSerializable } from "viem";
import type { Settled } from "../../src/Report.js";
import * as Preflight from "../../src/Preflight.js";
import type * as Report from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import {
  calldata,
  layerOf,
  nobody,
  other,
  owner,
  preflight,
  preflightOn,
  signerOf,
  tampered,
  type AnyInput,
  type Scene,
} from "../preflight/scene.js";

/** What the histories act on. */
export interface Ground {
  readonly scene: Scene;
  readonly token: Hex;
  readonly swap: Hex;
  readonly vesting: Hex;
  readonly auction: Hex;
  readonly gate: Hex;
}

const plenty = 10n ** 30n;

export const groundOn = async (scene: Scene): Promise<Ground> => {
  const token = await scene.deploy(artifacts.Token, ["In", "IN", 18]);
  const out = await scene.deploy(artifacts.Token, ["Out", "OUT", 18]);
  const swap = await scene.deploy(artifacts.Swap, [token, out]);
  const gate = await scene.deploy(artifacts.Gate);
  const vesting = await scene.deploy(artifacts.Vesting, [out, 1000n]);
  const auction = await scene.deploy(artifacts.Auction, [out, 10n ** 18n, 10n ** 10n]);
  const mint = (to: Hex, at: Hex, amount = plenty) =>
    scene.send(owner, { to: at, data: calldata(artifacts.Token, "mint", [to, amount]) });
  for (const who of [owner.address, other.address, swap]) await mint(who, token);
  await mint(swap, out);
  await scene.send(owner, { to: gate, data: calldata(artifacts.Gate, "open") });
  for (const who of [owner, other])
    await scene.send(who, { to: token, data: calldata(artifacts.Token, "approve", [swap, plenty]) });
  await scene.mine();
  return { scene, token, swap, vesting, auction, gate };
};

/** One history: what was said, what was sent, and how the node is asked about it afterwards. */
export interface History {
  readonly report: Report.Report;
  readonly hashes: ReadonlyArray<Hex>;
  /** How the node lies when it is asked again; by default it does not. */
  readonly afterwards?: ReturnType<typeof layerOf>;
}

const from = owner.address;
const trade = (to: Hex, amount: bigint) => ({
  to,
  data: calldata(artifacts.Swap, "swap", [amount, 1n, 2n ** 60n]),
});
const give = (to: Hex, amount: bigint) => ({ to, data: calldata(artifacts.Token, "transfer", [nobody, amount]) });

/** Signed as they stand in the report, whatever its verdict, but for what is changed. */
export const sign = async (report: Report.Report, change: object = {}): Promise<ReadonlyArray<Hex>> => {
  const raws: Array<Hex> = [];
  for (const { request, input } of report.transactions)
    raws.push(await signerOf(input.from).signTransaction({ ...request, ...change } as TransactionSerializable));
  return raws;
};

export const sendAll = async (scene: Scene, raws: ReadonlyArray<Hex>): Promise<ReadonlyArray<Hex>> => {
  const hashes: Array<Hex> = [];
  for (const raw of raws) hashes.push(await scene.broadcast(raw));
  return hashes;
};

const said = ({ scene }: Ground, input: AnyInput) => preflight(scene.url, input);

const sent = async (ground: Ground, report: Report.Report, change: object = {}): Promise<History> => {
  const hashes = await sendAll(ground.scene, await sign(report, change));
  await ground.scene.mine();
  return { report, hashes };
};

/** Ahead of everybody who pays the usual tip. */
export const ahead = async (
  { scene }: Pick<Ground, "scene">,
  call: { readonly to: Hex; readonly data: Hex },
  gas = 500_000n,
): Promise<void> => {
  await scene.broadcast(
    await other.signTransaction({
      ...{ type: "eip1559", chainId: scene.chainId, nonce: await scene.count(other.address), gas },
      ...{ maxFeePerGas: 100n * 10n ** 9n, maxPriorityFeePerGas: 50n * 10n ** 9n, ...call },
    }),
  );
};

const before = async (ground: Ground, call: { readonly to: Hex; readonly data: Hex }): Promise<void> => {
  await ahead(ground, call);
  await ground.scene.mine();
};

/** The last byte of every log of a token that is told in a simulation. */
const lie = (token: Hex) => (result: unknown) => {
  const text = JSON.stringify(result, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !("topics" in value)) return value;
    const log = value as { readonly topics: unknown; readonly address: string; readonly data: string };
    return log.address.toLowerCase() === token ? { ...log, data: `${log.data.slice(0, -2)}07` } : log;
  });
  return JSON.parse(text) as unknown;
};

const gateCall = (name: "open" | "close", gate: Hex) => ({ to: gate, data: calldata(artifacts.Gate, name) });

type Kind = Exclude<Settled["class"], "unknown" | "unfulfilled">;

/** One history of each class, varied by `index`. */
export const histories: Readonly<Record<Kind, (ground: Ground, index: number) => Promise<History>>> = {
  same: async (ground, index) => {
    const { token, swap } = ground;
    const inputs: ReadonlyArray<AnyInput> = [
      { from, ...give(token, 5n + BigInt(index)) },
      { from, ...trade(swap, 10n ** 18n) },
      { from, to: nobody, value: 7n },
      [
        { from, ...give(token, 1n) },
        { from, to: nobody, value: 2n },
      ],
      // anvil simulates no deployment, so that nothing is said of one
      ...(ground.scene.name === "anvil"
        ? []
        : [{ from, data: `0x6001600c60003960016000f3${(index % 256).toString(16).padStart(2, "0")}` as Hex }]),
    ];
    return sent(ground, await said(ground, inputs[index % inputs.length] as AnyInput));
  },
  priceMoved: async (ground, index) => {
    const report = await said(ground, { from, ...trade(ground.swap, 10n ** 18n) });
    await before(ground, trade(ground.swap, plenty / 10_000n + BigInt(index)));
    return sent(ground, report);
  },
  ordering: async (ground, index) => {
    const { swap, gate, scene } = ground;
    if (index % 3 === 0) {
      const report = await said(ground, { from, ...trade(swap, 10n ** 18n) });
      await ahead(ground, trade(swap, plenty / 10_000n + BigInt(index)));
      return sent(ground, report);
    }
    const report = await said(ground, { from, to: gate, data: calldata(artifacts.Gate, "pass") });
    await (index % 3 === 1 ? ahead : before)(ground, gateCall("close", gate));
    const history = await sent(ground, report);
    await before(ground, gateCall("open", gate));
    await scene.untilNext(other.address, await scene.count(other.address));
    return history;
  },
  contextDependent: async (ground, index) => {
    const { vesting, auction, scene } = ground;
    const input =
      index % 2 === 0
        ? { from, to: vesting, data: calldata(artifacts.Vesting, "release") }
        : { from, to: auction, data: calldata(artifacts.Auction, "buy"), value: 10n ** 18n };
    const report = await said(ground, input);
    const hashes = await sendAll(scene, await sign(report));
    await scene.seal({ after: 40 + (index % 50) });
    return { report, hashes };
  },
  replaced: async (ground, index) => {
    const { scene, token } = ground;
    const report = await said(ground, { from, ...give(token, 5n) });
    const [one] = await sign(report);
    const [request] = report.transactions.map((transaction) => transaction.request);
    if (one === undefined || request == null) throw new Error("nothing to send");
    const hash = await scene.broadcast(one);
    const fees = {
      maxFeePerGas: 3n * (request.maxFeePerGas ?? 0n),
      maxPriorityFeePerGas: 3n * (request.maxPriorityFeePerGas ?? 0n),
    };
    const change = index % 2 === 0 ? fees : { ...fees, to: from, data: "0x" as const, value: 0n };
    await sendAll(scene, await sign(report, change));
    await scene.mine();
    return { report, hashes: [hash] };
  },
  tampered: async (ground, index) => {
    const changes = [
      { to: ground.token, data: give(ground.token, 6n).data },
      { data: "0x" },
      { gas: 200_000n },
      { to: nobody },
      { maxPriorityFeePerGas: 3n },
    ];
    const report = await said(ground, { from, ...give(ground.token, 5n) });
    return sent(ground, report, changes[index % changes.length]);
  },
  simulatorWrong: async (ground, index) => {
    const { scene, token } = ground;
    const lying = tampered(scene.url, ({ method }) => (method === "eth_simulateV1" ? lie(token) : null));
    const report = await preflightOn(lying, { from, ...give(token, 1_000n) });
    const history = await sent(ground, report);
    return index % 2 === 0 ? { ...history, afterwards: lying } : history;
  },
};

/** Settles a history. */
export const settledOn = async (scene: Scene, { report, hashes, afterwards }: History): Promise<Settled> => {
  // geth takes note of a block, and indexes its transactions, a moment after it
  await scene.untilNext(owner.address, await scene.count(owner.address));
  return Effect.runPromise(
    Preflight.settle(report, hashes).pipe(Effect.provide(afterwards ?? layerOf(scene.url, { retryTimes: 3 }))),
  );
};

/** Makes a history and settles it. */
export const settledFrom = async (kind: Kind, ground: Ground, index: number): Promise<Settled> =>
  settledOn(ground.scene, await histories[kind](ground, index));
