/** A wagmi connector whose wallet is given only what was cleared. */
import { guardProvider, type GuardOptions } from "evm-preflight/promise";
import type { CreateConnectorFn } from "wagmi";

interface Wallet {
  request(args: never): Promise<unknown>;
}

/**
 * The same connector with its provider behind a guard, so that `useSendTransaction`, `useWriteContract` and `useSendCalls`
 * work as they are. They fail with the guard's error as `cause` where the report gives no clearance.
 */
export const guarded =
  (connectorOf: CreateConnectorFn, options: GuardOptions): CreateConnectorFn =>
  (config) => {
    const connector = connectorOf(config);
    // one guard for each wallet: it remembers what it cleared
    const guards = new WeakMap<object, Wallet>();
    return {
      ...connector,
      getProvider: async (parameters) => {
        const wallet = (await connector.getProvider(parameters)) as Wallet | undefined;
        if (wallet === undefined) return undefined;
        const guard = guards.get(wallet) ?? guardProvider(wallet, options);
        guards.set(wallet, guard);
        return guard;
      },
    };
  };
