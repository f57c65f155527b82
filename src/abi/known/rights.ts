/** Rights over tokens: the events that tell of them, and the functions that give them. A protocol is a few rows. */
import type { Roles } from "../words.js";

/** Whose rules a right follows. */
export type RightStandard =
  | "erc20"
  | "erc721"
  | "erc6909"
  | "erc777"
  | "permit2"
  | "aaveDebt"
  | "morpho"
  | "cryptopunks";

/** `open`: an amount or an id, where the shape leaves open which. `all`: everything or nothing, as an amount. */
type Role = "owner" | "spender" | "token" | "id" | "amount" | "flag" | "all" | "expiration" | "open";

/** What an event or a call says of a right. */
export interface RightRow {
  readonly standard: RightStandard;
  readonly values: Roles<Role>;
  /** Where no value says it: an amount, or 1 and 0. */
  readonly said: bigint;
}

const says =
  (standard: RightStandard, said = 0n) =>
  (...values: Roles<Role>): RightRow => ({ standard, values, said });

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

/** A function that gives rights; who gives is the caller, and what is given the contract's own, where no value says it. */
export interface GrantRow extends RightRow {
  /** Whether the contract that is called gets the right, and not somebody whom a value names. */
  readonly isTaken?: boolean;
  /** A signed permit: anybody may have used it before. */
  readonly isPermit?: boolean;
  /** Permit2's rights in a list, behind the owner: what each item of four words says. */
  readonly isList?: boolean;
}

/** Everything, as an amount. */
export const everything = 2n ** 256n - 1n;
const permit = { isPermit: true } as const;
const taken = { ...permit, isTaken: true } as const;

/** By their selectors. */
export const grants: Readonly<Record<string, GrantRow>> = {
  // approve(address,uint256)
  "0x095ea7b3": erc20("spender", "open"),
  // increaseAllowance(address,uint256), increaseApproval(address,uint256)
  "0x39509351": erc20("spender", "amount"),
  "0xd73dd623": erc20("spender", "amount"),
  // decreaseAllowance(address,uint256), decreaseApproval(address,uint256)
  "0xa457c2d7": erc20("spender", null),
  "0x66188463": erc20("spender", null),
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
  // Comet allow(manager,isAllowed)
  "0x110496e5": erc20("spender", "all"),
  // CryptoPunks offerPunkForSaleToAddress(index,least,to), offerPunkForSale(index,least): to anybody
  "0xbf31196f": says("cryptopunks", 1n)("id", null, "spender"),
  "0xc44193c3": says("cryptopunks", 1n)("id", null),
  // EIP-2612 permit(owner,spender,value,deadline,v,r,s), permit(owner,spender,value,deadline,signature)
  "0xd505accf": { ...erc20("owner", "spender", "amount"), ...permit },
  "0x9fd5a6cf": { ...erc20("owner", "spender", "amount"), ...permit },
  // DAI permit(holder,spender,nonce,expiry,allowed,v,r,s)
  "0x8fcbaf0c": { ...erc20("owner", "spender", null, null, "all"), ...permit },
  // selfPermit(token,value,deadline,v,r,s), selfPermitIfNecessary
  "0xf3995c67": { ...erc20("token", "amount"), ...taken },
  "0xc2e3140a": { ...erc20("token", "amount"), ...taken },
  // selfPermitAllowed(token,nonce,expiry,v,r,s), selfPermitAllowedIfNecessary
  "0x4659a494": { ...says("erc20", everything)("token", null), ...taken },
  "0xa4a78f0c": { ...says("erc20", everything)("token", null), ...taken },
  // Permit2 approve(token,spender,amount,expiration)
  "0x87517c45": ofPermit2("token", "spender", "amount", "expiration"),
  // Permit2 permit(owner,((token,amount,expiration,nonce),spender,sigDeadline),signature)
  "0x2b67b570": { ...ofPermit2("owner", "token", "amount", "expiration", null, "spender"), ...permit },
  // Permit2 permit(owner,((token,amount,expiration,nonce)[],spender,sigDeadline),signature)
  "0x2a2d80d1": { ...ofPermit2("token", "amount", "expiration", null), ...permit, isList: true },
};

/** Permit2's transferFrom(address,address,uint160,address), and of a list: whoever is called by them is one. */
export const taking: ReadonlySet<string> = new Set(["0x36c78516", "0x0d58b1db"]);
