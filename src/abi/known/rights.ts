/** Rights over tokens: the events that tell of them, and the functions that give them. A protocol is a few rows. */
import { each } from "../../primitives/record.js";
import type { Roles } from "../words.js";

/** The standards and protocols whose rules a right follows. */
export const rightStandards = [
  ...(["erc20", "erc721", "erc1155", "erc6909", "erc777", "permit2"] as const),
  ...(["aaveDebt", "morpho", "cryptopunks"] as const),
] as const;

/** The right that an event or a call declares. */
export interface RightRow {
  readonly standard: (typeof rightStandards)[number];
  /** `open`: an amount or an id, where the shape leaves open which. `all`: everything or nothing, as an amount. */
  readonly values: Roles<"owner" | "spender" | "token" | "id" | "amount" | "flag" | "all" | "expiration" | "open">;
  /** The claim where no value says it: an amount, or 1 and 0. */
  readonly said: bigint;
}

const says =
  (standard: RightRow["standard"], said = 0n) =>
  (...values: RightRow["values"]): RightRow => ({ standard, values, said });

const erc20 = says("erc20");
const ofPermit2 = says("permit2");

/** By the beginning of their topics. Approval(address,address,uint256) is an amount of an ERC-20, or one ERC-721. */
export const rightEvents: Readonly<Record<string, RightRow>> = {
  // Approval(address,address,uint256)
  "0x8c5be1e5ebec7d5b": erc20("owner", "spender", "open"),
  // ApprovalForAll(address,address,bool)
  "0x17307eab39ab6107": says("erc721")("owner", "spender", "flag"),
  // Permit2 Approval(address,address,address,uint160,uint48)
  "0xda9fa7c1b00402c1": ofPermit2("owner", "token", "spender", "amount", "expiration"),
  // Permit2 Permit(address,address,address,uint160,uint48,uint48)
  "0xc6a377bfc4eb1200": ofPermit2("owner", "token", "spender", "amount", "expiration"),
  // Permit2 Lockdown(address,address,address)
  "0x89b1add15eff56b3": ofPermit2("owner", "token", "spender"),
  // ERC-6909 OperatorSet(address,address,bool)
  "0xceb576d9f15e4e20": says("erc6909")("owner", "spender", "flag"),
  // ERC-6909 Approval(address,address,uint256,uint256)
  "0xb3fd507183588756": says("erc6909")("owner", "spender", "id", "amount"),
  // ERC-777 AuthorizedOperator(address,address)
  "0xf4caeb2d6ca8932a": says("erc777", 1n)("spender", "owner"),
  // ERC-777 RevokedOperator(address,address)
  "0x50546e66e5f44d72": says("erc777")("spender", "owner"),
  // Aave BorrowAllowanceDelegated(address,address,address,uint256)
  "0xda919360433220e1": says("aaveDebt")("owner", "spender", null, "amount"),
  // Morpho SetAuthorization(address,address,address,bool)
  "0xd5e969f01efe921d": says("morpho")(null, "owner", "spender", "flag"),
  // CryptoPunks PunkOffered(uint256,uint256,address): the price, which is not indexed, comes last
  "0x3c7b682d5da98001": says("cryptopunks", 1n)("id", "spender", null),
};

/** Everything, as an amount. */
export const everything = 2n ** 256n - 1n;
/**
 * The amount that tokens with narrow amounts keep where everything was asked for (UNI, COMP): unlimited where the
 * supply is larger too, and from here on where it is not known.
 */
export const narrowMaximum = 2n ** 96n - 1n;
const permit = { isPermit: true } as const;
const taken = { ...permit, isTaken: true } as const;

/**
 * Functions that give rights, by their selectors; who gives is the caller, and what is given the contract's own, where no
 * value says it.
 */
export const grants: Readonly<
  Record<
    string,
    RightRow & {
      /** True if the contract that is called gets the right, and not an account that a value names. */
      readonly isTaken?: boolean;
      /** A signed permit: anybody may have used it before. */
      readonly isPermit?: boolean;
      /** Permit2's rights in a list, behind the owner: what each item of four words says. */
      readonly isList?: boolean;
    }
  >
