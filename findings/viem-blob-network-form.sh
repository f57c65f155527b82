#!/bin/sh
# viem 2.57.20: parseTransaction does not read the network form of a blob transaction that pools demand since Osaka.
# Guess: what viem parses with four items (EIP-4844) it parses with five (EIP-7594: a version 1, and cell proofs).
# Seen: four items parse; five are `Invalid serialized transaction of type "eip4844"`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent viem@2.57.20
cat >run.mjs <<'JS'
import { concatHex, parseTransaction, sha256, toHex, toRlp, fromRlp } from "viem";
import { privateKeyToAccount } from "viem/accounts";
const blob = `0x${"00".repeat(131072)}`;
// The blob of zeros has the point at infinity as its commitment and as each of its proofs.
const infinity = `0xc0${"00".repeat(47)}`;
const hash = `0x01${sha256(infinity).slice(4)}`;
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const signed = await account.signTransaction({
  type: "eip4844", chainId: 1, nonce: 0, to: account.address, gas: 21000n,
  maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 1n, blobVersionedHashes: [hash],
});
const body = fromRlp(`0x${signed.slice(4)}`, "hex");
const wire = (items) => concatHex(["0x03", toRlp(items)]);
const tried = (items) => {
  try {
    return parseTransaction(wire(items)).type;
  } catch (error) {
    return error.shortMessage ?? error.message;
  }
};
const four = tried([body, [blob], [infinity], [infinity]]);
const five = tried([body, toHex(1), [blob], [infinity], Array(128).fill(infinity)]);
console.log("four items (EIP-4844):", four);
console.log("five items (EIP-7594):", five.split("\n")[0].slice(0, 100));
if (four !== "eip4844" || !five.startsWith('Invalid serialized transaction of type "eip4844"')) process.exit(1);
JS
node run.mjs
