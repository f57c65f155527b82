/** Owners, roles, proxies, Safe owners and modules: the events that tell who may act. A protocol is a few rows. */
import type { Roles } from "../words.js";

/** What an event says of who may act. */
export interface ControlRow {
  /** The finding that it is. */
  readonly code: "OwnershipChanged" | "RoleChanged" | "ContractControlChanged";
  /** What about the contract changes, in a few words. */
  readonly what: string;
  readonly values: Roles<"gains" | "loses" | "role">;
}

const announces =
  (code: ControlRow["code"]) =>
  (what: string, ...values: ControlRow["values"]): ControlRow => ({ code, what, values });
const owner = announces("OwnershipChanged");
const role = announces("RoleChanged");
const control = announces("ContractControlChanged");

/** By the beginning of their topics. */
export const controlEvents: Readonly<Record<string, ControlRow>> = {
  // OwnershipTransferred(address,address)
  "0x8be0079c53165914": owner("handed over", "loses", "gains"),
  // OwnershipTransferStarted(address,address)
  "0x38d16b8cac22d99f": owner("offered", "loses", "gains"),
  // OwnerUpdated(address,address), solmate: the first is whoever asked for it
  "0x8292fce18fa69edf": owner("handed over", "loses", "gains"),
  // OwnerChanged(address,address)
  "0xb532073b38c83145": owner("handed over", "loses", "gains"),
  // OwnerSet(address,address)
  "0x342827c97908e5e2": owner("handed over", "loses", "gains"),
  // LogSetOwner(address), ds-auth
  "0xce241d7ca1f669fe": owner("handed over", "gains"),
  // NewOwner(address)
  "0x3edd90e7770f06fa": owner("handed over", "gains"),
  // OwnerNominated(address)
  "0x906a1c6bd7e3091e": owner("offered", "gains"),
  // GovernanceTransferred(address,address)
  "0x5f56bee8cffbe9a7": owner("handed over", "loses", "gains"),
  // NewAdmin(address,address), Compound
  "0xf9ffabca9c8276e9": owner("handed over", "loses", "gains"),
  // NewPendingAdmin(address,address), Compound: the first is whom it was offered to before
  "0xca4f2f25d0898edd": owner("offered", null, "gains"),
  // AuthorityUpdated(address,address), solmate: the first is whoever asked for it
  "0xa3396fd7f6e0a21b": owner("another contract says who may act", "loses", "gains"),
  // LogSetAuthority(address), ds-auth
  "0x1abebea81bfa2637": owner("another contract says who may act", "gains"),
  // DefaultAdminTransferScheduled(address,uint48)
  "0x3377dc44241e779d": owner("offered", "gains"),
  // RoleGranted(bytes32,address,address)
  "0x2f8788117e7eff1d": role("granted", "role", "gains"),
  // RoleRevoked(bytes32,address,address)
  "0xf6391f5c32d9c69d": role("revoked", "role", "loses"),
  // RoleAdminChanged(bytes32,bytes32,bytes32)
  "0xbd79b86ffe0ab8e8": role("another role administers it", "role"),
  // RoleGranted(uint64,address,uint32,uint48,bool), of an AccessManager
  "0xf98448b987f1428e": role("granted", "role", "gains"),
  // RoleRevoked(uint64,address)
  "0xf229baa593af28c4": role("revoked", "role", "loses"),
  // Upgraded(address), ERC-1967
  "0xbc7cd75a20ee27fd": control("new implementation", "gains"),
  // AdminChanged(address,address), ERC-1967
  "0x7e644d79422f17c0": control("new proxy admin", "loses", "gains"),
  // BeaconUpgraded(address), ERC-1967
  "0x1cf3b03a6cf19fa2": control("new beacon", "gains"),
  // DiamondCut((address,uint8,bytes4[])[],address,bytes), ERC-2535
  "0x8faa70878671ccd2": control("other code behind its functions"),
  // ModuleInstalled(uint256,address), ERC-7579
  "0xd21d0b289f126c4b": control("new module of the account, which may act for it", null, "gains"),
  // ModuleUninstalled(uint256,address)
  "0x341347516a9de374": control("module of the account removed", null, "loses"),
  // Safe: AddedOwner(address)
  "0x9465fa0c962cc769": control("new Safe owner", "gains"),
  // RemovedOwner(address)
  "0xf8d49fc529812e9a": control("Safe owner removed", "loses"),
  // ChangedThreshold(uint256)
  "0x610f7ff2b304ae89": control("number of Safe signatures"),
  // EnabledModule(address)
  "0xecdf3a3effea5783": control("new Safe module, which may move all it holds", "gains"),
  // DisabledModule(address)
  "0xaab4fa2b463f581b": control("Safe module removed", "loses"),
  // ChangedGuard(address)
  "0x1151116914515bc0": control("new Safe guard", "gains"),
  // ChangedModuleGuard(address)
  "0xcd1966d6be16bc0c": control("new Safe module guard", "gains"),
  // ChangedFallbackHandler(address)
  "0x5ac6c46c93c8d0e5": control("new Safe fallback handler", "gains"),
  // ChangedMasterCopy(address)
  "0x75e41bc35ff1bf14": control("new implementation", "gains"),
};
