/** A node on which the first account deploys and sends; the nonce is read anew each time. */
import { createPublicClient, createWalletClient, encodeDeployData, getContractAddress, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Address } from "../../rooms/primitives.js";
import type { Scene } from "../../witness/scene.js";
import { accounts, rawRequest } from "../anvil.js";

export const sceneOn = (url: string, chainId: number, mine: () => Promise<unknown>): Scene => {
  const account = privateKeyToAccount(accounts[0].privateKey);
  const chain = {
    id: chainId,
    name: "test",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  };
  const wallet = createWalletClient({ account, chain, transport: http(url) });
  const client = createPublicClient({ chain, transport: http(url) });
  const fees = { gas: 16_000_000n, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1n };
  const next = () => client.getTransactionCount({ address: account.address, blockTag: "latest" });
  return {
    name: "test",
    url,
    stop: () => Promise.resolve(),
    deploy: async ({ abi, bytecode }, args = []) => {
      const nonce = await next();
      await wallet.sendTransaction({ data: encodeDeployData({ abi, bytecode, args: [...args] }), nonce, ...fees });
      await mine();
      const address = getContractAddress({ from: account.address, nonce: BigInt(nonce) });
      if ((await rawRequest(url, "eth_getCode", [address, "latest"])) === "0x") throw new Error("not deployed");
      return address.toLowerCase() as Address;
    },
    send: async (...calls) => {
      let nonce = await next();
      for (const { to, data, value = 0n } of calls)
        await wallet.sendTransaction({ to, data, value, nonce: nonce++, ...fees });
      await mine();
    },
  };
};
