/** Movements of tokens: the events that tell of them, and the functions that ask for them. A standard is a row. */
import { each } from "../../primitives/record.js";
import type { Roles } from "../words.js";

const wraps = { standard: "erc20", topics: 2, wraps: true } as const;

/** Movements by the beginning of the topics of their events; an account that is not named is nobody. */
export const movementEvents: Readonly<
  Record<
    string,
    {
      readonly standard: "erc20" | "erc1155" | "erc6909";
      readonly values: Roles<"from" | "to" | "id" | "amount" | "ids" | "amounts">;
      /** How many topics it has; absent = any number, and with all of them indexed it is one ERC-721. */
      readonly topics?: number;
      /** True for a WETH's: nothing may stand behind the values, for other contracts' events are called the same. */
      readonly wraps?: boolean;
    }
  >
> = {
  // Transfer(address,address,uint256)
  "0xddf252ad1be2c89b": { standard: "erc20", values: ["from", "to", "amount"] },
  // TransferSingle(address,address,address,uint256,uint256)
  "0xc3d58168c5ae7397": { standard: "erc1155", topics: 4, values: [null, "from", "to", "id", "amount"] },
  // TransferBatch(address,address,address,uint256[],uint256[])
  "0x4a39dc06d4c0dbc6": { standard: "erc1155", topics: 4, values: [null, "from", "to", "ids", "amounts"] },
  // Transfer(address,address,address,uint256,uint256), ERC-6909: whoever asks for it is the one value not indexed but the amount
  "0x1b3d7edb2e9c0b0e": { standard: "erc6909", topics: 4, values: ["from", "to", "id", null, "amount"] },
  // Deposit(address,uint256), WETH9
  "0xe1fffcc4923d04b5": { ...wraps, values: ["to", "amount"] },
  // Withdrawal(address,uint256), WETH9
  "0x7fcf532c15f0a6db": { ...wraps, values: ["from", "amount"] },
};

/**
 * Which arguments of a function are whose tokens move, who gets them, how many of an ERC-20 (or the id of an ERC-721), and
 * the id, or the list of ids, of other standards, by their selectors; no `from` = the caller's.
 */
export const moves: Readonly<
  Record<
    string,
    {
      readonly from?: number;
      readonly to: number;
      readonly amount?: number;
      readonly id?: number;
      readonly ids?: number;
    }
  >
> = {
  // transfer(address,uint256), transferFrom(address,address,uint256)
  "0xa9059cbb": { to: 0, amount: 1 },
  "0x23b872dd": { from: 0, to: 1, amount: 2 },
  // ERC-1363 transferAndCall(address,uint256), transferFromAndCall(address,address,uint256), and both with data
  ...each({ to: 0, amount: 1 }, ["0x1296ee62", "0x4000aea0"]),
  ...each({ from: 0, to: 1, amount: 2 }, ["0xd8fbe994", "0xc1d34b89"]),
  // ERC-6909 transfer(address,uint256,uint256), transferFrom(address,address,uint256,uint256)
  "0x095bcdb6": { to: 0, id: 1 },
  "0xfe99049a": { from: 0, to: 1, id: 2 },
  // safeTransferFrom of ERC-721, with and without data, and of ERC-1155, and its safeBatchTransferFrom
  ...each({ from: 0, to: 1 }, ["0x42842e0e", "0xb88d4fde"]),
  "0xf242432a": { from: 0, to: 1, id: 2 },
  "0x2eb2c2d6": { from: 0, to: 1, ids: 2 },
};

/* Events that tell neither of a right nor of a movement, but of what stands beside them, by the beginning of their topics. */

/** Withdrawn(address,address,uint256), of a deposit's account and to whom. */
const withdrawn = "0xd1c19fbcd4551a5e";
/** Aave's Mint(address,address,uint256,uint256,uint256) and Burn of the same shape: amount, interest, index. */
const [aaveMint, aaveBurn] = ["0x458f5fa412d0f69b", "0x4cf25bc1d991c175"] as const;

/** Sums that are paid out of a deposit, or that an account has earned already. */
export const sumEvents: Readonly<
  Record<string, { readonly what: "payout" | "interest"; readonly values: Roles<"account" | "to" | "amount"> }>
> = {
  [withdrawn]: { what: "payout", values: ["account", "to", "amount"] },
  [aaveMint]: { what: "interest", values: [null, "account", null, "amount"] },
  [aaveBurn]: { what: "interest", values: ["account", null, null, "amount"] },
};

