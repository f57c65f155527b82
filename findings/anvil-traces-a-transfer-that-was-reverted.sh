#!/bin/sh
# anvil 1.7.1: `eth_simulateV1` with `traceTransfers` logs the value of a call that reverts.
# Guess: a reverted call has no logs, as on geth; whoever sums up the logs of 0xeeee… has what moved.
# Seen: status 0x0, and one transfer log of the whole value. Only logs of calls that succeeded tell of movements.
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
const [from] = await ask("eth_accounts", []);
const to = "0x1000000000000000000000000000000000000001";
// REVERT, without data
const stateOverrides = { [to]: { code: "0x5f5ffd" } };
const calls = [{ from, to, value: "0x5" }];
const [block] = await ask("eth_simulateV1", [{ traceTransfers: true, blockStateCalls: [{ stateOverrides, calls }] }, "latest"]);
const [{ status, logs }] = block.calls;
console.log("anvil 1.7.1, a call that reverts:", status, "logs:", JSON.stringify(logs.map(({ address, data }) => [address, BigInt(data).toString()])));
node.kill();
process.exit(status === "0x0" && logs.length === 1 && BigInt(logs[0].data) === 5n ? 0 : 1);
JS
node run.mjs
