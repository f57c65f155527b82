#!/bin/sh
# ganache 7.9.2 over HTTP: a method that it does not have is answered with code -32700.
# Guess: -32601, "method not found", as the JSON-RPC specification has it; -32700 is for text that is no JSON.
# Seen: -32700, so that viem 2.57.20 says "Invalid JSON was received by the server". Whoever tries another method only
# on -32601 never does.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent ganache@7.9.2 viem@2.57.20
cat >run.mjs <<'JS'
import { createRequire } from "node:module";
import { createPublicClient, http } from "viem";
const ganache = createRequire(import.meta.url)("ganache");
const server = ganache.server({ logging: { quiet: true } });
await server.listen(0);
const url = `http://127.0.0.1:${server.address().port}`;
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blobBaseFee", params: [] });
const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
const { error } = await answer.json();
console.log("ganache 7.9.2:", error.code, error.message);
const said = await createPublicClient({ transport: http(url) })
  .request({ method: "eth_blobBaseFee" })
  .catch((thrown) => thrown);
console.log("viem 2.57.20:", said.name, said.shortMessage);
await server.close();
process.exit(error.code === -32700 && said.name === "ParseRpcError" ? 0 : 1);
JS
node run.mjs
