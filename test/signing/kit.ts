/**
 * Real contracts that take signatures, on a node, and real messages for them: what is signed, who uses it how at its worst,
 * and what it then leaves. The library has no part in it.
 */
import {
  concatHex,
  decodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  numberToHex,
  parseAbi,
  type Address,
  type Hex,
  type SignedAuthorization,
  type TypedDataDomain,
} from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import {
  DaiDouble,
  Delegate,
  NftPermitDouble,
  OpenExecutor,
  SweepingDelegate,
  X402ExactDouble,
  X402UptoDouble,
} from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import { findGethOrWarn } from "../harness/geth.js";
import { findOpGethOrWarn } from "../harness/opGeth.js";
import {
  owner as deployer,
  startAnvilScene,
  startGethScene,
  startOpGethScene,
  type Receipt,
  type Scene,
} from "../preflight/scene.js";
import {
  circlePart,
  metamaskPart,
  openZeppelin,
  permit2Runtime,
  seaportPart,
  simple7702,
  uniswapV2,
  usdcLinked,
  type Artifact,
} from "./parts.js";

/** Contracts that stand where they stand on mainnet. */
export const canonical = {
  permit2: "0x000000000022D473030F116dDEE9F6B43aC78BA3",
  seaport: "0x0000000000000068F116a894984e2DB1123eB395",
  conduits: "0x00000000F9490004C11Cef243f5400493c00Ad63",
  x402Exact: "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
  x402Upto: "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
  entryPoint: "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
} as const satisfies Readonly<Record<string, Address>>;

/** An ERC-20 with a permit; `keepsMost` = an allowance of 2^256 - 1 is not spent. */
export interface PermitToken {
  readonly address: Address;
  readonly name: string;
  readonly version: string;
  readonly keepsMost: boolean;
}

/** How an owner's account is made: a key alone, or a key that delegates to this code (EIP-7702). */
export type Delegation = "plain" | "simple" | "metamask" | "bare";
/** Code that an authorisation of a message names. */
export type DelegateName = Exclude<Delegation, "plain"> | "open" | "sweeping";

/** One value of the chain. */
export type Reading =
  | { readonly kind: "native"; readonly of: Address }
  | { readonly kind: "balance"; readonly token: Address; readonly of: Address }
  | { readonly kind: "allowance"; readonly token: Address; readonly owner: Address; readonly spender: Address }
  /** The amount that Permit2 keeps of this spender. */
  | { readonly kind: "permit2"; readonly token: Address; readonly owner: Address; readonly spender: Address }
  /** Who has the token, as a number. */
  | { readonly kind: "holder"; readonly token: Address; readonly id: bigint }
  | { readonly kind: "units"; readonly token: Address; readonly id: bigint; readonly of: Address }
  /** The account's code as a number; a delegated one has 23 bytes. */
  | { readonly kind: "code"; readonly of: Address };

/** A transaction that uses a signature. */
export interface Use {
  readonly from: PrivateKeyAccount;
  readonly to: Address;
  readonly data: Hex;
  readonly value?: bigint;
  readonly authorizationList?: ReadonlyArray<SignedAuthorization>;
}

export interface Kit {
  readonly scene: Scene;
  readonly tokens: Readonly<Record<"v2" | "opened" | "solmate" | "usdc" | "dai", PermitToken>>;
  /** The proxy's implementation, and its library. */
  readonly usdcParts: Readonly<Record<"implementation" | "library", Address>>;
  readonly nfts: Readonly<Record<"plain" | "permitted" | "units", Address>>;
  readonly conduit: { readonly key: Hex; readonly address: Address };
  readonly delegates: Readonly<Record<DelegateName, Address>>;
  /** Hold every token, with everything approved to Permit2, Seaport and its conduit. */
  readonly owners: Readonly<Record<Delegation, PrivateKeyAccount>>;
  /** An account named in messages; it has ether only. */
  readonly spender: PrivateKeyAccount;
  /** Sends what anyone may send; it is named in no message, and pays for orders. */
  readonly stranger: PrivateKeyAccount;
  /** Where the delegate named `sweeping` sends everything. */
  readonly thief: Address;
  /** An account with ether only, whose key was drawn by `seed`. */
  readonly account: (seed: number, delegation?: Delegation) => Promise<PrivateKeyAccount>;
  /** Gives an owner 1,000 units more of every token. */
  readonly fill: (owner: Address) => Promise<void>;
  readonly mintNft: (kind: "plain" | "permitted" | "units", to: Address, id: bigint, amount?: bigint) => Promise<void>;
  readonly call: (to: Address, signature: string, args: ReadonlyArray<unknown>) => Promise<bigint>;
  readonly read: (reading: Reading) => Promise<bigint>;
  /** Sends these, one in a block; what fails goes on with the next. */
  readonly send: (uses: ReadonlyArray<Use>) => Promise<ReadonlyArray<Receipt>>;
  /** The time of the latest block, in seconds. */
  readonly now: () => Promise<bigint>;
  readonly stop: () => Promise<void>;
}

