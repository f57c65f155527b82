/** Contracts as honest authors write them, an account for each row of the tables, and what a row is. */
import {
  encodeDeployData,
  encodeFunctionData,
  encodePacked,
  encodeAbiParameters,
  keccak256,
  toHex,
  type Abi,
  type Hex,
} from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import type * as Preflight from "../../../src/Preflight.js";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata, other, owner, third, type Call, type Scene } from "../scene.js";
import { sendingFrom } from "../troupe.js";

/** Where everything is, and when it was set up. */
export interface Stage {
  readonly scene: Scene;
  readonly at: Awaited<ReturnType<typeof deployAll>>;
  /** The time of the head before anything was deployed, epoch seconds. */
  readonly now: bigint;
}

/** Who acts in a row. */
export type Who = PrivateKeyAccount;

/** A call of a row's table. */
export interface Act {
  readonly from: Hex;
  readonly to?: Hex;
  readonly abi?: Abi;
  readonly bytecode?: Hex;
  readonly functionName?: string;
  readonly args?: ReadonlyArray<unknown>;
  readonly [field: string]: unknown;
}

export interface Row {
  /** What the row's account does ahead, mined. */
  readonly before?: (stage: Stage, who: Who) => ReadonlyArray<Call & { readonly delegate?: Hex }>;
  readonly input: (stage: Stage, who: Who) => Act | ReadonlyArray<Act> | Promise<Act | ReadonlyArray<Act>>;
  readonly options?: (stage: Stage, who: Who) => Preflight.Options;
  /** Every finding above information, `code/severity`; none = ready. */
  readonly severe?: ReadonlyArray<string>;
  /** The same while others' transactions are pending. */
  readonly crowded?: ReadonlyArray<string>;
  /** False where this table cannot sign it. */
  readonly isMined?: boolean;
  /** Where anvil simulates no calls without a receiver. */
  readonly isGethOnly?: boolean;
}
export type Rows = Readonly<Record<string, Row>>;

/** The account of a row, and of a bystander. */
export const whoOf = (name: string): Who => privateKeyToAccount(keccak256(toHex(`honest: ${name}`)));

export const ether = 10n ** 18n;
/** Where nobody lived before. */
export const stranger = "0x5742a9e7000000000000000000000000000a11ce";

/** A call through an ABI. */
export const act = (
  who: Who,
  to: Hex,
  artifact: { readonly abi: Abi },
  functionName: string,
  args: ReadonlyArray<unknown> = [],
  value = 0n,
): Act => ({ from: who.address, to, abi: artifact.abi, functionName, args, ...(value > 0n ? { value } : {}) });

/** What a wallet gets of it: calldata alone. */
export const bare = ({ abi, functionName, args = [], bytecode, ...rest }: Act): Act =>
  abi === undefined
    ? rest
    : {
        ...rest,
        data:
          functionName === undefined
            ? encodeDeployData({ abi, bytecode: bytecode ?? "0x", args: [...args] })
            : encodeFunctionData({ abi, functionName, args: [...args] }),
      };

/** Any token of ours, given to the row's account. */
export const mint = (token: Hex, who: Who, amount = 1_000n * ether): Call => ({
  to: token,
  data: calldata(artifacts.Token, "mint", [who.address, amount]),
});
export const approve = (token: Hex, spender: Hex, amount = 1_000n * ether): Call => ({
  to: token,
  data: calldata(artifacts.Token, "approve", [spender, amount]),
});

/** The leaf of the airdrop for this account, and the proof beside it. */
const leafOf = (account: Hex) => keccak256(encodePacked(["uint256", "address", "uint256"], [7n, account, 50n * ether]));
const sibling = keccak256("0x51b11e");
const rootOf = (account: Hex) => {
  const pair = [leafOf(account), sibling].sort() as [Hex, Hex];
  return keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "bytes32" }], pair));
};
export const airdrop = { who: whoOf("an airdrop by proof"), args: [7n, 50n * ether, [sibling]] } as const;

/** The owners of the multisig. */
export const signers = [whoOf("one owner"), whoOf("another owner")];

const month = 30n * 24n * 3600n;

