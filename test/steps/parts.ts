/** Small parts for the tests of single steps. */
import { unknownChain, type Chain } from "../../src/Chains.js";
import { Address, Hex } from "../../src/primitives/hex.js";
import type { Fee, Gas, Outcome } from "../../src/report/parts.js";
import type { Transaction } from "../../src/Transaction.js";

export const alice = Address.make("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");
export const bob = Address.make("0x70997970c51812dc3a010c7d01b50e0d17dc79c8");
export const token = Address.make("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");

export const transaction = (changed: Partial<Transaction> = {}): Transaction => ({
  from: alice,
  to: bob,
  data: Hex.make("0x"),
  value: 0n,
  chainId: null,
  gas: null,
  nonce: null,
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
  gasPrice: null,
  accessList: null,
  authorizationList: null,
  blobVersionedHashes: null,
  maxFeePerBlobGas: null,
  item: null,
  ...changed,
});

export const outcome = (changed: Partial<Outcome> = {}): Outcome => ({
  status: "success",
  gasUsed: 50_000n,
  maxUsedGas: 50_000n,
  returnData: Hex.make("0x"),
  result: null,
  logs: [],
  revert: null,
  failure: null,
  evidence: "measured",
  ...changed,
});

export const gas = (limit: bigint | null, used: bigint | null = limit): Gas => ({
  estimate: null,
  used,
  peak: used,
  limit,
  cap: 16_777_216n,
  fixed: false,
  evidence: "measured",
});

export const fee = (maxFeePerGas: bigint | null, changed: Partial<Fee> = {}): Fee => ({
  baseFeePerGas: 1n,
  maxFeePerGas,
  maxPriorityFeePerGas: 0n,
  gasPrice: null,
  tipSource: "minimum",
  horizonSeconds: 60,
  evidence: "measured",
  ...changed,
});

export const chain = (changed: Partial<Chain> = {}): Chain => ({
  ...unknownChain,
  known: true,
  txGasCapKnown: true,
  ...changed,
});
