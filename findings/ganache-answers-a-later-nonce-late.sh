#!/bin/sh
# ganache 7.9.2: a transaction whose nonce is one too high is taken, and its request is not answered until it is mined.
# Guess: the hash comes at once, as from geth and anvil, and the transaction waits in the pool.
# Seen: no answer for five seconds; it comes as soon as the transaction with the nonce before is sent. Whoever sends two in
# the wrong order, and waits for the first answer, waits for ever.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent ganache@7.9.2
cat >run.cjs <<'JS'
const ganache = require("ganache");
(async () => {
  const server = ganache.server({ logging: { quiet: true } });
  await server.listen(0);
  const ask = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    return (await fetch(`http://127.0.0.1:${server.address().port}`, { method: "POST", headers, body })).json();
  };
  const [from] = (await ask("eth_accounts", [])).result;
  const send = (nonce) => ask("eth_sendTransaction", [{ from, to: from, nonce, gas: "0x5208" }]);
  const later = send("0x1");
  const silent = await Promise.race([later, new Promise((go) => setTimeout(() => go(null), 5000))]);
  console.log("ganache 7.9.2, nonce 1 first:", silent === null ? "no answer after 5 s" : silent);
  console.log("nonce 0:", typeof (await send("0x0")).result);
  const { result } = await later;
  console.log("nonce 1, after that:", typeof result);
  await server.close();
  process.exit(silent === null && typeof result === "string" ? 0 : 1);
})();
JS
node run.cjs
