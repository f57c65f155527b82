/** Real EntryPoints at their own addresses, their accounts and paymasters, and real operations: signed and sent by viem, without the library. */
import {
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  hexToBigInt,
  keccak256,
  numberToHex,
  parseAbi,
  parseEther,
  type Address,
  type Hex,
} from "viem";
import { getUserOperationHash, toPackedUserOperation } from "viem/account-abstraction";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { AccountDouble, FactoryDouble, PaymasterDouble } from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import { findGethOrWarn } from "../harness/geth.js";
import { owner as deployer, startAnvilScene, startGethScene, type Receipt, type Scene } from "../preflight/scene.js";
import { accountPart, openZeppelin, type EntryPointVersion } from "../signing/parts.js";

export type Version = EntryPointVersion;
export const versions: ReadonlyArray<Version> = ["0.6", "0.7", "0.8", "0.9"];

export const entryPoints = {
  "0.6": "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789",
  "0.7": "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
  "0.8": "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
  "0.9": "0x433709009B8330FDa32311DF1C2AFA402eD8D009",
} as const satisfies Readonly<Record<Version, Address>>;

/** A user operation as viem has it; the version says which fields count. */
export interface UserOperation {
  readonly sender: Address;
  readonly nonce: bigint;
  readonly callData: Hex;
  readonly signature: Hex;
  readonly callGasLimit: bigint;
  readonly verificationGasLimit: bigint;
  readonly preVerificationGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly initCode?: Hex;
  readonly paymasterAndData?: Hex;
  readonly factory?: Address;
  readonly factoryData?: Hex;
  readonly paymaster?: Address;
  readonly paymasterData?: Hex;
  readonly paymasterVerificationGasLimit?: bigint;
  readonly paymasterPostOpGasLimit?: bigint;
  readonly paymasterSignature?: Hex;
  readonly authorization?: object;
}

/** A signature of 65 bytes that no key gave, as viem's accounts put it in the place of one. */
export const stub: Hex =
  "0xfffffffffffffffffffffffffffffff0000000000000000000000000000000007aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c";

/** Creation code, run at an address in a call, answers the code that it leaves there. */
const canonicalCodes = async (chainId: number): Promise<Readonly<Record<string, Hex>>> => {
  const scene = await startAnvilScene(chainId);
  try {
    const codes: Record<string, Hex> = {};
    for (const version of versions) {
      const at = entryPoints[version];
      const helper = getContractAddress({ from: at, nonce: 1n });
      const runAt = async (from: Address | undefined, to: Address, name: string) => {
        const { abi, bytecode } = accountPart(version, name);
        const code = encodeDeployData({ abi, bytecode, args: [] });
        const state = { [to]: { code, nonce: "0x1" } };
        return (await scene.ask("eth_call", [{ from, to, gas: "0xf42400" }, "latest", state])) as Hex;
      };
      codes[at] = await runAt(undefined, at, "EntryPoint");
      if (!codes[at].includes(helper.slice(2).toLowerCase()))
        throw new Error(`${version} makes another sender creator`);
      codes[helper] = await runAt(at, helper, "SenderCreator");
    }
    return codes;
  } finally {
    await scene.stop();
  }
};

const abi = parseAbi([
  "function createAccount(address owner, uint256 salt) returns (address)",
  "function getAddress(address owner, uint256 salt) view returns (address)",
  "function execute(address to, uint256 value, bytes data)",
  "function executeBatch((address to, uint256 value, bytes data)[] calls)",
  "function executeBatch(address[] to, bytes[] data)",
  "function executeBatch(address[] to, uint256[] values, bytes[] data)",
  "function depositTo(address account) payable",
  "function withdrawTo(address to, uint256 amount)",
  "function deposit(address entryPoint) payable",
  "function transfer(address to, uint256 amount) returns (bool)",
  "function approve(address spender, uint256 amount) returns (bool)",
  "function mint(address to, uint256 amount)",
]);
export const encode = (functionName: string, args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi, functionName, args } as never);

const packedForm =
  "(address sender, uint256 nonce, bytes initCode, bytes callData, bytes32 accountGasLimits, uint256 preVerificationGas, bytes32 gasFees, bytes paymasterAndData, bytes signature)";
