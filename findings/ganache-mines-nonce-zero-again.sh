#!/bin/sh
# ganache 7.9.2: signed bytes with the nonce 0 are mined as often as they are sent.
# Guess: the second time they are refused, "nonce too low", as those with the nonce 1 are.
# Seen: sent three times they are mined three times, each time the receiver gets the value, and the count grows by three.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent ganache@7.9.2 viem@2.57.20
cat >run.mjs <<'JS'
import { createRequire } from "node:module";
import { privateKeyToAccount } from "viem/accounts";
const ganache = createRequire(import.meta.url)("ganache");
// the first account of anvil's published test phrase
const secretKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const provider = ganache.provider({
  logging: { quiet: true },
  wallet: { accounts: [{ secretKey, balance: "0x8ac7230489e80000" }] },
});
const ask = (method, params) => provider.request({ method, params }).catch(({ message }) => message);
const account = privateKeyToAccount(secretKey);
const to = `0x${"22".repeat(20)}`;
const chainId = Number(await ask("eth_chainId", []));
const signed = (nonce) =>
  account.signTransaction({ type: "legacy", to, value: 7n, gas: 21_000n, gasPrice: 10n ** 10n, nonce, chainId });
const [zero, one] = [await signed(0), await signed(1)];
for (let time = 1; time <= 3; time++) console.log("ganache 7.9.2, nonce 0:", await ask("eth_sendRawTransaction", [zero]));
console.log("ganache 7.9.2, nonce 1:", await ask("eth_sendRawTransaction", [one]));
const [got, count] = [await ask("eth_getBalance", [to, "latest"]), await ask("eth_getTransactionCount", [account.address])];
console.log("received:", Number(got), "wei; the sender's count:", Number(count));
await provider.disconnect();
process.exit(Number(got) === 21 && Number(count) === 3 ? 0 : 1);
JS
node run.mjs
