/** The answers of one round, whichever request gave them, as far as steps judge by them: each reads its own part. */
import type { Chain } from "../../Chains.js";
import type { FeeSubject } from "../../chains/feeModel.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { Nonce } from "../../report/parts.js";
import type { View } from "../../witness/view.js";
import type { AskResult } from "./askResult.js";
import type { Pooled, Replacing } from "./pool.js";
import type { Quote } from "./quote.js";

/** The calls inside one transaction, as a tracer told them, and whom of those that did not do as asked a read showed to be a token. */
export interface CallTrace {
  readonly trace: unknown;
  readonly tokens: ReadonlySet<Address>;
}

/** See above; null = not asked, or not known. */
export interface Facts {
  /** Answers of `eth_getCode` by account. */
  readonly codes: ReadonlyMap<Address, AskResult<Hex>>;
  /** The node's transaction counts by signer: both of each. */
  readonly counts: ReadonlyMap<Address, Readonly<Record<"latest" | "pending", AskResult<number>>>>;
  /** The signers' transactions in the node's pool, where it was asked. */
  readonly pools: ReadonlyMap<Address, Pooled>;
  /** The calls inside the first transactions, one after the other, as a tracer told them; absent = nobody asked one. */
  readonly traces?: ReadonlyArray<CallTrace>;
  /** The estimate of the first transaction. */
  readonly estimate: AskResult<bigint> | null;
  /** The subject of the witness's L1 fee queries by place in the bundle; null = the bytes could not be made. */
  readonly subjectOf: (entry: { readonly index: number }) => FeeSubject | null;
  /** The witness's views before the user's calls and after them. */
  readonly before: View;
  readonly after: View;
  /** The state that each call met, as far as the witness looked between them. */
  readonly met: ReadonlyArray<View>;
  /** The witness's readings at the chain's fee oracles. */
  readonly oracles: View;
  /** Native balances before the bundle, wei: never from a run in which they were pretended. */
  readonly balanceOf: (account: Address) => bigint | null;
  /** As the rules in force have it. */
  readonly chain: Chain;
  /** Gas that a case of the bundle had in the run, by its place; null = there was none. */
  readonly granted: (index: number) => bigint | null;
  /** Gas of a whole block. */
  readonly blockGasLimit: bigint | null;
  readonly quote: Quote;
  readonly replacing: Replacing;
  /** Counts of an account's transactions, mined and in flight. */
  readonly flying: (account: Address) => Pick<Nonce, "latest" | "inFlight">;
  /** Seconds for which fees shall hold. */
  readonly horizonSeconds: number;
}
