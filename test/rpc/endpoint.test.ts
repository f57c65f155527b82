/** What of a URL is a secret, whatever its scheme; and what of an error is none. */
import { describe, expect, it } from "vitest";
import { endpointOf, redactJson, redactUrls } from "../rooms/rpc.js";

const key = "k3yK3yK3yK3yK3y0";

describe("secrets of an endpoint", () => {
  it.each([
    ["a key in the path", `wss://node.example/v3/${key}`],
    ["a key in the query", `ws://node.example/?apikey=${key}`],
    ["a key that is the query", `wss://node.example/?${key}`],
    ["a user", `wss://${key}@node.example/`],
    ["a password", `wss://me:${key}@node.example`],
    ["a key behind the hash", `wss://node.example/#${key}`],
    ["a key after a semicolon", `https://node.example/rpc;key=${key}`],
    ["another scheme", `custom+wss://node.example/${key}`],
    ["an opaque URL", `custom:${key}`],
    ["a URL without a host", `ipc:///run/${key}/geth.ipc`],
    ["a path", `/run/${key}/geth.ipc`],
    ["a pipe", `\\\\.\\pipe\\${key}`],
    ["a URL that is encoded", `wss://node.example/${key}%2F${key}`],
  ])("are hidden in %s", (_, url) => {
    const { redact, shown } = endpointOf(url);
    for (const text of [`bad key ${key}`, `cannot open ${url}`, `{"k":"${key}"}`, url.slice(4)])
      expect(redact(text)).not.toContain(key);
    expect(shown).not.toContain(key);
    expect(redact("execution reverted: no")).toBe("execution reverted: no");
  });

  it.each([
    ["a label", `https://${key}.rpc.node.example/`, key],
    ["a part of a label", `wss://eth-${key}.node.example`, key],
    ["the name itself", `https://${key}.example`, key],
    ["a label behind a login", `https://me:pass@${key}.node.example:8546/v3`, key],
    ["a label without a digit", `https://${"abcdefghij".repeat(2)}.node.example`, "abcdefghij".repeat(2)],
    ["a host with a dot at the end", `https://${key}.node.example./`, key],
  ])("are hidden in the host %s", (_, url, secret) => {
    const { redact, shown } = endpointOf(url);
    const { hostname, host } = new URL(url);
    const given = /\/\/(?:.*@)?([^/:]*)/.exec(url)?.[1] ?? "";
    for (const text of [`getaddrinfo ENOTFOUND ${hostname}`, `no ${given}`, `connect ${host}`, `at ${url}`])
      for (const clean of [redact(text), redactUrls(`see ${url}`), shown])
        expect(clean.toLowerCase()).not.toContain(secret.toLowerCase());
    expect(shown).toMatch(/^\w+:\/\/\S*….*example/);
  });

  it.each([
    ...["https://eth-mainnet.g.alchemy.com", "https://ethereum-sepolia-rpc.publicnode.com", "http://127.0.0.1:8545"],
    ...[
      "http://[2001:db8::1234:5678]:8545",
      "http://localhost:8545",
      "https://arb1.arbitrum.io",
      "ws://geth-node:8546",
    ],
    "http://172.16.254.100:8545",
  ])("do not include words of the host %s", (url) => {
    expect([endpointOf(url).shown, redactUrls(url)]).toEqual([url, url]);
    const text = `connect ECONNREFUSED ${new URL(url).host}: ethereum mainnet`;
    expect(endpointOf(url).redact(text)).toBe(text);
  });

  it("are found in a node's text in linear time", () => {
    const labels = Array.from({ length: 100_000 }, (_, index) => `a${10_000_000 + index}`).join("-");
    expect(redactUrls(`https://${labels}.node.example/`)).toMatch(/^https:\/\/(…-?){100000}\.node\.example\/$/);
  });

  it("do not include short parts of other words", () => {
    const { redact } = endpointOf("ws://eth:123@node.example/");
    expect(redact("the method eth_call is not available to eth with 123")).toBe(
      "the method eth_call is not available to … with …",
    );
    expect(redact(`0x08c379a0${"123".repeat(20)}`)).toBe(`0x08c379a0${"123".repeat(20)}`);
    expect(redact(`Basic ${btoa("eth:123")}`)).toBe("Basic …");
  });

  it("do not include folders of a machine", () => {
    const { redact } = endpointOf("/var/lib/execution/reverted/geth.ipc");
    expect(redact("execution reverted")).toBe("execution reverted");
    expect(redact("connect ENOENT /var/lib/execution/reverted/geth.ipc")).toBe("connect ENOENT …");
  });

  it.each([
    ["wss://me:pass@node.example:8546/v3/key?x=1", "wss://node.example:8546/…"],
    ["ws://node.example", "ws://node.example"],
    ["https://me:pass@node.example/a", "https://node.example/…"],
    ["/run/geth.ipc", "(no URL)"],
  ])("make the URL shown instead of %s be %s", (url, shown) => expect(endpointOf(url).shown).toBe(shown));

  it("are everything but scheme and host in an unknown URL", () => {
    expect(
      redactUrls(
        `a wss://me<:${key}@${key}@node.example:1/v3/${key}?k=${key}#x, b custom+x://h/<${key}> c http://h:1/ d`,
      ),
    ).toBe("a wss://node.example:1/… b custom+x://h/… c http://h:1/ d");
  });
});

describe("an endpoint's error as JSON", () => {
  it("keeps the names of its fields, though they may look like secrets", () => {
    const { redact } = endpointOf("wss://node.example/message/reason");
    const error = { message: "message", code: -32000, data: { reason: { message: [1, null, true, "reason"] } } };
    expect(redactJson(error, redact)).toEqual({
      ...{ message: "…", code: -32000 },
      data: { reason: { message: [1, null, true, "…"] } },
    });
  });
});