const most = 2n ** 256n - 1n;
const abi = parseAbi([
  "function approve(address spender, uint256 amount) returns (bool)",
  "function setApprovalForAll(address operator, bool approved)",
  "function transfer(address to, uint256 amount) returns (bool)",
  "function mint(address to, uint256 amount)",
  "function initialize(string name, string symbol, string currency, uint8 decimals, address minter, address pauser, address blacklister, address owner)",
  "function initializeV2(string name)",
  "function initializeV2_1(address lostAndFound)",
  "function initializeV2_2(address[] blacklist, string symbol)",
  "function changeAdmin(address admin)",
  "function configureMinter(address minter, uint256 amount) returns (bool)",
  "function createConduit(bytes32 key, address owner) returns (address)",
  "function updateChannel(address conduit, address channel, bool isOpen)",
]);
const encode = (functionName: string, args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi, functionName, args } as never);
const unitsMint = parseAbi(["function mint(address to, uint256 id, uint256 amount) returns (bool)"]);

/** What code at the canonical addresses is: creation code, run there in a call, answers the code that it leaves. */
const canonicalCodes = async (chainId: number): Promise<Readonly<Record<string, Hex>>> => {
  const scene = await startAnvilScene(chainId);
  try {
    const controller = seaportPart("seaport/contracts/conduit/ConduitController.sol/LocalConduitController");
    const seaport = seaportPart("seaport/contracts/Seaport.sol/Seaport");
    const runAt = async (to: Address, { abi: of, bytecode }: Artifact, args: ReadonlyArray<unknown>): Promise<Hex> => {
      const code = encodeDeployData({ abi: of, bytecode, args: [...args] });
      return (await scene.ask("eth_call", [{ to, gas: "0xf42400" }, "latest", { [to]: { code } }])) as Hex;
    };
    const conduits = await runAt(canonical.conduits, controller, []);
    await scene.ask("anvil_setCode", [canonical.conduits, conduits]);
    return {
      [canonical.conduits]: conduits,
      [canonical.seaport]: await runAt(canonical.seaport, seaport, [canonical.conduits]),
      [canonical.permit2]: permit2Runtime(),
      [canonical.x402Exact]: X402ExactDouble.deployedBytecode,
      [canonical.x402Upto]: X402UptoDouble.deployedBytecode,
    };
  } finally {
    await scene.stop();
  }
};

/** Sends all of them, then mines one block; fails where one of them failed. */
const sendTogether = async (
  scene: Scene,
  calls: ReadonlyArray<readonly [from: PrivateKeyAccount, call: Parameters<Scene["pool"]>[1]]>,
): Promise<void> => {
  const hashes: Array<Hex> = [];
  for (const [from, call] of calls) hashes.push(await scene.pool(from, { gas: 500_000n, ...call }));
  await scene.mine();
  for (const [index, hash] of hashes.entries())
    if ((await receiptOf(scene, hash)).status !== "0x1") throw new Error(`setting up failed: call ${index}`);
};