/** Events that name two accounts and give neither a right: trades, deposits, loans, and calls that an account makes for its owner. */
export const harmless: ReadonlySet<string> = new Set([
  // Uniswap v2: Swap(address,uint256,uint256,uint256,uint256,address), Burn(address,uint256,uint256,address)
  ...["0xd78ad95fa46c994b", "0xdccd412f0b125281"],
  // Uniswap v3: Swap(address,address,int256,int256,uint160,uint128,int24)
  "0xc42079f94a6350d7",
  // Uniswap v3: Mint(address,address,int24,int24,uint128,uint256,uint256), Collect(address,address,int24,int24,uint128,uint128)
  ...["0x7a53080ba414158b", "0x70935338e6977545"],
  // ERC-4626: Deposit(address,address,uint256,uint256), Withdraw(address,address,address,uint256,uint256)
  ...["0xdcbc1c05240f31ff", "0xfbde797d201c681b"],
  // Aave: Supply(address,address,address,uint256,uint16), Withdraw(address,address,address,uint256)
  ...["0x2b627736bca15cd5", "0x3115d1449a7b732c"],
  // Aave: Borrow(address,address,address,uint256,uint8,uint256,uint16), Repay(address,address,address,uint256,bool)
  ...["0xb3d084820fb1a9de", "0xa534c8dbe71f871f"],
  // Aave's tokens: Mint and Burn(address,address,uint256,uint256,uint256), BalanceTransfer(address,address,uint256,uint256)
  ...[aaveMint, aaveBurn, "0x4beccb90f994c31a"],
  // ERC-777: Sent(address,address,address,uint256,bytes,bytes), Minted and Burned(address,address,uint256,bytes,bytes)
  ...["0x06b541ddaa720db2", "0x2fe5be0146f74c5b", "0xa78a9be3a7b862d2"],
  // Aave: ReserveDataUpdated(address,uint256,uint256,uint256,uint256,uint256); Balancer: Swap(bytes32,address,address,uint256,uint256)
  ...["0x804c9b842b2748a2", "0x2170c741c41531ae"],
  // SafeL2: SafeMultiSigTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes,bytes)
  "0x66753cd2356569ee",
  // ERC-4337: UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256), AccountDeployed(bytes32,address,address,address)
  ...["0x49628fd1471006c1", "0xd51a9c61267aa619"],
]);

/** Events that give a right, and name nobody beside the sender, or the sender not at all. */
export const granting: ReadonlySet<string> = new Set([
  // Safe: ApproveHash(bytes32,address); CoW: PreSignature(address,bytes,bool); Seaport: OrderValidated(bytes32,address,address)
  ...["0xf2a0eb156472d144", "0x01bf7c8b0ca55dee", "0xfde361574a066b44"],
  // ERC-3525: ApprovalValue(uint256,address,uint256), TransferValue(uint256,uint256,uint256), of which an id is another's
  ...["0x621b050de0ad08b5", "0x0b2aac84f3ec9569"],
  // MoonCats: AdoptionOffered(bytes5,uint256,address), to nobody for anybody; Gnosis' old multisig: Confirmation(address,uint256)
  ...["0x175ebfc78c5d74e6", "0x4a504a94899432a9"],
  // ENS: Transfer(bytes32,address), NewOwner(bytes32,bytes32,address); ERC-4907: UpdateUser(uint256,address,uint64)
  ...["0xd4735d920b0f8749", "0xce0457fe73731f82", "0x4e06b4e7000e6590"],
]);

/** Events of those who keep deposits. */
export const keeping: ReadonlySet<string> = new Set([
  // ERC-4337: Deposited(address,uint256), Withdrawn(address,address,uint256)
  ...["0x2da466a7b24304f4", withdrawn],
  // UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256), BeforeExecution()
  ...["0x49628fd1471006c1", "0xbb47ee3e183a558b"],
  // StakeLocked(address,uint256,uint256), StakeUnlocked(address,uint256), StakeWithdrawn(address,address,uint256)
  ...["0xa5ae833d0bb1dcd6", "0xfa9b3c14cc825c41", "0xb7c918e0e249f999"],
  // GSN's hub: Deposited(address,address,uint256)
  "0x8752a472e571a816",
]);

/** Events whose data are numbers, some as long as an address: Swap of Uniswap v3, of Uniswap v4, of PancakeSwap v3. */
export const numbered: ReadonlySet<string> = new Set([
  "0xc42079f94a6350d7",
  "0x40e9cecb9f5f1f1c",
  "0x19b47279256b2a23",
]);
