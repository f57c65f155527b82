#!/bin/sh
# @remix-project/remix-simulator 0.2.86 (the node of the Remix IDE): eth_chainId answers 1337, transactions are for chain 1.
# Guess: what is signed for the chain that a node names is taken, and nothing else (EIP-155).
# Seen: bytes signed for 1337 are refused without a word; the same transaction signed for chain 1 is mined, and code reads 1 as
# CHAINID. Who tries Remix's node with a real key signs for mainnet, where the bytes are valid, too.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --ignore-scripts @remix-project/remix-simulator@0.2.86 viem@2.57.20 2>/dev/null
cat >run.mjs <<'JS'
import { createRequire } from "node:module";
import { privateKeyToAccount } from "viem/accounts";
const { Provider } = createRequire(import.meta.url)("@remix-project/remix-simulator/src/provider");
const provider = new Provider();
await provider.init();
const ask = (method, params) => provider.request({ id: 1, jsonrpc: "2.0", method, params });
// the first of the accounts that are written in the package
const account = privateKeyToAccount("0x503f38a9c967ed597e47fe25643985f032b072db8075426a92110f82df48dfcb");
const sent = async (chainId) => {
  const transaction = { to: `0x${"22".repeat(20)}`, value: 7n, gas: 21_000n, gasPrice: 10n ** 10n, nonce: 0, chainId };
  const raw = await account.signTransaction({ type: "legacy", ...transaction });
  return ask("eth_sendRawTransaction", [raw]).then(
    () => "mined",
    () => "refused",
  );
};
const named = Number(await ask("eth_chainId", []));
const [own, main] = [await sent(named), await sent(1)];
// CHAINID, returned by the code of a creation
const hash = await ask("eth_sendTransaction", [{ from: account.address, data: "0x66465f5260205ff35f5260076019f3", gas: "0x2dc6c0" }]);
const { contractAddress } = await ask("eth_getTransactionReceipt", [hash]);
const read = await ask("eth_call", [{ from: account.address, to: contractAddress, gas: "0x2dc6c0" }, "latest"]);
console.log(`remix-simulator 0.2.86 names chain ${named}; signed for it: ${own}; signed for chain 1: ${main}; CHAINID: ${Number(read)}`);
process.exit(named === 1337 && own === "refused" && main === "mined" && Number(read) === 1 ? 0 : 1);
JS
node run.mjs 2>/dev/null
