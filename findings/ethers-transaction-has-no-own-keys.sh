#!/bin/sh
# ethers 6.17.0: a Transaction has no own properties, so a spread copy of it is empty.
# Guess: `{ ...tx, nonce: 1 }` is the transaction with another nonce, as with ethers 5 or viem.
# Seen: Object.keys(tx) is [], { ...tx } is {}; to, value and the rest are getters of the class.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent ethers@6.17.0
cat >run.mjs <<'JS'
import { Transaction, Wallet, version } from "ethers";
const wallet = new Wallet(`0x${"11".repeat(32)}`);
const raw = await wallet.signTransaction({
  type: 2, chainId: 1, nonce: 7, to: wallet.address, value: 5n, gasLimit: 21000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n,
});
const tx = Transaction.from(raw);
console.log("ethers", version, "to:", tx.to, "value:", tx.value);
console.log("Object.keys:", Object.keys(tx), "spread:", { ...tx });
if (tx.value !== 5n || Object.keys(tx).length !== 0) process.exit(1);
JS
node run.mjs
