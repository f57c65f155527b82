#!/bin/sh
# anvil 1.7.1: `eth_simulateV1` on `latest` simulates a block of the same number as the latest one, not the next.
# Guess: the next number, as on geth and as the method is specified; code that compares block numbers sees the future.
# Seen: on block 3 the simulated block is 3, and NUMBER returns 3; on `pending` both are 4. What opens at block 4 looks shut.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent @foundry-rs/anvil@1.7.1
cat >run.mjs <<'JS'
import { spawn } from "node:child_process";
const port = 20000 + (process.pid % 20000);
const node = spawn("node_modules/.bin/anvil", ["--port", String(port), "--silent"], { stdio: "ignore" });
const ask = async (method, params) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  return (await (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body })).json()).result;
};
for (let tries = 0; tries < 100; tries++) {
  if (await ask("eth_chainId", []).catch(() => null)) break;
  await new Promise((go) => setTimeout(go, 100));
}
await ask("anvil_mine", ["0x3"]);
const to = "0x1000000000000000000000000000000000000001";
// NUMBER, and returns it
const stateOverrides = { [to]: { code: "0x435f5260205ff3" } };
const seen = [];
for (const block of ["latest", "pending"]) {
  const [{ number, calls }] = await ask("eth_simulateV1", [{ blockStateCalls: [{ stateOverrides, calls: [{ to }] }] }, block]);
  seen.push(Number(number), Number(calls[0].returnData));
  console.log(`anvil 1.7.1, latest is ${Number(await ask("eth_blockNumber", []))}, on ${block}:`, Number(number), "NUMBER:", Number(calls[0].returnData));
}
node.kill();
process.exit(String(seen) === "3,3,4,4" ? 0 : 1);
JS
node run.mjs
