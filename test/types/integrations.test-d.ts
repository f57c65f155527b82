/** What other libraries hand out: providers as ethers describes them, clients as wagmi's hooks return them. */
import { createPreflight } from "evm-preflight/promise";
import { preflightActions } from "evm-preflight/viem";
import type { Account, Chain, Client, PublicClient, Transport, WalletClient } from "viem";
import { expectTypeOf, it } from "vitest";
import type { BundleReport } from "../../src/Report.js";

/** As ethers 6 writes it. */
interface Eip1193Provider {
  request(request: { method: string; params?: Array<unknown> | Record<string, unknown> }): Promise<unknown>;
}
/** As ethers 6 writes `JsonRpcApiProvider.send`. */
interface JsonRpcSender {
  send(method: string, params: Array<unknown> | Record<string, unknown>): Promise<unknown>;
}
declare const injected: Eip1193Provider;
declare const sender: JsonRpcSender;
/** `useConnectorClient`, `usePublicClient` and `useWalletClient` return these. */
declare const connector: Client<Transport, Chain, Account>;
declare const reader: PublicClient<Transport, Chain>;
declare const wallet: WalletClient<Transport, Chain, Account>;

const transfer = {
  from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  value: 1n,
} as const;

it("createPreflight accepts the providers of ethers", () => {
  expectTypeOf(createPreflight({ provider: injected }).run(transfer)).toEqualTypeOf<Promise<BundleReport>>();
  const provider = {
    request: ({ method, params }: { readonly method: string; readonly params: Array<unknown> }) =>
      sender.send(method, params),
  };
  expectTypeOf(createPreflight({ provider }).run(transfer)).toEqualTypeOf<Promise<BundleReport>>();
});

it("preflightActions extend the clients of wagmi", () => {
  expectTypeOf(connector.extend(preflightActions()).preflight(transfer)).toEqualTypeOf<Promise<BundleReport>>();
  expectTypeOf(reader.extend(preflightActions()).preflight(transfer)).toEqualTypeOf<Promise<BundleReport>>();
  expectTypeOf(wallet.extend(preflightActions()).preflight(transfer)).toEqualTypeOf<Promise<BundleReport>>();
});

it("requests fit wallets as they are", async () => {
  const client = wallet.extend(preflightActions());
  const { requests } = await client.ready(await client.preflight(transfer));
  expectTypeOf(client.sendTransaction(requests[0])).resolves.toEqualTypeOf<`0x${string}`>();
});
