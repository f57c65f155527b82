/** The contracts of the witness's tests, and the user's calls whose result must not depend on being watched. */
import type { Address } from "../rooms/primitives.js";
import * as artifacts from "../contracts/artifacts.js";
import { calling, user, type Scene, type UserCall } from "./scene.js";

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
  await scene.send(
    ...[token, bytes32, ...Object.values(hostile)].map((to) => calling(to, artifacts.Token, "mint", [user, held])),
    calling(token, artifacts.Token, "approve", [vault, 500n]),
    calling(nft, artifacts.Nft, "mint", [user, 7n]),
    calling(multi, artifacts.Multi, "mint", [user, 3n, 9n]),
    calling(clearer, artifacts.StorageClearer, "fill", [20n]),
    calling(oracle, artifacts.GasPriceOracle, "set", [3n, 5n, 7n, 11n, 4]),
  );
  const transfer = calling(token, artifacts.Token, "transfer", [stranger, 100n]);
  const reverting = (name: string) => calling(reverter, artifacts.Reverter, name);
  const calls: Record<string, UserCall> = {
    "token transfer": transfer,
    "failing transfer": calling(token, artifacts.Token, "transfer", [stranger, held + 1n]),
    "vault deposit": calling(vault, artifacts.Vault, "deposit", [token, 400n]),
    "closed gate": calling(gate, artifacts.Gate, "pass"),
    "refund-heavy clear": calling(clearer, artifacts.StorageClearer, "clear", [20n]),
    "gas reader": calling(gasReader, artifacts.GasReader, "record"),
    "context reader": calling(context, artifacts.ContextReader, "read"),
    "ether splitter": { ...calling(splitter, artifacts.Splitter, "split", [[stranger, nobody]]), value: 1000n },
    factory: calling(deployer, artifacts.Deployer, "deploy", [5n]),
    "self-destruct": { ...calling(destruct, artifacts.DestructFactory, "run", [stranger]), value: 10n },
    "watcher of the fee recipient's balance": calling(spoofer, artifacts.Spoofer, "claim"),
    "custom error": reverting("many"),
    "nested error": reverting("nested"),
    panic: reverting("panicAssert"),
    "invalid opcode": reverting("invalid"),
    counter: reverting("ok"),
  };
  for (const mode of modes) {
    const asked = calling(hostile[mode], artifacts.HostileToken, "balanceOf", [user]);
    calls[`hostile ${mode}: primed transfer`] = calling(hostile[mode], artifacts.HostileToken, "transferPrimed", [
      ...[stranger, 5n],
    ]);
    calls[`hostile ${mode}: balanceOf as a transaction`] = { ...asked, gas: 400_000n };
  }
  return { token, bytes32, nft, multi, vault, hostile, oracle, transfer, calls: new Map(Object.entries(calls)) };
};