> = {
  // approve(address,uint256)
  "0x095ea7b3": erc20("spender", "open"),
  // increaseAllowance(address,uint256), increaseApproval(address,uint256)
  ...each(erc20("spender", "amount"), ["0x39509351", "0xd73dd623"]),
  // decreaseAllowance(address,uint256), decreaseApproval(address,uint256)
  ...each(erc20("spender", null), ["0xa457c2d7", "0x66188463"]),
  // setApprovalForAll(address,bool)
  "0xa22cb465": says("erc721")("spender", "flag"),
  // ERC-6909 setOperator(address,bool), approve(address,uint256,uint256)
  "0x558a7297": says("erc6909")("spender", "flag"),
  "0x426a8493": says("erc6909")("spender", "id", "amount"),
  // ERC-777 authorizeOperator(address), revokeOperator(address)
  "0x959b8c3f": says("erc777", 1n)("spender"),
  "0xfad8b32a": says("erc777")("spender"),
  // Aave approveDelegation(address,uint256), delegationWithSig(delegator,delegatee,value,deadline,v,r,s)
  "0xc04a8a10": says("aaveDebt")("spender", "amount"),
  "0x0b52d558": says("aaveDebt")("owner", "spender", "amount"),
  // Morpho setAuthorization(address,bool), setAuthorizationWithSig((authorizer,authorized,isAuthorized,nonce,deadline),signature)
  "0xeecea000": says("morpho")("spender", "flag"),
  "0x8069218f": says("morpho")("owner", "spender", "flag"),
  // Comet allow(manager,isAllowed), allowBySig(owner,manager,isAllowed,nonce,expiry,v,r,s)
  "0x110496e5": erc20("spender", "all"),
  "0xbb24d994": { ...erc20("owner", "spender", "all"), ...permit },
  // ERC-1363 approveAndCall(address,uint256), approveAndCall(address,uint256,bytes)
  ...each(erc20("spender", "amount"), ["0x3177029f", "0xcae9ca51"]),
  // CryptoPunks offerPunkForSaleToAddress(index,least,to), offerPunkForSale(index,least): to anybody
  "0xbf31196f": says("cryptopunks", 1n)("id", null, "spender"),
  "0xc44193c3": says("cryptopunks", 1n)("id", null),
  // EIP-2612 permit(owner,spender,value,deadline,v,r,s), permit(owner,spender,value,deadline,signature)
  ...each({ ...erc20("owner", "spender", "amount"), ...permit }, ["0xd505accf", "0x9fd5a6cf"]),
  // DAI permit(holder,spender,nonce,expiry,allowed,v,r,s)
  "0x8fcbaf0c": { ...erc20("owner", "spender", null, null, "all"), ...permit },
  // selfPermit(token,value,deadline,v,r,s), selfPermitIfNecessary
  ...each({ ...erc20("token", "amount"), ...taken }, ["0xf3995c67", "0xc2e3140a"]),
  // selfPermitAllowed(token,nonce,expiry,v,r,s), selfPermitAllowedIfNecessary
  ...each({ ...says("erc20", everything)("token", null), ...taken }, ["0x4659a494", "0xa4a78f0c"]),
  // Permit2 approve(token,spender,amount,expiration)
  "0x87517c45": ofPermit2("token", "spender", "amount", "expiration"),
  // Permit2 permit(owner,((token,amount,expiration,nonce),spender,sigDeadline),signature)
  "0x2b67b570": { ...ofPermit2("owner", "token", "amount", "expiration", null, "spender"), ...permit },
  // Permit2 permit(owner,((token,amount,expiration,nonce)[],spender,sigDeadline),signature)
  "0x2a2d80d1": { ...ofPermit2("token", "amount", "expiration", null), ...permit, isList: true },
};

/** Permit2's transferFrom(address,address,uint160,address), and of a list: whoever is called by them is one. */
export const taking: ReadonlySet<string> = new Set(["0x36c78516", "0x0d58b1db"]);

/* Owners, roles, proxies, Safe owners and modules: the events that tell who may act. A protocol is a few rows. */

/** The change of who may act, as an event declares it. */
export interface ControlRow {
  readonly kind: "owner" | "role" | "control";
  /** The part of the contract that changes, in a few words. */
  readonly what: string;
  readonly values: Roles<"gains" | "loses" | "role">;
}

const announces =
  (kind: ControlRow["kind"]) =>
  (what: string, ...values: ControlRow["values"]): ControlRow => ({ kind, what, values });
const owner = announces("owner");
const role = announces("role");
const control = announces("control");

/** By the beginning of their topics. */
export const controlEvents: Readonly<Record<string, ControlRow>> = {
  // OwnershipTransferred(address,address), OwnerUpdated of solmate (the first is whoever asked for it), OwnerChanged,
  // OwnerSet, GovernanceTransferred, Compound's NewAdmin
  ...each(owner("handed over", "loses", "gains"), [
    ...["0x8be0079c53165914", "0x8292fce18fa69edf", "0xb532073b38c83145"],
    ...["0x342827c97908e5e2", "0x5f56bee8cffbe9a7", "0xf9ffabca9c8276e9"],
  ]),
  // OwnershipTransferStarted(address,address)
  "0x38d16b8cac22d99f": owner("offered", "loses", "gains"),
  // LogSetOwner(address) of ds-auth, NewOwner(address)
  ...each(owner("handed over", "gains"), ["0xce241d7ca1f669fe", "0x3edd90e7770f06fa"]),
  // SimpleAccountInitialized(address,address), of ERC-4337's sample account: the first is its EntryPoint
  "0x47e55c76e7a6f1fd": owner("handed over", null, "gains"),
  // OwnerNominated(address)
  "0x906a1c6bd7e3091e": owner("offered", "gains"),
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
  // SignMsg(bytes32): whoever asks by ERC-1271 takes it for the Safe's signature
  "0xe7f4675038f4f603": control("a message is signed in its name"),
  // ChangedMasterCopy(address)
  "0x75e41bc35ff1bf14": control("new implementation", "gains"),
};

