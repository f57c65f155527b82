/**
 * The world of the net on one node: always the same contracts at the same addresses, the same balances, the same
 * transactions in flight, the same base fee. Keys are fixed, and every block holds exactly what was sent for it.
 */
import { keccak256, toHex, type Abi, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import * as examples from "../../examples/contracts.js";
import * as artifacts from "../contracts/artifacts.js";
import { calldata, nobody, other, owner, third, type Scene } from "../preflight/scene.js";
import { gather, sendingFrom, type Troupe } from "../preflight/troupe.js";
import { steady } from "./steady.js";

/** An account with a key of its own, the same in every run. */
export const person = (name: string) => privateKeyToAccount(keccak256(toHex(`net: ${name}`)));

/** Accounts that the cases ask for; none has sent anything unless its line says so. */
export const people = {
  /** Sent the transactions of the world that need another sender than the owner. */
  clerk: person("clerk"),
  /** A hundredth of an ether. */
  scant: person("scant"),
  /** As many wei as a transfer takes gas. */
  dusty: person("dusty"),
  /** One transfer in flight. */
  busy: person("busy"),
  /** One transaction behind a gap of two nonces. */
  gapped: person("gapped"),
  /** A transaction that opens `door` in flight. */
  opener: person("opener"),
  /** Delegates to `aggregator` (EIP-7702). */
  delegated: person("delegated"),
  /** Delegates to an address without code. */
  hollow: person("hollow"),
  /** An ether, and nothing else. */
  plain: person("plain"),
  /** Never had anything. */
  fresh: person("fresh"),
} as const;

export const me = owner.address.toLowerCase() as Hex;
export const you = other.address.toLowerCase() as Hex;
export const they = third.address.toLowerCase() as Hex;

/** What each mode of the hostile token is about, in the order of its enum. */
export const hostileModes = [
  ...["Honest", "Reverts", "BurnsAllGas", "Invalid", "Megabyte", "RevertsMegabyte", "PerCaller", "Writes"],
  ...["SelfDestructs", "CallsBack", "Reenters", "Short", "Empty", "PerGas", "Maximum", "Logs", "Creates", "PerOrigin"],
];

/** Contracts that look at one thing to find out whether they are watched: the clue's number, and what they expect. */
export const watchers: Readonly<Record<string, readonly [clue: number, trigger: bigint]>> = {
  "no fee recipient": [0, 0n],
  "the node's fee recipient": [0, 0xfee00n],
  "no gas price": [1, 0n],
  "no base fee": [2, 0n],
  "more gas than anybody gives": [3, 5_000_000n],
  "a time that is long ago": [4, 0n],
  "a time that is far away": [4, 2n ** 60n],
  "no random number": [5, 0n],
  "a sender with any balance": [6, 0n],
  "code at a well-known address": [7, 0xca11bde05977b3631167028862be2a173976ca11n],
  "a block number that is far away": [8, 10n ** 9n],
  "a fee recipient without money": [11, 0n],
  "a block gas limit beyond all": [12, 1_000_000_000n],
};

/** The contracts beside the troupe, by name. */
const cast: Readonly<Record<string, readonly [{ readonly abi: Abi; readonly bytecode: Hex }, ...Array<unknown>]>> = {
  gate: [artifacts.Gate],
  door: [artifacts.Gate],
  reverter: [artifacts.Reverter],
  gasReader: [artifacts.GasReader],
  clearer: [artifacts.StorageClearer],
  deployer: [artifacts.Deployer],
  delegate: [artifacts.Delegate],
  box: [artifacts.Box, 1n],
  owned: [artifacts.Owned],
  roles: [artifacts.Roles],
  safe: [artifacts.Safe],
  permitToken: [artifacts.PermitToken],
  daiToken: [artifacts.DaiToken],
  context: [artifacts.ContextReader],
  metadata: [artifacts.HostileMetadata],
  anything: [artifacts.GarbageGasPriceOracle],
  dollars: [examples.Token, 1_000_000_000_000n],
  fjord: [artifacts.FjordGasPriceOracle],
  isthmus: [artifacts.FjordGasPriceOracle],
  jovian: [artifacts.FjordGasPriceOracle],
  skewed: [artifacts.FjordGasPriceOracle],
  oldOracle: [artifacts.OldGasPriceOracle],
  shortOracle: [artifacts.ShortGasPriceOracle],
  refusingOracle: [artifacts.RevertingGasPriceOracle],
};

export interface Stage {
  readonly scene: Scene;
  readonly t: Troupe;
  /** A contract by its name in the cast, a watcher by what it looks at, a hostile token by its mode. */
  readonly at: (name: string) => Hex;
}

/** Recorded on Base (Jovian): L1 base fee, blob base fee and their scalars. */
const l1 = [0x5f19cf3n, 0x56d33bn, 0x8dd, 0x101c12] as const;

const ether = 10n ** 18n;

/** Builds the world; afterwards a few transactions are in flight, and nothing moves by itself. */
export const setStage = async (raw: Scene): Promise<Stage> => {
  const scene = steady(raw);
  const t = await gather(scene);
  const { send, deploy, mined } = await sendingFrom(scene);
  const places = new Map<string, Hex>();
  for (const [name, [artifact, ...args]] of Object.entries(cast)) places.set(name, await deploy(artifact, args));
  places.set("proxy", await deploy(artifacts.Proxy, [t.vault]));
  places.set("silver", await deploy(artifacts.Token, ["Silver", "SLV", 18]));
  places.set("swap", await deploy(artifacts.Swap, [t.token, places.get("silver")]));
  for (const [index, mode] of hostileModes.entries())
    places.set(`hostile ${mode}`, await deploy(artifacts.HostileToken, [index]));
  for (const [look, [clue, trigger]] of Object.entries(watchers))
    places.set(look, await deploy(artifacts.Spoofer, [t.token, clue, trigger]));
  await mined();
  const at = (name: string): Hex => {
    const place = places.get(name);
    if (place === undefined) throw new Error(`nobody plays ${name}`);
    return place;
  };

  for (const mode of hostileModes)
    await send({ to: at(`hostile ${mode}`), data: calldata(artifacts.Token, "mint", [me, 1_000_000n]) });
  for (let times = 0; times < 3; times++)
    await send({ to: at("clearer"), data: calldata(artifacts.StorageClearer, "fill", [30n]) });
  await send({ to: at("gate"), data: calldata(artifacts.Gate, "open") });
  for (const [name, scalar, constant, fork] of [
    ["fjord", 0, 0n, 1],
    ["isthmus", 1_234_567, 987_654_321n, 2],
    ["jovian", 1_234_567, 987_654_321n, 3],
    ["skewed", 0, 0n, 2],
  ] as const)
    await send({ to: at(name), data: calldata(artifacts.FjordGasPriceOracle, "set", [...l1, scalar, constant, fork]) });
  await send({ to: at("skewed"), data: calldata(artifacts.FjordGasPriceOracle, "setSkew", [1_000_000n]) });
  await send({ to: at("oldOracle"), data: calldata(artifacts.OldGasPriceOracle, "set", [1_000_000n]) });
  await send({ to: t.token, data: calldata(artifacts.Token, "approve", [t.permit2, 500n]) });
  for (const token of [t.token, at("silver")])
    await send({ to: token, data: calldata(artifacts.Token, "mint", [at("swap"), 10n ** 9n]) });
  await send({ to: t.token, data: calldata(artifacts.Token, "approve", [at("swap"), 10n ** 6n]) });
  const { clerk, scant, dusty, busy, gapped, opener, delegated, hollow, plain } = people;
  for (const { address } of [clerk, busy, gapped, opener, delegated, hollow, plain])
    await send({ to: address, value: ether });
  await send({ to: scant.address, value: ether / 100n });
  await send({ to: dusty.address, value: 21_000n });
  await mined();

  await warm(scene, at("reverter"));
  const others = await sendingFrom(scene, other);
  for (const look of Object.keys(watchers))
    await others.send({ to: t.token, data: calldata(artifacts.Token, "approve", [at(look), 1000n]) });
  await others.mined();
  await delegateTo(scene, delegated, t.aggregator);
  await delegateTo(scene, hollow, nobody);

  // from here on nothing is mined until a story does
  await scene.send(busy, { to: you, value: 1n });
  await scene.send(opener, { to: at("door"), data: calldata(artifacts.Gate, "open") });
  await raw.broadcast(
    await gapped.signTransaction({
      ...{ type: "eip1559", chainId: scene.chainId, to: you, value: 1n, nonce: 2, gas: 21_000n },
      ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
    }),
  );
  return { scene, t, at };
};

/** A price of gas like a chain's that is in use: so many small blocks leave next to none of the first one. */
const usualBaseFee = 10n ** 9n;
const filling = 14_900_000n;

/** Fills blocks until gas has its usual price: an invalid opcode takes all of its gas, and no time. */
const warm = async (scene: Scene, reverter: Hex): Promise<void> => {
  let nonce = Number(await scene.ask("eth_getTransactionCount", [owner.address, "latest"]));
  for (;;) {
    const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as Readonly<Record<string, string>>;
    if (BigInt(head["baseFeePerGas"] ?? "") >= usualBaseFee) return;
    for (let left = BigInt(head["gasLimit"] ?? ""); left >= filling; left -= filling)
      await scene.broadcast(
        await owner.signTransaction({
          ...{ type: "eip1559", chainId: scene.chainId, to: reverter, nonce: nonce++, gas: filling },
          data: calldata(artifacts.Reverter, "invalid"),
          ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
        }),
      );
    await scene.mine();
  }
};

const delegateTo = async (scene: Scene, authority: ReturnType<typeof person>, address: Hex): Promise<void> => {
  const { clerk } = people;
  const signed = await authority.signAuthorization({ address, chainId: scene.chainId, nonce: 0 });
  await scene.broadcast(
    await clerk.signTransaction({
      ...{ type: "eip7702", chainId: scene.chainId, to: you, value: 0n, gas: 200_000n },
      nonce: Number(await scene.ask("eth_getTransactionCount", [clerk.address, "latest"])),
      ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
      authorizationList: [signed],
    }),
  );
  await scene.mine();
  if ((await scene.ask("eth_getCode", [authority.address, "latest"])) === "0x") throw new Error("not delegated");
};
