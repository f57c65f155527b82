/**
 * The parameters of a chain, behind one service: the block tag to ask, the block time, the rules of the base fee, the
 * gas cap of one transaction, and the fees beyond gas.
 *
 * Add or change one chain with {@link layerWith}, or replace the whole service. The parameters of OP-stack chains are
 * read from the chain where it has them; those here are the starting point.
 */
import * as Context from "effect/Context";
import * as Layer from "effect/Layer";
import type { Chain } from "./chains/rules.js";
import { lookup } from "./chains/table.js";

export type { Chain } from "./chains/rules.js";
export { lookup } from "./chains/table.js";
export type { FeeModel } from "./chains/feeModel.js";
export { readAddress, readBool, readUint256 } from "./witness/answers.js";
export type { WitnessAnswer } from "./witness/answers.js";

/** The chains in use; the built-in table unless replaced. */
export const Chains: Context.Reference<typeof lookup> = Context.Reference("evm-preflight/Chains", {
  defaultValue: () => lookup,
});

/**
 * The built-in table with one chain described by you, as one object. A fee model of your own:
 *
 * ```ts
 * const price = Step.staticCall(oracle, "0x5a3b7e42")
 * Chains.layerWith(5000, {
 *   feeModel: {
 *     name: "per byte",
 *     queries: () => [price],
 *     decide: ({ unsigned }, _gas, view) => {
 *       const weiPerByte = Chains.readUint256(view.call(price))
 *       if (weiPerByte === null) return { unreadable: "the oracle did not answer" }
 *       const l1Fee = weiPerByte * BigInt((unsigned.length - 2) / 2)
 *       return { fees: { l1Fee, l1FeeAtMost: l1Fee * 2n, operatorFee: 0n, operatorFeeAtMost: 0n } }
 *     },
 *   },
 * })
 * ```
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Chains } from "evm-preflight";
 *
 * const chains = await Effect.service(Chains.Chains).pipe(
 *   Effect.provide(Chains.layerWith(31337, { name: "our devnet", blockTimeMs: 2_000 })),
 *   Effect.runPromise,
 * );
 * console.log(chains(31337).name, chains(1).blockTimeMs); // our devnet 12000
 * ```
 */
export const layerWith = (chainId: number, chain: Partial<Chain>): Layer.Layer<never> =>
  Layer.succeed(Chains, (id) =>
    id === chainId ? { ...lookup(chainId), paceKnown: true, known: true, ...chain } : lookup(id),
  );
