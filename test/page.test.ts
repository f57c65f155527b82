/** examples/page in a real browser, against a real node. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { pasted, weiOf, written } from "../examples/page/input.js";
import { servePage } from "../examples/page/serve.js";
import { accounts, mineAnvil, startAnvil, type Node } from "./harness/anvil.js";
import { findChromiumOrWarn, startChromium, type Chromium, type Tab } from "./harness/chromium.js";

const [, alice, bob] = accounts;
const chromium = findChromiumOrWarn("examples/page in a browser");

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
  ])("reads %s as wei", (text, wei) => {
    expect(weiOf(text, "value")).toBe(wei);
  });

  it.each(["", "0.1", "-1", "1e18", "0.1 gweis", "0.0000000001 gwei", "1 wei 2"])("refuses %s as wei", (text) => {
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

  it("reads what wallets, nodes and people write", () => {
    const text = `[{"from": "0x1", "value": "0x10", "nonce": "0x2", "to": null}, {"abi": "f(uint256)", "args": ["5"]}]`;
    expect(pasted(text, "1")).toMatchObject([
      { chainId: 1, from: "0x1", value: 16n, nonce: 2, to: undefined },
      { chainId: 1, functionName: "f", args: [5n] },
    ]);
  });

  it.each<readonly [what: string, run: () => unknown, field: string]>([
    ["text that is no JSON", () => pasted("{", ""), "json"],
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
    [node, server] = await Promise.all([startAnvil({ noMining: true }), servePage(0)]);
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

  it("shows that a transfer is ready, styled, and with no complaint of any policy", async () => {
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

  it("has transactions to try, each of which shows what it is there to show", async () => {
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

  it("says that a dead endpoint cannot be reached, and then asks a living one", async () => {
    await tab.goto(page);
    const dead = await ask({ ...transfer, url: "http://127.0.0.1:9" });
    expect(dead.status).toMatch(/^unknown: /);
    expect((await ask(transfer)).status).toMatch(/^ready: /);
  });

  it("blocks on another chain than the one that was named", async () => {
    await tab.goto(page);
    const { status, report } = await ask({ ...transfer, chainId: "1" });
    expect(status).toMatch(/^blocked: .*another chain/);
    expect(report).toContain("BLOCKED");
  });

  it("names the field that is wrong, and asks nothing", async () => {
    await tab.goto(page);
    expect((await ask({ ...transfer, to: "0x12" })).problem).toBe("to: must be 20 bytes of hex with 0x");
    expect((await ask({ ...transfer, value: "0.1" })).problem).toMatch(/^value: /);
    expect(await tab.evaluate(`report.hidden`)).toBe(true);
  });

  it("asks a wallet for what it reads alone: no accounts, no signature, nothing sent", async () => {
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

  it("fits a phone: nothing is wider than the screen", async () => {
    await tab.resize(390, 844);
    await tab.goto(page);
    await ask(transfer);
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    expect(await tab.evaluate("report.contentDocument.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  });
});
