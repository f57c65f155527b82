/**
 * A bot's loop: ask before every submit, send exactly what was proven, and decide by the error's tag
 * what to do when it may not be sent.
 */
import { Errors, Report } from "evm-preflight";
import { preflightActions } from "evm-preflight/viem";
import { createWalletClient, http, publicActions, type Address, type Hash, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { Token } from "./contracts.js";

/** What became of one round. */
export type Round = { readonly sent: Hash } | { readonly skipped: string; readonly tryAgain: boolean };

/** One round: pay `amount` of `token` to `to`, if that is what would happen. */
export const payOnce = async (
  url: string,
  key: Hex,
  token: Address,
  to: Address,
  amount: bigint,
  signal?: AbortSignal,
): Promise<Round> => {
  const account = privateKeyToAccount(key);
  const client = createWalletClient({ account, chain: foundry, transport: http(url) })
    .extend(publicActions)
    .extend(preflightActions({ deadline: "5 seconds" }));
  const report = await client.preflight(
    { from: account.address, to: token, abi: Token.abi, functionName: "transfer", args: [to, amount] },
    signal === undefined ? {} : { signal },
  );
  try {
    const { requests, ...clearance } = await client.ready(report);
    const signed = await account.signTransaction(requests[0]);
    if (!Report.matches({ requests, ...clearance }, [signed])) throw new Error("signed something else");
    return { sent: await client.sendRawTransaction({ serializedTransaction: signed }) };
  } catch (error) {
    if (error instanceof Errors.ExecutionReverted) return { skipped: error.message, tryAgain: false };
    if (error instanceof Errors.InsufficientFunds) return { skipped: error.message, tryAgain: true };
    if (error instanceof Errors.NotProven) return { skipped: error.message, tryAgain: true };
    throw error;
  }
};
