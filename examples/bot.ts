/**
 * A bot's loop: ask once, keep the answer true from head to head until it is time, deliver on `Fresh`, and decide by the
 * error's tag what to do when it may not be sent.
 */
import { Errors, type Eth } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import type { Address, Hash, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Token } from "./contracts.js";

/** What became of one round. */
export type Round = { readonly sent: Hash } | { readonly skipped: string; readonly tryAgain: boolean };

/** When a bot pays, and what stops it. */
export interface Timing {
  /** Asked at every head at which the payment would do what it did when it was proven; at once when left out. */
  readonly isTime?: (head: Eth.Head) => boolean;
  readonly signal?: AbortSignal;
}

/** One round: pay `amount` of `token` to `to`, if that is what would happen when it is time. */
export const payOnce = async (
  url: string,
  key: Hex,
  token: Address,
  to: Address,
  amount: bigint,
  { isTime = () => true, signal }: Timing = {},
): Promise<Round> => {
  const account = privateKeyToAccount(key);
  const until = { signal };
  await using preflight = createPreflight({ url }, { deadline: "5 seconds", heads: { pollMs: 500 } });
  const payment = {
    from: account.address,
    to: token,
    abi: Token.abi,
    functionName: "transfer",
    args: [to, amount],
  } as const;
  try {
    const report = await preflight.run(payment, until);
    for await (const state of preflight.watch(report, until)) {
      if (state._tag === "Lost") throw state.reason;
      if (state._tag === "Moved" || !isTime(state.head)) continue;
      const sign = preflight.deliver((request) => account.signTransaction(request));
      const { sent } = await sign(payment, until);
      return { sent: sent[0]?.hash ?? "0x" };
    }
    return { skipped: "no head came", tryAgain: true };
  } catch (error) {
    if (error instanceof Errors.ExecutionReverted) return { skipped: error.message, tryAgain: false };
    if (error instanceof Errors.InsufficientFunds) return { skipped: error.message, tryAgain: true };
    if (error instanceof Errors.NotProven) return { skipped: error.message, tryAgain: true };
    throw error;
  }
};
