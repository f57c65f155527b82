/** Safes by their makers' own code, on a node: made by factories, owned by keys, delegated keys, contracts and other Safes. */
import { concatHex, encodeFunctionData, numberToHex, parseAbi, type Abi, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/sources.js";
import { SlotWriter } from "../contracts/artifacts.js";
import { owner as deployer, type Receipt, type Scene } from "../preflight/scene.js";

export const versions = ["1.3.0", "1.4.1", "1.5.0"] as const;
export type Version = (typeof versions)[number];

const packages: Readonly<Record<Version, string>> = {
  "1.3.0": "@gnosis.pm/safe-contracts",
  "1.4.1": "@safe-global/safe-contracts",
  "1.5.0": "@safe-global/safe-smart-account",
};
const part = (
  version: Version,
  path: string,
): { readonly abi: Abi; readonly bytecode: Hex; readonly deployedBytecode: Hex } =>
  JSON.parse(
    readFileSync(
      join(root, "tools/beds/node_modules", packages[version], "build/artifacts/contracts", `${path}.json`),
      "utf8",
    ),
  ) as never;

/** The code of the makers' MultiSendCallOnly, for their canonical address. */
export const multiSendCode = (version: Version): Hex =>
  part(version, "libraries/MultiSendCallOnly.sol/MultiSendCallOnly").deployedBytecode;

export const abi = parseAbi([
  "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)",
  "function createProxyWithNonce(address singleton, bytes initializer, uint256 salt) returns (address)",
  "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)",
  "function getTransactionHash(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, uint256 nonce) view returns (bytes32)",
  "function approveHash(bytes32 hash)",
  "function nonce() view returns (uint256)",
  "function setGuard(address guard)",
  "function enableModule(address module)",
  "function addOwnerWithThreshold(address owner, uint256 threshold)",
  "function swapOwner(address before, address old, address new_)",
  "function changeThreshold(uint256 threshold)",
  "function setFallbackHandler(address handler)",
  "function multiSend(bytes)",
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address to, uint256 amount) returns (bool)",
  "function approve(address spender, uint256 amount) returns (bool)",
  "function mint(address to, uint256 amount)",
  "function write(uint256 slot, uint256 value)",
]);
export const encode = (functionName: string, args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi, functionName, args } as never);

/** Fields of SafeTx as the Safe's SDK has them. */
export interface SafeFields {
  readonly to: Address;
  readonly value: string;
  readonly data: Hex;
  readonly operation: number;
  readonly safeTxGas: string;
  readonly baseGas: string;
  readonly gasPrice: string;
  readonly gasToken: Address;
  readonly refundReceiver: Address;
  readonly nonce: number;
}
export const zero = "0x0000000000000000000000000000000000000000";
export const fieldsOf = (fields: Partial<SafeFields> & Pick<SafeFields, "to" | "nonce">): SafeFields => ({
  ...{ value: "0", data: "0x", operation: 0, safeTxGas: "0", baseGas: "0", gasPrice: "0" },
  ...{ gasToken: zero, refundReceiver: zero, ...fields },
});

export const safeTypes = {
  SafeTx: [
    ...[
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "data", type: "bytes" },
    ],
    ...[
      { name: "operation", type: "uint8" },
      { name: "safeTxGas", type: "uint256" },
      { name: "baseGas", type: "uint256" },
    ],
    ...[
      { name: "gasPrice", type: "uint256" },
      { name: "gasToken", type: "address" },
      { name: "refundReceiver", type: "address" },
    ],
    { name: "nonce", type: "uint256" },
  ],
};