const bareForm =
  "(address sender, uint256 nonce, bytes initCode, bytes callData, uint256 callGasLimit, uint256 verificationGasLimit, uint256 preVerificationGas, uint256 maxFeePerGas, uint256 maxPriorityFeePerGas, bytes paymasterAndData, bytes signature)";
const pointAbi = {
  packed: parseAbi([
    `function handleOps(${packedForm}[] ops, address beneficiary)`,
    `function getUserOpHash(${packedForm} op) view returns (bytes32)`,
    `function getHash(${packedForm} op, uint48 until, uint48 from) view returns (bytes32)`,
  ] as never),
  bare: parseAbi([
    `function handleOps(${bareForm}[] ops, address beneficiary)`,
    `function getUserOpHash(${bareForm} op) view returns (bytes32)`,
    `function getHash(${bareForm} op, uint48 until, uint48 from) view returns (bytes32)`,
  ] as never),
};
const abiOf = (version: Version) => pointAbi[version === "0.6" ? "bare" : "packed"];

/** The struct that an EntryPoint takes, as viem packs it. */
export const structOf = (version: Version, operation: UserOperation): object => {
  if (version === "0.6") return { initCode: "0x", paymasterAndData: "0x", ...operation };
  const packed = toPackedUserOperation(operation as never);
  // why: viem leaves the marker at two bytes, which EntryPoints read as well
  return packed;
};

export interface Account {
  readonly version: Version;
  readonly address: Address;
  readonly key: PrivateKeyAccount;
  /** Empty where it is there already. */
  readonly init: Partial<UserOperation>;
  readonly kind: "deployed" | "fresh" | "delegated";
}

export interface OperationsKit {
  readonly scene: Scene;
  readonly token: Address;
  readonly factories: Readonly<Record<Version, Address>>;
  readonly bad: Address;
  readonly simple7702: Readonly<Partial<Record<Version, Address>>>;
  /** Vouches for operations, and its key. */
  readonly paymasters: Readonly<Record<Version, Address>>;
  readonly voucher: PrivateKeyAccount;
  readonly bundler: PrivateKeyAccount;
  readonly account: (version: Version, seed: number, kind: Account["kind"], funds?: bigint) => Promise<Account>;
  readonly double: (
    version: Version,
    seed: number,
    told?: { readonly mode?: number; readonly times?: bigint; readonly secret?: Hex; readonly funds?: bigint },
  ) => Promise<Account>;
  readonly paymaster: (version: Version, mode: number, funds?: bigint) => Promise<Address>;
  readonly nonce: (account: Pick<Account, "version" | "address">, key?: bigint) => Promise<bigint>;
  readonly hashOnChain: (version: Version, operation: UserOperation) => Promise<Hex>;
  readonly hash: (version: Version, operation: UserOperation) => Hex;
  readonly sign: (account: Account, operation: UserOperation) => Promise<UserOperation>;
  /** The operation with a paymaster that its key vouched for; before the account signs. */
  readonly vouched: (
    version: Version,
    operation: UserOperation,
    paymaster?: Address,
    times?: readonly [until: bigint, from: bigint],
  ) => Promise<UserOperation>;
  readonly handle: (
    version: Version,
    operations: ReadonlyArray<UserOperation>,
    more?: { readonly authorizationList?: ReadonlyArray<never>; readonly gas?: bigint },
  ) => Promise<Receipt>;
  readonly fees: () => Promise<{ readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }>;
  readonly fund: (to: Address, value: bigint) => Promise<void>;
  readonly mint: (to: Address) => Promise<void>;
  readonly deposit: (version: Version, to: Address, value: bigint) => Promise<void>;
  readonly read: (to: Address, signature: string, args: ReadonlyArray<unknown>) => Promise<bigint>;
  readonly now: () => Promise<bigint>;
  readonly stop: () => Promise<void>;
}

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

