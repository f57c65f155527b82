#!/bin/sh
# anvil 1.7.1: with exactly the gas that `eth_estimateGas` answers, a transaction succeeds and does not do what it did before.
# Guess: the estimate is enough for what happens with plenty of gas.
# Seen: it is the least with which the outer call ends well. A call inside that needs 1.5 M, and whose failure is caught, gets
# too little: the receipt says success, and the slot that holds the inner result is 0, with ten million gas 1.
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
const [to, inner] = ["0x1000000000000000000000000000000000000001", "0x1000000000000000000000000000000000000002"];
// reverts with less than 1.5 M gas
await ask("anvil_setCode", [inner, "0x6216e3605a10600a57005b5f5ffd"]);
// calls it with all gas, and stores whether that succeeded
await ask("anvil_setCode", [to, `0x5f5f5f5f5f73${inner.slice(2)}5af15f5500`]);
const run = async (gas) => {
  const hash = await ask("eth_sendTransaction", [{ from, to, gas }]);
  const { status } = await ask("eth_getTransactionReceipt", [hash]);
  return [status, Number(await ask("eth_getStorageAt", [to, "0x0", "latest"]))];
};
const estimate = await ask("eth_estimateGas", [{ from, to }]);
const [exact, ample] = [await run(estimate), await run("0x989680")];
console.log(`anvil 1.7.1, estimate ${Number(estimate)}: status and inner result`, exact, "with 10,000,000:", ample);
node.kill();
process.exit(String(exact) === "0x1,0" && String(ample) === "0x1,1" ? 0 : 1);
JS
node run.mjs
