#!/bin/sh
# ganache 7.9.2: eth_estimateGas of a transfer that its sender cannot pay answers 0x5208.
# Guess: an estimate fails with "insufficient funds", as geth's does.
# Seen: 21000 for a value of 1 ether from an account without a balance.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent ganache@7.9.2
cat >run.cjs <<'JS'
const ganache = require("ganache");
const provider = ganache.provider({ logging: { quiet: true } });
(async () => {
  const from = `0x${"22".repeat(20)}`;
  const balance = await provider.request({ method: "eth_getBalance", params: [from, "latest"] });
  const estimate = await provider
    .request({ method: "eth_estimateGas", params: [{ from, to: `0x${"33".repeat(20)}`, value: "0xde0b6b3a7640000" }] })
    .catch(({ message }) => message);
  console.log("ganache 7.9.2 balance:", balance, "estimate:", estimate);
  await provider.disconnect();
  process.exit(balance === "0x0" && estimate === "0x5208" ? 0 : 1);
})();
JS
node run.cjs
