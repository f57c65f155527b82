#!/bin/sh
# @remix-project/remix-simulator 0.2.86 (the node of the Remix IDE): eth_getLogs without `topics` ends the process.
# Guess: `topics` may be left out, as on every node; at worst the request is refused.
# Seen: once there is a log, a filter with an address alone ends the server with an uncaught TypeError; with `topics: []` it answers.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --ignore-scripts @remix-project/remix-simulator@0.2.86 2>/dev/null
cat >run.mjs <<'JS'
import { spawn } from "node:child_process";
const port = 20000 + (process.pid % 20000);
const bin = "node_modules/@remix-project/remix-simulator/bin/ethsim";
const node = spawn(process.execPath, [bin, "start", "--port", String(port)], { stdio: "ignore" });
let ended = null;
const isOver = new Promise((go) => node.once("exit", (code) => go((ended = code))));
const ask = async (method, params) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  return (await (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body })).json()).result;
};
for (let tries = 0; tries < 100; tries++) {
  if (await ask("eth_chainId", []).catch(() => null)) break;
  await new Promise((go) => setTimeout(go, 100));
}
const [from] = await ask("eth_accounts", []);
// a creation that logs, with no topic and no data
await ask("eth_sendTransaction", [{ from, data: "0x60006000a0", gas: "0x2dc6c0" }]);
const address = `0x${"22".repeat(20)}`;
const span = { address, fromBlock: "0x0", toBlock: "latest" };
console.log("remix-simulator 0.2.86, topics []:", JSON.stringify(await ask("eth_getLogs", [{ ...span, topics: [] }])));
const said = await ask("eth_getLogs", [span]).then(JSON.stringify, (error) => String(error.message));
await Promise.race([isOver, new Promise((go) => setTimeout(go, 3000))]);
console.log("without topics:", said, "; the process:", ended === null ? "is alive" : `ended with ${ended}`);
node.kill();
process.exit(ended === 1 ? 0 : 1);
JS
node run.mjs
