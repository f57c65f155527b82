/**
 * A page with wagmi whose every send passes a guard. Its node is `?node=URL`, http://127.0.0.1:8545 when left out.
 *
 *     npx esbuild examples/wagmi/main.tsx --bundle --format=esm --jsx=automatic --outdir=examples/wagmi --servedir=examples/wagmi
 */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { Policy } from "evm-preflight";
import type { GuardOptions } from "evm-preflight/promise";
import { createRoot } from "react-dom/client";
import { erc20Abi, type Address } from "viem";
import {
  createConfig,
  http,
  injected,
  useConnect,
  useConnection,
  useConnectors,
  useSendCalls,
  useSendTransaction,
  useWriteContract,
  WagmiProvider,
} from "wagmi";
import { foundry } from "wagmi/chains";
import { guarded } from "./guarded.js";

const asked = new URLSearchParams(location.search);
const url = asked.get("node") ?? "http://127.0.0.1:8545";
const token = (asked.get("token") ?? "0x5FbDB2315678afecb367f032d93F642f64180aa3") as Address;
const receiver = (asked.get("to") ?? "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC") as Address;

const options: GuardOptions = {
  node: { url },
  policies: [Policy.noUnlimitedApprovals],
  onCaution: ({ because }) => confirm(`${because}. Send it all the same?`),
};

const config = createConfig({
  chains: [foundry],
  connectors: [guarded(injected(), options)],
  transports: { [foundry.id]: http(url) },
});

/** What became of a send: its hash or id, or why not, the guard's own error among the causes. */
const textOf = (data: unknown, error: unknown): string => {
  const errors: Array<Error> = [];
  for (let at = error; at instanceof Error; at = at.cause) errors.push(at);
  const own = errors.find(({ name }) => name === "NotCleared") ?? errors[0];
  if (own !== undefined) return `${own.name}: ${own.message}`;
  return data === undefined ? "" : `sent ${typeof data === "string" ? data : JSON.stringify(data)}`;
};

const Sends = () => {
  const transaction = useSendTransaction();
  const write = useWriteContract();
  const calls = useSendCalls();
  const pay = (value: bigint) => transaction.mutate({ to: receiver, value });
  const approve = (amount: bigint) =>
    write.mutate({ abi: erc20Abi, address: token, functionName: "approve", args: [receiver, amount] });
  const batch = (value: bigint) => calls.mutate({ calls: [{ to: receiver, value }] });
  return (
    <>
      <button id="pay" onClick={() => pay(1n)}>
        Pay 1 wei
      </button>
      <button id="overpay" onClick={() => pay(10n ** 30n)}>
        Pay more than there is
      </button>
      <output id="transaction">{textOf(transaction.data, transaction.error)}</output>
      <button id="approve" onClick={() => approve(5n)}>
        Approve 5 units
      </button>
      <button id="approveAll" onClick={() => approve(2n ** 256n - 1n)}>
        Approve everything
      </button>
      <output id="write">{textOf(write.data, write.error)}</output>
      <button id="batch" onClick={() => batch(1n)}>
        Pay 1 wei in a batch
      </button>
      <button id="overbatch" onClick={() => batch(10n ** 30n)}>
        Pay more than there is in a batch
      </button>
      <output id="calls">{textOf(calls.data, calls.error)}</output>
    </>
  );
};

const App = () => {
  const { mutate: connect } = useConnect();
  const [connector] = useConnectors();
  const { status } = useConnection();
  // while wagmi takes up the connection of an earlier visit there is an address, but no connector to send through
  if (status === "connected") return <Sends />;
  return (
    <button
      id="connect"
      disabled={status !== "disconnected"}
      onClick={() => connector !== undefined && connect({ connector })}
    >
      Connect
    </button>
  );
};

createRoot(document.getElementById("app") ?? document.body).render(
  <WagmiProvider config={config}>
    <QueryClientProvider client={new QueryClient()}>
      <App />
    </QueryClientProvider>
  </WagmiProvider>,
);