export const makers = async (scene: Scene) => {
  const makersOf = async (version: Version) => {
    const isOld = version === "1.3.0";
    const name = isOld ? "GnosisSafe" : "Safe";
    return {
      singleton: await scene.deploy(part(version, `${name}.sol/${name}`)),
      l2: await scene.deploy(part(version, `${name}L2.sol/${name}L2`)),
      factory: await scene.deploy(part(version, `proxies/${name}ProxyFactory.sol/${name}ProxyFactory`)),
      multiSend: await scene.deploy(part(version, "libraries/MultiSend.sol/MultiSend")),
      handler: await scene.deploy(
        part(version, "handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler"),
      ),
    };
  };
  const by = {
    "1.3.0": await makersOf("1.3.0"),
    "1.4.1": await makersOf("1.4.1"),
    "1.5.0": await makersOf("1.5.0"),
  } as const;
  let salt = 1n;
  const send = async (
    from: PrivateKeyAccount,
    to: Address,
    data: Hex,
    value = 0n,
    gas = 3_000_000n,
  ): Promise<Receipt> => {
    const hash = await scene.pool(from, { to, data, value, gas });
    await scene.mine();
    return scene.receipt(hash);
  };
  const read = async (to: Address, functionName: string, args: ReadonlyArray<unknown> = []): Promise<Hex> =>
    (await scene.ask("eth_call", [{ to, data: encode(functionName, args) }, "latest"])) as Hex;
  const nonceOf = async (safe: Address): Promise<number> => Number(await read(safe, "nonce"));
  const key = async (ether = 0n): Promise<PrivateKeyAccount> => {
    const made = privateKeyToAccount(generatePrivateKey());
    if (ether > 0n) await send(deployer, made.address, "0x", ether * 10n ** 18n);
    return made;
  };
  /** A Safe by its factory, with ten ether. */
  const safe = async (
    version: Version,
    owners: ReadonlyArray<Address>,
    threshold: number,
    isL2 = false,
  ): Promise<Address> => {
    const { singleton, l2, factory, handler } = by[version];
    const setup = encode("setup", [owners, BigInt(threshold), zero, "0x", handler, zero, 0n, zero]);
    const data = encode("createProxyWithNonce", [isL2 ? l2 : singleton, setup, salt++]);
    const made = (await scene.ask("eth_call", [{ from: deployer.address, to: factory, data }, "latest"])) as Hex;
    const address: Address = `0x${made.slice(-40)}`;
    const { status } = await send(deployer, factory, data);
    if (status !== "0x1") throw new Error("no Safe");
    await send(deployer, address, "0x", 10n ** 19n);
    return address;
  };
  /** Signs by keys, in the owners' order, and executes. */
  const execute = async (
    of: Address,
    fields: SafeFields,
    keys: ReadonlyArray<PrivateKeyAccount>,
    by: PrivateKeyAccount,
    more: ReadonlyArray<{ readonly owner: Address; readonly bytes: Hex }> = [],
  ): Promise<Receipt> => {
    const signed = await Promise.all(
      keys.map(async (each) => ({
        owner: each.address as Address,
        bytes: await each.signTypedData({
          domain: { chainId: scene.chainId, verifyingContract: of },
          ...{ types: safeTypes, primaryType: "SafeTx" as const, message: fields as never },
        }),
      })),
    );
    const sorted = [...signed, ...more].sort((a, b) => (a.owner.toLowerCase() < b.owner.toLowerCase() ? -1 : 1));
    const { to, value, data, operation, safeTxGas, baseGas, gasPrice, gasToken, refundReceiver } = fields;
    return send(
      by,
      of,
      encode("execTransaction", [
        ...[to, BigInt(value), data, operation, BigInt(safeTxGas), BigInt(baseGas), BigInt(gasPrice)],
        ...[gasToken, refundReceiver, concatHex(sorted.map(({ bytes }) => bytes))],
      ]),
    );
  };
  /** The owner has approved by a transaction, or sends it himself. */
  const approvedBy = (owner: Address) => ({
    owner,
    bytes: concatHex([numberToHex(BigInt(owner), { size: 32 }), numberToHex(0, { size: 32 }), "0x01"]),
  });
  /** The same Safe's answers behind code that nobody knows: a minimal proxy (ERC-1167) to its singleton, set up alike. */
  const copyOf = async (of: Address): Promise<Address> => {
    const code = `0x3d602d80600a3d3981f3363d3d373d3d3d363d73${of.slice(2)}5af43d82803e903d91602b57fd5bf3` as const;
    return scene.deploy({ abi: [], bytecode: code });
  };
  /** A call that gives a Safe other code, which answers as the makers' do and says that it is theirs. */
  const lyingTo = async (of: Address) => {
    const { bytecode, abi: own } = part("1.4.1", "Safe.sol/Safe");
    // why: one byte of its metadata, which is no code
    const changed = `${bytecode.slice(0, -80)}${bytecode.slice(-80).replace(/[0-8]/, "9")}` as Hex;
    const other = await scene.deploy({ abi: own, bytecode: changed });
    const writer = await scene.deploy(SlotWriter);
    return { to: writer, data: encode("write", [0n, BigInt(other)]), of };
  };
  return { by, send, read, copyOf, lyingTo, nonceOf, key, safe, execute, approvedBy };
};
export type Makers = Awaited<ReturnType<typeof makers>>;
