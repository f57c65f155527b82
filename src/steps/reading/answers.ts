/** What the answers of one round say, whichever request said it, as far as the steps judge by it: each reads its own part. */
import type { Chain } from "../../Chains.js";
import type { FeeSubject } from "../../chains/feeModel.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { Nonce } from "../../report/parts.js";
import type { View } from "../../witness/view.js";
import type { AskResult } from "./askResult.js";
import type { Pooled, Replacing } from "./pool.js";
import type { Quote } from "./quote.js";

/** Both counts of one signer. */
export type Counts = Readonly<Record<"latest" | "pending", AskResult<number>>>;

/** See above; null = not asked, or not known. */
export interface Facts {
  /** What `eth_getCode` answered for each account. */
  readonly codes: ReadonlyMap<Address, AskResult<Hex>>;
  /** What the node counts, by signer. */
  readonly counts: ReadonlyMap<Address, Counts>;
  /** What the node's pool holds of the signers, where it was asked. */
  readonly pools: ReadonlyMap<Address, Pooled>;
  /** Of the first transaction. */
  readonly estimate: AskResult<bigint> | null;
  /** What the witness was asked L1 fees about, by place in the bundle; null = the bytes could not be made. */
  readonly subjectOf: (entry: { readonly index: number }) => FeeSubject | null;
  /** What the witness saw before the user's calls, and after them. */
  readonly before: View;
  readonly after: View;
  /** What each of them met, as far as it looked between them. */
  readonly met: ReadonlyArray<View>;
  /** What it read at the chain's fee oracles. */
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
  /** What is counted of an account as mined, and in flight. */
  readonly flying: (account: Address) => Pick<Nonce, "latest" | "inFlight">;
  /** Seconds for which fees shall hold. */
  readonly horizonSeconds: number;
}
