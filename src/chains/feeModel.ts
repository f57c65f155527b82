/**
 * How a chain charges beyond gas × price, as one object: what the witness reads inside the simulated
 * block, and what follows from it. Both halves are pure. {@link Chains.layerWith} takes one for a chain
 * of the caller's own.
 */
import type { Hex } from "../primitives/hex.js";
import type { Query } from "../witness/queries.js";
import type { View } from "../witness/view.js";

/** The transaction that fees are computed for. */
export interface FeeSubject {
  /** Unsigned EIP-2718 bytes: of the very transaction in a proof, a little longer ones in a scan. */
  readonly unsigned: Hex;
  /** The gas limit of the transaction, gas. */
  readonly gasLimit: bigint;
}

/** Fees beyond gas × price, wei. `…AtMost` is what the payer must hold for them. */
export interface ExtraFees {
  /** What publishing on L1 is expected to cost, wei. */
  readonly l1Fee: bigint;
  /** The most that publishing on L1 may cost until inclusion, wei. */
  readonly l1FeeAtMost: bigint;
  /** What the chain's operator is expected to charge, wei. */
  readonly operatorFee: bigint;
  /** The most that the operator may charge at the gas limit, wei. */
  readonly operatorFeeAtMost: bigint;
}

/** What a model decides about one transaction. */
export type FeeDecision =
  | {
      readonly fees: ExtraFees;
      /** The L1 fee by your own formula, where it differs from the chain's answer; wei. */
      readonly disagrees?: { readonly chain: bigint; readonly own: bigint };
      /** Gas that the data takes from the block's limit, where the chain limits it. */
      readonly dataGas?: bigint;
    }
  /** The chain charges, but did not say how much: never zero. In words. */
  | { readonly unreadable: string };

/** A fee model. */
export interface FeeModel {
  /** The model's name, for people. */
  readonly name: string;
  /** What the witness reads for these transactions. Calls go out with the gas cap that they carry. */
  readonly queries: (subjects: ReadonlyArray<FeeSubject>) => ReadonlyArray<Query>;
  /**
   * What one of them is charged, by what the witness saw. `gas.used` = what the simulation used, null where it is not known;
   * `gas.limit` = the limit to sign; `horizonSeconds` = how long the fees shall hold.
   */
  readonly decide: (
    subject: FeeSubject,
    gas: { readonly used: bigint | null; readonly limit: bigint },
    view: View,
    horizonSeconds: number,
  ) => FeeDecision;
}

/** No fees beyond gas × price. */
export const noExtraFees: ExtraFees = { l1Fee: 0n, l1FeeAtMost: 0n, operatorFee: 0n, operatorFeeAtMost: 0n };

/** Chains that charge gas × price and nothing else, and those whose L1 cost is inside the gas (Arbitrum). */
export const gasOnly = (name: string): FeeModel => ({
  name,
  queries: () => [],
  decide: () => ({ fees: noExtraFees }),
});
