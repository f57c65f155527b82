/** Who may act, out of logs: owners, roles, proxies, Safe owners and modules. Pure. */
import type { Address } from "../../primitives/hex.js";
import type { OutcomeLog } from "../../report/parts.js";
import { addressOf } from "./approvalLogs.js";

/** One change of control that a contract announced. */
export interface Control {
  readonly code: "OwnershipChanged" | "RoleChanged" | "ContractControlChanged";
  /** The contract over which it is. */
  readonly contract: Address;
  readonly what: string;
  /** Who gets it; null where the event names nobody or takes it away. */
  readonly gains: Address | null;
  /** Who had it before, or from whom it is taken. */
  readonly loses: Address | null;
  /** The role, where there is one. */
  readonly role: string | null;
  readonly transaction: number;
}

interface Announced {
  readonly code: Control["code"];
  readonly what: string;
  /** Which value of the event gains, loses, names the role. */
  readonly gains?: number;
  readonly loses?: number;
  readonly role?: number;
}

const owner = "OwnershipChanged";
const role = "RoleChanged";
const control = "ContractControlChanged";

const events: Readonly<Record<string, Announced>> = {
  // OwnershipTransferred(address,address)
  "0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0": {
    code: owner,
    what: "the ownership of a contract changes",
    loses: 0,
    gains: 1,
  },
  // OwnershipTransferStarted(address,address)
  "0x38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e22700": {
    code: owner,
    what: "the ownership of a contract is offered",
    loses: 0,
    gains: 1,
  },
  // OwnerUpdated(address,address), solmate
  "0x8292fce18fa69edf4db7b94ea2e58241df0ae57f97e0a6c9b29067028bf92d76": {
    code: owner,
    what: "the ownership of a contract changes",
    gains: 1,
  },
  // RoleGranted(bytes32,address,address)
  "0x2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d": {
    code: role,
    what: "a role is granted",
    role: 0,
    gains: 1,
  },
  // RoleRevoked(bytes32,address,address)
  "0xf6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b": {
    code: role,
    what: "a role is revoked",
    role: 0,
    loses: 1,
  },
  // RoleAdminChanged(bytes32,bytes32,bytes32)
  "0xbd79b86ffe0ab8e8776151514217cd7cacd52c909f66475c3af44e129f0b00ff": {
    code: role,
    what: "another role administers a role",
    role: 0,
  },
  // Upgraded(address), ERC-1967
  "0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b": {
    code: control,
    what: "a proxy gets another implementation",
    gains: 0,
  },
  // AdminChanged(address,address), ERC-1967
  "0x7e644d79422f17c01e4894b5f4f588d331ebfa28653d42ae832dc59e38c9798f": {
    code: control,
    what: "a proxy gets another admin",
    loses: 0,
    gains: 1,
  },
  // BeaconUpgraded(address), ERC-1967
  "0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e": {
    code: control,
    what: "a proxy gets another beacon",
    gains: 0,
  },
  // Safe: AddedOwner(address)
  "0x9465fa0c962cc76958e6373a993326400c1c94f8be2fe3a952adfa7f60b2ea26": {
    code: control,
    what: "a Safe gets another owner",
    gains: 0,
  },
  // RemovedOwner(address)
  "0xf8d49fc529812e9a7c5c50e69c20f0dccc0db8fa95c98bc58cc9a4f1c1299eaf": {
    code: control,
    what: "a Safe loses an owner",
    loses: 0,
  },
  // ChangedThreshold(uint256)
  "0x610f7ff2b304ae8903c3de74c60c6ab1f7d6226b3f52c5161905bb5ad4039c93": {
    code: control,
    what: "a Safe asks for another number of signatures",
  },
  // EnabledModule(address)
  "0xecdf3a3effea5783a3c4c2140e677577666428d44ed9d474a0b3a4c9943f8440": {
    code: control,
    what: "a Safe gets another module, which may move everything it holds",
    gains: 0,
  },
  // DisabledModule(address)
  "0xaab4fa2b463f581b2b32cb3b7e3b704b9ce37cc209b5fb4d77e593ace4054276": {
    code: control,
    what: "a Safe loses a module",
    loses: 0,
  },
  // ChangedGuard(address)
  "0x1151116914515bc0891ff9047a6cb32cf902546f83066499bcf8ba33d2353fa2": {
    code: control,
    what: "a Safe gets another guard",
    gains: 0,
  },
  // ChangedModuleGuard(address)
  "0xcd1966d6be16bc0c030cc741a06c6e0efaf8d00de2c8b6a9e11827e125de8bb8": {
    code: control,
    what: "a Safe gets another module guard",
    gains: 0,
  },
  // ChangedFallbackHandler(address)
  "0x5ac6c46c93c8d0e53714ba3b53db3e7c046da994313d7ed0d192028bc7c228b0": {
    code: control,
    what: "a Safe gets another fallback handler",
    gains: 0,
  },
  // ChangedMasterCopy(address)
  "0x75e41bc35ff1bf14d81d1d2f649c0084a0f974f9289c803ec9898eeec4c8d0b8": {
    code: control,
    what: "a Safe gets another implementation",
    gains: 0,
  },
};

/** The first four values of a log, indexed or not. */
const valuesOf = ({ topics, data }: OutcomeLog): ReadonlyArray<bigint> => {
  const values = topics.slice(1).map((word) => BigInt(word));
  for (let at = 2; at + 64 <= data.length && values.length < 4; at += 64)
    values.push(BigInt(`0x${data.slice(at, at + 64)}`));
  return values;
};

const controlOf = (log: OutcomeLog, transaction: number): Control | null => {
  const signature = log.topics[0];
  const announced = signature === undefined ? undefined : events[signature];
  if (announced === undefined) return null;
  const values = valuesOf(log);
  const party = (index: number | undefined): Address | null => {
    const value = index === undefined ? undefined : values[index];
    return value === undefined || BigInt.asUintN(160, value) === 0n ? null : addressOf(value);
  };
  const named = announced.role === undefined ? undefined : values[announced.role];
  return {
    code: announced.code,
    contract: log.address.toLowerCase() as Address,
    what: announced.what,
    gains: party(announced.gains),
    loses: party(announced.loses),
    role: named === undefined ? null : `0x${named.toString(16).padStart(64, "0")}`,
    transaction,
  };
};

/** The changes of control that one transaction's logs announce, in their order. */
export const controlsIn = (logs: ReadonlyArray<OutcomeLog>, transaction: number): ReadonlyArray<Control> =>
  logs.flatMap((log) => {
    const found = controlOf(log, transaction);
    return found === null ? [] : [found];
  });
