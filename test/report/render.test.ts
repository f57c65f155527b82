import { createHash } from "node:crypto";
import * as Effect from "effect/Effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { note } from "../../src/report/finding.js";
import { address, count, quote } from "../../src/primitives/statement.js";
import { toHtml } from "../../src/report/html.js";
import { fromJson } from "../../src/report/json.js";
import { toMarkdown } from "../../src/report/markdown.js";
import { Report, type World } from "../../src/report/schema.js";
import { MethodNotSupported, RpcError } from "../../src/errors/rpc.js";
import { toText } from "../../src/report/text.js";
import { hostile, reportJson } from "./arbitrary.js";
import { alice, blocked, report, revert, tokens, transfer, unknown, usdc } from "./fixtures.js";

const lineWith = (text: string, part: string): string => {
  const line = text.split("\n").find((one) => one.includes(part));
  if (line === undefined) throw new Error(`no line with ${part} in\n${text}`);
  return line;
};

describe("toText", () => {
  it("begins with the verdict and ends with what to do next", () => {
    const lines = toText(report()).trimEnd().split("\n");
    expect(lines[0]).toMatch(/^READY · every check was made/);
    expect(lines[1]).toContain("1 transaction · chain 1 (Ethereum) · proven");
    expect(lines.at(-1)).toBe("Next: sign exactly this request within 30 s; later, prove again first");
  });

  it("shows who, what, how much and what to sign, exact and with units", () => {
    const text = toText(report());
    expect(lineWith(text, "  from ")).toContain("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 · account");
    expect(lineWith(text, "  to ")).toContain("0x70997970C51812dc3A010C7d01b50e0d17dc79C8 · no code [measured]");
    expect(lineWith(text, "  value ")).toContain("1.5 ETH (1500000000000000000 wei)");
    expect(lineWith(text, "  gas  ")).toContain("limit 21,000 · used 21,000");
    expect(lineWith(text, "  nonce")).toContain("7 · next free 7 · next to be mined 6 · 1 in flight");
    expect(lineWith(text, "  fee ")).toContain("at most 2.1 gwei per gas · tip 1 gwei per gas (from eth_feeHistory)");
    expect(lineWith(text, "  request ")).toContain("type eip1559 · chain 1 · nonce 7 · gas 21000");
    expect(lineWith(text, "  required")).toContain("1.5000441 ETH (1500044100000000000 wei), at most");
    expect(lineWith(text, "gas limit × max fee")).toContain("44100000000000 wei");
    expect(lineWith(text, "  freshness")).toContain("fresh (latest is block 100)");
    expect(lineWith(text, "  ledger")).toContain("2 rounds · 2 requests · 25 ms");
    expect(text).toContain("state after block 100 · simulated as block 101");
  });

  it("decodes the call and the revert with their arguments, and groups findings by severity", () => {
    const text = toText(blocked(), { width: 400 });
    expect(text.split("\n")[0]).toBe(
      "BLOCKED · the call reverts with ERC20InsufficientBalance(sender: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, balance: 5, needed: 1000000) (and 1 more blocker)",
    );
    expect(lineWith(text, "  call ")).toContain(
      "transfer(recipient: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, amount: 1000000)",
    );
    expect(lineWith(text, "  outcome")).toContain(
      "reverted with ERC20InsufficientBalance(sender: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, balance: 5, needed: 1000000) (by the ABI given for 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48)",
    );
    expect(lineWith(text, "  request ")).toContain("none: a field of it is not known");
    const at = ["Blockers (2)", "Warnings (1)", "Information (1)"].map((title) => text.indexOf(title));
    expect(at.every((index) => index > 0)).toBe(true);
    expect([...at].sort((a, b) => a - b)).toEqual(at);
    expect(lineWith(text, "short by")).toContain("short by 1 ETH, account 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    expect(text).toContain("→ fund the account with at least 1000000000000000000 wei");
    expect(text.trimEnd().split("\n").at(-1)).toContain("Next: do not sign");
  });

  it("names the tier and what could not be checked", () => {
    const text = toText(unknown(), { width: 200 });
    expect(text.split("\n")[0]).toBe("UNKNOWN · eth_simulateV1: the node does not support this method");
    expect(lineWith(text, "  tier")).toContain("call: eth_call and eth_estimateGas only");
    expect(text).toContain("Could not check (1)");
    expect(text).toContain('code -32601, "the method does not exist"');
    expect(lineWith(text, "Next:")).toContain("doctor URL");
  });

  it("says who chose what will be signed, and why there is no estimate", () => {
    const refused = new RpcError({ method: "eth_estimateGas", reason: new MethodNotSupported({ detail: "no" }) });
    const chosen = {
      ...transfer,
      gas: { ...transfer.gas, by: "caller", estimate: null, refusal: refused },
      nonce: { ...transfer.nonce, by: "reserved" },
      fee: { ...transfer.fee, by: "caller", tipNamed: 10n ** 12n },
    } as const;
    const text = toText(report({ transactions: [chosen] }), { width: 300 });
    expect(lineWith(text, "  gas  ")).toContain("limit 21,000 (fixed by the caller) · used 21,000");
    expect(lineWith(text, "  gas  ")).toContain("no estimate: eth_estimateGas: the node does not support this method");
    expect(lineWith(text, "  nonce")).toContain("7 (reserved) · next free 7");
    expect(lineWith(text, "  fee ")).toContain("at most 2.1 gwei per gas (fixed by the caller) · tip 1 gwei per gas");
    expect(lineWith(text, "  fee ")).toContain("1000 gwei per gas named as a tip, more than is ever proposed");
    expect(toText(report())).not.toMatch(/fixed by|reserved|named as/);
  });

  it("names the worlds of the proof in one line, and which differ", () => {
    const { observed } = report();
    const world = (run: World["run"], number: bigint | null, agrees: boolean | null): World => ({
      run,
      state: "pending",
      number,
      timestamp: number === null ? null : 1_790_000_000n + number,
      feeRecipient: null,
      gasLimit: null,
      agrees,
    });
    const proven = (...worlds: ReadonlyArray<World>) =>
      toText(report({ observed: { ...observed, worlds } }), { width: 300 });
    const sealed = { ...world("next", 101n, true), state: 100n };
    expect(lineWith(proven(world("exact", 102n, true), sealed), "  proven")).toContain(
      "the same in 2 worlds: pending, exact as block 102 at 2026-09-21T14:15:02Z; sealed block 100, next as block 101 at 2026-09-21T14:15:01Z",
    );
    expect(lineWith(proven(world("exact", 101n, true), world("next", null, false)), "  proven")).toMatch(
      /  in 2 worlds: pending, exact as block 101 at \S+; pending, next as a block not known \(DIFFERS\)$/,
    );
    expect(lineWith(proven(world("exact", 1n, null)), "  proven")).toMatch(/  in 1 world: .+ \(not compared\)$/);
    expect(proven()).not.toContain("world");
  });

  it("gives each movement one aligned line with sign, unit, raw amount and evidence", () => {
    const text = toText(tokens());
    const lines = text.split("\n");
    const start = lines.indexOf("Movements") + 1;
    const rows = lines.slice(start, start + 3);
    expect(rows[0]).toMatch(
      /^ +-1\.234567 {2}USDC 0xA0b8…eB48 +1234567 raw {2}0xf39F…2266 → 0x7099…79C8 {2}tx 1 {2}logged$/,
    );
    expect(rows[1]).toMatch(/^ +\+1 {2}token #42 0x0000…8BA3 +1 raw/);
    expect(rows[2]).toMatch(/^ +-0\.000000000000000001 {2}ETH +1 wei/);
    expect(new Set(rows.map((row) => row?.indexOf("→"))).size).toBe(1);
    expect(lineWith(text, "UNLIMITED")).toContain("0 → UNLIMITED (2^256 − 1 raw)");
    expect(lineWith(text, "permit2")).toContain("not known → 2.5 (2500000 raw)");
    expect(lineWith(text, "permit2")).toContain("until 2027-01-15T08:00:00Z");
    expect(text).toContain("0x000000000022D473030F116dDEE9F6B43aC78BA3 · spender");
  });

  it("writes out two addresses that would read the same when short", () => {
    const twin = `0xf39f${"0".repeat(32)}2266` as typeof alice;
    const [first] = report().transfers;
    const text = toText(report({ transfers: first === undefined ? [] : [{ ...first, to: twin }] }));
    expect(lineWith(text, "logged")).toMatch(/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → 0xf39f0{32}2266/i);
  });

  it("uses the chain's own symbol, the caller's, and a price", () => {
    expect(lineWith(toText(report({ chainId: 137 })), "  value ")).toContain("1.5 POL");
    expect(lineWith(toText(report(), { symbol: "TEST" }), "  value ")).toContain("1.5 TEST");
    const priced = toText(report(), { price: { currency: "USD", amount: "2480.15" } });
    expect(lineWith(priced, "  value ")).toContain("≈ 3720.23 USD");
    const dust = report({ transactions: [{ ...transfer, input: { ...transfer.input, value: 1n } }] });
    expect(lineWith(toText(dust, { price: { currency: "USD", amount: "2480.15" } }), "  value ")).toContain(
      "1 wei ≈ 0.0000000000000025 USD",
    );
  });

  it("colours only when asked, and wraps sentences at the width", () => {
    expect(toText(report())).not.toContain("\u001b");
    expect(toText(report(), { color: true })).toContain("\u001b[32;1mREADY\u001b[0m");
    const lines = toText(unknown(), { width: 60 }).split("\n");
    const sentences = lines.filter((line) => !/0x[0-9a-f]{40}|wei {2}|→/i.test(line));
    expect(Math.max(...sentences.map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it("does not believe absurd decimals", () => {
    const text = toText(
      report({
        transfers: tokens().transfers.slice(0, 1),
        tokens: [{ token: usdc, name: null, symbol: "USDC", decimals: 2_000_000_000 }],
      }),
    );
    expect(lineWith(text, "logged")).toContain("-1234567  USDC");
  });
});

const withStrings = (text: string): Report =>
  report({
    verdict: "caution",
    tokens: [{ token: usdc, name: text, symbol: text, decimals: 6 }],
    transfers: tokens().transfers,
    findings: [
      {
        ...note(
          "TransferMismatch",
          "warning",
          { evidence: "assumed" },
          count(text, 1n),
          quote("", text),
          address("", text),
        ),
        sentence: text,
        remedy: text,
      },
    ],
    transactions: [{ ...transfer, outcome: { ...transfer.outcome, status: "reverted", revert } }],
  });

// eslint-disable-next-line no-control-regex
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[^\n]\r/u;
const ownTags =
  /<!doctype html>|<\/?(?:html|head|meta|title|style|body|header|footer|section|h1|h2|h3|p|strong|div|table|thead|tbody|tr|th|td|bdi|span|ul|li|br)(?: (?:lang|dir|charset|http-equiv|content|name|class|scope)="[^"<>]*")*>/g;
const unescaped = (markdown: string): string =>
  markdown
    .replace(/\\[\\`*_{}[\]|~!#$@^:/.]/g, "")
    .replace(/<sub>[a-z]+<\/sub>/g, "")
    .replace(/\*\*/g, "");

const harmless = (report: Report) => {
  const text = toText(report);
  expect(text).not.toMatch(unseen);
  const html = toHtml(report);
  expect(html.replace(ownTags, "").replace(/:root[\s\S]*?(?=<|&|$)/, "")).not.toMatch(/[<>]/);
  expect(html).not.toMatch(/<script|<img|<a |<iframe|javascript:[^&]*"/i);
  expect(html).not.toMatch(unseen);
  const markdown = toMarkdown(report);
  expect(markdown).not.toMatch(unseen);
  for (const line of markdown.split("\n")) {
    expect(line).toMatch(/^(?:$|#{1,3} |\| |- \*\*|\*\*|… and |\d+ transactions? · )/);
    expect(unescaped(line.replace(/^#{1,3} /, ""))).not.toMatch(/[`*_[\]~$#@<>]|https?:\/\//);
  }
};

describe("every rendering", () => {
  it.each(hostile.map((text) => [JSON.stringify(text).slice(0, 60), text] as const))(
    "shows %s as text and nothing else",
    (_, text) => {
      harmless(withStrings(text));
    },
  );

  it("never throws and stays harmless on random reports", () => {
    fc.assert(
      fc.property(reportJson, (json) => {
        harmless(Effect.runSync(fromJson(json)));
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it("is bounded for a report over thousands of movements", () => {
    const [movement] = tokens().transfers;
    const many = report({ transfers: movement === undefined ? [] : Array.from({ length: 5_000 }, () => movement) });
    const started = performance.now();
    const text = toText(many);
    expect(performance.now() - started).toBeLessThan(500);
    expect(text).toContain("… and 4800 more, all of them in the JSON");
  });

  it("survives an ABI item made to hang a decoder", () => {
    const item = {
      type: "function",
      name: "f",
      stateMutability: "view",
      inputs: [{ name: "x", type: "tuple[]", components: [] }],
      outputs: [],
    };
    const data = `0x12345678${"20".padStart(64, "0")}${"f".repeat(12).padStart(64, "0")}` as typeof transfer.input.data;
    const text = toText(report({ transactions: [{ ...transfer, input: { ...transfer.input, data, item } }] }));
    expect(text).toContain("f(…) with 68 bytes of data");
  });
});

describe("toHtml", () => {
  const html = toHtml(blocked());
  it("allows its own style sheet by hash and nothing else", () => {
    const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(html).toContain(`content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'`);
    expect(html).not.toMatch(/ style=| on[a-z]+=|src=|href=|url\(/);
  });
  it("is one page for light and dark that says what the text says", () => {
    expect(html.startsWith("<!doctype html>")).toBe(true);
    expect(html).toContain("prefers-color-scheme:dark");
    expect(html).toContain("<h1>BLOCKED</h1>");
    expect(html).toContain("ERC20InsufficientBalance(sender: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    expect(html).toContain("short by 1 ETH");
    expect(html).toContain("<strong>Next:</strong>");
  });
});

describe("toMarkdown", () => {
  it("has the verdict as its title, tables for movements and lists for findings", () => {
    const markdown = toMarkdown(tokens());
    expect(markdown.split("\n")[0]).toBe("# ⚠️ CAUTION");
    expect(markdown).toContain("| amount | token | raw | from → to | tx | evidence |\n| ---: | --- | ---: |");
    expect(markdown).toContain("| -1.234567 | USDC 0xA0b8…eB48 | 1234567 raw |");
    expect(markdown).toContain("- **ApprovalUnlimited, transaction 1**: an unlimited approval is given");
  });
});
