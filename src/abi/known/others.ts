/** Events that tell neither of a right nor of a movement, but of what stands beside them, by the beginning of their topics. */

/** Aave's Mint(address,address,uint256,uint256,uint256) and Burn of the same shape: amount, interest, index. */
export const [aaveMint, aaveBurn] = ["0x458f5fa412d0f69b", "0x4cf25bc1d991c175"] as const;

/** Events that name two accounts and give neither a right: trades, deposits, loans. */
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
]);

/** Events that give a right, and name nobody beside the sender, or the sender not at all. */
export const granting: ReadonlySet<string> = new Set([
  // Safe: ApproveHash(bytes32,address); CoW: PreSignature(address,bytes,bool); Seaport: OrderValidated(bytes32,address,address)
  ...["0xf2a0eb156472d144", "0x01bf7c8b0ca55dee", "0xfde361574a066b44"],
  // ENS: Transfer(bytes32,address), NewOwner(bytes32,bytes32,address); ERC-4907: UpdateUser(uint256,address,uint64)
  ...["0xd4735d920b0f8749", "0xce0457fe73731f82", "0x4e06b4e7000e6590"],
]);

/** Withdrawn(address,address,uint256), of an account and to whom */
export const withdrawn = "0xd1c19fbcd4551a5e";

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
