/** Safes as their makers deploy them, of three versions, and calls of them that need no signature: the owner sends. */
import { concatHex, encodeFunctionData, encodePacked, pad, parseAbi, size, zeroAddress, type Hex } from "viem";
import { readFileSync } from "node:fs";
import { owner, type Scene } from "./scene.js";

const codes = JSON.parse(readFileSync(new URL("../fixtures/safe.json", import.meta.url), "utf8")) as Readonly<
  Record<string, { readonly bytecode: Hex } | undefined>
>;

export const versions = ["1.3.0", "1.4.1", "1.5.0"] as const;
export type Version = (typeof versions)[number];

export const safeAbi = parseAbi([
  "constructor(address singleton, address singletonL2, address handler)",
  "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)",
  "function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation) returns (bool)",
  "function execTransactionFromModuleReturnData(address to, uint256 value, bytes data, uint8 operation) returns (bool, bytes)",
  "function setup(address[] owners, uint256 threshold, address to, bytes data, address handler, address token, uint256 payment, address receiver)",
  "function createProxyWithNonce(address singleton, bytes initializer, uint256 salt) returns (address)",
  "function multiSend(bytes transactions) payable",
  "function enableModule(address module)",
  "function signMessage(bytes message)",
  "function performCreate(uint256 value, bytes code) returns (address)",
  "function setupToL2(address singleton)",
  "function transfer(address to, uint256 amount) returns (bool)",
  "event ProxyCreation(address indexed proxy, address singleton)",
]);
export const encode = (functionName: string, ...args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi: safeAbi, functionName, args } as never);

export interface Inner {
  readonly to: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly isDelegate?: boolean;
}

/** The calls of a MultiSend. */
export const multiSend = (...calls: ReadonlyArray<Inner>): Hex =>
  encode(
    "multiSend",
    concatHex(
      calls.map(({ to, data = "0x", value = 0n, isDelegate = false }) =>
        encodePacked(
          ["uint8", "address", "uint256", "uint256", "bytes"],
          [Number(isDelegate), to, value, BigInt(size(data)), data],
        ),
      ),
    ),
  );

/** What a Safe executes when `sender`, an owner of it, calls it. */
export const executing = (
  { to, data = "0x", value = 0n, isDelegate = false }: Inner,
  sender: Hex = owner.address,
  safeTxGas = 0n,
): Hex =>
  encode(
    ...(["execTransaction", to, value, data, Number(isDelegate), safeTxGas, 0n, 0n, zeroAddress, zeroAddress] as const),
    concatHex([pad(sender, { size: 32 }), pad("0x", { size: 32 }), "0x01"]),
  );

export const deploying = (scene: Scene, name: string, ...args: ReadonlyArray<unknown>): Promise<Hex> => {
  const bytecode = codes[name]?.bytecode;
  if (bytecode === undefined) throw new Error(`no code of ${name}`);
  const abi = args.length === 0 ? [] : safeAbi;
  return scene.deploy({ abi, bytecode }, args);
};

export const settingUp = (owners: ReadonlyArray<Hex>, to: Hex = zeroAddress, data: Hex = "0x"): Hex =>
  encode("setup", owners, 1n, to, data, zeroAddress, zeroAddress, 0n, zeroAddress);

/** Code by its bytes, without a constructor. */
export const planting = (scene: Scene, runtime: Hex): Promise<Hex> =>
  scene.deploy({
    abi: [],
    bytecode: concatHex(["0x61", pad(`0x${size(runtime).toString(16)}`, { size: 2 }), "0x80600a5f395ff3", runtime]),
  });

/** A Safe of these owners, made by the factory of its version. */
export const making = async (scene: Scene, version: Version, ...owners: ReadonlyArray<Hex>): Promise<Hex> => {
  const [singleton, factory] = [
    await deploying(scene, `Safe ${version}`),
    await deploying(scene, `SafeProxyFactory ${version}`),
  ];
  const data = encode("createProxyWithNonce", singleton, settingUp(owners), 1n);
  const hash = await scene.send(owner, { to: factory, data });
  await scene.mine();
  const { logs } = await scene.receipt(hash);
  const made = logs.find(({ address }) => address === factory);
  const word = made?.topics[1] ?? made?.data.slice(0, 66);
  if (word === undefined) throw new Error("no Safe was made");
  return `0x${word.slice(26)}`;
};