const kitOn = async (scene: Scene): Promise<OperationsKit> => {
  const keyOf = (seed: number) => privateKeyToAccount(numberToHex(2n ** 180n + BigInt(seed), { size: 32 }));
  const call = async (to: Address, data: Hex): Promise<Hex> =>
    (await scene.ask("eth_call", [{ to, data }, "latest"])) as Hex;
  const read: OperationsKit["read"] = async (to, signature, args) =>
    decodeAbiParameters(
      [{ type: "uint256" }],
      await call(to, encodeFunctionData({ abi: parseAbi([signature] as never), args } as never)),
    )[0];
  const send = async (from: PrivateKeyAccount, tx: Parameters<Scene["pool"]>[1]): Promise<Receipt> => {
    const hash = await scene.pool(from, { gas: 1_000_000n, ...tx });
    await scene.mine();
    return receiptOf(scene, hash);
  };
  const must = async (receipt: Promise<Receipt>): Promise<void> => {
    if ((await receipt).status !== "0x1") throw new Error("setting up failed");
  };
  const fund: OperationsKit["fund"] = (to, value) => must(send(deployer, { to, value }));
  const voucher = keyOf(1);
  const bundler = keyOf(2);
  await fund(bundler.address, parseEther("100"));

  const token = await scene.deploy(openZeppelin());
  const bad = await scene.deploy(FactoryDouble);
  const factories: Record<string, Address> = {};
  const paymasters: Record<string, Address> = {};
  const deposit = (version: Version, to: Address, value: bigint) =>
    must(send(deployer, { to: entryPoints[version], data: encode("depositTo", [to]), value }));
  const paymaster: OperationsKit["paymaster"] = async (version, mode, funds = parseEther("10")) => {
    const at =
      version === "0.6"
        ? await scene.deploy(accountPart(version, "VerifyingPaymaster"), [entryPoints[version], voucher.address])
        : await scene.deploy(PaymasterDouble, [voucher.address, mode]);
    if (funds > 0n) await deposit(version, at, funds);
    return at;
  };
  for (const version of versions) {
    factories[version] = await scene.deploy(accountPart(version, "SimpleAccountFactory"), [entryPoints[version]]);
    paymasters[version] =
      version === "0.7"
        ? await scene.deploy(accountPart(version, "VerifyingPaymaster"), [entryPoints[version], voucher.address])
        : await paymaster(version, 0);
    if (version === "0.7") await deposit(version, paymasters[version], parseEther("10"));
  }
  const simple7702 = {
    "0.8": await scene.deploy(accountPart("0.8", "Simple7702Account")),
    "0.9": await scene.deploy(accountPart("0.9", "Simple7702Account"), [entryPoints["0.9"]]),
  };

  const fees = async () => {
    const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly baseFeePerGas: Hex };
    return { maxFeePerGas: 2n * BigInt(head.baseFeePerGas) + 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  };
  const hash: OperationsKit["hash"] = (version, operation) =>
    getUserOperationHash({
      ...{ chainId: scene.chainId, entryPointAddress: entryPoints[version], entryPointVersion: version },
      userOperation: operation as never,
    });
  const sign: OperationsKit["sign"] = async ({ version, key, kind }, operation) => {
    const digest = hash(version, operation);
    const isRaw = kind === "delegated" || version === "0.8" || version === "0.9";
    const signature = isRaw ? await key.sign({ hash: digest }) : await key.signMessage({ message: { raw: digest } });
    return { ...operation, signature };
  };
  const nonce: OperationsKit["nonce"] = ({ version, address }, key = 0n) =>
    read(entryPoints[version], "function getNonce(address, uint192) view returns (uint256)", [address, key]);
  const handle: OperationsKit["handle"] = async (version, operations, more = {}) =>
    send(bundler, {
      to: entryPoints[version],
      data: encodeFunctionData({
        ...{ abi: abiOf(version), functionName: "handleOps" },
        args: [operations.map((one) => structOf(version, one)), bundler.address],
      } as never),
      gas: 8_000_000n,
      ...more,
    });

  const account: OperationsKit["account"] = async (version, seed, kind, funds = parseEther("1")) => {
    const key = keyOf(1_000 + seed);
    const initData = encode("createAccount", [key.address, BigInt(seed)]);
    const factory = factories[version] as Address;
    const address =
      kind === "delegated"
        ? key.address
        : numberToHex(
            await read(factory, "function getAddress(address, uint256) view returns (uint256)", [
              key.address,
              BigInt(seed),
            ]),
            { size: 20 },
          );
    if (funds > 0n) await fund(address, funds);
    const init: Partial<UserOperation> =
      version === "0.6" ? { initCode: concatHex([factory, initData]) } : { factory, factoryData: initData };
    const made: Account = { version, address, key, kind, init: kind === "fresh" ? init : {} };
    if (kind === "delegated") {
      const code = simple7702[version as "0.8"];
      const authorization = await key.signAuthorization({
        ...{ address: code, chainId: scene.chainId, nonce: await scene.count(key.address) },
      });
      await must(send(deployer, { to: key.address, authorizationList: [authorization] }));
    }
    if (kind === "deployed" && (version === "0.6" || version === "0.7"))
      await must(send(deployer, { to: factory, data: initData }));
    if (kind === "deployed" && (version === "0.8" || version === "0.9")) {
      // these factories listen to the EntryPoint alone
      const first = await sign(made, {
        ...{ sender: address, nonce: 0n, callData: "0x", signature: "0x", callGasLimit: 10_000n, ...(await fees()) },
        ...{ verificationGasLimit: 500_000n, preVerificationGas: 50_000n, ...init },
      });
      await must(handle(version, [first]));
    }
    if (kind !== "fresh") await must(send(deployer, { to: token, data: encode("mint", [address, 10n ** 21n]) }));
    return made;
  };

  const hashOnChain: OperationsKit["hashOnChain"] = (version, operation) =>
    call(
      entryPoints[version],
      encodeFunctionData({
        ...{ abi: abiOf(version), functionName: "getUserOpHash" },
        args: [structOf(version, operation)],
      } as never),
    );

  return {
    ...{ scene, token, bad, simple7702, voucher, bundler, account, paymaster, nonce, hash, hashOnChain, sign, handle },
    ...{ fees, fund, read, deposit },
    mint: (to) => must(send(deployer, { to: token, data: encode("mint", [to, 10n ** 21n]) })),
    factories: factories as OperationsKit["factories"],
    paymasters: paymasters as OperationsKit["paymasters"],
    double: async (
      version,
      seed,
      { mode = 0, times = 0n, secret = keccak256("0x01"), funds = parseEther("1") } = {},
    ) => {
      const key = keyOf(5_000 + seed);
      const address = await scene.deploy(AccountDouble, [key.address, BigInt(mode), times, secret]);
      if (funds > 0n) await fund(address, funds);
      return { version, address, key, kind: "delegated", init: {} };
    },
    vouched: async (version, operation, at = paymasters[version] as Address, [until, from] = [0n, 0n]) => {
      const times = encodeAbiParameters([{ type: "uint48" }, { type: "uint48" }], [Number(until), Number(from)]);
      const withData = (signature: Hex): UserOperation =>
        version === "0.6"
          ? { ...operation, paymasterAndData: concatHex([at, times, signature]) }
          : {
              ...{ ...operation, paymaster: at, paymasterData: concatHex([times, signature]) },
              ...{ paymasterVerificationGasLimit: 200_000n, paymasterPostOpGasLimit: 100_000n },
            };
      const digest = await call(
        at,
        encodeFunctionData({
          ...{ abi: abiOf(version), functionName: "getHash" },
          args: [structOf(version, withData(stub)), Number(until), Number(from)],
        } as never),
      );
      return withData(await voucher.signMessage({ message: { raw: digest } }));
    },
    now: async () => {
      const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly timestamp: Hex };
      return hexToBigInt(head.timestamp);
    },
    stop: scene.stop,
  };
};

/** Kits on the nodes that the pipeline is proven on; on geth only where it is installed. */
export const kitsFor = (what: string): ReadonlyArray<readonly [name: string, start: () => Promise<OperationsKit>]> => {
  const bin = findGethOrWarn(`${what} on geth`);
  const anvil = async () => {
    const scene = await startAnvilScene();
    for (const [address, code] of Object.entries(await canonicalCodes(scene.chainId)))
      await rawRequest(scene.url, "anvil_setCode", [address, code]);
    return kitOn(scene);
  };
  const geth = async () => {
    const codes = await canonicalCodes(1337);
    const alloc = Object.fromEntries(
      Object.entries(codes).map(([address, code]) => [address.slice(2), { balance: "0x0", code, nonce: "0x1" }]),
    );
    return kitOn(await startGethScene(bin ?? "", { alloc }));
  };
  return [["anvil", anvil], ...(bin === null ? [] : [["geth", geth] as const])];
};
