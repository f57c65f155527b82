/** examples/page in a real browser, against a real node. */
import { writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { serializeTransaction, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildPage } from "../examples/page/build.js";
import { pasted, weiOf, written } from "../examples/page/input.js";
import { servePage } from "../examples/page/serve.js";
import { accounts, mineAnvil, rawRequest, startAnvil, type Node } from "./harness/anvil.js";
import { findChromiumOrWarn, startChromium, type Chromium, type Tab } from "./harness/chromium.js";
import { startServer } from "./harness/server.js";

/** The page of the sources, whether or not they are built. */
const conditions = ["@evm-preflight/source"];

const [, alice, bob] = accounts;
const chromium = findChromiumOrWarn("examples/page in a browser");

/** kB gzipped, until the first report: 264 of the library alone (`test/doors/page.test.ts`), its HTML, and signatures as text. */
const pageBudget = 316;

const nothing = { from: "", to: "", value: "", signature: "", args: "", data: "", chainId: "" };
const problemOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return (error as { readonly field: string }).field;
  }
};

describe("examples/page/input.ts", () => {
  it.each([
    ["1", 1n],
    ["0x10", 16n],
    ["0.1 ether", 10n ** 17n],
    ["0.1ETH", 10n ** 17n],
    ["5gwei", 5n * 10n ** 9n],
    ["7 wei", 7n],
  ])("reads %s as an amount in wei", (text, wei) => {
    expect(weiOf(text, "value")).toBe(wei);
  });

  it.each(["", "0.1", "-1", "1e18", "0.1 gweis", "0.0000000001 gwei", "1 wei 2"])("refuses %s as an amount", (text) => {
    expect(problemOf(() => weiOf(text, "value"))).toBe("value");
  });

  it("keeps every digit of an argument, quoted or not, in tuples and arrays too", () => {
    const call = written({
      ...nothing,
      from: alice.address,
      signature: "f((uint256 a, string b)[] pairs, uint8 c, string d)",
      args: `[[{"a": 12345678901234567890, "b": "12345678901234567890"}, ["0x10", "x"]], 3, "7"]`,
    });
    expect(call.args).toEqual([[{ a: 12345678901234567890n, b: "12345678901234567890" }, [16n, "x"]], 3n, "7"]);
  });

  it("reads the number formats of wallets, nodes and people", () => {
    const text = `[{"from": "0x1", "value": "0x10", "nonce": "0x2", "to": null}, {"abi": "f(uint256)", "args": ["5"]}]`;
    expect(pasted(text, "1")).toMatchObject([
      { chainId: 1, from: "0x1", value: 16n, nonce: 2, to: undefined },
      { chainId: 1, functionName: "f", args: [5n] },
    ]);
  });

  it("keeps bytes and transactions as they are, with exact numbers", () => {
    expect(pasted(" 0x02f8\n", "")).toBe("0x02f8");
    expect(pasted(`"0x02f8"`, "")).toBe("0x02f8");
    const held = { method: "eth_sendTransaction", params: [{ value: "0x1" }] };
    expect(pasted(JSON.stringify(held), "")).toEqual(held);
    expect(pasted(`{"type": 2, "gasLimit": "21000", "value": 12345678901234567890}`, "")).toEqual({
      ...{ type: 2, gasLimit: 21_000n, value: 12345678901234567890n },
    });
  });

  it.each<readonly [what: string, run: () => unknown, field: string]>([
    ["a chain beside bytes", () => pasted("0x02f8", "1"), "chainId"],
    ["a chain beside calls", () => pasted(`{"calls": []}`, "1"), "chainId"],
    ["text that is no JSON", () => pasted("{", ""), "json"],
    ["an amount that a double rounds", () => pasted(`{"value": 1.2345678901234567891e18}`, ""), "json"],
    ["an argument that it rounds", () => written({ ...nothing, signature: "f(int256)", args: "[-1e18]" }), "args"],
    ["arguments of no function", () => written({ ...nothing, args: "[1]" }), "args"],
    ["arguments of no ABI", () => pasted(`[{"args": ["5"]}]`, ""), "[0].args"],
    ["a number for a transaction", () => pasted("[1]", ""), "[0]"],
    ["a nonce that is no number", () => pasted(`[{"nonce": "x"}]`, ""), "[0].nonce"],
    ["a name of no function", () => pasted(`{"abi": ["f()"], "functionName": "g"}`, ""), "functionName"],
    ["a signature that is none", () => written({ ...nothing, signature: "transfer" }), "signature"],
    ["arguments that are no array", () => written({ ...nothing, signature: "f()", args: "1" }), "args"],
    ["data beside a function", () => written({ ...nothing, signature: "f()", data: "0x" }), "data"],
    ["a chain id that is no number", () => written({ ...nothing, chainId: "mainnet" }), "chainId"],
  ])("names the field of %s", (_, run, field) => {
    expect(problemOf(run)).toBe(field);
  });
});

