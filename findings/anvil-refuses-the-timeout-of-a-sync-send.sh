#!/bin/sh
# viem 2.57.20 with anvil 1.7.1: `sendRawTransactionSync` with a timeout is refused, and without one the same bytes are mined.
# Guess: a node that has `eth_sendRawTransactionSync` takes its second parameter, the time to wait (EIP-7966).
# Seen: anvil reads the number as a second transaction: "invalid type: integer `5000`, expected … a hex string".
set -eu
dir=$(mktemp -d)
node_pid=
trap '[ -z "$node_pid" ] || kill "$node_pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --no-audit --no-fund viem@2.57.20 @foundry-rs/anvil@1.7.1 @foundry-rs/anvil-linux-amd64@1.7.1 >/dev/null 2>&1
node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil --version
node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil --port 18546 >/dev/null 2>&1 &
node_pid=$!
cat >run.mjs <<'JS'
import { createPublicClient, createWalletClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { anvil } from "viem/chains";
import { sendRawTransactionSync } from "viem/actions";
// the first account of anvil's published test phrase
const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const transport = http("http://127.0.0.1:18546", { retryCount: 0 });
const client = createPublicClient({ chain: anvil, transport });
for (let tries = 0; tries < 100; tries++)
  if (await client.getChainId().then(() => true, () => new Promise((go) => setTimeout(go, 100, false)))) break;
const wallet = createWalletClient({ account, chain: anvil, transport });
const request = await wallet.prepareTransactionRequest({ to: account.address, value: 1n });
const serializedTransaction = await wallet.signTransaction(request);
const said = async (options) =>
  sendRawTransactionSync(client, { serializedTransaction, ...options }).then(
    ({ status }) => `receipt, ${status}`,
    (error) => `refused: ${error.details ?? error.shortMessage}`,
  );
const withTime = await said({ timeout: 5_000 });
const without = await said({});
console.log(`with a timeout of 5000: ${withTime}`);
console.log(`the same bytes without: ${without}`);
process.exit(withTime.startsWith("refused") && without === "receipt, success" ? 0 : 1);
JS
node run.mjs
