/** examples/wagmi in a real browser: wagmi's own hooks, behind the guard of the connector. */
import { join } from "node:path";
import { context, type BuildContext } from "esbuild";
import { encodeDeployData } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Token } from "../examples/contracts.js";
import { mineAnvil, accounts, rawRequest, startAnvil, type Node } from "./harness/anvil.js";
import { findChromiumOrWarn, startChromium, type Chromium, type Tab } from "./harness/chromium.js";
import { root } from "./harness/sources.js";

const [owner, , bob] = accounts;
const chromium = findChromiumOrWarn("examples/wagmi in a browser");
const folder = join(root, "examples/wagmi");

/** A wallet whose key is the node's: it sends whatever it is asked to, and remembers what that was. The person confirms every caution. */
const walletOf = (
  url: string,
): string => `window.asked = []; window.confirm = () => true; window.ethereum = { on: () => {}, removeListener: () => {},
  request: async ({ method, params = [] }) => {
    const ask = async (method, params) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const headers = { "content-type": "application/json" };
      const answer = await (await fetch(${JSON.stringify(url)}, { method: "POST", headers, body })).json();
      if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
      return answer.result;
    };
    window.asked.push(method);
    if (method === "eth_requestAccounts" || method === "eth_accounts") return ["${owner.address}"];
    if (method === "wallet_requestPermissions")
      return [{ parentCapability: "eth_accounts", caveats: [{ value: ["${owner.address}"] }] }];
    if (method !== "wallet_sendCalls") return ask(method, params);
    const [{ from, calls }] = params;
    for (const call of calls) await ask("eth_sendTransaction", [{ from, ...call }]);
    return { id: "0x01" };
  } };`;

describe.skipIf(chromium === null)("examples/wagmi in Chromium", () => {
  let node: Node;
  let built: BuildContext;
  let browser: Chromium;
  let tab: Tab;
  let page: string;
  beforeAll(async () => {
    node = await startAnvil();
    const data = encodeDeployData({ abi: Token.abi, bytecode: Token.bytecode, args: [1_000n] });
    const hash = await rawRequest(node.url, "eth_sendTransaction", [{ from: owner.address, data }]);
    // anvil answers before it has mined
    await mineAnvil(node.url);
    const receipt = (await rawRequest(node.url, "eth_getTransactionReceipt", [hash])) as { contractAddress: string };
    built = await context({
      entryPoints: [join(folder, "main.tsx")],
      ...{ bundle: true, format: "esm", jsx: "automatic", outdir: folder, write: false, logLevel: "error" },
      conditions: ["@evm-preflight/source"],
      define: { "process.env.NODE_ENV": '"production"' },
    });
    const { port } = await built.serve({ servedir: folder, host: "127.0.0.1", port: 0 });
    const query = new URLSearchParams({ node: node.url, to: bob.address, token: receipt.contractAddress });
    page = `http://127.0.0.1:${port}/?${query}`;
    browser = startChromium(chromium ?? "");
  }, 60_000);
  afterAll(async () => {
    await browser.stop();
    await built.dispose();
    await node.stop();
  });
  beforeEach(async () => {
    tab = await browser.open();
    await tab.before(walletOf(node.url));
  });
  /** The page anew, its wallet connected: by the page itself where it was before. */
  const load = async () => {
    await tab.goto(page);
    const connected = `document.getElementById("connect")?.click(), document.getElementById("pay") !== null`;
    await tab.until(connected, 20_000);
  };

  /** What a button leads to, and how often the wallet was asked to send. */
  const click = async (button: string, output: string) => {
    await tab.evaluate(`document.getElementById("${button}").click()`);
    await tab.until(`document.getElementById("${output}").textContent !== ""`, 20_000);
    const sends = `window.asked.filter((method) => /^(eth_send|wallet_send)/.test(method)).length`;
    return [await tab.evaluate(`document.getElementById("${output}").textContent`), await tab.evaluate(sends)];
  };

  it.each([
    ["useSendTransaction", "pay", "overpay", "transaction"],
    ["useWriteContract", "approve", "approveAll", "write"],
    ["useSendCalls", "batch", "overbatch", "calls"],
  ])(
    "%s sends what is cleared, and nothing else reaches the wallet",
    async (_, good, bad, output) => {
      await load();
      const [sent, once] = await click(good, output);
      expect([sent, once]).toEqual([expect.stringMatching(/^sent /), 1]);
      await load();
      const [refused, never] = await click(bad, output);
      expect([refused, never]).toEqual([expect.stringMatching(/^NotCleared: /), 0]);
    },
    90_000,
  );
});
