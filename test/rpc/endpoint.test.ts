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
  ])("are hidden: %s", (_, url) => {
    const { redact, shown } = endpointOf(url);
    for (const text of [`bad key ${key}`, `cannot open ${url}`, `{"k":"${key}"}`, url.slice(4)])
      expect(redact(text)).not.toContain(key);
    expect(shown).not.toContain(key);
    expect(redact("execution reverted: no")).toBe("execution reverted: no");
  });

  it("hide nothing else: short ones are whole words", () => {
    const { redact } = endpointOf("ws://eth:123@node.example/");
    expect(redact("the method eth_call is not available to eth with 123")).toBe(
      "the method eth_call is not available to … with …",
    );
    expect(redact(`0x08c379a0${"123".repeat(20)}`)).toBe(`0x08c379a0${"123".repeat(20)}`);
    expect(redact(`Basic ${btoa("eth:123")}`)).toBe("Basic …");
  });

  it("are no folders of a machine", () => {
    const { redact } = endpointOf("/var/lib/execution/reverted/geth.ipc");
    expect(redact("execution reverted")).toBe("execution reverted");
    expect(redact("connect ENOENT /var/lib/execution/reverted/geth.ipc")).toBe("connect ENOENT …");
  });

  it.each([
    ["wss://me:pass@node.example:8546/v3/key?x=1", "wss://node.example:8546/…"],
    ["ws://node.example", "ws://node.example"],
    ["https://me:pass@node.example/a", "https://node.example/…"],
    ["/run/geth.ipc", "(no URL)"],
  ])("%s is shown as %s", (url, shown) => expect(endpointOf(url).shown).toBe(shown));

  it("of URLs that nobody knows are hidden with all but scheme and host", () => {
    expect(
      redactUrls(
        `a wss://me<:${key}@${key}@node.example:1/v3/${key}?k=${key}#x, b custom+x://h/<${key}> c http://h:1/ d`,
      ),
    ).toBe("a wss://node.example:1/… b custom+x://h/… c http://h:1/ d");
  });
});

describe("an error as JSON", () => {
  it("keeps the names of its fields, though they may look like secrets", () => {
    const { redact } = endpointOf("wss://node.example/message/reason");
    const error = { message: "message", code: -32000, data: { reason: { message: [1, null, true, "reason"] } } };
    expect(redactJson(error, redact)).toEqual({
      ...{ message: "…", code: -32000 },
      data: { reason: { message: [1, null, true, "…"] } },
    });
  });
});