/** A freshly started geth says that it still indexes: that is "not yet". */
const receiptOf = async (scene: Scene, hash: Hex): Promise<Receipt> => {
  for (let tries = 0; ; tries++) {
    try {
      return await scene.receipt(hash);
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
};

const readers = {
  balance: "function balanceOf(address) view returns (uint256)",
  units: "function balanceOf(address, uint256) view returns (uint256)",
  allowance: "function allowance(address, address) view returns (uint256)",
  permit2: "function allowance(address, address, address) view returns (uint256, uint256, uint256)",
  holder: "function ownerOf(uint256) view returns (uint256)",
} as const;

const kitOn = async (scene: Scene): Promise<Kit> => {
  const call: Kit["call"] = async (to, signature, args) => {
    const data = encodeFunctionData({ abi: parseAbi([signature] as never), args } as never);
    const answer = (await scene.ask("eth_call", [{ to, data }, "latest"])) as Hex;
    return decodeAbiParameters([{ type: "uint256" }], answer)[0];
  };
  const send: Kit["send"] = async (uses) => {
    const receipts: Array<Receipt> = [];
    for (const { from, ...use } of uses) {
      const hash = await scene.pool(from, { ...use, gas: 1_500_000n });
      await scene.mine();
      receipts.push(await receiptOf(scene, hash));
    }
    return receipts;
  };

  // Circle's proxy refuses its admin, so an account of nobody's is its admin
  const library = await scene.deploy(circlePart("util/SignatureChecker.sol/SignatureChecker"));
  const implementation = await scene.deploy(usdcLinked(library));
  const usdc = await scene.deploy(circlePart("v1/FiatTokenProxy.sol/FiatTokenProxy"), [implementation]);
  const thief = "0x7415C3De00000000000000000000000000000001";
  const v2 = await scene.deploy(uniswapV2(), [10n ** 60n]);
  const opened = await scene.deploy(openZeppelin());
  const solmate = await scene.deploy(seaportPart("src/contracts/test/TestERC20.sol/TestERC20"));
  const dai = await scene.deploy(DaiDouble);
  const tokens: Kit["tokens"] = {
    v2: { address: v2, name: "Uniswap V2", version: "1", keepsMost: true },
    opened: { address: opened, name: "Opened", version: "1", keepsMost: true },
    solmate: { address: solmate, name: "Test20", version: "1", keepsMost: true },
    usdc: { address: usdc, name: "USD Coin", version: "2", keepsMost: false },
    dai: { address: dai, name: "Dai Stablecoin", version: "1", keepsMost: true },
  };
  const nfts = {
    plain: await scene.deploy(seaportPart("src/contracts/test/TestERC721.sol/TestERC721")),
    permitted: await scene.deploy(NftPermitDouble),
    units: await scene.deploy(seaportPart("src/contracts/test/TestERC1155.sol/TestERC1155")),
  };
  const manager = await scene.deploy(metamaskPart("DelegationManager"), [deployer.address]);
  const delegates: Kit["delegates"] = {
    simple: await scene.deploy(simple7702()),
    metamask: await scene.deploy(metamaskPart("EIP7702StatelessDeleGator"), [manager, canonical.entryPoint]),
    bare: await scene.deploy(Delegate),
    open: await scene.deploy(OpenExecutor),
    sweeping: await scene.deploy(SweepingDelegate, [thief]),
  };
  const key = concatHex([deployer.address, numberToHex(1, { size: 12 })]);
  const toCircle = (functionName: string, args: ReadonlyArray<unknown>) =>
    [deployer, { to: usdc, data: encode(functionName, args) }] as const;
  const house = deployer.address;
  await sendTogether(scene, [
    toCircle("changeAdmin", ["0x00000000000000000000000000000000ad000001"]),
    toCircle("initialize", ["USD Coin", "USDC", "USD", 6, house, house, house, house]),
    toCircle("initializeV2", ["USD Coin"]),
    toCircle("initializeV2_1", ["0x00000000000000000000000000000000ad000002"]),
    toCircle("initializeV2_2", [[], "USDC"]),
    toCircle("configureMinter", [house, 10n ** 60n]),
    [deployer, { to: canonical.conduits, data: encode("createConduit", [key, house]), gas: 2_000_000n }],
  ]);
  const conduit = numberToHex(
    await call(canonical.conduits, "function getConduit(bytes32) view returns (uint256)", [key]),
    { size: 20 },
  );
  await sendTogether(scene, [
    [deployer, { to: canonical.conduits, data: encode("updateChannel", [conduit, canonical.seaport, true]) }],
  ]);

  const delegate = async (made: PrivateKeyAccount, delegation: Delegation): Promise<PrivateKeyAccount> => {
    if (delegation === "plain") return made;
    const nonce = await scene.count(made.address);
    const authorization = await made.signAuthorization({
      ...{ address: delegates[delegation], chainId: scene.chainId, nonce },
    });
    await sendTogether(scene, [[deployer, { to: made.address, authorizationList: [authorization] }]]);
    return made;
  };
  const account: Kit["account"] = async (seed, delegation = "plain") => {
    const made = privateKeyToAccount(numberToHex(2n ** 200n + BigInt(seed), { size: 32 }));
    await sendTogether(scene, [[deployer, { to: made.address, value: 10n ** 18n }]]);
    return delegate(made, delegation);
  };
  const fill: Kit["fill"] = (to) =>
    sendTogether(
      scene,
      Object.values(tokens).map((token) => {
        const units = 10n ** (token === tokens.usdc ? 9n : 21n);
        const data = encode(token === tokens.v2 ? "transfer" : "mint", [to, units]);
        return [deployer, { to: token.address, data }] as const;
      }),
    );
  const approving = (from: PrivateKeyAccount) =>
    sendTogether(scene, [
      ...Object.values(tokens).flatMap((token) =>
        [canonical.permit2, canonical.seaport, conduit].map(
          (spender) => [from, { to: token.address, data: encode("approve", [spender, most]) }] as const,
        ),
      ),
      ...[nfts.plain, nfts.units].flatMap((to) =>
        [canonical.seaport, conduit].map(
          (operator) => [from, { to, data: encode("setApprovalForAll", [operator, true]) }] as const,
        ),
      ),
    ]);
  const ownerOf = async (seed: number, delegation: Delegation): Promise<PrivateKeyAccount> => {
    const made = await account(seed);
    await fill(made.address);
    await approving(made);
    // why: the pool of geth takes one transaction at a time from a delegated account
    return delegate(made, delegation);
  };
  const stranger = await ownerOf(1, "plain");

  return {
    scene,
    tokens,
    usdcParts: { implementation, library },
    nfts,
    conduit: { key, address: conduit },
    delegates,
    owners: {
      plain: await ownerOf(2, "plain"),
      simple: await ownerOf(3, "simple"),
      metamask: await ownerOf(4, "metamask"),
      bare: await ownerOf(5, "bare"),
    },
    spender: await account(6),
    stranger,
    thief,
    account: (seed, delegation) => account(seed + 1_000, delegation),
    fill,
    mintNft: (kind, to, id, amount = 1n) =>
      sendTogether(scene, [
        [
          deployer,
          {
            to: nfts[kind],
            data:
              kind === "units"
                ? encodeFunctionData({ abi: unitsMint, args: [to, id, amount] })
                : encode("mint", [to, id]),
          },
        ],
      ]),
    call,
    read: async (reading) => {
      switch (reading.kind) {
        case "native":
          return scene.balance(reading.of);
        case "code":
          return BigInt(`0x0${((await scene.ask("eth_getCode", [reading.of, "latest"])) as Hex).slice(2)}`);
        case "balance":
          return call(reading.token, readers.balance, [reading.of]);
        case "units":
          return call(reading.token, readers.units, [reading.of, reading.id]);
        case "allowance":
          return call(reading.token, readers.allowance, [reading.owner, reading.spender]);
        case "permit2":
          return call(canonical.permit2, readers.permit2, [reading.owner, reading.token, reading.spender]);
        case "holder":
          return call(reading.token, readers.holder, [reading.id]);
      }
    },
    send,
    now: async () => {
      const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly timestamp: Hex };
      return BigInt(head.timestamp);
    },
    stop: scene.stop,
  };
};

/** Kits on the nodes that the pipeline is proven on; on geth and, if asked for, op-geth only where they are installed. */
export const kitsFor = (
  what: string,
  { isOnOpGeth = false } = {},
): ReadonlyArray<readonly [name: string, start: () => Promise<Kit>]> => {
  const bin = findGethOrWarn(`${what} on geth`);
  const anvil = async () => {
    const scene = await startAnvilScene();
    for (const [address, code] of Object.entries(await canonicalCodes(scene.chainId)))
      await rawRequest(scene.url, "anvil_setCode", [address, code]);
    return kitOn(scene);
  };
  const alloc = async () =>
    Object.fromEntries(
      Object.entries(await canonicalCodes(1337)).map(([address, code]) => [address.slice(2), { balance: "0x0", code }]),
    );
  const geth = async () => kitOn(await startGethScene(bin ?? "", { alloc: await alloc() }));
  const opBin = isOnOpGeth ? findOpGethOrWarn(`${what} on op-geth`) : null;
  const opGeth = async () => kitOn(await startOpGethScene(opBin ?? "", { alloc: await alloc() }));
  return [
    ["anvil", anvil],
    ...(bin === null ? [] : [["geth", geth] as const]),
    ...(opBin === null ? [] : [["op-geth", opGeth] as const]),
  ];
};

/** Typed data as viem signs it. */
export interface TypedData {
  readonly domain: TypedDataDomain;
  readonly types: Readonly<Record<string, ReadonlyArray<{ readonly name: string; readonly type: string }>>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}
