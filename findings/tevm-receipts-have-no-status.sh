#!/bin/sh
# tevm 2.0.0-next.101: the receipt of a transaction that reverted looks like one that succeeded: it has no `status`.
# Guess: status 0x0 of the one, 0x1 of the other, as since Byzantium (EIP-658).
# Seen: neither has the field, over HTTP and in the memory client. viem's receipt then says "status: null".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
# it does not load with 6.2.0, as npm installs it
npm pkg set overrides.@ethereumjs/trie=6.2.1
npm install --no-audit --no-fund --silent --ignore-scripts tevm@2.0.0-next.101 viem@2.57.20
cat >run.mjs <<'JS'
import { createMemoryClient } from "tevm";
import { privateKeyToAccount } from "viem/accounts";
const client = createMemoryClient();
const ask = (method, params) => client.request({ method, params });
// the first account of anvil's published test phrase
const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const receiptOf = async (nonce, data) => {
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
  const raw = await account.signTransaction({ type: "eip1559", data, gas: 100_000n, ...fees, nonce, chainId: 900 });
  const hash = await ask("eth_sendRawTransaction", [raw]);
  await ask("anvil_mine", ["0x1"]);
  return ask("eth_getTransactionReceipt", [hash]);
};
const [fine, reverted] = [await receiptOf(0, "0x00"), await receiptOf(1, "0x60006000fd")];
console.log("tevm 2.0.0-next.101, succeeded:", Number(fine.blockNumber), fine.status, "reverted:", Number(reverted.blockNumber), reverted.status);
process.exit(fine.status === undefined && reverted.status === undefined ? 0 : 1);
JS
node run.mjs
