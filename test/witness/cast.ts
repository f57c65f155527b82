/** The contracts of the witness's tests, and the user's calls whose result must not depend on being watched. */
import { encodeFunctionData } from "viem";
import type { Address } from "../rooms/primitives.js";
import * as artifacts from "../contracts/artifacts.js";
import { user, type Scene, type UserCall } from "./scene.js";

/** The modes of HostileToken, in the order of its enum. */
export const modes = [
  "Honest",
  "Reverts",
  "BurnsAllGas",
  "Invalid",
  "Megabyte",
  "RevertsMegabyte",
  "PerCaller",
  "Writes",
  "SelfDestructs",
  "CallsBack",
  "Reenters",
  "Short",
  "Empty",
  "PerGas",
  "Maximum",
  "Logs",
  "Creates",
  "PerOrigin",
] as const;
export type Mode = (typeof modes)[number];
export const stranger = "0x00000000000000000000000000000000deadbeef" as Address;
export const nobody = "0x1111111111111111111111111111111111111111" as Address;
export const held = 1_000_000n;

export interface Cast {
  readonly token: Address;
  readonly bytes32: Address;
  readonly nft: Address;
  readonly multi: Address;
  readonly vault: Address;
  readonly hostile: Readonly<Record<Mode, Address>>;
  readonly oracle: Address;
  readonly calls: ReadonlyMap<string, UserCall>;
  readonly transfer: UserCall;
}

/** Deploys the fixtures and lists the user's calls whose result must not depend on being watched. */
export const setTheScene = async (scene: Scene): Promise<Cast> => {
  const token = await scene.deploy(artifacts.Token, ["Gold", "GLD", 18]);
  const bytes32 = await scene.deploy(artifacts.Bytes32Token);
  const nft = await scene.deploy(artifacts.Nft);
  const multi = await scene.deploy(artifacts.Multi);
  const vault = await scene.deploy(artifacts.Vault);
  const gate = await scene.deploy(artifacts.Gate);
  const clearer = await scene.deploy(artifacts.StorageClearer);
  const gasReader = await scene.deploy(artifacts.GasReader);
  const context = await scene.deploy(artifacts.ContextReader);
  const splitter = await scene.deploy(artifacts.Splitter);
  const reverter = await scene.deploy(artifacts.Reverter);
  const deployer = await scene.deploy(artifacts.Deployer);
  const destruct = await scene.deploy(artifacts.DestructFactory);
  const oracle = await scene.deploy(artifacts.GasPriceOracle);
  const spoofer = await scene.deploy(artifacts.Spoofer, [token, 11, 0n]);
  const tokens: Array<readonly [Mode, Address]> = [];
  for (const [index, mode] of modes.entries()) {
    tokens.push([mode, await scene.deploy(artifacts.HostileToken, [index])]);
  }
  const hostile = Object.fromEntries(tokens) as Record<Mode, Address>;
  const { abi } = artifacts.Token;
  await scene.send(
    ...[token, bytes32, ...Object.values(hostile)].map((to) => ({
      to,
      data: encodeFunctionData({ abi, functionName: "mint", args: [user, held] }),
    })),
    { to: token, data: encodeFunctionData({ abi, functionName: "approve", args: [vault, 500n] }) },
    { to: nft, data: encodeFunctionData({ abi: artifacts.Nft.abi, functionName: "mint", args: [user, 7n] }) },
    { to: multi, data: encodeFunctionData({ abi: artifacts.Multi.abi, functionName: "mint", args: [user, 3n, 9n] }) },
    {
      to: clearer,
      data: encodeFunctionData({ abi: artifacts.StorageClearer.abi, functionName: "fill", args: [20n] }),
    },
    {
      to: oracle,
      data: encodeFunctionData({ abi: artifacts.GasPriceOracle.abi, functionName: "set", args: [3n, 5n, 7n, 11n, 4] }),
    },
  );
  const transferOf = (amount: bigint): UserCall => ({
    to: token,
    data: encodeFunctionData({ abi, functionName: "transfer", args: [stranger, amount] }),
  });
  const transfer = transferOf(100n);
  const reverting = (functionName: "many" | "nested" | "panicAssert" | "invalid" | "ok"): UserCall => ({
    to: reverter,
    data: encodeFunctionData({ abi: artifacts.Reverter.abi, functionName }),
  });
  const calls: Record<string, UserCall> = {
    "token transfer": transfer,
    "failing transfer": transferOf(held + 1n),
    "vault deposit": {
      to: vault,
      data: encodeFunctionData({ abi: artifacts.Vault.abi, functionName: "deposit", args: [token, 400n] }),
    },
    "closed gate": { to: gate, data: encodeFunctionData({ abi: artifacts.Gate.abi, functionName: "pass" }) },
    "refund-heavy clear": {
      to: clearer,
      data: encodeFunctionData({ abi: artifacts.StorageClearer.abi, functionName: "clear", args: [20n] }),
    },
    "gas reader": {
      to: gasReader,
      data: encodeFunctionData({ abi: artifacts.GasReader.abi, functionName: "record" }),
    },
    "context reader": {
      to: context,
      data: encodeFunctionData({ abi: artifacts.ContextReader.abi, functionName: "read" }),
    },
    "ether splitter": {
      to: splitter,
      value: 1000n,
      data: encodeFunctionData({ abi: artifacts.Splitter.abi, functionName: "split", args: [[stranger, nobody]] }),
    },
    factory: {
      to: deployer,
      data: encodeFunctionData({ abi: artifacts.Deployer.abi, functionName: "deploy", args: [5n] }),
    },
    "self-destruct": {
      to: destruct,
      value: 10n,
      data: encodeFunctionData({ abi: artifacts.DestructFactory.abi, functionName: "run", args: [stranger] }),
    },
    "watcher of the fee recipient's balance": {
      to: spoofer,
      data: encodeFunctionData({ abi: artifacts.Spoofer.abi, functionName: "claim" }),
    },
    "custom error": reverting("many"),
    "nested error": reverting("nested"),
    panic: reverting("panicAssert"),
    "invalid opcode": reverting("invalid"),
    counter: reverting("ok"),
  };
  for (const mode of modes) {
    calls[`hostile ${mode}: primed transfer`] = {
      to: hostile[mode],
      data: encodeFunctionData({
        abi: artifacts.HostileToken.abi,
        functionName: "transferPrimed",
        args: [stranger, 5n],
      }),
    };
    calls[`hostile ${mode}: balanceOf as a transaction`] = {
      to: hostile[mode],
      gas: 400_000n,
      data: encodeFunctionData({ abi: artifacts.HostileToken.abi, functionName: "balanceOf", args: [user] }),
    };
  }
  return { token, bytes32, nft, multi, vault, hostile, oracle, transfer, calls: new Map(Object.entries(calls)) };
};