/** Deploys everything, and gives the markets what they trade. */
export const deployAll = async (scene: Scene, now: bigint) => {
  const { deploy, send, mined } = await sendingFrom(scene);
  const gold = await deploy(artifacts.Token, ["Gold", "GLD", 18]);
  const silver = await deploy(artifacts.Token, ["Silver", "SLV", 18]);
  const weth = await deploy(artifacts.WETH9);
  const feed = await deploy(artifacts.Feed);
  const wallet = await deploy(artifacts.Wallet);
  const permit = await deploy(artifacts.PermitToken);
  const steep = await deploy(artifacts.Pair, [gold, silver]);
  const payees = [other.address, third.address];
  const at = {
    ...{ gold, silver, weth, feed, wallet, permit },
    nft: await deploy(artifacts.Nft),
    multi: await deploy(artifacts.Multi),
    vault: await deploy(artifacts.Vault),
    delegate: await deploy(artifacts.Delegate),
    aggregator: await deploy(artifacts.Aggregator),
    proxied: await deploy(artifacts.Proxy, [gold]),
    box: await deploy(artifacts.Box, [1n]),
    deployer: await deploy(artifacts.Deployer),
    pair: await deploy(artifacts.Pair, [gold, silver]),
    busy: await deploy(artifacts.Pair, [gold, silver]),
    pond: await deploy(artifacts.Pair, [gold, silver]),
    wethPair: await deploy(artifacts.Pair, [weth, silver]),
    permitPair: await deploy(artifacts.Pair, [permit, silver]),
    router: await deploy(artifacts.Router, [weth]),
    farm: await deploy(artifacts.Farm, [gold, silver, ether]),
    bank: await deploy(artifacts.Bank, [gold, feed]),
    savings: await deploy(artifacts.Savings, [gold, now - month]),
    auction: await deploy(artifacts.Auction, [gold, ether, 10n ** 12n]),
    vesting: await deploy(artifacts.Vesting, [gold, 10n ** 15n]),
    gallery: await deploy(artifacts.Gallery, [now - 3600n]),
    crowdedGallery: await deploy(artifacts.Gallery, [now - month]),
    english: await deploy(artifacts.English),
    // why: due in whatever block comes next, however fast the stage is set
    upkeep: await deploy(artifacts.Upkeep, [1n]),
    shares: await deploy(artifacts.Shares, [payees, now - month, 12n * month]),
    grant: await deploy(artifacts.Shares, [payees, now - month, 12n * month]),
    chamber: await deploy(artifacts.Chamber),
    patience: await deploy(artifacts.Patience),
    almanac: await deploy(artifacts.Almanac),
    pastime: await deploy(artifacts.Almanac),
    drop: await deploy(artifacts.Drop, [gold, rootOf(airdrop.who.address)]),
    factory: await deploy(artifacts.WalletFactory, [wallet]),
    till: await deploy(artifacts.Till, [gold, month]),
    borrower: await deploy(artifacts.Borrower),
    range: await deploy(artifacts.Range, [gold, silver, 2n ** 130n, 10n ** 12n * 2n ** 34n]),
    twap: await deploy(artifacts.Twap, [steep]),
    crowdedEnglish: await deploy(artifacts.English),
    crowdedFactory: await deploy(artifacts.WalletFactory, [wallet]),
    multisig: await deploy(artifacts.Multisig, [signers.map(({ address }) => address)]),
    sale: await deploy(artifacts.Sale, [now - month]),
    portal: await deploy(artifacts.Portal),
    context: await deploy(artifacts.ContextReader),
    chronicle: await deploy(artifacts.Chronicle),
  };
  await mined();
  for (const to of [at.upkeep, at.shares, at.grant]) await send({ to, value: 5n * ether });
  await send({ to: feed, data: calldata(artifacts.Feed, "submit", [2_000n]) });
  await send({ to: weth, data: calldata(artifacts.WETH9, "deposit"), value: 100n * ether });
  await send({ to: weth, data: calldata(artifacts.Token, "transfer", [at.wethPair, 100n * ether]) });
  await send({ to: at.nft, data: calldata(artifacts.Nft, "mint", [owner.address, 601n]) });
  await send({ to: at.nft, data: calldata(artifacts.Nft, "setApprovalForAll", [at.till, true]) });
  const give = (token: Hex, to: Hex, amount: bigint) =>
    send({ to: token, data: calldata(artifacts.Token, "mint", [to, amount]) });
  for (const pair of [at.pair, at.busy, at.pond]) {
    await give(gold, pair, 1_000_000n * ether);
    await give(silver, pair, 2_000_000n * ether);
  }
  await give(permit, at.permitPair, 1_000_000n * ether);
  for (const pair of [at.wethPair, at.permitPair]) await give(silver, pair, 200_000n * ether);
  await give(gold, steep, 1_000_000_000n);
  await give(silver, steep, ether);
  await give(silver, at.range, 10n ** 33n);
  for (const holder of [at.bank, at.till, at.borrower, at.drop]) await give(gold, holder, 10_000n * ether);
  for (const pair of [at.pair, at.busy, at.pond, at.wethPair, at.permitPair, steep])
    await send({ to: pair, data: `0x6a627842${owner.address.slice(2).padStart(64, "0")}` });
  await mined();
  return at;
};
