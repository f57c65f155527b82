/** The transactions of the accuracy run: varied, real, and drawn from a seed. */
import { encodeDeployData, encodeFunctionData, type Abi, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import * as artifacts from "../../contracts/artifacts.js";
import type { Artifact, Scene } from "../../witness/scene.js";

/** A small deterministic generator (mulberry32): the same seed gives the same run. */
export const seeded = (seed: number) => {
  let state = seed >>> 0;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};
export type Random = ReturnType<typeof seeded>;

export interface Authorized {
  readonly address: Hex;
  readonly chainId: number;
  readonly nonce: number;
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: number;
}

/** One transaction to preflight, without its sender. */
export interface Case {
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly accessList?: ReadonlyArray<{ readonly address: Hex; readonly storageKeys: ReadonlyArray<Hex> }>;
  readonly authorizationList?: ReadonlyArray<Authorized>;
  readonly gasPrice?: bigint;
  /** The caller's own limit. */
  readonly gas?: bigint;
}

export interface Stage {
  readonly chainId: number;
  readonly at: Readonly<Record<string, Hex>>;
}

const call = (artifact: { readonly abi: Abi }, functionName: string, args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi: artifact.abi, functionName, args: [...args] });

const hex = (random: Random, bytes: number): Hex =>
  `0x${Array.from({ length: bytes }, () => random(256).toString(16).padStart(2, "0")).join("")}`;

const someone = (random: Random): Hex => hex(random, 20);

/** Reverts where gas has no price. */
const worksAtAPrice = "0x6009600a5f3960095ff33a6007575f5ffd5b00";

/** Deploys what the cases call. */
export const setStage = async (scene: Scene, chainId: number, sender: Hex): Promise<Stage> => {
  const contracts: Readonly<Record<string, Artifact>> = {
    aggregator: artifacts.Aggregator,
    box: artifacts.Box,
    clearer: artifacts.StorageClearer,
    delegate: artifacts.Delegate,
    deployer: artifacts.Deployer,
    gasReader: artifacts.GasReader,
    nft: artifacts.Nft,
    splitter: artifacts.Splitter,
    vault: artifacts.Vault,
  };
  // answers any calldata
  const at: Record<string, Hex> = {
    anything: await scene.deploy(artifacts.GarbageGasPriceOracle),
    priced: await scene.deploy({ abi: [], bytecode: worksAtAPrice }),
  };
  for (const [name, artifact] of Object.entries(contracts))
    at[name] = await scene.deploy(artifact, name === "box" ? [1n] : []);
  at["token"] = await scene.deploy(artifacts.Token, ["Gold", "GLD", 18]);
  const { token = "0x", vault = "0x", clearer = "0x" } = at;
  await scene.send(
    { to: token, data: call(artifacts.Token, "mint", [sender, 10n ** 24n]) },
    { to: token, data: call(artifacts.Token, "approve", [vault, 10n ** 23n]) },
  );
  // why: one by one, for a hundred new words are a sixth of a block under Amsterdam
  for (let times = 0; times < 6; times++)
    await scene.send({ to: clearer, data: call(artifacts.StorageClearer, "fill", [100n]) });
  return { chainId, at };
};

/** A call to itself, `depth` levels deep, with `inner` at the bottom; failures are swallowed on the way where said. */
export const nested = (
  aggregator: Hex,
  inner: { readonly target: Hex; readonly callData: Hex },
  depth: number,
  allowFailure: boolean,
): Hex =>
  Array.from({ length: depth }).reduce<Hex>(
    (callData, _, level) =>
      call(artifacts.Aggregator, "aggregate", [
        [{ target: level === 0 ? inner.target : aggregator, allowFailure, value: 0n, callData }],
      ]),
    inner.callData,
  );

type Cases = readonly [Case, ...ReadonlyArray<Case>];
type Draw = (stage: Stage, random: Random) => Case | Promise<Case>;

const address = (stage: Stage, name: string): Hex => stage.at[name] ?? "0x";

/** A call of what stands on the stage, by its name. */
const calling = (
  stage: Stage,
  name: string,
  artifact: { readonly abi: Abi },
  fn: string,
  ...args: ReadonlyArray<unknown>
) => ({
  to: address(stage, name),
  data: call(artifact, fn, args),
});
/** A call down to the bottom of a pile of calls. */
const sinking = (stage: Stage, target: string, callData: Hex, depth: number, allowFailure: boolean) => ({
  to: address(stage, "aggregator"),
  data: nested(address(stage, "aggregator"), { target: address(stage, target), callData }, depth, allowFailure),
});