/**
 * Functions that let somebody act for a contract or an account, by selector: which argument names him. An event of
 * {@link controlEvents} tells of it, or it is not explained.
 */
export const handovers: Readonly<Record<string, number>> = {
  // grantRole(bytes32,address), transferOwnership(address), setOwner(address)
  ...{ "0x2f2ff15d": 1, "0xf2fde38b": 0, "0x13af4035": 0 },
  // upgradeTo(address), upgradeToAndCall(address,bytes)
  ...{ "0x3659cfe6": 0, "0x4f1ef286": 0 },
  // Safe addOwnerWithThreshold(address,uint256), swapOwner(address,address,address), enableModule(address)
  ...{ "0x0d582f13": 0, "0xe318b52b": 2, "0x610b5925": 0 },
  // Safe setGuard(address), setFallbackHandler(address)
  ...{ "0xe19a9dd9": 0, "0xf08a0323": 0 },
};

/** DelegateChanged(address,address,address): who votes for an account. */
export const votes = "0x3134e8a2e6d97e92";

/**
 * Functions that hand over what the caller has in a contract, or will earn there, by selector: which argument gets it.
 * No event says whose it was.
 */
export const payouts: Readonly<Record<string, number>> = {
  // withdrawTo(address,uint256), withdrawFor(address,uint256), unstakeTo, redeemTo, claimTo, claimTo(address), exitTo(address)
  ...each(0, ["0x205c2878", "0xdb518db2", "0x93ec4db2", "0x2f7605fb", "0x1204fe0c", "0xa262f5f8", "0x57b148f4"]),
  // ERC-4626 withdraw(uint256,address,address), redeem of the same
  ...{ "0xb460af94": 1, "0xba087652": 1 },
  // Aave withdraw(address,uint256,address), claimAllRewards(address[],address), claimRewards(address[],uint256,address,address)
  ...{ "0x69328dec": 2, "0xbb492bf5": 1, "0x236300dc": 2 },
  // Comet withdrawTo(address,address,uint256), withdrawFrom(address,address,address,uint256)
  ...{ "0xc3b35a7e": 0, "0x26441318": 1 },
  // Curve set_rewards_receiver(address), claim_rewards(address,address)
  ...{ "0xbdf98116": 0, "0x9faceb1b": 1 },
  // setRewardsReceiver(address), setRewardReceiver, setRewardsRecipient, setRewardRecipient, setClaimer, set_claim_receiver
  ...{ "0x26195826": 0, "0xdae254dd": 0, "0x1a54259c": 0, "0xe521136f": 0, "0xcdfb5832": 0, "0xeaabc5b6": 0 },
  // setBeneficiary(address), setWithdrawalAddress(address)
  ...{ "0x1c31f710": 0, "0x21b8092e": 0 },
  // ERC-3525 approve(uint256,address,uint256), transferFrom(uint256,address,uint256)
  ...{ "0x8cb0a511": 1, "0x0f485c02": 1 },
  // Morpho Blue borrow, withdraw, withdrawCollateral, which name the receiver last
  ...{ "0x50d8cd4b": 8, "0x5c2bea49": 8, "0x8720316d": 7 },
  // Euler borrow(uint256,address), Silo borrow(uint256,address,address), Aave's gateway withdrawETH(address,uint256,address)
  ...{ "0x4b3fd148": 1, "0xd5164184": 1, "0x80500d20": 2 },
  // Uniswap v3 collect((uint256,address,uint128,uint128)), of a pool collect(address,int24,int24,uint128,uint128), and what
  // pays out what was collected there: unwrapWETH9(uint256,address), sweepToken(address,uint256,address)
  ...{ "0xfc6f7865": 1, "0x4f1eb3d8": 0, "0x49404b7c": 1, "0xdf2ab5bb": 2 },
  // MasterChef withdraw(uint256,uint256,address), harvest(uint256,address), withdrawAndHarvest, emergencyWithdraw
  ...{ "0x0ad58d2f": 2, "0x18fccc76": 1, "0xd1abb907": 2, "0x2f940c70": 1 },
  // Yearn withdraw(uint256,address,uint256), Lido claimWithdrawalsTo(uint256[],uint256[],address)
  ...{ "0xe63697c8": 1, "0x5e7eead9": 2 },
};
