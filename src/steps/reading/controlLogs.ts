/** Who may act, out of logs: owners, roles, proxies, Safe owners and modules. Pure. */
import type { Address } from "../../primitives/hex.js";
import type { OutcomeLog } from "../../report/parts.js";
import { addressOf, valuesOf } from "./approvalLogs.js";

/** One change of control that a contract announced. */
export interface Control {
  readonly code: "OwnershipChanged" | "RoleChanged" | "ContractControlChanged";
  /** The contract over which it is. */
  readonly contract: Address;
  /** What about it changes, in a few words. */
  readonly what: string;
  /** Who gets it; null where the event names nobody or takes it away. */
  readonly gains: Address | null;
  /** Who had it before, or from whom it is taken. */
  readonly loses: Address | null;
  /** The role, where there is one. */
  readonly role: string | null;
  readonly transaction: number;
}

/** What each value of an event is, in the order of the values. */
type Value = "gains" | "loses" | "role" | null;
interface Announced extends Pick<Control, "code" | "what"> {
  readonly values: ReadonlyArray<Value>;
}

const announces =
  (code: Control["code"]) =>
  (what: string, ...values: ReadonlyArray<Value>): Announced => ({ code, what, values });
const owner = announces("OwnershipChanged");
const role = announces("RoleChanged");
const control = announces("ContractControlChanged");

const events: Readonly<Record<string, Announced>> = {
  // OwnershipTransferred(address,address)
  "0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0": owner("handed over", "loses", "gains"),
  // OwnershipTransferStarted(address,address)
  "0x38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e22700": owner("offered", "loses", "gains"),
  // OwnerUpdated(address,address), solmate: the first is whoever asked for it
  "0x8292fce18fa69edf4db7b94ea2e58241df0ae57f97e0a6c9b29067028bf92d76": owner("handed over", null, "gains"),
  // RoleGranted(bytes32,address,address)
  "0x2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d": role("granted", "role", "gains"),
  // RoleRevoked(bytes32,address,address)
  "0xf6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b": role("revoked", "role", "loses"),
  // RoleAdminChanged(bytes32,bytes32,bytes32)
  "0xbd79b86ffe0ab8e8776151514217cd7cacd52c909f66475c3af44e129f0b00ff": role("another role administers it", "role"),
  // Upgraded(address), ERC-1967
  "0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b": control("new implementation", "gains"),
  // AdminChanged(address,address), ERC-1967
  "0x7e644d79422f17c01e4894b5f4f588d331ebfa28653d42ae832dc59e38c9798f": control("new proxy admin", "loses", "gains"),
  // BeaconUpgraded(address), ERC-1967
  "0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e": control("new beacon", "gains"),
  // Safe: AddedOwner(address)
  "0x9465fa0c962cc76958e6373a993326400c1c94f8be2fe3a952adfa7f60b2ea26": control("new Safe owner", "gains"),
  // RemovedOwner(address)
  "0xf8d49fc529812e9a7c5c50e69c20f0dccc0db8fa95c98bc58cc9a4f1c1299eaf": control("Safe owner removed", "loses"),
  // ChangedThreshold(uint256)
  "0x610f7ff2b304ae8903c3de74c60c6ab1f7d6226b3f52c5161905bb5ad4039c93": control("number of Safe signatures"),
  // EnabledModule(address)
  "0xecdf3a3effea5783a3c4c2140e677577666428d44ed9d474a0b3a4c9943f8440": control(
    "new Safe module, which may move all it holds",
    "gains",
  ),
  // DisabledModule(address)
  "0xaab4fa2b463f581b2b32cb3b7e3b704b9ce37cc209b5fb4d77e593ace4054276": control("Safe module removed", "loses"),
  // ChangedGuard(address)
  "0x1151116914515bc0891ff9047a6cb32cf902546f83066499bcf8ba33d2353fa2": control("new Safe guard", "gains"),
  // ChangedModuleGuard(address)
  "0xcd1966d6be16bc0c030cc741a06c6e0efaf8d00de2c8b6a9e11827e125de8bb8": control("new Safe module guard", "gains"),
  // ChangedFallbackHandler(address)
  "0x5ac6c46c93c8d0e53714ba3b53db3e7c046da994313d7ed0d192028bc7c228b0": control("new Safe fallback handler", "gains"),
  // ChangedMasterCopy(address)
  "0x75e41bc35ff1bf14d81d1d2f649c0084a0f974f9289c803ec9898eeec4c8d0b8": control("new implementation", "gains"),
};

const controlOf = (log: OutcomeLog, transaction: number): Control | null => {
  const announced = events[log.topics[0] ?? ""];
  if (announced === undefined) return null;
  const { code, what, values } = announced;
  const said = valuesOf(log);
  const valueAs = (value: Value): bigint | null =>
    values.includes(value) ? (said[values.indexOf(value)] ?? null) : null;
  const party = (value: bigint | null): Address | null =>
    value === null || BigInt.asUintN(160, value) === 0n ? null : addressOf(value);
  const role = valueAs("role");
  return {
    code,
    contract: log.address.toLowerCase() as Address,
    what,
    gains: party(valueAs("gains")),
    loses: party(valueAs("loses")),
    role: role === null ? null : `0x${role.toString(16).padStart(64, "0")}`,
    transaction,
  };
};

/** The changes of control that one transaction's logs announce, in their order. */
export const controlsIn = (logs: ReadonlyArray<OutcomeLog>, transaction: number): ReadonlyArray<Control> =>
  logs.flatMap((log) => {
    const found = controlOf(log, transaction);
    return found === null ? [] : [found];
  });