/** The kinds of transaction that work on every chain, by name. */
const plainKinds = {
  "transfer to somebody new": (_, random) => ({ to: someone(random), value: BigInt(1 + random(10 ** 9)) }),
  "transfer with a gas price": (_, random) => ({ to: someone(random), value: 1n, gasPrice: 3_000_000_000n }),
  "any calldata": (stage, random) => ({ to: address(stage, "anything"), data: hex(random, 1 + random(200)) }),
  "token transfer": (stage, random) =>
    calling(stage, "token", artifacts.Token, "transfer", someone(random), BigInt(1 + random(10 ** 6))),
  "token approval": (stage, random) =>
    calling(stage, "token", artifacts.Token, "approve", someone(random), BigInt(random(10 ** 6))),
  "vault deposit": (stage, random) =>
    calling(stage, "vault", artifacts.Vault, "deposit", address(stage, "token"), BigInt(1 + random(1000))),
  "storage filled": (stage, random) =>
    calling(stage, "clearer", artifacts.StorageClearer, "fill", BigInt(1 + random(30))),
  "storage cleared (refunds)": (stage, random) =>
    calling(stage, "clearer", artifacts.StorageClearer, "clear", BigInt(1 + random(12))),
  deployment: (_, random) => ({
    data: encodeDeployData({ ...artifacts.Box, args: [BigInt(1 + random(10 ** 6))] }),
    value: BigInt(random(3)),
  }),
  factory: (stage, random) => ({
    ...calling(stage, "deployer", artifacts.Deployer, "deploy2", BigInt(1 + random(1000)), hex(random, 32)),
    value: BigInt(random(5)),
  }),
  "deep calls": (stage, random) =>
    sinking(stage, "box", call(artifacts.Box, "set", [BigInt(random(10 ** 6))]), 1 + random(25), random(2) === 0),
  "swallowed inner call that needs gas": (stage, random) => {
    const inner = call(artifacts.GasReader, "maybe", [BigInt(100_000 + random(900_000))]);
    return sinking(stage, "gasReader", inner, 1 + random(6), true);
  },
  "gas burnt at the bottom": (stage, random) => {
    const inner = call(artifacts.GasReader, "burn", [BigInt(100_000 + random(600_000))]);
    return sinking(stage, "gasReader", inner, 1 + random(12), true);
  },
  "value split": (stage, random) => ({
    ...calling(
      stage,
      "splitter",
      artifacts.Splitter,
      "split",
      Array.from({ length: 1 + random(5) }, () => someone(random)),
    ),
    value: BigInt(1000 + random(10 ** 6)),
  }),
  "NFT minted": (stage, random) =>
    calling(stage, "nft", artifacts.Nft, "mint", someone(random), BigInt(hex(random, 8))),
  "access list": (stage, random) => ({
    ...calling(stage, "token", artifacts.Token, "transfer", someone(random), 1n),
    accessList: [
      {
        address: address(stage, "token"),
        storageKeys: Array.from({ length: random(4) }, (_, key): Hex => `0x${key.toString(16).padStart(64, "0")}`),
      },
    ],
  }),
  "large calldata (EIP-7623 floor)": (stage, random) => ({
    to: address(stage, "anything"),
    data: hex(random, 1_000 + random(12_000)),
  }),
  "EIP-7702 delegation": async (stage, random) => {
    const authority = privateKeyToAccount(generatePrivateKey());
    const { r, s, yParity } = await authority.signAuthorization({
      contractAddress: address(stage, "delegate"),
      chainId: stage.chainId,
      nonce: 0,
    });
    return {
      to: random(2) === 0 ? authority.address : someone(random),
      value: BigInt(random(1000)),
      authorizationList: [
        { address: address(stage, "delegate"), chainId: stage.chainId, nonce: 0, r, s, yParity: yParity ?? 0 },
      ],
    };
  },
  "two hundred new words": (stage) => calling(stage, "clearer", artifacts.StorageClearer, "fill", 200n),
  "asks for a gas price": (stage) => ({ to: address(stage, "priced"), data: "0x01" }),
} satisfies Readonly<Record<string, Draw>>;

/** Odd ones, which some chains take and others do not. */
const oddKinds: Readonly<Record<string, Draw>> = {
  "a limit above 2^24": (_, random) => ({ to: someone(random), value: 1n, gas: 17_000_000n }),
  "init code of 60,000 bytes": () => ({ data: `0x00${"00".repeat(59_999)}` }),
  "21,000 gas to somebody new": (_, random) => ({ to: someone(random), value: 1n, gas: 21_000n }),
  "more tokens than there are": (stage, random) =>
    calling(stage, "token", artifacts.Token, "transfer", someone(random), 10n ** 30n),
};

/** What a bundle of four is drawn from. */
const bundled: ReadonlyArray<keyof typeof plainKinds> = [
  ...(["transfer to somebody new", "token transfer", "token approval", "vault deposit", "storage filled"] as const),
  ...(["storage cleared (refunds)", "deep calls", "value split", "NFT minted", "factory"] as const),
];

/** The kinds of input, by name; a bundle of four is every third. */
export const kinds: Readonly<Record<string, (stage: Stage, random: Random) => Cases | Promise<Cases>>> =
  Object.fromEntries(
    Object.entries<Draw>({ ...plainKinds, ...oddKinds }).flatMap(([name, draw], index) => {
      const alone = [
        name,
        async (stage: Stage, random: Random): Promise<Cases> => [await draw(stage, random)],
      ] as const;
      const four = async (stage: Stage, random: Random): Promise<Cases> => {
        const next = () => plainKinds[bundled[random(bundled.length)] ?? "token transfer"](stage, random);
        return [await next(), await next(), await next(), await next()];
      };
      return index % 3 === 0 ? [alone, [`bundle ${index / 3 + 1}`, four] as const] : [alone];
    }),
  );