describe.skipIf(chromium === null)("examples/page in Chromium", () => {
  let node: Node;
  let server: Server;
  let browser: Chromium;
  let tab: Tab;
  let page: string;
  beforeAll(async () => {
    [node, server] = await Promise.all([startAnvil({ noMining: true }), servePage(0, conditions)]);
    await mineAnvil(node.url);
    page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = startChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.stop();
    server.close();
    server.closeAllConnections();
    await node.stop();
  });
  beforeEach(async () => {
    tab = await browser.open();
    await tab.resize(1200, 900);
  });

  const transfer = { from: alice.address, to: bob.address, value: "1 wei" };
  /** Fills the form and sends it; waits for a report or a problem. */
  const ask = async (fields: Readonly<Record<string, string>>) => {
    const filled = { url: node.url, ...fields };
    await tab.evaluate(`(() => {
      for (const [name, value] of Object.entries(${JSON.stringify(filled)})) document.forms[0].elements[name].value = value;
      document.getElementById("ask").click();
    })()`);
    await tab.until(`document.getElementById("stop").hidden`);
    await tab.until(`document.getElementById("report").hidden || report.contentDocument?.querySelector("h1") !== null`);
    return {
      status: String(await tab.evaluate(`document.getElementById("status").textContent`)),
      problem: String(await tab.evaluate(`document.getElementById("problem").textContent`)),
      report: String(await tab.evaluate(`document.getElementById("report").contentDocument?.body?.textContent ?? ""`)),
    };
  };

  it("shows that a transfer is ready, styled, and violates no content security policy", async () => {
    await tab.goto(page);
    const { status, problem, report } = await ask(transfer);
    expect(status).toMatch(/^ready: /);
    expect(problem).toBe("");
    expect(report).toContain("READY");
    const font = `getComputedStyle(report.contentDocument.body).fontFamily`;
    expect(await tab.evaluate(font)).toMatch(/^system-ui/);
    const whole = `report.contentDocument.documentElement.scrollHeight <= report.clientHeight`;
    const height = () => tab.evaluate("report.clientHeight").then(Number);
    await tab.until(whole);
    const closed = await height();
    await tab.evaluate(`report.contentDocument.querySelector("details").open = true`);
    await tab.until(`report.clientHeight > ${closed}`);
    await tab.until(whole);
    await tab.evaluate(`report.contentDocument.querySelector("details").open = false`);
    await tab.until(`report.clientHeight === ${closed}`);
    await tab.until(whole);
    expect(tab.complaints).toEqual([]);
  });

  it("offers example transactions, each of which shows its subject", async () => {
    await tab.goto(page);
    await tab.evaluate(`document.forms[0].elements.url.value = ${JSON.stringify(node.url)}`);
    const said = [/^ready: /, /^blocked: .*cannot pay/, /^blocked: .*without code/, /^caution: .*income/];
    expect(await tab.evaluate(`document.querySelectorAll("#tries button").length`)).toBe(said.length);
    for (const [at, verdict] of said.entries()) {
      await tab.evaluate(`document.querySelectorAll("#tries button")[${at}].click()`);
      await tab.until(`document.getElementById("stop").hidden`);
      expect(await tab.evaluate(`document.getElementById("status").textContent`)).toMatch(verdict);
    }
    expect(await tab.evaluate(`document.getElementById("problem").textContent`)).toBe("");
  });

  it("shows why a transfer beyond the balance is blocked", async () => {
    await tab.goto(page);
    const { status, report } = await ask({ ...transfer, value: "1000000 ether" });
    expect(status).toMatch(/^blocked: .*cannot pay/);
    expect(report).toContain("BLOCKED");
  });

  it("takes a bundle as JSON, and a function by its signature", async () => {
    await tab.goto(page);
    const json = JSON.stringify([transfer, { ...transfer, value: "0x2" }]);
    expect((await ask({ kind: "json", json })).status).toMatch(/^ready: /);
    expect(await tab.evaluate("getComputedStyle(document.querySelector('.for-fields')).display")).toBe("none");
    const call = { kind: "fields", ...transfer, value: "", signature: "transfer(address to, uint256 amount)" };
    const { status, report } = await ask({ ...call, args: `["${bob.address}", 12345678901234567890]` });
    expect(status).toMatch(/^blocked: .*without code/);
    expect(report).toContain("transfer(to: ");
  });

  it("says that a dead endpoint cannot be reached, and then uses a living one", async () => {
    await tab.goto(page);
    const dead = await ask({ ...transfer, url: "http://127.0.0.1:9" });
    expect(dead.status).toMatch(/^unknown: /);
    expect((await ask(transfer)).status).toMatch(/^ready: /);
  });

  it("blocks a transaction on another chain than the named one", async () => {
    await tab.goto(page);
    const { status, report } = await ask({ ...transfer, chainId: "1" });
    expect(status).toMatch(/^blocked: .*another chain/);
    expect(report).toContain("BLOCKED");
  });

  it("names the field that is wrong, and sends nothing", async () => {
    await tab.goto(page);
    expect((await ask({ ...transfer, to: "0x12" })).problem).toBe("to: must be 20 bytes of hex with 0x");
    expect((await ask({ ...transfer, value: "0.1" })).problem).toMatch(/^value: /);
    expect(await tab.evaluate(`report.hidden`)).toBe(true);
  });

  it("asks a wallet only for reads: no accounts, no signature, nothing sent", async () => {
    await tab.before(`window.asked = []; window.ethereum = { request: async ({ method, params }) => {
      window.asked.push(method);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const headers = { "content-type": "application/json" };
      const answer = await (await fetch(${JSON.stringify(node.url)}, { method: "POST", headers, body })).json();
      if (answer.error) throw answer.error;
      return answer.result;
    } }`);
    await tab.goto(page);
    const { status } = await ask({ ...transfer, connection: "wallet", url: "" });
    expect(status).toMatch(/^ready: /);
    const asked = (await tab.evaluate("window.asked")) as ReadonlyArray<string>;
    expect(asked).toContain("eth_simulateV1");
    expect(asked.filter((method) => /sign|send|account|wallet|personal/i.test(method))).toEqual([]);
  });

  it("offers no wallet where there is none", async () => {
    await tab.goto(page);
    expect(await tab.evaluate(`document.querySelector("[value=wallet]").disabled`)).toBe(true);
  });

  const request = { type: "eip1559", chainId: 31337, nonce: 0, gas: 21_000n, value: 1n, to: bob.address } as const;
  const priced = { ...request, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1n } as const;
  const signer = privateKeyToAccount(alice.privateKey);
  const hex = { from: alice.address, to: bob.address, value: "0x1" };
  const decimals = (value: unknown) =>
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner));
  it.each<readonly [form: string, text: () => Promise<string> | string]>([
    ["a request of ours, as the command prints it", () => decimals({ from: alice.address, data: "0x", ...priced })],
    ["a prepared request of viem", () => decimals({ ...priced, account: { address: alice.address, type: "local" } })],
    [
      "a transaction of ethers",
      () => `{"type":2,"from":"${alice.address}","to":"${bob.address}","nonce":0,"gasLimit":"21000","gasPrice":null,
        "maxPriorityFeePerGas":"1","maxFeePerGas":"3000000000","value":"1","chainId":"31337","sig":null,"accessList":[]}`,
    ],
    [
      "a wallet's request",
      () => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params: [hex] }),
    ],
    ["its parameter", () => JSON.stringify({ ...hex, gas: "0x5208", type: "0x2" })],
    [
      "calls",
      () =>
        JSON.stringify({
          version: "2.0.0",
          from: alice.address,
          chainId: "0x7a69",
          calls: [{ to: bob.address, value: "0x1" }],
        }),
    ],
    [
      "calls by their method",
      () =>
        JSON.stringify({
          method: "wallet_sendCalls",
          params: [{ from: alice.address, calls: [{ to: bob.address, value: "0x1" }] }],
        }),
    ],
    ["signed bytes", () => signer.signTransaction(priced)],
    [
      "signed bytes by their method",
      async () => JSON.stringify({ method: "eth_sendRawTransaction", params: [await signer.signTransaction(priced)] }),
    ],
    [
      "unsigned bytes beside their sender",
      () => JSON.stringify({ from: alice.address, raw: serializeTransaction(priced) }),
    ],
    [
      "a Safe's file",
      () =>
        JSON.stringify({
          ...{ version: "1.0", chainId: "31337", meta: { createdFromSafeAddress: alice.address } },
          transactions: [{ to: bob.address, value: "1", data: null }],
        }),
    ],
    [
      "a sign-in",
      () => {
        const text = `localhost wants you to sign in with your Ethereum account:\n${alice.address}\n\n\nURI: http://localhost\nVersion: 1\nChain ID: 31337\nNonce: 12345678\nIssued At: 2026-01-01T00:00:00Z`;
        return JSON.stringify({ method: "personal_sign", params: [stringToHex(text), alice.address] });
      },
    ],
    [
      "a list of them",
      async () =>
        JSON.stringify([
          { ...hex, nonce: "0x0" },
          { ...hex, nonce: "0x1" },
        ]),
    ],
  ])("accepts %s", async (_, textOf) => {
    await tab.goto(page);
    const { status, problem } = await ask({ kind: "json", json: await textOf() });
    expect([status, problem]).toEqual([expect.stringMatching(/^(?:ready|caution): /), ""]);
  });

  it("accepts typed data as a signature, and shows that nothing is known of an unknown kind", async () => {
    const types = { Note: [{ name: "text", type: "string" }] };
    const typedData = { domain: { name: "Notes" }, types, primaryType: "Note", message: { text: "hello" } };
    for (const json of [
      { ...typedData, signer: alice.address },
      { method: "eth_signTypedData_v4", params: [alice.address, JSON.stringify(typedData)] },
    ]) {
      await tab.goto(page);
      const { status, problem } = await ask({ kind: "json", json: JSON.stringify(json) });
      expect([status, problem]).toEqual(["unknown: what the signature allows is not known", ""]);
    }
  });

  it("accepts a mined transaction as a node shows it", async () => {
    const hash = await rawRequest(node.url, "eth_sendTransaction", [{ ...hex, from: accounts[3].address }]);
    await mineAnvil(node.url);
    const mined = await rawRequest(node.url, "eth_getTransactionByHash", [hash]);
    await tab.goto(page);
    expect(mined).toMatchObject({ blockNumber: expect.any(String) });
    const { status, problem } = await ask({ kind: "json", json: JSON.stringify(mined) });
    // its nonce is used
    expect([status, problem]).toEqual([expect.stringMatching(/^blocked: /), ""]);
  });

  it.each([
    ["0x02f8", /^transaction: |^json: /],
    ["{}", /^from: /],
    ["hello", /^json: is no JSON/],
    ["[]", /\w+: /],
    [`{"method":"eth_call","params":[]}`, /^method: /],
    [`{"from":"${alice.address}","calls":[]}`, /^calls: /],
    [`{"from":"${alice.address}","to":"${bob.address}","frm":"0x"}`, /^frm: /],
    [`{"from":"${alice.address}","input":"0x12","data":"0x34"}`, /^input: differs from data/],
  ])("names what is wrong with %s", async (json, says) => {
    await tab.goto(page);
    const { status, problem } = await ask({ kind: "json", json });
    expect([status, problem]).toEqual(["", expect.stringMatching(says)]);
  });

  it("copies the request that may be signed, reads it again, and copies none that is too old", async () => {
    await tab.before(
      `Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } });`,
    );
    await tab.goto(page);
    await ask(transfer);
    await tab.until(`!document.getElementById("signing").hidden`);
    const copy = async () => {
      await tab.evaluate(`document.getElementById("copied").textContent = ""`);
      await tab.evaluate(`document.getElementById("copy").click()`);
      await tab.until(`document.getElementById("copied").textContent !== ""`);
      return tab.evaluate(`document.getElementById("copied").textContent`);
    };
    expect(await copy()).toBe("copied");
    const text = String(await tab.evaluate("window.copied"));
    expect(JSON.parse(text)).toMatchObject({
      from: alice.address.toLowerCase(),
      type: "0x2",
      chainId: "0x7a69",
      value: "0x1",
      nonce: expect.any(String),
    });
    expect(await tab.evaluate(`document.getElementById("request").textContent`)).toBe(text);
    expect((await ask({ kind: "json", json: text })).status).toMatch(/^ready: /);
    await ask({ kind: "json", json: JSON.stringify([transfer, { ...transfer, value: "0x2" }]) });
    await tab.until(`!document.getElementById("signing").hidden`);
    expect(await copy()).toBe("copied");
    const both = String(await tab.evaluate("window.copied"));
    expect(JSON.parse(both)).toMatchObject([{ value: "0x1" }, { value: "0x2" }]);
    expect((await ask({ kind: "json", json: both })).status).toMatch(/^ready: /);
    await tab.until(`!document.getElementById("signing").hidden`);
    await tab.evaluate(`Date.now = () => 8e15`);
    expect(await copy()).toBe("too old: show the report again");
    await tab.goto(page);
    await ask({ ...transfer, value: "1000000 ether" });
    expect(await tab.evaluate(`document.getElementById("signing").hidden`)).toBe(true);
  });

  it("says of a slow node how long it takes and which requests were answered, and stops on demand", async () => {
    const slow = await startServer(async (body, { method = "" }, response) => {
      response.setHeader("access-control-allow-origin", "*").setHeader("access-control-allow-headers", "*");
      if (method === "OPTIONS") return void response.end();
      const answer = fetch(node.url, { method: "POST", headers: { "content-type": "application/json" }, body });
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      response.setHeader("content-type", "application/json").end(await (await answer).text());
    });
    try {
      await tab.goto(page);
      const filled = JSON.stringify({ url: slow.url, ...transfer });
      await tab.evaluate(`(() => {
        for (const [name, value] of Object.entries(${filled})) document.forms[0].elements[name].value = value;
        document.getElementById("ask").click();
      })()`);
      const pace = `document.getElementById("pace").textContent`;
      await tab.until(`/^[01] of 30 s · no answer yet$/.test(${pace})`);
      await tab.until(`/^[1-9]\\d? of 30 s · [1-9]\\d* answers, the last to eth_\\w+$/.test(${pace})`);
      await tab.until(`document.getElementById("stop").hidden`);
      expect(await tab.evaluate(`document.getElementById("status").textContent`)).toMatch(/^ready: /);
      expect(await tab.evaluate(`document.getElementById("progress").hidden`)).toBe(true);
      await tab.evaluate(`document.getElementById("ask").click()`);
      await tab.evaluate(`document.getElementById("stop").click()`);
      await tab.until(`document.getElementById("problem").textContent === "stopped"`);
    } finally {
      await slow.stop();
    }
  });

  it("works from a plain static server in a folder, connects only there and to the node, and is small", async () => {
    const files = await buildPage(conditions);
    const server = await startServer((_, { url = "" }, response) => {
      const file = files.get(url.replace(/^\/deep\/check/, "").replace(/\/$/, "/index.html"));
      const types: Record<string, string> = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html" };
      response.writeHead(file === undefined ? 404 : 200, { "content-type": types[extname(url) || ".html"] ?? "" });
      response.end(file);
    });
    try {
      await tab.goto(`${server.url}/deep/check/`);
      expect((await ask(transfer)).status).toMatch(/^ready: /);
      const asked = (await tab.evaluate(
        `performance.getEntriesByType("resource").map(({ name }) => name)`,
      )) as ReadonlyArray<string>;
      const base = `${server.url}/deep/check`;
      expect(asked.filter((url) => !url.startsWith(base) && !url.startsWith(node.url))).toEqual([]);
      expect(asked.length).toBeLessThanOrEqual(60);
      const paths = [
        "/index.html",
        ...new Set(asked.flatMap((url) => (url.startsWith(base) ? [url.slice(base.length)] : []))),
      ];
      const bytes = paths.map((path) => gzipSync(files.get(path) ?? "", { level: 9 }).length).reduce((a, b) => a + b);
      expect(bytes / 1000).toBeLessThanOrEqual(pageBudget);
      expect(tab.complaints).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  it("works by keyboard alone", async () => {
    await tab.goto(page);
    const focused = () =>
      tab.evaluate(`document.activeElement.name || document.activeElement.id || document.activeElement.textContent`);
    const until = async (name: string) => {
      for (let presses = 0; (await focused()) !== name; presses++) {
        if (presses > 30) throw new Error(`no Tab leads to ${name}`);
        await tab.press("Tab");
      }
    };
    await until("url");
    await tab.evaluate(`document.activeElement.select()`);
    await tab.type(node.url);
    await until("kind");
    await tab.press("ArrowRight");
    expect(await tab.evaluate(`document.forms[0].elements.kind.value`)).toBe("json");
    await until("json");
    await tab.type(JSON.stringify(hex));
    await until("ask");
    const outline = `getComputedStyle(document.activeElement).outlineStyle`;
    expect(await tab.evaluate(outline)).not.toBe("none");
    await tab.press("Enter");
    await tab.until(`!document.getElementById("signing").hidden`);
    await until("copy");
    await tab.press("Enter");
    await tab.until(`document.getElementById("copied").textContent !== ""`);
  });

  it.each(["light", "dark"] as const)("fits a phone of 360 pixels, %s, and animates nothing", async (scheme) => {
    await tab.resize(360, 740);
    await tab.emulate("screen", scheme);
    await tab.before(`window.shifts = []; new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries())
        window.shifts.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? String(node))]);
    }).observe({ type: "layout-shift", buffered: true });`);
    await tab.goto(page);
    await tab.evaluate(`document.forms[0].elements.kind.value = "json"`);
    const frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";
    // why: who chooses the other way to write it sees the other form
    await tab.until(frames);
    await tab.evaluate("window.shifts.length = 0");
    await ask({ json: JSON.stringify(hex) });
    await tab.until(`!document.getElementById("signing").hidden`);
    await tab.until(frames);
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(await tab.evaluate("report.contentDocument.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(await tab.evaluate("window.shifts")).toEqual([]);
    const isDark =
      (await tab.evaluate(`getComputedStyle(report.contentDocument.body).backgroundColor`)) === "rgb(13, 17, 23)";
    expect(isDark).toBe(scheme === "dark");
    expect(await tab.evaluate(`getComputedStyle(document.documentElement).colorScheme`)).toBe("light dark");
    const shot = await tab.screenshot();
    if (process.env["PAGE_SHOTS"] !== undefined) writeFileSync(join(tmpdir(), `page-${scheme}.png`), shot);
  });
});
