/**
 * An agent's wallet: a model may ask for any transaction, and every one passes a guard under its owner's policies. No other
 * way leads to the key, and the model is shown codes of ours alone, never the words of a contract.
 *
 *     PRIVATE_KEY=0x… npx tsx examples/agent.ts http://127.0.0.1:8545 0xRecipient 1000000000000000
 */
import { pathToFileURL } from "node:url";
import { Policy } from "evm-preflight";
import { guard, NotCleared, Tampered } from "evm-preflight/viem";
import { createWalletClient, http, type Address, type Chain, type Hash, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { getChainId } from "viem/actions";

/** What a model may ask for. */
export interface Wish {
  readonly to: Address;
  readonly value?: bigint;
  readonly data?: Hex;
}

/** What became of it. `changed`: it is sent, and is not what was cleared; look at it before anything else is sent. */
export type Outcome = { readonly sent: Hash; readonly changed: boolean } | { readonly refused: ReadonlyArray<string> };

/** All that a model gets: the tools, without the client and without the key. */
export interface AgentWallet {
  readonly address: Address;
  readonly send: (wish: Wish) => Promise<Outcome>;
}

/** An error and its causes: viem's verbs wrap what a guard rejects with. */
const causesOf = (error: unknown): ReadonlyArray<unknown> =>
  error instanceof Error ? [error, ...causesOf(error.cause)] : [];

/** A wallet for an agent; `policies` are its owner's, and what they do not allow is never signed. */
export const agentWallet = (
  url: string,
  chain: Chain,
  key: Hex,
  policies: ReadonlyArray<Policy.Policy>,
): AgentWallet => {
  const account = privateKeyToAccount(key);
  // cautions and signatures are refused by default: nobody is there to be asked
  const client = guard(createWalletClient({ account, chain, transport: http(url) }), { policies });
  return {
    address: account.address,
    send: async ({ to, value = 0n, data = "0x" }) => {
      try {
        return { sent: await client.sendTransaction({ to, value, data }), changed: false };
      } catch (error) {
        for (const cause of causesOf(error)) {
          if (cause instanceof Tampered) return { sent: cause.hash, changed: true };
          if (cause instanceof NotCleared) return { refused: cause.data.codes };
        }
        // whether it was sent is not known: no model should try again
        throw error;
      }
    },
  };
};

const main = async () => {
  const [url = "http://127.0.0.1:8545", to, value = "0"] = process.argv.slice(2);
  const key = process.env["PRIVATE_KEY"];
  if (to === undefined || key === undefined) {
    console.error(
      "An agent's transfer, sent if its owner's policies allow it. Usage: PRIVATE_KEY=0x… npx tsx agent.ts URL RECIPIENT WEI",
    );
    process.exitCode = 64;
    return;
  }
  const id = await getChainId(createWalletClient({ transport: http(url) }));
  const currency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chain = { id, name: `chain ${id}`, nativeCurrency: currency, rpcUrls: { default: { http: [url] } } };
  const wallet = agentWallet(url, chain, key as Hex, [
    Policy.maxSpent("native", 10n ** 16n),
    Policy.maxFee(10n ** 16n),
    Policy.noNewApprovals,
    Policy.denyDelegated,
  ]);
  console.log(await wallet.send({ to: to as Address, value: BigInt(value) }));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
